"""The schema, as numbered SQL files that are applied in order.

A file and its record commit together, so a database is always at a version and never between two. The
record is written first within the transaction: of two programs that start at once, the second fails on its
key before it touches the schema, and finds the work done.
"""

import re
import sqlite3
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cache
from importlib import resources
from importlib.resources.abc import Traversable
from itertools import chain
from typing import Final

from cc_bot.domain.clock import Clock, utc_now
from cc_bot.domain.errors import DatabaseDamaged, DatabaseNewer, SchemaChanged, StorageError, UpgradeFailed
from cc_bot.storage.database import EVERYBODY, Database, Row, Statement, Steps
from cc_bot.storage.dialect import Dialect, expand
from cc_bot.storage.manifest import RECORDS, Damaged, is_about_content, version_of
from cc_bot.storage.schema import SELECT_SCHEMA, Deviation, Schema, list_tables, schema_made_by

_RECORDS = """
    CREATE TABLE IF NOT EXISTS schema_migrations (
        version     @number PRIMARY KEY,
        applied_at  @number NOT NULL,  -- Unix milliseconds
        description @text
    )
"""
_SELECT_VERSIONS: Final = "SELECT version FROM schema_migrations ORDER BY version"


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


def recorded_version(recorded: Sequence[object], found: Schema, newest: int) -> int:
    """The version of a database with these records and this schema; 0 where nothing was applied yet. Raises
    Damaged as `version_of` does: without any record nothing of ours may be there."""
    ours = {name for name in schema_made_by(statements_up_to(newest)).tables if name != RECORDS}
    if not recorded and ours.isdisjoint(found.tables):
        return 0
    return version_of(recorded, newest)


def deviations_of(
    found: Schema, version: int, migrations: Sequence[Migration] | None = None
) -> tuple[Deviation, ...]:
    """Return how the schema of a database of this version differs from the one that the migrations make. What
    has a name that a later migration gives to something of its own stands in the way of that."""
    deviations = found.deviations(schema_made_by(statements_up_to(version, migrations)))
    if not deviations:
        return ()
    known = known_migrations() if migrations is None else migrations
    names = {each.name.lower() for each in schema_made_by(statements_up_to(len(known), known)).objects}
    return tuple(replace(each, runs=True) if each.name.lower() in names else each for each in deviations)


async def ensure_own_schema(database: Database, migrations: Sequence[Migration] | None = None) -> None:
    """See that nothing is done in this file by what the migrations did not make; nobody hands on a server.

    Its triggers would run with whatever is written, and a view in a table's place would answer for it.
    Tables, views and indexes that somebody added for their own use harm nobody, unless an upgrade would give
    their name to something else. Raises SchemaChanged.
    """

    if database.dialect != "sqlite":
        return

    def look() -> Steps[tuple[int, Sequence[Row]]]:
        rows = yield Statement(SELECT_SCHEMA)
        if not rows:
            return 0, rows
        [(version,)] = yield Statement("SELECT coalesce(max(version), 0) FROM schema_migrations")
        return int(version), rows

    version, rows = await database.read(look)
    if not rows:
        return
    for deviation in deviations_of(Schema.of_rows(rows), version, migrations):
        if deviation.runs:
            raise SchemaChanged(path=database.location, name=deviation.label)


async def list_pending(
    database: Database, migrations: Sequence[Migration] | None = None
) -> tuple[Migration, ...]:
    """List what `apply_pending` would apply; nothing is written. Raises DatabaseNewer."""
    known = known_migrations(database.dialect) if migrations is None else migrations
    newest = known[-1].version
    version = await _version(database, newest)
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
    Raises DatabaseNewer, SchemaChanged, or StorageError with the schema at the last version that worked.
    """
    await database.transaction([Statement(_RECORDS)], (EVERYBODY,))
    todo = await list_pending(database, migrations)
    await ensure_own_schema(database, migrations)
    if preserve and todo and todo[0].version > known_migrations(database.dialect)[0].version:
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
        if await _version(database, migration.version) >= migration.version:
            return False
        if isinstance(error.__cause__, sqlite3.Error) and is_about_content(error.__cause__):
            raise UpgradeFailed(path=database.location, version=migration.version) from error
        raise
    return True


async def _version(database: Database, newest: int) -> int:
    """Return the version of the schema; 0 for a new database. Raises DatabaseDamaged where the records of
    what was applied are not whole."""
    there = RECORDS in await list_tables(database)
    rows = await database.query(_SELECT_VERSIONS) if there else ()
    if database.dialect != "sqlite":
        return int(rows[-1][0]) if rows else 0
    try:
        return recorded_version(
            [version for (version,) in rows], Schema.of_rows(await database.query(SELECT_SCHEMA)), newest
        )
    except Damaged as error:
        raise DatabaseDamaged from error


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
