"""The two wire formats, Chat Completions and Responses: writes requests, and reads the events of streams.

Requests have the form that most servers accept: one system part, plain strings without an image, no empty
`tools`, valid JSON in each call. With `store: false`, encrypted reasoning is sent back with its calls
(platform.openai.com/docs/guides/reasoning).
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
    as_list,
    as_mapping,
    as_text,
    is_json_object,
    read_usage,
)

Json = dict[str, Any]
PreparedPart = tuple[PromptPart, Json]  # the part, and the native data for it

_IMAGE_TOO_OLD: Final = "[An image that was here is too long ago to be shown again.]"
_IMAGE_NOT_SEEN: Final = "[There is an image here that you cannot see. Say so if the question is about it.]"


def prepare_prompt(
    prompt: Sequence[PromptPart], quirks: Quirks, label: str
) -> tuple[list[PreparedPart], list[int]]:
    """Return the parts to send, and the new index of each old part. Only native data of the model `label`
    (host and name) is kept. Calls get valid JSON, and ids that the server accepts."""
    parts, new_indices = fold_system_parts(prompt, quirks)
    prepared, ids = list[PreparedPart](), dict[str, str]()
    for part in parts:
        match part:
            case AssistantPart(_, calls) if calls:
                native = json.loads(part.native) if part.native and quirks.return_native else {}
                native = native if native.get("by") == label else {}
                known = dict(enumerate(native.get("ids") or []))
                ids |= {call.id: known.get(at) or _short_id(call.id) for at, call in enumerate(calls)}
                valid = (ToolRequest(ids[call.id], call.name, _valid_json(call.arguments)) for call in calls)
                prepared.append((replace(part, tool_requests=tuple(valid)), native))
            case ToolResultPart(request_id):
                new_id = ids.get(request_id) or _short_id(request_id)
                prepared.append((replace(part, request_id=new_id), {}))
            case _:
                prepared.append((part, {}))
    return prepared, new_indices


def _valid_json(arguments: str) -> str:
    return arguments if is_json_object(arguments) else "{}"


def _short_id(call_id: str) -> str:
    """Return nine letters and digits: Mistral requires them."""
    if len(call_id) == 9 and call_id.isascii() and call_id.isalnum():
        return call_id
    return blake2b(call_id.encode(errors="replace")).hexdigest()[:9]


def fold_system_parts(prompt: Sequence[PromptPart], quirks: Quirks) -> tuple[list[PromptPart], list[int]]:
    """Return the prompt with one system part, and the new index of each old part.

    Later system parts are joined to the next user part: many templates accept a system part only at the
    beginning, but moving the later ones there would change the prefix that servers cache.
    """
    parts, new_indices, after_context = list[PromptPart](), list[int](), False
    for each in _limit_images(prompt, quirks):
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
        new_indices.append(len(parts) - 1)
        after_context = is_context
    return parts, new_indices


def _limit_images(prompt: Sequence[PromptPart], quirks: Quirks) -> Sequence[PromptPart]:
    """Replace the oldest images by a line of text if there are too many, or the model can't see images."""
    bytes_left = MAX_REQUEST_IMAGE_BYTES if quirks.images else -1
    parts = list[PromptPart]()
    for each in reversed(prompt):
        part = each
        if isinstance(part, UserPart) and part.images:
            images = list[Attachment]()
            for image in reversed(part.images):
                bytes_left -= len(image.data)
                if image.data and bytes_left >= 0:
                    images.insert(0, image)
            if len(images) < len(part.images):
                line = _IMAGE_TOO_OLD if quirks.images else _IMAGE_NOT_SEEN
                part = UserPart(f"{part.text}\n\n{line}".strip(), tuple(images))
        parts.append(part)
    return parts[::-1]


_ENCODED_BYTES: Final = 48 * 1024  # a multiple of 3, so that the pieces join to one base64


class RequestBody(aiohttp.Payload):
    """Encodes images while they are sent: no encoded copy is kept."""

    _autoclose = True

    def __init__(self, body: Json) -> None:
        """`body` has an Attachment in place of each image URL."""
        marker, self._images = token_hex(16), list[bytes]()

        def data_url(image: Attachment) -> str:
            self._images.append(image.data)
            return f"data:{image.content_type};base64,{marker}"

        text = json.dumps(body, ensure_ascii=False, separators=(",", ":"), allow_nan=False, default=data_url)
        self._texts = text.encode().split(marker.encode())
        super().__init__(None, content_type="application/json")

    @property
    def size(self) -> int:
        """Return the length in bytes. Without one, aiohttp would send chunks, which many servers refuse."""
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
        """Drop the images: a reference cycle would keep them in memory."""
        self._texts, self._images = [], []


