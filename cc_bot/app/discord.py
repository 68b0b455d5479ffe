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
from collections.abc import Callable, Mapping
from functools import partial
from typing import TYPE_CHECKING, Final

from cc_bot.app.clocks import clock_of
from cc_bot.app.core import (
    agents_path,
    keep_running,
    make_meter,
    mcp_path,
    open_core,
    policy_path,
    serve_metrics,
    summarize_rest,
)
from cc_bot.app.owners import keep_recent_records, make_owners_parts
from cc_bot.app.watchdog import ServiceManager, Watchdog
from cc_bot.app.web import serve_web
from cc_bot.commands.memories import Memories
from cc_bot.config import Config
from cc_bot.domain.errors import MissingToken, ShardsNotShared
from cc_bot.domain.measures import NULL_METER, GatewayHealth
from cc_bot.domain.process import Process, write_shards
from cc_bot.in_order import ExportQueue
from cc_bot.operator_file import hash_file
from cc_bot.process import JoinOptions
from cc_bot.storage.engines import dialect_of, folder_setting, state_path
from cc_bot.storage.files import hold_slot
from cc_bot.texts import texts
from cc_bot.texts.cli import CliTexts
from cc_bot.tools.servers import ToolServers
from cc_bot.version import __version__

if TYPE_CHECKING:
    from cc_bot.internet.http import Network

DRAIN_S = 10.0

# ---- process -------------------------------------------------------------------------------------------
# This run of the program, as other processes see it.


def _make_process(config: Config) -> Process:
    name = secrets.token_hex(8)
    return Process(name, platform.node(), __version__, config.shards, config.shard_count)


def _hash_files(config: Config) -> Mapping[str, str]:
    """Hash the operator's files, to find differences between machines."""
    paths = {"agents.toml": agents_path, "policy.toml": policy_path, "mcp.json": mcp_path}
    return {name: hash_file(path(config)) for name, path in paths.items()}


def _say_waiting(say: Callable[[str], None], words: CliTexts, other: Process) -> None:
    say(words.waits_for.format(host=other.host, shards=other.told_shards or "*"))


_M_MMAP_THRESHOLD: Final = -3
_LARGE_BYTES: Final = 128 * 2**10


def _let_go_of_memory() -> None:
    """Return large blocks to the system at once: otherwise glibc raises its threshold after the first one is
    freed (mallopt(3), M_MMAP_THRESHOLD)."""
    if sys.platform == "linux" and (tune := getattr(ctypes.CDLL(None), "mallopt", None)):  # musl has none
        tune(_M_MMAP_THRESHOLD, _LARGE_BYTES)


# ---- running -------------------------------------------------------------------------------------------


async def run_discord(
    config: Config,
    say: Callable[[str], None],
    *,
    network: "Network | None" = None,
    servers: ToolServers | None = None,
) -> None:
    """Run the bot until it is stopped; `network` and `servers` as in `open_core`. Raises StartupError."""
    if not config.discord_token:
        raise MissingToken
    _let_go_of_memory()
    url = config.database_url
    shared = dialect_of(url) == "postgresql"
    if not shared and config.shards is not None and len(config.shards) < config.shard_count:
        raise ShardsNotShared(last=config.shard_count - 1)
    beside_it = state_path(url, config.data_folder)
    # Before migrations and sweeps. The holder of a file's lock is alone.
    shards = "" if config.shards is None else f"{write_shards(config.shards)}-of-{config.shard_count}"
    with hold_slot(beside_it, folder_setting(url), shards if shared else "") as slot:
        ended = (slot.former,)
        while True:
            joining = JoinOptions(
                _make_process(config),
                ended,
                partial(_hash_files, config),
                alone=not shared,
                waits_for=partial(_say_waiting, say, texts(config.operator_locale).cli),
            )
            slot.write_owner(joining.process.name)
            token = config.discord_token
            watchdog = Watchdog(ServiceManager(config.service_manager))
            if not await _run(config, token, say, joining, watchdog, network=network, servers=servers):
                return
            watchdog.end()
            ended = (joining.process.name,)


async def _run(
    config: Config,
    token: str,
    say: Callable[[str], None],
    joining: JoinOptions,
    watchdog: Watchdog,
    *,
    network: "Network | None",
    servers: ToolServers | None,
) -> bool:
    """Run until stopped. Returns whether to restart, because other processes have taken over."""
    clock, pulse, counting = clock_of(config), GatewayHealth(), make_meter(config)
    meter = counting or NULL_METER
    with keep_recent_records(config) as records:
        async with open_core(config, clock, meter, network=network, servers=servers, joining=joining) as core:
            assert core.membership is not None  # noqa: S101 - it has joined
            core.membership.is_connected = lambda: pulse.connected
            await core.spending.take_over()
            from cc_bot.discord.bot import run_bot
            from cc_bot.discord.services import BotDependencies, DiscordSettings

            owners = make_owners_parts(config, core, pulse, clock, records)
            given = BotDependencies(
                DiscordSettings(
                    token=token,
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
                    read_unconfined=config.read_unconfined,
                ),
                core.stores,
                core.assistant,
                core.agents,
                core.policies,
                core.spending,
                core.moments,
                core.heartbeats,
                core.privacy,
                owners.status,
                owners.administration,
                memories := Memories(core.stores, ExportQueue(), clock),
                clock,
                watchdog,
                meter,
                pulse,
                config.web_url if config.web_port else "",
                partial(serve_web, config, core, owners, memories, clock=clock, say=say),
                core.membership,
                core.servers.withheld,
            )
            # Loaded modules stay; collecting them would delay turns.
            gc.collect()
            gc.freeze()
            gc.set_threshold(700)
            watchdog.begin()  # after slow migrations and imports
            # The bot handles everyone's conversations, a terminal only its own.
            rest = partial(summarize_rest, core.stores, core.summaries, clock)
            care = asyncio.create_task(core.duties.run_as_leader("summaries", partial(keep_running, rest)))
            try:
                async with serve_metrics(config, counting, pulse, core.stores, core.assistant):
                    await run_bot(given, say)
            finally:
                watchdog.leave(for_good=not core.membership.evicted.is_set())
                care.cancel()
                await asyncio.gather(care, return_exceptions=True)
            return core.membership.evicted.is_set() and not watchdog.leaving
