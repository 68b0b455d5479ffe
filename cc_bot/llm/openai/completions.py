"""The wire of Chat Completions. Requests have the form that most servers accept: plain strings without an
image, no `tools` without tools, and valid JSON in each call."""

import json
from collections.abc import Mapping, Sequence
from typing import Any, Final

from cc_bot.domain.message import Attachment
from cc_bot.llm.model import (
    MAX_CALLS,
    AssistantPart,
    ChatRequest,
    PromptPart,
    SystemPart,
    ToolResultPart,
    ToolSchema,
    UserPart,
)
from cc_bot.llm.openai.body import Json, prepared
from cc_bot.llm.openai.events import Chunk, ToolCallDelta, items_of, mapping, read_usage, text_of
from cc_bot.llm.openai.quirks import Quirks

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
