"""Edits and deletions: the archive follows them, and an answer to the older text is given anew while it is
the newest, and goes with its question.

Discord sends an update also when it has found the preview of a link, and without the text where the bot may
not read it; neither changes anything.
"""

from collections.abc import Collection
from dataclasses import dataclass

import hikari

from cc_bot.discord.delivery.taken_down import TakenDown, delete_all
from cc_bot.discord.messages.addressing import Addressing
from cc_bot.discord.messages.incoming import is_withheld, names_others
from cc_bot.discord.messages.mentions import Mentions
from cc_bot.discord.messages.withdrawals import Withdrawals
from cc_bot.domain.channel import ChannelKey
from cc_bot.domain.message import is_blank
from cc_bot.stores import ChannelStore


@dataclass(frozen=True, slots=True)
class Changes:
    rest: hikari.api.RESTClient
    channels: ChannelStore
    addressing: Addressing
    mentions: Mentions
    withdrawals: Withdrawals
    taken_down: TakenDown

    async def edited(self, message: hikari.PartialMessage) -> None:
        """Raises StorageError and hikari's errors."""
        if not message.author or message.author.id == self.addressing.bot().id or is_withheld(message):
            return
        content = await self.addressing.content_of(message)
        if is_blank(content):
            await self._emptied(message)
        elif await self.channels.edit(int(message.id), content, tainted=self._names_others(message)):
            await self.mentions.edited(int(message.id))

    def _names_others(self, message: hikari.PartialMessage) -> bool:
        return names_others(message, int(self.addressing.bot().id))

    async def deleted(self, channel_id: int, message_ids: Collection[int]) -> None:
        """Raises StorageError and hikari's errors."""
        gone = [message_id for message_id in message_ids if not self.taken_down.expected(message_id)]
        if gone:
            await self._forget(channel_id, gone)

    async def _emptied(self, message: hikari.PartialMessage) -> None:
        """Nothing is left of it to keep, and not because Discord withholds what there is."""
        if not is_blank(message.content or ""):
            await self._forget(int(message.channel_id), [int(message.id)])

    async def _forget(self, channel_id: int, gone: Collection[int]) -> None:
        """With the answers to them: what was asked is not to be read out of those."""
        self.withdrawals.deleted(gone)
        answers = [each for each in await self.channels.answers_to(gone) if each not in gone]
        await self.channels.delete((*gone, *answers))
        await delete_all(self.rest, channel_id, answers, self.taken_down)

    async def place_deleted(self, key: ChannelKey) -> None:
        """A channel with its threads, or a thread. Raises StorageError."""
        self.withdrawals.place_deleted(key)
        await self.channels.forget_place(key)
