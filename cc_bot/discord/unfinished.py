"""Finishing what was begun: the turns that the last run of the program was ended under, and those of this one
whose end Discord did not take.

Looked for once the connection is open, again while Discord or the database has trouble, and once an hour for
questions that nobody asked again in time.

A turn that can be shown nowhere any more is settled all the same, with one record: `turn_not_told`.
"""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Final

import hikari
import structlog

from cc_bot.discord.delivery.approved_calls import UnfinishedCalls
from cc_bot.discord.delivery.deliveries import Deliveries, Delivery
from cc_bot.discord.delivery.live import LiveAnswer, RunningTurns
from cc_bot.discord.delivery.outlets import Hook, InteractionOutlet, MessageReplies
from cc_bot.discord.delivery.receipts import ReceiptUpkeep
from cc_bot.discord.delivery.refusals import (
    INVALID_WEBHOOK_TOKEN,
    REFUSALS,
    UNKNOWN_WEBHOOK,
    is_gone,
)
from cc_bot.discord.delivery.reply import Reply, Sent, delete_all
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
from cc_bot.discord.pages.custom_ids import AnswerButton, StopButton, parse_custom_id
from cc_bot.discord.pages.page import Page
from cc_bot.discord.recipients import Recipient, Recipients
from cc_bot.domain.errors import CcBotError
from cc_bot.domain.locale import Locale
from cc_bot.domain.message import Message
from cc_bot.domain.proposal import Proposal
from cc_bot.domain.turn import KEPT, CallsResumed, Done, Heard, PendingTurn, Usage
from cc_bot.in_order import InOrder
from cc_bot.log import job
from cc_bot.stores import ProposalStore, TurnLedger

# ---- pending delivery ------------------------------------------------------------------------------------
# What a turn of the ledger still owes to its user, and how that looks.
#
# An answer that is stored is shown. A turn without one says that it was cut off, and offers to ask the same
# again; where it was to take the place of an older answer, that one is back.


@dataclass(eq=False, slots=True)
class PendingDelivery:
    turn: PendingTurn
    recipient: Recipient
    answer: Message | None = None
    """As it was stored; without one there is a sentence."""
    older: Message | None = None
    """The answer that this one takes the place of, or was to."""
    heard: str = ""
    """What was heard in the question of either."""
    proposals: tuple[Proposal, ...] = ()
    """What the answer leaves to its user, or else the older one."""
    receipts: ReceiptUpkeep | None = None
    """Keeps what it tells true."""

    @property
    def may_be_asked_again(self) -> bool:
        return self.answer is None and self.turn.question is not None

    @property
    def brings_back(self) -> bool:
        """Return whether it shows an older answer again, in the message where that was."""
        return self.answer is None and self.older is not None and not self.turn.below

    @property
    def touched_nothing(self) -> bool:
        """Return whether all stands as it was, if nobody heard of the press of a button: the older answer, or
        the message that offers to ask again."""
        return self.answer is None and (self.older is not None or self.turn.former is not None)

    def pages(self) -> tuple[Page, ...]:
        """Return the pages as they look, as far as that is known before it is sent."""
        if self.answer is not None:
            return final_pages(stored_state(self.answer, heard=self.heard), self.recipient.words)
        return (self._brought_back(self.older) if self.older and self.brings_back else self._sentence(),)

    def ends_in(self, page: Page) -> bool:
        """Return whether a message is the last of its answer as that is stored, whatever was decided below it
        since."""
        pressed = (parse_custom_id(button.custom_id) for button in page.buttons)
        answer_id = self.answer.id if self.answer else None
        ended = any(isinstance(each, AnswerButton) and each.answer_id == answer_id for each in pressed)
        return ended and page.content.strip() == self.pages()[-1].content.strip()

    async def show(
        self, reply: Reply, *, one_message: bool, elsewhere: bool = False, stands: bool = False
    ) -> None:
        """Make a reply look like it. `elsewhere`: it is not where it was asked, so nothing there works on.
        `stands`: it does, and is only put on record.

        Raises hikari's errors.
        """
        words, user_id = self.recipient.words, self.turn.key.user_id
        if self.answer is None:
            page = self._sentence() if elsewhere else self.pages()[0]
            await reply.show((await self.receipts.as_it_is(page, words) if self.receipts else page,))
            if self.receipts:
                await self.receipts.record(reply, user_id, self.turn.visibility, words)
            return
        live = LiveAnswer(
            reply,
            words,
            StopButton(user_id, self.turn.id),
            asker_id=user_id,
            before=() if self.older is None else (_last_page(self.older, self.recipient, self.heard),),
            one_message=one_message,
            receipts=self.receipts,
        )
        if self.heard:
            live.feed(Heard(self.heard))
        live.feed(Done(self.answer, Usage(), proposals=self.proposals))
        if stands:
            await live.record_receipts()
            return
        note = words.unfinished.late_note(_link_to(self.turn)) if elsewhere else ""
        await live.finish(None if elsewhere else user_id, temporary=False, note=note)

    def _sentence(self) -> Page:
        words, asked_again = self.recipient.words.unfinished, False
        if self.turn.temporary:
            sentence = words.temporary
        elif self.older is not None:
            sentence = words.no_new_one
        elif not self.may_be_asked_again:
            sentence = words.lost
        else:
            sentence, asked_again = words.cut_off, True
        return interrupted_page(self.turn, sentence, self.recipient.words, may_be_asked_again=asked_again)

    def _brought_back(self, older: Message) -> Page:
        """The message with its buttons as it was; those above it were never touched."""
        state = advance(stored_state(older, self.proposals, heard=self.heard), CallsResumed(self.turn.calls))
        words, earlier = self.recipient.words, self.turn.earlier
        pages = final_pages(state, words, note=words.unfinished.kept)
        if len(pages) != len(earlier) + 1:  # it came as a file
            pages = final_pages(state, words, note=words.unfinished.kept, as_file=True)
        buttons = answer_buttons(state, words, self.turn.key.user_id, earlier)
        return with_controls(pages[-1], state, words, self.turn.key.user_id, buttons)


