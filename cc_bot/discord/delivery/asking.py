"""Asks accepted questions and shows their answers."""

import time
from collections.abc import Awaitable, Callable, Sequence
from contextlib import aclosing
from dataclasses import dataclass, field, replace
from functools import partial

from cc_bot.assistant import Assistant, TurnOptions
from cc_bot.assistant.active import until_stopped
from cc_bot.context.tokens import UNSAID
from cc_bot.discord.agents import AgentSelector, words_under
from cc_bot.discord.attachments import MAX_BYTES, Fetched, with_files
from cc_bot.discord.delivery.canvas import CanvasBoards
from cc_bot.discord.delivery.live import LiveAnswer, for_channel, is_shown, show_failures
from cc_bot.discord.delivery.reply import Reply
from cc_bot.discord.delivery.turns import RunningTurns, ShownTurn
from cc_bot.discord.incoming import FILE_NOTE
from cc_bot.discord.interactions import can_write, message_link
from cc_bot.discord.pages.answer import AnswerState
from cc_bot.discord.pages.custom_ids import ANY_ASKER, StopButton
from cc_bot.discord.pages.page import Page
from cc_bot.discord.places import key_of_interaction
from cc_bot.discord.recipients import Recipients
from cc_bot.discord.references import QuestionLocation, References
from cc_bot.domain.errors import Postponed, ShuttingDown
from cc_bot.domain.message import ChannelKey, Message, Reference, with_heard
from cc_bot.domain.session import SessionKey
from cc_bot.domain.turn import AskedQuestion, CanvasChanged, ImagesGiven, PendingTurn
from cc_bot.in_order import KeyedLock


