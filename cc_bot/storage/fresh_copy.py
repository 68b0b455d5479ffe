"""A database with the rows of another one and nothing else of it.

The other one may come from anybody. Nothing that it could run is run: its schema is compared, as text, before
its first table is read, and what takes its place has a schema that the migrations made, into which the rows
are copied. They are looked at there.
"""

import sqlite3
from contextlib import closing, suppress
from pathlib import Path

from cc_bot.storage.manifest import LONGEST_BYTES, RECORDS, Damaged, checked_version, ensure_sound, version_of
from cc_bot.storage.migrate import known_migrations, statements_up_to
from cc_bot.storage.schema import Deviation, Schema, rows_made_by, schema_made_by


class Deviating(Exception):
    """The schema is not the one of its version."""

    def __init__(self, deviation: Deviation) -> None:
        super().__init__(deviation.label)
        self.deviation = deviation


def open_warily(path: Path) -> sqlite3.Connection:
    """A connection to a file that may come from anybody. Raises sqlite3.Error."""
    connection = sqlite3.connect(path.absolute(), isolation_level=None)
    connection.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, LONGEST_BYTES)
    connection.setlimit(sqlite3.SQLITE_LIMIT_ATTACHED, 1)
    for pragma in ("trusted_schema = OFF", "cell_size_check = ON", "mmap_size = 0", "foreign_keys = OFF"):
        connection.execute(f"PRAGMA {pragma}").fetchall()
    return connection


def compare(connection: sqlite3.Connection, *, rows_only: bool) -> int:
    """The version of a database whose schema is the one that the migrations make, and which is whole.

    With `rows_only`, what it has beside that is dropped from it first; its tables must be ours all the same.
    Raises Deviating, Damaged, or sqlite3.Error, also for what is no database. Of a newer version only the
    version is told.
    """
    found = Schema.of(connection)
    _ensure_records(found)
    version = _version(connection)
    if version > known_migrations()[-1].version:
        return version
    made = schema_made_by(statements_up_to(version))
    for deviation in found.deviations(made):
        if rows_only:
            with suppress(sqlite3.Error):  # whatever is left is told below
                _drop(connection, deviation)
    left = Schema.of(connection).deviations(made)
    if wrong := [each for each in left if each.is_table or each.state != "missing" or not rows_only]:
        raise Deviating(wrong[0])
    if checked_version(connection) != version:
        raise Damaged
    return version


def _ensure_records(found: Schema) -> None:
    """See that the table which tells the version is a table, before it is read. Raises Damaged."""
    [ours] = schema_made_by(statements_up_to(0)).objects
    theirs = [each for each in found.objects if each.name.lower() == RECORDS or each.table.lower() == RECORDS]
    tables = [each.plain for each in theirs if each.kind in ("table", "view")]
    if tables != [ours.plain]:
        raise Damaged


def _version(connection: sqlite3.Connection) -> int:
    """Return the version. Raises Damaged where the records are not those of a database that was brought from
    1 to it."""
    rows = connection.execute(f"SELECT version FROM {RECORDS} ORDER BY version LIMIT 10000").fetchall()  # noqa: S608 - a constant
    return version_of([version for (version,) in rows], known_migrations()[-1].version)


def _drop(connection: sqlite3.Connection, deviation: Deviation) -> None:
    if not deviation.is_table and deviation.state != "missing":
        name = deviation.name.replace('"', '""')
        connection.execute(f'DROP {deviation.kind.upper()} IF EXISTS "{name}"')


def copy_rows(source: Path, target: Path, version: int) -> None:
    """Make a database of this version in an empty file, and copy the rows of another one of the same into it.

    Raises Damaged where a row is not as the schema says, or sqlite3.Error.
    """
    statements = statements_up_to(version)
    made = schema_made_by(statements)
    with closing(open_warily(target)) as connection:
        # Whatever ends this early, the file goes; it reaches the disk before it gets its name.
        connection.execute("PRAGMA journal_mode = OFF").fetchall()
        connection.execute("PRAGMA synchronous = OFF")
        connection.execute("ATTACH ? AS source", (str(source.absolute()),))
        connection.execute("BEGIN")
        tables = _make(connection, made, "table")
        _make(connection, made, "index")
        for name in tables:
            # All columns of two tables that are alike: by `*`, SQLite copies rows and indexes as they stand.
            connection.execute(f'INSERT INTO main."{name}" SELECT * FROM source."{name}"')  # noqa: S608 - ours
        _number(connection, tables)
        _complete(connection, statements)
        connection.execute("COMMIT")
        connection.execute("DETACH source")
        ensure_sound(connection, tables)
        _make(connection, made, "view")


def _make(connection: sqlite3.Connection, made: Schema, *kinds: str) -> list[str]:
    """Make these; the names. What SQLite makes by itself is left to it."""
    wanted = [each for each in made.objects if each.kind in kinds and each.sql]
    for each in wanted:
        connection.execute(each.sql)
    return [each.name for each in wanted]


def _number(connection: sqlite3.Connection, tables: list[str]) -> None:
    """Go on from the last numbers that were given, those of rows that are gone included. Raises Damaged."""
    for name, seq in connection.execute("SELECT name, seq FROM source.sqlite_sequence").fetchall():
        if name not in tables:
            continue
        if not isinstance(seq, int):
            raise Damaged(name)
        former = connection.execute("SELECT max(seq) FROM main.sqlite_sequence WHERE name = ?", (name,))
        [(copied,)] = former.fetchall()
        connection.execute("DELETE FROM main.sqlite_sequence WHERE name = ?", (name,))
        last = (name, max(seq, copied or 0))
        connection.execute("INSERT INTO main.sqlite_sequence (name, seq) VALUES (?, ?)", last)


def _complete(connection: sqlite3.Connection, statements: tuple[str, ...]) -> None:
    """Add the rows that migrations make and the program relies on, where they are missing."""
    for name, rows in rows_made_by(statements).items():
        for row in rows:
            marks = ", ".join("?" * len(row))
            connection.execute(f'INSERT OR IGNORE INTO main."{name}" VALUES ({marks})', row)  # noqa: S608 - ours
