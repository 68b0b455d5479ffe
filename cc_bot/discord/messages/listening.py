"""Passes Discord's message events to their handlers."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Collection
from contextlib import asynccontextmanager, suppress
from functools import partial
from typing import Final, cast

import hikari
import structlog

from cc_bot.chat.stores.opening import Stores
from cc_bot.concurrency import KeyedLock, Tasks
from cc_bot.discord.delivery.answers import Answers
from cc_bot.discord.gate import Gate
from cc_bot.discord.gateway import FIRST_SHARD, GrantedReading, ShardLookup, own_user, shard_of
from cc_bot.discord.incoming import contains_foreign_text, has_no_visible_content, typed_text_of
from cc_bot.discord.locations import LruCache
from cc_bot.discord.messages.catch_up import MAX_PAGES, MAX_PAGES_OF_MENTIONS, PAUSE_S, CatchUp
from cc_bot.discord.messages.mentions import MentionAnswerer, MentionQueue
from cc_bot.discord.messages.routing import Forwards, MessageRouter, ProactiveMessageQuotes
from cc_bot.domain.errors import CcBotError, StorageError
from cc_bot.domain.message import ChannelKey, is_blank
from cc_bot.log import log_failure

_log = structlog.get_logger(__name__)

_RETRY_PAUSE_S: Final = 2.0
_MAX_PENDING_RETRIES: Final = 1000
Write = Callable[[], Awaitable[None]]  # safe to repeat


class MessageListener:
    def __init__(
        self, bot: hikari.GatewayBot, stores: Stores, answers: Answers, gate: Gate, granted: GrantedReading
    ) -> None:
        self._reading = granted.reading
        self._stores = stores
        self._answers = answers
        self._bot = bot
        self._locations = gate.locations
        self._channel_locks = KeyedLock()
        self._shards = ShardLookup(gate.locations, answers.recipients.guilds)
        self._dm_catch_up = Tasks()
        self._handler_tasks = Tasks()
        self._retry_lock = asyncio.Lock()
        self._retry_tasks = Tasks()
        self.forwards = Forwards(answers.references, answers.replies, answers.recipients)
        self.quotes = ProactiveMessageQuotes(stores, self._me)
        self.mentions = MentionQueue(MentionAnswerer(stores, answers, gate.roles), gate)
        self._router = MessageRouter(
            answers,
            stores,
            self._me,
            self.quotes,
            granted.reading == "all",
            gate,
            self._wait_for_missed,
            self.mentions,
            self.forwards,
        )
        pages = MAX_PAGES_OF_MENTIONS if granted.reading == "mentions" else MAX_PAGES
        clock = answers.recipients.clock
        self._catch_up = CatchUp(stores, bot.rest, self._shards, self._router, clock, pages, granted.first_id)
        self._typed_text_hashes = LruCache[int, int]()  # by edited message

    async def prepare(self) -> None:
        """Read which questions earlier processes accepted."""
        try:
            unfinished = await self._stores.ledger.adopt_unfinished()
        except StorageError as error:
            _log.warning("ledger_not_read", error=type(error).__name__)
            return
        self._router.mark_as_session_messages(
            turn.question_id for turn in unfinished if turn.question_id is not None
        )
        questions = [turn.question for turn in unfinished if turn.question]
        self.forwards.skip_asking_about(id_ for question in questions for id_ in question.forwards)

    def listen(self) -> None:
        if self._reading == "off":
            return
        subscribe = self._bot.subscribe
        subscribe(hikari.ShardReadyEvent, self._on_connected)
        for event in (hikari.GuildAvailableEvent, hikari.GuildJoinEvent, hikari.GuildUpdateEvent):
            subscribe(event, self._on_guild)
        subscribe(hikari.MessageCreateEvent, self._on_created)
        subscribe(hikari.MessageUpdateEvent, self._on_edited)
        subscribe(hikari.MessageDeleteEvent, self._on_deleted)
        subscribe(hikari.GuildBulkMessageDeleteEvent, self._on_deleted)
        subscribe(hikari.GuildChannelCreateEvent, self._on_channel)
        subscribe(hikari.GuildThreadCreateEvent, self._on_channel)
        subscribe(hikari.GuildThreadUpdateEvent, self._on_channel)
        subscribe(hikari.GuildThreadDeleteEvent, self._on_channel_deleted)
        subscribe(hikari.GuildChannelDeleteEvent, self._on_channel_deleted)

    def resume(self) -> None:
        if self._reading != "off":
            self._retry_later(partial(self.mentions.resume, partial(self._shards.serves_channel, self._bot)))

    async def reset(self, key: ChannelKey, marker_id: int) -> None:
        """Reset a channel's conversation, and tell the authors of waiting questions."""
        await self._stores.channels.reset(key, bot_id=int(self._me().id), discord_id=marker_id)
        if self._reading != "off":
            self.mentions.wake(key)

    def close(self) -> None:
        self.mentions.close()

    async def finish(self, deadline_s: float) -> None:
        """Wait for answers until `deadline_s` of the event loop, then cancel them."""
        await self._dm_catch_up.cancel()
        await self._retry_tasks.cancel()
        await self._catch_up.close()
        await self.forwards.close()
        with suppress(TimeoutError):
            async with asyncio.timeout_at(deadline_s):
                await self.mentions.finish()

    async def _catch_up_dms(self) -> None:
        async with self._guard():
            async for channel_id in self._catch_up.list_dms():
                async with self._guard():  # an unreadable channel must not block the others
                    unanswered = await self._catch_up.list_unanswered_in_dm(channel_id, int(self._me().id))
                    for message in unanswered.recent:
                        self._handler_tasks.start(self._handle(message))
                    if unanswered.too_old:
                        self._handler_tasks.start(self._apologize(unanswered.too_old))
                await asyncio.sleep(PAUSE_S)

    async def _handle(self, message: hikari.Message) -> None:
        # Authors of messages to the bot see errors; archiving other messages is retried.
        retry = None if self._router.is_question(message) else partial(self._handle_in_order, message)
        async with self._guard(message, retry):
            await self._handle_in_order(message)

    async def _handle_in_order(self, message: hikari.Message) -> None:
        async with self._channel_locks.hold(message.channel_id) as start_next:
            await self._router.handle(message, start_next)

    async def _apologize(self, message: hikari.Message) -> None:
        async with self._guard():
            await self._router.apologize(message)

    async def _on_connected(self, event: hikari.ShardReadyEvent) -> None:
        self._answers.references.cache.clear()
        self._catch_up.begin(shard_of(event.shard))
        if event.shard.id == FIRST_SHARD:
            await self._dm_catch_up.cancel()
            self._dm_catch_up.start(self._catch_up_dms())

    async def _on_guild(
        self, event: hikari.GuildAvailableEvent | hikari.GuildJoinEvent | hikari.GuildUpdateEvent
    ) -> None:
        self._answers.recipients.guilds.store_profile(event.guild)
        if not isinstance(event, hikari.GuildUpdateEvent):
            self._locations.cache_listed((*event.channels.values(), *event.threads.values()))

    async def _on_created(self, event: hikari.MessageCreateEvent) -> None:
        if self._is_not_own(event.message):
            await self._handle(event.message)

    async def _on_edited(self, event: hikari.MessageUpdateEvent) -> None:
        message = event.message
        if not self._is_not_own(message):
            return
        await self._apply(event.channel_id, partial(self._apply_edit, message))
        full_message = cast("hikari.Message", message)  # Discord sends edited messages in full
        async with self._guard():
            if await self._router.is_addressed_by_edit(full_message):
                await self._handle(full_message)

    async def _on_deleted(
        self, event: hikari.MessageDeleteEvent | hikari.GuildBulkMessageDeleteEvent
    ) -> None:
        ids = [event.message_id] if isinstance(event, hikari.MessageDeleteEvent) else event.message_ids
        change = partial(self._apply_deletion, int(event.channel_id), [*map(int, ids)])
        await self._apply(event.channel_id, change)

    async def _on_channel(
        self,
        event: hikari.GuildChannelCreateEvent | hikari.GuildThreadCreateEvent | hikari.GuildThreadUpdateEvent,
    ) -> None:
        channel = event.channel if isinstance(event, hikari.GuildChannelCreateEvent) else event.thread
        self._locations.cache_listed((channel,))
        self._locations.cache_title(channel)

    async def _on_channel_deleted(
        self, event: hikari.GuildThreadDeleteEvent | hikari.GuildChannelDeleteEvent
    ) -> None:
        if isinstance(event, hikari.GuildThreadDeleteEvent):
            key = ChannelKey(int(event.parent_id), int(event.thread_id))
        else:
            key = ChannelKey(int(event.channel_id))
        await self._apply(key.location_id, partial(self._forget_channel, key))

    async def _apply(self, channel_id: int, change: Write) -> None:
        """Apply a change now. While earlier writes are being retried, apply it once more after them."""
        retry = partial(self._apply_in_order, channel_id, change)
        if self._retry_tasks:
            self._retry_later(retry)
        async with self._guard(retry=retry):
            await retry()

    async def _apply_in_order(self, channel_id: int, change: Write) -> None:
        """Apply a change after the missed messages are stored, which may include an older version."""
        async with self._channel_locks.hold(channel_id):
            await self._wait_for_missed(channel_id)
            await change()

    async def _wait_for_missed(self, channel_id: int) -> None:
        await self._catch_up.wait_for(channel_id)

    async def _apply_edit(self, message: hikari.PartialMessage) -> None:
        """Store an edit. Updates may lack the content, or only add a link preview."""
        self._answers.references.cache.discard(int(message.id))
        if has_no_visible_content(message):
            return
        content = await self._router.content_to_store(message)
        message_id, location_id = int(message.id), int(message.channel_id)
        if is_blank(content):
            if not is_blank(message.content or ""):  # has content, but nothing to store
                await self._forget(location_id, [message_id])
            return
        bot, hashes = self._me(), self._typed_text_hashes
        typed_hash = hash(typed_text_of(message, bot))
        # After an edit, updates that only add a preview have the edit time as well.
        only_adds_preview = typed_hash == hashes.get(message_id) or not message.edited_timestamp
        hashes[message_id] = typed_hash
        tainted = contains_foreign_text(message, int(bot.id))
        is_changed = await self._stores.channels.edit(
            message_id, content, location_id=location_id, tainted=tainted, preview=only_adds_preview
        )
        if is_changed and not only_adds_preview:
            await self.mentions.handle_edit(message_id)

    async def _apply_deletion(self, channel_id: int, message_ids: Collection[int]) -> None:
        for message_id in message_ids:
            self._answers.references.cache.discard(message_id)
            await self._answers.side_messages.forget_message(message_id)
        self.forwards.forget(message_ids)
        is_expected = self._answers.replies.expected_deletions.pop
        if unexpected_ids := [message_id for message_id in message_ids if not is_expected(message_id)]:
            await self._forget(channel_id, unexpected_ids)

    async def _forget(self, channel_id: int, deleted_ids: Collection[int]) -> None:
        """Delete messages from the archive, and everywhere their answers and the rest of their answer."""
        channels, running = self._stores.channels, self._answers.running_turns
        running.handle_deletion(deleted_ids)
        ids = await channels.list_with_answers(deleted_ids)
        running.handle_deletion(ids)
        await channels.delete(ids, location_id=channel_id)
        await self._answers.replies.delete_all(channel_id, [id_ for id_ in ids if id_ not in deleted_ids])

    async def _forget_channel(self, key: ChannelKey) -> None:
        self._answers.running_turns.withdraw_channel(key)
        await self._stores.channels.forget_channel(key)

    @asynccontextmanager
    async def _guard(
        self, message: hikari.Message | None = None, retry: Write | None = None
    ) -> AsyncIterator[None]:
        """Log errors, explain them to the author, and after a StorageError `retry`."""
        try:
            yield
            return
        except hikari.HikariError as error:
            _log.warning("message_failed", error=type(error).__name__)
            return
        except CcBotError as error:
            _log.warning("message_failed", error=type(error).__name__)
            if retry is not None and isinstance(error, StorageError):
                self._retry_later(retry)
            failure = error
        except Exception:  # noqa: BLE001 - logged and explained
            _log.error("message_broke", exc_info=True)
            failure = CcBotError()
        with log_failure("user_not_told", hikari.HikariError):
            if message is not None:
                await self._router.explain_failure(message, failure)

    def _retry_later(self, write: Write) -> None:
        if len(self._retry_tasks) < _MAX_PENDING_RETRIES:
            self._retry_tasks.start(self._retry(write))

    async def _retry(self, write: Write) -> None:
        async with self._guard(), self._retry_lock:  # first come, first served
            while True:
                try:
                    return await write()
                except StorageError:
                    await asyncio.sleep(_RETRY_PAUSE_S)

    def _is_not_own(self, message: hikari.PartialMessage) -> bool:
        if not message.author:
            return False
        me = self._bot.get_me()
        return me is None or message.author.id != me.id

    def _me(self) -> hikari.OwnUser:
        return own_user(self._bot)
