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
"""Of one user, at a time."""
LATEST: Final = timedelta(hours=1)
"""A reminder that is later is not sent, but reported as missed."""

ScheduleKind = Literal["reminder", "heartbeat"]

Place = Literal["channel", "dm", "terminal"]
"""Where it is sent."""

ScheduleStatus = Literal["active", "paused", "done"]
"""active: waits for its time. paused: it could not be delivered, or its user paused it. done: it was its last
time."""

Obstacle = Literal[
    "", "channel_gone", "bot_removed", "left_server", "dms_closed", "permission_missing", "channel_refused"
]
"""Why a schedule is paused."""

FiringState = Literal["claimed", "sent", "skipped", "missed", "uncertain", "failed"]
"""claimed: one process is sending it. sent: it is on Discord. skipped: a heartbeat that had nothing to say,
or withdrawn by its user meanwhile. missed: more than LATEST late. uncertain: the process died between claim
and outcome; it is not sent again. failed: it could not be sent, and the schedule is paused."""


def zone_named(name: str) -> ZoneInfo:
    """The time zone of an IANA name that was stored; UTC where the database of zones has no such one."""
    try:
        return ZoneInfo(name)
    except (ZoneInfoNotFoundError, ValueError, OSError):  # OSError: the name of one of its folders
        return ZoneInfo("UTC")


@dataclass(frozen=True, slots=True)
class Quiet:
    """The hours in which a heartbeat keeps still, in minutes after midnight where its user is; `until` may be
    smaller than `since`."""

    since: int
    until: int


@dataclass(frozen=True, slots=True)
class Schedule:
    id: int
    key: SessionKey
    """Who wanted it, where it was asked for (whatever the place), and with which agent."""
    kind: ScheduleKind
    text: str
    """What to remind of; empty for a heartbeat."""
    due_at: datetime
    """The next time, UTC."""
    created_at: datetime
    _: KW_ONLY
    place: Place = "channel"
    guild_id: int | None = None
    visibility: Visibility = "public"
    """Of the turn or reply it was made in. What is private is never said in a server's channel."""
    repeat: str = ""
    """A cron expression of five fields, perhaps with days, weeks or months between (repeats.py); or the hours
    between two, as `every 6h`; empty: once."""
    timezone: str = "Asia/Tokyo"
    """The IANA name of the user's time zone, in which `repeat` counts."""
    locale: Locale | None = None
    """The language that its user was spoken to in when it was made; None where that is not known."""
    quiet: Quiet | None = None
    status: ScheduleStatus = "active"
    obstacle: Obstacle = ""
    tainted: bool = False
    """Whether a model wrote its text that had read words which its user did not write."""
    number: int = 0
    """What its user calls it by: each user's reminders count from 1. 0 for a heartbeat."""

    @property
    def heard(self) -> Visibility:
        """The readers of what it says: only a channel has other readers, and they never read what is
        private."""
        return "public" if self.place == "channel" and self.visibility == "public" else "private"

    @property
    def zone(self) -> ZoneInfo:
        """The time zone in which its times count."""
        return zone_named(self.timezone)


def is_known_in(schedule: Schedule, channel_id: int | None) -> bool:
    """Return whether everybody who reads a channel may know of a reminder: it was set there, in public."""
    return schedule.visibility == "public" and schedule.key.channel_id == channel_id


@dataclass(frozen=True, slots=True)
class Firing:
    """A time of one schedule, claimed."""

    schedule: Schedule
    due_at: datetime


@dataclass(frozen=True, slots=True)
class ScheduleChange:
    """A change that a tool made to a schedule, and that is committed."""

    kind: Literal["added", "cancelled"]
    schedule: Schedule


@dataclass(frozen=True, slots=True)
class ScheduleReceipt:
    """The line that tells what was done to one reminder."""

    kind: Literal["added", "cancelled"]
    schedule_id: int
    text: str = ""
    """Empty if it was cancelled before the line is shown again."""
    due_at: datetime | None = None
    """The next time, with a time zone; None for one that was cancelled."""
    repeat: str = ""
    number: int = 0
    state: ReceiptState = "holds"

    @classmethod
    def of(cls, change: ScheduleChange) -> "ScheduleReceipt":
        schedule = change.schedule
        due_at = schedule.due_at if change.kind == "added" else None
        return cls(change.kind, schedule.id, schedule.text, due_at, schedule.repeat, schedule.number)


