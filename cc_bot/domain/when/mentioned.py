"""Finds the times that a message mentions, and checks whether a model's time is one of them.

The model may write `2026-11-23T09:00` for 明日の9時, and pick an hour for 明日の朝, but not another day.
"""

import re
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import date, datetime, timedelta
from typing import Final
from zoneinfo import ZoneInfo

from cc_bot.domain.errors import InputError
from cc_bot.domain.when.grammar import MINUTES_PER_DAY, NOON, ClockTime, TimeWords, find_times
from cc_bot.domain.when.repeats import anchor_interval, is_hour_based, next_time
from cc_bot.domain.when.resolve import add_months, day_choices, named_year, resolve_moments, resolve_repeats

_MAX_LENGTH: Final = 1500
_LEAD_TIME: Final = re.compile(r"\s?(?:前|before\b|early\b|earlier\b)")
_PART_OF_DAY_MINUTES: Final = 4 * 60
_SAME_MOMENT: Final = timedelta(minutes=2)
_COMPARED_TIMES: Final = 6


@dataclass(frozen=True, slots=True)
class MentionedTime:
    begin: int
    end: int
    written: str
    day_ranges: tuple[tuple[date, int], ...] = ()  # first day and number of days
    or_week_later: bool = False
    clocks: tuple[ClockTime, ...] = ()  # excludes parts of the day that have no usual time
    moment: datetime | None = None  # for a duration from now: `3時間後`
    is_lead_time: bool = False  # a duration before another time: `1時間前`
    repeat: str = ""  # Cron, without a time of day

    def fits_day(self, day: date) -> bool:
        ahead = [((day - first).days, count) for first, count in self.day_ranges]
        return any(
            0 <= days < count or (self.or_week_later and 7 <= days < 7 + count) for days, count in ahead
        )

    def includes(self, other: "MentionedTime") -> bool:
        """Return whether this may mean the day and time of day of another expression."""
        if self.written == other.written:
            return True
        if self.repeat != other.repeat:
            return False
        if other.moment:
            return self.moment is not None and abs(self.moment - other.moment) <= _SAME_MOMENT
        minutes = [clock.minute_of_day() or 0 for clock in other.clocks if clock.minute is not None]
        exact = [clock for clock in self.clocks if clock.minute is not None]
        return all(any(_fits(clock, minute) for clock in exact) for minute in minutes) and all(
            self.fits_day(first) for first, _ in other.day_ranges
        )


def _fits(clock: ClockTime, minute: int) -> bool:
    apart = abs(minute - (clock.minute_of_day() or 0) % MINUTES_PER_DAY)
    if clock.minute is None:
        return apart <= _PART_OF_DAY_MINUTES
    return apart == 0 or (apart == NOON and clock.is_12_hour and not clock.part)


def find_mentioned(written: str, now: datetime, zone: ZoneInfo) -> list[MentionedTime]:
    if len(written) > _MAX_LENGTH:
        return []
    found = list[MentionedTime]()
    for begin, end, words in find_times(written):
        is_lead_time = _LEAD_TIME.match(written, end) is not None
        mentioned = MentionedTime(begin, end, written[begin:end], is_lead_time=is_lead_time)
        with suppress(InputError, ValueError, OverflowError):
            mentioned = _add_meaning(mentioned, words, now, zone)
        found.append(mentioned)
    return found


def _add_meaning(mentioned: MentionedTime, words: TimeWords, now: datetime, zone: ZoneInfo) -> MentionedTime:
    moment, day_ranges = None, list[tuple[date, int]]()
    repeat = _repeat_without_time(words, now.astimezone(zone)) if words.is_repeated else ""
    if words.kinds & {"shift", "span"}:
        due = resolve_moments(words, now, zone)[0].moment
        day_ranges, moment = [(due.astimezone(zone).date(), 1)], due if words.shift[2] else None
    elif words.day_kinds and not repeat:
        day_ranges = _day_ranges(words, now.astimezone(zone).date())
    clocks = tuple(each for each in words.clocks if each.minute_of_day() is not None)
    return replace(
        mentioned,
        day_ranges=tuple(day_ranges),
        or_week_later="weekday" in words.kinds,
        clocks=clocks,
        moment=moment,
        repeat=repeat,
    )


