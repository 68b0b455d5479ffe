"""The words with which people say when, in Japanese and English: what each of them tells.

A text is read from left to right, one word or group of words at a time; what is none of them is not
understood, so that nothing is overlooked.
"""

import re
import unicodedata
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Final, Literal

from cc_bot.domain.errors import NoSuchTime, WhenNotUnderstood
from cc_bot.domain.holidays import NAMED_DAY
from cc_bot.domain.text import in_digits

# ---- when amounts ----------------------------------------------------------------------------------------
# So much time, in Japanese and English: `1時間半`, `3日`, `an hour and 30 minutes`.

_NUMBER_WORDS: Final = ("two", "three", "four", "five", "six", "seven", "eight", "nine", "ten")
_COUNTS: Final = {"a": 1.0, "an": 1.0, "one": 1.0, "half an": 0.5, "half a": 0.5, "半": 0.5} | {
    word: float(number) for number, word in enumerate(_NUMBER_WORDS, 2)
}
_UNITS: Final[tuple[tuple[str, Literal["months", "days", "seconds"], int], ...]] = (
    *(("時間", "seconds", 3600), ("分", "seconds", 60), ("秒", "seconds", 1)),
    *(("日", "days", 1), ("週", "days", 7), ("か月", "months", 1), ("年", "months", 12)),
    *(("mo", "months", 1), ("h", "seconds", 3600), ("m", "seconds", 60), ("s", "seconds", 1)),
    ("fortnight", "days", 14),
    *(("d", "days", 1), ("w", "days", 7), ("y", "months", 12)),
)
"""How a unit begins; the first that fits."""
_IN_WORDS: Final = rf"half an?|an?(?=\s)|one|{'|'.join(_NUMBER_WORDS)}"
_UNIT_JA: Final = r"(?:時間半|時間|分半|分|秒|日|週間|か月|年)"
_UNIT_EN: Final = (
    r"(?:hours?|hrs?|h|minutes?|mins?|months?|m|seconds?|secs?|s|days?|d|fortnights?|weeks?|w|years?|y)"
    r"(?![a-z])"
)
_HALF_EN: Final = r"(?: and a half)?"
_ONE_EN: Final = rf"(?:\d{{1,4}}(?:\.\d)?|{_IN_WORDS}){_HALF_EN}\s?{_UNIT_EN}{_HALF_EN}"
_ONE: Final = re.compile(
    rf"((?<!\d)\d++(?:\.\d)?|半|{_IN_WORDS})({_HALF_EN})\s?({_UNIT_JA}|{_UNIT_EN})({_HALF_EN})"
)

# What stands between two amounts is taken in one way alone, and nobody names more than a few: where a text
# goes on like that and is no time after all, there is nothing else to try.
SPAN_JA: Final = rf"(?P<span>(?:(?:\d{{1,4}}(?:\.\d)?|半)\s?{_UNIT_JA}(?>\s?と\s?|\s{{0,2}})){{1,8}})"
SPAN_EN: Final = rf"(?P<span>{_ONE_EN}(?:(?>(?:,|\s|and){{0,6}}){_ONE_EN}){{0,7}})"
_DELAY: Final = re.compile(rf"{SPAN_JA}|{SPAN_EN.replace('<span>', '<span_en>')}")


def as_delay(written: str) -> str | None:
    """`10分`, `1h30m`, as all that is said (normalized) of when: so much later. None for all else, and for
    days and more: `10日` is a date."""
    if not (match := _DELAY.fullmatch(written)):
        return None
    months, days, seconds = amounts(written)
    if months or days or not seconds:
        return None
    return f"{written}後" if match["span"] else f"in {written}"


def find_spans(written: str) -> Iterator[tuple[int, int]]:
    """Yield where a text, as `normalize` left it, has an amount of time: `10分`, `1h30m`."""
    return (match.span() for match in _DELAY.finditer(written) if not _is_inside_word(written, match.start()))


def amounts(span: str) -> tuple[int, int, int]:
    """Months, days and seconds. Raises WhenNotUnderstood for parts of a day or month: how long are they?"""
    total = {"months": 0.0, "days": 0.0, "seconds": 0.0}
    for amount, half, unit, half_more in _ONE.findall(span):
        count = _COUNTS[amount] if amount in _COUNTS else float(amount)
        kind, size = next((kind, size) for start, kind, size in _UNITS if unit.startswith(start))
        total[kind] += (count + 0.5 * bool(half or half_more or unit.endswith("半"))) * size
    if total["months"] % 1 or total["days"] % 1:
        raise WhenNotUnderstood
    return int(total["months"]), int(total["days"]), round(total["seconds"])


