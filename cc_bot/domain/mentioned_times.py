"""Finds the times that a message mentions, and checks whether a given one is among them.

A model writes `2026-11-23T09:00` for 明日の9時 and picks an hour for 明日の朝. Both are valid; another day is
not.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import date, datetime, timedelta
from typing import Final
from zoneinfo import ZoneInfo

from cc_bot.domain.errors import InputError
from cc_bot.domain.repeats import count_from, in_hours, next_time
from cc_bot.domain.when import day_choices, moments_of, months_on, repeats_of, year_of
from cc_bot.domain.when_words import MIDNIGHT, NOON, USUAL_MINUTE, TimeWords, find_times

_MAX_LENGTH: Final = 1500
_BEFORE: Final = re.compile(r"\s?(?:前|before\b|early\b|earlier\b)")
_PART_MINUTES: Final = 4 * 60
_NEAR: Final = timedelta(minutes=2)
_COMPARED_TIMES: Final = 6


@dataclass(frozen=True, slots=True)
class MentionedTime:
    """A time expression, with its possible meanings in the author's time zone."""

    begin: int
    end: int
    written: str
    first: date | None = None
    days: int = 1
    """Possible days from the first on."""
    or_week_later: bool = False
    minute: int | None = None
    """At or above MIDNIGHT it is on the next day."""
    part_minute: int | None = None
    """The usual minute of a part of the day without a clock time."""
    either_half: bool = False
    """Morning or afternoon."""
    moment: datetime | None = None
    """Now plus a duration."""
    before: bool = False
    """The duration is a lead time before another time."""
    repeat: str = ""
    """Cron, without a time of day."""

    @property
    def names_clock(self) -> bool:
        return self.minute is not None or self.part_minute is not None

    def fits_day(self, day: date) -> bool:
        ahead = (day - self.first).days if self.first else -1
        return 0 <= ahead < self.days or (self.or_week_later and 7 <= ahead < 7 + self.days)

    def fits_minute(self, minute: int) -> bool:
        if self.minute is not None:
            apart = abs(minute - self.minute % MIDNIGHT)
            return apart == 0 or (self.either_half and apart == NOON)
        return self.part_minute is None or abs(minute - self.part_minute) <= _PART_MINUTES

    def includes(self, other: "MentionedTime") -> bool:
        """Return whether this may mean the day and time of day of another expression."""
        if self.written == other.written:
            return True
        if self.repeat != other.repeat:
            return False
        if other.moment:
            return self.moment is not None and abs(self.moment - other.moment) <= _NEAR
        if other.minute is not None and (self.minute is None or not self.fits_minute(other.minute)):
            return False
        return other.first is None or self.fits_day(other.first)


def find(written: str, now: datetime, zone: ZoneInfo) -> list[MentionedTime]:
    """Return the times in a normalized text, in order."""
    if len(written) > _MAX_LENGTH:
        return []
    found = list[MentionedTime]()
    for begin, end, words in find_times(written):
        before = _BEFORE.match(written, end) is not None
        found += _meanings(MentionedTime(begin, end, written[begin:end], before=before), words, now, zone)
    return found


def _meanings(
    mentioned: MentionedTime, words: TimeWords, now: datetime, zone: ZoneInfo
) -> Iterator[MentionedTime]:
    today, moment, ranges = now.astimezone(zone).date(), None, list[tuple[date | None, int]]()
    try:
        repeat = _days_of(words, now.astimezone(zone)) if words.is_repeated else ""
        if words.seen & {"shift", "span"}:
            due = moments_of(words, now, zone)[0].moment
            ranges, moment = [(due.astimezone(zone).date(), 1)], due if words.shift[2] else None
        elif words.named_days and not repeat:
            ranges = _ranges(words, today)
        times = [
            (each.spoken and not each.part, each.of_day() if each.minute is not None else None, each.part)
            for each in words.clocks
        ]
    except (InputError, ValueError, OverflowError):
        yield mentioned
        return
    for first, days in ranges or [(None, 1)]:
        for either_half, minute, part in times or [(False, None, "")]:
            yield replace(
                mentioned,
                first=first,
                days=days,
                or_week_later="weekday" in words.seen,
                minute=minute,
                part_minute=USUAL_MINUTE.get(part) if minute is None else None,
                either_half=either_half,
                moment=moment,
                repeat=repeat,
            )


