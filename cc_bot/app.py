"""The only place where things are put together: real parts are made here, tests hand in their own.

hikari, lightbulb, openai and the terminal's libraries are imported when they are used: they cost more
than a second and 75 MB, which `cc-bot --version` and `cc-bot backup` need not pay.
"""
# ruff: noqa: PLC0415 - see above

import asyncio
import gc
from collections.abc import AsyncIterator, Callable, Collection, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import structlog

import cc_bot.tools
from cc_bot.agents import Agents
from cc_bot.assistant import Assistant, Heartbeats, Moments
from cc_bot.config import LOCAL, OFF, Config
from cc_bot.context.prompt import PromptStyle
from cc_bot.context.tokens import message_tokens
from cc_bot.domain.clock import Clock, utc_now
from cc_bot.domain.errors import CcBotError, InvalidSetting, MissingToken
from cc_bot.domain.session import SessionKey
from cc_bot.embeddings import LocalEmbedder
from cc_bot.llm.chains import Chains
from cc_bot.llm.model import ChatModel
from cc_bot.purge import keep_purging, purge_due
from cc_bot.search.embedder import Embedder
from cc_bot.storage.backup import BackupResult, back_up
from cc_bot.storage.location import sqlite_path
from cc_bot.storage.migrate import Migration, apply_pending, pending
from cc_bot.storage.opening import open_database
from cc_bot.storage.run_lock import sole_bot
from cc_bot.stores import Stores, open_stores
from cc_bot.summaries import Summaries, SummaryPlan
from cc_bot.texts import texts
from cc_bot.tools.registry import discover

SWEEP_EVERY_S = 600.0
DRAIN_S = 10.0
SUMMARY_DRAIN_S = 1.0
"""A summary that is cut off is only made later."""

_log = structlog.get_logger(__name__)


@dataclass(frozen=True, slots=True)
class Core:
    """What every front end needs."""

    stores: Stores
    assistant: Assistant
    summaries: Summaries | None
    """None where the operator wants none."""
    agents: Agents
    moments: Moments
    heartbeats: Heartbeats


@asynccontextmanager
async def open_core(config: Config, clock: Clock) -> AsyncIterator[Core]:
    """The assistant over the configured database and model."""
    tools = discover(cc_bot.tools)
    agents = _agents_of(config, tools.names)
    await agents.load()
    async with (
        _open_embedder(config) as embedder,
        open_stores(
            config.database_url,
            history_limit=config.history_limit,
            session_ttl=config.session_ttl,
            clock=clock,
            synchronous=config.synchronous,
            secret_patterns=config.secret_patterns,
            embedder=embedder,
        ) as stores,
        _open_summaries(config, stores, clock) as summaries,
    ):
        chains = Chains(partial(build_model, config), config.models)
        for agent in (await agents.all()).values():  # not during a turn
            chains.of(agent.models)
        style = PromptStyle(config.token_budget, config.single_system, config.block_tokens, config.locale)
        assistant = Assistant(
            stores,
            chains.of(()),
            tools,
            max_turns=config.max_turns,
            style=style,
            clock=clock,
            model_name=config.models[0],
            summaries=summaries,
            models=chains.of,
        )
        heartbeats = Heartbeats(stores, chains.of, tools, style=style, clock=clock)
        jobs = [_sweep(stores), keep_purging(stores.memory_removal, clock)]
        running = [asyncio.create_task(job) for job in jobs]
        try:
            moments = Moments(chains.of(()), clock)
            yield Core(stores, assistant, summaries, agents, moments, heartbeats)
        finally:
            for task in running:
                task.cancel()
            await asyncio.gather(*running, return_exceptions=True)
            await assistant.settle()
            await chains.close()


def _agents_of(config: Config, tools: Collection[str]) -> Agents:
    path = config.agents_file or sqlite_path(config.database_url).with_name("agents.toml")
    required = config.agents_file is not None
    return Agents(path, tools=tools, locale=config.operator_locale, required=required)


@asynccontextmanager
async def _open_embedder(config: Config) -> AsyncIterator[Embedder | None]:
    embedder = build_embedder(config)
    try:
        yield embedder
    finally:
        if embedder:
            await embedder.close()


@asynccontextmanager
async def _open_summaries(config: Config, stores: Stores, clock: Clock) -> AsyncIterator[Summaries | None]:
    if not config.summary_every:
        yield None
        return
    model = build_model(config, config.summary_models)
    plan = SummaryPlan(config.summary_every, config.history_limit)
    summaries = Summaries(stores, model, plan, cost=message_tokens, locale=config.locale, clock=clock)
    try:
        yield summaries
    finally:
        await summaries.close(SUMMARY_DRAIN_S)
        await model.close()


def build_model(config: Config, names: Sequence[str]) -> ChatModel:
    """The chain of these models; the offline one when there is neither a key nor a server."""
    if _is_offline(config):
        from cc_bot.llm.offline import OfflineModel

        return OfflineModel()
    from cc_bot.llm.fallback import FallbackChain
    from cc_bot.llm.openai import OpenAIChatModel

    return FallbackChain(
        [
            (
                name,
                OpenAIChatModel(
                    name,
                    api_key=config.openai_api_key,
                    base_url=config.openai_base_url,
                    timeout_s=config.model_timeout_s,
                    cache_control=config.cache_control,
                ),
            )
            for name in names
        ]
    )


