"""Backups of the database, made with SQLite's online backup API while the bot keeps writing.

Copying the file of a database in use misses the WAL, or tears a page; the backup API reads one state. All
pages are copied in one step: with several, each write restarts the copy, which never ends beside a busy
writer. A copy gets its final name only after it was opened and checked, its manifest was written, and both
were synced.
"""

import asyncio
import glob
import os
import re
import shutil
import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from itertools import count
from pathlib import Path
from typing import Final

from cc_bot.domain.errors import BackupFailed, DatabaseMissing, DatabaseUnusable, OldBackupsKept
from cc_bot.storage.erasures import ErasureLog, copy_in, merge_log, read_erasures
from cc_bot.storage.files import ensure_free_space, move, sync_file, sync_folder, write_new
from cc_bot.storage.manifest import (
    Announce,
    Damaged,
    Manifest,
    Rows,
    announce_nothing,
    check_database,
    hash_of,
    is_disk_trouble,
    manifest_path,
)
from cc_bot.version import __version__

# ---- rotation --------------------------------------------------------------------------------------------
# Only files with cc-bot's backup names are considered. Deleting a backup removes the copy and its manifest.
# The newest is never deleted, whatever its age.

_NAME: Final = re.compile(r"sessions_(\d{8}-\d{6})(?:-(\d+))?\.db")
_LEFT_OVER: Final = re.compile(r"\.sessions_\d{8}-\d{6}(?:-\d+)?\.db\.partial(?:-journal)?")
_LEFT_OVER_AFTER: Final = timedelta(days=1)
"""An unfinished copy of this age was interrupted."""


@dataclass(frozen=True, slots=True, order=True)
class Backup:
    """A backup, identified by its name; later ones compare greater."""

    moment: datetime
    """In the time zone of the program that made it."""
    number: int
    """Counts backups of the same second."""
    path: Path


@dataclass(frozen=True, slots=True)
class Rotation:
    """How many backups are kept, and for how long; exceeding either limit deletes a backup. None:
    unbounded."""

    keep: int | None = None
    days: int | None = None


def backups_in(folder: Path) -> list[Backup]:
    """List the backups in the folder, newest first. Raises OSError."""
    found = list[Backup]()
    for path in folder.iterdir():
        if match := _NAME.fullmatch(path.name):
            with suppress(ValueError):  # an invalid date: not our file
                moment = datetime.strptime(match[1], "%Y%m%d-%H%M%S")  # noqa: DTZ007 - the name says no zone
                found.append(Backup(moment, int(match[2] or 1), path))
    return sorted(found, reverse=True)


def rotate(
    folder: Path, rotation: Rotation, now: datetime, *, made: Path, database: Path | None = None
) -> tuple[Path, ...]:
    """Delete expired backups, oldest first, and return them. Never deletes the newest, the one just made, or
    the open database if its name is that of a backup.

    Also deletes remains of interrupted copies. Raises OSError.
    """
    live = database.resolve() if database else None
    older = [each for each in backups_in(folder) if each.path.resolve() != live][1:]
    too_many = len(older) if rotation.keep is None else max(rotation.keep, 1) - 1
    horizon = None if rotation.days is None else now.replace(tzinfo=None) - timedelta(days=rotation.days)
    outdated = [
        backup.path
        for position, backup in enumerate(older)
        if backup.path != made and (position >= too_many or (horizon and backup.moment < horizon))
    ]
    for path in reversed(outdated):
        path.unlink(missing_ok=True)
        manifest_path(path).unlink(missing_ok=True)
    cut_off = (now - _LEFT_OVER_AFTER).timestamp()
    for path in folder.iterdir():
        with suppress(FileNotFoundError):  # the backup was renamed in between
            if _LEFT_OVER.fullmatch(path.name) and path.stat().st_mtime < cut_off:
                path.unlink()
    sync_folder(folder)
    return tuple(reversed(outdated))


# ---- backup ----------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class BackupResult:
    """A verified copy."""

    path: Path
    manifest: Manifest
    deleted: tuple[Path, ...] = ()
    """Older backups deleted by the rotation."""


async def back_up(
    database: Path,
    folder: Path,
    now: datetime,
    *,
    rotation: Rotation = Rotation(),
    announce: Announce = announce_nothing,
) -> BackupResult:
    """Copy the database into the folder (created if missing) as `sessions_YYYYMMDD-HHMMSS.db`, with its
    manifest and the erasure log; then delete expired backups.

    The name shows `now` in its own time zone. Existing copies are never overwritten. Files have mode 0600.
    Raises DatabaseMissing, DatabaseUnusable (the source fails SQLite's check), NotEnoughRoom, BackupFailed
    or, after the copy was made, OldBackupsKept.
    """
    return await asyncio.to_thread(_back_up, database, folder, now, rotation, announce)


