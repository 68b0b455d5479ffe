"""Processes: the runs of the program that share a database, and their duties.

A process is alive while its row exists. Its lease expires `LEASE` after the last renewal; then others may
delete the row and finish its work. A duty is work that one process does for all. It does no harm if two do it
at once for a moment, as duties are idempotent or claim each row.
"""

import json
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Final

from cc_bot.db import PROCESSES_LOCK, Statement, Transaction
from cc_bot.db.columns import MS, Codec, Columns, Store, from_ms, object_to_json

RENEWAL_INTERVAL: Final = timedelta(seconds=10)
LEASE: Final = timedelta(seconds=30)

MAX_CONNECT_TIME: Final = timedelta(minutes=1)  # for a starting process to connect to Discord


@dataclass(frozen=True, slots=True)
class Shard:
    """A Discord connection for some of the servers."""

    id: int
    count: int  # how many shards there are; 1: this shard covers all servers


UNSHARDED: Final = Shard(0, 1)


@dataclass(frozen=True, slots=True)
class Process:
    name: str  # random
    host: str
    version: str
    shards: tuple[int, ...] | None = ()  # None: all shards; a terminal has none
    shard_count: int = 0  # shards in all processes; 0 if this process has all or none
    file_hashes: Mapping[str, str] = field(default_factory=dict)  # hashes of the operator's files, by name

    @property
    def shards_text(self) -> str:
        """The shards as `0-3/16`; empty for none or all."""
        return f"{write_shards(self.shards)}/{self.shard_count}" if self.shards else ""

    def conflicts_with(self, other: "Process") -> bool:
        """Return whether both have a shard in common, or count shards differently."""
        if self.shards == () or other.shards == ():
            return False
        if self.shards is None or other.shards is None or self.shard_count != other.shard_count:
            return True
        return not set(self.shards).isdisjoint(other.shards)


def write_shards(shards: Iterable[int]) -> str:
    """Return the numbers as `0-3` or `0, 2`."""
    ranges = list[tuple[int, int]]()
    for shard in sorted(shards):
        if ranges and ranges[-1][1] == shard - 1:
            ranges[-1] = (ranges[-1][0], shard)
        else:
            ranges.append((shard, shard))
    return ", ".join(f"{first}-{last}" if first < last else str(first) for first, last in ranges)


@dataclass(frozen=True, slots=True)
class ActiveProcess:
    process: Process
    started_at: datetime
    renewed_at: datetime
    lapsed: bool  # the lease has expired
    connected_at: datetime | None = None  # the last renewal with all shards connected

    @property
    def is_unconnected(self) -> bool:
        """Return whether some of its shards have not been connected for a while."""
        since = max(self.connected_at or self.started_at, self.started_at)
        return self.process.shards != () and self.renewed_at - since > MAX_CONNECT_TIME


@dataclass(frozen=True, slots=True)
class Duty:
    name: str
    process: str | None  # the name of the process that holds it; None if it is free


@dataclass(frozen=True, slots=True)
class Renewal:
    active: tuple[ActiveProcess, ...]  # includes this one
    dead_names: tuple[str, ...]  # processes that this renewal has declared dead
    duties: tuple[Duty, ...] = ()


def find_free_shards(active: Sequence[ActiveProcess]) -> frozenset[int]:
    processes = [each.process for each in active]
    if not processes or any(each.shards is None for each in processes):
        return frozenset()
    covered = {shard for each in processes for shard in each.shards or ()}
    return frozenset(range(max(each.shard_count for each in processes))) - covered


def find_differing(active: Sequence[ActiveProcess]) -> tuple[str, ...]:
    """Return the names of the operator's files that differ between processes, and `version` if that does."""
    versions = [{**each.process.file_hashes, "version": each.process.version} for each in active]
    names = dict.fromkeys(name for each in versions for name in each)
    return tuple(name for name in names if len({each.get(name) for each in versions}) > 1)


_LEASE_MS: Final = round(LEASE.total_seconds() * 1000)


def left_by_dead_process(table: str) -> str:
    """Return a condition for the rows of dead processes. $1: the name of this process."""
    active = f"SELECT 1 FROM processes AS p WHERE p.name = {table}.process"  # noqa: S608
    return f"{table}.process <> $1 AND NOT EXISTS ({active})"


def in_shard(alias: str, shard: str, count: str) -> str:
    """Return a condition for rows of `places` in the servers of a shard, and for channels without a row."""
    return f"({alias}.guild_id IS NULL OR ({alias}.guild_id >> 22) % {count} = {shard})"


_PROCESS: Final = Columns(Process)
_ACTIVE: Final = Columns(
    ActiveProcess,
    datetimes=MS,
    renewed_at=Codec(read=lambda until: from_ms(until) - LEASE, column="until"),
    connected_at=Codec(read=lambda at: from_ms(at) if at else None),
)

