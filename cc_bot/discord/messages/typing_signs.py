"""'… is typing' for those who wait in a channel while others there are being answered.

Whoever is answered sees it in the message of the answer. The others would see nothing until it is their turn,
which may take as long as an answer does.
"""

import asyncio
import contextlib
from collections.abc import Awaitable, Callable

import hikari
import structlog

from cc_bot.domain.channel import ChannelKey
from cc_bot.domain.errors import StorageError

_log = structlog.get_logger(__name__)

INTERVAL_S = 9.0
"""Discord shows a sign for ten seconds, or until the bot posts something."""


class TypingSigns:
    def __init__(self, rest: hikari.api.RESTClient) -> None:
        self._rest = rest
        self._typing: dict[ChannelKey, asyncio.Task[None]] = {}
        self._closed = asyncio.Event()

    def begin(self, key: ChannelKey, wanted: Callable[[], Awaitable[bool]]) -> None:
        """Show it there as long as it is `wanted`, which may raise StorageError."""
        if key not in self._typing and not self._closed.is_set():
            self._typing[key] = asyncio.create_task(self._type(key, wanted))

    def close(self) -> None:
        """Show no more of them."""
        self._closed.set()

    async def settled(self) -> None:
        """After `close`: wait until nothing is on its way."""
        await asyncio.gather(*self._typing.values())

    async def _type(self, key: ChannelKey, wanted: Callable[[], Awaitable[bool]]) -> None:
        try:
            while not self._closed.is_set() and await wanted():
                await self._show(key)
                with contextlib.suppress(TimeoutError):
                    await asyncio.wait_for(self._closed.wait(), INTERVAL_S)
        except StorageError as error:
            _log.info("typing_ended", error=type(error).__name__)
        finally:
            del self._typing[key]

    async def _show(self, key: ChannelKey) -> None:
        """A sign that is not seen does no harm."""
        try:
            await self._rest.trigger_typing(key.place_id)
        except hikari.HikariError as error:
            _log.info("typing_not_shown", error=type(error).__name__)
