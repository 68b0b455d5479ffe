"""Channels: whether a channel id is a thread, and of which channel.

A message has its channel's id only, so an unknown channel is fetched over REST and stored; the answer never
changes. hikari's cache would know too, but it holds every channel of every server.
"""

import asyncio
from collections import OrderedDict
from typing import Final, Generic, NamedTuple, TypeVar

import hikari
import structlog

from cc_bot.domain.errors import StorageError
from cc_bot.domain.message import ChannelKey, KnownPlace
from cc_bot.stores.channels import ChannelStore

_log = structlog.get_logger(__name__)

# ---- recent ----------------------------------------------------------------------------------------------

Key = TypeVar("Key")
Value = TypeVar("Value")


class Recent(Generic[Key, Value]):
    """A mapping that keeps the `max_size` most recently used entries."""

    def __init__(self, max_size: int) -> None:
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


# ---- places ----------------------------------------------------------------------------------------------


class ThreadTitle(NamedTuple):
    text: str = ""
    owner_id: int = 0
    """The user who started it."""


MAX_CACHED: Final = 2000

_THREADS = frozenset(
    {
        hikari.ChannelType.GUILD_PUBLIC_THREAD,
        hikari.ChannelType.GUILD_PRIVATE_THREAD,
        hikari.ChannelType.GUILD_NEWS_THREAD,
    }
)


class Places:
    """The channels and threads that the bot has seen."""

    def __init__(
        self, rest: hikari.api.RESTClient, channels: ChannelStore, *, remembered: int = MAX_CACHED
    ) -> None:
        self._rest = rest
        self._channels = channels
        self._known = Recent[int, KnownPlace](remembered)
        self._titles = Recent[int, ThreadTitle](remembered)
        """Of threads; user content, so never stored."""
        self._asking: dict[int, asyncio.Task[KnownPlace]] = {}

    async def key_of(self, channel_id: int) -> ChannelKey:
        """Return the key of a channel or thread. Raises as `of`."""
        return (await self.of(channel_id)).key

    async def of(self, channel_id: int, fetched: hikari.PartialChannel | None = None) -> KnownPlace:
        """Return a channel or thread, fetching it unless known or `fetched` already. Raises
        hikari.HTTPError."""
        known = self._known.get(channel_id)
        if known is not None:
            return known
        asking = self._asking.get(channel_id)
        if asking is None:
            asking = self._asking[channel_id] = asyncio.create_task(self._ask(channel_id, fetched))
            asking.add_done_callback(lambda _: self._asking.pop(channel_id))
        return await asyncio.shield(asking)  # shared with concurrent callers

    async def title_of(self, key: ChannelKey) -> ThreadTitle:
        """Return the title of a thread or forum post; empty for a channel, or if Discord does not tell."""
        if key.thread_id and key.thread_id not in self._titles:
            try:
                self.learn_title(await self._rest.fetch_channel(key.thread_id))
            except hikari.HTTPError as error:
                _log.info("title_not_fetched", error=type(error).__name__)
        return self._titles.get(key.thread_id) or ThreadTitle()

    def learn_title(self, channel: hikari.PartialChannel) -> None:
        if isinstance(channel, hikari.GuildThreadChannel):
            self._titles[int(channel.id)] = ThreadTitle(channel.name or "", int(channel.owner_id))

    async def _ask(self, channel_id: int, fetched: hikari.PartialChannel | None) -> KnownPlace:
        place = await self._recall(channel_id)
        if place is None:
            channel = fetched or await self._rest.fetch_channel(channel_id)
            self.learn_title(channel)
            place = _place(channel)
            await self._note(place)
        self._known[channel_id] = place
        return place

    async def _recall(self, channel_id: int) -> KnownPlace | None:
        try:
            return await self._channels.find_place(channel_id)
        except StorageError:  # Discord knows as well
            return None

    async def _note(self, place: KnownPlace) -> None:
        try:
            await self._channels.note_place(place)
        except StorageError as error:
            _log.warning("place_not_noted", error=type(error).__name__)


async def may_read(
    rest: hikari.api.RESTClient, guild_id: int, channel: hikari.PartialChannel, user_id: int | None
) -> bool:
    """Return whether a user, or (None) everybody of a server, may see what is written in one of its channels
    or threads, and what was written before ("Permissions" of Discord's documentation). Raises hikari's
    errors, NotFoundError among them for who is no member."""
    guild = await rest.fetch_guild(guild_id)
    member = await rest.fetch_member(guild_id, user_id) if user_id is not None else None
    thread = channel if isinstance(channel, hikari.GuildThreadChannel) else None
    if thread is not None:  # what a thread's channel allows
        channel = await rest.fetch_channel(thread.parent_id)
    if not isinstance(channel, hikari.PermissibleGuildChannel) or channel.guild_id != guild.id:
        return False
    granted = _permissions(guild, member, channel)
    if not granted.all(hikari.Permissions.VIEW_CHANNEL | hikari.Permissions.READ_MESSAGE_HISTORY):
        return False
    if thread is None or thread.type is not hikari.ChannelType.GUILD_PRIVATE_THREAD:
        return True
    if user_id is None:
        return False
    return bool(granted & hikari.Permissions.MANAGE_THREADS) or await _is_in(rest, thread, user_id)


def _permissions(
    guild: hikari.RESTGuild, member: hikari.Member | None, channel: hikari.PermissibleGuildChannel
) -> hikari.Permissions:
    """Add up what the server grants, and over that what the channel says of everybody, of roles and of the
    member."""
    member_id = member.id if member else None
    roles = {guild.id, *(member.role_ids if member else ())}
    granted = hikari.Permissions.NONE
    for role in guild.roles.values():
        granted |= role.permissions if role.id in roles else hikari.Permissions.NONE
    if guild.owner_id == member_id or granted & hikari.Permissions.ADMINISTRATOR:
        return hikari.Permissions.all_permissions()
    overwrites = channel.permission_overwrites
    for of in ({guild.id}, roles - {guild.id}, {member_id}):
        some = [each for id_, each in overwrites.items() if id_ in of]
        denied, allowed = hikari.Permissions.NONE, hikari.Permissions.NONE
        for each in some:
            denied, allowed = denied | each.deny, allowed | each.allow
        granted = (granted & ~denied) | allowed
    return granted


async def _is_in(rest: hikari.api.RESTClient, thread: hikari.GuildThreadChannel, user_id: int) -> bool:
    try:
        await rest.fetch_thread_member(thread.id, user_id)
    except hikari.NotFoundError:
        return False
    return True


def key_of_interaction(channel: hikari.InteractionChannel) -> ChannelKey:
    """The conversation that takes place where an interaction comes from: interactions tell it themselves."""
    if channel.type in _THREADS and channel.parent_id is not None:
        return ChannelKey(int(channel.parent_id), int(channel.id))
    return ChannelKey(int(channel.id))


def _place(channel: hikari.PartialChannel) -> KnownPlace:
    guild_id = int(channel.guild_id) if isinstance(channel, hikari.GuildChannel) else None
    if isinstance(channel, hikari.GuildThreadChannel):
        key = ChannelKey(int(channel.parent_id), int(channel.id))
        return KnownPlace(key, guild_id)
    is_dm = channel.type is hikari.ChannelType.DM
    return KnownPlace(ChannelKey(int(channel.id)), guild_id, is_dm=is_dm)