def _link_to(turn: PendingTurn) -> str:
    """The address of a question that is a message, or of the message that was to answer it; empty where its
    user alone sees that, or it is not known."""
    shown = turn.question_id if turn.kind == "message" else turn.shown_in
    return "" if turn.ephemeral else message_link(turn.guild_id, turn.key.channel_id, shown)


def _last_page(answer: Message, recipient: Recipient, heard: str) -> Page:
    state = stored_state(answer, heard=heard)
    return with_controls(final_pages(state, recipient.words)[-1], state, recipient.words, recipient.user_id)


# ---- delivery routes -------------------------------------------------------------------------------------
# The ways to a user whose turn another run of the program began.
#
# While the interaction's token lives, the message that waits is edited by it, and its follow-ups. Past that
# the bot writes by itself: in the channel where everybody could read the answer, else in its user's DM.
# Nothing is posted twice: what is there already is on record or looked for, and what the bot posts by itself
# carries a nonce that is made of the turn and the number of the message.


class Closed(Exception):
    """A way that leads nowhere: not with this token, or not in this place."""


class NeverAcknowledged(Closed):
    """Discord was not told that the interaction was taken, and has told its user that it failed."""


class Gone(Exception):
    """The message was deleted: nobody wants the answer any more."""


class ToldAlready(Exception):
    """The message shows an end, of which nothing is stored: what is said there is nowhere else."""


