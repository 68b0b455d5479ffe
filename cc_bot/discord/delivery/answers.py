"""Answers to questions in a user's own session, from a command, a button or a message to the shown answer.

A question is in the ledger before Discord gets its acknowledgement, and is asked from there: so it can be
asked again in the same way if the process dies.
"""

from collections.abc import Awaitable, Callable, Sequence
from contextlib import aclosing
from dataclasses import dataclass, field, replace
from functools import partial

import hikari
import structlog

from cc_bot.assistant import Assistant, Stop, TurnOptions
from cc_bot.assistant.turn import until_stopped
from cc_bot.context.tokens import UNSAID
from cc_bot.discord.agents import Arrival, Chooser, Chosen, words_under
from cc_bot.discord.attachments import with_files
from cc_bot.discord.delivery.canvas_boards import CanvasBoards
from cc_bot.discord.delivery.deliveries import Deliveries, Delivery
from cc_bot.discord.delivery.live import LiveAnswer, RunningTurns
from cc_bot.discord.delivery.outlets import noop, reply_by_token
from cc_bot.discord.delivery.reply import Reply, Sent, TakenDown, delete_all
from cc_bot.discord.interactions import (
    Answerable,
    author_name,
    can_write,
    defer,
    defer_update,
    is_ephemeral,
    message_link,
    payer_of,
    roles_of,
    visibility_of,
)
from cc_bot.discord.pages.answer import AnswerState, page_of
from cc_bot.discord.pages.custom_ids import AnswerButton, RetryButton
from cc_bot.discord.pages.page import Page, SoundFile, rows_of
from cc_bot.discord.places import key_of_interaction
from cc_bot.discord.recipients import Recipient, Recipients
from cc_bot.discord.references import Opened, Pointed, References, Standing, links_in
from cc_bot.domain.errors import StorageError
from cc_bot.domain.limits import UsageSubject
from cc_bot.domain.message import Attachment, ChannelKey, Message, Reference, ToolCall, Visibility, with_heard
from cc_bot.domain.turn import AskedQuestion, CanvasChanged, ImagesGiven, PendingTurn
from cc_bot.in_order import InOrder
from cc_bot.log import begin_turn

_log = structlog.get_logger(__name__)


@dataclass(frozen=True, slots=True)
class AcceptedTurn:
    """A question in the ledger, with its user and the agent that answers it."""

    delivery: Delivery
    recipient: Recipient
    chosen: Chosen | None
    """None: the agent of its session, which is looked up."""
    interaction: Answerable | None = None
    """None for a message."""
    role_ids: tuple[int, ...] | None = ()
    """See TurnOptions."""
    place: ChannelKey | None = None
    """The channel of a message; an interaction has its own."""
    pictures: tuple[Attachment, ...] = ()
    """See TurnOptions."""

    @property
    def turn(self) -> PendingTurn:
        return self.delivery.turn

    def reply(self, *sent: Sent) -> Reply:
        """Make the reply to its interaction: see reply_by_token."""
        if self.interaction is None:
            raise ValueError("a message has no token")
        noting = self.delivery.note_page
        return reply_by_token(self.interaction, *sent, ephemeral=self.turn.ephemeral, noting=noting)

    @property
    def public_place(self) -> ChannelKey | None:
        """The channel where everybody reads the question and the answer; None if only its user does, or if it
        is not known when it was asked."""
        turn, interaction = self.turn, self.interaction
        hidden = turn.ephemeral or turn.temporary or turn.visibility == "private" or turn.guild_id is None
        if hidden or turn.question_id is None:
            return None
        if interaction is None:
            return self.place
        here = key_of_interaction(interaction.channel)
        return here if here.place_id == turn.key.channel_id else None

    @property
    def _channel_id(self) -> int:
        if self.interaction is None:
            return self.place.channel_id if self.place else 0
        return key_of_interaction(self.interaction.channel).channel_id

    def options(self, chosen: Chosen, answer_id: int | None) -> TurnOptions:
        """Make the options of the turn. `answer_id` is the message that shows the answer, if known."""
        turn, recipient = self.turn, self.recipient
        shown_in = None if turn.ephemeral else answer_id
        return TurnOptions(
            recipient.locale,
            recipient.timezone,
            turn.temporary,
            recipient.welcomed,
            answer_discord_id=shown_in,
            place=self.public_place,
            memory_paused=recipient.memory_paused,
            link=message_link(turn.guild_id, turn.key.channel_id, shown_in),
            agent=chosen.agent,
            guild_id=turn.guild_id,
            channel_id=self._channel_id,
            can_write_there=self.interaction is None or can_write(self.interaction),
            entry=turn.id,
            earlier_calls=turn.calls,
            role_ids=self.role_ids,
            pictures=self.pictures,
            by_owner=recipient.is_owner,
        )


