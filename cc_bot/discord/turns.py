"""Running a turn for a reply, and knowing which turns run, so that they can be stopped and waited for."""

import asyncio
import secrets
from collections.abc import AsyncGenerator, Callable, Iterator
from contextlib import aclosing, contextmanager

import hikari
import structlog

from cc_bot.assistant import Stop
from cc_bot.discord.answer import AnswerState
from cc_bot.discord.custom_ids import StopButton
from cc_bot.discord.live import LiveAnswer
from cc_bot.discord.localization import Reader
from cc_bot.discord.page import Page
from cc_bot.discord.reply import Reply
from cc_bot.domain.errors import CcBotError
from cc_bot.domain.events import TurnEvent
from cc_bot.texts import explain

_log = structlog.get_logger(__name__)

StartTurn = Callable[[Stop], AsyncGenerator[TurnEvent, None]]
"""Starts a turn that ends when its Stop is requested."""


class RunningTurns:
    """The turns that this process shows at the moment."""

    def __init__(self) -> None:
        self._life = secrets.token_hex(3)
        """Tells this run of the program from the ones before."""
        self._stops: dict[str, Stop] = {}
        self._claimed: set[int] = set()
        self._none = asyncio.Event()
        self._none.set()

    @contextmanager
    def entered(self, stop: Stop) -> Iterator[str]:
        """A short name for a turn while it runs, for its Stop button."""
        name = self._life + secrets.token_hex(4)
        self._stops[name] = stop
        self._none.clear()
        try:
            yield name
        finally:
            del self._stops[name]
            if not self._stops:
                self._none.set()

    def stop(self, name: str) -> bool:
        """Ask a turn to stop. False when it does not run, or not any more."""
        stop = self._stops.get(name)
        if stop is not None:
            stop.request()
        return stop is not None

    def began_here(self, name: str) -> bool:
        """Whether a turn of that name runs or ran since the program started."""
        return name.startswith(self._life)

    @contextmanager
    def claimed(self, message_id: int) -> Iterator[bool]:
        """Whether the buttons of a message are this press's to act on: a second press in a hurry is not a
        second wish."""
        mine = message_id not in self._claimed
        self._claimed.add(message_id)
        try:
            yield mine
        finally:
            if mine:
                self._claimed.discard(message_id)

    async def none_left(self) -> None:
        """Wait until every turn has been shown to its end."""
        await self._none.wait()


async def show_turn(
    start: StartTurn,
    reply: Reply,
    reader: Reader,
    running: RunningTurns,
    *,
    temporary: bool = False,
    before: Page | None = None,
) -> AnswerState:
    """Run a turn and show it as it goes. However it ends, the reader is told; the state is how it ended."""
    stop = Stop()
    with running.entered(stop) as name:
        live = LiveAnswer(reply, reader.words, StopButton(reader.user_id, name), before=before)
        async with live:
            await _feed(start(stop), live, reader)
        try:
            await live.finish(reader.user_id, temporary=temporary)
        except hikari.HikariError as error:  # the message is gone, or the connection; the turn is stored
            _log.warning("answer_not_shown", error=type(error).__name__)
    return live.state


async def _feed(events: AsyncGenerator[TurnEvent, None], live: LiveAnswer, reader: Reader) -> None:
    try:
        async with aclosing(events):
            async for event in events:
                live.feed(event)
    except CcBotError as error:
        live.fail(explain(error, reader.locale))
    except Exception:  # noqa: BLE001 - whatever it is, the reader is told; the record has its type
        _log.error("turn_broke", exc_info=True)
        live.fail(explain(CcBotError(), reader.locale))
