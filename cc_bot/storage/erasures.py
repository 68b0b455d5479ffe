"""What was erased, remembered apart from the database and its backups, so that no restore brings it back.

A backup keeps what it was made of. When somebody is forgotten after it was made, restoring it would bring
them back, unless it is known elsewhere that they are to be forgotten again. This log says that and nothing
else: for each erasure a time and a salted hash of whose or what it was. Whoever has an id can ask whether it
stands here; the log by itself names nobody. (Who holds the log and tries all ids can find them out, since
salt and hash must stand together; so it is as private as the database, mode 0600.)

The first line has the salt, each further one an erasure. Lines are only ever added, each batch in one write
that has reached the disk before the erasing begins. A line that a crash cut off was no erasure yet: it is
left alone, and the next batch begins on a line of its own.
"""

import asyncio
import hashlib
import hmac
import json
import secrets
from collections.abc import AsyncIterator, Callable, Iterable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Final, Literal, TypeVar

import structlog

from cc_bot.domain.clock import Clock, utc_now
from cc_bot.domain.errors import ErasureNotNoted
from cc_bot.storage.durable import append, write_new

Kind = Literal["user", "memory", "memory_and_messages", "message", "place"]
"""All of a user's data; one memory; one memory with the messages that tell of it; one message of Discord; all
messages of a channel or thread."""

T = TypeVar("T")

_VERSION: Final = 1
_SALT_BYTES: Final = 16

_log = structlog.get_logger(__name__)


def memory_name(user_id: int, memory_id: int, created_at: str) -> str:
    """What a memory is called in the log. Its number alone may be given anew after a restore."""
    return f"{user_id}/{memory_id}/{created_at}"


def place_name(channel_id: int, thread_id: int) -> str:
    """What a channel (thread 0) or a thread is called in the log."""
    return f"{channel_id}/{thread_id}"


@dataclass(frozen=True, slots=True)
class Erasures:
    """What a log says."""

    salt: bytes
    times: Mapping[str, datetime]
    """When each was erased, the last time it was; by its hash."""

    def match(self, kind: Kind, id_: int | str, since: datetime | None) -> bool:
        """Whether it was erased at this moment or later; ever, when there is no moment."""
        at = self.times.get(_hash(self.salt, kind, id_))
        return at is not None and (since is None or at >= since)


class ErasureLog:
    """The log of one database."""

    def __init__(self, path: Path, *, clock: Clock = utc_now) -> None:
        """The file is made with the first erasure, or by `ensure`."""
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
            await self._aside(lambda: self._append(kind, ids, self._clock()))

    @asynccontextmanager
    async def erasing(self, kind: Kind, *ids: int | str) -> AsyncIterator[None]:
        """Around an erasing that takes its time: noted before it, and again when it is done.

        A backup that is made in between still has what is erased; by the second note a restore knows that
        this was later. Raises what `note` raises.
        """
        await self.note(kind, *ids)
        yield
        await self.note(kind, *ids)

    async def ensure(self) -> None:
        """Make the log if it is missing, so that an empty one can be told from one that was lost."""
        await self._aside(self.make)

    async def read(self) -> Erasures | None:
        """What the log says; None when there is none. Raises ErasureNotNoted."""
        return await self._aside(lambda: read_erasures(self.path))

    async def _aside(self, job: Callable[[], T]) -> T:
        """The operator is told once, until it works again: the purge tries every few seconds."""
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
        with self.path.open("rb") as file:  # of a log that may have grown long
            salt = _salt_of(file.readline())
        at = now.isoformat(timespec="milliseconds")
        lines = [_line(kind=kind, id=_hash(salt, kind, id_), at=at) for id_ in ids]
        append(self.path, b"".join(lines))

    def make(self) -> None:
        """What `ensure` does, for whoever is on a thread of its own. Raises OSError."""
        if not self.path.exists():
            write_new(self.path, _line(version=_VERSION, salt=secrets.token_hex(_SALT_BYTES)))


def read_erasures(path: Path) -> Erasures | None:
    """What the log in this file says; None when there is none. Raises OSError, or ValueError when it is no
    log."""
    try:
        content = path.read_bytes()
    except FileNotFoundError:
        return None
    first, *lines = content.splitlines() or [b""]
    salt = _salt_of(first)
    times = dict[str, datetime]()
    for line in lines:
        try:
            entry = json.loads(line)
            at = datetime.fromisoformat(entry["at"])
            times[entry["id"]] = max(at, times.get(entry["id"], at))
        except (ValueError, TypeError, KeyError):
            _log.warning("erasure_line_unreadable", path=str(path))
    return Erasures(salt, times)


def _salt_of(first_line: bytes) -> bytes:
    try:
        head = json.loads(first_line)
        if head["version"] == _VERSION:
            return bytes.fromhex(head["salt"])
    except (TypeError, KeyError) as error:
        raise ValueError("the log of erasures has no salt") from error
    raise ValueError("the log of erasures is of another version")


def _hash(salt: bytes, kind: Kind, id_: int | str) -> str:
    return hmac.new(salt, f"{kind}/{id_}".encode(), hashlib.sha256).hexdigest()


def _line(**fields: str | int) -> bytes:
    return json.dumps(fields).encode() + b"\n"
