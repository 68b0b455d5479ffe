"""The manifest of a backup, written beside it once it was made and checked. Its hash detects damage that
SQLite's check misses, and its counts show the operator what is in it.

It does not prove origin: anyone who can change a backup can write a manifest.
"""

import hashlib
import json
import sqlite3
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from dataclasses import asdict, dataclass
from datetime import datetime
from pathlib import Path
from typing import Final, Literal

from cc_bot.regular_file import open_regular, read_regular

Stage = Literal["copying", "checking", "upgrading", "erasing"]
Announce = Callable[[Stage], None]
"""Called when a stage begins."""


def announce_nothing(_: Stage) -> None: ...


_FORMAT: Final = 1
_NOTE: Final = "This proves damage, not origin: see docs/backup.md."
_SELECT_TABLES: Final = """
    SELECT name FROM sqlite_master
    WHERE type = 'table' AND name NOT LIKE 'sqlite~_%' ESCAPE '~'
    ORDER BY name
"""
_SELECT_VERSION: Final = "SELECT max(version) FROM schema_migrations"

Rows = Mapping[str, int]
"""Row count of each table."""


@dataclass(frozen=True, slots=True)
class Manifest:
    made_at: datetime
    """The backup contains exactly what was written until then."""
    program: str
    schema_version: int
    size_bytes: int
    sha256: str
    rows: Rows
    erasures: int
    """Number of entries in the erasure log."""

    def to_json(self) -> str:
        made_at = self.made_at.isoformat(timespec="milliseconds")
        fields = {"format": _FORMAT, "note": _NOTE, **asdict(self), "made_at": made_at}
        return json.dumps(fields, indent=2) + "\n"

    @classmethod
    def from_json(cls, text: str) -> "Manifest":
        """Parse a manifest. Raises ValueError if it is invalid."""
        try:
            fields = json.loads(text)
            if fields.pop("format") != _FORMAT:
                raise ValueError("a manifest of another program")
            del fields["note"]
            made_at = datetime.fromisoformat(fields["made_at"])
            if made_at.tzinfo is None:
                raise ValueError("a moment without a time zone")
            return cls(**{**fields, "made_at": made_at, "rows": dict(fields["rows"])})
        except (TypeError, KeyError, AttributeError, RecursionError) as error:
            raise ValueError("no manifest") from error


def manifest_path(backup: Path) -> Path:
    """Return the path of a backup's manifest: `sessions_20261122-030405.json` for the `.db`."""
    return backup.with_suffix(".json")


def read_manifest(backup: Path) -> Manifest | None:
    """Read a backup's manifest; None if it has none. Raises OSError, or ValueError if it is invalid."""
    with suppress(FileNotFoundError):
        return Manifest.from_json(read_regular(manifest_path(backup)).decode())
    return None


def manifests_in(folder: Path) -> Iterator[Manifest]:
    for path in folder.glob("*.json"):
        with suppress(OSError, ValueError):
            yield Manifest.from_json(read_regular(path).decode())


def hash_of(path: Path) -> str:
    """Return the hexadecimal SHA-256 of a file. Raises OSError."""
    digest = hashlib.sha256()
    with open_regular(path) as file:
        while chunk := file.read(2**20):
            digest.update(chunk)
    return digest.hexdigest()


class Damaged(Exception):
    """The database is readable, but fails a check."""


def check_database(connection: sqlite3.Connection) -> tuple[int, Rows]:
    """Check a whole database; return its schema version and row counts.

    Raises Damaged, or sqlite3.Error, also if the file is not a cc-bot database.
    """
    ensure_whole(connection)
    [(version,)] = connection.execute(_SELECT_VERSION).fetchall()
    if version is None:
        raise Damaged
    tables = [name for (name,) in connection.execute(_SELECT_TABLES)]
    counts = {
        name: connection.execute(f'SELECT count(*) FROM "{name}"').fetchone()[0]  # noqa: S608 - from the schema
        for name in tables
    }
    return int(version), counts


def ensure_whole(connection: sqlite3.Connection) -> None:
    """Check pages, indexes, types, constraints and references. Raises Damaged, or sqlite3.Error."""
    if connection.execute("PRAGMA integrity_check(1)").fetchall() != [("ok",)]:
        raise Damaged
    if connection.execute("PRAGMA foreign_key_check").fetchone():
        raise Damaged


def code_of(error: BaseException) -> int:
    """Return SQLite's primary result code; 0 for an error of another kind."""
    return int(getattr(error, "sqlite_errorcode", 0)) & 0xFF


def is_disk_trouble(error: sqlite3.Error) -> bool:
    """Return whether the disk is full or failing, so that the file may be intact."""
    return code_of(error) in (sqlite3.SQLITE_FULL, sqlite3.SQLITE_IOERR)


def is_busy(error: sqlite3.Error) -> bool:
    """Return whether another program has locked the file."""
    return code_of(error) in (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED)