def _day_ranges(words: TimeWords, today: date) -> list[tuple[date, int]]:
    if words.day_kinds == {"week"}:
        return [(today + timedelta(weeks=words.week or 0, days=-today.weekday()), 7)]
    if words.day_kinds == {"year"}:
        return [(date(named_year(words, today), 1, 1), 366)]
    if words.day_kinds <= {"month", "year"}:
        year, month = add_months(today, words.month or 0)
        if words.month_number:
            year = named_year(words, today) + ("year" not in words.kinds and words.month_number < today.month)
        return [(date(year, words.month_number or month, 1), 31)]
    return [(choice[0], 1) for choice in day_choices(words, today)]


def mentions_time(due: datetime, written: str, now: datetime, zone: ZoneInfo) -> bool:
    """Return whether a text mentions `due`, or a later time and how long before it `due` is."""
    mentioned = find_mentioned(written, now, zone)
    leads = [each.moment - now for each in mentioned if each.is_lead_time and each.moment]
    return any(_is_mentioned(due + lead, mentioned, now, zone) for lead in (timedelta(), *leads))


def _is_mentioned(due: datetime, mentioned: Sequence[MentionedTime], now: datetime, zone: ZoneInfo) -> bool:
    local = due.astimezone(zone)
    days = [each for each in mentioned if each.day_ranges and not each.clocks]
    if any(
        each.moment and not each.is_lead_time and abs(each.moment - due) <= _SAME_MOMENT for each in mentioned
    ):
        return True
    minute = local.hour * 60 + local.minute
    for one in mentioned:
        for clock in (each for each in one.clocks if _fits(each, minute)):
            day = local.date() - timedelta(days=(clock.minute_of_day() or 0) // MINUTES_PER_DAY)
            if any(each.fits_day(day) for each in ([one] if one.day_ranges else days)):
                return True
            if not (one.day_ranges or days) and due - now <= timedelta(days=1):
                return True
    named_clock = any(each.clocks for each in mentioned)
    return not named_clock and any(each.fits_day(local.date()) for each in days)


def mentions_day(day: date, written: str, now: datetime, zone: ZoneInfo) -> bool:
    return any(each.fits_day(day) for each in find_mentioned(written, now, zone))


def mentions_repeat(first: datetime, repeat: str, written: str, now: datetime, zone: ZoneInfo) -> bool:
    local = first.astimezone(zone)
    clocks = [clock for each in find_mentioned(written, now, zone) for clock in each.clocks]
    if clocks and not any(_fits(clock, local.hour * 60 + local.minute) for clock in clocks):
        return False
    found = [*find_times(written[:_MAX_LENGTH])]
    joined = find_times(" ".join(written[begin:end] for begin, end, _ in found))  # 日曜の夜って毎週
    days = {_repeat_without_time(words, local) for *_, words in (*found, *joined) if words.is_repeated}
    meant = {each if is_hour_based(each) else f"{local.minute} {local.hour} {each}" for each in days - {""}}
    return _first_times(first, repeat, zone) in [
        _first_times(first, anchor_interval(each, local.date()), zone) for each in meant
    ]


def _repeat_without_time(words: TimeWords, start: datetime) -> str:
    """Return the repeat; "" if it is invalid."""
    try:
        [repeat] = resolve_repeats(replace(words, clocks=[]), start)
    except InputError:
        return ""
    return repeat if is_hour_based(repeat) else repeat.split(maxsplit=2)[2]


def _first_times(first: datetime, repeat: str, zone: ZoneInfo) -> list[datetime]:
    found = [first - timedelta(seconds=1)]
    while len(found) <= _COMPARED_TIMES and (following := next_time(repeat, found[-1], zone)):
        found.append(following)
    return found
