"""Running a turn for a reply, and knowing which turns run, so that they can be stopped and waited for."""

import asyncio
import secrets
import time
from collections.abc import AsyncGenerator, Awaitable, Callable, Collection, Iterator, Sequence
from contextlib import aclosing, contextmanager
from dataclasses import replace

import hikari
import structlog

from cc_bot.assistant import Stop
from cc_bot.discord.delivery.live import LiveAnswer
from cc_bot.discord.delivery.receipt_upkeep import ReceiptUpkeep
from cc_bot.discord.delivery.reply import Reply
from cc_bot.discord.localization import Reader
from cc_bot.discord.pages.answer import AnswerState
from cc_bot.discord.pages.custom_ids import ANY_ASKER, StopButton
from cc_bot.discord.pages.page import Page
from cc_bot.domain.errors import BeingErased, CcBotError, StorageError, TurnError
from cc_bot.domain.events import TurnEvent
from cc_bot.domain.measures import UNMEASURED, Meter
from cc_bot.texts import Texts, explain

_log = structlog.get_logger(__name__)

StartTurn = Callable[[Stop], AsyncGenerator[TurnEvent, None]]
"""Starts a turn that ends when its Stop is requested."""


class RunningTurns:
    """The turns that this process shows at the moment."""

    def __init__(self, meter: Meter = UNMEASURED, receipts: ReceiptUpkeep | None = None) -> None:
        """`meter` is told how long their ends take to stand on Discord; `receipts` keeps what they tell
        true."""
        self._meter = meter
        self.receipts = receipts
        self._life = secrets.token_hex(3)
        """Tells this run of the program from the ones before."""
        self._stops: dict[str, Stop] = {}
        self._askers: dict[str, frozenset[int]] = {}
        self._none = asyncio.Event()
        self._none.set()

    def new_name(self) -> str:
        """A short name for a turn: in the ledger, and for its Stop button. Never given twice."""
        return self._life + secrets.token_hex(4)

    @contextmanager
    def entered(self, stop: Stop, askers: Collection[int] = (), name: str = "") -> Iterator[str]:
        """The name of a turn while it runs, a new one if it has none; `askers` may stop one that is theirs
        together."""
        name = name or self.new_name()
        self._stops[name] = stop
        self._askers[name] = frozenset(askers)
        self._none.clear()
        try:
            yield name
        finally:
            del self._stops[name], self._askers[name]
            if not self._stops:
                self._none.set()

    def stop(self, name: str) -> bool:
        """Ask a turn to stop. False when it does not run, or not any more."""
        stop = self._stops.get(name)
        if stop is not None:
            stop.request()
        return stop is not None

    def runs(self, name: str) -> bool:
        return name in self._stops

    def asked_by(self, name: str, user_id: int) -> bool:
        """Whether a running turn answers this user, among others maybe."""
        return user_id in self._askers.get(name, ())

    def began_here(self, name: str) -> bool:
        """Whether a turn of that name runs or ran since the program started."""
        return name.startswith(self._life)

    def shown(self, since_s: float, *, ok: bool) -> None:
        """The end of a turn that was over at `since_s` (of `time.monotonic`) stands on Discord, or can't."""
        seconds = round(time.monotonic() - since_s, 3)
        self._meter.shown(seconds, ok=ok)
        if ok:
            _log.info("answer_shown", discord_s=seconds)

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
    words: Texts | None = None,
    note: str = "",
    before: Sequence[Page] = (),
    askers: Collection[int] = (),
    opened: Callable[[], Awaitable[None]] | None = None,
    name: str = "",
) -> AnswerState:
    """Run a turn and show it as it goes. However it ends, the reader is told; the state is how it ended.
    `words` are others than the reader's usual ones, `note` is a sentence to stand under it.

    `askers` are those who asked in a channel: the answer is everybody's, any of them may stop it, and no
    buttons stay under it. With `opened` the first message is posted before the turn begins, and then that is
    called; without a message there is no turn, and hikari's errors are raised. `name` is that of its entry in
    the ledger, if it has one.
    """
    stop = Stop()
    words = in_channel(reader.words) if askers else words or reader.words
    owner = None if askers else reader.user_id
    with running.entered(stop, askers, name) as its_name:
        stop_button = StopButton(owner or ANY_ASKER, its_name)
        live = LiveAnswer(
            reply, words, stop_button, asker_id=reader.user_id, before=before, receipts=running.receipts
        )
        if opened is not None:
            await live.open()
            await opened()
        async with live:
            await _feed(start(stop), live, reader)
            over_s = time.monotonic()
        try:
            await live.finish(owner, temporary=temporary, note=note)
        except hikari.HikariError as error:  # the message is gone, or the connection; the turn is stored
            _log.warning("answer_not_shown", error=type(error).__name__)
            running.shown(over_s, ok=False)
            return replace(live.state, unseen=True)
        running.shown(over_s, ok=True)
    return live.state


def in_channel(words: Texts) -> Texts:
    """The same, for answers that are no one user's: there are no buttons to tell of."""
    mention = words.mention
    answer = replace(
        words.answer, cut=mention.cut, cut_for_good=mention.cut, stopped_empty=mention.stopped_empty
    )
    return replace(words, answer=answer)


async def _feed(events: AsyncGenerator[TurnEvent, None], live: LiveAnswer, reader: Reader) -> None:
    try:
        async with aclosing(events):
            async for event in events:
                live.feed(event)
    except BeingErased as error:
        live.forget(explain(error, reader.words))
    except CcBotError as error:
        live.fail(explain(error, reader.words), passing=isinstance(error, TurnError | StorageError))
    except Exception:  # noqa: BLE001 - whatever it is, the reader is told; the record has its type
        _log.error("turn_broke", exc_info=True)
        live.fail(explain(CcBotError(), reader.words))
