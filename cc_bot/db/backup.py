"""Backups, made with SQLite's online backup API while the bot keeps writing.

All pages are copied in one step: with several, each write restarts the copy. A copy gets its final name after
its check and a sync.
"""

import asyncio
import glob
import hashlib
import json
import os
import re
import shutil
import sqlite3
from collections.abc import Callable, Iterator, Mapping
from contextlib import closing, contextmanager, suppress
from dataclasses import asdict, dataclass, fields
from datetime import UTC, datetime, timedelta, tzinfo
from itertools import count
from pathlib import Path
from typing import Final, Literal

from cc_bot import __version__
from cc_bot.db.erasure_log import ErasureLog, copy_in, merge_log, read_erasures
from cc_bot.db.files import ensure_free_space, move, sync_file, sync_folder, write_new
from cc_bot.db.sqlite import code_of, connect_existing
from cc_bot.domain.errors import BackupFailed, DatabaseMissing, DatabaseUnusable, OldBackupsKept
from cc_bot.files import open_regular, read_regular

Stage = Literal["copying", "checking", "upgrading", "erasing"]
Announce = Callable[[Stage], None]


def announce_nothing(_: Stage) -> None: ...


_FORMAT: Final = 1
_NOTE: Final = "This proves damage, not origin: see docs/backup.md."
_NAME: Final = re.compile(r"sessions_(\d{8}-\d{6})(?:-(\d+))?\.db")
_LEFT_OVER: Final = re.compile(r"\.sessions_\d{8}-\d{6}(?:-\d+)?\.db\.partial(?:-journal)?")
_LEFT_OVER_AFTER: Final = timedelta(days=1)
_SELECT_TABLES: Final = """
    SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite~_%' ESCAPE '~' ORDER BY name
"""

Rows = Mapping[str, int]  # by table


@dataclass(frozen=True, slots=True)
class Manifest:
    """A backup's contents. The hash detects damage that SQLite's check misses."""

    made_at: datetime
    program: str
    schema_version: int
    size_bytes: int
    sha256: str
    rows: Rows
    erasures: int  # entries in the erasure log

    def to_json(self) -> str:
        made_at = self.made_at.isoformat(timespec="milliseconds")
        return (
            json.dumps({"format": _FORMAT, "note": _NOTE, **asdict(self), "made_at": made_at}, indent=2)
            + "\n"
        )

    @classmethod
    def from_json(cls, text: str) -> "Manifest":
        """Raises ValueError."""
        try:
            found = json.loads(text)
            if found["format"] != _FORMAT:
                raise ValueError("a manifest of another program")
            made_at = datetime.fromisoformat(found["made_at"]).astimezone(UTC)
            return cls(**{each.name: found[each.name] for each in fields(cls)} | {"made_at": made_at})
        except (TypeError, KeyError, AttributeError, RecursionError) as error:
            raise ValueError("no manifest") from error


def manifest_path(backup: Path) -> Path:
    return backup.with_suffix(".json")


def read_manifest(backup: Path) -> Manifest | None:
    """Return the manifest, if there is one. Raises OSError, or ValueError if it is invalid."""
    with suppress(FileNotFoundError):
        return Manifest.from_json(read_regular(manifest_path(backup)).decode())
    return None


def manifests_in(folder: Path) -> Iterator[Manifest]:
    for path in folder.glob("*.json"):
        with suppress(OSError, ValueError):
            yield Manifest.from_json(read_regular(path).decode())


def hash_of(path: Path) -> str:
    """Return the SHA-256. Raises OSError."""
    with open_regular(path) as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


class Damaged(sqlite3.DatabaseError):
    sqlite_errorcode = sqlite3.SQLITE_CORRUPT


def check_database(connection: sqlite3.Connection) -> tuple[int, Rows]:
    """Check a cc-bot database; return its schema version and row counts. Raises sqlite3.Error."""
    ensure_whole(connection)
    [(version,)] = connection.execute("SELECT max(version) FROM schema_migrations").fetchall()
    if version is None:
        raise Damaged
    counts = {
        name: connection.execute(f'SELECT count(*) FROM "{name}"').fetchone()[0]  # noqa: S608 - from the schema
        for (name,) in connection.execute(_SELECT_TABLES).fetchall()
    }
    return int(version), counts


def ensure_whole(connection: sqlite3.Connection) -> None:
    """Raises Damaged if SQLite's checks fail, or another sqlite3.Error."""
    if connection.execute("PRAGMA integrity_check(1)").fetchall() != [("ok",)]:
        raise Damaged
    if connection.execute("PRAGMA foreign_key_check").fetchone():
        raise Damaged


def is_disk_error(error: BaseException) -> bool:
    """Return whether the disk failed, so that the file may be intact."""
    return code_of(error) in (sqlite3.SQLITE_FULL, sqlite3.SQLITE_IOERR)


@dataclass(frozen=True, slots=True, order=True)
class Backup:
    """A backup in a folder; later ones compare greater."""

    moment: datetime  # in the time zone of the program
    number: int  # counts backups of the same second
    path: Path


def backups_in(folder: Path) -> list[Backup]:
    """List the backups, newest first. Raises OSError."""
    found = list[Backup]()
    for path in folder.iterdir():
        if match := _NAME.fullmatch(path.name):
            with suppress(ValueError):  # an invalid date: not our file
                moment = datetime.strptime(match[1], "%Y%m%d-%H%M%S")  # noqa: DTZ007 - the name says no zone
                found.append(Backup(moment, int(match[2] or 1), path))
    return sorted(found, reverse=True)


