"""Copies a database into an empty one, of SQLite or PostgreSQL, completely or not at all.

PostgreSQL gets all rows in one transaction. For SQLite, a new file is filled and then renamed. Only tables
and columns of both schemas are copied. A table that lacks a required column is left out.
"""

import sqlite3
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, cast

from cc_bot.concurrency import Report
from cc_bot.db.database import Database, Dialect, sanitize
from cc_bot.db.files import move, sidecar, sync_file
from cc_bot.db.schema import MIGRATIONS_TABLE, TableLayout, list_tables, newest_tables
from cc_bot.db.sqlite import classify
from cc_bot.domain.errors import CopyRefused, CopyStopped, CopyTargetOccupied, StartupError, StorageError

if TYPE_CHECKING:
    from cc_bot.db.postgres import PostgresDatabase

# ruff: noqa: S608 - only names of the schemas

_REPORTED_ROWS: Final = 1000  # between two reports

_SELECT_COLUMNS: Final[Mapping[Dialect, str]] = {
    "sqlite": """
        SELECT t.name, c.name FROM sqlite_master AS t JOIN pragma_table_info(t.name) AS c
        WHERE t.type = 'table' AND t.name NOT LIKE 'sqlite~_%' ESCAPE '~'
    """,
    "postgresql": """
        SELECT CAST(t.relname AS TEXT), CAST(c.attname AS TEXT)
        FROM pg_class AS t JOIN pg_attribute AS c ON c.attrelid = t.oid
        WHERE c.attnum > 0 AND NOT c.attisdropped AND c.attgenerated = '' AND t.relkind = 'r'
            AND t.relnamespace = CAST(current_schema() AS regnamespace)
    """,
}


@dataclass(frozen=True, slots=True)
class CopiedTable:
    name: str
    columns: tuple[str, ...]
    count: int  # the number of rows
    number_column: str  # see TableLayout
    last_number: int

    @property
    def column_list(self) -> str:
        return ", ".join(f'"{name}"' for name in self.columns)


@dataclass(frozen=True, slots=True)
class CopyPlan:
    tables: tuple[CopiedTable, ...]  # each after those that it references
    left_out: tuple[str, ...]  # names of tables, and of columns as `table.column`

    @property
    def row_count(self) -> int:
        return sum(table.count for table in self.tables)


async def ensure_empty(target: Database) -> None:
    """Raises CopyTargetOccupied if the target has more rows than the migrations insert."""
    names = await list_tables(target)
    for table in newest_tables():
        sql = f'SELECT 1 FROM "{table.name}" LIMIT $1'
        initial = table.initial_rows
        if table.name in names and len(await target.query(sql, initial + 1)) > initial:
            raise CopyTargetOccupied(path=target.location, name=table.name)


async def plan_copy(source: Database) -> CopyPlan:
    rows = await source.query(_SELECT_COLUMNS[source.dialect])
    source_columns = {(table, column) for table, column in rows}
    layouts = {
        table.name: table
        for table in newest_tables()
        if any(table.name == name for name, _ in source_columns)
        and all((table.name, column.name) in source_columns for column in table.columns if column.required)
    }
    our_columns = {(table.name, column.name) for table in layouts.values() for column in table.columns}
    extra, shared = source_columns - our_columns, source_columns & our_columns
    left_out = {f"{table}.{column}" if table in layouts else table for table, column in extra}
    tables = [await _plan_table(source, layout, shared) for layout in layouts.values()]
    return CopyPlan(tuple(tables), tuple(sorted(left_out - {MIGRATIONS_TABLE})))


async def _plan_table(source: Database, layout: TableLayout, shared: set[tuple[str, str]]) -> CopiedTable:
    columns = tuple(column.name for column in layout.columns if (layout.name, column.name) in shared)
    [(count,)] = await source.query(f'SELECT count(*) FROM "{layout.name}"')
    last = await _last_number(source, layout.name, layout.number_column) if layout.number_column else 0
    return CopiedTable(layout.name, columns, count, layout.number_column, last)


