"""Shows an answer while it streams: the latest state, as often as Discord allows.

Something changes visibly at least every QUIET_S seconds, so that users see that it still works.
"""

import asyncio
import contextlib
import secrets
import time
from collections import Counter
from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Callable, Collection, Iterator, Sequence
from contextlib import aclosing, asynccontextmanager, contextmanager
from dataclasses import replace
from functools import partial
from types import TracebackType
from typing import Final

import hikari
import structlog

from cc_bot.assistant import Stop
from cc_bot.discord.delivery.forms import OpenForms
from cc_bot.discord.delivery.receipts import ReceiptUpkeep
from cc_bot.discord.delivery.reply import PostUncertain, Reply
from cc_bot.discord.delivery.speaking import SpokenAnswers
from cc_bot.discord.delivery.withdrawals import Withdrawals
from cc_bot.discord.held_files import HeldFiles
from cc_bot.discord.pages.answer import (
    AnswerState,
    advance,
    answer_buttons,
    ask_again_button,
    final_pages,
    receipts_of,
    streaming_pages,
    with_effects,
)
from cc_bot.discord.pages.custom_ids import ANY_ASKER, RetryButton, StopButton
from cc_bot.discord.pages.page import Button, Page
from cc_bot.discord.pages.proposals import with_proposals
from cc_bot.discord.recipients import Recipient
from cc_bot.domain.errors import (
    BeingErased,
    CcBotError,
    ConversationGone,
    Postponed,
    StorageError,
    TurnError,
    forget_frames,
)
from cc_bot.domain.limits import UsageSubject
from cc_bot.domain.measures import NULL_METER, Meter
from cc_bot.domain.message import is_blank
from cc_bot.domain.turn import ToolStarted, TurnEvent
from cc_bot.texts import Texts, explain

_log = structlog.get_logger(__name__)

QUIET_S = 15.0
DEFERRED_S: Final = 1.2
"""Before the first edit of a deferred response. Most answers have text by then, and short ones are
complete."""
_SHORT_CHARACTERS = 4000
"""This much is laid out in milliseconds; the longest answers take half a second."""


