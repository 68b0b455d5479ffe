"""From a URL to a connection: the only place that knows which engine a URL means."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from cc_bot.storage.database import Database
from cc_bot.storage.location import sqlite_path
from cc_bot.storage.sqlite import Synchronous, connect_sqlite


@asynccontextmanager
async def open_database(url: str, *, synchronous: Synchronous = "NORMAL") -> AsyncIterator[Database]:
    """A connection to the database, its schema as it is found.

    Raises a StartupError: InvalidSetting, DatabaseFolderMissing, DatabaseUnusable or SqliteTooOld.
    """
    async with connect_sqlite(sqlite_path(url), synchronous=synchronous) as database:
        yield database