# ---- when spelling ---------------------------------------------------------------------------------------
# One spelling for what tells a time: `十分後` is `10分後`, `six pm` is `6 pm`, and `令和8年` is `2026年`.

_NUMERALS: Final = re.compile(
    r"(?<![〇零一二三四五六七八九十])(?:[〇零一二三四五六七八九]?十[〇零一二三四五六七八九]?|[〇零一二三四五六七八九]++)"
    r"(?=[時分秒日月週年か回度])"
)
"""Those that are a number, looked for once in each run: 十十時 stays as it is, which nobody understands."""
_MONTHS_LONG: Final = re.compile(r"(?<=[\d〇一二三四五六七八九十])\s?[かヶケヵカ個箇]月")
_NTH: Final = re.compile(r"(?<=第)[一二三四五](?![十一二三四五六七八九])")
ERAS: Final = {"令和": 2018, "平成": 1988, "昭和": 1925}
"""The year before the first of each."""
_ERA_YEAR: Final = re.compile(rf"(?P<era>{'|'.join(ERAS)})\s?(?P<reign>\d{{1,2}}|元)年")
_HOURS: Final = (
    *("one", "two", "three", "four", "five", "six"),
    *("seven", "eight", "nine", "ten", "eleven", "twelve"),
)
_HOUR_IN_WORDS: Final = re.compile(
    rf"\b(?:(?:{'|'.join(_HOURS)})(?= ?[ap]\.?m\b| o'clock\b)"
    rf"|(?:(?<=half past )|(?<=quarter past )|(?<=quarter to ))(?:{'|'.join(_HOURS)})\b)"
)


def normalize(text: str) -> str:
    """Write a text in one form: half width, small letters, digits."""
    plain = unicodedata.normalize("NFKC", text).casefold().strip()
    plain = _MONTHS_LONG.sub("か月", plain)
    plain = _NTH.sub(lambda match: in_digits(match[0]), plain)
    plain = _HOUR_IN_WORDS.sub(lambda match: str(_HOURS.index(match[0]) + 1), plain)
    plain = _NUMERALS.sub(lambda match: in_digits(match[0]), plain.replace("’", "'"))
    return _ERA_YEAR.sub(lambda match: f"{year_of(match['era'], match['reign'])}年", plain)


def year_of(era: str, reign: str) -> int:
    """The year of a reign, which counts from 元: 令和8年 is 2026."""
    return ERAS[era] + (1 if reign == "元" else int(reign))


# ---- when words ------------------------------------------------------------------------------------------

Part = Literal["", "am", "pm", "morning", "noon", "afternoon", "evening", "night", "late", "small_hours"]
USUAL_MINUTE: Final[dict[Part, int]] = {
    "morning": 8 * 60,
    "noon": 12 * 60,
    "pm": 15 * 60,
    "afternoon": 15 * 60,
    "evening": 18 * 60,
    "night": 20 * 60,
}
"""Minutes after midnight, where no hour is named."""
NOON: Final = 12 * 60
MIDNIGHT: Final = 24 * 60
SMALL_HOURS: Final = 5 * 60
"""Until then it is night."""

_VAGUE: Final = re.compile(
    r"(?:その|近い)うち|いつか|いつでも|(?:また)?(?:あと|後|のちほど|後ほど|今度)で?|暇な(?:とき|時)|適当に?"
    r"|(?:much |a bit )?later|soon|some ?(?:time|day)|one day|eventually|whenever"
)
_LONGEST_VAGUE: Final = 30
_WEEKDAYS: Final = "月火水木金土日"
_WEEKDAYS_EN: Final = ("mon", "tue", "wed", "thu", "fri", "sat", "sun")
_MONTHS_EN: Final = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
WEEKDAY_EN: Final = r"(?:mon|tues?|wed(?:nes)?|thu(?:rs?)?|fri|sat(?:ur)?|sun)(?:days?)?\b\.?"
_ONE_WEEKDAY_EN: Final = WEEKDAY_EN.replace("days?", "day")
"""`on mondays` is each of them."""
MONTH_EN: Final = (
    r"(?:jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?|aug(?:ust)?|sept?(?:ember)?"
    r"|oct(?:ober)?|nov(?:ember)?|dec(?:ember)?)\b\.?"
)


