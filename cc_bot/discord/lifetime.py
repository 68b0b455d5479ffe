"""Until when the bot runs: until a signal, or until what it waits for ends."""

import asyncio
import contextlib
import signal
from collections.abc import Awaitable, Iterator
from typing import Protocol, TypeVar

Result = TypeVar("Result")


class Lifeline(Protocol):
    """Whoever watches over the program, and is told how far it is."""

    def ready(self) -> None:
        """The bot answers."""

    def leave(self) -> None:
        """The stop has begun, and has to come to an end. May be told twice, and from a signal handler."""


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
def signals(stop: asyncio.Event, lifeline: Lifeline) -> Iterator[None]:
    """SIGINT and SIGTERM ask to stop. The lifeline is told at once, the loop when it goes on."""
    loop = asyncio.get_running_loop()
    wanted = (signal.SIGINT, signal.SIGTERM)

    def ask(*_: object) -> None:
        lifeline.leave()
        loop.call_soon_threadsafe(stop.set)

    previous = {number: signal.getsignal(number) for number in wanted}
    for number in wanted:
        # signal.signal, unlike the loop's own handlers, is there on Windows too.
        signal.signal(number, ask)
    try:
        yield
    finally:
        for number, handler in previous.items():
            signal.signal(number, handler)