class LiveAnswer:
    """Shows one turn in one reply. Use as a context manager, `feed` it events, then `finish`."""

    def __init__(
        self,
        reply: Reply,
        words: Texts,
        stop: StopButton,
        *,
        asker_id: int,
        before: Sequence[Page] = (),
        one_message: bool = False,
        receipts: ReceiptUpkeep | None = None,
        retry: RetryButton | None = None,
        slowness: Callable[[], int] = lambda: 1,
    ) -> None:
        """`asker_id` is the user whose memories the turn may use; with `one_message` a long answer comes as a
        file. `retry` is shown below a failure that may pass. `slowness`: the factor by which it waits longer
        than usual between two edits."""
        self.reply = reply
        self._words = words
        self._stop = stop
        self._asker_id = asker_id
        self._before = tuple(before)
        """What the messages show until the first text, if an older answer is replaced."""
        self.state = AnswerState(carried=before[-1].receipts.items if before else ())
        self._changed = asyncio.Event()
        self._changed.set()
        self._over = asyncio.Event()
        self._due = asyncio.Event()
        """Set when the first edit must not wait: a tool may ask back, or the turn is over."""
        self._last_event_s = asyncio.get_running_loop().time()
        self._one_message = one_message
        """Set once a further message could not be posted safely: the rest then comes as a file."""
        self._receipts = receipts
        self._retry = retry
        self._slowness = slowness
        self.first_id: int | None = None
        """The message that was posted before the turn began, if it was."""

    async def __aenter__(self) -> "LiveAnswer":
        self._painter = asyncio.create_task(self._paint())
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        # Not cancelled: a request in flight would still take effect, unknown to us or after the end.
        for event in (self._over, self._due, self._changed):
            event.set()
        [outcome] = await asyncio.gather(self._painter, return_exceptions=True)
        if isinstance(outcome, hikari.ComponentStateConflictError):
            _log.info("painting_left")  # the bot has logged out; recovery shows the rest after a start
        elif isinstance(outcome, Exception):
            _log.error("painting_broke", exc_info=outcome)

    async def open(self) -> None:
        """Post the first message, before the turn begins. Raises hikari's errors."""
        await self.reply.show(await self._lay_out(self._pages_now))

    def feed(self, event: TurnEvent) -> None:
        self.state = advance(self.state, event)
        self._last_event_s = asyncio.get_running_loop().time()
        self._changed.set()
        if isinstance(event, ToolStarted):
            self._due.set()

    async def follow(self, events: AsyncGenerator[TurnEvent, None]) -> None:
        """Feed it the events of a turn. Raises what the turn raises."""
        async with aclosing(events):
            async for event in events:
                self.feed(event)

    def fail(self, sentence: str, *, passing: bool = False) -> None:
        """End with a sentence instead of (the rest of) an answer."""
        self.state = replace(self.state, failure=sentence, passing=passing)

    def forget(self, sentence: str) -> None:
        """End with a sentence instead of everything shown: the conversation is being erased."""
        self.state = AnswerState(carried=self.state.carried, failure=sentence)

    async def finish(self, user_id: int | None, *, temporary: bool, note: str = "") -> None:
        """Show the end. Call it after the context manager, when nothing else edits the messages.

        The answer keeps buttons for that user; with None it has none. Raises hikari's errors.
        """
        if self._before and not self.state.stored:
            await self._restore(self._before)
            return
        pages = partial(final_pages, self.state, self._words, temporary=temporary, note=note)
        try:
            await self._show_end(await self._lay_out(pages), user_id)
        except PostUncertain:
            as_file = await self._lay_out(partial(pages, as_file=True))
            await self._show_end(as_file, user_id)

    async def _lay_out(self, make: Callable[[], Sequence[Page]]) -> Sequence[Page]:
        """Make the pages of the answer, those of a long one in a thread."""
        if len(self.state.text) <= _SHORT_CHARACTERS:
            return make()
        return await asyncio.to_thread(make)

    async def _show_end(self, pages: Sequence[Page], user_id: int | None) -> None:
        if len(pages) > 1:
            if self._one_message:
                raise PostUncertain
            await self.reply.show(pages)
        owned = user_id is not None
        earlier = (await self.reply.message_ids())[:-1] if owned and len(pages) > 1 else ()
        await self._show_last(pages, user_id, earlier)
        if owned and len(pages) == 1 and self.reply.further_ids:  # its file was refused: it came in messages
            earlier = (await self.reply.message_ids())[:-1]
            await self._show_last(pages, user_id, earlier)
        await self.record_receipts()

    async def _show_last(self, pages: Sequence[Page], user_id: int | None, earlier: tuple[int, ...]) -> None:
        buttons: tuple[Button, ...] = ()
        if user_id is not None:
            buttons = answer_buttons(self.state, self._words, user_id, earlier)
        if self._retry and self.state.may_be_asked_again:
            buttons = (ask_again_button(self._retry, self._words),)
        receipts = receipts_of(self.state, self._words, self._asker_id)
        last = replace(pages[-1], buttons=buttons, receipts=receipts)
        if self._receipts:
            last = await self._receipts.as_it_is(last, self._words)
        if self.state.proposals:
            last = with_proposals(last, self.state.proposals, self._words)
        await self.reply.show((*pages[:-1], last))

    async def record_receipts(self) -> None:
        """Record the receipts of the shown end."""
        if self._receipts and self.state.done:
            receipts = receipts_of(self.state, self._words, self._asker_id)
            await self._receipts.record(self.reply, receipts, self._words)

    async def _restore(self, before: Sequence[Page]) -> None:
        """Show the older answer again, with what was done meanwhile. Only the user sees why there is no new
        one."""
        *above, last = before
        await self.reply.show((*above, with_effects(last, self.state, self._words, self._asker_id)))
        await self.reply.whisper(self.state.failure or self._words.answer.kept)

    async def _paint(self) -> None:
        """Show the latest state when it changed, and the time when it did not."""
        loop, changes = asyncio.get_running_loop(), 0
        if self.reply.begun and self.reply.last_page is None:  # Discord itself shows that it is thinking
            await _within(DEFERRED_S, self._due)
        while True:
            await _within(QUIET_S, self._changed)
            if self._over.is_set():
                return
            self._changed.clear()
            quiet_s = int(loop.time() - self._last_event_s)
            self.state = replace(self.state, quiet_s=quiet_s if quiet_s >= QUIET_S - 1 else 0)
            before, began_s = self.reply.last_page, loop.time()
            await self._show_now()
            changes += self.reply.last_page is not before and not is_blank(self.state.text)
            # If Discord makes an edit wait, other edits of the bot wait for this one, too.
            pause_s = self.reply.pause_s(changes) * (self._slowness() if changes else 1)
            await _within(max(pause_s, 2 * (loop.time() - began_s)), self._over)

    async def _show_now(self) -> None:
        """Show the present state, once; the next edit makes up for a failure."""
        pages = await self._lay_out(self._pages_now)
        if self._one_message and not self.reply.begun:
            return  # its first message may be there already: only the end is worth a second post
        try:
            await self.reply.show(pages[:1] if self._one_message else pages, insist=False)
        except PostUncertain:
            self._one_message = True
            _log.warning("post_uncertain")
        except hikari.HTTPError as error:
            _log.warning("edit_failed", error=type(error).__name__)

    def _pages_now(self) -> Sequence[Page]:
        if not self._before or self.state.text.strip():
            return streaming_pages(self.state, self._words, self._stop)
        pages = streaming_pages(replace(self.state, heard=""), self._words, self._stop)
        *full, last = self._before
        facts = replace(last.facts, activity=pages[0].content)
        return (*full, replace(last, facts=facts, buttons=pages[0].buttons))


