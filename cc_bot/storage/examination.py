"""A look at a database file from outside, which changes nothing of it and may be taken beside a bot."""

import math
import sqlite3
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Final, Literal

from cc_bot.storage.checking import LONGEST_BYTES, RECORDS, Damaged, is_busy, need_sound, need_whole
from cc_bot.storage.location import has_folder
from cc_bot.storage.migrate import deviations_of, known_migrations, recorded_version, statements_up_to
from cc_bot.storage.schema import Deviation, Schema, schema_made_by
from cc_bot.storage.sqlite_file import log_bytes_of

SQLITE: Final = sqlite3.sqlite_version
"""What Python here comes with."""
PATIENCE_S: Final = 5.0
"""A writer that holds the file for longer is in everybody's way."""
_AGAIN_S: Final = 0.02
"""An interruption is lost that comes between two statements."""

Condition = Literal["fine", "missing", "no_folder", "foreign", "damaged", "unsound", "read_only", "locked"]
"""unsound: it is whole, and has a row that can't be."""


@dataclass(frozen=True, slots=True)
class Examined:
    condition: Condition
    newest: int
    """The version of the schema that this program knows."""
    version: int | None = None
    """That of the file, if it could be read."""
    size_bytes: int = 0
    """With its log."""
    deviations: Sequence[Deviation] = ()
    """How its schema differs from the one that the migrations make up to its version."""
    table: str = ""
    """In which there is a row that can't be."""
    thorough: bool = True
    """Whether all of it was looked through in time."""


def examine(path: Path, *, patience_s: float = PATIENCE_S, until_s: float = math.inf) -> Examined:
    """Open it, have SQLite look through it, and take the writer's place for a moment. It takes some seconds a
    gigabyte, so not on the event loop. `until_s`: when to leave off, by `time.monotonic`."""
    newest = known_migrations()[-1].version
    if not path.exists():
        return Examined("missing" if has_folder(path) else "no_folder", newest)
    if not path.is_file():
        return Examined("foreign", newest)
    size = path.stat().st_size + log_bytes_of(path)
    try:
        # mode=rw: it is never made here. A name with ? or # is quoted by as_uri.
        opened = sqlite3.connect(
            f"{path.absolute().as_uri()}?mode=rw", uri=True, timeout=patience_s, isolation_level=None
        )
        with closing(opened) as connection:
            connection.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, LONGEST_BYTES)
            return _examined(connection, newest, size, until_s)
    except Damaged:
        return Examined("damaged", newest, size_bytes=size)
    except sqlite3.Error as error:
        return Examined(_meaning(error), newest, size_bytes=size)


def _examined(connection: sqlite3.Connection, newest: int, size: int, until_s: float) -> Examined:
    """Damage is looked for first: what is wrong there matters more than who is writing. Raises Damaged, or
    sqlite3.Error."""
    found = Schema.of(connection)
    if found.tables and RECORDS not in found.tables:
        return Examined("foreign", newest, size_bytes=size)
    version = _version(connection, found, newest)
    deviations = _deviations(found, version, newest)
    table, thorough = "", time.monotonic() < until_s
    if thorough:
        try:
            with _interrupted_at(connection, until_s):
                need_whole(connection)
                table = _unsound_table(connection, version, newest, deviations)
        except (Damaged, sqlite3.OperationalError):
            if time.monotonic() < until_s:
                raise
            thorough = False  # what was interrupted finds what is not there
        if table and time.monotonic() >= until_s:
            table, thorough = "", False
    if not table:
        connection.execute("BEGIN IMMEDIATE")
        connection.execute("ROLLBACK")
    condition: Condition = "unsound" if table else "fine"
    return Examined(condition, newest, version, size, deviations, table, thorough)


@contextmanager
def _interrupted_at(connection: sqlite3.Connection, until_s: float) -> Iterator[None]:
    """Have the statements that run then end with an error, and those that follow."""
    if until_s == math.inf:
        yield
        return
    over = threading.Event()

    def watch() -> None:
        over.wait(max(0.0, until_s - time.monotonic()))
        while not over.is_set():
            connection.interrupt()
            over.wait(_AGAIN_S)

    watching = threading.Thread(target=watch, daemon=True)
    watching.start()
    try:
        yield
    finally:
        over.set()
        watching.join()


def _version(connection: sqlite3.Connection, found: Schema, newest: int) -> int:
    """A file without anything in it is ours to be. Raises Damaged."""
    if not found.tables:
        return 0
    rows = connection.execute(f"SELECT version FROM {RECORDS} ORDER BY version").fetchall()  # noqa: S608 - a constant
    return recorded_version([version for (version,) in rows], found, newest)


def _deviations(found: Schema, version: int, newest: int) -> tuple[Deviation, ...]:
    """Nothing of what only a newer program knows, or of a file without anything in it."""
    return deviations_of(found, version) if 0 < version <= newest else ()


def _unsound_table(
    connection: sqlite3.Connection, version: int, newest: int, deviations: Sequence[Deviation]
) -> str:
    """Where there is a row that a restore would refuse, of the tables that are as we make them."""
    if not 0 < version <= newest or any(each.is_table for each in deviations):
        return ""
    try:
        need_sound(connection, schema_made_by(statements_up_to(version)).tables)
    except Damaged as damaged:
        return damaged.table
    return ""


def _meaning(error: sqlite3.Error) -> Condition:
    if is_busy(error):
        return "locked"
    match getattr(error, "sqlite_errorcode", 0) & 0xFF:
        case sqlite3.SQLITE_READONLY:
            return "read_only"
        case sqlite3.SQLITE_CORRUPT:
            return "damaged"
        case _:
            return "foreign"
