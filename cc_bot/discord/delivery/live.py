"""Shows an answer while it streams, with visible progress at least every PROGRESS_INTERVAL_S seconds."""

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
from cc_bot.discord.delivery.reply import DiscordReply, NotPosted
from cc_bot.discord.pages.answer import (
    AnswerState,
    advance,
    answer_buttons,
    ask_again_button,
    canvas_button,
    final_pages,
    streaming_pages,
    used_button,
    with_effects,
)
from cc_bot.discord.pages.cards import Card
from cc_bot.discord.pages.custom_ids import RetryButton, StopButton
from cc_bot.discord.pages.page import Button, Page, change_last_text
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
from cc_bot.domain.message import DEFAULT_AGENT, is_blank
from cc_bot.domain.turn import ToolStarted, TurnEvent
from cc_bot.texts import Texts, explain
from cc_bot.texts.answer import AnswerTexts, MentionTexts

_log = structlog.get_logger(__name__)

PROGRESS_INTERVAL_S = 15.0
FIRST_EDIT_DELAY_S: Final = 1.2  # short answers are complete by then
_SHORT_CHARACTERS = 4000  # longer answers are rendered in a thread


@dataclass(eq=False)
class LiveAnswer:
    """Shows one turn in one reply. `feed` it events inside `showing_progress`, then call `finish`."""

    reply: DiscordReply
    words: Texts
    stop_button: StopButton
    _: KW_ONLY
    receipt_updater: ReceiptUpdater
    card: Card  # of the question's author, with the changes that it inherits
    agent: str = DEFAULT_AGENT
    replaced_pages: Sequence[Page] = ()  # texts of the answer that it replaces; shown until its first text
    replaced_card: Card | None = None  # if the reply's messages have it
    one_message: bool = False  # a further post is unsafe: a long answer becomes a file
    retry_button: RetryButton | None = None  # shown below a temporary failure
    pause_factor: Callable[[], int] = lambda: 1  # answers that share Discord's limit of edits

    def __post_init__(self) -> None:
        self.state = AnswerState()
        self._state_changed, self._ended, self._skip_delay = (asyncio.Event() for _ in range(3))
        self._state_changed.set()
        self._last_event_s = asyncio.get_running_loop().time()

    @asynccontextmanager
    async def showing_progress(self) -> AsyncIterator[None]:
        """Update the messages in the background while the block runs."""
        updater = asyncio.create_task(self._show_progress_until_end())
        try:
            yield
        finally:
            for event in (self._ended, self._skip_delay, self._state_changed):
                event.set()
            # Not cancelled: Discord would carry out its request anyway.
            [outcome] = await asyncio.gather(updater, return_exceptions=True)
            if isinstance(outcome, hikari.ComponentStateConflictError):  # the bot has logged out
                _log.info("painting_left")
            elif isinstance(outcome, Exception):
                _log.error("painting_broke", exc_info=outcome)

    async def open(self) -> None:
        """Post the first message, before the turn begins. Raises hikari's errors."""
        await self.reply.show(await self._render(self._streaming_pages))

    def feed(self, event: TurnEvent) -> None:
        self.state = advance(self.state, event)
        self._last_event_s = asyncio.get_running_loop().time()
        self._state_changed.set()
        if isinstance(event, ToolStarted):  # the answer will take longer
            self._skip_delay.set()

    async def finish(self, user_id: int | None, *, temporary: bool, note: str = "") -> None:
        """Show the complete answer, with buttons for `user_id` if given. Raises hikari's errors."""
        if self.replaced_pages and not self.state.stored:  # the old answer stays
            *full, last = self.replaced_pages
            texts = (*full, with_effects(last, self.state, self.words))
            card = self.replaced_card or replace(self.card, changes=())
            await self._show_with_card(texts, card.with_changes(self.state.receipts))
            await self.reply.send_ephemeral(self.state.failure or self.words[AnswerTexts].answer_kept)
            return
        render = partial(final_pages, self.state, self.words, temporary=temporary, note=note)
        try:
            await self._show_final_pages(await self._render(render), user_id)
        except NotPosted:
            as_file = await self._render(partial(render, as_file=True))
            await self._show_final_pages(as_file, user_id)

    async def _render(self, render: Callable[[], Sequence[Page]]) -> Sequence[Page]:
        if len(self.state.text) <= _SHORT_CHARACTERS:
            return render()
        return await asyncio.to_thread(render)

    async def _show_final_pages(self, texts: Sequence[Page], user_id: int | None) -> None:
        if len(texts) > 1 and self.one_message:
            raise NotPosted
        card = replace(self.card.with_changes(self.state.receipts), proposals=self.state.proposals)
        card = await self.receipt_updater.with_current_changes(card)
        earlier: tuple[int, ...] = ()
        has_card = bool(card.pages(self.words))
        if len(texts) > 1 or has_card:  # the buttons come last
            await self._show_with_card(texts, card)
            earlier = (await self.reply.text_ids())[:-1]
        await self._show_with_card(self._with_buttons(texts, user_id, earlier, has_card), card)
        if user_id is not None and (shown := (await self.reply.text_ids())[:-1]) != earlier:
            # Discord refused the file; the buttons need the ids of the messages in its place.
            await self._show_with_card(self._with_buttons(texts, user_id, shown, has_card), card)

    async def _show_with_card(self, texts: Sequence[Page], card: Card) -> None:
        await self.reply.show((*texts, *card.pages(self.words)))
        await self.receipt_updater.record_shown(card, self.reply, self.words)

    def _with_buttons(
        self, texts: Sequence[Page], user_id: int | None, earlier: tuple[int, ...], has_card: bool
    ) -> Sequence[Page]:
        buttons: tuple[Button, ...] = ()
        if self.retry_button and self.state.may_be_asked_again:
            buttons = (ask_again_button(self.retry_button, self.words),)
        elif user_id is not None:
            buttons = answer_buttons(
                self.state, self.words, user_id, earlier, has_card=has_card, private=self.card.private
            )
        buttons = (*used_button(self.state, self.words, self.card.user_id), *buttons)
        buttons = (*canvas_button(self.state, self.words, self.card.user_id, self.agent), *buttons)
        return change_last_text(texts, lambda page: replace(page, buttons=buttons))

    async def _show_progress_until_end(self) -> None:
        loop, text_edits = asyncio.get_running_loop(), 0
        if self.reply.has_messages and self.reply.last_page is None:  # Discord shows "thinking"
            await _wait_at_most(FIRST_EDIT_DELAY_S, self._skip_delay)
        while True:
            await _wait_at_most(PROGRESS_INTERVAL_S, self._state_changed)
            if self._ended.is_set():
                return
            self._state_changed.clear()
            quiet_s = int(loop.time() - self._last_event_s)
            self.state = replace(self.state, quiet_s=quiet_s if quiet_s >= PROGRESS_INTERVAL_S - 1 else 0)
            previous_page, began_s = self.reply.last_page, loop.time()
            await self._show_progress()
            text_edits += self.reply.last_page is not previous_page and not is_blank(self.state.text)
            pause_s = self.reply.pause_s(text_edits) * (self.pause_factor() if text_edits else 1)
            # After a slow edit, pause longer, so that the bot's other edits get through.
            await _wait_at_most(max(pause_s, 2 * (loop.time() - began_s)), self._ended)

    async def _show_progress(self) -> None:
        pages = await self._render(self._streaming_pages)
        if self.one_message and not self.reply.has_messages:
            return  # the first message may exist: only `finish` posts it again
        try:
            await self.reply.show(pages[:1] if self.one_message else pages, is_progress=True)
        except NotPosted:
            self.one_message = True
            _log.warning("post_uncertain")
        except hikari.HTTPError as error:
            _log.warning("edit_failed", error=type(error).__name__)

    def _streaming_pages(self) -> Sequence[Page]:
        card_pages = self.replaced_card.pages(self.words) if self.replaced_card else ()
        if not self.replaced_pages or self.state.text.strip():
            return (*streaming_pages(self.state, self.words, self.stop_button), *card_pages)
        # Progress is shown below the replaced pages, which quote the transcript already.
        progress = streaming_pages(replace(self.state, transcript=""), self.words, self.stop_button)[0]
        *full, last = self.replaced_pages
        facts = last.facts.with_notes(progress.content)
        return (*full, replace(last, facts=facts, buttons=progress.buttons), *card_pages)