def with_schedule(receipts: Sequence[ScheduleReceipt], new: ScheduleReceipt) -> tuple[ScheduleReceipt, ...]:
    """Add one more. A reminder that was set and cancelled in the same answer has no receipt."""
    before = next((each for each in receipts if each.schedule_id == new.schedule_id), None)
    others = tuple(each for each in receipts if each is not before)
    made_here = before is not None and before.kind == "added" and new.kind == "cancelled"
    return others if made_here else (*others, new)


@dataclass(frozen=True, slots=True)
class MissedReminders:
    """The missed and uncertain times to report to one owner. They are already marked as reported."""

    user_id: int
    missed: tuple[Firing, ...] = ()
    """More than LATEST late, because the program did not run."""
    uncertain: tuple[Firing, ...] = ()
    """Perhaps said, perhaps not: the program died over it."""

    def by_channel(self) -> "dict[int, MissedReminders]":
        """Return the public ones, by channel."""
        found = defaultdict[int, dict[str, tuple[Firing, ...]]](lambda: {"missed": (), "uncertain": ()})
        for kind, firings in (("missed", self.missed), ("uncertain", self.uncertain)):
            for firing in firings:
                if firing.schedule.heard == "public":
                    found[firing.schedule.key.channel_id][kind] += (firing,)
        return {channel_id: MissedReminders(self.user_id, **kinds) for channel_id, kinds in found.items()}


# ---- heartbeat -------------------------------------------------------------------------------------------
# Heartbeats: every so many hours the bot looks whether there is something its user would want to hear.
#
# When the next one is due is decided here, from the time that it is now: never in the hours that its user
# wants to be quiet.

LEAST_HOURS: Final = 1
MOST_HOURS: Final = 168
USUAL_QUIET: Final = Quiet(22 * 60, 7 * 60)
"""Unless its user says otherwise."""

_REPEAT: Final = re.compile(r"every ([0-9]{1,3})h")
_HOUR: Final = re.compile(r"[0-9]{1,2}")


def repeat_of(hours: int) -> str:
    """Write that a heartbeat comes every so many hours. Raises ValueError for more or fewer than there may
    be."""
    if not LEAST_HOURS <= hours <= MOST_HOURS:
        raise ValueError(f"every {hours} hours")
    return f"every {hours}h"


def hours_of(repeat: str) -> int:
    """The hours between two heartbeats. Raises ValueError for what `repeat_of` did not make."""
    found = _REPEAT.fullmatch(repeat)
    hours = int(found[1]) if found else 0
    if not LEAST_HOURS <= hours <= MOST_HOURS:
        raise ValueError(repeat)
    return hours


def is_quiet(moment: datetime, zone: ZoneInfo, quiet: Quiet | None) -> bool:
    """Return whether the clock on the user's wall shows one of the quiet hours; the end is no part of
    them."""
    if quiet is None:
        return False
    local = moment.astimezone(zone)
    minute = local.hour * 60 + local.minute
    if quiet.since <= quiet.until:
        return quiet.since <= minute < quiet.until
    return minute >= quiet.since or minute < quiet.until


