"""What both wires send: the prompt in a form that every chat template takes, and the bytes of a request."""

import json
from base64 import b64encode
from collections.abc import AsyncIterator, Iterator, Sequence
from dataclasses import replace
from hashlib import blake2b
from itertools import zip_longest
from secrets import token_hex
from typing import Any, Final

from cc_bot.domain.message import MAX_REQUEST_IMAGE_BYTES, Attachment
from cc_bot.llm.model import AssistantPart, PromptPart, SystemPart, ToolResultPart, UserPart
from cc_bot.llm.openai.quirks import Quirks

Json = dict[str, Any]

_TOO_OLD: Final = "[An image that was here is too long ago to be shown again.]"
_NOT_SEEN: Final = "[There is an image here that you cannot see. Say so if the question is about it.]"


def folded(prompt: Sequence[PromptPart], quirks: Quirks) -> tuple[list[PromptPart], list[int]]:
    """Return the prompt with one system part, and the new index of each old part.

    Later system parts move into the user part that follows them: many chat templates take one system message
    only, and only first. They stay where they are in the conversation, so a cached prefix holds.
    """
    parts, moved, context = list[PromptPart](), list[int](), list[str]()
    for each in _with_few_images(prompt, quirks):
        part = each
        if isinstance(part, SystemPart) and (parts or context or quirks.system_role == "user"):
            context.append(f"<context>\n{part.text}\n</context>")
            moved.append(len(parts))
            continue
        if context:
            text = "\n\n".join(context)
            if isinstance(part, UserPart):
                part = replace(part, text=f"{text}\n\n{part.text}")
            else:
                parts.append(UserPart(text))
            context.clear()
        before = parts[-1] if parts else None
        match before, part:
            case UserPart(said, images), UserPart(text, more) if quirks.alternate:
                parts[-1] = UserPart(f"{said}\n\n{text}", images + more)
            case AssistantPart(said, ()), AssistantPart(text, ()) if quirks.alternate:
                parts[-1] = AssistantPart(f"{said}\n\n{text}")
            case _:
                parts.append(part)
        moved.append(len(parts) - 1)
    if context:
        parts.append(UserPart("\n\n".join(context)))
    return parts, [min(index, len(parts) - 1) for index in moved]


def _with_few_images(prompt: Sequence[PromptPart], quirks: Quirks) -> Sequence[PromptPart]:
    """The prompt with its newest images, as many as one request may hold. A line stands in each message whose
    images are left out."""
    room = MAX_REQUEST_IMAGE_BYTES if quirks.images else -1
    parts = list[PromptPart]()
    for each in reversed(prompt):
        part = each
        if isinstance(part, UserPart) and part.images:
            images = list[Attachment]()
            for image in reversed(part.images):
                room -= len(image.data)
                if image.data and room >= 0:
                    images.append(image)
            if len(images) < len(part.images):
                line = _TOO_OLD if quirks.images else _NOT_SEEN
                part = UserPart(f"{part.text}\n\n{line}".strip(), tuple(reversed(images)))
        parts.append(part)
    return parts[::-1]


def native_of(part: AssistantPart, label: str, quirks: Quirks) -> Json:
    """What the provider gave with a message's calls, if it was this one; else empty."""
    if not part.native or not quirks.native:
        return {}
    native = json.loads(part.native)
    return native if native.get("by") == label else {}


class CallIds:
    """The ids of calls as they are sent: the model's own, or nine letters and digits, which Mistral's API and
    templates demand of every call."""

    def __init__(self) -> None:
        self._sent: dict[str, str] = {}

    def sent(self, part: AssistantPart, native: Json) -> list[str]:
        own = native.get("ids") or []
        ids = [own[at] if at < len(own) else _neutral(call.id) for at, call in enumerate(part.tool_requests)]
        self._sent.update(zip((call.id for call in part.tool_requests), ids, strict=True))
        return ids

    def of_result(self, part: ToolResultPart) -> str:
        return self._sent.get(part.request_id) or _neutral(part.request_id)


def _neutral(call_id: str) -> str:
    if len(call_id) == 9 and call_id.isascii() and call_id.isalnum():
        return call_id
    return blake2b(call_id.encode(errors="replace")).hexdigest()[:9]


_ENCODED_BYTES: Final = 48 * 1024
"""Bytes of an image that are encoded at a time: a multiple of 3, so that the pieces join to one base64."""


class RequestBody:
    """The bytes of a request. Images are encoded to base64 while they are sent, so no copy of them is held.

    The client sends a body again only if it can be rewound like a file, so this has a file's methods.
    """

    def __init__(self, body: Json) -> None:
        """`body` as JSON, with an Attachment in place of the URL of each image."""
        mark, self._images = token_hex(16), list[bytes]()

        def data_url(image: Attachment) -> str:
            self._images.append(image.data)
            return f"data:{image.content_type};base64,{mark}"

        def dumps(value: object) -> bytes:
            if isinstance(value, list):  # item by item: each is one call that holds the interpreter's lock
                return b"[" + b",".join(map(dumps, value)) + b"]"
            return json.dumps(
                value, ensure_ascii=False, separators=(",", ":"), allow_nan=False, default=data_url
            ).encode()

        fields = (dumps(name) + b":" + dumps(value) for name, value in body.items())
        self._texts = (b"{" + b",".join(fields) + b"}").split(mark.encode())

    def __len__(self) -> int:
        return sum(map(len, self._texts)) + sum(-(-len(image) // 3) * 4 for image in self._images)

    async def __aiter__(self) -> AsyncIterator[bytes]:
        for chunk in self._chunks():
            yield chunk

    def read(self) -> bytes:
        return b"".join(self._chunks())

    def seekable(self) -> bool:
        return True

    def tell(self) -> int:
        return 0

    def seek(self, position: int) -> int:
        """Do nothing: each iteration begins at the start."""
        return position

    def close(self) -> None:
        """Release the images: responses and requests of the client refer to each other, and stay with their
        body until the next garbage collection."""
        self._texts, self._images = [], []

    def _chunks(self) -> Iterator[bytes]:
        for text, image in zip_longest(self._texts, self._images, fillvalue=b""):
            yield text
            for start in range(0, len(image), _ENCODED_BYTES):
                yield b64encode(image[start : start + _ENCODED_BYTES])
