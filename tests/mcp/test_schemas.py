"""Schemas of servers' tools, in a form that providers accept."""

from typing import Any

import pytest

from cc_bot.features.mcp.catalog import MAX_SCHEMA_NODES, ToolRefused, simplify_schema

DATE = {"type": "string", "format": "date", "pattern": "^[0-9-]+$", "title": "Day", "description": "日付"}


def told(schema: dict[str, Any]) -> dict[str, Any]:
    return simplify_schema(schema)


class TestWhatModelsAreTold:
    def test_leaves_out_what_servers_of_models_refuse(self) -> None:
        city = {"type": "string", "description": "都市", "minLength": 1, "enum": ["a"], "default": "a"}
        kept: dict[str, Any] = {"type": "object", "required": ["city"], "additionalProperties": False}
        schema = {**kept, "$schema": "https://a.example", "$id": "a", "title": "Args", "$comment": "よ"}
        schema |= {"properties": {"day": DATE, "city": city}}
        day = {"type": "string", "description": "日付"}
        kept |= {"properties": {"day": day, "city": city}}
        assert told(schema) == kept
        del kept["additionalProperties"]  # those of a pattern are further ones
        assert told({**schema, "patternProperties": {"^x": {}}}) == kept

    def test_puts_references_where_they_are_made_ends_circles_and_follows_none_to_elsewhere(self) -> None:
        node = {"type": "object", "properties": {"next": {"$ref": "#/$defs/node"}}}
        schema = {
            "$defs": {"day": DATE, "node": node},
            "properties": {
                "from": {"$ref": "#/$defs/day", "description": "から"},
                "first": {"$ref": "#/$defs/node"},
                "other": {"$ref": "http://127.0.0.1/schema.json"},
            },
        }
        properties = told(schema)["properties"]
        assert properties["from"] == {"type": "string", "description": "から"}
        assert properties["first"]["properties"]["next"] == {}
        assert properties["other"] == {}

    def test_merges_a_union_at_the_top(self) -> None:
        text = {name: {"type": "string"} for name in ("text", "file", "as")}
        branches = [
            {"properties": {name: text[name], "as": text["as"]}, "required": [name, "as"]}
            for name in ("text", "file")
        ]
        for union in ("anyOf", "oneOf"):
            merged = told({"properties": {"id": {"type": "integer"}}, "required": ["id"], union: branches})
            assert list(merged["properties"]) == ["id", "text", "as", "file"]
            assert merged["required"] == ["id", "as"]
            assert union not in merged
        parts = [{"properties": {name: text["as"]}, "required": [name]} for name in ("a", "b")]
        assert told({"type": "object", "allOf": parts})["required"] == ["a", "b"]
        inner = told({"properties": {"inner": {"type": "object", "allOf": parts}}})["properties"]["inner"]
        assert inner == {
            "type": "object",
            "properties": {"b": text["as"], "a": text["as"]},
            "required": ["a", "b"],
        }

    def test_is_nothing_where_no_model_could_be_told(self) -> None:
        schemas: list[dict[str, Any]] = [
            {"type": "string"},
            {"anyOf": [{"type": "string"}, {"type": "array"}]},
            {"type": "nonsense"},
            {"properties": {"a": 5}},
            {"properties": {f"p{number}": {} for number in range(MAX_SCHEMA_NODES)}},
        ]
        for schema in schemas:
            with pytest.raises(ToolRefused):
                told(schema)

    def test_ends_in_time_where_a_schema_doubles_itself(self) -> None:
        definitions = {f"d{level}": {"allOf": [{"$ref": f"#/$defs/d{level + 1}"}] * 2} for level in range(30)}
        schema = {"$defs": {**definitions, "d30": {}}, "properties": {"a": {"$ref": "#/$defs/d0"}}}
        assert told(schema)["properties"] == {"a": {}}  # each level by itself: a thousand million
