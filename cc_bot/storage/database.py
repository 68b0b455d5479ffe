"""Database interface: stores use it, each engine implements it.

It is narrow because every awaited call is a trip to another thread or machine; a read is one trip, and so is
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
"""In the order of the SELECT or RETURNING list."""


@dataclass(frozen=True, slots=True)
class Statement:
    """SQL with parameters `$1`, `$2`, …"""

    sql: str
    params: tuple[Any, ...] = ()

    def as_steps(self) -> "Steps[Sequence[Row]]":
        """Return a transaction of this statement, which returns its rows."""
        return (yield self)


ScrubOutcome = Literal["done", "busy", "no_room"]
"""`busy`: another program reads or writes. `no_room`: VACUUM needs more disk space."""

T = TypeVar("T")

Steps = Generator[Statement, Sequence[Row], T]
"""A transaction as a generator: yields a Statement, receives its rows, returns the result. It can't await, so
nothing slow runs while the transaction is open."""


class Subject(NamedTuple):
    """A lock key: writes with the same key run one at a time, in the order of the calls."""

    kind: Literal["user", "channel", "guild", "everybody", "processes"]
    id: int = 0


MAINTENANCE_LOCK: Final = Subject("everybody")
PROCESSES: Final = Subject("processes")
"""For process heartbeats and duties. No slow write may use this key."""


def user(id_: int) -> Subject:
    return Subject("user", id_)


def channel(id_: int) -> Subject:
    """A channel or a thread."""
    return Subject("channel", id_)


def guild(id_: int) -> Subject:
    return Subject("guild", id_)


def storable(value: Any) -> Any:
    """Remove NUL from a text parameter, and lone surrogates, which models produce by cutting an emoji."""
    if isinstance(value, str):
        if "\0" in value:
            value = value.replace("\0", "")
        return value if value.isascii() else value.encode("utf-8", "replace").decode()
    return value


class Trouble(NamedTuple):
    """An engine's error, for the operator."""

    kind: type[StorageError]
    reason: str
    """The engine's name for it."""
    fixed_by: str = ""
    """The operator's remedy. If empty, the statement is wrong, and the error is not logged."""


class Engine:
    """Base class of the engines' databases. Each kind of error is logged once until the next success, without
    the engine's message, which may quote users."""

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
        def steps() -> Steps[list[Sequence[Row]]]:
            found = []
            for statement in statements:
                found.append((yield statement))
            return found

        return await self.write(steps, about)

    async def wait_for_write(self, seconds: float) -> bool:
        with suppress(TimeoutError):
            async with asyncio.timeout(seconds):
                return await self._written.wait()
        return False

    def begin_shutdown(self) -> None:
        """A file has no timeouts to shorten."""

    def _note_write(self) -> None:
        self._written.set()
        self._written = asyncio.Event()

    def _translate(self, error: BaseException) -> StorageError:
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
        """Return whether this error occurred since the last success."""
        return any(trouble.kind is kind for trouble in self._reported)

    def _note_success(self) -> None:
        if self._reported:
            self._reported.clear()
            _log.info("database_works_again", path=self.location)


class Database(Protocol):
    """A connection. Engine errors are raised as StorageError."""

    @property
    def dialect(self) -> Dialect: ...

    location: str
    """The operator's name for this database, without credentials."""

    async def query(self, sql: str, *params: Any) -> Sequence[Row]:
        """Return the rows of one read statement."""
        ...

    async def transaction(
        self, statements: Sequence[Statement], about: Sequence[Subject]
    ) -> list[Sequence[Row]]:
        """Run the statements in one transaction, and return the rows of each. See `write`."""
        ...

    async def read(self, begin: Callable[[], Steps[T]]) -> T:
        """Run the read statements of `begin()` on one snapshot."""
        ...

    async def read_long(self, begin: Callable[[], Steps[T]]) -> T:
        """Like `read`, on its own connection, for statements whose time grows with the user's data."""
        ...

    def stream(self, sql: str) -> AsyncIterator[Row]:
        """Yield the rows of a SELECT as they are read."""
        ...

    async def write(self, begin: Callable[[], Steps[T]], about: Sequence[Subject]) -> T:
        """Run the statements of `begin()` in one transaction, rolled back if it raises. It finishes even if
        the caller is cancelled. `begin` may be called again: after a conflict, or on a new connection."""
        ...

    async def wait_for_write(self, seconds: float) -> bool:
        """Wait for a change made through this object. Returns False after the timeout."""
        ...

    async def size(self) -> int:
        """Return the bytes on disk, including the WAL."""
        ...

    async def scrub(self, *, vacuum: bool) -> ScrubOutcome:
        """Remove deleted data from the WAL and, with `vacuum`, from unused pages. Readers continue, writers
        wait. A server does both by itself."""
        ...

    def begin_shutdown(self) -> None:
        """Shorten a server's timeouts to one second."""
        ...

    async def close(self) -> None: ...