@dataclass(slots=True)
class TimeWords:
    """The words of a text about a time, as far as they were read."""

    days: int | None = None
    """From today on."""
    date: tuple[int | None, int | None, int] | None = None
    """Year, month, day; None: the one to come. Day 0 is the month's last."""
    named: str = ""
    """A day with a name, such as 成人の日; `year_named` or `year` may tell of which year."""
    year_named: int | None = None
    nth: tuple[int, int] | None = None
    """Which weekday of a month: 2 and 0 for the second Monday; 0 for its last one."""
    weekday: int | None = None
    strictly: bool = False
    """Whether that weekday is not today."""
    week: int | None = None
    """From this one on, which began on Monday."""
    month: int | None = None
    year: int | None = None
    """Likewise from this one on."""
    shift: tuple[int, int, int] | None = None
    """Months, days and seconds from now on."""
    part: Part = ""
    minute: int | None = None
    """On the clock, after midnight; beyond MIDNIGHT it is the next day's. As it was said: `part` counts."""
    exact: bool = False
    """Whether `part` does not count: noon, 9pm."""
    as_now: bool = False
    """Whether the hour is that of now: 今頃, at this time."""
    spoken: bool = False
    """Whether it is an hour as people say it, perhaps of the afternoon: `3時`, `at 3:30`; not `3:00`."""
    seen: set[str] = field(default_factory=set)

    def minute_of_day(self) -> int | None:
        """Return the minute, with the part of the day; None where neither is said."""
        if self.minute is None:
            return USUAL_MINUTE.get(self.part)
        if self.exact:
            return self.minute + MIDNIGHT * (self.part == "night" and self.minute < SMALL_HOURS)
        return _within(self.minute, self.part)

    def minute_of_some_day(self) -> int | None:
        """Return the minute on a day that is not today: `明日の3時` is in the afternoon; at night one says
        so."""
        minute = self.minute_of_day()
        return minute if minute is None or not self.in_doubt(SMALL_HOURS) else minute + NOON

    def in_doubt(self, until: int) -> bool:
        """Return whether an hour that is said before this minute may be one of the afternoon."""
        return self.spoken and not self.part and self.minute is not None and 45 <= self.minute < until


def read(text: str) -> TimeWords:
    """Read what a text says, as `normalize` left it. Raises WhenNotUnderstood."""
    said, end = _read_from(text, 0)
    if end < len(text):
        raise WhenNotUnderstood
    return said


def find_times(text: str) -> Iterator[tuple[int, int, TimeWords]]:
    """Yield where a text, as `normalize` left it, has words about a time, and what they say."""
    begin = 0
    while begin < len(text):
        said, end = TimeWords(), begin
        if not (_is_inside_word(text, begin) or _FILLER.match(text, begin)):
            with suppress(WhenNotUnderstood):
                said, end = _read_from(text, begin)
        if said.seen and not _is_inside_word(text, end):
            yield begin, end, said
            begin = end
        else:
            begin += 1


def _is_inside_word(text: str, at: int) -> bool:
    """Return whether a place is within a number or a word of letters."""
    around = text[max(at - 1, 0) : at + 1]
    return len(around) == 2 and around.isascii() and (around.isalpha() or around.isdigit())


def _read_from(text: str, place: int) -> tuple[TimeWords, int]:
    """Read as far as words about one time go on: two times are none."""
    said = TimeWords()
    end = place
    while place < len(text):
        if filler := _FILLER.match(text, place):
            place = filler.end()
            end = place if place == len(text) else end
            continue
        for name, pattern, take in _WORDS:
            if match := pattern.match(text, place):
                if name in said.seen:
                    return said, end
                said.seen.add(name)
                take(said, match)
                end = place = match.end()
                break
        else:
            break
    return said, end


def is_vague(text: str) -> bool:
    """Return whether a text says no more than that it is not now: nobody can tell when that is, no model
    either."""
    return len(text) <= _LONGEST_VAGUE and _VAGUE.fullmatch(normalize(text).removesuffix("に")) is not None


