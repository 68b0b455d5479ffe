"""Runs the checks."""

import asyncio
import platform
from collections.abc import Collection, Coroutine, Iterable, Iterator, Mapping, Sequence
from functools import partial
from importlib import import_module
from itertools import chain
from typing import Any, Final

from cc_bot import __version__
from cc_bot.app.files import make_agents
from cc_bot.chat.policy import make_policies
from cc_bot.chat.tools import discover
from cc_bot.config import LOCAL, OFF, Config
from cc_bot.db.engines import dialect_of
from cc_bot.db.sqlite import SQLITE_VERSION
from cc_bot.domain.clock import utc_now
from cc_bot.domain.errors import CcBotError, InvalidSetting, StartupError
from cc_bot.domain.message import Agent
from cc_bot.domain.text import one_line
from cc_bot.features.agents.service import Agents
from cc_bot.features.doctor import Finding, Report, database, failed, ok, services, warning
from cc_bot.features.doctor.texts import DoctorTexts
from cc_bot.features.documents.reader import DocumentReader
from cc_bot.features.mcp.file import make_servers_file
from cc_bot.features.mcp.model import ToolServerProblem, ToolServerReport, find_missing
from cc_bot.features.mcp.servers import try_servers
from cc_bot.features.mcp.texts import ToolServersFileTexts, ToolServersTexts, say_left_out
from cc_bot.features.mcp.tools import tool_cost
from cc_bot.features.web_pages.parts import make_access, make_searches
from cc_bot.llm.configured import build_embedder, build_speaker, build_transcriber
from cc_bot.operator_file import path_of
from cc_bot.texts import Texts, explain, texts

LIMIT_S: Final = 30.0
DATABASE_LIMIT_S: Final = 600.0
"""A file of many gigabytes is read completely."""
SERVERS_LIMIT_S: Final = 30.0
"""For MCP servers to start and list their tools."""
SLACK_S: Final = 2.0
"""Beyond a check's own timeouts, so that these are reported first."""
Checked = Finding | Sequence[Finding]
Check = tuple[str, Coroutine[Any, Any, Checked], float]
"""Its name, the check, and its time limit in seconds."""


async def run_doctor(config: Config, *, offline: bool) -> Report:
    """`offline`: only the checks without network. Raises InvalidSetting if no database is named."""
    words = texts(config.operator_locale)
    if config.discord_token and not offline:  # before the time limits start: takes seconds on a slow machine
        for name in import_module("cc_bot.discord.bot").extension_names():
            import_module(name)
    return await run_checks(list_checks(config, words, offline=offline), words)


def list_checks(config: Config, words: Texts, *, offline: bool) -> Iterator[Check]:
    online, local = not offline, dialect_of(config.database_url) == "sqlite"
    unconfined = config.read_unconfined
    agents = make_agents(config, discover().names)
    yield "program", _check_program(config, words), LIMIT_S
    if online:
        yield "token", _check_discord(config, words), LIMIT_S
    check_database = database.check_database_file if local else database.check_database_server
    yield "database", check_database(config, words), DATABASE_LIMIT_S
    if local:
        yield "backups", database.check_backups(config, words, utc_now()), LIMIT_S
    yield "erasures", database.check_erasures(config, words), LIMIT_S
    yield "agents", _check_agents(config, words, agents), LIMIT_S
    yield "policy", _check_policy(config, words), LIMIT_S
    yield "tools", _check_tools(config, words, agents, offline=offline), 2 * SERVERS_LIMIT_S
    models_s = config.model_timeout_s * services.MAX_REQUESTS + SLACK_S
    yield "model", _check_models(config, words, agents, offline=offline), models_s
    if online or config.embedding_model in (LOCAL, OFF):
        wanted = config.embedding_model != OFF
        yield "embedder", services.check_embedder(build_embedder(config), words, wanted=wanted), LIMIT_S
    if online:
        speech_s = config.model_timeout_s + SLACK_S
        yield "hearing", services.check_transcriber(build_transcriber(config), words), speech_s
        yield "speaking", services.check_speaker(build_speaker(config), words), speech_s
    yield "font", services.check_charts(config.operator_locale, words), LIMIT_S
    yield "pages", services.check_pages(config, words, config.clock, offline=offline), LIMIT_S
    yield "documents", services.check_documents(DocumentReader(unconfined=unconfined), words), LIMIT_S
    yield "sandbox", services.check_sandbox(DocumentReader(), words, unconfined=unconfined), LIMIT_S
    pages = make_access(config).pages if online else None
    yield "reading", services.check_reading(pages, words, wanted=config.read_pages), LIMIT_S
    if online:
        yield "search", services.check_search(make_searches(config), words), LIMIT_S


async def run_checks(checks: Iterable[Check], words: Texts) -> Report:
    """Returns their findings in order."""
    found = await asyncio.gather(*(_run(check, words) for check in checks))
    return Report(tuple(chain.from_iterable(found)))


