"""A server's tools: as listed, stored, and offered to models. Equal tools are stored as equal text, so
requests stay byte-identical while a server is away."""

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
    HELD_BACK,
    MAX_NAME_LENGTH,
    LeftOutReason,
    LeftOutTool,
    OfferedTool,
    StoredToolList,
    ToolDetails,
    ToolStatus,
    ToolWording,
    full_name,
)

if TYPE_CHECKING:
    import mcp_types

Schema = dict[str, Any]

MAX_NODES: Final = 2000
"""Well-known servers have some hundred at most."""
MAX_DEPTH: Final = 16


class SchemaRefused(Exception):
    def __init__(self, reason: LeftOutReason) -> None:
        super().__init__(reason)
        self.reason = reason


_KEPT: Final = ("description", "enum", "default")
_TYPES: Final = frozenset({"string", "number", "integer", "boolean", "object", "array", "null"})
_BOUNDS: Final[Mapping[str, Sequence[str]]] = {
    **dict.fromkeys(("minimum", "maximum"), ("number", "integer")),
    **dict.fromkeys(("minLength", "maxLength"), ("string",)),
    **dict.fromkeys(("minItems", "maxItems"), ("array",)),
}
"""The types of each bound: some providers refuse it elsewhere."""


def for_models(schema: object) -> Schema:
    """Return the schema in a form that every provider accepts: an object without unions at its top. Raises
    SchemaRefused."""
    # Takes 20 ms.
    from jsonschema import Draft202012Validator  # noqa: PLC0415 - see above
    from jsonschema.exceptions import SchemaError  # noqa: PLC0415

    try:
        simple = _Simplifier(schema).node(schema, 0, ())
        top = _as_object(simple) if isinstance(simple, dict) else None
        if top is None:
            raise SchemaRefused("no_object")
        Draft202012Validator.check_schema(top)
    except (SchemaError, RecursionError, TypeError, ValueError, AttributeError):
        raise SchemaRefused("no_schema") from None
    return top


