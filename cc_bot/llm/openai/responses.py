"""The wire of OpenAI's Responses API, with `store: false`: encrypted reasoning goes back with the calls that
it led to (platform.openai.com/docs/guides/reasoning)."""

from collections.abc import Mapping
from typing import Any, Final

from cc_bot.llm.model import AssistantPart, ChatRequest, PromptPart, SystemPart, ToolResultPart, UserPart
from cc_bot.llm.openai.body import Json, prepared
from cc_bot.llm.openai.completions import tool_json
from cc_bot.llm.openai.events import Chunk, ToolCallDelta, mapping, read_usage, text_of
from cc_bot.llm.openai.quirks import Quirks

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
        body["tools"] = [
            {"type": "function", **tool_json(tool, quirks), "strict": False} for tool in request.tools
        ]
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
            return Chunk(
                reasoning={"summary": True} if thinks else {}, alive=thinks or kind.endswith(".delta")
            )


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
