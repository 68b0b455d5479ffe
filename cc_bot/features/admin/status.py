"""The bot's state for owners: its status, and the doctor's findings."""

import asyncio
import json
import os
import sys
from asyncio.subprocess import DEVNULL, PIPE
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from math import isnan
from typing import Final, Literal, NamedTuple, TypeVar

from cc_bot import __version__
from cc_bot.chat.assistant import Assistant
from cc_bot.chat.checks import check_processes
from cc_bot.chat.policy import Policies
from cc_bot.chat.reply import Caller
from cc_bot.chat.stores.opening import Stores
from cc_bot.domain.access import Maintenance
from cc_bot.domain.measures import GatewayHealth
from cc_bot.domain.text import Locale, format_size
from cc_bot.domain.usage import Total
from cc_bot.features.admin.texts import ConsoleTexts
from cc_bot.texts import Texts
from cc_bot.texts.replies import UsageTexts
from cc_bot.texts.web import WebUsageTexts

Value = TypeVar("Value")
Verdict = Literal["", "ok", "warning", "failed"]
OLD_BACKUP: Final = timedelta(days=2)
LOW_DISK_BYTES: Final = 2**30


class Fact(NamedTuple):
    label: str
    value: str
    verdict: Verdict = ""
    at: datetime | None = None  # the moment that `value` names, if any
    fix: Literal["backup", "doctor", "log"] = "doctor"  # what to do if the verdict is bad


@dataclass(eq=False, slots=True)
class BotStatus:
    assistant: Assistant
    stores: Stores
    policies: Policies
    gateway_health: GatewayHealth
    find_newest_backup: Callable[[], datetime | None] | None  # may raise OSError; None if it makes no backups
    read_free_bytes: Callable[[], int]  # may raise OSError
    began_at: datetime

    async def get_maintenance(self) -> Maintenance | None:
        return (await self.stores.access.get_state()).maintenance

    async def describe(self, caller: Caller, now: datetime) -> Sequence[Fact]:
        texts, vitals, load = caller.words[ConsoleTexts], self.stores.vitals, self.assistant.turns.load
        processes = await self.stores.processes.list_all()
        duties = await self.stores.processes.list_duties()
        has_others = len(processes) > 1 or any(each.process.shards for each in processes)
        found = check_processes(processes, duties, caller.words) if has_others else ()
        model_changes = self.assistant.chains.changes_to_requests()
        free = await _read_or_none(self.read_free_bytes)
        has_room = free is not None and free >= LOW_DISK_BYTES
        turns = texts.turns_count.format(running=load.running, waiting=load.waiting)
        version = {"version": __version__, "schema": await vitals.get_schema_version()}
        return [
            self._describe_connection(texts),
            *(
                [await self._describe_backup(self.find_newest_backup, caller, now)]
                if self.find_newest_backup
                else ()
            ),
            Fact(
                texts.disk,
                texts.unknown if free is None else format_size(free),
                "ok" if has_room else "warning",
            ),
            Fact(texts.turns, f"{turns} {texts.of_this_process}" if has_others else turns),
            Fact(caller.words[WebUsageTexts].today, await self._describe_today(caller.words)),
            Fact(texts.since, caller.format_time(self.began_at), at=self.began_at),
            Fact(texts.database, format_size(await vitals.get_size_bytes())),
            Fact(texts.version, texts.version_value.format(**version)),
            *(Fact(f"🧩 {model}", ", ".join(changes)) for model, changes in model_changes.items()),
            *(Fact(texts.processes, caller.format_text(each.detail)) for each in found),
        ]

    def _describe_connection(self, texts: ConsoleTexts) -> Fact:
        latency_s = self.gateway_health.latency_s
        if latency_s is None:
            return Fact("Discord", texts.disconnected, "failed")
        milliseconds = None if isnan(latency_s) else round(latency_s * 1000)
        connected = texts.connected.format(milliseconds=milliseconds)
        return Fact("Discord", texts.connected_just_now if milliseconds is None else connected, "ok")

    async def _describe_backup(
        self, find_newest: Callable[[], datetime | None], caller: Caller, now: datetime
    ) -> Fact:
        texts, made_at = caller.words[ConsoleTexts], await _read_or_none(find_newest)
        is_recent = made_at is not None and now - made_at < OLD_BACKUP
        value = caller.format_time(made_at) if made_at else texts.no_backup
        return Fact(texts.last_backup, value, "ok" if is_recent else "warning", made_at, "backup")

    async def _describe_today(self, texts: Texts) -> str:
        usage, prices = self.stores.usage, (await self.policies.current()).prices
        total = Total.sum_of(await usage.list_all(usage.today()))
        return texts[UsageTexts].format_total(total, prices.currency if prices.models else "")


async def _read_or_none(read: Callable[[], Value | None]) -> Value | None:
    try:
        return await asyncio.to_thread(read)
    except OSError:
        return None


@dataclass(frozen=True, slots=True)
class DoctorRunner:
    variables: Mapping[str, str]  # this process's settings

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
