"""What a backup must hold, written down beside it when it was made and checked.

SQLite's own check finds pages that do not fit together. It does not find a file that is whole and not the one
that was made: cut off by a copy over the network and mended by a tool, or taken for another. The hash finds
that, and the counts say to a person what is in it.

It proves damage, not origin: whoever can change a backup can write a manifest for it.
"""

import hashlib
import json
import sqlite3
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import asdict, dataclass
from datetime import datetime
from pathlib import Path
from typing import Final

from cc_bot.regular_file import read_regular
from cc_bot.storage.erasures import Extent
from cc_bot.storage.progress import Progress, silent

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
    """What was true of a backup when it was made."""

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
        """Raises ValueError for what is none."""
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
    """Where the manifest of a backup stands: `sessions_20261122-030405.json` for the `.db`."""
    return backup.with_suffix(".json")


def read_manifest(backup: Path) -> Manifest | None:
    """The manifest of a backup; None when there is none. Raises OSError, or ValueError when it is spoiled."""
    with suppress(FileNotFoundError):
        return Manifest.from_json(read_regular(manifest_path(backup)).decode())
    return None


def manifests_in(folder: Path) -> Iterator[Manifest]:
    """Those in a folder, as far as they can be read."""
    for path in folder.glob("*.json"):
        with suppress(OSError, ValueError):
            yield Manifest.from_json(read_regular(path).decode())


def count_rows(connection: sqlite3.Connection) -> dict[str, int]:
    """How many rows each table has. Raises sqlite3.Error."""
    tables = [name for (name,) in connection.execute(_TABLES)]
    return {
        name: connection.execute(f'SELECT count(*) FROM "{name}"').fetchone()[0]  # noqa: S608 - from the schema
        for name in tables
    }


def hash_of(path: Path, progress: Progress = silent) -> str:
    """SHA-256 of a file, in hexadecimal. Raises OSError."""
    total, done, digest = path.stat().st_size, 0, hashlib.sha256()
    with path.open("rb") as file:
        while chunk := file.read(_CHUNK_BYTES):
            digest.update(chunk)
            done += len(chunk)
            progress("hashing", done, total)
    return digest.hexdigest()
