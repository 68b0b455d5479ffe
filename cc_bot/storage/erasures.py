"""The erasure log: a file apart from the database and its backups, so that no restore brings back what was
erased.

Each line is one erasure: its kind, a salted hash of the id, and the time. Lines are added and never removed
or changed, so logs of several machines are merged by adding the lines that one of them lacks.

The log by itself names nobody, but who holds it can try ids that they know; so it is as private as the
database, mode 0600. Trying a user's id takes some milliseconds: a million of them, an hour or more. Ids of
messages and channels are tried a million in seconds: they are erased by the thousand, and a restore looks for
each that it finds.
"""

import asyncio
import hashlib
import hmac
import json
import re
import secrets
from collections.abc import Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Final, Literal, NamedTuple

import structlog

from cc_bot.domain.clock import Clock, utc_now
from cc_bot.domain.errors import ErasureNotNoted
from cc_bot.regular_file import open_regular, read_regular
from cc_bot.storage.files import append

Kind = Literal["user", "memory", "memory_and_messages", "session", "message", "place"]
"""All of a user's data; one memory; one memory with the messages that repeat it; one conversation; one
message of Discord; all messages of a channel or thread."""

_SALT_BYTES: Final = 16
_SCRYPT: Final = {"n": 2**11, "r": 8, "p": 1}
"""2 MiB and some four milliseconds: https://www.rfc-editor.org/rfc/rfc7914."""
_TORN: Final = re.compile(rb"(\{[\x20-\x7c~]*)?")
"""The beginning of a line, as a crash leaves it: no erasure yet."""

_log = structlog.get_logger(__name__)


class UnreadableLine(ValueError):
    """The error of a file that is no erasure log."""

    def __init__(self, path: Path, line: int) -> None:
        super().__init__(f"line {line} of {path} is no erasure")
        self.line = line


def memory_name(user_id: int, memory_id: int, created_at: str) -> str:
    """Return the name of a memory in the log. Its number alone may be given again after a restore."""
    return f"{user_id}/{memory_id}/{created_at}"


def place_name(channel_id: int, thread_id: int) -> str:
    """Return the name of a channel (thread 0) or a thread in the log."""
    return f"{channel_id}/{thread_id}"


class _Entry(NamedTuple):
    salt: bytes
    hash: str
    at: datetime
    is_user: bool


@dataclass(frozen=True, slots=True)
class Erasures:
    """The content of one or several logs."""

    salts: frozenset[bytes]
    times: Mapping[str, datetime]
    """The last time that each was erased, by its hash."""
    last_user: datetime | None
    """The last time that a user was erased."""
    count: int

    def match(self, kind: Kind, id_: int | str, since: datetime | None) -> bool:
        """Return whether it was erased at this moment or later; ever, when there is no moment."""
        if kind == "user" and (self.last_user is None or (since is not None and self.last_user < since)):
            return False  # without a slow hash
        times = (self.times.get(_hash(salt, kind, id_)) for salt in self.salts)
        return any(at and (since is None or at >= since) for at in times)


class ErasureLog:
    """The erasure log of one database."""

    def __init__(self, path: Path, *, clock: Clock = utc_now) -> None:
        """Make a log, whose file is made with the first erasure, or by `make`."""
        self.path = path
        self._clock = clock
        self._in_trouble = False

    @classmethod
    def beside(cls, database: Path, *, clock: Clock = utc_now) -> "ErasureLog":
        """The log of the database in this file: `sessions.erasures.jsonl` for `sessions.db`."""
        return cls(database.with_suffix(".erasures.jsonl"), clock=clock)

    async def note(self, kind: Kind, *ids: int | str) -> None:
        """Note that these are erased; to be awaited before the erasing begins.

        Raises ErasureNotNoted, also for a file that is no erasure log: then nothing may be erased, since a
        restore would undo it. Trouble is logged once, until it works again: the purge tries every few
        seconds.
        """
        if not ids:
            return
        try:
            await asyncio.to_thread(self._note, kind, ids)
        except (OSError, ValueError) as error:
            if not self._in_trouble:
                _log.error("erasures_not_noted", path=str(self.path), reason=str(error))
            self._in_trouble = True
            raise ErasureNotNoted from error
        self._in_trouble = False

    def make(self) -> None:
        """Make an empty log if it is missing, so that it differs from a lost one. Raises OSError."""
        append(self.path, b"")

    def _note(self, kind: Kind, ids: Iterable[int | str]) -> None:
        salt, at = _salt_of(self.path), self._clock().isoformat(timespec="milliseconds")
        fields = ({"kind": kind, "salt": salt.hex(), "id": _hash(salt, kind, id_), "at": at} for id_ in ids)
        append(self.path, b"".join(json.dumps(each).encode() + b"\n" for each in fields))


