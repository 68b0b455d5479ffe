"""Reminders and heartbeats: messages at times that users chose."""

import re
from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import KW_ONLY, dataclass, replace
from datetime import UTC, date, datetime, time, timedelta
from typing import Final, Literal
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from cc_bot.domain.errors import InputError
from cc_bot.domain.locale import Locale
from cc_bot.domain.memory import Memory, ReceiptState
from cc_bot.domain.message import Visibility
from cc_bot.domain.session import SessionKey
from cc_bot.domain.when_words import MIDNIGHT, find_times, normalize, read

MAX_TEXT_CHARACTERS: Final = 1000
MAX_SCHEDULES: Final = 100
"""Per user."""
LATEST: Final = timedelta(hours=1)
"""A later reminder is not sent, but reported as missed."""

ScheduleKind = Literal["reminder", "heartbeat"]

Place = Literal["channel", "dm", "terminal"]
"""Where it is sent."""

ScheduleStatus = Literal["active", "paused", "done"]
"""active: waits for its time. paused: by its user, or because it could not be delivered. done: its last time
has passed."""

Obstacle = Literal[
    "", "channel_gone", "bot_removed", "left_server", "dms_closed", "permission_missing", "channel_refused"
]
"""Why a schedule is paused."""

FiringState = Literal["claimed", "sent", "skipped", "missed", "uncertain", "failed"]
"""claimed: one process is sending it. sent: it is on Discord. skipped: a heartbeat had nothing to say, or its
user withdrew it. missed: more than LATEST late. uncertain: the process died between claim and outcome; it is
not sent again. failed: it could not be sent, and the schedule is paused."""


def zone_named(name: str) -> ZoneInfo:
    """Return the time zone of a stored IANA name; UTC if the zone database does not have it."""
    try:
        return ZoneInfo(name)
    except (ZoneInfoNotFoundError, ValueError, OSError):  # OSError: the name of a folder of zones
        return ZoneInfo("UTC")


@dataclass(frozen=True, slots=True)
class Quiet:
    """A heartbeat's quiet hours, in minutes after midnight of the user's local time; `until` may be smaller
    than `since`."""

    since: int
    until: int


@dataclass(frozen=True, slots=True)
class Schedule:
    id: int
    key: SessionKey
    """Its user, the channel in which it was made (whatever `place` is), and the agent."""
    kind: ScheduleKind
    text: str
    """Empty for a heartbeat."""
    due_at: datetime
    """The next time, UTC."""
    created_at: datetime
    _: KW_ONLY
    place: Place = "channel"
    guild_id: int | None = None
    visibility: Visibility = "public"
    """Of the turn or reply in which it was made. A private one is never sent to a server's channel."""
    repeat: str = ""
    """A five-field cron expression, optionally with an interval of days, weeks or months (repeats.py); or
    `every 6h`; empty: once."""
    timezone: str = "Asia/Tokyo"
    """IANA name of the time zone in which `repeat` is evaluated."""
    locale: Locale | None = None
    """The user's language when it was made; None if unknown."""
    quiet: Quiet | None = None
    status: ScheduleStatus = "active"
    obstacle: Obstacle = ""
    tainted: bool = False
    """Whether its text came from a model that had read text by others than its user."""
    number: int = 0
    """Shown to its user; each user's reminders count from 1. 0 for a heartbeat."""

    @property
    def heard(self) -> Visibility:
        """Who reads its message: others only in a channel, and never a private one."""
        return "public" if self.place == "channel" and self.visibility == "public" else "private"

    @property
    def zone(self) -> ZoneInfo:
        return zone_named(self.timezone)


def is_known_in(schedule: Schedule, channel_id: int | None) -> bool:
    """Return whether all readers of a channel may know of a reminder: it was made there, in public."""
    return schedule.visibility == "public" and schedule.key.channel_id == channel_id


@dataclass(frozen=True, slots=True)
class Firing:
    """A claimed time of a schedule."""

    schedule: Schedule
    due_at: datetime


@dataclass(frozen=True, slots=True)
class ScheduleChange:
    """A committed change that a tool made to a schedule."""

    kind: Literal["added", "cancelled"]
    schedule: Schedule


@dataclass(frozen=True, slots=True)
class ScheduleReceipt:
    kind: Literal["added", "cancelled"]
    schedule_id: int
    text: str = ""
    """Empty if the reminder was cancelled before the line is shown again."""
    due_at: datetime | None = None
    """The next time, timezone-aware; None for a cancelled one."""
    repeat: str = ""
    number: int = 0
    state: ReceiptState = "holds"

    @classmethod
    def of(cls, change: ScheduleChange) -> "ScheduleReceipt":
        schedule = change.schedule
        due_at = schedule.due_at if change.kind == "added" else None
        return cls(change.kind, schedule.id, schedule.text, due_at, schedule.repeat, schedule.number)


def with_schedule(receipts: Sequence[ScheduleReceipt], new: ScheduleReceipt) -> tuple[ScheduleReceipt, ...]:
    """Add a receipt. A reminder that was made and cancelled in the same answer gets none."""
    before = next((each for each in receipts if each.schedule_id == new.schedule_id), None)
    others = tuple(each for each in receipts if each is not before)
    made_here = before is not None and before.kind == "added" and new.kind == "cancelled"
    return others if made_here else (*others, new)


