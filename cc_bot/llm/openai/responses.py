"""The wire of OpenAI's Responses API, without storage on the server.

With `store: false` the server keeps nothing, so encrypted reasoning goes back with the calls that it led to
(platform.openai.com/docs/guides/reasoning, "Encrypted reasoning items").
"""

from collections.abc import Mapping
from typing import Any, Final, assert_never

from cc_bot.llm.model import AssistantPart, ChatRequest, PromptPart, SystemPart, ToolResultPart, UserPart
from cc_bot.llm.openai.body import CallIds, Json, folded, native_of
from cc_bot.llm.openai.calls import ToolCallDelta
from cc_bot.llm.openai.completions import (
    Chunk,
    arguments_json,
    items_of,
    mapping,
    read_usage,
    text_of,
    tool_json,
)
from cc_bot.llm.openai.quirks import Quirks

PATH: Final = "/responses"
_REASONS: Final = {"max_output_tokens": "length", "content_filter": "content_filter"}


def request_body(model: str, request: ChatRequest, quirks: Quirks, label: str) -> Json:
    parts, _ = folded(request.prompt, quirks)
    ids = CallIds()
    body: Json = {
        "model": model,
        "input": [item for part in parts for item in _input(part, native_of_part(part, label, quirks), ids)],
        "stream": True,
        "store": False,
        "include": ["reasoning.encrypted_content"],
    }
    if request.tools:
        body["tools"] = [
            {"type": "function", **tool_json(tool, quirks), "strict": False} for tool in request.tools
        ]
    return body


def native_of_part(part: PromptPart, label: str, quirks: Quirks) -> Json:
    return native_of(part, label, quirks) if isinstance(part, AssistantPart) else {}


def _input(part: PromptPart, native: Json, ids: CallIds) -> list[Json]:
    match part:
        case SystemPart(text):
            return [{"role": "system", "content": text}]
        case UserPart(text, images):
            words: list[Json] = [{"type": "input_text", "text": text}] if text or not images else []
            pictures = [{"type": "input_image", "image_url": image} for image in images]
            return [{"role": "user", "content": [*words, *pictures]}]
        case AssistantPart(text, requests):
            phase = {"phase": native["phase"]} if native.get("phase") else {}
            said: list[Json] = [{"role": "assistant", "content": text, **phase}] if text else []
            calls = [
                {
                    "type": "function_call",
                    "call_id": call_id,
                    "name": request.name,
                    "arguments": arguments_json(request.arguments),
                }
                for call_id, request in zip(ids.sent(part, native), requests, strict=True)
            ]
            return _in_order(native.get("items") or [], said, calls)
        case ToolResultPart(text=text):
            return [{"type": "function_call_output", "call_id": ids.of_result(part), "output": text}]
        case _:
            assert_never(part)


def _in_order(items: list[Json], said: list[Json], calls: list[Json]) -> list[Json]:
    """Reasoning stands before what it led to, or is refused. It goes where that does not go back."""
    left = {"message": said[:], "function_call": calls[:]}
    ordered, reasoning = list[Json](), list[Json]()
    for item in items:
        if item["type"] == "reasoning":
            reasoning.append(item)
            continue
        if left[item["type"]]:
            ordered += [*reasoning, left[item["type"]].pop(0)]
        reasoning.clear()
    return [*ordered, *left["message"], *left["function_call"]]


def read_event(event: object) -> Chunk:
    """Read an event, or a whole response that was sent in place of a stream. Never raises."""
    told = mapping(event)
    match text_of(told.get("type")):
        case "response.output_text.delta" | "response.refusal.delta":
            return Chunk(text=text_of(told.get("delta")), alive=True)
        case "response.output_item.done":
            return _item(mapping(told.get("item")), told.get("output_index"))
        case "response.completed" | "response.incomplete" as kind:
            return _end(mapping(told.get("response")), kind.removeprefix("response."))
        case kind if kind.startswith("response.reasoning"):
            return Chunk(reasoning={"summary": True}, alive=True)
        case kind:
            return _whole(told) if told.get("object") == "response" else Chunk(alive=kind.endswith(".delta"))


def _item(item: Mapping[str, Any], index: object) -> Chunk:
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


def _end(response: Mapping[str, Any], status: str) -> Chunk:
    reason = text_of(mapping(response.get("incomplete_details")).get("reason"))
    usage = read_usage(response.get("usage"), "input_tokens", "output_tokens")
    whole = status == "completed" and not reason
    return Chunk(finish_reason="stop" if whole else _REASONS.get(reason, "length"), usage=usage, alive=True)


def _whole(response: Mapping[str, Any]) -> Chunk:
    output = [mapping(item) for item in items_of(response.get("output"))]
    chunks = [_item(item, at) for at, item in enumerate(output)]
    messages = [item for item in output if item.get("type") == "message"]
    contents = [mapping(part) for item in messages for part in items_of(item.get("content"))]
    end = _end(response, text_of(response.get("status")) or "completed")
    return Chunk(
        text="".join(text_of(part.get("text")) or text_of(part.get("refusal")) for part in contents),
        calls=tuple(call for chunk in chunks for call in chunk.calls),
        items=tuple(item for chunk in chunks for item in chunk.items),
        finish_reason=end.finish_reason,
        usage=end.usage,
        alive=True,
    )
