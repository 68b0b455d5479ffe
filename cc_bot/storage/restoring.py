"""A backup takes the place of the database: all at once, or not at all.

It is copied beside the database into a folder of its own, checked, upgraded, and freed of what was erased
since. Then the former database gets a second name, and the copy takes its first one in one rename. So
whenever the program ends, the database's name stands for the old file or for the new one, each whole; a
folder that was left over goes with the next restore.

SQLite finds a WAL by name alone: beside another file it would spoil that. So it is checkpointed first, which
also proves that no other program has the file open.
"""

import glob
import shutil
import sqlite3
import tempfile
from collections.abc import Iterator
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass
from datetime import datetime
from itertools import chain, count
from pathlib import Path
from typing import Final, Literal

from cc_bot.domain.errors import (
    BackupChanged,
    BackupDamaged,
    BackupMissing,
    DatabaseInUse,
    DatabaseNewer,
    DatabaseNotOurs,
    DatabaseOutdated,
    DatabaseUnusable,
    RestoreFailed,
    StorageError,
    UpgradeFailed,
)
from cc_bot.regular_file import NotRegular, open_regular
from cc_bot.storage.backup import copies_of, leftovers_of
from cc_bot.storage.files import ensure_folder, has_folder, move, sidecar, sync_file, sync_folder
from cc_bot.storage.manifest import (
    RECORDS,
    SELECT_UNRELEASED,
    Damaged,
    Manifest,
    Progress,
    Rows,
    checked_version,
    count_rows,
    ensure_whole,
    growing,
    hash_of,
    ignore_progress,
    is_busy,
    is_disk_trouble,
    read_manifest,
)
from cc_bot.storage.migrate import known_migrations, mismatch_of
from cc_bot.storage.rewriting import ensure_free_space
from cc_bot.storage.schema import schema_of
from cc_bot.storage.sqlite import log_bytes_of

SIDECARS: Final = ("-wal", "-shm", "-journal")
"""What SQLite keeps beside a file, by its name."""
_BEGINNING: Final = b"SQLite format 3\0"
"""Of each of its files: https://www.sqlite.org/fileformat.html, section 1.3."""


@dataclass(frozen=True, slots=True)
class StagedBackup:
    """A checked copy of a backup, beside the database that it is to replace."""

    path: Path
    manifest: Manifest | None
    """None for a file that came without one."""
    rows: Rows

    @property
    def made_at(self) -> datetime | None:
        return self.manifest.made_at if self.manifest else None


@contextmanager
def staged(backup: Path, database: Path, *, progress: Progress = ignore_progress) -> Iterator[StagedBackup]:
    """Yield a checked copy of the backup, in a folder of its own that is deleted afterwards.

    Raises BackupMissing, BackupDamaged, BackupChanged, DatabaseNewer, DatabaseOutdated, NotEnoughRoom,
    RestoreFailed or, for the database's folder, DatabaseFolderMissing.
    """
    if not backup.is_file():
        raise BackupMissing(path=str(backup))
    ensure_folder(database)
    ensure_free_space(database.parent, 2 * backup.stat().st_size)  # the copy, and VACUUM INTO
    try:
        for leftover in leftovers_of(database):
            shutil.rmtree(leftover)
        with tempfile.TemporaryDirectory(
            dir=database.parent, prefix=f".{database.name}.restoring-", ignore_cleanup_errors=True
        ) as folder:
            yield _stage(backup, Path(folder) / database.name, progress)
    except UpgradeFailed as error:
        raise BackupDamaged(path=str(backup)) from error
    except (OSError, sqlite3.Error, StorageError) as error:
        raise RestoreFailed(path=str(database)) from error


def _stage(backup: Path, path: Path, progress: Progress) -> StagedBackup:
    try:
        manifest = read_manifest(backup)
    except (ValueError, NotRegular) as error:
        raise BackupDamaged(path=str(backup)) from error
    _copy(backup, path, progress)
    if manifest and hash_of(path, progress) != manifest.sha256:
        raise BackupDamaged(path=str(backup))
    progress("checking", 0, 0)
    try:
        with closing(sqlite3.connect(path, isolation_level=None)) as connection:
            version = checked_version(connection)
            if connection.execute(SELECT_UNRELEASED).fetchone():
                command = f"cc-bot copy --from sqlite:///{backup} --to URL"
                raise DatabaseOutdated(path=str(backup), command=command)
            newest = known_migrations()[-1].version
            if version > newest:
                raise DatabaseNewer(path=str(backup), found=version, known=newest)
            if name := mismatch_of(schema_of(connection), version):
                raise BackupChanged(path=str(backup), name=name)
            return StagedBackup(path, manifest, count_rows(connection))
    except (sqlite3.DatabaseError, Damaged) as error:
        if isinstance(error, sqlite3.Error) and is_disk_trouble(error):
            raise
        raise BackupDamaged(path=str(backup)) from error


