"""The status of the bot: how it is doing, put together for its owners."""

import asyncio
import math
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from datetime import datetime

from cc_bot.assistant import Assistant
from cc_bot.assistant.active import ActiveTurn, Load
from cc_bot.domain.access import Maintenance
from cc_bot.domain.measures import GatewayHealth
from cc_bot.domain.process import Duty, LivingProcess
from cc_bot.policy import Policies
from cc_bot.stores import Stores
from cc_bot.version import __version__

NewestBackup = Callable[[], Awaitable[datetime | None]]
"""When the newest backup was made; None where there is none to be found."""


FreeBytes = Callable[[], int]
"""The room where the database is. Raises OSError."""


@dataclass(frozen=True, slots=True)
class Seen:
    """The bot at one moment."""

    version: str
    schema_version: int
    began_at: datetime
    connected: bool
    latency_s: float | None
    """Of the gateway; None before its first heartbeat."""
    database_bytes: int
    free_bytes: int | None
    """Of the database's disk; None where that can't be told."""
    load: Load
    underway: tuple[ActiveTurn, ...]
    turns_today: int
    tokens_today: int
    seconds_today: int
    """Of sound, heard or spoken."""
    cost_micros: int | None
    """None: no model has a price."""
    currency: str
    backup_at: datetime | None
    backs_up: bool
    """Whether backups are this program's: those of a database on a server are its operator's."""
    maintenance: Maintenance | None
    model_changes: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    """What requests to a model had to be changed in, by model."""
    processes: tuple[LivingProcess, ...] = ()
    """Those that are one bot."""
    duties: tuple[Duty, ...] = ()

    @property
    def shares(self) -> bool:
        """Tell whether several processes are the bot, or are to be."""
        return len(self.processes) > 1 or any(each.process.shards for each in self.processes)


@dataclass(eq=False, slots=True)
class BotStatus:
    assistant: Assistant
    stores: Stores
    policies: Policies
    pulse: GatewayHealth
    newest_backup: NewestBackup | None
    """None where backups are not this program's."""
    free_bytes: FreeBytes
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
            connected=latency_s is not None,
            database_bytes=await self.stores.vitals.size_bytes(),
            free_bytes=await self._free_bytes(),
            load=self.assistant.turns.load,
            underway=self.assistant.turns.queued,
            turns_today=sum(each.turns for each in used),
            tokens_today=sum(each.tokens for each in used),
            seconds_today=sum(each.usage.seconds for each in used),
            cost_micros=sum(each.cost_micros for each in used) if prices.models else None,
            currency=prices.currency,
            backup_at=await self.newest_backup() if self.newest_backup else None,
            backs_up=self.newest_backup is not None,
            maintenance=(await self.stores.access.get_in_force()).maintenance,
            model_changes=self.assistant.model_changes,
            processes=await self.stores.processes.list_all(),
            duties=await self.stores.processes.list_duties(),
        )

    async def _free_bytes(self) -> int | None:
        try:
            return await asyncio.to_thread(self.free_bytes)
        except OSError:
            return None
