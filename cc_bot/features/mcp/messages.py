"""Messages of servers, cleaned before the library validates them; results, cut to their limits. The library
validates a message on the event loop, so it is first reduced to what is used, in a thread if it is large.
Parsing holds the interpreter lock for a time that grows with the number of values, which is therefore
bounded."""

import asyncio
import base64
import json
import re
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from typing import Any, Final, TypeVar

from mcp_types import (
    AudioContent,
    CallToolResult,
    EmbeddedResource,
    ImageContent,
    ResourceLink,
    TextContent,
    TextResourceContents,
)

from cc_bot.domain.message import Attachment, image_type
from cc_bot.features.mcp.catalog import MAX_TOOLS
from cc_bot.features.mcp.model import ServerResult

MAX_MESSAGE_BYTES: Final = 12 << 20
"""8 MB of pictures in base64, and a text."""
MAX_VALUES: Final = 100_000
"""Per message: parsing holds the interpreter lock for 30 ms."""
MAX_BLOCKS: Final = 1000
MAX_TEXT: Final = 1024 * 1024
"""Characters per result: just above what an operator can allow."""
MAX_DIGITS: Final = 30
"""Parsing an integer takes quadratic time; a longer one becomes a string."""
MAX_QUESTION_BYTES: Final = 1_000_000
"""A server's question is held until it is answered."""
MAX_INLINE_BYTES: Final = 32_000
T = TypeVar("T")
_READER: Final = ThreadPoolExecutor(1, thread_name_prefix="tool-servers")
_HALF: Final = re.compile("[\ud800-\udfff]")
_PIECE: Final = 1 << 16
_SEPARATORS: Final = (b",", b"[", b"{")
_HINTS: Final = ("readOnlyHint", "openWorldHint")


class MessageUnreadable(ValueError):
    """Not a message, or too expensive to read."""


async def clean_message(text: bytes) -> bytes:
    """Return a message as the library accepts it. Raises MessageUnreadable."""
    return _clean(text) if len(text) <= MAX_INLINE_BYTES else await run_aside(_clean, text)


async def run_aside(function: Callable[..., T], *arguments: object) -> T:
    """Run a function in the one thread for large data: only one message at a time takes memory."""
    return await asyncio.get_running_loop().run_in_executor(_READER, function, *arguments)


def _clean(text: bytes) -> bytes:
    if has_too_many_values(text):
        raise MessageUnreadable("too many values")
    try:
        message = json.loads(
            text.decode("utf-8", "replace"),
            parse_int=lambda digits: int(digits) if len(digits) <= MAX_DIGITS else digits,
        )
        if not isinstance(message, dict):
            raise MessageUnreadable("not an object")
        if len(text) > MAX_QUESTION_BYTES and "method" in message:
            raise MessageUnreadable("a long question")
        if isinstance(result := message.get("result"), dict):
            _reduce(result)
        return _encode(json.dumps(message, ensure_ascii=False))
    except (ValueError, RecursionError) as error:
        raise MessageUnreadable(type(error).__name__) from None


def has_too_many_values(text: bytes) -> bool:
    """Return whether JSON has more than MAX_VALUES values, by counting delimiters outside of strings."""
    if sum(map(text.count, _SEPARATORS)) <= MAX_VALUES:
        return False
    bare = text.replace(rb"\\", b"").replace(rb"\"", b"")
    if bare.count(b'"') > 4 * MAX_VALUES:
        return True
    outside = b"".join(bare.split(b'"')[::2])
    return sum(map(outside.count, _SEPARATORS)) > MAX_VALUES


def _encode(text: str) -> bytes:
    try:
        return text.encode()
    except UnicodeEncodeError:
        pieces = (text[at : at + _PIECE] for at in range(0, len(text), _PIECE))  # other threads may go on
        return b"".join(_HALF.sub("\ufffd", piece).encode() for piece in pieces)


def _reduce(result: dict[str, Any]) -> None:
    if isinstance(tools := result.get("tools"), list):
        known = [tool for tool in tools if isinstance(tool, dict) and isinstance(tool.get("name"), str)]
        result["tools"] = [_plain(tool) for tool in known[:MAX_TOOLS]]
    if isinstance(blocks := result.get("content"), list):
        result["content"] = _shorten(blocks, result.pop("structuredContent", None))


def _shorten(blocks: list[Any], structured: object) -> list[Any]:
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
    """Drop what the library may refuse, as it would refuse the whole list. A pattern in an output schema may
    take forever. The input schema is wrapped, and checked later (catalog.py)."""
    words = {key: tool[key] for key in ("name", "title", "description") if isinstance(tool.get(key), str)}
    given = tool.get("annotations")
    known = given if isinstance(given, dict) else {}
    hints = {key: known[key] for key in _HINTS if isinstance(known.get(key), bool)}
    return {
        **words,
        "inputSchema": {"type": "object", "allOf": [tool.get("inputSchema")]},
        "annotations": hints,
    }


MAX_IMAGE_BYTES: Final = 8_000_000
MAX_IMAGES: Final = 8
MAX_REFERENCE_LENGTH: Final = 200


def result_of(result: CallToolResult, most_kb: int) -> ServerResult:
    """Convert a result, with at most so many KB of text. Structured content is text by now."""
    images, lines = list[Attachment](), list[str]()
    for block in result.content:
        match block:
            case TextContent(text=text):
                lines.append(text)
            case ImageContent(data=data):
                lines.append(_take_image(data, images))
            case AudioContent(mime_type=kind):
                lines.append(f"[A recording, {_shortened(kind)}, which is not shown.]")
            case ResourceLink(uri=uri, name=name):
                lines.append(f"[A link, {_shortened(name)}: {_shortened(str(uri))}]")
            case EmbeddedResource(resource=TextResourceContents(uri=uri, text=text)):
                lines += [f"[A file, {_shortened(str(uri))}:]", text]
            case EmbeddedResource(resource=resource):
                lines.append(f"[A file, {_shortened(str(resource.uri))}, which is not shown.]")
    return ServerResult(cut("\n".join(lines), most_kb * 1024), ok=not result.is_error, images=tuple(images))


def _take_image(data: str, images: list[Attachment]) -> str:
    size = sum(len(each.data) for each in images) + len(data) * 3 // 4
    if size > MAX_IMAGE_BYTES or len(images) >= MAX_IMAGES:
        return "[A picture, which was left out: there are too many, or they are too large.]"
    try:
        content = base64.b64decode(data, validate=True)
    except ValueError:
        content = b""
    media_type = image_type(content)
    if media_type is None:
        return "[A picture, which was left out: it is not a PNG, JPEG, WebP or GIF.]"
    name = f"image-{len(images) + 1}.{media_type.removeprefix('image/')}"
    images.append(Attachment(name, media_type, content))
    return f"[A picture: {name}]"


def _shortened(text: str) -> str:
    return " ".join(text.split())[:MAX_REFERENCE_LENGTH]


def cut(text: str, limit: int) -> str:
    """Cut a text to so many UTF-8 bytes, between characters, and say how much is missing."""
    whole = text.encode("utf-8", "replace")
    if len(whole) <= limit:
        return whole.decode("utf-8")
    kept = whole[:limit].decode("utf-8", "ignore")
    left = len(whole) - len(kept.encode("utf-8"))
    return f"{kept}\n[The rest was left out here: {left} bytes or more.]"
