"""A model that tells a meter what its answers cost."""

from collections.abc import AsyncGenerator
from contextlib import aclosing

from cc_bot.domain.measures import Meter, Purpose
from cc_bot.llm.model import ChatModel, ChatRequest, Finish, ModelEvent


class MeteredModel:
    """A ChatModel (see there) that is another one's, asked for one purpose."""

    def __init__(self, model: ChatModel, meter: Meter, purpose: Purpose) -> None:
        self._model = model
        self._meter = meter
        self._purpose: Purpose = purpose

    async def stream(self, request: ChatRequest) -> AsyncGenerator[ModelEvent, None]:
        """See ChatModel. What the server does not charge for, or does not tell, is not reported."""
        async with aclosing(self._model.stream(request)) as events:
            async for event in events:
                if isinstance(event, Finish) and event.model:
                    self._meter.tokens_spent(self._purpose, event.model, event.usage)
                yield event

    async def close(self) -> None:
        await self._model.close()