def _copy(backup: Path, path: Path, progress: Progress) -> None:
    """Copy the backup, with its WAL, which a file has that was copied while it was in use."""
    for suffix in ("", "-wal"):
        source, target = sidecar(backup, suffix), sidecar(path, suffix)
        if source.is_file():
            target.touch(mode=0o600)
            with growing(target, source.stat().st_size, progress):
                shutil.copyfile(source, target)


def finish(copy: Path, former: Path) -> None:
    """Compact the copy into one file without unused pages, synced to the disk.

    Numbers that the former database has given since are not given again: buttons and people name them. Raises
    sqlite3.Error or OSError.
    """
    compact = sidecar(copy, ".compact")
    compact.touch(mode=0o600)
    with closing(sqlite3.connect(copy, isolation_level=None)) as connection:
        connection.execute("PRAGMA journal_mode = DELETE").fetchall()
        for name, number in _numbers(former):
            connection.execute("UPDATE sqlite_sequence SET seq = max(seq, ?) WHERE name = ?", (number, name))
            connection.execute(
                "INSERT INTO sqlite_sequence (name, seq) SELECT ?1, ?2 "
                "WHERE NOT EXISTS (SELECT 1 FROM sqlite_sequence WHERE name = ?1)",
                (name, number),
            )
        connection.execute("VACUUM INTO ?", (str(compact),))
    compact.replace(copy)
    sync_file(copy)


def _numbers(former: Path) -> list[tuple[str, int]]:
    """The last number of each table that never gives one twice. Nothing of a file that is damaged: a number
    that is none would be the last for ever."""
    with suppress(sqlite3.Error):
        former_uri = f"{former.absolute().as_uri()}?mode=ro"
        with closing(sqlite3.connect(former_uri, uri=True)) as connection:
            if connection.execute("PRAGMA quick_check(1)").fetchall() == [("ok",)]:
                return connection.execute("SELECT name, seq FROM sqlite_sequence").fetchall()
    return []


def ensure_own_file(database: Path, *, command: str | None = None) -> None:
    """See that what is to be replaced or taken away is a database of cc-bot, or nothing: where the setting
    names another file by mistake, or leads to one by a link, that is not ours to touch.

    A damaged one may be known no more; so the operator has a `command` that goes on all the same, and where
    that was given it is None here. Raises DatabaseNotOurs, or DatabaseUnusable for what is no file.
    """
    if not database.exists():
        return
    if not database.is_file():
        raise DatabaseUnusable(path=str(database))
    if command and not _is_own_file(database):
        raise DatabaseNotOurs(path=str(database), command=command)


def _is_own_file(database: Path) -> bool:
    try:
        with open_regular(database) as file:
            beginning = file.read(len(_BEGINNING))
        if beginning != _BEGINNING:
            # The bot has run on it, and not through a link: it was a database then.
            return not beginning or (sidecar(database, ".lock").exists() and not database.is_symlink())
        with closing(sqlite3.connect(f"{database.absolute().as_uri()}?mode=ro", uri=True)) as connection:
            tables = schema_of(connection)
        return not tables or f"TABLE {RECORDS}" in tables
    except sqlite3.DatabaseError:  # it was one once
        return True
    except OSError as error:
        raise DatabaseUnusable(path=str(database)) from error


def release(database: Path) -> None:
    """Have the log of a database written back and taken away. A damaged file is left as it is.

    Raises DatabaseInUse when somebody has it open.
    """
    with suppress(sqlite3.DatabaseError):
        if not database.exists():
            return
        database_uri = f"{database.absolute().as_uri()}?mode=rw"
        with closing(sqlite3.connect(database_uri, uri=True, timeout=0, isolation_level=None)) as connection:
            try:
                connection.execute("PRAGMA journal_mode = DELETE").fetchall()
            except sqlite3.OperationalError as error:
                if is_busy(error):
                    raise DatabaseInUse(path=str(database)) from error
                raise


def put_in_place(copy: Path, database: Path, now: datetime) -> Path | None:
    """Let the copy take the database's name; what the former one is called now, if there was one.

    Raises DatabaseInUse, or RestoreFailed with the database as it was.
    """
    release(database)
    try:
        replaced = _set_aside(database, now) if database.exists() else None
        move(copy, database)
    except OSError as error:
        raise RestoreFailed(path=str(database)) from error
    return replaced


