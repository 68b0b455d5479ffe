"""The status of the bot: how it is doing, put together for its owners."""

import math
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from datetime import datetime

from cc_bot import __version__
from cc_bot.assistant import Assistant
from cc_bot.assistant.queue import Load
from cc_bot.domain.measures import GatewayHealth
from cc_bot.domain.member import Maintenance
from cc_bot.policy import Policies
from cc_bot.stores import Stores

NewestBackup = Callable[[], Awaitable[datetime | None]]
"""When the newest backup was made; None where there is none to be found."""


async def no_backup() -> datetime | None:
    """Return None, where nobody knows of any."""
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
    seconds_today: int
    """Of sound, heard or spoken."""
    cost_micros: int | None
    """None: no model has a price."""
    currency: str
    backup_at: datetime | None
    maintenance: Maintenance | None


@dataclass(eq=False, slots=True)
class BotStatus:
    assistant: Assistant
    stores: Stores
    policies: Policies
    pulse: GatewayHealth
    newest_backup: NewestBackup
    began_at: datetime

    async def look(self) -> Seen:
        """Look at all of it. Raises StorageError."""
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
            seconds_today=sum(each.usage.seconds for each in used),
            cost_micros=sum(each.cost_micros for each in used) if prices.models else None,
            currency=prices.currency,
            backup_at=await self.newest_backup(),
            maintenance=(await self.stores.access.get_in_force()).maintenance,
        )
