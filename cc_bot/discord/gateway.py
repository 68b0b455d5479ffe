"""The gateway connection: intents, shards, and rate limits of REST requests.

Discord closes the connection (4014) of a bot that requests the Message Content intent without the grant.
"""

import asyncio
from collections import deque
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from typing import Final, cast

import aiohttp
import hikari
from hikari.impl.buckets import RESTBucketManager
from hikari.internal.routes import CompiledRoute

from cc_bot.db.process import UNSHARDED, Shard
from cc_bot.discord.locations import Locations
from cc_bot.discord.recipients import GuildDirectory
from cc_bot.domain.errors import DiscordUnreachable, MessageContentRefused, RefusedToken, StartupError
from cc_bot.domain.message import ChannelReading
from cc_bot.proxy import proxy_for

API_URL: Final = "https://discord.com/api"

MAX_REQUESTS: Final = 45
"""Requests in WINDOW_S with the bot's token. Discord allows 50 a second, and bans bots for 10,000 refused
requests in ten minutes."""
WINDOW_S: Final = 1.25  # longer than a second, as requests take different times to arrive
FIRST_SHARD: Final = 0  # gets DMs, and channels whose server is unknown

_MESSAGE_INTENTS = hikari.Intents.GUILDS | hikari.Intents.GUILD_MESSAGES | hikari.Intents.DM_MESSAGES
INTENTS: Final[Mapping[ChannelReading, hikari.Intents]] = {
    "off": hikari.Intents.NONE,  # interactions arrive without any
    "mentions": _MESSAGE_INTENTS,  # other messages arrive without their content
    "all": _MESSAGE_INTENTS | hikari.Intents.MESSAGE_CONTENT,
}

_CONTENT_GRANTS = (
    hikari.ApplicationFlags.MESSAGE_CONTENT_INTENT | hikari.ApplicationFlags.MESSAGE_CONTENT_INTENT_LIMITED
)
"""The first is granted to verified bots, the second to bots in fewer than 100 servers."""


@dataclass(frozen=True, slots=True)
class GrantedReading:
    reading: ChannelReading
    first_id: int  # earlier messages are not read


def check_token(token: str) -> None:
    try:
        hikari.applications.get_token_id(token)
    except ValueError as error:
        raise RefusedToken from error


async def fetch_reading(wanted: ChannelReading, token: str, api_url: str | None) -> ChannelReading:
    """Return what the bot may read: `all` needs the Message Content intent. Raises RefusedToken,
    DiscordUnreachable, and hikari's InternalServerError."""
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
    return "all" if application.flags & _CONTENT_GRANTS else "mentions"


@dataclass(frozen=True, slots=True)
class RateLimitShare:
    may_send: Callable[[], bool] = lambda: True  # False if other processes have taken over
    get_process_count: Callable[[], int] = lambda: 1  # processes that share the limit


def gateway_bot(
    token: str, api_url: str | None, reading: ChannelReading, share: RateLimitShare = RateLimitShare()
) -> hikari.GatewayBot:
    """Return the bot, not connected yet. It caches only its own user."""
    # Shares aiohttp's context: another one takes a megabyte and 30 ms.
    ssl = getattr(aiohttp.connector, "_SSL_CONTEXT_VERIFIED", None) or True
    bot = hikari.GatewayBot(
        token,
        rest_url=api_url,
        intents=INTENTS[reading],
        cache_settings=hikari.impl.CacheSettings(components=hikari.api.CacheComponents.ME),
        proxy_settings=_proxy(api_url),
        http_settings=hikari.impl.HTTPSettings(force_close_transports=False, ssl=ssl),  # stays connected
        max_retries=0,  # a retried post may post twice: see discord/delivery/reply.py
        auto_chunk_members=False,
        banner=None,
        logs=None,
        suppress_optimization_warning=True,
    )
    pace_requests(bot.rest, share)
    return bot


def _proxy(api_url: str | None) -> hikari.impl.ProxySettings:
    return hikari.impl.ProxySettings(url=proxy_for(api_url or API_URL))


def own_user(bot: hikari.GatewayBot) -> hikari.OwnUser:
    """Raises ComponentStateConflictError if Discord has not sent the user yet."""
    me = bot.get_me()
    if me is None:
        raise hikari.ComponentStateConflictError("not connected yet")
    return me


