"""The erasure log: a file apart from the database and its backups, so that no restore brings back what was
erased.

For each erasure it has the kind, a salted hash of the id, and the time. The log by itself names nobody, but
who holds it can try ids that they know; so it is as private as the database, mode 0600. To try a user's id
takes some milliseconds: a million of them, an hour or more. Ids of messages and channels are tried a million
in seconds: they are erased by the thousand, and a restore looks for each that it finds.

The first line has the salt, each further one an erasure. Lines are added and never removed or changed, each
batch in one write that has reached the disk before the erasing begins. A line that a crash cut off was no
erasure yet: the next batch begins on a line of its own. Writers hold a lock.
"""

import asyncio
import hashlib
import hmac
import json
import re
import secrets
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Final, Literal, TypeVar

import structlog
from filelock import FileLock

from cc_bot.domain.clock import Clock, utc_now
from cc_bot.domain.errors import ErasureNotNoted
from cc_bot.regular_file import open_regular, read_regular
from cc_bot.storage.files import append, write_new, write_over

Kind = Literal["user", "memory", "memory_and_messages", "session", "message", "place"]
"""All of a user's data; one memory; one memory with the messages that repeat it; one conversation; one
message of Discord; all messages of a channel or thread."""

T = TypeVar("T")

_VERSION: Final = 2
_SALT_BYTES: Final = 16
_SCRYPT: Final = {"n": 2**11, "r": 8, "p": 1}
"""2 MiB and some four milliseconds: https://www.rfc-editor.org/rfc/rfc7914."""
_LOCK_TIMEOUT_S: Final = 10.0
_TORN: Final = re.compile(rb"\{[\x20-\x7c~]*")
"""The beginning of a line, as a crash leaves it."""

_log = structlog.get_logger(__name__)


class UnreadableLine(ValueError):
    """The error of a file that is no erasure log."""

    def __init__(self, why: str, line: int = 1) -> None:
        """Make the error. `line`: the number of the one that can't be read."""
        super().__init__(why)
        self.line = line


def memory_name(user_id: int, memory_id: int, created_at: str) -> str:
    """Return the name of a memory in the log. Its number alone may be given again after a restore."""
    return f"{user_id}/{memory_id}/{created_at}"


def place_name(channel_id: int, thread_id: int) -> str:
    """Return the name of a channel (thread 0) or a thread in the log."""
    return f"{channel_id}/{thread_id}"


@dataclass(frozen=True, slots=True)
class Extent:
    """The length of a log at some moment. Lines are only added: a log with fewer lines later was cut, and one
    of another name was begun again."""

    name: str
    noted: int


@dataclass(frozen=True, slots=True)
class Erasures:
    """The content of a log."""

    salt: bytes
    times: Mapping[str, datetime]
    """The last time that each was erased, by its hash."""
    last_user: datetime | None = None
    """The last time that a user was erased."""
    noted: int = 0
    """The number of entries."""

    @property
    def extent(self) -> Extent:
        return Extent(hashlib.sha256(self.salt).hexdigest()[:8], self.noted)

    def match(self, kind: Kind, id_: int | str, since: datetime | None) -> bool:
        """Return whether it was erased at this moment or later; ever, when there is no moment."""
        if kind == "user" and (self.last_user is None or (since is not None and self.last_user < since)):
            return False  # without a slow hash
        at = self.times.get(_hash(self.salt, kind, id_))
        return at is not None and (since is None or at >= since)


class ErasureLog:
    """The erasure log of one database."""

    def __init__(self, path: Path, *, clock: Clock = utc_now) -> None:
        """Make a log, whose file is made with the first erasure, or by `ensure`."""
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
        restore would undo it.
        """
        if ids:
            await self._run_aside(lambda: self._append(kind, ids, self._clock()))

    async def ensure(self) -> None:
        """Make the log if it is missing, so that an empty one can be told from a lost one."""
        await self._run_aside(self.make)

    async def read(self) -> Erasures | None:
        """Read the log; None when there is none. Raises ErasureNotNoted."""
        return await self._run_aside(lambda: read_erasures(self.path))

    async def _run_aside(self, job: Callable[[], T]) -> T:
        """Run a job in a thread. Trouble is logged once, until it works again: the purge tries every few
        seconds."""
        try:
            result = await asyncio.to_thread(job)
        except (OSError, ValueError) as error:
            if not self._in_trouble:
                _log.error("erasures_not_noted", path=str(self.path), reason=str(error))
            self._in_trouble = True
            raise ErasureNotNoted from error
        self._in_trouble = False
        return result

    def _append(self, kind: Kind, ids: Iterable[int | str], now: datetime) -> None:
        self.make()
        at = now.isoformat(timespec="milliseconds")
        with FileLock(self.path.with_name(f".{self.path.name}.lock"), timeout=_LOCK_TIMEOUT_S, mode=0o600):
            with open_regular(self.path) as file:
                salt = _salt_of(file.readline())
            append(self.path, b"".join(_line(kind=kind, id=_hash(salt, kind, id_), at=at) for id_ in ids))

    def make(self) -> None:
        """Make the log as `ensure` does, in the caller's thread. Raises OSError."""
        if not self.path.exists():
            write_new(self.path, _line(version=_VERSION, salt=secrets.token_bytes(_SALT_BYTES).hex()))


