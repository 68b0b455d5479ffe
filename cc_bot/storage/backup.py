"""Copies of the database, made by SQLite itself while the bot goes on writing.

A file copy of a database in use misses what stands in its write-ahead log, or catches half of a page.
SQLite's online copy sees one moment. All pages are taken in one step: a copy in steps starts over at each
write and, beside a busy writer, never ends. A copy counts once it has been opened and checked, so only then
does it get its name.
"""

import asyncio
import os
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass
from datetime import datetime
from itertools import count
from pathlib import Path

from cc_bot.domain.errors import BackupFailed, DatabaseMissing, DatabaseUnusable


@dataclass(frozen=True, slots=True)
class BackupResult:
    """A copy that was opened and checked."""

    path: Path
    schema_version: int
    size_bytes: int


async def back_up(database: Path, folder: Path, now: datetime) -> BackupResult:
    """Copy the database into the folder, which is made when missing, as `sessions_YYYYMMDD-HHMMSS.db`.

    The name tells `now` in its own time zone. A copy that is there already is never overwritten. The file's
    mode is 0600. Raises DatabaseMissing, DatabaseUnusable (the source does not pass SQLite's check) or
    BackupFailed.
    """
    return await asyncio.to_thread(_back_up, database, folder, now)


def _back_up(database: Path, folder: Path, now: datetime) -> BackupResult:
    _need(database)
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    except OSError as error:
        raise BackupFailed(path=str(folder)) from error
    return _copy(database, folder, f"sessions_{now:%Y%m%d-%H%M%S}")


def preserve(database: Path, version: int) -> BackupResult:
    """Copy the database beside itself before its schema becomes `version`: `sessions.before-v2.db`."""
    return _copy(database, database.parent, f"{database.stem}.before-v{version}")


def _copy(database: Path, folder: Path, stem: str) -> BackupResult:
    _need(database)
    try:
        partial, target = _reserve(folder, stem)
    except OSError as error:
        raise BackupFailed(path=str(folder)) from error
    try:
        version = _fill(database, partial)
        size = partial.stat().st_size
        partial.rename(target)
    except OSError as error:
        raise BackupFailed(path=str(target)) from error
    finally:
        partial.unlink(missing_ok=True)
    return BackupResult(target, version, size)


def _need(database: Path) -> None:
    if not database.is_file():
        raise DatabaseMissing(path=str(database))


def _reserve(folder: Path, stem: str) -> tuple[Path, Path]:
    """A file to write into, private from its first moment, and the free name that it gets at the end.

    The file stands for the claim to the name: two copies made in one second get different ones.
    """
    for target in _names(folder, stem):
        partial = target.with_name(f".{target.name}.partial")
        try:
            os.close(os.open(partial, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600))
        except FileExistsError:
            continue
        if not target.exists():
            return partial, target
        partial.unlink()
    raise AssertionError("names never run out")


def _names(folder: Path, stem: str) -> Iterator[Path]:
    yield folder / f"{stem}.db"
    for number in count(2):
        yield folder / f"{stem}-{number}.db"


def _fill(database: Path, partial: Path) -> int:
    """Copy, check, and return the version of the schema."""
    try:
        # mode=rw: without it SQLite would make a source that has gone missing.
        source = sqlite3.connect(f"{database.absolute().as_uri()}?mode=rw", uri=True)
        with closing(source), closing(sqlite3.connect(partial.absolute())) as copy:
            source.backup(copy, pages=-1)
            copy.execute("PRAGMA journal_mode = DELETE")  # one file, whatever opens it next
            verdicts = copy.execute("PRAGMA integrity_check(1)").fetchall()
            [(version,)] = copy.execute("SELECT max(version) FROM schema_migrations").fetchall()
    except sqlite3.Error as error:
        if error.sqlite_errorcode & 0xFF in (sqlite3.SQLITE_FULL, sqlite3.SQLITE_IOERR):
            raise BackupFailed(path=str(partial.parent)) from error
        raise DatabaseUnusable(path=str(database)) from error
    if verdicts != [("ok",)]:
        raise DatabaseUnusable(path=str(database))
    return int(version)
