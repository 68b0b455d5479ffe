"""Shows an answer while it streams, with visible progress at least every QUIET_S seconds."""

import asyncio
import contextlib
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Sequence
from contextlib import asynccontextmanager, contextmanager
from dataclasses import KW_ONLY, dataclass, replace
from functools import partial
from typing import Final

import hikari
import structlog

from cc_bot.discord.delivery.receipts import ReceiptUpdater
from cc_bot.discord.delivery.reply import Poster, PostUncertain
from cc_bot.discord.pages.answer import (
    AnswerState,
    advance,
    answer_buttons,
    ask_again_button,
    final_pages,
    streaming_pages,
    with_controls,
    with_effects,
)
from cc_bot.discord.pages.custom_ids import RetryButton, StopButton
from cc_bot.discord.pages.page import Button, Page, Receipts
from cc_bot.discord.recipients import Recipient
from cc_bot.domain.errors import (
    BeingErased,
    CcBotError,
    ConversationGone,
    Postponed,
    StorageError,
    TurnError,
    drop_tracebacks,
)
from cc_bot.domain.message import is_blank
from cc_bot.domain.turn import ToolStarted, TurnEvent
from cc_bot.texts import Texts, explain
from cc_bot.texts.answer import AnswerTexts, MentionTexts

_log = structlog.get_logger(__name__)

QUIET_S = 15.0
DEFERRED_S: Final = 1.2  # before a deferred response's first edit: short answers are complete by then
_SHORT_CHARACTERS = 4000  # longer answers are laid out in a thread


@dataclass(eq=False)
class LiveAnswer:
    """Shows one turn in one reply. `feed` it events while it is `painting`, then call `finish`."""

    reply: Poster
    words: Texts
    stop: StopButton
    _: KW_ONLY
    upkeep: ReceiptUpdater
    asker_id: int  # whose memories the turn may use
    before: Sequence[Page] = ()  # pages of the answer that it replaces, shown until its first text
    one_message: bool = False  # a further post is unsafe: a long answer becomes a file
    retry: RetryButton | None = None  # shown below a temporary failure
    pause_factor: Callable[[], int] = lambda: 1

    def __post_init__(self) -> None:
        self.state = AnswerState(inherited=self.before[-1].receipts.items if self.before else ())
        self._changed, self._ended, self._edit_due = asyncio.Event(), asyncio.Event(), asyncio.Event()
        self._changed.set()  # there is something to show
        self._last_event_s = asyncio.get_running_loop().time()

    @asynccontextmanager
    async def painting(self) -> AsyncIterator[None]:
        """Show the answer as it changes, until the block ends."""
        painter = asyncio.create_task(self._paint())
        try:
            yield
        finally:
            for event in (self._ended, self._edit_due, self._changed):
                event.set()
            # Not cancelled: a request in flight would take effect anyway.
            [outcome] = await asyncio.gather(painter, return_exceptions=True)
            if isinstance(outcome, hikari.ComponentStateConflictError):
                _log.info("painting_left")  # logged out; the next process shows the rest
            elif isinstance(outcome, Exception):
                _log.error("painting_broke", exc_info=outcome)

    async def open(self) -> None:
        """Post the first message, before the turn begins. Raises hikari's errors."""
        await self.reply.show(await self._lay_out(self._current_pages))

    def feed(self, event: TurnEvent) -> None:
        self.state = advance(self.state, event)
        self._last_event_s = asyncio.get_running_loop().time()
        self._changed.set()
        if isinstance(event, ToolStarted):
            self._edit_due.set()  # ends the wait before a deferred response's first edit

    async def finish(self, user_id: int | None, *, temporary: bool, note: str = "") -> None:
        """Show the complete answer, with buttons for `user_id` if given. Raises hikari's errors."""
        if self.before and not self.state.stored:  # only the user sees why there is no new answer
            *above, last = self.before
            await self.reply.show((*above, with_effects(last, self.state, self.words, self.asker_id)))
            await self.reply.send_ephemeral(self.state.failure or self.words[AnswerTexts].kept)
            return
        pages = partial(final_pages, self.state, self.words, temporary=temporary, note=note)
        try:
            await self._show_end(await self._lay_out(pages), user_id)
        except PostUncertain:
            as_file = await self._lay_out(partial(pages, as_file=True))
            await self._show_end(as_file, user_id)

    async def _lay_out(self, make: Callable[[], Sequence[Page]]) -> Sequence[Page]:
        if len(self.state.text) <= _SHORT_CHARACTERS:
            return make()
        return await asyncio.to_thread(make)

    async def _show_end(self, pages: Sequence[Page], user_id: int | None) -> None:
        if len(pages) > 1:
            if self.one_message:
                raise PostUncertain
            await self.reply.show(pages)
        receipts = await self._show_done(pages, user_id, is_only_page=len(pages) == 1)
        if user_id is not None and len(pages) == 1 and self.reply.further_ids:  # further text, not the file
            await self._show_done(pages, user_id, is_only_page=False)
        if self.state.done:
            await self.upkeep.record(self.reply, receipts, self.words)

    async def _show_done(self, pages: Sequence[Page], user_id: int | None, *, is_only_page: bool) -> Receipts:
        buttons: tuple[Button, ...] = ()
        if self.retry and self.state.may_be_asked_again:
            buttons = (ask_again_button(self.retry, self.words),)
        elif user_id is not None:
            earlier = () if is_only_page else (await self.reply.message_ids())[:-1]
            buttons = answer_buttons(self.state, self.words, user_id, earlier)
        page = with_controls(pages[-1], self.state, self.words, self.asker_id, buttons)
        last = await self.upkeep.with_current_state(page, self.words)
        await self.reply.show((*pages[:-1], last))
        return page.receipts  # as the turn left them

    async def _paint(self) -> None:
        loop, changes = asyncio.get_running_loop(), 0
        if self.reply.has_messages and self.reply.last_page is None:  # Discord shows "thinking"
            await _wait_at_most(DEFERRED_S, self._edit_due)
        while True:
            await _wait_at_most(QUIET_S, self._changed)
            if self._ended.is_set():
                return
            self._changed.clear()
            quiet_s = int(loop.time() - self._last_event_s)
            self.state = replace(self.state, quiet_s=quiet_s if quiet_s >= QUIET_S - 1 else 0)
            before, began_s = self.reply.last_page, loop.time()
            await self._show_progress()
            changes += self.reply.last_page is not before and not is_blank(self.state.text)
            # If Discord delays our edits, pause longer, so that other edits of the bot get through.
            pause_s = self.reply.pause_s(changes) * (self.pause_factor() if changes else 1)
            await _wait_at_most(max(pause_s, 2 * (loop.time() - began_s)), self._ended)

    async def _show_progress(self) -> None:
        pages = await self._lay_out(self._current_pages)
        if self.one_message and not self.reply.has_messages:
            return  # the first message may exist: only the end is posted again
        try:
            await self.reply.show(pages[:1] if self.one_message else pages, retry_edits=False)
        except PostUncertain:
            self.one_message = True
            _log.warning("post_uncertain")
        except hikari.HTTPError as error:
            _log.warning("edit_failed", error=type(error).__name__)

    def _current_pages(self) -> Sequence[Page]:
        if not self.before or self.state.text.strip():
            return streaming_pages(self.state, self.words, self.stop)
        pages = streaming_pages(replace(self.state, transcript=""), self.words, self.stop)  # quoted there
        *full, last = self.before
        facts = last.facts.with_notes(pages[0].content)
        return (*full, replace(last, facts=facts, buttons=pages[0].buttons))


