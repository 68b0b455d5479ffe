"""What one turn, summary or heartbeat asks of models, added up request by request."""

import asyncio
from collections.abc import AsyncGenerator, Sequence
from contextlib import aclosing
from dataclasses import dataclass, field

from cc_bot.context.tokens import estimate_tokens, request_tokens
from cc_bot.domain.errors import ModelError
from cc_bot.domain.events import Usage
from cc_bot.domain.usage import Spent
from cc_bot.llm.model import ChatModel, ChatRequest, Delta, Fallback, Finish, ModelEvent, Thinking


@dataclass(slots=True)
class _Asked:
    """A request, as far as it has come."""

    request: ChatRequest
    model: str
    """Who answers, as far as that is known."""
    said: list[str] = field(default_factory=list)
    usage: Usage = Usage()

    def take(self, event: ModelEvent) -> None:
        match event:
            case Delta(text):
                self.said.append(text)
            case Fallback(model):
                self.model = model
            case Thinking():
                pass
            case Finish(_, calls, usage, model):
                self.usage = usage
                self.model = model or self.model
                self.said += [call.name + call.arguments for call in calls]


class Tab:
    """What is run up by the models that are on it. A request that a model refused costs nothing; one whose
    answer was cut or stopped costs what its server told, and about what was sent and said where it told
    nothing."""

    def __init__(self, model: str) -> None:
        """`model` is asked first; empty for one that counts no tokens."""
        self._first = model
        self._asked: list[_Asked] = []

    def charging(self, model: ChatModel) -> ChatModel:
        """The same model, on this tab."""
        return _Charging(model, self)

    async def spent(self) -> Sequence[Spent]:
        """What it comes to, by model."""
        total: dict[str, Usage] = {}
        for asked in self._asked:
            total[asked.model] = total.get(asked.model, Usage()) + await _usage_of(asked)
        return [Spent(model, usage) for model, usage in total.items()]

    async def stream(self, model: ChatModel, request: ChatRequest) -> AsyncGenerator[ModelEvent, None]:
        """What the model answers. Raises as it does."""
        asked = _Asked(request, request.answered_by or self._first)
        self._asked.append(asked)
        try:
            async with aclosing(model.stream(request)) as events:
                async for event in events:
                    asked.take(event)
                    yield event
        except ModelError:
            if not asked.said:
                self._asked.remove(asked)
            raise


@dataclass(frozen=True, slots=True)
class _Charging:
    model: ChatModel
    tab: Tab

    def stream(self, request: ChatRequest) -> AsyncGenerator[ModelEvent, None]:
        return self.tab.stream(self.model, request)

    async def close(self) -> None:
        await self.model.close()


async def _usage_of(asked: _Asked) -> Usage:
    """Its server's count; an estimate where there is none, as when it was cut before its end."""
    if asked.usage != Usage() or not asked.model:
        return asked.usage
    return await asyncio.to_thread(_estimated, asked)


def _estimated(asked: _Asked) -> Usage:
    return Usage(request_tokens(asked.request), estimate_tokens("".join(asked.said)))
