"""References of stored tool calls: memories, and the web pages that an answer is based on.

A result refers to each memory by its row (`ref`). The memory's text is removed when a call is stored and
inserted when it is read, so stored answers keep no copy of an erased memory.
"""

import json
import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any, Final
from urllib.parse import urlsplit

from cc_bot.domain.message import Message, ToolCall, parse_json
from cc_bot.features.memory.model import Memory

MEMORY_TOOLS: Final = frozenset({"remember", "recall", "update_memory", "forget", "list_memories"})
CANVAS_TOOLS: Final = frozenset(
    {"canvas_add_card", "canvas_show_text", "canvas_add_chart", "canvas_update_card"}
)
SEPARATOR: Final = "__"
"""Between the server's and the tool's name in the model's name for a tool."""
UNAVAILABLE: Final = {"unavailable": True}
"""Replaces a memory that was erased or made private."""

_KEEPING_TOOLS: Final = frozenset({"remember", "update_memory"})
_KEPT: Final = ("remembered", "updated")
_TEXTS: Final = ("content", "category", "tags")
_REF: Final = re.compile(r'"ref": (\d+)')
"""Inside a JSON string the quotes would be escaped."""


def is_of_server(name: str) -> bool:
    return SEPARATOR in name


def referenced_memory_ids(call: ToolCall) -> frozenset[int]:
    """The memories that a call's result refers to."""
    return frozenset(map(int, _REF.findall(call.result))) if call.name in MEMORY_TOOLS else frozenset()


def stored_memory_ids(call: ToolCall) -> frozenset[int]:
    """The memory that a call stored or changed, without others in its result."""
    result = parse_json(call.result)
    if call.name not in _KEEPING_TOOLS or not isinstance(result, dict):
        return frozenset()
    kept = (result.get(name) for name in _KEPT)
    return frozenset(each["ref"] for each in kept if isinstance(each, dict) and "ref" in each)


def shown_memory_ids(calls: Iterable[ToolCall]) -> frozenset[int]:
    """The memories that calls stored, changed or looked up."""
    return frozenset[int]().union(
        *(
            stored_memory_ids(call) if call.name in _KEEPING_TOOLS else referenced_memory_ids(call)
            for call in calls
        )
    )


def without_texts(call: ToolCall) -> ToolCall:
    if not referenced_memory_ids(call):
        return call
    arguments = call.arguments
    if stored_memory_ids(call) and isinstance(given := parse_json(arguments), dict):
        arguments = _dump(_emptied(given))
    return replace(call, arguments=arguments, result=_change_notes(call.result, _emptied))


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
    named = frozenset[int]().union(*map(referenced_memory_ids, message.tool_calls))
    if not named <= seen.keys():
        calls = [replace(call, native="{}") if call.native else call for call in calls]
    tainted = message.tainted or any(seen[id_].tainted for id_ in named & seen.keys())
    return replace(message, tool_calls=tuple(calls), tainted=tainted)


def _with_texts(call: ToolCall, memories: Mapping[int, Memory]) -> ToolCall:
    if not referenced_memory_ids(call):
        return call
    arguments, kept = call.arguments, stored_memory_ids(call)
    if kept and isinstance(given := parse_json(arguments), dict):
        memory = memories.get(min(kept))
        arguments = _dump(_filled(given, memory) if memory else UNAVAILABLE)

    def fill(note: Mapping[str, Any]) -> Mapping[str, Any]:
        if note["content"] is not None:
            return note
        return _filled(note, memories[note["ref"]]) if note["ref"] in memories else UNAVAILABLE

    return replace(call, arguments=arguments, result=_change_notes(call.result, fill))


def _change_notes(result: str, change: Callable[[Mapping[str, Any]], Mapping[str, Any]]) -> str:
    def change_note(value: dict[str, Any]) -> Mapping[str, Any]:
        return change(value) if isinstance(value.get("ref"), int) and "content" in value else value

    return _dump(parse_json(result, change_note))


def _emptied(fields: Mapping[str, Any]) -> dict[str, Any]:
    return {name: None if name in _TEXTS else value for name, value in fields.items()}


def _filled(fields: Mapping[str, Any], memory: Memory) -> dict[str, Any]:
    now: Mapping[str, Any] = {"content": memory.content, "category": memory.category, "tags": [*memory.tags]}
    return {name: now[name] if name in _TEXTS and value is None else value for name, value in fields.items()}


def _dump(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False)


READ_PAGE: Final = "read_page"
WEB_SEARCH: Final = "web_search"
LINKS_SHOWN: Final = 5
FOUND_SHOWN: Final = 3


@dataclass(frozen=True, slots=True)
class PageLink:
    url: str
    title: str

    @property
    def host(self) -> str:
        return urlsplit(self.url).netloc.removeprefix("www.")


def pages_behind(calls: Iterable[ToolCall]) -> tuple[PageLink, ...]:
    """Return the pages that were read, or else the first results of the last search. The model's arguments
    are ignored."""
    read, found = list[Any](), tuple[PageLink, ...]()
    for call in calls:
        result = parse_json(call.result) if call.ok else None
        if call.name == READ_PAGE:
            read.append(result)
        elif call.name == WEB_SEARCH and isinstance(result, dict):
            found = _links(result.get("results"))[:FOUND_SHOWN] or found
    return _links(read) or found


def _links(pages: Any) -> tuple[PageLink, ...]:
    """Return each link once."""
    known = dict[str, PageLink]()
    for page in pages if isinstance(pages, list) else ():
        match page:
            case {"url": str(url), "title": str(title)} if url.startswith(("http://", "https://")):
                known.setdefault(url, PageLink(url, title))
    return tuple(known.values())
