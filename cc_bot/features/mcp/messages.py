"""Cleans servers' messages before the MCP library validates them on the event loop, and limits results.

Unused fields are removed. The number of values is limited, as parsing them holds the interpreter lock.
"""

import asyncio
import base64
import json
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

from cc_bot.domain.message import Attachment, detect_image_type
from cc_bot.features.mcp.catalog import MAX_TOOLS
from cc_bot.features.mcp.model import ServerResult

MAX_MESSAGE_BYTES: Final = 12 << 20  # 8 MB of pictures in base64, and a text
MAX_VALUES: Final = 100_000  # parsing that many locks the interpreter for 30 ms
MAX_CONTENT_BLOCKS: Final = 1000
MAX_RESULT_CHARACTERS: Final = 1024 * 1024  # more than the largest `max_result_kb`
MAX_INTEGER_DIGITS: Final = 30  # longer ones become strings: parsing takes quadratic time
MAX_SERVER_REQUEST_BYTES: Final = 1_000_000  # requests stay in memory until answered
MAX_INLINE_BYTES: Final = 32_000  # larger messages are cleaned in a thread
T = TypeVar("T")
_WORKER: Final = ThreadPoolExecutor(1, thread_name_prefix="tool-servers")
_DELIMITERS: Final = (b",", b"[", b"{")
_TOOL_HINTS: Final = ("readOnlyHint", "openWorldHint")


class MessageUnreadable(ValueError):
    """The text is not a message, or parsing would take too long."""


async def clean_message(data: bytes) -> bytes:
    """Return the message as the library accepts it. Raises MessageUnreadable."""
    return _clean_json(data) if len(data) <= MAX_INLINE_BYTES else await run_in_worker(_clean_json, data)


async def run_in_worker(function: Callable[..., T], *arguments: object) -> T:
    """Run a function in the only thread for large data, to limit memory."""
    return await asyncio.get_running_loop().run_in_executor(_WORKER, function, *arguments)


def _clean_json(data: bytes) -> bytes:
    if has_too_many_values(data):
        raise MessageUnreadable("too many values")
    try:
        message = json.loads(
            data.decode("utf-8", "replace"),
            parse_int=lambda digits: int(digits) if len(digits) <= MAX_INTEGER_DIGITS else digits,
        )
        if not isinstance(message, dict):
            raise MessageUnreadable("not an object")
        if len(data) > MAX_SERVER_REQUEST_BYTES and "method" in message:
            raise MessageUnreadable("a long request")
        if isinstance(result := message.get("result"), dict):
            _clean_result(result)
        # Lone surrogates become question marks, as in the database.
        return json.dumps(message, ensure_ascii=False).encode("utf-8", "replace")
    except (ValueError, RecursionError) as error:
        raise MessageUnreadable(type(error).__name__) from None


def has_too_many_values(data: bytes) -> bool:
    """Return whether JSON has more than MAX_VALUES values, by its delimiters outside strings."""
    if sum(map(data.count, _DELIMITERS)) <= MAX_VALUES:
        return False
    unescaped = data.replace(rb"\\", b"").replace(rb"\"", b"")
    if unescaped.count(b'"') > 4 * MAX_VALUES:
        return True
    outside = b"".join(unescaped.split(b'"')[::2])
    return sum(map(outside.count, _DELIMITERS)) > MAX_VALUES


def _clean_result(result: dict[str, Any]) -> None:
    if isinstance(tools := result.get("tools"), list):
        well_formed = [tool for tool in tools if isinstance(tool, dict) and isinstance(tool.get("name"), str)]
        result["tools"] = [_clean_tool(tool) for tool in well_formed[:MAX_TOOLS]]
    if isinstance(blocks := result.get("content"), list):
        result["content"] = _limit_content(blocks, result.pop("structuredContent", None))


