"""The connection to Discord: which messages the bot asks for, what it keeps of them, and how fast it asks.

Discord closes the connection of a bot that asks for the content of all messages without having been granted
it (4014), and one can't tell beforehand from the gateway. So the grant is looked up first.
"""

import asyncio
from collections import deque
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import AbstractAsyncContextManager, asynccontextmanager, nullcontext
from dataclasses import dataclass
from typing import Final, cast

import hikari
from hikari.impl.buckets import RESTBucketManager
from hikari.internal.routes import CompiledRoute

from cc_bot.discord.places import Places
from cc_bot.discord.recipients import GuildLocales
from cc_bot.domain.errors import DiscordUnreachable, MessageContentRefused, RefusedToken, StartupError
from cc_bot.domain.message import Reading
from cc_bot.domain.process import WHOLE, Shard
from cc_bot.proxy import proxy_for

API_URL: Final = "https://discord.com/api"
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
    """The messages that this run of the bot reads, for whoever has to know."""

    reading: Reading
    since: int
    """The id of the moment from which on these are read: what was written before was not for the bot."""


def check_token(token: str) -> None:
    """Raise RefusedToken for what can't be one: a token begins with its bot's id, encoded."""
    try:
        hikari.applications.get_token_id(token)
    except ValueError as error:
        raise RefusedToken from error


async def fetch_reading(wanted: Reading, token: str, api_url: str | None) -> Reading:
    """Return what the bot may read of what the operator wants: `all` needs the Message Content intent.

    Raises RefusedToken, DiscordUnreachable, or hikari's InternalServerError while Discord fails by itself.
    Discord is asked only when it has a say.
    """
    if wanted != "all":
        return wanted
    discord = hikari.RESTApp(url=api_url, max_retries=1, proxy_settings=_proxy(api_url))
    await discord.start()
    try:
        async with discord.acquire(token, hikari.TokenType.BOT) as rest:
            application = await rest.fetch_application()
    except hikari.UnauthorizedError as error:
        raise RefusedToken from error
    except hikari.InternalServerError:
        raise
    except (hikari.HikariError, OSError) as error:
        raise DiscordUnreachable from error
    finally:
        await discord.close()
    return "all" if application.flags & _GRANTED else "mentions"


@dataclass(frozen=True, slots=True)
class RestShare:
    """The part of the bot's requests that this process may send."""

    may_send: Callable[[], bool] = lambda: True
    """Whether it may at all: see Membership."""
    sharing: Callable[[], int] = lambda: 1
    """How many processes share what Discord takes of a bot."""


def gateway_bot(
    token: str, api_url: str | None, reading: Reading, share: RestShare = RestShare()
) -> hikari.GatewayBot:
    """The connection, not opened yet. Of what Discord sends, only the bot's own name is kept in memory."""
    bot = hikari.GatewayBot(
        token,
        rest_url=api_url,
        intents=INTENTS[reading],
        cache_settings=hikari.impl.CacheSettings(components=hikari.api.CacheComponents.ME),
        proxy_settings=_proxy(api_url),
        http_settings=hikari.impl.HTTPSettings(force_close_transports=False),  # keep connections open
        max_retries=0,  # a retried post may post twice: see discord/delivery/reply.py
        auto_chunk_members=False,
        banner=None,
        logs=None,
        suppress_optimization_warning=True,
    )
    hold_to_the_limit(bot.rest, share)
    return bot


def _proxy(api_url: str | None) -> hikari.impl.ProxySettings:
    """Return the environment's proxy for the API, which hikari uses for the gateway too."""
    return hikari.impl.ProxySettings(url=proxy_for(api_url or API_URL))


def own_user(bot: hikari.GatewayBot) -> hikari.OwnUser:
    """Return who the bot is. Raises ComponentStateConflictError before Discord has told."""
    me = bot.get_me()
    if me is None:
        raise hikari.ComponentStateConflictError("not connected yet")
    return me


def refusal(error: hikari.GatewayServerClosedConnectionError) -> StartupError:
    """Return why Discord closed the connection for good."""
    if error.code == AUTHENTICATION_FAILED:
        return RefusedToken()
    return MessageContentRefused() if error.code == DISALLOWED_INTENTS else DiscordUnreachable()


# ---- shards --------------------------------------------------------------------------------------------
# Which of the bot's connections tells what happens where: a server has one, and DMs have the first.
#
# What is noted of places tells their servers. Of one that is not noted Discord is asked, once, and only where
# there are several connections.


FIRST: Final = 0
"""The shard of DMs, and of whatever Discord tells no server of: it was deleted, or is hidden from the bot."""


async def _no_guild(_: int) -> None:
    return None


@dataclass(eq=False, slots=True)
class ShardPlaces:
    """The channels and threads that a connection tells of; all of them, where it is the only one."""

    shard: Shard = WHOLE
    guild_of: Callable[[int], Awaitable[int | None]] = _no_guild
    """The server of a channel or thread; None for a DM. Raises hikari's errors."""

    async def has(self, channel_id: int) -> bool:
        """Return whether it tells of this one, and true also while Discord won't say whose it is: rather
        looked at twice than not at all."""
        if self.shard == WHOLE:
            return True
        try:
            guild_id = await self.guild_of(channel_id)
        except (hikari.ForbiddenError, hikari.NotFoundError):
            guild_id = None
        except hikari.HikariError:
            return True
        if guild_id is None:
            return self.shard.id == FIRST
        return hikari.snowflakes.calculate_shard_id(self.shard.count, guild_id) == self.shard.id


