"""Backups, made with SQLite's online backup API while the bot keeps writing.

All pages are copied in one step, as a write between two steps restarts the copy.
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
from importlib import metadata
from itertools import count
from pathlib import Path
from typing import Final, Literal

from cc_bot.db.erasure_log import ErasureLog, copied_log_path, merge_log, read_erasures
from cc_bot.db.files import ensure_free_space, move, sync_file, sync_folder, write_atomically
from cc_bot.db.sqlite import code_of, connect_existing
from cc_bot.domain.errors import BackupFailed, DatabaseMissing, DatabaseUnusable, OldBackupsKept
from cc_bot.files import open_regular, read_regular

Stage = Literal["copying", "checking", "upgrading", "erasing"]
Announce = Callable[[Stage], None]


def announce_nothing(_: Stage) -> None: ...


_MANIFEST_FORMAT: Final = 1
_MANIFEST_NOTE: Final = "This proves damage, not origin: see docs/backup.md."
_BACKUP_NAME: Final = re.compile(r"sessions_(\d{8}-\d{6})(?:-(\d+))?\.db")
_PARTIAL_NAME: Final = re.compile(r"\.sessions_\d{8}-\d{6}(?:-\d+)?\.db\.partial(?:-journal)?")
_MAX_COPY_TIME: Final = timedelta(days=1)  # older unfinished files were interrupted
_SELECT_TABLES: Final = """
    SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite~_%' ESCAPE '~' ORDER BY name
"""

RowCounts = Mapping[str, int]  # by table


@dataclass(frozen=True, slots=True)
class Manifest:
    made_at: datetime
    program: str
    schema_version: int
    size_bytes: int
    sha256: str
    rows: RowCounts
    erasures: int  # entries in the erasure log

    def to_json(self) -> str:
        made_at = self.made_at.isoformat(timespec="milliseconds")
        fields = {"format": _MANIFEST_FORMAT, "note": _MANIFEST_NOTE, **asdict(self), "made_at": made_at}
        return json.dumps(fields, indent=2) + "\n"

    @classmethod
    def from_json(cls, text: str) -> "Manifest":
        """Raises ValueError."""
        try:
            values = json.loads(text)
            if values["format"] != _MANIFEST_FORMAT:
                raise ValueError("a manifest of another program")
            made_at = datetime.fromisoformat(values["made_at"]).astimezone(UTC)
            return cls(**{each.name: values[each.name] for each in fields(cls)} | {"made_at": made_at})
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


def check_database(connection: sqlite3.Connection) -> tuple[int, RowCounts]:
    """Check a cc-bot database; return its schema version and row counts. Raises sqlite3.Error."""
    ensure_undamaged(connection)
    [(version,)] = connection.execute("SELECT max(version) FROM schema_migrations").fetchall()
    if version is None:
        raise Damaged
    counts = {
        name: connection.execute(f'SELECT count(*) FROM "{name}"').fetchone()[0]  # noqa: S608 - from the schema
        for (name,) in connection.execute(_SELECT_TABLES).fetchall()
    }
    return int(version), counts


def ensure_undamaged(connection: sqlite3.Connection) -> None:
    """Raises Damaged if SQLite's checks fail, or another sqlite3.Error."""
    if connection.execute("PRAGMA integrity_check(1)").fetchall() != [("ok",)]:
        raise Damaged
    if connection.execute("PRAGMA foreign_key_check").fetchone():
        raise Damaged


def is_disk_error(error: BaseException) -> bool:
    """Return whether the disk is full or failed; the database itself may be intact."""
    return code_of(error) in (sqlite3.SQLITE_FULL, sqlite3.SQLITE_IOERR)


@dataclass(frozen=True, slots=True, order=True)
class Backup:
    moment: datetime  # naive, in the operator's time zone
    number: int  # among backups of the same second
    path: Path


def backups_in(folder: Path) -> list[Backup]:
    """List the backups, newest first. Raises OSError."""
    backups = list[Backup]()
    for path in folder.iterdir():
        if match := _BACKUP_NAME.fullmatch(path.name):
            with suppress(ValueError):  # an invalid date, so not our file
                moment = datetime.strptime(match[1], "%Y%m%d-%H%M%S")  # noqa: DTZ007 - the name has no zone
                backups.append(Backup(moment, int(match[2] or 1), path))
    return sorted(backups, reverse=True)


