"""Builds the parts that every front end needs."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AsyncExitStack, asynccontextmanager, suppress
from dataclasses import dataclass
from functools import partial

import structlog

from cc_bot.chat.agents import make_agents
from cc_bot.chat.assistant import Assistant
from cc_bot.chat.context.prompt import PromptSettings
from cc_bot.chat.context.tokens import message_tokens
from cc_bot.chat.parts import PartsBuilder
from cc_bot.chat.policy import make_policies
from cc_bot.chat.spending import Spending
from cc_bot.chat.stores.opening import Stores, open_stores
from cc_bot.chat.summaries import Summaries, SummaryPlan
from cc_bot.chat.tools import ExternalTools, discover_tools
from cc_bot.chat.turn import Transcriber
from cc_bot.concurrency import Tasks
from cc_bot.config import Config
from cc_bot.db.engines import state_path
from cc_bot.db.leases import JoinOptions, Leases, Membership, join
from cc_bot.domain.clock import Clock
from cc_bot.domain.measures import NULL_METER, GatewayHealth, Meter
from cc_bot.features import modules
from cc_bot.features.privacy.service import Privacy, enforce_copy_retention, enforce_retention, keep_purging
from cc_bot.llm.model import Chains
from cc_bot.llm.providers import build_embedder, open_models
from cc_bot.log import log_errors

SWEEP_EVERY_S = 600.0
SUMMARY_DRAIN_S = 1.0  # an interrupted summary is repeated later

Work = Callable[[], Awaitable[None]]

_log = structlog.get_logger(__name__)


@dataclass(frozen=True, slots=True, kw_only=True)
class Core(PartsBuilder):
    summaries: Summaries | None  # None if disabled
    leases: Leases
    membership: Membership | None  # None in `cc-bot chat`


@asynccontextmanager
async def open_core(
    config: Config,
    clock: Clock,
    meter: Meter = NULL_METER,
    *,
    gateway_health: GatewayHealth | None = None,
    external_tools: ExternalTools | None = None,
    join_options: JoinOptions | None = None,
) -> AsyncIterator[Core]:
    """Open the assistant. `external_tools` replaces the tools of servers that features open."""
    local_tools, gateway_health = discover_tools(), gateway_health or GatewayHealth()
    await (agents := make_agents(config, local_tools.names)).load()
    await (policies := make_policies(config)).load()
    async with AsyncExitStack() as opened:
        models = await opened.enter_async_context(open_models(config))
        if embedder := build_embedder(config):
            opened.push_async_callback(embedder.close)
        stores = await opened.enter_async_context(
            open_stores(
                config.database_url,
                history_limit=config.history_limit,
                session_ttl=config.session_ttl,
                clock=clock,
                synchronous=config.synchronous,
                secret_patterns=config.secret_patterns,
                embedder=embedder,
                timezone=config.timezone,
                limits=policies.get_limits,
                max_prompt_memories=config.max_prompt_memories,
                data_folder=config.data_folder,
                process=join_options.process.name if join_options else "",
            )
        )
        membership = None
        if join_options:
            membership = await opened.enter_async_context(join(stores.processes, join_options))
        spending = Spending(stores.usage, policies.current, meter)
        chains = Chains(
            models.make_chain, () if models.is_offline else config.models, models.changes_to_requests
        )
        summaries = _make_summaries(config, stores, chains, spending, clock)
        if summaries:
            opened.push_async_callback(summaries.close, SUMMARY_DRAIN_S)
        openers = [getattr(module, "open_tools", None) for module in modules("tools")]
        for open_tools in () if external_tools else filter(None, openers):
            external_tools = await opened.enter_async_context(open_tools(config, stores, meter))
        tools = local_tools.with_external(external_tools) if external_tools else local_tools
        for agent in (await agents.get_all()).values():  # builds each chain before a turn needs it
            chains.chain_for(agent.models)
        style = PromptSettings(config.token_budget, config.block_tokens, config.locale)
        assistant = Assistant(
            stores,
            chains,
            tools,
            max_turns=config.max_turns,
            prompt_settings=style,
            clock=clock,
            summaries=summaries,
            meter=meter,
            spending=spending,
        )
        opened.push_async_callback(assistant.wait_for_tasks)
        privacy = Privacy(
            stores,
            assistant.turns.block_user,
            retention=config.retention,
            clock=clock,
            get_counted_day=spending.get_counted_day,
        )
        leases, processes_changed = membership or Leases(), asyncio.Event()
        retention, zone = config.retention, config.timezone
        leader_jobs: dict[str, Work] = {
            "sweep": partial(sweep, stores, spending, processes_changed),
            "purge": partial(keep_purging, stores, clock, zone),
            "retention": partial(enforce_retention, stores.retention, retention, clock, zone),
        }
        database = state_path(config.database_url, config.data_folder)
        jobs: list[Work] = [
            *(
                partial(leases.run_as_leader, name, partial(keep_running, work))
                for name, work in leader_jobs.items()
            ),
            privacy.keep_finishing,
            partial(enforce_copy_retention, database, retention, clock),
        ]
        if membership:
            membership.on_change.append(processes_changed.set)
            membership.on_change.append(privacy.wake)
            jobs.append(partial(assistant.watch_erasures, membership))
        tasks = Tasks()
        for job in jobs:
            tasks.start(keep_running(job))
        opened.push_async_callback(tasks.cancel)
        core = Core(
            config=config,
            clock=clock,
            gateway_health=gateway_health,
            meter=meter,
            stores=stores,
            models=models,
            assistant=assistant,
            agents=agents,
            policies=policies,
            spending=spending,
            privacy=privacy,
            chains=chains,
            tools=tools,
            exit_stack=opened,
            summaries=summaries,
            leases=leases,
            membership=membership,
        )
        core.add_feature_parts("parts")
        assistant.transcriber = core.get(Transcriber)
        yield core


def _make_summaries(
    config: Config, stores: Stores, chains: Chains, spending: Spending, clock: Clock
) -> Summaries | None:
    if not config.summary_every or not chains.default_names:
        return None
    return Summaries(
        stores,
        chains.chain_for(config.summary_models),
        SummaryPlan(config.summary_every, config.history_limit),
        count_tokens=message_tokens,
        locale=config.locale,
        clock=clock,
        model_name=chains.first_name(config.summary_models),
        spending=spending,
    )


async def keep_running(work: Work, *, pause_s: float = SWEEP_EVERY_S) -> None:
    """Run `work` until it returns or is cancelled; log unexpected errors and restart it."""
    while True:
        try:
            await work()
        except Exception:  # noqa: BLE001 - nothing awaits this work, so its end would go unnoticed
            _log.error("upkeep_broke", exc_info=True)
            await asyncio.sleep(pause_s)
        else:
            return


async def sweep(stores: Stores, spending: Spending, processes_changed: asyncio.Event) -> None:
    """Expire sessions, settle dead processes' costs, and prune: every SWEEP_EVERY_S and on the event."""
    while True:
        processes_changed.clear()
        with log_errors("sweep"):
            await stores.sessions.expire()
            await spending.settle_abandoned()
            await stores.proposals.prune()
            await stores.web_sessions.prune()
        with suppress(TimeoutError):
            async with asyncio.timeout(SWEEP_EVERY_S):
                await processes_changed.wait()


async def summarize_expired(stores: Stores, summaries: Summaries | None, clock: Clock) -> None:
    """Summarize expired conversations every SWEEP_EVERY_S, or mark them as done if summaries are disabled."""
    while True:
        with log_errors("summaries"):
            if summaries:
                await summaries.catch_up()
            else:
                await stores.summaries.stop_summarizing(clock(), give_up=True)
        await asyncio.sleep(SWEEP_EVERY_S)