def _ranges(words: TimeWords, today: date) -> list[tuple[date | None, int]]:
    """The first day and number of days of each named day, week, month or year."""
    if words.named_days == {"week"}:
        return [(today + timedelta(weeks=words.week or 0, days=-today.weekday()), 7)]
    if words.named_days == {"year"}:
        return [(date(year_of(words, today), 1, 1), 366)]
    if words.named_days <= {"month", "year"}:
        year, month = months_on(today, words.month or 0)
        if words.month_number:
            year = year_of(words, today) + ("year" not in words.seen and words.month_number < today.month)
        return [(date(year, words.month_number or month, 1), 31)]
    return [(choice[0], 1) for choice in day_choices(words, today)]


def is_meant(due: datetime, written: str, now: datetime, zone: ZoneInfo) -> bool:
    """Return whether a text mentions this moment, or one that it precedes by a mentioned lead time. Day and
    time of day may be mentioned apart."""
    mentioned = find(written, now, zone)
    leads = [each.moment - now for each in mentioned if each.before and each.moment]
    return any(_is_one(due + lead, mentioned, now, zone) for lead in (timedelta(), *leads))


def _is_one(due: datetime, mentioned: Sequence[MentionedTime], now: datetime, zone: ZoneInfo) -> bool:
    local = due.astimezone(zone)
    clocks = [each for each in mentioned if each.names_clock]
    days = [each for each in mentioned if each.first and not each.names_clock]
    if any(each.moment and not each.before and abs(each.moment - due) <= _NEAR for each in mentioned):
        return True
    for clock in (each for each in clocks if each.fits_minute(local.hour * 60 + local.minute)):
        day = local.date() - timedelta(days=(clock.minute or 0) // MIDNIGHT)
        if any(each.fits_day(day) for each in ([clock] if clock.first else days)):
            return True
        if not (clock.first or days) and due - now <= timedelta(days=1):
            return True
    return not clocks and any(each.fits_day(local.date()) for each in days)


def is_day_meant(day: date, written: str, now: datetime, zone: ZoneInfo) -> bool:
    return any(each.fits_day(day) for each in find(written, now, zone))


def is_repeat_meant(first: datetime, repeat: str, written: str, now: datetime, zone: ZoneInfo) -> bool:
    """Return whether a text mentions this repeat, first at this moment."""
    local = first.astimezone(zone)
    clocks = [each for each in find(written, now, zone) if each.names_clock]
    if clocks and not any(each.fits_minute(local.hour * 60 + local.minute) for each in clocks):
        return False
    found = [words for *_, words in find_times(written[:_MAX_LENGTH])]
    days = {_days_of(words, local) for words in (*found, _merged(found)) if words.is_repeated}
    meant = {each if in_hours(each) else f"{local.minute} {local.hour} {each}" for each in days - {""}}
    return _times(first, repeat, zone) in [
        _times(first, count_from(each, local.date()), zone) for each in meant
    ]


def _days_of(words: TimeWords, start: datetime) -> str:
    """A repeat without its time of day; empty if it is invalid."""
    try:
        [repeat] = repeats_of(replace(words, clocks=[]), start)
    except InputError:
        return ""
    return repeat if in_hours(repeat) else repeat.split(maxsplit=2)[2]


def _merged(found: Sequence[TimeWords]) -> TimeWords:
    """Merge the words of one repeat that are spread over a text: 日曜の夜って毎週."""
    merged = TimeWords()
    for words in found:
        merged.seen |= words.seen
        merged.every = merged.every or words.every
        merged.plural = merged.plural or words.plural
        merged.month_number = merged.month_number or words.month_number
        merged.weekdays += words.weekdays
        merged.monthdays += words.monthdays
        merged.nth += words.nth
    return merged


def _times(first: datetime, repeat: str, zone: ZoneInfo) -> list[datetime]:
    found = [first - timedelta(seconds=1)]
    while len(found) <= _COMPARED_TIMES and (following := next_time(repeat, found[-1], zone)):
        found.append(following)
    return found