@dataclass(frozen=True, slots=True)
class FollowUp:
    """A turn that continues by itself after an approved call."""

    recipient: Recipient
    """The author of the question, not the user who approved."""
    chosen: Chosen
    visibility: Visibility
    question: AskedQuestion
    role_ids: tuple[int, ...] | None
    calls: tuple[ToolCall, ...] = ()
    """The call with its result, if the conversation does not have it."""
    pictures: tuple[Attachment, ...] = ()


@dataclass(eq=False, slots=True)
class Answers:
    assistant: Assistant
    running: RunningTurns
    deliveries: Deliveries
    boards: CanvasBoards
    chooser: Chooser
    recipients: Recipients
    taken_down: TakenDown
    references: References
    _order: InOrder = field(default_factory=InOrder)
    """Of each user's questions while their files are fetched."""

    async def ask(
        self,
        interaction: hikari.CommandInteraction | hikari.ModalInteraction,
        question: Callable[[], Awaitable[AskedQuestion]],
        arrival: Arrival,
        *,
        ephemeral: bool,
        temporary: bool = False,
    ) -> None:
        """Answer a command or a form. `question` may ask the database. Raises hikari's errors if the
        acknowledgement fails."""
        begin_turn()
        accepted, shown_in = await self.deliveries.acknowledge(
            self._accept(interaction, question, arrival, ephemeral=ephemeral, temporary=temporary),
            partial(defer, interaction, ephemeral=ephemeral),
            _settle,
        )
        async with accepted.delivery as delivery:
            reply = accepted.reply(Sent(None))
            state = await self.show(accepted, reply, answer_id=shown_in)
            await delivery.finish(state, reply)
        await self.show_canvas(accepted, state)

    async def regenerate(
        self, interaction: hikari.ComponentInteraction, button: AnswerButton, recipient: Recipient
    ) -> None:
        """Answer the question of the newest answer again, in its place if its messages can be edited. Raises
        AgentGone, NotNewest, AnswerInUse, StorageError, and as `ask`."""
        ephemeral = is_ephemeral(interaction.message)
        in_place = not button.earlier_messages or (not ephemeral and _may_delete(interaction))
        accepted = await self._press(interaction, button, recipient, below=not in_place)
        renewing = self.assistant.approvals.renewing(button.user_id, button.answer_id)
        async with accepted.delivery as delivery, renewing:
            await self._check(accepted.turn, button)
            if in_place:
                before = await self._carry_over(interaction, recipient)
                reply = accepted.reply(Sent(None, before))
                answer_id = int(interaction.message.id)
                state = await self.show(accepted, reply, answer_id=answer_id, before=(before,))
            else:
                reply = accepted.reply()
                state = await self.show(accepted, reply)
            if state.stored and in_place:
                above, rest = button.earlier_messages, interaction.app.rest
                await delete_all(rest, interaction.channel_id, above, self.taken_down)
            elif state.stored:
                await _take_buttons(interaction, recipient)
            await delivery.finish(state, reply)
        await self.show_canvas(accepted, state)

    async def _check(self, turn: PendingTurn, button: AnswerButton) -> None:
        """Raise NotNewest or AnswerInUse if the answer must stay as it is. Raises StorageError."""
        await self.assistant.check_newest(turn.key, button.answer_id)
        await self.assistant.approvals.check_none_underway(button.user_id, button.answer_id)

    async def go_on(
        self, interaction: hikari.ComponentInteraction, button: AnswerButton, recipient: Recipient
    ) -> None:
        """Continue the newest answer where it was cut, below it. Raises as `regenerate`."""
        accepted = await self._press(interaction, button, recipient, below=True)
        async with accepted.delivery as delivery:
            await self._check(accepted.turn, button)
            await _take_buttons(interaction, recipient)
            ephemeral = accepted.turn.ephemeral
            reply = accepted.reply()
            stored = False
            try:
                state = await self.show(accepted, reply, opened=None if ephemeral else noop)
                stored = state.stored
                await delivery.finish(state, reply)
                await self.show_canvas(accepted, state)
            finally:
                if not stored:  # it may be pressed again
                    page = page_of(interaction.message, recipient.locale)
                    await interaction.edit_initial_response(components=rows_of(page))

    async def go_on_after_call(
        self, follow_up: FollowUp, interaction: hikari.ComponentInteraction, *, ephemeral: bool
    ) -> None:
        """Have the model answer with the result of an approved call, below its message. Raises as `ask`."""
        asker, guild_id = follow_up.recipient, interaction.guild_id
        turn = self.deliveries.turn_of_interaction(
            interaction,
            follow_up.chosen.key,
            "continue",
            asker,
            visibility=follow_up.visibility,
            ephemeral=ephemeral,
        )
        turn = replace(
            turn,
            below=True,
            shown_in=int(interaction.message.id),
            question=follow_up.question,
            calls=follow_up.calls,
        )
        payer = UsageSubject(asker.user_id, int(guild_id) if guild_id else 0, follow_up.role_ids)
        model = self.assistant.first_model(follow_up.chosen.agent)
        delivery = await self.deliveries.admit(turn, payer, model)
        accepted = AcceptedTurn(
            delivery,
            asker,
            follow_up.chosen,
            interaction,
            follow_up.role_ids,
            pictures=follow_up.pictures,
        )
        async with delivery:
            reply = accepted.reply()
            state = await self.show(accepted, reply, opened=None if ephemeral else noop)
            await delivery.finish(state, reply)
        await self.show_canvas(accepted, state)

    async def ask_again(
        self, interaction: hikari.ComponentInteraction, button: RetryButton, recipient: Recipient
    ) -> bool:
        """Ask the question of an interrupted or failed turn again, in the same message. Returns False if that
        was done already. Raises as `ask`."""
        begin_turn()
        renewed = partial(self._renew, interaction=interaction, recipient=recipient)
        delivery, _ = await self.deliveries.acknowledge(
            self.deliveries.claim(button.entry, button.user_id, renewed),
            partial(defer_update, interaction),
            _release_claim,
        )
        if delivery is None:
            return False
        turn = delivery.turn
        roles = roles_of(interaction.member) if interaction.guild_id == turn.guild_id else None
        accepted = AcceptedTurn(delivery, recipient, None, interaction, roles)
        async with delivery:
            reply = accepted.reply(Sent(None, page_of(interaction.message, recipient.locale)))
            here = int(interaction.channel_id) == turn.key.channel_id
            state = await self.show(accepted, reply, answer_id=turn.shown_in if here else None)
            if turn.earlier and not state.may_be_asked_again:
                await delete_all(interaction.app.rest, interaction.channel_id, turn.earlier, self.taken_down)
            await delivery.finish(state, reply)
        await self.show_canvas(accepted, state)
        return True

    async def show(
        self,
        accepted: AcceptedTurn,
        reply: Reply,
        stop: Stop | None = None,
        *,
        answer_id: int | None = None,
        before: Sequence[Page] = (),
        opened: Callable[[int], Awaitable[None]] | None = None,
    ) -> AnswerState:
        """Ask the model and stream the answer into `reply`. The user is always told the outcome; the final
        state is returned.

        `answer_id` is the message that shows it, if known; with `opened` it is posted before the turn begins,
        and passed. `before` are the pages that it replaces. Raises hikari's errors, above all with `opened`.
        """
        stop, recipient, chosen, turn = stop or Stop(), accepted.recipient, accepted.chosen, accepted.turn
        async with self.running.showing(
            reply,
            recipient,
            stop,
            words=words_under(chosen, recipient) if chosen else None,
            note=self.chooser.stand_in_note(chosen, recipient) if chosen else "",
            before=before,
            temporary=turn.temporary,
            opened=opened,
            name=turn.id,
            retry=RetryButton(turn.key.user_id, turn.id) if accepted.delivery.can_be_asked_again else None,
            payer=UsageSubject(turn.key.user_id, turn.guild_id or 0, accepted.role_ids),
        ) as live:
            await self._follow(accepted, live, stop, live.first_id or answer_id)
        return await _with_pages_recorded(accepted.delivery, reply, live.state)

    async def show_canvas(self, accepted: AcceptedTurn, state: AnswerState) -> None:
        """Show the canvas that the turn has changed, once its answer is shown. Never raises."""
        if state.canvas_changed:
            turn = accepted.turn
            await self.boards.update(turn.key, accepted.interaction, ephemeral=turn.ephemeral)

    async def _follow(
        self, accepted: AcceptedTurn, live: LiveAnswer, stop: Stop, answer_id: int | None
    ) -> None:
        turn = accepted.turn
        chosen = accepted.chosen or await self.chooser.of_session(turn.key, turn.guild_id)
        options = accepted.options(chosen, answer_id)
        options = replace(options, asker=self.running.forms.asker(live.reply, accepted.recipient))
        if accepted.pictures:  # shown whatever the model says
            live.feed(ImagesGiven(accepted.pictures))
        async with self._order.after(turn.key.user_id) as leave:
            question = await self._unless_stopped(turn, live, stop)
            again = turn.replaces or 0
            references = () if question else await self._references_of(turn, again, live)
            admitted = await accepted.delivery.take_reservation()
            leave()  # nothing is awaited before the turn is in the assistant's own queue
            if question is None:
                events = self.assistant.regenerate(
                    turn.key, again, options, stop, references=references, admitted=admitted
                )
            else:
                events = self.assistant.ask(turn.key, question, options, stop, admitted=admitted)
            async with aclosing(events):
                async for event in events:
                    if isinstance(event, CanvasChanged):  # recorded before it is shown
                        await self.boards.want(turn.key, accepted.interaction)
                    live.feed(event)

    async def _unless_stopped(self, turn: PendingTurn, live: LiveAnswer, stop: Stop) -> Message | None:
        """Make the question; only what was typed if its user stops it before all files are read. Raises as
        `_question`."""
        asked = turn.question
        if asked is None or not (asked.files or asked.forwards):
            return await self._question(turn, live)  # without a task it is queued at once
        question = await until_stopped(self._question(turn, live), stop)
        typed = _message(turn, asked)
        return question or replace(typed, content=typed.content or UNSAID)

    async def _references_of(
        self, turn: PendingTurn, answer_id: int, live: LiveAnswer
    ) -> Sequence[Reference]:
        """Return what a question that is answered again points at. Raises InputError if it can't be answered
        without, and StorageError."""
        pointed = await self.references.resolve_again(turn.key.user_id, answer_id, _at(turn))
        if pointed is None:
            return ()
        _feed_events(pointed, live)
        return pointed.question.references

    async def _question(self, turn: PendingTurn, live: LiveAnswer) -> Message | None:
        """Make the question, with its files and what it points at. Raises InputError if none of its files or
        the message of its menu can be read, and StorageError."""
        asked = turn.question
        if asked is None:
            return None
        pointed = await self.references.resolve(_message(turn, asked), _at(turn), asked.links_in)
        _feed_events(pointed, live)
        question = pointed.question
        if asked.forwards:
            shown = await self.references.open_forwards(turn.key.channel_id, asked.forwards)
            question = replace(question, attachments=shown.files)
            _feed_events(shown, live)
        if not asked.files:
            return question
        fetched = await self.references.files.fetch_asked(asked.files, heard=bool(asked.heard))
        for event in fetched.events:
            live.feed(event)
        return with_files(question, fetched)

    async def _accept(
        self,
        interaction: hikari.CommandInteraction | hikari.ModalInteraction,
        question: Callable[[], Awaitable[AskedQuestion]],
        arrival: Arrival,
        *,
        ephemeral: bool,
        temporary: bool,
    ) -> AcceptedTurn:
        recipient = await self.recipients.of(interaction, arrival.settings)
        chosen = await self.chooser.of(interaction, arrival.agents)
        visibility = visibility_of(interaction, ephemeral=ephemeral)
        turn = self.deliveries.turn_of_interaction(
            interaction, chosen.key, "ask", recipient, visibility=visibility, ephemeral=ephemeral
        )
        turn = replace(turn, temporary=temporary, question=await question())
        return await self._admit(interaction, turn, recipient, chosen)

    async def _press(
        self,
        interaction: hikari.ComponentInteraction,
        button: AnswerButton,
        recipient: Recipient,
        *,
        below: bool,
    ) -> AcceptedTurn:
        begin_turn()
        accepted, _ = await self.deliveries.acknowledge(
            self._accept_press(interaction, button, recipient, below=below),
            partial(defer_update, interaction),
            _settle,
        )
        return accepted

    async def _accept_press(
        self,
        interaction: hikari.ComponentInteraction,
        button: AnswerButton,
        recipient: Recipient,
        *,
        below: bool,
    ) -> AcceptedTurn:
        chosen = await self.chooser.of_answer(interaction, button.answer_id)
        again, ephemeral = button.action == "again", is_ephemeral(interaction.message)
        visibility = visibility_of(interaction, ephemeral=ephemeral)
        turn = self.deliveries.turn_of_interaction(
            interaction,
            chosen.key,
            "again" if again else "continue",
            recipient,
            visibility=visibility,
            ephemeral=ephemeral,
        )
        turn = replace(turn, below=below, shown_in=int(interaction.message.id))
        if again:
            turn = replace(turn, replaces=button.answer_id, earlier=button.earlier_messages)
        else:
            turn = replace(turn, question=await self._continue_question(interaction, button, recipient))
        return await self._admit(interaction, turn, recipient, chosen)

    async def _continue_question(
        self, interaction: hikari.ComponentInteraction, button: AnswerButton, recipient: Recipient
    ) -> AskedQuestion:
        """Make the question to continue, with what the first one pointed at: the conversation does not have
        that."""
        asked = AskedQuestion(recipient.words.answer.continue_question, author_name(interaction))
        before = await self.references.find_question(recipient.user_id, button.answer_id)
        if before is None:
            return asked
        return replace(
            asked, reply_to=before.reply_to, pointing=before.pointing, links_in=links_in(before.content)
        )

    async def _admit(
        self, interaction: Answerable, turn: PendingTurn, recipient: Recipient, chosen: Chosen
    ) -> AcceptedTurn:
        model = self.assistant.first_model(chosen.agent)
        delivery = await self.deliveries.admit(turn, payer_of(interaction), model)
        return AcceptedTurn(delivery, recipient, chosen, interaction, roles_of(interaction.member))

    def _renew(
        self, turn: PendingTurn, *, interaction: hikari.ComponentInteraction, recipient: Recipient
    ) -> PendingTurn:
        """Make the turn that asks the same question by the token of a press."""
        ephemeral, pressed_in = is_ephemeral(interaction.message), int(interaction.channel_id)
        pressed_id = int(interaction.message.id)
        fresh = self.deliveries.turn_of_interaction(
            interaction,
            turn.key,
            "ask" if turn.kind == "message" else turn.kind,
            recipient,
            visibility=turn.visibility,
            ephemeral=ephemeral,
        )
        return replace(
            fresh,
            guild_id=turn.guild_id,
            question=turn.question,
            question_id=turn.question_id,
            former=turn.id,
            shown_in=pressed_id,
            earlier=tuple(page for page in turn.pages if page != pressed_id),
            place_id=None if pressed_in == turn.key.channel_id else pressed_in,
        )

    async def _carry_over(self, interaction: hikari.ComponentInteraction, recipient: Recipient) -> Page:
        """Return the page that an answer replaces, with its receipts."""
        receipts, spoken, message = self.running.receipts, self.running.spoken, interaction.message
        attached = spoken is not None and await spoken.stop(int(message.id))
        if receipts is None:
            page = page_of(message, recipient.locale)
        else:
            page = await receipts.carry_over(message, recipient.user_id, recipient.words)
        return replace(page, file=SoundFile(recipient.words.answer.sound_name)) if attached else page