def weekday_of(name: str) -> int:
    """0: Monday."""
    return _WEEKDAYS.index(name[0]) if name[0] in _WEEKDAYS else _WEEKDAYS_EN.index(name[:3])


def month_of(name: str) -> int:
    return _MONTHS_EN.index(name[:3]) + 1


def _within(minute: int, part: Part) -> int:
    """The minute of the day that is meant by one of a clock with twelve hours."""
    hour = minute // 60
    match part:
        case "am" | "pm" if hour == 12:
            raise WhenNotUnderstood  # is that noon, or midnight?
        case "pm" | "afternoon" | "evening" if hour < 12:
            return minute + 12 * 60
        case "noon" if hour < 6:
            return minute + 12 * 60
        case "night" if minute < SMALL_HOURS:
            return minute + MIDNIGHT
        case "night" | "late" | "small_hours" if 5 < hour <= 12:
            return minute + 12 * 60
        case _:
            return minute


# ---- what a word tells -----------------------------------------------------------------------------------

_Take = Callable[[TimeWords, re.Match[str]], None]


def _day(days: int, part: Part = "") -> _Take:
    def take(said: TimeWords, _: re.Match[str]) -> None:
        said.days, said.part = days, part or said.part

    return take


def _part(part: Part) -> _Take:
    def take(said: TimeWords, _: re.Match[str]) -> None:
        said.part = part

    return take


def _fixed(minute: int) -> _Take:
    def take(said: TimeWords, _: re.Match[str]) -> None:
        said.minute, said.exact = minute, True

    return take


def _clock(said: TimeWords, match: re.Match[str]) -> None:
    """Read an hour with what may follow it."""
    found = match.groupdict()
    hour, minute = int(found["hour"]), int(found.get("minute") or (30 if found.get("half") else 0))
    if hour > 29 or minute > 59:
        raise NoSuchTime
    if found.get("before"):
        minute = -minute
    if half := (found.get("ampm") or "")[:1]:
        if not 1 <= hour <= 12:
            raise WhenNotUnderstood
        hour, said.exact = hour % 12 + (12 if half == "p" else 0), True
    written = re.search("[:.]", match[0]) and not match[0].startswith("at ")
    said.spoken = not (half or written or found["hour"].startswith("0"))
    said.minute = hour * 60 + minute


def _spoken_clock(said: TimeWords, match: re.Match[str]) -> None:
    _clock(said, match)
    said.minute = (said.minute or 0) + {"half past": 30, "quarter past": 15, "quarter to": -15}[match[1]]


def _date(said: TimeWords, match: re.Match[str]) -> None:
    found = match.groupdict()
    if not int(found["day"]):
        raise WhenNotUnderstood
    name = found.get("name")
    month = month_of(name) if name else int(found["month"]) if found.get("month") else None
    said.date = (int(found["year"]) if found.get("year") else None, month, int(found["day"]))


def _named_day(said: TimeWords, match: re.Match[str]) -> None:
    said.named = match["named"]
    said.year_named = int(match["year"]) if match["year"] else None


def _nth_weekday(said: TimeWords, match: re.Match[str]) -> None:
    which, found = match["nth"], match.groupdict()
    nth = int(which) if which.isdecimal() else NTH_WORDS[which]
    said.nth = (nth, weekday_of(match["weekday"]))
    name = found.get("name")
    month = month_of(name) if name else int(found["month"]) if found.get("month") else None
    said.date = (int(found["year"]) if found.get("year") else None, month, 0)


def _as_now(said: TimeWords, _: re.Match[str]) -> None:
    said.as_now = said.exact = True


def _last_day(said: TimeWords, _: re.Match[str]) -> None:
    said.date = (None, None, 0)


def _offset(name: Literal["week", "month", "year"]) -> _Take:
    def take(said: TimeWords, match: re.Match[str]) -> None:
        setattr(said, name, _STEPS[match[1].split()[0]])

    return take


_STEPS: Final = {"先": -1, "last": -1, "今": 0, "来": 1, "翌": 1, "再来": 2, "this": 0, "next": 1}


def _weekday(said: TimeWords, match: re.Match[str]) -> None:
    said.weekday = weekday_of(match["weekday"])
    match match.groupdict().get("which"):
        case "次の" | "今度の":
            said.strictly = True
        case "next":
            said.week = 1
        case _:
            pass


