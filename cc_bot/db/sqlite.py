"""The SQLite implementation of Database.

A transaction is one function that runs on aiosqlite's thread, so a cancelled task can't leave it open.
"""

import asyncio
import os
import re
import sqlite3
import time
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager, closing, suppress
from errno import EDQUOT, ENOSPC
from functools import lru_cache, partial
from pathlib import Path
from typing import Any, Final, Literal, TypeVar

import aiosqlite

from cc_bot.db.database import (
    Database,
    Diagnosis,
    Dialect,
    LockKey,
    Row,
    ScrubOutcome,
    Transaction,
    expand,
    sanitize,
)
from cc_bot.db.erasure_log import ErasureLog
from cc_bot.db.files import MARGIN_BYTES, ensure_folder, free_bytes, sidecar
from cc_bot.domain.errors import (
    DatabaseDamaged,
    DatabaseFull,
    DatabaseLocked,
    DatabaseReadOnly,
    DatabaseUnusable,
    SqliteTooOld,
    StorageError,
)

Synchronous = Literal["NORMAL", "FULL"]  # with NORMAL, a power cut may lose the last turns

_CACHE_KIB: Final = 16 * 1024
_CACHED_STATEMENTS: Final = 512  # more than the program has: each is prepared once


def open_file(path: Path, synchronous: Synchronous, timeout_s: float) -> sqlite3.Connection:
    """Open or create the file, and make it private. Raises sqlite3.Error (another program's file included),
    OSError, UnicodeError, DatabaseFolderMissing, or DatabaseDamaged if the file was emptied."""
    ensure_folder(path)
    if path.exists() and not path.stat().st_size and ErasureLog.beside(path).path.exists():
        raise DatabaseDamaged
    # Mode 0600 also applies to -wal and -shm.
    os.close(os.open(path, os.O_RDWR | os.O_CREAT, 0o600))
    connection = connect_existing(path, "rw", timeout_s)
    try:
        _ensure_own_tables(connection)
        for file in (path, sidecar(path, "-wal"), sidecar(path, "-shm")):
            with suppress(FileNotFoundError):  # the last program to close the database deletes the WAL
                if file.stat().st_mode & 0o077:
                    file.chmod(0o600)
        _use_wal(connection, timeout_s)
        connection.execute(f"PRAGMA synchronous = {synchronous}")
        connection.execute("PRAGMA foreign_keys = ON")
        connection.execute(f"PRAGMA cache_size = -{_CACHE_KIB}")
        connection.execute("PRAGMA secure_delete = ON")  # overwrites deleted data
        connection.execute("PRAGMA busy_timeout = 0")  # _retry waits instead: SQLite would block the thread
    except BaseException:
        connection.close()
        raise
    return connection


def connect_existing(
    path: Path, mode: Literal["ro", "rw"] = "ro", timeout_s: float = 5.0
) -> sqlite3.Connection:
    """Connect in autocommit mode, for any thread. Raises sqlite3.Error, also for a missing file."""
    uri = f"{path.absolute().as_uri()}?mode={mode}"  # quotes ? and # in the name
    connection = sqlite3.connect(
        uri,
        timeout_s,
        uri=True,
        isolation_level=None,
        check_same_thread=False,
        cached_statements=_CACHED_STATEMENTS,
    )
    # With mmap, a truncated file would kill the process (SIGBUS).
    connection.execute("PRAGMA mmap_size = 0").fetchall()
    return connection


def size_of(path: Path) -> int:
    """Return the bytes of the file and its WAL. Raises OSError."""
    size = path.stat().st_size
    with suppress(OSError):
        size += sidecar(path, "-wal").stat().st_size
    return size


def _identity(path: str) -> tuple[int, int] | None:
    try:
        status = os.stat(path)  # noqa: PTH116 - for each write: Path takes twice as long
    except FileNotFoundError:
        return None
    return status.st_dev, status.st_ino


