"""Processes: the runs of the program that share one database, and what each of them answers for.

A process is alive as long as its row is in the database, which it renews by the database's clock. Another
one may take the row away once it has not been renewed for `LEASE`: from then on the former is dead, whatever
it still does, and what it had begun is others' to finish.

A duty is work that one process does for all, until it gives it back or is dead. All of it is idempotent, or
claimed row by row, so a former holder that wakes up does no harm.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Final

RENEWED_EVERY: Final = timedelta(seconds=10)
LEASE: Final = timedelta(seconds=30)
"""Without a renewal for so long, a process may be taken for dead, and its duties are anybody's."""

CONNECTS_WITHIN: Final = timedelta(minutes=1)
"""Who is not connected to Discord for longer is no longer about to be."""


@dataclass(frozen=True, slots=True)
class Shard:
    """A connection to Discord, which tells of some servers: those of a number ("Sharding" of Discord's
    documentation)."""

    id: int
    count: int
    """Of the whole bot; with 1, it tells of all."""


WHOLE: Final = Shard(0, 1)


@dataclass(frozen=True, slots=True)
class Process:
    """A run of the program."""

    name: str
    """Random; no other run has it."""
    host: str
    version: str
    shards: tuple[int, ...] | None = ()
    """The connections to Discord that it holds, by their numbers; None: all there are. A terminal holds
    none."""
    shard_count: int = 0
    """Of the whole bot; 0 where the process has all of them, or none."""
    file_hashes: Mapping[str, str] = field(default_factory=dict)
    """The operator's files, as the process reads them, by name; empty hashes for those that it does not
    have."""

    @property
    def told_shards(self) -> str:
        """Shards and how many there are, as the operator reads them, `0-3/16`; empty for none and for all."""
        return f"{write_shards(self.shards)}/{self.shard_count}" if self.shards else ""

    def is_in_the_way_of(self, other: "Process") -> bool:
        """Return whether the two can't hold their shards at the same time."""
        if self.shards == () or other.shards == ():
            return False
        if self.shards is None or other.shards is None or self.shard_count != other.shard_count:
            return True
        return not set(self.shards).isdisjoint(other.shards)


def write_shards(shards: Iterable[int]) -> str:
    """Write shards as the operator reads them: `0-3`, `0, 2`."""
    ranges = list[tuple[int, int]]()
    for shard in sorted(shards):
        if ranges and ranges[-1][1] == shard - 1:
            ranges[-1] = (ranges[-1][0], shard)
        else:
            ranges.append((shard, shard))
    return ", ".join(f"{first}-{last}" if first < last else str(first) for first, last in ranges)


@dataclass(frozen=True, slots=True)
class LivingProcess:
    """A process whose row is in the database."""

    process: Process
    started_at: datetime
    renewed_at: datetime
    lapsed: bool
    """Whether it has not been renewed for `LEASE`."""
    connected_at: datetime | None = None
    """When it last was connected to Discord with all of its shards, as far as its renewals tell; None: never
    yet."""

    @property
    def is_unconnected(self) -> bool:
        """Return whether it holds shards, and has not been connected with all of them for a while."""
        since = max(self.connected_at or self.started_at, self.started_at)
        return self.process.shards != () and self.renewed_at - since > CONNECTS_WITHIN


@dataclass(frozen=True, slots=True)
class Duty:
    """A duty and its holder."""

    name: str
    process: str | None
    """None: it is free."""


@dataclass(frozen=True, slots=True)
class Renewal:
    """The outcome of a renewal."""

    living: tuple[LivingProcess, ...]
    """All processes, this one among them."""
    died: tuple[str, ...]
    """Those that were found dead at this renewal."""
    duties: tuple[Duty, ...] = ()


def find_free_shards(living: Sequence[LivingProcess]) -> frozenset[int]:
    """Find the shards that no process holds: the bot is offline in their servers."""
    processes = [each.process for each in living]
    if not processes or any(each.shards is None for each in processes):
        return frozenset()
    held = {shard for each in processes for shard in each.shards or ()}
    return frozenset(range(max(each.shard_count for each in processes))) - held


def find_differing(living: Sequence[LivingProcess]) -> tuple[str, ...]:
    """Find the files that are not the same in all processes, and `version`."""
    facts = [{**each.process.file_hashes, "version": each.process.version} for each in living]
    names = dict.fromkeys(name for each in facts for name in each)
    return tuple(name for name in names if len({each.get(name) for each in facts}) > 1)
