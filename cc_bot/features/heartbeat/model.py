"""What a heartbeat may mention: reminders and memories that are near or new."""

import re
from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass, replace
from datetime import date, datetime, time, timedelta
from typing import Final, Literal
from zoneinfo import ZoneInfo

from cc_bot.domain.errors import InputError, TimeOfDayNotUnderstood
from cc_bot.domain.when.grammar import MIDNIGHT, find_times, normalize, read
from cc_bot.domain.when.repeats import Quiet
from cc_bot.features.memory.model import Memory
from cc_bot.features.reminders.model import Firing, Schedule

USUAL_QUIET: Final = Quiet(22 * 60, 7 * 60)
REMINDERS_WITHIN: Final = timedelta(hours=24)
DAYS_WITHIN: Final = 7
"""Until a memory's end, or a day that it names."""
SOON: Final = timedelta(days=1)
"""Before such a day it is mentioned once more."""
LATELY: Final = timedelta(days=8)
"""How long a change or missed reminder is news; longer than the longest interval."""
FOR_GOOD: Final = timedelta(days=400)
MAX_COUNT: Final = 20
"""The rest is left for the next heartbeat."""
_RANKS: Final = {"missed": 0, "due": 1, "ends": 2, "named": 2, "changed": 3}

ItemKind = Literal["reminder", "missed", "memory"]
Why = Literal["due", "missed", "ends", "named", "changed"]


@dataclass(frozen=True, slots=True)
class Reason:
    why: Why
    when: datetime
    mark: str
    """Holds numbers and dates only."""
    until: datetime


@dataclass(frozen=True, slots=True)
class HeartbeatItem:
    kind: ItemKind
    id: int
    text: str
    reasons: tuple[Reason, ...]
    tainted: bool = False
    number: int = 0


def due_items(schedules: Iterable[Schedule], now: datetime) -> Iterator[HeartbeatItem]:
    """Yield reminders that are due soon. A repeated one is news once: it sends its own messages."""
    for schedule in schedules:
        due = schedule.due_at
        waits = schedule.kind == "reminder" and schedule.status == "active"
        if waits and now <= due <= now + REMINDERS_WITHIN:
            mark, until = f"reminder {schedule.id} {due:%Y%m%d%H%M}", due
            if schedule.repeat:
                mark, until = f"reminder {schedule.id}", due + FOR_GOOD
            yield _of_schedule("reminder", schedule, Reason("due", due, mark, until))


def missed_items(firings: Iterable[Firing], now: datetime) -> Iterator[HeartbeatItem]:
    for firing in firings:
        schedule, due = firing.schedule, firing.due_at
        if now - LATELY <= due <= now:
            mark = f"missed {schedule.id} {due:%Y%m%d%H%M}"
            yield _of_schedule("missed", schedule, Reason("missed", due, mark, due + LATELY))


def _of_schedule(kind: ItemKind, schedule: Schedule, reason: Reason) -> HeartbeatItem:
    return HeartbeatItem(kind, schedule.id, schedule.text, (reason,), schedule.tainted, schedule.number)


def memory_items(
    memories: Iterable[Memory], now: datetime, zone: ZoneInfo, *, since: datetime
) -> Iterator[HeartbeatItem]:
    """Yield memories that end or name a day soon, or changed since heartbeats began."""
    for memory in memories:
        if memory.is_expired(now):
            continue
        if reasons := tuple(_reasons(memory, now, zone, since)):
            yield HeartbeatItem("memory", memory.id, memory.content, reasons, memory.tainted, memory.number)


def _reasons(memory: Memory, now: datetime, zone: ZoneInfo, since: datetime) -> Iterator[Reason]:
    end, changed, today = memory.expires_at, memory.updated_at, now.astimezone(zone).date()
    if end is not None and end <= now + timedelta(days=DAYS_WITHIN):
        yield _near("ends", end, f"ends {memory.id} {end:%Y%m%d}", now)
    for day in days_named(memory.content, today, within=DAYS_WITHIN):
        yield _near("named", datetime.combine(day, time(), zone), f"named {memory.id} {day:%Y%m%d}", now)
    if memory.source.kind != "import" and max(since, now - LATELY) <= changed:
        mark = f"changed {memory.id} {changed:%Y%m%d%H%M%S}"
        yield Reason("changed", changed, mark, changed + LATELY + timedelta(days=1))


def _near(why: Why, moment: datetime, mark: str, now: datetime) -> Reason:
    soon = moment <= now + SOON
    return Reason(why, moment, f"{mark} soon" if soon else mark, moment + timedelta(days=2))


def select_new(items: Iterable[HeartbeatItem], looked_at: Collection[str]) -> tuple[HeartbeatItem, ...]:
    """Return the items with their new reasons, most urgent first."""
    fresh = (
        replace(each, reasons=tuple(reason for reason in each.reasons if reason.mark not in looked_at))
        for each in items
    )
    found = [item for item in fresh if item.reasons]
    found.sort(key=lambda item: min((_RANKS[reason.why], reason.when) for reason in item.reasons))
    return tuple(found[:MAX_COUNT])


_YEARLY: Final = re.compile(
    r"誕生|生まれ|うまれ|生誕|記念|命日|毎年|birthday|born|anniversary|every year|annual"
)


def days_named(text: str, today: date, *, within: int) -> tuple[date, ...]:
    """Return the days from today to `within` days later that the text names: `11月25日`, `2026-11-25`.

    A date without a year matches any year, as does a past year's in a text about birthdays and the like.
    """
    written = normalize(text)
    yearly = _YEARLY.search(written) is not None
    dates = [words for *_, words in find_times(written) if words.month_number and words.monthdays]
    named = {(each.year_number, each.month_number, day) for each in dates for day in each.monthdays}
    near = (today + timedelta(days=days) for days in range(within + 1))
    return tuple(
        day
        for day in near
        if any(
            (month, number) == (day.month, day.day)
            and (year is None or year == day.year or (yearly and year < day.year))
            for year, month, number in named
        )
    )


def parse_minute(text: str) -> int | None:
    """Parse a time of day (`22`, `22:30`, `10pm`) to minutes after midnight; None for anything else."""
    written = normalize(text)
    try:
        words = read(f"{written}:00" if re.fullmatch(r"[0-9]{1,2}", written) else written)
    except InputError:
        return None
    minute = words.clocks[0].minute if words.seen == {"clock"} and len(words.clocks) == 1 else None
    return minute % MIDNIGHT if minute is not None and minute <= MIDNIGHT else None


def quiet_of(since: str, until: str) -> Quiet:
    """Parse quiet hours; empty ones are the usual. Raises TimeOfDayNotUnderstood."""
    minutes = []
    for text, usual in ((since, USUAL_QUIET.since), (until, USUAL_QUIET.until)):
        minute = parse_minute(text) if text.strip() else usual
        if minute is None:
            raise TimeOfDayNotUnderstood(name=text)
        minutes.append(minute)
    return Quiet(*minutes)


def clock_time(minute: int) -> str:
    return f"{minute // 60}:{minute % 60:02}"
