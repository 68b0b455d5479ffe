"""The erasure log: what was erased, so that a restore of a backup erases it again.

Each line has a kind, a salted hash of an id, and a time. Lines are only added, so logs can be merged. The log
is as private as the database, as it tells whether a known id was erased.
"""

import asyncio
import hashlib
import hmac
import json
import re
import secrets
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from threading import Lock
from typing import Final, Literal, NamedTuple

import structlog

from cc_bot.db.files import append
from cc_bot.domain.clock import Clock, utc_now
from cc_bot.domain.errors import ErasureNotNoted
from cc_bot.files import open_regular

Kind = Literal["user", "memory", "memory_and_messages", "session", "message", "place"]
"""`memory_and_messages`: with the messages that repeat it. `place`: all messages of a channel or thread."""

_SALT_BYTES: Final = 16
_SCRYPT: Final = {"n": 2**11, "r": 8, "p": 1}  # takes about 4 ms
_TRUNCATED_LINE: Final = re.compile(rb"(\{[\x20-\x7c~]*)?")  # left by a crash: the last `}` is missing
_FORMER_HEAD: Final = re.compile(rb'\{"version": 2, "salt": "([0-9a-f]{32})"\}')

_log = structlog.get_logger(__name__)


class UnreadableLine(ValueError):
    def __init__(self, path: Path, line: int) -> None:
        super().__init__(f"line {line} of {path} is invalid")
        self.line = line


def memory_log_id(user_id: int, memory_id: int, created_at: str) -> str:
    """Return a memory's id in the log, with its time, as a restore may reuse the row id."""
    return f"{user_id}/{memory_id}/{created_at}"


def thread_log_id(channel_id: int, thread_id: int) -> str:
    """Return a thread's id in the log; thread 0 is the channel itself."""
    return f"{channel_id}/{thread_id}"


class _Entry(NamedTuple):
    salt: bytes
    hash: str
    at: datetime
    kind: str


@dataclass(frozen=True, slots=True)
class Erasures:
    salts: frozenset[bytes]
    last_times: Mapping[str, datetime]  # by hash of the id
    last_user_time: datetime | None  # when a user was last erased
    count: int
    unreadable: Mapping[Path, int]  # logs that were not read, with the first invalid line

    def match(self, kind: Kind, id_: int | str, since: datetime | None) -> bool:
        """Return whether the id was erased at `since` or later, or ever if that is None."""
        if kind == "user" and (self.last_user_time is None or (since and self.last_user_time < since)):
            return False  # without a slow hash
        times = (self.last_times.get(_hash(salt, kind, id_)) for salt in self.salts)
        return any(time and (since is None or time >= since) for time in times)


class ErasureLog:
    def __init__(self, path: Path, *, clock: Clock = utc_now) -> None:
        self.path = path
        self._clock = clock
        self._has_failed = False  # then further failures are not logged
        self._write_lock = Lock()  # a line being written would look truncated

    @classmethod
    def beside(cls, database: Path, *, clock: Clock = utc_now) -> "ErasureLog":
        """Return the log `sessions.erasures.jsonl` of `sessions.db`."""
        return cls(database.with_suffix(".erasures.jsonl"), clock=clock)

    async def note(self, kind: Kind, *ids: int | str) -> None:
        """Record erasures before they are made. Raises ErasureNotNoted."""
        if not ids:
            return
        try:
            await asyncio.to_thread(self._note, kind, ids)
        except (OSError, ValueError) as error:
            if not self._has_failed:
                _log.error("erasures_not_noted", path=str(self.path), reason=str(error))
            self._has_failed = True
            raise ErasureNotNoted from error
        self._has_failed = False

    def create(self) -> None:
        """Create an empty log if there is none, as a missing one counts as lost. Raises OSError."""
        append(self.path, b"")

    def _note(self, kind: Kind, ids: Iterable[int | str]) -> None:
        with self._write_lock:
            salt, at = _find_salt(self.path), self._clock()
            entries = (_Entry(salt, _hash(salt, kind, id_), at, kind) for id_ in ids)
            append(self.path, b"".join(_to_line(each) + b"\n" for each in entries))


def read_erasures(*paths: Path) -> Erasures:
    """Read logs as one; a missing one is empty."""
    entries, unreadable = dict[bytes, _Entry](), dict[Path, int]()
    for path in paths:
        try:
            with suppress(FileNotFoundError):
                entries |= _read_by_line(path)
        except (OSError, ValueError) as error:
            unreadable[path] = getattr(error, "line", 1)
    last_times = dict[str, datetime]()
    for entry in entries.values():
        last_times[entry.hash] = max(entry.at, last_times.get(entry.hash, entry.at))
    user_times = [entry.at for entry in entries.values() if entry.kind == "user"]
    salts = frozenset(entry.salt for entry in entries.values())
    return Erasures(salts, last_times, max(user_times, default=None), len(entries), unreadable)


def merge_log(source: Path, target: Path) -> None:
    """Add the lines of `source` that `target` lacks. Raises OSError or UnreadableLine."""
    source_lines, target_lines = _read_by_line(source), dict[bytes, _Entry]()
    with suppress(FileNotFoundError):
        target_lines = _read_by_line(target)
    append(target, b"".join(line + b"\n" for line in source_lines if line not in target_lines))


def logs_in(folder: Path) -> list[Path]:
    return sorted(folder.glob("erasures*.jsonl"))


def copied_log_path(folder: Path) -> Path:
    """Return the path of the copy that `cc-bot backup` writes."""
    return folder / "erasures.jsonl"


def _read_entries(path: Path) -> Iterator[_Entry]:
    """Yield the entries. In the former format, only the first line has the salt."""
    salt = ""
    with open_regular(path) as file:
        for number, line in enumerate(map(bytes.rstrip, file), 1):
            if number == 1 and (head := _FORMER_HEAD.fullmatch(line)):
                salt = head[1].decode()
            elif entry := _parse(path, number, line, salt):
                yield entry


def _read_by_line(path: Path) -> dict[bytes, _Entry]:
    return {_to_line(entry): entry for entry in _read_entries(path)}


def _find_salt(path: Path) -> bytes:
    with suppress(FileNotFoundError):
        for entry in _read_entries(path):
            return entry.salt
    return secrets.token_bytes(_SALT_BYTES)


def _parse(path: Path, number: int, line: bytes, head_salt: str) -> _Entry | None:
    """Return None if a crash truncated the line. Raises UnreadableLine."""
    try:
        fields = json.loads(line)
        salt = bytes.fromhex(fields.get("salt", head_salt) if head_salt else fields["salt"])
        return _Entry(salt, str(fields["id"]), datetime.fromisoformat(fields["at"]), str(fields["kind"]))
    except (ValueError, TypeError, KeyError, AttributeError, RecursionError) as error:
        if not _TRUNCATED_LINE.fullmatch(line):
            raise UnreadableLine(path, number) from error
        _log.warning("erasure_line_unreadable", path=str(path), line=number)
        return None


def _to_line(entry: _Entry) -> bytes:
    at = entry.at.isoformat(timespec="milliseconds")
    return json.dumps({"kind": entry.kind, "salt": entry.salt.hex(), "id": entry.hash, "at": at}).encode()


def _hash(salt: bytes, kind: Kind, id_: int | str) -> str:
    text = f"{kind}/{id_}".encode()
    if kind == "user":  # slow, as the ids of users are public
        return hashlib.scrypt(text, salt=salt, **_SCRYPT, dklen=32).hex()
    return hmac.new(salt, text, hashlib.sha256).hexdigest()
