"""The manifest of a backup: what it must hold, written down beside it when it was made and checked.

SQLite's own check finds pages that do not fit together. It does not find a file that is whole and not the one
that was made: cut off by a copy over the network and mended by a tool, or taken for another. The hash finds
that, and the counts say to a person what is in it.

It proves damage, not origin: whoever can change a backup can write a manifest for it.
"""

import hashlib
import json
import sqlite3
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass
from datetime import datetime
from pathlib import Path
from threading import Event, Thread
from typing import Final, Literal

from cc_bot.regular_file import open_regular, read_regular
from cc_bot.storage.erasures import Extent

# ---- progress --------------------------------------------------------------------------------------------

Stage = Literal["copying", "checking", "hashing", "waiting", "upgrading", "erasing", "rows"]
"""What is being done; `waiting` is for the operator's word."""
COUNTED: Final[frozenset[Stage]] = frozenset({"rows"})
"""Stages that count rows, not bytes."""

Progress = Callable[[Stage, int, int], None]
"""Told the stage, how many bytes or rows are done, and of how many; of 0 where nobody can say. It may be
called from another thread, and often."""

_LOOK_EVERY_S: Final = 0.1


def ignore_progress(_stage: Stage, _done: int, _total: int) -> None:
    """Ignore how far the work is."""


@contextmanager
def growing(path: Path, total: int, progress: Progress) -> Iterator[None]:
    """Tell how far a file has grown that SQLite is filling: a copy in one step tells nothing by itself."""
    progress("copying", 0, total)
    done = Event()

    def watch() -> None:
        while not done.wait(_LOOK_EVERY_S):
            progress("copying", min(path.stat().st_size, total), total)

    watching = Thread(target=watch, name="copy-progress", daemon=True)
    watching.start()
    try:
        yield
    finally:
        done.set()
        watching.join()


# ---- manifest --------------------------------------------------------------------------------------------

_FORMAT: Final = 1
_NOTE: Final = "This proves damage, not origin: see docs/backup.md."
_CHUNK_BYTES: Final = 2**20

_TABLES: Final = """
    SELECT name FROM sqlite_master
    WHERE type = 'table' AND name NOT LIKE 'sqlite~_%' ESCAPE '~'
    ORDER BY name
"""


Rows = Mapping[str, int]
"""How many there are of each table."""


@dataclass(frozen=True, slots=True)
class Manifest:
    """The facts of a backup when it was made."""

    made_at: datetime
    """What was written until then is in it; what was written after is not."""
    program: str
    schema_version: int
    size_bytes: int
    sha256: str
    rows: Rows
    erasures: Extent | None = None
    """Of the log of erasures; None where that was not written down."""

    def to_json(self) -> str:
        """The text of the file."""
        fields = {
            "format": _FORMAT,
            "note": _NOTE,
            **asdict(self),
            "made_at": self.made_at.isoformat(timespec="milliseconds"),
        }
        return json.dumps(fields, indent=2) + "\n"

    @classmethod
    def from_json(cls, text: str) -> "Manifest":
        """Read a manifest. Raises ValueError for what is none."""
        try:
            fields = json.loads(text)
            if fields.pop("format") != _FORMAT:
                raise ValueError("a manifest of another program")
            fields.pop("note", None)
            made_at = datetime.fromisoformat(fields["made_at"])
            if made_at.tzinfo is None:
                raise ValueError("a moment without a time zone")
            told = fields.pop("erasures", None)
            erasures = Extent(str(told["name"]), int(told["noted"])) if told else None
            return cls(**{**fields, "made_at": made_at, "rows": dict(fields["rows"]), "erasures": erasures})
        except (TypeError, KeyError, AttributeError, RecursionError) as error:
            raise ValueError("no manifest") from error


def manifest_path(backup: Path) -> Path:
    """Return the path of the manifest of a backup: `sessions_20261122-030405.json` for the `.db`."""
    return backup.with_suffix(".json")


