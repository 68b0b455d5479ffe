"""The engines behind a URL: the only place that knows which one it means."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Final

from cc_bot.domain.errors import EngineMissing, NotAFile
from cc_bot.storage.database import Database
from cc_bot.storage.dialect import Dialect
from cc_bot.storage.files import database_file, sqlite_path
from cc_bot.storage.sqlite import PATIENCE_S, Synchronous, connect_sqlite

_SERVERS: Final = ("postgresql://", "postgres://")


def dialect_of(url: str) -> Dialect:
    """Return what the engine of a URL speaks."""
    return "postgresql" if url.startswith(_SERVERS) else "sqlite"


DATA_FOLDER: Final = Path("data")
_SERVER_NAME: Final = "postgresql"
"""Of the files that stand beside a database which is none itself."""


def named_beside(url: str, data_folder: Path = DATA_FOLDER) -> Path:
    """Return the path beside which the operator's own files stand: that of the database, as its URL names it;
    where it is on a server, one in the data folder. Raises InvalidSetting."""
    return sqlite_path(url) if dialect_of(url) == "sqlite" else data_folder / _SERVER_NAME


def kept_beside(url: str, data_folder: Path = DATA_FOLDER) -> Path:
    """The same for what the program keeps there itself: the log of erasures, the lock. Raises
    InvalidSetting."""
    return database_file(url) if dialect_of(url) == "sqlite" else data_folder / _SERVER_NAME


def shown(url: str) -> str:
    """Return a URL as the operator may be shown it: without a password."""
    if dialect_of(url) == "sqlite":
        return url
    from cc_bot.storage.postgres import PostgresUrl  # noqa: PLC0415 - only where a URL names a server

    return PostgresUrl.of(url).shown


def file_of(url: str, command: str) -> Path:
    """Return the file of a database, for a command that is about files. Raises InvalidSetting, and NotAFile
    for a database on a server."""
    if dialect_of(url) != "sqlite":
        raise NotAFile(command=command)
    return database_file(url)


@asynccontextmanager
async def open_database(
    url: str, *, synchronous: Synchronous = "NORMAL", patience_s: float = PATIENCE_S
) -> AsyncIterator[Database]:
    """Open a connection to the database, its schema as it is found. `patience_s`: how long writes wait for
    others.

    Raises a StartupError: InvalidSetting, DatabaseFolderMissing, DatabaseUnusable, SqliteTooOld,
    EngineMissing, PostgresRefused or PostgresTooOld; or a StorageError.
    """
    if dialect_of(url) == "sqlite":
        file = database_file(url)
        async with connect_sqlite(file, synchronous=synchronous, patience_s=patience_s) as opened:
            yield opened
        return
    try:
        from cc_bot.storage.postgres import connect_postgres  # noqa: PLC0415 - only where a URL names a server
    except ModuleNotFoundError as error:
        raise EngineMissing(extra="postgres") from error
    async with connect_postgres(url) as database:
        yield database