def _back_up(
    database: Path, folder: Path, now: datetime, rotation: Rotation, announce: Announce
) -> BackupResult:
    log = ErasureLog.beside(database)
    with _new_copy(database, folder, f"sessions_{now:%Y%m%d-%H%M%S}", announce) as copy:
        log.make()
        merge_log(log.path, copy_in(folder))
        manifest = Manifest(
            made_at=now.astimezone(UTC),
            program=__version__,
            schema_version=copy.version,
            size_bytes=copy.partial.stat().st_size,
            sha256=hash_of(copy.partial),
            rows=copy.rows,
            erasures=read_erasures(copy_in(folder)).count,
        )
        write_new(manifest_path(copy.target), manifest.to_json().encode())
    target = copy.target
    try:
        return BackupResult(target, manifest, rotate(folder, rotation, now, made=target, database=database))
    except OSError as error:
        raise OldBackupsKept(made=str(target), path=str(folder)) from error


def preserve(database: Path, version: int) -> Path:
    """Copy the database beside itself before migrating to schema `version`: `sessions.before-v2.db`."""
    with _new_copy(database, database.parent, f"{database.stem}.before-v{version}") as copy:
        return copy.target


@dataclass(frozen=True, slots=True)
class _Copy:
    partial: Path
    target: Path
    """Its name after `_new_copy`."""
    version: int
    rows: Rows


@contextmanager
def _new_copy(
    database: Path, folder: Path, stem: str, announce: Announce = announce_nothing
) -> Iterator[_Copy]:
    """Raises as `back_up`."""
    if not database.is_file():
        raise DatabaseMissing(path=str(database))
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        partial, target = _reserve(folder, stem)
    except OSError as error:
        raise BackupFailed(path=str(folder)) from error
    try:
        announce("copying")
        _copy(database, partial)
        announce("checking")
        with closing(sqlite3.connect(partial.absolute())) as copy:
            version, rows = check_database(copy)
        sync_file(partial)
        yield _Copy(partial, target, version, rows)
        move(partial, target)
    except sqlite3.Error as error:
        if is_disk_trouble(error):
            raise BackupFailed(path=str(folder)) from error
        raise DatabaseUnusable(path=str(database)) from error
    except Damaged as error:
        raise DatabaseUnusable(path=str(database)) from error
    except (OSError, ValueError) as error:
        raise BackupFailed(path=str(target)) from error
    finally:
        partial.unlink(missing_ok=True)


def _reserve(folder: Path, stem: str) -> tuple[Path, Path]:
    """Create a file with mode 0600 to write into, and return it with its final name. It reserves that name,
    so two copies made in one second get different ones."""
    for number in count(1):
        target = folder / f"{stem}{f'-{number}' if number > 1 else ''}.db"
        partial = target.with_name(f".{target.name}.partial")
        try:
            os.close(os.open(partial, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600))
        except FileExistsError:
            continue
        if not target.exists() and not manifest_path(target).exists():
            return partial, target
        partial.unlink()
    raise AssertionError("names never run out")


def _copy(database: Path, partial: Path) -> None:
    # mode=rw: otherwise SQLite would create a missing source.
    source = sqlite3.connect(f"{database.absolute().as_uri()}?mode=rw", uri=True)
    with closing(source), closing(sqlite3.connect(partial.absolute())) as copy:
        [(pages,)] = source.execute("PRAGMA page_count").fetchall()
        [(page_bytes,)] = source.execute("PRAGMA page_size").fetchall()
        ensure_free_space(partial.parent, pages * page_bytes)
        source.backup(copy, pages=-1)
        copy.execute("PRAGMA journal_mode = DELETE")  # a single file, without a WAL


# ---- copies ----------------------------------------------------------------------------------------------
# Copies beside the database, made before an upgrade (`sessions.before-v16.db`) or a restore
# (`sessions.replaced-20261122-041500.db`). They are deleted after some time, because they hold data that was
# erased since.


def copies_of(database: Path) -> list[Path]:
    """List all copies of a database with their SQLite files, and the remains of interrupted ones."""
    pattern = re.compile(
        rf"\.?{re.escape(database.stem)}\.(?:before-v\d+|replaced-\d{{8}}-\d{{6}})(?:-\d+)?"
        r"\.db(?:\.partial)?(?:-wal|-shm|-journal)?"
    )
    with suppress(FileNotFoundError):  # no folder, no copies
        return sorted(
            path for path in database.parent.iterdir() if pattern.fullmatch(path.name) and path.is_file()
        )
    return []


def leftovers_of(database: Path) -> list[Path]:
    """List the folders of interrupted restores."""
    return sorted(database.parent.glob(f".{glob.escape(database.name)}.restoring-*"))


def delete_old_copies(database: Path, now: datetime, days: int) -> tuple[Path, ...]:
    """Delete copies older than `days` (0: all), and remains of interrupted copies older than a day. Returns
    the deleted paths. Raises OSError."""
    copies = copies_of(database)
    cut_off = [*leftovers_of(database), *(path for path in copies if path.name.startswith("."))]
    whole = [path for path in copies if not path.name.startswith(".")] if days else []
    doomed = [
        path
        for paths, age in ((whole, timedelta(days=days)), (cut_off, _LEFT_OVER_AFTER))
        for path in paths
        if path.stat().st_mtime < (now - age).timestamp()
    ]
    for path in doomed:
        with suppress(FileNotFoundError):
            shutil.rmtree(path) if path.is_dir() else path.unlink()
    if doomed:
        sync_folder(database.parent)
    return tuple(doomed)
