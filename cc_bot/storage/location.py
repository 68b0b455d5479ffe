"""Where the database is: CC_BOT_DATABASE_URL, read."""

import os
from pathlib import Path

from cc_bot.domain.errors import DatabaseFolderMissing, InvalidSetting

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


def need_folder(database: Path) -> None:
    """See that the folder of a database is there. Only the default one is made: a typing error must not start
    an empty database. Raises DatabaseFolderMissing."""
    if database.parent == _DEFAULT_FOLDER:
        database.parent.mkdir(mode=0o700, exist_ok=True)
    if not database.parent.is_dir():
        raise DatabaseFolderMissing(path=str(database.parent))
