"""Converts the tools that a server lists, and decides which are offered to models."""

import hashlib
import json
from collections import Counter
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import astuple, dataclass
from fnmatch import fnmatchcase
from typing import TYPE_CHECKING, Any, Final, Literal

from cc_bot.features.mcp.file import ServerRules
from cc_bot.features.mcp.model import (
    AWAITING_OWNER,
    MAX_NAME_LENGTH,
    LeftOutReason,
    OfferedTool,
    RemoteTool,
    ReviewedTool,
    StoredToolList,
    ToolStatus,
    full_name,
)

if TYPE_CHECKING:
    import mcp_types

Schema = dict[str, Any]

MAX_SCHEMA_NODES: Final = 2000  # well-known servers have a few hundred at most
MAX_SCHEMA_DEPTH: Final = 16


class ToolRefused(Exception):
    def __init__(self, reason: LeftOutReason) -> None:
        super().__init__(reason)
        self.reason = reason


_COPIED_KEYWORDS: Final = ("description", "enum", "default")
_TYPES: Final = frozenset({"string", "number", "integer", "boolean", "object", "array", "null"})
_TYPES_BY_BOUND: Final[Mapping[str, Sequence[str]]] = {
    **dict.fromkeys(("minimum", "maximum"), ("number", "integer")),
    **dict.fromkeys(("minLength", "maxLength"), ("string",)),
    **dict.fromkeys(("minItems", "maxItems"), ("array",)),
}
"""Some providers refuse bounds for other types."""


def simplify_schema(schema: object) -> Schema:
    """Return an object schema that every provider accepts: without top-level unions. Raises ToolRefused."""
    from jsonschema import Draft202012Validator  # noqa: PLC0415 - importing it takes 20 ms
    from jsonschema.exceptions import SchemaError  # noqa: PLC0415

    try:
        simple = _Simplifier(schema).simplify(schema, 0, ())
        top = _as_object(simple) if isinstance(simple, dict) else None
        if top is None:
            raise ToolRefused("no_object")
        Draft202012Validator.check_schema(top)
    except (SchemaError, RecursionError, TypeError, ValueError, AttributeError):
        raise ToolRefused("no_schema") from None
    return top


class _Simplifier:
    def __init__(self, root: object) -> None:
        self._root = root
        self._nodes = 0

    def simplify(
        self, schema: object, depth: int, open_references: tuple[str, ...]
    ) -> Schema | Literal[False]:
        """Return a schema without references and `allOf`; False if it accepts nothing. Cycles of references
        and levels below MAX_SCHEMA_DEPTH accept anything. `open_references`: references being followed."""
        if isinstance(schema, bool):
            return {} if schema else False
        self._nodes += 1
        if self._nodes > MAX_SCHEMA_NODES:
            raise ToolRefused("too_large")
        if not isinstance(schema, dict):
            raise ToolRefused("no_schema")
        if depth > MAX_SCHEMA_DEPTH:
            return {}
        reference = schema.get("$ref", schema.get("$dynamicRef"))
        if isinstance(reference, str):
            target = None if reference in open_references else self._resolve(reference)
            siblings = _without(schema, "$ref", "$dynamicRef")
            if target is False:
                return False
            if not isinstance(target, dict):
                return self.simplify(siblings, depth + 1, open_references)
            return self.simplify({**target, **siblings}, depth + 1, (*open_references, reference))
        simple = self._simplify_keywords(schema, depth + 1, open_references)
        for each in schema.get("allOf", ()):
            part = self.simplify(each, depth + 1, open_references)
            if isinstance(part, dict):
                if depth == 0 and part.get("type", "object") != "object":
                    raise ToolRefused("no_object")
                simple = _merge(part, simple)
        if "required" in simple:
            properties = simple.get("properties", {})
            simple["required"] = [name for name in dict.fromkeys(simple["required"]) if name in properties]
        return {key: value for key, value in simple.items() if key != "required" or value}

    def _simplify_keywords(self, schema: Schema, depth: int, open_references: tuple[str, ...]) -> Schema:
        simple = {key: schema[key] for key in _COPIED_KEYWORDS if schema.get(key) is not None}
        if "const" in schema:
            simple["enum"] = [schema["const"]]
        types = schema.get("type")
        if isinstance(types, list) and len(types) != 1:
            constraints = _without(schema, *_COPIED_KEYWORDS, "const")
            branches = [
                self.simplify({**constraints, "type": each}, depth, open_references) for each in types
            ]
            return {**simple, "anyOf": branches} if branches else simple
        type_ = types[0] if isinstance(types, list) else types
        if type_ is not None and (type_ not in _TYPES or not isinstance(schema.get("required", []), list)):
            raise ToolRefused("no_schema")
        if type_ is not None:
            simple["type"] = type_
        bounds = [bound for bound, allowed in _TYPES_BY_BOUND.items() if bound in schema and type_ in allowed]
        simple |= {bound: schema[bound] for bound in bounds}
        if unions := [*schema.get("anyOf", ()), *schema.get("oneOf", ())]:
            branches = [self.simplify(each, depth, open_references) for each in unions]
            simple["anyOf"] = [each for each in branches if each is not False]
        if type_ == "array":
            simple["items"] = self.simplify(schema.get("items", {}), depth, open_references) or {}
        if type_ in ("object", None) and "properties" in schema:
            named = schema["properties"].items()
            properties = {name: self.simplify(each, depth, open_references) for name, each in named}
            simple["properties"] = {name: each for name, each in properties.items() if each is not False}
        if type_ in ("object", None) and "required" in schema:
            simple["required"] = [*schema["required"]]
        # `patternProperties`, which is dropped, may allow more properties.
        closed = schema.get("additionalProperties") is False and "patternProperties" not in schema
        return {**simple, "additionalProperties": False} if closed and type_ == "object" else simple

    def _resolve(self, reference: str) -> object:
        if not reference.startswith("#"):
            return None
        target: Any = self._root
        with suppress(LookupError, TypeError, ValueError):  # the target is missing
            for part in reference[1:].split("/")[1:]:
                name = part.replace("~1", "/").replace("~0", "~")
                target = target[int(name) if isinstance(target, list) else name]
            return target
        return None


