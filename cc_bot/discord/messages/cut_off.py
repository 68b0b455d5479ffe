"""Answers in DMs, and to replies, that the last run of the program was killed under.

Nobody writes them on: like a command, such a question is lost with the program. But its author looks at a
message that says that the bot is thinking, and has to know that it is not.
"""

from dataclasses import dataclass, field
from functools import partial

import hikari
import structlog

from cc_bot.discord.delivery.live import LiveAnswer
from cc_bot.discord.delivery.message_outlet import MessageReplies
from cc_bot.discord.delivery.reply import Sent
from cc_bot.discord.localization import GuildLocales, Readers
from cc_bot.discord.pages.custom_ids import StopButton
from cc_bot.discord.recent import Recent
from cc_bot.domain.errors import StorageError
from cc_bot.domain.events import Done, Usage
from cc_bot.stores import ChannelStore, PersonalAnswer, PersonalAnswerStore

_log = structlog.get_logger(__name__)

REMEMBERED = 1000
"""Answers that this run of the program has begun: they are not cut off."""


@dataclass(frozen=True, slots=True)
class CutOff:
    store: PersonalAnswerStore
    channels: ChannelStore
    replies: MessageReplies
    readers: Readers
    locales: GuildLocales
    _begun: Recent[int, None] = field(default_factory=partial(Recent[int, None], REMEMBERED))

    async def opened(self, answer: PersonalAnswer) -> None:
        """Its message was posted. The answer goes on even when that can't be noted."""
        self._begun[answer.answer_id] = None
        try:
            await self.store.opened(answer)
        except StorageError as error:
            _log.warning("answer_not_noted", error=type(error).__name__)

    async def ended(self, answer: PersonalAnswer) -> None:
        """Its message shows how it ended. While that can't be noted, the next start shows it once more."""
        try:
            await self.store.ended(answer)
        except StorageError as error:
            _log.warning("answer_not_noted", error=type(error).__name__)

    async def resume(self) -> None:
        """Tell those who were being answered when the program last ended. Raises StorageError."""
        for answer in await self.store.unfinished():
            if answer.answer_id not in self._begun:
                await self._finish(answer)

    async def _finish(self, answer: PersonalAnswer) -> None:
        try:
            if not await self.store.taken_over(answer):
                await self._show_end(answer)
        except (hikari.ForbiddenError, hikari.NotFoundError) as error:  # there is nothing to see any more
            _log.info("answer_not_shown", error=type(error).__name__)
        except hikari.HikariError as error:
            _log.warning("answer_not_shown", error=type(error).__name__)
            return
        await self.store.ended(answer)

    async def _show_end(self, answer: PersonalAnswer) -> None:
        """The answer, if it was stored and only not shown; else one sentence."""
        reader = await self.readers.of_author(answer.user_id, self.locales.of(answer.channel_id))
        ids = (answer.answer_id, *await self.channels.pages(answer.answer_id))
        sent = tuple(Sent(hikari.Snowflake(id_)) for id_ in ids)
        reply = self.replies.to(answer.channel_id, answer.answer_id, sent, anew=True)
        live = LiveAnswer(reply, reader.words, StopButton(answer.user_id, ""), asker_id=answer.user_id)
        stored = await self.store.stored(answer)
        if stored:
            live.feed(Done(stored, Usage()))
        else:
            live.fail(reader.words.mention.cut_off)
        await live.finish(answer.user_id, temporary=False)
        if stored and reply.further_ids:
            await self.channels.add_pages(answer.answer_id, reply.further_ids)
