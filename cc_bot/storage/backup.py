"""Copies of the database, made by SQLite itself while the bot goes on writing.

A file copy of a database in use misses what stands in its write-ahead log, or catches half of a page.
SQLite's online copy sees one moment. All pages are taken in one step: a copy in steps starts over at each
write and, beside a busy writer, never ends. A copy counts once it has been opened and checked, its manifest
is written and both have reached the disk; so only then does it get its name.
"""

import asyncio
import os
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from itertools import count
from pathlib import Path

from cc_bot import __version__
from cc_bot.domain.errors import (
    BackupFailed,
    DatabaseMissing,
    DatabaseUnusable,
    OldBackupsKept,
)
from cc_bot.storage.checking import Damaged, checked, is_disk_trouble, size_of
from cc_bot.storage.durable import move, sync_file, write_new
from cc_bot.storage.erasure_copies import copy_log
from cc_bot.storage.erasures import ErasureLog, Extent, read_erasures
from cc_bot.storage.manifest import Manifest, count_rows, hash_of, manifest_path
from cc_bot.storage.progress import Progress, growing, silent
from cc_bot.storage.room import need_room
from cc_bot.storage.rotation import Rotation, rotate


@dataclass(frozen=True, slots=True)
class BackupResult:
    """A copy that was opened and checked."""

    path: Path
    manifest: Manifest
    deleted: tuple[Path, ...] = ()
    """Older ones that had their time."""


async def back_up(
    database: Path,
    folder: Path,
    now: datetime,
    *,
    rotation: Rotation = Rotation(),
    progress: Progress = silent,
) -> BackupResult:
    """Copy the database into the folder, which is made when missing, as `sessions_YYYYMMDD-HHMMSS.db`, with
    its manifest and the log of erasures beside it; then delete what has had its time.

    The name tells `now` in its own time zone. A copy that is there already is never overwritten. Every file's
    mode is 0600. Raises DatabaseMissing, DatabaseUnusable (the source does not pass SQLite's check),
    NotEnoughRoom, BackupFailed or, when the copy was made, OldBackupsKept.
    """
    return await asyncio.to_thread(_back_up, database, folder, now, rotation, progress)


def _back_up(
    database: Path, folder: Path, now: datetime, rotation: Rotation, progress: Progress
) -> BackupResult:
    _need(database)
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        log = ErasureLog.beside(database)
        log.make()
        partial, target = _reserve(folder, f"sessions_{now:%Y%m%d-%H%M%S}")
    except OSError as error:
        raise BackupFailed(path=str(folder)) from error
    try:
        manifest = _fill(database, partial, now, progress)
        extent = _extent(log.path)  # before it is copied: no copy has less
        copy_log(log.path, folder)
        sync_file(partial)
        manifest = replace(manifest, erasures=extent)
        write_new(manifest_path(target), manifest.to_json().encode())
        move(partial, target)
    except (OSError, ValueError) as error:
        raise BackupFailed(path=str(target)) from error
    finally:
        partial.unlink(missing_ok=True)
    try:
        return BackupResult(target, manifest, rotate(folder, rotation, now, made=target, database=database))
    except OSError as error:
        raise OldBackupsKept(made=str(target), path=str(folder)) from error


def preserve(database: Path, version: int) -> Path:
    """Copy the database beside itself before its schema becomes `version`: `sessions.before-v2.db`."""
    _need(database)
    try:
        partial, target = _reserve(database.parent, f"{database.stem}.before-v{version}")
    except OSError as error:
        raise BackupFailed(path=str(database.parent)) from error
    try:
        _copy(database, partial, silent)
        sync_file(partial)
        move(partial, target)
    except OSError as error:
        raise BackupFailed(path=str(target)) from error
    finally:
        partial.unlink(missing_ok=True)
    return target


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
        if not target.exists() and not manifest_path(target).exists():
            return partial, target
        partial.unlink()
    raise AssertionError("names never run out")


def _names(folder: Path, stem: str) -> Iterator[Path]:
    yield folder / f"{stem}.db"
    for number in count(2):
        yield folder / f"{stem}-{number}.db"


def _extent(log: Path) -> Extent | None:
    erasures = read_erasures(log)
    return erasures.extent if erasures else None


def _fill(database: Path, partial: Path, now: datetime, progress: Progress) -> Manifest:
    """Copy, check, and return what the copy holds."""
    version, rows = _copy(database, partial, progress)
    return Manifest(
        made_at=now.astimezone(UTC),
        program=__version__,
        schema_version=version,
        size_bytes=partial.stat().st_size,
        sha256=hash_of(partial, progress),
        rows=rows,
    )


def _copy(database: Path, partial: Path, progress: Progress) -> tuple[int, dict[str, int]]:
    """Copy and check; the version of the schema and the rows of each table."""
    try:
        # mode=rw: without it SQLite would make a source that has gone missing.
        source = sqlite3.connect(f"{database.absolute().as_uri()}?mode=rw", uri=True)
        with closing(source), closing(sqlite3.connect(partial.absolute())) as copy:
            size = size_of(source)
            need_room(partial.parent, size)
            with growing(partial, size, progress):
                source.backup(copy, pages=-1)
            copy.execute("PRAGMA journal_mode = DELETE")  # one file, whatever opens it next
            progress("checking", 0, 0)
            return checked(copy), count_rows(copy)
    except sqlite3.Error as error:
        if is_disk_trouble(error):
            raise BackupFailed(path=str(partial.parent)) from error
        raise DatabaseUnusable(path=str(database)) from error
    except Damaged as error:
        raise DatabaseUnusable(path=str(database)) from error
