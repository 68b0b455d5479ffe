"""Ending a turn before the model is done: by its user, by a time limit, or because the program stops."""

import asyncio
from collections.abc import AsyncGenerator
from contextlib import aclosing
from typing import Literal, TypeVar

Item = TypeVar("Item")


class Stop:
    """A request to end one turn; what was said until then is kept as the answer, unless it is discarded."""

    def __init__(self) -> None:
        self._event = asyncio.Event()
        self.status: Literal["stopped", "cut"] = "stopped"
        self.discarded = False
        """Nothing of the turn is to be kept, however far it came."""

    @property
    def requested(self) -> bool:
        return self._event.is_set()

    def request(self, status: Literal["stopped", "cut"] = "stopped") -> None:
        """End the turn: `stopped` when its user wanted that, `cut` when it was not their wish."""
        if not self.requested:
            self.status = status
            self._event.set()

    def discard(self) -> None:
        """End the turn, and keep nothing of it."""
        self.discarded = True
        self.request()

    async def wait(self) -> None:
        await self._event.wait()


async def until_stopped(items: AsyncGenerator[Item, None], stop: Stop) -> AsyncGenerator[Item, None]:
    """The items until they end or the stop is requested; then the source is cancelled where it waits.

    The source runs in one task of its own, so that time limits inside it may span its items.
    """
    queue: asyncio.Queue[Item | None] = asyncio.Queue()

    async def produce() -> None:
        try:
            async with aclosing(items):
                async for item in items:
                    queue.put_nowait(item)
        finally:
            queue.put_nowait(None)

    async def cancel_when_stopped(task: asyncio.Task[None]) -> None:
        await stop.wait()
        task.cancel()

    producer = asyncio.create_task(produce())
    canceller = asyncio.create_task(cancel_when_stopped(producer))
    try:
        while (item := await queue.get()) is not None:
            yield item
        await asyncio.wait((producer,))
        if not producer.cancelled():
            producer.result()
    finally:
        canceller.cancel()
        producer.cancel()
        await asyncio.gather(producer, canceller, return_exceptions=True)
