"""What owners see of the bot's state: its status, and the doctor's findings."""

import asyncio
import json
import math
import os
import sys
from asyncio.subprocess import DEVNULL, PIPE
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import TypeVar

from cc_bot import __version__
from cc_bot.chat.active import ActiveTurn, Load
from cc_bot.chat.assistant import Assistant
from cc_bot.chat.policy import Policies
from cc_bot.chat.stores.opening import Stores
from cc_bot.db.process import ActiveProcess, Duty
from cc_bot.domain.access import Maintenance
from cc_bot.domain.measures import GatewayHealth
from cc_bot.domain.text import Locale

Value = TypeVar("Value")


@dataclass(frozen=True, slots=True)
class StatusSnapshot:
    version: str
    schema_version: int
    began_at: datetime
    connected: bool
    latency_s: float | None  # None before the first heartbeat
    database_bytes: int
    free_bytes: int | None
    load: Load
    in_flight: tuple[ActiveTurn, ...]
    turns_today: int
    tokens_today: int
    seconds_today: int  # seconds of speech
    cost_micros: int | None  # None if no model has a price
    currency: str
    backup_at: datetime | None
    backs_up: bool  # False if the operator of a database server makes the backups
    maintenance: Maintenance | None
    model_changes: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    """By model: how its requests are changed since its server refused one."""
    processes: tuple[ActiveProcess, ...] = ()
    duties: tuple[Duty, ...] = ()  # which process does which background work

    @property
    def has_other_processes(self) -> bool:
        return len(self.processes) > 1 or any(each.process.shards for each in self.processes)


@dataclass(eq=False, slots=True)
class BotStatus:
    assistant: Assistant
    stores: Stores
    policies: Policies
    gateway_health: GatewayHealth
    find_newest_backup: Callable[[], datetime | None] | None  # may raise OSError; None if it makes no backups
    read_free_bytes: Callable[[], int]  # may raise OSError
    began_at: datetime

    async def take_snapshot(self) -> StatusSnapshot:
        usage_today = await self.stores.usage.list_all(self.stores.usage.today())
        prices = (await self.policies.current()).prices
        latency_s = self.gateway_health.latency_s
        return StatusSnapshot(
            version=__version__,
            schema_version=await self.stores.vitals.get_schema_version(),
            began_at=self.began_at,
            latency_s=None if latency_s is None or math.isnan(latency_s) else latency_s,
            connected=latency_s is not None,
            database_bytes=await self.stores.vitals.get_size_bytes(),
            free_bytes=await _read_or_none(self.read_free_bytes),
            load=self.assistant.turns.load,
            in_flight=self.assistant.turns.queued_turns,
            turns_today=sum(each.turns for each in usage_today),
            tokens_today=sum(each.tokens for each in usage_today),
            seconds_today=sum(each.usage.seconds for each in usage_today),
            cost_micros=sum(each.cost_micros for each in usage_today) if prices.models else None,
            currency=prices.currency,
            backup_at=await _read_or_none(self.find_newest_backup) if self.find_newest_backup else None,
            backs_up=self.find_newest_backup is not None,
            maintenance=(await self.stores.access.get_state()).maintenance,
            model_changes=self.assistant.chains.request_changes(),
            processes=await self.stores.processes.list_all(),
            duties=await self.stores.processes.list_duties(),
        )


async def _read_or_none(read: Callable[[], Value | None]) -> Value | None:
    try:
        return await asyncio.to_thread(read)
    except OSError:
        return None


@dataclass(frozen=True, slots=True)
class DoctorRunner:
    variables: Mapping[str, str]  # the environment with this program's settings

    async def run(self, locale: Locale) -> Sequence[Mapping[str, str]]:
        """Return the findings of `cc-bot doctor --json`, run in a child process; none if it fails."""
        child = await asyncio.create_subprocess_exec(
            *(sys.executable, "-m", "cc_bot", "doctor", "--json"),
            env={**os.environ, **self.variables, "CC_BOT_LOCALE": locale.value},
            stdin=DEVNULL,
            stdout=PIPE,
            stderr=DEVNULL,
        )
        try:
            output, _ = await child.communicate()
            findings: Sequence[Mapping[str, str]] = json.loads(output)["checks"]
            return findings
        except ValueError:
            return ()
        finally:
            if child.returncode is None:
                child.kill()
                await child.wait()
