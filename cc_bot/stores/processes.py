"""The processes that share the database, and their duties, by the database's clock."""

import json
from collections.abc import Collection, Sequence
from typing import Final

from cc_bot.domain.process import LEASE, Lease, LivingProcess, Process, Renewal
from cc_bot.storage import PROCESSES, Database, Row, Statement, Steps
from cc_bot.stores.columns import from_ms

_LEASE_MS: Final = round(LEASE.total_seconds() * 1000)


# $1 process
def left_by_the_dead(table: str) -> str:
    """Rows of a table whose process, other than $1, is dead."""
    living = f"SELECT 1 FROM processes AS p WHERE p.name = {table}.process"  # noqa: S608
    return f"{table}.process <> $1 AND NOT EXISTS ({living})"


def of_shard(place: str, shard: str, count: str) -> str:
    """Rows of `places` in the servers of a shard, and channels without a row there."""
    return f"({place}.guild_id IS NULL OR ({place}.guild_id >> 22) % {count} = {shard})"


SELECT_PROCESSES: Final = """
    SELECT name, host, version, shards, shard_count, file_hashes, started_at, until,
        connected_at, CASE WHEN until <= @now THEN 1 ELSE 0 END
    FROM processes ORDER BY started_at, name
"""

# $1 name, $2 host, $3 version, $4 shards, $5 their count, $6 file hashes, $7 lease in ms
_INSERT: Final = """
    INSERT INTO processes (
        name, host, version, shards, shard_count, file_hashes, started_at, until
    )
    VALUES ($1, $2, $3, $4, $5, $6, @now, @now + $7)
"""

# $1 name
_IS_UP: Final = "SELECT CASE WHEN until > @now THEN 1 ELSE 0 END FROM processes WHERE name = $1"

# $1 name, $2 lease in ms, $3 file hashes, $4 whether it is connected
_RENEW: Final = """
    UPDATE processes SET until = @now + $2, file_hashes = $3,
        connected_at = CASE WHEN $4 = 1 THEN @now ELSE connected_at END
    WHERE name = $1
"""

# $1 an array of names
_DELETE_IF_LAPSED: Final = "DELETE FROM processes WHERE name IN @texts($1) AND until <= @now"

DELETE_LAPSED: Final = "DELETE FROM processes WHERE until <= @now RETURNING name"

# $1 an array of names. Their duties are free then: see _TAKE.
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


class ProcessStore:
    def __init__(self, database: Database) -> None:
        self._database = database

    async def join(self, process: Process, watched: Collection[str] = ()) -> tuple[LivingProcess, ...]:
        """Add a process, unless others conflict with it; returns those. Lapsed ones among `watched` are
        removed first. Raises StorageError."""

        def steps() -> Steps[tuple[LivingProcess, ...]]:
            yield Statement(_DELETE_IF_LAPSED, (json.dumps([*watched]),))
            others = [_living(row) for row in (yield Statement(SELECT_PROCESSES))]
            if found := tuple(each for each in others if each.process.conflicts_with(process)):
                return found
            shards = None if process.shards is None else json.dumps(process.shards)
            told = (process.name, process.host, process.version, shards, process.shard_count)
            yield Statement(_INSERT, (*told, json.dumps(dict(process.file_hashes)), _LEASE_MS))
            return ()

        return await self._database.write(steps, [PROCESSES])

    async def renew(
        self, process: Process, wanted: Collection[str] = (), *, connected: bool = False, late: bool = False
    ) -> Renewal | None:
        """Renew a process, and release its duties that are not `wanted`. Returns None if it is dead. Declares
        others with lapsed leases dead, unless its own had lapsed or it is `late`: an outage keeps all from
        renewing. Raises StorageError."""

        def steps() -> Steps[Renewal | None]:
            rows = yield Statement(_IS_UP, (process.name,))
            if not rows:
                return None
            yield Statement(
                _RENEW, (process.name, _LEASE_MS, json.dumps(dict(process.file_hashes)), int(connected))
            )
            died = (yield Statement(DELETE_LAPSED)) if rows[0][0] and not late else ()
            living = yield Statement(SELECT_PROCESSES)
            duties = [Lease(*row) for row in (yield Statement(SELECT_DUTIES))]
            for duty in duties:
                if duty.process == process.name and duty.name not in wanted:
                    yield Statement(_GIVE_BACK, (duty.name, process.name))
            names = tuple(name for (name,) in died)
            return Renewal(tuple(map(_living, living)), names, tuple(duties))

        return await self._database.write(steps, [PROCESSES])

    async def remove(self, names: Collection[str]) -> tuple[str, ...]:
        """Remove ended processes with their duties; returns those still listed. Raises StorageError."""

        delete = Statement(_DELETE, (json.dumps([*names]),))
        [removed] = await self._database.transaction([delete], [PROCESSES])
        return tuple(name for (name,) in removed)

    async def list_all(self) -> tuple[LivingProcess, ...]:
        """List the living processes, oldest first. Raises StorageError."""
        return tuple(map(_living, await self._database.query(SELECT_PROCESSES)))

    async def take(self, duty: str, process: str) -> bool:
        """Take a free duty or keep one's own. Returns False if it is another's. Raises StorageError."""
        [rows] = await self._database.transaction([Statement(_TAKE, (duty, process))], [PROCESSES])
        return bool(rows)

    async def give_back(self, duty: str, process: str) -> None:
        """Raises StorageError."""
        await self._database.transaction([Statement(_GIVE_BACK, (duty, process))], [PROCESSES])

    async def list_duties(self) -> tuple[Lease, ...]:
        """Free ones included. Raises StorageError."""
        return tuple(Lease(*row) for row in await self._database.query(SELECT_DUTIES))


def _living(row: Row) -> LivingProcess:
    name, host, version, shards, count, hashes, started_at, until, connected_at, lapsed = row
    held: Sequence[int] | None = None if shards is None else json.loads(shards)
    process = Process(name, host, version, None if held is None else tuple(held), count, json.loads(hashes))
    connected = from_ms(connected_at) if connected_at else None
    return LivingProcess(process, from_ms(started_at), from_ms(until) - LEASE, bool(lapsed), connected)
