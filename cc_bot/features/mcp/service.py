"""`/admin tools`."""

import asyncio
import json
import unicodedata
from collections.abc import Iterable, Iterator, Sequence
from itertools import chain
from typing import Final

import structlog

from cc_bot.chat.reply import Caller, Reply, ReplyFile
from cc_bot.domain.text import one_line
from cc_bot.features.mcp.catalog import is_open_world, needs_approval
from cc_bot.features.mcp.file import ServerRules
from cc_bot.features.mcp.model import AWAITING_OWNER, LeftOutReason, RemoteTool, ReviewedTool, full_name
from cc_bot.features.mcp.servers import ManagedServer, Servers
from cc_bot.features.mcp.texts import ToolServersTexts

MAX_NAMES: Final = 20
MAX_DETAILS_BYTES: Final = 4_000_000
# Indenting deeply nested schemas takes megabytes.
MAX_INDENTED_LENGTH: Final = 20_000

_log = structlog.get_logger(__name__)


async def show_tools(caller: Caller, server: str, *, servers: Servers) -> Reply:
    """Show the servers, or the tools of one. Raises ToolServerUnknown."""
    texts = caller.words[ToolServersTexts]
    if not server:
        all_servers = servers.managed.values()
        if not all_servers:
            return Reply((texts.none,))
        return Reply((_describe_servers(all_servers, caller),), title=texts.title)
    managed = servers.get(server)
    summary, catalog = _describe_servers([managed], caller), managed.catalog
    if not catalog.reviewed:
        return Reply((summary, texts.details_none), title=texts.title)
    details = await asyncio.to_thread(describe_tools, server, catalog.reviewed, managed.entry.rules, texts)
    notes = [texts.details, *([texts.code.format(code=catalog.code)] if catalog.code else [])]
    return Reply((summary, *notes), title=texts.title, file=ReplyFile(texts.details_file, details.encode()))


async def accept_tools(caller: Caller, server: str, code: str, *, servers: Servers) -> Reply:
    """Accept the list shown with `code`. Raises ToolServerUnknown, or ToolListChanged if it has changed."""
    normalized = unicodedata.normalize("NFKC", code).strip(" `").lower()
    accepted = await servers.accept(server, normalized)
    if accepted is not None:
        _log.info("admin_changed", change="tools_accepted", by=caller.user_id, server=server)
    return Reply((describe_accepted(server, accepted, caller),))


def _describe_servers(servers: Iterable[ManagedServer], caller: Caller) -> str:
    texts = caller.words[ToolServersTexts]
    lines = list[str]()
    for each in servers:
        counts = {"tools": len(each.catalog.offered), "calls": each.call_count, "tokens": each.tokens}
        name, state = caller.format_text(each.entry.name), texts.states[each.state]
        lines.append(
            texts.server_line.format(server=name, state=state, failures=each.failure_count, **counts)
        )
        if names := each.catalog.awaiting_owner:
            withheld = ", ".join(caller.format_text(one_line(name)) for name in names)
            lines.append(texts.withheld.format(tools=withheld))
        if left_out := each.catalog.left_out:
            lines.append(texts.left_out.format(tools=caller.format_text(describe_left_out(left_out, texts))))
    return "\n".join(lines)


def describe_left_out(tools: Iterable[tuple[str, LeftOutReason]], texts: ToolServersTexts) -> str:
    return one_line("; ".join(f"{name}: {texts.left_out_reasons[reason].format()}" for name, reason in tools))


def describe_accepted(server: str, names: Sequence[str] | None, caller: Caller) -> str:
    texts, name = caller.words[ToolServersTexts], caller.format_text(one_line(server))
    if names is None:
        return texts.nothing_to_accept.format(server=name)
    if not names:
        return texts.accepted_none.format(server=name)
    more = [texts.more.format(count=len(names) - MAX_NAMES)] if len(names) > MAX_NAMES else []
    listed = ", ".join((*(f"`{name}`" for name in names[:MAX_NAMES]), *more))
    return texts.accepted.format(server=name, tools=listed)


def describe_tools(
    server: str, tools: Sequence[ReviewedTool], rules: ServerRules, texts: ToolServersTexts
) -> str:
    """Return a server's tools as text. Descriptions may be meant to deceive, so their lines begin with a bar,
    and invisible characters are spelled out."""
    lines, bytes_left = [f"{server} ({len(tools)})"], MAX_DETAILS_BYTES
    for line in chain.from_iterable(_describe_tool(server, tool, rules, texts) for tool in tools):
        bytes_left -= len(line.encode()) + 1
        if bytes_left < 0:
            return "\n".join((*lines, texts.details_cut, ""))
        lines.append(line)
    return "\n".join((*lines, ""))


def _describe_tool(
    server: str, tool: ReviewedTool, rules: ServerRules, texts: ToolServersTexts
) -> Iterator[str]:
    yield from ("", f"■ {full_name(server, tool.name)}")
    yield texts.status.format(status=texts.statuses[tool.status])
    listed = [*_describe_version(tool.listed_version, rules, texts)] if tool.listed_version else []
    accepted = [*_describe_version(tool.accepted_version, rules, texts)] if tool.accepted_version else []
    if tool.status not in AWAITING_OWNER:
        yield from listed or accepted
        return
    if accepted:
        yield from ("", texts.accepted_version, *accepted)
    if listed:
        yield from ("", texts.new_version, *listed)
    if listed == accepted:
        yield texts.equal_versions


def _describe_version(tool: RemoteTool, rules: ServerRules, texts: ToolServersTexts) -> Iterator[str]:
    yield texts.only_reads if tool.read_only else texts.may_change
    yield texts.open_world if is_open_world(tool, rules) else texts.local
    yield texts.needs_approval if needs_approval(tool.read_only, rules) else texts.needs_no_approval
    yield texts.description
    yield from map(_quote_line, tool.description.split("\n"))
    yield texts.arguments
    if tool.schema:
        indent = 2 if len(tool.schema) <= MAX_INDENTED_LENGTH else None
        schema = json.dumps(json.loads(tool.schema), ensure_ascii=False, indent=indent)
        yield from map(_quote_line, schema.split("\n"))
    else:
        yield texts.schema_too_large


def _quote_line(line: str) -> str:
    return f"  | {''.join(map(_spell_out_invisible, line))}"


def _spell_out_invisible(character: str) -> str:
    is_visible = character.isprintable() or unicodedata.category(character) == "Zs"
    return character if is_visible else character.encode("unicode_escape").decode("ascii")
