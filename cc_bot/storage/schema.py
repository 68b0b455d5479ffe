"""Compares a database's schema with that of the migrations.

Each object must exist unchanged, and there must be no other trigger, as it would run with every write. Views,
tables and indexes added by operators are ignored, and kept by a restore.
"""

import re
import sqlite3
from collections.abc import Iterable, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass
from functools import lru_cache
from typing import Final

from cc_bot.storage.database import Database
from cc_bot.storage.dialect import Dialect

RECORDS: Final = "schema_migrations"
"""Lists the applied migrations."""
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

Schema = Mapping[str, str]
"""The SQL of each object by kind and name (`TABLE memories`), without comments and with single spaces."""


def schema_of_rows(rows: Iterable[Sequence[str]]) -> Schema:
    """Build a schema from the rows of SELECT_SCHEMA."""
    return {f"{kind.upper()} {name}": _normalize(sql) for kind, name, sql in rows}


def schema_of(connection: sqlite3.Connection) -> Schema:
    """Read the schema of a database. Raises sqlite3.Error."""
    return schema_of_rows(connection.execute(SELECT_SCHEMA).fetchall())


def _normalize(sql: str) -> str:
    return " ".join(token for token in _TOKENS.findall(sql) if not token.startswith(_COMMENTS))


def find_mismatch(found: Schema, made: Schema) -> str:
    """Return the first missing or altered object or extra trigger; empty if there is none."""
    wrong = [name for name, sql in made.items() if found.get(name) != sql]
    wrong += [name for name in found if name.startswith("TRIGGER ") and name not in made]
    return (
        "".join(each if each.isprintable() else "?" for each in wrong[0])[:_MAX_NAME_LENGTH] if wrong else ""
    )


async def list_tables(database: Database) -> frozenset[str]:
    """Return the names of a database's tables, readable or not. Raises StorageError."""
    return frozenset(name for (name,) in await database.query(_SELECT_TABLES[database.dialect]))


@lru_cache(maxsize=64)
def schema_made_by(statements: tuple[str, ...]) -> Schema:
    """Return the schema that these statements create in an empty database. Takes some milliseconds."""
    with closing(_run(statements)) as connection:
        return schema_of(connection)


def rows_made_by(statements: tuple[str, ...]) -> dict[str, list[tuple[object, ...]]]:
    """Return the rows that these statements insert into an empty database, by table."""
    with closing(_run(statements)) as connection:
        return {
            name: connection.execute(f'SELECT * FROM "{name}"').fetchall()  # noqa: S608 - from the schema
            for name in _tables(connection)
        }


def _tables(connection: sqlite3.Connection) -> dict[str, str]:
    rows = connection.execute(SELECT_SCHEMA)
    return {name: sql for kind, name, sql in rows if kind == "table"}


@dataclass(frozen=True, slots=True)
class Column:
    name: str
    kind: str
    """INTEGER, REAL, TEXT or BLOB."""
    required: bool
    """Whether each row needs a value."""


@dataclass(frozen=True, slots=True)
class TableLayout:
    """A table, the same on every engine."""

    name: str
    columns: tuple[Column, ...]
    numbered: str
    """The column of numbers that are never reused; empty if there is none."""


@lru_cache(maxsize=8)
def tables_made_by(statements: tuple[str, ...]) -> tuple[TableLayout, ...]:
    """Return the tables that these statements create in an empty database; each after the tables that it
    references."""
    with closing(_run(statements)) as connection:
        return tuple(_layout(connection, name, sql) for name, sql in _tables(connection).items())


def _layout(connection: sqlite3.Connection, name: str, sql: str) -> TableLayout:
    rows = connection.execute(f'PRAGMA table_info("{name}")').fetchall()
    key = next((column for _, column, *_, position in rows if position == 1), "")
    columns = tuple(
        Column(column, kind, bool(not_null) and default is None)
        for _, column, kind, not_null, default, _ in rows
    )
    return TableLayout(name, columns, key if "AUTOINCREMENT" in sql else "")


def _run(statements: tuple[str, ...]) -> sqlite3.Connection:
    connection = sqlite3.connect(":memory:", isolation_level=None)
    for statement in statements:
        connection.execute(statement)
    return connection
