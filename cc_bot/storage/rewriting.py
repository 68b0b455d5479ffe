"""VACUUM: rewrites a SQLite file, so that unused pages keep no deleted text.

What is deleted is overwritten (secure_delete) where it stands. But when SQLite splits a page, it leaves the
rows that it moves to another one in the unused part of the first. VACUUM writes every page again. It runs on
a connection of its own: readers go on, writers wait.

It needs the file's size twice: in a temporary file, and in the WAL until a checkpoint.
"""

import shutil
import sqlite3
from collections.abc import Callable
from pathlib import Path
from typing import Final, Literal

from cc_bot.domain.errors import NotEnoughRoom
from cc_bot.domain.text import format_size

Rewriting = Literal["done", "busy", "no_room"]

_IN_MEMORY_BYTES: Final = 2**24
"""The temporary file of a database of this size is held in memory."""
_BUSY_TIMEOUT_S: Final = 5.0

_TRY_AGAIN: Final = frozenset({sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED, sqlite3.SQLITE_INTERRUPT})


def free_bytes(folder: Path) -> int:
    """Return how much can be written there."""
    return shutil.disk_usage(folder).free


def connect_to_rewrite(path: Path) -> sqlite3.Connection:
    """A connection for `rewrite`, which may run on another thread. Raises sqlite3.Error."""
    return sqlite3.connect(
        path.absolute(), timeout=_BUSY_TIMEOUT_S, isolation_level=None, check_same_thread=False
    )


def rewrite(
    connection: sqlite3.Connection, path: Path, *, free: Callable[[Path], int] = free_bytes
) -> Rewriting:
    """Run VACUUM; it takes some ten seconds for a gigabyte.

    Nothing is changed when another program is writing, when it is interrupted, or where there is not enough
    room on the disk. Raises sqlite3.Error.
    """
    size = path.stat().st_size
    if free(path.absolute().parent) < 2 * size + _MARGIN_BYTES:
        return "no_room"
    connection.execute(f"PRAGMA temp_store = {'MEMORY' if size <= _IN_MEMORY_BYTES else 'FILE'}")
    try:
        connection.execute("VACUUM")
    except sqlite3.OperationalError as error:
        code = error.sqlite_errorcode & 0xFF
        if code == sqlite3.SQLITE_FULL:
            return "no_room"
        if code not in _TRY_AGAIN:
            raise
        return "busy"
    return "done"


# ---- room ------------------------------------------------------------------------------------------------
# Room on the disk, looked for before a file is written: a full disk stops the bot as well.

_MARGIN_BYTES: Final = 2**24
"""What stays free for the bot, which goes on writing meanwhile."""


def ensure_free_space(folder: Path, size: int, *, free: Callable[[Path], int] = free_bytes) -> None:
    """See that so many bytes can be written and some are left. Raises NotEnoughRoom or OSError."""
    found, needed = free(folder), size + _MARGIN_BYTES
    if found < needed:
        raise NotEnoughRoom(path=str(folder), needed=format_size(needed), free=format_size(found))
