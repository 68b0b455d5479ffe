"""Renewal of this process's lease, and leader election (see process.py).

After 25 seconds without a renewal, a process ends its answers. After 30, others may take over, and it sends
nothing to Discord until it has renewed. If its row is gone, it restarts.
"""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from time import monotonic
from typing import Final

import structlog

from cc_bot.concurrency import cancel_tasks, run_in_background
from cc_bot.db.process import LEASE, RENEWAL_INTERVAL, ActiveProcess, Process, ProcessStore
from cc_bot.domain.errors import ShardsTaken, StorageError

_log = structlog.get_logger(__name__)

_LEASE_S: Final = LEASE.total_seconds()
_RENEWAL_INTERVAL_S: Final = RENEWAL_INTERVAL.total_seconds()
END_ANSWERS_AFTER_S: Final = 25.0  # before the lease expires, so that answers can be marked as interrupted
_POLL_S: Final = 1.0
_LATE_S: Final = 15.0  # after such a pause, an outage may have stopped the renewals of all processes
_NEVER: Final = datetime.min.replace(tzinfo=UTC)


class Leases:
    """Leader election for background work. A terminal uses this class, which holds every duty."""

    async def run_as_leader(self, duty: str, work: Callable[[], Awaitable[None]]) -> None:  # noqa: ARG002
        """Run `work` whenever this process holds the duty, until `work` returns."""
        await work()


@dataclass(frozen=True, slots=True)
class JoinOptions:
    process: Process
    ended_names: Sequence[str] = ()  # processes that are known to have ended
    hash_files: Callable[[], Mapping[str, str]] = dict  # hashes the operator's files, by name
    is_only_process: bool = False  # if so, other rows come from a backup, and the lease never expires
    on_wait: Callable[[Process], None] = lambda _: None  # called with the process whose lease has to expire


