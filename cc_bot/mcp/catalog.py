"""The tools of a server: as listed, as stored, and as offered to models.

The stored text is the same for the same tools, so a request has the same bytes even if a server is away.
"""

import hashlib
import json
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from typing import Final

from cc_bot.domain.tool_server import (
    HELD_BACK,
    MAX_NAME_LENGTH,
    LeftOutTool,
    OfferedTool,
    ServerTool,
    StoredToolList,
    ToolDetails,
    ToolStatus,
    ToolWording,
)
from cc_bot.mcp.file import ServerRules
from cc_bot.mcp.schemas import SchemaRefused, for_models, tree_of

MAX_TOOLS: Final = 200
MAX_DESCRIPTION_LENGTH: Final = 4000
MAX_SCHEMA_LENGTH: Final = 64_000
MAX_SCHEMAS_LENGTH: Final = 500_000
"""Of all tools of a server, in the order of their names: a hundred times what well-known servers have."""
MAX_LISTED_NAME_LENGTH: Final = 128


@dataclass(frozen=True, slots=True)
class RemoteTool:
    """A tool as its server lists it, with bounded texts."""

    name: str
    description: str
    schema: str
    """JSON; empty if it is too large."""
    read_only: bool
    digest: str
    """Of everything that the server says about it except `open_world`."""
    open_world: bool = True
    """False if the server says that a call reaches nothing beyond it (`openWorldHint`)."""


def as_listed(
    name: str, description: str, schema: object, *, read_only: bool, open_world: bool = True
) -> RemoteTool:
    """Return a tool with bounded texts."""
    written = json.dumps(schema, sort_keys=True, default=str)
    whole = json.dumps([name, description, written, read_only])
    short = description[:MAX_DESCRIPTION_LENGTH] + "…" * (len(description) > MAX_DESCRIPTION_LENGTH)
    return RemoteTool(
        name[:MAX_LISTED_NAME_LENGTH],
        short,
        written if len(written) <= MAX_SCHEMA_LENGTH else "",
        read_only,
        hashlib.sha256(whole.encode("ascii")).hexdigest(),
        open_world,
    )


def to_text(tools: Sequence[RemoteTool]) -> str:
    """Return the tools as JSON, in an order that does not depend on the server."""
    ordered = sorted(tools, key=lambda tool: (tool.name, tool.digest, tool.open_world))
    rows = [
        [tool.name, tool.description, tool.schema, tool.read_only, tool.digest, tool.open_world]
        for tool in ordered
    ]
    return json.dumps(rows, ensure_ascii=False)


def from_text(text: str) -> tuple[RemoteTool, ...]:
    return tuple(RemoteTool(*row) for row in json.loads(text or "[]"))


@dataclass(frozen=True, slots=True)
class Catalog:
    """The tools of a server after review, in a fixed order."""

    tools: tuple[OfferedTool, ...] = ()
    """Those offered to models."""
    left_out: tuple[LeftOutTool, ...] = ()
    details: tuple[ToolDetails, ...] = ()
    """Every listed or accepted tool, those held back first."""
    held_back: tuple[str, ...] = ()

    def cost(self, cost: Callable[[ServerTool], int]) -> int:
        """Return the tokens that the offered tools take."""
        return sum(cost(each.tool) for each in self.tools)


def review(server: str, rules: ServerRules, stored: StoredToolList) -> Catalog:
    """Decide which tools of a server are offered to models.

    This is a tool's only way to a model: the operator's file allows it, an owner accepted it exactly as it is
    listed now, and models can take its name and schema.
    """
    listed, accepted = from_text(stored.seen), from_text(stored.accepted)
    now, agreed = {tool.name: tool for tool in listed}, {tool.name: tool for tool in accepted}
    digests = {tool.digest for tool in accepted}
    unaccepted = {tool.name for tool in listed if tool.digest not in digests}
    full_names = Counter(_full_name(server, tool.name) for tool in listed if _is_allowed(tool.name, rules))
    tools, left_out, statuses = list[OfferedTool](), list[LeftOutTool](), dict[str, ToolStatus]()
    length = 0
    for name in sorted(now.keys() | agreed.keys()):
        if not _is_allowed(name, rules):
            statuses[name] = "unnamed"
        elif name not in now:
            statuses[name] = "gone"
        elif name in unaccepted:
            statuses[name] = "changed" if name in agreed else "new"
        else:
            length += len(now[name].schema)
            open_world = now[name].open_world or agreed[name].open_world
            try:
                if length > MAX_SCHEMAS_LENGTH:
                    raise SchemaRefused("too_large")
                tools.append(_offered(server, rules, now[name], full_names, open_world=open_world))
                statuses[name] = "offered"
            except SchemaRefused as refused:
                left_out.append(LeftOutTool(name, refused.reason))
                statuses[name] = "left_out"
    details = [
        ToolDetails(
            _full_name(server, name),
            status,
            _wording(now.get(name), rules),
            _wording(agreed.get(name), rules),
        )
        for name, status in statuses.items()
    ]
    held_back = tuple(name for name, status in statuses.items() if status in HELD_BACK)
    ordered = sorted(details, key=lambda each: each.status not in HELD_BACK)
    return Catalog(tuple(tools), tuple(left_out), tuple(ordered), held_back)


def _wording(tool: RemoteTool | None, rules: ServerRules) -> ToolWording | None:
    if tool is None:
        return None
    open_world = _is_open_world(tool.name, rules, claimed=tool.open_world)
    return ToolWording(
        tool.description, tool.schema, tool.read_only, needs_approval(tool.read_only, rules), open_world
    )


def needs_approval(read_only: bool, rules: ServerRules) -> bool:
    return rules.approve == "always" or (rules.approve == "writes" and not read_only)


def _is_open_world(name: str, rules: ServerRules, *, claimed: bool) -> bool:
    """Return whether a call may reach beyond its server, according to the operator, else to the server."""
    if rules.local is None:
        return claimed
    return not any(fnmatchcase(name, pattern) for pattern in rules.local)


def _full_name(server: str, name: str) -> str:
    return ServerTool(server, name, "", {}).full_name


def _offered(
    server: str, rules: ServerRules, tool: RemoteTool, names: Mapping[str, int], *, open_world: bool
) -> OfferedTool:
    """Raises SchemaRefused."""
    full_name = _full_name(server, tool.name)
    if names[full_name] > 1:
        raise SchemaRefused("alike")
    if len(full_name) > MAX_NAME_LENGTH or not tool.name:
        raise SchemaRefused("long_name")
    if not tool.schema:
        raise SchemaRefused("too_large")
    parameters = for_models(tree_of(json.loads(tool.schema)))
    open_world = _is_open_world(tool.name, rules, claimed=open_world)
    return OfferedTool(
        ServerTool(server, tool.name, tool.description, parameters, tool.read_only, open_world),
        needs_approval(tool.read_only, rules),
        rules.approvers,
        rules.calls_per_turn,
        for_roles=bool(rules.roles),
    )


def _is_allowed(name: str, rules: ServerRules) -> bool:
    """Return whether the operator's file allows a tool."""
    named = rules.tools is None or any(fnmatchcase(name, pattern) for pattern in rules.tools)
    return named and not any(fnmatchcase(name, pattern) for pattern in rules.deny)
