"""Reads and stores messages sent while the bot was offline.

Each channel is read from its newest stored message on, and stored oldest first, so a crash leaves a gap only
at the end. A resumed connection has missed nothing. Missed edits and deletions are lost.
"""

import asyncio
from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Final, NamedTuple

import hikari
import structlog

from cc_bot.chat.stores.channels import ArchivedChannel
from cc_bot.chat.stores.opening import Stores
from cc_bot.concurrency import Tasks
from cc_bot.db.process import UNSHARDED, Shard
from cc_bot.discord.gateway import ShardLookup
from cc_bot.discord.interactions import retry
from cc_bot.discord.messages.routing import MessageRouter
from cc_bot.domain.clock import Clock
from cc_bot.domain.errors import StorageError
from cc_bot.domain.message import ChannelKey, Message
from cc_bot.log import log_errors

_log = structlog.get_logger(__name__)

MAX_ANSWER_AGE: Final = timedelta(minutes=10)  # older questions are archived, but not answered
MAX_DM_AGE: Final = timedelta(days=30)  # DMs without a newer message are not checked
MAX_APOLOGY_AGE: Final = timedelta(days=1)  # an older missed DM gets no apology
MAX_CHANNELS: Final = 100  # read after each connection; others when a message arrives there
MAX_KNOWN_CHANNELS: Final = 1000  # the most recently used
PAGE_SIZE: Final = 100
MAX_PAGES: Final = 10  # per channel; older messages are skipped
MAX_PAGES_OF_MENTIONS: Final = 3  # the same, if the bot reads only mentions
MAX_DMS: Final = 200
MAX_OPENED_DMS: Final = 20  # with users without stored DMs; Discord blocks bots that open many at once
DM_OPEN_PAUSE_S: Final = 3.0
PAUSE_S: Final = 0.2  # between requests; Discord allows 50 a second
_RETRY_PAUSES_S: Final = (1.0, 3.0, 10.0)


class UnansweredMessages(NamedTuple):
    recent: Sequence[hikari.Message] = ()
    too_old: hikari.Message | None = None  # the last one, if none is recent and the bot wrote nothing later


