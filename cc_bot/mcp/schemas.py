"""The schemas of servers' tools, in the form that models take.

A server's schema may refer to itself, or to something on the web. So it is first brought into a tree of
bounded size, without references; models get the part of that which every provider accepts.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

from cc_bot.domain.tool_server import LeftOutReason

Schema = dict[str, Any]

MAX_NODES: Final = 2000
"""The largest of well-known servers have some hundred."""
MAX_DEPTH: Final = 16


class SchemaRefused(Exception):
    """A tool that can't be offered to models."""

    def __init__(self, reason: LeftOutReason) -> None:
        super().__init__(reason)
        self.reason = reason


_LISTS: Final = frozenset({"anyOf", "oneOf", "allOf"})
_BOUNDS: Final[Mapping[str, Sequence[str]]] = {
    **dict.fromkeys(("minimum", "maximum"), ("number", "integer")),
    **dict.fromkeys(("minLength", "maxLength"), ("string",)),
    **dict.fromkeys(("minItems", "maxItems"), ("array",)),
}
"""The types that each bound belongs to: some providers refuse it elsewhere."""
_AS_THEY_ARE: Final = frozenset({"type", "enum", "const", "required", "description", "default", *_BOUNDS})


def tree_of(schema: object) -> Schema:
    """Return the schema as a tree. Raises SchemaRefused."""
    if not isinstance(schema, dict):
        raise SchemaRefused("no_schema")
    tree = _Inliner(schema).node(schema, 0, ())
    if not isinstance(tree, dict):
        raise SchemaRefused("no_schema")
    # Only loaded if a server is named: it takes 20 ms.
    from jsonschema import Draft202012Validator  # noqa: PLC0415 - see above
    from jsonschema.exceptions import SchemaError  # noqa: PLC0415

    try:
        Draft202012Validator.check_schema(tree)
    except (SchemaError, RecursionError):
        raise SchemaRefused("no_schema") from None
    return tree


class _Inliner:
    def __init__(self, whole: Schema) -> None:
        self._whole = whole
        self._nodes = 0

    def node(self, schema: object, depth: int, within: tuple[str, ...]) -> Schema | bool:
        """Return a part as a tree; `within` are the references that led to it. Where one leads back to
        itself, or too deep, anything is right."""
        if isinstance(schema, bool):
            return schema
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
            beside = {key: value for key, value in schema.items() if key not in ("$ref", "$dynamicRef")}
            if not isinstance(found, dict):
                return self.node(beside, depth + 1, within) if found is not False else False
            return self.node({**found, **beside}, depth + 1, (*within, reference))
        return dict(self._parts(schema, depth + 1, within))

    def _parts(self, schema: Schema, depth: int, within: tuple[str, ...]) -> Iterator[tuple[str, Any]]:
        for key, value in schema.items():
            if key == "additionalProperties" and "patternProperties" in schema:
                continue  # which ones are additional depends on the patterns
            if key == "additionalProperties" or (key == "items" and not isinstance(value, list)):
                yield key, self.node(value, depth, within)
            elif key in _LISTS and isinstance(value, list) and value:
                yield key, [self.node(each, depth, within) for each in value]
            elif key == "properties" and isinstance(value, dict):
                yield key, {str(name): self.node(each, depth, within) for name, each in value.items()}
            elif key in _AS_THEY_ARE:
                yield key, value

    def _found(self, reference: str) -> object:
        """Return what a reference within the schema leads to; None for any other."""
        if not reference.startswith("#"):
            return None
        found: Any = self._whole
        for part in reference[1:].split("/")[1:]:
            name = part.replace("~1", "/").replace("~0", "~")
            if isinstance(found, dict) and name in found:
                found = found[name]
            elif isinstance(found, list) and name.isdecimal() and int(name) < len(found):
                found = found[int(name)]
            else:
                return None
        return found


_KEPT: Final = ("description", "enum", "default")
_TYPES: Final = frozenset({"string", "number", "integer", "boolean", "object", "array", "null"})


def for_models(tree: Schema) -> Schema:
    """Return the schema in a form that every model server takes: an object at its top, without unions there.
    Raises SchemaRefused."""
    top = _as_object(tree)
    if top is None:
        raise SchemaRefused("no_object")
    simple = _simple(top)
    return {"type": "object", "properties": simple.pop("properties", {}), **_without(simple, "type", "anyOf")}


def _without(schema: Schema, *keys: str) -> Schema:
    return {key: value for key, value in schema.items() if key not in keys}


def _as_object(tree: Schema) -> Schema | None:
    """Return a schema with its unions merged into it; None if it does not describe objects."""
    if any(isinstance(each, dict) and _as_object(each) is None for each in tree.get("allOf", ())):
        return None
    tree = _merge_all_of(tree)
    types = tree.get("type", "object")
    if "object" not in (types if isinstance(types, list) else [types]):
        return None
    merged = {**_without(tree, "anyOf", "oneOf"), "type": "object"}
    required, properties = set(tree.get("required", ())), dict(tree.get("properties", {}))
    for union in filter(None, (tree.get("anyOf"), tree.get("oneOf"))):
        branches = list(filter(None, (_as_object(each) for each in union if isinstance(each, dict))))
        if not branches:
            return None
        for branch in branches:
            properties = {**properties, **branch["properties"], **properties}
        required |= set.intersection(*(set(branch["required"]) for branch in branches))
        if any(branch.get("additionalProperties") is not False for branch in branches):
            merged.pop("additionalProperties", None)
    return {**merged, "properties": properties, "required": [name for name in properties if name in required]}


def _merge_all_of(tree: Schema) -> Schema:
    merged = _without(tree, "allOf")
    for each in tree.get("allOf", ()):
        if isinstance(each, dict):
            part = _merge_all_of(each)
            properties = {**merged.get("properties", {}), **part.get("properties", {})}
            required = [*merged.get("required", ()), *part.get("required", ())]
            merged = {**part, **merged}
            merged |= {"properties": properties} if properties else {}
            merged |= {"required": list(dict.fromkeys(required))} if required else {}
    return merged


def _simple(tree: Schema | bool) -> Schema:
    if isinstance(tree, bool):
        return {}
    tree = _merge_all_of(tree)
    simple = {key: tree[key] for key in _KEPT if tree.get(key) is not None}
    if "const" in tree:
        simple["enum"] = [tree["const"]]
    types = tree.get("type")
    if isinstance(types, list) and len(types) != 1:
        kinds = [_simple({**_without(tree, *_KEPT, "const"), "type": each}) for each in types]
        return {**simple, "anyOf": kinds} if kinds else simple
    kind = types[0] if isinstance(types, list) else types
    if isinstance(kind, str) and kind in _TYPES:
        simple["type"] = kind
    simple |= {key: tree[key] for key, kinds in _BOUNDS.items() if key in tree and kind in kinds}
    if unions := [*tree.get("anyOf", ()), *tree.get("oneOf", ())]:
        simple["anyOf"] = [_simple(each) for each in unions if each is not False]
    if kind == "array":
        simple["items"] = _simple(tree.get("items", {}))
    if kind in ("object", None) and "properties" in tree:
        simple["properties"] = {
            name: _simple(each) for name, each in tree["properties"].items() if each is not False
        }
        known = [name for name in tree.get("required", ()) if name in simple["properties"]]
        simple |= {"required": known} if known else {}
    if kind == "object" and tree.get("additionalProperties") is False:
        simple["additionalProperties"] = False
    return simple
