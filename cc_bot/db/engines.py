"""Selects the engine of a database URL."""

import asyncio
import os
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from importlib.util import find_spec
from pathlib import Path
from typing import Final
from urllib.parse import parse_qsl, urlsplit

from cc_bot.db.database import Database, Dialect
from cc_bot.db.files import URL_SETTING, database_file, sqlite_path
from cc_bot.db.sqlite import TIMEOUT_S, Synchronous, connect_sqlite
from cc_bot.domain.errors import EngineMissing, PostgresInUse, SqliteOnly

_SERVERS: Final = ("postgresql://", "postgres://")


def dialect_of(url: str) -> Dialect:
    return "postgresql" if url.startswith(_SERVERS) else "sqlite"


DATA_FOLDER: Final = Path("data")
_SERVER_NAME: Final = "postgresql"


def operator_anchor_path(url: str, data_folder: Path = DATA_FOLDER) -> Path:
    """Return the path beside which the operator's files are, with links unresolved. Raises InvalidSetting."""
    return sqlite_path(url) if dialect_of(url) == "sqlite" else data_folder / _SERVER_NAME


def state_path(url: str, data_folder: Path = DATA_FOLDER) -> Path:
    """Return the path beside which the erasure log and the lock are, with links resolved."""
    return database_file(url) if dialect_of(url) == "sqlite" else data_folder / _SERVER_NAME


def folder_setting(url: str) -> str:
    """Return the setting that determines the folder of both paths."""
    return URL_SETTING if dialect_of(url) == "sqlite" else "CC_BOT_DATA_FOLDER"


def without_password(url: str) -> str:
    """Raises InvalidSetting or EngineMissing."""
    if dialect_of(url) == "sqlite":
        return url
    _require_driver()
    from cc_bot.db.postgres import PostgresUrl  # noqa: PLC0415 - only where a URL names a server

    return PostgresUrl.parse(url).without_password


def source_url(url: str) -> str:
    """Return the URL without its password and with an absolute path. Raises as `without_password`."""
    if dialect_of(url) == "sqlite":
        return f"sqlite:///{os.path.realpath(sqlite_path(url))}"
    address = without_password(url)
    options = parse_qsl(urlsplit(url).query)
    hosts = "&".join(f"{name}={value}" for name, value in options if name in ("host", "port"))
    return f"{address}?{hosts}" if hosts else address


def require_file(url: str, command: str) -> Path:
    """Return the database file, with links resolved. Raises InvalidSetting, or SqliteOnly for a server."""
    if dialect_of(url) != "sqlite":
        raise SqliteOnly(command=command)
    return database_file(url)


@asynccontextmanager
async def open_database(
    url: str, *, synchronous: Synchronous = "NORMAL", timeout_s: float = TIMEOUT_S, read_only: bool = False
) -> AsyncIterator[Database]:
    """Open a connection without migrating. `timeout_s`: how long writes to a file wait for other programs.
    Raises InvalidSetting, EngineMissing, or as `connect_sqlite` and `connect_postgres`."""
    if dialect_of(url) == "sqlite":
        file = database_file(url)
        async with connect_sqlite(
            file, synchronous=synchronous, timeout_s=timeout_s, read_only=read_only
        ) as database:
            yield database
        return
    _require_driver()
    from cc_bot.db.postgres import connect_postgres  # noqa: PLC0415 - only where a URL names a server

    async with connect_postgres(url) as server:
        yield server


def _require_driver() -> None:
    if find_spec("asyncpg") is None:
        raise EngineMissing(extra="postgres")


_COUNT_OTHERS: Final = """
    SELECT count(*) FROM pg_stat_activity
    WHERE datname = current_database() AND pid <> pg_backend_pid() AND application_name = 'cc-bot'
        AND (state IS NULL OR state <> 'idle' OR state_change > clock_timestamp() - INTERVAL '1 minute')
"""
"""Ignores idle connections, which belong to a pooler: a bot queries at least every 15 seconds."""
_MAX_ATTEMPTS: Final = 20
_PAUSE_S: Final = 0.1  # between attempts, as a closed connection may still be listed


async def ensure_unused(database: Database) -> None:
    """Raises PostgresInUse if another cc-bot uses the database on a server. Of files, see `instance_lock`."""
    if database.dialect == "sqlite":
        return
    for _ in range(_MAX_ATTEMPTS):
        [(others,)] = await database.query(_COUNT_OTHERS)
        if not others:
            return
        await asyncio.sleep(_PAUSE_S)
    raise PostgresInUse(path=database.location)
