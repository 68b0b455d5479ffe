"""Membership: this run of the program among the processes that are one bot, and what each does for all.

A process renews its row every ten seconds. One that could not for 25 ends what it has begun, and from 30 on
others may go on with that. One that slept through both moments can't know: so nothing leaves it, and nothing
is written, until it has asked. Where its row is gone by then, it is over, and the program begins anew.
"""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from time import monotonic
from typing import Final, Protocol

import structlog

from cc_bot.domain.errors import ShardsTaken, StorageError
from cc_bot.domain.process import LEASE, RENEWED_EVERY, Duty, LivingProcess, Process
from cc_bot.storage.fence import fenced
from cc_bot.stores import ProcessStore
from cc_bot.stores.processes import fence_of

_log = structlog.get_logger(__name__)

_LEASE_S: Final = LEASE.total_seconds()
_RENEWED_EVERY_S: Final = RENEWED_EVERY.total_seconds()
CUT_S: Final = 25.0
"""After the last renewal: enough before LEASE for the last words of what is ended then."""
_AGAIN_S: Final = 2.0
"""After a renewal that failed, and after a look at a duty that is another's."""
_WATCHED_EVERY_S: Final = 1.0
_LATE_S: Final = 15.0
"""Between two renewals: who is so late was kept from it by something that may have kept others as well. An
outage in which others lapse and this one does not is longer than that."""
_NEVER: Final = datetime.min.replace(tzinfo=UTC)

Hashes = tuple[str, str, str]
"""Of `agents.toml`, `policy.toml` and `mcp.json`."""


def _with(process: Process, hashes: Hashes) -> Process:
    agents, policy, servers = hashes
    return replace(process, agents_hash=agents, policy_hash=policy, mcp_hash=servers)


class Duties(Protocol):
    """Duties: what one process does for all."""

    async def keep(self, duty: str, work: Callable[[], Awaitable[None]]) -> None:
        """Do the work as long as this process has the duty, and whenever it has it again, until the work ends
        by itself or this is cancelled."""


class OwnDuties:
    """Duties of a program that is beside the processes and not among them: a terminal."""

    async def keep(self, duty: str, work: Callable[[], Awaitable[None]]) -> None:  # noqa: ARG002 - it has all
        await work()


class Lease:
    """The time for which others leave what this process does alone."""

    def __init__(self, *, counts: bool) -> None:
        """Make one that does not run out where it does not `count`: where no other process may take over."""
        self._counts = counts
        self.renewed_s = monotonic()
        self.wound_up = False
        """Whether what had begun was ended in time, so that nothing that goes on is anybody else's too."""

    def renew(self, at_s: float) -> None:
        self.renewed_s, self.wound_up = at_s, False

    @property
    def age_s(self) -> float:
        return monotonic() - self.renewed_s if self._counts else 0.0

    def holds(self) -> bool:
        """Return whether anything may be said or written."""
        return self.wound_up or self.age_s < _LEASE_S


@dataclass(frozen=True, slots=True)
class Enrolment:
    """The wish to be one of the processes: see `join`."""

    process: Process
    lease: Lease
    ended: Sequence[str] = ()
    """The names of former ones that are known to be over."""
    hashes: Callable[[], Hashes] = lambda: ("", "", "")
    alone: bool = False
    """Whether nobody else can be there, so that whoever else is told of is over: a backup tells of the one
    that ran when it was made."""
    waits_for: Callable[[Process], None] = lambda _: None
    """The listener that is told of one that is in the way and may be dead, before it is waited for."""


