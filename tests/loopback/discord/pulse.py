"""Waiting without sleeping: whoever changes the world beats, and whoever waits for something looks again."""

import asyncio
from collections.abc import Callable
from typing import TypeVar

T = TypeVar("T")


class Pulse:
    """One for the whole double: changes are few and predicates cheap, so every waiter looks at every beat."""

    def __init__(self) -> None:
        self._waiting: set[asyncio.Future[None]] = set()

    def beat(self) -> None:
        for waiter in self._waiting:
            if not waiter.done():
                waiter.set_result(None)
        self._waiting.clear()

    async def until(
        self, look: Callable[[], T], *, timeout_s: float, what: str, seen: Callable[[], str]
    ) -> T:
        """Answers with the first true value of `look`. Raises AssertionError with what was `seen`."""
        loop = asyncio.get_running_loop()
        deadline = loop.time() + timeout_s
        while not (value := look()):
            waiter: asyncio.Future[None] = loop.create_future()
            self._waiting.add(waiter)
            done, _ = await asyncio.wait({waiter}, timeout=max(0.0, deadline - loop.time()))
            if not done:
                self._waiting.discard(waiter)
                waiter.cancel()
                if value := look():
                    break
                raise AssertionError(f"waited {timeout_s:g} s for {what}; seen:\n{seen()}")
        return value
