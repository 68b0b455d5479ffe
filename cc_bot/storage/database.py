"""Database interface: stores are written once against it; each engine implements it.

It is narrow because every awaited call is a trip to another thread or machine: a read is one trip, and so is
a whole transaction.
"""

import asyncio
from collections.abc import AsyncIterator, Callable, Generator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, Final, Literal, NamedTuple, Protocol, TypeVar

import structlog

from cc_bot.domain.errors import StorageError
from cc_bot.storage.dialect import Dialect

_log = structlog.get_logger(__name__)

Row = Sequence[Any]
"""The columns of one row, in the order of the SELECT or RETURNING list."""


@dataclass(frozen=True, slots=True)
class Statement:
    """SQL with `$1`, `$2`, … for its parameters, and the parameters."""

    sql: str
    params: tuple[Any, ...] = ()

    def as_steps(self) -> "Steps[Sequence[Row]]":
        """Return a transaction of this statement alone, which returns its rows."""
        return (yield self)


ScrubOutcome = Literal["done", "busy", "no_room"]
"""`busy`: another program reads or writes. `no_room`: VACUUM needs more room on the disk."""

T = TypeVar("T")

Steps = Generator[Statement, Sequence[Row], T]
"""A transaction as a generator: yields a Statement, receives its rows, returns the result. It can't await, so
that nothing slow is done while the transaction is open."""


class Subject(NamedTuple):
    """A lock key: writes with the same key run one at a time, in the order in which they were asked for."""

    kind: Literal["user", "channel", "guild", "everybody", "processes"]
    id: int = 0


EVERYBODY: Final = Subject("everybody")
PROCESSES: Final = Subject("processes")
"""Heartbeats and duties. No slow write may have this key."""


def user(id_: int) -> Subject:
    return Subject("user", id_)


def channel(id_: int) -> Subject:
    """A channel or a thread."""
    return Subject("channel", id_)


def guild(id_: int) -> Subject:
    return Subject("guild", id_)


def storable(value: Any) -> Any:
    """Return a parameter that every engine takes: without NUL, and without halves of surrogate pairs, which
    models produce when they cut an emoji."""
    if isinstance(value, str):
        if "\0" in value:
            value = value.replace("\0", "")
        return value if value.isascii() else value.encode("utf-8", "replace").decode()
    return value


def all_of(statements: Sequence[Statement]) -> Steps[list[Sequence[Row]]]:
    """Return a transaction of these statements, which returns the rows of each."""
    found = []
    for statement in statements:
        found.append((yield statement))
    return found


class Trouble(NamedTuple):
    """An error of an engine, for the operator."""

    kind: type[StorageError]
    reason: str
    """The engine's name for it."""
    fixed_by: str = ""
    """What the operator has to do. If empty, it is a mistake of a statement, and not logged."""


class Engine:
    """What the databases of all engines share. Each kind of trouble is logged once until the next success,
    without the engine's message, which may quote users."""

    def __init__(self, location: str, classify: Callable[[BaseException], Trouble]) -> None:
        self.location = location
        self._classify = classify
        self._reported = set[Trouble]()
        self._written = asyncio.Event()

    async def write(self, begin: Callable[[], Steps[T]], about: Sequence[Subject]) -> T:
        raise NotImplementedError

    async def transaction(
        self, statements: Sequence[Statement], about: Sequence[Subject]
    ) -> list[Sequence[Row]]:
        return await self.write(lambda: all_of(statements), about)

    async def wait_for_write(self, seconds: float) -> bool:
        with suppress(TimeoutError):
            async with asyncio.timeout(seconds):
                return await self._written.wait()
        return False

    def _note_write(self) -> None:
        self._written.set()
        self._written = asyncio.Event()

    def _translate(self, error: BaseException) -> StorageError:
        """Return the error to raise."""
        trouble = self._classify(error)
        if trouble.fixed_by and trouble not in self._reported:
            self._reported.add(trouble)
            _log.error(
                "database_trouble",
                error=trouble.kind.__name__,
                reason=trouble.reason,
                path=self.location,
                mended_by=trouble.fixed_by,
            )
        return trouble.kind()

    def _had(self, kind: type[StorageError]) -> bool:
        """Return whether there was such an error, and no success since."""
        return any(trouble.kind is kind for trouble in self._reported)

    def _note_success(self) -> None:
        if self._reported:
            self._reported.clear()
            _log.info("database_works_again", path=self.location)


class Database(Protocol):
    """A connection. All errors of the engine arrive as a StorageError."""

    @property
    def dialect(self) -> Dialect: ...

    location: str
    """The name by which the operator knows this database, without credentials."""

    async def query(self, sql: str, *params: Any) -> Sequence[Row]:
        """Return the rows of one reading statement."""
        ...

    async def transaction(
        self, statements: Sequence[Statement], about: Sequence[Subject]
    ) -> list[Sequence[Row]]:
        """Run the statements in one transaction: all of them take effect or none.

        Returns the rows of each. A transaction runs to its end even if the caller is cancelled.
        """
        ...

    async def read(self, begin: Callable[[], Steps[T]]) -> T:
        """Run the reading statements of `begin()` on one state of the database, whatever others write."""
        ...

    async def read_long(self, begin: Callable[[], Steps[T]]) -> T:
        """Read like `read`, on a connection of its own, so that no other statement waits for it.

        For statements whose time grows with all that a user has stored.
        """
        ...

    def stream(self, sql: str) -> AsyncIterator[Row]:
        """Yield the rows of a SELECT as they are read."""
        ...

    async def write(self, begin: Callable[[], Steps[T]], about: Sequence[Subject]) -> T:
        """Run the statements of `begin()` in one transaction: all take effect, or none if it raises.

        The engine may call `begin` again: after a conflict with another transaction, or on a new connection.
        """
        ...

    async def wait_for_write(self, seconds: float) -> bool:
        """Wait until something was changed through this object, and return True; False after so many
        seconds. Changes of other programs are not noticed."""
        ...

    async def size(self) -> int:
        """Return the bytes on the disk, the WAL included."""
        ...

    async def scrub(self, *, vacuum: bool) -> ScrubOutcome:
        """Remove what was deleted from the WAL; with `vacuum`, also from unused pages. Readers go on
        meanwhile, writers wait. A server does both by itself."""
        ...

    def begin_shutdown(self) -> None:
        """Shorten all timeouts of a server to one second. Called at shutdown."""
        ...

    async def close(self) -> None: ...
