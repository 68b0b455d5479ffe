"""The seam to the database: a connection that runs SQL, and nothing about what the SQL is for.

Each store is written once over this protocol, and each engine is one file behind it. The seam is this low
because a class per store per engine ages into copies that differ. It is this narrow because every awaited
call is a trip to another thread or machine: a read is one trip, and so is a whole transaction.
"""

from collections.abc import AsyncIterator, Callable, Generator, Sequence
from dataclasses import dataclass
from typing import Any, Final, Literal, NamedTuple, Protocol, TypeVar

from cc_bot.storage.dialect import Dialect
from cc_bot.storage.rewriting import Rewriting

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


@dataclass(frozen=True, slots=True)
class DatabaseUsage:
    """The size and the load of a database, asked before something is done that takes long."""

    bytes: int
    """On the disk, without its log."""
    log_bytes: int
    quiet_s: float
    """For so many seconds nobody has written."""


T = TypeVar("T")

Steps = Generator[Statement, Sequence[Row], T]
"""Statements of which each may hang on the rows of those before: it yields one, is sent its rows, and returns
what was wanted. It awaits nothing, so that nothing slow can be done while a transaction is held."""


class Subject(NamedTuple):
    """The one that a change is about. Changes of one subject are made one after the other, in the order in
    which they were asked for; those of others need not wait for them, on an engine that has several
    writers."""

    kind: Literal["user", "channel", "guild", "everybody", "processes"]
    id: int = 0


EVERYBODY: Final = Subject("everybody")
PROCESSES: Final = Subject("processes")
"""Who lives, and who does what: nothing that takes long is about it."""


def user(id_: int) -> Subject:
    return Subject("user", id_)


def channel(id_: int) -> Subject:
    """A channel or a thread."""
    return Subject("channel", id_)


def guild(id_: int) -> Subject:
    return Subject("guild", id_)


def storable(value: Any) -> Any:
    """Return a parameter as every engine takes it: models cut emoji in half, and the half that is left has no
    UTF-8; a NUL ends a text in some."""
    if isinstance(value, str):
        if "\0" in value:
            value = value.replace("\0", "")
        return value if value.isascii() else value.encode("utf-8", "replace").decode()
    return value


class Snapshot(Protocol):
    """A state of a database, for whoever reads all of it: what is written meanwhile is not seen."""

    @property
    def dialect(self) -> Dialect: ...

    @property
    def location(self) -> str: ...

    async def query(self, sql: str, *params: Any) -> Sequence[Row]:
        """Return the rows of one reading statement. Raises StorageError."""
        ...

    def stream(self, sql: str) -> AsyncIterator[Row]:
        """Yield the rows of a SELECT as they are read. Raises StorageError."""
        ...


class Database(Protocol):
    """A connection. Whatever the engine raises arrives as a StorageError."""

    @property
    def dialect(self) -> Dialect: ...

    @property
    def location(self) -> str:
        """The name by which the operator knows this database; without credentials, so that it can be
        shown."""
        ...

    async def query(self, sql: str, *params: Any) -> Sequence[Row]:
        """Return the rows of one reading statement."""
        ...

    async def transaction(
        self, statements: Sequence[Statement], about: Sequence[Subject]
    ) -> list[Sequence[Row]]:
        """Run the statements in one transaction: all of them take effect or none.

        The rows of each statement are returned (SELECT, RETURNING), in order. A batch that was handed over
        runs to its end: cancelling the caller changes who hears of it, never how much of it is done.
        """
        ...

    async def read(self, begin: Callable[[], Steps[T]]) -> T:
        """Run the reading statements of `begin()` on one state of the database, whatever others write.

        A search reads an index, then the rows it points to. As queries of their own they would be a trip
        each, and a row that is moved in between would be seen in neither place, or in both.
        """
        ...

    async def read_long(self, begin: Callable[[], Steps[T]]) -> T:
        """Read like `read`, on a connection of its own, so that no other statement waits for it.

        For statements whose time grows with all that a user has stored: opening the connection costs a
        millisecond.
        """
        ...

    async def write(self, begin: Callable[[], Steps[T]], about: Sequence[Subject]) -> T:
        """Run the statements of `begin()` in one transaction, which nobody else writes in: all take effect,
        or none when it raises.

        It takes the function and not the generator, so that an engine that finds two transactions in each
        other's way can run one of them anew.
        """
        ...

    async def wait_for_write(self, seconds: float) -> bool:
        """Wait until something was changed through this object, and return True; False when so many seconds
        are over. What other programs change is not told."""
        ...

    async def preserve(self, version: int) -> None:
        """Keep a copy as it is before the schema becomes `version`.

        An engine whose backups are its operator's own affair does nothing.
        """
        ...

    async def checkpoint(self) -> bool:
        """Write back what the engine keeps in a log beside the database, and leave nothing in that log.

        Whether all of it is done: somebody who is reading may be in the way. An engine without such a log,
        or whose log is its operator's own affair, has nothing to do.
        """
        ...

    async def measure(self) -> DatabaseUsage:
        """Return how large it is, and whether somebody writes."""
        ...

    async def rewrite(self) -> Rewriting:
        """Write all that is stored anew, without what may be left in unused room. It is in the log then, and
        what was there before is gone once the log is written back.

        Readers go on meanwhile, writers wait. An engine that leaves nothing there, or whose files are its
        operator's own affair, has done it.
        """
        ...

    def hurry(self) -> None:
        """Wait for a server that is away no more than a moment from now on, for nothing that is under way
        either: the program ends soon. An engine without a server has nobody to wait for."""
        ...

    async def close(self) -> None: ...