async def _wait_at_most(seconds: float, event: asyncio.Event) -> None:
    with contextlib.suppress(TimeoutError):
        async with asyncio.timeout(seconds):
            await event.wait()


async def try_to_finish(finish: Callable[[], Awaitable[None]]) -> bool:
    """Show an answer's end. Returns False if it is left to recovery."""
    try:
        await finish()
    except hikari.HikariError as error:
        _log.warning("answer_not_shown", error=type(error).__name__)
        return False
    except Exception:  # noqa: BLE001 - logged
        _log.error("answer_not_shown", exc_info=True)
        return False
    return True


@contextmanager
def show_failures(live: LiveAnswer, recipient: Recipient) -> Iterator[None]:
    try:
        yield
    except Exception as error:  # noqa: BLE001 - the user sees it
        state, retryable = live.state, True
        if isinstance(error, BeingErased):  # show no part of the conversation
            state, retryable = AnswerState(), False
        elif isinstance(error, ConversationGone | Postponed):  # erased; or the next process answers
            retryable = False
        elif isinstance(error, CcBotError):
            retryable = isinstance(error, StorageError | TurnError)
        else:
            _log.error("turn_broke", exc_info=error)
        explained = error if isinstance(error, CcBotError) else CcBotError()
        live.state = replace(state, failure=explain(explained, recipient.words), retryable=retryable)
        drop_tracebacks(error)  # frees files in memory


def texts_for_channel(words: Texts) -> Texts:
    """Return texts that mention no buttons: these answers have none."""
    mention = words[MentionTexts]
    answer = words[AnswerTexts].reword(
        cut=mention.cut, cut_without_button=mention.cut, stopped_empty=mention.stopped_empty
    )
    return words.with_area(answer)
