"""What SQLite's errors mean, and how the operator is told of them.

The user who met one reads a sentence; what has to be done is up to the operator. A full disk fails every
write of every turn, so each kind of trouble is told once, with what mends it, until something can be written
again. SQLite's own messages are left out: they may quote what somebody wrote.
"""

import sqlite3
from errno import EDQUOT, ENOSPC
from typing import Final, NamedTuple

import structlog

from cc_bot.domain.errors import (
    DatabaseDamaged,
    DatabaseFull,
    DatabaseLocked,
    DatabaseReadOnly,
    StorageError,
)

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
    """What is open has its name no more: it was deleted, or another file was put in its place. Whatever is
    written now would be gone with the program. SQLite looks for that only without a write-ahead log
    (SQLITE_READONLY_DBMOVED)."""


class _Trouble(NamedTuple):
    kind: type[StorageError]
    reason: str
    """SQLite's or the system's name for it."""


def kind_of(error: BaseException) -> type[StorageError]:
    """Which of our errors stands for one of SQLite's, or of the system's while the file is opened."""
    if isinstance(error, OSError):
        return DatabaseFull if error.errno in (ENOSPC, EDQUOT) else StorageError
    if isinstance(error, FileMoved):
        return DatabaseReadOnly
    return _KINDS.get(_code_of(error), StorageError)


class Troubles:
    """What there is of one database, and what the operator knows of it."""

    def __init__(self, location: str) -> None:
        self._location = location
        self._told = set[_Trouble]()

    def met(self, error: BaseException) -> StorageError:
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
        """Whether another program held the lock for too long, and nothing got it since."""
        return any(trouble.kind is DatabaseLocked for trouble in self._told)

    def passed(self, *, written: bool) -> None:
        """A transaction got the lock, and perhaps wrote something. What is damaged stays so."""
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
