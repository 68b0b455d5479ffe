"""Messages that go on with their author's own session: in a DM, and replies to answers of that session.

The answer looks and works like that of `/ask`, buttons included. Like a command, the question stands in the
ledger of turns until the answer is shown: the next run of the program tells its author what became of it.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace

import hikari

from cc_bot.discord.agents import Chosen
from cc_bot.discord.attachments import asked_files
from cc_bot.discord.delivery.answers import Answers
from cc_bot.discord.delivery.asking import ShownTurn
from cc_bot.discord.delivery.outlets import DirectMessages, MessageReplies
from cc_bot.discord.incoming import name_of_author, names_others, reply_to, text_of, typed_text_of
from cc_bot.discord.interactions import message_link, roles_of
from cc_bot.discord.messages.addressing import ProactiveMessageQuotes
from cc_bot.discord.messages.forwards import Forwards
from cc_bot.discord.places import Places
from cc_bot.domain.message import ChannelKey
from cc_bot.domain.turn import AskedQuestion
from cc_bot.log import begin_turn
from cc_bot.stores import ChannelStore


@dataclass(eq=False, slots=True)
class PersonalTurns:
    answers: Answers
    quotes: ProactiveMessageQuotes
    forwards: Forwards
    replies: MessageReplies
    channels: ChannelStore
    places: Places
    bot: Callable[[], hikari.OwnUser]

    async def answer(self, chosen: Chosen, message: hikari.Message, opened: Callable[[], None]) -> None:
        """Ask, and show the answer to its end. A user's turns are asked in the order in which they are
        `opened`, however long their files take.

        Raises StorageError, and hikari's errors when nothing can be shown.
        """
        begin_turn()
        recipient = await self.answers.recipients.of_author_in(
            int(message.channel_id), chosen.key.user_id, typed_text_of(message, self.bot())
        )
        said = text_of(message, self.bot())
        text = await self.quotes.quote(message, said)
        answers = reply_to(message) if text == said else None  # what is quoted need not be looked up
        files, tainted = asked_files(message), names_others(message, int(self.bot().id))
        self.answers.references.note(message)
        forwards = await self.forwards.take_for(message)
        if answers in forwards:
            answers = None
        asked = AskedQuestion(text, name_of_author(message), files, tainted, answers, forwards)
        deliveries = self.answers.deliveries
        turn = replace(deliveries.turn_of_message(message, chosen.key, recipient), question=asked)
        async with await deliveries.accept(turn) as delivery:
            place, roles = await self._place_of(message), roles_of(message.member)
            shown = ShownTurn(delivery, recipient, chosen, role_ids=roles, place=place)
            try:
                await self._show(shown, message, opened)
            finally:
                self.forwards.release(int(message.id))

    async def _place_of(self, message: hikari.Message) -> ChannelKey | None:
        """The place where everybody reads it; None in a DM, or when Discord won't tell what that is."""
        if message.guild_id is None:
            return None
        try:
            return await self.places.key_of(int(message.channel_id))
        except hikari.HTTPError:
            return None

    async def _show(self, turn: ShownTurn, message: hikari.Message, opened: Callable[[], None]) -> None:
        question_id, channel_id, recipient = int(message.id), int(message.channel_id), turn.recipient
        link = message_link(message.guild_id, channel_id, question_id)
        note, delivery = recipient.words.unfinished.late_note(link), turn.delivery
        asker = DirectMessages(recipient.user_id, note, delivery.note_moved, delivery.note_page)
        reply = self.replies.to(channel_id, question_id, asker=asker)

        async def note_posted(answer_id: int) -> None:
            await delivery.note_first(answer_id)
            opened()

        state = await self.answers.show_answer(turn, reply, opened=note_posted)
        if turn.withdrawn:
            gone = (question_id, *await reply.message_ids())
            await self.channels.delete(gone, place_id=channel_id)
            await reply.try_to_remove()
            await delivery.settle()
            await self.replies.say_effects(question_id, recipient, state)
        else:
            await delivery.finish(state, reply)
        await self.answers.show_canvas(turn, state)
