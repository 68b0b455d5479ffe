"""SQLite behind the Database protocol: the only module that knows aiosqlite.

aiosqlite keeps the connection on a thread of its own and makes each awaited call a trip there. A
transaction through its public calls is a trip per statement, four times the cost of the SQL itself, and a
task cancelled between two of them leaves the transaction open. Here a batch is one function that runs on
that thread from BEGIN to COMMIT, so it is one trip and nothing can come between.
"""

import asyncio
import re
import sqlite3
import time
from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from contextlib import asynccontextmanager, closing, contextmanager
from functools import lru_cache
from math import inf
from pathlib import Path
from typing import Any, Final, TypeVar

import aiosqlite

from cc_bot.domain.errors import (
    CcBotError,
    DatabaseReadOnly,
    DatabaseUnusable,
    SqliteTooOld,
    StorageError,
)
from cc_bot.storage import backup
from cc_bot.storage.database import Dialect, Row, Statement, Steps, Usage
from cc_bot.storage.rewriting import Rewriting, connect_to_rewrite, rewrite
from cc_bot.storage.sqlite_file import Synchronous, identity, log_bytes_of, open_file
from cc_bot.storage.trouble import FileMoved, Troubles, kind_of

T = TypeVar("T")

_OLDEST: Final = (3, 35, 0)  # the first with RETURNING
PATIENCE_S: Final = 30.0
"""How long a write waits for another program: longer than that takes to write a file of some gigabytes
anew, and so short that a user whose turn can't be stored hears of it within a minute."""
_LITTLE_PATIENCE_S: Final = 1.0


class SqliteDatabase:
    """One SQLite file. Made by `connect_sqlite`."""

    dialect: Final[Dialect] = "sqlite"

    def __init__(self, path: Path, connection: "_Connection", patience_s: float) -> None:
        self.path = path
        self._connection = connection
        self._patience_s = patience_s
        self._troubles = Troubles(str(path))
        self._identity = identity(path)
        self._writable = asyncio.Event()
        self._writable.set()

    @property
    def location(self) -> str:
        return str(self.path)

    async def query(self, sql: str, *params: Any) -> Sequence[Row]:
        native = _native(sql)
        return await self._run(lambda connection: _rows(connection, native, params))

    async def transaction(self, statements: Sequence[Statement]) -> list[Sequence[Row]]:
        batch = [(_native(statement.sql), statement.params) for statement in statements]
        await self._writable.wait()

        def run(connection: sqlite3.Connection) -> list[Sequence[Row]]:
            with _transaction(connection, "BEGIN IMMEDIATE"):
                return [_rows(connection, sql, params) for sql, params in batch]

        return await self._change(run)

    async def read(self, begin: Callable[[], Steps[T]]) -> T:
        return await self._run(lambda connection: _run_steps(connection, "BEGIN", begin))

    async def write(self, begin: Callable[[], Steps[T]]) -> T:
        await self._writable.wait()
        return await self._change(lambda connection: _run_steps(connection, "BEGIN IMMEDIATE", begin))

    async def preserve(self, version: int) -> None:
        await asyncio.to_thread(backup.preserve, self.path, version)

    async def checkpoint(self) -> bool:
        return await self._run(lambda connection: _checkpoint(connection, self._patience_s))

    async def usage(self) -> Usage:
        try:
            return await asyncio.to_thread(_usage, self.path)
        except OSError as error:
            raise StorageError from error

    async def rewrite(self) -> Rewriting:
        """See storage/rewriting.py. Whoever wants to write through this object waits outside of its
        connection, so that readers find that free."""
        self._writable.clear()
        try:
            connection = connect_to_rewrite(self.path)
            try:
                return await _to_its_end(rewrite, connection, self.path)
            finally:
                connection.close()
        except (sqlite3.Error, OSError) as error:
            raise self._troubles.met(error) from error
        finally:
            self._writable.set()

    async def close(self) -> None:
        await self._connection.close()

    async def _change(self, job: Callable[[sqlite3.Connection], T]) -> T:
        """Run a job that waits for other programs, at most for as long as patience lasts from now on: of many
        turns that meet a locked file, each would wait for all those before it. What comes later, the other
        writes of the same turns too, waits for no more than a moment's lock."""
        patience_s = min(self._patience_s, _LITTLE_PATIENCE_S if self._troubles.locked else inf)
        until = time.monotonic() + patience_s

        def run(connection: sqlite3.Connection) -> tuple[T, bool]:
            if identity(self.path) != self._identity:
                raise FileMoved
            before = connection.total_changes
            with _patient_until(connection, until, self._patience_s):
                return job(connection), connection.total_changes > before

        result, changed = await self._run(run)
        self._troubles.passed(written=changed)
        return result

    async def _run(self, job: Callable[[sqlite3.Connection], T]) -> T:
        try:
            return await self._connection.run(job)
        except (sqlite3.Error, OSError, FileMoved, OverflowError, ValueError) as error:
            # OverflowError: an integer past 64 bits. ValueError: the connection is closed.
            raise self._troubles.met(error) from error


