"""Where a message stands: whether its channel is a thread, and of what.

A message tells no more than its channel's id, so the channel is looked up over REST when it is first seen.
The answer never changes: a thread keeps its parent and its owner. hikari's own cache could know it as well,
but it holds every channel of every server.
"""

import asyncio
from dataclasses import dataclass

import hikari

from cc_bot.discord.recent import Recent
from cc_bot.domain.channel import ChannelKey

REMEMBERED = 2000
"""Places at a time; the one that was asked for longest ago is forgotten."""

_THREADS = frozenset(
    {
        hikari.ChannelType.GUILD_PUBLIC_THREAD,
        hikari.ChannelType.GUILD_PRIVATE_THREAD,
        hikari.ChannelType.GUILD_NEWS_THREAD,
    }
)


@dataclass(frozen=True, slots=True)
class KnownPlace:
    """A channel or thread of a server."""

    key: ChannelKey
    thread_owner_id: int | None
    """Who started the thread; None for a channel."""


class Places:
    """The channels and threads that this process has met."""

    def __init__(self, rest: hikari.api.RESTClient, *, remembered: int = REMEMBERED) -> None:
        self._rest = rest
        self._known = Recent[int, KnownPlace](remembered)
        self._asking: dict[int, asyncio.Task[KnownPlace]] = {}

    async def key_of(self, channel_id: int) -> ChannelKey:
        """The conversation that takes place in a channel or thread. Raises like `of`."""
        return (await self.of(channel_id)).key

    async def of(self, channel_id: int) -> KnownPlace:
        """What a channel or thread of a server is. Raises hikari.HTTPError when Discord won't tell."""
        known = self._known.get(channel_id)
        if known is not None:
            return known
        asking = self._asking.get(channel_id)
        if asking is None:
            asking = self._asking[channel_id] = asyncio.create_task(self._ask(channel_id))
            asking.add_done_callback(lambda _: self._asking.pop(channel_id))
        return await asyncio.shield(asking)  # others may wait for it as well

    async def _ask(self, channel_id: int) -> KnownPlace:
        place = _place(await self._rest.fetch_channel(channel_id))
        self._known[channel_id] = place
        return place


def key_of_interaction(channel: hikari.InteractionChannel) -> ChannelKey:
    """The conversation that takes place where an interaction comes from: interactions tell it themselves."""
    if channel.type in _THREADS and channel.parent_id is not None:
        return ChannelKey(int(channel.parent_id), int(channel.id))
    return ChannelKey(int(channel.id))


def _place(channel: hikari.PartialChannel) -> KnownPlace:
    if isinstance(channel, hikari.GuildThreadChannel):
        return KnownPlace(ChannelKey(int(channel.parent_id), int(channel.id)), int(channel.owner_id))
    return KnownPlace(ChannelKey(int(channel.id)), None)
