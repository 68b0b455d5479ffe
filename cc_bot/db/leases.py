"""Process heartbeats and leader election, in the database.

A process renews its row every ten seconds. After 25 seconds without a renewal it ends its answers; after 30
others may take over, and it sends nothing to Discord until it has renewed. If its row is gone, it restarts.
"""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from time import monotonic
from typing import Final

import structlog

from cc_bot.db.process import LEASE, RENEWED_EVERY, ActiveProcess, Process, ProcessStore
from cc_bot.domain.errors import ShardsTaken, StorageError

_log = structlog.get_logger(__name__)

_LEASE_S: Final = LEASE.total_seconds()
_RENEWED_EVERY_S: Final = RENEWED_EVERY.total_seconds()
END_ANSWERS_AFTER_S: Final = 25.0  # before the lease ends, so that answers can be marked as interrupted
_POLL_S: Final = 1.0
_LATE_S: Final = 15.0  # after such a pause an outage may have stopped all renewals
_NEVER: Final = datetime.min.replace(tzinfo=UTC)


class Leases:
    """Leader election for background work. This class, for a terminal, holds every duty."""

    async def run_as_leader(self, duty: str, work: Callable[[], Awaitable[None]]) -> None:  # noqa: ARG002
        """Run `work` whenever this process holds the duty, until `work` returns."""
        await work()


@dataclass(frozen=True, slots=True)
class JoinOptions:
    process: Process
    ended_names: Sequence[str] = ()  # processes that are known to have ended
    hash_files: Callable[[], Mapping[str, str]] = dict
    is_only_process: bool = False  # other rows come from a backup, and the lease never expires
    on_wait: Callable[[Process], None] = lambda _: None  # called with the process whose lease has to expire


class Membership(Leases):
    """A joined process, until it leaves or is evicted."""

    def __init__(self, store: ProcessStore, options: JoinOptions) -> None:
        self._store = store
        self._hash_files = options.hash_files
        self._is_only_process = options.is_only_process
        self._wanted = set[str]()  # held or awaited; a renewal releases all others
        self._holders = dict[str, str | None]()  # the process of each duty at the last renewal
        self._lapsed = asyncio.Event()
        self._drained = False  # its answers ended in time, so others take over nothing
        self.on_change: list[Callable[[], None]] = []  # called when a process joins or leaves
        self.on_end: list[Callable[[], None]] = []  # called when others may take over its answers
        self.renewed_s = monotonic()
        self.process = replace(options.process, file_hashes=options.hash_files())
        self.active: tuple[ActiveProcess, ...] = ()  # at the last renewal, including this one
        self.is_connected: Callable[[], bool] = lambda: False  # whether all shards are connected
        self.evicted = asyncio.Event()  # others have declared this process dead

    @property
    def name(self) -> str:
        return self.process.name

    @property
    def process_count(self) -> int:
        """The number of processes connected to Discord."""
        return max(1, sum(each.process.shards != () for each in self.active))

    def may_send(self) -> bool:
        """Return whether no other process can have taken over."""
        return self._drained or self._age_s < _LEASE_S

    async def run_as_leader(self, duty: str, work: Callable[[], Awaitable[None]]) -> None:
        while True:
            async with self.hold_duty(duty, only_if_free=True):
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
    async def hold_duty(self, duty: str, *, only_if_free: bool = False) -> AsyncIterator[None]:
        """Wait for a duty and hold it. `only_if_free`: request it only after a renewal found it free."""
        self._wanted.add(duty)
        try:
            while not await self._take(duty, only_if_free=only_if_free):  # noqa: ASYNC110 - the database sends no event
                await asyncio.sleep(_POLL_S)
            yield
        finally:
            self._wanted.discard(duty)
            with suppress(StorageError):  # the next renewal releases it
                await self._store.give_back(duty, self.name)

    async def _take(self, duty: str, *, only_if_free: bool) -> bool:
        if self._lapsed.is_set() or (only_if_free and self._holders.get(duty) not in (None, self.name)):
            return False
        try:
            return await self._store.take(duty, self.name)
        except StorageError as error:
            _log.warning("duty_not_taken", duty=duty, error=type(error).__name__)
            return False

    async def keep_alive(self) -> None:
        """Renew until evicted or cancelled."""
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
        before = {each.process.name for each in self.active}
        self.active, self._holders = renewal.active, {each.name: each.process for each in renewal.duties}
        self.renewed_s, self._drained = begun_s, False
        self._lapsed.clear()
        # A process that joined and died between two renewals is in neither list.
        if renewal.died or (before and before != {each.process.name for each in self.active}):
            for listener in self.on_change:
                listener()
        return True

    async def _watch(self) -> None:
        """End the answers after END_ANSWERS_AFTER_S without a renewal, if others may take over."""
        while not self.evicted.is_set():
            await asyncio.sleep(_POLL_S)
            age_s = self._age_s
            if age_s >= END_ANSWERS_AFTER_S and not self._lapsed.is_set():
                _log.error("process_lapsed", seconds=round(age_s))
                self._drained = age_s < _LEASE_S
                if len(self.active) > 1 or not self._drained:
                    self._end()
                self._lapsed.set()

    @property
    def _age_s(self) -> float:
        return 0.0 if self._is_only_process else monotonic() - self.renewed_s

    def _end(self) -> None:
        self._lapsed.set()
        for listener in self.on_end:
            listener()


@asynccontextmanager
async def join(store: ProcessStore, options: JoinOptions) -> AsyncIterator[Membership]:
    """Join; leave on exit. Raises ShardsTaken if an active process has the shards, and StorageError."""
    membership = Membership(store, options)
    process = membership.process
    ended = options.ended_names
    if options.is_only_process:
        ended = [each.process.name for each in await store.list_all()]
    await store.remove(ended)
    if others := await store.join(process):
        await _wait_for_leases(store, process, others, options.on_wait)
    membership.renewed_s = monotonic()
    renewing = asyncio.create_task(membership.keep_alive())
    try:
        yield membership
    finally:
        renewing.cancel()
        await asyncio.gather(renewing, return_exceptions=True)
        with suppress(StorageError):
            await store.remove([process.name])


async def _wait_for_leases(
    store: ProcessStore, process: Process, others: Sequence[ActiveProcess], on_wait: Callable[[Process], None]
) -> None:
    """Join once the leases of others have expired. Raises ShardsTaken if one renews, or another joins."""
    renewals = {each.process.name: each.renewed_at for each in others}
    # After an outage all leases have expired: give each process time to renew.
    watched_from_s = monotonic() + _RENEWED_EVERY_S + 2 * _POLL_S
    first = others[0].process
    _log.warning("process_waited_for", process=first.name, host=first.host, shards=first.shards_text or "*")
    on_wait(first)
    while others:
        for each in others:
            if each.renewed_at > renewals.get(each.process.name, _NEVER):
                theirs, ours = each.process, process.shards_text or "*"
                raise ShardsTaken(host=theirs.host, theirs=theirs.shards_text or "*", ours=ours)
        await asyncio.sleep(_POLL_S)
        others = await store.join(process, tuple(renewals) if monotonic() >= watched_from_s else ())
