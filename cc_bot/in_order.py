"""Keyed locks, background tasks, signals, a rate limiter, and a queue for files."""

import asyncio
import signal
from collections import Counter
from collections.abc import AsyncIterator, Callable, Coroutine, Hashable, Iterator, Mapping
from contextlib import AbstractAsyncContextManager, ExitStack, asynccontextmanager, contextmanager, suppress
from dataclasses import dataclass
from typing import Any, Final, TypeVar

from cc_bot.domain.errors import EarlierFilesInProgress

CALLS_PER_S: Final = 15
"""Discord's global limit is 50 a second per bot, shared with answers. Beyond 50, hikari 2.6.0 retries each
call once without a pause, and Discord bans bots that keep exceeding it."""


@dataclass(slots=True)
class RateLimiter:
    """Spaces calls evenly."""

    _next_s: float = 0.0

    async def wait(self) -> None:
        now_s = asyncio.get_running_loop().time()
        at_s = max(now_s, self._next_s)
        self._next_s = at_s + 1 / CALLS_PER_S
        await asyncio.sleep(at_s - now_s)


class Tasks(set[asyncio.Task[None]]):
    """Background tasks, kept until they end, as asyncio holds weak references."""

    def start(self, work: Coroutine[Any, Any, None]) -> asyncio.Task[None]:
        self.add(task := asyncio.create_task(work))
        task.add_done_callback(self.discard)
        return task

    async def cancel(self) -> None:
        """Cancel all and wait for their end."""
        tasks = [*self]
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)


@contextmanager
def handle_signals(handlers: Mapping[str, Callable[[], None]]) -> Iterator[None]:
    """Have the loop call handlers by signal name. Windows loops have no `add_signal_handler`."""
    loop = asyncio.get_running_loop()

    def call_handler(number: int, _frame: object) -> None:
        loop.call_soon_threadsafe(handlers[signal.Signals(number).name])

    with ExitStack() as restoring:
        for name in handlers:
            if number := getattr(signal, name, None):
                restoring.callback(signal.signal, number, signal.signal(number, call_handler))
        yield


class KeyedLock:
    def __init__(self) -> None:
        self._locks: dict[Hashable, asyncio.Lock] = {}
        self._joined = Counter[Hashable]()

    @asynccontextmanager
    async def after(self, key: Hashable) -> AsyncIterator[Callable[[], None]]:
        """Wait for earlier users of the key. Later ones wait until exit, or until the yielded function is
        called."""
        lock = self._locks.setdefault(key, asyncio.Lock())
        self._joined[key] += 1
        try:
            with ExitStack() as stack:
                await lock.acquire()  # FIFO
                stack.callback(lock.release)
                yield stack.close
        finally:
            self._joined[key] -= 1
            if not self._joined[key]:
                del self._locks[key], self._joined[key]

    def length(self, key: Hashable) -> int:
        return self._joined[key]


MAX_EXPORTS: Final = 4  # files that a user may wait for, the current one included

T = TypeVar("T")


class ExportQueue:
    """Queues exports per user and overall: each takes a second of a thread, and stays in memory until Discord
    has it."""

    def __init__(self) -> None:
        self._order = KeyedLock()
        self.making = asyncio.Lock()

    def for_user(self, user_id: int) -> AbstractAsyncContextManager[object]:
        """Wait for the user's earlier files. Raises EarlierFilesInProgress if too many wait."""
        if self._order.length(user_id) >= MAX_EXPORTS:
            raise EarlierFilesInProgress
        return self._order.after(user_id)

    async def make_in_turn(self, pieces: AsyncIterator[T]) -> AsyncIterator[T]:
        """Make one piece at a time; other exports run while it is sent."""
        with suppress(StopAsyncIteration):
            while True:
                async with self.making:
                    piece = await anext(pieces)
                yield piece
