"""One answer: the model speaks, asks for tools, is told what came of them, speaks again."""

import asyncio
from collections.abc import AsyncGenerator, Sequence
from contextlib import aclosing
from dataclasses import dataclass, field

import structlog

from cc_bot.assistant.calibration import Measured
from cc_bot.assistant.turn_prompt import TurnPrompt
from cc_bot.domain.errors import ContextTooLong, ModelError
from cc_bot.domain.events import Notice, TextDelta, ToolFinished, ToolStarted, Usage
from cc_bot.domain.message import Message, Status, ToolCall, Visibility, is_blank
from cc_bot.llm.model import (
    AssistantPart,
    ChatModel,
    Delta,
    Fallback,
    Finish,
    ToolRequest,
    ToolResultPart,
    ToolSchema,
)
from cc_bot.tools.registry import ToolContext, ToolRegistry

_log = structlog.get_logger(__name__)

MAX_ROUNDS = 8
"""Rounds of tool calls in one turn; after them the model has to answer with what it knows."""
MAX_CALLS_PER_ROUND = 16

RoundEvent = TextDelta | ToolStarted | ToolFinished | Notice


@dataclass(slots=True)
class Draft:
    """The answer as it grows. When a turn ends early, this is what there is of it."""

    text: str = ""
    calls: list[ToolCall] = field(default_factory=list)
    usage: Usage = field(default_factory=Usage)
    measured: list[Measured] = field(default_factory=list)
    """What its requests cost, where the server told."""
    model: str = ""
    """Who answered last, as Finish told."""
    history_tokens: float = 0.0
    """Of how much history there was room in its requests, as estimated."""
    status: Status = "cut"
    """`complete` only once the model said that it is."""

    @property
    def empty(self) -> bool:
        return is_blank(self.text) and not self.calls

    def as_message(self, status: Status, visibility: Visibility) -> Message:
        return Message(
            "assistant",
            self.text.strip(),
            tool_calls=tuple(self.calls),
            status=status,
            visibility=visibility,
        )


@dataclass(frozen=True, slots=True)
class Rounds:
    """Drives one answer to its end, into a draft."""

    model: ChatModel
    registry: ToolRegistry
    offered: Sequence[ToolSchema]
    context: ToolContext

    async def run(self, prompt: TurnPrompt, draft: Draft) -> AsyncGenerator[RoundEvent, None]:
        """Raises a ModelError only while the draft is empty."""
        for round_number in range(MAX_ROUNDS + 1):
            tools = self.offered if round_number < MAX_ROUNDS else ()
            finish = Finish("cut")
            said_before = len(draft.text)
            try:
                async with aclosing(self._listen(prompt, tools, draft)) as events:
                    async for event in events:
                        if isinstance(event, Finish):
                            finish = event
                        else:
                            yield event
            except ModelError:
                if draft.empty:
                    raise
                return
            draft.usage += finish.usage
            if finish.reason != "tools" or round_number == MAX_ROUNDS:
                draft.status = "complete" if finish.reason == "stop" else "cut"
                return
            if draft.text[said_before:].strip():
                draft.text += "\n\n"
                yield TextDelta("\n\n")
            wanted = finish.tool_requests[:MAX_CALLS_PER_ROUND]
            results = []
            async with aclosing(self._call_all(wanted, draft)) as calls:
                async for item in calls:
                    if isinstance(item, ToolResultPart):
                        results.append(item)
                    else:
                        yield item
            prompt.add(AssistantPart(draft.text[said_before:].strip(), wanted), *results)

    async def _listen(
        self, prompt: TurnPrompt, tools: Sequence[ToolSchema], draft: Draft
    ) -> AsyncGenerator[TextDelta | Notice | Finish, None]:
        """What the model says to the prompt; to a shorter one, when this one is too long for it."""
        request = prompt.request(tools, answer_begun=bool(draft.text.strip()), model=draft.model)
        try:
            async with aclosing(self.model.stream(request)) as stream:
                async for event in stream:
                    match event:
                        case Delta(text):
                            draft.text += text
                            yield TextDelta(text)
                        case Fallback():
                            yield Notice("fallback")
                        case Finish():
                            draft.model = event.model
                            draft.measured.append(Measured(event.model, request, event.usage.prompt_tokens))
                            yield event
            return
        except ContextTooLong as error:
            if not prompt.shrink(tools, error.limit):
                raise
        _log.info("window_shrunk")
        async with aclosing(self._listen(prompt, tools, draft)) as events:
            async for again in events:
                yield again

    async def _call_all(
        self, requests: Sequence[ToolRequest], draft: Draft
    ) -> AsyncGenerator[ToolStarted | ToolFinished | ToolResultPart, None]:
        """Run the calls of one round side by side; their results come in the order of the calls."""
        for request in requests:
            yield ToolStarted(request.id, request.name)
        running = [asyncio.create_task(self._call(request)) for request in requests]
        try:
            for request, task in zip(requests, running, strict=True):
                call = await task
                draft.calls.append(call)
                yield ToolFinished(request.id, request.name, call.ok)
                yield ToolResultPart(request.id, request.name, call.result)
        finally:
            for task in running:
                task.cancel()
            await asyncio.gather(*running, return_exceptions=True)

    async def _call(self, request: ToolRequest) -> ToolCall:
        outcome = await self.registry.call(request, self.context, self.offered)
        return ToolCall(request.id, request.name, request.arguments, outcome.text, outcome.ok)
