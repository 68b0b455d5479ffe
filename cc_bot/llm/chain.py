"""Asks a chain of models: when one fails before its first word, the next is asked.

The caller passes the model that answered the turn's last request, so the chain keeps no state.
"""

from collections.abc import AsyncGenerator, Callable, Mapping, Sequence
from contextlib import aclosing
from dataclasses import dataclass, replace

from cc_bot.domain.errors import ContextTooLong, ModelError, ModelUnavailable, forget_frames
from cc_bot.llm.model import ChatModel, ChatRequest, Delta, Fallback, Finish, ModelEvent
from cc_bot.llm.speech import Speaker, Transcriber


class FallbackChain:
    """The preferred model first, each with its name."""

    def __init__(self, models: Sequence[tuple[str, ChatModel]]) -> None:
        self._models = tuple(models)

    async def stream(self, request: ChatRequest) -> AsyncGenerator[ModelEvent, None]:
        """Raises ModelUnavailable if one of the models may answer later, otherwise the last error."""
        errors: list[ModelError] = []
        for name, model in self._order(request):
            if errors:
                yield Fallback(name)
            begun = request.answer_begun
            try:
                async with aclosing(model.stream(request)) as events:
                    async for event in events:
                        begun = begun or isinstance(event, Delta)
                        yield replace(event, model=name) if isinstance(event, Finish) else event
            except ModelError as error:
                if begun or (isinstance(error, ContextTooLong) and request.shrinkable):
                    raise
                errors.append(forget_frames(error))
            else:
                return
        raise next((error for error in errors if isinstance(error, ModelUnavailable)), errors[-1])

    def _order(self, request: ChatRequest) -> Sequence[tuple[str, ChatModel]]:
        names = [name for name, _ in self._models]
        first = names.index(request.answered_by) if request.answered_by in names else 0
        if request.answer_begun:
            return (self._models[first],)
        return (*self._models[first:], *self._models[:first])


@dataclass(frozen=True)
class Chains:
    make: Callable[[Sequence[str]], ChatModel]
    default: tuple[str, ...]
    """For agents that name none; empty if the offline model answers."""
    transcriber: Transcriber | None = None
    speaker: Speaker | None = None
    changes: Callable[[], Mapping[str, tuple[str, ...]]] = dict

    def of(self, names: tuple[str, ...]) -> ChatModel:
        return self.make(names or self.default)

    def first(self, names: tuple[str, ...]) -> str:
        """The name of a chain's first model; empty for the offline model."""
        return (names or self.default)[0] if self.default else ""

    async def close(self) -> None:
        for each in (self.transcriber, self.speaker):
            if each:
                await each.close()
