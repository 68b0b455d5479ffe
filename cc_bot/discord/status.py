"""How the bot is doing, put together for its owners."""

import asyncio
import logging
import math
from collections import deque
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager, contextmanager, nullcontext, suppress
from dataclasses import dataclass
from datetime import datetime
from typing import Final, cast

import hikari
from hikari.impl.buckets import RESTBucketManager
from hikari.internal.routes import CompiledRoute

from cc_bot import __version__
from cc_bot.assistant import Assistant
from cc_bot.assistant.queue import Load
from cc_bot.domain.errors import CcBotError, ModelNotFound
from cc_bot.domain.measures import GatewayHealth, Held, Meter
from cc_bot.domain.member import Maintenance
from cc_bot.policy import Policies
from cc_bot.stores import Stores

# ---- bot status ----------------------------------------------------------------------------------------


NewestBackup = Callable[[], Awaitable[datetime | None]]
"""When the newest backup was made; None where there is none to be found."""


async def no_backup() -> datetime | None:
    """Where nobody knows of any."""
    return None


@dataclass(frozen=True, slots=True)
class Seen:
    """The bot at one moment."""

    version: str
    schema_version: int
    began_at: datetime
    latency_s: float | None
    """Of the gateway; None before its first heartbeat."""
    database_bytes: int
    load: Load
    turns_today: int
    tokens_today: int
    cost_micros: int | None
    """None: no model has a price."""
    currency: str
    backup_at: datetime | None
    maintenance: Maintenance | None


@dataclass(frozen=True, slots=True)
class BotStatus:
    assistant: Assistant
    stores: Stores
    policies: Policies
    pulse: GatewayHealth
    newest_backup: NewestBackup
    began_at: datetime

    async def look(self) -> Seen:
        """Raises StorageError."""
        used = await self.stores.usage.list_all(self.stores.usage.today())
        prices = (await self.policies.now()).prices
        latency_s = self.pulse.latency_s
        return Seen(
            version=__version__,
            schema_version=await self.stores.vitals.schema_version(),
            began_at=self.began_at,
            latency_s=None if latency_s is None or math.isnan(latency_s) else latency_s,
            database_bytes=await self.stores.vitals.size_bytes(),
            load=self.assistant.load,
            turns_today=sum(each.turns for each in used),
            tokens_today=sum(each.tokens for each in used),
            cost_micros=sum(each.cost_micros for each in used) if prices.models else None,
            currency=prices.currency,
            backup_at=await self.newest_backup(),
            maintenance=(await self.stores.access.get_in_force()).maintenance,
        )


# ---- rate limits -----------------------------------------------------------------------------------------
# Discord's rate limits: how many requests the bot sends in a second, and how often and how long they wait.
#
# hikari waits by itself, within its calls, and tells of it to nobody but its log. So its log is listened to:
# the parameters of a record are taken before it is written anywhere. Where a route's limit is used up it
# names the seconds; of a 429 to one request alone it does not. A record that is worded otherwise one day is
# merely not counted; a test drives the real one into the waits.

AT_ONCE: Final = 45
"""Requests with the bot's token in SPAN_S. Discord takes 50 a second of a bot, and shuts it out after 10,000
that it refused in ten minutes. What answers a command goes without the token, and isn't counted."""
SPAN_S: Final = 1.25
"""More than a second: not all of them take the same time to get there."""

WAITS: Final = "hikari.ratelimits"
REFUSALS: Final = "hikari.rest"

_KINDS: Final[dict[str, Held]] = {
    "you are being rate limited on bucket": "bucket",
    "you are being globally rate limited": "global",
    "rate limited on a %s sub bucket": "refused",
    "rate limited on bucket %s, maybe": "refused",
}
"""How hikari's records begin."""


class _Ear(logging.Filter):
    """Counts, and lets through what would be written without it."""

    def __init__(self, meter: Meter, least: int) -> None:
        super().__init__()
        self._meter = meter
        self._least = least

    def filter(self, record: logging.LogRecord) -> bool:
        said = str(record.msg)
        for beginning, held in _KINDS.items():
            if said.startswith(beginning):
                self._meter.record_rate_limit(held, _seconds(record) if held != "refused" else None)
        return record.levelno >= self._least


