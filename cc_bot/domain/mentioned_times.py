"""The times that a message speaks of, wherever in it, and whether a date or a time is one of them.

A model writes `2026-11-23T09:00` for 明日の9時 and picks an hour for 明日の朝. Both are meant; another day
is not.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from typing import Final
from zoneinfo import ZoneInfo

from cc_bot.domain.errors import InputError
from cc_bot.domain.repeats import next_time, repeats_among
from cc_bot.domain.when import candidate_days, parse_when
from cc_bot.domain.when_words import (
    MIDNIGHT,
    MONTH_EN,
    NOON,
    USUAL_MINUTE,
    TimeWords,
    as_delay,
    find_spans,
    find_times,
    month_of,
)

_MAX_LENGTH: Final = 1500
_MONTH: Final = re.compile(
    r"(?:(?P<year>\d{4})年)?(?P<month>\d{1,2})月(?!\d)"
    rf"|(?P<name>{MONTH_EN})(?:,? (?P<year_en>\d{{4}})\b)?"
)
_BEFORE: Final = re.compile(r"\s?(?:前|before\b|early\b|earlier\b)")
_PART_MINUTES: Final = 4 * 60
_NEAR: Final = timedelta(minutes=2)
_COMPARED_TIMES: Final = 6
_RANGES: Final = {"week": 7, "month": 31, "year": 366}


@dataclass(frozen=True, slots=True)
class MentionedTime:
    """Words about a time in a text, and what they may mean where the asker is."""

    begin: int
    end: int
    written: str
    first: date | None = None
    days: int = 1
    """How many days from the first one on may be meant: a week, a month."""
    or_week_later: bool = False
    minute: int | None = None
    """On the clock; beyond MIDNIGHT it is the next day's."""
    part_minute: int | None = None
    """The usual minute of a part of the day that is named alone."""
    either_half: bool = False
    """Whether the hour may be of the morning or of the afternoon."""
    moment: datetime | None = None
    """So much later than now."""
    before: bool = False
    """Whether it is so long before another time."""

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
        """Return whether this may mean the day and the time of day that other words name."""
        if self.written == other.written:
            return True
        if other.moment:
            return self.moment is not None and abs(self.moment - other.moment) <= _NEAR
        if other.minute is not None and (self.minute is None or not self.fits_minute(other.minute)):
            return False
        return other.first is None or self.fits_day(other.first)


def find(written: str, now: datetime, zone: ZoneInfo) -> list[MentionedTime]:
    """Find the times that a text, as `normalize` left it, speaks of, in their order."""
    if len(written) > _MAX_LENGTH:
        return []
    found = [_meant(begin, written[begin:end], said, now, zone) for begin, end, said in find_times(written)]
    for each in (*_months(written, now.astimezone(zone).date()), *_delays(written, now, zone)):
        if all(each.end <= other.begin or other.end <= each.begin for other in found):
            found.append(each)
    return sorted(found, key=lambda each: each.begin)


def _meant(begin: int, written: str, said: TimeWords, now: datetime, zone: ZoneInfo) -> MentionedTime:
    named, days, moment = said.seen - {"clock", "part"}, 1, None
    first: date | None = None
    try:
        if said.shift:
            due = parse_when(written, now, zone)
            first, moment = due.astimezone(zone).date(), due if said.shift[2] else None
        elif named:
            first = next(candidate_days(said, now.astimezone(zone).date()), None)
    except (InputError, ValueError, OverflowError):
        return MentionedTime(begin, begin + len(written), written)
    if first and len(named) == 1 and (days := _RANGES.get(min(named), 1)) > 1:
        first -= timedelta(days=first.weekday() if days == 7 else first.day - 1)
    return MentionedTime(
        begin,
        begin + len(written),
        written,
        first,
        days,
        or_week_later="weekday" in named,
        minute=said.minute_of_day() if said.minute is not None and not said.as_now else None,
        part_minute=USUAL_MINUTE.get(said.part) if said.minute is None else None,
        either_half=said.spoken and not said.part,
        moment=moment,
    )


def _months(written: str, today: date) -> Iterator[MentionedTime]:
    for match in _MONTH.finditer(written):
        number = month_of(match["name"]) if match["name"] else int(match["month"])
        year = int(match["year"] or match["year_en"] or today.year + (number < today.month))
        if 1 <= number <= 12 and year:
            yield MentionedTime(*match.span(), match[0], date(year, number, 1), days=31)


def _delays(written: str, now: datetime, zone: ZoneInfo) -> Iterator[MentionedTime]:
    """Yield the amounts of time that stand alone, as in カップ麺、3分, or before something."""
    for begin, end in find_spans(written):
        if delay := as_delay(written[begin:end]):
            moment, before = parse_when(delay, now, zone), _BEFORE.match(written, end) is not None
            yield MentionedTime(begin, end, written[begin:end], moment=moment, before=before)


def is_meant(due: datetime, written: str, now: datetime, zone: ZoneInfo) -> bool:
    """Return whether a text speaks of this moment, or of one that this is so long before as it says: of a day
    and a time of day, be they apart."""
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
    """Return whether a text speaks of what repeats so, first at this moment."""
    local = first.astimezone(zone)
    clocks = [each for each in find(written, now, zone) if each.names_clock]
    if clocks and not any(each.fits_minute(local.hour * 60 + local.minute) for each in clocks):
        return False
    repeats = repeats_among(written[:_MAX_LENGTH], local)
    return _times(first, repeat, zone) in [_times(first, each, zone) for each in repeats]


def _times(first: datetime, repeat: str, zone: ZoneInfo) -> list[datetime]:
    """Return the first times of a repeat, from a moment on that is one of them."""
    found = [first - timedelta(seconds=1)]
    while len(found) <= _COMPARED_TIMES and (following := next_time(repeat, found[-1], zone)):
        found.append(following)
    return found
