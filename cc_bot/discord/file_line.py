"""Whose file is made or read next: of each user one after another, and of everybody one at a time.

A file takes a second of a thread, and threads take turns with the event loop: a dozen at once would leave it
none. What was made is held until Discord has it, and that may take long: whoever asks for twenty has one at a
time, and some in line.
"""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Final, TypeVar

from cc_bot.discord.in_order import InOrder
from cc_bot.domain.errors import FilesInLine

MOST: Final = 4
"""Of one user: one that is made, the others in line."""

T = TypeVar("T")


class FileLine:
    def __init__(self) -> None:
        self._order = InOrder()
        self._work = asyncio.Lock()

    @asynccontextmanager
    async def of(self, user_id: int) -> AsyncIterator[None]:
        """For as long as anything of a file is held: wait for the same user's before it. Raises FilesInLine
        when too many wait already."""
        if self._order.joined(user_id) >= MOST:
            raise FilesInLine
        async with self._order.after(user_id):
            yield

    @asynccontextmanager
    async def at_work(self) -> AsyncIterator[None]:
        """For what takes the processor: wait for everybody's before it."""
        async with self._work:
            yield

    async def one_by_one(self, parts: AsyncIterator[T]) -> AsyncIterator[T]:
        """Each part made when nobody else's is; others have their turn while it is sent."""
        while True:
            async with self.at_work():
                try:
                    part = await anext(parts)
                except StopAsyncIteration:
                    return
            yield part
