"""How an SQLite file is opened: private to its user, no other program's, with the pragmas of the design."""

import os
import sqlite3
import time
from contextlib import suppress
from pathlib import Path
from typing import Final, Literal

from cc_bot.storage.location import need_folder

Synchronous = Literal["NORMAL", "FULL"]
"""NORMAL survives every crash of the process, but a power cut may take the last turns; FULL survives both."""

_CACHE_KIB: Final = 16 * 1024
"""Room for the pages of a usual file. Reading them through mmap is as fast, but then a file that somebody
cuts short, or a disk that can't be read, ends the whole program with a bus error."""


def open_file(path: Path, synchronous: Synchronous, patience_s: float) -> sqlite3.Connection:
    """Raises sqlite3.Error, OSError, UnicodeError, or DatabaseFolderMissing."""
    _make(path)
    # Absolute, so that no file name is taken for one of SQLite's special ones such as `:memory:`. The
    # thread that uses the connection is aiosqlite's; autocommit, because transactions are begun by hand.
    connection = sqlite3.connect(path.absolute(), timeout=patience_s, isolation_level=None)
    try:
        _refuse_foreign(connection)
        _make_private(path)
        _set_pragmas(connection, synchronous, patience_s)
    except BaseException:
        connection.close()
        raise
    return connection


def log_bytes_of(path: Path) -> int:
    """The size of the write-ahead log, where what is not in the file yet stands; 0 where there is none."""
    try:
        return path.with_name(path.name + "-wal").stat().st_size
    except OSError:
        return 0


def identity(path: Path) -> tuple[int, int] | None:
    """What tells this file from another with the same name; None where there is none."""
    try:
        found = path.stat()
    except FileNotFoundError:
        return None
    return found.st_dev, found.st_ino


def _make(path: Path) -> None:
    """Make the file with mode 0600 before SQLite makes it with the umask's; -wal and -shm follow its mode."""
    need_folder(path)
    os.close(os.open(path, os.O_RDWR | os.O_CREAT, 0o600))


def _make_private(path: Path) -> None:
    """Take what others may do with a file that was there already; only now is it known to be ours."""
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


def _set_pragmas(connection: sqlite3.Connection, synchronous: Synchronous, patience_s: float) -> None:
    _use_wal(connection, patience_s)
    connection.execute(f"PRAGMA synchronous = {synchronous}")
    connection.execute("PRAGMA foreign_keys = ON")
    connection.execute("PRAGMA mmap_size = 0").fetchall()
    connection.execute(f"PRAGMA cache_size = -{_CACHE_KIB}")
    connection.execute("PRAGMA secure_delete = ON")  # what people delete is overwritten in the file, too


def _use_wal(connection: sqlite3.Connection, patience_s: float) -> None:
    """Readers and the writer don't wait for each other in this mode, which the file keeps.

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