class _Simplifier:
    def __init__(self, whole: object) -> None:
        self._whole = whole
        self._nodes = 0

    def node(self, schema: object, depth: int, within: tuple[str, ...]) -> Schema | Literal[False]:
        """Return a part in simple form; `within` are the references that led to it. Cycles and what lies too
        deep become schemas that accept anything; False accepts nothing."""
        if isinstance(schema, bool):
            return {} if schema else False
        self._nodes += 1
        if self._nodes > MAX_NODES:
            raise SchemaRefused("too_large")
        if not isinstance(schema, dict):
            raise SchemaRefused("no_schema")
        if depth > MAX_DEPTH:
            return {}
        reference = schema.get("$ref", schema.get("$dynamicRef"))
        if isinstance(reference, str):
            found = None if reference in within else self._found(reference)
            beside = _without(schema, "$ref", "$dynamicRef")
            if not isinstance(found, dict):
                return self.node(beside, depth + 1, within) if found is not False else False
            return self.node({**found, **beside}, depth + 1, (*within, reference))
        simple = self._simple(schema, depth + 1, within)
        for each in schema.get("allOf", ()):
            part = self.node(each, depth + 1, within)
            if isinstance(part, dict):
                if depth == 0 and part.get("type", "object") != "object":
                    raise SchemaRefused("no_object")
                simple = _merge(part, simple)
        if "required" in simple:
            known = simple.get("properties", {})
            simple["required"] = [name for name in dict.fromkeys(simple["required"]) if name in known]
        return {key: value for key, value in simple.items() if key != "required" or value}

    def _simple(self, schema: Schema, depth: int, within: tuple[str, ...]) -> Schema:
        simple = {key: schema[key] for key in _KEPT if schema.get(key) is not None}
        if "const" in schema:
            simple["enum"] = [schema["const"]]
        types = schema.get("type")
        if isinstance(types, list) and len(types) != 1:
            alone = _without(schema, *_KEPT, "const")
            kinds = [self.node({**alone, "type": each}, depth, within) for each in types]
            return {**simple, "anyOf": kinds} if kinds else simple
        kind = types[0] if isinstance(types, list) else types
        if kind is not None and (kind not in _TYPES or not isinstance(schema.get("required", []), list)):
            raise SchemaRefused("no_schema")
        if kind is not None:
            simple["type"] = kind
        simple |= {key: schema[key] for key, kinds in _BOUNDS.items() if key in schema and kind in kinds}
        if unions := [*schema.get("anyOf", ()), *schema.get("oneOf", ())]:
            branches = [self.node(each, depth, within) for each in unions]
            simple["anyOf"] = [each for each in branches if each is not False]
        if kind == "array":
            simple["items"] = self.node(schema.get("items", {}), depth, within) or {}
        if kind in ("object", None) and "properties" in schema:
            parts = {name: self.node(each, depth, within) for name, each in schema["properties"].items()}
            simple["properties"] = {name: each for name, each in parts.items() if each is not False}
        if kind in ("object", None) and "required" in schema:
            simple["required"] = [*schema["required"]]
        # With patterns, which properties are additional depends on them.
        closed = schema.get("additionalProperties") is False and "patternProperties" not in schema
        return {**simple, "additionalProperties": False} if closed and kind == "object" else simple

    def _found(self, reference: str) -> object:
        if not reference.startswith("#"):
            return None
        found: Any = self._whole
        with suppress(LookupError, TypeError, ValueError):  # it is missing
            for part in reference[1:].split("/")[1:]:
                name = part.replace("~1", "/").replace("~0", "~")
                found = found[int(name) if isinstance(found, list) else name]
            return found
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
    """Merge unions into the schema. Returns None if it does not describe objects."""
    if simple.get("type", "object") != "object":
        return None
    merged, properties = _without(simple, "type", "anyOf", "required"), simple.get("properties", {})
    required = set(simple.get("required", ()))
    if "anyOf" in simple:
        branches = list(filter(None, map(_as_object, simple["anyOf"])))
        if not branches:
            return None
        for branch in branches:
            properties = {**properties, **branch["properties"], **properties}
        required |= set.intersection(*(set(branch.get("required", ())) for branch in branches))
        if any("additionalProperties" not in branch for branch in branches):
            merged.pop("additionalProperties", None)
    needed = [name for name in properties if name in required]
    return {"type": "object", **merged, "properties": properties, **({"required": needed} if needed else {})}


MAX_TOOLS: Final = 200
MAX_DESCRIPTION_LENGTH: Final = 4000
MAX_SCHEMA_LENGTH: Final = 64_000
MAX_SCHEMAS_LENGTH: Final = 500_000
"""Per server: a hundred times what well-known servers have."""
MAX_LISTED_NAME_LENGTH: Final = 128


@dataclass(frozen=True, slots=True)
class RemoteTool:
    """A tool as its server lists it, with bounded texts."""

    name: str
    description: str
    schema: str
    read_only: bool
    digest: str
    """Covers all that the server says about it except `open_world`."""
    open_world: bool = True
    """False if the server declares that calls reach nothing beyond it (`openWorldHint`)."""


def as_listed(tool: "mcp_types.Tool") -> RemoteTool:
    hints, description = tool.annotations, tool.description or tool.title or ""
    read_only = hints is not None and hints.read_only_hint is True
    [given] = tool.input_schema["allOf"]  # see messages.py
    schema = json.dumps(given, sort_keys=True)
    whole = json.dumps([tool.name, description, schema, read_only])
    return RemoteTool(
        tool.name[:MAX_LISTED_NAME_LENGTH],
        description[:MAX_DESCRIPTION_LENGTH] + "…" * (len(description) > MAX_DESCRIPTION_LENGTH),
        schema if len(schema) <= MAX_SCHEMA_LENGTH else "",
        read_only,
        hashlib.sha256(whole.encode("ascii")).hexdigest(),
        hints is None or hints.open_world_hint is not False,
    )


