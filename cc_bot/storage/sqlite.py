"""SQLite behind the Database protocol: the only module that knows aiosqlite.

aiosqlite keeps the connection on a thread of its own and makes each awaited call a trip there. A
transaction through its public calls is a trip per statement, four times the cost of the SQL itself, and a
task cancelled between two of them leaves the transaction open. Here a batch is one function that runs on
that thread from BEGIN to COMMIT, so it is one trip and nothing can come between.
"""

import asyncio
import os
import re
import sqlite3
import time
from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from contextlib import asynccontextmanager, closing, contextmanager, suppress
from functools import lru_cache
from pathlib import Path
from typing import Any, Final, Literal, TypeVar

import aiosqlite

from cc_bot.domain.errors import DatabaseUnusable, SqliteTooOld, StorageError
from cc_bot.storage import backup
from cc_bot.storage.database import Dialect, Row, Statement, Steps, Usage
from cc_bot.storage.location import need_folder
from cc_bot.storage.rewriting import Rewriting, connect_to_rewrite, rewrite

Synchronous = Literal["NORMAL", "FULL"]
"""NORMAL survives every crash of the process, but a power cut may take the last turns; FULL survives both."""

T = TypeVar("T")

_OLDEST: Final = (3, 35, 0)  # the first with RETURNING
_BUSY_TIMEOUT_S: Final = 30.0
"""Longer than it takes another program to write a file of some gigabytes anew."""
_MAPPED_BYTES: Final = 2**25
"""How much of the file is read as if it were memory: all of a usual one, without a call of the system for
each page. What it takes is the system's own cache and is given back when others need it, yet it counts as
the program's memory until then; a larger file is read as usual beyond this."""


class SqliteDatabase:
    """One SQLite file. Made by `connect_sqlite`."""

    dialect: Final[Dialect] = "sqlite"

    def __init__(self, path: Path, connection: "_Connection") -> None:
        self.path = path
        self._connection = connection
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

        return await self._run(run)

    async def read(self, begin: Callable[[], Steps[T]]) -> T:
        return await self._run(lambda connection: _run_steps(connection, "BEGIN", begin))

    async def write(self, begin: Callable[[], Steps[T]]) -> T:
        await self._writable.wait()
        return await self._run(lambda connection: _run_steps(connection, "BEGIN IMMEDIATE", begin))

    async def preserve(self, version: int) -> None:
        await asyncio.to_thread(backup.preserve, self.path, version)

    async def checkpoint(self) -> bool:
        return await self._run(_checkpoint)

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
            raise StorageError from error
        finally:
            self._writable.set()

    async def close(self) -> None:
        await self._connection.close()

    async def _run(self, job: Callable[[sqlite3.Connection], T]) -> T:
        try:
            return await self._connection.run(job)
        except (sqlite3.Error, OverflowError, ValueError) as error:
            # OverflowError: an integer past 64 bits. ValueError: the connection is closed.
            raise StorageError from error


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
async def connect_sqlite(path: Path, *, synchronous: Synchronous = "NORMAL") -> AsyncIterator[SqliteDatabase]:
    """The database in this file, which is made when missing, with mode 0600.

    Raises DatabaseFolderMissing (only the default's folder is made: a typing error must not start an empty
    database), DatabaseUnusable or SqliteTooOld.
    """
    if sqlite3.sqlite_version_info < _OLDEST:
        raise SqliteTooOld(found=sqlite3.sqlite_version, needed=".".join(map(str, _OLDEST)))
    connection = _Connection(lambda: _open(path, synchronous), iter_chunk_size=64)
    try:
        await connection.open()
    except (OSError, sqlite3.Error, UnicodeError) as error:
        raise DatabaseUnusable(path=str(path)) from error
    database = SqliteDatabase(path, connection)
    try:
        yield database
    finally:
        await database.close()


def _open(path: Path, synchronous: Synchronous) -> sqlite3.Connection:
    _make_private(path)
    # Absolute, so that no file name is taken for one of SQLite's special ones such as `:memory:`. The
    # thread that uses the connection is aiosqlite's; autocommit, because transactions are begun by hand.
    connection = sqlite3.connect(path.absolute(), timeout=_BUSY_TIMEOUT_S, isolation_level=None)
    try:
        _refuse_foreign(connection)
        _set_pragmas(connection, synchronous)
    except BaseException:
        connection.close()
        raise
    return connection


def _make_private(path: Path) -> None:
    """Make the file with mode 0600 before SQLite makes it with the umask's; -wal and -shm follow its mode."""
    need_folder(path)
    os.close(os.open(path, os.O_RDWR | os.O_CREAT, 0o600))
    for file in (path, path.with_name(path.name + "-wal"), path.with_name(path.name + "-shm")):
        with suppress(FileNotFoundError):  # the last program to close the file takes the other two away
            if file.stat().st_mode & 0o077:
                file.chmod(0o600)


def _refuse_foreign(connection: sqlite3.Connection) -> None:
    """A database of another program must not get our tables.

    cc-bot makes schema_migrations before all else.
    """
    tables = {name for (name,) in connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'")}
    if tables and "schema_migrations" not in tables:
        raise sqlite3.DatabaseError("the tables are not cc-bot's")


def _set_pragmas(connection: sqlite3.Connection, synchronous: Synchronous) -> None:
    _use_wal(connection)
    connection.execute(f"PRAGMA synchronous = {synchronous}")
    connection.execute("PRAGMA foreign_keys = ON")
    connection.execute(f"PRAGMA mmap_size = {_MAPPED_BYTES}").fetchall()
    connection.execute("PRAGMA secure_delete = ON")  # what people delete is overwritten in the file, too


def _use_wal(connection: sqlite3.Connection) -> None:
    """Readers and the writer don't wait for each other in this mode, which the file keeps.

    The change to it is the one lock that busy_timeout does not wait for, and two programs that start on a
    new file both want it.
    """
    deadline = time.monotonic() + _BUSY_TIMEOUT_S
    while True:
        try:
            connection.execute("PRAGMA journal_mode = WAL").fetchone()
        except sqlite3.OperationalError as error:
            if error.sqlite_errorcode & 0xFF != sqlite3.SQLITE_BUSY or time.monotonic() > deadline:
                raise
            time.sleep(0.01)
        else:
            return


def _checkpoint(connection: sqlite3.Connection) -> bool:
    """Whether the log was written back to its end and cut to nothing.

    It waits for nobody: whoever reads may do so for long, and all other work of the connection would wait.
    """
    connection.execute("PRAGMA busy_timeout = 0")
    try:
        [(busy, *_)] = connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()
    except sqlite3.OperationalError as error:
        if error.sqlite_errorcode & 0xFF != sqlite3.SQLITE_BUSY:
            raise
        return False
    finally:
        connection.execute(f"PRAGMA busy_timeout = {round(_BUSY_TIMEOUT_S * 1000)}")
    return not busy


def _usage(path: Path) -> Usage:
    log = path.with_name(path.name + "-wal")
    written = [file.stat().st_mtime for file in (path, log) if file.exists()]
    return Usage(bytes=path.stat().st_size, quiet_s=time.time() - max(written))


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
