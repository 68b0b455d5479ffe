"""Examines a database file from outside without changing it, even while a bot runs."""

import sqlite3
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Final, Literal

from cc_bot.storage.files import has_folder
from cc_bot.storage.manifest import Damaged, code_of, ensure_whole
from cc_bot.storage.migrate import known_migrations, mismatch_of
from cc_bot.storage.schema import RECORDS, schema_of
from cc_bot.storage.sqlite import log_bytes_of

SQLITE: Final = sqlite3.sqlite_version
"""The version that comes with this Python."""
_BUSY_TIMEOUT_S: Final = 5.0

Condition = Literal["fine", "missing", "no_folder", "foreign", "damaged", "read_only", "locked"]
_CONDITIONS: Final[dict[int, Condition]] = {
    sqlite3.SQLITE_BUSY: "locked",
    sqlite3.SQLITE_LOCKED: "locked",
    sqlite3.SQLITE_READONLY: "read_only",
    sqlite3.SQLITE_CORRUPT: "damaged",
}


@dataclass(frozen=True, slots=True)
class Examination:
    condition: Condition
    newest: int
    """The newest schema version known to this program."""
    version: int | None = None
    """The file's schema version, if readable."""
    size_bytes: int = 0
    """Including the WAL."""
    mismatch: str = ""
    """An object that differs from the migrations."""


def examine(path: Path) -> Examination:
    """Open the file, check it, and take the write lock for a moment. Takes some seconds per gigabyte, so run
    it off the event loop."""
    newest = known_migrations()[-1].version
    if not path.exists():
        return Examination("missing" if has_folder(path) else "no_folder", newest)
    if not path.is_file():
        return Examination("foreign", newest)
    size = path.stat().st_size + log_bytes_of(path)
    try:
        # mode=rw: do not create the file. as_uri quotes ? and # in names.
        opened = sqlite3.connect(
            f"{path.absolute().as_uri()}?mode=rw", uri=True, timeout=_BUSY_TIMEOUT_S, isolation_level=None
        )
        with closing(opened) as connection:
            return _examine(connection, newest, size)
    except Damaged:
        return Examination("damaged", newest, size_bytes=size)
    except sqlite3.Error as error:
        return Examination(_CONDITIONS.get(code_of(error), "foreign"), newest, size_bytes=size)


def _examine(connection: sqlite3.Connection, newest: int, size: int) -> Examination:
    """Check for damage before locks, as it matters more. Raises Damaged, or sqlite3.Error."""
    found, version = schema_of(connection), 0
    if found and f"TABLE {RECORDS}" not in found:
        return Examination("foreign", newest, size_bytes=size)
    if found:
        [(version,)] = connection.execute("SELECT coalesce(max(version), 0) FROM schema_migrations")
    ensure_whole(connection)
    connection.execute("BEGIN IMMEDIATE")
    connection.execute("ROLLBACK")
    mismatch = mismatch_of(found, version) if 0 < version <= newest else ""
    return Examination("fine", newest, version, size, mismatch)