@dataclass(frozen=True, slots=True)
class MissedReminders:
    """One owner's missed and uncertain times, already marked as reported."""

    user_id: int
    missed: tuple[Firing, ...] = ()
    """More than LATEST late, because the program did not run."""
    uncertain: tuple[Firing, ...] = ()
    """Possibly sent: the process died while sending."""

    def by_channel(self) -> "dict[int, MissedReminders]":
        """The public ones."""
        found = defaultdict[int, dict[str, tuple[Firing, ...]]](lambda: {"missed": (), "uncertain": ()})
        for kind, firings in (("missed", self.missed), ("uncertain", self.uncertain)):
            for firing in firings:
                if firing.schedule.heard == "public":
                    found[firing.schedule.key.channel_id][kind] += (firing,)
        return {channel_id: MissedReminders(self.user_id, **kinds) for channel_id, kinds in found.items()}


# ---- heartbeat -------------------------------------------------------------------------------------------
# Every few hours a heartbeat checks whether there is news for its user. Its next time is computed from the
# current time, outside the user's quiet hours.

MIN_HOURS: Final = 1
MAX_HOURS: Final = 168
USUAL_QUIET: Final = Quiet(22 * 60, 7 * 60)
"""The default."""

_REPEAT: Final = re.compile(r"every ([0-9]{1,3})h")
_HOUR: Final = re.compile(r"[0-9]{1,2}")


def repeat_of(hours: int) -> str:
    """Return the `repeat` of a heartbeat. Raises ValueError outside MIN_HOURS to MAX_HOURS."""
    if not MIN_HOURS <= hours <= MAX_HOURS:
        raise ValueError(f"every {hours} hours")
    return f"every {hours}h"


def hours_of(repeat: str) -> int:
    """Parse `repeat_of`'s result. Raises ValueError for any other text."""
    found = _REPEAT.fullmatch(repeat)
    hours = int(found[1]) if found else 0
    if not MIN_HOURS <= hours <= MAX_HOURS:
        raise ValueError(repeat)
    return hours


def is_quiet(moment: datetime, zone: ZoneInfo, quiet: Quiet | None) -> bool:
    """Return whether the local time is in the quiet hours; their end is excluded."""
    if quiet is None:
        return False
    local = moment.astimezone(zone)
    minute = local.hour * 60 + local.minute
    if quiet.since <= quiet.until:
        return quiet.since <= minute < quiet.until
    return minute >= quiet.since or minute < quiet.until


def next_beat(now: datetime, repeat: str, zone: ZoneInfo, quiet: Quiet | None) -> datetime:
    """Return the next heartbeat's time (UTC): now plus its hours, or the end of the quiet hours if that falls
    into them. An end skipped by a clock change is that much later. Raises ValueError as `hours_of` does."""
    moment = now.astimezone(UTC) + timedelta(hours=hours_of(repeat))
    if quiet is None or not is_quiet(moment, zone, quiet):
        return moment
    first = moment.astimezone(zone).date()
    ends = [
        end
        for days in range(3)
        for end in _times(first + timedelta(days=days), quiet.until, zone)
        if end >= moment and not is_quiet(end, zone, quiet)
    ]
    return min(ends)