def next_beat(now: datetime, repeat: str, zone: ZoneInfo, quiet: Quiet | None) -> datetime:
    """Return when the next heartbeat is due (UTC): its hours from now; at the end of the quiet hours, if that
    is in them. An end that the clocks leave out is that much later. Raises ValueError as `hours_of` does."""
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
    """Return when the clock shows this on a day: twice on the night when it is set back."""
    first, second = (
        datetime(day.year, day.month, day.day, minute // 60, minute % 60, tzinfo=zone, fold=fold)
        for fold in (0, 1)
    )
    return first.astimezone(UTC), second.astimezone(UTC)


def parse_minute(text: str) -> int | None:
    """Minutes after midnight of a time as people write it: `22`, `22:30`, `22時半`, `10pm`; None for anything
    else. 24:00 is midnight."""
    written = normalize(text)
    try:
        words = read(f"{written}:00" if _HOUR.fullmatch(written) else written)
    except InputError:
        return None
    minute = words.clocks[0].minute if words.seen == {"clock"} and len(words.clocks) == 1 else None
    return minute % MIDNIGHT if minute is not None and minute <= MIDNIGHT else None


def quiet_of(since: str, until: str, usual: Quiet = USUAL_QUIET) -> Quiet:
    """Return the quiet hours between two times as people write them; the `usual` one where nothing is
    written. Raises ValueError, with what is no time of day."""
    return Quiet(_minute_of(since, usual.since), _minute_of(until, usual.until))


def _minute_of(text: str, usual: int) -> int:
    if not text.strip():
        return usual
    minute = parse_minute(text)
    if minute is None:
        raise ValueError(text)
    return minute


def clock_time(minute: int) -> str:
    """`7:00`, as both languages write it."""
    return f"{minute // 60}:{minute % 60:02}"


# ---- named days ------------------------------------------------------------------------------------------
# The days that a text names, as far as they are near: `11月25日`, `2026-11-25`, `Nov 25`, `11/25`.
#
# It is for noticing that the day of a note has come, so it goes by dates alone: `next Friday` meant another
# day when it was written than it would now.

_YEARLY: Final = re.compile(
    r"誕生|生まれ|うまれ|生誕|記念|命日|毎年|birthday|born|anniversary|every year|annual"
)


def days_named(text: str, today: date, *, within: int) -> tuple[date, ...]:
    """Return those of the days from today until `within` days later that the text names, in their order.

    A date without a year is that of any year; so is one of a past year, in a text about birthdays and the
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
# The reminders and memories that may be worth a word of a heartbeat now, and which of that is new.
#
# All of it is decided here, before anybody is asked: where nothing is new, there is no request. What was
# looked at is known by its marks, which hold numbers and dates and not a word of anybody's.

REMINDERS_WITHIN: Final = timedelta(hours=24)
DAYS_WITHIN: Final = 7
"""Days until what a memory names, or until its end."""
SOON: Final = 1
"""Days until which it is looked at once more."""
LATELY: Final = timedelta(days=8)
"""For so long a change or something missed is news: more than the longest time between two heartbeats."""
FOR_GOOD: Final = timedelta(days=400)
"""For marks without an end of their own."""
MOST: Final = 20
"""Matters of one heartbeat; the rest is left for the next one."""
_RANKS: Final = {"missed": 0, "due": 1, "ends": 2, "named": 2, "changed": 3}

Kind = Literal["reminder", "missed", "memory"]
Why = Literal["due", "missed", "ends", "named", "changed"]


@dataclass(frozen=True, slots=True, order=True)
class Mark:
    """The mark by which it is known that something was looked at."""

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
    """Whether its words may not be its user's."""
    number: int = 0
    """What its user calls it by."""

    def fresh(self, looked_at: Collection[str]) -> "Matter":
        """Return the matter with those reasons only that are new; of what is not new, there are none left."""
        new = (reason for reason in self.reasons if any(mark.name not in looked_at for mark in reason.marks))
        return replace(self, reasons=tuple(new))

    @property
    def marks(self) -> tuple[Mark, ...]:
        return tuple(mark for reason in self.reasons for mark in reason.marks)


def audible(schedule: Schedule, heartbeat: Schedule, visibility: Visibility) -> bool:
    """Return whether a heartbeat may speak of a reminder: in a channel, of those that were made there before
    all."""
    return visibility == "private" or is_known_in(schedule, heartbeat.key.channel_id)


def of_reminders(schedules: Iterable[Schedule], now: datetime) -> Iterator[Matter]:
    """Yield the reminders that are due soon. One that is repeated is news once: it speaks for itself each
    time."""
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
    """Yield the memories that end or name a day soon, or were changed lately; `since` is when the heartbeats
    began."""
    for memory in memories:
        if memory.is_expired(now):
            continue
        reasons = (*_ending(memory, now), *_naming(memory, now, zone), *_changed(memory, now, since))
        if reasons:
            yield Matter("memory", memory.id, memory.content, reasons, memory.tainted, memory.number)


def new(matters: Iterable[Matter], looked_at: Collection[str]) -> tuple[Matter, ...]:
    """Return what of it is new, the most urgent first, and not more than one heartbeat can speak of."""
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
    """Yield the change of a memory. An imported one was not news to anybody."""
    changed = memory.updated_at
    if memory.source.kind != "import" and max(since, now - LATELY) <= changed:
        mark = Mark(f"changed {memory.id} {changed:%Y%m%d%H%M%S}", changed + LATELY + timedelta(days=1))
        yield Reason("changed", changed, (mark,))


def _marks(name: str, moment: datetime, now: datetime) -> tuple[Mark, ...]:
    """Return a mark for having looked at it, and when it is soon one more."""
    until = moment + timedelta(days=2)
    mark, near = Mark(name, until), Mark(f"{name} soon", until)
    return (mark, near) if moment <= now + timedelta(days=SOON) else (mark,)


def _urgency(matter: Matter) -> tuple[int, datetime]:
    """Return the rank: a smaller one is more pressing."""
    return min((_RANKS[reason.why], reason.when) for reason in matter.reasons)