async def _run(check: Check, words: Texts) -> Sequence[Finding]:
    name, running, limit_s = check
    try:
        async with asyncio.timeout(limit_s):
            found = await running
        return [found] if isinstance(found, Finding) else found
    except TimeoutError:
        return [failed(name, words[DoctorTexts].took_too_long.format(seconds=round(limit_s)))]
    except CcBotError as error:
        is_file = isinstance(error, StartupError) and not isinstance(error, InvalidSetting)
        return [failed(name, explain(error, words), words[DoctorTexts].file_fix if is_file else "")]
    except Exception as error:  # noqa: BLE001 - the other checks are still worth reading
        return [failed(name, words[DoctorTexts].broke.format(error=type(error).__name__))]


async def _check_program(config: Config, words: Texts) -> Sequence[Finding]:
    said, zone = words[DoctorTexts], config.timezone
    versions = {"version": __version__, "python": platform.python_version(), "sqlite": SQLITE_VERSION}
    now = f"{config.clock().astimezone(zone):%Y-%m-%d %H:%M}"
    found = [
        ok("program", said.program.format(**versions)),
        ok("timezone", said.timezone_ok.format(zone=zone.key, time=now)),
    ]
    if offset := config.test_clock_offset:
        found.append(warning("clock", said.clock_set.format(seconds=round(offset.total_seconds()))))
    return found


async def _check_discord(config: Config, words: Texts) -> Sequence[Finding]:
    bot = import_module("cc_bot.discord.bot")  # hikari takes a second to load
    names = partial(bot.list_command_names, config.discord_token or "")
    return await services.check_discord(config, words, names, utc_now)


async def _check_agents(config: Config, words: Texts, agents: Agents) -> Finding:
    said, count = words[DoctorTexts], len(await agents.load())
    there = path_of(config, "agents.toml").exists()
    return ok("agents", said.agents_ok.format(count=count) if there else said.agents_none)


async def _check_policy(config: Config, words: Texts) -> Finding:
    await make_policies(config).load()
    there = path_of(config, "policy.toml").exists()
    return ok("policy", words[DoctorTexts].policy_ok if there else words[DoctorTexts].policy_none)


async def _load_agents(agents: Agents) -> Collection[Agent]:
    """None if their file is invalid, which _check_agents reports."""
    try:
        return (await agents.load()).values()
    except StartupError:
        return ()


async def _check_models(config: Config, words: Texts, agents: Agents, *, offline: bool) -> Sequence[Finding]:
    own = [name for agent in await _load_agents(agents) for name in agent.models]
    return await services.check_models(config, words, own, discover().schemas(), offline=offline)


async def _check_tools(config: Config, words: Texts, agents: Agents, *, offline: bool) -> Sequence[Finding]:
    said, servers = words[DoctorTexts], await make_servers_file(config).load()
    known: Mapping[str, Sequence[str] | None] = dict.fromkeys(servers)
    found = [ok("tools", said.tools_ok.format(count=len(servers)) if servers else said.tools_none)]
    if servers and not offline:
        reports, known = await try_servers(servers, tool_cost, SERVERS_LIMIT_S)
        for each in reports:
            found += _check_server(each, known[each.server] or (), words)
        if (total := sum(each.tokens for each in reports)) > config.tool_tokens:
            taken = ", ".join(f"{each.server} {each.tokens}" for each in reports)
            limits = {"total": total, "limit": config.tool_tokens, "each": taken}
            found.append(warning("tools", words[ToolServersFileTexts].over_budget.format(**limits)))
    for agent in await _load_agents(agents):
        if missing := find_missing(agent.tools or (), known):
            names = {"agent": agent.name, "tools": ", ".join(missing[: services.MAX_NAMES])}
            found.append(warning("tools", said.agent_tools_missing.format(**names)))
    return found


def _check_server(report: ToolServerReport, listed: Sequence[str], words: Texts) -> Sequence[Finding]:
    said, server = words[DoctorTexts], report.server
    if report.state != "ready":
        problem = report.problem or ToolServerProblem("late")
        why = said.tool_server_problems[problem.kind].format(
            detail=problem.detail, seconds=round(SERVERS_LIMIT_S)
        )
        return [failed("tools", said.tool_server_away.format(server=server, problem=why))]
    found = [ok("tools", said.tool_server_ok.format(server=server, tools=report.tools, tokens=report.tokens))]
    if report.left_out:
        names = say_left_out(report.left_out, words[ToolServersTexts])
        found.append(warning("tools", said.tool_server_left_out.format(server=server, tools=names)))
    elif not report.tools and listed:
        names = one_line(", ".join(listed[: services.MAX_NAMES]))
        found.append(warning("tools", said.tool_server_none_fits.format(server=server, tools=names)))
    elif not report.tools:
        found.append(warning("tools", said.tool_server_empty.format(server=server)))
    return found
