"""Builds the parts that every front end needs."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Collection, Mapping
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import structlog

import cc_bot.tools
from cc_bot.agents import Agents
from cc_bot.app.models import Models, build_embedder, build_speaker, build_transcriber, open_models
from cc_bot.assistant import Assistant, AssistantSettings, Heartbeats, TimeResolver
from cc_bot.config import Config
from cc_bot.context.prompt import PromptStyle
from cc_bot.context.tokens import message_tokens, tools_tokens
from cc_bot.domain.clock import Clock
from cc_bot.domain.errors import CcBotError
from cc_bot.domain.measures import NULL_METER, GatewayHealth, Meter
from cc_bot.domain.tool_server import ServerTool
from cc_bot.internet.turn import PageSource, SearchService, WebAccess, can_read_pages
from cc_bot.llm.chain import Chains
from cc_bot.llm.model import ToolSchema
from cc_bot.log import job
from cc_bot.mcp.file import ServerEntry, servers_file
from cc_bot.mcp.servers import Servers, open_servers
from cc_bot.operator_file import OperatorFile
from cc_bot.policy import Policies
from cc_bot.privacy import Privacy, keep_copies_to_retention, keep_purging, keep_to_retention
from cc_bot.process import JoinOptions, Leases, Membership, OwnLeases, join
from cc_bot.search.vectors import Embedder
from cc_bot.spending import Spending
from cc_bot.storage.backup import backups_in
from cc_bot.storage.engines import config_path, state_path
from cc_bot.storage.files import free_bytes
from cc_bot.stores import Stores, open_stores
from cc_bot.summaries import Summaries, SummaryPlan
from cc_bot.tools.registry import discover
from cc_bot.tools.servers import ServerTools, ToolServers
from cc_bot.version import __version__

# ---- metrics ---------------------------------------------------------------------------------------------
# prometheus_client and aiohttp's server are imported only if metrics are enabled.

# ruff: noqa: PLC0415 - see above


if TYPE_CHECKING:
    from cc_bot.internet.http import Network
    from cc_bot.metrics import PrometheusMeter


def make_meter(config: Config) -> "PrometheusMeter | None":
    """Return the metrics; None if no port is set for them."""
    if config.metrics_port is None:
        return None
    from cc_bot.metrics import PrometheusMeter

    return PrometheusMeter(__version__)


@asynccontextmanager
async def serve_metrics(
    config: Config,
    meter: "PrometheusMeter | None",
    pulse: GatewayHealth,
    stores: Stores,
    assistant: Assistant,
) -> AsyncIterator[None]:
    """Serve /healthz and /metrics if a port is set. Raises PortTaken and InvalidSetting."""
    if config.metrics_port is None or meter is None:
        yield
        return
    from cc_bot.metrics import Vitals, serve

    folder = beside(config).absolute().parent

    def backed_up_at_s() -> float | None:
        newest = next(iter(backups_in(config.backup_folder)), None)
        return newest.path.stat().st_mtime if newest else None

    vitals = Vitals(
        pulse, stores.vitals, lambda: assistant.turns.load, lambda: free_bytes(folder), backed_up_at_s
    )
    async with serve(config.metrics_host, config.metrics_port, meter, vitals):
        yield


# ---- web -------------------------------------------------------------------------------------------------


def build_internet(config: Config, network: "Network | None" = None) -> WebAccess:
    """Return the configured web access; pages are read on `network`, by default the public internet."""
    services, pages = build_searches(config), _build_pages(config, network)
    if not services:
        return WebAccess(pages)
    from cc_bot.internet.search import WebSearch

    return WebAccess(pages, WebSearch(services))


def _build_pages(config: Config, network: "Network | None") -> PageSource | None:
    if not (config.read_pages and can_read_pages()):
        return None
    from cc_bot.internet.http import PUBLIC
    from cc_bot.internet.pages import PageReader

    return PageReader(network or PUBLIC, unconfined=config.read_unconfined)


def build_searches(config: Config) -> tuple[SearchService, ...]:
    if not (config.search_url or config.brave_key):
        return ()
    from cc_bot.internet.search import BraveSearch, SearxngSearch

    own: list[SearchService] = [SearxngSearch(config.search_url)] if config.search_url else []
    return (*own, *([BraveSearch(config.brave_key)] if config.brave_key else []))


# ---- operator files --------------------------------------------------------------------------------------
# The operator's files: beside the database, unless configured.


def beside(config: Config) -> Path:
    return config_path(config.database_url, config.data_folder)


def agents_path(config: Config) -> Path:
    return config.agents_file or config_path(config.database_url, config.data_folder).with_name("agents.toml")


def make_agents(config: Config, tools: Collection[str]) -> Agents:
    """Return the agents; `tools` are the names of existing tools."""
    required = config.agents_file is not None
    return Agents(agents_path(config), tools=tools, locale=config.operator_locale, required=required)


def policy_path(config: Config) -> Path:
    return config.policy_file or config_path(config.database_url, config.data_folder).with_name("policy.toml")


def make_policies(config: Config) -> Policies:
    required = config.policy_file is not None
    return Policies(policy_path(config), locale=config.operator_locale, required=required)


def mcp_path(config: Config) -> Path:
    return config.mcp_file or config_path(config.database_url, config.data_folder).with_name("mcp.json")


def make_servers_file(config: Config) -> OperatorFile[Mapping[str, ServerEntry]]:
    required, locale = config.mcp_file is not None, config.operator_locale
    return servers_file(mcp_path(config), variables=config.variables, locale=locale, required=required)


def tool_cost(tool: ServerTool) -> int:
    """Return the tokens that a tool's definition takes."""
    return tools_tokens([ToolSchema(tool.full_name, tool.description, tool.parameters)])


