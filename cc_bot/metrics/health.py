"""Whether the program can do its work at this moment, and what it is busy with.

It is ready while the gateway is connected and the database can be written to. A database that somebody else
holds for long is asked once at a time: each look waits on the connection's one thread, where turns wait too.
"""

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Final, Literal, Protocol

from cc_bot.domain.errors import StorageError
from cc_bot.domain.measures import GatewayHealth

DATABASE_PATIENCE_S: Final = 3.0
"""Less than what waits for the answer: Docker gives a health check 30 s, Prometheus a scrape 10 s."""
ROOM_BYTES: Final = 16 * 2**20
"""With less on the disk the next writes fail: SQLite's log alone grows by some megabytes at a time."""

Problem = Literal["disconnected", "locked", "no_room", "unusable"]


@dataclass(frozen=True, slots=True)
class Health:
    """What is wrong, by the part; empty where nothing is."""

    problems: dict[str, Problem]

    @property
    def ok(self) -> bool:
        return not self.problems


class CheckedDatabase(Protocol):
    """What is asked of the database (see stores/retention.py)."""

    async def check_writable(self) -> None: ...

    async def open_sessions(self) -> int: ...

    async def size_bytes(self) -> int: ...


class TurnLoad(Protocol):
    """How busy the assistant is."""

    @property
    def running(self) -> int: ...

    @property
    def waiting(self) -> int: ...


@dataclass(frozen=True, slots=True)
class Readings:
    """What is true at one moment; None where it can't be told."""

    running: int
    waiting: int
    latency_s: float | None
    sessions: float | None
    size_bytes: float | None
    free_bytes: float | None
    backed_up_at_s: float | None
    """When the newest backup was made, as Unix time."""
    health: Health


class Vitals:
    """Looks at the program's parts."""

    def __init__(
        self,
        pulse: GatewayHealth,
        database: CheckedDatabase,
        load: Callable[[], TurnLoad],
        free_bytes: Callable[[], int],
        backed_up_at_s: Callable[[], float | None],
        *,
        patience_s: float = DATABASE_PATIENCE_S,
    ) -> None:
        """`free_bytes`: the room where the database is; `backed_up_at_s`: when the newest backup was made, as
        Unix time. Both may raise OSError."""
        self._pulse = pulse
        self._database = database
        self._load = load
        self._free_bytes = free_bytes
        self._backed_up_at_s = backed_up_at_s
        self._patience_s = patience_s
        self._looking: asyncio.Task[None] | None = None

    async def health(self) -> Health:
        problems: dict[str, Problem] = {}
        if not self._pulse.connected:
            problems["gateway"] = "disconnected"
        trouble = await self._trouble()
        if trouble:
            problems["database"] = trouble
        return Health(problems)

    async def readings(self) -> Readings:
        health, load = await self.health(), self._load()
        reads = "database" not in health.problems  # else these would wait for the same thread
        return Readings(
            load.running,
            load.waiting,
            self._pulse.latency_s,
            await _told(self._database.open_sessions()) if reads else None,
            await _told(self._database.size_bytes()) if reads else None,
            await _told(asyncio.to_thread(self._free_bytes)),
            await _told(asyncio.to_thread(self._backed_up_at_s)),
            health,
        )

    async def close(self) -> None:
        if self._looking:
            self._looking.cancel()
            await asyncio.gather(self._looking, return_exceptions=True)

    async def _trouble(self) -> Problem | None:
        try:
            if await asyncio.to_thread(self._free_bytes) < ROOM_BYTES:
                return "no_room"
        except OSError:
            return "unusable"
        if self._looking is None or self._looking.done():
            self._looking = asyncio.create_task(self._database.check_writable())
        try:
            await asyncio.wait_for(asyncio.shield(self._looking), self._patience_s)
        except TimeoutError:
            return "locked"
        except StorageError:
            return "unusable"
        return None


async def _told(asked: Awaitable[float | None]) -> float | None:
    try:
        return await asked
    except (StorageError, OSError):
        return None