def _weekend(said: TimeWords, match: re.Match[str]) -> None:
    said.weekday = 5
    if match["week"] and match["week"] != "coming":
        said.week = _STEPS[match["week"]]


def _shift(said: TimeWords, match: re.Match[str]) -> None:
    said.shift = amounts(match["span"])


_DAYS: Final = (
    (r"一昨日|おととい", -2),
    (r"昨日|きのう|yesterday\b", -1),
    (r"今日|本日|きょう|today\b", 0),
    (r"明々後日|明明後日|しあさって", 3),
    (r"明後日|あさって|(?:the )?day after tomorrow\b", 2),
    (r"明日|あした|あす|翌日|tomorrow\b|tmrw?\b|2morr?ow?\b", 1),
)
_DAY_AND_PART: Final[tuple[tuple[str, int, Part], ...]] = (
    (r"今朝", 0, "morning"),
    (r"今夜|今晩|tonight\b", 0, "night"),
    (r"明朝|翌朝", 1, "morning"),
    (r"明晩", 1, "night"),
)
_PARTS: Final[tuple[tuple[str, Part], ...]] = (
    (r"午前中?", "am"),
    (r"午後", "pm"),
    (r"早朝|朝|あさ(?!って)|(?:in the |this )?morning\b", "morning"),
    (r"お?昼(?:間|過ぎ|すぎ)?(?!休)", "noon"),
    (r"(?:in the |this )?afternoon\b", "afternoon"),
    (r"夕方|夕|ゆうがた|(?:in the |this )?evening\b", "evening"),
    (r"深夜|夜中", "late"),
    (r"未明|明け方", "small_hours"),
    (r"夜|晩|よる|(?:at )?night\b", "night"),
)
NTH_WORDS: Final = {
    **dict.fromkeys(("最終", "最後の", "last"), 0),
    **dict.fromkeys(("最初の", "first"), 1),
    "second": 2,
    "third": 3,
    "fourth": 4,
    "fifth": 5,
}
"""Which weekday of a month; 0: the last."""
NTH_EN: Final = r"(?P<nth>first|second|third|fourth|fifth|last|[1-5](?=st|nd|rd|th))(?:st|nd|rd|th)?"
_ONE_NTH_JA: Final = (
    r"(?:第\s?(?=[1-5])|(?=最))(?P<nth>[1-5]|最終|最後の|最初の)の?(?P<weekday>[月火水木金土日])曜日?"
)
_AMPM: Final = r"(?P<ampm>[ap]\.?m\.?)(?![a-z])"
_HOUR: Final = r"(?P<hour>\d{1,2})"

_FILLER: Final = re.compile(
    r"[\s、,。.・]+|の|に|は|で|ごろ|頃|ころ|くらい|ぐらい|ちょうど|きっかり"
    r"|(?:on|the|of|by|about|around|sharp|please|exactly)\b|at\b(?!\s*\d)"
)

