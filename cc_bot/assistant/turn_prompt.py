"""The prompt of a turn: it grows with each round of tool calls, and may be made shorter once."""

from collections.abc import Callable, Sequence

from cc_bot.context.built import Built
from cc_bot.context.shrink import fitting_history, shrunk_history
from cc_bot.context.tokens import part_tokens, tools_tokens
from cc_bot.llm.model import ChatRequest, PromptPart, ToolSchema

Build = Callable[[float], Built]
"""The prompt before the first round, with so many tokens of history at most, as estimated."""


class TurnPrompt:
    def __init__(
        self,
        build: Build,
        budget_tokens: float,
        *,
        factor: float = 1.0,
        cache_key: str = "",
        temperature: float | None = None,
        limit: int | None = None,
        offered: Sequence[ToolSchema] = (),
    ) -> None:
        """`budget_tokens` of history, as estimated; `factor`: what the model counts for each of those;
        `cache_key` and `temperature` are those of its requests. `limit` is known of the model: with the tools
        that are `offered`, no more tokens than that."""
        self._build = build
        self._factor = factor
        if limit is not None:
            beside = _tokens(build(0).parts) + tools_tokens(offered)
            budget_tokens = min(budget_tokens, fitting_history(beside, int(limit / factor)))
        self._cache_key = cache_key
        self._temperature = temperature
        self._start = build(budget_tokens)
        self.budget_tokens = budget_tokens
        """Less than at first when the server took less."""
        self._rounds: tuple[PromptPart, ...] = ()
        self._shrunk = False

    def add(self, *parts: PromptPart) -> None:
        """What was said and called in a round."""
        self._rounds += parts

    def request(self, tools: Sequence[ToolSchema], *, answer_begun: bool, model: str) -> ChatRequest:
        """`model` answered the round before this one; empty in the first round."""
        return ChatRequest(
            (*self._start.parts, *self._rounds),
            tuple(tools),
            answer_begun=answer_begun,
            answered_by=model,
            shrinkable=self._shrinkable,
            cache_key=self._cache_key,
            stable=self._start.stable,
            temperature=self._temperature,
        )

    @property
    def tainted(self) -> bool:
        """Whether anything in it was written by somebody else than the turn's user."""
        return any(part.tainted for part in (*self._start.parts, *self._rounds))

    def shrink(self, tools: Sequence[ToolSchema], limit: int | None) -> bool:
        """Leave the older part of the history out: the model takes no more than `limit` tokens (None: nobody
        knows). False when there is nothing to leave out, or that was done before."""
        if not self._shrinkable:
            return False
        bare = _tokens(self._build(0).parts)
        history = _tokens(self._start.parts) - bare
        beside = bare + _tokens(self._rounds) + tools_tokens(tools)
        allowed = None if limit is None else int(limit / self._factor)
        self.budget_tokens = shrunk_history(history, beside, allowed)
        self._start = self._build(self.budget_tokens)
        self._shrunk = True
        return True

    @property
    def _shrinkable(self) -> bool:
        return not self._shrunk and self._start.history


def _tokens(parts: Sequence[PromptPart]) -> int:
    return sum(map(part_tokens, parts))
