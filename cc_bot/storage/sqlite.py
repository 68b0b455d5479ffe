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
from errno import EDQUOT, ENOSPC
from functools import lru_cache, partial
from math import inf
from pathlib import Path
from typing import Any, Final, Literal, NamedTuple, TypeVar

import aiosqlite
import structlog

from cc_bot.domain.errors import (
    CcBotError,
    DatabaseDamaged,
    DatabaseFull,
    DatabaseLocked,
    DatabaseReadOnly,
    DatabaseUnusable,
    SqliteTooOld,
    StorageError,
)
from cc_bot.storage import backup
from cc_bot.storage.database import DatabaseUsage, Row, Statement, Steps, Subject, storable
from cc_bot.storage.dialect import Dialect, expand
from cc_bot.storage.files import ensure_folder, sidecar
from cc_bot.storage.rewriting import Rewriting, connect_to_rewrite, rewrite

# ---- sqlite file -----------------------------------------------------------------------------------------
# The opening of a file: private to its user, no other program's, with the pragmas of the design.

Synchronous = Literal["NORMAL", "FULL"]
"""NORMAL survives every crash of the process, but a power cut may take the last turns; FULL survives both."""

_CACHE_KIB: Final = 16 * 1024
"""Room for the pages of a usual file. Reading them through mmap is as fast, but then a file that somebody
cuts short, or a disk that can't be read, ends the whole program with a bus error."""


def open_file(path: Path, synchronous: Synchronous, patience_s: float) -> sqlite3.Connection:
    """Open the file. Raises sqlite3.Error, OSError, UnicodeError, or DatabaseFolderMissing."""
    _make(path)
    # Absolute, so that no file name is taken for one of SQLite's special ones such as `:memory:`. The
    # thread that uses the connection is aiosqlite's; autocommit, because transactions are begun by hand.
    connection = sqlite3.connect(path.absolute(), timeout=patience_s, isolation_level=None)
    try:
        _refuse_foreign(connection)
        _make_private(path)
        _set_pragmas(connection, synchronous, patience_s)
        _wait_for_locks(connection, _GLANCE_S)
    except BaseException:
        connection.close()
        raise
    return connection


def log_bytes_of(path: Path) -> int:
    """The size of the write-ahead log, where what is not in the file yet stands; 0 where there is none."""
    try:
        return sidecar(path, "-wal").stat().st_size
    except OSError:
        return 0


def identity(path: Path) -> tuple[int, int] | None:
    """Return what tells this file from another with the same name; None where there is none."""
    try:
        found = path.stat()
    except FileNotFoundError:
        return None
    return found.st_dev, found.st_ino


def _make(path: Path) -> None:
    """Make the file with mode 0600 before SQLite makes it with the umask's; -wal and -shm follow its mode."""
    ensure_folder(path)
    os.close(os.open(path, os.O_RDWR | os.O_CREAT, 0o600))


def _make_private(path: Path) -> None:
    """Take what others may do with a file that was there already; only now is it known to be ours."""
    for file in (path, sidecar(path, "-wal"), sidecar(path, "-shm")):
        with suppress(FileNotFoundError):  # the last program to close the file takes the other two away
            if file.stat().st_mode & 0o077:
                file.chmod(0o600)