_WORDS: Final[list[tuple[str, re.Pattern[str], _Take]]] = [
    (name, re.compile(pattern), take)
    for name, pattern, take in (
        ("shift", rf"{SPAN_JA}(?:後|ご(?![ろと])|したら|経ったら|たったら)", _shift),
        (
            "shift",
            rf"(?:(?:今|いま|これ)から|あと)\s?{SPAN_JA}(?:後|ご(?![ろと])|したら|経ったら|たったら)?",
            _shift,
        ),
        ("shift", rf"(?:in|after) {SPAN_EN}", _shift),
        ("shift", rf"{SPAN_EN} (?:from now|later)\b", _shift),
        *(("day", pattern, _day(days)) for pattern, days in _DAYS),
        *(("day", pattern, _day(days, part)) for pattern, days, part in _DAY_AND_PART),
        (
            "date",
            rf"(?:(?:(?P<year>\d{{4}})年の?)?(?P<month>\d{{1,2}})月の?)?{_ONE_NTH_JA}",
            _nth_weekday,
        ),
        (
            "date",
            rf"{NTH_EN} (?P<weekday>{_ONE_WEEKDAY_EN}) (?:of|in) "
            rf"(?:(?=this|next)|(?P<name>{MONTH_EN})(?:,?\s(?P<year>\d{{4}})\b)?)",
            _nth_weekday,
        ),
        ("date", rf"(?:(?P<year>\d{{4}})年の?)?(?P<named>{NAMED_DAY})(?:日(?!本))?", _named_day),
        ("weekday", r"(?P<which>次の|今度の)?(?P<weekday>[月火水木金土日])曜日?", _weekday),
        ("weekday", rf"(?:(?P<which>next|this|coming) )?(?P<weekday>{_ONE_WEEKDAY_EN})", _weekday),
        ("weekday", r"(?:(?P<week>今|再来|来)|次の|今度の)週末", _weekend),
        ("weekday", r"(?:(?P<week>this|next|coming) )?weekend\b", _weekend),
        ("weekday", r"\((?P<weekday>[月火水木金土日])\)", _weekday),
        ("week", r"(先|今|再来|来|翌)週", _offset("week")),
        ("week", r"(last|this|next) week\b", _offset("week")),
        (
            "date",
            r"(?P<year>\d{4})\s?[-/.年]\s?(?P<month>\d{1,2})\s?[-/.月]\s?(?P<day>\d{1,2})日?(?!\d)",
            _date,
        ),
        ("date", r"(?P<month>\d{1,2})月\s?(?P<day>\d{1,2})日", _date),
        ("date", r"(?P<month>\d{1,2})/(?P<day>\d{1,2})(?![\d/])", _date),
        ("date", r"(?P<month>\d{2})-(?P<day>\d{2})(?![\d:-])", _date),
        (
            "date",
            rf"(?P<name>{MONTH_EN})\s?(?P<day>\d{{1,2}})(?:st|nd|rd|th)?\b(?!:)(?:,?\s(?P<year>\d{{4}})\b)?",
            _date,
        ),
        (
            "date",
            rf"(?P<day>\d{{1,2}})(?:st|nd|rd|th)? (?:of )?(?P<name>{MONTH_EN})(?:,?\s(?P<year>\d{{4}})\b)?",
            _date,
        ),
        ("date", r"(?P<day>\d{1,2})(?:日(?![後間])|(?:st|nd|rd|th)\b)", _date),
        ("date", r"月?末日?|(?:the )?(?:end|last day) of (?=the month|this|next)(?:the month\b)?", _last_day),
        ("month", r"(今|再来|来|翌)月(?!曜)", _offset("month")),
        ("month", r"(this|next) month\b", _offset("month")),
        ("year", r"(今|再来|来|翌)年", _offset("year")),
        ("year", r"(this|next) year\b", _offset("year")),
        ("clock", r"今頃|今ごろ|いまごろ|(?:今と)?同じ(?:時間|時刻|ころ|頃)|同時刻|この時[間刻]", _as_now),
        ("clock", r"(?:at )?(?:(?:this|the same|same) time)\b", _as_now),
        (
            "clock",
            rf"(?P<ampm>[ap]\.?m\.?)\s?{_HOUR}(?:[時:]\s?(?:(?P<minute>\d{{1,2}})分?|(?P<half>半))?)?(?![\d間])",
            _clock,
        ),
        ("clock", rf"{_HOUR}時\s?(?:(?P<minute>\d{{1,2}})分(?P<before>前)?|(?P<half>半))?(?!間)", _clock),
        ("clock", rf"(?:at )?{_HOUR}[:.](?P<minute>\d{{2}})(?::\d{{2}})?(?:\s?{_AMPM})?(?!\d)", _clock),
        ("clock", rf"(?:at )?{_HOUR}\s?{_AMPM}", _clock),
        ("clock", rf"(?:at )?{_HOUR} ?o'clock\b", _clock),
        ("clock", rf"{_HOUR}(?= in the (?:morning|afternoon|evening)\b| at night\b)", _clock),
        ("clock", rf"at {_HOUR}(?![\d/:.-])\b", _clock),
        ("clock", rf"(?:at )?(half past|quarter past|quarter to) {_HOUR}\b(?:\s?{_AMPM})?", _spoken_clock),
        ("clock", r"正午|(?:at )?(?:noon|midday)\b", _fixed(NOON)),
        ("clock", r"真夜中|(?:at )?midnight\b", _fixed(MIDNIGHT)),
        *(("part", pattern, _part(part)) for pattern, part in _PARTS),
    )
]
