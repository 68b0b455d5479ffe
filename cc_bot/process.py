"""Process heartbeats and leader duties, kept in the database.

A process renews its row every ten seconds. After 25 seconds without a renewal it ends its answers, and after
30 others may declare it dead and take over. Until a process that slept longer has renewed, it sends nothing
to Discord. If its row is gone by then, it is evicted and the program restarts.
"""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from time import monotonic
from typing import Final, Protocol

import structlog

from cc_bot.domain.errors import ShardsTaken, StorageError
from cc_bot.domain.process import LEASE, RENEWED_EVERY, LivingProcess, Process
from cc_bot.stores import ProcessStore

_log = structlog.get_logger(__name__)

_LEASE_S: Final = LEASE.total_seconds()
_RENEWED_EVERY_S: Final = RENEWED_EVERY.total_seconds()
CUT_S: Final = 25.0
"""After the last renewal. Leaves time before LEASE to show that answers ended."""
_POLL_S: Final = 1.0
_LATE_S: Final = 15.0
"""A renewal so much later than the one before may be due to an outage that kept others from renewing, too."""
_NEVER: Final = datetime.min.replace(tzinfo=UTC)


class Duties(Protocol):
    """Work that one process does for all."""

    async def run_as_leader(self, duty: str, work: Callable[[], Awaitable[None]]) -> None:
        """Run `work` while this process holds the duty; restart it when the duty is regained. Returns when
        `work` does."""


class OwnDuties:
    """Duties of a program that is no process of the bot, such as a terminal: it holds them all."""

    async def run_as_leader(self, duty: str, work: Callable[[], Awaitable[None]]) -> None:  # noqa: ARG002
        await work()


@dataclass(frozen=True, slots=True)
class JoinOptions:
    """The options of `join`."""

    process: Process
    ended: Sequence[str] = ()
    """Names of former processes that are known to have ended."""
    hash_files: Callable[[], Mapping[str, str]] = dict
    alone: bool = False
    """Whether no other process can exist. Rows of others come from a backup, and the lease never runs out."""
    waits_for: Callable[[Process], None] = lambda _: None
    """Called with the process whose death is waited for."""


