"""What is measured, and where it is told, if the operator wants it told.

prometheus_client and aiohttp's server are imported when they are used: not by those who want none.
"""
# ruff: noqa: PLC0415 - see above

from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING

from cc_bot import __version__
from cc_bot.assistant import Assistant
from cc_bot.config import Config
from cc_bot.domain.measures import UNMEASURED, Meter, Purpose
from cc_bot.domain.pulse import Pulse
from cc_bot.llm.metered import MeteredModel
from cc_bot.llm.model import ChatModel
from cc_bot.storage.location import sqlite_path
from cc_bot.storage.rewriting import free_bytes
from cc_bot.storage.rotation import backups_in
from cc_bot.stores import Stores

if TYPE_CHECKING:
    from cc_bot.metrics import PrometheusMeter

OfNames = Callable[[tuple[str, ...]], ChatModel]


def meter_of(config: Config) -> "PrometheusMeter | None":
    """What keeps count; nothing does unless somebody can ask for it."""
    if config.metrics_port is None:
        return None
    from cc_bot.metrics import PrometheusMeter

    return PrometheusMeter(__version__)


def metered(models: OfNames, meter: Meter, purpose: Purpose) -> OfNames:
    """The same chains of models, asked for one purpose."""
    if meter is UNMEASURED:
        return models
    return lambda names: MeteredModel(models(names), meter, purpose)


@asynccontextmanager
async def told(
    config: Config, meter: "PrometheusMeter | None", pulse: Pulse, stores: Stores, assistant: Assistant
) -> AsyncIterator[None]:
    """Serve /healthz and /metrics, if a port is named for them. Raises PortTaken or InvalidSetting."""
    if config.metrics_port is None or meter is None:
        yield
        return
    from cc_bot.metrics import Vitals, serving

    folder = sqlite_path(config.database_url).absolute().parent

    def backed_up_at_s() -> float | None:
        newest = next(iter(backups_in(config.backup_folder)), None)
        return newest.path.stat().st_mtime if newest else None

    vitals = Vitals(pulse, stores.vitals, lambda: assistant.load, lambda: free_bytes(folder), backed_up_at_s)
    async with serving(config.metrics_host, config.metrics_port, meter, vitals):
        yield
