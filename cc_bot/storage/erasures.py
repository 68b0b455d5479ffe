"""The log of erasures, apart from the database and its backups, so that no restore brings back what was
erased.

A backup keeps what it was made of. When somebody is forgotten after it was made, restoring it would bring
them back, unless it is known elsewhere that they are to be forgotten again. This log says that and nothing
else: for each erasure a time and a salted hash of whose or what it was. Whoever has an id can ask whether it
stands here; the log by itself names nobody. But who holds the log can try ids that they know, since salt and
hash must stand together; so it is as private as the database, mode 0600. To try a user's id takes some
milliseconds: a million of them, an hour or more. Ids of messages and places are tried a million in seconds:
they are erased by the thousand, and a restore looks for each that it finds.

The first line has the salt, each further one an erasure. Lines are added and never taken out, each batch in
one write that has reached the disk before the erasing begins. A line that a crash cut off was no erasure yet:
it is left alone, and the next batch begins on a line of its own. Whoever writes holds a lock, so that nothing
is added to a file that is just being replaced.

Version 1 had quick hashes of users too. They stay as they are, since nobody knows whose they were. Earlier
programs took out lines that had become old: such a log says since when it is whole, and how many it has lost.
"""

import asyncio
import hashlib
import hmac
import json
import re
import secrets
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
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
"""All of a user's data; one memory; one memory with the messages that tell of it; one conversation; one
message of Discord; all messages of a channel or thread."""

T = TypeVar("T")

_VERSION: Final = 2
_READ_VERSIONS: Final = (1, 2)
_SALT_BYTES: Final = 16
_SCRYPT: Final = {"n": 2**11, "r": 8, "p": 1}
"""2 MiB and some four milliseconds: https://www.rfc-editor.org/rfc/rfc7914. A restore pays it for each user
that it finds, if anybody was erased since."""
_LOCK_S: Final = 10.0
_TORN: Final = re.compile(rb"\{[\x20-\x7c~]*")
"""What a crash leaves of a line of ours, before whoever asked was told of anything: its beginning."""

_log = structlog.get_logger(__name__)


class UnreadableLine(ValueError):
    """The error of a file that is no log of erasures."""

    def __init__(self, why: str, line: int = 1) -> None:
        """Make the error. `line`: the number of the one that can't be read."""
        super().__init__(why)
        self.line = line


def memory_name(user_id: int, memory_id: int, created_at: str) -> str:
    """Return what a memory is called in the log. Its number alone may be given anew after a restore."""
    return f"{user_id}/{memory_id}/{created_at}"


def place_name(channel_id: int, thread_id: int) -> str:
    """Return what a channel (thread 0) or a thread is called in the log."""
    return f"{channel_id}/{thread_id}"


@dataclass(frozen=True, slots=True)
class Extent:
    """The length of a log at some moment. Lines are only added; so one that says less later was cut, and one
    of another name was begun anew."""

    name: str
    noted: int


@dataclass(frozen=True, slots=True)
class Erasures:
    """The content of a log."""

    salt: bytes
    times: Mapping[str, datetime]
    """When each was erased, the last time it was; by its hash."""
    last_user: datetime | None = None
    """When a user was erased last whose hash is a slow one."""
    whole_since: datetime | None = None
    """What was erased before that may have been taken out by an earlier program; None: nothing has been."""
    noted: int = 0
    """How often something was, what was taken out included."""

    @property
    def extent(self) -> Extent:
        return Extent(hashlib.sha256(self.salt).hexdigest()[:8], self.noted)

    def match(self, kind: Kind, id_: int | str, since: datetime | None) -> bool:
        """Return whether it was erased at this moment or later; ever, when there is no moment."""
        times = [self.times.get(_hash(self.salt, kind, id_))]
        if kind == "user" and self.last_user and (since is None or self.last_user >= since):
            times.append(self.times.get(_slow_hash(self.salt, kind, id_)))
        return any(at is not None and (since is None or at >= since) for at in times)


