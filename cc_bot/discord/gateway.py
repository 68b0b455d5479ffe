"""The connection to Discord: which messages the bot asks for, and what it keeps of what it is sent.

Discord closes the connection of a bot that asks for the content of all messages without having been granted
it (4014), and one can't tell beforehand from the gateway. So the grant is looked up first.
"""

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Final

import hikari

from cc_bot.discord.places import Places
from cc_bot.discord.recipients import GuildLocales
from cc_bot.discord.status import hold_to_the_limit
from cc_bot.domain.errors import DiscordUnreachable, MessageContentRefused, RefusedToken, StartupError
from cc_bot.domain.message import Reading

# ---- gateway -------------------------------------------------------------------------------------------


AUTHENTICATION_FAILED = 4004
"""Gateway close code for a bad token."""
DISALLOWED_INTENTS = 4014
"""Gateway close code for an intent that is not switched on in the Developer Portal, or not any more."""

_ADDRESSED = hikari.Intents.GUILDS | hikari.Intents.GUILD_MESSAGES | hikari.Intents.DM_MESSAGES
INTENTS: Final[Mapping[Reading, hikari.Intents]] = {
    "off": hikari.Intents.NONE,  # interactions arrive without any
    "mentions": _ADDRESSED,  # other messages arrive without their content
    "all": _ADDRESSED | hikari.Intents.MESSAGE_CONTENT,
}

_GRANTED = (
    hikari.ApplicationFlags.MESSAGE_CONTENT_INTENT | hikari.ApplicationFlags.MESSAGE_CONTENT_INTENT_LIMITED
)
"""Either one: for verified bots, and for those in fewer than 100 servers."""


@dataclass(frozen=True, slots=True)
class GrantedReading:
    """Which messages this run of the bot reads, for whoever has to know."""

    reading: Reading
    since: int
    """The id of the moment from which on these are read: what was written before was not for the bot."""


def check_token(token: str) -> None:
    """Raises RefusedToken for what can't be one: a token begins with its bot's id, encoded."""
    try:
        hikari.applications.get_token_id(token)
    except ValueError as error:
        raise RefusedToken from error


async def granted_reading(wanted: Reading, token: str, api_url: str | None) -> Reading:
    """What the bot may read of what the operator wants: `all` needs the Message Content intent.

    Raises RefusedToken or DiscordUnreachable. Discord is asked only when it has a say.
    """
    if wanted != "all":
        return wanted
    discord = hikari.RESTApp(url=api_url, max_retries=1)
    await discord.start()
    try:
        async with discord.acquire(token, hikari.TokenType.BOT) as rest:
            application = await rest.fetch_application()
    except hikari.UnauthorizedError as error:
        raise RefusedToken from error
    except (hikari.HikariError, OSError) as error:
        raise DiscordUnreachable from error
    finally:
        await discord.close()
    return "all" if application.flags & _GRANTED else "mentions"


def gateway_bot(token: str, api_url: str | None, reading: Reading) -> hikari.GatewayBot:
    """The connection, not opened yet. Of what Discord sends, only the bot's own name is kept in memory."""
    bot = hikari.GatewayBot(
        token,
        rest_url=api_url,
        intents=INTENTS[reading],
        cache_settings=hikari.impl.CacheSettings(components=hikari.api.CacheComponents.ME),
        http_settings=hikari.impl.HTTPSettings(force_close_transports=False),  # keep connections open
        max_retries=0,  # a retried post may post twice: see discord/delivery/reply.py
        auto_chunk_members=False,
        banner=None,
        logs=None,
        suppress_optimization_warning=True,
    )
    hold_to_the_limit(bot.rest)
    return bot


def refusal(error: hikari.GatewayServerClosedConnectionError) -> StartupError:
    """Why Discord closed the connection for good."""
    if error.code == AUTHENTICATION_FAILED:
        return RefusedToken()
    return MessageContentRefused() if error.code == DISALLOWED_INTENTS else DiscordUnreachable()


# ---- shards --------------------------------------------------------------------------------------------
# Which of the bot's connections tells what happens where: a server has one, and DMs have the first.
#
# Nothing that is stored tells the server of a place, so Discord is asked for it, once for each place and
# only where there are several connections.


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