def rotate(
    folder: Path,
    now: datetime,
    *,
    new_backup: Path,
    keep: int | None = None,
    days: int | None = None,
    database: Path | None = None,
) -> tuple[Path, ...]:
    """Delete backups beyond the newest `keep` or older than `days`, and interrupted copies. Never deletes the
    newest, `new_backup` or the live `database`, which may be named like one. Returns the deleted backups,
    oldest first. Raises OSError."""
    database = database.resolve() if database else None
    older = [each for each in backups_in(folder) if each.path.resolve() != database][1:]
    max_older = len(older) if keep is None else max(keep, 1) - 1
    cutoff = None if days is None else now.replace(tzinfo=None) - timedelta(days=days)
    expired = [
        backup.path
        for position, backup in enumerate(older)
        if backup.path != new_backup and (position >= max_older or (cutoff and backup.moment < cutoff))
    ]
    for path in reversed(expired):
        path.unlink(missing_ok=True)
        manifest_path(path).unlink(missing_ok=True)
    interrupted_before = (now - _MAX_COPY_TIME).timestamp()
    for path in folder.iterdir():
        with suppress(FileNotFoundError):  # the copy has got its final name meanwhile
            if _PARTIAL_NAME.fullmatch(path.name) and path.stat().st_mtime < interrupted_before:
                path.unlink()
    sync_folder(folder)
    return tuple(reversed(expired))


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
    """Copy the database, with a manifest and the erasure log, into the folder as
    `sessions_YYYYMMDD-HHMMSS.db`; delete expired backups. Raises DatabaseMissing, DatabaseUnusable,
    NotEnoughRoom, BackupFailed or, after the copy was made, OldBackupsKept."""
    return await asyncio.to_thread(lambda: _back_up(database, folder, now, announce, keep=keep, days=days))


def _back_up(
    database: Path, folder: Path, now: datetime, announce: Announce, *, keep: int | None, days: int | None
) -> BackupResult:
    log = ErasureLog.beside(database)
    name = f"sessions_{now:%Y%m%d-%H%M%S}"
    with _new_copy(database, folder, name, announce) as (partial, target, version, rows):
        log.create()
        merge_log(log.path, copied_log_path(folder))
        manifest = Manifest(
            made_at=now.astimezone(UTC),
            program=metadata.version("cc-bot"),
            schema_version=version,
            size_bytes=partial.stat().st_size,
            sha256=hash_of(partial),
            rows=rows,
            erasures=read_erasures(copied_log_path(folder)).count,
        )
        write_atomically(manifest_path(target), manifest.to_json().encode())
    try:
        deleted = rotate(folder, now, new_backup=target, keep=keep, days=days, database=database)
    except OSError as error:
        raise OldBackupsKept(made=str(target), path=str(folder)) from error
    return BackupResult(target, manifest, deleted)


def back_up_before(database: Path, version: int) -> Path:
    """Copy the database beside itself before a migration: `sessions.before-v2.db`."""
    with _new_copy(database, database.parent, f"{database.stem}.before-v{version}") as (_, target, *_counts):
        return target


@contextmanager
def _new_copy(
    database: Path, folder: Path, stem: str, announce: Announce = announce_nothing
) -> Iterator[tuple[Path, Path, int, RowCounts]]:
    """Yield the copy, its final path, schema version and row counts. Renames the copy on exit."""
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
    """Create a file with mode 0600. Returns its path, and the final path that it reserves."""
    for target in numbered_paths(folder, stem):
        partial = target.with_name(f".{target.name}.partial")
        with suppress(FileExistsError):
            os.close(os.open(partial, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600))
            if not target.exists() and not manifest_path(target).exists():
                return partial, target
            partial.unlink()
    raise AssertionError("numbered_paths is endless")


def copies_of(database: Path) -> list[Path]:
    """List the copies that migrations and restores left beside a database, with their WALs."""
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
    return sorted(database.parent.glob(f".{glob.escape(database.name)}.restoring-*"))


def delete_old_copies(database: Path, now: datetime, days: int) -> tuple[Path, ...]:
    """Delete and return copies older than `days` (0: keep all), and interrupted ones. Raises OSError."""
    interrupted_before = (now - _MAX_COPY_TIME).timestamp()
    old_before = (now - timedelta(days=days)).timestamp() if days else 0
    old = [
        path
        for path in (*leftovers_of(database), *copies_of(database))
        if path.stat().st_mtime < (interrupted_before if path.name.startswith(".") else old_before)
    ]
    for path in old:
        with suppress(FileNotFoundError):
            shutil.rmtree(path) if path.is_dir() else path.unlink()
    if old:
        sync_folder(database.parent)
    return tuple(old)


def newest_backup(folder: Path, zone: tzinfo) -> datetime | None:
    """Return when the newest backup was made, if any. Raises OSError."""
    newest = next(iter(backups_in(folder)), None)
    return newest.moment.replace(tzinfo=zone) if newest else None
