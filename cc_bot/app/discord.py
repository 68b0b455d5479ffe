"""`cc-bot run`: the bot on Discord.

hikari and lightbulb are imported when they are used: they cost a second and 60 MB.
"""
# ruff: noqa: PLC0415 - see above

import asyncio
import gc
from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING

from cc_bot.app.clocks import clock_of
from cc_bot.app.core import (
    keep_running,
    make_meter,
    open_core,
    serve_metrics,
    summarize_rest,
)
from cc_bot.app.owners import keep_recent_records, make_owners_parts
from cc_bot.app.watchdog import ServiceManager, Watchdog
from cc_bot.app.web import serve_web
from cc_bot.config import Config
from cc_bot.domain.errors import MissingToken
from cc_bot.domain.measures import NULL_METER, GatewayHealth
from cc_bot.in_order import FileLine
from cc_bot.memories import Memories
from cc_bot.storage.engines import folder_setting, kept_beside
from cc_bot.storage.files import sole_bot
from cc_bot.tools.servers import ToolServers

if TYPE_CHECKING:
    from cc_bot.internet.http import Network

DRAIN_S = 10.0


async def run_discord(
    config: Config,
    say: Callable[[str], None],
    *,
    network: "Network | None" = None,
    servers: ToolServers | None = None,
) -> None:
    """Run the bot until it is told to stop; `network` and `servers` as `open_core` has them. Raises a
    StartupError when it can't start."""
    if not config.discord_token:
        raise MissingToken
    clock, pulse, counting = clock_of(config), GatewayHealth(), make_meter(config)
    meter = counting or NULL_METER
    url = config.database_url
    # Before anything is migrated or swept.
    lock = sole_bot(kept_beside(url, config.data_folder), folder_setting(url))
    with lock, keep_recent_records(config) as records:
        async with open_core(config, clock, meter, network=network, servers=servers) as core:
            await core.spending.take_over("discord")
            from cc_bot.discord.bot import run_bot
            from cc_bot.discord.reminders import Timekeeping
            from cc_bot.discord.services import BotDependencies, BrowserPages, DiscordSettings, OwnersServices

            owners = make_owners_parts(config, core, pulse, clock, records)
            given = BotDependencies(
                DiscordSettings(
                    token=config.discord_token,
                    owners=config.owners,
                    api_url=config.discord_api_url,
                    reading=config.channels,
                    locale=config.locale,
                    operator_locale=config.operator_locale,
                    timezone=config.timezone,
                    drain_s=DRAIN_S,
                ),
                core.stores,
                core.assistant,
                core.agents,
                core.policies,
                core.spending,
                Timekeeping(core.moments, core.heartbeats),
                core.privacy,
                OwnersServices(owners.status, owners.administration),
                memories := Memories(core.stores, FileLine(), clock),
                clock,
                watchdog := Watchdog(ServiceManager(config.service_manager)),
                meter,
                pulse,
                BrowserPages(
                    config.web_url if config.web_port else "",
                    partial(serve_web, config, core, owners, memories, clock=clock, say=say),
                ),
            )
            # What is loaded by now stays: looking through it for garbage would hold up a turn now and then,
            # for longer than making its context takes.
            gc.collect()
            gc.freeze()
            gc.enable()  # __main__ has left it out until here
            watchdog.begin()  # after what may well take long: migrations, imports
            # The one bot of the database looks after everyone's conversations, a terminal after its own.
            rest = partial(summarize_rest, core.stores, core.summaries, clock)
            care = asyncio.create_task(keep_running(rest))
            try:
                async with serve_metrics(config, counting, pulse, core.stores, core.assistant):
                    await run_bot(given, say)
            finally:
                watchdog.leave()
                care.cancel()
                await asyncio.gather(care, return_exceptions=True)
