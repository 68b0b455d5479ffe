"""The database's file and folder, and durable file operations."""

import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from filelock import FileLock, Timeout

from cc_bot.domain.errors import (
    AlreadyRunning,
    DatabaseFolderMissing,
    DatabaseUnusable,
    InvalidSetting,
    NotEnoughRoom,
)
from cc_bot.domain.text import format_size

DEFAULT_URL = "sqlite:///data/sessions.db"
EXAMPLE_URLS: Final = f"{DEFAULT_URL}, postgresql://cc_bot@db.example/cc_bot"
URL_SETTING: Final = "CC_BOT_DATABASE_URL"

_PREFIX = "sqlite:///"
_DEFAULT_FOLDER = Path("data")
_MAX_NAME_BYTES = 180  # the system's limit is 255; files beside the database have longer names
_MAX_PATH_BYTES = 3900  # the system's limit is 4096


def sqlite_path(url: str) -> Path:
    """Return the file after `sqlite:///`, where `%` has no meaning. Raises InvalidSetting."""
    path = url.removeprefix(_PREFIX)
    if path == url or not path.strip() or "\0" in path or not _can_be_a_file(Path(path)):
        raise InvalidSetting(name=URL_SETTING, expected=EXAMPLE_URLS)
    return Path(path)


def _can_be_a_file(path: Path) -> bool:
    name_bytes = max((len(os.fsencode(name)) for name in path.parts), default=0)
    fits = name_bytes <= _MAX_NAME_BYTES and len(os.fsencode(path)) <= _MAX_PATH_BYTES
    return path.name not in ("", "..") and fits


def database_file(url: str) -> Path:
    """Return `sqlite_path` with links resolved: SQLite keeps the WAL beside the actual file."""
    path = sqlite_path(url)
    return Path(os.path.realpath(path)) if path.is_symlink() else path


def sidecar(database: Path, suffix: str) -> Path:
    """Return the path with a suffix after its name, such as `-wal`."""
    return database.with_name(database.name + suffix)


def can_use_folder(database: Path) -> bool:
    """Return whether the folder exists or is the default. Others are not created, as they may be misspelt."""
    return database.parent.is_dir() or database.parent == _DEFAULT_FOLDER


def ensure_folder(database: Path, setting: str = URL_SETTING) -> None:
    """Create the default folder. Raises DatabaseFolderMissing, which names the `setting`, for another."""
    if not can_use_folder(database):
        raise DatabaseFolderMissing(path=str(database.parent), setting=setting)
    database.parent.mkdir(mode=0o700, exist_ok=True)


@dataclass(frozen=True, slots=True)
class HolderNote:
    """The file beside a lock that names the process which has or had it."""

    path: Path
    previous: str  # the name of the process that had it before; empty if unknown

    def write(self, name: str) -> None:
        self.path.touch(mode=0o600)
        self.path.write_text(f"{name} {_file_identity(self.path)}", "utf-8")


@contextmanager
def instance_lock(database: Path, setting: str = URL_SETTING, shards: str = "") -> Iterator[HolderNote]:
    """Hold the lock beside the database, or that of some shards. Raises AlreadyRunning, DatabaseUnusable, or
    as `ensure_folder`."""
    ensure_folder(database, setting)
    base = f"{database}.{shards}" if shards else f"{database}"
    lock, note = FileLock(f"{base}.lock", timeout=0, mode=0o600), Path(f"{base}.process")
    try:
        lock.acquire()
    except Timeout as error:
        raise AlreadyRunning(path=str(database)) from error
    except OSError as error:
        raise DatabaseUnusable(path=str(database)) from error
    try:
        previous = ""
        with suppress(OSError, UnicodeDecodeError):
            name, _, fingerprint = note.read_text("utf-8").partition(" ")
            previous = name if fingerprint == _file_identity(note) else ""
        yield HolderNote(note, previous)
    finally:
        lock.release()


def _file_identity(note: Path) -> str:
    status = note.stat()
    return f"{status.st_dev}:{status.st_ino}"


MARGIN_BYTES: Final = 2**24


def free_bytes(folder: Path) -> int:
    """Raises OSError."""
    return shutil.disk_usage(folder).free


def ensure_free_space(folder: Path, size: int) -> None:
    """Raises NotEnoughRoom unless `size` bytes fit with a margin."""
    free, needed = free_bytes(folder), size + MARGIN_BYTES
    if free < needed:
        raise NotEnoughRoom(path=str(folder), needed=format_size(needed), free=format_size(free))


def sync_file(path: Path) -> None:
    with path.open("r+b") as file:
        os.fsync(file.fileno())


def sync_folder(folder: Path) -> None:
    """Does nothing on Windows, where a folder can't be synced."""
    with suppress(PermissionError):
        descriptor = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)


def move(source: Path, target: Path) -> None:
    """Rename a synced file, replacing `target`. Raises OSError."""
    source.replace(target)
    sync_folder(target.parent)


def write_atomically(path: Path, content: bytes) -> None:
    """Create a file with mode 0600, atomically. Raises OSError."""
    partial = path.with_name(f".{path.name}.partial")
    partial.touch(mode=0o600)
    try:
        partial.write_bytes(content)
        sync_file(partial)
        move(partial, path)
    finally:
        partial.unlink(missing_ok=True)


def append(path: Path, lines: bytes) -> None:
    """Append whole lines in one write; a truncated last line is ended first. Raises OSError."""
    is_new = not path.exists()
    if is_new:
        path.touch(mode=0o600)
    with path.open("ab+", buffering=0) as file:
        if lines and file.seek(0, os.SEEK_END):
            file.seek(-1, os.SEEK_END)
            if file.read(1) != b"\n":
                lines = b"\n" + lines
        if file.write(lines) < len(lines):
            raise OSError("the lines were written in part")
        os.fsync(file.fileno())
    if is_new:
        sync_folder(path.parent)
