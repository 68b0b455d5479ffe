"""Schema migrations: numbered SQL files, applied in order.

A file and its record commit together, so a database is always at one version.
"""

import asyncio
import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache, partial
from importlib import resources
from importlib.resources.abc import Traversable
from itertools import chain
from pathlib import Path

from cc_bot.domain.clock import Clock, utc_now
from cc_bot.domain.errors import DatabaseNewer, SchemaChanged
from cc_bot.storage import backup
from cc_bot.storage.database import MAINTENANCE_LOCK, Database, Statement, Steps
from cc_bot.storage.dialect import Dialect, expand
from cc_bot.storage.schema import (
    RECORDS,
    SELECT_SCHEMA,
    Schema,
    find_mismatch,
    list_tables,
    schema_made_by,
    schema_of_rows,
)

_RECORDS = """
    CREATE TABLE IF NOT EXISTS schema_migrations (
        version     @number PRIMARY KEY,
        applied_at  @number NOT NULL,  -- Unix milliseconds
        description @text
    ) @strict
"""
_SELECT_VERSION = "SELECT coalesce(max(version), 0) FROM schema_migrations"


@dataclass(frozen=True, slots=True)
class Migration:
    version: int
    description: str
    statements: tuple[str, ...]


@cache
def known_migrations(dialect: Dialect = "sqlite") -> tuple[Migration, ...]:
    """Return this program's migrations for an engine, in order."""
    return read_migrations(resources.files("cc_bot.storage") / "migrations", dialect)


def read_migrations(folder: Traversable, dialect: Dialect = "sqlite") -> tuple[Migration, ...]:
    """Read the files named `0001_what_it_does.sql`, in order. Raises ValueError if a number is missing or
    duplicated."""
    found = [
        Migration(int(match[1]), match[2].replace("_", " "), _split(expand(file.read_text("utf-8"), dialect)))
        for file in folder.iterdir()
        if (match := re.fullmatch(r"\A(\d{4})_(\w+)\.sql", file.name))
    ]
    found.sort(key=lambda migration: migration.version)
    if [migration.version for migration in found] != list(range(1, len(found) + 1)):
        raise ValueError("migrations are numbered 1, 2, 3, … without a gap")
    return tuple(found)


def statements_up_to(version: int, migrations: Sequence[Migration] | None = None) -> tuple[str, ...]:
    """Return the statements that create this schema version in an empty SQLite database."""
    known = known_migrations() if migrations is None else migrations
    steps = [migration.statements for migration in known if migration.version <= version]
    return (expand(_RECORDS, "sqlite"), *chain.from_iterable(steps))


def newest_schema() -> tuple[str, ...]:
    """Return the statements that create the newest schema in an empty SQLite database."""
    return statements_up_to(known_migrations()[-1].version)


def mismatch_of(found: Schema, version: int, migrations: Sequence[Migration] | None = None) -> str:
    """Return the first difference from this schema version; empty if there is none."""
    return find_mismatch(found, schema_made_by(statements_up_to(version, migrations)))


async def list_pending(
    database: Database, migrations: Sequence[Migration] | None = None
) -> tuple[Migration, ...]:
    """List what `apply_pending` would apply, without writing. Raises DatabaseNewer."""
    known = known_migrations(database.dialect) if migrations is None else migrations
    newest, version = known[-1].version, 0
    if RECORDS in await list_tables(database):
        [(version,)] = await database.query(_SELECT_VERSION)
    if version > newest:
        raise DatabaseNewer(path=database.location, found=version, known=newest)
    return tuple(migration for migration in known if migration.version > version)


async def apply_pending(
    database: Database,
    migrations: Sequence[Migration] | None = None,
    *,
    clock: Clock = utc_now,
    preserve: bool = True,
) -> tuple[Migration, ...]:
    """Migrate to the newest schema; returns the migrations applied.

    A database with data is copied first, unless a copy exists. Raises DatabaseNewer, SchemaChanged, or
    StorageError with the schema at the last version that succeeded.
    """
    # Always run, so that a start finds out whether it can write.
    await database.transaction([Statement(_RECORDS)], (MAINTENANCE_LOCK,))
    todo = await list_pending(database, migrations)
    if database.dialect == "sqlite":
        await _ensure_own_schema(database, migrations)
        if preserve and todo and todo[0].version > 1:
            await asyncio.to_thread(backup.preserve, Path(database.location), todo[-1].version)
    applied = [
        each for each in todo if await database.write(partial(_apply, each, clock), (MAINTENANCE_LOCK,))
    ]
    return tuple(applied)


async def _ensure_own_schema(database: Database, migrations: Sequence[Migration] | None) -> None:
    def look() -> Steps[tuple[int, Schema]]:
        rows = yield Statement(SELECT_SCHEMA)
        [(version,)] = yield Statement(_SELECT_VERSION)
        return int(version), schema_of_rows(rows)

    version, found = await database.read(look)
    if version and (name := mismatch_of(found, version, migrations)):
        raise SchemaChanged(path=database.location, name=name)


def _apply(migration: Migration, clock: Clock) -> Steps[bool]:
    """Returns False if another program was faster."""
    [(version,)] = yield Statement(_SELECT_VERSION)
    if version >= migration.version:
        return False
    record = (migration.version, int(clock().timestamp()) * 1000, migration.description)
    yield Statement(
        "INSERT INTO schema_migrations (version, applied_at, description) VALUES ($1, $2, $3)", record
    )
    for statement in migration.statements:
        yield Statement(statement)
    return True


def _split(script: str) -> tuple[str, ...]:
    """Statements end with a semicolon at the end of a line. They run one by one, because Python's
    executescript first commits the open transaction."""
    statements, lines = list[str](), list[str]()
    for line in script.splitlines():
        lines.append(line)
        if line.endswith(";") and not line.startswith("--"):
            statements.append("\n".join(lines).strip())
            lines.clear()
    if any(line.strip() and not line.lstrip().startswith("--") for line in lines):
        raise ValueError("the last statement has no semicolon")
    return tuple(statements)