def _set_aside(database: Path, now: datetime) -> Path:
    """Give the former database a second name, under which it stays, with its log if that could not be written
    back. Second names that a restore left behind, which was cut off before the rename, go."""
    for path in database.parent.glob(f"{glob.escape(database.stem)}.replaced-*.db"):
        if path.samefile(database):
            path.unlink()
    replaced = _free_name(database, f"{database.stem}.replaced-{now:%Y%m%d-%H%M%S}")
    try:
        replaced.hardlink_to(database)
    except (OSError, NotImplementedError):  # not every file system has links
        shutil.copyfile(database, replaced)
        replaced.chmod(0o600)
        sync_file(replaced)
    for suffix in SIDECARS:
        with suppress(FileNotFoundError):
            sidecar(database, suffix).replace(sidecar(replaced, suffix))
    sync_folder(database.parent)
    return replaced


def _free_name(database: Path, stem: str) -> Path:
    ends = chain([""], (f"-{number}" for number in count(2)))
    names = (database.with_name(f"{stem}{end}.db") for end in ends)
    return next(name for name in names if not name.exists())


# ---- examination -----------------------------------------------------------------------------------------
# A look at a database file from outside, which changes nothing of it and may be taken beside a bot.

SQLITE: Final = sqlite3.sqlite_version
"""What Python here comes with."""
PATIENCE_S: Final = 5.0
"""A writer that holds the file for longer is in everybody's way."""

Condition = Literal["fine", "missing", "no_folder", "foreign", "outdated", "damaged", "read_only", "locked"]


@dataclass(frozen=True, slots=True)
class Examination:
    condition: Condition
    newest: int
    """The version of the schema that this program knows."""
    version: int | None = None
    """That of the file, if it could be read."""
    size_bytes: int = 0
    """With its WAL."""
    mismatch: str = ""
    """An object that is not as the migrations make it."""


def examine(path: Path) -> Examination:
    """Open the file, check it, and take the write lock for a moment. It takes some seconds a gigabyte, so not
    on the event loop."""
    newest = known_migrations()[-1].version
    if not path.exists():
        return Examination("missing" if has_folder(path) else "no_folder", newest)
    if not path.is_file():
        return Examination("foreign", newest)
    size = path.stat().st_size + log_bytes_of(path)
    try:
        # mode=rw: it is never made here. A name with ? or # is quoted by as_uri.
        opened = sqlite3.connect(
            f"{path.absolute().as_uri()}?mode=rw", uri=True, timeout=PATIENCE_S, isolation_level=None
        )
        with closing(opened) as connection:
            return _examine(connection, newest, size)
    except Damaged:
        return Examination("damaged", newest, size_bytes=size)
    except sqlite3.Error as error:
        return Examination(_meaning(error), newest, size_bytes=size)


def _examine(connection: sqlite3.Connection, newest: int, size: int) -> Examination:
    """Look for damage first: it matters more than who is writing. Raises Damaged, or sqlite3.Error."""
    found = schema_of(connection)
    records = f"TABLE {RECORDS}"
    if found and records not in found:
        return Examination("foreign", newest, size_bytes=size)
    version = 0
    if found:
        if connection.execute(SELECT_UNRELEASED).fetchone():
            return Examination("outdated", newest, size_bytes=size)
        [(version,)] = connection.execute(f"SELECT coalesce(max(version), 0) FROM {RECORDS}").fetchall()  # noqa: S608 - a constant
    ensure_whole(connection)
    connection.execute("BEGIN IMMEDIATE")
    connection.execute("ROLLBACK")
    mismatch = mismatch_of(found, version) if 0 < version <= newest else ""
    return Examination("fine", newest, version, size, mismatch)


def _meaning(error: sqlite3.Error) -> Condition:
    if is_busy(error):
        return "locked"
    match getattr(error, "sqlite_errorcode", 0) & 0xFF:
        case sqlite3.SQLITE_READONLY:
            return "read_only"
        case sqlite3.SQLITE_CORRUPT:
            return "damaged"
        case _:
            return "foreign"


# ---- wiping ----------------------------------------------------------------------------------------------
# Everything of a database is taken away: the file, what SQLite keeps beside it, and every copy beside it.
#
# The log goes first. A log without its file is nothing, but a file that is made anew beside an old log would
# read it.


def data_of(database: Path, *more: Path) -> list[Path]:
    """List the files of a database, these others included, in the order in which they are to go."""
    beside = [sidecar(database, suffix) for suffix in SIDECARS]
    litestream = database.with_name(f".{database.name}-litestream")  # what it has not sent elsewhere yet
    candidates = (*beside, database, *copies_of(database), *more, *leftovers_of(database), litestream)
    return [path for path in candidates if path.exists()]


def wipe(database: Path, *more: Path) -> list[Path]:
    """Take it away for good, and return what was taken away.

    Raises DatabaseInUse when somebody has it open, or DatabaseUnusable when something can't be deleted.
    """
    release(database)
    doomed = data_of(database, *more)
    try:
        for path in doomed:
            shutil.rmtree(path) if path.is_dir() else path.unlink(missing_ok=True)
        sync_folder(database.parent)
    except OSError as error:
        raise DatabaseUnusable(path=str(database)) from error
    return doomed