def _without(schema: Schema, *keys: str) -> Schema:
    return {key: value for key, value in schema.items() if key not in keys}


def _merge(part: Schema, simple: Schema) -> Schema:
    merged = {**part, **simple}
    if properties := {**simple.get("properties", {}), **part.get("properties", {})}:
        merged["properties"] = properties
    if required := [*simple.get("required", ()), *part.get("required", ())]:
        merged["required"] = required
    return merged


def _as_object(simple: Schema) -> Schema | None:
    """Merge unions. Returns None if the schema accepts no objects."""
    if simple.get("type", "object") != "object":
        return None
    merged, properties = _without(simple, "type", "anyOf", "required"), simple.get("properties", {})
    required = set(simple.get("required", ()))
    if "anyOf" in simple:
        branches = list(filter(None, map(_as_object, simple["anyOf"])))
        if not branches:
            return None
        for branch in branches:
            # The object's own properties come first and unchanged, then those of each branch.
            properties = {**properties, **branch["properties"], **properties}
        required |= set.intersection(*(set(branch.get("required", ())) for branch in branches))
        if any("additionalProperties" not in branch for branch in branches):
            merged.pop("additionalProperties", None)
    merged = {"type": "object", **merged, "properties": properties}
    names = [name for name in properties if name in required]
    return {**merged, "required": names} if names else merged


MAX_TOOLS: Final = 200
MAX_DESCRIPTION_LENGTH: Final = 4000
MAX_SCHEMA_LENGTH: Final = 64_000
MAX_SCHEMAS_LENGTH: Final = 500_000  # per server
MAX_STORED_NAME_LENGTH: Final = 128


def to_remote_tool(tool: "mcp_types.Tool") -> RemoteTool:
    """Convert a tool whose input schema messages.py has put into `allOf`."""
    hints, description = tool.annotations, tool.description or tool.title or ""
    read_only = hints is not None and hints.read_only_hint is True
    [original] = tool.input_schema["allOf"]
    schema = json.dumps(original, sort_keys=True)
    digested = json.dumps([tool.name, description, schema, read_only])
    return RemoteTool(
        tool.name[:MAX_STORED_NAME_LENGTH],
        description[:MAX_DESCRIPTION_LENGTH] + "…" * (len(description) > MAX_DESCRIPTION_LENGTH),
        schema if len(schema) <= MAX_SCHEMA_LENGTH else "",
        read_only,
        hashlib.sha256(digested.encode("ascii")).hexdigest(),
        hints is None or hints.open_world_hint is not False,
    )


