"""What a heartbeat looks at: which reminders and memories may be worth a word now, and which of that is new.

All of it is decided here, before anybody is asked: where nothing is new, there is no request. What was looked
at is known by its marks, which hold numbers and dates and not a word of anybody's.
"""

from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass, replace
from datetime import datetime, time, timedelta
from typing import Final, Literal
from zoneinfo import ZoneInfo

from cc_bot.domain.memory import Memory
from cc_bot.domain.message import Visibility
from cc_bot.domain.named_days import days_named
from cc_bot.domain.schedule import Firing, Schedule, is_known_in

REMINDERS_WITHIN: Final = timedelta(hours=24)
DAYS_WITHIN: Final = 7
"""Days until what a memory names, or until its end."""
SOON: Final = 1
"""Days until which it is looked at once more."""
LATELY: Final = timedelta(days=8)
"""For so long a change or something missed is news: more than the longest time between two heartbeats."""
FOR_GOOD: Final = timedelta(days=400)
"""Until which a mark stands that needs no end."""
MOST: Final = 20
"""Matters of one heartbeat; the rest is left for the next one."""
_RANKS: Final = {"missed": 0, "due": 1, "ends": 2, "named": 2, "changed": 3}

Kind = Literal["reminder", "missed", "memory"]
Why = Literal["due", "missed", "ends", "named", "changed"]


@dataclass(frozen=True, slots=True, order=True)
class Mark:
    """By this it is known that something was looked at."""

    name: str
    until: datetime
    """From then on it can't come up again, and the mark is not needed."""


@dataclass(frozen=True, slots=True)
class Reason:
    why: Why
    when: datetime
    marks: tuple[Mark, ...]


@dataclass(frozen=True, slots=True)
class Matter:
    """A reminder or memory that may be spoken of, and why."""

    kind: Kind
    id: int
    text: str
    reasons: tuple[Reason, ...]
    tainted: bool = False
    """Whether its words may be somebody else's than its user's."""
    number: int = 0
    """What its user calls it by."""

    def fresh(self, looked_at: Collection[str]) -> "Matter":
        """With those reasons only that are new; of what is not new, there are none left."""
        new = (reason for reason in self.reasons if any(mark.name not in looked_at for mark in reason.marks))
        return replace(self, reasons=tuple(new))

    @property
    def marks(self) -> tuple[Mark, ...]:
        return tuple(mark for reason in self.reasons for mark in reason.marks)


def audible(schedule: Schedule, heartbeat: Schedule, visibility: Visibility) -> bool:
    """Whether a heartbeat may speak of a reminder: in a channel, of those that were made there before all."""
    return visibility == "private" or is_known_in(schedule, heartbeat.key.channel_id)


def of_reminders(schedules: Iterable[Schedule], now: datetime) -> Iterator[Matter]:
    """Those that are due soon. One that is repeated is news once: it speaks for itself each time."""
    for schedule in schedules:
        due = schedule.due_at
        waits = schedule.kind == "reminder" and schedule.status == "active"
        if waits and now <= due <= now + REMINDERS_WITHIN:
            mark = Mark(f"reminder {schedule.id} {due:%Y%m%d%H%M}", due)
            if schedule.repeat:
                mark = Mark(f"reminder {schedule.id}", due + FOR_GOOD)
            reasons = (Reason("due", due, (mark,)),)
            yield Matter("reminder", schedule.id, schedule.text, reasons, schedule.tainted, schedule.number)


def of_missed(firings: Iterable[Firing], now: datetime) -> Iterator[Matter]:
    """Reminders that were missed lately, or perhaps missed."""
    for firing in firings:
        if now - LATELY <= firing.due_at <= now:
            schedule = firing.schedule
            mark = Mark(f"missed {schedule.id} {firing.due_at:%Y%m%d%H%M}", firing.due_at + LATELY)
            reason = Reason("missed", firing.due_at, (mark,))
            yield Matter("missed", schedule.id, schedule.text, (reason,), schedule.tainted, schedule.number)


def of_memories(
    memories: Iterable[Memory], now: datetime, zone: ZoneInfo, *, since: datetime
) -> Iterator[Matter]:
    """Those that end or name a day soon, or were changed lately; `since` is when the heartbeats began."""
    for memory in memories:
        if memory.expired(now):
            continue
        reasons = (*_ending(memory, now), *_naming(memory, now, zone), *_changed(memory, now, since))
        if reasons:
            yield Matter("memory", memory.id, memory.content, reasons, memory.tainted, memory.number)


def new(matters: Iterable[Matter], looked_at: Collection[str]) -> tuple[Matter, ...]:
    """What of it is new, the most urgent first, and not more than one heartbeat can speak of."""
    fresh = (matter.fresh(looked_at) for matter in matters)
    found = [matter for matter in fresh if matter.reasons]
    found.sort(key=_urgency)
    return tuple(found[:MOST])


def _ending(memory: Memory, now: datetime) -> Iterator[Reason]:
    end = memory.expires_at
    if end is not None and end <= now + timedelta(days=DAYS_WITHIN):
        yield Reason("ends", end, _marks(f"ends {memory.id} {end:%Y%m%d}", end, now))


def _naming(memory: Memory, now: datetime, zone: ZoneInfo) -> Iterator[Reason]:
    today = now.astimezone(zone).date()
    for day in days_named(memory.content, today, within=DAYS_WITHIN):
        begin = datetime.combine(day, time(), zone)
        yield Reason("named", begin, _marks(f"named {memory.id} {day:%Y%m%d}", begin, now))


def _changed(memory: Memory, now: datetime, since: datetime) -> Iterator[Reason]:
    """What was imported was not news to anybody."""
    changed = memory.updated_at
    if memory.source.kind != "import" and max(since, now - LATELY) <= changed:
        mark = Mark(f"changed {memory.id} {changed:%Y%m%d%H%M%S}", changed + LATELY + timedelta(days=1))
        yield Reason("changed", changed, (mark,))


def _marks(name: str, moment: datetime, now: datetime) -> tuple[Mark, ...]:
    """One for having looked at it, and when it is soon one more."""
    until = moment + timedelta(days=2)
    mark, near = Mark(name, until), Mark(f"{name} soon", until)
    return (mark, near) if moment <= now + timedelta(days=SOON) else (mark,)


def _urgency(matter: Matter) -> tuple[int, datetime]:
    """Smaller is more pressing."""
    return min((_RANKS[reason.why], reason.when) for reason in matter.reasons)