class ErasureLog:
    """The log of one database."""

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
        """Remember that these are erased; to be awaited before the erasing begins.

        Raises ErasureNotNoted, also when the log is none of ours: then nothing may be erased, since a restore
        would undo it.
        """
        if ids:
            await self._run_aside(lambda: self._append(kind, ids, self._clock()))

    async def ensure(self) -> None:
        """Make the log if it is missing, so that an empty one can be told from one that was lost."""
        await self._run_aside(self.make)

    async def read(self) -> Erasures | None:
        """Read the log; None when there is none. Raises ErasureNotNoted."""
        return await self._run_aside(lambda: read_erasures(self.path))

    async def _run_aside(self, job: Callable[[], T]) -> T:
        """Run a job of the log aside. The operator is told of trouble once, until it works again: the purge
        tries every few seconds."""
        try:
            result = await asyncio.to_thread(job)
        except (OSError, ValueError) as error:
            if not self._in_trouble:
                _log.error("erasures_not_noted", path=str(self.path), reason=str(error))
            self._in_trouble = True
            raise ErasureNotNoted from error
        self._in_trouble = False
        return result

    async def add(self, other: "LogLines") -> None:
        """Add what stands in another file of the same name and not in this one, which is made if it is
        missing. Raises ErasureNotNoted, also where this is not of that name."""
        await self._run_aside(lambda: self._add(other))

    def _append(self, kind: Kind, ids: Iterable[int | str], now: datetime) -> None:
        self.make()
        with self._held():
            salt = self._renew_head()
            at = now.isoformat(timespec="milliseconds")
            digest = _slow_hash if kind == "user" else _hash
            append(self.path, b"".join(_line(kind=kind, id=digest(salt, kind, id_), at=at) for id_ in ids))

    def _add(self, other: "LogLines") -> None:
        lines = [line.encode() for line in other.lines]
        with self._held():
            if not self.path.exists():
                write_new(self.path, b"".join(line + b"\n" for line in lines if is_first_line(line)))
            found = read_erasures(self.path)
            if found is None or found.extent.name != other.log:  # begun anew meanwhile
                raise UnreadableLine("the log of erasures has another salt")
            self._renew_head()
            if added := _missing(lines, read_regular(self.path).splitlines()):
                append(self.path, b"".join(line + b"\n" for line in added))

    def _renew_head(self) -> bytes:
        """See that the first line is of this version, and return the salt."""
        with open_regular(self.path) as file:  # of a log that may have grown long
            version, salt = _head_of(file.readline())
        if version < _VERSION:
            _, *lines = read_regular(self.path).splitlines(keepends=True)
            write_over(self.path, b"".join((_first_line(salt), *lines)))
        return salt

    @contextmanager
    def _held(self) -> Iterator[None]:
        """Hold the lock, so that nobody else writes meanwhile. Raises OSError."""
        lock = FileLock(self.path.with_name(f".{self.path.name}.lock"), timeout=_LOCK_S, mode=0o600)
        with lock:  # its Timeout is an OSError
            yield

    def make(self) -> None:
        """Make the log as `ensure` does, for whoever is on a thread of its own. Raises OSError."""
        if not self.path.exists():
            write_new(self.path, _first_line(secrets.token_bytes(_SALT_BYTES)))


