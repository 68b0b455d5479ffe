"""Keyed locks, background tasks, signals, a rate limiter, and a queue for files."""

import asyncio
import signal
from collections import Counter
from collections.abc import AsyncIterator, Awaitable, Callable, Coroutine, Hashable, Iterator, Mapping
from contextlib import AbstractAsyncContextManager, ExitStack, asynccontextmanager, contextmanager, suppress
from dataclasses import dataclass
from typing import Any, Final, TypeVar

from cc_bot.domain.errors import EarlierFilesInProgress

CALLS_PER_S: Final = 15
"""By background work. Discord allows a bot 50, so room is left for answers. Above 50, hikari 2.6.0 retries
each call at once, and Discord bans bots that keep exceeding the limit."""


@dataclass(slots=True)
class RateLimiter:
    _next_s: float = 0.0

    async def wait(self) -> None:
        now_s = asyncio.get_running_loop().time()
        call_s = max(now_s, self._next_s)
        self._next_s = call_s + 1 / CALLS_PER_S
        await asyncio.sleep(call_s - now_s)


Report = Callable[[int, int], Awaitable[None]]
"""Takes the number of finished items of long work, and the number of all."""


async def report_nothing(_done: int, _total: int) -> None: ...


async def cancel_tasks(*tasks: asyncio.Future[Any]) -> None:
    """Cancel the tasks, and wait until they have ended."""
    for task in tasks:
        task.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)


@asynccontextmanager
async def run_in_background(work: Coroutine[Any, Any, object]) -> AsyncIterator[None]:
    """Run the work during the block, and cancel it at the end."""
    task = asyncio.create_task(work)
    try:
        yield
    finally:
        await cancel_tasks(task)


class Tasks(set[asyncio.Task[None]]):
    """Holds references to running background tasks, since asyncio's own are weak."""

    def start(self, work: Coroutine[Any, Any, None]) -> asyncio.Task[None]:
        self.add(task := asyncio.create_task(work))
        task.add_done_callback(self.discard)
        return task

    async def cancel(self) -> None:
        await cancel_tasks(*self)


@contextmanager
def handle_signals(handlers: Mapping[str, Callable[[], None]]) -> Iterator[None]:
    """Within the block, the event loop calls the handlers, by signal name. Unlike `add_signal_handler`, this
    works on Windows."""
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
        self._users = Counter[Hashable]()  # by key, including those that wait

    @asynccontextmanager
    async def hold(self, key: Hashable) -> AsyncIterator[Callable[[], None]]:
        """Wait for earlier users of the key, then lock it. The yielded function unlocks it before exit."""
        lock = self._locks.setdefault(key, asyncio.Lock())
        self._users[key] += 1
        try:
            with ExitStack() as stack:
                await lock.acquire()  # FIFO
                stack.callback(lock.release)
                yield stack.close
        finally:
            self._users[key] -= 1
            if not self._users[key]:
                del self._locks[key], self._users[key]

    def count(self, key: Hashable) -> int:
        """Count those that lock the key or wait for it."""
        return self._users[key]


MAX_EXPORTS: Final = 4  # per user, including the running one

T = TypeVar("T")


class ExportQueue:
    """Queues exports: each keeps a thread busy for a second, and its file in memory until that is sent."""

    def __init__(self) -> None:
        self._order = KeyedLock()
        self.lock = asyncio.Lock()

    def wait_for_earlier(self, user_id: int) -> AbstractAsyncContextManager[object]:
        """Wait for the user's earlier exports. Raises EarlierFilesInProgress beyond MAX_EXPORTS."""
        if self._order.count(user_id) >= MAX_EXPORTS:
            raise EarlierFilesInProgress
        return self._order.hold(user_id)

    async def alternate(self, pieces: AsyncIterator[T]) -> AsyncIterator[T]:
        """Yield the pieces of an export. While the caller sends one, other exports make theirs."""
        with suppress(StopAsyncIteration):
            while True:
                async with self.lock:
                    piece = await anext(pieces)
                yield piece
