"""The turns that are under way, so that the program can wait for them before it stops."""

import asyncio
from collections.abc import Iterator
from contextlib import contextmanager

from cc_bot.assistant.stop import Stop


class TurnsUnderway:
    def __init__(self) -> None:
        self._stops: set[Stop] = set()
        self._idle = asyncio.Event()
        self._idle.set()

    @contextmanager
    def entered(self, stop: Stop) -> Iterator[None]:
        """Count a turn among the running ones."""
        self._stops.add(stop)
        self._idle.clear()
        try:
            yield
        finally:
            self._stops.discard(stop)
            if not self._stops:
                self._idle.set()

    async def drain(self, grace_s: float) -> None:
        """Let the running turns finish for `grace_s` seconds, then cut the rest."""
        try:
            await asyncio.wait_for(self._idle.wait(), grace_s)
        except TimeoutError:
            for stop in self._stops:
                stop.request("cut")
            await self._idle.wait()
