"""Forwards in DMs, which wait for the question in the next message.

Discord sends the comment on a forward as a separate message. Without one, the user is asked what to do. A
forward is stored only with its question; after a restart it is looked up in the DM.
"""

import asyncio
from collections.abc import Collection, Iterable
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from functools import partial
from typing import Final

import hikari
import structlog

from cc_bot.discord.delivery.outlets import MessageReplies
from cc_bot.discord.places import Recent
from cc_bot.discord.recipients import Recipients
from cc_bot.discord.references import References
from cc_bot.domain.errors import StorageError
from cc_bot.stores import ChannelStore

_log = structlog.get_logger(__name__)

WAITS: Final = timedelta(minutes=10)
ASKED_AFTER: Final = timedelta(minutes=1)
LOOKED_AT: Final = 10
REMEMBERED: Final = 500


@dataclass(eq=False, slots=True)
class Forwards:
    rest: hikari.api.RESTClient
    channels: ChannelStore
    references: References
    replies: MessageReplies
    recipients: Recipients
    _waiting: dict[int, dict[int, datetime]] = field(default_factory=dict)
    """By DM, when each forward arrived."""
    _asking: dict[int, asyncio.Task[None]] = field(default_factory=dict)
    _known: Recent[int, None] = field(default_factory=partial(Recent[int, None], REMEMBERED))
    """DMs whose last messages are known."""
    _taken: dict[int, int] = field(default_factory=dict)
    """By forward, the question in progress."""
    _asked: set[int] = field(default_factory=set)
    _began: datetime = field(init=False)

    def __post_init__(self) -> None:
        self._began = self.recipients.clock()

    def wait(self, message: hikari.Message) -> None:
        channel_id = int(message.channel_id)
        self.references.targets.note(message)
        self._known[channel_id] = None
        self._waiting.setdefault(channel_id, {})[int(message.id)] = message.created_at
        self._stop_asking(channel_id)
        if int(message.id) not in self._asked:
            self._asking[channel_id] = asyncio.create_task(self._ask_what_to_do(message))

    def note_asked(self, ids: Iterable[int]) -> None:
        """Do not ask about forwards that the last run had a question about."""
        self._asked.update(ids)

    async def take_for(self, question: hikari.Message) -> tuple[int, ...]:
        """Return the forwards that a message is about: the one replied to, and those from `take`."""
        if question.guild_id is not None:
            return ()
        waiting = await self.take(int(question.channel_id), int(question.author.id), int(question.id))
        replied = question.referenced_message
        if not replied or not replied.author or replied.author.id != question.author.id:
            return waiting
        self.references.targets.note(question)
        own = (int(replied.id),) if replied.message_snapshots else ()
        return tuple(sorted({*waiting, *own}))

    async def take(self, channel_id: int, user_id: int, question_id: int) -> tuple[int, ...]:
        """Return the forwards that wait for this question, oldest first. If its answer is not stored by
        `release`, they wait for the next one."""
        since = hikari.Snowflake(question_id).created_at - WAITS
        if channel_id not in self._known and since < self._began:
            await self._look_up(channel_id, user_id, question_id, since)
        self._known[channel_id] = None
        waiting = self._waiting.get(channel_id)
        if waiting is None:
            return ()
        self._stop_asking(channel_id)
        stored = await self.channels.find_known([*waiting])
        for id_ in [id_ for id_, came in waiting.items() if came <= since or id_ in stored]:
            del waiting[id_]
        taken = tuple(sorted(waiting.keys() - self._taken.keys()))
        self._taken.update(dict.fromkeys(taken, question_id))
        if not waiting:
            self._waiting.pop(channel_id, None)
        return taken

    def release(self, question_id: int) -> None:
        self._taken = {id_: of for id_, of in self._taken.items() if of != question_id}

    def forget(self, message_ids: Collection[int]) -> None:
        for channel_id, waiting in [*self._waiting.items()]:
            for message_id in message_ids:
                waiting.pop(message_id, None)
            if not waiting:
                self._stop_asking(channel_id)
                del self._waiting[channel_id]

    async def close(self) -> None:
        asking = [*self._asking.values()]
        for task in asking:
            task.cancel()
        await asyncio.gather(*asking, return_exceptions=True)

    def _stop_asking(self, channel_id: int) -> None:
        if task := self._asking.pop(channel_id, None):
            task.cancel()

    async def _look_up(self, channel_id: int, user_id: int, question_id: int, since: datetime) -> None:
        """Find the user's forwards right above a question."""
        try:
            above = await self.rest.fetch_messages(channel_id, before=question_id).limit(LOOKED_AT)
        except hikari.HikariError as error:
            _log.info("forwards_not_looked_up", error=type(error).__name__)
            return
        for message in above:
            if message.author.id == user_id:
                if not message.message_snapshots or message.created_at <= since:
                    break
                self.references.targets.note(message)
                self._waiting.setdefault(channel_id, {})[int(message.id)] = message.created_at

    async def _ask_what_to_do(self, message: hikari.Message) -> None:
        passed = self.recipients.clock() - message.created_at
        await asyncio.sleep(max(0.0, (ASKED_AFTER - passed).total_seconds()))
        channel_id = int(message.channel_id)
        try:
            if await self.channels.find_known((int(message.id),)):
                return  # answered before a restart
            recipient = await self.recipients.of_author_in(channel_id, int(message.author.id))
            await self.replies.say(channel_id, int(message.id), recipient.words.mention.ask_about_forward)
        except (StorageError, hikari.HikariError) as error:
            _log.warning("user_not_told", error=type(error).__name__)