def rotate(
    folder: Path,
    now: datetime,
    *,
    made: Path,
    keep: int | None = None,
    days: int | None = None,
    database: Path | None = None,
) -> tuple[Path, ...]:
    """Delete backups beyond the newest `keep` or older than `days`, but never the newest, `made`, or
    `database`; and remains of copies. Returns the backups deleted, oldest first. Raises OSError."""
    live = database.resolve() if database else None
    older = [each for each in backups_in(folder) if each.path.resolve() != live][1:]
    too_many = len(older) if keep is None else max(keep, 1) - 1
    horizon = None if days is None else now.replace(tzinfo=None) - timedelta(days=days)
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


@dataclass(frozen=True, slots=True)
class BackupResult:
    path: Path
    manifest: Manifest
    deleted: tuple[Path, ...] = ()  # expired backups


async def back_up(
    database: Path,
    folder: Path,
    now: datetime,
    *,
    keep: int | None = None,
    days: int | None = None,
    announce: Announce = announce_nothing,
) -> BackupResult:
    """Copy the database, with its manifest and erasure log, into the folder as `sessions_YYYYMMDD-HHMMSS.db`;
    delete expired backups. Files have mode 0600. Raises DatabaseMissing, DatabaseUnusable, NotEnoughRoom,
    BackupFailed or, after the copy was made, OldBackupsKept."""
    return await asyncio.to_thread(lambda: _back_up(database, folder, now, announce, keep=keep, days=days))


def _back_up(
    database: Path, folder: Path, now: datetime, announce: Announce, *, keep: int | None, days: int | None
) -> BackupResult:
    log = ErasureLog.beside(database)
    name = f"sessions_{now:%Y%m%d-%H%M%S}"
    with _new_copy(database, folder, name, announce) as (partial, target, version, rows):
        log.make()
        merge_log(log.path, copy_in(folder))
        manifest = Manifest(
            made_at=now.astimezone(UTC),
            program=__version__,
            schema_version=version,
            size_bytes=partial.stat().st_size,
            sha256=hash_of(partial),
            rows=rows,
            erasures=read_erasures(copy_in(folder)).count,
        )
        write_new(manifest_path(target), manifest.to_json().encode())
    try:
        deleted = rotate(folder, now, made=target, keep=keep, days=days, database=database)
    except OSError as error:
        raise OldBackupsKept(made=str(target), path=str(folder)) from error
    return BackupResult(target, manifest, deleted)


def back_up_before(database: Path, version: int) -> Path:
    """Copy the database beside itself before migrating: `sessions.before-v2.db`."""
    with _new_copy(database, database.parent, f"{database.stem}.before-v{version}") as (_, target, *_counts):
        return target


@contextmanager
def _new_copy(
    database: Path, folder: Path, stem: str, announce: Announce = announce_nothing
) -> Iterator[tuple[Path, Path, int, Rows]]:
    """Yield the copy, its final name, schema version and row counts. Raises as `back_up`."""
    if not database.is_file():
        raise DatabaseMissing(path=str(database))
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        partial, target = _reserve(folder, stem)
    except OSError as error:
        raise BackupFailed(path=str(folder)) from error
    try:
        announce("copying")
        with (
            closing(connect_existing(database, "rw")) as source,
            closing(sqlite3.connect(partial.absolute())) as copy,
        ):
            [(pages,)] = source.execute("PRAGMA page_count").fetchall()
            [(page_bytes,)] = source.execute("PRAGMA page_size").fetchall()
            ensure_free_space(folder, pages * page_bytes)
            source.backup(copy, pages=-1)
            copy.execute("PRAGMA journal_mode = DELETE")  # without a WAL
        announce("checking")
        with closing(sqlite3.connect(partial.absolute())) as copy:
            version, rows = check_database(copy)
        sync_file(partial)
        yield partial, target, version, rows
        move(partial, target)
    except sqlite3.Error as error:
        if is_disk_error(error):
            raise BackupFailed(path=str(folder)) from error
        raise DatabaseUnusable(path=str(database)) from error
    except (OSError, ValueError) as error:
        raise BackupFailed(path=str(target)) from error
    finally:
        partial.unlink(missing_ok=True)


def numbered_paths(folder: Path, stem: str) -> Iterator[Path]:
    """Yield `stem.db`, `stem-2.db`, …"""
    return (folder / f"{stem}{f'-{number}' if number > 1 else ''}.db" for number in count(1))


def _reserve(folder: Path, stem: str) -> tuple[Path, Path]:
    """Create a file with mode 0600, which reserves a final name."""
    for target in numbered_paths(folder, stem):
        partial = target.with_name(f".{target.name}.partial")
        with suppress(FileExistsError):
            os.close(os.open(partial, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600))
            if not target.exists() and not manifest_path(target).exists():
                return partial, target
            partial.unlink()
    raise AssertionError("the numbers of names do not end")


def copies_of(database: Path) -> list[Path]:
    """List the copies that upgrades and restores left beside a database, with their SQLite files."""
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
    """Delete and return copies older than `days` (0: none), or a day if interrupted. Raises OSError."""
    unfinished = (now - _LEFT_OVER_AFTER).timestamp()
    old = (now - timedelta(days=days)).timestamp() if days else 0
    doomed = [
        path
        for path in (*leftovers_of(database), *copies_of(database))
        if path.stat().st_mtime < (unfinished if path.name.startswith(".") else old)
    ]
    for path in doomed:
        with suppress(FileNotFoundError):
            shutil.rmtree(path) if path.is_dir() else path.unlink()
    if doomed:
        sync_folder(database.parent)
    return tuple(doomed)


def newest_backup(folder: Path, zone: tzinfo) -> datetime | None:
    """Return when the newest backup was made, if any. Raises OSError."""
    newest = next(iter(backups_in(folder)), None)
    return newest.moment.replace(tzinfo=zone) if newest else None
