"""Learns how each model counts tokens, in the background."""

import asyncio
from collections.abc import Awaitable, Iterable, Sequence
from dataclasses import dataclass

import structlog

from cc_bot.context.tokens import has_images, request_tokens
from cc_bot.domain.errors import StorageError
from cc_bot.llm.model import ChatRequest
from cc_bot.stores import TokenFactorStore

_log = structlog.get_logger(__name__)


@dataclass(frozen=True, slots=True)
class Measured:
    """The prompt tokens that a model counted for a request."""

    model: str
    request: ChatRequest
    prompt_tokens: int
    limit: int | None = None
    """As reported with a rejection."""


class Calibration:
    def __init__(self, factors: TokenFactorStore, model: str) -> None:
        self._factors = factors
        self._model = model
        self._limits: dict[str, int] = {}
        """By model, as reported with a rejection."""
        self._tasks: set[asyncio.Task[None]] = set()

    async def factor(self, chain: Sequence[str] = ()) -> float:
        """Tokens that the chain's first model counts for each estimated token."""
        return await self._factors.get(chain[0] if chain else self._model)

    def limit(self, chain: Sequence[str] = ()) -> int | None:
        """The context limit of the chain's first model, answer included; None if not reported yet."""
        return self._limits.get(chain[0] if chain else self._model)

    def learn(self, measured: Iterable[Measured]) -> Awaitable[None]:
        """Learn from a turn's requests in the background; await the result to wait for the end."""
        measured = list(measured)
        self._limits |= {one.model: one.limit for one in measured if one.limit is not None}
        known = [one for one in measured if one.model and one.prompt_tokens > 0]
        task = asyncio.create_task(self._learn(known))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        return task

    async def settle(self) -> None:
        await asyncio.gather(*self._tasks)

    async def _learn(self, measured: Iterable[Measured]) -> None:
        try:
            for one in measured:
                if not has_images(one.request.prompt):  # tokens of pictures are only estimates
                    estimated = await asyncio.to_thread(request_tokens, one.request)
                    await self._factors.learn(one.model, estimated=estimated, counted=one.prompt_tokens)
        except StorageError as error:
            _log.warning("calibration_failed", error=type(error).__name__)
