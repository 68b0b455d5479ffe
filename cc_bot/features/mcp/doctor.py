from collections.abc import Iterator, Mapping, Sequence
from typing import Final

from cc_bot.chat.checks import Check, Examined, Finding, failed, ok, warning
from cc_bot.domain.text import one_line
from cc_bot.features.mcp.file import make_servers_file
from cc_bot.features.mcp.model import ToolServerProblem, ToolServerReport, find_missing
from cc_bot.features.mcp.servers import try_servers
from cc_bot.features.mcp.texts import McpCheckTexts, ToolServersFileTexts, ToolServersTexts, say_left_out
from cc_bot.features.mcp.tools import tool_cost
from cc_bot.texts import Texts

TIMEOUT_S: Final = 30.0
"""For the servers to start and list their tools."""
MAX_NAMES: Final = 10


def list_checks(given: Examined) -> Iterator[Check]:
    yield Check("tools", _check_servers(given), 2 * TIMEOUT_S, given.words[McpCheckTexts].tools)


async def _check_servers(given: Examined) -> Sequence[Finding]:
    config, words = given.config, given.words
    said, servers = words[McpCheckTexts], await make_servers_file(config).load()
    known: Mapping[str, Sequence[str] | None] = dict.fromkeys(servers)
    found = [ok("tools", said.tools_ok.format(count=len(servers)) if servers else said.tools_none)]
    if servers and given.online:
        reports, known = await try_servers(servers, tool_cost, TIMEOUT_S)
        for each in reports:
            found += _check_server(each, known[each.server] or (), words)
        if (total := sum(each.tokens for each in reports)) > config.tool_tokens:
            taken = ", ".join(f"{each.server} {each.tokens}" for each in reports)
            limits = {"total": total, "limit": config.tool_tokens, "each": taken}
            found.append(warning("tools", words[ToolServersFileTexts].over_budget.format(**limits)))
    for agent in await given.list_agents():
        if missing := find_missing(agent.tools or (), known):
            names = {"agent": agent.name, "tools": ", ".join(missing[:MAX_NAMES])}
            found.append(warning("tools", said.agent_tools_missing.format(**names)))
    return found


def _check_server(report: ToolServerReport, listed: Sequence[str], words: Texts) -> Sequence[Finding]:
    said, server = words[McpCheckTexts], report.server
    if report.state != "ready":
        problem = report.problem or ToolServerProblem("late")
        why = said.tool_server_problems[problem.kind].format(detail=problem.detail, seconds=round(TIMEOUT_S))
        return [failed("tools", said.tool_server_away.format(server=server, problem=why))]
    found = [ok("tools", said.tool_server_ok.format(server=server, tools=report.tools, tokens=report.tokens))]
    if report.left_out:
        names = say_left_out(report.left_out, words[ToolServersTexts])
        found.append(warning("tools", said.tool_server_left_out.format(server=server, tools=names)))
    elif not report.tools and listed:
        names = one_line(", ".join(listed[:MAX_NAMES]))
        found.append(warning("tools", said.tool_server_none_fits.format(server=server, tools=names)))
    elif not report.tools:
        found.append(warning("tools", said.tool_server_empty.format(server=server)))
    return found
