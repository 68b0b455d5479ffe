"""The schema, as numbered SQL files that are applied in order.

A file and its record commit together, so a database is always at a version and never between two. The
record is written first within the transaction: of two programs that start at once, the second fails on its
key before it touches the schema, and finds the work done.
"""

import re
import sqlite3
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from importlib import resources
from importlib.resources.abc import Traversable
from itertools import chain

from cc_bot.domain.clock import Clock, utc_now
from cc_bot.domain.errors import DatabaseNewer, DatabaseOutdated, SchemaChanged, StorageError, UpgradeFailed
from cc_bot.storage.database import EVERYBODY, Database, Row, Statement, Steps
from cc_bot.storage.dialect import Dialect, expand
from cc_bot.storage.manifest import RECORDS, SELECT_UNRELEASED, is_about_content
from cc_bot.storage.schema import (
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


@dataclass(frozen=True, slots=True)
class Migration:
    """A step of the schema."""

    version: int
    description: str
    statements: tuple[str, ...]


@cache
def known_migrations(dialect: Dialect = "sqlite") -> tuple[Migration, ...]:
    """The migrations that this program carries for an engine, in order."""
    return read_migrations(resources.files("cc_bot.storage") / "migrations", dialect)


def read_migrations(folder: Traversable, dialect: Dialect = "sqlite") -> tuple[Migration, ...]:
    """Read the files named `0001_what_it_does.sql`, in order. Raises ValueError when a number is missing or
    double."""
    found = [
        Migration(
            int(match[1]),
            match[2].replace("_", " "),
            _split(expand(file.read_text("utf-8"), dialect)),
        )
        for file in folder.iterdir()
        if (match := re.fullmatch(r"\A(\d{4})_(\w+)\.sql", file.name))
    ]
    found.sort(key=lambda migration: migration.version)
    if [migration.version for migration in found] != list(range(1, len(found) + 1)):
        raise ValueError("migrations are numbered 1, 2, 3, … without a gap")
    return tuple(found)


def statements_up_to(version: int, migrations: Sequence[Migration] | None = None) -> tuple[str, ...]:
    """Return the statements that make the schema of this version in an empty database of SQLite."""
    known = known_migrations() if migrations is None else migrations
    steps = [migration.statements for migration in known if migration.version <= version]
    return (expand(_RECORDS, "sqlite"), *chain.from_iterable(steps))


def newest_schema() -> tuple[str, ...]:
    """Return the statements that make the newest schema in an empty database of SQLite."""
    return statements_up_to(known_migrations()[-1].version)


def mismatch_of(found: Schema, version: int, migrations: Sequence[Migration] | None = None) -> str:
    """Return what differs from the schema that the migrations make up to this version; empty if nothing."""
    return find_mismatch(found, schema_made_by(statements_up_to(version, migrations)))


async def ensure_own_schema(database: Database, migrations: Sequence[Migration] | None = None) -> None:
    """Raise SchemaChanged if the schema of a file is not the one of its version."""
    if database.dialect != "sqlite":
        return

    def look() -> Steps[tuple[int, Sequence[Row]]]:
        rows = yield Statement(SELECT_SCHEMA)
        [(version,)] = yield Statement("SELECT coalesce(max(version), 0) FROM schema_migrations")
        return int(version), rows

    version, rows = await database.read(look)
    if name := mismatch_of(schema_of_rows(rows), version, migrations):
        raise SchemaChanged(path=database.location, name=name)


async def list_pending(
    database: Database, migrations: Sequence[Migration] | None = None
) -> tuple[Migration, ...]:
    """List what `apply_pending` would apply; nothing is written. Raises DatabaseNewer or DatabaseOutdated."""
    known = known_migrations(database.dialect) if migrations is None else migrations
    newest = known[-1].version
    version = await _version(database)
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
    """Bring the schema up to date and return what was applied.

    A database that held something is copied first, unless there is another copy already.
    Raises DatabaseNewer, DatabaseOutdated, SchemaChanged, or StorageError with the schema at the last version
    that worked.
    """
    await database.transaction([Statement(_RECORDS)], (EVERYBODY,))
    todo = await list_pending(database, migrations)
    await ensure_own_schema(database, migrations)
    if preserve and todo and todo[0].version > 1:
        await database.preserve(todo[-1].version)
    return tuple([migration for migration in todo if await _apply(database, migration, clock)])


async def _apply(database: Database, migration: Migration, clock: Clock) -> bool:
    """Apply a migration. False when another program was faster."""
    record = Statement(
        "INSERT INTO schema_migrations (version, applied_at, description) VALUES ($1, $2, $3)",
        (migration.version, int(clock().timestamp()) * 1000, migration.description),
    )
    try:
        await database.transaction([record, *map(Statement, migration.statements)], (EVERYBODY,))
    except StorageError as error:
        if await _version(database) >= migration.version:
            return False
        if isinstance(error.__cause__, sqlite3.Error) and is_about_content(error.__cause__):
            raise UpgradeFailed(path=database.location, version=migration.version) from error
        raise
    return True


async def _version(database: Database) -> int:
    """Return the version of the schema; 0 for a new database. Raises DatabaseOutdated."""
    if RECORDS not in await list_tables(database):
        return 0
    if await database.query(SELECT_UNRELEASED):
        raise DatabaseOutdated(path=database.location, command="cc-bot copy --to URL")
    rows = await database.query("SELECT coalesce(max(version), 0) FROM schema_migrations")
    return int(rows[0][0])


def _split(script: str) -> tuple[str, ...]:
    """The statements of a script, each of which ends where a line ends with a semicolon.

    They are run one by one: Python's executescript commits what is open before it begins.
    """
    statements, lines = list[str](), list[str]()
    for line in script.splitlines():
        lines.append(line)
        if line.endswith(";") and not line.startswith("--"):
            statements.append("\n".join(lines).strip())
            lines.clear()
    if any(line.strip() and not line.lstrip().startswith("--") for line in lines):
        raise ValueError("the last statement has no semicolon")
    return tuple(statements)
