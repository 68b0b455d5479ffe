"""What heartbeats mention: upcoming and missed reminders, and memories with a near day or a change."""

import re
from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass, replace
from datetime import date, datetime, time, timedelta
from typing import Final, Literal
from zoneinfo import ZoneInfo

from cc_bot.domain.errors import InputError
from cc_bot.domain.when.grammar import MINUTES_PER_DAY, find_times, normalize, parse
from cc_bot.domain.when.repeats import QuietHours
from cc_bot.features.memory.model import Memory
from cc_bot.features.reminders.model import Firing, Schedule

DEFAULT_HOURS: Final = 6
DEFAULT_QUIET_HOURS: Final = QuietHours(22 * 60, 7 * 60)
REMINDER_LOOKAHEAD: Final = timedelta(hours=24)
MEMORY_LOOKAHEAD_DAYS: Final = 7  # for a memory's end, and for a day that its text names
SECOND_MENTION_WITHIN: Final = timedelta(days=1)  # before its end or day, a memory is mentioned again
NEWS_PERIOD: Final = timedelta(days=8)  # for changes and missed reminders; longer than a heartbeat's interval
REPEAT_MARK_RETENTION: Final = timedelta(days=400)
MAX_ITEMS: Final = 20  # per heartbeat; the next one has the rest
_RANKS: Final = {"missed": 0, "due": 1, "ends": 2, "named": 2, "changed": 3}

ItemKind = Literal["reminder", "missed", "memory"]
ReasonKind = Literal["due", "missed", "ends", "named", "changed"]
"""`ends`: a memory expires. `named`: its text names a day."""


class TimeOfDayNotUnderstood(InputError):
    ja = "時刻「{name}」が分かりませんでした。22:00、7時半、10pm のように書いてください。"
    en = "I don’t understand the time “{name}”. Write it like 22:00, 7:30 or 10pm."


@dataclass(frozen=True, slots=True)
class Reason:
    kind: ReasonKind
    when: datetime
    mark: str  # identifies a reason that was mentioned: kind, numbers, dates
    mark_expires_at: datetime


@dataclass(frozen=True, slots=True)
class HeartbeatItem:
    kind: ItemKind
    id: int
    text: str
    reasons: tuple[Reason, ...]
    tainted: bool = False
    number: int = 0


def due_items(schedules: Iterable[Schedule], now: datetime) -> Iterator[HeartbeatItem]:
    """Yield reminders due within REMINDER_LOOKAHEAD. A repeated reminder has one mark for all its times."""
    for schedule in schedules:
        due = schedule.due_at
        is_pending = schedule.kind == "reminder" and schedule.status == "active"
        if is_pending and now <= due <= now + REMINDER_LOOKAHEAD:
            mark, mark_expires_at = f"reminder {schedule.id} {due:%Y%m%d%H%M}", due
            if schedule.repeat:
                mark, mark_expires_at = f"reminder {schedule.id}", due + REPEAT_MARK_RETENTION
            yield _schedule_item("reminder", schedule, Reason("due", due, mark, mark_expires_at))


def missed_items(firings: Iterable[Firing], now: datetime) -> Iterator[HeartbeatItem]:
    for firing in firings:
        schedule, due = firing.schedule, firing.due_at
        if now - NEWS_PERIOD <= due <= now:
            mark = f"missed {schedule.id} {due:%Y%m%d%H%M}"
            yield _schedule_item("missed", schedule, Reason("missed", due, mark, due + NEWS_PERIOD))


def _schedule_item(kind: ItemKind, schedule: Schedule, reason: Reason) -> HeartbeatItem:
    return HeartbeatItem(kind, schedule.id, schedule.text, (reason,), schedule.tainted, schedule.number)


def memory_items(
    memories: Iterable[Memory], now: datetime, zone: ZoneInfo, *, since: datetime
) -> Iterator[HeartbeatItem]:
    """Yield memories that end soon, name a near day, or changed after `since`, the heartbeat's start."""
    for memory in memories:
        if memory.is_expired(now):
            continue
        if reasons := tuple(_reasons(memory, now, zone, since)):
            yield HeartbeatItem("memory", memory.id, memory.content, reasons, memory.tainted, memory.number)