SELECT_PROCESSES: Final = f"""
    SELECT {_PROCESS.select}, started_at, until, CASE WHEN until <= @now THEN 1 ELSE 0 END, connected_at
    FROM processes ORDER BY started_at, name
"""  # noqa: S608 - only constants

# _PROCESS, then the lease in ms
_INSERT: Final = f"""
    INSERT INTO processes ({_PROCESS.select}, started_at, until)
    VALUES ({_PROCESS.placeholders}, @now, @now + ${len(_PROCESS.names) + 1})
"""  # noqa: S608 - only constants

DELETE_LAPSED: Final = "DELETE FROM processes WHERE until <= @now RETURNING name"

# Their duties are then free for _TAKE. $1 an array of names
_DELETE: Final = "DELETE FROM processes WHERE name IN @texts($1) RETURNING name"

# $1 duty, $2 process
_TAKE: Final = """
    INSERT INTO duties AS known (name, process)
    SELECT $1, p.name FROM processes AS p WHERE p.name = $2 AND p.until > @now
    ON CONFLICT (name) DO UPDATE SET process = excluded.process
    WHERE known.process IS NULL OR known.process = excluded.process
        OR NOT EXISTS (SELECT 1 FROM processes AS holder WHERE holder.name = known.process)
    RETURNING name
"""

# $1 duty, $2 process
_GIVE_BACK: Final = "UPDATE duties SET process = NULL WHERE name = $1 AND process = $2"

SELECT_DUTIES: Final = """
    SELECT d.name, p.name FROM duties AS d LEFT JOIN processes AS p ON p.name = d.process ORDER BY d.name
"""


class ProcessStore(Store):
    async def join(self, process: Process, watched: Collection[str] = ()) -> tuple[ActiveProcess, ...]:
        """Add the process, or return those that conflict with it. First removes processes among `watched`
        whose lease has expired."""

        def steps() -> Transaction[tuple[ActiveProcess, ...]]:
            sql = "DELETE FROM processes WHERE name IN @texts($1) AND until <= @now"
            yield Statement(sql, (json.dumps([*watched]),))
            others = map(_ACTIVE.read, (yield Statement(SELECT_PROCESSES)))
            conflicting = tuple(each for each in others if each.process.conflicts_with(process))
            if not conflicting:
                yield Statement(_INSERT, (*_PROCESS.write(process).values(), _LEASE_MS))
            return conflicting

        return await self._database.write(steps, [PROCESSES_LOCK])

    async def renew(
        self, process: Process, wanted: Collection[str] = (), *, connected: bool = False, late: bool = False
    ) -> Renewal | None:
        """Renew a process, and release duties that are not `wanted`. Returns None if it was declared dead.
        Declares others dead whose lease has expired, unless an outage may have stopped all processes: this
        one is `late`, or its lease has expired too."""

        def steps() -> Transaction[Renewal | None]:
            sql = "SELECT CASE WHEN until > @now THEN 1 ELSE 0 END FROM processes WHERE name = $1"
            rows = yield Statement(sql, (process.name,))
            if not rows:
                return None
            hashes = object_to_json(process.file_hashes)
            renew = """
                UPDATE processes SET until = @now + $2, file_hashes = $3,
                    connected_at = CASE WHEN $4 = 1 THEN @now ELSE connected_at END
                WHERE name = $1
            """
            yield Statement(renew, (process.name, _LEASE_MS, hashes, int(connected)))
            dead = (yield Statement(DELETE_LAPSED)) if rows[0][0] and not late else ()
            active = yield Statement(SELECT_PROCESSES)
            duties = [Duty(*row) for row in (yield Statement(SELECT_DUTIES))]
            for duty in duties:
                if duty.process == process.name and duty.name not in wanted:
                    yield Statement(_GIVE_BACK, (duty.name, process.name))
            dead_names = tuple(name for (name,) in dead)
            return Renewal(tuple(map(_ACTIVE.read, active)), dead_names, tuple(duties))

        return await self._database.write(steps, [PROCESSES_LOCK])

    async def remove(self, names: Collection[str]) -> tuple[str, ...]:
        """Remove ended processes. Returns the names removed."""
        return tuple(name for (name,) in await self._change([PROCESSES_LOCK], _DELETE, json.dumps([*names])))

    async def list_all(self) -> tuple[ActiveProcess, ...]:
        return tuple(map(_ACTIVE.read, await self._database.query(SELECT_PROCESSES)))

    async def take(self, duty: str, process: str) -> bool:
        """Take or keep a duty. Returns False if another process holds it."""
        return bool(await self._change([PROCESSES_LOCK], _TAKE, duty, process))

    async def give_back(self, duty: str, process: str) -> None:
        """Release a duty if the process holds it."""
        await self._change([PROCESSES_LOCK], _GIVE_BACK, duty, process)

    async def list_duties(self) -> tuple[Duty, ...]:
        return tuple(Duty(*row) for row in await self._database.query(SELECT_DUTIES))