@dataclass(eq=False, slots=True)
class TurnRunner:
    assistant: Assistant
    running: RunningTurns
    chooser: AgentSelector
    recipients: Recipients
    references: References
    boards: CanvasBoards
    _order: KeyedLock = field(default_factory=KeyedLock, init=False)
    """Keeps one user's questions in order while their files are fetched."""

    async def show(
        self,
        turn: ShownTurn,
        reply: Reply,
        *,
        answer_id: int | None = None,
        before: Sequence[Page] = (),
        opened: Callable[[int], Awaitable[None]] | None = None,
        again: bool = False,
    ) -> AnswerState:
        """Ask the model and stream the answer into `reply`. Always tells the user the outcome, and returns
        the final state. The caller tracks the turn.

        `answer_id` is the message that shows it, if known; with `opened` it is posted before the turn begins,
        and passed. `before`: the pages that it replaces. `again`: mentions were edited, and this answer
        replaces the stored one. Raises hikari's errors.
        """
        chosen, recipient, running = turn.chosen, turn.recipient, self.running
        words = words_under(chosen, recipient) if chosen else recipient.words
        owner = None if turn.key else recipient.user_id
        if turn.questions:
            turn.reply = reply
        live = LiveAnswer(
            reply,
            for_channel(words) if turn.key else words,
            StopButton(owner or ANY_ASKER, turn.name),
            asker_id=recipient.user_id,
            before=before,
            receipts=running.receipts,
            retry=None if again else turn.retry,
            slowness=partial(running.count_beside, turn),
        )
        if opened is not None:
            await live.open()
            answer_id = (await reply.message_ids())[0]
            await opened(answer_id)
        async with live, running.held.answer(recipient.user_id):
            with show_failures(live, recipient):
                await self._follow(turn, live, answer_id, again=again)
            over_s = time.monotonic()
        note = self.chooser.stand_in_note(chosen, recipient) if chosen else ""
        if not await is_shown(partial(live.finish, owner, temporary=turn.row.temporary, note=note)):
            live.state = replace(live.state, unseen=True)
        running.record_shown(over_s, ok=not live.state.unseen)
        if running.spoken and not again:
            await running.spoken.begin(reply, recipient, live.state, turn.payer)
        return live.state

    async def show_canvas(self, turn: ShownTurn, state: AnswerState) -> None:
        """Show the canvas that the turn has changed. Never raises."""
        if state.canvas_changed:
            await self.boards.update(turn.row.key, turn.interaction, ephemeral=turn.row.ephemeral)

    async def _follow(self, turn: ShownTurn, live: LiveAnswer, answer_id: int | None, *, again: bool) -> None:
        row = turn.row
        options = await self._options(turn, live, answer_id)
        if turn.pictures:  # shown whatever the model says
            live.feed(ImagesGiven(turn.pictures))
        async with self._order.after(row.id if turn.key else row.key.user_id) as leave:
            questions = await self._questions(turn, live, again=again)
            references = () if questions else await self._references(row, live)
            admitted = await turn.take_reservation()
            leave()  # no await before the turn is in the assistant's queue
            key: SessionKey | ChannelKey = turn.key or row.key
            if questions and not again:
                events = self.assistant.ask(key, questions, options, turn.stop, admitted=admitted)
            else:
                events = self.assistant.regenerate(
                    key,
                    (answer_id if again else row.replaces) or 0,
                    options,
                    turn.stop,
                    questions=questions,
                    references=references,
                    admitted=admitted,
                )
            try:
                async with aclosing(events):
                    async for event in events:
                        if isinstance(event, CanvasChanged):  # recorded before it is shown
                            await self.boards.want(row.key, turn.interaction)
                        live.feed(event)
            except ShuttingDown as error:
                turn.postponed = turn.key is not None
                if turn.key and not again:
                    raise Postponed from error
                raise

    async def _options(self, turn: ShownTurn, live: LiveAnswer, answer_id: int | None) -> TurnOptions:
        row, recipient, place = turn.row, turn.recipient, turn.place
        shown_in, title, owner_id = None if row.ephemeral else answer_id, "", 0
        if turn.key and place:
            agent = await self.chooser.in_channel(place)
            thread = await self.chooser.places.title_of(place)
            title, owner_id = thread.text, thread.owner_id
        else:
            agent = (turn.chosen or await self.chooser.wrap_session(row.key, row.guild_id)).agent
        if turn.interaction:
            place = key_of_interaction(turn.interaction.channel)
        return TurnOptions(
            recipient.locale,
            recipient.timezone,
            row.temporary,
            recipient.welcomed or turn.key is not None,
            bot_id=int(self.references.bot().id),
            answer_discord_id=shown_in,
            place=turn.public_place,
            memory_paused=recipient.memory_paused,
            link=message_link(row.guild_id, row.key.channel_id, shown_in),
            agent=agent,
            guild_id=row.guild_id,
            channel_id=place.channel_id if place else 0,
            thread_title=title,
            thread_owner_id=owner_id,
            can_write_there=turn.interaction is None or can_write(turn.interaction),
            entry=row.id,
            earlier_calls=row.calls,
            role_ids=turn.role_ids,
            pictures=turn.pictures,
            asker=self.running.forms.asker(live.reply, recipient),
            by_owner=recipient.is_owner,
        )

    async def _references(self, row: PendingTurn, live: LiveAnswer) -> Sequence[Reference]:
        """Return the references of a question that is answered again. Raises InputError and StorageError."""
        resolved = await self.references.resolve_again(row.key.user_id, row.replaces or 0, _location(row))
        if resolved is None:
            return ()
        for event in resolved.events:
            live.feed(event)
        return resolved.question.references

    async def _questions(self, turn: ShownTurn, live: LiveAnswer, *, again: bool) -> tuple[Message, ...]:
        """Make the questions; only their text if the user stops first. Raises as `_build`."""
        asked, left = turn.row.question, turn.questions
        typed = tuple(each for each in turn.mentions if again or each.discord_id in left) or turn.mentions
        if asked:
            typed = (_message(turn.row, asked),)
        building = self._build(turn, typed, live)
        if not (asked and (asked.files or asked.forwards)) and not any(FILE_NOTE in q.content for q in typed):
            return await building  # without a task it is queued at once
        return await until_stopped(building, turn.stop) or tuple(
            replace(question, content=question.content or UNSAID) for question in typed
        )

    async def _build(
        self, turn: ShownTurn, typed: Sequence[Message], live: LiveAnswer
    ) -> tuple[Message, ...]:
        """Return the questions with files and references. Raises InputError if a question loses all its files
        or the message of its menu command, and StorageError."""
        asked, questions, fetched = turn.row.question, list[Message](), list[Fetched]()
        channel_id, room_bytes = turn.row.key.channel_id, MAX_BYTES
        for question in typed:
            forwards = asked.forwards if asked else ()
            shown = await self.references.open_forwards(channel_id, forwards)
            if asked:
                files = await self.references.files.fetch(asked.files, heard=bool(asked.heard))
            else:
                files = await self.references.fetch_files_of(question, channel_id, room_bytes)
            room_bytes -= sum(len(file.data) for file in files.files)
            fetched += [shown, files]
            questions.append(with_files(replace(question, attachments=shown.files), files))
        for event in Fetched.of(fetched).events:
            live.feed(event)
        for index, question in enumerate(questions):
            at = _location(turn.row, question)
            resolved = await self.references.resolve(question, at, asked.links_in if asked else "")
            for told in resolved.events:
                live.feed(told)
            questions[index] = resolved.question
        return tuple(questions)


def _message(row: PendingTurn, asked: AskedQuestion) -> Message:
    return Message(
        "user",
        with_heard(asked.text, asked.heard),
        visibility=row.visibility,
        author_id=row.key.user_id,
        author_name=asked.author_name,
        discord_id=row.question_id,
        heard=asked.heard,
        tainted=asked.tainted or (bool(asked.heard) and not all(file.own_words for file in asked.files)),
        reply_to=asked.reply_to,
        pointing=asked.pointing,
    )


def _location(row: PendingTurn, question: Message | None = None) -> QuestionLocation:
    id_ = (question.discord_id if question else None) or row.question_id or row.interaction_id or 0
    return QuestionLocation(row.key.channel_id, row.guild_id, id_)
