"""What every front end needs, put together."""

import asyncio
from collections.abc import AsyncIterator, Collection
from contextlib import asynccontextmanager
from dataclasses import dataclass
from functools import partial

import cc_bot.tools
from cc_bot.agents import Agents
from cc_bot.app.models import build_embedder, build_model
from cc_bot.app.upkeep import sweep
from cc_bot.assistant import Assistant, Heartbeats, Moments
from cc_bot.config import Config
from cc_bot.context.prompt import PromptStyle
from cc_bot.context.tokens import message_tokens
from cc_bot.domain.clock import Clock
from cc_bot.llm.chains import Chains
from cc_bot.purge import keep_purging
from cc_bot.search.embedder import Embedder
from cc_bot.storage.location import sqlite_path
from cc_bot.stores import Stores, open_stores
from cc_bot.summaries import Summaries, SummaryPlan
from cc_bot.tools.registry import discover

SUMMARY_DRAIN_S = 1.0
"""A summary that is cut off is only made later."""


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
        jobs = [sweep(stores), keep_purging(stores.memory_removal, clock)]
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
