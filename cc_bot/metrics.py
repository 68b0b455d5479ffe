"""Health and metrics: whether the program can do its work at this moment, and what it is busy with.

It is ready while the gateway is connected and the database can be written to. A database that somebody else
holds for long is asked once at a time: each look waits on the connection's one thread, where turns wait too.
"""

import asyncio
import logging
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Mapping
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass
from math import isnan
from typing import Final, Literal, Protocol, get_args

import structlog
from aiohttp import web
from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, ProcessCollector, generate_latest
from prometheus_client.core import GaugeMetricFamily
from prometheus_client.exposition import CONTENT_TYPE_PLAIN_0_0_4
from prometheus_client.registry import Collector

from cc_bot.domain.errors import StorageError
from cc_bot.domain.measures import Ending, GatewayHealth, Phase, Purpose
from cc_bot.domain.turn import Usage
from cc_bot.listener import Port, startup_error

_log = structlog.get_logger(__name__)

# ---- health --------------------------------------------------------------------------------------------
# The look at the database takes the writer's place and gives it back. A real write every few seconds would
# keep the file from ever being quiet, which is when it is written anew. A full disk does not show by that, so
# it is looked for apart.


DATABASE_PATIENCE_S: Final = 3.0
"""Less than what waits for the answer: Docker gives a health check 30 s, Prometheus a scrape 10 s."""
ROOM_BYTES: Final = 16 * 2**20
"""With less on the disk the next writes fail: SQLite's log alone grows by some megabytes at a time."""

Problem = Literal["disconnected", "locked", "no_room", "unusable"]


@dataclass(frozen=True, slots=True)
class Health:
    """The problems, by the part; empty where there are none."""

    problems: dict[str, Problem]

    @property
    def ok(self) -> bool:
        return not self.problems


class CheckedDatabase(Protocol):
    """The questions that are asked of the database (see stores/retention.py)."""

    async def check_writable(self) -> None: ...

    async def open_sessions(self) -> int: ...

    async def size_bytes(self) -> int: ...


class TurnLoad(Protocol):
    """The turns that the assistant is busy with."""

    @property
    def running(self) -> int: ...

    @property
    def waiting(self) -> int: ...


@dataclass(frozen=True, slots=True)
class Readings:
    """The state of the program at one moment; None where it can't be told."""

    running: int
    waiting: int
    latency_s: float | None
    sessions: float | None
    size_bytes: float | None
    free_bytes: float | None
    backed_up_at_s: float | None
    """When the newest backup was made, as Unix time."""
    health: Health


class Vitals:
    """The state of the program's parts, looked at when it is asked for."""

    def __init__(
        self,
        pulse: GatewayHealth,
        database: CheckedDatabase,
        load: Callable[[], TurnLoad],
        free_bytes: Callable[[], int],
        backed_up_at_s: Callable[[], float | None],
        *,
        patience_s: float = DATABASE_PATIENCE_S,
    ) -> None:
        """`free_bytes`: the room where the database is; `backed_up_at_s`: when the newest backup was made, as
        Unix time. Both may raise OSError."""
        self._pulse = pulse
        self._database = database
        self._load = load
        self._free_bytes = free_bytes
        self._backed_up_at_s = backed_up_at_s
        self._patience_s = patience_s
        self._looking: asyncio.Task[None] | None = None

    async def health(self) -> Health:
        problems: dict[str, Problem] = {}
        if not self._pulse.connected:
            problems["gateway"] = "disconnected"
        trouble = await self._trouble()
        if trouble:
            problems["database"] = trouble
        return Health(problems)

    async def readings(self) -> Readings:
        health, load = await self.health(), self._load()
        reads = "database" not in health.problems  # else these would wait for the same thread
        return Readings(
            load.running,
            load.waiting,
            self._pulse.latency_s,
            await _read_or_none(self._database.open_sessions()) if reads else None,
            await _read_or_none(self._database.size_bytes()) if reads else None,
            await _read_or_none(asyncio.to_thread(self._free_bytes)),
            await _read_or_none(asyncio.to_thread(self._backed_up_at_s)),
            health,
        )

    async def close(self) -> None:
        if self._looking:
            self._looking.cancel()
            await asyncio.gather(self._looking, return_exceptions=True)

    async def _trouble(self) -> Problem | None:
        try:
            if await asyncio.to_thread(self._free_bytes) < ROOM_BYTES:
                return "no_room"
        except OSError:
            return "unusable"
        if self._looking is None or self._looking.done():
            self._looking = asyncio.create_task(self._database.check_writable())
            self._looking.add_done_callback(_hear)
        try:
            await asyncio.wait_for(asyncio.shield(self._looking), self._patience_s)
        except TimeoutError:
            return "locked"
        except StorageError:
            return "unusable"
        return None