def serialize_tools(tools: Sequence[RemoteTool]) -> str:
    """Return the tools as JSON, sorted, so that equal lists are equal texts."""
    ordered = sorted(tools, key=lambda tool: (tool.name, tool.digest, tool.open_world))
    return json.dumps([*map(astuple, ordered)], ensure_ascii=False)


def parse_tools(text: str) -> tuple[RemoteTool, ...]:
    return tuple(RemoteTool(*row) for row in json.loads(text or "[]"))


@dataclass(frozen=True, slots=True)
class Catalog:
    offered: tuple[OfferedTool, ...] = ()
    reviewed: tuple[ReviewedTool, ...] = ()
    """Every tool listed or accepted, those that await an owner first."""
    code: str = ""  # an owner enters it to accept these tools; empty if no tool awaits an owner

    @property
    def left_out(self) -> Sequence[tuple[str, LeftOutReason]]:
        """Names of tools that no model can use, with reasons."""
        return [(tool.name, tool.left_out_reason) for tool in self.reviewed if tool.left_out_reason]

    @property
    def awaiting_owner(self) -> Sequence[str]:
        return [tool.name for tool in self.reviewed if tool.status in AWAITING_OWNER]


def review(server: str, rules: ServerRules, tool_list: StoredToolList) -> Catalog:
    """Offer the tools that the operator's file allows, an owner accepted as listed, and models can use."""
    listed_tools, accepted_tools = parse_tools(tool_list.listed_json), parse_tools(tool_list.accepted_json)
    listed = {tool.name: tool for tool in listed_tools}
    accepted = {tool.name: tool for tool in accepted_tools}
    digests = {tool.digest for tool in accepted_tools}
    unaccepted = {tool.name for tool in listed_tools if tool.digest not in digests}
    allowed_names = (tool.name for tool in listed_tools if _is_allowed(tool.name, rules))
    name_counts = Counter(full_name(server, name) for name in allowed_names)
    offered, reviewed, total_length = list[OfferedTool](), list[ReviewedTool](), 0
    for name in sorted(listed.keys() | accepted.keys()):
        status: ToolStatus = "offered"
        reason: LeftOutReason | None = None
        if not _is_allowed(name, rules):
            status = "not_allowed"
        elif name not in listed:
            status = "gone"
        elif name in unaccepted:
            status = "changed" if name in accepted else "new"
        else:
            total_length += len(listed[name].schema)
            try:
                if total_length > MAX_SCHEMAS_LENGTH:
                    raise ToolRefused("too_large")
                offered.append(_offer(server, rules, listed[name], accepted[name], name_counts))
            except ToolRefused as refused:
                status, reason = "left_out", refused.reason
        reviewed.append(ReviewedTool(name, status, listed.get(name), accepted.get(name), reason))
    reviewed.sort(key=lambda tool: tool.status not in AWAITING_OWNER)
    return Catalog(tuple(offered), tuple(reviewed), tool_list.code if tool_list.awaits_owner else "")


def needs_approval(read_only: bool, rules: ServerRules) -> bool:
    return rules.approve == "always" or (rules.approve == "writes" and not read_only)


def is_open_world(tool: RemoteTool, rules: ServerRules) -> bool:
    if rules.local is None:
        return tool.open_world
    return not any(fnmatchcase(tool.name, pattern) for pattern in rules.local)


def _offer(
    server: str, rules: ServerRules, tool: RemoteTool, accepted: RemoteTool, name_counts: Mapping[str, int]
) -> OfferedTool:
    """Raises ToolRefused."""
    offered_name = full_name(server, tool.name)
    if name_counts[offered_name] > 1:
        raise ToolRefused("duplicate_name")
    if len(offered_name) > MAX_NAME_LENGTH or not tool.name:
        raise ToolRefused("long_name")
    if not tool.schema:
        raise ToolRefused("too_large")
    return OfferedTool(
        server,
        tool.name,
        tool.description,
        simplify_schema(json.loads(tool.schema)),
        tool.read_only,
        # The digest does not cover `open_world`: the stricter value of both versions counts.
        is_open_world(tool, rules) or is_open_world(accepted, rules),
        needs_approval(tool.read_only, rules),
        rules.approvers,
        rules.calls_per_turn,
        is_role_restricted=bool(rules.roles),
    )


def _is_allowed(name: str, rules: ServerRules) -> bool:
    is_named = rules.tools is None or any(fnmatchcase(name, pattern) for pattern in rules.tools)
    return is_named and not any(fnmatchcase(name, pattern) for pattern in rules.deny)
