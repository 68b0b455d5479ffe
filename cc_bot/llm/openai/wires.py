"""Chat Completions and Responses: requests as JSON, and what their streams say.

Requests have the form that most servers accept: one system part, plain strings without an image, no `tools`
without tools, valid JSON in each call. With `store: false`, encrypted reasoning of Responses goes back
with the calls that it led to (platform.openai.com/docs/guides/reasoning).
"""

import json
from base64 import b64encode
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from hashlib import blake2b
from itertools import zip_longest
from secrets import token_hex
from typing import Any, Final

import aiohttp
from aiohttp.abc import AbstractStreamWriter

from cc_bot.domain.message import MAX_REQUEST_IMAGE_BYTES, Attachment
from cc_bot.llm.model import (
    MAX_CALLS,
    AssistantPart,
    ChatRequest,
    PromptPart,
    SystemPart,
    ToolRequest,
    ToolResultPart,
    ToolSchema,
    UserPart,
)
from cc_bot.llm.openai.quirks import Quirks
from cc_bot.llm.openai.reply import (
    Chunk,
    ToolCallDelta,
    is_json_object,
    items_of,
    mapping,
    read_usage,
    text_of,
)

Json = dict[str, Any]
Sent = tuple[PromptPart, Json]

_TOO_OLD: Final = "[An image that was here is too long ago to be shown again.]"
_NOT_SEEN: Final = "[There is an image here that you cannot see. Say so if the question is about it.]"


def prepared(prompt: Sequence[PromptPart], quirks: Quirks, label: str) -> tuple[list[Sent], list[int]]:
    """Return the parts with the native that the model `label` gave, and the new index of each old part. Calls
    get valid JSON, and ids that the model knows or every server takes."""
    parts, moved = folded(prompt, quirks)
    sent, ids = list[Sent](), dict[str, str]()
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


CHAT_PATH: Final = "/chat/completions"
MAX_CACHE_MARKS: Final = 4  # Anthropic's API refuses a fifth
_REASONING_FIELDS: Final = frozenset({"reasoning_content", "reasoning", "thinking", "reasoning_details"})
_PLAIN: Final = ("type", "description", "enum", "required", "items", "anyOf")
# ai.google.dev/gemini-api/docs/thought-signatures, for calls of other models
_SKIP_SIGNATURE: Final = {"google": {"thought_signature": "skip_thought_signature_validator"}}
# For reasoning that was not stored: DeepSeek and Kimi only check that there is some.
_NO_REASONING: Final[dict[str, Any]] = {"reasoning_content": " ", "reasoning_details": []}


def chat_body(model: str, request: ChatRequest, quirks: Quirks, label: str) -> Json:
    parts, moved = prepared(request.prompt, quirks, label)
    messages = [_message(part, native, quirks) for part, native in parts]
    if quirks.cache_marks:
        stable = (*request.stable[:1], *request.stable[1:][-(MAX_CACHE_MARKS - 1) :])
        for index in {moved[each] for each in stable}:
            messages[index] = _with_mark(messages[index])
    body: Json = {"model": model, "messages": messages, "stream": True}
    if request.tools:
        body["tools"] = [{"type": "function", "function": tool_json(tool, quirks)} for tool in request.tools]
    return body


def tool_json(tool: ToolSchema, quirks: Quirks) -> Json:
    parameters = _plain_schema(tool.parameters) if quirks.plain_schemas else tool.parameters
    return {"name": tool.name, "description": tool.description, "parameters": parameters}


def _plain_schema(schema: Any) -> Any:
    if isinstance(schema, list):
        return [_plain_schema(each) for each in schema]
    if not isinstance(schema, Mapping):
        return schema
    plain = {name: _plain_schema(schema[name]) for name in _PLAIN if name in schema}
    if properties := mapping(schema.get("properties")):
        plain["properties"] = {name: _plain_schema(each) for name, each in properties.items()}
    return plain


def _message(part: PromptPart, native: Json, quirks: Quirks) -> Json:
    match part:
        case SystemPart(text):
            return {"role": "system", "content": text}
        case UserPart(text, images):
            return {"role": "user", "content": _content(text, images)}
        case AssistantPart(text, ()):
            return {"role": "assistant", "content": text}
        case AssistantPart():
            return _chat_calls(part, native, quirks)
        case ToolResultPart(request_id, _, text):
            return {"role": "tool", "tool_call_id": request_id, "content": text}


def _chat_calls(part: AssistantPart, native: Json, quirks: Quirks) -> Json:
    calls: list[Json] = [
        {"id": call.id, "type": "function", "function": {"name": call.name, "arguments": call.arguments}}
        for call in part.tool_requests
    ]
    extras = native.get("extras") or []
    if quirks.skip_signature and not any(extras):
        extras = [_SKIP_SIGNATURE]
    for call, extra in zip(calls, extras, strict=False):
        if extra:
            call["extra_content"] = extra
    reasoning, wanted = native.get("reasoning") or {}, quirks.echo if quirks.native else ()
    echo = {name: reasoning.get(name) or _NO_REASONING[name] for name in sorted(wanted)}
    return {"role": "assistant", "content": part.text or None, "tool_calls": calls, **echo}


def _content(text: str, images: Sequence[Attachment]) -> str | list[Json]:
    if not images:
        return text
    words: list[Json] = [{"type": "text", "text": text}] if text else []
    return words + [{"type": "image_url", "image_url": {"url": image}} for image in images]


