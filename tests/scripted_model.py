"""A model that plays what a test wrote, and records what it was asked."""

import asyncio
from collections.abc import AsyncGenerator, Sequence
from dataclasses import dataclass, field

from cc_bot.domain.errors import ModelError
from cc_bot.domain.turn import Usage
from cc_bot.llm.model import Chains, ChatModel, ChatRequest, Delta, Fallback, Finish, ModelEvent, ToolRequest

Step = str | Finish | Fallback | ModelError | asyncio.Event | ToolRequest
"""Text to say, an end, a change of model, an error, something to wait for, or a tool to ask for."""


@dataclass
class ScriptedModel:
    """Plays one list of steps per request; without any left, it repeats the question."""

    script: list[Sequence[Step]] = field(default_factory=list)
    requests: list[ChatRequest] = field(default_factory=list)
    ended_early: int = 0
    _arrivals: asyncio.Queue[ChatRequest] = field(default_factory=asyncio.Queue)

    async def asked(self) -> ChatRequest:
        """The next request, as soon as it is there; each is returned once."""
        return await self._arrivals.get()

    async def stream(self, request: ChatRequest) -> AsyncGenerator[ModelEvent, None]:
        self.requests.append(request)
        self._arrivals.put_nowait(request)
        steps = self.script.pop(0) if self.script else [f"You said: {request.prompt[-1].text}"]
        calls: list[ToolRequest] = []
        try:
            for step in steps:
                match step:
                    case str():
                        yield Delta(step)
                    case ToolRequest():
                        calls.append(step)
                    case asyncio.Event():
                        await step.wait()
                    case ModelError():
                        raise step
                    case Finish():
                        yield step
                        return
                    case Fallback():
                        yield step
        except (asyncio.CancelledError, GeneratorExit):
            self.ended_early += 1
            raise
        yield Finish("tools" if calls else "stop", tuple(calls), Usage(100, 10))


def only(model: ChatModel, name: str = "") -> Chains:
    return Chains(lambda _: model, (name,) if name else ())