def read_erasures(*paths: Path) -> Erasures:
    """Read these logs as one; a missing one is empty. Raises OSError or UnreadableLine."""
    entries = dict[bytes, _Entry]()
    for path in paths:
        with suppress(FileNotFoundError):
            entries |= _read_entries(path)
    times = dict[str, datetime]()
    for entry in entries.values():
        times[entry.hash] = max(entry.at, times.get(entry.hash, entry.at))
    users = [entry.at for entry in entries.values() if entry.is_user]
    salts = frozenset(entry.salt for entry in entries.values())
    return Erasures(salts, times, max(users, default=None), len(entries))


def merge_log(source: Path, target: Path) -> None:
    """Add to a log the lines that only the source has. Raises OSError, or UnreadableLine if either is no
    log."""
    added, known = _read_entries(source), dict[bytes, _Entry]()
    with suppress(FileNotFoundError):
        known = _read_entries(target)
    append(target, b"".join(line + b"\n" for line in added if line not in known))


def logs_in(folder: Path) -> list[Path]:
    """The copies of logs in a folder."""
    return sorted(folder.glob("erasures*.jsonl"))


def copy_in(folder: Path) -> Path:
    """The copy of the log that `cc-bot backup` keeps in this folder, for when the machine is lost."""
    return folder / "erasures.jsonl"


def find_unreadable_logs(paths: Iterable[Path]) -> list[Path]:
    """Return those that are no logs or can't be read; a missing one is empty."""
    return [path for path in paths if not _is_readable(path)]


def _is_readable(path: Path) -> bool:
    try:
        read_erasures(path)
    except (OSError, ValueError):
        return False
    return True


def _read_entries(path: Path) -> dict[bytes, _Entry]:
    entries = dict[bytes, _Entry]()
    for number, line in enumerate(read_regular(path).splitlines(), 1):
        if entry := _parse(path, number, line):
            entries[line] = entry
    return entries


def _salt_of(path: Path) -> bytes:
    """Return the salt of a log's first line; a new one for an empty log. Raises OSError or UnreadableLine."""
    with suppress(FileNotFoundError), open_regular(path) as file:
        for number, line in enumerate(file, 1):
            if entry := _parse(path, number, line.rstrip(b"\n")):
                return entry.salt
    return secrets.token_bytes(_SALT_BYTES)


def _parse(path: Path, number: int, line: bytes) -> _Entry | None:
    """Parse a line; None if a crash cut it short. Raises UnreadableLine."""
    try:
        fields = json.loads(line)
        at = datetime.fromisoformat(fields["at"])
        return _Entry(bytes.fromhex(fields["salt"]), str(fields["id"]), at, fields["kind"] == "user")
    except (ValueError, TypeError, KeyError, AttributeError, RecursionError) as error:
        if not _TORN.fullmatch(line):
            raise UnreadableLine(path, number) from error
        _log.warning("erasure_line_unreadable", path=str(path), line=number)
        return None


def _hash(salt: bytes, kind: Kind, id_: int | str) -> str:
    """Return the salted hash of an id; a slow one for a user."""
    text = f"{kind}/{id_}".encode()
    if kind == "user":
        return hashlib.scrypt(text, salt=salt, **_SCRYPT, dklen=32).hex()
    return hmac.new(salt, text, hashlib.sha256).hexdigest()
