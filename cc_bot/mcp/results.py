"""The result of a call, cut to its limits: a text, and pictures."""

import base64
import binascii
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Final

from mcp_types import (
    AudioContent,
    CallToolResult,
    ContentBlock,
    EmbeddedResource,
    ImageContent,
    ResourceLink,
    TextContent,
    TextResourceContents,
)

from cc_bot.domain.message import Attachment, image_type
from cc_bot.domain.tool_server import ServerResult

MAX_IMAGE_BYTES: Final = 8_000_000
"""Of all pictures of one result."""
MAX_IMAGES: Final = 8
MAX_REFERENCE_LENGTH: Final = 200
"""Of the name or address of content that is left out."""


def result_of(result: CallToolResult, most_kb: int) -> ServerResult:
    """Return the outcome of a call with at most so many KB of text. Structured content is a text by now, see
    messages.py."""
    gathered = _Gathered()
    lines = [line for block in result.content for line in gathered.lines(block)]
    text = cut("\n".join(lines), most_kb * 1024)
    return ServerResult(text, ok=not result.is_error, images=tuple(gathered.images))


def cut(text: str, limit: int) -> str:
    """Cut a text to so many bytes of UTF-8, between characters, with a line that says how much is missing."""
    whole = text.encode("utf-8", "replace")
    if len(whole) <= limit:
        return whole.decode("utf-8")
    kept = whole[:limit].decode("utf-8", "ignore")
    left = len(whole) - len(kept.encode("utf-8"))
    return f"{kept}\n[The rest was left out here: {left} bytes or more.]"


@dataclass(slots=True)
class _Gathered:
    """The lines and pictures of a result so far."""

    images: list[Attachment] = field(default_factory=list)
    image_bytes: int = 0

    def lines(self, block: ContentBlock) -> Iterator[str]:
        """Yield the lines for a block."""
        match block:
            case TextContent(text=text):
                yield text
            case ImageContent(data=data):
                yield self._image(data)
            case AudioContent(mime_type=kind):
                yield f"[A recording, {_shortened(kind)}, which is not shown.]"
            case ResourceLink(uri=uri, name=name):
                yield f"[A link, {_shortened(name)}: {_shortened(str(uri))}]"
            case EmbeddedResource(resource=TextResourceContents(uri=uri, text=text)):
                yield f"[A file, {_shortened(str(uri))}:]"
                yield text
            case EmbeddedResource(resource=resource):
                yield f"[A file, {_shortened(str(resource.uri))}, which is not shown.]"

    def _image(self, data: str) -> str:
        if self.image_bytes + len(data) * 3 // 4 > MAX_IMAGE_BYTES or len(self.images) >= MAX_IMAGES:
            return "[A picture, which was left out: there are too many, or they are too large.]"
        try:
            content = base64.b64decode(data, validate=True)
        except (binascii.Error, ValueError):
            content = b""
        media_type = image_type(content)
        if media_type is None:
            return "[A picture, which was left out: it is not a PNG, JPEG, WebP or GIF.]"
        self.image_bytes += len(content)
        name = f"image-{len(self.images) + 1}.{media_type.removeprefix('image/')}"
        self.images.append(Attachment(name, media_type, content))
        return f"[A picture: {name}]"


def _shortened(text: str) -> str:
    return " ".join(text.split())[:MAX_REFERENCE_LENGTH]
