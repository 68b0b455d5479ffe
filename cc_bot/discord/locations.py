"""Finds and caches the server and parent channel of channels and threads, and checks who may read them."""

import asyncio
from collections import OrderedDict
from collections.abc import Iterable
from typing import Generic, NamedTuple, TypeVar

import hikari

from cc_bot.chat.stores.channels import ChannelStore
from cc_bot.domain.errors import StorageError
from cc_bot.domain.message import ChannelKey, Location
from cc_bot.log import log_failure

Key = TypeVar("Key")
Value = TypeVar("Value")


class LruCache(Generic[Key, Value]):
    def __init__(self, max_size: int = 5000) -> None:
        self._max_size = max_size
        self._entries: OrderedDict[Key, Value] = OrderedDict()

    def get(self, key: Key) -> Value | None:
        if key in self._entries:
            self._entries.move_to_end(key)
        return self._entries.get(key)

    def __contains__(self, key: Key) -> bool:
        return key in self._entries

    def discard(self, key: Key) -> None:
        self._entries.pop(key, None)

    def __setitem__(self, key: Key, value: Value) -> None:
        self._entries[key] = value
        self._entries.move_to_end(key)
        if len(self._entries) > self._max_size:
            self._entries.popitem(last=False)


class ThreadTitle(NamedTuple):
    text: str = ""
    owner_id: int = 0  # the thread's creator, who may have written the title


class Locations:
    def __init__(self, rest: hikari.api.RESTClient, channels: ChannelStore) -> None:
        self._rest = rest
        self._channels = channels
        self._cache = LruCache[int, Location]()
        self._listed_by_discord = LruCache[int, Location]()  # perhaps not stored
        self._titles = LruCache[int, ThreadTitle]()  # never stored, as users write them
        self._fetch_tasks: dict[int, asyncio.Task[Location]] = {}

    async def key_of(self, channel_id: int) -> ChannelKey:
        return (await self.get(channel_id)).key

    async def get(self, channel_id: int, fetched: hikari.PartialChannel | None = None) -> Location:
        """Return the location of a channel or thread; `fetched` saves a request. Raises hikari.HTTPError."""
        location = self._cache.get(channel_id)
        if location is not None:
            return location
        task = self._fetch_tasks.get(channel_id)  # shared with concurrent callers
        if task is None:
            task = self._fetch_tasks[channel_id] = asyncio.create_task(self._find(channel_id, fetched))
            task.add_done_callback(lambda _: self._fetch_tasks.pop(channel_id))
        return await asyncio.shield(task)

    def cache_listed(self, channels: Iterable[hikari.PartialChannel]) -> None:
        for channel in channels:
            self._listed_by_discord[int(channel.id)] = _location_of(channel)

    async def title_of(self, key: ChannelKey) -> ThreadTitle:
        """Return a thread's title; an empty one for a channel, or if Discord fails."""
        if key.thread_id and key.thread_id not in self._titles:
            with log_failure("title_not_fetched", hikari.HTTPError, level="info"):
                self.cache_title(await self._rest.fetch_channel(key.thread_id))
        return self._titles.get(key.thread_id) or ThreadTitle()

    def cache_title(self, channel: hikari.PartialChannel) -> None:
        if isinstance(channel, hikari.GuildThreadChannel):
            self._titles[int(channel.id)] = ThreadTitle(channel.name or "", int(channel.owner_id))

    async def _find(self, channel_id: int, fetched: hikari.PartialChannel | None) -> Location:
        try:
            location = await self._channels.find_channel(channel_id)
        except StorageError:
            location = None
        if location is None:
            location = self._listed_by_discord.get(channel_id)
            if location is None:
                channel = fetched or await self._rest.fetch_channel(channel_id)
                self.cache_title(channel)
                location = _location_of(channel)
            with log_failure("location_not_stored", StorageError):
                await self._channels.record_channel(location)
        self._cache[channel_id] = location
        return location


async def may_read(
    rest: hikari.api.RESTClient, guild_id: int, channel: hikari.PartialChannel, user_id: int | None
) -> bool:
    """Return whether a user, or everyone (None), may read a channel or thread and its history ("Permissions"
    in Discord's documentation)."""
    guild = await rest.fetch_guild(guild_id)
    member = await rest.fetch_member(guild_id, user_id) if user_id is not None else None
    thread = channel if isinstance(channel, hikari.GuildThreadChannel) else None
    if thread is not None:  # a thread has the permissions of its channel
        channel = await rest.fetch_channel(thread.parent_id)
    if not isinstance(channel, hikari.PermissibleGuildChannel) or channel.guild_id != guild.id:
        return False
    granted = _channel_permissions(guild, member, channel)
    if not granted.all(hikari.Permissions.VIEW_CHANNEL | hikari.Permissions.READ_MESSAGE_HISTORY):
        return False
    if thread is None or thread.type is not hikari.ChannelType.GUILD_PRIVATE_THREAD:
        return True
    if user_id is None or granted & hikari.Permissions.MANAGE_THREADS:
        return user_id is not None
    try:
        await rest.fetch_thread_member(thread.id, user_id)
    except hikari.NotFoundError:
        return False
    return True


def guild_permissions(guild: hikari.RESTGuild, member: hikari.Member | None) -> hikari.Permissions:
    """Return what a member's roles, or everyone's (None), permit in a server."""
    if member and guild.owner_id == member.id:
        return hikari.Permissions.all_permissions()
    ids = {guild.id, *(member.role_ids if member else ())}
    granted = hikari.Permissions.NONE
    for role in guild.roles.values():
        granted |= role.permissions if role.id in ids else hikari.Permissions.NONE
    return granted


def _channel_permissions(
    guild: hikari.RESTGuild, member: hikari.Member | None, channel: hikari.PermissibleGuildChannel
) -> hikari.Permissions:
    granted = guild_permissions(guild, member)
    if granted & hikari.Permissions.ADMINISTRATOR:
        return hikari.Permissions.all_permissions()
    member_id, roles = member.id if member else None, {*(member.role_ids if member else ())}
    for ids in ({guild.id}, roles - {guild.id}, {member_id}):
        denied, allowed = hikari.Permissions.NONE, hikari.Permissions.NONE
        for id_, each in channel.permission_overwrites.items():
            if id_ in ids:
                denied, allowed = denied | each.deny, allowed | each.allow
        granted = (granted & ~denied) | allowed
    return granted


def key_of_interaction(channel: hikari.InteractionChannel) -> ChannelKey:
    if channel.thread_metadata and channel.parent_id:
        return ChannelKey(int(channel.parent_id), int(channel.id))
    return ChannelKey(int(channel.id))


def _location_of(channel: hikari.PartialChannel) -> Location:
    guild_id = int(channel.guild_id) if isinstance(channel, hikari.GuildChannel) else None
    if isinstance(channel, hikari.GuildThreadChannel):
        return Location(ChannelKey(int(channel.parent_id), int(channel.id)), guild_id)
    is_dm = channel.type is hikari.ChannelType.DM
    return Location(ChannelKey(int(channel.id)), guild_id, is_dm=is_dm)
