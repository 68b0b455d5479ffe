"""Until when a memory holds, as a person writes it: a day, to its end, or a time of one.

Whatever tells a reminder when to come tells this as well (when.py), and how long from now.
"""

import re
from datetime import UTC, date, datetime, time, timedelta, tzinfo
from typing import Final
from zoneinfo import ZoneInfo

from cc_bot.domain.errors import EndNotUnderstood, EndPassed, NoSuchTime, WhenNotUnderstood, WhenPassed
from cc_bot.domain.when import LONGEST, read_when
from cc_bot.domain.when_spelling import normalized

_DAY: Final = re.compile(r"(\d{4})\s?[-/.年]\s?(\d{1,2})\s?[-/.月]\s?(\d{1,2})\s?日?")
_UNTIL: Final = re.compile(r"^(?:until|till|by|for)\s|(?<!\s)\s*+まで(?:に|は|有効)?$")
_WHOLE: Final = (
    (re.compile(r"(今月|来月|再来月)(?:中|いっぱい|の?終わり|の?最後)"), r"\1末"),
    (re.compile(r"(今週|来週|再来週)(?:中|いっぱい|末|の?終わり|の?最後)"), r"\1の日曜"),
    (re.compile(r"(今年|来年|再来年)(?:中|いっぱい|末|の?終わり|の?最後)"), r"\1の12月31日"),
    (re.compile(r"年内|年末"), "12月31日"),
)
"""A week, month or year to its end."""
_TODAY: Final = re.compile(r"(?:今日|本日|きょう)(?:中|いっぱい)?|(?:the end of )?today")


def parse_end(text: str | None, now: datetime, zone: ZoneInfo) -> datetime | None:
    """The moment (UTC) at which what is named ends where the user is: that of the day, or the time itself
    where one is named; None when nothing is written.

    Raises EndNotUnderstood, EndPassed, NoSuchTime or WhenTooFar.
    """
    if text is None or not text.strip():
        return None
    if len(text) > LONGEST:
        raise EndNotUnderstood
    end = _end(_UNTIL.sub("", normalized(text)).strip(), now, zone)
    if end <= now:
        raise EndPassed
    return end


def _end(written: str, now: datetime, zone: ZoneInfo) -> datetime:
    if found := _DAY.fullmatch(written):
        return _end_of(_date(int(found[1]), int(found[2]), int(found[3])), zone)
    if _TODAY.fullmatch(written):
        return _end_of(now.astimezone(zone).date(), zone)
    for pattern, last in _WHOLE:
        if found := pattern.fullmatch(written):
            written = found.expand(last)
    for words in (written, f"{written}後", f"in {written}"):  # 1週間, 3 months
        try:
            return _read(words, now, zone)
        except NoSuchTime:
            raise
        except WhenNotUnderstood:
            continue
        except WhenPassed as error:
            raise EndPassed from error
    raise EndNotUnderstood


def _read(written: str, now: datetime, zone: ZoneInfo) -> datetime:
    """A day that is named on that very day is not over yet."""
    midnight = datetime.combine(now.astimezone(zone).date(), time(), zone)
    meant = read_when(written, midnight, zone)
    if meant.timed:
        return read_when(written, now, zone).moment
    return _end_of(meant.moment.astimezone(zone).date(), zone)


def _date(year: int, month: int, day: int) -> date:
    try:
        return date(year, month, day)
    except ValueError as error:
        raise NoSuchTime from error


def _end_of(day: date, zone: ZoneInfo) -> datetime:
    try:
        return datetime.combine(day + timedelta(days=1), time(), zone).astimezone(UTC)
    except OverflowError as error:
        raise EndNotUnderstood from error


def write_end(expires_at: datetime | None, zone: tzinfo) -> str:
    """The last day on which something holds, as `parse_end` reads it; empty when it has no end."""
    if expires_at is None:
        return ""
    return (expires_at.astimezone(zone) - timedelta(microseconds=1)).date().isoformat()
