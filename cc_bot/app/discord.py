"""`cc-bot run`: the bot on Discord."""
# ruff: noqa: PLC0415 - hikari and lightbulb, which take a second and 60 MB, are imported late

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
from cc_bot.app.core import Core, keep_running, open_core, summarize_expired
from cc_bot.app.watchdog import ServiceManager, Watchdog
from cc_bot.app.web import serve_web
from cc_bot.chat.tools import ExternalTools
from cc_bot.concurrency import run_in_background
from cc_bot.config import Config
from cc_bot.db.backup import newest_backup
from cc_bot.db.engines import dialect_of, folder_setting, operator_anchor_path, state_path
from cc_bot.db.files import free_bytes, instance_lock
from cc_bot.db.leases import JoinOptions
from cc_bot.db.process import Process, write_shards
from cc_bot.domain.errors import MissingToken, ShardsNotShared
from cc_bot.domain.measures import NULL_METER
from cc_bot.log import RecentRecords, attach_handler
from cc_bot.operator_file import FILES_WITH_PATH_SETTING, hash_file, operator_path
from cc_bot.texts import texts
from cc_bot.texts.cli import CliTexts


async def run_discord(
    config: Config, say: Callable[[str], None], *, external_tools: ExternalTools | None = None
) -> None:
    """Run the bot until it is stopped. `external_tools` as in `open_core`. Raises StartupError."""
    if not config.discord_token:
        raise MissingToken
    url = config.database_url
    is_shared = dialect_of(url) == "postgresql"
    if not is_shared and config.shards is not None and len(config.shards) < config.shard_count:
        raise ShardsNotShared(last=config.shard_count - 1)
    words = texts(config.operator_locale)[CliTexts]
    shards = "" if config.shards is None else f"{write_shards(config.shards)}-of-{config.shard_count}"
    _release_large_blocks()
    database = state_path(url, config.data_folder)
    with instance_lock(database, folder_setting(url), shards if is_shared else "") as slot:
        ended_processes = (slot.previous,)
        while True:
            name = secrets.token_hex(8)
            join_options = JoinOptions(
                Process(name, platform.node(), __version__, config.shards, config.shard_count),
                ended_processes,
                lambda: {file: hash_file(operator_path(config, file)) for file in FILES_WITH_PATH_SETTING},
                is_only_process=not is_shared,
                on_wait=lambda other: say(
                    words.waits_for_process.format(host=other.host, shards=other.shards_text or "*")
                ),
            )
            slot.write(name)
            watchdog = Watchdog(ServiceManager(config.notify_socket))
            must_restart = await _run(
                config, say, watchdog, join_options=join_options, external_tools=external_tools
            )
            if not must_restart:
                return
            watchdog.stop()
            ended_processes = (name,)


async def _run(config: Config, say: Callable[[str], None], watchdog: Watchdog, **core_options: Any) -> bool:
    """Run until stopped. Returns True if other processes have taken over, so this one must start again."""
    meter, records = NULL_METER, RecentRecords()
    if config.metrics_port is not None:
        from cc_bot.app.metrics import PrometheusMeter

        meter = PrometheusMeter(__version__)
    with nullcontext() if config.web_port is None else attach_handler(records):
        async with open_core(config, config.clock, meter, **core_options) as core:
            membership = core.membership
            assert membership is not None  # noqa: S101 - there are `join_options`
            membership.is_connected = lambda: core.gateway_health.is_connected
            await core.spending.settle_abandoned()
            from cc_bot.discord.bot import run_bot
            from cc_bot.discord.services import BotDependencies

            core.add_feature_parts("discord")
            dependencies = BotDependencies(
                **core.as_arguments(),
                config=config,
                watchdog=watchdog,
                pages_url=config.web_url if config.web_port else "",
                serve_pages=partial(serve_web, core, records, say),
                membership=membership,
            )
            gc.freeze()  # loaded modules: to collect them would take 0.1 s and free nothing
            gc.set_threshold(700)
            watchdog.start()  # after slow migrations and imports
            summarize = partial(
                keep_running, partial(summarize_expired, core.stores, core.summaries, core.clock)
            )
            async with run_in_background(core.leases.run_as_leader("summaries", summarize)):
                try:
                    async with _serve_metrics(core):
                        await run_bot(dependencies, say)
                finally:
                    watchdog.limit_shutdown(restarts=membership.evicted.is_set())
            return membership.evicted.is_set() and not watchdog.is_ending_program


@asynccontextmanager
async def _serve_metrics(core: Core) -> AsyncIterator[None]:
    """Serve /healthz and /metrics if a port is set. Raises PortTaken and InvalidSetting."""
    config, turns = core.config, core.assistant.turns
    if config.metrics_port is None:
        yield
        return
    from cc_bot.app.metrics import PrometheusMeter, Vitals, serve

    assert isinstance(core.meter, PrometheusMeter)  # noqa: S101 - a port is set

    def get_backup_time_s() -> float | None:
        newest = newest_backup(config.backup_folder, config.timezone)
        return newest.timestamp() if newest else None

    folder = operator_anchor_path(config.database_url, config.data_folder).absolute().parent
    get_free_bytes = partial(free_bytes, folder)
    vitals = Vitals(
        core.gateway_health, core.stores.vitals, lambda: turns.load, get_free_bytes, get_backup_time_s
    )
    async with serve(config.metrics_host, config.metrics_port, core.meter, vitals):
        yield


_M_MMAP_THRESHOLD: Final = -3
_LARGE_BYTES: Final = 128 * 2**10


def _release_large_blocks() -> None:
    """Fix the size from which glibc returns freed blocks to the system; glibc would raise it (mallopt(3))."""
    if sys.platform == "linux" and (tune := getattr(ctypes.CDLL(None), "mallopt", None)):  # musl has none
        tune(_M_MMAP_THRESHOLD, _LARGE_BYTES)