def to_text(tools: Sequence[RemoteTool]) -> str:
    """Return the tools as JSON, in an order independent of the server."""
    ordered = sorted(tools, key=lambda tool: (tool.name, tool.digest, tool.open_world))
    return json.dumps([*map(astuple, ordered)], ensure_ascii=False)


def from_text(text: str) -> tuple[RemoteTool, ...]:
    return tuple(RemoteTool(*row) for row in json.loads(text or "[]"))


@dataclass(frozen=True, slots=True)
class Catalog:
    tools: tuple[OfferedTool, ...] = ()
    left_out: tuple[LeftOutTool, ...] = ()
    details: tuple[ToolDetails, ...] = ()
    """Every listed or accepted tool, those held back first."""
    held_back: tuple[str, ...] = ()


def review(server: str, rules: ServerRules, stored: StoredToolList) -> Catalog:
    """Decide which tools are offered to models. A tool must be allowed by the operator's file, accepted by an
    owner exactly as it is listed now, and usable by models."""
    listed, accepted = from_text(stored.seen), from_text(stored.accepted)
    now, agreed = {tool.name: tool for tool in listed}, {tool.name: tool for tool in accepted}
    digests = {tool.digest for tool in accepted}
    unaccepted = {tool.name for tool in listed if tool.digest not in digests}
    full_names = Counter(full_name(server, tool.name) for tool in listed if _is_allowed(tool.name, rules))
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
            try:
                if length > MAX_SCHEMAS_LENGTH:
                    raise SchemaRefused("too_large")
                tools.append(_offered(server, rules, now[name], agreed[name], full_names))
                statuses[name] = "offered"
            except SchemaRefused as refused:
                left_out.append(LeftOutTool(name, refused.reason))
                statuses[name] = "left_out"
    lists = now, agreed
    details = [
        ToolDetails(full_name(server, name), status, *(_wording(known.get(name), rules) for known in lists))
        for name, status in sorted(statuses.items(), key=lambda each: each[1] not in HELD_BACK)
    ]
    held_back = tuple(name for name, status in statuses.items() if status in HELD_BACK)
    return Catalog(tuple(tools), tuple(left_out), tuple(details), held_back)


def _wording(tool: RemoteTool | None, rules: ServerRules) -> ToolWording | None:
    if tool is None:
        return None
    waits = needs_approval(tool.read_only, rules)
    return ToolWording(tool.description, tool.schema, tool.read_only, waits, _is_open_world(tool, rules))


def needs_approval(read_only: bool, rules: ServerRules) -> bool:
    return rules.approve == "always" or (rules.approve == "writes" and not read_only)


def _is_open_world(tool: RemoteTool, rules: ServerRules) -> bool:
    if rules.local is None:
        return tool.open_world
    return not any(fnmatchcase(tool.name, pattern) for pattern in rules.local)


def _offered(
    server: str, rules: ServerRules, tool: RemoteTool, agreed: RemoteTool, names: Mapping[str, int]
) -> OfferedTool:
    """Raises SchemaRefused."""
    known_as = full_name(server, tool.name)
    if names[known_as] > 1:
        raise SchemaRefused("alike")
    if len(known_as) > MAX_NAME_LENGTH or not tool.name:
        raise SchemaRefused("long_name")
    if not tool.schema:
        raise SchemaRefused("too_large")
    return OfferedTool(
        server,
        tool.name,
        tool.description,
        for_models(json.loads(tool.schema)),
        tool.read_only,
        _is_open_world(tool, rules) or _is_open_world(agreed, rules),
        needs_approval(tool.read_only, rules),
        rules.approvers,
        rules.calls_per_turn,
        for_roles=bool(rules.roles),
    )


def _is_allowed(name: str, rules: ServerRules) -> bool:
    named = rules.tools is None or any(fnmatchcase(name, pattern) for pattern in rules.tools)
    return named and not any(fnmatchcase(name, pattern) for pattern in rules.deny)