def build_embedder(config: Config) -> Embedder | None:
    """What finds memories by their meaning; None where there is nothing, or it is not wanted."""
    if config.embedding_model == OFF:
        return None
    if config.embedding_model == LOCAL:
        return LocalEmbedder.if_installed()
    from cc_bot.llm.openai import OpenAIEmbedder

    return OpenAIEmbedder(
        config.embedding_model, api_key=config.openai_api_key, base_url=config.openai_base_url
    )


async def run_discord(config: Config, say: Callable[[str], None]) -> None:
    """Run the bot until it is told to stop. Raises a StartupError when it can't start."""
    if not config.discord_token:
        raise MissingToken
    clock = clock_of(config)
    with sole_bot(sqlite_path(config.database_url)):  # before anything is migrated or swept
        async with open_core(config, clock) as core:
            from cc_bot.discord.bot import DiscordSettings, run_bot
            from cc_bot.discord.reminders.reminders import Timekeeping

            settings = DiscordSettings(
                token=config.discord_token,
                api_url=config.discord_api_url,
                reading=config.channels,
                locale=config.locale,
                operator_locale=config.operator_locale,
                timezone=config.timezone,
                drain_s=DRAIN_S,
            )
            timekeeping = Timekeeping(core.moments, core.heartbeats)
            # What is loaded by now stays: looking through it for garbage would hold up a turn now and then,
            # for longer than making its context takes.
            gc.collect()
            gc.freeze()
            # The one bot of the database looks after everyone's conversations, a terminal after its own.
            care = asyncio.create_task(_summarize_rest(core, clock))
            try:
                await run_bot(
                    settings,
                    core.stores,
                    core.assistant,
                    say,
                    agents=core.agents,
                    timekeeping=timekeeping,
                    clock=clock,
                )
            finally:
                care.cancel()
                await asyncio.gather(care, return_exceptions=True)


async def run_terminal(config: Config, user_id: int, channel_id: int, agent: str | None = None) -> None:
    """Chat in the terminal until the input ends. Raises InvalidSetting for an agent that there is not."""
    clock = clock_of(config)
    async with open_core(config, clock) as core:
        from cc_bot.terminal import ChatProfile, run_chat

        known = await core.agents.all()
        if agent is not None and agent not in known:
            raise InvalidSetting(name="--agent", expected=" / ".join(known))

        profile = ChatProfile(
            key=SessionKey(user_id, channel_id),
            locale=config.operator_locale,
            timezone=config.timezone,
            history_file=sqlite_path(config.database_url).with_name("chat_history"),
            # A channel of Discord has other readers: nothing that is said here may show up in its answers.
            visibility="private" if channel_id else "public",
            model_label=_model_label(config),
            agent=agent,
        )
        try:
            await run_chat(core.assistant, core.stores, profile, agents=core.agents)
        finally:
            await purge_due(core.stores.memory_removal, clock)


async def run_backup(config: Config, folder: Path) -> BackupResult:
    """Copy the database into the folder."""
    now = clock_of(config)().astimezone(config.timezone)
    return await back_up(sqlite_path(config.database_url), folder, now)


async def run_migrate(config: Config, announce: Callable[[Migration], None]) -> tuple[Migration, ...]:
    """Announce what is pending, then apply it."""
    async with open_database(config.database_url, synchronous=config.synchronous) as database:
        for migration in await pending(database):
            announce(migration)
        return await apply_pending(database, clock=clock_of(config))


def clock_of(config: Config) -> Clock:
    """The program's clock; a test may set it ahead."""
    offset = config.test_clock_offset
    return (lambda: utc_now() + offset) if offset else utc_now


def _model_label(config: Config) -> str:
    return texts(config.operator_locale).cli.offline_model if _is_offline(config) else config.models[0]


def _is_offline(config: Config) -> bool:
    return not (config.openai_api_key or config.openai_base_url)


async def _sweep(stores: Stores) -> None:
    """Close what expired, now and every SWEEP_EVERY_S seconds; a failure is tried again then."""
    while True:
        try:
            closed = await stores.sessions.expire()
            _log.debug("sessions_expired", count=closed)
        except CcBotError as error:
            _log.warning("sweep_failed", error=type(error).__name__)
        await asyncio.sleep(SWEEP_EVERY_S)


async def _summarize_rest(core: Core, clock: Clock) -> None:
    """Have what is left of expired conversations summarized, or given up, as often as the sweep runs."""
    while True:
        try:
            if core.summaries:
                await core.summaries.catch_up()
            else:
                await core.stores.summaries.settle(clock(), give_up=True)
        except CcBotError as error:
            _log.warning("summaries_failed", error=type(error).__name__)
        await asyncio.sleep(SWEEP_EVERY_S)