def _hear(looking: asyncio.Task[None]) -> None:
    """Take in how a look ended that nobody waits for any more."""
    if not looking.cancelled():
        looking.exception()


async def _read_or_none(asked: Awaitable[float | None]) -> float | None:
    try:
        return await asked
    except (StorageError, OSError):
        return None


# ---- meter -----------------------------------------------------------------------------------------------
# The Meter that keeps count for Prometheus: the one place where metrics have their names.
#
# The names follow Prometheus' conventions (a prefix, base units, `_total` for what only grows). Labels take
# few values: names that the operator, the program or a server with tools gave, never those of users, channels
# or servers of Discord.
# https://prometheus.io/docs/practices/naming/


_QUICK_S: Final = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 180, 600)
"""From a commit to the longest turn."""
_SERVERS_S: Final = (0.01, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60)
MOST_SERVER_TOOLS: Final = 100
"""That have labels of their own: servers name their tools, and may name new ones for ever."""
OTHER: Final = "other"


class PrometheusMeter:
    """A Meter (see there) with a registry of its own, so that two programs in one process don't add up."""

    def __init__(self, version: str) -> None:
        self.registry = CollectorRegistry()
        ProcessCollector(registry=self.registry)
        Gauge("cc_bot_build_info", "The program.", ["version"], registry=self.registry).labels(version).set(1)
        self._turns = self._counter("turns", "Turns by how they ended.", "status")
        self._turn_seconds = self._histogram("turn_seconds", "From the question to the stored answer.")
        self._phase_seconds = self._histogram("phase_seconds", "Where the time of turns goes.", "phase")
        self._unshown = self._counter("answers_not_shown", "Answers that could not be shown to their end.")
        self._tokens = self._counter(
            "tokens", "Tokens as servers count them; `prompt` without those in `cached`.", "kind", "model"
        )
        self._sound = self._counter("sound_seconds", "Seconds that were heard, or read aloud.", "model")
        self._purposes = self._counter("tokens_by_purpose", "The same by what they were spent on.", "purpose")
        self._tools = self._counter("tool_calls", "Calls of tools by models.", "tool", "outcome")
        self._server_tools = set[tuple[str, str]]()
        self._server_calls = self._counter(
            "tool_server_calls", "Calls of tools at their servers.", "server", "tool", "outcome"
        )
        self._server_seconds = self._histogram(
            "tool_server_call_seconds", "How long these took.", "server", "tool", buckets=_SERVERS_S
        )
        self._errors = self._counter("errors", "What went wrong, by its kind.", "kind")

        for counted, values in (
            (self._turns, get_args(Ending)),
            (self._phase_seconds, get_args(Phase)),
        ):
            for value in values:  # there from the beginning, so that the first one is seen as growth
                counted.labels(value)

    def record_turn(self, ending: Ending, seconds: float, phases: Mapping[Phase, float]) -> None:
        self._turns.labels(ending).inc()
        self._turn_seconds.observe(seconds)
        for phase, spent in phases.items():
            self._phase_seconds.labels(phase).observe(spent)

    def record_shown(self, seconds: float, *, ok: bool) -> None:
        if ok:
            self._phase_seconds.labels("discord").observe(seconds)
        else:
            self._unshown.inc()

    def record_tokens(self, purpose: Purpose, model: str, usage: Usage) -> None:
        fresh = max(usage.prompt_tokens - usage.cached_tokens, 0)
        kinds = {"prompt": fresh, "cached": usage.cached_tokens, "completion": usage.completion_tokens}
        for kind, tokens in kinds.items():
            self._tokens.labels(kind, model).inc(tokens)
        if usage.seconds:
            self._sound.labels(model).inc(usage.seconds)
        self._purposes.labels(purpose).inc(sum(kinds.values()))

    def record_tool_call(self, name: str, *, ok: bool) -> None:
        self._tools.labels(name, "ok" if ok else "failed").inc()

    def record_server_call(self, server: str, tool: str, seconds: float, *, ok: bool) -> None:
        if len(self._server_tools) < MOST_SERVER_TOOLS:
            self._server_tools.add((server, tool))
        shown = tool if (server, tool) in self._server_tools else OTHER
        self._server_calls.labels(server, shown, "ok" if ok else "failed").inc()
        self._server_seconds.labels(server, shown).observe(seconds)

    def record_failure(self, kind: str) -> None:
        self._errors.labels(kind).inc()

    def _counter(self, name: str, help_: str, *labels: str) -> Counter:
        return Counter(f"cc_bot_{name}", help_, labels, registry=self.registry)

    def _histogram(
        self, name: str, help_: str, *labels: str, buckets: tuple[float, ...] = _QUICK_S
    ) -> Histogram:
        return Histogram(f"cc_bot_{name}", help_, labels, buckets=buckets, registry=self.registry)


