"""Asks the model, shows the answer on Discord, and records the outcome.

A question is written to the ledger before it is acknowledged, so a crash loses no acknowledged question.
"""

import time
from collections.abc import Awaitable, Callable, Sequence
from contextlib import aclosing
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

import hikari
import structlog

from cc_bot.chat.active import until_stopped
from cc_bot.chat.assistant import Assistant
from cc_bot.chat.context.tokens import EMPTY_ANSWER
from cc_bot.chat.turn import TurnOptions
from cc_bot.concurrency import KeyedLock
from cc_bot.discord.agents import AgentSelector, SelectedAgent
from cc_bot.discord.attachments import MAX_BYTES, FetchedFiles, with_files
from cc_bot.discord.delivery.live import LiveAnswer, show_failures, texts_for_channel, try_to_finish
from cc_bot.discord.delivery.outlets import MessageReplies, noop, reply_by_token
from cc_bot.discord.delivery.reply import DiscordReply, SentMessage
from cc_bot.discord.delivery.side_messages import SideMessages
from cc_bot.discord.delivery.turns import DiscordTurn, RunningTurns
from cc_bot.discord.incoming import FILE_NOTE
from cc_bot.discord.interactions import (
    Answerable,
    Preloaded,
    author_name,
    can_write,
    defer,
    defer_update,
    is_ephemeral,
    is_guild_install,
    message_link,
    roles_of,
    visibility_of,
)
from cc_bot.discord.locations import ThreadTitle
from cc_bot.discord.pages.answer import AnswerState, page_of, without_answer_buttons
from cc_bot.discord.pages.cards import Card
from cc_bot.discord.pages.custom_ids import ANY_ASKER, AnswerButton, RetryButton, StopButton
from cc_bot.discord.pages.page import MediaFile, Page, rows_of
from cc_bot.discord.recipients import Recipient, Recipients
from cc_bot.discord.references import QuestionLocation, References, text_if_linking
from cc_bot.domain.errors import Postponed, ShuttingDown, StorageError
from cc_bot.domain.message import Message, Reference, append_transcript
from cc_bot.domain.turn import AskedQuestion, CanvasChanged, ImagesShown, PendingTurn, TurnKind
from cc_bot.log import bind_turn_id
from cc_bot.texts.answer import AnswerTexts

_log = structlog.get_logger(__name__)


