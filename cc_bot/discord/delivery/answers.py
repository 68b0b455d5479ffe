"""Asks the model, shows the answer on Discord, and records the outcome.

Questions are in the ledger before they are acknowledged, so that a crash loses none.
"""

import time
from collections.abc import Awaitable, Callable, Sequence
from contextlib import aclosing
from dataclasses import dataclass, field, replace
from functools import partial

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
from cc_bot.discord.delivery.reply import Poster, Sent
from cc_bot.discord.delivery.side_message import SideMessage
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
    message_link,
    roles_of,
    visibility_of,
)
from cc_bot.discord.pages.answer import AnswerState, page_of
from cc_bot.discord.pages.custom_ids import ANY_ASKER, AnswerButton, RetryButton, StopButton
from cc_bot.discord.pages.page import MediaFile, Page, rows_of
from cc_bot.discord.recipients import Recipient, Recipients
from cc_bot.discord.references import QuestionLocation, References, linking_text
from cc_bot.domain.errors import Postponed, ShuttingDown, StorageError
from cc_bot.domain.message import Attachment, ChannelKey, Message, Reference, ToolCall, Visibility, with_heard
from cc_bot.domain.session import SessionKey
from cc_bot.domain.turn import AskedQuestion, CanvasChanged, ImagesShown, PendingTurn
from cc_bot.log import begin_turn
from cc_bot.texts import Texts
from cc_bot.texts.answer import AnswerTexts, CanvasChangeTexts

_log = structlog.get_logger(__name__)


