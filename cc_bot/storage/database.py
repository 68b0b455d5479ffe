"""The seam to the database: a connection that runs SQL, and nothing about what the SQL is for.

Each store is written once over this protocol, and each engine is one file behind it. The seam is this low
because a class per store per engine ages into copies that differ. It is this narrow because every awaited
call is a trip to another thread or machine: a read is one trip, and so is a whole transaction.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal, Protocol

Row = Sequence[Any]
"""The columns of one row, in the order of the SELECT or RETURNING list."""

Dialect = Literal["sqlite"]
"""Which SQL is spoken, for the few statements that can't be written in what all engines share."""


@dataclass(frozen=True, slots=True)
class Statement:
    """SQL with `$1`, `$2`, … for its parameters, and the parameters."""

    sql: str
    params: tuple[Any, ...] = ()


class Database(Protocol):
    """A connection. Whatever the engine raises arrives as a StorageError."""

    @property
    def dialect(self) -> Dialect: ...

    @property
    def location(self) -> str:
        """How the operator knows this database; without credentials, so that it can be shown."""
        ...

    async def query(self, sql: str, *params: Any) -> Sequence[Row]:
        """The rows of one reading statement."""
        ...

    async def transaction(self, statements: Sequence[Statement]) -> list[Sequence[Row]]:
        """Run the statements in one transaction: all of them take effect or none.

        The rows of each statement are returned (SELECT, RETURNING), in order. A batch that was handed over
        runs to its end: cancelling the caller changes who hears of it, never how much of it is done.
        """
        ...

    async def preserve(self, version: int) -> None:
        """Keep a copy as it is before the schema becomes `version`.

        An engine whose backups are its operator's own affair does nothing.
        """
        ...

    async def close(self) -> None: ...
