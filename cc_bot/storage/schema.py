"""The schema of a database, compared with the one that the migrations make: it must be that, and nothing
beside it.

A schema is code: a trigger runs with every write, a view answers in a table's place. Whoever hands somebody
a file to open hands them that too. So it is compared, object by object, with the one that the migrations make
in an empty database, before anything of it is used. What SQLite keeps for itself is known by its text too.
"""

import re
import sqlite3
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence, Set
from contextlib import closing
from dataclasses import dataclass
from functools import lru_cache
from graphlib import TopologicalSorter
from typing import Final, Literal

from cc_bot.storage.database import Database
from cc_bot.storage.dialect import Dialect

SELECT_SCHEMA: Final = "SELECT type, name, tbl_name, coalesce(sql, '') FROM sqlite_master"
_SELECT_TABLES: Final[Mapping[Dialect, str]] = {
    "sqlite": "SELECT name FROM sqlite_master WHERE type = 'table'",
    "postgresql": "SELECT CAST(tablename AS TEXT) FROM pg_tables WHERE schemaname = current_schema()",
}

State = Literal["extra", "different", "missing"]

_TOKENS: Final = re.compile(
    r"""--[^\n]*|/\*.*?(?:\*/|\Z)|'(?:[^']|'')*'|"(?:[^"]|"")*"|\w+|\S""", re.DOTALL | re.ASCII
)
_COMMENTS: Final = ("--", "/*")
_OTHERS: Final = frozenset(
    {
        ("table", "sqlite_sequence", "CREATE TABLE sqlite_sequence(name,seq)"),
        ("table", "sqlite_stat1", "CREATE TABLE sqlite_stat1(tbl,idx,stat)"),
        ("table", "sqlite_stat4", "CREATE TABLE sqlite_stat4(tbl,idx,neq,nlt,ndlt,sample)"),
        ("table", "_litestream_seq", "CREATE TABLE _litestream_seq (id INTEGER PRIMARY KEY, seq INTEGER)"),
        ("table", "_litestream_lock", "CREATE TABLE _litestream_lock (id INTEGER)"),
    }
)
"""Tables of SQLite itself and of Litestream, which docs/backup.md recommends. They hold numbers alone."""
_SHOWN_CHARACTERS: Final = 60


@dataclass(frozen=True, slots=True, order=True)
class SchemaObject:
    """A row of sqlite_master."""

    kind: str
    """table, index, trigger or view."""
    name: str
    table: str
    """That it belongs to."""
    sql: str
    """Empty for the index of a constraint."""

    @property
    def plain(self) -> "SchemaObject":
        """The same without comments, and with one space between two tokens: what stands between them is up to
        the version of SQLite that wrote it."""
        tokens = [token for token in _TOKENS.findall(self.sql) if not token.startswith(_COMMENTS)]
        return SchemaObject(self.kind, self.name, self.table, " ".join(tokens))


@dataclass(frozen=True, slots=True)
class Deviation:
    """An object that is not as the migrations make it."""

    kind: str
    name: str
    state: State
    is_table: bool = False
    """Whether a table of ours is concerned, or what stands in its place."""
    runs: bool = True
    """Whether it can have an effect on what the program reads or writes."""

    @property
    def label(self) -> str:
        """The object as it is shown: on one line, however it is called."""
        name = "".join(each if each.isprintable() else "?" for each in self.name)
        return f"{self.kind.upper()} {name[:_SHOWN_CHARACTERS]}"


@dataclass(frozen=True, slots=True)
class Schema:
    """The objects of a database."""

    objects: tuple[SchemaObject, ...]
    """In the order in which they were made."""

    @classmethod
    def of_rows(cls, rows: Iterable[Sequence[str]]) -> "Schema":
        """Make a schema of the rows of SELECT_SCHEMA."""
        found = (SchemaObject(*map(str, row)) for row in rows)
        return cls(tuple(each for each in found if (each.kind, each.name, each.sql) not in _OTHERS))

    @classmethod
    def of(cls, connection: sqlite3.Connection) -> "Schema":
        """Read the schema of a database. Raises sqlite3.Error."""
        try:
            return cls.of_rows(connection.execute(SELECT_SCHEMA).fetchall())
        except UnicodeDecodeError as error:
            raise sqlite3.DatabaseError("the schema is no text") from error

    @property
    def tables(self) -> tuple[str, ...]:
        return tuple(each.name for each in self.objects if each.kind == "table")

    def deviations(self, made: "Schema") -> tuple[Deviation, ...]:
        """Return how this schema, of some file, differs from the one that the migrations make: tables of ours
        first, then triggers."""
        left, lacking = Counter(self.objects), Counter(made.objects)
        if left == lacking:
            return ()
        left, lacking = (
            Counter(each.plain for each in self.objects),
            Counter(each.plain for each in made.objects),
        )
        more, less = left - lacking, lacking - left
        names = {each.name.lower() for each in made.objects}
        tables = {each.name.lower() for each in made.objects if each.kind == "table"}
        there = {each.name.lower() for each in more}
        found = [
            Deviation(
                each.kind,
                each.name,
                "different" if each.name.lower() in names else "extra",
                each.name.lower() in tables,
                each.name.lower() in names or not _is_harmless(each, tables),
            )
            for each in more
        ]
        found += [
            Deviation(each.kind, each.name, "missing", each.kind == "table")
            for each in less
            if each.name.lower() not in there
        ]
        return tuple(sorted(found, key=lambda each: (not each.is_table, each.kind != "trigger", each.name)))


