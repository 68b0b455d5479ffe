"""Asks each model in the shape of a real turn: two system messages, all tools, a tool's result, a question
after it, and a picture."""

import time
from base64 import b64decode
from collections.abc import Sequence
from contextlib import aclosing
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

from cc_bot.doctor.checkup import Finding, FindingWriter
from cc_bot.domain.errors import (
    CcBotError,
    ModelError,
    ModelNotFound,
    ModelRefusedKey,
    ModelRefusedRequest,
    ModelUnreachable,
)
from cc_bot.domain.message import Attachment
from cc_bot.llm.model import (
    AssistantPart,
    ChatRequest,
    Delta,
    Finish,
    PromptPart,
    SystemPart,
    Thinking,
    ToolResultPart,
    ToolSchema,
    UserPart,
)
from cc_bot.texts import Texts

if TYPE_CHECKING:
    from cc_bot.llm.openai import OpenAIChatModel

MAX_REQUESTS: Final = 4
_RED: Final = b64decode(
    "iVBORw0KGgoAAAANSUhEUgAAACAAAAAgCAIAAAD8GO2jAAAAKklEQVR42mN4oKBAU8QwasGoBaMWjFowasGoBaMWjFowasGo"
    "BaMWDBULAKWUgD269a5MAAAAAElFTkSuQmCC"
)
"""A red square, as PNG: servers refuse smaller ones."""


@dataclass(slots=True)
class _Seen:
    """What a model did."""

    called: bool = False
    pictures: bool = False
    thought: bool = False
    text: str = field(default="")


async def check_model(
    name: str, model: "OpenAIChatModel", tools: Sequence[ToolSchema], words: Texts
) -> Sequence[Finding]:
    said, notes = words.doctor, FindingWriter("model")
    began_s = time.monotonic()
    try:
        seen = await _converse(model, tools)
    except ModelRefusedKey:
        return [notes.failed(said.model_refused_key.format(model=name), said.model_refused_key_mend)]
    except ModelNotFound:
        mend = said.model_refused_request_mend if model.has_path else said.model_no_path_mend
        return [notes.failed(said.model_refused_request.format(model=name), mend)]
    except ModelRefusedRequest:
        return [notes.failed(said.model_refused_request.format(model=name), said.model_refused_request_mend)]
    except ModelUnreachable as error:
        unreachable = said.model_unreachable.format(model=name, **error.params)
        return [notes.failed(unreachable, said.model_unreachable_mend)]
    except CcBotError:
        return [notes.failed(said.model_unavailable.format(model=name), said.model_unavailable_mend)]
    changes = said.model_changed.format(changes=", ".join(model.changes)) if model.changes else ""
    takes_tools = "no tools" not in model.changes
    marks = {True: said.model_yes, False: said.model_no}
    told = said.model_ok.format(
        model=name,
        seconds=f"{time.monotonic() - began_s:.1f}",
        tools=said.model_not_called if takes_tools and not seen.called else marks[seen.called],
        pictures=marks[seen.pictures],
        reasoning=marks[seen.thought],
        changes=changes,
    )
    return [notes.ok(told) if takes_tools else notes.warning(told, said.model_no_tools_mend)]


async def _converse(model: "OpenAIChatModel", tools: Sequence[ToolSchema]) -> _Seen:
    """Raises the ModelError of a turn that fails. A picture that is refused is no failure."""
    seen = _Seen()
    stable, now = (
        SystemPart("You are a helpful assistant. Answer in one short sentence."),
        SystemPart("It is noon."),
    )
    wish = UserPart("Call the tool `recall` with the query “doctor” now. Then say what it found.")
    prompt: list[PromptPart] = [stable, now, wish]
    finish = await _hear(model, prompt, tools, seen)
    if finish.tool_requests:
        seen.called = True
        prompt.append(AssistantPart(seen.text, finish.tool_requests, native=finish.native))
        prompt += [ToolResultPart(each.id, each.name, '{"memories": []}') for each in finish.tool_requests]
        await _hear(model, prompt, tools, seen)
    del prompt[1]
    prompt += [AssistantPart(seen.text or "…"), now, UserPart("Thank you. Is that all?")]
    await _hear(model, prompt, tools, seen)
    picture = UserPart("Which colour is this?", (Attachment("red.png", "image/png", _RED),))
    try:
        await _hear(model, [stable, now, picture], (), seen)
    except ModelError:
        return seen
    seen.pictures = not model.left_out_images
    return seen


async def _hear(
    model: "OpenAIChatModel", prompt: Sequence[PromptPart], tools: Sequence[ToolSchema], seen: _Seen
) -> Finish:
    seen.text, finish = "", Finish("cut")
    async with aclosing(model.stream(ChatRequest(tuple(prompt), tuple(tools)))) as events:
        async for event in events:
            match event:
                case Delta(text):
                    seen.text += text
                case Thinking():
                    seen.thought = True
                case Finish():
                    finish = event
                case _:
                    pass
    return finish
