"""Serves /healthz and /metrics. The bot is healthy if it is connected and can write to the database."""

import asyncio
import logging
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from contextlib import AbstractContextManager, asynccontextmanager
from dataclasses import dataclass
from math import isnan
from typing import Final, Literal, get_args

import structlog
from aiohttp import web
from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, ProcessCollector, generate_latest
from prometheus_client.exposition import CONTENT_TYPE_PLAIN_0_0_4

from cc_bot.chat.active import Load
from cc_bot.concurrency import cancel_tasks
from cc_bot.domain.errors import StorageError
from cc_bot.domain.measures import Ending, GatewayHealth, Meter, Phase, Purpose
from cc_bot.domain.turn import Usage
from cc_bot.features.privacy.retention import VitalsStore
from cc_bot.listener import Port, startup_error
from cc_bot.log import OUR_LOGGER, attach_handler

_log = structlog.get_logger(__name__)

DATABASE_TIMEOUT_S: Final = 3.0
MIN_FREE_BYTES: Final = 16 * 2**20  # with less, writes would fail: SQLite's WAL grows by megabytes

Problem = Literal["disconnected", "locked", "no_room", "unusable"]
Readings = Mapping[str, float | None]  # by the names in GAUGES; None if unknown


@dataclass(eq=False)
class Vitals:
    gateway_health: GatewayHealth
    database: VitalsStore
    get_load: Callable[[], Load]
    get_free_bytes: Callable[[], int]  # of the disk; may raise OSError
    get_backup_time_s: Callable[[], float | None]  # Unix time of the newest backup; may raise OSError
    timeout_s: float = DATABASE_TIMEOUT_S
    _check: asyncio.Task[None] | None = None

    async def problems(self) -> dict[str, Problem]:
        problems: dict[str, Problem] = {} if self.gateway_health.is_connected else {"gateway": "disconnected"}
        if database_problem := await self._database_problem():
            problems["database"] = database_problem
        return problems

    async def readings(self) -> Readings:
        problems, load = await self.problems(), self.get_load()
        writable = "database" not in problems  # else reading would wait for the thread that can't write
        return {
            "turns_running": load.running,
            "turns_waiting": load.waiting,
            "sessions": await _read_or_none(self.database.count_open_sessions()) if writable else None,
            "database_bytes": await _read_or_none(self.database.get_size_bytes()) if writable else None,
            "database_writable": writable,
            "disk_free_bytes": await _read_or_none(asyncio.to_thread(self.get_free_bytes)),
            "last_backup_timestamp_seconds": await _read_or_none(asyncio.to_thread(self.get_backup_time_s)),
            "gateway_connected": "gateway" not in problems,
            "gateway_latency_seconds": self.gateway_health.latency_s,
        }

    async def close(self) -> None:
        if self._check:
            await cancel_tasks(self._check)

    async def _database_problem(self) -> Problem | None:
        try:
            if await asyncio.to_thread(self.get_free_bytes) < MIN_FREE_BYTES:
                return "no_room"
        except OSError:
            return "unusable"
        if self._check is None or self._check.done():
            self._check = asyncio.create_task(self.database.check_writable())
            # Retrieve the exception, since asyncio would log it otherwise.
            self._check.add_done_callback(lambda check: check.cancelled() or check.exception())
        try:
            await asyncio.wait_for(asyncio.shield(self._check), self.timeout_s)
        except TimeoutError:
            return "locked"
        except StorageError:
            return "unusable"
        return None


async def _read_or_none(reading: Awaitable[float | None]) -> float | None:
    try:
        return await reading
    except (StorageError, OSError):
        return None


_DURATION_BUCKETS_S: Final = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 180, 600)
_SERVER_BUCKETS_S: Final = (0.01, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60)
MAX_SERVER_TOOLS: Final = 100  # further tools share the label OTHER
OTHER: Final = "other"