@dataclass(eq=False, slots=True)
class Answers:
    """Answers commands, buttons and messages."""

    assistant: Assistant
    running: RunningTurns
    chooser: AgentSelector
    recipients: Recipients
    references: References
    side_message: SideMessage
    replies: MessageReplies
    _order: KeyedLock = field(default_factory=KeyedLock, init=False)  # by user, while files are fetched

    async def show(self, turn: DiscordTurn, reply: Poster) -> AnswerState:
        """Stream the answer, or its failure, into `reply` of a tracked turn. Raises hikari's errors."""
        chosen, recipient, running = turn.chosen, turn.recipient, self.running
        words = _words_for_agent(chosen, recipient) if chosen else recipient.words
        owner = None if turn.key else recipient.user_id
        if turn.questions:
            turn.reply = reply
        live = LiveAnswer(
            reply,
            texts_for_channel(words) if turn.key else words,
            StopButton(owner or ANY_ASKER, turn.name),
            asker_id=recipient.user_id,
            before=turn.before,
            upkeep=running.receipts,
            retry=None if turn.is_edit else turn.retry,
            pause_factor=partial(running.count_concurrent, turn),
        )
        if turn.on_opened is not None:
            await live.open()
            turn.message_id = int((await reply.message_ids())[0])
            await turn.on_opened(turn.message_id)
        async with live.painting(), running.file_budget.use_for(recipient.user_id):
            with show_failures(live, recipient):
                await self._run(turn, live)
            ended_at_s = time.monotonic()
        note = self.chooser.fallback_note(chosen, recipient) if chosen else ""
        is_seen = await try_to_finish(partial(live.finish, owner, temporary=turn.entry.temporary, note=note))
        seconds = round(time.monotonic() - ended_at_s, 3)
        running.meter.record_shown(seconds, ok=is_seen)
        if is_seen:
            _log.info("answer_shown", discord_s=seconds)
        else:
            live.state = replace(live.state, unshown=True)
        if running.spoken and recipient.spoken and not turn.is_edit:
            await running.spoken.begin(reply, recipient, live.state, turn.payer)
        return live.state

    async def _run(self, turn: DiscordTurn, live: LiveAnswer) -> None:
        entry, is_edit = turn.entry, turn.is_edit
        options = await self._make_options(turn, live)
        if turn.pictures:  # shown whatever the model says
            live.feed(ImagesShown(turn.pictures))
        async with self._order.hold(entry.id if turn.key else entry.key.user_id) as release:
            questions = await self._make_questions(turn, live)
            references: Sequence[Reference] = ()
            if not questions:
                user_id, replaced, at = entry.key.user_id, entry.replaces or 0, _location(entry)
                references = await self.references.resolve_again(user_id, replaced, at, live.feed)
            release()  # no await before the turn is in the assistant's queue
            key: SessionKey | ChannelKey = turn.key or entry.key
            replaces = turn.message_id if is_edit else entry.replaces
            events = self.assistant.ask(
                key,
                questions,
                options,
                turn.stop,
                replaces=replaces,
                references=references,
                get_reservation=turn.take_reservation,
            )
            try:
                async with aclosing(events):
                    async for event in events:
                        if isinstance(event, CanvasChanged):  # recorded before it is shown
                            await self.side_message.mark_outdated(entry.key, turn.interaction)
                        live.feed(event)
            except ShuttingDown as error:
                turn.postponed = turn.key is not None
                if turn.key and not is_edit:
                    raise Postponed from error
                raise

    async def _make_options(self, turn: DiscordTurn, live: LiveAnswer) -> TurnOptions:
        entry, recipient, location = turn.entry, turn.recipient, turn.location
        shown_in, title, owner_id = None if entry.ephemeral else turn.message_id, "", 0
        if turn.key and location:
            thread = await self.chooser.locations.title_of(location)
            title, owner_id = thread.text, thread.owner_id
        agent = (turn.chosen or await self.chooser.for_session(entry.key, entry.guild_id)).agent
        return TurnOptions(
            recipient.locale,
            recipient.timezone,
            entry.temporary,
            recipient.welcomed or turn.key is not None,
            bot_id=int(self.references.bot().id),
            answer_discord_id=shown_in,
            location=turn.public_location,
            memory_paused=recipient.memory_paused,
            link=message_link(entry.guild_id, entry.key.channel_id, shown_in),
            agent=agent,
            guild_id=entry.guild_id,
            channel_id=location.channel_id if location else 0,
            thread_title=title,
            thread_owner_id=owner_id,
            can_post=turn.interaction is None or can_write(turn.interaction),
            entry=entry.id,
            earlier_calls=entry.calls,
            role_ids=turn.role_ids,
            pictures=turn.pictures,
            forms=askers.for_reply(live.reply, recipient) if (askers := self.running.forms) else None,
            by_owner=recipient.is_owner,
        )

    async def _make_questions(self, turn: DiscordTurn, live: LiveAnswer) -> tuple[Message, ...]:
        """Return the turn's questions; only their text if the user stops first. Raises as `_open_files`."""
        asked, remaining = turn.entry.question, turn.questions
        typed = turn.mentions
        if not turn.is_edit:
            typed = tuple(each for each in typed if each.discord_id in remaining) or typed
        if asked:
            own_words = all(file.own_words for file in asked.files)
            message = Message(
                "user",
                with_heard(asked.text, asked.heard),
                visibility=turn.entry.visibility,
                author_id=turn.entry.key.user_id,
                author_name=asked.author_name,
                discord_id=turn.entry.question_id,
                heard=asked.heard,
                tainted=asked.tainted or (bool(asked.heard) and not own_words),
                reply_to=asked.reply_to,
                pointing=asked.pointing,
            )
            typed = (message,)
        if not (asked and (asked.files or asked.forwards)) and not any(FILE_NOTE in q.content for q in typed):
            return await self._resolve_references(turn, typed, live)  # queued at once, without a task
        return await until_stopped(self._open_files(turn, typed, live), turn.stop) or tuple(
            replace(question, content=question.content or EMPTY_ANSWER) for question in typed
        )

    async def _open_files(
        self, turn: DiscordTurn, typed: Sequence[Message], live: LiveAnswer
    ) -> tuple[Message, ...]:
        """Add files and references. Raises InputError if a question loses all its files, and StorageError."""
        asked, questions, fetched = turn.entry.question, list[Message](), list[FetchedFiles]()
        channel_id, room_bytes = turn.entry.key.channel_id, MAX_BYTES
        for question in typed:
            forwards = asked.forwards if asked else ()
            shown = await self.references.fetch_forwards(channel_id, forwards)
            if asked:
                files = await self.references.files.fetch(asked.files, skip_recordings=bool(asked.heard))
            else:
                files = await self.references.fetch_files_of(question, channel_id, room_bytes)
            room_bytes -= sum(len(file.data) for file in files.files)
            fetched += [shown, files]
            questions.append(with_files(replace(question, attachments=shown.files), files))
        for event in FetchedFiles.merge(fetched).events:
            live.feed(event)
        return await self._resolve_references(turn, questions, live)

    async def _resolve_references(
        self, turn: DiscordTurn, questions: Sequence[Message], live: LiveAnswer
    ) -> tuple[Message, ...]:
        """Add references. Raises InputError if a menu command's message is unreadable, and StorageError."""
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
        """Answer a command or a form. Raises hikari's errors if the acknowledgement fails."""
        begin_turn()

        async def accept() -> DiscordTurn:
            recipient = await self.recipients.find(interaction, preloaded.settings)
            chosen = await self.chooser.for_interaction(interaction, preloaded.agents)
            entry = self.running.entry_of_interaction(
                interaction,
                chosen.key,
                "ask",
                recipient,
                visibility=visibility_of(interaction, ephemeral=ephemeral),
                ephemeral=ephemeral,
                temporary=temporary,
                question=await question(),
            )
            return await self._admit(interaction, entry, recipient, chosen, roles_of(interaction.member))

        acknowledge = partial(defer, interaction, ephemeral=ephemeral)
        turn, shown_in = await self.running.acknowledge(accept(), acknowledge, DiscordTurn.delete_entry)
        turn.message_id = shown_in
        await self.deliver(turn, _make_reply(turn, Sent(None)))

    async def regenerate(
        self, interaction: hikari.ComponentInteraction, button: AnswerButton, recipient: Recipient
    ) -> None:
        """Answer the newest question again, in place if possible. Raises AgentGone, NotNewest, AnswerInUse,
        StorageError, and as `ask`."""
        ephemeral = is_ephemeral(interaction.message)
        # The bot can't delete ephemeral messages, nor others where only the user has installed it.
        in_guild = (
            hikari.ApplicationIntegrationType.GUILD_INSTALL in interaction.authorizing_integration_owners
        )
        in_place = not button.earlier_message_ids or (not ephemeral and in_guild)
        turn = await self._accept_press(interaction, button, recipient, below=not in_place)
        regenerating = self.assistant.approvals.regenerating(button.user_id, button.answer_id)
        async with turn.delivered(), regenerating:
            await self._check_newest(turn.entry, button)
            if in_place:
                before = await self._carry_over(interaction, recipient)
                turn.message_id, turn.before = int(interaction.message.id), (before,)
                reply = _make_reply(turn, Sent(None, before))
            else:
                reply = _make_reply(turn)
            state = await self._show_answer(turn, reply)
            if state.stored and in_place:
                await self.replies.delete_all(interaction.channel_id, button.earlier_message_ids)
            elif state.stored:
                await _remove_buttons(interaction, recipient)
            await turn.finish(state, reply)
        await self._show_canvas(turn, state)

    async def _check_newest(self, entry: PendingTurn, button: AnswerButton) -> None:
        """Raises NotNewest, AnswerInUse and StorageError."""
        await self.assistant.conversations.read_newest(entry.key, button.answer_id)
        await self.assistant.approvals.check_none_in_flight(button.user_id, button.answer_id)

    async def continue_answer(
        self, interaction: hikari.ComponentInteraction, button: AnswerButton, recipient: Recipient
    ) -> None:
        """Continue the newest answer below it. Raises as `regenerate`."""
        turn = await self._accept_press(interaction, button, recipient, below=True)
        async with turn.delivered():
            await self._check_newest(turn.entry, button)
            await _remove_buttons(interaction, recipient)
            stored = False
            try:
                turn.on_opened = None if turn.entry.ephemeral else noop
                reply = _make_reply(turn)
                state = await self._show_answer(turn, reply)
                stored = state.stored
                await turn.finish(state, reply)
                await self._show_canvas(turn, state)
            finally:
                if not stored:  # the user may press again
                    page = page_of(interaction.message, recipient.locale)
                    await interaction.edit_initial_response(components=rows_of(page))

    async def continue_after_call(
        self,
        interaction: hikari.ComponentInteraction,
        author: Recipient,
        chosen: SelectedAgent,
        question: AskedQuestion,
        *,
        visibility: Visibility,
        ephemeral: bool,
        role_ids: tuple[int, ...] | None,
        calls: tuple[ToolCall, ...],
        pictures: tuple[Attachment, ...],
    ) -> None:
        """Answer an approved call's result. `calls`: those that the conversation lacks. Raises as `ask`."""
        entry = self.running.entry_of_interaction(
            interaction,
            chosen.key,
            "continue",
            author,
            visibility=visibility,
            ephemeral=ephemeral,
            below=True,
            shown_in=int(interaction.message.id),
            question=question,
            calls=calls,
        )
        turn = await self._admit(interaction, entry, author, chosen, role_ids)
        turn.pictures, turn.on_opened = pictures, None if ephemeral else noop
        await self.deliver(turn, _make_reply(turn))

    async def ask_again(
        self, interaction: hikari.ComponentInteraction, button: RetryButton, recipient: Recipient
    ) -> bool:
        """Ask an interrupted or failed question again in its message. Returns False if already done."""
        begin_turn()
        pressed_in, pressed_id = int(interaction.channel_id), int(interaction.message.id)

        def renew(entry: PendingTurn) -> PendingTurn:
            return self.running.entry_of_interaction(
                interaction,
                entry.key,
                "ask" if entry.kind == "message" else entry.kind,
                recipient,
                visibility=entry.visibility,
                ephemeral=is_ephemeral(interaction.message),
                question=entry.question,
                question_id=entry.question_id,
                former=entry.id,
                shown_in=pressed_id,
                earlier=tuple(page for page in entry.pages if page != pressed_id),
                location_id=None if pressed_in == entry.key.channel_id else pressed_in,
                guild_id=entry.guild_id,
            )

        async def release(entry: PendingTurn | None) -> None:
            if entry is not None:
                await self.running.ledger.release_claim(entry.id, entry.key.user_id)

        claiming = self.running.claim(button.turn_id, button.user_id, renew)
        entry, _ = await self.running.acknowledge(claiming, partial(defer_update, interaction), release)
        if entry is None:
            return False
        roles = roles_of(interaction.member) if interaction.guild_id == entry.guild_id else None
        turn = DiscordTurn(self.running, entry, recipient, interaction=interaction, role_ids=roles)
        async with turn.delivered():
            reply = _make_reply(turn, Sent(None, page_of(interaction.message, recipient.locale)))
            turn.message_id = entry.shown_in if pressed_in == entry.key.channel_id else None
            state = await self._show_answer(turn, reply)
            if entry.earlier and not state.may_be_asked_again:
                await self.replies.delete_all(interaction.channel_id, entry.earlier)
            await turn.finish(state, reply)
        await self._show_canvas(turn, state)
        return True

    async def deliver(self, turn: DiscordTurn, reply: Poster) -> None:
        """Show the answer, delete its entry, and show the canvas. Raises hikari's errors."""
        async with turn.delivered():
            state = await self._show_answer(turn, reply)
            if turn.withdrawn:
                await self.withdraw(turn, reply, state, question_id=turn.entry.question_id)
                await turn.delete_entry()
            else:
                await turn.finish(state, reply)
        await self._show_canvas(turn, state)

    async def withdraw(
        self, turn: DiscordTurn, reply: Poster, state: AnswerState | None, *, question_id: int | None = None
    ) -> None:
        """Delete a withdrawn answer, with its question if given, and report what its tools changed."""
        entry, ids = turn.entry, await reply.message_ids()
        gone = ids if question_id is None else (question_id, *ids)
        await self.running.channels.delete(gone, location_id=entry.location_id or entry.key.channel_id)
        await reply.try_to_remove()
        if state:
            await self.replies.report_effects(entry.question_id or 0, turn.recipient, state)

    async def _show_canvas(self, turn: DiscordTurn, state: AnswerState) -> None:
        if state.canvas is not None:
            key, ephemeral = turn.entry.key, turn.entry.ephemeral
            await self.side_message.show_change(key, turn.interaction, ephemeral=ephemeral)

    async def _show_answer(self, turn: DiscordTurn, reply: Poster) -> AnswerState:
        """Show an answer and record its messages; after a database error, recovery repeats this."""
        state = await self.show(turn, reply)
        answer, entry = state.done.answer if state.done else None, turn.entry
        try:
            ids: Sequence[int] = reply.further_ids  # the first is stored with the answer
            if entry.kind == "again":
                first_ids = () if entry.below or entry.shown_in is None else (entry.shown_in,)
                ids = (*first_ids, *reply.further_ids) if first_ids else await reply.message_ids()
            await self.running.record_pages(entry, answer, ids)
        except StorageError as error:
            _log.warning("pages_not_noted", error=type(error).__name__)
            return replace(state, unshown=True)
        return state

    async def _accept_press(
        self,
        interaction: hikari.ComponentInteraction,
        button: AnswerButton,
        recipient: Recipient,
        *,
        below: bool,
    ) -> DiscordTurn:
        begin_turn()

        async def accept() -> DiscordTurn:
            chosen = await self.chooser.for_answer(interaction, button.answer_id)
            ephemeral, regenerates = is_ephemeral(interaction.message), button.action == "again"
            entry = self.running.entry_of_interaction(
                interaction,
                chosen.key,
                "again" if regenerates else "continue",
                recipient,
                visibility=visibility_of(interaction, ephemeral=ephemeral),
                ephemeral=ephemeral,
                below=below,
                shown_in=int(interaction.message.id),
                replaces=button.answer_id if regenerates else None,
                earlier=button.earlier_message_ids if regenerates else (),
                question=None
                if regenerates
                else await self._question_to_continue(interaction, button, recipient),
            )
            return await self._admit(interaction, entry, recipient, chosen, roles_of(interaction.member))

        acknowledge = partial(defer_update, interaction)
        turn, _ = await self.running.acknowledge(accept(), acknowledge, DiscordTurn.delete_entry)
        return turn

    async def _question_to_continue(
        self, interaction: hikari.ComponentInteraction, button: AnswerButton, recipient: Recipient
    ) -> AskedQuestion:
        """Return a request to continue, with the first question's references."""
        asked = AskedQuestion(recipient.words[AnswerTexts].continue_question, author_name(interaction))
        before = await self.references.find_question(recipient.user_id, button.answer_id)
        if before is None:
            return asked
        return replace(
            asked, reply_to=before.reply_to, pointing=before.pointing, links_in=linking_text(before.content)
        )

    async def _admit(
        self,
        interaction: Answerable,
        entry: PendingTurn,
        recipient: Recipient,
        chosen: SelectedAgent,
        role_ids: tuple[int, ...] | None,
    ) -> DiscordTurn:
        turn = DiscordTurn(self.running, entry, recipient, chosen, interaction=interaction, role_ids=role_ids)
        await turn.admit(self.assistant.chains.first_name(chosen.agent.models))
        return turn

    async def _carry_over(self, interaction: hikari.ComponentInteraction, recipient: Recipient) -> Page:
        receipts, spoken, message = self.running.receipts, self.running.spoken, interaction.message
        attached = spoken is not None and await spoken.stop(int(message.id))
        page = await receipts.carry_over(message, recipient.user_id, recipient.words)
        sound = MediaFile(recipient.words[AnswerTexts].sound_name)
        return replace(page, files=(*page.files, sound)) if attached else page


def _location(entry: PendingTurn, question: Message | None = None) -> QuestionLocation:
    id_ = (question.discord_id if question else None) or entry.question_id or entry.interaction_id or 0
    return QuestionLocation(entry.key.channel_id, entry.guild_id, id_)


def _make_reply(turn: DiscordTurn, *sent: Sent) -> Poster:
    assert turn.interaction is not None  # noqa: S101 - messages are answered by arrivals
    on_posted = partial(turn.turns.record_page, turn.entry)
    return reply_by_token(turn.interaction, *sent, ephemeral=turn.entry.ephemeral, on_posted=on_posted)


async def _remove_buttons(interaction: hikari.ComponentInteraction, recipient: Recipient) -> None:
    page = page_of(interaction.message, recipient.locale)
    await interaction.edit_initial_response(components=rows_of(replace(page, buttons=())))


def _words_for_agent(chosen: SelectedAgent, recipient: Recipient) -> Texts:
    words = recipient.words
    if not chosen.is_former:
        return words
    changed = words[CanvasChangeTexts].changed_unseen.format(
        display=chosen.agent.display_name(recipient.locale)
    )
    return words.with_area(words[CanvasChangeTexts].reword(changed=changed))
