"""Learns how each model counts tokens, beside the turns and never in their way."""

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
    """A request, and how many tokens of prompt its model counted."""

    model: str
    request: ChatRequest
    prompt_tokens: int
    limit: int | None = None
    """The most that it takes, where it has refused a longer request and told."""


class Calibration:
    def __init__(self, factors: TokenFactorStore, model: str) -> None:
        """`model` is the one that is asked first, unless an agent has its own."""
        self._factors = factors
        self._model = model
        self._limits: dict[str, int] = {}
        """Of models that have refused a request for its length: the next one is made to fit at once."""
        self._tasks: set[asyncio.Task[None]] = set()

    async def factor(self, chain: Sequence[str] = ()) -> float:
        """Tokens that the model counts for each token that we estimate.

        It is the first of the chain that decides how much is sent. Who will answer is not known before; a
        model further down that takes less says so.
        """
        return await self._factors.get(chain[0] if chain else self._model)

    def limit(self, chain: Sequence[str] = ()) -> int | None:
        """The tokens of the longest request that the first of the chain takes, answer included; None where it
        has not told since the start of the program."""
        return self._limits.get(chain[0] if chain else self._model)

    def learn(self, measured: Iterable[Measured]) -> Awaitable[None]:
        """Take in what a turn's requests cost, some time soon; who needs it done can wait for it."""
        measured = list(measured)
        self._limits |= {one.model: one.limit for one in measured if one.limit is not None}
        known = [one for one in measured if one.model and one.prompt_tokens > 0]
        task = asyncio.create_task(self._learn(known))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        return task

    async def settle(self) -> None:
        """Wait until everything is learned."""
        await asyncio.gather(*self._tasks)

    async def _learn(self, measured: Iterable[Measured]) -> None:
        try:
            for one in measured:
                if not has_images(one.request.prompt):  # what a picture costs is a guess
                    estimated = await asyncio.to_thread(request_tokens, one.request)
                    await self._factors.learn(one.model, estimated=estimated, counted=one.prompt_tokens)
        except StorageError as error:
            _log.warning("calibration_failed", error=type(error).__name__)
