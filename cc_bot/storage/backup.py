"""Copies of the database, made by SQLite itself while the bot goes on writing.

A file copy of a database in use misses what stands in its write-ahead log, or catches half of a page.
SQLite's online copy sees one moment. All pages are taken in one step: a copy in steps starts over at each
write and, beside a busy writer, never ends. A copy counts once it has been opened and checked, its manifest
is written and both have reached the disk; so only then does it get its name.
"""

import asyncio
import glob
import os
import re
import shutil
import sqlite3
from collections.abc import Iterator, Sequence
from contextlib import closing, suppress
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from itertools import count
from pathlib import Path
from typing import Final
from zoneinfo import ZoneInfo

from cc_bot.domain.errors import (
    BackupFailed,
    DatabaseMissing,
    DatabaseUnusable,
    OldBackupsKept,
)
from cc_bot.storage.erasures import ErasureLog, Extent, copy_log, read_erasures
from cc_bot.storage.files import move, sync_file, sync_folder, write_new
from cc_bot.storage.manifest import (
    Damaged,
    Manifest,
    Progress,
    checked_version,
    count_rows,
    growing,
    hash_of,
    ignore_progress,
    is_disk_trouble,
    manifest_path,
    size_of,
)
from cc_bot.storage.rewriting import ensure_free_space
from cc_bot.version import __version__

# ---- rotation --------------------------------------------------------------------------------------------
# Only files that are named as cc-bot names them are looked at, and what is deleted of a backup is the copy
# and its manifest. The newest is never deleted, however old it is: it is all that there is.

_NAME: Final = re.compile(r"sessions_(\d{8}-\d{6})(?:-(\d+))?\.db")
_LEFT_OVER: Final = re.compile(r"\.sessions_\d{8}-\d{6}(?:-\d+)?\.db\.partial(?:-journal)?")
_LEFT_OVER_AFTER: Final = timedelta(days=1)
"""A copy that has been on its way for so long was cut off."""


@dataclass(frozen=True, slots=True, order=True)
class Backup:
    """A backup by its name; later ones are greater."""

    moment: datetime
    """In the time zone of whoever made it, without saying which."""
    number: int
    """Of those of one second."""
    path: Path


@dataclass(frozen=True, slots=True)
class Rotation:
    """The number of backups that are kept, and for how long: what either of the two lets go is deleted. None:
    no bound."""

    keep: int | None = None
    days: int | None = None

    def outdated(self, backups: Sequence[Backup], now: datetime) -> list[Backup]:
        """Return those of these that have had their time; never the newest."""
        newest_first = sorted(backups, reverse=True)
        kept = len(newest_first) if self.keep is None else max(self.keep, 1)
        horizon = None if self.days is None else now.replace(tzinfo=None) - timedelta(days=self.days)
        return [
            backup
            for place, backup in enumerate(newest_first)
            if place > 0 and (place >= kept or (horizon is not None and backup.moment < horizon))
        ]


def backups_in(folder: Path) -> list[Backup]:
    """List the backups in the folder, newest first. Raises OSError."""
    found = list[Backup]()
    for path in folder.iterdir():
        if match := _NAME.fullmatch(path.name):
            with suppress(ValueError):  # the thirteenth month: somebody else's file
                moment = datetime.strptime(match[1], "%Y%m%d-%H%M%S")  # noqa: DTZ007 - the name says no zone
                found.append(Backup(moment, int(match[2] or 1), path))
    return sorted(found, reverse=True)


def rotate(
    folder: Path, rotation: Rotation, now: datetime, *, made: Path, database: Path | None = None
) -> tuple[Path, ...]:
    """Delete what has had its time, oldest first, and return it; never the one that was just made, nor the
    database, which is named like a backup where somebody looks into one.

    What is left of copies that were cut off goes as well. Raises OSError.
    """
    live = database.resolve() if database else None
    backups = [each for each in backups_in(folder) if each.path.resolve() != live]
    outdated = [backup.path for backup in rotation.outdated(backups, now) if backup.path != made]
    for path in reversed(outdated):
        path.unlink(missing_ok=True)
        manifest_path(path).unlink(missing_ok=True)
    for path in _left_over(folder, now):
        path.unlink(missing_ok=True)
    sync_folder(folder)
    return tuple(reversed(outdated))