def _with_mark(message: Json) -> Json:
    content = message["content"]
    parts: list[Json] = [{"type": "text", "text": content}] if isinstance(content, str) else content or []
    if not parts or not parts[-1].get("text", "image"):
        return message
    return {**message, "content": [*parts[:-1], {**parts[-1], "cache_control": {"type": "ephemeral"}}]}


def read_chunk(chunk: object) -> Chunk:
    """Read a chunk, or a whole answer sent in place of a stream. Never raises."""
    choice = mapping(next(iter(items_of(mapping(chunk).get("choices"))), None))
    delta = mapping(choice.get("delta")) or mapping(choice.get("message"))
    content, finish_reason = delta.get("content"), text_of(choice.get("finish_reason")) or None
    usage = read_usage(mapping(chunk).get("usage"), "prompt_tokens", "completion_tokens")
    if isinstance(content, list):  # Mistral: parts, of which those of type `thinking` have no `text`
        text = "".join(text_of(mapping(part).get("text")) for part in content)
    else:
        text = text_of(content)
    return Chunk(
        text or text_of(delta.get("refusal")),
        tuple(_call(mapping(item)) for item in items_of(delta.get("tool_calls"))[:MAX_CALLS]),
        finish_reason,
        usage,
        {name: delta[name] for name in _REASONING_FIELDS & delta.keys() if delta[name]},
        alive=bool(finish_reason or usage or any(delta[name] for name in delta if name != "role")),
    )


def _call(call: Mapping[str, Any]) -> ToolCallDelta:
    function, index = mapping(call.get("function")), call.get("index")
    arguments = function.get("arguments")
    if isinstance(arguments, Mapping):  # some servers send the object instead of its text
        arguments = json.dumps(arguments, ensure_ascii=False)
    return ToolCallDelta(
        index if isinstance(index, int) else None,
        text_of(call.get("id")),
        text_of(function.get("name")),
        text_of(arguments),
        call.get("extra_content"),
    )


RESPONSES_PATH: Final = "/responses"


def responses_body(model: str, request: ChatRequest, quirks: Quirks, label: str) -> Json:
    parts, _ = prepared(request.prompt, quirks, label)
    body: Json = {
        "model": model,
        "input": [item for part, native in parts for item in _items(part, native)],
        "stream": True,
        "store": False,
        "include": ["reasoning.encrypted_content"],
    }
    if request.tools:
        tools = [tool_json(tool, quirks) for tool in request.tools]
        body["tools"] = [{"type": "function", **tool, "strict": False} for tool in tools]
    return body


def _items(part: PromptPart, native: Json) -> list[Json]:
    match part:
        case SystemPart(text):
            return [{"role": "system", "content": text}]
        case UserPart(text, images):
            words: list[Json] = [{"type": "input_text", "text": text}] if text or not images else []
            pictures = [{"type": "input_image", "image_url": image} for image in images]
            return [{"role": "user", "content": [*words, *pictures]}]
        case AssistantPart():
            return _responses_calls(part, native)
        case ToolResultPart(request_id, _, text):
            return [{"type": "function_call_output", "call_id": request_id, "output": text}]


def _responses_calls(part: AssistantPart, native: Json) -> list[Json]:
    """Reasoning is refused without the item that it led to."""
    phase = {"phase": native["phase"]} if native.get("phase") else {}
    calls: list[Json] = [
        {"type": "function_call", "call_id": call.id, "name": call.name, "arguments": call.arguments}
        for call in part.tool_requests
    ]
    left: dict[str, list[Json]] = {
        "message": [{"role": "assistant", "content": part.text, **phase}] if part.text else [],
        "function_call": calls,
    }
    ordered, reasoning = list[Json](), list[Json]()
    for item in native.get("items") or []:
        if item["type"] == "reasoning":
            reasoning.append(item)
            continue
        if left[item["type"]]:
            ordered += [*reasoning, left[item["type"]].pop(0)]
        reasoning.clear()
    return [*ordered, *left["message"], *left["function_call"]]


def read_event(event: object) -> Chunk:
    """Never raises."""
    fields = mapping(event)
    kind = text_of(fields.get("type"))
    match kind:
        case "response.output_text.delta" | "response.refusal.delta":
            return Chunk(text_of(fields.get("delta")), alive=True)
        case "response.output_item.done":
            return _read_item(mapping(fields.get("item")), fields.get("output_index"))
        case "response.completed" | "response.incomplete":
            response = mapping(fields.get("response"))
            reason = text_of(mapping(response.get("incomplete_details")).get("reason"))
            cut = "content_filter" if reason == "content_filter" else "length"
            usage = read_usage(response.get("usage"), "input_tokens", "output_tokens")
            whole = kind == "response.completed" and not reason
            return Chunk(finish_reason="stop" if whole else cut, usage=usage, alive=True)
        case _:
            thinks = kind.startswith("response.reasoning")
            alive = thinks or kind.endswith(".delta")
            return Chunk(reasoning={"summary": True} if thinks else {}, alive=alive)


def _read_item(item: Mapping[str, Any], index: object) -> Chunk:
    match item.get("type"):
        case "function_call":
            call = ToolCallDelta(
                index if isinstance(index, int) else None,
                text_of(item.get("call_id")),
                text_of(item.get("name")),
                text_of(item.get("arguments")),
            )
            return Chunk(calls=(call,), items=({"type": "function_call"},), alive=True)
        case "reasoning":
            return Chunk(items=(dict(item),), reasoning={"summary": True}, alive=True)
        case "message":
            phase = {"phase": item["phase"]} if item.get("phase") else {}
            return Chunk(items=({"type": "message"},), reasoning=phase, alive=True)
        case _:
            return Chunk(alive=True)