def read_erasures(path: Path) -> Erasures | None:
    """Read the log in this file; None when there is none. Raises OSError, or UnreadableLine when it is no
    log."""
    try:
        content = read_regular(path)
    except FileNotFoundError:
        return None
    first, *lines = content.splitlines() or [b""]
    version, salt = _head_of(first)
    times = dict[str, datetime]()
    last_user: datetime | None = None
    whole_since: datetime | None = None
    noted = taken = 0
    for number, line in enumerate(lines, 2):
        try:
            entry = json.loads(line)
            if "whole_since" in entry:
                moment = datetime.fromisoformat(entry["whole_since"])
                whole_since = max(moment, whole_since or moment)
                taken = max(taken, int(entry.get("taken") or 0))
                continue
            at = datetime.fromisoformat(entry["at"])
            times[entry["id"]] = max(at, times.get(entry["id"], at))
            noted += 1
            if version > 1 and entry.get("kind") == "user":
                last_user = max(at, last_user or at)
        except (ValueError, TypeError, KeyError, AttributeError, RecursionError) as error:
            if not _TORN.fullmatch(line):
                raise UnreadableLine("a line of the log of erasures can't be read", number) from error
            _log.warning("erasure_line_unreadable", path=str(path), line=number)
    return Erasures(salt, times, last_user, whole_since, noted + taken)


@dataclass(frozen=True, slots=True)
class LogLines:
    """Lines of one log."""

    log: str
    """Its name."""
    lines: tuple[str, ...]


def read_lines(path: Path) -> LogLines:
    """Read the lines of the log in this file, without those that a crash cut off. Raises OSError, or
    UnreadableLine when it is no log."""
    erasures = read_erasures(path)
    if erasures is None:
        raise FileNotFoundError(path)
    whole = (each.decode() for each in read_regular(path).splitlines() if each.endswith(b"}"))
    return LogLines(erasures.extent.name, tuple(whole))


def _missing(lines: Iterable[bytes], known: Iterable[bytes]) -> list[bytes]:
    """List the lines that are not among the known ones, each once and without first lines."""
    there = {*known}
    return [line for line in dict.fromkeys(lines) if line not in there and not is_first_line(line)]


def ensure_usable(path: Path) -> None:
    """See that nothing is wrong with the log in this file, if there is one: that a restore can read it, and
    an erasing add to it. Raises OSError, or ValueError when it is no log."""
    if read_erasures(path):
        with path.open("ab"):  # which changes nothing
            pass


def is_first_line(line: bytes) -> bool:
    """Return whether the line is the one with the salt."""
    try:
        _head_of(line)
    except ValueError:
        return False
    return True


def _head_of(first_line: bytes) -> tuple[int, bytes]:
    """The version and the salt. Raises UnreadableLine."""
    try:
        head = json.loads(first_line)
        if head["version"] in _READ_VERSIONS:
            return int(head["version"]), bytes.fromhex(head["salt"])
    except (ValueError, TypeError, KeyError, RecursionError) as error:
        raise UnreadableLine("the log of erasures has no salt") from error
    raise UnreadableLine("the log of erasures is of another version")


def _first_line(salt: bytes) -> bytes:
    return _line(version=_VERSION, salt=salt.hex())


def _hash(salt: bytes, kind: Kind, id_: int | str) -> str:
    return hmac.new(salt, f"{kind}/{id_}".encode(), hashlib.sha256).hexdigest()


def _slow_hash(salt: bytes, kind: Kind, id_: int | str) -> str:
    return hashlib.scrypt(f"{kind}/{id_}".encode(), salt=salt, **_SCRYPT, dklen=32).hex()


def _line(**fields: str | int) -> bytes:
    return json.dumps(fields).encode() + b"\n"


# ---- erasure copies --------------------------------------------------------------------------------------
# The log of erasures beside the backups: whoever loses the machine still knows who is to be forgotten.
#
# A copy is named after its log's salt, so that the log of another database, or of one that was begun anew,
# never takes the place of one that older backups need.


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
    _, salt = _head_of(read_regular(log).partition(b"\n")[0])
    if target.exists():
        head, _, noted = read_regular(target).partition(b"\n")
        if noted and _head_of(head)[1] != salt:
            return False
    _write_both(target, log)
    return True


def _write_both(target: Path, log: Path) -> None:
    """Write a log to another place, with the lines that only its file there has."""
    lines = read_regular(log).splitlines()
    former = read_regular(target).splitlines() if target.exists() else []
    write_over(target, b"".join(line + b"\n" for line in (*lines, *_missing(former, lines))))


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