async def _last_number(source: Database, table: str, column: str) -> int:
    """Return the last number used, even by a deleted row, which an old button may name."""
    if source.dialect == "sqlite":
        rows = await source.query("SELECT seq FROM sqlite_sequence WHERE name = $1", table)
    else:
        [(sequence,)] = await source.query("SELECT pg_get_serial_sequence($1, $2)", table, column)
        rows = await source.query(f"SELECT last_value FROM {sequence} WHERE is_called") if sequence else ()
    return int(rows[0][0]) if rows else 0


async def copy_to_server(source: Database, plan: CopyPlan, target: Database, report: Report) -> None:
    """Replace all rows of `target`. Raises CopyStopped or CopyRefused."""
    names, table = [f'"{each.name}"' for each in plan.tables], plan.tables[0]
    try:
        async with cast("PostgresDatabase", target).bulk() as connection:
            await connection.execute(f"TRUNCATE {', '.join(names)} CASCADE")
            for table in plan.tables:
                rows = _rows(source, plan, table, report)
                await connection.copy_records_to_table(table.name, records=rows, columns=table.columns)
                if last := table.last_number:
                    setval = "SELECT setval(pg_get_serial_sequence($1, $2), $3)"
                    await connection.execute(setval, table.name, table.number_column, last)
                count = await connection.fetchval(f'SELECT count(*) FROM "{table.name}"')
                _ensure_equal(table.count, count)
            # The planner needs statistics of the new rows.
            await connection.execute(f"ANALYZE {', '.join(names)}")
    except StorageError as error:
        raise _failure(error, target.location, table) from error


async def copy_to_file(source: Database, plan: CopyPlan, new: Path, target: Path, report: Report) -> None:
    """Fill `new`, an empty database file, and rename it to `target`. Raises CopyStopped or CopyRefused."""
    table = plan.tables[0]
    try:
        with closing(sqlite3.connect(new, isolation_level=None)) as connection:
            connection.execute("PRAGMA journal_mode = OFF")
            connection.execute("BEGIN")
            for table in plan.tables:
                connection.execute(f'DELETE FROM "{table.name}"')
                insert = f"({table.column_list}) VALUES ({', '.join('?' * len(table.columns))})"
                async for row in _rows(source, plan, table, report):
                    connection.execute(f'INSERT INTO "{table.name}" {insert}', row)
                if last := table.last_number:
                    connection.execute("DELETE FROM sqlite_sequence WHERE name = ?", (table.name,))
                    connection.execute("INSERT INTO sqlite_sequence VALUES (?, ?)", (table.name, last))
                [(count,)] = connection.execute(f'SELECT count(*) FROM "{table.name}"')
                _ensure_equal(table.count, count)
                violation = connection.execute(f'PRAGMA foreign_key_check("{table.name}")').fetchone()
                _ensure_equal(None, violation)
            connection.execute("COMMIT")
        sync_file(new)
        for suffix in ("-wal", "-shm"):
            sidecar(target, suffix).unlink(missing_ok=True)
        move(new, target)
    except (sqlite3.Error, OSError, OverflowError, ValueError) as error:
        translated = classify(error).kind()
        raise _failure(translated, str(target), table) from translated


async def _rows(
    source: Database, plan: CopyPlan, table: CopiedTable, report: Report
) -> AsyncIterator[Sequence[Any]]:
    done = sum(each.count for each in plan.tables[: plan.tables.index(table)])
    try:
        async for row in source.stream(f'SELECT {table.column_list} FROM "{table.name}"'):
            yield tuple(map(sanitize, row))
            done += 1
            if not done % _REPORTED_ROWS:
                await report(done, plan.row_count)
    except StorageError as error:
        raise CopyStopped(path=source.location) from error


def _ensure_equal(expected: object, found: object) -> None:
    if found != expected:
        raise ValueError("a row, or one that it refers to, is missing")


def _failure(error: StorageError, location: str, table: CopiedTable) -> StartupError:
    """Return CopyRefused with the table's name if its rows are the cause, else CopyStopped."""
    if type(error) is StorageError:
        return CopyRefused(path=location, name=table.name)
    return CopyStopped(path=location)
