"""Whether a file is a database of cc-bot, and whole."""

import sqlite3
from typing import Final

_DISK: Final = (sqlite3.SQLITE_FULL, sqlite3.SQLITE_IOERR)


class Damaged(Exception):
    """It can be read, but it is not what it should be."""


def is_disk_trouble(error: sqlite3.Error) -> bool:
    """Whether not the file is to blame but where it stands: full, or broken."""
    return getattr(error, "sqlite_errorcode", 0) & 0xFF in _DISK


def size_of(connection: sqlite3.Connection) -> int:
    """Of the database in bytes, what stands in its log included. Raises sqlite3.Error."""
    [(pages,)] = connection.execute("PRAGMA page_count").fetchall()
    [(page_bytes,)] = connection.execute("PRAGMA page_size").fetchall()
    return int(pages) * int(page_bytes)


def checked(connection: sqlite3.Connection) -> int:
    """The version of the schema, of a database that passes SQLite's own check.

    Raises Damaged, or sqlite3.Error, also for what is no database of cc-bot.
    """
    [(version,)] = connection.execute("SELECT max(version) FROM schema_migrations").fetchall()
    verdicts = connection.execute("PRAGMA integrity_check(1)").fetchall()
    if version is None or verdicts != [("ok",)]:
        raise Damaged
    return int(version)