def _is_harmless(extra: SchemaObject, tables: Set[str]) -> bool:
    """Return whether it is one of the few things that somebody adds for their own use and that no write of
    ours can fail at. SQLite goes by the SQL of a row, not by its kind: a kind that is written otherwise hides
    one."""
    words = extra.plain.sql.upper().split(" ")
    match extra.kind:
        case "view":
            return words[:2] == ["CREATE", "VIEW"]
        case "table":  # a reference to one of ours stands in the way of what is deleted there
            return words[:2] == ["CREATE", "TABLE"] and "REFERENCES" not in words
        case "index" if not extra.sql:  # of a constraint of such a table
            return extra.table.lower() not in tables
        case "index":  # on one of ours: of columns alone, no constraint, nothing computed
            named = (
                {word.strip("\"'`").lower() for word in words[: words.index("(")]} if "(" in words else tables
            )
            simple = words[:2] == ["CREATE", "INDEX"] and words.count("(") == 1
            return named.isdisjoint(tables) or (simple and not {"WHERE", "COLLATE"} & set(words))
        case _:
            return False


async def list_tables(database: Database) -> frozenset[str]:
    """Return the names of a database's tables, whether they may be read or not. Raises StorageError."""
    return frozenset(name for (name,) in await database.query(_SELECT_TABLES[database.dialect]))


@lru_cache(maxsize=64)
def schema_made_by(statements: tuple[str, ...]) -> Schema:
    """The schema of an empty database in which these were run. It takes some milliseconds."""
    with closing(_run(statements)) as connection:
        return Schema.of(connection)


def rows_made_by(statements: tuple[str, ...]) -> dict[str, list[tuple[object, ...]]]:
    """Return the rows that these put into an empty database, by table."""
    with closing(_run(statements)) as connection:
        return {
            name: connection.execute(f'SELECT * FROM "{name}"').fetchall()  # noqa: S608 - from the schema
            for name in Schema.of(connection).tables
        }


@dataclass(frozen=True, slots=True)
class Column:
    name: str
    kind: str
    """INTEGER, REAL, TEXT or BLOB."""


@dataclass(frozen=True, slots=True)
class ForeignKey:
    """A column whose values are those of a column of another table."""

    column: str
    table: str
    key: str


@dataclass(frozen=True, slots=True)
class TableLayout:
    """A table as it is on every engine."""

    name: str
    columns: tuple[Column, ...]
    key: tuple[str, ...]
    """The columns of its primary key, in order."""
    numbered: bool
    """Whether its rows get numbers that are never given twice."""
    references: tuple[ForeignKey, ...]


@lru_cache(maxsize=8)
def tables_made_by(statements: tuple[str, ...]) -> tuple[TableLayout, ...]:
    """Return the tables that these make in an empty database; one comes after those that it refers to."""
    with closing(_run(statements)) as connection:
        found = {each.name: each for each in Schema.of(connection).objects if each.kind == "table"}
        referred = {name: _references(connection, name) for name in found}
        order = TopologicalSorter({name: [each.table for each in to] for name, to in referred.items()})
        return tuple(_layout(connection, found[name], tuple(referred[name])) for name in order.static_order())


def _references(connection: sqlite3.Connection, table: str) -> list[ForeignKey]:
    """Return the references of a table, each of which names a column on either side."""
    rows = connection.execute(f'PRAGMA foreign_key_list("{table}")')
    return [ForeignKey(column, parent, key) for _, _, parent, column, key, *_ in rows]


def _layout(
    connection: sqlite3.Connection, table: SchemaObject, references: tuple[ForeignKey, ...]
) -> TableLayout:
    rows = connection.execute(f'PRAGMA table_info("{table.name}")').fetchall()
    keyed = sorted((place, name) for _, name, _, _, _, place in rows if place)
    return TableLayout(
        table.name,
        tuple(Column(name, kind) for _, name, kind, *_ in rows),
        tuple(name for _, name in keyed),
        "AUTOINCREMENT" in table.plain.sql.upper().split(" "),
        references,
    )


def _run(statements: tuple[str, ...]) -> sqlite3.Connection:
    connection = sqlite3.connect(":memory:", isolation_level=None)
    for statement in statements:
        connection.execute(statement)
    return connection
