"""Messages that go on with their author's own session: in a DM, and replies to answers of that session.

The answer looks and works like that of `/ask`, buttons included. Like a command, the question stands in the
ledger of turns until the answer is shown: the next run of the program tells its author what became of it.
"""

from collections.abc import AsyncGenerator, Callable
from contextlib import aclosing
from dataclasses import dataclass, field, replace

import hikari
import structlog

from cc_bot.assistant import Assistant, Stop, TurnOptions
from cc_bot.correlation import begin_turn
from cc_bot.discord.agents import Chosen, stand_in_note, words_under
from cc_bot.discord.attachments import fetch_attachments
from cc_bot.discord.delivery.canvas_boards import CanvasBoards
from cc_bot.discord.delivery.entries import Delivery, TurnDeliveries, asked_files
from cc_bot.discord.delivery.message_outlet import MessageReplies
from cc_bot.discord.delivery.reply import Reply
from cc_bot.discord.delivery.turns import RunningTurns, show_turn
from cc_bot.discord.delivery.undone import note_pages
from cc_bot.discord.in_order import InOrder
from cc_bot.discord.interactions import message_link, roles_of
from cc_bot.discord.localization import GuildLocales, Reader, Readers
from cc_bot.discord.messages.addressing import Unasked
from cc_bot.discord.messages.incoming import Attached, name_of_author, names_others, text_of, with_files
from cc_bot.discord.messages.withdrawals import OnItsWay, Withdrawals
from cc_bot.domain.events import FilesLeftOut, TurnEvent
from cc_bot.domain.ledger import AskedQuestion
from cc_bot.domain.message import Message
from cc_bot.stores import ChannelStore

_log = structlog.get_logger(__name__)


@dataclass(frozen=True, slots=True)
class PersonalTurns:
    channels: ChannelStore
    assistant: Assistant
    replies: MessageReplies
    readers: Readers
    locales: GuildLocales
    running: RunningTurns
    withdrawals: Withdrawals
    entries: TurnDeliveries
    unasked: Unasked
    boards: CanvasBoards
    bot: Callable[[], hikari.OwnUser]
    _order: InOrder = field(default_factory=InOrder)
    """Of each user's questions, while their files are fetched."""

    async def answer(self, chosen: Chosen, message: hikari.Message, opened: Callable[[], None]) -> None:
        """Ask, and show the answer to its end. A user's turns are asked in the order in which they are
        `opened`, however long their files take.

        Raises StorageError, and hikari's errors when nothing can be shown.
        """
        begin_turn()
        reader = await self.readers.of_author(chosen.key.user_id, self.locales.of(int(message.channel_id)))
        text = await self.unasked.quoting(message, text_of(message, self.bot()))
        files, tainted = asked_files(message.attachments), names_others(message, int(self.bot().id))
        asked = AskedQuestion(text, name_of_author(message), files, tainted)
        turn = replace(self.entries.of_message(message, chosen.key, reader), question=asked)
        async with await self.entries.accept(turn) as entry:
            await self._show(chosen, message, reader, text, entry=entry, opened=opened)

    async def _show(
        self,
        chosen: Chosen,
        message: hikari.Message,
        reader: Reader,
        text: str,
        *,
        entry: Delivery,
        opened: Callable[[], None],
    ) -> None:
        question_id = int(message.id)
        reply = self.replies.to(int(message.channel_id), question_id)

        async def begin() -> None:
            [answer_id] = await reply.message_ids()
            on_its_way.answer_id = answer_id
            await entry.shown_in(answer_id)
            opened()

        with self.withdrawals.watching((question_id,), reply.shows) as on_its_way:
            ended = await show_turn(
                lambda stop: self._events(
                    chosen, message, reader, on_its_way, stop, text=text, entry=entry.id
                ),
                reply,
                reader,
                self.running,
                words=words_under(chosen, reader),
                note=stand_in_note(chosen, reader),
                opened=begin,
                name=entry.id,
            )
        if on_its_way.withdrawn:
            await self.channels.delete((question_id, *await reply.message_ids()))
            await _remove(reply)
            await entry.settle()
        else:
            await note_pages(self.channels, ended, reply.further_ids)
            await entry.ended(ended)
        if ended.canvas_changed:
            await self.boards.changed(chosen.key)

    async def _question(self, message: hikari.Message, text: str) -> Attached:
        """The question with its files. Raises InputError for what is wrong with all of them."""
        fetched = await fetch_attachments(message.attachments)
        question = Message(
            "user",
            text,
            visibility="private" if message.guild_id is None else "public",
            author_id=int(message.author.id),
            author_name=name_of_author(message),
            discord_id=int(message.id),
            tainted=names_others(message, int(self.bot().id)),
        )
        return Attached((with_files(question, fetched),), fetched.left_out)

    async def _events(
        self,
        chosen: Chosen,
        message: hikari.Message,
        reader: Reader,
        on_its_way: OnItsWay,
        stop: Stop,
        *,
        text: str,
        entry: str,
    ) -> AsyncGenerator[TurnEvent, None]:
        on_its_way.begin(stop)
        options = TurnOptions(
            reader.locale,
            reader.timezone,
            welcomed=reader.welcomed,
            bot_id=int(self.bot().id),
            answer_discord_id=on_its_way.answer_id,
            memory_paused=reader.memory_paused,
            link=message_link(message.guild_id, int(message.channel_id), on_its_way.answer_id),
            agent=chosen.agent,
            guild_id=None if message.guild_id is None else int(message.guild_id),
            role_ids=roles_of(message.member),
            entry=entry,
        )
        async with self._order.after(chosen.key.user_id) as leave:
            attached = await self._question(message, text)
            [question] = attached.questions
            if attached.left_out:
                yield FilesLeftOut(attached.left_out)
            leave()  # nothing is awaited before the turn stands in the assistant's own line
            asked = self.assistant.ask(chosen.key, question, options, stop)
            async with aclosing(self.boards.noting(chosen.key, asked)) as events:
                async for event in events:
                    yield event


async def _remove(reply: Reply) -> None:
    try:
        await reply.remove()
    except hikari.HikariError as error:
        _log.warning("answer_not_removed", error=type(error).__name__)
