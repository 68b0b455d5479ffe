"""The wire of Chat Completions: a request as JSON, and the chunks of its stream.

The request has the form that most servers accept: plain strings where there is no image, no `tools` without
tools, and never malformed JSON in a call that is sent back. Chunks are read as plain JSON, and what is not
understood is skipped: servers leave out fields, add others, or send null.
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final, assert_never

from cc_bot.domain.message import Attachment
from cc_bot.domain.turn import Usage
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
from cc_bot.llm.openai.body import CallIds, Json, folded, native_of
from cc_bot.llm.openai.calls import ToolCallDelta, is_json_object
from cc_bot.llm.openai.quirks import Quirks

PATH: Final = "/chat/completions"
MAX_CACHE_MARKS: Final = 4
"""Anthropic's API refuses a fifth `cache_control` in one request."""
MAX_TOKENS: Final = 100_000_000
"""Of one request. A server that reports more is mistaken."""
_REASONING: Final = ("reasoning_content", "reasoning", "thinking", "reasoning_details")
_PLAIN: Final = ("type", "description", "enum", "required", "items", "anyOf")
"""What every server takes in a schema, beside `properties`."""
_ORDINARY: Final = frozenset({"content", "role"})
_SKIP_SIGNATURE: Final = {"google": {"thought_signature": "skip_thought_signature_validator"}}
"""ai.google.dev/gemini-api/docs/thought-signatures, for calls of other models."""
_MISSING: Final[dict[str, Any]] = {"reasoning_content": " ", "reasoning_details": []}
"""Sent for reasoning that was not kept. DeepSeek and Kimi check that it is there, not what it says."""


@dataclass(frozen=True, slots=True)
class Chunk:
    """What one event of a stream says."""

    text: str = ""
    calls: tuple[ToolCallDelta, ...] = ()
    finish_reason: str | None = None
    usage: Usage | None = None
    reasoning: Mapping[str, Any] = field(default_factory=dict)
    """Fields of the message in which the model thinks."""
    items: tuple[Any, ...] = ()
    """Items of the Responses API that go back with the calls."""
    alive: bool = False
    """Whether the model did something. An empty chunk only shows that the server is there."""


def request_body(model: str, request: ChatRequest, quirks: Quirks, label: str) -> Json:
    """The body of a streamed request. `label` says who gave the natives that may go back."""
    parts, moved = folded(request.prompt, quirks)
    ids = CallIds()
    messages = [_message(part, quirks, label, ids) for part in parts]
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


def _plain_schema(schema: object) -> object:
    if isinstance(schema, list):
        return [_plain_schema(each) for each in schema]
    if not isinstance(schema, Mapping):
        return schema
    plain = {name: _plain_schema(schema[name]) for name in _PLAIN if name in schema}
    if named := mapping(schema.get("properties")):
        plain["properties"] = {name: _plain_schema(each) for name, each in named.items()}
    return plain


def arguments_json(arguments: str) -> str:
    """The arguments as they may go back: llama.cpp and others parse those of earlier calls."""
    return arguments if is_json_object(arguments) else "{}"


def _message(part: PromptPart, quirks: Quirks, label: str, ids: CallIds) -> Json:
    match part:
        case SystemPart(text):
            return {"role": "system", "content": text}
        case UserPart(text, images):
            return {"role": "user", "content": _content(text, images)}
        case AssistantPart(text, ()):
            return {"role": "assistant", "content": text}
        case AssistantPart():
            return _with_calls(part, quirks, native_of(part, label, quirks), ids)
        case ToolResultPart():
            return {"role": "tool", "tool_call_id": ids.of_result(part), "content": part.text}
        case _:
            assert_never(part)


def _with_calls(part: AssistantPart, quirks: Quirks, native: Json, ids: CallIds) -> Json:
    extras, calls = native.get("extras") or [], list[Json]()
    for at, (call_id, request) in enumerate(zip(ids.sent(part, native), part.tool_requests, strict=True)):
        function = {"name": request.name, "arguments": arguments_json(request.arguments)}
        extra = extras[at] if at < len(extras) else None
        if extra is None and quirks.skip_signature and not at and not any(extras):
            extra = _SKIP_SIGNATURE
        calls.append(
            {
                "id": call_id,
                "type": "function",
                "function": function,
                **({"extra_content": extra} if extra else {}),
            }
        )
    reasoning = native.get("reasoning") or {}
    echo = {name: reasoning.get(name) or _MISSING[name] for name in sorted(quirks.echo)}
    return {"role": "assistant", "content": part.text or None, "tool_calls": calls, **echo}


