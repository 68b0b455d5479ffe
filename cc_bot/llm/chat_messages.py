"""A request in the words of the Chat Completions API: prompt parts and tools become JSON.

Where the API leaves a choice, this takes the form that most servers accept: plain strings where no
image is sent, no `tools` key when there are none, and never malformed JSON in a call that is sent back
(llama.cpp and others parse the arguments of earlier calls and fail on them).
"""

import json
from base64 import b64encode
from collections.abc import Sequence
from typing import Any, assert_never

from cc_bot.domain.message import Attachment
from cc_bot.llm.model import (
    AssistantPart,
    ChatRequest,
    PromptPart,
    SystemPart,
    ToolRequest,
    ToolResultPart,
    ToolSchema,
    UserPart,
)

Json = dict[str, Any]


def request_body(model: str, request: ChatRequest) -> Json:
    """The body of a streamed request, without options that some servers refuse."""
    body: Json = {"model": model, "messages": [_message(part) for part in request.prompt], "stream": True}
    if request.tools:
        body["tools"] = [_tool(tool) for tool in request.tools]
    return body


def is_json_object(text: str) -> bool:
    try:
        return isinstance(json.loads(text), dict)
    except ValueError:
        return False


def _message(part: PromptPart) -> Json:
    match part:
        case SystemPart(text):
            return {"role": "system", "content": text}
        case UserPart(text, images):
            return {"role": "user", "content": _content(text, images)}
        case AssistantPart(text, ()):
            return {"role": "assistant", "content": text}
        case AssistantPart(text, requests):
            calls = [_call(request) for request in requests]
            return {"role": "assistant", "content": text or None, "tool_calls": calls}
        case ToolResultPart():
            return {"role": "tool", "tool_call_id": part.request_id, "content": part.text}
        case _:
            assert_never(part)


def _content(text: str, images: Sequence[Attachment]) -> str | list[Json]:
    if not images:
        return text
    words: list[Json] = [{"type": "text", "text": text}] if text else []
    return words + [{"type": "image_url", "image_url": {"url": _data_url(image)}} for image in images]


def _data_url(image: Attachment) -> str:
    return f"data:{image.content_type};base64,{b64encode(image.data).decode()}"


def _call(request: ToolRequest) -> Json:
    arguments = request.arguments if is_json_object(request.arguments) else "{}"
    return {
        "id": request.id,
        "type": "function",
        "function": {"name": request.name, "arguments": arguments},
    }


def _tool(tool: ToolSchema) -> Json:
    return {
        "type": "function",
        "function": {
            "name": tool.name,
            "description": tool.description,
            "parameters": tool.parameters,
        },
    }
