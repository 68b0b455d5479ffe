"""A backup made fit to take its place: brought up to date, and without what was forgotten since.

This is done to a copy that nobody else sees, with the same stores that erase in daily work; so what an
erasure covers is said in one place. Their own notes go to a log in the copy's folder and with it: an erasure
that is only done again happened when it happened first.
"""

import asyncio
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from datetime import datetime
from itertools import compress
from pathlib import Path

from cc_bot.domain.clock import Clock
from cc_bot.domain.message import ChannelKey
from cc_bot.storage import Erasures, apply_pending, open_database, place_name
from cc_bot.storage.erasures import Kind
from cc_bot.storage.manifest import Progress
from cc_bot.stores import Stores, open_stores
from cc_bot.stores.retention import ErasedRows


@dataclass(frozen=True, slots=True)
class Forgotten:
    """How much was erased again."""

    users: int = 0
    memories: int = 0
    deleted: int = 0
    """Messages and places that were deleted on Discord."""

    def __bool__(self) -> bool:
        return bool(self.users or self.memories or self.deleted)


@dataclass(frozen=True, slots=True)
class _Logs:
    """What all logs say together."""

    logs: Sequence[Erasures]
    since: datetime | None

    def user(self, user_id: int) -> bool:
        """A user who was erased earlier came back before the backup was made."""
        return any(log.match("user", user_id, self.since) for log in self.logs)

    def ever(self, kind: Kind, name: int | str) -> bool:
        """Anything else has its name for ever, so it does not matter when it was erased: it may have been
        while the backup was made."""
        return any(log.match(kind, name, None) for log in self.logs)

    def place(self, key: ChannelKey) -> bool:
        """A thread goes with its channel."""
        return any(self.ever("place", place_name(key.channel_id, thread)) for thread in {0, key.thread_id})


async def reapply_erasures(
    copy: Path,
    logs: Sequence[Erasures],
    made_at: datetime | None,
    *,
    mark: str,
    clock: Clock,
    progress: Progress,
) -> Forgotten:
    """Upgrade the copy and erase again what the logs say.

    `made_at` is when the backup was made, None where nobody knows; `mark` takes the place of erased messages.
    Raises StorageError.
    """
    url = f"sqlite:///{copy}"
    async with open_database(url) as database:
        progress("upgrading", 0, 0)
        await apply_pending(database, clock=clock, preserve=False)  # the backup itself is the copy
        restored = ErasedRows(database)
        await restored.let_go()
        await restored.count_anew()
        known = _Logs(logs, made_at or await restored.newest())
        progress("erasing", 0, 0)
        async with open_stores(url, clock=clock, embedder=None) as stores:
            return Forgotten(
                users=await _forget_users(stores, known),
                memories=await _forget_memories(stores, restored, known, mark),
                deleted=await _forget_messages(stores, restored, known),
            )


async def _forget_users(stores: Stores, known: _Logs) -> int:
    found = await stores.personal_erasure.users()
    with ThreadPoolExecutor() as threads:  # to ask for one takes milliseconds, so that nobody tries them all
        erased = await asyncio.to_thread(lambda: list(threads.map(known.user, found)))
    users = list(compress(found, erased))
    for user in users:
        await stores.personal_erasure.erase(user)
    return len(users)


async def _forget_memories(stores: Stores, restored: ErasedRows, known: _Logs, mark: str) -> int:
    count = 0
    for (user, number), name in (await restored.memories()).items():
        with_messages = known.ever("memory_and_messages", name)
        if with_messages or known.ever("memory", name):
            erased = await stores.memory_removal.erase(user, number, mark=mark if with_messages else None)
            count += erased.memories if erased else 0
    return count


async def _forget_messages(stores: Stores, restored: ErasedRows, known: _Logs) -> int:
    count = 0
    for key in await restored.places():
        if known.place(key):
            await stores.channels.forget_place(key)
            count += 1
    deleted = [message for message in await restored.messages() if known.ever("message", message)]
    return count + (await stores.channels.delete(deleted) if deleted else 0)
