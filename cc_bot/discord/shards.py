"""Which of the bot's connections tells what happens where: a server has one, and DMs have the first.

Nothing that is stored tells the server of a place, so Discord is asked for it, once for each place and only
where there are several connections.
"""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from functools import partial
from typing import Final

import hikari

from cc_bot.discord.localization import GuildLocales
from cc_bot.discord.places import Places

FIRST: Final = 0
"""The shard of DMs, and of whatever Discord tells no server of: it was deleted, or is hidden from the bot."""

Serves = Callable[[int], Awaitable[bool]]
"""Whether what happens in the channel or thread with this id is told by the connection in question."""


async def serves_all(_: int) -> bool:
    """The only connection there is."""
    return True


@dataclass(frozen=True, slots=True)
class Shards:
    places: Places
    locales: GuildLocales

    def served_by(self, shard: hikari.api.GatewayShard) -> Serves:
        if shard.shard_count == 1:
            return serves_all
        return partial(self._serves, shard.id, shard.shard_count)

    async def _serves(self, shard_id: int, count: int, channel_id: int) -> bool:
        """True also while Discord won't tell: rather looked at twice than not at all."""
        try:
            guild_id = await self._guild_of(channel_id)
        except (hikari.ForbiddenError, hikari.NotFoundError):
            return shard_id == FIRST
        except hikari.HikariError:
            return True
        if guild_id is None:
            return shard_id == FIRST
        return hikari.snowflakes.calculate_shard_id(count, guild_id) == shard_id

    async def _guild_of(self, channel_id: int) -> int | None:
        known = self.locales.guild_of(channel_id)
        return (await self.places.of(channel_id)).guild_id if known is None else known