def _left_over(folder: Path, now: datetime) -> list[Path]:
    horizon = (now - _LEFT_OVER_AFTER).timestamp()
    found = list[Path]()
    for path in folder.iterdir():
        with suppress(FileNotFoundError):  # that of a backup which has its name by now
            if _LEFT_OVER.fullmatch(path.name) and path.stat().st_mtime < horizon:
                found.append(path)
    return found


# ---- backup ----------------------------------------------------------------------------------------------


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
    progress: Progress = ignore_progress,
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
    _ensure(database)
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
    _ensure(database)
    try:
        partial, target = _reserve(database.parent, f"{database.stem}.before-v{version}")
    except OSError as error:
        raise BackupFailed(path=str(database.parent)) from error
    try:
        _copy(database, partial, ignore_progress)
        sync_file(partial)
        move(partial, target)
    except OSError as error:
        raise BackupFailed(path=str(target)) from error
    finally:
        partial.unlink(missing_ok=True)
    return target


def _ensure(database: Path) -> None:
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
            ensure_free_space(partial.parent, size)
            with growing(partial, size, progress):
                source.backup(copy, pages=-1)
            copy.execute("PRAGMA journal_mode = DELETE")  # one file, whatever opens it next
            progress("checking", 0, 0)
            return checked_version(copy), count_rows(copy)
    except sqlite3.Error as error:
        if is_disk_trouble(error):
            raise BackupFailed(path=str(partial.parent)) from error
        raise DatabaseUnusable(path=str(database)) from error
    except Damaged as error:
        raise DatabaseUnusable(path=str(database)) from error


# ---- copies ----------------------------------------------------------------------------------------------
# Copies of the database that stand beside it, and how long they do.
#
# A start keeps one before an upgrade (`sessions.before-v16.db`), a restore the database that it replaced
# (`sessions.replaced-20261122-041500.db`). They help whoever finds out soon that something went wrong. After
# that they are only what was said once, of people too who have been forgotten since; so they have an end.


def copies_of(database: Path) -> list[Path]:
    """List all copies of a database, with what SQLite keeps beside each, and what is left of one that was cut
    off."""
    return [path for path, _ in _copies(database)]


def leftovers_of(database: Path) -> list[Path]:
    """The folders of restores that were cut off."""
    return sorted(database.parent.glob(f".{glob.escape(database.name)}.restoring-*"))


def delete_old_copies(database: Path, now: datetime, days: int, zone: ZoneInfo) -> tuple[Path, ...]:
    """Delete those that were made more than `days` days ago (0: none of them), and what a kill left of one a
    day ago; what was deleted. `zone` is the one that their names are in. Raises OSError."""
    horizon = None if days == 0 else now - timedelta(days=days)
    cut_off = now - _LEFT_OVER_AFTER
    doomed = list[Path]()
    for path, named in _copies(database):
        last = cut_off if path.name.startswith(".") else horizon
        if last is not None and _made_at(path, named, zone) < last:
            doomed.append(path)
    doomed += [path for path in leftovers_of(database) if _changed_at(path, zone) < cut_off]
    for path in doomed:
        with suppress(FileNotFoundError):
            shutil.rmtree(path) if path.is_dir() else path.unlink()
    if doomed:
        sync_folder(database.parent)
    return tuple(doomed)


def _copies(database: Path) -> Iterator[tuple[Path, str | None]]:
    """Yield the copies of a database, each with the moment that its name tells, if it tells one."""
    pattern = re.compile(
        rf"\.?{re.escape(database.stem)}\.(?:before-v\d+|replaced-(\d{{8}}-\d{{6}}))(?:-\d+)?"
        r"\.db(?:\.partial)?(?:-wal|-shm|-journal)?"
    )
    with suppress(FileNotFoundError):  # no folder, no copies
        for path in sorted(database.parent.iterdir()):
            if (match := pattern.fullmatch(path.name)) and path.is_file():
                yield path, match[1]


def _made_at(path: Path, named: str | None, zone: ZoneInfo) -> datetime:
    """A replaced database was last changed when somebody wrote to it, maybe long before it was replaced."""
    if named:
        with suppress(ValueError):  # the thirteenth month
            return datetime.strptime(named, "%Y%m%d-%H%M%S").replace(tzinfo=zone)
    return _changed_at(path, zone)


def _changed_at(path: Path, zone: ZoneInfo) -> datetime:
    return datetime.fromtimestamp(path.stat().st_mtime, zone)