# ---- upkeep ----------------------------------------------------------------------------------------------

SWEEP_EVERY_S = 600.0

_log = structlog.get_logger(__name__)


async def keep_running(work: Callable[[], Awaitable[None]], *, pause_s: float = SWEEP_EVERY_S) -> None:
    """Run `work` until it returns or is cancelled; after an unexpected error, log it and restart. Nothing
    awaits this work, so a crash would go unnoticed."""
    while True:
        try:
            await work()
        except Exception:  # noqa: BLE001 - see above
            _log.error("upkeep_broke", exc_info=True)
            await asyncio.sleep(pause_s)
        else:
            return


async def sweep(stores: Stores, spending: Spending, changed: asyncio.Event) -> None:
    """Expire sessions, settle orphaned costs and prune proposals and web sessions: now, whenever `changed` is
    set, and every SWEEP_EVERY_S seconds, which also retries failures."""
    while True:
        changed.clear()
        with job("sweep"):
            try:
                await stores.sessions.expire()
                await spending.take_over()
                await stores.proposals.prune()
                await stores.web_sessions.prune()
            except CcBotError as error:
                _log.warning("sweep_failed", error=type(error).__name__)
        with suppress(TimeoutError):
            async with asyncio.timeout(SWEEP_EVERY_S):
                await changed.wait()


async def summarize_rest(stores: Stores, summaries: Summaries | None, clock: Clock) -> None:
    """Summarize expired conversations, or give that up, every SWEEP_EVERY_S seconds."""
    while True:
        with job("summaries"):
            try:
                if summaries:
                    await summaries.catch_up()
                else:
                    await stores.summaries.settle(clock(), give_up=True)
            except CcBotError as error:
                _log.warning("summaries_failed", error=type(error).__name__)
        await asyncio.sleep(SWEEP_EVERY_S)


# ---- core ------------------------------------------------------------------------------------------------

SUMMARY_DRAIN_S = 1.0
"""An interrupted summary is made later."""


@dataclass(frozen=True, slots=True)
class Core:
    stores: Stores
    models: Models
    assistant: Assistant
    summaries: Summaries | None
    """None if disabled."""
    agents: Agents
    policies: Policies
    spending: Spending
    moments: TimeResolver
    heartbeats: Heartbeats
    privacy: Privacy
    servers: Servers
    duties: Leases
    membership: Membership | None
    """None for programs that are not processes of the bot."""