CHAT_PATH: Final = "/chat/completions"
MAX_CACHE_MARKS: Final = 4  # Anthropic's API refuses a fifth
_REASONING_FIELDS: Final = frozenset({"reasoning_content", "reasoning", "thinking", "reasoning_details"})
_PLAIN_KEYWORDS: Final = ("type", "description", "enum", "required", "items", "anyOf")
# For calls of other models: ai.google.dev/gemini-api/docs/thought-signatures
_SKIP_SIGNATURE: Final = {"google": {"thought_signature": "skip_thought_signature_validator"}}
# For reasoning that was not stored: DeepSeek and Kimi only check that there is some.
_NO_REASONING: Final[dict[str, Any]] = {"reasoning_content": " ", "reasoning_details": []}


def chat_body(model: str, request: ChatRequest, quirks: Quirks, label: str) -> Json:
    parts, new_indices = prepare_prompt(request.prompt, quirks, label)
    messages = [_chat_message(part, native, quirks) for part, native in parts]
    if quirks.cache_marks:
        stable = (*request.stable[:1], *request.stable[1:][-(MAX_CACHE_MARKS - 1) :])
        for index in {new_indices[each] for each in stable}:
            messages[index] = _mark_cacheable(messages[index])
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
    plain = {name: _plain_schema(schema[name]) for name in _PLAIN_KEYWORDS if name in schema}
    if properties := as_mapping(schema.get("properties")):
        plain["properties"] = {name: _plain_schema(each) for name, each in properties.items()}
    return plain


def _chat_message(part: PromptPart, native: Json, quirks: Quirks) -> Json:
    match part:
        case SystemPart(text):
            return {"role": "system", "content": text}
        case UserPart(text, images):
            return {"role": "user", "content": _content(text, images)}
        case AssistantPart(text, ()):
            return {"role": "assistant", "content": text}
        case AssistantPart():
            return _chat_message_with_calls(part, native, quirks)
        case ToolResultPart(request_id, _, text):
            return {"role": "tool", "tool_call_id": request_id, "content": text}


def _chat_message_with_calls(part: AssistantPart, native: Json, quirks: Quirks) -> Json:
    calls: list[Json] = [
        {"id": call.id, "type": "function", "function": {"name": call.name, "arguments": call.arguments}}
        for call in part.tool_requests
    ]
    extras = native.get("extras") or []
    if quirks.mark_unsigned_calls and not any(extras):
        extras = [_SKIP_SIGNATURE]
    for call, extra in zip(calls, extras, strict=False):
        if extra:
            call["extra_content"] = extra
    reasoning, names = native.get("reasoning") or {}, quirks.reasoning if quirks.return_native else ()
    reasoning_fields = {name: reasoning.get(name) or _NO_REASONING[name] for name in sorted(names)}
    return {"role": "assistant", "content": part.text or None, "tool_calls": calls, **reasoning_fields}


def _content(text: str, images: Sequence[Attachment]) -> str | list[Json]:
    if not images:
        return text
    texts: list[Json] = [{"type": "text", "text": text}] if text else []
    return texts + [{"type": "image_url", "image_url": {"url": image}} for image in images]


def _mark_cacheable(message: Json) -> Json:
    content = message["content"]
    parts: list[Json] = [{"type": "text", "text": content}] if isinstance(content, str) else content or []
    if not parts or not parts[-1].get("text", "image"):
        return message
    return {**message, "content": [*parts[:-1], {**parts[-1], "cache_control": {"type": "ephemeral"}}]}


def read_chunk(chunk: object) -> Chunk:
    """Read a chunk of Chat Completions, or an answer that is not streamed. Never raises."""
    choice = as_mapping(next(iter(as_list(as_mapping(chunk).get("choices"))), None))
    delta = as_mapping(choice.get("delta")) or as_mapping(choice.get("message"))
    content, finish_reason = delta.get("content"), as_text(choice.get("finish_reason")) or None
    usage = read_usage(as_mapping(chunk).get("usage"), "prompt_tokens", "completion_tokens")
    if isinstance(content, list):  # Mistral: `thinking` parts have no `text`
        text = "".join(as_text(as_mapping(part).get("text")) for part in content)
    else:
        text = as_text(content)
    return Chunk(
        text or as_text(delta.get("refusal")),
        tuple(_call(as_mapping(item)) for item in as_list(delta.get("tool_calls"))[:MAX_CALLS]),
        finish_reason,
        usage,
        {name: delta[name] for name in _REASONING_FIELDS & delta.keys() if delta[name]},
        alive=bool(finish_reason or usage or any(delta[name] for name in delta if name != "role")),
    )


