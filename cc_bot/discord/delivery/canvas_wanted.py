"""That a canvas wants a message is on record before it has one.

A program that is killed in between finds that after its next start, and posts the message then.
"""

from collections.abc import AsyncGenerator
from contextlib import aclosing
from typing import Final

import structlog

from cc_bot.domain.errors import StorageError
from cc_bot.domain.events import CanvasChanged, TurnEvent
from cc_bot.domain.session import SessionKey
from cc_bot.stores import CanvasStore

_log = structlog.get_logger(__name__)

GONE: Final = 0
"""The id of a message that is wanted and not there: it was deleted, or never came to be."""


async def want(canvases: CanvasStore, key: SessionKey) -> None:
    """Never raises: it may be shown all the same."""
    try:
        if await canvases.shown(key) is None:
            await canvases.note_shown(key, GONE, 0)
    except StorageError as error:
        _log.warning("canvas_not_noted", error=type(error).__name__)


async def noting(
    canvases: CanvasStore, key: SessionKey, events: AsyncGenerator[TurnEvent, None]
) -> AsyncGenerator[TurnEvent, None]:
    """The events of a turn; a change of the canvas is on record before anybody else is told of it."""
    async with aclosing(events):
        async for event in events:
            if isinstance(event, CanvasChanged):
                await want(canvases, key)
            yield event
