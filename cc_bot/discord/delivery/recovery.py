"""Shows the unshown ends of turns and approved calls, after a crash or a refusal by Discord.

Runs at the start, again after errors, and hourly.
"""

import asyncio
from collections.abc import Awaitable
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Final, Literal, TypeVar

import hikari
import structlog

from cc_bot.chat.approvals import Approvals
from cc_bot.chat.stores.proposals import ProposalStore
from cc_bot.concurrency import Tasks
from cc_bot.discord.delivery.live import LiveAnswer
from cc_bot.discord.delivery.outlets import InteractionOutlet, MessageReplies
from cc_bot.discord.delivery.reply import (
    DISCORD_REFUSALS,
    INVALID_WEBHOOK_TOKEN,
    UNKNOWN_WEBHOOK,
    Poster,
    Sent,
    is_gone,
    open_dm,
    sent_messages,
)
from cc_bot.discord.delivery.turns import RunningTurns
from cc_bot.discord.interactions import message_link
from cc_bot.discord.pages.answer import (
    advance,
    answer_buttons,
    final_pages,
    interrupted_page,
    page_of,
    stored_state,
    with_controls,
)
from cc_bot.discord.pages.custom_ids import StopButton
from cc_bot.discord.pages.page import Page
from cc_bot.discord.pages.proposals import outcome_line, update_proposals
from cc_bot.discord.recipients import Recipient, Recipients
from cc_bot.domain.errors import CcBotError
from cc_bot.domain.message import Message
from cc_bot.domain.proposal import Proposal
from cc_bot.domain.text import Locale
from cc_bot.domain.turn import INTERRUPTED_LIFETIME, CallsResumed, Done, Heard, PendingTurn, Usage
from cc_bot.log import job
from cc_bot.texts.answer import UnfinishedTexts

_log = structlog.get_logger(__name__)

Shown = TypeVar("Shown")


@dataclass(eq=False, slots=True)
class UnshownTurn:
    """A turn whose end was not shown."""

    turn: PendingTurn
    recipient: Recipient
    answer: Message | None
    older: Message | None
    heard: str
    proposals: tuple[Proposal, ...]

    @property
    def may_be_asked_again(self) -> bool:
        return self.answer is None and self.turn.question is not None

    def pages(self) -> tuple[Page, ...]:
        if self.answer is not None:
            return final_pages(stored_state(self.answer, heard=self.heard), self.recipient.words)
        return (
            self._restored_page(self.older) if self.older and not self.turn.below else self.sentence_page(),
        )

    def sentence_page(self) -> Page:
        words, with_button = self.recipient.words[UnfinishedTexts], False
        if self.turn.temporary:
            sentence = words.temporary
        elif self.older is not None:
            sentence = words.no_new_one
        elif self.may_be_asked_again:
            sentence, with_button = words.cut_off, True
        else:
            sentence = words.lost
        return interrupted_page(self.turn, sentence, self.recipient.words, may_be_asked_again=with_button)

    def _restored_page(self, older: Message) -> Page:
        """Return the older answer's last page; the pages above it never changed."""
        state = advance(stored_state(older, self.proposals, heard=self.heard), CallsResumed(self.turn.calls))
        words, earlier = self.recipient.words, self.turn.earlier
        pages = final_pages(state, words, note=words[UnfinishedTexts].kept)
        if len(pages) != len(earlier) + 1:  # it was shown as a file
            pages = final_pages(state, words, note=words[UnfinishedTexts].kept, as_file=True)
        buttons = answer_buttons(state, words, self.turn.key.user_id, earlier)
        return with_controls(pages[-1], state, words, self.turn.key.user_id, buttons)


NotShown = Literal["refused", "never_acknowledged", "deleted", "shown_already"]
"""`refused`: Discord refuses this token or channel. `never_acknowledged`: the interaction failed. `deleted`:
by a user. `shown_already`: an end that is not stored is shown."""

CHECK_INTERVAL_S: Final = 3600.0
RETRY_S: Final = 30.0
MAX_CONCURRENT: Final = 8
_MAX_SENTENCE_CHARACTERS: Final = 600


