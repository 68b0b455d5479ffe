"""The processes that share the database, and their duties. See domain/process.py.

All moments are the database's own: the clocks of the machines need not agree.
"""

import json
from collections.abc import Collection, Sequence
from typing import Final

from cc_bot.domain.errors import DutyLost
from cc_bot.domain.process import LEASE, Duty, LivingProcess, Process, Renewal
from cc_bot.storage import PROCESSES, Database, Row, Statement, Steps
from cc_bot.storage.fence import WriteFence
from cc_bot.stores.columns import from_ms

_LEASE_MS: Final = round(LEASE.total_seconds() * 1000)


# $1 process
def left_by_the_dead(table: str) -> str:
    """SQL for the rows of a table whose process, another one, is dead."""
    living = f"SELECT 1 FROM processes AS p WHERE p.name = {table}.process"  # noqa: S608
    return f"{table}.process <> $1 AND NOT EXISTS ({living})"


def of_shard(place: str, shard: str, count: str) -> str:
    """SQL for the rows of `places` in servers that a connection tells of ("Sharding" of Discord's
    documentation), and for whatever has no row there."""
    return f"({place}.guild_id IS NULL OR ({place}.guild_id >> 22) % {count} = {shard})"


SELECT_PROCESSES: Final = """
    SELECT name, host, version, shards, shard_count, agents_hash, policy_hash, mcp_hash, started_at, until,
        connected_at, CASE WHEN until <= @now THEN 1 ELSE 0 END
    FROM processes ORDER BY started_at, name
"""

# $1 name, $2 host, $3 version, $4 shards, $5 their count, $6 to $8 the files' hashes, $9 the lease in ms
_INSERT: Final = """
    INSERT INTO processes (
        name, host, version, shards, shard_count, agents_hash, policy_hash, mcp_hash, started_at, until
    )
    VALUES ($1, $2, $3, $4, $5, $6, $7, $8, @now, @now + $9)
"""

# $1 name
_IS_UP: Final = "SELECT CASE WHEN until > @now THEN 1 ELSE 0 END FROM processes WHERE name = $1"

# $1 name, $2 the lease in ms, $3 to $5 the files' hashes, $6 whether it is connected
_RENEW: Final = """
    UPDATE processes SET until = @now + $2, agents_hash = $3, policy_hash = $4, mcp_hash = $5,
        connected_at = CASE WHEN $6 = 1 THEN @now ELSE connected_at END
    WHERE name = $1
"""

# $1 name
_DELETE_IF_LAPSED: Final = "DELETE FROM processes WHERE name = $1 AND until <= @now"

DELETE_LAPSED: Final = "DELETE FROM processes WHERE until <= @now RETURNING name"

# $1 name
_DELETE: Final = "DELETE FROM processes WHERE name = $1 RETURNING name"

# $1 process
GIVE_ALL_BACK: Final = "UPDATE duties SET process = NULL WHERE process = $1"

# $1 duty, $2 process
_TAKE: Final = """
    INSERT INTO duties AS known (name, process, term)
    SELECT $1, p.name, 1 FROM processes AS p WHERE p.name = $2 AND p.until > @now
    ON CONFLICT (name) DO UPDATE SET
        process = excluded.process,
        term = known.term + CASE WHEN known.process = excluded.process THEN 0 ELSE 1 END
    WHERE known.process IS NULL OR known.process = excluded.process
        OR NOT EXISTS (SELECT 1 FROM processes AS holder WHERE holder.name = known.process)
    RETURNING term
"""

# Whoever finds the process dead waits until what is written here is. $1 duty, $2 process, $3 term
_HELD: Final = """
    SELECT 1 FROM duties AS d JOIN processes AS p ON p.name = d.process
    WHERE d.name = $1 AND d.process = $2 AND d.term = $3 @kept(p)
"""

# $1 duty, $2 process, $3 term
_GIVE_BACK: Final = "UPDATE duties SET process = NULL WHERE name = $1 AND process = $2 AND term = $3"

SELECT_DUTIES: Final = """
    SELECT d.name, p.name, d.term FROM duties AS d LEFT JOIN processes AS p ON p.name = d.process
    ORDER BY d.name
"""


