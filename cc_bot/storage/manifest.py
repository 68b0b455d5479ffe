"""The manifest of a backup: what it must hold, written down beside it when it was made and checked.

SQLite's own check finds pages that do not fit together. It does not find a file that is whole and not the one
that was made: cut off by a copy over the network and mended by a tool, or taken for another. The hash finds
that, and the counts say to a person what is in it.

It proves damage, not origin: whoever can change a backup can write a manifest for it.
"""

import hashlib
import json
import sqlite3
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass
from datetime import datetime
from pathlib import Path
from threading import Event, Thread
from typing import Final, Literal

from cc_bot.domain.locale import Locale
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
# The one judgement of a file, for the start, the doctor and a restore: a database of cc-bot, and whole.
#
# SQLite lets any kind of value stand in any column, and our statements rely on a user's id being a number,
# and on texts that can be read.

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
    """A database that can be read, but is not what it should be."""

    def __init__(self, table: str = "") -> None:
        """Make the error. `table`: the one in which a row can't be."""
        super().__init__(table)
        self.table = table


def is_disk_trouble(error: sqlite3.Error) -> bool:
    """Return whether not the file is to blame but the place where it stands: full, or broken."""
    return getattr(error, "sqlite_errorcode", 0) & 0xFF in _DISK


def is_busy(error: sqlite3.Error) -> bool:
    """Return whether somebody else holds the file."""
    return getattr(error, "sqlite_errorcode", 0) & 0xFF in _BUSY


def is_about_content(error: sqlite3.Error) -> bool:
    """Return whether a statement of ours did not fit what it found, on a disk that is well."""
    code = getattr(error, "sqlite_errorcode", 0) & 0xFF
    return code in (sqlite3.SQLITE_ERROR, sqlite3.SQLITE_CONSTRAINT, sqlite3.SQLITE_MISMATCH)


def size_of(connection: sqlite3.Connection) -> int:
    """Return the size of the database in bytes, what stands in its log included. Raises sqlite3.Error."""
    [(pages,)] = connection.execute("PRAGMA page_count").fetchall()
    [(page_bytes,)] = connection.execute("PRAGMA page_size").fetchall()
    return int(pages) * int(page_bytes)


def checked_version(connection: sqlite3.Connection) -> int:
    """The version of the schema, of a database that passes SQLite's own check.

    Raises Damaged, or sqlite3.Error, also for what is no database of cc-bot.
    """
    [(version,)] = connection.execute(f"SELECT max(version) FROM {RECORDS}").fetchall()  # noqa: S608 - a constant
    ensure_whole(connection)
    if version is None:
        raise Damaged
    return int(version)


def ensure_whole(connection: sqlite3.Connection) -> None:
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


def ensure_sound(connection: sqlite3.Connection, tables: Iterable[str]) -> None:
    """See that each value of these tables is one that it may be: of its column's kind, each text in UTF-8,
    each number of a row such that others can follow, each reference to something that is there.

    Raises Damaged, or sqlite3.Error.
    """
    for table in tables:
        _ensure_sound(connection, table)
    senseless = f"typeof(seq) <> 'integer' OR seq > {_GREATEST_NUMBER}"
    for (table,) in connection.execute(f"SELECT name FROM sqlite_sequence WHERE {senseless} LIMIT 1"):  # noqa: S608 - ours
        raise Damaged(str(table))
    for table, *_ in connection.execute("PRAGMA foreign_key_check").fetchall():
        raise Damaged(str(table))


def _ensure_sound(connection: sqlite3.Connection, table: str) -> None:
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
