"""What both wires send: the prompt in a form that every chat template takes, and the bytes of a request."""

import json
from base64 import b64encode
from collections.abc import Iterator, Sequence
from dataclasses import replace
from hashlib import blake2b
from itertools import zip_longest
from secrets import token_hex
from typing import Any, Final

import aiohttp
from aiohttp.abc import AbstractStreamWriter

from cc_bot.domain.message import MAX_REQUEST_IMAGE_BYTES, Attachment
from cc_bot.llm.model import AssistantPart, PromptPart, SystemPart, ToolRequest, ToolResultPart, UserPart
from cc_bot.llm.openai.events import is_json_object
from cc_bot.llm.openai.quirks import Quirks

Json = dict[str, Any]

_TOO_OLD: Final = "[An image that was here is too long ago to be shown again.]"
_NOT_SEEN: Final = "[There is an image here that you cannot see. Say so if the question is about it.]"


def prepared(
    prompt: Sequence[PromptPart], quirks: Quirks, label: str
) -> tuple[list[tuple[PromptPart, Json]], list[int]]:
    """Return the parts with the native that the model `label` gave, and the new index of each old part. Calls
    get valid JSON, and ids that the model knows or every server takes."""
    parts, moved = folded(prompt, quirks)
    sent, ids = list[tuple[PromptPart, Json]](), dict[str, str]()
    for part in parts:
        match part:
            case AssistantPart(_, requests) if requests:
                native = json.loads(part.native) if part.native and quirks.native else {}
                native = native if native.get("by") == label else {}
                own = dict(enumerate(native.get("ids") or []))
                ids |= {each.id: own.get(at) or _neutral(each.id) for at, each in enumerate(requests)}
                valid = (ToolRequest(ids[each.id], each.name, _valid(each.arguments)) for each in requests)
                sent.append((replace(part, tool_requests=tuple(valid)), native))
            case ToolResultPart(request_id):
                sent.append((replace(part, request_id=ids.get(request_id) or _neutral(request_id)), {}))
            case _:
                sent.append((part, {}))
    return sent, moved


def _valid(arguments: str) -> str:
    return arguments if is_json_object(arguments) else "{}"


def _neutral(call_id: str) -> str:
    """Nine letters and digits, for Mistral."""
    if len(call_id) == 9 and call_id.isascii() and call_id.isalnum():
        return call_id
    return blake2b(call_id.encode(errors="replace")).hexdigest()[:9]


def folded(prompt: Sequence[PromptPart], quirks: Quirks) -> tuple[list[PromptPart], list[int]]:
    """Return the prompt with one system part, and the new index of each old part.

    Later system parts join the user part that follows: many templates take one system message, first. In
    their position a cached prefix holds.
    """
    parts, moved, after_context = list[PromptPart](), list[int](), False
    for each in _with_few_images(prompt, quirks):
        part = each
        is_context = isinstance(part, SystemPart) and (bool(parts) or quirks.system_role == "user")
        if is_context:
            part = UserPart(f"<context>\n{part.text}\n</context>")
        match parts[-1] if parts else None, part:
            case UserPart(before, images), UserPart(text, more) if after_context or quirks.alternate:
                parts[-1] = UserPart(f"{before}\n\n{text}", images + more)
            case AssistantPart(before, ()), AssistantPart(text, ()) if quirks.alternate:
                parts[-1] = AssistantPart(f"{before}\n\n{text}")
            case _:
                parts.append(part)
        moved.append(len(parts) - 1)
        after_context = is_context
    return parts, moved


def _with_few_images(prompt: Sequence[PromptPart], quirks: Quirks) -> Sequence[PromptPart]:
    """Keep the newest images that one request may hold, and add a line for others."""
    room = MAX_REQUEST_IMAGE_BYTES if quirks.images else -1
    parts = list[PromptPart]()
    for each in reversed(prompt):
        part = each
        if isinstance(part, UserPart) and part.images:
            kept = list[Attachment]()
            for image in reversed(part.images):
                room -= len(image.data)
                if image.data and room >= 0:
                    kept.insert(0, image)
            if len(kept) < len(part.images):
                line = _TOO_OLD if quirks.images else _NOT_SEEN
                part = UserPart(f"{part.text}\n\n{line}".strip(), tuple(kept))
        parts.append(part)
    return parts[::-1]


_ENCODED_BYTES: Final = 48 * 1024  # a multiple of 3, so that the pieces join to one base64


class RequestBody(aiohttp.Payload):
    """Encodes images while they are sent, so no copy is held."""

    _autoclose = True

    def __init__(self, body: Json) -> None:
        """`body` has an Attachment in place of an image's URL."""
        mark, self._images = token_hex(16), list[bytes]()

        def data_url(image: Attachment) -> str:
            self._images.append(image.data)
            return f"data:{image.content_type};base64,{mark}"

        text = json.dumps(body, ensure_ascii=False, separators=(",", ":"), allow_nan=False, default=data_url)
        self._texts = text.encode().split(mark.encode())
        super().__init__(None, content_type="application/json")

    @property
    def size(self) -> int:
        """Without it the body would be sent in chunks, which many servers refuse."""
        return sum(map(len, self._texts)) + sum(-(-len(image) // 3) * 4 for image in self._images)

    def decode(self, encoding: str = "utf-8", errors: str = "strict") -> str:
        return b"".join(self._pieces()).decode(encoding, errors)

    async def write(self, writer: AbstractStreamWriter) -> None:
        for piece in self._pieces():
            await writer.write(piece)

    def _pieces(self) -> Iterator[bytes]:
        for text, image in zip_longest(self._texts, self._images, fillvalue=b""):
            yield text
            for start in range(0, len(image), _ENCODED_BYTES):
                yield b64encode(image[start : start + _ENCODED_BYTES])

    def release(self) -> None:
        """Drop the images: request and response form a cycle until the next garbage collection."""
        self._texts, self._images = [], []