@dataclass(eq=False, slots=True)
class DeliveryRoutes:
    replies: MessageReplies
    deliveries: Deliveries
    ledger: TurnLedger
    changes: InOrder = field(default_factory=InOrder)
    """Of each message, by its id: whoever changes it begins with what it is by then."""

    @property
    def rest(self) -> hikari.api.RESTClient:
        return self.replies.rest

    async def by_token(self, pending: PendingDelivery, token: str, application_id: int) -> Reply:
        """Show it by the interaction's token. Raises Closed, Gone, ToldAlready, and hikari's errors while
        Discord has trouble."""
        try:
            return await self._by_token(pending, token, application_id)
        except (*REFUSALS, hikari.UnauthorizedError) as error:
            if isinstance(error, hikari.UnauthorizedError) and error.code != INVALID_WEBHOOK_TOKEN:
                raise  # the bot's own token is refused: the program ends
            raise _meaning(error) from error

    async def in_channel(self, pending: PendingDelivery) -> Reply:
        """Show it where it was asked. Raises as `by_token`, and StorageError."""
        turn = pending.turn
        try:
            reply = await self._to_message(turn) if turn.kind == "message" else await self._late(pending)
            await self._put(
                pending, reply, partial(self.rest.fetch_message, turn.key.channel_id), one_message=False
            )
        except REFUSALS as error:
            raise _meaning(error) from error
        return reply

    async def _put(
        self,
        pending: PendingDelivery,
        reply: Reply,
        fetch: Callable[[int], Awaitable[hikari.Message]],
        *,
        one_message: bool,
    ) -> None:
        """Show it in its messages, unless they show all of it: what a press has put there since is told
        nowhere else. Nobody changes the last of them meanwhile. Raises hikari's errors."""
        ids = await reply.message_ids()
        if not ids:
            await pending.show(reply, one_message=one_message)
            return
        async with self.changes.after(ids[-1]):
            stands = False
            with suppress(hikari.ForbiddenError):  # a bot that may not read the past can't know
                page = page_of(await fetch(ids[-1]), pending.recipient.locale)
                if stands := pending.ends_in(page):
                    reply.note_last(page)
            await pending.show(reply, one_message=one_message, stands=stands)

    async def by_dm(self, pending: PendingDelivery) -> Reply:
        """Show it in its user's DM. Raises as `in_channel`."""
        turn = pending.turn
        try:
            place_id = int((await self.rest.create_dm_channel(turn.key.user_id)).id)
            ids = _begun_ids(turn) if turn.place_id == place_id else ()
            if turn.token is not None or turn.place_id != place_id:
                await self.ledger.move(turn, place_id, ids)
            noting = Delivery(self.deliveries, turn).note_page
            reply = self.replies.late(place_id, f"{turn.id}d", None, _messages(ids), noting=noting)
            await pending.show(reply, one_message=False, elsewhere=True)
        except REFUSALS as error:
            raise _meaning(error) from error
        return reply

    async def remove(self, turn: PendingTurn) -> None:
        """Remove all of an answer of which a user deleted one message. Raises StorageError and hikari's
        errors."""
        if turn.ephemeral:  # its messages were dismissed, and it stays in the conversation
            return
        place_id = turn.place_id or turn.key.channel_id
        pages = await self.replies.channels.list_pages(turn.shown_in) if turn.shown_in else ()
        ids = tuple(dict.fromkeys((*_begun_ids(turn), *pages)))
        await delete_all(self.rest, place_id, ids, self.replies.taken_down)
        await self.replies.channels.delete(ids, place_id=place_id)

    async def remove_waiting(self, turn: PendingTurn, token: str, application_id: int, reply: Reply) -> None:
        """Delete the message that waits for what another one shows, if the token reaches it."""
        if turn.shown_in is None or reply.shows(turn.shown_in):
            return
        self.replies.taken_down.expect(turn.shown_in)
        with suppress(hikari.HikariError):
            await self.rest.delete_interaction_response(application_id, token)

    async def _by_token(self, pending: PendingDelivery, token: str, application_id: int) -> Reply:
        turn = pending.turn
        place_id = turn.place_id or turn.key.channel_id
        hook = Hook(self.rest, application_id, token, place_id, turn.interaction_id or 0)
        outlet = InteractionOutlet(
            hook, ephemeral=turn.ephemeral, noting=Delivery(self.deliveries, turn).note_page
        )
        known = (*(() if turn.below else (Sent(None),)), *_messages(turn.pages))
        first_id = turn.shown_in or int(await outlet.first_id())
        strays = await self._strays(turn, place_id, (first_id, *turn.pages)[-1])
        shown = (*(() if turn.below else (first_id,)), *turn.pages, *(strays or ()))
        if pending.answer is None and shown:
            _ensure_unfinished(await self.rest.fetch_webhook_message(application_id, token, shown[-1]))
        reply = Reply(outlet, (*known, *_messages(strays or ())))
        if pending.answer is None and turn.below and pending.older and not (reply.begun or turn.calls):
            await outlet.whisper(pending.pages()[0].content)  # the older answer stands as it was
            return reply
        # Nobody can tell whether the next page is there already: then all of it comes in one.
        one_message = strays is None and len(pending.pages()) > len(known)
        fetch = partial(self.rest.fetch_webhook_message, application_id, token)
        await self._put(pending, reply, fetch, one_message=one_message)
        return reply

    async def _strays(self, turn: PendingTurn, place_id: int, after_id: int) -> tuple[int, ...] | None:
        """Follow-ups of which it is not on record that they were posted; None when nobody can tell."""
        if turn.ephemeral:
            return None
        try:
            messages = await self.rest.fetch_messages(place_id, after=after_id).limit(50)
        except hikari.ClientHTTPResponseError:
            return None
        found = (
            int(message.id)
            for message in messages
            if (told := message.interaction_metadata) and told.interaction_id == turn.interaction_id
        )
        return tuple(sorted(found))

    async def _to_message(self, turn: PendingTurn) -> Reply:
        """Reply in the message that was begun for it, or in a first one: if that is there, its nonce finds
        it."""
        place_id, first_id = turn.place_id or turn.key.channel_id, turn.shown_in
        ids = () if first_id is None else (first_id, *await self.replies.channels.list_pages(first_id))
        reply = self.replies.to(place_id, turn.question_id or first_id or 0, _messages(ids))
        if turn.question_id is not None and await self._is_deleted(place_id, turn.question_id):
            await reply.remove()
            raise Gone
        if turn.state != "answered" and ids:
            with suppress(hikari.ForbiddenError):  # a bot that may not read the past can't know
                _ensure_unfinished(await self.rest.fetch_message(place_id, ids[-1]))
        return reply

    async def _is_deleted(self, place_id: int, message_id: int) -> bool:
        """Return whether it is gone: whoever deleted a question while nobody listened wants no answer. A
        bot that may not read the past can't know."""
        try:
            await self.rest.fetch_message(place_id, message_id)
        except hikari.ForbiddenError:
            return False
        except hikari.NotFoundError as error:
            if not is_gone(error):
                raise
            return True
        return False

    async def _late(self, pending: PendingDelivery) -> Reply:
        turn = await self._with_first(pending.turn)
        place_id, waiting_id, ids = turn.key.channel_id, turn.shown_in, turn.pages
        if turn.place_id is None:
            ids = await self._begun_messages(turn)
            last_id = ids[-1] if ids else turn.shown_in or turn.interaction_id
            ids += await self._strays(turn, place_id, last_id) or () if last_id else ()
            await self.ledger.move(turn, place_id, ids)
        if ids:
            waiting_id = None
        noting = Delivery(self.deliveries, turn).note_page
        return self.replies.late(place_id, turn.id, waiting_id, _messages(ids), noting=noting)

    async def _with_first(self, turn: PendingTurn) -> PendingTurn:
        """Add the interaction's own message, which is on record only once the answer is stored."""
        if turn.shown_in is not None or turn.place_id is not None or turn.interaction_id is None:
            return turn
        found = await self._strays(turn, turn.key.channel_id, turn.interaction_id)
        return replace(turn, shown_in=found[0]) if found else turn

    async def _begun_messages(self, turn: PendingTurn) -> tuple[int, ...]:
        """The messages in which the bot can go on by itself. One that only shows that it is thinking stays:
        past the token's life that can't be changed."""
        ids = _begun_ids(turn)
        if not ids:
            return ()
        try:
            message = await self.rest.fetch_message(turn.key.channel_id, ids[0])
        except hikari.ForbiddenError:  # it may write there without reading the past
            return ()
        return () if hikari.MessageFlag.LOADING in message.flags else ids


