"""Replaces the database with a backup, atomically.

A copy of the backup is checked and migrated; the caller (app/database.py) erases in it what users have erased
since. The old database gets a second name, and one rename puts the copy in its place, so a crash leaves a
complete file. Before that, the WAL is deleted, as SQLite would apply it to the new file.
"""

import glob
import os
import shutil
import sqlite3
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, closing, contextmanager, suppress
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final

from cc_bot.db.backup import (
    Announce,
    Damaged,
    Manifest,
    RowCounts,
    check_database,
    copies_of,
    hash_of,
    is_disk_error,
    leftovers_of,
    numbered_paths,
    read_manifest,
)
from cc_bot.db.files import ensure_folder, ensure_free_space, move, sidecar, sync_file, sync_folder
from cc_bot.db.schema import MIGRATIONS_TABLE, apply_pending, list_pending, schema_of
from cc_bot.db.sqlite import code_of, connect_existing, connect_sqlite
from cc_bot.domain.clock import Clock
from cc_bot.domain.errors import (
    BackupChanged,
    BackupDamaged,
    BackupMissing,
    DatabaseInUse,
    DatabaseNewer,
    DatabaseNotOurs,
    DatabaseUnusable,
    RestoreFailed,
    SchemaChanged,
    StorageError,
)
from cc_bot.files import NotRegularFile

_SIDECARS: Final = ("-wal", "-shm", "-journal")
_MAGIC: Final = b"SQLite format 3\0"  # https://www.sqlite.org/fileformat.html, section 1.3


@dataclass(frozen=True, slots=True)
class StagedBackup:
    """A checked copy of a backup, in a folder beside the database."""

    path: Path
    manifest: Manifest | None
    rows: RowCounts

    @property
    def made_at(self) -> datetime | None:
        return self.manifest.made_at if self.manifest else None


@asynccontextmanager
async def stage_backup(
    backup: Path, database: Path, clock: Clock, announce: Announce
) -> AsyncIterator[StagedBackup]:
    """Yield a checked and migrated copy in a temporary folder. Raises BackupMissing, BackupDamaged,
    BackupChanged, DatabaseNewer, NotEnoughRoom, RestoreFailed or DatabaseFolderMissing."""
    if not os.path.isfile(backup):  # noqa: ASYNC240, PTH113 - Path's own way raises for a name that is too long
        raise BackupMissing(path=str(backup))
    ensure_folder(database)
    try:
        size = backup.stat().st_size  # noqa: ASYNC240 - nothing else runs
        with temporary_folder(database, 2 * size) as folder:  # for the copy and VACUUM INTO
            copy = _stage(backup, folder / database.name, announce)
            async with connect_sqlite(copy.path) as opened:
                if await list_pending(opened):
                    announce("upgrading")
                await apply_pending(opened, clock=clock, copy_first=False)  # the backup is the safety copy
            yield copy
    except SchemaChanged as error:
        raise BackupChanged(path=str(backup), name=error.params["name"]) from error
    except DatabaseNewer as error:
        raise DatabaseNewer(**{**error.params, "path": str(backup)}) from error
    except (OSError, sqlite3.Error, StorageError) as error:
        raise RestoreFailed(path=str(database)) from error


@contextmanager
def temporary_folder(database: Path, size: int) -> Iterator[Path]:
    """Make a temporary folder beside the database; delete old ones. Raises NotEnoughRoom or OSError."""
    ensure_free_space(database.parent, size)
    for leftover in leftovers_of(database):
        shutil.rmtree(leftover)
    prefix = f".{database.name}.restoring-"
    with TemporaryDirectory(dir=database.parent, prefix=prefix, ignore_cleanup_errors=True) as folder:
        yield Path(folder)


def _stage(backup: Path, path: Path, announce: Announce) -> StagedBackup:
    try:
        manifest = read_manifest(backup)
        announce("copying")
        for suffix in ("", "-wal"):  # a file copied while in use has a WAL
            source, target = sidecar(backup, suffix), sidecar(path, suffix)
            if source.is_file():
                target.touch(mode=0o600)
                shutil.copyfile(source, target)
        announce("checking")
        if manifest and hash_of(path) != manifest.sha256:
            raise Damaged
        with closing(sqlite3.connect(path, isolation_level=None)) as connection:
            return StagedBackup(path, manifest, check_database(connection)[1])
    except (ValueError, NotRegularFile, sqlite3.DatabaseError) as error:
        if is_disk_error(error):
            raise
        raise BackupDamaged(path=str(backup)) from error