def _ensure_own_tables(connection: sqlite3.Connection) -> None:
    """Raises sqlite3.DatabaseError if the tables are another program's."""
    tables = {name for (name,) in connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'")}
    if tables and "schema_migrations" not in tables:
        raise sqlite3.DatabaseError("the tables are not cc-bot's")


def _use_wal(connection: sqlite3.Connection, timeout_s: float) -> None:
    """Switch to the WAL. Retries, as SQLite's own timeout does not apply here."""
    deadline = time.monotonic() + timeout_s
    while True:
        try:
            connection.execute("PRAGMA journal_mode = WAL").fetchone()
        except sqlite3.OperationalError as error:
            if code_of(error) != sqlite3.SQLITE_BUSY or time.monotonic() > deadline:
                raise
            time.sleep(0.01)
        else:
            return


_IO_REMEDY: Final = "check the disk; the system's log may tell more"
_TROUBLES: Final[dict[int, tuple[type[StorageError], str]]] = {
    sqlite3.SQLITE_BUSY: (DatabaseLocked, "end the other program that writes to it"),
    sqlite3.SQLITE_LOCKED: (DatabaseLocked, "end the other program that writes to it"),
    sqlite3.SQLITE_FULL: (DatabaseFull, "make room on its disk; nothing that was committed is lost"),
    sqlite3.SQLITE_READONLY: (DatabaseReadOnly, "let the bot write to the file and to its folder"),
    sqlite3.SQLITE_CORRUPT: (DatabaseDamaged, "stop the bot, then run: cc-bot restore BACKUP"),
    sqlite3.SQLITE_NOTADB: (DatabaseDamaged, "stop the bot, then run: cc-bot restore BACKUP"),
    sqlite3.SQLITE_IOERR: (StorageError, _IO_REMEDY),
    sqlite3.SQLITE_CANTOPEN: (StorageError, _IO_REMEDY),
    sqlite3.SQLITE_NOMEM: (StorageError, _IO_REMEDY),
}
_MOVED_REMEDY: Final = "put the file back, or start the bot again with the one that is there now"


class FileMoved(Exception):
    """The file was deleted or replaced while open, which SQLite does not notice with a WAL."""


def code_of(error: BaseException) -> int:
    """SQLite's primary result code; 0 for other errors."""
    return int(getattr(error, "sqlite_errorcode", 0)) & 0xFF


def classify(error: BaseException) -> Diagnosis:
    reason = str(getattr(error, "sqlite_errorname", type(error).__name__))
    if isinstance(error, FileMoved):
        return Diagnosis(DatabaseReadOnly, reason, _MOVED_REMEDY)
    full = isinstance(error, OSError) and error.errno in (ENOSPC, EDQUOT)
    kind, remedy = _TROUBLES.get(sqlite3.SQLITE_FULL if full else code_of(error), (StorageError, ""))
    return Diagnosis(kind, reason, remedy)


T = TypeVar("T")

SQLITE_VERSION: Final = sqlite3.sqlite_version
_OLDEST_VERSION: Final = (3, 35, 0)  # the first with RETURNING
TIMEOUT_S: Final = 30.0  # for writes: longer than a VACUUM of some gigabytes
_FAST_FAIL_TIMEOUT_S: Final = 1.0  # for writes after one has timed out
_PAUSE_S: Final = 0.05  # between attempts; meanwhile readers can use the thread
_STREAMED_ROWS: Final = 20  # at most this many per fetch, as a row may hold megabytes
_IN_MEMORY_BYTES: Final = 2**24  # VACUUM of a smaller file works in memory


class SqliteDatabase(Database):
    """Ignores lock keys, as only one connection can write to a file."""

    dialect: Dialect = "sqlite"

    def __init__(self, path: Path, connection: "_Connection", timeout_s: float) -> None:
        super().__init__(str(path), classify)
        self.path = path
        self._connection = connection
        self._timeout_s = timeout_s
        self._long_read_lock = asyncio.Lock()
        self._retries = set[asyncio.Task[Any]]()
        self._identity = _identity(self.location)

    async def query(self, sql: str, *params: Any) -> Sequence[Row]:
        return await self._run(lambda connection: _fetch(connection, _expand_sql(sql), params))

    async def read(self, steps: Callable[[], Transaction[T]]) -> T:
        return await self._run(lambda connection: _run_steps(connection, "BEGIN", steps))

    async def read_long(self, steps: Callable[[], Transaction[T]]) -> T:
        async with self._long_read_lock:  # one at a time, as threads are few
            try:
                with closing(connect_existing(self.path)) as connection:
                    return await _run_in_thread(lambda each: _run_steps(each, "BEGIN", steps), connection)
            except _DRIVER_ERRORS as error:
                raise self._translate(error) from error

    async def stream(self, sql: str) -> AsyncIterator[Row]:
        cursor = await self._run(lambda connection: connection.execute(_expand_sql(sql)))
        while rows := await self._run(lambda _: cursor.fetchmany(_STREAMED_ROWS)):
            for row in rows:
                yield row

    async def write(self, steps: Callable[[], Transaction[T]], lock_keys: Sequence[LockKey]) -> T:  # noqa: ARG002
        def run(connection: sqlite3.Connection) -> tuple[T, bool]:
            if _identity(self.location) != self._identity:
                raise FileMoved
            before = connection.total_changes
            result = _run_steps(connection, "BEGIN IMMEDIATE", steps)
            return result, connection.total_changes > before

        timeout_s = self._timeout_s
        if self._is_known_trouble(DatabaseLocked):  # otherwise waits would add up
            timeout_s = min(timeout_s, _FAST_FAIL_TIMEOUT_S)
        result, changed = await self._run(run, timeout_s)
        if changed:
            self._note_success()
            self._note_write()
        return result

    async def size(self) -> int:
        try:
            return await asyncio.to_thread(size_of, self.path)
        except OSError as error:
            raise StorageError from error

    async def scrub(self, *, vacuum: bool) -> ScrubOutcome:
        """VACUUM removes copies of deleted rows, which SQLite makes when it splits pages."""
        outcome: ScrubOutcome = "done"
        if vacuum:
            try:
                with closing(connect_existing(self.path, "rw")) as connection:
                    outcome = await _run_in_thread(partial(_vacuum, path=self.path), connection)
            except (sqlite3.Error, OSError) as error:
                raise self._translate(error) from error
        return outcome if outcome != "busy" and await self._run(_checkpoint) else "busy"

    async def close(self) -> None:
        await asyncio.gather(*self._retries, return_exceptions=True)
        await self._connection.close()

    async def _run(self, job: Callable[[sqlite3.Connection], T], timeout_s: float | None = None) -> T:
        until_s = time.monotonic() + (self._timeout_s if timeout_s is None else timeout_s)
        try:
            try:
                return await self._connection.run(job)
            except sqlite3.OperationalError as error:
                if code_of(error) != sqlite3.SQLITE_BUSY:
                    raise
            # Finishes even if the caller is cancelled.
            task = asyncio.create_task(self._retry(job, until_s))
            self._retries.add(task)
            task.add_done_callback(self._retries.discard)
            return await asyncio.shield(task)
        except _DRIVER_ERRORS as error:
            raise self._translate(error) from error

    async def _retry(self, job: Callable[[sqlite3.Connection], T], until_s: float) -> T:
        while True:
            await asyncio.sleep(_PAUSE_S)
            try:
                return await self._connection.run(job)
            except sqlite3.OperationalError as error:
                if code_of(error) != sqlite3.SQLITE_BUSY or time.monotonic() > until_s:
                    raise


_DRIVER_ERRORS: Final = (sqlite3.Error, OSError, FileMoved, OverflowError, ValueError)
"""OverflowError: an integer above 64 bits. ValueError: the connection is closed."""


async def _run_in_thread(job: Callable[[sqlite3.Connection], T], connection: sqlite3.Connection) -> T:
    task = asyncio.ensure_future(asyncio.to_thread(job, connection))
    try:
        return await asyncio.shield(task)
    except asyncio.CancelledError:
        connection.interrupt()
        await asyncio.gather(task, return_exceptions=True)
        raise


class _Connection(aiosqlite.Connection):
    async def open(self) -> None:
        """Connect. After a failure, wait for the thread to end: later it might report to a closed loop."""
        try:
            await self
        except BaseException:
            await asyncio.to_thread(self._thread.join)
            raise

    async def run(self, job: Callable[[sqlite3.Connection], T]) -> T:
        """Run a job on the thread. User text must be in its closure: aiosqlite logs a job's arguments."""
        result: T = await self._execute(job, self._conn)  # type: ignore[no-untyped-call]  # aiosqlite leaves it untyped
        return result


@asynccontextmanager
async def connect_sqlite(
    path: Path, *, synchronous: Synchronous = "NORMAL", timeout_s: float = TIMEOUT_S, read_only: bool = False
) -> AsyncIterator[SqliteDatabase]:
    """Raises DatabaseFolderMissing, DatabaseUnusable, SqliteTooOld, or another StorageError."""
    if sqlite3.sqlite_version_info < _OLDEST_VERSION:
        raise SqliteTooOld(found=SQLITE_VERSION, needed=".".join(map(str, _OLDEST_VERSION)))
    connect = (
        partial(_open_read_only, path) if read_only else partial(open_file, path, synchronous, timeout_s)
    )
    connection = _Connection(connect, iter_chunk_size=64)
    try:
        await connection.open()
    except (OSError, sqlite3.Error, UnicodeError) as error:
        is_no_database = code_of(error) == sqlite3.SQLITE_NOTADB
        kind = classify(error).kind
        if is_no_database or kind in (StorageError, DatabaseReadOnly):
            raise DatabaseUnusable(path=str(path)) from error
        raise kind() from error
    database = SqliteDatabase(path, connection, timeout_s)
    try:
        yield database
    finally:
        await database.close()


def _open_read_only(path: Path) -> sqlite3.Connection:
    connection = connect_existing(path)
    try:
        # One text of invalid UTF-8 must not make the others unreadable.
        connection.text_factory = lambda data: data.decode("utf-8", "surrogateescape")
        connection.execute("BEGIN")
        _ensure_own_tables(connection)  # the first read begins the snapshot
    except BaseException:
        connection.close()
        raise
    return connection


def _checkpoint(connection: sqlite3.Connection) -> bool:
    """Empty the WAL. Returns False if another program uses it."""
    try:
        [(busy, *_)] = connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()
    except sqlite3.OperationalError as error:
        if code_of(error) != sqlite3.SQLITE_BUSY:
            raise
        return False
    return not busy


def _vacuum(connection: sqlite3.Connection, path: Path) -> ScrubOutcome:
    """Needs twice the file's size: a temporary file, and the WAL."""
    size = path.stat().st_size
    if free_bytes(path.absolute().parent) < 2 * size + MARGIN_BYTES:
        return "no_room"
    connection.execute(f"PRAGMA temp_store = {'MEMORY' if size <= _IN_MEMORY_BYTES else 'FILE'}")
    try:
        connection.execute("VACUUM")
    except sqlite3.OperationalError as error:
        if code_of(error) == sqlite3.SQLITE_FULL:
            return "no_room"
        if code_of(error) not in (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED, sqlite3.SQLITE_INTERRUPT):
            raise
        return "busy"
    return "done"


@lru_cache(maxsize=2048)
def _expand_sql(sql: str) -> str:
    return re.sub(r"\$(\d+)", r"?\1", expand(sql, "sqlite"))


def _fetch(connection: sqlite3.Connection, sql: str, params: tuple[Any, ...]) -> Sequence[Row]:
    if any(isinstance(each, str) and "\0" in each for each in params):
        params = tuple(map(sanitize, params))
    try:
        return connection.execute(sql, params).fetchall()
    except UnicodeEncodeError:
        return connection.execute(sql, tuple(map(sanitize, params))).fetchall()


def _run_steps(connection: sqlite3.Connection, begin_sql: str, steps: Callable[[], Transaction[T]]) -> T:
    connection.execute(begin_sql)
    try:
        with closing(steps()) as transaction:
            try:
                statement = next(transaction)
                while True:
                    rows = _fetch(connection, _expand_sql(statement.sql), statement.params)
                    statement = transaction.send(rows)
            except StopIteration as end:
                result: T = end.value
        connection.execute("COMMIT")
    except BaseException:
        if connection.in_transaction:
            connection.execute("ROLLBACK")
        raise
    return result