def _times(day: date, minute: int, zone: ZoneInfo) -> tuple[datetime, datetime]:
    """Both moments of a local time; they differ only when the clocks go back."""
    first, second = (
        datetime(day.year, day.month, day.day, minute // 60, minute % 60, tzinfo=zone, fold=fold)
        for fold in (0, 1)
    )
    return first.astimezone(UTC), second.astimezone(UTC)


def parse_minute(text: str) -> int | None:
    """Parse a time of day (`22`, `22:30`, `22時半`, `10pm`) to minutes after midnight; None for anything
    else. 24:00 is 0."""
    written = normalize(text)
    try:
        words = read(f"{written}:00" if _HOUR.fullmatch(written) else written)
    except InputError:
        return None
    minute = words.clocks[0].minute if words.seen == {"clock"} and len(words.clocks) == 1 else None
    return minute % MIDNIGHT if minute is not None and minute <= MIDNIGHT else None


def quiet_of(since: str, until: str, usual: Quiet = USUAL_QUIET) -> Quiet:
    """Parse quiet hours; an empty time is taken from `usual`. Raises ValueError with the text that is not a
    time of day."""
    return Quiet(_minute_of(since, usual.since), _minute_of(until, usual.until))


def _minute_of(text: str, usual: int) -> int:
    if not text.strip():
        return usual
    minute = parse_minute(text)
    if minute is None:
        raise ValueError(text)
    return minute


def clock_time(minute: int) -> str:
    return f"{minute // 60}:{minute % 60:02}"


# ---- named days ------------------------------------------------------------------------------------------
# Near dates in a text: `11月25日`, `2026-11-25`, `Nov 25`, `11/25`. Relative ones such as `next Friday` are
# ignored: they meant another day when the text was written.

_YEARLY: Final = re.compile(
    r"誕生|生まれ|うまれ|生誕|記念|命日|毎年|birthday|born|anniversary|every year|annual"
)


def days_named(text: str, today: date, *, within: int) -> tuple[date, ...]:
    """Return the days from today to `within` days later that the text names, in order.

    A date without a year matches any year; so does one of a past year if the text is about birthdays and the
    like.
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


# ---- matters ---------------------------------------------------------------------------------------------
# The reminders and memories that a heartbeat may mention, and which of them are new. This is decided before
# the model is called: without news there is no request. Marks record what was examined; they hold numbers and
# dates only, no user text.

REMINDERS_WITHIN: Final = timedelta(hours=24)
DAYS_WITHIN: Final = 7
"""Days until a memory's end, or a day that it names."""
SOON: Final = 1
"""Days before it at which it is examined once more."""
LATELY: Final = timedelta(days=8)
"""How long a change or missed reminder is news; longer than the longest heartbeat interval."""
FOR_GOOD: Final = timedelta(days=400)
"""Lifetime of marks without their own end."""
MAX_COUNT: Final = 20
"""Matters per heartbeat; the rest is left for the next one."""
_RANKS: Final = {"missed": 0, "due": 1, "ends": 2, "named": 2, "changed": 3}

Kind = Literal["reminder", "missed", "memory"]
Why = Literal["due", "missed", "ends", "named", "changed"]


@dataclass(frozen=True, slots=True, order=True)
class Mark:
    name: str
    until: datetime
    """Afterwards the matter can't come up again, and the mark is deleted."""


@dataclass(frozen=True, slots=True)
class Reason:
    why: Why
    when: datetime
    marks: tuple[Mark, ...]


@dataclass(frozen=True, slots=True)
class Matter:
    """A reminder or memory that a heartbeat may mention, and why."""

    kind: Kind
    id: int
    text: str
    reasons: tuple[Reason, ...]
    tainted: bool = False
    """Whether its text may not be its user's."""
    number: int = 0
    """Shown to its user."""

    def fresh(self, looked_at: Collection[str]) -> "Matter":
        """Return the matter with its new reasons only; none are left if nothing is new."""
        new = (reason for reason in self.reasons if any(mark.name not in looked_at for mark in reason.marks))
        return replace(self, reasons=tuple(new))

    @property
    def marks(self) -> tuple[Mark, ...]:
        return tuple(mark for reason in self.reasons for mark in reason.marks)


def audible(schedule: Schedule, heartbeat: Schedule, visibility: Visibility) -> bool:
    """Return whether a heartbeat may mention a reminder; in a channel, only one that was made there in
    public."""
    return visibility == "private" or is_known_in(schedule, heartbeat.key.channel_id)


def of_reminders(schedules: Iterable[Schedule], now: datetime) -> Iterator[Matter]:
    """Yield reminders that are due soon. A repeated one is news only once: it sends its own messages."""
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
    for firing in firings:
        if now - LATELY <= firing.due_at <= now:
            schedule = firing.schedule
            mark = Mark(f"missed {schedule.id} {firing.due_at:%Y%m%d%H%M}", firing.due_at + LATELY)
            reason = Reason("missed", firing.due_at, (mark,))
            yield Matter("missed", schedule.id, schedule.text, (reason,), schedule.tainted, schedule.number)


def of_memories(
    memories: Iterable[Memory], now: datetime, zone: ZoneInfo, *, since: datetime
) -> Iterator[Matter]:
    """Yield memories that end or name a day soon, or changed recently; `since` is when the heartbeats
    began."""
    for memory in memories:
        if memory.is_expired(now):
            continue
        reasons = (*_ending(memory, now), *_naming(memory, now, zone), *_changed(memory, now, since))
        if reasons:
            yield Matter("memory", memory.id, memory.content, reasons, memory.tainted, memory.number)


def new(matters: Iterable[Matter], looked_at: Collection[str]) -> tuple[Matter, ...]:
    """Return the new matters, most urgent first, at most MAX_COUNT."""
    fresh = (matter.fresh(looked_at) for matter in matters)
    found = [matter for matter in fresh if matter.reasons]
    found.sort(key=_urgency)
    return tuple(found[:MAX_COUNT])


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
    """An imported memory is not news."""
    changed = memory.updated_at
    if memory.source.kind != "import" and max(since, now - LATELY) <= changed:
        mark = Mark(f"changed {memory.id} {changed:%Y%m%d%H%M%S}", changed + LATELY + timedelta(days=1))
        yield Reason("changed", changed, (mark,))


def _marks(name: str, moment: datetime, now: datetime) -> tuple[Mark, ...]:
    """One for the examination, and a second if the day is near."""
    until = moment + timedelta(days=2)
    mark, near = Mark(name, until), Mark(f"{name} soon", until)
    return (mark, near) if moment <= now + timedelta(days=SOON) else (mark,)


def _urgency(matter: Matter) -> tuple[int, datetime]:
    """Smaller is more urgent."""
    return min((_RANKS[reason.why], reason.when) for reason in matter.reasons)
