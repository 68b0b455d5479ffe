"""Processes: runs of the program that share a database, and their duties.

A process is alive while its row exists, which it renews. After `LEASE` without a renewal another process may
delete the row and finish its work.

A duty is work that one process does for all, until it releases it or dies. Duties are idempotent or claimed
row by row, so a former holder that wakes up does no harm.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Final

RENEWED_EVERY: Final = timedelta(seconds=10)
LEASE: Final = timedelta(seconds=30)
"""A process not renewed for this long may be declared dead."""

CONNECTS_WITHIN: Final = timedelta(minutes=1)
"""A starting process is connected to Discord by then."""


@dataclass(frozen=True, slots=True)
class Shard:
    """A Discord connection that covers some of the servers."""

    id: int
    count: int
    """With 1, it covers all servers."""


WHOLE: Final = Shard(0, 1)


@dataclass(frozen=True, slots=True)
class Process:
    name: str
    """Random."""
    host: str
    version: str
    shards: tuple[int, ...] | None = ()
    """None: all. A terminal runs none."""
    shard_count: int = 0
    """0 if the process runs all or none."""
    file_hashes: Mapping[str, str] = field(default_factory=dict)
    """Hashes of the operator's files by name; empty for missing ones."""

    @property
    def shards_text(self) -> str:
        """For the operator, `0-3/16`; empty for none and for all."""
        return f"{write_shards(self.shards)}/{self.shard_count}" if self.shards else ""

    def conflicts_with(self, other: "Process") -> bool:
        """The two can't run their shards at the same time."""
        if self.shards == () or other.shards == ():
            return False
        if self.shards is None or other.shards is None or self.shard_count != other.shard_count:
            return True
        return not set(self.shards).isdisjoint(other.shards)


def write_shards(shards: Iterable[int]) -> str:
    """For the operator: `0-3`, `0, 2`."""
    ranges = list[tuple[int, int]]()
    for shard in sorted(shards):
        if ranges and ranges[-1][1] == shard - 1:
            ranges[-1] = (ranges[-1][0], shard)
        else:
            ranges.append((shard, shard))
    return ", ".join(f"{first}-{last}" if first < last else str(first) for first, last in ranges)


@dataclass(frozen=True, slots=True)
class LivingProcess:
    """A process whose row exists."""

    process: Process
    started_at: datetime
    renewed_at: datetime
    lapsed: bool
    """Its lease has run out."""
    connected_at: datetime | None = None
    """The last renewal with all shards connected."""

    @property
    def is_unconnected(self) -> bool:
        """It runs shards that have not all been connected for a while."""
        since = max(self.connected_at or self.started_at, self.started_at)
        return self.process.shards != () and self.renewed_at - since > CONNECTS_WITHIN


@dataclass(frozen=True, slots=True)
class Lease:
    name: str
    process: str | None
    """None: free."""


@dataclass(frozen=True, slots=True)
class Renewal:
    living: tuple[LivingProcess, ...]
    """This one included."""
    died: tuple[str, ...]
    """Declared dead by this renewal."""
    duties: tuple[Lease, ...] = ()


def find_free_shards(living: Sequence[LivingProcess]) -> frozenset[int]:
    """Shards that no process runs: the bot is offline in their servers."""
    processes = [each.process for each in living]
    if not processes or any(each.shards is None for each in processes):
        return frozenset()
    held = {shard for each in processes for shard in each.shards or ()}
    return frozenset(range(max(each.shard_count for each in processes))) - held


def find_differing(living: Sequence[LivingProcess]) -> tuple[str, ...]:
    """Operator's files, or `version`, that differ between processes."""
    facts = [{**each.process.file_hashes, "version": each.process.version} for each in living]
    names = dict.fromkeys(name for each in facts for name in each)
    return tuple(name for name in names if len({each.get(name) for each in facts}) > 1)
