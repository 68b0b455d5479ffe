"""Order: one thing after another, for each channel, user or session by itself; and at a pace, what nobody
asked for.

A message, its edit and its deletion arrive as events of their own, and each takes its time to be stored. What
is deleted must not be stored after that.
"""

import asyncio
from collections.abc import AsyncIterator, Callable, Hashable, Iterator
from contextlib import ExitStack, asynccontextmanager, contextmanager
from dataclasses import dataclass, field
from typing import Final, TypeVar

from cc_bot.domain.errors import FilesInLine

# ---- in order ------------------------------------------------------------------------------------------


A_SECOND: Final = 15
"""Requests. Discord takes 50 a second of a bot, and answers to people need some of them too. What was refused
for that hikari sends once more without a pause (2.6.0, where it knows no limit of the channel), until Discord
shuts the bot out."""


@dataclass(slots=True)
class Pace:
    """Lets so many pass in each second, one after the other: at nine in the morning many are reminded."""

    a_second: int = A_SECOND
    _next_s: float = 0.0

    async def wait(self) -> None:
        now_s = asyncio.get_running_loop().time()
        at_s = max(now_s, self._next_s)
        self._next_s = at_s + 1 / self.a_second
        await asyncio.sleep(at_s - now_s)


@dataclass(slots=True)
class _Line:
    lock: asyncio.Lock = field(default_factory=asyncio.Lock)
    joined: int = 0


class InOrder:
    def __init__(self) -> None:
        self._lines: dict[Hashable, _Line] = {}

    @asynccontextmanager
    async def after(self, line: Hashable) -> AsyncIterator[Callable[[], None]]:
        """Wait for those who came before, and keep those who come after waiting: until the end, or until what
        this yields is called."""
        with self._join(line) as joined, ExitStack() as held:
            await joined.lock.acquire()  # first come, first served
            held.callback(joined.lock.release)
            yield held.close

    def length(self, line: Hashable) -> int:
        """Return how many are in a line, the first of them included."""
        return self._lines[line].joined if line in self._lines else 0

    @contextmanager
    def _join(self, name: Hashable) -> Iterator[_Line]:
        line = self._lines.setdefault(name, _Line())
        line.joined += 1
        try:
            yield line
        finally:
            line.joined -= 1
            if not line.joined:
                del self._lines[name]


# ---- file line -----------------------------------------------------------------------------------------
# Whose file is made or read next: of each user one after another, and of everybody one at a time.
#
# A file takes a second of a thread, and threads take turns with the event loop: a dozen at once would leave
# it none. What was made is held until Discord has it, and that may take long: whoever asks for twenty has
# one at a time, and some in line.


MOST: Final = 4
"""Of one user: one that is made, the others in line."""

T = TypeVar("T")


class FileLine:
    def __init__(self) -> None:
        self._order = InOrder()
        self._work = asyncio.Lock()

    @asynccontextmanager
    async def of(self, user_id: int) -> AsyncIterator[None]:
        """Wait for the same user's files before this one, which is held until the end. Raises FilesInLine
        when too many wait already."""
        if self._order.length(user_id) >= MOST:
            raise FilesInLine
        async with self._order.after(user_id):
            yield

    @asynccontextmanager
    async def at_work(self) -> AsyncIterator[None]:
        """Wait for everybody's before it, for what takes the processor."""
        async with self._work:
            yield

    async def one_by_one(self, parts: AsyncIterator[T]) -> AsyncIterator[T]:
        """Make each part when nobody else's is made; others have their turn while it is sent."""
        while True:
            async with self.at_work():
                try:
                    part = await anext(parts)
                except StopAsyncIteration:
                    return
            yield part
