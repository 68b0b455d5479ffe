"""The rewriting of a whole SQLite file, so that nothing is left in the unused room of its pages.

What is deleted is overwritten (secure_delete) where it stands. But when SQLite divides a page, it leaves the
rows that it moves to another one in the unused part of the first, and forgets that they are there. VACUUM
writes every page anew. It runs on a connection of its own: whoever reads goes on, and whoever writes waits.

It needs the file's size twice: in a temporary file, which has no name any more once SQLite has opened it and
so is gone whatever happens, and in the write-ahead log, until that is written back.
"""

import os
import shutil
import sqlite3
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from tempfile import gettempdir
from typing import Final, Literal

from cc_bot.domain.errors import NotEnoughRoom
from cc_bot.domain.text import format_size

Rewriting = Literal["done", "busy", "no_room"]

_IN_MEMORY_BYTES: Final = 2**24
"""The copy of a file of this size is held in memory."""
_MARGIN: Final = 1.1
_USUAL_FOLDERS: Final = ("/var/tmp", "/usr/tmp", "/tmp")  # noqa: S108 - SQLite's own list
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
    """Write the file anew into its log; it takes some ten seconds for a gigabyte.

    Nothing is changed when somebody else is writing, when it is interrupted, or where there is not enough
    room on the disk. Raises sqlite3.Error.
    """
    size = path.stat().st_size
    if not _has_room(path, size, free):
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


def _has_room(path: Path, size: int, free: Callable[[Path], int]) -> bool:
    """Return whether the log, and the temporary file, which may stand on the same disk, have room."""
    folders = [path.absolute().parent, *([temporary_folder()] if size > _IN_MEMORY_BYTES else [])]
    needed = Counter(folder.stat().st_dev for folder in folders)
    return all(free(folder) >= size * needed[folder.stat().st_dev] * _MARGIN for folder in folders)


def temporary_folder() -> Path:
    """Return the folder in which SQLite most likely puts temporary files
    (https://www.sqlite.org/tempfiles.html, section 5): the one that TMPDIR names, which Python asks as well,
    or else the first of some folders."""
    named = gettempdir()
    folders = _USUAL_FOLDERS if named in _USUAL_FOLDERS else (named,)
    return Path(next((folder for folder in folders if os.access(folder, os.W_OK | os.X_OK)), named))


# ---- room ------------------------------------------------------------------------------------------------
# Room on the disk, looked for before a file is written: a full disk stops the bot as well.

_MARGIN_BYTES: Final = 2**24
"""What stays free for the bot, which goes on writing meanwhile."""


def ensure_free_space(folder: Path, size: int, *, free: Callable[[Path], int] = free_bytes) -> None:
    """See that so many bytes can be written and some are left. Raises NotEnoughRoom or OSError."""
    found, needed = free(folder), size + _MARGIN_BYTES
    if found < needed:
        raise NotEnoughRoom(path=str(folder), needed=format_size(needed), free=format_size(found))
