"""Ending a turn before the model is done: by its user, by a time limit, or because the program stops."""

import asyncio
from collections.abc import Coroutine, Iterator
from contextlib import contextmanager
from typing import Any, Literal


class Stop:
    """A request to end one turn; what was said until then is kept as the answer, unless it is discarded."""

    def __init__(self) -> None:
        self._event = asyncio.Event()
        self._task: asyncio.Task[None] | None = None
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
            if self._task is not None:
                self._task.cancel()

    def discard(self) -> None:
        """End the turn, and keep nothing of it."""
        self.discarded = True
        self.request()

    async def wait(self) -> None:
        await self._event.wait()

    @contextmanager
    def cancelling(self, task: asyncio.Task[None]) -> Iterator[None]:
        """While the block runs, a request cancels the task; at once when it was made before."""
        self._task = task
        if self.requested:
            task.cancel()
        try:
            yield
        finally:
            self._task = None


async def until_stopped(work: Coroutine[Any, Any, None], stop: Stop) -> None:
    """Do the work until it is done or the stop is requested; then it is cancelled where it waits."""
    task = asyncio.create_task(work)
    with stop.cancelling(task):
        try:
            await asyncio.wait((task,))
        finally:
            task.cancel()
            await asyncio.gather(task, return_exceptions=True)
    if not task.cancelled():
        task.result()
