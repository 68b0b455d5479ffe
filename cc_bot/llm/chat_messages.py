"""A request in the words of the Chat Completions API: prompt parts and tools become JSON.

Where the API leaves a choice, this takes the form that most servers accept: plain strings where no
image is sent, no `tools` key when there are none, and never malformed JSON in a call that is sent back
(llama.cpp and others parse the arguments of earlier calls and fail on them).
"""

from base64 import b64encode
from collections.abc import Sequence
from typing import Any, Final, assert_never

from pydantic_core import from_json

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

MOST_IMAGE_BYTES: Final = 20 * 2**20
"""Of all images in one request, as of all files of one message. Each request brings those of its history
along anew: twenty questions with the largest images would be 160 MB, which are joined and sent at once."""
_LEFT_OUT: Final = "[An image that was here is too long ago to be shown again.]"
MAX_CACHE_MARKS = 4
"""As Anthropic's API has it: a fifth `cache_control` in a request is refused."""


def request_body(model: str, request: ChatRequest, *, cache_control: bool = False) -> Json:
    """The body of a streamed request, without options that some servers refuse.

    With `cache_control` the ends of what is stable are marked: the first, which is the same in the most
    requests, and the last ones.
    """
    messages = [_message(part) for part in _with_few_images(request.prompt)]
    if cache_control:
        for index in _marked(request.stable):
            messages[index] = _with_mark(messages[index])
    body: Json = {"model": model, "messages": messages, "stream": True}
    if request.tools:
        body["tools"] = [_tool(tool) for tool in request.tools]
    return body


def is_json_object(text: str) -> bool:
    """By a strict reading: NaN, half a surrogate pair or endless brackets are none."""
    try:
        return isinstance(from_json(text.encode(errors="replace"), allow_inf_nan=False), dict)
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


def _with_few_images(prompt: Sequence[PromptPart]) -> Sequence[PromptPart]:
    """The prompt with its newest images, as many as there is room for; a line says where one is left out."""
    room = MOST_IMAGE_BYTES
    parts = list[PromptPart]()
    for part in reversed(prompt):
        kept = part
        if isinstance(part, UserPart):
            images = list[Attachment]()
            for image in reversed(part.images):
                room -= len(image.data)
                if room >= 0:
                    images.append(image)
            if len(images) < len(part.images):
                kept = UserPart(f"{part.text}\n\n{_LEFT_OUT}".strip(), tuple(reversed(images)))
        parts.append(kept)
    return parts[::-1]


def _marked(stable: Sequence[int]) -> Sequence[int]:
    return (*stable[:1], *stable[1:][-(MAX_CACHE_MARKS - 1) :])


def _with_mark(message: Json) -> Json:
    """The message, as one up to which everything can be cached. What has no text of its own can't carry a
    mark, and empty text must not."""
    content = message["content"]
    parts: list[Json] = [{"type": "text", "text": content}] if isinstance(content, str) else content
    if not parts or not parts[-1].get("text", "image"):
        return message
    return {**message, "content": [*parts[:-1], {**parts[-1], "cache_control": {"type": "ephemeral"}}]}


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