def _begun_ids(turn: PendingTurn) -> tuple[int, ...]:
    """The messages that show it so far. Once the bot writes by itself, all of them are pages."""
    if turn.token is None or turn.below or turn.shown_in is None:
        return turn.pages
    return (turn.shown_in, *turn.pages)


_MAX_SENTENCE: Final = 600
"""Characters of what is said instead of an answer."""


def _ensure_unfinished(message: hikari.Message) -> None:
    """Raise ToldAlready for a message that tells how its turn ended. One that waits or streams has a button
    for it; so has one that a press left as it was. A full page whose next one was not posted has none: no
    sentence is as long."""
    page = page_of(message, Locale.EN)
    full = len(page.content) > _MAX_SENTENCE and not page.facts.notices
    if hikari.MessageFlag.LOADING not in message.flags and not page.buttons and not full:
        raise ToldAlready


def _meaning(error: hikari.HTTPError) -> Closed | Gone:
    if is_gone(error):
        return Gone()
    return NeverAcknowledged() if getattr(error, "code", 0) == UNKNOWN_WEBHOOK else Closed()


def _messages(ids: Sequence[int]) -> tuple[Sent, ...]:
    return tuple(Sent(hikari.Snowflake(id_)) for id_ in ids)


# ---- unfinished ------------------------------------------------------------------------------------------