def startup_error_of(error: hikari.GatewayServerClosedConnectionError) -> StartupError:
    if error.code == hikari.ShardCloseCode.AUTHENTICATION_FAILED:
        return RefusedToken()
    if error.code == hikari.ShardCloseCode.DISALLOWED_INTENT:  # not enabled in the Developer Portal
        return MessageContentRefused()
    return DiscordUnreachable()


def shard_of(connection: hikari.api.GatewayShard) -> Shard:
    return Shard(connection.id, connection.shard_count)


@dataclass(eq=False, slots=True)
class ShardLookup:
    locations: Locations
    guilds: GuildDirectory

    async def gets_events(self, shard: Shard, channel_id: int) -> bool:
        """Return whether the shard gets the channel's events; True if Discord fails."""
        if shard == UNSHARDED:
            return True
        try:
            guild_id = (
                self.guilds.by_channel.get(channel_id) or (await self.locations.get(channel_id)).guild_id
            )
        except (hikari.ForbiddenError, hikari.NotFoundError):
            guild_id = None
        except hikari.HikariError:
            return True
        if guild_id is None:
            return shard.id == FIRST_SHARD
        return hikari.snowflakes.calculate_shard_id(shard.count, guild_id) == shard.id

    async def serves_channel(self, bot: hikari.GatewayBot, channel_id: int) -> bool:
        """Return whether a shard of this bot gets the channel's events; True before it is connected."""
        for shard in map(shard_of, bot.shards.values()):
            if len(bot.shards) == shard.count or await self.gets_events(shard, channel_id):
                return True
        return not bot.shards


class PacedBucketManager(RESTBucketManager):
    """Adds the global rate limit to hikari's limits per route.

    hikari 2.6.0 learns the limits only from responses, so the first request on a route runs alone.
    """

    __slots__ = ("_answered_routes", "_first_request_locks", "_sent_at", "_share")

    def __init__(self, max_rate_limit: float, share: RateLimitShare = RateLimitShare()) -> None:
        super().__init__(max_rate_limit)
        self._share = share
        self._sent_at = deque[float](maxlen=MAX_REQUESTS)
        self._first_request_locks: dict[int, asyncio.Lock] = {}
        self._answered_routes: set[int] = set()

    @asynccontextmanager
    async def acquire_bucket(
        self, compiled_route: CompiledRoute, authentication: str | None
    ) -> AsyncIterator[None]:
        route = hash(compiled_route.route)
        async with AsyncExitStack() as stack:
            if route not in self._answered_routes:
                first = self._first_request_locks.setdefault(route, asyncio.Lock())
                await first.acquire()
                if route in self._answered_routes:
                    first.release()
                else:
                    stack.callback(first.release)
            if route in self._route_hash_to_bucket_hash or route not in self._answered_routes:
                await stack.enter_async_context(super().acquire_bucket(compiled_route, authentication))
            if authentication is not None:
                await self._global_ratelimit.acquire()
                await self._wait_for_slot()
            # Checked last, since the waits above may have been long.
            if not self._share.may_send():
                raise hikari.ComponentStateConflictError("other processes have taken over")
            yield
            self._answered_routes.add(route)

    @property
    def rate_limit_usage(self) -> float:
        window_start = asyncio.get_running_loop().time() - WINDOW_S
        return sum(at > window_start for at in self._sent_at) / self._max_requests

    @property
    def _max_requests(self) -> int:
        return max(1, MAX_REQUESTS // self._share.get_process_count())

    async def _wait_for_slot(self) -> None:
        now_s, limit = asyncio.get_running_loop().time(), self._max_requests
        is_full = len(self._sent_at) >= limit
        send_s = max(now_s, self._sent_at[-limit] + WINDOW_S) if is_full else now_s
        self._sent_at.append(send_s)
        if send_s > now_s:
            await asyncio.sleep(send_s - now_s)


def rate_limit_usage(rest: hikari.api.RESTClient) -> float:
    """Return the used share of the rate limit, from 0 to 1."""
    manager = cast("hikari.impl.RESTClientImpl", rest)._bucket_manager
    return manager.rate_limit_usage if isinstance(manager, PacedBucketManager) else 0.0


def pace_requests(rest: hikari.api.RESTClient, share: RateLimitShare = RateLimitShare()) -> None:
    client = cast("hikari.impl.RESTClientImpl", rest)
    client._bucket_manager = PacedBucketManager(  # hikari has no option for this
        client._bucket_manager.max_rate_limit, share
    )
