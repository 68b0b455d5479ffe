"""`cc-bot run`: the bot on Discord.

hikari and lightbulb are imported when they are used: they cost a second and 60 MB.
"""
# ruff: noqa: PLC0415 - see above

import asyncio
import gc
from collections.abc import Callable

from cc_bot.app.clocks import clock_of
from cc_bot.app.core import open_core
from cc_bot.app.upkeep import summarize_rest
from cc_bot.config import Config
from cc_bot.domain.errors import MissingToken
from cc_bot.storage.location import sqlite_path
from cc_bot.storage.run_lock import sole_bot

DRAIN_S = 10.0


async def run_discord(config: Config, say: Callable[[str], None]) -> None:
    """Run the bot until it is told to stop. Raises a StartupError when it can't start."""
    if not config.discord_token:
        raise MissingToken
    clock = clock_of(config)
    with sole_bot(sqlite_path(config.database_url)):  # before anything is migrated or swept
        async with open_core(config, clock) as core:
            from cc_bot.discord.assembly import Given
            from cc_bot.discord.bot import run_bot
            from cc_bot.discord.reminders.reminders import Timekeeping
            from cc_bot.discord.settings import DiscordSettings

            given = Given(
                DiscordSettings(
                    token=config.discord_token,
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
                Timekeeping(core.moments, core.heartbeats),
                clock,
            )
            # What is loaded by now stays: looking through it for garbage would hold up a turn now and then,
            # for longer than making its context takes.
            gc.collect()
            gc.freeze()
            # The one bot of the database looks after everyone's conversations, a terminal after its own.
            care = asyncio.create_task(summarize_rest(core.stores, core.summaries, clock))
            try:
                await run_bot(given, say)
            finally:
                care.cancel()
                await asyncio.gather(care, return_exceptions=True)