# ---- gauges ----------------------------------------------------------------------------------------------
# They are read anew for each scrape, so that nothing runs in between.


class Gauges(Collector):
    """The readings that were taken last. A number that can't be told is not there."""

    def __init__(self) -> None:
        self.readings: Readings | None = None

    def collect(self) -> Iterator[GaugeMetricFamily]:
        now = self.readings
        if now is None:
            return
        connected = "gateway" not in now.health.problems
        told: tuple[tuple[str, str, float | None], ...] = (
            ("turns_running", "Turns that are being answered.", now.running),
            ("turns_waiting", "Turns that wait for their place.", now.waiting),
            ("sessions", "Conversations that go on.", now.sessions),
            ("database_bytes", "Size of the database, its write-ahead log included.", now.size_bytes),
            (
                "database_writable",
                "1 while the database can be written to.",
                "database" not in now.health.problems,
            ),
            ("disk_free_bytes", "Room on the database's disk.", now.free_bytes),
            ("last_backup_timestamp_seconds", "When the newest backup was made.", now.backed_up_at_s),
            ("gateway_connected", "1 while Discord's gateway is connected.", connected),
            ("gateway_latency_seconds", "How long the last heartbeat took.", now.latency_s),
        )
        for name, help_, value in told:
            if value is not None and not isnan(value):
                yield GaugeMetricFamily(f"cc_bot_{name}", help_, float(value))


# ---- records ---------------------------------------------------------------------------------------------
# The log's warnings and errors, counted by their names: what goes wrong outside of turns is seen as well.
#
# Only the program's own records are: their names are words of its code. Those of libraries may hold anything.

OURS: Final = "cc_bot"


class _RecordCounter(logging.Handler):
    def __init__(self, records: Counter) -> None:
        super().__init__(logging.WARNING)
        self._records = records

    def emit(self, record: logging.LogRecord) -> None:
        if isinstance(record.msg, dict):  # as structlog hands it on
            event = str(record.msg.get("event", ""))
            self._records.labels(record.levelname.lower(), event).inc()


@contextmanager
def count_records(registry: CollectorRegistry) -> Iterator[None]:
    """Count them in a metric of this registry until left."""
    records = Counter(
        "cc_bot_log_records",
        "The program's own log records from warnings on, by their names.",
        ["level", "event"],
        registry=registry,
    )
    handler = _RecordCounter(records)
    logger = logging.getLogger(OURS)
    logger.addHandler(handler)
    try:
        yield
    finally:
        logger.removeHandler(handler)


# ---- server ----------------------------------------------------------------------------------------------
# There is no password: by default only this machine can ask.

CLOSING_S: Final = 1.0
"""A scrape that is under way when the program ends."""


@asynccontextmanager
async def serve(host: str, port: int, meter: PrometheusMeter, vitals: Vitals) -> AsyncIterator[int]:
    """Serve until left; yield the port, which the system chooses for 0.

    Raises PortTaken, and InvalidSetting for a port that the program may not use, or a host that this machine
    does not have.
    """
    gauges = Gauges()
    meter.registry.register(gauges)
    runner = web.AppRunner(_app(meter, gauges, vitals), access_log=None, shutdown_timeout=CLOSING_S)
    await runner.setup()
    try:
        try:
            await web.TCPSite(runner, host, port).start()
        except OSError as error:
            setting = Port(host, port, "CC_BOT_METRICS_HOST", "CC_BOT_METRICS_PORT", "9464")
            raise startup_error(error, setting) from error
        listening = int(runner.addresses[0][1])
        _log.info("metrics_served", host=host, port=listening)
        with count_records(meter.registry):
            yield listening
    finally:
        await runner.cleanup()
        await vitals.close()


def _app(meter: PrometheusMeter, gauges: Gauges, vitals: Vitals) -> web.Application:
    async def healthz(_: web.Request) -> web.Response:
        health = await vitals.health()
        told = {"status": "ok" if health.ok else "failing", "problems": health.problems}
        return web.json_response(told, status=200 if health.ok else 503)

    async def metrics(_: web.Request) -> web.Response:
        gauges.readings = await vitals.readings()
        body = generate_latest(meter.registry)
        return web.Response(body=body, headers={"Content-Type": CONTENT_TYPE_PLAIN_0_0_4})

    app = web.Application()
    app.router.add_get("/healthz", healthz)
    app.router.add_get("/metrics", metrics)
    return app
