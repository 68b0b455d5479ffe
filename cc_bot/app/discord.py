"""`cc-bot run`: the bot on Discord.

hikari and lightbulb are imported late: they take a second and 60 MB.
"""
# ruff: noqa: PLC0415 - see above

import asyncio
import ctypes
import gc
import platform
import secrets
import sys
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, nullcontext
from functools import partial
from typing import Any, Final

from cc_bot import __version__
from cc_bot.app.core import Core, keep_running, open_core, summarize_rest
from cc_bot.app.watchdog import ServiceManager, Watchdog
from cc_bot.app.web import serve_web
from cc_bot.chat.tools import ExternalTools
from cc_bot.config import Config
from cc_bot.db.backup import newest_backup
from cc_bot.db.engines import config_path, dialect_of, folder_setting, state_path
from cc_bot.db.files import free_bytes, instance_lock
from cc_bot.db.leases import JoinOptions
from cc_bot.db.process import Process, write_shards
from cc_bot.domain.errors import MissingToken, ShardsNotShared
from cc_bot.domain.measures import NULL_METER
from cc_bot.log import RecentRecords, logging_to
from cc_bot.operator_file import OPERATOR_FILES, hash_file, operator_path
from cc_bot.texts import texts
from cc_bot.texts.cli import CliTexts

DRAIN_S = 10.0


async def run_discord(
    config: Config, say: Callable[[str], None], *, outside: ExternalTools | None = None
) -> None:
    """Run the bot until it is stopped; `outside` as in `open_core`. Raises StartupError."""
    if not config.discord_token:
        raise MissingToken
    url = config.database_url
    shared = dialect_of(url) == "postgresql"
    if not shared and config.shards is not None and len(config.shards) < config.shard_count:
        raise ShardsNotShared(last=config.shard_count - 1)
    words = texts(config.operator_locale)[CliTexts]
    own_shards = "" if config.shards is None else f"{write_shards(config.shards)}-of-{config.shard_count}"
    _release_large_blocks()
    # Before migrations and sweeps.
    database = state_path(url, config.data_folder)
    with instance_lock(database, folder_setting(url), own_shards if shared else "") as slot:
        ended = (slot.previous,)
        while True:
            name = secrets.token_hex(8)
            joining = JoinOptions(
                Process(name, platform.node(), __version__, config.shards, config.shard_count),
                ended,
                lambda: {file: hash_file(operator_path(config, file)) for file in OPERATOR_FILES},
                is_only_process=not shared,
                on_wait=lambda other: say(
                    words.waits_for.format(host=other.host, shards=other.shards_text or "*")
                ),
            )
            slot.write(name)
            watchdog = Watchdog(ServiceManager(config.service_manager))
            restart = await _run(config, say, joining, watchdog, outside=outside)
            if not restart:
                return
            watchdog.end()
            ended = (name,)


async def _run(
    config: Config, say: Callable[[str], None], joining: JoinOptions, watchdog: Watchdog, **replaced: Any
) -> bool:
    """Run until stopped. Returns whether to restart, as other processes have taken over."""
    meter, records = NULL_METER, RecentRecords()
    if config.metrics_port is not None:
        from cc_bot.app.metrics import PrometheusMeter

        meter = PrometheusMeter(__version__)
    with nullcontext() if config.web_port is None else logging_to(records):
        async with open_core(config, config.clock, meter, joining=joining, **replaced) as core:
            membership = core.membership
            assert membership is not None  # noqa: S101 - it has joined
            membership.is_connected = lambda: core.pulse.connected
            await core.spending.settle_abandoned()
            from cc_bot.discord.bot import run_bot
            from cc_bot.discord.services import BotDependencies, DiscordSettings

            core.add_own("discord")
            dependencies = BotDependencies(
                **core.parts(),
                settings=DiscordSettings(
                    token=config.discord_token or "",
                    owners=config.owners,
                    api_url=config.discord_api_url,
                    reading=config.channels,
                    locale=config.locale,
                    operator_locale=config.operator_locale,
                    timezone=config.timezone,
                    drain_s=DRAIN_S,
                    shards=config.shards,
                    shard_count=config.shard_count or None,
                    api_keeps_limits=config.api_keeps_limits,
                ),
                watchdog=watchdog,
                pages_url=config.web_url if config.web_port else "",
                serve_pages=partial(serve_web, core, records, say),
                membership=membership,
            )
            # Collecting loaded modules would take 0.1 s and free nothing.
            gc.freeze()
            gc.set_threshold(700)
            watchdog.begin()  # after slow migrations and imports
            summarize = partial(
                keep_running, partial(summarize_rest, core.stores, core.summaries, core.clock)
            )
            summarizing = asyncio.create_task(core.duties.run_as_leader("summaries", summarize))
            try:
                async with _serve_metrics(core):
                    await run_bot(dependencies, say)
            finally:
                watchdog.leave(for_good=not membership.evicted.is_set())
                summarizing.cancel()
                await asyncio.gather(summarizing, return_exceptions=True)
            return membership.evicted.is_set() and not watchdog.is_stopping


@asynccontextmanager
async def _serve_metrics(core: Core) -> AsyncIterator[None]:
    """Serve /healthz and /metrics if a port is set. Raises PortTaken and InvalidSetting."""
    config, turns = core.config, core.assistant.turns
    if config.metrics_port is None:
        yield
        return
    from cc_bot.app.metrics import PrometheusMeter, Vitals, serve

    assert isinstance(core.meter, PrometheusMeter)  # noqa: S101 - a port is set

    def backed_up_at_s() -> float | None:
        newest = newest_backup(config.backup_folder, config.timezone)
        return newest.timestamp() if newest else None

    folder = config_path(config.database_url, config.data_folder).absolute().parent
    vitals = Vitals(
        core.pulse, core.stores.vitals, lambda: turns.load, partial(free_bytes, folder), backed_up_at_s
    )
    async with serve(config.metrics_host, config.metrics_port, core.meter, vitals):
        yield


_M_MMAP_THRESHOLD: Final = -3
_LARGE_BYTES: Final = 128 * 2**10


def _release_large_blocks() -> None:
    """Return freed large blocks to the system: glibc would raise M_MMAP_THRESHOLD (mallopt(3))."""
    if sys.platform == "linux" and (tune := getattr(ctypes.CDLL(None), "mallopt", None)):  # musl has none
        tune(_M_MMAP_THRESHOLD, _LARGE_BYTES)
