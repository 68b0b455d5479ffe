"""Where the database is: CC_BOT_DATABASE_URL, read."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from filelock import FileLock, Timeout

from cc_bot.domain.errors import AlreadyRunning, DatabaseFolderMissing, DatabaseUnusable, InvalidSetting

DEFAULT_URL = "sqlite:///data/sessions.db"

_PREFIX = "sqlite:///"
_DEFAULT_FOLDER = Path("data")
_LONGEST_NAME_BYTES = 180
"""Of 255 that most file systems take: what stands beside the database has longer names."""
_LONGEST_PATH_BYTES = 3900
"""Of 4096, likewise."""


def sqlite_path(url: str) -> Path:
    """The file of a URL: `sqlite:///relative/path` or `sqlite:////absolute/path`.

    The rest of the URL is the path as it stands: nothing is unquoted, and `?` begins no options. Raises
    InvalidSetting for anything else. The error does not repeat the URL, which may hold a password.
    """
    path = url.removeprefix(_PREFIX)
    if path == url or not path.strip() or "\0" in path or not _can_be_a_file(Path(path)):
        raise InvalidSetting(
            name="CC_BOT_DATABASE_URL",
            expected=f"{DEFAULT_URL}, sqlite:////var/lib/cc-bot/sessions.db",
        )
    return Path(path)


def _can_be_a_file(path: Path) -> bool:
    """Whether it ends in a name, and no name is longer than a file system takes."""
    longest = max((len(os.fsencode(name)) for name in path.parts), default=0)
    fits = longest <= _LONGEST_NAME_BYTES and len(os.fsencode(path)) <= _LONGEST_PATH_BYTES
    return path.name not in ("", "..") and fits


def database_file(url: str) -> Path:
    """The file itself, where the URL names a link to it: what stands beside the database, and what takes its
    place or takes it away, has to be where SQLite keeps its log. Raises InvalidSetting."""
    path = sqlite_path(url)
    return Path(os.path.realpath(path)) if path.is_symlink() else path


def has_folder(database: Path) -> bool:
    """Whether the folder of a database is there, or would be made."""
    return database.parent.is_dir() or database.parent == _DEFAULT_FOLDER


def sidecar(database: Path, suffix: str) -> Path:
    """Return the file beside the database that has its name and a suffix: `-wal` (SQLite's own), `.copy`."""
    return database.with_name(database.name + suffix)


def need_folder(database: Path) -> None:
    """See that the folder of a database is there. Only the default one is made: a typing error must not start
    an empty database. Raises DatabaseFolderMissing."""
    if database.parent == _DEFAULT_FOLDER:
        database.parent.mkdir(mode=0o700, exist_ok=True)
    if not database.parent.is_dir():
        raise DatabaseFolderMissing(path=str(database.parent))


# ---- run lock --------------------------------------------------------------------------------------------
# One bot per database: two would answer every question twice.
#
# The lock is the operating system's, on a file beside the database, so it ends with the process however
# that ends. `chat`, `backup` and `migrate` may stand beside a running bot and don't take it.


@contextmanager
def sole_bot(database: Path) -> Iterator[None]:
    """Hold the database's lock. Raises AlreadyRunning when another process does, and what opening the
    database would raise for a folder that is missing or can't be written to."""
    need_folder(database)
    lock = FileLock(f"{database}.lock", timeout=0, mode=0o600)
    try:
        lock.acquire()
    except Timeout as error:
        raise AlreadyRunning(path=str(database)) from error
    except OSError as error:
        raise DatabaseUnusable(path=str(database)) from error
    try:
        yield
    finally:
        lock.release()
