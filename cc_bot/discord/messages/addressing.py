"""Which conversation a message belongs to: its author's own session, or the channel's."""

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial

import hikari

from cc_bot.assistant.assistant import MAX_QUESTION_CHARACTERS
from cc_bot.discord.agents import AgentSelector, Chosen
from cc_bot.discord.incoming import (
    content_of,
    is_addressed,
    is_for_others,
    is_from_person,
    owner_of,
    quotation,
    reply_target,
    text_of,
)
from cc_bot.discord.places import Recent
from cc_bot.domain.message import ChannelKey
from cc_bot.domain.session import SessionKey
from cc_bot.stores import CanvasStore, ChannelStore, ScheduleStore

# ---- proactive messages ----------------------------------------------------------------------------------
# Replies to reminders and heartbeats. Those belong to no session, so their text is quoted above the reply for
# the model, and stored with it.

QUOTED_CHARACTERS = 1000
REMEMBERED = 500
"""Cached quotations: an edit does not change them."""


@dataclass(eq=False, slots=True)
class ProactiveMessageQuotes:
    schedules: ScheduleStore
    bot: Callable[[], hikari.OwnUser]
    _answered: Recent[int, str] = field(default_factory=partial(Recent[int, str], REMEMBERED))

    async def is_for_author(self, message: hikari.PartialMessage) -> bool:
        """Return whether it replies to its author's own reminder or heartbeat."""
        return bool(await self._words_replied_to(message))

    async def quote(self, message: hikari.PartialMessage, text: str) -> str:
        """Return the text below a quotation of the reminder or heartbeat that it replies to, or that is the
        bot's last message in the DM."""
        said = self._answered.get(int(message.id))
        said = said or await self._words_replied_to(message) or await self._before(message)
        if said is None:
            return text
        self._answered[int(message.id)] = said
        return _below(said, text)

    async def quote_last(self, user_id: int, channel_id: int, text: str) -> str:
        """Return the text below a quotation of the DM's last message, if that was a reminder or heartbeat."""
        last = await self.schedules.get_last_said(user_id, channel_id)
        return _below(last.content, text) if last else text

    async def _words_replied_to(self, message: hikari.PartialMessage) -> str | None:
        answer = reply_target(message, int(self.bot().id))
        if answer is None or not message.author:
            return None
        said = await self.schedules.get_said(int(answer.id))
        return said[1].content if said and said[0] == message.author.id else None

    async def _before(self, message: hikari.PartialMessage) -> str | None:
        if message.guild_id is not None or not message.author or message.referenced_message:
            return None
        last = await self.schedules.get_last_said(int(message.author.id), int(message.channel_id))
        return last.content if last else None


def _below(said: str, text: str) -> str:
    """Omits the quotation if the two are too long together."""
    whole = "\n".join(filter(None, (quotation(said, QUOTED_CHARACTERS), text)))
    return whole if len(whole) <= MAX_QUESTION_CHARACTERS else text


# ---- addressing ------------------------------------------------------------------------------------------


@dataclass(eq=False, slots=True)
class Addressing:
    channels: ChannelStore
    canvases: CanvasStore
    chooser: AgentSelector
    bot: Callable[[], hikari.OwnUser]
    proactive: ProactiveMessageQuotes
    reads_all: bool
    """Whether Discord sends the content of messages that do not mention the bot."""

    def is_addressed(self, message: hikari.PartialMessage) -> bool:
        """Return whether it mentions the bot or replies to it. A reply without a ping counts if its content
        arrives and it addresses no other user."""
        bot_id = int(self.bot().id)
        if is_addressed(message, bot_id):
            return True
        is_quiet_reply = self.reads_all and reply_target(message, bot_id) is not None
        return is_quiet_reply and not is_for_others(message, bot_id)

    async def is_personal(self, message: hikari.PartialMessage) -> bool:
        """Return whether it belongs to a session of its author: a DM, or a reply to their own answer, canvas,
        reminder or heartbeat."""
        if not message.author:
            return False
        if message.guild_id is None:
            return True
        answer = reply_target(message, int(self.bot().id))
        if answer is None or not self.is_addressed(message):
            return False
        if owner_of(answer) == message.author.id or await self.proactive.is_for_author(message):
            return True
        key = await self._session_shown_in(answer)
        return key is not None and key.user_id == message.author.id

    async def choose_for(self, message: hikari.Message) -> Chosen | None:
        """Return the agent and session for a personal message; None for others. A reply goes to the agent
        that it replies to."""
        if not await self.is_personal(message):
            return None
        author_id = int(message.author.id)
        answer = reply_target(message, int(self.bot().id))
        key = await self._session_shown_in(answer) if answer else None
        mine = key if key and key.user_id == author_id else None
        return await self.chooser.of_message(message, author_id, mine)

    async def _session_shown_in(self, message: hikari.PartialMessage) -> SessionKey | None:
        return await self.channels.get_session_key(int(message.id)) or await self.canvases.get_key(
            int(message.id)
        )

    async def wants_answer(self, key: ChannelKey, message: hikari.Message) -> bool:
        """Return whether it is addressed to the bot, or to no other user in a thread where the bot has
        answered."""
        bot_id = int(self.bot().id)
        if not is_from_person(message):
            return False
        if self.is_addressed(message):
            return True
        if not self.reads_all or not key.thread_id or is_for_others(message, bot_id):
            return False
        return await self.channels.get_newest_answer(key) is not None

    async def content_of(self, message: hikari.PartialMessage) -> str:
        """Return a message's text as its conversation stores it."""
        if await self.is_personal(message):
            return await self.proactive.quote(message, text_of(message, self.bot()))
        return content_of(message, self.bot(), quoting=await self.quotes(message))

    async def quotes(self, message: hikari.PartialMessage) -> bool:
        """Return whether the answer that it replies to must be quoted: the channel's archive lacks it."""
        answer = reply_target(message, int(self.bot().id))
        return answer is not None and not await self.channels.is_answer(int(answer.id))