def read_erasures(path: Path) -> Erasures | None:
    """Read the log in this file; None when there is none. Raises OSError, or UnreadableLine for a file that
    is no log."""
    try:
        content = read_regular(path)
    except FileNotFoundError:
        return None
    first, *lines = content.splitlines() or [b""]
    salt, times, noted = _salt_of(first), dict[str, datetime](), 0
    last_user: datetime | None = None
    for number, line in enumerate(lines, 2):
        try:
            entry = json.loads(line)
            at = datetime.fromisoformat(entry["at"])
            times[entry["id"]] = max(at, times.get(entry["id"], at))
            noted += 1
            if entry["kind"] == "user":
                last_user = max(at, last_user or at)
        except (ValueError, TypeError, KeyError, AttributeError, RecursionError) as error:
            if not _TORN.fullmatch(line):
                raise UnreadableLine("a line of the log of erasures can't be read", number) from error
            _log.warning("erasure_line_unreadable", path=str(path), line=number)
    return Erasures(salt, times, last_user, noted)


def ensure_usable(path: Path) -> None:
    """Check that the log in this file, if there is one, can be read and added to. Raises OSError, or
    ValueError when it is no log."""
    if read_erasures(path):
        with path.open("ab"):  # which changes nothing
            pass


def _salt_of(first_line: bytes) -> bytes:
    """Return the salt of a log. Raises UnreadableLine."""
    try:
        head = json.loads(first_line)
        if head["version"] == _VERSION:
            return bytes.fromhex(head["salt"])
    except (ValueError, TypeError, KeyError, RecursionError) as error:
        raise UnreadableLine("the log of erasures has no salt") from error
    raise UnreadableLine("the log of erasures is of another version")


def _hash(salt: bytes, kind: Kind, id_: int | str) -> str:
    """Return the salted hash of an id; a slow one for a user."""
    text = f"{kind}/{id_}".encode()
    if kind == "user":
        return hashlib.scrypt(text, salt=salt, **_SCRYPT, dklen=32).hex()
    return hmac.new(salt, text, hashlib.sha256).hexdigest()


def _line(**fields: str | int) -> bytes:
    return json.dumps(fields).encode() + b"\n"


# ---- erasure copies --------------------------------------------------------------------------------------
# Copies of the log beside the backups, for when the machine is lost. A copy is named after its log's salt, so
# that the log of another database never replaces one that older backups need.


def copy_log(log: Path, folder: Path) -> Path:
    """Bring the folder's copy of a log up to date. Raises OSError, or ValueError when it is no log."""
    erasures = read_erasures(log)
    if erasures is None:
        raise FileNotFoundError(log)
    target = folder / copy_name(erasures.extent.name)
    _write_both(target, log)
    return target


def carry_log(log: Path, target: Path) -> bool:
    """Have a log stand in another place too, beside a copy of its database. One in which nothing is noted yet
    makes room for it. False where there is the log of something else, which is left alone. Raises OSError, or
    ValueError when one of the two is no log."""
    salt = _salt_of(read_regular(log).partition(b"\n")[0])
    if target.exists():
        head, _, noted = read_regular(target).partition(b"\n")
        if noted and _salt_of(head) != salt:
            return False
    _write_both(target, log)
    return True


def _write_both(target: Path, log: Path) -> None:
    """Write a log to another file of the same log, and keep lines that only that one has."""
    lines = dict.fromkeys(read_regular(log).splitlines())
    if target.exists():
        former = read_regular(target).splitlines()
        lines |= dict.fromkeys(former if former[:1] == list(lines)[:1] else ())
    write_over(target, b"".join(line + b"\n" for line in lines))


def copy_name(log: str) -> str:
    """Return what the copy of a log of that name is called."""
    return f"erasures_{log}.jsonl"


def logs_in(folder: Path) -> list[Path]:
    """The copies in a folder, those that were written last first. Raises OSError."""
    paths = folder.glob("erasures_*.jsonl")
    return sorted(paths, key=lambda path: path.stat().st_mtime_ns, reverse=True)


def unusable_logs(log: Path, folder: Path) -> list[Path]:
    """List those of a log, the copies beside it and those in a folder that can't be read, or added to: no
    erasing would be done with such a log, and no restore with such a copy."""
    paths = [log]
    for each in dict.fromkeys((log.parent, folder)):
        try:
            paths += logs_in(each)
        except OSError:
            paths.append(each)  # which is to be told, and is no log
    return [path for path in paths if not _is_usable(path)]


def _is_usable(path: Path) -> bool:
    try:
        ensure_usable(path)
    except (OSError, ValueError):
        return False
    return True


def read_logs(paths: Iterable[Path]) -> tuple[dict[Path, Erasures], list[Path]]:
    """Read these logs, as far as there are any, and list those that can't be read."""
    logs, unreadable = dict[Path, Erasures](), list[Path]()
    for path in paths:
        try:
            erasures = read_erasures(path)
        except (OSError, ValueError):
            unreadable.append(path)
        else:
            if erasures:
                logs[path] = erasures
    return logs, unreadable
