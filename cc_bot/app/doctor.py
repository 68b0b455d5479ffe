"""`cc-bot doctor`: the checks, made from the settings.

aiohttp, hikari and openai are imported when they are used: not with --offline.
"""
# ruff: noqa: PLC0415 - see above

import asyncio
from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from importlib import import_module
from importlib.resources import files
from pathlib import Path

import cc_bot.tools
from cc_bot.app.clocks import clock_of
from cc_bot.app.core import (
    agents_path,
    build_internet,
    build_searches,
    make_agents,
    make_policies,
    make_servers_file,
    policy_path,
    tool_cost,
)
from cc_bot.app.models import (
    build_embedder,
    build_speaker,
    build_transcriber,
    models_path,
    open_models,
)
from cc_bot.config import LOCAL, OFF, Config
from cc_bot.doctor import Check, Finding, FindingWriter, Report, run_checks
from cc_bot.doctor.models import MAX_REQUESTS, check_model
from cc_bot.doctor.surroundings import (
    FilesSide,
    check_backups,
    check_clock_set_ahead,
    check_database,
    check_documents,
    check_embedder,
    check_erasures,
    check_font,
    check_operator_file,
    check_program,
    check_reading,
    check_sandbox,
    check_search,
    check_speaker,
    check_timezone,
    check_transcriber,
)
from cc_bot.domain.clock import utc_now
from cc_bot.domain.errors import InvalidModels, StartupError
from cc_bot.domain.message import Agent
from cc_bot.domain.text import one_line
from cc_bot.domain.tool_server import ToolServerProblem, ToolServerReport, find_missing
from cc_bot.mcp.file import ServerEntry
from cc_bot.mcp.servers import try_servers
from cc_bot.reading.reader import DocumentReader
from cc_bot.storage.backup import copies_of
from cc_bot.storage.engines import dialect_of, folder_setting, kept_beside, named_beside
from cc_bot.storage.erasures import ErasureLog
from cc_bot.storage.examination import SQLITE
from cc_bot.storage.files import ensure_folder
from cc_bot.texts import Texts, explain, texts
from cc_bot.texts.doctor import DoctorFileTexts
from cc_bot.texts.tool_servers import say_left_out
from cc_bot.tools.registry import discover
from cc_bot.version import __version__

DATABASE_LIMIT_S = 600.0
"""A file of many gigabytes is read from its beginning to its end."""
LOADING_LIMIT_S = 30.0
"""What encodes and what draws are loaded first."""
SEARCH_LIMIT_S = 20.0
SERVERS_LIMIT_S = 30.0
"""For servers with tools to start and to answer."""
MOST_NAMES = 10
"""Of tools, in one sentence."""
SLACK_S = 2.0
"""Beyond a check's own time-outs, so that these are told first."""


async def run_doctor(config: Config, *, offline: bool) -> Report:
    """Look at everything; with `offline` at what needs no network. A bot may run meanwhile: the database is
    looked at over a connection of its own. Raises InvalidSetting if the settings name no database."""
    words = texts(config.operator_locale)
    if not offline:
        _load_clients(config)
    return await run_checks(tuple(_checks(config, words, offline=offline)), words)


def _load_clients(config: Config) -> None:
    """Import what the checks need before their time begins: it takes seconds on a slow machine."""

    if config.discord_token:
        from cc_bot.discord.bot import extension_names

        for name in extension_names():
            import_module(name)


async def _check_database(config: Config, words: Texts) -> Sequence[Finding]:
    url = config.database_url
    if dialect_of(url) == "sqlite":
        path = named_beside(url, config.data_folder)
        return await check_database(FilesSide(path, await asyncio.to_thread(_private_files, config)), words)
    from cc_bot.doctor.server import check_server

    return [*await check_server(url, words), *_check_folder(config, words)]


def _check_folder(config: Config, words: Texts) -> Sequence[Finding]:
    """Look for what stands beside a database on a server: without its folder nothing starts."""
    url = config.database_url
    try:
        ensure_folder(kept_beside(url, config.data_folder), folder_setting(url), only_look=True)
    except StartupError as error:
        return [FindingWriter("database").failed(explain(error, words), words.doctor_server.unreachable_mend)]
    return []


