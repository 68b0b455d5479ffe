"""Messages of servers, bounded and cleaned before the library validates them.

The library reads a message on the event loop, in one piece. So a message is first reduced to what is used of
it, in a thread if it is large. A long text or picture is parsed fast. Many values are not, and Python's
interpreter lock is held meanwhile: hence the bound on their number.
"""

import asyncio
import json
import re
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from typing import Any, Final, NamedTuple, TypeVar

import structlog
from mcp_types import RequestId

from cc_bot.mcp.catalog import MAX_TOOLS

_log = structlog.get_logger(__name__)

MAX_MESSAGE_BYTES: Final = 12 << 20
"""8 MB of pictures in base64, and a text."""
PAUSE_S: Final = 0.001
"""After each line or piece: so a server that floods slows itself down, not the event loop."""
BYTES_A_SECOND: Final = 8 << 20
MAX_OPEN_QUESTIONS: Final = 16
MAX_QUESTION_ID: Final = 200

MAX_VALUES: Final = 100_000
"""In one JSON message: parsing so many holds the interpreter lock for 30 ms."""
MAX_BLOCKS: Final = 1000
"""Texts and pictures in a result: the library validates each of them several times."""
MAX_TEXT: Final = 1024 * 1024
"""Characters of a result: a little more than the most bytes that an operator can ask for."""
MAX_DIGITS: Final = 30
"""In a whole number: parsing takes the square of its length. A longer one becomes a text."""
MAX_QUESTION_BYTES: Final = 1_000_000
"""A question is kept until it is answered."""
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


class _Message(NamedTuple):
    text: bytes
    question: RequestId | None = None
    """The id, if the server asks something."""
    cancelled: RequestId | None = None
    """The id of a question that the server takes back: the library does not answer it."""


class Transport:
    """What both transports share: cleaning, the open questions, and the end of the connection."""

    def __init__(self, server: str) -> None:
        self.closed = asyncio.Event()
        """Set when nothing more comes from the server, or it is let go of."""
        self.code: int | None = None
        """The exit code of a program that ended by itself."""
        self._server = server
        self._open = set[RequestId]()
        """The questions of the server that wait for an answer."""

    async def clean(self, text: bytes) -> bytes:
        """Return a message as the library takes it. Raises MessageUnreadable."""
        message = _clean(text) if len(text) <= MAX_INLINE_BYTES else await run_aside(_clean, text)
        if message.question is not None:
            self._note_question(message.question)
        if message.cancelled is not None:
            self._open.discard(message.cancelled)
        return message.text

    def _note_question(self, number: RequestId) -> None:
        too_many = len(self._open) >= MAX_OPEN_QUESTIONS or number in self._open
        if too_many or len(str(number)) > MAX_QUESTION_ID:
            self.let_go("too many questions")
            raise MessageUnreadable("too many questions")
        self._open.add(number)

    def note_answered(self, number: RequestId | None) -> None:
        """Note that the server has read the answer to a question, and may ask another one."""
        if number is not None:
            self._open.discard(number)

    def let_go(self, problem: str) -> None:
        """Close the connection because of what the server does."""
        if not self.closed.is_set():
            _log.warning("tool_server_let_go", server=self._server, problem=problem)
        self.closed.set()

    async def pause(self, size: int) -> None:
        """Wait after a message of so many bytes, before the next one is read."""
        await asyncio.sleep(PAUSE_S + size / BYTES_A_SECOND)


async def run_aside(function: Callable[..., T], *arguments: object) -> T:
    """Run a function in the one thread for large data: so only one message at a time takes memory."""
    return await asyncio.get_running_loop().run_in_executor(_READER, function, *arguments)


def _clean(text: bytes) -> _Message:
    if has_too_many_values(text):
        raise MessageUnreadable("too many values")
    try:
        message = json.loads(text.decode("utf-8", "replace"), parse_int=_whole_number)
        if not isinstance(message, dict):
            raise MessageUnreadable("not an object")
        question = _id_of(message, "id") if "method" in message else None
        if len(text) > MAX_QUESTION_BYTES and question is not None:
            raise MessageUnreadable("a long question")
        if isinstance(result := message.get("result"), dict):
            _reduce(result)
        cancels = message.get("method") == "notifications/cancelled"
        cancelled = _id_of(message.get("params"), "requestId") if cancels else None
        return _Message(_encode(json.dumps(message, ensure_ascii=False)), question, cancelled)
    except (ValueError, RecursionError) as error:
        raise MessageUnreadable(type(error).__name__) from None


def _id_of(message: object, key: str) -> RequestId | None:
    number = message.get(key) if isinstance(message, dict) else None
    return number if isinstance(number, int | str) else None


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
        result["tools"] = [_plain(tool) for tool in known[:MAX_TOOLS]]
    if isinstance(blocks := result.get("content"), list):
        result["content"] = _shorten(blocks, result.pop("structuredContent", None))


def _shorten(blocks: list[Any], structured: object) -> list[Any]:
    """Return the first blocks, with MAX_TEXT characters; the structured content as a text if there is no
    other text."""
    kept, room = blocks[:MAX_BLOCKS], MAX_TEXT
    if left := len(blocks) - len(kept):
        kept.append({"type": "text", "text": f"[{left} of {len(blocks)} parts were left out here.]"})
    known = [each for each in kept if isinstance(each, dict)]
    holders = [each for each in (*known, *(each.get("resource") for each in known)) if isinstance(each, dict)]
    texts = [each for each in holders if isinstance(each.get("text"), str)]
    if not texts and structured is not None:
        texts = [{"type": "text", "text": json.dumps(structured, ensure_ascii=False)}]
        kept += texts
    for each in texts:
        each["text"] = each["text"][:room]
        room -= len(each["text"])
    return kept


def _plain(tool: Mapping[str, Any]) -> dict[str, Any]:
    """Return a tool as the library takes it, which refuses the whole list for one bad tool. The schema of its
    results is left out: results would be checked by it, and a pattern in it may take for ever."""
    words = {key: tool[key] for key in ("name", "title", "description") if isinstance(tool.get(key), str)}
    given = tool.get("annotations")
    known = given if isinstance(given, dict) else {}
    hints = {key: known[key] for key in _HINTS if isinstance(known.get(key), bool)}
    return {**words, "inputSchema": _of_object(tool.get("inputSchema")), "annotations": hints}


def _of_object(schema: object) -> dict[str, Any]:
    """Return a schema of an object. Any other one is wrapped in it, and refused later (see schemas.py)."""
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