def _content(text: str, images: Sequence[Attachment]) -> str | list[Json]:
    if not images:
        return text
    words: list[Json] = [{"type": "text", "text": text}] if text else []
    return words + [{"type": "image_url", "image_url": {"url": image}} for image in images]


def _with_mark(message: Json) -> Json:
    """The message with a cache mark at its end. Empty text must not carry one."""
    content = message["content"]
    parts: list[Json] = [{"type": "text", "text": content}] if isinstance(content, str) else content or []
    if not parts or not parts[-1].get("text", "image"):
        return message
    return {**message, "content": [*parts[:-1], {**parts[-1], "cache_control": {"type": "ephemeral"}}]}


def read_chunk(chunk: object) -> Chunk:
    """Read a chunk, or a whole answer that a server sent in place of a stream. Never raises."""
    choice = _first(mapping(chunk).get("choices"))
    delta = mapping(choice.get("delta")) or mapping(choice.get("message"))
    finish_reason = text_of(choice.get("finish_reason")) or None
    usage = read_usage(mapping(chunk).get("usage"), "prompt_tokens", "completion_tokens")
    content = delta.get("content")
    return Chunk(
        text=(content if isinstance(content, str) else _joined(content)) or text_of(delta.get("refusal")),
        calls=tuple(_call(mapping(item)) for item in items_of(delta.get("tool_calls"))[:MAX_CALLS]),
        finish_reason=finish_reason,
        usage=usage,
        reasoning=_reasoning(delta) if delta.keys() - _ORDINARY else {},
        alive=bool(
            content or finish_reason or usage or any(value for key, value in delta.items() if key != "role")
        ),
    )


def _reasoning(delta: Mapping[str, Any]) -> Mapping[str, Any]:
    return {name: delta[name] for name in _REASONING if delta.get(name)}


def _joined(content: object) -> str:
    """Mistral: a list of parts, of which those of type `thinking` are not the answer."""
    return "".join(text_of(mapping(part).get("text")) for part in items_of(content))


def _call(call: Mapping[str, Any]) -> ToolCallDelta:
    function = mapping(call.get("function"))
    index, arguments = call.get("index"), function.get("arguments")
    return ToolCallDelta(
        index=index if isinstance(index, int) else None,
        id=text_of(call.get("id")),
        name=text_of(function.get("name")),
        # Some servers send the arguments as an object instead of its text.
        arguments=json.dumps(arguments, ensure_ascii=False)
        if isinstance(arguments, Mapping)
        else text_of(arguments),
        extra=call.get("extra_content"),
    )


def read_usage(value: object, prompt_name: str, completion_name: str) -> Usage | None:
    """Read the usage. None if a number can't be right: an estimate is charged then."""
    if not isinstance(value, Mapping):
        return None
    prompt, completion = _count(value.get(prompt_name)), _count(value.get(completion_name))
    if prompt is None or completion is None:
        return None
    details = mapping(value.get(prompt_name + "_details"))
    return Usage(prompt, completion, min(_count(details.get("cached_tokens")) or 0, prompt))


def _count(value: object) -> int | None:
    """0 where nothing is told; None for what is not a number of tokens."""
    if value is None:
        return 0
    if not isinstance(value, int) or isinstance(value, bool):
        return None
    return value if 0 <= value <= MAX_TOKENS else None


def mapping(value: object) -> Mapping[str, Any]:
    return value if isinstance(value, dict) else {}


def items_of(value: object) -> list[object]:
    return value if isinstance(value, list) else []


def _first(value: object) -> Mapping[str, Any]:
    return mapping(next(iter(items_of(value)), None))


def text_of(value: object) -> str:
    return value if isinstance(value, str) else ""