def read_manifest(backup: Path) -> Manifest | None:
    """The manifest of a backup; None when there is none. Raises OSError, or ValueError when it is spoiled."""
    with suppress(FileNotFoundError):
        return Manifest.from_json(read_regular(manifest_path(backup)).decode())
    return None


def manifests_in(folder: Path) -> Iterator[Manifest]:
    """Yield the manifests in a folder, as far as they can be read."""
    for path in folder.glob("*.json"):
        with suppress(OSError, ValueError):
            yield Manifest.from_json(read_regular(path).decode())


def count_rows(connection: sqlite3.Connection) -> dict[str, int]:
    """Count the rows of each table. Raises sqlite3.Error."""
    tables = [name for (name,) in connection.execute(_TABLES)]
    return {
        name: connection.execute(f'SELECT count(*) FROM "{name}"').fetchone()[0]  # noqa: S608 - from the schema
        for name in tables
    }


def hash_of(path: Path, progress: Progress = ignore_progress) -> str:
    """SHA-256 of a file, in hexadecimal. Raises OSError."""
    total, done, digest = path.stat().st_size, 0, hashlib.sha256()
    with open_regular(path) as file:
        while chunk := file.read(_CHUNK_BYTES):
            digest.update(chunk)
            done += len(chunk)
            progress("hashing", done, total)
    return digest.hexdigest()


# ---- checking --------------------------------------------------------------------------------------------

RECORDS: Final = "schema_migrations"
"""The table that tells which migrations were applied."""

SELECT_UNRELEASED: Final = f"""
    SELECT 1 FROM {RECORDS}
    WHERE version = 1 AND description = 'initial' OR version = 28 AND description = 'baseline'
"""  # noqa: S608 - a constant
"""A row if the database is from before the first release, whose migrations had other numbers."""

_DISK: Final = (sqlite3.SQLITE_FULL, sqlite3.SQLITE_IOERR)
_BUSY: Final = (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED)


class Damaged(Exception):
    """The error of a database that can be read, but is not what it should be."""


def is_disk_trouble(error: sqlite3.Error) -> bool:
    """Return whether the disk is to blame, which is full or broken, and not the file."""
    return getattr(error, "sqlite_errorcode", 0) & 0xFF in _DISK


def is_busy(error: sqlite3.Error) -> bool:
    """Return whether another program holds the file."""
    return getattr(error, "sqlite_errorcode", 0) & 0xFF in _BUSY


def is_about_content(error: sqlite3.Error) -> bool:
    """Return whether a statement of ours did not fit what it found, on a disk that is well."""
    code = getattr(error, "sqlite_errorcode", 0) & 0xFF
    return code in (sqlite3.SQLITE_ERROR, sqlite3.SQLITE_CONSTRAINT, sqlite3.SQLITE_MISMATCH)


def size_of(connection: sqlite3.Connection) -> int:
    """Return the size of the database in bytes, its WAL included. Raises sqlite3.Error."""
    [(pages,)] = connection.execute("PRAGMA page_count").fetchall()
    [(page_bytes,)] = connection.execute("PRAGMA page_size").fetchall()
    return int(pages) * int(page_bytes)


def checked_version(connection: sqlite3.Connection) -> int:
    """Check a whole database; return the version of its schema.

    Raises Damaged, or sqlite3.Error, also for a file that is no database of cc-bot.
    """
    ensure_whole(connection)
    [(version,)] = connection.execute(f"SELECT max(version) FROM {RECORDS}").fetchall()  # noqa: S608 - a constant
    if version is None:
        raise Damaged
    return int(version)


def ensure_whole(connection: sqlite3.Connection) -> None:
    """Check pages, indexes, types, constraints and references. Raises Damaged, or sqlite3.Error."""
    if connection.execute("PRAGMA integrity_check(1)").fetchall() != [("ok",)]:
        raise Damaged
    if connection.execute("PRAGMA foreign_key_check").fetchone():
        raise Damaged