_log = structlog.get_logger(__name__)

RETRY_S: Final = 30.0
"""After the database or Discord failed."""
LOOK_S: Final = 3600.0
AT_A_TIME: Final = 8
"""Turns that are finished side by side: one may wait for Discord, the others not for that one."""


class Unfinished:
    """Does nothing until `begin`."""

    def __init__(
        self,
        ledger: TurnLedger,
        proposals: ProposalStore,
        running: RunningTurns,
        *,
        deliveries: Deliveries,
        routes: DeliveryRoutes,
        recipients: Recipients,
        calls: UnfinishedCalls,
        retry_s: float = RETRY_S,
    ) -> None:
        self._ledger = ledger
        self._proposals = proposals
        self._running = running
        self._deliveries = deliveries
        self._routes = routes
        self._recipients = recipients
        self._calls = calls
        self._retry_s = retry_s
        self._given_up: set[str] = set()
        """Turns at which something broke: the next start tries again."""
        self._at_a_time = asyncio.Semaphore(AT_A_TIME)
        self._caught_up = False
        """Whether what the last run of the program changed stands in the messages that tell of it."""
        self._left = asyncio.Event()
        """Another process may have left something."""
        self._application_id: int | None = None
        self._work: asyncio.Task[None] | None = None

    def begin(self) -> None:
        """Begin, once the connection is open."""
        self._work = asyncio.create_task(self._keep_on())

    def look_again(self) -> None:
        """Look soon: another process may have left something."""
        self._left.set()
        self._deliveries.retry_due.set()

    async def close(self) -> None:
        """Finish nothing more: what is left is found after the next start."""
        if self._work:
            self._work.cancel()
            await asyncio.gather(self._work, return_exceptions=True)

    async def _keep_on(self) -> None:
        while True:
            done = await self._round()
            due, after_s = (self._deliveries.retry_due, LOOK_S) if done else (self._left, self._retry_s)
            with suppress(TimeoutError):
                async with asyncio.timeout(after_s):
                    await due.wait()
            self._left.clear()

    async def _round(self) -> bool:
        """Finish what is due. Return whether nothing is left to be tried soon."""
        self._deliveries.retry_due.clear()
        try:
            if not self._caught_up and self._running.receipts:
                await self._running.receipts.catch_up(self._recipients)
            self._caught_up = True
            told = await self._calls.tell_all()
            await self._settle_unsettled()
            await self._ledger.forget_interrupted(self._recipients.clock() - KEPT)
            due = [turn for turn in await self._ledger.list_unfinished() if self._is_due(turn)]
        except CcBotError as error:
            _log.warning("unfinished_not_read", error=type(error).__name__)
            return False
        except Exception:  # noqa: BLE001 - this is on record; the next round is in a while
            _log.error("unfinished_not_read", exc_info=True)
            return False
        return all(await asyncio.gather(*map(self._finish_in_turn, due))) and told

    def _is_due(self, turn: PendingTurn) -> bool:
        """Return whether it is to be finished, and this run of the program does not show it just now."""
        if turn.state == "interrupted" or turn.id in self._given_up:
            return False
        return turn.id in self._deliveries.unshown or not self._running.began_here(turn.id)

    async def _settle_unsettled(self) -> None:
        for entry, user_id in list(self._deliveries.unsettled.items()):
            await self._ledger.mark_settled(entry, user_id)
            del self._deliveries.unsettled[entry]

    async def _finish_in_turn(self, turn: PendingTurn) -> bool:
        """Finish one. Return False when it is to be tried again soon."""
        async with self._at_a_time:
            with job("unfinished"):
                return await self._try_to_finish(turn)

    async def _try_to_finish(self, turn: PendingTurn) -> bool:
        try:
            await self._finish(turn)
        except (CcBotError, hikari.HikariError) as error:
            _log.warning("turn_waits", error=type(error).__name__)
            return False
        except Exception:  # noqa: BLE001 - whatever it is, it is on record, and the others go on
            _log.error("unfinished_broke", exc_info=True)
            self._given_up.add(turn.id)
        self._deliveries.unshown.discard(turn.id)
        return True

    async def _finish(self, turn: PendingTurn) -> None:
        pending, user_id = await self._look_up(turn), turn.key.user_id
        try:
            await self._note(pending, await self._show(pending))
        except Gone:
            _log.info("turn_unwanted", state=turn.state)
            await self._routes.remove(turn)
        except ToldAlready:
            _log.info("turn_told_already", state=turn.state)
        except NeverAcknowledged:
            _log.info("press_unheard_of", state=turn.state)
            await self._ledger.untake(turn.id, user_id)
            if turn.former is not None:
                return
        except Closed:
            _log.warning("turn_not_told", state=turn.state)
            if turn.kind == "message" and turn.question_id is not None:
                await self._routes.replies.mark_unreachable(turn.key.channel_id, turn.question_id)
        else:
            _log.info("turn_finished", state=turn.state)
            if pending.may_be_asked_again:
                await self._ledger.mark_interrupted(turn.id, user_id)
                return
        await self._ledger.mark_settled(turn.id, user_id)

    async def _look_up(self, turn: PendingTurn) -> PendingDelivery:
        """Return what is owed for a turn that is not interrupted yet. Raises StorageError."""
        spoken = turn.locale or self._recipients.guilds.of(turn.key.channel_id)
        recipient = await self._recipients.of_author(turn.key.user_id, spoken)
        older = await self._ledger.get_replaced(turn) if turn.replaces is not None else None
        answer = await self._ledger.get_answer(turn) if turn.state == "answered" else None
        seen = answer or older
        left = await self._proposals.list_for_answer(turn.key.user_id, seen.id) if seen and seen.id else ()
        heard = await self._ledger.get_heard(turn.key.user_id, seen.id) if seen else ""
        return PendingDelivery(turn, recipient, answer, older, heard, left, self._running.receipts)

    async def _show(self, pending: PendingDelivery) -> Reply:
        """Show it by the first way that is open. Raises Closed when none is, and Gone."""
        turn = pending.turn
        token = turn.token_at(self._recipients.clock())
        if token is not None:
            try:
                return await self._routes.by_token(pending, token, await self._application())
            except NeverAcknowledged:
                if pending.touched_nothing:
                    raise
            except Closed:
                pass
        reply = await self._show_by_itself(pending)
        if token is not None and turn.kind == "ask" and not turn.below:
            await self._routes.remove_waiting(turn, token, await self._application(), reply)
        return reply

    async def _show_by_itself(self, pending: PendingDelivery) -> Reply:
        """Show it as the bot itself. Raises as `_show`."""
        turn = pending.turn
        if not turn.ephemeral and turn.place_id in {None, turn.key.channel_id}:
            with suppress(Closed):
                return await self._routes.in_channel(pending)
        return await self._routes.by_dm(pending)

    async def _note(self, pending: PendingDelivery, reply: Reply) -> None:
        """Put on record which messages show the answer now, and which no longer do."""
        turn, answer = pending.turn, pending.answer
        if answer is None:
            return
        if answer.discord_id is not None:
            await Delivery(self._deliveries, turn).record_pages(answer, await reply.message_ids())
        if not turn.below:
            replies = self._routes.replies
            await delete_all(replies.rest, turn.key.channel_id, turn.earlier, replies.taken_down)

    async def _application(self) -> int:
        if self._application_id is None:
            self._application_id = int((await self._routes.rest.fetch_application()).id)
        return self._application_id
