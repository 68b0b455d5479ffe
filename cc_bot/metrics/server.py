"""/healthz and /metrics over HTTP, on the program's own event loop.

By default only this machine can ask: there is no password, and how busy a bot is is nobody else's business.
Who can ask may still mean harm: a connection is for one request, ends after PATIENCE_S however far that is,
and there are few of them at a time. The event loop is everybody's.
"""

import asyncio
import errno
import logging
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from math import isnan
from typing import Final

import structlog
from aiohttp import web
from aiohttp.http_exceptions import HttpProcessingError
from prometheus_client import CollectorRegistry, Counter, generate_latest
from prometheus_client.core import GaugeMetricFamily
from prometheus_client.exposition import CONTENT_TYPE_PLAIN_0_0_4
from prometheus_client.registry import Collector

from cc_bot.domain.errors import InvalidSetting, PortTaken, StartupError
from cc_bot.metrics.health import Readings, Vitals
from cc_bot.metrics.meter import PrometheusMeter

# ---- gauges ----------------------------------------------------------------------------------------------
# What is true at the moment of a scrape, as gauges: read anew for each, so that nothing runs in between.


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


class _Counting(logging.Handler):
    def __init__(self, records: Counter) -> None:
        super().__init__(logging.WARNING)
        self._records = records

    def emit(self, record: logging.LogRecord) -> None:
        if isinstance(record.msg, dict):  # as structlog hands it on
            event = str(record.msg.get("event", ""))
            self._records.labels(record.levelname.lower(), event).inc()


@contextmanager
def counted(registry: CollectorRegistry) -> Iterator[None]:
    """Count them in a metric of this registry until left."""
    records = Counter(
        "cc_bot_log_records",
        "The program's own log records from warnings on, by their names.",
        ["level", "event"],
        registry=registry,
    )
    handler = _Counting(records)
    logger = logging.getLogger(OURS)
    logger.addHandler(handler)
    try:
        yield
    finally:
        logger.removeHandler(handler)


# ---- server ----------------------------------------------------------------------------------------------

_log = structlog.get_logger(__name__)
_requests: Final = logging.getLogger(f"{__name__}.requests")
"""What aiohttp has to say of them."""
_requests.addFilter(lambda record: not _is_malformed(record))

CLOSING_S: Final = 1.0
"""A scrape that is under way when the program ends."""
PATIENCE_S: Final = 10.0
"""From a connection to the end of its one answer; Prometheus gives up after as long."""
MOST_CONNECTIONS: Final = 32
"""At a time; who comes beyond that is turned away. Prometheus has one."""


@asynccontextmanager
async def serving(
    host: str, port: int, meter: PrometheusMeter, vitals: Vitals, *, patience_s: float = PATIENCE_S
) -> AsyncIterator[int]:
    """Serve until left. The port, which the system chooses for 0.

    Raises PortTaken, and InvalidSetting for a port that the program may not use, or a host that this machine
    does not have.
    """
    gauges = Gauges()
    meter.registry.register(gauges)
    runner = web.AppRunner(
        _app(meter, gauges, vitals),
        access_log=None,
        logger=_requests,
        shutdown_timeout=CLOSING_S,
        lingering_time=0,  # a body is nothing that anybody here waits for
    )
    await runner.setup()
    listener = None
    try:
        listener = await _listen(runner, host, port, patience_s)
        listening = int(listener.sockets[0].getsockname()[1])
        _log.info("metrics_served", host=host, port=listening)
        with counted(meter.registry):
            yield listening
    finally:
        if listener is not None:
            listener.close()
        await runner.cleanup()
        await vitals.close()


async def _listen(runner: web.AppRunner, host: str, port: int, patience_s: float) -> asyncio.Server:
    loop, server = asyncio.get_running_loop(), runner.server
    if server is None:
        raise RuntimeError("the runner was not set up")

    def connection() -> asyncio.Protocol:
        if len(server.connections) >= MOST_CONNECTIONS:
            return _TurnedAway()
        handler = server()
        # Not the idle time but the whole of it: a byte now and then is no reason to wait.
        loop.call_later(patience_s, _end, handler)
        return handler

    try:
        return await loop.create_server(connection, host, port)
    except OSError as error:
        raise why_not(error, host, port) from error


def _is_malformed(record: logging.LogRecord) -> bool:
    """Whether somebody sent what is no request: they are told so, and nobody here has to do anything."""
    return record.exc_info is not None and isinstance(record.exc_info[1], HttpProcessingError)


class _TurnedAway(asyncio.Protocol):
    """A connection too many."""

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        if isinstance(transport, asyncio.Transport):
            transport.abort()


def _end(handler: web.RequestHandler) -> None:
    """End a connection that is still there; what has not been read is not waited for."""
    if handler.transport is not None:
        handler.transport.abort()


def why_not(error: OSError, host: str, port: int) -> StartupError:
    """What the operator is told when nothing can be served there."""
    match error.errno:
        case errno.EADDRINUSE:
            return PortTaken(host=host, port=port)
        case errno.EACCES:  # those below 1024 are for root
            return InvalidSetting(name="CC_BOT_METRICS_PORT", expected="9464")
        case _:
            return InvalidSetting(name="CC_BOT_METRICS_HOST", expected="127.0.0.1 / 0.0.0.0")


def _app(meter: PrometheusMeter, gauges: Gauges, vitals: Vitals) -> web.Application:
    async def healthz(_: web.Request) -> web.Response:
        health = await vitals.health()
        told = {"status": "ok" if health.ok else "failing", "problems": health.problems}
        return web.json_response(told, status=200 if health.ok else 503)

    async def metrics(_: web.Request) -> web.Response:
        gauges.readings = await vitals.readings()
        body = generate_latest(meter.registry)
        return web.Response(body=body, headers={"Content-Type": CONTENT_TYPE_PLAIN_0_0_4})

    async def for_one_request(_: web.Request, response: web.StreamResponse) -> None:
        response.force_close()

    app = web.Application()
    app.on_response_prepare.append(for_one_request)
    app.router.add_get("/healthz", healthz)
    app.router.add_get("/metrics", metrics)
    return app