class Membership:
    """A process that has joined, until it leaves or is found dead."""

    def __init__(
        self, store: ProcessStore, process: Process, lease: Lease, hashes: Callable[[], Hashes]
    ) -> None:
        self._store = store
        self.lease = lease
        self._hashes = hashes
        self._duties: tuple[Duty, ...] = ()
        self._left = dict[str, int]()
        """Terms of duties that could not be given back yet."""
        self._renewed_s = monotonic()
        self._lapsed = False
        self._news = asyncio.Event()
        self._at_a_change: list[Callable[[], None]] = []
        self._at_the_end: list[Callable[[], None]] = []
        self.process = process
        self.living: tuple[LivingProcess, ...] = ()
        """All processes at the last renewal, this one among them."""
        self.is_connected: Callable[[], bool] = lambda: False
        """The way to ask whether all shards are connected to Discord; each renewal tells the others."""
        self.buried = asyncio.Event()
        """Set once others have found it dead: nothing that it does counts any more."""

    @property
    def name(self) -> str:
        return self.process.name

    @property
    def sharing(self) -> int:
        """The number of processes that are connected to Discord."""
        return max(1, sum(each.process.shards != () for each in self.living))

    def call_at_a_change(self, listener: Callable[[], None]) -> None:
        """Have it called whenever a process has come or gone."""
        self._at_a_change.append(listener)

    def call_at_the_end(self, listener: Callable[[], None]) -> None:
        """Have it called when what was begun is others' from now on: see the module."""
        self._at_the_end.append(listener)

    # Duties

    async def keep(self, duty: str, work: Callable[[], Awaitable[None]]) -> None:
        """See Duties. Whatever is written in its course is written while it has the duty, or not at all."""
        while True:
            async with self.having(duty, patient=True) as term:
                with fenced(fence_of(duty, self.name, term)):
                    working = asyncio.ensure_future(work())
                losing = asyncio.create_task(self._until_lost(duty, term))
                try:
                    await asyncio.wait((working, losing), return_when=asyncio.FIRST_COMPLETED)
                    if working.done():
                        return working.result()
                    _log.warning("duty_lost", duty=duty)
                finally:
                    working.cancel()
                    losing.cancel()
                    await asyncio.gather(working, losing, return_exceptions=True)

    @asynccontextmanager
    async def having(self, duty: str, *, patient: bool = False) -> AsyncIterator[int]:
        """Wait for a duty, and hold it, in the term that this yields. One that is soon given back is asked
        for again and again; to be `patient` is to wait for a renewal to tell that it is free."""
        while (term := await self._take(duty, patient=patient)) is None:
            with suppress(TimeoutError):
                async with asyncio.timeout(_AGAIN_S):
                    await self._news.wait()
        try:
            yield term
        finally:
            self._left[duty] = term
            await self._give_back()

    async def _give_back(self) -> None:
        """Give back what is left, now or with a later renewal: a living process that has a duty and does
        nothing for it would keep all others from it."""
        for duty, term in [*self._left.items()]:
            try:
                await self._store.give_back(duty, self.name, term)
            except StorageError as error:
                _log.warning("duty_not_given_back", duty=duty, error=type(error).__name__)
            else:
                self._left.pop(duty, None)

    async def _take(self, duty: str, *, patient: bool) -> int | None:
        held = next((each.process for each in self._duties if each.name == duty), None)
        if self._lapsed or (patient and held not in (None, self.name)):
            return None
        self._left.pop(duty, None)  # it would be given back while it is held again
        try:
            term = await self._store.take(duty, self.name)
        except StorageError as error:
            _log.warning("duty_not_taken", duty=duty, error=type(error).__name__)
            return None
        if term is None:
            self._duties = (Duty(duty, "?", 0), *(each for each in self._duties if each.name != duty))
        return term

    async def _until_lost(self, duty: str, term: int) -> None:
        while not self._lapsed:
            for each in self._duties:
                if (
                    each.name == duty
                    and (each.term, each.process) >= (term, "")
                    and each.process != self.name
                ):
                    return
            await self._news.wait()

    # Life

    async def keep_alive(self) -> None:
        """Renew, until it is found dead or this is cancelled."""
        watching = asyncio.create_task(self._watch())
        try:
            while not self.buried.is_set():
                renewed = await self._renew()
                await asyncio.sleep(_RENEWED_EVERY_S if renewed else _AGAIN_S)
        finally:
            watching.cancel()
            await asyncio.gather(watching, return_exceptions=True)

    async def _renew(self) -> bool:
        self.process = _with(self.process, self._hashes())
        begun_s = monotonic()
        try:
            async with asyncio.timeout(_RENEWED_EVERY_S):
                late = begun_s - self._renewed_s > _LATE_S
                connected = self.is_connected()
                renewal = await self._store.renew(self.process, connected=connected, late=late)
        except (StorageError, TimeoutError) as error:
            _log.warning("process_not_renewed", error=type(error).__name__)
            return False
        if renewal is None:
            _log.error("process_buried", process=self.name)
            self._end()
            self.buried.set()
            return False
        if renewal.died:
            _log.warning("processes_died", processes=renewal.died)
        before = {each.process.name for each in self.living}
        self.living, self._duties, self._lapsed = renewal.living, renewal.duties, False
        self._renewed_s = begun_s
        self.lease.renew(begun_s)
        await self._give_back()
        # One that came and died between two renewals was in neither list.
        if renewal.died or (before and before != {each.process.name for each in self.living}):
            for listener in self._at_a_change:
                listener()
        self._tell()
        return True

    async def _watch(self) -> None:
        """End what was begun once it could not be renewed for so long, if there are others who may go on with
        it."""
        while not self.buried.is_set():
            await asyncio.sleep(_WATCHED_EVERY_S)
            age_s = self.lease.age_s
            if age_s >= CUT_S and not self._lapsed:
                _log.error("process_lapsed", seconds=round(age_s))
                self._lapsed = True
                self.lease.wound_up = age_s < _LEASE_S
                if len(self.living) > 1 or not self.lease.wound_up:
                    self._end()
                self._tell()

    def _end(self) -> None:
        self._lapsed = True
        for listener in self._at_the_end:
            listener()
        self._tell()

    def _tell(self) -> None:
        self._news.set()
        self._news = asyncio.Event()


@asynccontextmanager
async def join(store: ProcessStore, enrolment: Enrolment) -> AsyncIterator[Membership]:
    """Be one of the processes. Raises ShardsTaken where a living one is in the way, and StorageError."""
    process = _with(enrolment.process, enrolment.hashes())
    former = [each.process.name for each in await store.list_all()] if enrolment.alone else enrolment.ended
    await store.remove(former)
    if others := await store.join(process):
        await _outlast(store, process, others, enrolment.waits_for)
    membership = Membership(store, process, enrolment.lease, enrolment.hashes)
    enrolment.lease.renew(monotonic())
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
    """Enter a process in the place of others, once none of them can live. Raises ShardsTaken as soon as one
    does: it was renewed, or has come, since it is waited."""
    seen = {each.process.name: each.renewed_at for each in others}
    # All lapse while the database is away: none is found dead before the time in which it would be renewed.
    watched_from_s = monotonic() + _RENEWED_EVERY_S + _AGAIN_S
    first = others[0].process
    _log.warning("process_waited_for", process=first.name, host=first.host, shards=first.told_shards or "*")
    waits_for(first)
    while others:
        for each in others:
            if each.renewed_at > seen.get(each.process.name, _NEVER):
                raise _taken(process, each)
        await asyncio.sleep(_WATCHED_EVERY_S)
        others = await store.join(process, tuple(seen) if monotonic() >= watched_from_s else ())


def _taken(process: Process, other: LivingProcess) -> ShardsTaken:
    theirs = other.process
    return ShardsTaken(
        host=theirs.host,
        theirs=theirs.told_shards or "*",
        ours=process.told_shards or "*",
    )