class Membership:
    """A process that has joined, until it leaves or is evicted."""

    def __init__(self, store: ProcessStore, options: JoinOptions) -> None:
        self._store = store
        self._hash_files = options.hash_files
        self._alone = options.alone
        self._wanted = set[str]()
        """Duties that this process holds or waits for; a renewal gives back all others."""
        self._holders = dict[str, str | None]()
        """Of each duty, at the last renewal."""
        self._lapsed = asyncio.Event()
        self._drained = False
        """Whether its answers were ended in time, so that others have nothing of it to take over."""
        self._on_change: list[Callable[[], None]] = []
        self._on_end: list[Callable[[], None]] = []
        self.renewed_s = monotonic()
        self.process = replace(options.process, file_hashes=options.hash_files())
        self.living: tuple[LivingProcess, ...] = ()
        """All processes at the last renewal, this one included."""
        self.is_connected: Callable[[], bool] = lambda: False
        """Returns whether all shards are connected to Discord; each renewal stores it."""
        self.evicted = asyncio.Event()
        """Set once others have declared this process dead."""

    @property
    def name(self) -> str:
        return self.process.name

    @property
    def sharing(self) -> int:
        """The number of processes that are connected to Discord."""
        return max(1, sum(each.process.shards != () for each in self.living))

    def may_send(self) -> bool:
        """Return whether no other process can have taken over what this one does."""
        return self._drained or self._age_s < _LEASE_S

    def call_on_change(self, listener: Callable[[], None]) -> None:
        """Call it whenever a process has joined or left."""
        self._on_change.append(listener)

    def call_on_end(self, listener: Callable[[], None]) -> None:
        """Call it when others may take over the answers that this process makes."""
        self._on_end.append(listener)

    # Duties

    async def run_as_leader(self, duty: str, work: Callable[[], Awaitable[None]]) -> None:
        """See Duties."""
        while True:
            async with self.hold_duty(duty, patient=True):
                working = asyncio.ensure_future(work())
                lapsing = asyncio.create_task(self._lapsed.wait())
                try:
                    await asyncio.wait((working, lapsing), return_when=asyncio.FIRST_COMPLETED)
                    if working.done():
                        return working.result()
                    _log.warning("duty_lost", duty=duty)
                finally:
                    working.cancel()
                    lapsing.cancel()
                    await asyncio.gather(working, lapsing, return_exceptions=True)

    @asynccontextmanager
    async def hold_duty(self, duty: str, *, patient: bool = False) -> AsyncIterator[None]:
        """Wait for a duty and hold it. If `patient`, it is only asked for once a renewal saw it free."""
        self._wanted.add(duty)
        try:
            while not await self._take(duty, patient=patient):  # noqa: ASYNC110 - the database sends no event
                await asyncio.sleep(_POLL_S)
            yield
        finally:
            self._wanted.discard(duty)
            with suppress(StorageError):  # then the next renewal gives it back
                await self._store.give_back(duty, self.name)

    async def _take(self, duty: str, *, patient: bool) -> bool:
        if self._lapsed.is_set() or (patient and self._holders.get(duty) not in (None, self.name)):
            return False
        try:
            return await self._store.take(duty, self.name)
        except StorageError as error:
            _log.warning("duty_not_taken", duty=duty, error=type(error).__name__)
            return False

    # Life

    async def keep_alive(self) -> None:
        """Renew, until it is evicted or this is cancelled."""
        watching = asyncio.create_task(self._watch())
        try:
            while not self.evicted.is_set():
                renewed = await self._renew()
                await asyncio.sleep(_RENEWED_EVERY_S if renewed else _POLL_S)
        finally:
            watching.cancel()
            await asyncio.gather(watching, return_exceptions=True)

    async def _renew(self) -> bool:
        self.process = replace(self.process, file_hashes=self._hash_files())
        begun_s = monotonic()
        late = begun_s - self.renewed_s > _LATE_S
        try:
            async with asyncio.timeout(_RENEWED_EVERY_S):
                renewal = await self._store.renew(
                    self.process, self._wanted, connected=self.is_connected(), late=late
                )
        except (StorageError, TimeoutError) as error:
            _log.warning("process_not_renewed", error=type(error).__name__)
            return False
        if renewal is None:
            _log.error("process_evicted", process=self.name)
            self._end()
            self.evicted.set()
            return False
        if renewal.died:
            _log.warning("processes_died", processes=renewal.died)
        before = {each.process.name for each in self.living}
        self.living, self._holders = renewal.living, {each.name: each.process for each in renewal.duties}
        self.renewed_s, self._drained = begun_s, False
        self._lapsed.clear()
        # A process that joined and died between two renewals was in neither list.
        if renewal.died or (before and before != {each.process.name for each in self.living}):
            for listener in self._on_change:
                listener()
        return True

    async def _watch(self) -> None:
        """End what was begun when no renewal succeeded for CUT_S, if others may take over."""
        while not self.evicted.is_set():
            await asyncio.sleep(_POLL_S)
            age_s = self._age_s
            if age_s >= CUT_S and not self._lapsed.is_set():
                _log.error("process_lapsed", seconds=round(age_s))
                self._drained = age_s < _LEASE_S
                if len(self.living) > 1 or not self._drained:
                    self._end()
                self._lapsed.set()

    @property
    def _age_s(self) -> float:
        return 0.0 if self._alone else monotonic() - self.renewed_s

    def _end(self) -> None:
        self._lapsed.set()
        for listener in self._on_end:
            listener()


@asynccontextmanager
async def join(store: ProcessStore, options: JoinOptions) -> AsyncIterator[Membership]:
    """Be one of the processes. Raises ShardsTaken if a living one holds the same shards, and StorageError."""
    process = replace(options.process, file_hashes=options.hash_files())
    former = [each.process.name for each in await store.list_all()] if options.alone else options.ended
    await store.remove(former)
    if others := await store.join(process):
        await _outlast(store, process, others, options.waits_for)
    membership = Membership(store, options)
    renewing = asyncio.create_task(membership.keep_alive())
    try:
        yield membership
    finally:
        renewing.cancel()
        await asyncio.gather(renewing, return_exceptions=True)
        with suppress(StorageError):
            await store.remove([process.name])


async def _outlast(
    store: ProcessStore,
    process: Process,
    others: Sequence[LivingProcess],
    waits_for: Callable[[Process], None],
) -> None:
    """Join in place of others once their leases have run out. Raises ShardsTaken as soon as one of them
    renews, or another one joins."""
    seen = {each.process.name: each.renewed_at for each in others}
    # All leases run out while the database is away: each process gets the time of one renewal first.
    watched_from_s = monotonic() + _RENEWED_EVERY_S + 2 * _POLL_S
    first = others[0].process
    _log.warning("process_waited_for", process=first.name, host=first.host, shards=first.told_shards or "*")
    waits_for(first)
    while others:
        for each in others:
            if each.renewed_at > seen.get(each.process.name, _NEVER):
                raise _taken(process, each)
        await asyncio.sleep(_POLL_S)
        others = await store.join(process, tuple(seen) if monotonic() >= watched_from_s else ())


def _taken(process: Process, other: LivingProcess) -> ShardsTaken:
    theirs = other.process
    return ShardsTaken(
        host=theirs.host,
        theirs=theirs.told_shards or "*",
        ours=process.told_shards or "*",
    )