def _reasons(memory: Memory, now: datetime, zone: ZoneInfo, since: datetime) -> Iterator[Reason]:
    end, changed, today = memory.expires_at, memory.updated_at, now.astimezone(zone).date()
    if end is not None and end <= now + timedelta(days=MEMORY_LOOKAHEAD_DAYS):
        yield _upcoming_reason("ends", end, f"ends {memory.id} {end:%Y%m%d}", now)
    for day in find_named_days(memory.content, today, within=MEMORY_LOOKAHEAD_DAYS):
        midnight = datetime.combine(day, time(), zone)
        yield _upcoming_reason("named", midnight, f"named {memory.id} {day:%Y%m%d}", now)
    if memory.source.kind != "import" and max(since, now - NEWS_PERIOD) <= changed:
        mark = f"changed {memory.id} {changed:%Y%m%d%H%M%S}"
        yield Reason("changed", changed, mark, changed + NEWS_PERIOD + timedelta(days=1))


def _upcoming_reason(kind: ReasonKind, moment: datetime, mark: str, now: datetime) -> Reason:
    is_soon = moment <= now + SECOND_MENTION_WITHIN
    return Reason(kind, moment, f"{mark} soon" if is_soon else mark, moment + timedelta(days=2))


def select_new(items: Iterable[HeartbeatItem], known_marks: Collection[str]) -> tuple[HeartbeatItem, ...]:
    """Return items with their reasons that were not mentioned before, the most urgent first."""
    selected = list[HeartbeatItem]()
    for item in items:
        if new_reasons := tuple(each for each in item.reasons if each.mark not in known_marks):
            selected.append(replace(item, reasons=new_reasons))
    selected.sort(key=lambda item: min((_RANKS[reason.kind], reason.when) for reason in item.reasons))
    return tuple(selected[:MAX_ITEMS])


_YEARLY: Final = re.compile(
    r"誕生|生まれ|うまれ|生誕|記念|命日|毎年|birthday|born|anniversary|every year|annual"
)


def find_named_days(text: str, today: date, *, within: int) -> tuple[date, ...]:
    """Return the days that a text names (`11月25日`, `2026-11-25`), from today to `within` days later. Dates
    without a year match any year; so do past years in a text about a yearly event."""
    normalized = normalize(text)
    is_yearly = _YEARLY.search(normalized) is not None
    found = set[date]()
    for *_, words in find_times(normalized):
        for days_ahead in range(within + 1 if words.month_number and words.monthdays else 0):
            day, year = today + timedelta(days=days_ahead), words.year_number
            is_year = year is None or year == day.year or (is_yearly and year < day.year)
            if is_year and words.month_number == day.month and day.day in words.monthdays:
                found.add(day)
    return tuple(sorted(found))


def parse_minute(text: str) -> int | None:
    """Parse a time of day (`22`, `22:30`, `10pm`) to minutes after midnight; None for anything else."""
    normalized = normalize(text)
    try:
        words = parse(f"{normalized}:00" if re.fullmatch(r"[0-9]{1,2}", normalized) else normalized)
    except InputError:
        return None
    minute = words.clocks[0].minute if words.kinds == {"clock"} and len(words.clocks) == 1 else None
    return minute % MINUTES_PER_DAY if minute is not None and minute <= MINUTES_PER_DAY else None


def parse_quiet_hours(since: str, until: str) -> QuietHours:
    """An empty text means the default. Raises TimeOfDayNotUnderstood."""
    minutes = []
    for text, default in ((since, DEFAULT_QUIET_HOURS.since), (until, DEFAULT_QUIET_HOURS.until)):
        minute = parse_minute(text) if text.strip() else default
        if minute is None:
            raise TimeOfDayNotUnderstood(name=text)
        minutes.append(minute)
    return QuietHours(*minutes)


def format_clock(minute: int) -> str:
    return f"{minute // 60}:{minute % 60:02}"
