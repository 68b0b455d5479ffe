"""The schema: migrations (numbered SQL files), and checks that a database is as they make it.

An operator may add views, tables and indexes, which a restore keeps. Triggers are refused, as they run with
writes of the program.
"""

import asyncio
import re
import sqlite3
from collections.abc import Iterable, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, replace
from functools import cache, lru_cache, partial
from importlib import resources
from importlib.resources.abc import Traversable
from itertools import chain
from pathlib import Path
from typing import Final, Literal

from cc_bot.db.backup import back_up_before, ensure_undamaged
from cc_bot.db.database import MAINTENANCE_LOCK, Database, Dialect, Statement, Transaction, expand
from cc_bot.db.files import can_use_folder
from cc_bot.db.sqlite import classify, code_of, connect_existing, size_of
from cc_bot.domain.clock import Clock, utc_now
from cc_bot.domain.errors import DatabaseNewer, SchemaChanged, StorageError
from cc_bot.features import FEATURES

MIGRATIONS_TABLE: Final = "schema_migrations"
_CREATE_MIGRATIONS_TABLE: Final = """
    CREATE TABLE IF NOT EXISTS schema_migrations (
        version     @number PRIMARY KEY,
        applied_at  @number NOT NULL,  -- Unix milliseconds
        description @text
    ) @strict
"""
_SELECT_VERSION: Final = "SELECT coalesce(max(version), 0) FROM schema_migrations"
SELECT_SCHEMA: Final = """
    SELECT type, name, sql FROM sqlite_master WHERE sql IS NOT NULL AND name NOT LIKE 'sqlite~_%' ESCAPE '~'
"""
_SELECT_TABLES: Final[Mapping[Dialect, str]] = {
    "sqlite": "SELECT name FROM sqlite_master WHERE type = 'table'",
    "postgresql": "SELECT CAST(tablename AS TEXT) FROM pg_tables WHERE schemaname = current_schema()",
}
_TOKENS: Final = re.compile(
    r"""--[^\n]*|/\*.*?(?:\*/|\Z)|'(?:[^']|'')*'|"(?:[^"]|"")*"|\w+|\S""", re.DOTALL | re.ASCII
)
_COMMENTS: Final = ("--", "/*")
_MAX_NAME_LENGTH: Final = 60

Schema = Mapping[str, str]  # SQL without comments, by kind and name, such as `TABLE memories`


@dataclass(frozen=True, slots=True)
class Migration:
    version: int
    description: str
    statements: tuple[str, ...]


@cache
def known_migrations(dialect: Dialect = "sqlite") -> tuple[Migration, ...]:
    """Return all migrations. The first includes the `schema.sql` of features."""
    first, *later = read_migrations(resources.files("cc_bot.db") / "migrations", dialect)
    files = (resources.files("cc_bot.features") / feature.name / "schema.sql" for feature in FEATURES)
    scripts = [file.read_text("utf-8") for file in files if file.is_file()]
    feature_statements = chain.from_iterable(_split(expand(script, dialect)) for script in scripts)
    return replace(first, statements=(*first.statements, *feature_statements)), *later


def read_migrations(folder: Traversable, dialect: Dialect = "sqlite") -> tuple[Migration, ...]:
    """Read the files named `0001_what_it_does.sql`. Raises ValueError for a missing or duplicate number."""
    found = [
        Migration(int(match[1]), match[2].replace("_", " "), _split(expand(file.read_text("utf-8"), dialect)))
        for file in folder.iterdir()
        if (match := re.fullmatch(r"\A(\d{4})_(\w+)\.sql", file.name))
    ]
    found.sort(key=lambda migration: migration.version)
    if [migration.version for migration in found] != list(range(1, len(found) + 1)):
        raise ValueError("migrations are numbered 1, 2, 3, … without a gap")
    return tuple(found)


def _split(script: str) -> tuple[str, ...]:
    """Split a script at semicolons that end a line: SQLite's executescript would commit the transaction."""
    statements, lines = list[str](), list[str]()
    for line in script.splitlines():
        lines.append(line)
        if line.endswith(";") and not line.startswith("--"):
            statements.append("\n".join(lines).strip())
            lines.clear()
    return tuple(statements)


async def list_tables(database: Database) -> frozenset[str]:
    return frozenset(name for (name,) in await database.query(_SELECT_TABLES[database.dialect]))


async def list_pending(
    database: Database, migrations: Sequence[Migration] | None = None
) -> tuple[Migration, ...]:
    """List what `apply_pending` would apply. Raises DatabaseNewer."""
    known = known_migrations(database.dialect) if migrations is None else migrations
    newest, version = known[-1].version, 0
    if MIGRATIONS_TABLE in await list_tables(database):
        [(version,)] = await database.query(_SELECT_VERSION)
    if version > newest:
        raise DatabaseNewer(path=database.location, found=version, known=newest)
    return tuple(migration for migration in known if migration.version > version)


async def apply_pending(
    database: Database,
    migrations: Sequence[Migration] | None = None,
    *,
    clock: Clock = utc_now,
    copy_first: bool = True,
) -> tuple[Migration, ...]:
    """Apply pending migrations, each in one transaction, and return them. `copy_first`: copy a file that has
    data. Raises DatabaseNewer, SchemaChanged or StorageError; migrations before the error remain applied."""
    # Fails if the database can't be written.
    await database.transaction([Statement(_CREATE_MIGRATIONS_TABLE)], (MAINTENANCE_LOCK,))
    pending = await list_pending(database, migrations)
    if database.dialect == "sqlite":
        version, schema = await database.read(_read_schema)
        if version and (name := _find_mismatch(schema, version, migrations)):
            raise SchemaChanged(path=database.location, name=name)
        if copy_first and pending and pending[0].version > 1:
            await asyncio.to_thread(back_up_before, Path(database.location), pending[-1].version)
    applied = [
        each for each in pending if await database.write(partial(_apply, each, clock), (MAINTENANCE_LOCK,))
    ]
    return tuple(applied)