async def _settle(accepted: AcceptedTurn) -> None:
    await accepted.delivery.settle()


async def _release_claim(delivery: Delivery | None) -> None:
    if delivery is not None:
        await delivery.release_claim()


async def _with_pages_recorded(delivery: Delivery, reply: Reply, state: AnswerState) -> AnswerState:
    """Record which messages show the answer. On a database error mark it unshown, so that recovery records
    them later; the user sees nothing of it."""
    try:
        answer = state.done.answer if state.done else None
        await delivery.record_pages(answer, await _page_ids(delivery.turn, reply))
    except StorageError as error:
        _log.warning("pages_not_noted", error=type(error).__name__)
        return replace(state, unseen=True)
    return state


def _feed_events(pointed: Pointed | Opened, live: LiveAnswer) -> None:
    for event in pointed.events:
        live.feed(event)


def _message(turn: PendingTurn, asked: AskedQuestion) -> Message:
    return Message(
        "user",
        with_heard(asked.text, asked.heard),
        visibility=turn.visibility,
        author_id=turn.key.user_id,
        author_name=asked.author_name,
        discord_id=turn.question_id,
        heard=asked.heard,
        tainted=asked.tainted or (bool(asked.heard) and not all(file.own_words for file in asked.files)),
        reply_to=asked.reply_to,
        pointing=asked.pointing,
    )


def _at(turn: PendingTurn) -> Standing:
    return Standing(turn.key.channel_id, turn.guild_id, turn.question_id or turn.interaction_id or 0)


async def _page_ids(turn: PendingTurn, reply: Reply) -> Sequence[int]:
    """Return the messages that show an answer, apart from the one whose id it is stored under."""
    if turn.kind != "again":
        return reply.further_ids
    if turn.below or turn.shown_in is None:
        return await reply.message_ids()
    return (turn.shown_in, *reply.further_ids)


def _may_delete(interaction: hikari.ComponentInteraction) -> bool:
    """Return whether all messages of an answer can be deleted. If the bot is only installed by the user, and
    for ephemeral messages, Discord lets only the reader dismiss those above the button's: then the old answer
    stays, and the new one comes below it."""
    return hikari.ApplicationIntegrationType.GUILD_INSTALL in interaction.authorizing_integration_owners


async def _take_buttons(interaction: hikari.ComponentInteraction, recipient: Recipient) -> None:
    """Remove the buttons of an answer that continues below, but not those of its receipts."""
    page = page_of(interaction.message, recipient.locale)
    await interaction.edit_initial_response(components=rows_of(replace(page, buttons=())))