async def _wait_at_most(seconds: float, event: asyncio.Event) -> None:
    with contextlib.suppress(TimeoutError):
        async with asyncio.timeout(seconds):
            await event.wait()


async def try_to_finish(finish: Callable[..., Awaitable[None]]) -> bool:
    """Show an answer's end. Returns False on errors."""
    try:
        await finish()
    except hikari.HikariError as error:  # the turn is stored
        _log.warning("answer_not_shown", error=type(error).__name__)
        return False
    except Exception:  # noqa: BLE001 - logged; recovery shows the end
        _log.error("answer_not_shown", exc_info=True)
        return False
    return True


@contextmanager
def show_failures(live: LiveAnswer, recipient: Recipient) -> Iterator[None]:
    """End the answer with a sentence if the block raises."""
    try:
        yield
    except Exception as error:  # noqa: BLE001 - the user sees it
        state, retryable = live.state, True
        if isinstance(error, BeingErased):  # nothing of the conversation is shown
            state, retryable = AnswerState(inherited=state.inherited), False
        elif isinstance(error, CcBotError):
            is_final = isinstance(error, ConversationGone | Postponed)  # erased, or answered later
            retryable = isinstance(error, (StorageError, TurnError)) and not is_final
        else:
            _log.error("turn_broke", exc_info=error)
        known = error if isinstance(error, CcBotError) else CcBotError()
        live.state = replace(state, failure=explain(known, recipient.words), retryable=retryable)
        drop_tracebacks(error)  # frees files in memory


def texts_for_channel(words: Texts) -> Texts:
    """Return texts that name no buttons, as channel answers have none."""
    mention = words[MentionTexts]
    answer = words[AnswerTexts].reword(
        cut=mention.cut, cut_for_good=mention.cut, stopped_empty=mention.stopped_empty
    )
    return words.with_area(answer)
