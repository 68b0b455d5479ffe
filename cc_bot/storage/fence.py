"""A fence around what is written in somebody's name: nothing is, once that name holds no more.

A process that slept and wakes goes on in the middle of what it did, while another one may have taken that
over. It can't know, but the database does: each transaction that is begun within `fenced` first runs a
statement that finds a row as long as it may write, and is not done at all where it finds none. The row is
held until the transaction ends, so that nobody takes it over in between.
"""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from typing import Any, Final, TypeVar

from cc_bot.domain.errors import DutyLost, StorageError
from cc_bot.storage.database import Database, DatabaseUsage, Row, Statement, Steps, Subject
from cc_bot.storage.dialect import Dialect
from cc_bot.storage.rewriting import Rewriting

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class WriteFence:
    """A right to write."""

    held: Statement
    """Finds a row as long as the right lasts."""
    lost: type[StorageError]
    """Raised where it finds none."""


_around: Final = ContextVar[tuple[WriteFence, ...]]("fences", default=())


@contextmanager
def fenced(fence: WriteFence) -> Iterator[None]:
    """Write nothing within, nor in tasks that are begun there, once the right is lost; `lost` is raised."""
    token = _around.set((*_around.get(), fence))
    try:
        yield
    finally:
        _around.reset(token)


def always() -> bool:
    """Return whether anything may be written: where nobody else could go on with it, it may."""
    return True


class FencedDatabase:
    """A database that asks each fence before it writes."""

    def __init__(self, database: Database, may_write: Callable[[], bool] = always) -> None:
        """`may_write` tells whether the process may at all; where not, DutyLost is raised."""
        self._database = database
        self._may_write = may_write

    @property
    def dialect(self) -> Dialect:
        return self._database.dialect

    @property
    def location(self) -> str:
        return self._database.location

    async def query(self, sql: str, *params: Any) -> Sequence[Row]:
        return await self._database.query(sql, *params)

    async def read(self, begin: Callable[[], Steps[T]]) -> T:
        return await self._database.read(begin)

    async def read_long(self, begin: Callable[[], Steps[T]]) -> T:
        return await self._database.read_long(begin)

    async def transaction(
        self, statements: Sequence[Statement], about: Sequence[Subject]
    ) -> list[Sequence[Row]]:
        fences = self._fences()
        if not fences:
            return await self._database.transaction(statements, about)
        return await self._database.write(lambda: _within(fences, lambda: _all(statements)), about)

    async def write(self, begin: Callable[[], Steps[T]], about: Sequence[Subject]) -> T:
        fences = self._fences()
        if not fences:
            return await self._database.write(begin, about)
        return await self._database.write(lambda: _within(fences, begin), about)

    def _fences(self) -> tuple[WriteFence, ...]:
        if not self._may_write():
            raise DutyLost
        return _around.get()

    async def wait_for_write(self, seconds: float) -> bool:
        return await self._database.wait_for_write(seconds)

    async def preserve(self, version: int) -> None:
        await self._database.preserve(version)

    async def checkpoint(self) -> bool:
        return await self._database.checkpoint()

    async def measure(self) -> DatabaseUsage:
        return await self._database.measure()

    async def rewrite(self) -> Rewriting:
        return await self._database.rewrite()

    def hurry(self) -> None:
        self._database.hurry()

    async def close(self) -> None:
        await self._database.close()


def _within(fences: Sequence[WriteFence], begin: Callable[[], Steps[T]]) -> Steps[T]:
    for fence in fences:
        if not (yield fence.held):
            raise fence.lost
    return (yield from begin())


def _all(statements: Sequence[Statement]) -> Steps[list[Sequence[Row]]]:
    found = list[Sequence[Row]]()
    for statement in statements:
        found.append((yield statement))
    return found
