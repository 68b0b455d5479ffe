"""Which conversation a message belongs to: its author's own session, or that of the channel."""

from collections.abc import Callable
from dataclasses import dataclass

import hikari

from cc_bot.discord.agents import Chooser, Chosen
from cc_bot.discord.messages.incoming import (
    content_of,
    is_addressed,
    is_for_others,
    is_from_person,
    owner_of,
    replied_to,
    text_of,
)
from cc_bot.discord.messages.unasked import Unasked
from cc_bot.domain.channel import ChannelKey
from cc_bot.domain.session import SessionKey
from cc_bot.stores import CanvasStore, ChannelStore


@dataclass(frozen=True, slots=True)
class Addressing:
    channels: ChannelStore
    canvases: CanvasStore
    chooser: Chooser
    bot: Callable[[], hikari.OwnUser]
    unasked: Unasked
    reads_all: bool
    """Whether messages that do not mention the bot come with their content."""

    async def is_personal(self, message: hikari.PartialMessage) -> bool:
        """Whether a message goes on with a session of its author: a DM's, or that of the answer or canvas
        which it replies to. What was said to its author unasked belongs to no session, but to the place."""
        if not message.author:
            return False
        if message.guild_id is None:
            return True
        answer = replied_to(message, int(self.bot().id))
        if answer is None or not is_addressed(message, int(self.bot().id)):
            return False
        if owner_of(answer) == message.author.id or await self.unasked.is_for_author(message):
            return True
        key = await self._session_shown_in(answer)
        return key is not None and key.user_id == message.author.id

    async def chosen_for(self, message: hikari.Message) -> Chosen | None:
        """Who answers a message in its author's own session, and which that is; None for what is no personal
        message. A reply goes on with the agent that it replies to."""
        if not await self.is_personal(message):
            return None
        author_id = int(message.author.id)
        answer = replied_to(message, int(self.bot().id))
        key = await self._session_shown_in(answer) if answer else None
        mine = key if key and key.user_id == author_id else None
        return await self.chooser.of_message(message, author_id, mine)

    async def _session_shown_in(self, message: hikari.PartialMessage) -> SessionKey | None:
        """The session whose answer or canvas a message of the bot shows."""
        return await self.channels.session_of(int(message.id)) or await self.canvases.key_of(int(message.id))

    async def wants_answer(self, key: ChannelKey, message: hikari.Message) -> bool:
        """Whether it is for the bot: addressed to it, or to nobody else in a thread where it has answered."""
        bot_id = int(self.bot().id)
        if not is_from_person(message):
            return False
        if is_addressed(message, bot_id):
            return True
        if not self.reads_all or not key.thread_id or is_for_others(message, bot_id):
            return False
        return await self.channels.newest_answer(key) is not None

    async def content_of(self, message: hikari.PartialMessage) -> str:
        """What the archive keeps of a message, in the conversation that it belongs to."""
        if await self.is_personal(message):
            return await self.unasked.quoting(message, text_of(message, self.bot()))
        return content_of(message, self.bot(), quoting=await self.quotes(message))

    async def quotes(self, message: hikari.PartialMessage) -> bool:
        """Whether the answer that it replies to has to be quoted: it is not in the channel's archive."""
        answer = replied_to(message, int(self.bot().id))
        return answer is not None and not await self.channels.shows_answer(int(answer.id))
