"""Tool calls about memories, stored with references instead of the memories' text.

A result refers to each memory by its row (`ref`). The text is removed when a call is stored and inserted when
it is read, so stored answers keep no copy of an erased memory.
"""

import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import replace
from typing import Any, Final

from cc_bot.domain.memory import Memory
from cc_bot.domain.message import Message, ToolCall

MEMORY_TOOLS: Final = frozenset({"remember", "recall", "update_memory", "forget", "list_memories"})
CANVAS_TOOLS: Final = frozenset(
    {"canvas_add_card", "canvas_show_text", "canvas_add_chart", "canvas_update_card"}
)
UNAVAILABLE: Final = {"unavailable": True}
"""Replaces a memory that was erased or made private."""

_KEEPING_TOOLS: Final = frozenset({"remember", "update_memory"})
_KEPT: Final = ("remembered", "updated")
_TEXTS: Final = ("content", "category", "tags")


def named_ids(call: ToolCall) -> frozenset[int]:
    """The memories that a call's result refers to."""
    return frozenset(_references_in(parse_json(call.result))) if call.name in MEMORY_TOOLS else frozenset()


def kept_ids(call: ToolCall) -> frozenset[int]:
    """The memory that a call stored or changed, without others in its result."""
    result = parse_json(call.result)
    if call.name not in _KEEPING_TOOLS or not isinstance(result, dict):
        return frozenset()
    kept = (result.get(name) for name in _KEPT)
    return frozenset(each["ref"] for each in kept if isinstance(each, dict) and "ref" in each)


def shown_ids(calls: Iterable[ToolCall]) -> frozenset[int]:
    """The memories that calls stored, changed or looked up."""
    return frozenset[int]().union(
        *(kept_ids(call) if call.name in _KEEPING_TOOLS else named_ids(call) for call in calls)
    )


def without_texts(call: ToolCall) -> ToolCall:
    if call.name not in MEMORY_TOOLS or '"ref": ' not in call.result:
        return call
    arguments = call.arguments
    if kept_ids(call) and isinstance(given := parse_json(arguments), dict):
        arguments = _dump(_emptied(given))
    return replace(call, arguments=arguments, result=_dump(_change_notes(parse_json(call.result), _emptied)))


def with_texts(message: Message, memories: Mapping[int, Memory]) -> Message:
    """Insert the memories' current texts into a stored answer's calls.

    A memory that is missing or not for the answer's readers is UNAVAILABLE; the calls then lose their sealed
    reasoning too, which may contain the text.
    """
    seen = {
        id_: memory
        for id_, memory in memories.items()
        if memory.audience == "anywhere" or message.visibility == "private"
    }
    calls = [_with_texts(call, seen) for call in message.tool_calls]
    named = frozenset[int]().union(*map(named_ids, message.tool_calls))
    if not named <= seen.keys():
        calls = [replace(call, native="{}") if call.native else call for call in calls]
    tainted = message.tainted or any(seen[id_].tainted for id_ in named & seen.keys())
    return replace(message, tool_calls=tuple(calls), tainted=tainted)


def _with_texts(call: ToolCall, memories: Mapping[int, Memory]) -> ToolCall:
    if not named_ids(call):
        return call
    arguments, kept = call.arguments, kept_ids(call)
    if kept and isinstance(given := parse_json(arguments), dict):
        memory = memories.get(min(kept))
        arguments = _dump(_filled(given, memory) if memory else UNAVAILABLE)

    def look_up(note: Mapping[str, Any]) -> Mapping[str, Any]:
        if note["content"] is not None:
            return note
        return _filled(note, memories[note["ref"]]) if note["ref"] in memories else UNAVAILABLE

    return replace(call, arguments=arguments, result=_dump(_change_notes(parse_json(call.result), look_up)))


def _change_notes(value: Any, change: Callable[[Mapping[str, Any]], Mapping[str, Any]]) -> Any:
    match value:
        case {"ref": int(), "content": _}:
            return change(value)
        case dict():
            return {name: _change_notes(each, change) for name, each in value.items()}
        case list():
            return [_change_notes(each, change) for each in value]
        case _:
            return value


def _emptied(fields: Mapping[str, Any]) -> dict[str, Any]:
    return {name: None if name in _TEXTS else value for name, value in fields.items()}


def _filled(fields: Mapping[str, Any], memory: Memory) -> dict[str, Any]:
    now: Mapping[str, Any] = {"content": memory.content, "category": memory.category, "tags": [*memory.tags]}
    return {name: now[name] if name in _TEXTS and value is None else value for name, value in fields.items()}


def _references_in(value: Any) -> Iterator[int]:
    match value:
        case dict():
            if isinstance(ref := value.get("ref"), int):
                yield ref
            for each in value.values():
                yield from _references_in(each)
        case list():
            for each in value:
                yield from _references_in(each)
        case _:
            pass


def parse_json(text: str) -> Any:
    """Return the value of a call's arguments or result; None if it is not JSON."""
    try:
        return json.loads(text or "{}")
    except (ValueError, RecursionError):
        return None


def _dump(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False)
