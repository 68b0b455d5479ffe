"""A chain of models: when one gives nothing, the next is asked.

It changes models only while the user has seen nothing of the answer. A turn may take several requests
(one after each round of tool calls); they go first to the model that answered the turn's last one, so that
a turn is not held up again by a model that has just failed it, and an answer that has begun keeps its voice.
Which one that is travels with the requests: turns run side by side, and the chain remembers none of them.

A request that is too long is no reason to change models as long as it can be made shorter.
"""

from collections.abc import AsyncGenerator, Callable, Mapping, Sequence
from contextlib import aclosing
from dataclasses import replace

from cc_bot.domain.errors import ContextTooLong, ModelError, ModelUnavailable, forget_frames
from cc_bot.llm.model import ChatModel, ChatRequest, Delta, Fallback, Finish, ModelEvent
from cc_bot.llm.speech import Speaker, Transcriber

# ---- fallback ------------------------------------------------------------------------------------------


class FallbackChain:
    """A ChatModel (see there) made of others, the preferred one first."""

    def __init__(self, models: Sequence[tuple[str, ChatModel]]) -> None:
        """Pairs of a name, which Fallback and Finish tell, and a model; at least one. `close` closes all."""
        if not models:
            raise ValueError("a chain needs a model")
        self._models = tuple(models)

    async def stream(self, request: ChatRequest) -> AsyncGenerator[ModelEvent, None]:
        """See ChatModel. When every model failed and one of them may answer later, raises
        ModelUnavailable; otherwise what the last one raised."""
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

    async def close(self) -> None:
        for _, model in self._models:
            await model.close()

    def _order(self, request: ChatRequest) -> Sequence[tuple[str, ChatModel]]:
        names = [name for name, _ in self._models]
        first = names.index(request.answered_by) if request.answered_by in names else 0
        if request.answer_begun:
            return (self._models[first],)
        return (*self._models[first:], *self._models[:first])


# ---- chains ----------------------------------------------------------------------------------------------
# The chains of models that agents name, each made once and kept: making a client takes over 100 ms.


class Chains:
    def __init__(
        self,
        make: Callable[[Sequence[str]], ChatModel],
        default: tuple[str, ...],
        transcriber: Transcriber | None = None,
        speaker: Speaker | None = None,
        changes: Callable[[], Mapping[str, tuple[str, ...]]] = dict,
    ) -> None:
        """`default`: the chain of those that name none; empty where the model that comes along answers,
        whatever is named. `transcriber` hears and `speaker` speaks for all of them; None: nobody does."""
        self.transcriber = transcriber
        self.speaker = speaker
        self.changes = changes
        self._make = make
        self._default = default
        self._made: dict[tuple[str, ...], ChatModel] = {}

    def of(self, names: tuple[str, ...]) -> ChatModel:
        """The chain of these models, the preferred one first; without any, the default one."""
        names = names or self._default
        if names not in self._made:
            self._made[names] = self._make(names)
        return self._made[names]

    def first(self, names: tuple[str, ...]) -> str:
        """Return the model of a chain that is asked first, as its answers name it; empty for the one that
        comes along."""
        return (names or self._default)[0] if self._default else ""

    async def close(self) -> None:
        """Close what hears and speaks. The models belong to whoever made them."""
        for each in (self.transcriber, self.speaker):
            if each:
                await each.close()
