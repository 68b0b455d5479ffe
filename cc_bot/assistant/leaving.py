"""Users who are being forgotten: their turns end without a trace, and no new one begins until it is over.

What a turn has in hand would else be stored after the rest was erased.
"""

import asyncio
from collections import Counter
from collections.abc import AsyncIterator, Collection, Iterator
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass

from cc_bot.assistant.stop import Stop
from cc_bot.domain.errors import BeingErased


@dataclass(frozen=True, slots=True, eq=False)
class _Turn:
    """One that is on its way."""

    askers: frozenset[int]
    stop: Stop


class Leaving:
    def __init__(self) -> None:
        self._turns = list[_Turn]()
        self._leaving = Counter[int]()
        self._one_ended = asyncio.Event()

    @contextmanager
    def turn(self, askers: Collection[int], stop: Stop) -> Iterator[None]:
        """Around a turn from before it waits in line until it is stored. Raises BeingErased when one of those
        who asked is being forgotten."""
        if any(self._leaving[user_id] for user_id in askers):
            raise BeingErased
        turn = _Turn(frozenset(askers), stop)
        self._turns.append(turn)
        try:
            yield
        finally:
            self._turns.remove(turn)
            self._one_ended.set()

    @asynccontextmanager
    async def of(self, user_id: int) -> AsyncIterator[None]:
        """Entered when nothing of this user's is on its way any more; until it is left nothing begins."""
        self._leaving[user_id] += 1
        try:
            while theirs := [turn for turn in self._turns if user_id in turn.askers]:
                self._one_ended.clear()
                for turn in theirs:
                    turn.stop.discard()
                await self._one_ended.wait()
            yield
        finally:
            self._leaving[user_id] -= 1
