"""The memories and web pages that stored tool calls refer to.

A memory's text is removed before a call is stored, and inserted when the call is read, so that stored answers
keep no copy of an erased memory.
"""

import json
import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any, Final
from urllib.parse import urlsplit

from cc_bot.domain.message import Message, ToolCall, parse_json
from cc_bot.domain.text import one_line, shorten
from cc_bot.features.memory.model import Memory

MEMORY_TOOLS: Final = frozenset({"remember", "recall", "update_memory", "forget", "list_memories"})
CANVAS_TOOLS: Final = frozenset(
    {"canvas_add_card", "canvas_show_text", "canvas_add_chart", "canvas_update_card"}
)
SEPARATOR: Final = "__"  # between the server's and the tool's name in the model's name for a tool
UNAVAILABLE: Final = {"unavailable": True}  # replaces a memory that was erased or made private

_STORING_TOOLS: Final = frozenset({"remember", "update_memory"})
_STORED_RESULTS: Final = ("remembered", "updated")
_TEXT_FIELDS: Final = ("content", "category", "tags")
_REF: Final = re.compile(r'"ref": (\d+)')  # inside a JSON string the quotes are escaped


def is_server_tool(name: str) -> bool:
    return SEPARATOR in name


def referenced_memory_ids(call: ToolCall) -> frozenset[int]:
    return frozenset(map(int, _REF.findall(call.result))) if call.name in MEMORY_TOOLS else frozenset()


def stored_memory_ids(call: ToolCall) -> frozenset[int]:
    """Return the ids of the memories that a call stored or changed: one or none."""
    result = parse_json(call.result)
    if call.name not in _STORING_TOOLS or not isinstance(result, dict):
        return frozenset()
    memories = (result.get(name) for name in _STORED_RESULTS)
    return frozenset(each["ref"] for each in memories if isinstance(each, dict) and "ref" in each)


def shown_memory_ids(calls: Iterable[ToolCall]) -> frozenset[int]:
    return frozenset[int]().union(
        *(
            stored_memory_ids(call) if call.name in _STORING_TOOLS else referenced_memory_ids(call)
            for call in calls
        )
    )


def strip_memory_texts(call: ToolCall) -> ToolCall:
    if not referenced_memory_ids(call):
        return call
    arguments = call.arguments
    if stored_memory_ids(call) and isinstance(fields := parse_json(arguments), dict):
        arguments = _dump(_remove_texts(fields))
    return replace(call, arguments=arguments, result=_change_memories(call.result, _remove_texts))


def insert_memory_texts(message: Message, memories: Mapping[int, Memory]) -> Message:
    """Insert the memories' current texts into a stored answer's calls. A memory that is missing, or not for
    the answer's readers, becomes UNAVAILABLE. Then the calls also lose their encrypted reasoning, which may
    contain the memory's text."""
    readable = {
        id_: memory
        for id_, memory in memories.items()
        if memory.audience == "anywhere" or message.visibility == "private"
    }
    calls = [_insert_texts(call, readable) for call in message.tool_calls]
    referenced = frozenset[int]().union(*map(referenced_memory_ids, message.tool_calls))
    if not referenced <= readable.keys():
        calls = [replace(call, native="{}") if call.native else call for call in calls]
    tainted = message.tainted or any(readable[id_].tainted for id_ in referenced & readable.keys())
    return replace(message, tool_calls=tuple(calls), tainted=tainted)


def _insert_texts(call: ToolCall, memories: Mapping[int, Memory]) -> ToolCall:
    if not referenced_memory_ids(call):
        return call
    arguments, stored = call.arguments, stored_memory_ids(call)
    if stored and isinstance(fields := parse_json(arguments), dict):
        memory = memories.get(min(stored))
        arguments = _dump(_insert_field_texts(fields, memory) if memory else UNAVAILABLE)

    def fill(fields: Mapping[str, Any]) -> Mapping[str, Any]:
        if fields["content"] is not None:
            return fields
        memory = memories.get(fields["ref"])
        return _insert_field_texts(fields, memory) if memory else UNAVAILABLE

    return replace(call, arguments=arguments, result=_change_memories(call.result, fill))


def _change_memories(result: str, change: Callable[[Mapping[str, Any]], Mapping[str, Any]]) -> str:
    def change_memory(value: dict[str, Any]) -> Mapping[str, Any]:
        return change(value) if isinstance(value.get("ref"), int) and "content" in value else value

    return _dump(parse_json(result, change_memory))


def _remove_texts(fields: Mapping[str, Any]) -> dict[str, Any]:
    return {name: None if name in _TEXT_FIELDS else value for name, value in fields.items()}


def _insert_field_texts(fields: Mapping[str, Any], memory: Memory) -> dict[str, Any]:
    texts = {"content": memory.content, "category": memory.category, "tags": [*memory.tags]}
    return {name: texts.get(name) if value is None else value for name, value in fields.items()}


def _dump(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False)


READ_PAGE: Final = "read_page"
WEB_SEARCH: Final = "web_search"
MAX_LINKS: Final = 5
MAX_RESULTS: Final = 3
_MAX_HOST: Final = 40
_MAX_TITLE: Final = 20


@dataclass(frozen=True, slots=True)
class PageLink:
    url: str
    title: str

    @property
    def host(self) -> str:
        return urlsplit(self.url).netloc.removeprefix("www.")

    @property
    def name(self) -> str:
        """The host comes first: the page's author writes the title."""
        return " · ".join(
            filter(None, (shorten(self.host, _MAX_HOST), shorten(one_line(self.title), _MAX_TITLE)))
        )


def list_sources(calls: Iterable[ToolCall]) -> tuple[PageLink, ...]:
    """Return the pages that were read, or else the first results of the last search."""
    read_pages, results = list[Any](), tuple[PageLink, ...]()
    for call in calls:
        result = parse_json(call.result) if call.ok else None
        if call.name == READ_PAGE:
            read_pages.append(result)
        elif call.name == WEB_SEARCH and isinstance(result, dict):
            results = _links(result.get("results"))[:MAX_RESULTS] or results
    return _links(read_pages) or results


def _links(pages: Any) -> tuple[PageLink, ...]:
    links = dict[str, PageLink]()
    for page in pages if isinstance(pages, list) else ():
        match page:
            case {"url": str(url), "title": str(title)} if url.startswith(("http://", "https://")):
                links.setdefault(url, PageLink(url, title))
    return tuple(links.values())