@dataclass(eq=False)
class Recovery:
    """Shows unshown ends, once `begin` is called.

    Tries the interaction's token, then the channel if the answer is public, then the user's DM. Posts nothing
    twice: earlier messages are recorded or searched for, and posts carry a nonce.
    """

    running: RunningTurns
    proposals: ProposalStore
    replies: MessageReplies
    recipients: Recipients
    approvals: Approvals
    _given_up: set[str] = field(default_factory=set)  # failed unexpectedly: left to the next process
    _slots: asyncio.Semaphore = field(default_factory=lambda: asyncio.Semaphore(MAX_CONCURRENT))
    _receipts_current: bool = False
    _recheck_due: asyncio.Event = field(default_factory=asyncio.Event)
    _application_id: int | None = None
    _work: Tasks = field(default_factory=Tasks)

    def begin(self) -> None:
        self._work.start(self._run())

    def recheck(self) -> None:
        """Check now, as other processes may have ended."""
        self._recheck_due.set()
        self.running.retry_due.set()

    async def close(self) -> None:
        await self._work.cancel()

    async def _run(self) -> None:
        while True:
            done = await self._recover_due()
            due, timeout_s = self._recheck_due, RETRY_S
            if done:
                due, timeout_s = self.running.retry_due, CHECK_INTERVAL_S
            with suppress(TimeoutError):
                async with asyncio.timeout(timeout_s):
                    await due.wait()
            self._recheck_due.clear()

    async def _recover_due(self) -> bool:
        """Returns False to retry soon."""
        ledger, receipts = self.running.ledger, self.running.receipts
        self.running.retry_due.clear()
        try:
            if not self._receipts_current:
                await receipts.catch_up(self.recipients)
            self._receipts_current = True
            calls = [
                call
                for call in await self.proposals.adopt_approved()
                if call.message.location_id is not None and not self.running.is_running(call.claimed_by)
            ]
            calls_done = all([await self._recover_call(call) for call in calls])
            for entry, user_id in list(self.running.entries_to_delete.items()):
                await ledger.delete(entry, user_id)
                del self.running.entries_to_delete[entry]
            await ledger.forget_interrupted(self.recipients.clock() - INTERRUPTED_LIFETIME)
            unfinished = [
                turn
                for turn in await ledger.adopt_unfinished()
                if turn.state != "interrupted" and turn.id not in self._given_up
            ]
            unshown, is_own = self.running.unshown, self.running.is_of_this_process
            due = [turn for turn in unfinished if turn.id in unshown or not is_own(turn.id)]
        except CcBotError as error:
            _log.warning("unfinished_not_read", error=type(error).__name__)
            return False
        except Exception:  # noqa: BLE001 - logged, and retried
            _log.error("unfinished_not_read", exc_info=True)
            return False
        return all(await asyncio.gather(*map(self._try_to_recover, due))) and calls_done

    async def _try_to_recover(self, turn: PendingTurn) -> bool:
        async with self._slots, self.running.recovering.hold(turn.id):
            with job("unfinished"):
                try:
                    await self._recover(turn)
                except (CcBotError, hikari.HikariError) as error:
                    _log.warning("turn_waits", error=type(error).__name__)
                    return False
                except Exception:  # noqa: BLE001 - logged; other turns go on
                    _log.error("unfinished_broke", exc_info=True)
                    self._given_up.add(turn.id)
                self.running.unshown.discard(turn.id)
                return True

    async def _recover(self, turn: PendingTurn) -> None:
        unshown, ledger, user_id = await self._load(turn), self.running.ledger, turn.key.user_id
        shown = await self._show(unshown)
        if isinstance(shown, Poster):
            if unshown.answer is not None:
                ids = await shown.message_ids() if unshown.answer.discord_id is not None else ()
                await self.running.record_pages(turn, unshown.answer, ids)
                if not turn.below:
                    await self.replies.delete_all(turn.key.channel_id, turn.earlier)
            _log.info("turn_finished", state=turn.state)
            if unshown.may_be_asked_again:
                await ledger.mark_interrupted(turn.id, user_id)
                return
        elif shown == "refused":
            _log.warning("turn_not_told", state=turn.state)
            if turn.kind == "message" and turn.question_id is not None:
                await self.replies.mark_unreachable(turn.key.channel_id, turn.question_id)
        else:
            _log.info("turn_not_finished", state=turn.state, reason=shown)
            if shown == "deleted":
                await self._delete_messages(turn)
            elif shown == "never_acknowledged":
                await ledger.release_claim(turn.id, user_id)
                if turn.former is not None:
                    return
        await ledger.delete(turn.id, user_id)

    async def _load(self, turn: PendingTurn) -> UnshownTurn:
        ledger = self.running.ledger
        locale = turn.locale or self.recipients.guilds.locale_of_channel(turn.key.channel_id)
        recipient = await self.recipients.for_user(turn.key.user_id, locale)
        user_id, replaced = turn.key.user_id, turn.replaces
        older = await ledger.get_message(user_id, replaced) if replaced is not None else None
        answer = await ledger.get_message(user_id, turn.answer_id) if turn.state == "answered" else None
        shown = answer or older
        proposals = await self.proposals.list_for_answer(user_id, shown.id) if shown and shown.id else ()
        heard = await ledger.get_transcript(user_id, shown.id) if shown else ""
        return UnshownTurn(turn, recipient, answer, older, heard, proposals)

    async def _show(self, unshown: UnshownTurn) -> Poster | NotShown:
        """Show it by the first route that Discord accepts."""
        turn = unshown.turn
        token = turn.token_at(self.recipients.clock())
        if token is not None:
            outcome = await self._try(self._show_by_token(unshown, token))
            unchanged = unshown.answer is None and (unshown.older is not None or turn.former is not None)
            if outcome != "refused" and (outcome != "never_acknowledged" or unchanged):
                return outcome
        shown: Poster | NotShown = "refused"
        if not turn.ephemeral and turn.location_id in {None, turn.key.channel_id}:
            shown = await self._try(self._show_in_channel(unshown))
        if shown == "refused":
            shown = await self._try(self._show_by_dm(unshown))
        first_id = turn.shown_in if turn.kind == "ask" and not turn.below else None
        if isinstance(shown, Poster) and token and first_id is not None and not shown.shows(first_id):
            self.replies.expected_deletions.expect(first_id)  # it still shows "thinking"
            with suppress(hikari.HikariError):
                await self.replies.rest.delete_interaction_response(await self._get_application_id(), token)
        return shown

    async def _try(self, showing: Awaitable[Shown]) -> Shown | NotShown:
        try:
            return await showing
        except (*DISCORD_REFUSALS, hikari.UnauthorizedError) as error:
            if isinstance(error, hikari.UnauthorizedError) and error.code != INVALID_WEBHOOK_TOKEN:
                raise  # the bot's own token is refused: exit
            if is_gone(error):
                return "deleted"
            return "never_acknowledged" if error.code == UNKNOWN_WEBHOOK else "refused"

    async def _show_by_token(self, unshown: UnshownTurn, token: str) -> Poster | NotShown:
        turn, rest, application_id = unshown.turn, self.replies.rest, await self._get_application_id()
        channel_id = turn.location_id or turn.key.channel_id
        outlet = InteractionOutlet(
            rest,
            application_id,
            token,
            channel_id,
            turn.interaction_id or 0,
            ephemeral=turn.ephemeral,
            on_posted=partial(self.running.record_page, turn),
        )
        first_id = turn.shown_in or int(await outlet.first_id())
        unrecorded = await self._unrecorded_followups(turn, channel_id, (first_id, *turn.pages)[-1])
        further = (*turn.pages, *(unrecorded or ()))
        shown = further if turn.below else (first_id, *further)
        if unshown.answer is None and shown:
            last = await rest.fetch_webhook_message(application_id, token, shown[-1])
            if _shows_an_end(last):
                return "shown_already"
        known = sent_messages(further) if turn.below else (Sent(None), *sent_messages(further))
        reply = Poster(outlet, known)
        if unshown.answer is None and turn.below and unshown.older and not (reply.has_messages or turn.calls):
            await outlet.send_ephemeral(unshown.pages()[0].content)  # the older answer is unchanged
            return reply
        # It is unknown whether the next page was posted.
        one_message = unrecorded is None and len(unshown.pages()) > len(known)
        await self._show_pages(unshown, reply, one_message=one_message)
        return reply

    async def _show_in_channel(self, unshown: UnshownTurn) -> Poster | NotShown:
        turn = unshown.turn
        if turn.kind != "message":
            reply = await self._reply_without_token(turn)
            await self._show_pages(unshown, reply)
            return reply
        first_id, channel_id = turn.shown_in, turn.location_id or turn.key.channel_id
        ids = () if first_id is None else (first_id, *await self.replies.channels.list_pages(first_id))
        # An unrecorded first message is found by its nonce.
        reply = self.replies.make_reply(channel_id, turn.question_id or first_id or 0, sent_messages(ids))
        fetch = partial(self.replies.rest.fetch_message, channel_id)
        with suppress(hikari.ForbiddenError):  # the bot may not read the history
            try:
                if turn.question_id is not None:
                    await fetch(turn.question_id)
            except hikari.NotFoundError as error:
                if not is_gone(error):
                    raise
                await reply.remove()
                return "deleted"
            if turn.state != "answered" and ids and _shows_an_end(await fetch(ids[-1])):
                return "shown_already"
        await self._show_pages(unshown, reply)
        return reply

    async def _show_by_dm(self, unshown: UnshownTurn) -> Poster:
        turn = unshown.turn
        dm_id = await open_dm(self.replies.rest, turn.key.user_id)
        ids = _recorded_ids(turn) if turn.location_id == dm_id else ()
        if turn.token is not None or turn.location_id != dm_id:
            await self.running.ledger.move(turn, dm_id, ids)
        on_posted = partial(self.running.record_page, turn)
        sent, nonce = sent_messages(ids), f"{turn.id}d"
        reply = self.replies.make_reply(dm_id, None, sent, nonce=nonce, on_posted=on_posted)
        shown_in = turn.question_id if turn.kind == "message" else turn.shown_in
        link = "" if turn.ephemeral else message_link(turn.guild_id, turn.key.channel_id, shown_in)
        note = unshown.recipient.words[UnfinishedTexts].late_note(link)
        await self._show_pages(unshown, reply, dm_note=note)
        return reply

    async def _show_pages(
        self, unshown: UnshownTurn, reply: Poster, *, dm_note: str | None = None, one_message: bool = False
    ) -> None:
        """`dm_note`: shown below an answer by DM, which has no buttons."""
        words, receipts, ids = unshown.recipient.words, self.running.receipts, await reply.message_ids()
        async with receipts.changes.hold(ids[-1] if ids else unshown.turn.id):
            if unshown.answer is not None:
                await self._show_answer(unshown, unshown.answer, reply, dm_note, one_message=one_message)
                return
            page = unshown.pages()[0] if dm_note is None else unshown.sentence_page()
            await reply.show((await receipts.with_current_state(page, words),))
            await receipts.record(reply, page.receipts, words)

    async def _show_answer(
        self, unshown: UnshownTurn, answer: Message, reply: Poster, dm_note: str | None, *, one_message: bool
    ) -> None:
        words, user_id = unshown.recipient.words, unshown.turn.key.user_id
        before: tuple[Page, ...] = ()
        if unshown.older is not None:
            state = stored_state(unshown.older, heard=unshown.heard)
            before = (with_controls(final_pages(state, words)[-1], state, words, user_id),)
        live = LiveAnswer(
            reply,
            words,
            StopButton(user_id, unshown.turn.id),
            asker_id=user_id,
            before=before,
            one_message=one_message,
            upkeep=self.running.receipts,
        )
        if unshown.heard:
            live.feed(Heard(unshown.heard))
        live.feed(Done(answer, Usage(), proposals=unshown.proposals))
        await live.finish(user_id if dm_note is None else None, temporary=False, note=dm_note or "")

    async def _reply_without_token(self, turn: PendingTurn) -> Poster:
        """Return a reply by the bot's own token that continues the existing messages."""
        channel_id, ids = turn.key.channel_id, turn.pages
        if turn.location_id is None:
            if turn.shown_in is None and turn.interaction_id is not None:
                # It is recorded once the answer is stored.
                found = await self._unrecorded_followups(turn, channel_id, turn.interaction_id)
                turn = replace(turn, shown_in=found[0]) if found else turn
            ids = _recorded_ids(turn)
            if ids:  # only the interaction's token can edit a message that shows "thinking"
                try:
                    first = await self.replies.rest.fetch_message(channel_id, ids[0])
                    ids = () if hikari.MessageFlag.LOADING in first.flags else ids
                except hikari.ForbiddenError:
                    ids = ()
            last_id = ids[-1] if ids else turn.shown_in or turn.interaction_id
            ids += await self._unrecorded_followups(turn, channel_id, last_id) or () if last_id else ()
            await self.running.ledger.move(turn, channel_id, ids)
        on_posted = partial(self.running.record_page, turn)
        reply_to_id, sent = None if ids else turn.shown_in, sent_messages(ids)
        return self.replies.make_reply(channel_id, reply_to_id, sent, nonce=turn.id, on_posted=on_posted)

    async def _unrecorded_followups(
        self, turn: PendingTurn, channel_id: int, after_id: int
    ) -> tuple[int, ...] | None:
        if turn.ephemeral:
            return None
        try:
            messages = await self.replies.rest.fetch_messages(channel_id, after=after_id).limit(50)
        except hikari.ClientHTTPResponseError:
            return None
        found = (
            int(message.id)
            for message in messages
            if (asked := message.interaction_metadata) and asked.interaction_id == turn.interaction_id
        )
        return tuple(sorted(found))

    async def _delete_messages(self, turn: PendingTurn) -> None:
        if turn.ephemeral:  # only dismissed: it stays in the conversation
            return
        replies, channel_id = self.replies, turn.location_id or turn.key.channel_id
        pages = await replies.channels.list_pages(turn.shown_in) if turn.shown_in else ()
        ids = tuple(dict.fromkeys((*_recorded_ids(turn), *pages)))
        await replies.delete_all(channel_id, ids)
        await replies.channels.delete(ids, location_id=channel_id)

    async def _recover_call(self, call: Proposal) -> bool:
        """Returns False to retry soon."""
        recipient = await self.recipients.for_user(call.key.user_id, call.content.origin.locale)
        line = outcome_line(call, await self.approvals.mark_outcome_unknown(call), recipient.words)
        try:
            async with self.running.receipts.changes.hold(call.message.shown_in):
                shown = await self._try(self._show_call(call, recipient, line))
            if shown in ("refused", "never_acknowledged"):
                by_dm = self.replies.send_by_dm(call.key.user_id, Page(line), f"call-{call.id}")
                shown = await self._try(by_dm)
        except hikari.HikariError as error:
            _log.warning("approved_call_waits", error=type(error).__name__)
            return False
        if shown == "refused":
            _log.warning("approved_call_not_told")
        await self.proposals.delete(call)
        return True

    async def _show_call(self, call: Proposal, recipient: Recipient, line: str) -> NotShown | None:
        shown, rest = call.message, self.replies.rest
        token = shown.token_at(self.recipients.clock())
        channel_id, message_id = shown.location_id or 0, shown.shown_in or 0
        if token is not None:
            application_id = await self._get_application_id()
            message = await rest.fetch_interaction_response(application_id, token)
            page = page_of(message, recipient.locale)
            to = (rest, application_id, token, channel_id, message_id)
            reply = Poster(InteractionOutlet(*to, ephemeral=shown.ephemeral), (Sent(None, page),))
        elif shown.ephemeral:
            return "refused"
        else:
            message = await rest.fetch_message(channel_id, message_id)
            page = page_of(message, recipient.locale)
            reply = self.replies.make_reply(channel_id, message_id, (Sent(message.id, page),))
        proposals = await self.proposals.list_for_answer(call.key.user_id, call.answer_id)
        page = update_proposals(page, proposals, call.id, recipient.words)
        await reply.show((replace(page, facts=page.facts.with_notes(line)),), retry_edits=False)
        return None

    async def _get_application_id(self) -> int:
        if self._application_id is None:
            self._application_id = int((await self.replies.rest.fetch_application()).id)
        return self._application_id


def _recorded_ids(turn: PendingTurn) -> tuple[int, ...]:
    # Once the bot posts with its own token, `pages` has all messages.
    if turn.token is None or turn.below or turn.shown_in is None:
        return turn.pages
    return (turn.shown_in, *turn.pages)


def _shows_an_end(message: hikari.Message) -> bool:
    # Streaming messages have a button; a page whose next one is missing is longer than a sentence.
    page = page_of(message, Locale.EN)
    full = len(page.content) > _MAX_SENTENCE_CHARACTERS and not page.facts
    return hikari.MessageFlag.LOADING not in message.flags and not page.buttons and not full