class ProcessStore:
    """The processes that live, and their duties. They say nothing about anybody."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def join(self, process: Process, watched: Collection[str] = ()) -> tuple[LivingProcess, ...]:
        """Enter a process, unless one is in its way: those that are, are returned. One that has lapsed is in
        the way too, until it is found dead: those `watched` for long enough are here. Raises StorageError."""

        def steps() -> Steps[tuple[LivingProcess, ...]]:
            for name in watched:
                yield Statement(_DELETE_IF_LAPSED, (name,))
            others = [_living(row) for row in (yield Statement(SELECT_PROCESSES))]
            if found := tuple(each for each in others if each.process.is_in_the_way_of(process)):
                return found
            shards = None if process.shards is None else json.dumps(process.shards)
            told = (process.name, process.host, process.version, shards, process.shard_count)
            yield Statement(_INSERT, (*told, *_hashes(process), _LEASE_MS))
            return ()

        return await self._database.write(steps, [PROCESSES])

    async def renew(self, process: Process, *, connected: bool = False, late: bool = False) -> Renewal | None:
        """Renew a process, which is `connected` to Discord or not; None when it is dead. Others that have
        lapsed are found dead, but not by one that has lapsed itself or is `late`: when nobody could
        renew for a while, all are. Raises StorageError."""

        def steps() -> Steps[Renewal | None]:
            rows = yield Statement(_IS_UP, (process.name,))
            if not rows:
                return None
            yield Statement(_RENEW, (process.name, _LEASE_MS, *_hashes(process), int(connected)))
            died = (yield Statement(DELETE_LAPSED)) if rows[0][0] and not late else ()
            living = yield Statement(SELECT_PROCESSES)
            duties = yield Statement(SELECT_DUTIES)
            names = tuple(name for (name,) in died)
            return Renewal(tuple(map(_living, living)), names, tuple(Duty(*row) for row in duties))

        return await self._database.write(steps, [PROCESSES])

    async def remove(self, names: Collection[str]) -> tuple[str, ...]:
        """Take processes out that have ended, with their duties, and return those that were still in. Raises
        StorageError."""

        def steps() -> Steps[tuple[str, ...]]:
            removed = list[str]()
            for name in names:
                removed += [each for (each,) in (yield Statement(_DELETE, (name,)))]
                yield Statement(GIVE_ALL_BACK, (name,))
            return tuple(removed)

        return await self._database.write(steps, [PROCESSES])

    async def list_all(self) -> tuple[LivingProcess, ...]:
        """List all that are not dead, the oldest first. Raises StorageError."""
        return tuple(map(_living, await self._database.query(SELECT_PROCESSES)))

    async def take(self, duty: str, process: str) -> int | None:
        """Take a duty that nobody has, or keep one's own, and return its term; None while another has it.
        Raises StorageError."""
        [rows] = await self._database.transaction([Statement(_TAKE, (duty, process))], [PROCESSES])
        return rows[0][0] if rows else None

    async def give_back(self, duty: str, process: str, term: int) -> None:
        """Give up a duty, for another one to take. Raises StorageError."""
        await self._database.transaction([Statement(_GIVE_BACK, (duty, process, term))], [PROCESSES])

    async def list_duties(self) -> tuple[Duty, ...]:
        """List all duties that anybody ever had. Raises StorageError."""
        return tuple(Duty(*row) for row in await self._database.query(SELECT_DUTIES))


def fence_of(duty: str, process: str, term: int) -> WriteFence:
    """Return what lets be written only as long as that process has the duty in that term."""
    return WriteFence(Statement(_HELD, (duty, process, term)), DutyLost)


def _hashes(process: Process) -> tuple[str, str, str]:
    return process.agents_hash, process.policy_hash, process.mcp_hash


def _living(row: Row) -> LivingProcess:
    name, host, version, shards, count, *hashes, started_at, until, connected_at, lapsed = row
    held: Sequence[int] | None = None if shards is None else json.loads(shards)
    process = Process(name, host, version, None if held is None else tuple(held), count, *hashes)
    connected = from_ms(connected_at) if connected_at else None
    return LivingProcess(process, from_ms(started_at), from_ms(until) - LEASE, bool(lapsed), connected)
