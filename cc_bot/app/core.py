"""What every front end needs, put together."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from functools import partial

import cc_bot.tools
from cc_bot.agents import Agents
from cc_bot.app.metrics import metered
from cc_bot.app.models import asked_first, build_embedder, build_model
from cc_bot.app.operator_files import agents_of, policies_of
from cc_bot.app.upkeep import sweep, unbroken
from cc_bot.assistant import Assistant, Heartbeats, Moments
from cc_bot.config import Config
from cc_bot.context.prompt import PromptStyle
from cc_bot.context.tokens import message_tokens
from cc_bot.domain.clock import Clock
from cc_bot.domain.measures import UNMEASURED, Meter
from cc_bot.llm.chains import Chains
from cc_bot.llm.metered import MeteredModel
from cc_bot.policy import Policies
from cc_bot.privacy import Privacy, keep_copies_to_retention, keep_log_thin, keep_to_retention
from cc_bot.purge import keep_purging
from cc_bot.search.embedder import Embedder
from cc_bot.spending import Spending
from cc_bot.storage.copies import Copies
from cc_bot.storage.location import database_file
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
    policies: Policies
    spending: Spending
    moments: Moments
    heartbeats: Heartbeats
    privacy: Privacy


@asynccontextmanager
async def open_core(config: Config, clock: Clock, meter: Meter = UNMEASURED) -> AsyncIterator[Core]:
    """The assistant over the configured database and model. `meter` is told what goes on in it."""
    tools = discover(cc_bot.tools)
    agents = agents_of(config, tools.names)
    await agents.load()
    policies = policies_of(config)
    await policies.load()
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
            timezone=config.timezone,
            limits=policies.limits,
            profile_notes=config.profile_notes,
        ) as stores,
        _open_summaries(
            config, stores, spending := Spending(stores.usage, policies.now), clock, meter
        ) as summaries,
    ):
        first = asked_first(config, config.models)
        chains = Chains(partial(build_model, config), config.models)
        for agent in (await agents.all()).values():  # not during a turn
            chains.of(agent.models)
        style = PromptStyle(config.token_budget, config.single_system, config.block_tokens, config.locale)
        asked = metered(chains.of, meter, "turn")
        assistant = Assistant(
            stores,
            asked(()),
            tools,
            max_turns=config.max_turns,
            style=style,
            clock=clock,
            model_name=first,
            summaries=summaries,
            models=asked,
            meter=meter,
            spending=spending,
        )
        heartbeats = Heartbeats(
            stores,
            metered(chains.of, meter, "heartbeat"),
            tools,
            style=style,
            clock=clock,
            model_name=first,
            spending=spending,
        )
        database, retention, zone = database_file(config.database_url), config.retention, config.timezone
        copies = Copies(database, config.backup_folder, zone)
        privacy = Privacy(
            stores,
            assistant.without_turns_of,
            retention=retention,
            clock=clock,
            counting_on=spending.counting_on,
        )
        jobs: list[Callable[[], Awaitable[None]]] = [
            partial(sweep, stores, spending),
            partial(keep_purging, stores.memory_removal, clock),
            privacy.go_on,
            partial(keep_to_retention, stores.retention, retention, clock, zone),
            partial(keep_copies_to_retention, database, retention, clock, zone),
            partial(keep_log_thin, stores.erasures, copies, retention, clock),
        ]
        running = [asyncio.create_task(unbroken(job)) for job in jobs]
        try:
            moments = Moments(metered(chains.of, meter, "schedule")(()), clock, spending, first)
            yield Core(stores, assistant, summaries, agents, policies, spending, moments, heartbeats, privacy)
        finally:
            for task in running:
                task.cancel()
            await asyncio.gather(*running, return_exceptions=True)
            await assistant.settle()
            await chains.close()


@asynccontextmanager
async def _open_embedder(config: Config) -> AsyncIterator[Embedder | None]:
    embedder = build_embedder(config)
    try:
        yield embedder
    finally:
        if embedder:
            await embedder.close()


@asynccontextmanager
async def _open_summaries(
    config: Config, stores: Stores, spending: Spending, clock: Clock, meter: Meter
) -> AsyncIterator[Summaries | None]:
    if not config.summary_every:
        yield None
        return
    model = build_model(config, config.summary_models)
    plan = SummaryPlan(config.summary_every, config.history_limit)
    summaries = Summaries(
        stores,
        MeteredModel(model, meter, "summary"),
        plan,
        cost=message_tokens,
        locale=config.locale,
        clock=clock,
        model_name=asked_first(config, config.summary_models),
        spending=spending,
    )
    try:
        yield summaries
    finally:
        await summaries.close(SUMMARY_DRAIN_S)
        await model.close()
