"""The erasure log, outside the database and its backups, so that a restore does not bring erased data back.

Each line has a kind, salted hash of an id, and time. Lines are only added, so logs of several machines can be
merged. Known ids can be tested, so it is as private as the database.
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
_SCRYPT: Final = {"n": 2**11, "r": 8, "p": 1}  # takes about 4 ms, so only for users
_TORN: Final = re.compile(rb"(\{[\x20-\x7c~]*)?")  # left by a crash
_EARLIER_HEAD: Final = re.compile(rb'\{"version": 2, "salt": "([0-9a-f]{32})"\}')

_log = structlog.get_logger(__name__)


class UnreadableLine(ValueError):
    def __init__(self, path: Path, line: int) -> None:
        super().__init__(f"line {line} of {path} is invalid")
        self.line = line


def memory_name(user_id: int, memory_id: int, created_at: str) -> str:
    """Return a memory's id in the log. A restore may reuse its number, but at another time."""
    return f"{user_id}/{memory_id}/{created_at}"


def thread_name(channel_id: int, thread_id: int) -> str:
    """Return the id of a thread in the log; thread 0 is the channel itself."""
    return f"{channel_id}/{thread_id}"


class _Entry(NamedTuple):
    salt: bytes
    hash: str
    at: datetime
    kind: str


@dataclass(frozen=True, slots=True)
class Erasures:
    salts: frozenset[bytes]
    times: Mapping[str, datetime]  # the last time by hash
    last_user: datetime | None
    count: int
    unreadable: Mapping[Path, int]  # unread logs, with the first invalid line

    def match(self, kind: Kind, id_: int | str, since: datetime | None) -> bool:
        """Return whether the id was erased since then; None: at any time."""
        if kind == "user" and (self.last_user is None or (since is not None and self.last_user < since)):
            return False  # without a slow hash
        times = (self.times.get(_hash(salt, kind, id_)) for salt in self.salts)
        return any(at and (since is None or at >= since) for at in times)


class ErasureLog:
    def __init__(self, path: Path, *, clock: Clock = utc_now) -> None:
        self.path = path
        self._clock = clock
        self._in_trouble = False
        self._writing = Lock()  # a line being written would look truncated

    @classmethod
    def beside(cls, database: Path, *, clock: Clock = utc_now) -> "ErasureLog":
        """Return the log `sessions.erasures.jsonl` of `sessions.db`."""
        return cls(database.with_suffix(".erasures.jsonl"), clock=clock)

    async def note(self, kind: Kind, *ids: int | str) -> None:
        """Record erasures. Raises ErasureNotNoted; then nothing may be erased, as a restore would undo it."""
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
        """Create an empty log if missing, to tell it from a lost one. Raises OSError."""
        append(self.path, b"")

    def _note(self, kind: Kind, ids: Iterable[int | str]) -> None:
        with self._writing:
            salt, at = _salt_of(self.path), self._clock()
            entries = (_Entry(salt, _hash(salt, kind, id_), at, kind) for id_ in ids)
            append(self.path, b"".join(_to_line(each) + b"\n" for each in entries))


def read_erasures(*paths: Path) -> Erasures:
    """Read logs as one; a missing one is empty."""
    entries, unreadable = dict[bytes, _Entry](), dict[Path, int]()
    for path in paths:
        try:
            with suppress(FileNotFoundError):
                entries |= _by_line(path)
        except (OSError, ValueError) as error:
            unreadable[path] = getattr(error, "line", 1)
    times = dict[str, datetime]()
    for entry in entries.values():
        times[entry.hash] = max(entry.at, times.get(entry.hash, entry.at))
    users = [entry.at for entry in entries.values() if entry.kind == "user"]
    salts = frozenset(entry.salt for entry in entries.values())
    return Erasures(salts, times, max(users, default=None), len(entries), unreadable)


def merge_log(source: Path, target: Path) -> None:
    """Add the source's missing lines. Raises OSError or UnreadableLine."""
    added, known = _by_line(source), dict[bytes, _Entry]()
    with suppress(FileNotFoundError):
        known = _by_line(target)
    append(target, b"".join(line + b"\n" for line in added if line not in known))


def logs_in(folder: Path) -> list[Path]:
    """List the copies of logs in a folder."""
    return sorted(folder.glob("erasures*.jsonl"))


def copy_in(folder: Path) -> Path:
    """Return the path of the copy that `cc-bot backup` writes."""
    return folder / "erasures.jsonl"


def _entries(path: Path) -> Iterator[_Entry]:
    """Yield the entries. In a log of an earlier checkout the first line has the salt."""
    salt = ""
    with open_regular(path) as file:
        for number, line in enumerate(map(bytes.rstrip, file), 1):
            if number == 1 and (found := _EARLIER_HEAD.fullmatch(line)):
                salt = found[1].decode()
            elif entry := _parse(path, number, line, salt):
                yield entry


def _by_line(path: Path) -> dict[bytes, _Entry]:
    return {_to_line(entry): entry for entry in _entries(path)}


def _salt_of(path: Path) -> bytes:
    with suppress(FileNotFoundError):
        for entry in _entries(path):
            return entry.salt
    return secrets.token_bytes(_SALT_BYTES)


def _parse(path: Path, number: int, line: bytes, salt: str) -> _Entry | None:
    """Return None if a crash truncated the line. Raises UnreadableLine."""
    try:
        fields = json.loads(line)
        given = bytes.fromhex(fields.get("salt", salt) if salt else fields["salt"])
        return _Entry(given, str(fields["id"]), datetime.fromisoformat(fields["at"]), str(fields["kind"]))
    except (ValueError, TypeError, KeyError, AttributeError, RecursionError) as error:
        if not _TORN.fullmatch(line):
            raise UnreadableLine(path, number) from error
        _log.warning("erasure_line_unreadable", path=str(path), line=number)
        return None


def _to_line(entry: _Entry) -> bytes:
    at = entry.at.isoformat(timespec="milliseconds")
    return json.dumps({"kind": entry.kind, "salt": entry.salt.hex(), "id": entry.hash, "at": at}).encode()


def _hash(salt: bytes, kind: Kind, id_: int | str) -> str:
    text = f"{kind}/{id_}".encode()
    if kind == "user":
        return hashlib.scrypt(text, salt=salt, **_SCRYPT, dklen=32).hex()
    return hmac.new(salt, text, hashlib.sha256).hexdigest()
