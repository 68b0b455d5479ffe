"""Processes: runs of the program that share a database, and their duties.

A process is alive while its row exists, which it renews by the database's clock. If it is not renewed for
`LEASE`, another process may delete the row: the process is then dead, whatever it still does, and others
finish its work.

A duty is work that one process does for all, until it releases it or dies. Leases are idempotent or claimed
row by row, so a former holder that wakes up does no harm.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Final

RENEWED_EVERY: Final = timedelta(seconds=10)
LEASE: Final = timedelta(seconds=30)
"""A process not renewed for this long may be declared dead, and its duties are free."""

CONNECTS_WITHIN: Final = timedelta(minutes=1)
"""A process unconnected to Discord for longer is no longer starting up."""


@dataclass(frozen=True, slots=True)
class Shard:
    """A Discord connection that covers some of the servers ("Sharding" in Discord's documentation)."""

    id: int
    count: int
    """Of the whole bot; with 1, it covers all servers."""


WHOLE: Final = Shard(0, 1)


@dataclass(frozen=True, slots=True)
class Process:
    name: str
    """Random and unique to the run."""
    host: str
    version: str
    shards: tuple[int, ...] | None = ()
    """The shards that it runs, by number; None: all. A terminal runs none."""
    shard_count: int = 0
    """Of the whole bot; 0 if the process runs all or none."""
    file_hashes: Mapping[str, str] = field(default_factory=dict)
    """Hashes of the operator's files as read by this process, by name; empty for missing files."""

    @property
    def shards_text(self) -> str:
        """Its shards and their total for the operator, `0-3/16`; empty for none and for all."""
        return f"{write_shards(self.shards)}/{self.shard_count}" if self.shards else ""

    def conflicts_with(self, other: "Process") -> bool:
        """Return whether the two can't run their shards at the same time."""
        if self.shards == () or other.shards == ():
            return False
        if self.shards is None or other.shards is None or self.shard_count != other.shard_count:
            return True
        return not set(self.shards).isdisjoint(other.shards)


def write_shards(shards: Iterable[int]) -> str:
    """Format shards for the operator: `0-3`, `0, 2`."""
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
    """Whether its lease has run out."""
    connected_at: datetime | None = None
    """When a renewal last reported all of its shards connected; None: never."""

    @property
    def is_unconnected(self) -> bool:
        """Return whether it runs shards and has not been fully connected for a while."""
        since = max(self.connected_at or self.started_at, self.started_at)
        return self.process.shards != () and self.renewed_at - since > CONNECTS_WITHIN


@dataclass(frozen=True, slots=True)
class Lease:
    """A duty and its holder."""

    name: str
    process: str | None
    """None: it is free."""


@dataclass(frozen=True, slots=True)
class Renewal:
    living: tuple[LivingProcess, ...]
    """All processes, including this one."""
    died: tuple[str, ...]
    """Declared dead by this renewal."""
    duties: tuple[Lease, ...] = ()


def find_free_shards(living: Sequence[LivingProcess]) -> frozenset[int]:
    """Return the shards that no process runs: the bot is offline in their servers."""
    processes = [each.process for each in living]
    if not processes or any(each.shards is None for each in processes):
        return frozenset()
    held = {shard for each in processes for shard in each.shards or ()}
    return frozenset(range(max(each.shard_count for each in processes))) - held


def find_differing(living: Sequence[LivingProcess]) -> tuple[str, ...]:
    """Return the files that differ between processes, and `version` if that differs."""
    facts = [{**each.process.file_hashes, "version": each.process.version} for each in living]
    names = dict.fromkeys(name for each in facts for name in each)
    return tuple(name for name in names if len({each.get(name) for each in facts}) > 1)