def _refuse_foreign(connection: sqlite3.Connection) -> None:
    """Refuse a database of another program, which must not get our tables. cc-bot makes schema_migrations
    before all else."""
    tables = {name for (name,) in connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'")}
    if tables and "schema_migrations" not in tables:
        raise sqlite3.DatabaseError("the tables are not cc-bot's")


def _set_pragmas(connection: sqlite3.Connection, synchronous: Synchronous, patience_s: float) -> None:
    _use_wal(connection, patience_s)
    connection.execute(f"PRAGMA synchronous = {synchronous}")
    connection.execute("PRAGMA foreign_keys = ON")
    connection.execute("PRAGMA mmap_size = 0").fetchall()
    connection.execute(f"PRAGMA cache_size = -{_CACHE_KIB}")
    connection.execute("PRAGMA secure_delete = ON")  # what people delete is overwritten in the file, too


def _use_wal(connection: sqlite3.Connection, patience_s: float) -> None:
    """Use the write-ahead log: readers and the writer don't wait for each other in this mode, which the file
    keeps.

    The change to it is the one lock that busy_timeout does not wait for, and two programs that start on a
    new file both want it.
    """
    deadline = time.monotonic() + patience_s
    while True:
        try:
            connection.execute("PRAGMA journal_mode = WAL").fetchone()
        except sqlite3.OperationalError as error:
            if error.sqlite_errorcode & 0xFF != sqlite3.SQLITE_BUSY or time.monotonic() > deadline:
                raise
            time.sleep(0.01)
        else:
            return


# ---- trouble ---------------------------------------------------------------------------------------------
# The meaning of SQLite's errors, and how the operator is told of them.
#
# The user who met one reads a sentence; what has to be done is up to the operator. A full disk fails every
# write of every turn, so each kind of trouble is told once, with what mends it, until something can be
# written again. SQLite's own messages are left out: they may quote what somebody wrote.

_log = structlog.get_logger(__name__)

_KINDS: Final[dict[int, type[StorageError]]] = {
    sqlite3.SQLITE_BUSY: DatabaseLocked,
    sqlite3.SQLITE_LOCKED: DatabaseLocked,
    sqlite3.SQLITE_FULL: DatabaseFull,
    sqlite3.SQLITE_READONLY: DatabaseReadOnly,
    sqlite3.SQLITE_CORRUPT: DatabaseDamaged,
    sqlite3.SQLITE_NOTADB: DatabaseDamaged,
}
_OF_THE_DISK: Final = frozenset({sqlite3.SQLITE_IOERR, sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_NOMEM})

_MENDED_BY: Final[dict[type[StorageError], str]] = {
    DatabaseLocked: "end the other program that writes to it",
    DatabaseFull: "make room on its disk; nothing that was committed is lost",
    DatabaseReadOnly: "let the bot write to the file and to its folder",
    DatabaseDamaged: "stop the bot, then run: cc-bot restore BACKUP",
    StorageError: "look after the disk; the system's log may tell more",
}
_PUT_BACK: Final = "put the file back, or start the bot anew with the one that stands there now"


class FileMoved(Exception):
    """The error of an open file that has its name no more: it was deleted, or another file was put in its
    place. Whatever is written now would be gone with the program. SQLite looks for that only without a
    write-ahead log (SQLITE_READONLY_DBMOVED)."""


class _Trouble(NamedTuple):
    kind: type[StorageError]
    reason: str
    """SQLite's or the system's name for it."""


def kind_of(error: BaseException) -> type[StorageError]:
    """Return which of our errors stands for one of SQLite's, or of the system's while the file is opened."""
    if isinstance(error, OSError):
        return DatabaseFull if error.errno in (ENOSPC, EDQUOT) else StorageError
    if isinstance(error, FileMoved):
        return DatabaseReadOnly
    return _KINDS.get(_code_of(error), StorageError)


class ErrorTranslator:
    """The troubles of one database, as our errors, and what the operator knows of them."""

    def __init__(self, location: str) -> None:
        self._location = location
        self._told = set[_Trouble]()

    def translate(self, error: BaseException) -> StorageError:
        """The error to raise; a kind of trouble that the operator does not know of is told."""
        kind = kind_of(error)
        trouble = _Trouble(kind, getattr(error, "sqlite_errorname", type(error).__name__))
        if (kind is not StorageError or _code_of(error) in _OF_THE_DISK) and trouble not in self._told:
            self._told.add(trouble)
            _log.error(
                "database_trouble",
                error=kind.__name__,
                reason=trouble.reason,
                path=self._location,
                mended_by=_PUT_BACK if isinstance(error, FileMoved) else _MENDED_BY[kind],
            )
        return kind()

    @property
    def locked(self) -> bool:
        """True while another program holds the lock for too long, and nothing got it since."""
        return any(trouble.kind is DatabaseLocked for trouble in self._told)

    def note_passed(self, *, written: bool) -> None:
        """Note that a transaction got the lock, and perhaps wrote something. What is damaged stays so."""
        over = {
            trouble
            for trouble in self._told
            if trouble.kind is DatabaseLocked or (written and trouble.kind is not DatabaseDamaged)
        }
        if over:
            self._told -= over
            _log.info("database_works_again", path=self._location)


def _code_of(error: BaseException) -> int:
    """SQLite's primary result code; 0 where there is none. Source: https://www.sqlite.org/rescode.html"""
    return int(getattr(error, "sqlite_errorcode", 0)) & 0xFF


# ---- sqlite ----------------------------------------------------------------------------------------------

T = TypeVar("T")

_OLDEST: Final = (3, 37, 0)  # the first with STRICT tables
PATIENCE_S: Final = 30.0
"""How long a write waits for another program: longer than that takes to write a file of some gigabytes
anew, and so short that a user whose turn can't be stored hears of it within a minute."""
_LITTLE_PATIENCE_S: Final = 1.0
_GLANCE_S: Final = 0.05
"""For so long a job on the connection's thread waits for a lock: whoever only reads waits behind it."""
_BETWEEN_S: Final = 0.05
"""Then the thread is everybody's, before the job is tried again."""


class SqliteDatabase:
    """A database in one SQLite file. Made by `connect_sqlite`."""

    dialect: Final[Dialect] = "sqlite"

    def __init__(self, path: Path, connection: "_Connection", patience_s: float) -> None:
        self.path = path
        self._connection = connection
        self._patience_s = patience_s
        self._troubles = ErrorTranslator(str(path))
        self._line = asyncio.Lock()
        self._long_read = asyncio.Lock()
        self._waiting = set[asyncio.Task[Any]]()
        self._identity = identity(path)
        self._writable = asyncio.Event()
        self._writable.set()
        self._written = asyncio.Event()

    @property
    def location(self) -> str:
        return str(self.path)

    async def query(self, sql: str, *params: Any) -> Sequence[Row]:
        native = _native(sql)
        return await self._run(lambda connection: _rows(connection, native, params))

    # Whom a change is about is of no use here: the file has one writer.

    async def transaction(
        self,
        statements: Sequence[Statement],
        about: Sequence[Subject],  # noqa: ARG002
    ) -> list[Sequence[Row]]:
        batch = [(_native(statement.sql), statement.params) for statement in statements]
        await self._writable.wait()

        def run(connection: sqlite3.Connection) -> list[Sequence[Row]]:
            with _transaction(connection, "BEGIN IMMEDIATE"):
                return [_rows(connection, sql, params) for sql, params in batch]

        return await self._change(run)

    async def read(self, begin: Callable[[], Steps[T]]) -> T:
        return await self._run(lambda connection: _run_steps(connection, "BEGIN", begin))

    async def read_long(self, begin: Callable[[], Steps[T]]) -> T:
        def run(connection: sqlite3.Connection) -> T:
            _set_read_only(connection)
            return _run_steps(connection, "BEGIN", begin)

        async with self._long_read:  # one at a time: each takes one of the few threads that all jobs share
            try:
                with closing(_connect_to_read(self.path)) as connection:
                    return await _to_its_end(run, connection)
            except (sqlite3.Error, OSError, OverflowError, ValueError) as error:
                raise self._troubles.translate(error) from error

    async def write(self, begin: Callable[[], Steps[T]], about: Sequence[Subject]) -> T:  # noqa: ARG002
        await self._writable.wait()
        return await self._change(lambda connection: _run_steps(connection, "BEGIN IMMEDIATE", begin))

    async def wait_for_write(self, seconds: float) -> bool:
        try:
            async with asyncio.timeout(seconds):
                await self._written.wait()
        except TimeoutError:
            return False
        return True

    def hurry(self) -> None:
        """Do nothing: a file is there."""

    async def preserve(self, version: int) -> None:
        await asyncio.to_thread(backup.preserve, self.path, version)

    async def checkpoint(self) -> bool:
        return await self._run(_checkpoint)

    async def measure(self) -> DatabaseUsage:
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
                return await _to_its_end(partial(rewrite, path=self.path), connection)
            finally:
                connection.close()
        except (sqlite3.Error, OSError) as error:
            raise self._troubles.translate(error) from error
        finally:
            self._writable.set()

    async def close(self) -> None:
        await asyncio.gather(*self._waiting, return_exceptions=True)
        await self._connection.close()

    async def _change(self, job: Callable[[sqlite3.Connection], T]) -> T:
        """Run a job that waits for other programs, at most for as long as patience lasts from now on: of many
        turns that meet a locked file, each would wait for all those before it. What comes later, the other
        writes of the same turns too, waits for no more than a moment's lock. Nobody who reads waits with
        them."""
        patience_s = min(self._patience_s, _LITTLE_PATIENCE_S if self._troubles.locked else inf)
        until = time.monotonic() + patience_s

        def run(connection: sqlite3.Connection) -> tuple[T, bool]:
            if identity(self.path) != self._identity:
                raise FileMoved
            before = connection.total_changes
            return job(connection), connection.total_changes > before

        result, changed = await self._run(run, until)
        self._troubles.note_passed(written=changed)
        if changed:  # whoever waits is woken, whoever comes after that waits anew
            self._written.set()
            self._written = asyncio.Event()
        return result

    async def _run(self, job: Callable[[sqlite3.Connection], T], until: float | None = None) -> T:
        """Run a job, again and again while the file is locked, at most until then (monotonic clock)."""
        try:
            try:
                return await self._connection.run(job)
            except sqlite3.OperationalError as error:
                if _code_of(error) != sqlite3.SQLITE_BUSY:
                    raise
                busy = error
            last = time.monotonic() + self._patience_s if until is None else until
            # In a task of its own: what was handed over is done, whoever waits for it.
            task = asyncio.create_task(self._retry(job, last, busy))
            self._waiting.add(task)
            task.add_done_callback(self._waiting.discard)
            return await asyncio.shield(task)
        except (sqlite3.Error, OSError, FileMoved, OverflowError, ValueError) as error:
            # OverflowError: an integer past 64 bits. ValueError: the connection is closed.
            raise self._troubles.translate(error) from error

    async def _retry(
        self, job: Callable[[sqlite3.Connection], T], until: float, busy: sqlite3.OperationalError
    ) -> T:
        """Wait for a lock, one after the other: of many that wait, one looks now and then."""
        async with self._line:
            while time.monotonic() < until:
                await asyncio.sleep(_BETWEEN_S)
                try:
                    return await self._connection.run(job)
                except sqlite3.OperationalError as error:
                    if _code_of(error) != sqlite3.SQLITE_BUSY:
                        raise
        raise busy


async def _to_its_end(job: Callable[[sqlite3.Connection], T], connection: sqlite3.Connection) -> T:
    """Run the job and return its result. When it is cancelled, the connection is interrupted, and is free
    afterwards."""
    task = asyncio.ensure_future(asyncio.to_thread(job, connection))
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
    """Open the database in this file, which is made when missing, with mode 0600.

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


class SqliteSnapshot:
    """A transaction that only reads. It blocks the loop, so it is for a command that does nothing else."""

    dialect: Final[Dialect] = "sqlite"

    def __init__(self, path: Path, connection: sqlite3.Connection) -> None:
        self.location: Final = str(path)
        self._connection = connection
        self._troubles = ErrorTranslator(str(path))

    async def query(self, sql: str, *params: Any) -> Sequence[Row]:
        try:
            return _rows(self._connection, _native(sql), params)
        except (sqlite3.Error, OSError, OverflowError, ValueError) as error:
            raise self._troubles.translate(error) from error

    async def stream(self, sql: str) -> AsyncIterator[Row]:
        try:
            for row in self._connection.execute(_native(sql)):
                yield row
        except (sqlite3.Error, OSError, OverflowError, ValueError) as error:
            raise self._troubles.translate(error) from error


@asynccontextmanager
async def snapshot_sqlite(path: Path) -> AsyncIterator[SqliteSnapshot]:
    """Hold the state that the database in this file has now. Bytes that are no UTF-8 come as halves of
    characters, so that one such text does not keep all others from being read.

    Raises DatabaseUnusable, or a StorageError that tells why it can't be read now.
    """
    try:
        connection = _open_state(path)
    except (OSError, sqlite3.Error, UnicodeError) as error:
        raise _refusal(error, path) from error
    with closing(connection):
        yield SqliteSnapshot(path, connection)


def _open_state(path: Path) -> sqlite3.Connection:
    connection = _connect_to_read(path)
    try:
        connection.text_factory = _text
        _set_read_only(connection)
        connection.execute("BEGIN")
        connection.execute("SELECT count(*) FROM sqlite_master").fetchall()  # which is when it begins
    except BaseException:
        connection.close()
        raise
    return connection


def _connect_to_read(path: Path) -> sqlite3.Connection:
    """Connect to a file that exists, for use on any thread."""
    uri = f"{path.absolute().as_uri()}?mode=rw"
    return sqlite3.connect(uri, uri=True, isolation_level=None, check_same_thread=False)


def _set_read_only(connection: sqlite3.Connection) -> None:
    connection.execute("PRAGMA query_only = ON")
    connection.execute("PRAGMA mmap_size = 0").fetchall()


def _text(data: bytes) -> str:
    return data.decode("utf-8", "surrogateescape")


def _refusal(error: Exception, path: Path) -> CcBotError:
    """Return the error to raise. No database at all, or one that must not be written to, is the operator's
    mistake."""
    no_database = getattr(error, "sqlite_errorcode", None) == sqlite3.SQLITE_NOTADB
    kind = StorageError if no_database else kind_of(error)
    return DatabaseUnusable(path=str(path)) if kind in (StorageError, DatabaseReadOnly) else kind()


def _wait_for_locks(connection: sqlite3.Connection, seconds: float) -> None:
    connection.execute(f"PRAGMA busy_timeout = {round(seconds * 1000)}")


def _checkpoint(connection: sqlite3.Connection) -> bool:
    """Write the log back and cut it to nothing, and return whether that was done to its end.

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
        _wait_for_locks(connection, _GLANCE_S)
    return not busy


def _usage(path: Path) -> DatabaseUsage:
    log = sidecar(path, "-wal")
    written = [file.stat().st_mtime for file in (path, log) if file.exists()]
    return DatabaseUsage(path.stat().st_size, log_bytes_of(path), time.time() - max(written))


@lru_cache(maxsize=2048)
def _native(sql: str) -> str:
    return re.sub(r"\$(\d+)", r"?\1", expand(sql, "sqlite"))


def _rows(connection: sqlite3.Connection, sql: str, params: tuple[Any, ...]) -> Sequence[Row]:
    if any(isinstance(each, str) and "\0" in each for each in params):
        params = tuple(map(storable, params))
    try:
        return connection.execute(sql, params).fetchall()
    except UnicodeEncodeError:
        return connection.execute(sql, tuple(map(storable, params))).fetchall()


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
