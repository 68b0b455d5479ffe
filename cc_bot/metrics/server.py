"""/healthz and /metrics over HTTP, on the program's own event loop.

By default only this machine can ask: there is no password, and how busy a bot is is nobody else's business.
"""

import errno
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Final

import structlog
from aiohttp import web
from prometheus_client import generate_latest
from prometheus_client.exposition import CONTENT_TYPE_PLAIN_0_0_4

from cc_bot.domain.errors import InvalidSetting, PortTaken, StartupError
from cc_bot.metrics.gauges import Gauges
from cc_bot.metrics.health import Vitals
from cc_bot.metrics.meter import PrometheusMeter
from cc_bot.metrics.records import counted

_log = structlog.get_logger(__name__)

CLOSING_S: Final = 1.0
"""A scrape that is under way when the program ends."""


@asynccontextmanager
async def serving(host: str, port: int, meter: PrometheusMeter, vitals: Vitals) -> AsyncIterator[int]:
    """Serve until left. The port, which the system chooses for 0.

    Raises PortTaken, and InvalidSetting for a port that the program may not use, or a host that this machine
    does not have.
    """
    gauges = Gauges()
    meter.registry.register(gauges)
    runner = web.AppRunner(_app(meter, gauges, vitals), access_log=None, shutdown_timeout=CLOSING_S)
    await runner.setup()
    try:
        await _listen(runner, host, port)
        listening = int(runner.addresses[0][1])
        _log.info("metrics_served", host=host, port=listening)
        with counted(meter.registry):
            yield listening
    finally:
        await runner.cleanup()
        await vitals.close()


async def _listen(runner: web.AppRunner, host: str, port: int) -> None:
    try:
        await web.TCPSite(runner, host, port).start()
    except OSError as error:
        raise why_not(error, host, port) from error


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

    app = web.Application()
    app.router.add_get("/healthz", healthz)
    app.router.add_get("/metrics", metrics)
    return app
