"""What the bot said without being asked, and somebody answers: reminders and heartbeats.

They are part of no session, so the model would not know what such an answer is about. What was said is quoted
above it, and stays there.
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial

import hikari

from cc_bot.assistant.assistant import MAX_QUESTION_CHARACTERS
from cc_bot.discord.messages.incoming import quoted, replied_to
from cc_bot.discord.recent import Recent
from cc_bot.stores import ScheduleStore

QUOTED_CHARACTERS = 1000
REMEMBERED = 500
"""Messages of which is known what they answer: an edit does not change that."""


@dataclass(frozen=True, slots=True)
class Unasked:
    schedules: ScheduleStore
    bot: Callable[[], hikari.OwnUser]
    _answered: Recent[int, str] = field(default_factory=partial(Recent[int, str], REMEMBERED))

    async def is_for_author(self, message: hikari.PartialMessage) -> bool:
        """Whether it replies to what was said to its own author."""
        return bool(await self._replied_to(message))

    async def quoting(self, message: hikari.PartialMessage, text: str) -> str:
        """The text of a message to its author's own session, below what it answers: what it replies to; in a
        DM also the last thing that was said there, if that was the bot's, and not asked for."""
        said = self._answered.get(int(message.id))
        said = said or await self._replied_to(message) or await self._before(message)
        if said is None:
            return text
        self._answered[int(message.id)] = said
        return _below(said, text)

    async def quoting_the_last(self, user_id: int, channel_id: int, text: str) -> str:
        """A text in a DM, below the last thing that was said there, likewise."""
        last = await self.schedules.last_said(user_id, channel_id)
        return _below(last.content, text) if last else text

    async def _replied_to(self, message: hikari.PartialMessage) -> str | None:
        answer = replied_to(message, int(self.bot().id))
        if answer is None or not message.author:
            return None
        said = await self.schedules.said(int(answer.id))
        return said[1].content if said and said[0] == message.author.id else None

    async def _before(self, message: hikari.PartialMessage) -> str | None:
        if message.guild_id is not None or not message.author or message.referenced_message:
            return None
        last = await self.schedules.last_said(int(message.author.id), int(message.channel_id))
        return last.content if last else None


def _below(said: str, text: str) -> str:
    """A question so long that there is no room for a quotation goes without."""
    whole = "\n".join(filter(None, (quoted(said, QUOTED_CHARACTERS), text)))
    return whole if len(whole) <= MAX_QUESTION_CHARACTERS else text
