"""From a URL to a connection: the only place that knows which engine a URL means."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from cc_bot.storage.database import Database
from cc_bot.storage.location import database_file
from cc_bot.storage.sqlite import PATIENCE_S, connect_sqlite
from cc_bot.storage.sqlite_file import Synchronous


@asynccontextmanager
async def open_database(
    url: str, *, synchronous: Synchronous = "NORMAL", patience_s: float = PATIENCE_S
) -> AsyncIterator[Database]:
    """A connection to the database, its schema as it is found. `patience_s`: how long writes wait for others.

    Raises a StartupError: InvalidSetting, DatabaseFolderMissing, DatabaseUnusable or SqliteTooOld; or a
    StorageError: DatabaseLocked, DatabaseFull or DatabaseDamaged.
    """
    async with connect_sqlite(database_file(url), synchronous=synchronous, patience_s=patience_s) as database:
        yield database
