"""`/admin tools`."""

import asyncio
import json
import unicodedata
from collections.abc import Iterable, Iterator, Sequence
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
    words = caller.words[ToolServersTexts]
    if not server:
        managed = servers.managed.values()
        return Reply((_describe_servers(managed, caller) if managed else words.none,))
    named = servers.get(server)
    summary, catalog = _describe_servers([named], caller), named.catalog
    if not catalog.reviewed:
        return Reply((summary, words.details_none))
    written = await asyncio.to_thread(details_file, server, catalog.reviewed, named.entry.rules, words)
    notes = [words.details, *([words.code.format(code=catalog.code)] if catalog.code else [])]
    return Reply((summary, *notes), file=ReplyFile(words.details_file, written.encode()))


async def accept_tools(caller: Caller, server: str, code: str, *, servers: Servers) -> Reply:
    """Accept the list shown with `code`. Raises ToolServerUnknown, or ToolListNotShown if it has changed."""
    normalized = unicodedata.normalize("NFKC", code).strip(" `").lower()
    accepted = await servers.accept(server, normalized)
    if accepted is not None:
        _log.info("admin_changed", change="tools_accepted", by=caller.user_id, server=server)
    return Reply((describe_accepted(server, accepted, caller),))


def _describe_servers(servers: Iterable[ManagedServer], caller: Caller) -> str:
    words = caller.words[ToolServersTexts]
    lines = [words.title]
    for each in servers:
        counts = {"tools": len(each.catalog.offered), "calls": each.calls, "failures": each.failures}
        name, state = caller.text(each.entry.name), words.states[each.state]
        lines.append(words.line.format(server=name, state=state, tokens=each.tokens, **counts))
        if names := each.catalog.awaiting_owner:
            withheld = ", ".join(caller.text(one_line(name)) for name in names)
            lines.append(words.withheld.format(tools=withheld))
        if left_out := each.catalog.left_out:
            lines.append(words.left_out.format(tools=caller.text(describe_left_out(left_out, words))))
    return "\n".join(lines)


def describe_left_out(tools: Iterable[tuple[str, LeftOutReason]], words: ToolServersTexts) -> str:
    return one_line("; ".join(f"{name}: {words.reasons[reason].format()}" for name, reason in tools))


def describe_accepted(server: str, names: Sequence[str] | None, caller: Caller) -> str:
    words, name = caller.words[ToolServersTexts], caller.text(one_line(server))
    if names is None:
        return words.nothing_to_accept.format(server=name)
    if not names:
        return words.accepted_none.format(server=name)
    more = [words.more.format(count=len(names) - MAX_NAMES)] if len(names) > MAX_NAMES else []
    listed = ", ".join((*(f"`{name}`" for name in names[:MAX_NAMES]), *more))
    return words.accepted.format(server=name, tools=listed)


def details_file(
    server: str, tools: Sequence[ReviewedTool], rules: ServerRules, words: ToolServersTexts
) -> str:
    """Return a server's tools as text. Descriptions may be meant to deceive: their lines begin with a bar,
    and invisible characters are spelled out."""
    lines, bytes_left = [f"{server} ({len(tools)})"], MAX_DETAILS_BYTES
    for line in (line for tool in tools for line in _describe_tool(server, tool, rules, words)):
        bytes_left -= len(line.encode()) + 1
        if bytes_left < 0:
            return "\n".join((*lines, words.details_cut, ""))
        lines.append(line)
    return "\n".join((*lines, ""))


def _describe_tool(
    server: str, tool: ReviewedTool, rules: ServerRules, words: ToolServersTexts
) -> Iterator[str]:
    yield from ("", f"■ {full_name(server, tool.name)}")
    yield words.status.format(status=words.statuses[tool.status])
    listed, accepted = (
        list(_describe_version(version, rules, words)) if version else []
        for version in (tool.listed, tool.accepted)
    )
    if tool.status not in AWAITING_OWNER:
        yield from listed or accepted
        return
    if accepted:
        yield from ("", words.wording_agreed, *accepted)
    if listed:
        yield from ("", words.wording_new, *listed)
    if listed == accepted:
        yield words.wording_alike


def _describe_version(tool: RemoteTool, rules: ServerRules, words: ToolServersTexts) -> Iterator[str]:
    yield words.reads if tool.read_only else words.writes
    yield words.open_world if is_open_world(tool, rules) else words.local
    yield words.waits if needs_approval(tool.read_only, rules) else words.does_not_wait
    yield words.description
    yield from map(_quote_line, tool.description.split("\n"))
    yield words.arguments
    if tool.schema:
        indent = 2 if len(tool.schema) <= MAX_INDENTED_LENGTH else None
        schema = json.dumps(json.loads(tool.schema), ensure_ascii=False, indent=indent)
        yield from map(_quote_line, schema.split("\n"))
    else:
        yield words.schema_too_large


def _quote_line(line: str) -> str:
    return f"  | {''.join(map(_visible, line))}"


def _visible(character: str) -> str:
    is_visible = character.isprintable() or unicodedata.category(character) == "Zs"
    return character if is_visible else character.encode("unicode_escape").decode("ascii")