async def _to_its_end(
    job: Callable[[sqlite3.Connection, Path], T], connection: sqlite3.Connection, path: Path
) -> T:
    """What the job returns. When it is cancelled, the connection is interrupted, and is free afterwards."""
    task = asyncio.ensure_future(asyncio.to_thread(job, connection, path))
    try:
        return await asyncio.shield(task)
    except asyncio.CancelledError:
        connection.interrupt()
        await asyncio.gather(task, return_exceptions=True)
        raise


class _Connection(aiosqlite.Connection):
    async def open(self) -> None:
        """Open it, or leave nothing running: the thread might report to a loop that has closed by then."""
        try:
            await self
        except BaseException:
            await asyncio.to_thread(self._thread.join)
            raise

    async def run(self, job: Callable[[sqlite3.Connection], T]) -> T:
        """Run the whole job on the connection's thread: one trip, and nothing else in between.

        aiosqlite writes what it runs to its debug log. A job is a closure, so that the log shows a
        function's name and not the parameters, which are what people said.
        """
        result: T = await self._execute(job, self._conn)  # type: ignore[no-untyped-call]  # aiosqlite leaves it untyped
        return result


@asynccontextmanager
async def connect_sqlite(
    path: Path, *, synchronous: Synchronous = "NORMAL", patience_s: float = PATIENCE_S
) -> AsyncIterator[SqliteDatabase]:
    """The database in this file, which is made when missing, with mode 0600.

    Raises DatabaseFolderMissing (only the default's folder is made: a typing error must not start an empty
    database), DatabaseUnusable, SqliteTooOld, or a StorageError that tells why it can't be opened now.
    """
    if sqlite3.sqlite_version_info < _OLDEST:
        raise SqliteTooOld(found=sqlite3.sqlite_version, needed=".".join(map(str, _OLDEST)))
    connection = _Connection(lambda: open_file(path, synchronous, patience_s), iter_chunk_size=64)
    try:
        await connection.open()
    except (OSError, sqlite3.Error, UnicodeError) as error:
        raise _refusal(error, path) from error
    database = SqliteDatabase(path, connection, patience_s)
    try:
        yield database
    finally:
        await database.close()


def _refusal(error: Exception, path: Path) -> CcBotError:
    """What to raise. No database at all, or one that must not be written to, is the operator's mistake."""
    no_database = getattr(error, "sqlite_errorcode", None) == sqlite3.SQLITE_NOTADB
    kind = StorageError if no_database else kind_of(error)
    return DatabaseUnusable(path=str(path)) if kind in (StorageError, DatabaseReadOnly) else kind()


@contextmanager
def _patient_until(connection: sqlite3.Connection, moment_s: float, usual_s: float) -> Iterator[None]:
    """Locks are waited for until then (monotonic clock). A job whose turn comes at once pays nothing."""
    left_s = moment_s - time.monotonic()
    if left_s > usual_s * 0.99:
        yield
        return
    _wait_for_locks(connection, max(left_s, 0.0))
    try:
        yield
    finally:
        _wait_for_locks(connection, usual_s)


def _wait_for_locks(connection: sqlite3.Connection, seconds: float) -> None:
    connection.execute(f"PRAGMA busy_timeout = {round(seconds * 1000)}")


def _checkpoint(connection: sqlite3.Connection, patience_s: float) -> bool:
    """Whether the log was written back to its end and cut to nothing.

    It waits for nobody: whoever reads may do so for long, and all other work of the connection would wait.
    """
    _wait_for_locks(connection, 0)
    try:
        [(busy, *_)] = connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()
    except sqlite3.OperationalError as error:
        if error.sqlite_errorcode & 0xFF != sqlite3.SQLITE_BUSY:
            raise
        return False
    finally:
        _wait_for_locks(connection, patience_s)
    return not busy


def _usage(path: Path) -> Usage:
    log = path.with_name(path.name + "-wal")
    written = [file.stat().st_mtime for file in (path, log) if file.exists()]
    return Usage(path.stat().st_size, log_bytes_of(path), time.time() - max(written))


@lru_cache(maxsize=256)
def _native(sql: str) -> str:
    return re.sub(r"\$(\d+)", r"?\1", sql)


def _rows(connection: sqlite3.Connection, sql: str, params: tuple[Any, ...]) -> Sequence[Row]:
    try:
        return connection.execute(sql, params).fetchall()
    except UnicodeEncodeError:
        # Models cut emoji in half; the half that is left has no UTF-8.
        return connection.execute(sql, tuple(map(_encodable, params))).fetchall()


@contextmanager
def _transaction(connection: sqlite3.Connection, begin: str) -> Iterator[None]:
    connection.execute(begin)
    try:
        yield
        connection.execute("COMMIT")
    except BaseException:
        if connection.in_transaction:
            connection.execute("ROLLBACK")
        raise


def _run_steps(connection: sqlite3.Connection, mode: str, begin: Callable[[], Steps[T]]) -> T:
    with _transaction(connection, mode), closing(begin()) as steps:
        try:
            statement = next(steps)
            while True:
                statement = steps.send(_rows(connection, _native(statement.sql), statement.params))
        except StopIteration as end:
            result: T = end.value
            return result


def _encodable(value: Any) -> Any:
    return value.encode("utf-8", "replace").decode() if isinstance(value, str) else value