def compact_copy(copy: Path, database: Path) -> None:
    """Compact the copy into one synced file. New rows get no ids that the old database used, as
    buttons in Discord carry those. Raises sqlite3.Error or OSError."""
    compact = sidecar(copy, ".compact")
    compact.touch(mode=0o600)
    with closing(sqlite3.connect(copy, isolation_level=None)) as connection:
        connection.execute("PRAGMA journal_mode = DELETE").fetchall()
        last_ids = dict(connection.execute("SELECT name, seq FROM sqlite_sequence").fetchall())
        for name, last_id in _last_row_ids(database):
            if last_id > last_ids.get(name, 0):
                connection.execute("DELETE FROM sqlite_sequence WHERE name = ?", (name,))
                connection.execute("INSERT INTO sqlite_sequence VALUES (?, ?)", (name, last_id))
        connection.execute("VACUUM INTO ?", (str(compact),))
    compact.replace(copy)
    sync_file(copy)


def _last_row_ids(database: Path) -> list[tuple[str, int]]:
    """Return the last row id of each table; none if the file is damaged."""
    with suppress(sqlite3.Error), closing(connect_existing(database)) as connection:
        if connection.execute("PRAGMA quick_check(1)").fetchall() == [("ok",)]:
            return connection.execute("SELECT name, seq FROM sqlite_sequence").fetchall()
    return []


def ensure_own_file(database: Path) -> None:
    """Raises DatabaseNotOurs or DatabaseUnusable, unless the file is missing, empty or a cc-bot database,
    maybe a damaged one."""
    if not database.exists():
        return
    try:
        if not database.is_file():
            raise OSError("not a file")
        if not _is_own_file(database):
            raise DatabaseNotOurs(path=str(database))
    except OSError as error:
        raise DatabaseUnusable(path=str(database)) from error


def _is_own_file(database: Path) -> bool:
    try:
        with closing(connect_existing(database)) as connection:
            schema = schema_of(connection)
        return not schema or f"TABLE {MIGRATIONS_TABLE}" in schema
    except sqlite3.DatabaseError:  # damaged
        with database.open("rb") as file:
            is_database = file.read(len(_MAGIC)) == _MAGIC
        # A lock file shows that the bot has used the file, but not beside a link: it may have led elsewhere.
        return is_database or (sidecar(database, ".lock").exists() and not database.is_symlink())


def remove_wal(database: Path) -> None:
    """Merge the WAL into the database and delete it. Raises DatabaseInUse if another program uses it."""
    try:
        if database.exists():
            with closing(connect_existing(database, "rw", timeout_s=0)) as connection:
                connection.execute("PRAGMA journal_mode = DELETE").fetchall()
    except sqlite3.DatabaseError as error:
        if code_of(error) in (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED):
            raise DatabaseInUse(path=str(database)) from error


def replace_database(copy: Path, database: Path, now: datetime) -> Path | None:
    """Replace the database; return the path of the old one, if there was one. If it raises DatabaseInUse or
    RestoreFailed, the database is unchanged."""
    remove_wal(database)
    try:
        old = _add_second_name(database, now) if database.exists() else None
        move(copy, database)
    except OSError as error:
        raise RestoreFailed(path=str(database)) from error
    return old


def _add_second_name(database: Path, now: datetime) -> Path:
    """Give the database a second name, and return it. Deletes one that an interrupted restore left."""
    stem = f"{database.stem}.replaced-"
    for path in database.parent.glob(f"{glob.escape(stem)}*.db"):
        if path.samefile(database):
            path.unlink()
    paths = numbered_paths(database.parent, f"{stem}{now:%Y%m%d-%H%M%S}")
    second = next(path for path in paths if not path.exists())
    os.utime(database, (now.timestamp(), now.timestamp()))  # delete_old_copies goes by this time
    try:
        second.hardlink_to(database)
    except (OSError, NotImplementedError):  # the file system has no links
        shutil.copyfile(database, second)
        second.chmod(0o600)
        sync_file(second)
    for suffix in _SIDECARS:
        with suppress(FileNotFoundError):
            sidecar(database, suffix).replace(sidecar(second, suffix))
    sync_folder(database.parent)
    return second


def list_data_files(database: Path, *more: Path) -> list[Path]:
    """List the files with data. The WAL is first, to be deleted first: a new database would get its data."""
    beside = [sidecar(database, suffix) for suffix in _SIDECARS]
    litestream = database.with_name(f".{database.name}-litestream")  # data not yet replicated
    candidates = (*beside, database, *copies_of(database), *more, *leftovers_of(database), litestream)
    return [path for path in candidates if path.exists()]


def wipe(database: Path, *more: Path) -> list[Path]:
    """Delete and return the files with data. Raises DatabaseInUse or DatabaseUnusable."""
    remove_wal(database)
    paths = list_data_files(database, *more)
    try:
        for path in paths:
            shutil.rmtree(path) if path.is_dir() else path.unlink(missing_ok=True)
        sync_folder(database.parent)
    except OSError as error:
        raise DatabaseUnusable(path=str(database)) from error
    return paths