def _seconds(record: logging.LogRecord) -> float | None:
    """The last parameter."""
    last = record.args[-1] if isinstance(record.args, tuple) and record.args else None
    return float(last) if isinstance(last, int | float) else None


@contextmanager
def heard(meter: Meter) -> Iterator[None]:
    """Have the meter told of every wait."""
    waits, refusals = logging.getLogger(WAITS), logging.getLogger(REFUSALS)
    ears = [(logger, _Ear(meter, logger.getEffectiveLevel())) for logger in (waits, refusals)]
    level = waits.level
    waits.setLevel(logging.DEBUG)  # a route's waits are told there
    for logger, ear in ears:
        logger.addFilter(ear)
    try:
        yield
    finally:
        for logger, ear in ears:
            logger.removeFilter(ear)
        waits.setLevel(level)


class SteadyBuckets(RESTBucketManager):
    """Limits of routes as hikari keeps them, and the one of the whole bot before Discord has to refuse.

    hikari (2.6.0) learns that limit from a refusal, and lets whatever route it has not used yet pass it by:
    such a request is sent again and again, without a pause, until Discord's second is over. And what comes
    before a route was answered for the first time waits for the limit of the one channel that was first.
    """

    __slots__ = ("_answered", "_first", "_sent_at")

    def __init__(self, max_rate_limit: float) -> None:
        super().__init__(max_rate_limit)
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
                    async with self._sent(route, compiled_route, authentication):
                        yield
                    self._answered.add(route)
                    return
        async with self._sent(route, compiled_route, authentication):
            yield

    @asynccontextmanager
    async def _sent(
        self, route: int, compiled_route: CompiledRoute, authentication: str | None
    ) -> AsyncIterator[None]:
        limited = route in self._route_hash_to_bucket_hash or route not in self._answered
        bucket = super().acquire_bucket(compiled_route, authentication) if limited else nullcontext()
        async with bucket:  # first, since it may take longer
            if authentication is not None:
                await self._global_ratelimit.acquire()
                await self._pace()
            yield

    async def _pace(self) -> None:
        now = asyncio.get_running_loop().time()
        full = len(self._sent_at) == AT_ONCE
        at = max(now, self._sent_at[0] + SPAN_S) if full else now
        self._sent_at.append(at)
        if at > now:
            await asyncio.sleep(at - now)


def hold_to_the_limit(rest: hikari.api.RESTClient) -> None:
    """Have a client that has not started send no more than Discord takes of a bot."""
    client = cast("hikari.impl.RESTClientImpl", rest)
    client._bucket_manager = SteadyBuckets(client._bucket_manager.max_rate_limit)  # there is no other way in


# ---- served models -------------------------------------------------------------------------------------
# Which models the operator's server has, for who is about to name one.
#
# It is found out by asking for one token, as `cc-bot doctor` does: not every server has a list, and not
# every list has all of them.


PATIENCE_S: Final = 10.0
"""A server may have to load a model first. One that does not answer by then is not called unknown."""

Ask = Callable[[str], Awaitable[None]]
"""Raises a CcBotError where no answer comes."""


async def not_asked(_: str) -> None:
    """Where there is no server, as with the model that comes along."""


@dataclass(frozen=True, slots=True)
class ServedModels:
    ask: Ask = not_asked

    async def missing(self, names: Sequence[str]) -> tuple[str, ...]:
        """Those that the server says it does not have."""
        found = await asyncio.gather(*map(self._is_missing, names))
        return tuple(name for name, missing in zip(names, found, strict=True) if missing)

    async def _is_missing(self, name: str) -> bool:
        with suppress(CcBotError, TimeoutError):
            try:
                async with asyncio.timeout(PATIENCE_S):
                    await self.ask(name)
            except ModelNotFound:
                return True
        return False
