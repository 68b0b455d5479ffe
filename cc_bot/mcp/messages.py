"""Messages of servers, cleaned before the library validates them.

The library reads a message on the event loop, in one piece. So a message is first bounded and reduced to what
is used of it, in a thread where it is large. A long text or picture is read fast; many values are not, and
Python's interpreter lock is held while they are. Hence the bound on their number.
"""

import asyncio
import json
import re
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from typing import Any, Final, TypeVar

from cc_bot.mcp.lists import MOST_TOOLS

MAX_VALUES: Final = 100_000
"""Several MB of JSON, of which 1000 KB at most are told. To read them holds the interpreter for 30 ms."""
MAX_BLOCKS: Final = 1000
"""Texts and pictures in a result: the library validates each of them several times."""
MAX_TEXT: Final = 1000 * 1024
"""Characters of a result, of which an operator can have as many bytes told at most."""
MAX_DIGITS: Final = 30
"""Of a whole number: reading one takes the square of its length. A longer one is kept as a text."""
MAX_ASKED_BYTES: Final = 1_000_000
"""Of what a server asks, and waits for an answer to: as long as it does, it is kept."""
MAX_INLINE_BYTES: Final = 32_000
"""Larger messages are read in a thread."""

T = TypeVar("T")
_READER: Final = ThreadPoolExecutor(1, thread_name_prefix="tool-servers")
_REPLACEMENT: Final = "\ufffd"
_HALF: Final = re.compile("[\ud800-\udfff]")
_SEPARATORS: Final = (b",", b"[", b"{")
_PIECE: Final = 1 << 16
_HINTS: Final = ("readOnlyHint", "openWorldHint")


class MessageUnreadable(ValueError):
    """What a server sent is not a message, or takes too long to read."""


class Flooded(Exception):
    """A server sends more than anybody asked for."""


async def clean_message(text: bytes) -> bytes:
    """Return a message as JSON in UTF-8 that the library reads fast. Raises MessageUnreadable."""
    if len(text) <= MAX_INLINE_BYTES:
        return _clean(text)
    return await run_aside(_clean, text)


async def run_aside(function: Callable[..., T], *arguments: object) -> T:
    """Run a function in the one thread for large data: so only one message at a time takes memory."""
    return await asyncio.get_running_loop().run_in_executor(_READER, function, *arguments)


def _clean(text: bytes) -> bytes:
    if has_too_many_values(text):
        raise MessageUnreadable("too many values")
    try:
        message = json.loads(text.decode("utf-8", "replace"), parse_int=_whole_number)
        if not isinstance(message, dict):
            raise MessageUnreadable("not an object")
        if len(text) > MAX_ASKED_BYTES and "method" in message and "id" in message:
            raise MessageUnreadable("a long question")
        if isinstance(result := message.get("result"), dict):
            _reduce(result)
        return _encode(json.dumps(message, ensure_ascii=False))
    except (ValueError, RecursionError) as error:
        raise MessageUnreadable(type(error).__name__) from None


def has_too_many_values(text: bytes) -> bool:
    """Return whether JSON has more values than MAX_VALUES, without reading it: what begins one outside of
    the strings is counted."""
    if sum(map(text.count, _SEPARATORS)) <= MAX_VALUES:
        return False
    bare = text.replace(rb"\\", b"").replace(rb"\"", b"")
    if bare.count(b'"') > 4 * MAX_VALUES:
        return True
    outside = b"".join(bare.split(b'"')[::2])
    return sum(map(outside.count, _SEPARATORS)) > MAX_VALUES


def _whole_number(digits: str) -> int | str:
    return int(digits) if len(digits) <= MAX_DIGITS else digits


def _encode(text: str) -> bytes:
    """Return a text with U+FFFD for each half of a surrogate pair, piece by piece."""
    try:
        return text.encode()
    except UnicodeEncodeError:
        pieces = (text[at : at + _PIECE] for at in range(0, len(text), _PIECE))
        return b"".join(_HALF.sub(_REPLACEMENT, piece).encode() for piece in pieces)


def _reduce(result: dict[str, Any]) -> None:
    """Leave out what is not used of a list of tools or of a call's result."""
    if isinstance(tools := result.get("tools"), list):
        known = [tool for tool in tools if isinstance(tool, dict) and isinstance(tool.get("name"), str)]
        result["tools"] = [_plain(tool) for tool in known[:MOST_TOOLS]]
    if isinstance(blocks := result.get("content"), list):
        result["content"] = _shorten(blocks, result.pop("structuredContent", None))


def _shorten(blocks: list[Any], structured: object) -> list[Any]:
    """Return as many texts and pictures as may be told; what is structured, as a text where there is none."""
    kept, room = blocks[:MAX_BLOCKS], MAX_TEXT + 1
    if left := len(blocks) - len(kept):
        kept.append({"type": "text", "text": f"[{left} of {len(blocks)} parts were left out here.]"})
    files = [each.get("resource") for each in kept if isinstance(each, dict)]
    texts = [each for each in (*kept, *files) if isinstance(each, dict) and isinstance(each.get("text"), str)]
    if not texts and structured is not None:
        texts = [{"type": "text", "text": json.dumps(structured, ensure_ascii=False)}]
        kept += texts
    for each in texts:
        each["text"] = each["text"][:room]
        room -= len(each["text"])
    return kept


def _plain(tool: Mapping[str, Any]) -> dict[str, Any]:
    """Return a tool as the library takes it: for one that is not as the protocol has it, it would let go of
    them all. The schema of its results is left out: results would be checked by it, and a pattern in it may
    take for ever."""
    words = {key: tool[key] for key in ("name", "title", "description") if isinstance(tool.get(key), str)}
    given = tool.get("annotations")
    known = given if isinstance(given, dict) else {}
    hints = {key: known[key] for key in _HINTS if isinstance(known.get(key), bool)}
    return {**words, "inputSchema": _of_object(tool.get("inputSchema")), "annotations": hints}


def _of_object(schema: object) -> dict[str, Any]:
    """Return a schema that says of itself that it is one of an object; what is none is said within it, and
    refused there (see schemas.py)."""
    if isinstance(schema, dict) and schema.get("type", "object") == "object" and _has_readable_parts(schema):
        return {**schema, "type": "object"}
    return {"type": "object", "allOf": [schema]}


def _has_readable_parts(schema: Mapping[str, Any]) -> bool:
    properties, required = schema.get("properties", {}), schema.get("required", [])
    return (
        isinstance(properties, dict)
        and all(isinstance(each, dict | bool) for each in properties.values())
        and isinstance(required, list)
        and all(isinstance(each, str) for each in required)
        and isinstance(schema.get("$schema", ""), str)
    )
