from collections.abc import Iterator, Mapping, Sequence
from typing import Final

from cc_bot.chat.checks import Check, CheckContext, Finding, failed, ok, warning
from cc_bot.domain.text import one_line
from cc_bot.features.mcp.catalog import parse_tools
from cc_bot.features.mcp.file import servers_file
from cc_bot.features.mcp.model import ToolServerProblem, find_unknown_tools
from cc_bot.features.mcp.servers import ManagedServer, try_servers
from cc_bot.features.mcp.service import describe_left_out
from cc_bot.features.mcp.texts import McpCheckTexts, ToolServersFileTexts, ToolServersTexts
from cc_bot.texts import Texts

TIMEOUT_S: Final = 30.0
MAX_NAMES: Final = 10


def list_checks(context: CheckContext) -> Iterator[Check]:
    label = context.words[McpCheckTexts].tools
    yield Check("tools", _check_servers(context), limit_s=2 * TIMEOUT_S, label=label)


async def _check_servers(context: CheckContext) -> Sequence[Finding]:
    config, words = context.config, context.words
    texts, servers = words[McpCheckTexts], await servers_file(config).load()
    tools_by_server: Mapping[str, Sequence[str] | None] = dict.fromkeys(servers)  # None: not known
    file_state = texts.tools_ok.format(count=len(servers)) if servers else texts.tools_none
    findings = [ok("tools", file_state)]
    if servers and context.online:
        tried = await try_servers(servers, TIMEOUT_S)
        tools_by_server = {each.entry.name: _listed_names(each) for each in tried}
        for each in tried:
            findings += _check_server(each, words)
        if (total := sum(each.tokens for each in tried)) > config.tool_tokens:
            shares = ", ".join(f"{each.entry.name} {each.tokens}" for each in tried)
            problem = words[ToolServersFileTexts].over_budget
            problem = problem.format(total=total, limit=config.tool_tokens, each=shares)
            findings.append(warning("tools", problem))
    for agent in await context.list_agents():
        if missing := find_unknown_tools(agent.tools or (), tools_by_server):
            names = ", ".join(missing[:MAX_NAMES])
            findings.append(warning("tools", texts.agent_tools_missing.format(agent=agent.name, tools=names)))
    return findings


def _listed_names(server: ManagedServer) -> Sequence[str] | None:
    return [tool.name for tool in parse_tools(server.tool_list.listed_json)] if server.tool_list else None


def _check_server(server: ManagedServer, words: Texts) -> Sequence[Finding]:
    texts, name, catalog = words[McpCheckTexts], server.entry.name, server.catalog
    if server.connection is None or server.state != "ready":
        problem = (server.connection and server.connection.problem) or ToolServerProblem("late")
        reason = texts.tool_server_problems[problem.kind]
        reason = reason.format(detail=problem.detail, seconds=round(TIMEOUT_S))
        return [failed("tools", texts.tool_server_away.format(server=name, problem=reason))]
    count = len(catalog.offered)
    findings = [ok("tools", texts.tool_server_ok.format(server=name, tools=count, tokens=server.tokens))]
    if catalog.left_out:
        names = describe_left_out(catalog.left_out, words[ToolServersTexts])
        findings.append(warning("tools", texts.tool_server_left_out.format(server=name, tools=names)))
    elif not count and (listed := _listed_names(server)):
        names = one_line(", ".join(listed[:MAX_NAMES]))
        findings.append(warning("tools", texts.tool_server_none_fits.format(server=name, tools=names)))
    elif not count:
        findings.append(warning("tools", texts.tool_server_empty.format(server=name)))
    return findings
