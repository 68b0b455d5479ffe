"""Shows the unshown ends of turns and approved calls, after a crash or an error of Discord.

Runs at the start, again after errors, and hourly.
"""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Final, Literal, TypeVar

import hikari
import structlog

from cc_bot.chat.approvals import Approvals
from cc_bot.chat.changes import read_changes
from cc_bot.chat.stores.proposals import ProposalStore
from cc_bot.concurrency import Tasks
from cc_bot.discord.delivery.live import LiveAnswer
from cc_bot.discord.delivery.outlets import InteractionOutlet, MessageReplies
from cc_bot.discord.delivery.reply import (
    DISCORD_REFUSALS,
    INVALID_WEBHOOK_TOKEN,
    UNKNOWN_WEBHOOK,
    DiscordReply,
    SentMessage,
    is_unknown_message,
    open_dm,
    sent_messages,
)
from cc_bot.discord.delivery.turns import RunningTurns
from cc_bot.discord.interactions import message_link
from cc_bot.discord.pages.answer import (
    AnswerState,
    advance,
    answer_buttons,
    ask_again_button,
    final_pages,
    page_of,
    stored_state,
    unanswered_page,
    used_button,
    with_effects,
)
from cc_bot.discord.pages.cards import Card
from cc_bot.discord.pages.custom_ids import RetryButton, StopButton
from cc_bot.discord.pages.page import Button, Page
from cc_bot.discord.pages.proposals import outcome_line
from cc_bot.discord.recipients import Recipient, Recipients
from cc_bot.domain.errors import CcBotError
from cc_bot.domain.message import Message
from cc_bot.domain.proposal import Proposal
from cc_bot.domain.turn import INTERRUPTED_LIFETIME, CallsResumed, Done, Heard, PendingTurn, Usage
from cc_bot.log import bind_job_id
from cc_bot.texts.answer import UnfinishedTexts

_log = structlog.get_logger(__name__)

Result = TypeVar("Result")


@dataclass(eq=False, slots=True)
class UnshownTurn:
    entry: PendingTurn
    recipient: Recipient
    answer: Message | None  # None if the turn was interrupted
    replaced_answer: Message | None
    transcript: str  # of the question's recordings
    proposals: tuple[Proposal, ...]

    @property
    def may_be_asked_again(self) -> bool:
        return self.answer is None and self.entry.question is not None

    def pages(self) -> tuple[Page, ...]:
        """Return the answer's pages, or one that explains the interruption."""
        if self.answer is not None:
            return final_pages(stored_state(self.answer, heard=self.transcript), self.recipient.words)
        if self.replaced_answer and not self.entry.below:
            return (self._page_of_replaced_answer(self.replaced_answer),)
        return (self.explanation_page(),)

    def explanation_page(self) -> Page:
        entry, words, buttons = self.entry, self.recipient.words, tuple[Button, ...]()
        texts = words[UnfinishedTexts]
        if entry.temporary:
            sentence = texts.temporary_question_lost
        elif self.replaced_answer is not None:
            sentence = texts.answer_kept
        elif self.may_be_asked_again:
            sentence = texts.cut_off
            buttons = (ask_again_button(RetryButton(entry.key.user_id, entry.id), words),)
        else:
            sentence = texts.question_lost
        return replace(unanswered_page(sentence, entry.calls, words), buttons=buttons)

    def _page_of_replaced_answer(self, replaced_answer: Message) -> Page:
        """Return the last text, the only message that the turn edited."""
        state = stored_state(replaced_answer, heard=self.transcript)
        words, user_id = self.recipient.words, self.entry.key.user_id
        earlier_ids = tuple(id_ for id_ in self.entry.earlier if id_ < (self.entry.shown_in or 0))
        pages = final_pages(state, words, note=words[UnfinishedTexts].answer_restored)
        if len(pages) != len(earlier_ids) + 1:  # it was shown as a file
            pages = final_pages(state, words, note=words[UnfinishedTexts].answer_restored, as_file=True)
        buttons = (*used_button(state, words, user_id), *answer_buttons(state, words, user_id, earlier_ids))
        effects = advance(AnswerState(), CallsResumed(self.entry.calls))
        return with_effects(replace(pages[-1], buttons=buttons), effects, words)

    @property
    def card(self) -> Card:
        """What the turn did before it was interrupted."""
        private = self.entry.visibility == "private"
        return Card(self.entry.key.user_id, private, read_changes(self.entry.calls))