def _read_schema() -> Transaction[tuple[int, Schema]]:
    rows = yield Statement(SELECT_SCHEMA)
    [(version,)] = yield Statement(_SELECT_VERSION)
    return int(version), _schema_of_rows(rows)


def _apply(migration: Migration, clock: Clock) -> Transaction[bool]:
    """Returns False if another program has applied it."""
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


def schema_of(connection: sqlite3.Connection) -> Schema:
    """Raises sqlite3.Error."""
    return _schema_of_rows(connection.execute(SELECT_SCHEMA).fetchall())


def _schema_of_rows(rows: Iterable[Sequence[str]]) -> Schema:
    return {
        f"{kind.upper()} {name}": " ".join(
            token for token in _TOKENS.findall(sql) if not token.startswith(_COMMENTS)
        )
        for kind, name, sql in rows
    }


def _find_mismatch(schema: Schema, version: int, migrations: Sequence[Migration] | None = None) -> str:
    """Return the first object that is missing or altered, or an extra trigger; empty if there is none."""
    expected = _schema_after(_statements_up_to(version, migrations))
    names = [name for name, sql in expected.items() if schema.get(name) != sql]
    names += [name for name in schema if name.startswith("TRIGGER ") and name not in expected]
    first = names[0] if names else ""
    return "".join(each if each.isprintable() else "?" for each in first)[:_MAX_NAME_LENGTH]


def _statements_up_to(version: int, migrations: Sequence[Migration] | None = None) -> tuple[str, ...]:
    known = known_migrations() if migrations is None else migrations
    steps = [migration.statements for migration in known if migration.version <= version]
    return (expand(_CREATE_MIGRATIONS_TABLE, "sqlite"), *chain.from_iterable(steps))


@lru_cache(maxsize=64)
def _schema_after(statements: tuple[str, ...]) -> Schema:
    with closing(_run_in_memory(statements)) as connection:
        return schema_of(connection)


def _run_in_memory(statements: tuple[str, ...]) -> sqlite3.Connection:
    connection = sqlite3.connect(":memory:", isolation_level=None)
    for statement in statements:
        connection.execute(statement)
    return connection


@dataclass(frozen=True, slots=True)
class Column:
    name: str
    kind: str  # INTEGER, REAL, TEXT or BLOB
    required: bool


@dataclass(frozen=True, slots=True)
class TableLayout:
    name: str
    columns: tuple[Column, ...]
    number_column: str  # the key, if the engine assigns it and never reuses it; else empty
    initial_rows: int  # inserted by migrations


@cache
def newest_tables() -> tuple[TableLayout, ...]:
    with closing(_run_in_memory(_statements_up_to(known_migrations()[-1].version))) as connection:
        tables = [
            (name, sql)
            for kind, name, sql in connection.execute(SELECT_SCHEMA)
            if kind == "table" and name != MIGRATIONS_TABLE
        ]
        return tuple(_layout(connection, name, sql) for name, sql in tables)


def _layout(connection: sqlite3.Connection, name: str, sql: str) -> TableLayout:
    infos = connection.execute(f'PRAGMA table_info("{name}")').fetchall()
    key = next((column for _, column, *_, key_position in infos if key_position == 1), "")
    columns = tuple(
        Column(column, kind, bool(not_null) and default is None)
        for _, column, kind, not_null, default, _ in infos
    )
    [(rows,)] = connection.execute(f'SELECT count(*) FROM "{name}"')  # noqa: S608 - from the schema
    return TableLayout(name, columns, key if "AUTOINCREMENT" in sql else "", rows)


Condition = Literal["fine", "missing", "no_folder", "foreign"]


@dataclass(frozen=True, slots=True)
class Examination:
    condition: Condition
    size_bytes: int = 0  # including the WAL
    version: int | None = None  # None if unreadable
    mismatch: str = ""  # an object that differs from the migrations
    problem: type[StorageError] | None = None  # what ended the check early


def examine(path: Path) -> Examination:
    """Check a file without changing it. Takes some seconds per gigabyte."""
    if not path.exists():
        return Examination("missing" if can_use_folder(path) else "no_folder")
    if not path.is_file():
        return Examination("foreign")
    size = size_of(path)
    try:
        with closing(connect_existing(path, "rw")) as connection:
            schema, version = schema_of(connection), 0
            if schema and f"TABLE {MIGRATIONS_TABLE}" not in schema:
                return Examination("foreign", size)
            if schema:
                [(version,)] = connection.execute(_SELECT_VERSION)
            ensure_undamaged(connection)  # first, as damage matters more than a lock
            connection.execute("BEGIN IMMEDIATE")  # fails if another program locks the file
            connection.execute("ROLLBACK")
            is_known = 0 < version <= known_migrations()[-1].version
            return Examination("fine", size, version, _find_mismatch(schema, version) if is_known else "")
    except sqlite3.Error as error:
        problem = classify(error).kind
        if problem is StorageError or code_of(error) == sqlite3.SQLITE_NOTADB:
            return Examination("foreign", size)
        return Examination("fine", size, problem=problem)
