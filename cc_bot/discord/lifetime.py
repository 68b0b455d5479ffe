"""Until when the bot runs: until a signal, or until what it waits for ends."""

import asyncio
import contextlib
import signal
from collections.abc import Awaitable, Iterator
from typing import TypeVar

Result = TypeVar("Result")


async def first_of(task: asyncio.Task[Result], interruption: Awaitable[object]) -> bool:
    """Wait for a task or an interruption, whichever comes first. True when the task ended, without error."""
    other = asyncio.ensure_future(interruption)
    try:
        await asyncio.wait((task, other), return_when=asyncio.FIRST_COMPLETED)
        if not task.done():
            task.cancel()
            return False
        task.result()
        return True
    finally:
        other.cancel()
        await asyncio.gather(other, return_exceptions=True)


@contextlib.contextmanager
def signals(stop: asyncio.Event) -> Iterator[None]:
    """SIGINT and SIGTERM ask to stop."""
    loop = asyncio.get_running_loop()
    wanted = (signal.SIGINT, signal.SIGTERM)
    previous = {number: signal.getsignal(number) for number in wanted}
    for number in wanted:
        # signal.signal, unlike the loop's own handlers, is there on Windows too.
        signal.signal(number, lambda *_: loop.call_soon_threadsafe(stop.set))
    try:
        yield
    finally:
        for number, handler in previous.items():
            signal.signal(number, handler)