@dataclass(eq=False, slots=True)
class Answers:
    assistant: Assistant
    running_turns: RunningTurns
    agent_selector: AgentSelector
    recipients: Recipients
    references: References
    side_messages: SideMessages
    replies: MessageReplies
    _question_locks: KeyedLock = field(default_factory=KeyedLock, init=False)
    """Keeps a user's turns in order while files are fetched."""

    async def show(self, turn: DiscordTurn, reply: DiscordReply) -> AnswerState:
        """Stream the answer, or its failure, into `reply`. Raises hikari's errors."""
        selected, recipient, running = turn.selected_agent, turn.recipient, self.running_turns
        button_user_id = None if turn.channel_conversation else recipient.user_id
        if turn.question_ids:
            turn.reply = reply
        live = LiveAnswer(
            reply,
            texts_for_channel(recipient.words) if turn.channel_conversation else recipient.words,
            StopButton(button_user_id or ANY_ASKER, turn.id),
            card=Card(recipient.user_id, turn.entry.visibility == "private", turn.inherited),
            agent=turn.entry.key.agent,
            replaced_pages=turn.replaced_pages,
            replaced_card=turn.replaced_card,
            receipt_updater=running.receipt_updater,
            retry_button=None if turn.question_was_edited else turn.retry_button,
            pause_factor=partial(running.count_concurrent, turn),
        )
        if turn.on_first_message is not None:
            await live.open()
            turn.answer_message_id = int((await reply.message_ids())[0])
            await turn.on_first_message(turn.answer_message_id)
        async with live.showing_progress(), running.file_budget.use_for(recipient.user_id):
            with show_failures(live, recipient):
                await self._ask_model(turn, live)
            ended_at_s = time.monotonic()
        note = self.agent_selector.fallback_note(selected, recipient) if selected else ""
        finish = partial(live.finish, button_user_id, temporary=turn.entry.temporary, note=note)
        is_shown = await try_to_finish(finish)
        seconds = round(time.monotonic() - ended_at_s, 3)
        running.meter.record_shown(seconds, ok=is_shown)
        if is_shown:
            _log.info("answer_shown", discord_s=seconds)
        else:
            live.state = replace(live.state, unshown=True)
        if running.spoken_answers and recipient.spoken and not turn.question_was_edited:
            await running.spoken_answers.begin(reply, recipient, live.state, turn.payer)
        return live.state

    async def _ask_model(self, turn: DiscordTurn, live: LiveAnswer) -> None:
        entry = turn.entry
        options = await self._make_options(turn)
        if turn.pictures:
            live.feed(ImagesShown(turn.pictures))
        lock_key = entry.id if turn.channel_conversation else entry.key.user_id
        async with self._question_locks.hold(lock_key) as release:
            questions = await self._make_questions(turn, live)
            references: Sequence[Reference] = ()
            if not questions:  # answer the stored question again
                user_id, answer_id, location = entry.key.user_id, entry.replaces or 0, _location(entry)
                references = await self.references.resolve_again(user_id, answer_id, location, live.feed)
            release()
            # No await here: the user's next turn could enter the queue first.
            events = self.assistant.ask(
                turn.channel_conversation or entry.key,
                questions,
                options,
                turn.stop,
                replaces=turn.answer_message_id if turn.question_was_edited else entry.replaces,
                references=references,
                get_reservation=turn.take_reservation,
            )
            try:
                async with aclosing(events):
                    async for event in events:
                        if isinstance(event, CanvasChanged):  # recovery refreshes the canvas after a crash
                            await self.side_messages.mark_outdated(entry.key, turn.interaction)
                        live.feed(event)
            except ShuttingDown as error:
                turn.is_left_to_next_process = turn.channel_conversation is not None
                if turn.is_left_to_next_process and not turn.question_was_edited:
                    raise Postponed from error
                raise

    async def _make_options(self, turn: DiscordTurn) -> TurnOptions:
        entry, recipient, channel = turn.entry, turn.recipient, turn.channel
        selected = turn.selected_agent or await self.agent_selector.for_session(entry.key, entry.guild_id)
        answer_message_id = None if entry.ephemeral else turn.answer_message_id
        title = ThreadTitle()
        if turn.channel_conversation and channel:
            title = await self.agent_selector.locations.title_of(channel)
        return TurnOptions(
            recipient.locale,
            recipient.timezone,
            entry.temporary,
            recipient.welcomed or turn.channel_conversation is not None,
            bot_id=int(self.references.bot().id),
            answer_discord_id=answer_message_id,
            location=turn.public_channel,
            memory_paused=recipient.memory_paused,
            link=message_link(entry.guild_id, entry.key.channel_id, answer_message_id),
            agent=selected.agent,
            guild_id=entry.guild_id,
            channel_id=channel.channel_id if channel else 0,
            thread_title=title.text,
            thread_owner_id=title.owner_id,
            can_post=turn.interaction is None or can_write(turn.interaction),
            entry_id=entry.id,
            earlier_calls=entry.calls,
            role_ids=turn.role_ids,
            images=turn.pictures,
            by_owner=recipient.is_owner,
        )

    async def _make_questions(self, turn: DiscordTurn, live: LiveAnswer) -> tuple[Message, ...]:
        """Return the questions; if the user presses Stop first, only their text. Raises as `_with_files`."""
        questions = turn.mentions
        if not turn.question_was_edited:
            questions = tuple(each for each in questions if each.discord_id in turn.question_ids) or questions
        has_files = any(FILE_NOTE in question.content for question in questions)
        if asked := turn.entry.question:
            questions, has_files = (_to_message(turn.entry, asked),), bool(asked.files or asked.forwards)
        if not has_files:
            return await self._with_references(turn, questions, live)  # queued at once, without a task
        return await until_stopped(self._with_files(turn, questions, live), turn.stop) or tuple(
            replace(question, content=question.content or EMPTY_ANSWER) for question in questions
        )

    async def _with_files(
        self, turn: DiscordTurn, questions: Sequence[Message], live: LiveAnswer
    ) -> tuple[Message, ...]:
        """Raises InputError if a question loses all its files, and StorageError."""
        asked, complete, fetched = turn.entry.question, list[Message](), list[FetchedFiles]()
        channel_id, max_bytes = turn.entry.key.channel_id, MAX_BYTES
        for question in questions:
            forwarded = await self.references.fetch_forwards(channel_id, asked.forwards if asked else ())
            if asked:
                files = await self.references.files.fetch(asked.files, skip_recordings=bool(asked.heard))
            else:
                files = await self.references.fetch_files_of(question, channel_id, max_bytes)
            max_bytes -= sum(len(file.data) for file in files.files)
            fetched += [forwarded, files]
            complete.append(with_files(replace(question, attachments=forwarded.files), files))
        for event in FetchedFiles.merge(fetched).events:
            live.feed(event)
        return await self._with_references(turn, complete, live)

    async def _with_references(
        self, turn: DiscordTurn, questions: Sequence[Message], live: LiveAnswer
    ) -> tuple[Message, ...]:
        """Raises InputError if a menu command's message is unreadable, and StorageError."""
        entry, resolve = turn.entry, self.references.resolve
        links_in = entry.question.links_in if entry.question else ""
        return tuple([await resolve(each, _location(entry, each), live.feed, links_in) for each in questions])

    async def ask(
        self,
        interaction: hikari.CommandInteraction | hikari.ModalInteraction,
        question: Callable[[], Awaitable[AskedQuestion]],
        preloaded: Preloaded,
        *,
        ephemeral: bool,
        temporary: bool = False,
    ) -> None:
        """Answer a command or form. Raises hikari's errors if the acknowledgement fails."""
        bind_turn_id()

        async def accept() -> DiscordTurn:
            recipient = await self.recipients.find(interaction, preloaded.settings)
            selected = await self.agent_selector.for_interaction(interaction, preloaded.agents)
            return await self.admit(
                interaction,
                recipient,
                selected,
                "ask",
                role_ids=roles_of(interaction.member),
                ephemeral=ephemeral,
                temporary=temporary,
                question=await question(),
            )

        acknowledge = partial(defer, interaction, ephemeral=ephemeral)
        undo = DiscordTurn.delete_entry
        turn, message_id = await self.running_turns.acknowledge(accept(), acknowledge, undo)
        turn.answer_message_id = message_id
        await self.deliver(turn, self.make_reply(turn, SentMessage(None)))

    async def regenerate(
        self, interaction: hikari.ComponentInteraction, button: AnswerButton, recipient: Recipient
    ) -> None:
        """Answer the newest question again, in place if possible. Raises AgentGone, NotNewest, AnswerInUse,
        StorageError, and as `ask`."""
        turn = await self._accept_press(interaction, button, recipient)
        in_place = not turn.entry.below
        lock = self.assistant.approvals.mark_regenerating(button.user_id, button.answer_id)
        async with turn.track_delivery(), lock:
            await self._require_newest(turn.entry, button)
            if in_place:
                page = await self._read_page(interaction, recipient)
                turn.answer_message_id, turn.replaced_pages = int(interaction.message.id), (page,)
                updater = self.running_turns.receipt_updater
                turn.inherited = await updater.changes_to_inherit(recipient.user_id, turn.entry.earlier)
                reply = self.make_reply(turn, SentMessage(None, page))
            else:
                reply = self.make_reply(turn)
            state = await self._show_and_record(turn, reply)
            if state.stored and in_place:
                await self.replies.delete_all(interaction.channel_id, turn.entry.earlier)
            elif state.stored:
                await _remove_buttons(interaction)
            await turn.finish(state, reply)
        await self._show_canvas(turn, state)

    async def _require_newest(self, entry: PendingTurn, button: AnswerButton) -> None:
        """Raises NotNewest, AnswerInUse and StorageError."""
        await self.assistant.conversations.read_newest(entry.key, button.answer_id)
        await self.assistant.approvals.check_none_in_flight(button.user_id, button.answer_id)

    async def continue_answer(
        self, interaction: hikari.ComponentInteraction, button: AnswerButton, recipient: Recipient
    ) -> None:
        """Continue the newest answer below it. Raises as `regenerate`."""
        turn = await self._accept_press(interaction, button, recipient)
        async with turn.track_delivery():
            await self._require_newest(turn.entry, button)
            await _remove_buttons(interaction)
            is_stored = False
            try:
                turn.on_first_message = None if turn.entry.ephemeral else noop
                reply = self.make_reply(turn)
                state = await self._show_and_record(turn, reply)
                is_stored = state.stored
                await turn.finish(state, reply)
                await self._show_canvas(turn, state)
            finally:
                if not is_stored:  # the user may press again
                    await interaction.edit_initial_response(components=rows_of(page_of(interaction.message)))

    async def ask_again(
        self, interaction: hikari.ComponentInteraction, button: RetryButton, recipient: Recipient
    ) -> bool:
        """Ask an interrupted or failed question again in its message. Returns False if already done."""
        bind_turn_id()
        channel_id, message_id = int(interaction.channel_id), int(interaction.message.id)

        def renew(entry: PendingTurn) -> PendingTurn:
            return self.running_turns.make_entry(
                interaction,
                entry.key,
                "ask" if entry.kind == "message" else entry.kind,
                recipient,
                visibility=entry.visibility,
                ephemeral=is_ephemeral(interaction.message),
                question=entry.question,
                question_id=entry.question_id,
                former=entry.id,
                shown_in=message_id,
                earlier=tuple(page_id for page_id in dict.fromkeys(entry.pages) if page_id != message_id),
                location_id=None if channel_id == entry.key.channel_id else channel_id,
                guild_id=entry.guild_id,
            )

        async def release(entry: PendingTurn | None) -> None:
            if entry is not None:
                await self.running_turns.ledger.release_claim(entry.id, entry.key.user_id)

        claim = self.running_turns.claim(button.turn_id, button.user_id, renew)
        entry, _ = await self.running_turns.acknowledge(claim, partial(defer_update, interaction), release)
        if entry is None:
            return False
        roles = roles_of(interaction.member) if interaction.guild_id == entry.guild_id else None
        turn = DiscordTurn(self.running_turns, entry, recipient, interaction=interaction, role_ids=roles)
        async with turn.track_delivery():
            reply = self.make_reply(turn, SentMessage(None, page_of(interaction.message)))
            turn.answer_message_id = entry.shown_in if channel_id == entry.key.channel_id else None
            state = await self._show_and_record(turn, reply)
            if entry.earlier and not state.may_be_asked_again:
                await self.replies.delete_all(interaction.channel_id, entry.earlier)
            await turn.finish(state, reply)
        await self._show_canvas(turn, state)
        return True

    def make_reply(self, turn: DiscordTurn, *sent: SentMessage) -> DiscordReply:
        assert turn.interaction is not None  # noqa: S101 - turns of messages are given their reply
        return reply_by_token(
            turn.interaction,
            *sent,
            ephemeral=turn.entry.ephemeral,
            on_posted=partial(self.running_turns.record_page, turn.entry),
            expected_deletions=self.replies.expected_deletions,
        )

    async def deliver(self, turn: DiscordTurn, reply: DiscordReply) -> None:
        """Show answer and canvas, and delete the entry. Raises hikari's errors."""
        async with turn.track_delivery():
            state = await self._show_and_record(turn, reply)
            if turn.is_withdrawn:
                await self.withdraw(turn, reply, state, with_question=True)
                await turn.delete_entry()
            else:
                await turn.finish(state, reply)
        await self._show_canvas(turn, state)

    async def withdraw(
        self,
        turn: DiscordTurn,
        reply: DiscordReply,
        state: AnswerState | None,
        *,
        with_question: bool = False,
    ) -> None:
        """Delete a withdrawn answer, perhaps with its question, and report what its tools changed."""
        entry, ids = turn.entry, await reply.message_ids()
        if with_question and entry.question_id is not None:
            ids = (entry.question_id, *ids)
        await self.running_turns.channels.delete(ids, location_id=entry.location_id or entry.key.channel_id)
        await reply.try_to_delete()
        if state:
            await self.replies.report_effects(entry.question_id or 0, turn.recipient, state)

    async def _show_canvas(self, turn: DiscordTurn, state: AnswerState) -> None:
        if state.canvas is not None:
            key, ephemeral = turn.entry.key, turn.entry.ephemeral
            await self.side_messages.show_change(key, turn.interaction, ephemeral=ephemeral)

    async def _show_and_record(self, turn: DiscordTurn, reply: DiscordReply) -> AnswerState:
        """Show an answer and record its messages. After a database error, recovery repeats this."""
        state = await self.show(turn, reply)
        answer, entry = state.done.answer if state.done else None, turn.entry
        try:
            ids: Sequence[int] = (
                reply.further_ids
            )  # the first id is stored with the answer, except for `again`
            if entry.kind == "again" and entry.shown_in is not None and not entry.below:
                ids = (entry.shown_in, *reply.further_ids)
            elif entry.kind == "again":
                ids = await reply.message_ids()
            await self.running_turns.record_pages(entry, answer, ids)
        except StorageError as error:
            _log.warning("pages_not_noted", error=type(error).__name__)
            return replace(state, unshown=True)
        return state

    async def _accept_press(
        self, interaction: hikari.ComponentInteraction, button: AnswerButton, recipient: Recipient
    ) -> DiscordTurn:
        bind_turn_id()

        async def accept() -> DiscordTurn:
            selected = await self.agent_selector.for_answer(interaction, button.answer_id)
            ephemeral = is_ephemeral(interaction.message)
            kind: TurnKind = "again" if button.action == "again" else "continue"
            fields: dict[str, Any] = {"below": True}
            if kind == "again":
                others = await self._list_other_messages(interaction, button)
                # The bot can't delete ephemeral messages, nor others where only the user has installed it.
                below = bool(others) and (ephemeral or not is_guild_install(interaction))
                fields = {"below": below, "replaces": button.answer_id, "earlier": others}
            else:
                fields["question"] = await self._question_to_continue(interaction, button, recipient)
            fields |= {"ephemeral": ephemeral, "shown_in": int(interaction.message.id)}
            role_ids = roles_of(interaction.member)
            return await self.admit(interaction, recipient, selected, kind, role_ids=role_ids, **fields)

        acknowledge = partial(defer_update, interaction)
        turn, _ = await self.running_turns.acknowledge(accept(), acknowledge, DiscordTurn.delete_entry)
        return turn

    async def _list_other_messages(
        self, interaction: hikari.ComponentInteraction, button: AnswerButton
    ) -> tuple[int, ...]:
        """Return the ids of the answer's messages above the one with the button, and of its card."""
        earlier, message_id = button.earlier_message_ids, int(interaction.message.id)
        first_id = (*earlier, message_id)[0]
        await self.running_turns.wait_recorded(first_id)
        recorded = await self.running_turns.channels.list_pages(first_id)
        return (*earlier, *(page_id for page_id in recorded if page_id > message_id))

    async def _question_to_continue(
        self, interaction: hikari.ComponentInteraction, button: AnswerButton, recipient: Recipient
    ) -> AskedQuestion:
        request = AskedQuestion(recipient.words[AnswerTexts].continue_question, author_name(interaction))
        first = await self.references.find_question(recipient.user_id, button.answer_id)
        if first is None:
            return request
        links_in = text_if_linking(first.content)
        return replace(request, reply_to=first.reply_to, pointing=first.reference_kind, links_in=links_in)

    async def admit(
        self,
        interaction: Answerable,
        recipient: Recipient,
        selected: SelectedAgent,
        kind: TurnKind,
        *,
        role_ids: tuple[int, ...] | None,
        ephemeral: bool,
        **fields: Any,
    ) -> DiscordTurn:
        """Return a turn with its entry. `fields`: others of PendingTurn."""
        running = self.running_turns
        fields = {"visibility": visibility_of(interaction, ephemeral=ephemeral), **fields}
        entry = running.make_entry(interaction, selected.key, kind, recipient, ephemeral=ephemeral, **fields)
        turn = DiscordTurn(running, entry, recipient, selected, interaction=interaction, role_ids=role_ids)
        await turn.admit(self.assistant.chains.first_name(selected.agent.models))
        return turn

    async def _read_page(self, interaction: hikari.ComponentInteraction, recipient: Recipient) -> Page:
        """Return the answer's page, with its spoken file if any."""
        spoken_answers, page = self.running_turns.spoken_answers, page_of(interaction.message)
        has_speech = spoken_answers and await spoken_answers.stop(int(interaction.message.id))
        sound = MediaFile(recipient.words[AnswerTexts].sound_name)
        return replace(page, files=(*page.files, sound)) if has_speech else page


def _to_message(entry: PendingTurn, asked: AskedQuestion) -> Message:
    is_transcript_foreign = bool(asked.heard) and not all(file.own_words for file in asked.files)
    return Message(
        "user",
        append_transcript(asked.text, asked.heard),
        visibility=entry.visibility,
        author_id=entry.key.user_id,
        author_name=asked.author_name,
        discord_id=entry.question_id,
        heard=asked.heard,
        tainted=asked.tainted or is_transcript_foreign,
        reply_to=asked.reply_to,
        reference_kind=asked.pointing,
    )


def _location(entry: PendingTurn, question: Message | None = None) -> QuestionLocation:
    id_ = (question.discord_id if question else None) or entry.question_id or entry.interaction_id or 0
    return QuestionLocation(entry.key.channel_id, entry.guild_id, id_)


async def _remove_buttons(interaction: hikari.ComponentInteraction) -> None:
    page = without_answer_buttons(page_of(interaction.message))
    await interaction.edit_initial_response(components=rows_of(page))