def _checks(config: Config, words: Texts, *, offline: bool) -> Iterator[Check]:
    yield Check("program", partial(_check_program, config, words))
    if not offline:
        yield Check("token", partial(_check_discord, config, words))
    yield Check("database", partial(_check_database, config, words), DATABASE_LIMIT_S)
    if dialect_of(config.database_url) == "sqlite":
        yield Check("backups", partial(check_backups, config.backup_folder, utc_now(), words))
    yield Check("erasures", partial(_check_erasures, config, words))
    yield Check("agents", partial(_check_agents, config, words))
    yield Check("policy", partial(_check_policy, config, words))
    tools = partial(_check_tool_servers, config, words, offline=offline)
    yield Check("tools", tools, LOADING_LIMIT_S + SERVERS_LIMIT_S)
    models = partial(_check_models, config, words, offline=offline)
    yield Check("model", models, config.model_timeout_s * MAX_REQUESTS + SLACK_S)
    if config.embedding_model in (LOCAL, OFF) or not offline:
        yield Check("embedder", partial(_check_embedder, config, words), LOADING_LIMIT_S)
    if not offline:
        speech_s = config.model_timeout_s + SLACK_S
        yield Check("hearing", partial(check_transcriber, build_transcriber(config), words), speech_s)
        yield Check("speaking", partial(check_speaker, build_speaker(config), words), speech_s)
    yield Check("font", partial(check_font, config.operator_locale, words), LOADING_LIMIT_S)
    yield Check("pages", partial(_check_pages, config, words, offline=offline))
    reader = DocumentReader(unconfined=config.read_unconfined)
    yield Check("documents", partial(check_documents, reader, words), LOADING_LIMIT_S)
    confined = partial(check_sandbox, DocumentReader(), words, permitted=config.read_unconfined)
    yield Check("sandbox", confined, LOADING_LIMIT_S)
    pages = None if offline else build_internet(config).pages
    yield Check("reading", partial(check_reading, pages, words, wanted=config.read_pages), LOADING_LIMIT_S)
    if not offline:
        yield Check("search", partial(check_search, build_searches(config), words), SEARCH_LIMIT_S)


async def _check_program(config: Config, words: Texts) -> Sequence[Finding]:
    """Return what is known without looking for it."""
    found = [
        check_program(__version__, SQLITE, words),
        check_timezone(config.timezone, clock_of(config)(), words),
    ]
    offset = config.test_clock_offset
    return [*found, check_clock_set_ahead(offset, words)] if offset else found


async def _check_discord(config: Config, words: Texts) -> Sequence[Finding]:
    from cc_bot.discord.bot import list_command_names
    from cc_bot.doctor.discord import DiscordSide, check_discord

    offered = partial(list_command_names, config.discord_token or "")
    side = DiscordSide(
        config.discord_token, config.discord_api_url, config.channels, offered, __version__, utc_now
    )
    return await check_discord(side, words)


async def _check_pages(config: Config, words: Texts, *, offline: bool) -> Sequence[Finding]:
    from cc_bot.doctor.pages import PagesSide, check_pages

    if config.web_port is None:
        return await check_pages(None, words, offline=offline)
    content = (files("cc_bot.web") / "static" / "live.js").read_bytes()
    side = PagesSide(
        config.web_host, config.web_port, config.web_url, "/static/live.js", content, clock_of(config)
    )
    return await check_pages(side, words, offline=offline)


def _private_files(config: Config) -> Sequence[Path]:
    """Return what else must be nobody's but the operator's."""
    database = kept_beside(config.database_url, config.data_folder)
    history = named_beside(config.database_url, config.data_folder).with_name("chat_history")
    own = [Path(".env"), Path(".env.txt"), models_path(config), ErasureLog.beside(database).path]
    return [*own, history, *copies_of(database)]


async def _check_erasures(config: Config, words: Texts) -> Sequence[Finding]:
    log = ErasureLog.beside(kept_beside(config.database_url, config.data_folder)).path
    return await check_erasures(log, config.backup_folder, words)


async def _check_agents(config: Config, words: Texts) -> Sequence[Finding]:
    async def load() -> str:
        agents = await make_agents(config, discover(cc_bot.tools).names).load()
        there = agents_path(config).exists()
        said = words.doctor_files
        return said.agents_ok.format(count=len(agents)) if there else said.agents_none

    return await check_operator_file(FindingWriter("agents"), load, words)


async def _check_policy(config: Config, words: Texts) -> Sequence[Finding]:
    async def load() -> str:
        await make_policies(config).load()
        said = words.doctor_files
        return said.policy_ok if policy_path(config).exists() else said.policy_none

    return await check_operator_file(FindingWriter("policy"), load, words)


