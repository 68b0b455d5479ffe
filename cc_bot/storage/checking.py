"""Whether a file is a database of cc-bot, and whole: one judgement, for the start, the doctor and a restore.

SQLite lets any kind of value stand in any column, and our statements rely on a user's id being a number, and
on texts that can be read.
"""

import sqlite3
from collections.abc import Iterable, Iterator, Sequence
from typing import Final

from cc_bot.domain.locale import Locale

RECORDS: Final = "schema_migrations"
"""The table that tells which migrations were applied."""
LONGEST_BYTES: Final = 2**26
"""No value of ours is longer: files that people send are the longest, and Discord takes 10 MiB."""

_DISK: Final = (sqlite3.SQLITE_FULL, sqlite3.SQLITE_IOERR)
_BUSY: Final = (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED)
_GREATEST_NUMBER: Final = 2**53
"""Of rows. A number near SQLite's own limit would leave none for the next row."""
_LAST_MS: Final = 221_845_392_000_000
"""The year 9000."""
_OTHER_KINDS: Final = {
    "INTEGER": "({0} | 0) <> {0}",
    "REAL": "{0} >= ''",
    "TEXT": "{0} < '' OR {0} >= x''",
    "BLOB": "{0} < x''",
}
_LOCALES: Final = ", ".join(f"'{locale}'" for locale in ("", *Locale))
_MINUTE: Final = (
    "json_type(quiet, '$.{0}') IS NOT 'integer' OR json_extract(quiet, '$.{0}') NOT BETWEEN 0 AND 1439"
)
_SENSELESS: Final = {
    "schedules": (
        f"locale NOT IN ({_LOCALES})",
        *(f"{name} NOT BETWEEN 0 AND {_LAST_MS}" for name in ("due_at", "created_at", "advanced_at")),
        "CASE WHEN coalesce(quiet, '') = '' THEN 0 WHEN NOT json_valid(quiet) THEN 1 "
        f"ELSE {_MINUTE.format('since')} OR {_MINUTE.format('until')} END",
    ),
    "numbers": (f"last NOT BETWEEN 0 AND {_GREATEST_NUMBER}",),
}
"""What no value of a table may be, where one row is read together with those of everybody."""


class Damaged(Exception):
    """It can be read, but it is not what it should be."""

    def __init__(self, table: str = "") -> None:
        """`table`: the one in which a row can't be."""
        super().__init__(table)
        self.table = table


def is_disk_trouble(error: sqlite3.Error) -> bool:
    """Whether not the file is to blame but where it stands: full, or broken."""
    return getattr(error, "sqlite_errorcode", 0) & 0xFF in _DISK


def is_busy(error: sqlite3.Error) -> bool:
    """Whether somebody else holds the file."""
    return getattr(error, "sqlite_errorcode", 0) & 0xFF in _BUSY


def is_about_content(error: sqlite3.Error) -> bool:
    """Whether a statement of ours did not fit what it found, on a disk that is well."""
    code = getattr(error, "sqlite_errorcode", 0) & 0xFF
    return code in (sqlite3.SQLITE_ERROR, sqlite3.SQLITE_CONSTRAINT, sqlite3.SQLITE_MISMATCH)


def size_of(connection: sqlite3.Connection) -> int:
    """Of the database in bytes, what stands in its log included. Raises sqlite3.Error."""
    [(pages,)] = connection.execute("PRAGMA page_count").fetchall()
    [(page_bytes,)] = connection.execute("PRAGMA page_size").fetchall()
    return int(pages) * int(page_bytes)


def checked(connection: sqlite3.Connection) -> int:
    """The version of the schema, of a database that passes SQLite's own check.

    Raises Damaged, or sqlite3.Error, also for what is no database of cc-bot.
    """
    [(version,)] = connection.execute(f"SELECT max(version) FROM {RECORDS}").fetchall()  # noqa: S608 - a constant
    need_whole(connection)
    if version is None:
        raise Damaged
    return int(version)


def need_whole(connection: sqlite3.Connection) -> None:
    """See that it passes SQLite's own check. Raises Damaged, or sqlite3.Error."""
    if connection.execute("PRAGMA integrity_check(1)").fetchall() != [("ok",)]:
        raise Damaged


def version_of(recorded: Sequence[object], newest: int) -> int:
    """The version of a database by the versions in its records, in their order. Each from 1 on is there, as
    far as this program knows them: one that is missing was never applied, or nobody knows. Raises Damaged."""
    versions = [version for version in recorded if isinstance(version, int)]
    if not versions or len(versions) < len(recorded):
        raise Damaged(RECORDS)
    if versions[-1] <= newest and versions != list(range(1, len(versions) + 1)):
        raise Damaged(RECORDS)
    return versions[-1]


def need_sound(connection: sqlite3.Connection, tables: Iterable[str]) -> None:
    """See that each value of these tables is one that it may be: of its column's kind, each text in UTF-8,
    each number of a row such that others can follow, each reference to something that is there.

    Raises Damaged, or sqlite3.Error.
    """
    for table in tables:
        _need_sound(connection, table)
    senseless = f"typeof(seq) <> 'integer' OR seq > {_GREATEST_NUMBER}"
    for (table,) in connection.execute(f"SELECT name FROM sqlite_sequence WHERE {senseless} LIMIT 1"):  # noqa: S608 - ours
        raise Damaged(str(table))
    for table, *_ in connection.execute("PRAGMA foreign_key_check").fetchall():
        raise Damaged(str(table))


def _need_sound(connection: sqlite3.Connection, table: str) -> None:
    columns = connection.execute(f'PRAGMA table_info("{table}")').fetchall()
    texts = [f'"{name}"' for _, name, kind, *_ in columns if kind == "TEXT"]
    wrong = [*_wrong_kinds(columns), *_SENSELESS.get(table, ())]
    if texts:
        # Whatever is no text in UTF-8 can't be handed over, which ends the statement.
        connection.create_function("readable", len(texts), _readable, deterministic=True)
        wrong.append(f"NOT readable({', '.join(texts)})")
    try:
        found = connection.execute(f'SELECT 1 FROM "{table}" WHERE {" OR ".join(wrong)} LIMIT 1').fetchone()  # noqa: S608 - ours
    except (sqlite3.OperationalError, sqlite3.DataError) as error:
        if is_busy(error) or is_disk_trouble(error):
            raise
        raise Damaged(table) from error
    if found:
        raise Damaged(table)


def _wrong_kinds(columns: list[tuple[int, str, str, int, str | None, int]]) -> Iterator[str]:
    """Conditions that hold for values of another kind, and not for NULL: where that may not stand, SQLite's
    own check has found it. They rest on how kinds compare, numbers before texts before bytes
    (https://www.sqlite.org/datatype3.html, section 4.1), which takes half the time of asking for each's
    kind."""
    for _, name, kind, *_ in columns:
        yield _OTHER_KINDS[kind].format(f'"{name}"')


def _readable(*_texts: str | None) -> bool:
    return True