EVERYWHERE: Final = ShardPlaces()


@dataclass(eq=False, slots=True)
class Shards:
    places: Places
    locales: GuildLocales

    def served_by(self, shard: hikari.api.GatewayShard) -> ShardPlaces:
        return ShardPlaces(Shard(shard.id, shard.shard_count), self._guild_of)

    async def serves_here(self, bot: hikari.GatewayBot, channel_id: int) -> bool:
        """Return whether any connection of this process tells of a channel or thread."""
        connections = bot.shards.values()
        if not connections or len(connections) == next(iter(connections)).shard_count:
            return True
        for shard in connections:
            if await self.served_by(shard).has(channel_id):
                return True
        return False

    async def _guild_of(self, channel_id: int) -> int | None:
        known = self.locales.guild_of(channel_id)
        return (await self.places.of(channel_id)).guild_id if known is None else known


# ---- rate limits -----------------------------------------------------------------------------------------

AT_ONCE: Final = 45
"""Requests with the bot's token in SPAN_S. Discord takes 50 a second of a bot, and shuts it out after 10,000
that it refused in ten minutes. What answers a command goes without the token, and isn't counted."""
SPAN_S: Final = 1.25
"""More than a second: not all of them take the same time to get there."""


class SteadyBuckets(RESTBucketManager):
    """Limits of routes as hikari keeps them, and the one of the whole bot before Discord has to refuse.

    hikari (2.6.0) learns that limit from a refusal, and lets whatever route it has not used yet pass it by:
    such a request is sent again and again, without a pause, until Discord's second is over. And what comes
    before a route was answered for the first time waits for the limit of the one channel that was first.
    """

    __slots__ = ("_answered", "_first", "_sent_at", "_share")

    def __init__(self, max_rate_limit: float, share: RestShare = RestShare()) -> None:
        super().__init__(max_rate_limit)
        self._share = share
        self._sent_at = deque[float](maxlen=AT_ONCE)
        self._first: dict[int, asyncio.Lock] = {}
        self._answered: set[int] = set()
        """Routes, as hikari tells them apart."""

    def acquire_bucket(
        self, compiled_route: CompiledRoute, authentication: str | None
    ) -> AbstractAsyncContextManager[None]:
        return self._in_turn(compiled_route, authentication)

    @asynccontextmanager
    async def _in_turn(
        self, compiled_route: CompiledRoute, authentication: str | None
    ) -> AsyncIterator[None]:
        route = hash(compiled_route.route)
        if route not in self._answered:
            async with self._first.setdefault(route, asyncio.Lock()):
                if route not in self._answered:
                    async with self._acquire_bucket(route, compiled_route, authentication):
                        yield
                    self._answered.add(route)
                    return
        async with self._acquire_bucket(route, compiled_route, authentication):
            yield

    @asynccontextmanager
    async def _acquire_bucket(
        self, route: int, compiled_route: CompiledRoute, authentication: str | None
    ) -> AsyncIterator[None]:
        limited = route in self._route_hash_to_bucket_hash or route not in self._answered
        bucket = super().acquire_bucket(compiled_route, authentication) if limited else nullcontext()
        async with bucket:  # first, since it may take longer
            if authentication is not None:
                await self._global_ratelimit.acquire()
                await self._pace()
            # Last: it may have slept in any of the waits.
            if not self._share.may_send():
                raise hikari.ComponentStateConflictError("other processes go on with what this one does")
            yield

    @property
    def fullness(self) -> float:
        """See `fullness`."""
        begun = asyncio.get_running_loop().time() - SPAN_S
        return sum(at > begun for at in self._sent_at) / self._at_once

    @property
    def _at_once(self) -> int:
        return max(1, AT_ONCE // self._share.sharing())

    async def _pace(self) -> None:
        now = asyncio.get_running_loop().time()
        most = self._at_once
        at = max(now, self._sent_at[-most] + SPAN_S) if len(self._sent_at) >= most else now
        self._sent_at.append(at)
        if at > now:
            await asyncio.sleep(at - now)


def fullness(rest: hikari.api.RESTClient) -> float:
    """Return how much of what may be sent at once is being sent just now: 0 for nothing, 1 for all."""
    manager = cast("hikari.impl.RESTClientImpl", rest)._bucket_manager
    return manager.fullness if isinstance(manager, SteadyBuckets) else 0.0


def hold_to_the_limit(rest: hikari.api.RESTClient, share: RestShare = RestShare()) -> None:
    """Have a client that has not started send no more than its share of what Discord takes of a bot."""
    client = cast("hikari.impl.RESTClientImpl", rest)
    client._bucket_manager = SteadyBuckets(  # there is no other way in
        client._bucket_manager.max_rate_limit, share
    )