async def _check_tool_servers(config: Config, words: Texts, *, offline: bool) -> Sequence[Finding]:
    notes, said = FindingWriter("tools"), words.doctor_files
    servers: Mapping[str, ServerEntry] = {}

    async def load() -> str:
        nonlocal servers
        servers = await make_servers_file(config).load()
        return said.tools_ok.format(count=len(servers)) if servers else said.tools_none

    found = [*await check_operator_file(notes, load, words)]
    if not servers or offline:
        return [*found, *await _check_named_tools(config, words, dict.fromkeys(servers))]
    reports, known = await try_servers(servers, tool_cost, SERVERS_LIMIT_S)
    for each in reports:
        if each.state != "ready":
            detail = said.tool_server_away.format(server=each.server, problem=_problem(each, said))
            found.append(notes.failed(detail, said.tool_server_away_mend))
            continue
        found.append(
            notes.ok(said.tool_server_ok.format(server=each.server, tools=each.tools, tokens=each.tokens))
        )
        if each.left_out:
            left_out = say_left_out(each.left_out, words.tool_servers)
            detail = said.tool_server_left_out.format(server=each.server, tools=left_out)
            found.append(notes.warning(detail, said.tool_server_left_out_mend))
        elif not each.tools and (listed := known[each.server]):
            names = one_line(", ".join(listed[:MOST_NAMES]))
            detail = said.tool_server_none_fits.format(server=each.server, tools=names)
            found.append(notes.warning(detail, said.tool_server_none_fits_mend))
        elif not each.tools:
            detail = said.tool_server_empty.format(server=each.server)
            found.append(notes.warning(detail, said.tool_server_empty_mend))
    if (total := sum(each.tokens for each in reports)) > config.tool_tokens:
        taken = ", ".join(f"{each.server} {each.tokens}" for each in reports)
        told = words.tool_servers_file.over_budget
        detail = told.format(total=total, limit=config.tool_tokens, each=taken)
        found.append(notes.failed(detail, said.file_mend))
    return [*found, *await _check_named_tools(config, words, known)]


async def _check_named_tools(
    config: Config, words: Texts, known: Mapping[str, Sequence[str] | None]
) -> Sequence[Finding]:
    """Tell of agents that name tools of servers that are not there."""
    notes, said = FindingWriter("tools"), words.doctor_files
    agents = await _load_agents(config)
    missing = [(agent.name, find_missing(agent.tools or (), known)) for agent in agents.values()]
    return [
        notes.warning(
            said.agent_tools_missing.format(agent=name, tools=", ".join(tools[:MOST_NAMES])),
            said.agent_tools_missing_mend,
        )
        for name, tools in missing
        if tools
    ]


async def _load_agents(config: Config) -> Mapping[str, Agent]:
    """Read who can answer; nobody where that file is wrong, of which its own check tells."""
    try:
        return await make_agents(config, discover(cc_bot.tools).names).load()
    except StartupError:
        return {}


def _problem(report: ToolServerReport, said: DoctorFileTexts) -> str:
    """Tell why a server is away."""
    problem = report.problem or ToolServerProblem("late")
    sentence = said.tool_server_problems[problem.kind]
    return sentence.format(detail=problem.detail, seconds=round(SERVERS_LIMIT_S))


async def _check_models(config: Config, words: Texts, *, offline: bool) -> Sequence[Finding]:
    """Check the models that answer, that write summaries, and that agents have of their own; each once."""
    notes = FindingWriter("model")
    try:
        async with open_models(config) as models:
            if models.offline:
                if not (named := models.named_in_vain):
                    return [notes.ok(words.doctor.model_offline)]
                said = words.cli.model_without_server.format(model=named)
                return [notes.warning(said, words.cli.model_without_server_mend)]
            if offline:
                return []
            agents, tools = await _load_agents(config), discover(cc_bot.tools).schemas()
            own = [name for agent in agents.values() for name in agent.models]
            names = dict.fromkeys((*config.models, *config.summary_models, *own))
            asked = (check_model(name, models.get(name), tools, words) for name in names)
            return [finding for findings in await asyncio.gather(*asked) for finding in findings]
    except InvalidModels as error:
        return [notes.failed(explain(error, words), words.doctor_files.file_mend)]


async def _check_embedder(config: Config, words: Texts) -> Sequence[Finding]:
    said, notes = words.doctor, FindingWriter("embedder")
    embedder = build_embedder(config)
    if embedder is None:
        return [notes.ok(said.embedder_off if config.embedding_model == OFF else said.embedder_none)]
    try:
        return await check_embedder(embedder, words)
    finally:
        await embedder.close()
