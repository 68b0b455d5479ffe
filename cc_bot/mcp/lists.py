"""The tools of a server: as it lists them, as they are kept, and as models are offered them.

What is kept is a text, and the same for the same tools: so a request has the same bytes whether a server is
there or not. A tool is offered as long as it is what its operator agreed to.
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
    LONGEST_NAME,
    SEPARATOR,
    LeftOutTool,
    OfferedTool,
    ServerTool,
    StoredToolList,
    ToolDetails,
    ToolStanding,
    ToolWording,
)
from cc_bot.mcp.file import ServerRules, offered_prefix
from cc_bot.mcp.schemas import SchemaRefused, for_models, tree_of

MOST_TOOLS: Final = 200
LONGEST_DESCRIPTION: Final = 4000
"""Characters; what is longer is cut."""
LARGEST_SCHEMA: Final = 64_000
"""Characters, as JSON."""
LARGEST_LIST: Final = 500_000
"""Characters of the schemas of all tools of a server, the first ones by name first in: a hundred times what
well-known servers have, and seconds of work."""
LONGEST_LISTED_NAME: Final = 128


@dataclass(frozen=True, slots=True)
class ListedTool:
    """A tool as its server lists it, with its texts bounded."""

    name: str
    description: str
    schema: str
    """As JSON; empty for one that is too large."""
    read_only: bool
    digest: str
    """Of all that the server said of it but `open_world`."""
    open_world: bool = True
    """False where its server says that a call reaches nothing beyond it (`openWorldHint`)."""


def listed(
    name: str, description: str, schema: object, *, read_only: bool, open_world: bool = True
) -> ListedTool:
    """Return a tool with its texts bounded."""
    written = json.dumps(schema, sort_keys=True, ensure_ascii=True, default=str)
    whole = json.dumps([name, description, written, read_only], ensure_ascii=True)
    told = description if len(description) <= LONGEST_DESCRIPTION else f"{description[:LONGEST_DESCRIPTION]}…"
    return ListedTool(
        name[:LONGEST_LISTED_NAME],
        told.encode("utf-8", "replace").decode("utf-8"),
        written if len(written) <= LARGEST_SCHEMA else "",
        read_only,
        hashlib.sha256(whole.encode("ascii")).hexdigest(),
        open_world,
    )


def to_text(tools: Sequence[ListedTool]) -> str:
    """Return the tools as a text, in an order that does not hang on their server."""
    ordered = sorted(tools, key=lambda tool: (tool.name, tool.digest, tool.open_world))
    rows = [
        [each.name, each.description, each.schema, each.read_only, each.digest]
        + ([] if each.open_world else [False])  # by default left out: stored lists stay the same text
        for each in ordered
    ]
    return json.dumps(rows, ensure_ascii=False)


def from_text(text: str) -> tuple[ListedTool, ...]:
    """Return the tools that a text is."""
    return tuple(ListedTool(*row) for row in json.loads(text or "[]"))


@dataclass(frozen=True, slots=True)
class Offer:
    """The tools of a server that models may be offered, in a fixed order, and the others with the reason."""

    tools: tuple[OfferedTool, ...] = ()
    withheld: tuple[str, ...] = ()
    left_out: tuple[LeftOutTool, ...] = ()

    def cost(self, cost: Callable[[ServerTool], int]) -> int:
        """Return the tokens that it takes to offer them."""
        return sum(cost(each.tool) for each in self.tools)


def offer_of(server: str, rules: ServerRules, stored: StoredToolList) -> Offer:
    """Decide on the tools of a server."""
    agreed = {tool.digest: tool for tool in from_text(stored.accepted)}
    seen = [tool for tool in from_text(stored.seen) if _is_wanted(tool.name, rules)]
    gone = {tool.name for tool in from_text(stored.accepted)} - {tool.name for tool in from_text(stored.seen)}
    withheld = {tool.name for tool in seen if tool.digest not in agreed} | {
        name for name in gone if _is_wanted(name, rules)
    }
    longest = LONGEST_NAME - len(offered_prefix(server)) - len(SEPARATOR)
    names = Counter(_full_name(server, tool.name) for tool in seen)
    tools, left_out = list[OfferedTool](), list[LeftOutTool]()
    total = 0
    for tool in seen:
        if tool.name in withheld:
            continue
        total += len(tool.schema)
        try:
            if total > LARGEST_LIST:
                raise SchemaRefused("too_large")
            claim = tool.open_world or agreed[tool.digest].open_world
            tools.append(_offered(server, rules, tool, names, claim=claim))
        except SchemaRefused as refused:
            left_out.append(LeftOutTool(tool.name, refused.reason, longest))
    return Offer(tuple(tools), tuple(sorted(withheld)), tuple(dict.fromkeys(left_out)))


def details_of(
    server: str, rules: ServerRules, stored: StoredToolList, offer: Offer
) -> tuple[ToolDetails, ...]:
    """Tell of every tool that a server has or that was agreed to, by name, those that wait for an owner
    first."""
    seen = {tool.name: tool for tool in from_text(stored.seen)}
    agreed = {tool.name: tool for tool in from_text(stored.accepted)}
    offered = {each.tool.name for each in offer.tools}

    def standing(name: str) -> ToolStanding:
        if not _is_wanted(name, rules):
            return "unnamed"
        if name not in seen:
            return "gone"
        if name not in agreed:
            return "new"
        if seen[name].digest != agreed[name].digest:
            return "changed"
        return "offered" if name in offered else "left_out"

    details = [
        ToolDetails(
            _full_name(server, name),
            standing(name),
            _wording(seen[name], rules) if name in seen else None,
            _wording(agreed[name], rules) if name in agreed else None,
        )
        for name in sorted(seen.keys() | agreed.keys())
    ]
    return tuple(sorted(details, key=lambda each: each.standing not in HELD_BACK))


def _wording(tool: ListedTool, rules: ServerRules) -> ToolWording:
    waiting, open_world = (
        waits(tool.read_only, rules),
        _is_open_world(tool.name, rules, claim=tool.open_world),
    )
    return ToolWording(tool.description, tool.schema, tool.read_only, waiting, open_world)


def waits(read_only: bool, rules: ServerRules) -> bool:
    """Return whether a call waits for a press."""
    return rules.approve == "always" or (rules.approve == "writes" and not read_only)


def _is_open_world(name: str, rules: ServerRules, *, claim: bool) -> bool:
    """Return whether a call may reach anything beyond its server: as the operator says; else by the claim."""
    if rules.local is None:
        return claim
    return not any(fnmatchcase(name, pattern) for pattern in rules.local)


def _full_name(server: str, name: str) -> str:
    return ServerTool(server, name, "", {}).full_name


def _offered(
    server: str, rules: ServerRules, tool: ListedTool, names: Mapping[str, int], *, claim: bool
) -> OfferedTool:
    """Return a tool as models are offered it. Raises SchemaRefused."""
    full_name = _full_name(server, tool.name)
    if names[full_name] > 1:
        raise SchemaRefused("alike")
    if len(full_name) > LONGEST_NAME or not tool.name:
        raise SchemaRefused("long_name")
    if not tool.schema:
        raise SchemaRefused("too_large")
    parameters = for_models(tree_of(json.loads(tool.schema)))
    open_world = _is_open_world(tool.name, rules, claim=claim)
    return OfferedTool(
        ServerTool(server, tool.name, tool.description, parameters, tool.read_only, open_world),
        waits(tool.read_only, rules),
        rules.approvers,
        rules.calls_per_turn,
        for_roles=bool(rules.roles),
    )


def _is_wanted(name: str, rules: ServerRules) -> bool:
    """Return whether the operator's file lets a tool be used."""
    named = rules.tools is None or any(fnmatchcase(name, pattern) for pattern in rules.tools)
    return named and not any(fnmatchcase(name, pattern) for pattern in rules.deny)