ShowFailure = Literal["refused", "never_acknowledged", "deleted", "shown_already"]
"""refused: by Discord. deleted: by a user. shown_already: an end that is not stored, such as a failure."""

CHECK_INTERVAL_S: Final = 3600.0
RETRY_S: Final = 30.0
MAX_CONCURRENT: Final = 8
_MAX_SENTENCE_CHARACTERS: Final = 600  # longer texts are answers


@dataclass(eq=False)
class Recovery:
    """Shows ends by the interaction's token, else in the channel if the answer is public, else in a DM.

    Posts nothing twice: earlier messages are recorded or searched for, and posts carry a nonce.
    """

    running_turns: RunningTurns
    proposals: ProposalStore
    replies: MessageReplies
    recipients: Recipients
    approvals: Approvals
    _failed_ids: set[str] = field(default_factory=set)  # after a bug, left to the next process
    _semaphore: asyncio.Semaphore = field(default_factory=lambda: asyncio.Semaphore(MAX_CONCURRENT))
    _receipts_are_current: bool = False
    _recheck_due: asyncio.Event = field(default_factory=asyncio.Event)
    _application_id: int | None = None
    _work: Tasks = field(default_factory=Tasks)

    def begin(self) -> None:
        self._work.start(self._run())

    def recheck(self) -> None:
        """Check now, as other processes may have ended."""
        self._recheck_due.set()
        self.running_turns.recovery_due.set()

    async def close(self) -> None:
        await self._work.cancel()

    async def _run(self) -> None:
        while True:
            is_complete = await self._recover_all()
            wake_event, timeout_s = self._recheck_due, RETRY_S
            if is_complete:
                wake_event, timeout_s = self.running_turns.recovery_due, CHECK_INTERVAL_S
            with suppress(TimeoutError):
                async with asyncio.timeout(timeout_s):
                    await wake_event.wait()
            self._recheck_due.clear()

    async def _recover_all(self) -> bool:
        """Returns False to be called again soon."""
        self.running_turns.recovery_due.clear()
        try:
            if not self._receipts_are_current:
                await self.running_turns.receipt_updater.catch_up(self.recipients)
            self._receipts_are_current = True
            calls_are_recovered = await self._recover_calls()
            entries = await self._list_due_entries()
        except CcBotError as error:
            _log.warning("unfinished_not_read", error=type(error).__name__)
            return False
        except Exception:  # noqa: BLE001 - logged, and retried
            _log.error("unfinished_not_read", exc_info=True)
            return False
        return all(await asyncio.gather(*map(self._try_to_recover, entries))) and calls_are_recovered

    async def _list_due_entries(self) -> Sequence[PendingTurn]:
        """Delete superfluous entries, and return those to recover."""
        running, ledger = self.running_turns, self.running_turns.ledger
        for turn_id, user_id in list(running.entries_to_delete.items()):
            await ledger.delete(turn_id, user_id)
            del running.entries_to_delete[turn_id]
        await ledger.forget_interrupted(self.recipients.clock() - INTERRUPTED_LIFETIME)
        return [
            entry
            for entry in await ledger.adopt_unfinished()
            if entry.state != "interrupted"
            and entry.id not in self._failed_ids
            and (entry.id in running.unshown_ids or not running.is_of_this_process(entry.id))
        ]

    async def _try_to_recover(self, entry: PendingTurn) -> bool:
        """Returns False to be called again soon."""
        async with self._semaphore, self.running_turns.entry_locks.hold(entry.id):
            with bind_job_id("unfinished"):
                try:
                    await self._recover(entry)
                except (CcBotError, hikari.HikariError) as error:
                    _log.warning("turn_waits", error=type(error).__name__)
                    return False
                except Exception:  # noqa: BLE001 - logged; other turns go on
                    _log.error("unfinished_broke", exc_info=True)
                    self._failed_ids.add(entry.id)
                self.running_turns.unshown_ids.discard(entry.id)
                return True

    async def _recover(self, entry: PendingTurn) -> None:
        unshown, ledger, user_id = await self._load(entry), self.running_turns.ledger, entry.key.user_id
        outcome = await self._show(unshown)
        if isinstance(outcome, DiscordReply):
            if unshown.answer is not None:
                ids = await outcome.message_ids() if unshown.answer.discord_id is not None else ()
                await self.running_turns.record_pages(entry, unshown.answer, ids)
                if not entry.below:
                    await self.replies.delete_all(entry.key.channel_id, entry.earlier)
            _log.info("turn_finished", state=entry.state)
            if unshown.may_be_asked_again:
                await ledger.mark_interrupted(entry.id, user_id, outcome.further_ids)
                return
        elif outcome == "refused":
            _log.warning("turn_not_told", state=entry.state)
            if entry.kind == "message" and entry.question_id is not None:
                await self.replies.mark_unreachable(entry.key.channel_id, entry.question_id)
        else:
            _log.info("turn_not_finished", state=entry.state, reason=outcome)
            if outcome == "deleted":
                await self._delete_messages(entry)
            elif outcome == "never_acknowledged":
                await ledger.release_claim(entry.id, user_id)
                if entry.former is not None:  # its question may be asked again
                    return
        await ledger.delete(entry.id, user_id)

    async def _load(self, entry: PendingTurn) -> UnshownTurn:
        ledger = self.running_turns.ledger
        locale = entry.locale or self.recipients.guilds.locale_of_channel(entry.key.channel_id)
        recipient = await self.recipients.for_user(entry.key.user_id, locale)
        user_id, replaced = entry.key.user_id, entry.replaces
        replaced_answer = await ledger.get_answer(user_id, replaced) if replaced is not None else None
        answer = await ledger.get_answer(user_id, entry.answer_id) if entry.state == "answered" else None
        shown_answer = answer or replaced_answer
        answer_id = shown_answer.id if shown_answer else None
        proposals = await self.proposals.list_for_answer(user_id, answer_id) if answer_id else ()
        transcript = await ledger.get_transcript(user_id, answer_id) if answer_id else ""
        return UnshownTurn(entry, recipient, answer, replaced_answer, transcript, proposals)

    async def _show(self, unshown: UnshownTurn) -> DiscordReply | ShowFailure:
        entry = unshown.entry
        token = entry.token_at(self.recipients.clock())
        if token is not None:
            outcome = await self._try(self._show_by_token(unshown, token))
            # An unacknowledged press has left its message unchanged.
            was_press = unshown.replaced_answer is not None or entry.former is not None
            needs_no_end = outcome == "never_acknowledged" and unshown.answer is None and was_press
            if needs_no_end or outcome not in ("refused", "never_acknowledged"):
                return outcome
        outcome = "refused"
        if not entry.ephemeral and entry.location_id in {None, entry.key.channel_id}:
            outcome = await self._try(self._show_in_channel(unshown))
        if outcome == "refused":
            outcome = await self._try(self._show_by_dm(unshown))
        first_id = entry.shown_in if entry.kind == "ask" and not entry.below else None
        if isinstance(outcome, DiscordReply) and token and first_id and not outcome.includes(first_id):
            self.replies.expected_deletions.expect(first_id)  # it still shows "thinking"
            with suppress(hikari.HikariError):
                await self.replies.rest.delete_interaction_response(await self._get_application_id(), token)
        return outcome

    async def _try(self, show: Awaitable[Result]) -> Result | ShowFailure:
        try:
            return await show
        except (*DISCORD_REFUSALS, hikari.UnauthorizedError) as error:
            if isinstance(error, hikari.UnauthorizedError) and error.code != INVALID_WEBHOOK_TOKEN:
                raise  # the bot's own token is refused: exit
            if is_unknown_message(error):
                return "deleted"
            return "never_acknowledged" if error.code == UNKNOWN_WEBHOOK else "refused"

    async def _show_by_token(self, unshown: UnshownTurn, token: str) -> DiscordReply | ShowFailure:
        entry, rest, application_id = unshown.entry, self.replies.rest, await self._get_application_id()
        channel_id = entry.location_id or entry.key.channel_id
        outlet = InteractionOutlet(
            rest,
            application_id,
            token,
            channel_id,
            entry.interaction_id or 0,
            ephemeral=entry.ephemeral,
            on_posted=partial(self.running_turns.record_page, entry),
            expected_deletions=self.replies.expected_deletions,
        )
        first_id = entry.shown_in or int(await outlet.first_id())
        unrecorded_ids = await self._find_unrecorded(entry, channel_id, (first_id, *entry.pages)[-1])
        further_ids = (*entry.pages, *(unrecorded_ids or ()))
        ids = further_ids if entry.below else (first_id, *further_ids)
        fetch = partial(rest.fetch_webhook_message, application_id, token)
        if unshown.answer is None and ids and await _show_an_end(ids, fetch, unshown):
            return "shown_already"
        sent = sent_messages(further_ids)
        reply = DiscordReply(outlet, sent if entry.below else (SentMessage(None), *sent))
        has_no_trace = entry.below and not (reply.has_messages or entry.calls)
        if unshown.answer is None and unshown.replaced_answer and has_no_trace:
            await outlet.send_ephemeral(unshown.pages()[0].content)
            return reply
        # If follow-ups can't be read, a next one may exist.
        one_message = unrecorded_ids is None and len(unshown.pages()) > len(ids)
        await self._show_pages(unshown, reply, one_message=one_message)
        return reply

    async def _show_in_channel(self, unshown: UnshownTurn) -> DiscordReply | ShowFailure:
        entry = unshown.entry
        if entry.kind != "message":
            reply = await self._reply_without_token(entry)
            await self._show_pages(unshown, reply)
            return reply
        first_id, channel_id = entry.shown_in, entry.location_id or entry.key.channel_id
        ids = () if first_id is None else (first_id, *await self.replies.channels.list_pages(first_id))
        # Discord finds an unrecorded first message by its nonce.
        reply = self.replies.make_reply(channel_id, entry.question_id or first_id or 0, sent_messages(ids))
        fetch = partial(self.replies.rest.fetch_message, channel_id)
        with suppress(hikari.ForbiddenError):  # the bot may not read the history
            try:
                if entry.question_id is not None:
                    await fetch(entry.question_id)
            except hikari.NotFoundError as error:
                if not is_unknown_message(error):
                    raise
                await reply.delete()
                return "deleted"
            if entry.state != "answered" and ids and await _show_an_end(ids, fetch, unshown):
                return "shown_already"
        await self._show_pages(unshown, reply)
        return reply

    async def _show_by_dm(self, unshown: UnshownTurn) -> DiscordReply:
        entry = unshown.entry
        dm_id = await open_dm(self.replies.rest, entry.key.user_id)
        ids = _recorded_ids(entry) if entry.location_id == dm_id else ()
        if entry.token is not None or entry.location_id != dm_id:
            await self.running_turns.ledger.move(entry, dm_id, ids)
        on_posted = partial(self.running_turns.record_page, entry)
        sent, nonce = sent_messages(ids), f"{entry.id}d"
        reply = self.replies.make_reply(dm_id, None, sent, nonce=nonce, on_posted=on_posted)
        shown_in = entry.question_id if entry.kind == "message" else entry.shown_in
        link = "" if entry.ephemeral else message_link(entry.guild_id, entry.key.channel_id, shown_in)
        note = unshown.recipient.words[UnfinishedTexts].elsewhere_note(link)
        await self._show_pages(unshown, reply, dm_note=note)
        return reply

    async def _show_pages(
        self, unshown: UnshownTurn, reply: DiscordReply, *, dm_note: str = "", one_message: bool = False
    ) -> None:
        """`dm_note`: shown below an answer by DM, which has no buttons."""
        words, updater = unshown.recipient.words, self.running_turns.receipt_updater
        ids = await reply.message_ids()
        async with updater.message_locks.hold(ids[-1] if ids else unshown.entry.id):
            if unshown.answer is not None:
                await self._show_answer(unshown, unshown.answer, reply, dm_note, one_message=one_message)
                return
            page = unshown.explanation_page() if dm_note else unshown.pages()[0]
            card = await updater.with_current_changes(unshown.card)
            await reply.show((page, *card.pages(words)))
            await updater.record_shown(card, reply, words)

    async def _show_answer(
        self, unshown: UnshownTurn, answer: Message, reply: DiscordReply, dm_note: str, *, one_message: bool
    ) -> None:
        words, user_id, entry = unshown.recipient.words, unshown.entry.key.user_id, unshown.entry
        updater = self.running_turns.receipt_updater
        cards = () if entry.below else (*entry.earlier, *entry.pages)
        inherited = await updater.changes_to_inherit(user_id, cards)
        live = LiveAnswer(
            reply,
            words,
            StopButton(user_id, entry.id),
            card=Card(user_id, entry.visibility == "private", inherited),
            one_message=one_message,
            receipt_updater=updater,
        )
        if unshown.transcript:
            live.feed(Heard(unshown.transcript))
        live.feed(Done(answer, Usage(), proposals=unshown.proposals))
        await live.finish(None if dm_note else user_id, temporary=False, note=dm_note)

    async def _reply_without_token(self, entry: PendingTurn) -> DiscordReply:
        """Continue the interaction's messages as ordinary messages of the bot."""
        channel_id, ids = entry.key.channel_id, entry.pages
        if entry.location_id is None:  # not done before
            if entry.shown_in is None and entry.interaction_id is not None:  # recorded with the answer
                found_ids = await self._find_unrecorded(entry, channel_id, entry.interaction_id)
                entry = replace(entry, shown_in=found_ids[0]) if found_ids else entry
            ids = _recorded_ids(entry)
            if ids and not await self._can_edit(channel_id, ids[0]):
                ids = ()
            if last_id := ids[-1] if ids else entry.shown_in or entry.interaction_id:
                ids += await self._find_unrecorded(entry, channel_id, last_id) or ()
            await self.running_turns.ledger.move(entry, channel_id, ids)
        on_posted = partial(self.running_turns.record_page, entry)
        reply_to_id, sent = None if ids else entry.shown_in, sent_messages(ids)
        return self.replies.make_reply(channel_id, reply_to_id, sent, nonce=entry.id, on_posted=on_posted)

    async def _can_edit(self, channel_id: int, message_id: int) -> bool:
        """Only an interaction's token can edit a message that shows "thinking"."""
        try:
            message = await self.replies.rest.fetch_message(channel_id, message_id)
        except hikari.ForbiddenError:
            return False
        return hikari.MessageFlag.LOADING not in message.flags

    async def _find_unrecorded(
        self, entry: PendingTurn, channel_id: int, after_id: int
    ) -> tuple[int, ...] | None:
        """Return None if the channel can't be read."""
        if entry.ephemeral:
            return None
        try:
            messages = await self.replies.rest.fetch_messages(channel_id, after=after_id).limit(50)
        except hikari.ClientHTTPResponseError:
            return None
        ids = (
            int(message.id)
            for message in messages
            if (metadata := message.interaction_metadata) and metadata.interaction_id == entry.interaction_id
        )
        return tuple(sorted(ids))

    async def _delete_messages(self, entry: PendingTurn) -> None:
        if entry.ephemeral:  # its user only dismissed it
            return
        replies, channel_id = self.replies, entry.location_id or entry.key.channel_id
        further_ids = await replies.channels.list_pages(entry.shown_in) if entry.shown_in else ()
        ids = tuple(dict.fromkeys((*_recorded_ids(entry), *further_ids)))
        await replies.delete_all(channel_id, ids)
        await replies.channels.delete(ids, location_id=channel_id)

    async def _recover_calls(self) -> bool:
        """Returns False to be called again soon."""
        calls = [
            call
            for call in await self.proposals.adopt_approved()
            if call.message.location_id is not None and not self.running_turns.get(call.claimed_by)
        ]
        return all([await self._recover_call(call) for call in calls])

    async def _recover_call(self, call: Proposal) -> bool:
        """Returns False to be called again soon."""
        recipient = await self.recipients.for_user(call.key.user_id, call.content.origin.locale)
        line = outcome_line(call, await self.approvals.mark_outcome_unknown(call), recipient.words)
        try:
            async with self.running_turns.receipt_updater.message_locks.hold(call.message.shown_in):
                failure = await self._try(self._show_call(call, recipient, line))
            if failure in ("refused", "never_acknowledged"):
                by_dm = self.replies.send_by_dm(call.key.user_id, (Page(line),), f"call-{call.id}")
                failure = await self._try(by_dm)
        except hikari.HikariError as error:
            _log.warning("approved_call_waits", error=type(error).__name__)
            return False
        if failure == "refused":
            _log.warning("approved_call_not_told")
        await self.proposals.delete(call)
        return True

    async def _show_call(self, call: Proposal, recipient: Recipient, line: str) -> ShowFailure | None:
        target, rest = call.message, self.replies.rest
        token = target.token_at(self.recipients.clock())
        channel_id, message_id = target.location_id or 0, target.shown_in or 0
        if token is not None:
            application_id = await self._get_application_id()
            message = await rest.fetch_interaction_response(application_id, token)
            to = (rest, application_id, token, channel_id, message_id)
            outlet = InteractionOutlet(*to, ephemeral=target.ephemeral)
            reply = DiscordReply(outlet, (SentMessage(None),))
        elif target.ephemeral:
            return "refused"
        else:
            message = await rest.fetch_message(channel_id, message_id)
            reply = self.replies.make_reply(channel_id, message_id, (SentMessage(message.id),))
        updater, card = self.running_turns.receipt_updater, Card(call.key.user_id)
        await updater.redraw(
            message,
            card,
            recipient.words,
            lambda page: reply.show((page,), is_progress=True),
            change=lambda card: card.with_notes(line),
        )
        return None

    async def _get_application_id(self) -> int:
        if self._application_id is None:
            self._application_id = int((await self.replies.rest.fetch_application()).id)
        return self._application_id


def _recorded_ids(entry: PendingTurn) -> tuple[int, ...]:
    # Once the bot posts without a token, `pages` has all messages.
    if entry.token is None or entry.below or entry.shown_in is None:
        return entry.pages
    return (entry.shown_in, *entry.pages)


async def _show_an_end(
    ids: Sequence[int], fetch: Callable[[int], Awaitable[hikari.Message]], unshown: UnshownTurn
) -> bool:
    last = await fetch(ids[-1])
    has_card = bool(last.flags & hikari.MessageFlag.IS_COMPONENTS_V2)
    text = await fetch(ids[-2]) if has_card and len(ids) > 1 else last
    page = page_of(text)
    is_streaming = hikari.MessageFlag.LOADING in text.flags or bool(page.buttons)
    lacks_next_page = len(page.content) > _MAX_SENTENCE_CHARACTERS and not page.facts
    lacks_card = bool(unshown.card.changes) and not has_card
    return not (is_streaming or lacks_next_page or lacks_card)