@asynccontextmanager
async def open_core(
    config: Config,
    clock: Clock,
    meter: Meter = NULL_METER,
    *,
    network: "Network | None" = None,
    servers: ToolServers | None = None,
    joining: JoinOptions | None = None,
) -> AsyncIterator[Core]:
    """Open the assistant with the configured database and models. Pages are read on `network`, by default the
    public internet; `servers` default to the operator's file; with `joining` it joins the bot's processes."""
    own = discover(cc_bot.tools)
    agents = make_agents(config, own.names)
    await agents.load()
    policies = make_policies(config)
    await policies.load()
    servers_named = make_servers_file(config)
    await servers_named.load()
    async with (
        open_models(config) as models,
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
            data_folder=config.data_folder,
            process=joining.process.name if joining else "",
        ) as stores,
        _join(stores, joining) as membership,
        _open_summaries(
            config, stores, models, spending := Spending(stores.usage, policies.now, meter), clock
        ) as summaries,
        open_servers(
            servers_named, stores.tool_lists, cost=tool_cost, budget=config.tool_tokens, meter=meter
        ) as named_servers,
    ):
        tools = own.beside(ServerTools(servers or named_servers))
        default = () if models.offline else config.models
        hears, speaks = build_transcriber(config), build_speaker(config)
        chains = Chains(models.chain, default, hears, speaks, models.changes)
        for agent in (await agents.all()).values():  # not during a turn
            chains.of(agent.models)
        style = PromptStyle(config.token_budget, config.block_tokens, config.locale)
        assistant = Assistant(
            stores,
            chains,
            tools,
            AssistantSettings(config.max_turns, style, internet=build_internet(config, network)),
            clock=clock,
            summaries=summaries,
            meter=meter,
            spending=spending,
        )
        heartbeats = Heartbeats(stores, chains, tools, style=style, clock=clock, spending=spending)
        database = state_path(config.database_url, config.data_folder)
        retention, zone = config.retention, config.timezone
        privacy = Privacy(
            stores,
            assistant.turns.exclusive,
            retention=retention,
            clock=clock,
            counting_on=spending.get_counted_day,
        )
        duties, changed = membership or OwnLeases(), asyncio.Event()
        if membership:
            membership.call_on_change(changed.set)
            membership.call_on_change(privacy.look_again)
        for_all: dict[str, Callable[[], Awaitable[None]]] = {
            "sweep": partial(sweep, stores, spending, changed),
            "purge": partial(keep_purging, stores.memory_removal, clock, zone),
            "retention": partial(keep_to_retention, stores.retention, retention, clock, zone),
        }
        jobs: list[Callable[[], Awaitable[None]]] = [
            *(
                partial(duties.run_as_leader, duty, partial(keep_running, work))
                for duty, work in for_all.items()
            ),
            privacy.keep_finishing,
            partial(keep_copies_to_retention, database, retention, clock),
        ]
        if membership:
            jobs.append(partial(assistant.watch_erasures, membership))
        running = [asyncio.create_task(keep_running(job)) for job in jobs]
        try:
            moments = TimeResolver(chains.of(()), clock, spending, chains.first(()))
            yield Core(
                stores,
                models,
                assistant,
                summaries,
                agents,
                policies,
                spending,
                moments,
                heartbeats,
                privacy,
                named_servers,
                duties,
                membership,
            )
        finally:
            for task in running:
                task.cancel()
            await asyncio.gather(*running, return_exceptions=True)
            await assistant.settle()
            await chains.close()


@asynccontextmanager
async def _join(stores: Stores, joining: JoinOptions | None) -> AsyncIterator[Membership | None]:
    if joining is None:
        yield None
        return
    async with join(stores.processes, joining) as membership:
        yield membership


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
    config: Config, stores: Stores, models: Models, spending: Spending, clock: Clock
) -> AsyncIterator[Summaries | None]:
    if not config.summary_every or models.offline:
        yield None
        return
    model = models.chain(config.summary_models)
    plan = SummaryPlan(config.summary_every, config.history_limit)
    summaries = Summaries(
        stores,
        model,
        plan,
        cost=message_tokens,
        locale=config.locale,
        clock=clock,
        model_name=models.first(config.summary_models),
        spending=spending,
    )
    try:
        yield summaries
    finally:
        await summaries.close(SUMMARY_DRAIN_S)