async def _within(seconds: float, event: asyncio.Event) -> None:
    """Wait for an event, for at most so long."""
    with contextlib.suppress(TimeoutError):
        async with asyncio.timeout(seconds):
            await event.wait()


# ---- running turns ---------------------------------------------------------------------------------------


class RunningTurns:
    """The turns that this process is showing."""

    def __init__(
        self,
        meter: Meter = NULL_METER,
        receipts: ReceiptUpkeep | None = None,
        spoken: SpokenAnswers | None = None,
    ) -> None:
        self._meter = meter
        self.receipts = receipts
        self.spoken = spoken
        self.forms = OpenForms()
        self.held = HeldFiles()
        self.withdrawals = Withdrawals()
        self._life = secrets.token_hex(3)
        """The prefix of the names of this process's turns."""
        self._stops: dict[str, Stop] = {}
        self._askers: dict[str, frozenset[int]] = {}
        self._in_channel = Counter[int | None]()
        self._none = asyncio.Event()
        self._none.set()

    def new_name(self) -> str:
        """Return a unique short name for a turn, for the ledger and its Stop button."""
        return self._life + secrets.token_hex(4)

    @contextmanager
    def track(self, stop: Stop, askers: Collection[int] = (), name: str = "") -> Iterator[str]:
        """Register a turn while it runs. Yields its name, a new one if it has none. `askers` are the users
        who may stop a turn that is not one user's alone."""
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

    @contextmanager
    def _beside_others(self, channel_id: int | None) -> Iterator[Callable[[], int]]:
        """Count an answer among those shown in a channel's conversation. Yields a function that returns their
        number: they share Discord's limit of five edits in five seconds."""
        self._in_channel[channel_id] += 1
        try:
            yield lambda: 1 if channel_id is None else self._in_channel[channel_id]
        finally:
            self._in_channel[channel_id] -= 1
            self._in_channel += Counter()  # drops zeros

    def stop(self, name: str) -> bool:
        """Ask a turn to stop. Returns False if it does not run."""
        stop = self._stops.get(name)
        if stop is not None:
            stop.request()
        return stop is not None

    def runs(self, name: str) -> bool:
        return name in self._stops

    def asked_by(self, name: str, user_id: int) -> bool:
        """Return whether this user may stop a running turn."""
        return user_id in self._askers.get(name, ())

    def began_here(self, name: str) -> bool:
        """Return whether a turn of that name runs or ran since the program started."""
        return name.startswith(self._life)

    def record_shown(self, since_s: float, *, ok: bool) -> None:
        """Record that the end of a turn that was over at `since_s` (of `time.monotonic`) was shown or not."""
        seconds = round(time.monotonic() - since_s, 3)
        self._meter.record_shown(seconds, ok=ok)
        if ok:
            _log.info("answer_shown", discord_s=seconds)

    async def none_left(self) -> None:
        """Wait until no turn is running."""
        await self._none.wait()

    @asynccontextmanager
    async def showing(
        self,
        reply: Reply,
        recipient: Recipient,
        stop: Stop,
        *,
        words: Texts | None = None,
        note: str = "",
        before: Sequence[Page] = (),
        channel_id: int | None = None,
        temporary: bool = False,
        opened: Callable[[int], Awaitable[None]] | None = None,
        name: str = "",
        retry: RetryButton | None = None,
        payer: UsageSubject | None = None,
    ) -> AsyncIterator[LiveAnswer]:
        """Show the turn whose events are fed in the block. A failure in the block is shown to the user, and
        is in the state of the answer. `words` replace the user's usual ones; `note` is a sentence below the
        answer.

        `channel_id`: the channel or thread whose conversation it belongs to; only the author may stop it, it
        keeps no buttons, and it is edited less often beside others there. With `opened` the first message is
        posted before the turn begins, and its id is passed; hikari's errors are raised if that fails. `name`
        is its entry in the ledger; `retry` asks again after a failure. `payer`: who pays for reading it
        aloud; None if it is not read aloud.
        """
        in_channel = channel_id is not None
        words = for_channel(recipient.words) if in_channel else words or recipient.words
        owner = None if in_channel else recipient.user_id
        askers = (recipient.user_id,) if in_channel else ()
        with self.track(stop, askers, name) as its_name, self._beside_others(channel_id) as slowness:
            button = StopButton(owner or ANY_ASKER, its_name)
            live = LiveAnswer(
                reply,
                words,
                button,
                asker_id=recipient.user_id,
                before=before,
                receipts=self.receipts,
                retry=retry,
                slowness=slowness,
            )
            if opened is not None:
                await live.open()
                live.first_id = (await reply.message_ids())[0]
                await opened(live.first_id)
            async with live, self.held.answer(recipient.user_id):
                with _show_failures(live, recipient):
                    yield live
                over_s = time.monotonic()
            if not await _is_shown(partial(live.finish, owner, temporary=temporary, note=note)):
                live.state = replace(live.state, unseen=True)
            self.record_shown(over_s, ok=not live.state.unseen)
        if self.spoken and payer:
            await self.spoken.begin(reply, recipient, live.state, payer)


