"""Checks each model with a realistic turn: tools, a tool result and a picture."""

import asyncio
import time
from base64 import b64decode
from collections.abc import Sequence
from contextlib import aclosing
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from cc_bot.app.doctor import Finding, failed, ok, warning
from cc_bot.app.models import open_models
from cc_bot.config import Config
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
"""A red square: servers refuse smaller ones."""


async def check_models(
    config: Config, texts: Texts, of_agents: Sequence[str], tools: Sequence[ToolSchema], *, offline: bool
) -> Sequence[Finding]:
    """The models for answers, summaries and agents."""
    async with open_models(config) as models:
        if models.offline:
            if not (named := models.named_in_vain):
                return [ok("model", texts.doctor.model_offline)]
            sentence = texts.cli.model_without_server.format(model=named)
            return [warning("model", sentence, texts.cli.model_without_server_mend)]
        names = dict.fromkeys((*config.models, *config.summary_models, *of_agents))
        asked = (check_model(name, models.get(name), tools, texts) for name in names if not offline)
        return await asyncio.gather(*asked)


@dataclass(slots=True)
class _Seen:
    called: bool = False
    pictures: bool = False
    thought: bool = False
    text: str = ""


async def check_model(
    name: str, model: "OpenAIChatModel", tools: Sequence[ToolSchema], texts: Texts
) -> Finding:
    said, began_s = texts.doctor, time.monotonic()
    try:
        seen = await _converse(model, tools)
    except ModelRefusedKey:
        return failed("model", said.model_refused_key.format(model=name))
    except ModelRefusedRequest as error:
        no_path = isinstance(error, ModelNotFound) and not model.has_path
        return failed(
            "model", (said.model_no_path if no_path else said.model_refused_request).format(model=name)
        )
    except ModelUnreachable as error:
        return failed("model", said.model_unreachable.format(model=name, **error.params))
    except CcBotError:
        return failed("model", said.model_unavailable.format(model=name))
    marks = {True: said.model_yes, False: said.model_no}
    takes_tools = "no tools" not in model.changes
    sentence = said.model_ok.format(
        model=name,
        seconds=f"{time.monotonic() - began_s:.1f}",
        tools=said.model_not_called if takes_tools and not seen.called else marks[seen.called],
        pictures=marks[seen.pictures],
        reasoning=marks[seen.thought],
        changes=said.model_changed.format(changes=", ".join(model.changes)) if model.changes else "",
    )
    return ok("model", sentence) if takes_tools else warning("model", sentence, said.model_no_tools_fix)


async def _converse(model: "OpenAIChatModel", tools: Sequence[ToolSchema]) -> _Seen:
    """Raises ModelError, but not for a refused picture."""
    seen = _Seen()
    stable = SystemPart("You are a helpful assistant. Answer in one short sentence.")
    now = SystemPart("It is noon.")
    wish = UserPart("Call the tool `recall` with the query “doctor” now. Then say what it found.")
    prompt: list[PromptPart] = [stable, now, wish]
    finish = await _ask(model, prompt, tools, seen)
    if finish.tool_requests:
        seen.called = True
        prompt.append(AssistantPart(seen.text, finish.tool_requests, native=finish.native))
        prompt += [ToolResultPart(each.id, each.name, '{"memories": []}') for each in finish.tool_requests]
        await _ask(model, prompt, tools, seen)
    del prompt[1]
    prompt += [AssistantPart(seen.text or "…"), now, UserPart("Thank you. Is that all?")]
    await _ask(model, prompt, tools, seen)
    picture = UserPart("Which colour is this?", (Attachment("red.png", "image/png", _RED),))
    try:
        await _ask(model, [stable, now, picture], (), seen)
    except ModelError:
        return seen
    seen.pictures = not model.left_out_images
    return seen


async def _ask(
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