class Membership(Leases):
    def __init__(self, store: ProcessStore, options: JoinOptions) -> None:
        self._store = store
        self._hash_files = options.hash_files
        self._is_only_process = options.is_only_process
        self._wanted_duties = set[str]()  # held or awaited; a renewal releases this process's others
        self._holders = dict[str, str | None]()  # the process of each duty at the last renewal
        self._must_stop = asyncio.Event()  # set until the next renewal
        self._is_drained = False  # the answers ended in time, so others take over nothing
        self.on_change: list[Callable[[], None]] = []  # called when a process joins or leaves
        self.on_end: list[Callable[[], None]] = []  # called when others may take over this process's answers
        self.renewed_s = monotonic()  # the time of the last renewal
        self.process = replace(options.process, file_hashes=options.hash_files())
        self.active: tuple[ActiveProcess, ...] = ()  # at the last renewal, including this one
        self.is_connected: Callable[[], bool] = lambda: False  # whether all shards are connected
        self.evicted = asyncio.Event()  # set if others have declared this process dead

    @property
    def name(self) -> str:
        return self.process.name

    @property
    def process_count(self) -> int:
        """The number of processes connected to Discord."""
        return max(1, sum(each.process.shards != () for each in self.active))

    def may_send(self) -> bool:
        """Return whether no other process can have taken over."""
        return self._is_drained or self._age_s < _LEASE_S

    async def run_as_leader(self, duty: str, work: Callable[[], Awaitable[None]]) -> None:
        while True:
            async with self.hold_duty(duty, only_if_free=True):
                work_task = asyncio.ensure_future(work())
                stop_task = asyncio.create_task(self._must_stop.wait())
                try:
                    await asyncio.wait((work_task, stop_task), return_when=asyncio.FIRST_COMPLETED)
                    if work_task.done():
                        return work_task.result()
                    _log.warning("duty_lost", duty=duty)
                finally:
                    await cancel_tasks(work_task, stop_task)

    @asynccontextmanager
    async def hold_duty(self, duty: str, *, only_if_free: bool = False) -> AsyncIterator[None]:
        """Wait for a duty and hold it. `only_if_free`: try only if the last renewal found it free."""
        self._wanted_duties.add(duty)
        try:
            while not await self._take(duty, only_if_free=only_if_free):  # noqa: ASYNC110 - the database sends no event
                await asyncio.sleep(_POLL_S)
            yield
        finally:
            self._wanted_duties.discard(duty)
            with suppress(StorageError):  # the next renewal releases it
                await self._store.give_back(duty, self.name)

    async def _take(self, duty: str, *, only_if_free: bool) -> bool:
        if self._must_stop.is_set() or (only_if_free and self._holders.get(duty) not in (None, self.name)):
            return False
        try:
            return await self._store.take(duty, self.name)
        except StorageError as error:
            _log.warning("duty_not_taken", duty=duty, error=type(error).__name__)
            return False

    async def keep_alive(self) -> None:
        async with run_in_background(self._watch()):
            while not self.evicted.is_set():
                renewed = await self._renew()
                await asyncio.sleep(_RENEWAL_INTERVAL_S if renewed else _POLL_S)

    async def _renew(self) -> bool:
        self.process = replace(self.process, file_hashes=self._hash_files())
        start_s = monotonic()
        late = start_s - self.renewed_s > _LATE_S
        try:
            async with asyncio.timeout(_RENEWAL_INTERVAL_S):
                renewal = await self._store.renew(
                    self.process, self._wanted_duties, connected=self.is_connected(), late=late
                )
        except (StorageError, TimeoutError) as error:
            _log.warning("process_not_renewed", error=type(error).__name__)
            return False
        if renewal is None:
            _log.error("process_evicted", process=self.name)
            self._end_answers()
            self.evicted.set()
            return False
        if renewal.dead_names:
            _log.warning("processes_died", processes=renewal.dead_names)
        former_names = {each.process.name for each in self.active}
        names = {each.process.name for each in renewal.active}
        self.active, self._holders = renewal.active, {each.name: each.process for each in renewal.duties}
        self.renewed_s, self._is_drained = start_s, False
        self._must_stop.clear()
        # A process that joined and died between two renewals is only in `dead_names`.
        if renewal.dead_names or (former_names and former_names != names):
            for listener in self.on_change:
                listener()
        return True

    async def _watch(self) -> None:
        """End the answers after END_ANSWERS_AFTER_S without a renewal, if others may take over."""
        while not self.evicted.is_set():
            await asyncio.sleep(_POLL_S)
            age_s = self._age_s
            if age_s >= END_ANSWERS_AFTER_S and not self._must_stop.is_set():
                _log.error("process_lapsed", seconds=round(age_s))
                self._is_drained = age_s < _LEASE_S
                if len(self.active) > 1 or not self._is_drained:
                    self._end_answers()
                self._must_stop.set()

    @property
    def _age_s(self) -> float:
        return 0.0 if self._is_only_process else monotonic() - self.renewed_s

    def _end_answers(self) -> None:
        self._must_stop.set()
        for listener in self.on_end:
            listener()


@asynccontextmanager
async def join(store: ProcessStore, options: JoinOptions) -> AsyncIterator[Membership]:
    """Join; leave on exit. Raises ShardsTaken if an active process has the shards, and StorageError."""
    membership = Membership(store, options)
    process = membership.process
    ended_names = options.ended_names
    if options.is_only_process:
        ended_names = [each.process.name for each in await store.list_all()]
    await store.remove(ended_names)
    if others := await store.join(process):
        await _wait_for_leases(store, process, others, options.on_wait)
    membership.renewed_s = monotonic()
    try:
        async with run_in_background(membership.keep_alive()):
            yield membership
    finally:
        with suppress(StorageError):
            await store.remove([process.name])


async def _wait_for_leases(
    store: ProcessStore, process: Process, others: Sequence[ActiveProcess], on_wait: Callable[[Process], None]
) -> None:
    """Join once the leases of others have expired. Raises ShardsTaken if one renews, or another joins."""
    renewals = {each.process.name: each.renewed_at for each in others}
    # After an outage all leases have expired: give each process time to renew.
    remove_from_s = monotonic() + _RENEWAL_INTERVAL_S + 2 * _POLL_S
    first = others[0].process
    _log.warning("process_waited_for", process=first.name, host=first.host, shards=first.shards_text or "*")
    on_wait(first)
    while others:
        for each in others:
            if each.renewed_at > renewals.get(each.process.name, _NEVER):
                theirs, ours = each.process, process.shards_text or "*"
                raise ShardsTaken(host=theirs.host, theirs=theirs.shards_text or "*", ours=ours)
        await asyncio.sleep(_POLL_S)
        others = await store.join(process, tuple(renewals) if monotonic() >= remove_from_s else ())
