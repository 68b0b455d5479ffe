"""A look at a database file from outside, which changes nothing of it and may be taken beside a bot."""

import sqlite3
from collections.abc import Sequence
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Final, Literal

from cc_bot.storage.location import has_folder
from cc_bot.storage.migrate import known_migrations, statements_up_to
from cc_bot.storage.schema import Deviation, Schema, schema_made_by

SQLITE: Final = sqlite3.sqlite_version
"""What Python here comes with."""
PATIENCE_S: Final = 5.0
"""A writer that holds the file for longer is in everybody's way."""

Condition = Literal["fine", "missing", "no_folder", "foreign", "damaged", "read_only", "locked"]


@dataclass(frozen=True, slots=True)
class Examined:
    condition: Condition
    newest: int
    """The version of the schema that this program knows."""
    version: int | None = None
    """That of the file, if it could be read."""
    size_bytes: int = 0
    deviations: Sequence[Deviation] = ()
    """How its schema differs from the one that the migrations make up to its version."""


def examine(path: Path, *, patience_s: float = PATIENCE_S) -> Examined:
    """Open it, have SQLite look through it, and take the writer's place for a moment. It takes some seconds a
    gigabyte, so not on the event loop."""
    newest = known_migrations()[-1].version
    if not path.is_file():
        return Examined("missing" if has_folder(path) else "no_folder", newest)
    size = path.stat().st_size
    try:
        # mode=rw: it is never made here. A name with ? or # is quoted by as_uri.
        opened = sqlite3.connect(
            f"{path.absolute().as_uri()}?mode=rw", uri=True, timeout=patience_s, isolation_level=None
        )
        with closing(opened) as connection:
            version = _version(connection)
            if version is None:
                return Examined("foreign", newest, size_bytes=size)
            return Examined(
                _condition(connection), newest, version, size, _deviations(connection, version, newest)
            )
    except sqlite3.Error as error:
        return Examined(_meaning(error), newest, size_bytes=size)


def _version(connection: sqlite3.Connection) -> int | None:
    """None for a file of another program. A file without anything in it is ours to be."""
    tables = {name for (name,) in connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'")}
    if "schema_migrations" not in tables:
        return None if tables else 0
    [(version,)] = connection.execute("SELECT coalesce(max(version), 0) FROM schema_migrations").fetchall()
    return int(version)


def _deviations(connection: sqlite3.Connection, version: int, newest: int) -> tuple[Deviation, ...]:
    """Nothing of what only a newer program knows, or of a file without anything in it."""
    if not 0 < version <= newest:
        return ()
    return Schema.of(connection).deviations(schema_made_by(statements_up_to(version)))


def _condition(connection: sqlite3.Connection) -> Condition:
    """Damage is looked for first: what is wrong there matters more than who is writing."""
    if connection.execute("PRAGMA quick_check(1)").fetchall() != [("ok",)]:
        return "damaged"
    connection.execute("BEGIN IMMEDIATE")
    connection.execute("ROLLBACK")
    return "fine"


def _meaning(error: sqlite3.Error) -> Condition:
    match getattr(error, "sqlite_errorcode", 0) & 0xFF:
        case sqlite3.SQLITE_BUSY | sqlite3.SQLITE_LOCKED:
            return "locked"
        case sqlite3.SQLITE_READONLY:
            return "read_only"
        case sqlite3.SQLITE_CORRUPT:
            return "damaged"
        case _:
            return "foreign"
