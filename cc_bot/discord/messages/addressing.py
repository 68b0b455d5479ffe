"""Which conversation a message belongs to: its author's own session, or that of the channel."""

from collections.abc import Callable
from dataclasses import dataclass

import hikari

from cc_bot.discord.messages.incoming import (
    content_of,
    is_addressed,
    is_for_others,
    is_from_person,
    owner_of,
    replied_to,
    text_of,
)
from cc_bot.domain.channel import ChannelKey
from cc_bot.domain.session import SessionKey
from cc_bot.stores import ChannelStore


@dataclass(frozen=True, slots=True)
class Addressing:
    channels: ChannelStore
    bot: Callable[[], hikari.OwnUser]
    reads_all: bool
    """Whether messages that do not mention the bot come with their content."""

    async def session_of(self, message: hikari.PartialMessage) -> SessionKey | None:
        """The session that a message goes on with: a DM's, or that of the answer which it replies to, when it
        is its author's own."""
        if not message.author:
            return None
        author_id = int(message.author.id)
        if message.guild_id is None:
            return SessionKey(author_id, int(message.channel_id))
        answer = replied_to(message, int(self.bot().id))
        if answer is None or not is_addressed(message, int(self.bot().id)):
            return None
        if owner_of(answer) == author_id:
            return SessionKey(author_id, int(message.channel_id))
        key = await self.channels.session_of(int(answer.id))
        return key if key and key.user_id == author_id else None

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
        if await self.session_of(message):
            return text_of(message, self.bot())
        return content_of(message, self.bot(), quoting=await self.quotes(message))

    async def quotes(self, message: hikari.PartialMessage) -> bool:
        """Whether the answer that it replies to has to be quoted: it is not in the channel's archive."""
        answer = replied_to(message, int(self.bot().id))
        return answer is not None and not await self.channels.shows_answer(int(answer.id))
