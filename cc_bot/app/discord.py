"""`cc-bot run`: the bot on Discord.

hikari and lightbulb are imported when they are used: they cost a second and 60 MB.
"""
# ruff: noqa: PLC0415 - see above

import asyncio
import gc
from collections.abc import Callable
from datetime import datetime
from functools import partial

from cc_bot.app.clocks import clock_of
from cc_bot.app.core import (
    is_offline,
    keep_running,
    make_meter,
    open_core,
    reach_model,
    serve_metrics,
    summarize_rest,
)
from cc_bot.app.watchdog import ServiceManager, Watchdog
from cc_bot.app.web import serve_web
from cc_bot.config import Config
from cc_bot.domain.errors import MissingToken
from cc_bot.domain.measures import NULL_METER, GatewayHealth
from cc_bot.in_order import FileLine
from cc_bot.memories import Memories
from cc_bot.storage.backup import backups_in
from cc_bot.storage.files import database_file, sole_bot

DRAIN_S = 10.0


async def run_discord(config: Config, say: Callable[[str], None]) -> None:
    """Run the bot until it is told to stop. Raises a StartupError when it can't start."""
    if not config.discord_token:
        raise MissingToken
    clock, pulse, counting = clock_of(config), GatewayHealth(), make_meter(config)
    meter = counting or NULL_METER
    with sole_bot(database_file(config.database_url)):  # before anything is migrated or swept
        async with open_core(config, clock, meter) as core:
            await core.spending.take_over("discord")
            from cc_bot.discord.bot import run_bot
            from cc_bot.discord.reminders import Timekeeping
            from cc_bot.discord.services import BotDependencies, DiscordSettings
            from cc_bot.discord.status import not_asked

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
                memories := Memories(core.stores, FileLine(), clock),
                clock,
                watchdog := Watchdog(ServiceManager(config.service_manager)),
                meter,
                pulse,
                partial(_newest_backup, config),
                not_asked if is_offline(config) else partial(reach_model, config),
                config.web_url if config.web_port else "",
                partial(serve_web, config, core, memories, clock, say=say),
            )
            # What is loaded by now stays: looking through it for garbage would hold up a turn now and then,
            # for longer than making its context takes.
            gc.collect()
            gc.freeze()
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


async def _newest_backup(config: Config) -> datetime | None:
    """Return when the newest backup was made that is found where `cc-bot backup` puts them."""
    try:
        found = await asyncio.to_thread(backups_in, config.backup_folder)
    except OSError:
        return None
    return found[0].moment.replace(tzinfo=config.timezone) if found else None