def _call(call: Mapping[str, Any]) -> ToolCallDelta:
    function, index = as_mapping(call.get("function")), call.get("index")
    arguments = function.get("arguments")
    if isinstance(arguments, Mapping):  # some servers send an object
        arguments = json.dumps(arguments, ensure_ascii=False)
    return ToolCallDelta(
        index if isinstance(index, int) else None,
        as_text(call.get("id")),
        as_text(function.get("name")),
        as_text(arguments),
        call.get("extra_content"),
    )


RESPONSES_PATH: Final = "/responses"


def responses_body(model: str, request: ChatRequest, quirks: Quirks, label: str) -> Json:
    parts, _ = prepare_prompt(request.prompt, quirks, label)
    body: Json = {
        "model": model,
        "input": [item for part, native in parts for item in _input_items(part, native)],
        "stream": True,
        "store": False,
        "include": ["reasoning.encrypted_content"],
    }
    if request.tools:
        tools = [tool_json(tool, quirks) for tool in request.tools]
        body["tools"] = [{"type": "function", **tool, "strict": False} for tool in tools]
    return body


def _input_items(part: PromptPart, native: Json) -> list[Json]:
    match part:
        case SystemPart(text):
            return [{"role": "system", "content": text}]
        case UserPart(text, images):
            texts: list[Json] = [{"type": "input_text", "text": text}] if text or not images else []
            pictures = [{"type": "input_image", "image_url": image} for image in images]
            return [{"role": "user", "content": [*texts, *pictures]}]
        case AssistantPart():
            return _response_items(part, native)
        case ToolResultPart(request_id, _, text):
            return [{"type": "function_call_output", "call_id": request_id, "output": text}]


def _response_items(part: AssistantPart, native: Json) -> list[Json]:
    """Return the items in the order of `native`: servers refuse reasoning without the item after it."""
    phase = {"phase": native["phase"]} if native.get("phase") else {}
    calls: list[Json] = [
        {"type": "function_call", "call_id": call.id, "name": call.name, "arguments": call.arguments}
        for call in part.tool_requests
    ]
    remaining: dict[str, list[Json]] = {
        "message": [{"role": "assistant", "content": part.text, **phase}] if part.text else [],
        "function_call": calls,
    }
    ordered, reasoning = list[Json](), list[Json]()
    for item in native.get("items") or []:
        if item["type"] == "reasoning":
            reasoning.append(item)
            continue
        if remaining[item["type"]]:
            ordered += [*reasoning, remaining[item["type"]].pop(0)]
        reasoning.clear()
    return [*ordered, *remaining["message"], *remaining["function_call"]]


def read_event(event: object) -> Chunk:
    """Read an event of a Responses stream. Never raises."""
    fields = as_mapping(event)
    kind = as_text(fields.get("type"))
    match kind:
        case "response.output_text.delta" | "response.refusal.delta":
            return Chunk(as_text(fields.get("delta")), alive=True)
        case "response.output_item.done":
            return _read_item(as_mapping(fields.get("item")), fields.get("output_index"))
        case "response.completed" | "response.incomplete":
            response = as_mapping(fields.get("response"))
            reason = as_text(as_mapping(response.get("incomplete_details")).get("reason"))
            cut = "content_filter" if reason == "content_filter" else "length"
            usage = read_usage(response.get("usage"), "input_tokens", "output_tokens")
            whole = kind == "response.completed" and not reason
            return Chunk(finish_reason="stop" if whole else cut, usage=usage, alive=True)
        case _:
            is_reasoning = kind.startswith("response.reasoning")
            alive = is_reasoning or kind.endswith(".delta")
            return Chunk(reasoning={"summary": True} if is_reasoning else {}, alive=alive)


def _read_item(item: Mapping[str, Any], index: object) -> Chunk:
    match item.get("type"):
        case "function_call":
            call = ToolCallDelta(
                index if isinstance(index, int) else None,
                as_text(item.get("call_id")),
                as_text(item.get("name")),
                as_text(item.get("arguments")),
            )
            return Chunk(calls=(call,), items=({"type": "function_call"},), alive=True)
        case "reasoning":
            return Chunk(items=(dict(item),), reasoning={"summary": True}, alive=True)
        case "message":
            phase = {"phase": item["phase"]} if item.get("phase") else {}
            return Chunk(items=({"type": "message"},), reasoning=phase, alive=True)
        case _:
            return Chunk(alive=True)