class PrometheusMeter(Meter):
    """Has its own registry, since several bots may run in one process. No label names users or channels."""

    def __init__(self, version: str) -> None:
        self.registry = CollectorRegistry()
        ProcessCollector(registry=self.registry)
        Gauge("cc_bot_build_info", "The program.", ["version"], registry=self.registry).labels(version).set(1)
        self._turns = self._counter("turns", "Turns by how they ended.", "status")
        self._turn_seconds = self._histogram("turn_seconds", "From the question to the stored answer.")
        self._phase_seconds = self._histogram("phase_seconds", "Seconds in each phase of a turn.", "phase")
        self._unshown = self._counter("answers_not_shown", "Answers that could not be shown to their end.")
        self._tokens = self._counter(
            "tokens", "Tokens as servers count them; `prompt` without those in `cached`.", "kind", "model"
        )
        self._sound = self._counter("sound_seconds", "Seconds of sound transcribed or spoken.", "model")
        self._purposes = self._counter("tokens_by_purpose", "Tokens by what they were spent on.", "purpose")
        self._tools = self._counter("tool_calls", "Calls of tools by models.", "tool", "outcome")
        self._server_tools = set[tuple[str, str]]()
        self._server_calls = self._counter(
            "tool_server_calls", "Calls of tools at their servers.", "server", "tool", "outcome"
        )
        self._server_seconds = self._histogram(
            "tool_server_call_seconds", "Their duration.", "server", "tool", buckets=_SERVER_BUCKETS_S
        )
        self._errors = self._counter("errors", "Errors by kind.", "kind")

        for metric, values in ((self._turns, get_args(Ending)), (self._phase_seconds, get_args(Phase))):
            for value in values:
                metric.labels(value)  # exports 0, so that Prometheus sees the first turn as an increase

    def record_turn(self, ending: Ending, seconds: float, phases: Mapping[Phase, float]) -> None:
        self._turns.labels(ending).inc()
        self._turn_seconds.observe(seconds)
        for phase, phase_seconds in phases.items():
            self._phase_seconds.labels(phase).observe(phase_seconds)

    def record_shown(self, seconds: float, *, ok: bool) -> None:
        if ok:
            self._phase_seconds.labels("discord").observe(seconds)
        else:
            self._unshown.inc()

    def record_tokens(self, purpose: Purpose, model: str, usage: Usage) -> None:
        uncached = max(usage.prompt_tokens - usage.cached_tokens, 0)
        kinds = {"prompt": uncached, "cached": usage.cached_tokens, "completion": usage.completion_tokens}
        for kind, tokens in kinds.items():
            self._tokens.labels(kind, model).inc(tokens)
        if usage.seconds:
            self._sound.labels(model).inc(usage.seconds)
        self._purposes.labels(purpose).inc(sum(kinds.values()))

    def record_tool_call(self, name: str, *, ok: bool) -> None:
        self._tools.labels(name, "ok" if ok else "failed").inc()

    def record_server_call(self, server: str, tool: str, seconds: float, *, ok: bool) -> None:
        if len(self._server_tools) < MAX_SERVER_TOOLS:
            self._server_tools.add((server, tool))
        label = tool if (server, tool) in self._server_tools else OTHER
        self._server_calls.labels(server, label, "ok" if ok else "failed").inc()
        self._server_seconds.labels(server, label).observe(seconds)

    def record_failure(self, kind: str) -> None:
        self._errors.labels(kind).inc()

    def _counter(self, name: str, help_: str, *labels: str) -> Counter:
        return Counter(f"cc_bot_{name}", help_, labels, registry=self.registry)

    def _histogram(
        self, name: str, help_: str, *labels: str, buckets: Sequence[float] = _DURATION_BUCKETS_S
    ) -> Histogram:
        return Histogram(f"cc_bot_{name}", help_, labels, buckets=buckets, registry=self.registry)


GAUGES: Final[Mapping[str, str]] = {
    "turns_running": "Turns that are being answered.",
    "turns_waiting": "Turns that wait in the queue.",
    "sessions": "Open conversations.",
    "database_bytes": "Size of the database with its write-ahead log.",
    "database_writable": "1 while the database can be written to.",
    "disk_free_bytes": "Free bytes on the database's disk.",
    "last_backup_timestamp_seconds": "When the newest backup was made.",
    "gateway_connected": "1 while Discord's gateway is connected.",
    "gateway_latency_seconds": "How long the last heartbeat took.",
}


def gauge_registry(readings: Readings) -> CollectorRegistry:
    registry = CollectorRegistry()
    for name, value in readings.items():
        if value is not None and not isnan(value):
            Gauge(f"cc_bot_{name}", GAUGES[name], registry=registry).set(value)
    return registry


class _RecordCounter(logging.Handler):
    def __init__(self, records: Counter) -> None:
        super().__init__(logging.WARNING)
        self._records = records

    def emit(self, record: logging.LogRecord) -> None:
        if isinstance(record.msg, dict):  # logged by structlog
            event = str(record.msg.get("event", ""))
            self._records.labels(record.levelname.lower(), event).inc()


def count_records(registry: CollectorRegistry) -> AbstractContextManager[None]:
    records = Counter(
        "cc_bot_log_records",
        "The program's own log records from warnings on, by their names.",
        ["level", "event"],
        registry=registry,
    )
    return attach_handler(_RecordCounter(records), OUR_LOGGER)  # libraries' messages would be too many labels


SHUTDOWN_TIMEOUT_S: Final = 1.0


@asynccontextmanager
async def serve(host: str, port: int, meter: PrometheusMeter, vitals: Vitals) -> AsyncIterator[int]:
    """Serve within the block; yields the port. Raises PortTaken and InvalidSetting."""
    runner = web.AppRunner(_app(meter, vitals), access_log=None, shutdown_timeout=SHUTDOWN_TIMEOUT_S)
    await runner.setup()
    try:
        try:
            await web.TCPSite(runner, host, port).start()
        except OSError as error:
            setting = Port(host, port, "CC_BOT_METRICS_HOST", "CC_BOT_METRICS_PORT", "9464")
            raise startup_error(error, setting) from error
        bound_port = int(runner.addresses[0][1])
        _log.info("metrics_served", host=host, port=bound_port)
        with count_records(meter.registry):
            yield bound_port
    finally:
        await runner.cleanup()
        await vitals.close()


def _app(meter: PrometheusMeter, vitals: Vitals) -> web.Application:
    async def healthz(_: web.Request) -> web.Response:
        problems = await vitals.problems()
        health = {"status": "failing" if problems else "ok", "problems": problems}
        return web.json_response(health, status=503 if problems else 200)

    async def metrics(_: web.Request) -> web.Response:
        gauges = gauge_registry(await vitals.readings())
        body = generate_latest(meter.registry) + generate_latest(gauges)
        return web.Response(body=body, headers={"Content-Type": CONTENT_TYPE_PLAIN_0_0_4})

    app = web.Application()
    app.router.add_get("/healthz", healthz)
    app.router.add_get("/metrics", metrics)
    return app