@dataclass(eq=False, slots=True)
class CatchUp:
    """Reads what each shard missed since its last connection. Does nothing until `begin`."""

    stores: Stores
    rest: hikari.api.RESTClient
    shards: ShardLookup
    router: MessageRouter
    clock: Clock
    max_pages: int = MAX_PAGES
    first_id: int = 0  # older messages are not read
    _runs: "dict[int, _Run]" = field(default_factory=dict)

    def begin(self, shard: Shard = UNSHARDED) -> None:
        """Begin after a connection, before its messages are handled."""
        if previous := self._runs.get(shard.id):
            previous.read_all_task.cancel()  # channels that a handler waits for are still read
        self._runs[shard.id] = _Run(self, shard)

    async def wait_for(self, location_id: int) -> None:
        """Wait until the missed messages of a channel or thread are stored, or could not be read."""
        for run in [*self._runs.values()]:
            await run.wait_for(location_id)

    async def close(self) -> None:
        for run in self._runs.values():
            await run.close()

    async def store_missed(self, location: ArchivedChannel) -> None:
        """Store the missed messages of a channel or thread. Never raises."""
        location_id = location.key.location_id
        with log_errors("catch_up", hikari.HikariError, location=location_id):
            try:
                if not await self.router.gate.may_read(location.key):
                    now_id = int(hikari.Snowflake.from_datetime(self.clock()))
                    await self.stores.channels.mark_read_to(location.key, now_id - 1)
                    return
                after_id = max(location.newest_id, location.last_id_before_reset, self.first_id)
                missed = await self._read_missed(location_id, after_id)
                await self._store(location.key, missed)
            except (hikari.ForbiddenError, hikari.NotFoundError) as error:
                _log.info("location_not_readable", status=int(error.status))

    async def _read_missed(self, location_id: int, after_id: int) -> list[hikari.Message]:
        """Return the missed messages, oldest first; if they are too many, only the newest."""
        newest_first: list[hikari.Message] = []
        for _ in range(self.max_pages):
            before_id = newest_first[-1].id if newest_first else hikari.UNDEFINED
            page = await self._fetch_page(location_id, after_id, before_id)
            newest_first += page
            if len(page) < PAGE_SIZE:
                break
            await asyncio.sleep(PAUSE_S)
        else:
            _log.warning("catch_up_bounded", location=location_id, messages=len(newest_first))
        return newest_first[::-1]

    async def _fetch_page(
        self, location_id: int, after_id: int, before_id: hikari.UndefinedOr[hikari.Snowflake]
    ) -> Sequence[hikari.Message]:
        async def fetch() -> Sequence[hikari.Message]:
            messages = self.rest.fetch_messages(location_id, before=before_id)
            return await messages.take_while(lambda message: message.id > after_id).limit(PAGE_SIZE)

        return await retry(fetch, _RETRY_PAUSES_S)

    async def _store(self, key: ChannelKey, missed: Sequence[hikari.Message]) -> None:
        batch, count, has_questions = list[Message](), 0, False
        for message in missed:
            archived = self.router.message_to_archive(message)
            if archived is None:
                continue
            count += 1
            is_recent = message.created_at > self.clock() - MAX_ANSWER_AGE
            if not (is_recent and await self.router.wants_answer(key, message)):
                batch.append(archived)
                continue
            has_questions = True
            await self.stores.channels.add_all(key, batch)
            await self.stores.channels.add(key, archived, is_question=True)
            batch = []
        await self.stores.channels.add_all(key, batch)
        if has_questions:
            self.router.mentions.wake(key)
        _log.debug("gap_filled", location=key.location_id, messages=count)

    async def list_dms(self) -> AsyncIterator[int]:
        """Yield DM channels, those with stored messages first. Raises StorageError and hikari's errors."""
        since = self.clock() - MAX_DM_AGE
        users_by_dm = await self.stores.channels.list_dms(since=since, limit=MAX_DMS)
        for channel_id in users_by_dm:
            yield channel_id
        writers = {*users_by_dm.values()}
        active_users = await self.stores.usage.list_users(since.date(), limit=MAX_OPENED_DMS + len(writers))
        for user_id in [each for each in active_users if each not in writers][:MAX_OPENED_DMS]:
            await asyncio.sleep(DM_OPEN_PAUSE_S)
            try:
                channel = await self.rest.create_dm_channel(user_id)
            except (hikari.NotFoundError, hikari.BadRequestError):  # the account was deleted
                continue
            yield int(channel.id)

    async def list_unanswered_in_dm(self, channel_id: int, bot_id: int) -> UnansweredMessages:
        """Return a DM's questions that were neither stored nor answered. Raises StorageError and hikari's
        errors."""
        now = self.clock()
        messages = await self.rest.fetch_messages(
            channel_id, after=hikari.Snowflake.from_datetime(now - MAX_APOLOGY_AGE)
        ).limit(PAGE_SIZE)
        messages = sorted(messages, key=lambda message: message.id)
        own_messages = [message for message in messages if message.author.id == bot_id]
        answered_ids = {each.message_reference.id for each in own_messages if each.message_reference}
        newest_own_id = own_messages[-1].id if own_messages else 0
        questions = [each for each in messages if each.author.id != bot_id and each.id not in answered_ids]
        stored_ids = await self.stores.channels.find_stored_or_forwarded([int(each.id) for each in questions])
        # A stored question was answered: if its answer is missing, it was deleted.
        missed = [each for each in questions if int(each.id) not in stored_ids]
        recent = [each for each in missed if each.created_at > now - MAX_ANSWER_AGE]
        needs_apology = bool(missed) and not recent and missed[-1].id > newest_own_id
        return UnansweredMessages(recent, missed[-1] if needs_apology else None)


class _Run:
    def __init__(self, catch_up: CatchUp, shard: Shard) -> None:
        self._catch_up = catch_up
        self._shard = shard
        self._list_task = asyncio.create_task(self._list_channels())
        self._store_tasks: dict[int, asyncio.Task[None]] = {}
        self._tasks = Tasks()
        self.read_all_task = self._tasks.start(self._read_all())

    async def wait_for(self, location_id: int) -> None:
        location = (await asyncio.shield(self._list_task)).get(location_id)
        if location is None or not await self._catch_up.shards.gets_events(self._shard, location_id):
            return
        if location_id not in self._store_tasks:
            self._store_tasks[location_id] = self._tasks.start(self._catch_up.store_missed(location))
        await asyncio.shield(self._store_tasks[location_id])

    async def close(self) -> None:
        self._list_task.cancel()
        await self._tasks.cancel()

    async def _list_channels(self) -> dict[int, ArchivedChannel]:
        channels, limit = self._catch_up.stores.channels, MAX_KNOWN_CHANNELS
        try:
            locations = await channels.list_channels(limit=limit, shard=self._shard)
        except StorageError as error:
            _log.error("catch_up_failed", error=type(error).__name__)
            return {}
        return {location.key.location_id: location for location in locations}

    async def _read_all(self) -> None:
        count = 0
        for location_id in await asyncio.shield(self._list_task):
            if count == MAX_CHANNELS:
                break
            if await self._catch_up.shards.gets_events(self._shard, location_id):
                count += 1
                await self.wait_for(location_id)
                await asyncio.sleep(PAUSE_S)
        _log.info("caught_up", locations=count)
