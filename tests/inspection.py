import asyncio
import re
import sqlite3
from collections.abc import Awaitable, Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from dataclasses import dataclass
from itertools import count
from pathlib import Path
from typing import Any, Final, TypeVar

import asyncpg

from cc_bot.db.engines import dialect_of

T = TypeVar("T")

Rows = list[tuple[Any, ...]]
UNREADABLE: Final = (sqlite3.DatabaseError, asyncpg.PostgresError)

_INDEXES: Final = """
    SELECT CAST(bt_index_check(index.indexrelid, true) AS TEXT) FROM pg_index AS index
    JOIN pg_class AS class ON class.oid = index.indexrelid
    JOIN pg_am AS method ON method.oid = class.relam AND method.amname = 'btree'
    WHERE class.relnamespace = CAST('public' AS regnamespace)
"""
_HEAPS: Final = """
    SELECT class.relname || ': ' || fault.msg FROM pg_class AS class, verify_heapam(class.oid) AS fault
    WHERE class.relkind = 'r' AND class.relnamespace = CAST('public' AS regnamespace)
"""


@dataclass(frozen=True, slots=True)
class Inspector:
    url: str

    def rows(self, sql: str, *values: object) -> Rows:
        if self._is_file:
            with closing(self._opened()) as connection:
                return connection.execute(sql, values).fetchall()
        return self._ask(lambda connection: connection.fetch(_numbered(sql), *values))

    def change(self, sql: str, *values: object) -> int:
        """Change rows, or the schema; how many rows."""
        if self._is_file:
            with closing(self._opened()) as connection, connection:
                return connection.execute(sql, values).rowcount

        async def change(connection: "asyncpg.Connection[Any]") -> int:
            statement = await connection.prepare(_numbered(sql))
            await statement.fetch(*values)
            *_, changed = (statement.get_statusmsg() or "").rpartition(" ")
            return int(changed) if changed.isdigit() else 0

        return _beside(self.url, change)

    def faults(self) -> Iterator[str]:
        if self._is_file:
            verdict = [row for (row,) in self.rows("PRAGMA integrity_check")]
            if verdict != ["ok"]:
                yield f"the database is damaged: {verdict[:3]}"
            elif broken := self.rows("PRAGMA foreign_key_check"):
                yield f"rows refer to nothing: {broken[:3]}"
            return
        self.rows("CREATE EXTENSION IF NOT EXISTS amcheck")
        if broken := self.rows(_HEAPS):
            yield f"the database is damaged: {broken[:3]}"
        self.rows(_INDEXES)

    def rewrite(self) -> None:
        """Have nothing kept but rows that there are: divided pages keep old bytes, and so do dead rows."""
        if self._is_file:
            self.rows("PRAGMA wal_checkpoint(TRUNCATE)")
            self.rows("VACUUM")
            self.rows("PRAGMA wal_checkpoint(TRUNCATE)")
        else:
            self.rows("VACUUM (FULL)")

    def held(self) -> bytes:
        """The bytes of the database in its files. (Those of a server's log are everybody's.)"""
        return b"".join(file.read_bytes() for file in self._files() if file.is_file())

    def _files(self) -> list[Path]:
        if self._is_file:
            file = self._file
            return [file, *(file.with_name(file.name + end) for end in ("-wal", "-journal"))]
        self.rows("CHECKPOINT")
        [(folder, number)] = self.rows(
            "SELECT current_setting('data_directory'), oid FROM pg_database"
            " WHERE datname = current_database()"
        )
        return [*(Path(folder) / "base" / str(number)).iterdir()]

    @property
    def _is_file(self) -> bool:
        return dialect_of(self.url) == "sqlite"

    @property
    def _file(self) -> Path:
        return Path(self.url.removeprefix("sqlite:///"))

    def _opened(self) -> sqlite3.Connection:
        return sqlite3.connect(self._file)

    def _ask(self, question: Callable[["asyncpg.Connection[Any]"], Awaitable[list[Any]]]) -> Rows:
        return [tuple(row) for row in _beside(self.url, question)]


def _numbered(sql: str) -> str:
    """The same with parameters as PostgreSQL names them."""
    numbers = count(1)
    return re.sub(r"\?", lambda _: f"${next(numbers)}", sql)


def _beside(url: str, question: Callable[["asyncpg.Connection[Any]"], Awaitable[T]]) -> T:
    """Ask in a thread of its own, where no event loop runs."""

    async def ask() -> T:
        connection = await asyncpg.connect(url)
        try:
            return await question(connection)
        finally:
            await connection.close()

    with ThreadPoolExecutor(1) as pool:
        return pool.submit(asyncio.run, ask()).result()