def _limit_content(blocks: list[Any], structured: object) -> list[Any]:
    """`structured` becomes a text block if no other block has text."""
    limited, characters_left = blocks[:MAX_CONTENT_BLOCKS], MAX_RESULT_CHARACTERS
    if omitted := len(blocks) - len(limited):
        limited.append({"type": "text", "text": f"[{omitted} of {len(blocks)} parts were left out here.]"})
    well_formed = [each for each in limited if isinstance(each, dict)]
    resources = [each["resource"] for each in well_formed if isinstance(each.get("resource"), dict)]
    texts = [each for each in (*well_formed, *resources) if isinstance(each.get("text"), str)]
    if not texts and structured is not None:
        texts = [{"type": "text", "text": json.dumps(structured, ensure_ascii=False)}]
        limited += texts
    for each in texts:
        each["text"] = each["text"][:characters_left]
        characters_left -= len(each["text"])
    return limited


def _clean_tool(tool: Mapping[str, Any]) -> dict[str, Any]:
    """Keep only valid fields, as the library refuses a whole list for one bad tool. The library does not
    check a schema in `allOf`. The output schema is dropped: checking its patterns could take forever."""
    texts = {key: tool[key] for key in ("name", "title", "description") if isinstance(tool.get(key), str)}
    annotations = tool.get("annotations")
    annotations = annotations if isinstance(annotations, dict) else {}
    hints = {key: annotations[key] for key in _TOOL_HINTS if isinstance(annotations.get(key), bool)}
    return {
        **texts,
        "inputSchema": {"type": "object", "allOf": [tool.get("inputSchema")]},
        "annotations": hints,
    }


MAX_IMAGE_BYTES: Final = 8_000_000
MAX_IMAGES: Final = 8
MAX_REFERENCE_LENGTH: Final = 200


def convert_result(result: CallToolResult, max_kb: int) -> ServerResult:
    """Convert a cleaned result, with at most `max_kb` of text."""
    images, lines = list[Attachment](), list[str]()
    for block in result.content:
        match block:
            case TextContent(text=text):
                lines.append(text)
            case ImageContent(data=data):
                lines.append(_collect_image(data, images))
            case AudioContent(mime_type=media_type):
                lines.append(f"[A recording, {_one_line(media_type)}, which is not shown.]")
            case ResourceLink(uri=uri, name=name):
                lines.append(f"[A link, {_one_line(name)}: {_one_line(str(uri))}]")
            case EmbeddedResource(resource=TextResourceContents(uri=uri, text=text)):
                lines += [f"[A file, {_one_line(str(uri))}:]", text]
            case EmbeddedResource(resource=resource):
                lines.append(f"[A file, {_one_line(str(resource.uri))}, which is not shown.]")
    text = truncate("\n".join(lines), max_kb * 1024)
    return ServerResult(text, ok=not result.is_error, images=tuple(images))


def _collect_image(data: str, images: list[Attachment]) -> str:
    """Add an image to `images`, and return the line for it."""
    size = sum(len(each.data) for each in images) + len(data) * 3 // 4
    if size > MAX_IMAGE_BYTES or len(images) >= MAX_IMAGES:
        return "[A picture, which was left out: there are too many, or they are too large.]"
    try:
        content = base64.b64decode(data, validate=True)
    except ValueError:
        content = b""
    media_type = detect_image_type(content)
    if media_type is None:
        return "[A picture, which was left out: it is not a PNG, JPEG, WebP or GIF.]"
    name = f"image-{len(images) + 1}.{media_type.removeprefix('image/')}"
    images.append(Attachment(name, media_type, content))
    return f"[A picture: {name}]"


def _one_line(text: str) -> str:
    return " ".join(text.split())[:MAX_REFERENCE_LENGTH]


def truncate(text: str, max_bytes: int) -> str:
    """Cut a text to `max_bytes` of UTF-8, and append how much is missing."""
    encoded = text.encode("utf-8", "replace")
    if len(encoded) <= max_bytes:
        return encoded.decode("utf-8")
    beginning = encoded[:max_bytes].decode("utf-8", "ignore")
    omitted = len(encoded) - len(beginning.encode("utf-8"))
    return f"{beginning}\n[The rest was left out here: {omitted} bytes or more.]"
