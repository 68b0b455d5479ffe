"""The times that a message speaks of, wherever in it, and whether a date or a time is one of them.

A model writes `2026-11-23T09:00` for 明日の9時 and picks an hour for 明日の朝. Both are meant; another day
is not.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import date, datetime, timedelta
from typing import Final
from zoneinfo import ZoneInfo

from cc_bot.domain.errors import InputError
from cc_bot.domain.repeats import next_time, parse_schedules
from cc_bot.domain.when_words import MONTH_EN, TimeWords, as_delay, month_of, read

_MAX_PHRASE: Final = 40
_MAX_TRIES: Final = 150
_TIME_RUN: Final = re.compile(
    r"(?:2morr?ow?\b|\d{1,2}(?:st|nd|rd|th|am|pm)\b|[\d:./~〜年月日時分秒週間半後前今明昨翌来先去再毎隔平曜火水木金土朝昼夕夜晩正午深早頃末第次度大晦元祝最終初]"
    r"|から|おき|ごと|ごろ|くらい|あさって|あした|きょう|たったら|したら|経ったら|なったら|[のにと、]"
    r"|\b(?:at|on|in|the|of|next|this|every|each|other|daily|weekly|monthly|yearly|today|yesterday|tonight|tomorrow|tmrw?"
    r"|day|after|an?|half|hours?|minutes?|mins?|days?|weeks?|months?|years?|weekdays?|weekends?|noon|midday|midnight"
    r"|morning|afternoon|evening|night|new|eve|past|quarter|to|from|now|starting|first|second|third|fourth|last|and"
    r"|(?:mon|tues|wednes|thurs|fri|satur|sun)days?|(?:mon|tue|wed|thu|fri|sat|sun)|years"
    r"|(?:jan|febr)uary|march|april|may|june|july|august|(?:septem|octo|novem|decem)ber"
    r"|(?:jan|feb|mar|apr|jun|jul|aug|sept?|oct|nov|dec)|o'clock|two|three|four|five|six|seven|eight|nine|ten)\b"
    r"|[ap]\.?m\b|[ ,'])++"
)
_EDGE: Final = re.compile(r"^[\s、,のにと]+|[\s、,のとに]+$")
_CLOCK: Final = re.compile(
    r"\d\s*時(?!間)|\d:\d|\d\s?[ap]\.?m|\bat \d|noon|midday|midnight|正午|o'clock|half past|quarter"
)
_MONTH: Final = re.compile(
    rf"(?:in )?(?:(?P<year>\d{{4}})年)?(?:(?P<month>\d{{1,2}})月|(?P<name>{MONTH_EN}))"
)
_HALF_DAY: Final = re.compile(r"[ap]\.?m\b|午前|午後|[朝昼夕夜晩]|morning|noon|evening|night|\d:\d")
_AMBIGUOUS: Final = re.compile(r"来週|次の|今度の|週末|next|this|coming")
_PART_MINUTES: Final = 4 * 60
_NEAR: Final = timedelta(minutes=2)
_FIRINGS: Final = 6


@dataclass(frozen=True, slots=True)
class MentionedTime:
    """A time that words may mean, where the asker is."""

    begin: int
    """The place of its words in the text, and of the first one after them."""
    end: int
    moment: datetime
    days: int = 1
    """How many days from that on may be meant: a week, a month."""
    dated: bool = True
    """Whether its words name a day."""
    clocked: bool = True
    """Whether they name a time of day."""
    part: bool = False
    """Whether they name a part of the day: morning."""
    spoken: bool = False
    """Whether the hour may be of the morning or of the afternoon."""
    again: bool = False
    """Whether a week later may be meant: next Monday."""
    exact: bool = False
    """Whether it is so much later than now."""
    repeat: str = ""

    def fits_day(self, day: date) -> bool:
        ahead = (day - self.moment.date()).days
        return 0 <= ahead < self.days or (self.again and 0 <= ahead - 7 < self.days)

    def fits_clock(self, moment: datetime) -> bool:
        minutes = abs(_minute(moment) - _minute(self.moment))
        if self.clocked:
            return minutes == 0 or (self.spoken and minutes == 12 * 60)
        return not self.part or minutes <= _PART_MINUTES

    def has_rhythm(self, first: datetime, repeat: str, zone: ZoneInfo) -> bool:
        """Return whether what repeats so comes on the days that are meant, and at the time of day if one is
        named."""
        meant = [each for each in _firings(self.moment, self.repeat, zone) if each.date() >= first.date()]
        pairs = list(zip(_firings(first, repeat, zone), meant, strict=False))
        return len(pairs) > 2 and all(
            mine.date() == theirs.date() and (not self.clocked or self.fits_clock(mine))
            for mine, theirs in pairs
        )


def _minute(moment: datetime) -> int:
    return moment.hour * 60 + moment.minute


def find_times(written: str, now: datetime, zone: ZoneInfo) -> list[MentionedTime]:
    """Find the times that a text as `normalize` left it speaks of, the longest words first."""
    found, tries = list[MentionedTime](), 0
    for run in _TIME_RUN.finditer(written):
        begin = run.start()
        while begin < run.end() and tries < _MAX_TRIES:
            past = begin + 1
            for end in range(min(run.end(), begin + _MAX_PHRASE), begin, -1):
                phrase = _EDGE.sub("", written[begin:end])
                if not phrase or not written.startswith(phrase, begin) or _is_inside(written, end):
                    continue
                if _BEGINS_A_WORD.search(phrase):
                    continue
                tries += 1
                if meant := _means(phrase, now, zone):
                    past = begin + len(phrase)
                    found += (replace(each, begin=begin, end=past) for each in meant)
                    break
            begin = past
            while begin < run.end() and _is_inside(written, begin):
                begin += 1
    return found


_BEGINS_A_WORD: Final = re.compile(r"[に時分半朝昼夕夜晩][月火水木金土日]$")
"""`毎朝7時に水`やり: no weekday comes after a time of day without 曜."""


def _is_inside(written: str, at: int) -> bool:
    """Return whether a place is within a number or a word of letters."""
    if at >= len(written):
        return False
    before, after = written[at - 1], written[at]
    return (before.isdigit() and after.isdigit()) or (
        before.isascii() and after.isascii() and before.isalnum() and after.isalnum()
    )


_WEEK: Final = 7
_DAYS_BACK: Final = {
    "今日": 0,
    "本日": 0,
    "きょう": 0,
    "today": 0,
    "昨日": 1,
    "きのう": 1,
    "yesterday": 1,
} | dict.fromkeys(("先週", "last week"), _WEEK)
"""What a reminder can not be for."""


def _means(phrase: str, now: datetime, zone: ZoneInfo) -> list[MentionedTime]:
    local = now.astimezone(zone)
    if (back := _DAYS_BACK.get(phrase)) is not None:
        first = local - timedelta(days=back + (local.weekday() if back == _WEEK else 0))
        return [MentionedTime(0, 0, first, days=_WEEK if back == _WEEK else 1, clocked=False)]
    if month := _MONTH.fullmatch(phrase):
        number = month_of(month["name"]) if month["name"] else int(month["month"])
        year = int(month["year"] or local.year + (number < local.month))
        with suppress(ValueError):
            return [MentionedTime(0, 0, datetime(year, number, 1, tzinfo=zone), days=31, clocked=False)]
        return []
    for words in filter(None, (phrase, as_delay(phrase))):
        with suppress(InputError):
            planned = parse_schedules(words, "", now, zone)
            return [_meant(words, due.astimezone(zone), repeat) for due, repeat in planned]
    return []


def _meant(words: str, due: datetime, repeat: str) -> MentionedTime:
    clocked, again = bool(_CLOCK.search(words)), bool(_AMBIGUOUS.search(words))
    if repeat:
        spoken = clocked and not _HALF_DAY.search(words)
        return MentionedTime(0, 0, due, clocked=clocked, spoken=spoken, again=again, repeat=repeat)
    try:
        said = read(words)
    except InputError:
        return MentionedTime(0, 0, due, again=again)
    dated = bool(said.seen - {"clock", "part"})
    exact = said.shift is not None and bool(said.shift[2])
    clocked = "clock" in said.seen or exact
    days, first = _range(said, due)
    return MentionedTime(
        0,
        0,
        first,
        days,
        dated or exact,
        clocked,
        bool(said.part),
        said.spoken and not said.part,
        again,
        exact,
    )


def _range(said: TimeWords, due: datetime) -> tuple[int, datetime]:
    """Return how many days are meant, and the first of them: of `next week` any day."""
    named = said.seen - {"clock", "part"}
    if named == {"week"}:
        return 7, due - timedelta(days=due.weekday())
    if named == {"month"}:
        return 31, due.replace(day=1)
    return (366, due.replace(month=1, day=1)) if named == {"year"} else (1, due)


_LEAD: Final = re.compile(r"(\d{1,3})\s?(?:(分|min)|(?:時間|hour))[a-z]*(?:前| before| early| earlier)")


def find_leads(written: str) -> Iterator[timedelta]:
    """Yield how long before a time a text says: `10分前`, `2 hours before`."""
    for number, minutes in _LEAD.findall(written):
        yield timedelta(minutes=int(number)) if minutes else timedelta(hours=int(number))


def is_meant(moment: datetime, times: Sequence[MentionedTime]) -> bool:
    """Return whether one of the times is meant, or the day of one and the time of day of another."""
    clocks = [each for each in times if each.clocked]
    for each in times:
        if each.exact:
            if abs(each.moment - moment) <= _NEAR:
                return True
        elif each.fits_day(moment.date()) and (each.clocked or not clocks) and each.fits_clock(moment):
            return True
    return any(
        day.fits_day(moment.date()) and clock.fits_clock(moment)
        for day in times
        for clock in clocks
        if day.dated and not (day.exact or clock.exact or (day.clocked and clock.dated))
    )


def _firings(first: datetime, repeat: str, zone: ZoneInfo) -> list[datetime]:
    found = [first]
    while len(found) < _FIRINGS and (following := next_time(repeat, found[-1], zone)):
        found.append(following.astimezone(zone))
    return found


# ---- dates in a text -------------------------------------------------------------------------------------
# A model writes the dates of relative times, as it is told to: each is compared with what the words mean.

_WRITTEN_TIME: Final = re.compile(
    r"(?P<y>\d{4})[-/年]\s?(?P<m>\d{1,2})(?:[-/月]\s?(?P<d>\d{1,2})日?|月)?(?:\s?\([月火水木金土日a-z]+\))?"
    r"|(?P<m2>\d{1,2})月(?P<d2>\d{1,2})日(?:\s?\([月火水木金土日]\))?"
    r"|(?P<year>\d{4})年(?!前|後|間)"
)
_WRITTEN_CLOCK: Final = re.compile(
    r"(?P<h>\d{1,2}):(?P<min>\d{2})|(?P<h2>\d{1,2})時(?:(?P<min2>\d{1,2})分|(?P<half>半))?(?!間)"
)
_WRITTEN_EN: Final = re.compile(
    rf"(?P<name>{MONTH_EN})(?:\s(?P<d3>\d{{1,2}})(?:st|nd|rd|th)?(?!\d))?(?:,?\s(?P<y3>\d{{4}}))?"
)


def find_dates(
    written: str, times: Sequence[MentionedTime]
) -> Iterator[tuple[int, int, tuple[MentionedTime, ...]]]:
    """Yield where a text names a date or a time of day by its number, with the times that it may be."""
    for pattern in (_WRITTEN_TIME, _WRITTEN_CLOCK, _WRITTEN_EN):
        for match in pattern.finditer(written):
            if fitting := tuple(each for each in times if _is_number_of(each, match.groupdict())):
                yield match.start(), match.end(), fitting


def _is_number_of(meant: MentionedTime, found: Mapping[str, str | None]) -> bool:
    if hour := found.get("h") or found.get("h2"):
        minute = 30 if found.get("half") else int(found.get("min") or found.get("min2") or 0)
        if int(hour) > 23 or minute > 59:
            return False
        return meant.clocked and meant.fits_clock(meant.moment.replace(hour=int(hour), minute=minute))
    name = found.get("name")
    year = found.get("y") or found.get("year") or found.get("y3")
    month = month_of(name) if name else int(found.get("m") or found.get("m2") or 0)
    day = found.get("d") or found.get("d2") or found.get("d3")
    first = meant.moment.date()
    candidates = (
        first + timedelta(days=ahead + late)
        for late in ((0, 7) if meant.again else (0,))
        for ahead in range(meant.days)
    )
    return meant.dated and any(
        (not year or each.year == int(year))
        and (not month or each.month == month)
        and (not day or each.day == int(day))
        for each in candidates
    )