async def _is_shown(finish: Callable[..., Awaitable[None]]) -> bool:
    """Show the end of an answer, and return whether that worked."""
    try:
        await finish()
    except hikari.HikariError as error:  # no message or no connection; the turn is stored
        _log.warning("answer_not_shown", error=type(error).__name__)
        return False
    except Exception:  # noqa: BLE001 - it is logged, and recovery shows the end
        _log.error("answer_not_shown", exc_info=True)
        return False
    return True


@contextmanager
def _show_failures(live: LiveAnswer, recipient: Recipient) -> Iterator[None]:
    """End the answer with a sentence if the block raises."""
    try:
        yield
    except Exception as error:  # noqa: BLE001 - the user is told
        _fail(error, live, recipient)
        forget_frames(error)


def _fail(error: Exception, live: LiveAnswer, recipient: Recipient) -> None:
    match error:
        case BeingErased():
            live.forget(explain(error, recipient.words))
        case CcBotError():
            final = isinstance(error, ConversationGone | Postponed)  # what was erased is not asked again
            passing = isinstance(error, (StorageError, TurnError)) and not final
            live.fail(explain(error, recipient.words), passing=passing)
        case _:  # the record has its type
            _log.error("turn_broke", exc_info=error)
            live.fail(explain(CcBotError(), recipient.words), passing=True)


def for_channel(words: Texts) -> Texts:
    """Return the sentences for answers in a channel's conversation, which have no buttons."""
    mention = words.mention
    answer = words.answer.reword(
        cut=mention.cut, cut_for_good=mention.cut, stopped_empty=mention.stopped_empty
    )
    return replace(words, answer=answer)
