"""The grammar of times and repeats in Japanese and English: its forms are the rows of _TABLE."""

import re
import unicodedata
from collections import defaultdict
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass, field, replace
from typing import Final, Literal, get_args

from cc_bot.domain.errors import InputError, NoSuchTime, WhenNotUnderstood
from cc_bot.domain.text import kanji_to_digits

PartOfDay = Literal["", "am", "pm", "morning", "noon", "afternoon", "evening", "night", "late"]
Unit = Literal["", "seconds", "minutes", "hours", "days", "weeks", "months", "years"]

NOON: Final = 12 * 60
MINUTES_PER_DAY: Final = 24 * 60  # times of day are minutes after midnight
SMALL_HOURS: Final = 5 * 60
DEFAULT_MINUTES: Final[dict[PartOfDay, int]] = {
    "am": 9 * 60,
    "morning": 8 * 60,
    "noon": 12 * 60,
    "pm": 15 * 60,
    "afternoon": 15 * 60,
    "evening": 18 * 60,
    "night": 20 * 60,
}
MAX_HOUR: Final = 29  # `25時` is 1:00 of the next day


@dataclass(frozen=True, slots=True)
class ClockTime:
    minute: int | None = None
    """None if only a part of the day is named. MINUTES_PER_DAY and more: on the next day."""
    part: PartOfDay = ""
    is_12_hour: bool = False  # True if the hour may be in the afternoon: `3時`, not `3:00`
    is_now: bool = False  # True for the same time of day as now: 今頃, same time

    def minute_of_day(self) -> int | None:
        """Return the minute of the day; None for a part of the day without a default."""
        if self.minute is None:
            return DEFAULT_MINUTES.get(self.part)
        minute, hour = self.minute, self.minute // 60
        match self.part:
            case "am" | "pm" if hour == 12:
                raise WhenNotUnderstood  # may be noon or midnight
            case "pm" | "afternoon" | "evening" if hour < 12:
                return minute + NOON
            case "noon" if hour < 6:
                return minute + NOON
            case "night" | "late" if minute < SMALL_HOURS:
                return minute + MINUTES_PER_DAY
            case "night" | "late" if 5 < hour <= 12:
                return minute + NOON
            case _:
                return minute

    def minute_of_later_day(self) -> int | None:
        """Return the minute on a day after today: `明日の3時` is in the afternoon."""
        minute = self.minute_of_day()
        return minute if minute is None or not self.may_be_afternoon(SMALL_HOURS) else minute + NOON

    def may_be_afternoon(self, until: int) -> bool:
        return self.is_12_hour and not self.part and self.minute is not None and self.minute < until


@dataclass(slots=True)
class TimeWords:
    kinds: set[str] = field(default_factory=set)  # kinds of the forms found: the first words of _TABLE's rows
    shift: tuple[int, int, int] = (0, 0, 0)  # months, days and seconds from now
    days: list[int] = field(default_factory=list)  # days from today
    week: int | None = None  # weeks from the current one; `month` and `year` likewise
    month: int | None = None
    year: int | None = None
    year_number: int | None = None
    month_number: int | None = None
    monthdays: list[int] = field(default_factory=list)  # 0: the last day of the month
    named_day: str = ""  # a key of NAMED_DAYS
    nth: list[tuple[int, int]] = field(default_factory=list)
    """Number and weekday: (2, 0) is the second Monday of a month, (0, 0) the last."""
    weekdays: list[int] = field(default_factory=list)
    not_today: bool = False  # on a Friday, 次の金曜 is not today but in a week
    implies_repeat: bool = False  # True for weekdays such as 平日, mondays
    every: tuple[int, Unit] | None = None  # count and unit of a repeat
    clocks: list[ClockTime] = field(default_factory=list)
    part: PartOfDay = ""  # a part of the day not yet followed by a clock time

    @property
    def day_kinds(self) -> set[str]:
        return self.kinds - {"clock", "part"}

    @property
    def is_repeated(self) -> bool:
        several = len(self.weekdays) > 1 and self.week is None
        nth = bool(self.nth) and self.month is None and self.month_number is None
        return self.every is not None or self.implies_repeat or several or nth

    @property
    def implied_unit(self) -> Unit:
        """Return the unit of a repeat that names none: weeks in `every friday`, days in 毎朝."""
        if self.month_number or self.named_day:
            return "years"
        if self.nth or self.monthdays:
            return "months"
        return "weeks" if self.weekdays else "days"


_NUMBERS_EN: Final = "one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve"
_NUMBER_EN: Final = re.compile(rf"\b(?:{_NUMBERS_EN})\b")
_NUMERALS: Final = re.compile(
    r"(?<![〇零一二三四五六七八九十])(?:[〇零一二三四五六七八九]?十[〇零一二三四五六七八九]?|[〇零一二三四五六七八九]++)"
    r"(?=[時分秒日月週年か回度])|(?<=第)[一二三四五](?![十一二三四五六七八九])"
)
_MONTH_COUNTER: Final = re.compile(r"(?<=[\d〇一二三四五六七八九十])\s?[かヶケヵカ個箇]月")
_ERAS: Final = {"令和": 2018, "平成": 1988, "昭和": 1925}
_ERA_YEAR: Final = re.compile(rf"({'|'.join(_ERAS)})\s?(\d{{1,2}}|元)年")


def normalize(text: str) -> str:
    plain = unicodedata.normalize("NFKC", text).casefold().strip().replace("’", "'")
    plain = _MONTH_COUNTER.sub("か月", plain)
    plain = _NUMERALS.sub(lambda match: kanji_to_digits(match[0]), plain)
    plain = _NUMBER_EN.sub(lambda match: str(_NUMBERS_EN.split("|").index(match[0]) + 1), plain)
    return _ERA_YEAR.sub(lambda match: f"{_ERAS[match[1]] + int(match[2].replace('元', '1'))}年", plain)


_UNITS: Final[tuple[tuple[str, Unit], ...]] = (
    *(("秒", "seconds"), ("分", "minutes"), ("時", "hours"), ("日", "days"), ("週", "weeks")),
    *(("か月", "months"), ("月", "months"), ("年", "years"), ("mo", "months"), ("m", "minutes")),
    *(("s", "seconds"), ("h", "hours"), ("d", "days"), ("w", "weeks"), ("y", "years")),
)
"""Prefixes of unit names; the first match counts."""
_UNITS_BY_SIZE: Final[tuple[Unit, ...]] = get_args(Unit)
_SHORT_JA: Final = "時間半?|分半?|秒"
_SHORT_EN: Final = r"(?:hours?|hrs?|h|minutes?|mins?|m|seconds?|secs?|s)(?![a-z])"
_LONG_EN: Final = r"(?:days?|d|weeks?|w|months?|years?|y)(?![a-z])"
_NUMBER: Final = r"(?:\d{1,4}(?:\.\d)?|half an?|an?(?=\s))(?: and a half)?"
_AMOUNT: Final = re.compile(
    r"((?<!\d)\d++(?:\.\d)?|半|half an?|an?(?=\s))( and a half)?\s?"
    rf"({_SHORT_JA}|日|週間|か月|年|{_SHORT_EN}|{_LONG_EN})( and a half)?",
    re.ASCII,
)


def _span_ja(units: str) -> str:
    return rf"(?P<span>(?:(?:\d{{1,4}}(?:\.\d)?|半)\s?(?:{units})(?>\s?と\s?|\s{{0,2}})){{1,8}})"


def _span_en(units: str) -> str:
    one = rf"{_NUMBER}\s?(?:{units})(?: and a half)?"
    return rf"(?P<span>{one}(?:(?>(?:,|\s|and){{0,6}}){one}){{0,7}})"


_LONG_SPAN_JA: Final = _span_ja(f"{_SHORT_JA}|日|週間|か月|年")
_LONG_SPAN_EN: Final = _span_en(f"{_SHORT_EN}|{_LONG_EN}")


def _find_unit(name: str) -> Unit:
    return next(unit for prefix, unit in _UNITS if name.startswith(prefix))


def _read_span(span: str) -> tuple[int, int, int]:
    """Return months, days and seconds. Raises WhenNotUnderstood for a fraction of a day or month, or units
    in another than descending order."""
    total = defaultdict[Unit, float](float)
    for number, half, name, half_more in _AMOUNT.findall(span):
        if any(_UNITS_BY_SIZE.index(_find_unit(name)) >= _UNITS_BY_SIZE.index(each) for each in total):
            raise WhenNotUnderstood
        count = 0.5 if number[0] in "半h" else 1.0 if number[0] == "a" else float(number)
        total[_find_unit(name)] += count + 0.5 * bool(half or half_more or name.endswith("半"))
    months, days = total["months"] + 12 * total["years"], total["days"] + 7 * total["weeks"]
    if months % 1 or days % 1:
        raise WhenNotUnderstood
    seconds = 3600 * total["hours"] + 60 * total["minutes"] + total["seconds"]
    return int(months), int(days), round(seconds)


_WEEKDAYS: Final = "月火水木金土日"
_WEEKDAYS_EN: Final = ("mon", "tue", "wed", "thu", "fri", "sat", "sun")
_MONTHS_EN: Final = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
_OFFSETS: Final = {"今": 0, "来": 1, "翌": 1, "再来": 2, "this": 0, "next": 1, "last": -1, "先": -1}
_DAYS: Final = {
    **dict.fromkeys(("昨日", "きのう", "yesterday"), -1),
    **dict.fromkeys(("今日", "本日", "きょう", "今朝", "今夜", "今晩", "today", "tonight"), 0),
    **dict.fromkeys(("明日", "あした", "あす", "明朝", "明晩", "翌日", "翌朝"), 1),
    **dict.fromkeys(("tomorrow", "tmrw", "tmr", "2morrow", "2moro"), 1),
    **dict.fromkeys(("明後日", "あさって", "day after tomorrow"), 2),
    **dict.fromkeys(("明々後日", "明明後日", "しあさって"), 3),
}
_DAY: Final = "|".join(
    re.escape(name) + r"\b" * name.isascii() for name in sorted(_DAYS, key=len, reverse=True)
)
_PARTS: Final[tuple[PartOfDay, ...]] = get_args(PartOfDay)
_RHYTHMS: Final[dict[str, tuple[int, Unit]]] = {
    "hourly": (1, "hours"),
    "daily": (1, "days"),
    "weekly": (1, "weeks"),
    **dict.fromkeys(("fortnightly", "biweekly", "bi-weekly"), (2, "weeks")),
    "monthly": (1, "months"),
    **dict.fromkeys(("yearly", "annually"), (1, "years")),
}
_NTH: Final = {
    **dict.fromkeys(("最終", "最後の", "last"), 0),
    **dict.fromkeys(("最初の", "first"), 1),
    "second": 2,
    "third": 3,
    "fourth": 4,
}

_NAMED_DAYS: Final = """
1 1 * = 元日 元旦 new_year's_day
* 1 1#2 = 成人の日
11 2 * = 建国記念の日 建国記念日
14 2 * = バレンタインデー バレンタイン valentine's_day
23 2 * = 天皇誕生日
3 3 * = ひな祭り ひなまつり 雛祭り
14 3 * = ホワイトデー
1 4 * = エイプリルフール
29 4 * = 昭和の日
3 5 * = 憲法記念日
4 5 * = みどりの日
5 5 * = こどもの日 子どもの日 子供の日
* 5 0#2 = 母の日 mother's_day
* 6 0#3 = 父の日 father's_day
7 7 * = 七夕
* 7 1#3 = 海の日
11 8 * = 山の日
* 9 1#3 = 敬老の日
* 10 1#2 = スポーツの日
31 10 * = ハロウィン ハロウィーン halloween
3 11 * = 文化の日
* 11 4#4 = thanksgiving
23 11 * = 勤労感謝の日
24 12 * = クリスマスイブ クリスマス・イブ クリスマスイヴ christmas_eve
25 12 * = クリスマス christmas_day christmas xmas
31 12 * = 大晦日 大みそか おおみそか new_year's_eve new_years_eve
"""
"""Cron's day, month and weekday, and the names. A holiday that moves in a single year has its usual date."""
NAMED_DAYS: Final = {
    name.replace("_", " "): days
    for days, _, names in (line.partition(" = ") for line in _NAMED_DAYS.strip().splitlines())
    for name in names.split()
}
_NAMED_DAY: Final = "|".join(
    re.escape(name) + r"(?![a-z])" * name.isascii() for name in sorted(NAMED_DAYS, key=len, reverse=True)
)

_W: Final = rf"[{_WEEKDAYS}]"
_W_EN: Final = r"(?:mon|tues?|wed(?:nes)?|thu(?:rs?)?|fri|sat(?:ur)?|sun)(?:days?)?\b\.?"
_MONTH_EN: Final = (
    r"(?:jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?|aug(?:ust)?|sept?(?:ember)?"
    r"|oct(?:ober)?|nov(?:ember)?|dec(?:ember)?)\b\.?"
)
_ORDINAL: Final = r"(?:first|second|third|fourth|last|[1-5](?:st|nd|rd|th))"
_TH: Final = r"(?:st|nd|rd|th)"
_HOUR: Final = r"(?P<hour>\d{1,2})"
_AMPM: Final = r"\s?(?P<ampm>[ap])\.?m\b\.?"
_LATER: Final = r"(?:後|ご(?![ろと])|したら|経ったら|たったら)"
_EVERY_EN: Final = r"(?:once )?(?:every|each)"
_EVERY_UNIT_EN: Final = rf"(?:minutes?|mins?|hours?|hrs?|h)\b|{_LONG_EN}"
_PART_EN: Final = "morning|noon|afternoon|evening|night"

_TABLE: Final = rf"""
# 毎時, 毎日, 毎朝, 毎月曜, 毎週末; 3日ごと, 2週に1回, 5時間おき, 週1回; 隔週, 1日おき
every     毎(?P<unit>分|時(?![刻間])|日(?!曜)|週(?!末)|月(?!曜)|年)|毎(?=[朝昼夕夜晩]|{_W}曜|週末)
every     (?P<count>\d{{1,3}})(?P<unit>[分秒]|時間|日|週間?|か月|年)(?:ごと|毎(?![日朝晩])|に1[回度])
every     (?P<count>\d{{1,3}})(?P<unit>[分秒]|時間)おき|(?<!\d)(?P<unit2>[週月年])に?1[回度]
every     (?P<other>隔)(?P<unit>日|週|月(?!曜)|年)|(?P<other2>1)(?P<unit2>日|週間?|か月|年)おき
# daily, of every month; every other week, every 3 days; every friday, every morning, every dec 3
every     (?P<rhythm>{"|".join(_RHYTHMS)})\b|of (?:the|every|each) (?P<unit>month)\b
every     {_EVERY_EN} (?:(?P<other>other )|(?P<count>\d{{1,3}}) ?)?(?P<unit>{_EVERY_UNIT_EN})
every     {_EVERY_EN} (?P<other>other )?(?={_W_EN}|week|work|business|{_MONTH_EN}|{_NAMED_DAY}|{_PART_EN})
every     {_EVERY_EN} (?={_ORDINAL} {_W_EN} of)
# 10分後, 1時間半したら, あと5分, 今から2時間後; in 10 minutes, 2 days later
shift     {_LONG_SPAN_JA}{_LATER}
shift     (?:(?:今|いま|これ)から|あと)\s?{_LONG_SPAN_JA}{_LATER}?
shift     (?:in|after) {_LONG_SPAN_EN}
shift     {_LONG_SPAN_EN} (?:from now|later)\b
# 明日, 今朝, 今夜; the day after tomorrow, tonight
day       (?:the )?(?P<day>{_DAY})
# 第2水曜, 第2・第4土曜, 最終金曜; the 2nd and last friday (of)
nth       (?P<nth>第\s?[1-5](?:[・、,と]?第?[1-5]){{0,4}}|最終|最[後初]の)の?(?P<weekday>{_W})曜?日?(?![月日])
nth       (?:the )?(?P<nth>{_ORDINAL}(?:(?:, | and )(?:the )?{_ORDINAL}){{0,4}}) (?P<weekday>{_W_EN})(?= of)
# 元日, クリスマスイブ; new year's eve
named     (?P<named>{_NAMED_DAY})(?:日(?!本))?
# 平日, 今度の週末, 月曜から金曜, 月水金, 次の金曜, (金); weekdays, next weekend, mon-fri, fridays
weekday   (?P<workdays>平日|(?:week|work|business |working |work )days?\b)
weekday   (?:(?P<week>今|再来|来)|(?P<not_today>次の|今度の))?(?P<weekend>週末)
weekday   (?:(?:(?P<week>this|next)|(?P<not_today>coming)) )?(?P<weekend>weekends?)\b
weekday   (?P<first>{_W})曜?日?(?:から|[~〜ー–-])\s?(?P<last>{_W})(?:曜日?|(?![月日]))(?:まで)?
weekday   (?P<first>{_W_EN})\s?(?:to|through|thru|[-~–])\s?(?P<last>{_W_EN})
weekday   (?P<list>{_W}(?:[・、,と/]?{_W}){{1,6}})(?:曜日?)?(?![月日])
weekday   (?P<not_today>次の|今度の)?(?P<list>{_W})曜日?|\((?P<list2>{_W})\)
weekday   (?:(?P<week>this|next)|coming )?\s?(?P<weekday>{_W_EN})
# 来週, 来月, 来年; next week
week      (?P<offset>先|今|再来|来|翌)週|(?P<offset2>last|this|next) week\b
month     (?P<offset>今|再来|来|翌)月(?!曜)|(?P<offset2>this|next) month\b
year      (?P<offset>今|再来|来|翌)年|(?P<offset2>this|next) year\b
# 2026/12/3, 12/3, 12-03, dec 3rd 2026, 3 december
date      (?P<year>\d{{4}})\s?[-/.]\s?(?P<month>\d\d?)\s?[-/.]\s?(?P<day>\d\d?)(?!\d)(?:t(?=\d\d:))?
date      (?P<month>\d{{1,2}})/(?P<day>\d{{1,2}})(?![\d/])|(?P<month2>\d\d)-(?P<day2>\d\d)(?![\d:-])
date      (?P<name>{_MONTH_EN})\s?(?P<day>\d{{1,2}}){_TH}?\b(?!:)(?:,?\s(?P<year>\d{{4}})\b)?
date      (?P<day>\d{{1,2}}){_TH}? (?:of )?(?P<name>{_MONTH_EN})(?:,?\s(?P<year>\d{{4}})\b)?
# 2026年, 12月, december; 3日, the 3rd, 月末, the last day
year      (?P<year>\d{{4}})年
month     (?P<month>\d{{1,2}})月|(?P<name>{_MONTH_EN})(?:,? (?P<year>\d{{4}})\b)?
monthday  (?P<day>\d{{1,2}})(?:日(?![間後分目以])|{_TH}\b)|(?P<day2>\d{{1,2}})(?=・\d{{1,2}}日)
monthday  (?P<last>月?末日?|(?:the )?(?:end|last day)(?: of (?:the|this) month)?\b)
# 今頃, 明日の同じ時間; same time
clock     (?P<as_now>今頃|今ごろ|いまごろ|同じ(?:時間|時刻|頃)|(?:at )?(?:this|(?:the )?same) time\b)
# 9時半, 9時15分, 9:30, 9:30pm, 9am, 9 o'clock, at 9, half past 9, 9 in the morning, 正午, midnight
clock     {_HOUR}時(?!間)(?:\s?(?P<minute>\d{{1,2}})分(?!前)|(?P<half>半))?
clock     (?:at )?{_HOUR}:(?P<minute>\d{{2}})(?::\d{{2}})?(?:{_AMPM})?(?!\d)
clock     (?:at )?{_HOUR}(?:\.(?P<minute>\d{{2}}))?{_AMPM}
clock     (?:at )?{_HOUR} ?o'clock\b|at (?P<hour2>\d{{1,2}})(?![\d/:.-])\b
clock     (?:at )?(?P<half>half past ){_HOUR}\b(?:{_AMPM})?
clock     {_HOUR}(?= in the (?:morning|afternoon|evening)\b| at night\b)
clock     (?P<noon>正午|(?:at )?(?:noon|midday)\b)|(?P<midnight>真夜中|(?:at )?midnight\b)
# 朝, 夕方; in the morning, at night
part      (?P<am>午前中?|am\s?(?=\d))
part      (?P<pm>午後|pm\s?(?=\d))
part      (?P<morning>早朝|朝|あさ(?!って)|(?:in the |this )?morning\b)
part      (?P<noon>お?昼(?:間|過ぎ|すぎ)?(?!休))
part      (?P<afternoon>(?:in the |this )?afternoon\b)
part      (?P<evening>夕方|夕|ゆうがた|(?:in the |this )?evening\b)
part      (?P<late>深夜|夜中)
part      (?P<night>夜|晩|よる|(?:at )?night\b)
# 10分, 1h30m: without another form, from now
span      {_span_ja(_SHORT_JA)}
span      {_span_en(_SHORT_EN)}
"""
"""Kinds of words and their patterns; the first match counts. A group `x2` is another `x`."""
_ROWS: Final = [line.split(maxsplit=1) for line in _TABLE.splitlines() if line and line[0] != "#"]
_FORMS: Final = [(kind, re.compile(pattern, re.ASCII)) for kind, pattern in _ROWS]
_ANY_FORM: Final = re.compile("|".join(re.sub(r"\(\?P<\w+>", "(?:", each) for _, each in _ROWS), re.ASCII)
_FILLER: Final = re.compile(
    r"[\s。.]+|の|に|は|で|ごろ|頃|ころ|くらい|ぐらい|ちょうど|きっかり"
    r"|(?:on|the|of|by|about|around|sharp|please|exactly)\b|at\b(?!\s*\d)"
)
_LIST_WORD: Final = re.compile(r"[、,・&/]|と|及び|and\b")
_LISTED: Final = frozenset({"day", "nth", "weekday", "monthday", "clock"})
"""Forms that may occur several times."""
_BARE_CLOCK: Final = re.compile(r"(?P<hour>\d{1,2})(?!\d)(?=[\s、,]|$)", re.ASCII)
"""The second hour in `at 9 and 18`."""


def parse(text: str) -> TimeWords:
    """Parse a normalized text. Raises WhenNotUnderstood."""
    words, end = parse_beginning(text)
    if end < len(text) or not words.kinds:
        raise WhenNotUnderstood
    return words


def find_times(text: str) -> Iterator[tuple[int, int, TimeWords]]:
    begin = 0
    while found := _ANY_FORM.search(text, begin):
        begin = end = found.start()
        words = TimeWords()
        if not is_inside_word(text, begin):
            with suppress(InputError):
                words, end = parse_beginning(text, begin)
        if words.kinds and not is_inside_word(text, end):
            yield begin, end, words
        begin = max(end, begin + 1)


def is_inside_word(text: str, at: int) -> bool:
    around = text[max(at - 1, 0) : at + 1]
    return len(around) == 2 and around.isascii() and (around.isalpha() or around.isdigit())


def parse_beginning(text: str, at: int = 0) -> tuple[TimeWords, int]:
    """Parse the time that begins at `at`. Returns its words and its end. Raises WhenNotUnderstood."""
    words, end, before_part, after_list_word = TimeWords(), at, at, False
    while at < len(text):
        kind, match = _match_form(text, at, bare="clock" in words.kinds and after_list_word)
        may_follow = kind in ("part", "every") or (after_list_word and kind in _LISTED)
        if match and (may_follow or kind not in words.kinds):
            before_part = end
            _add_form(words, kind, match)
            words.kinds |= {"month", "monthday"} if kind == "date" else {kind}
            at, end, after_list_word = match.end(), match.end(), after_list_word and kind in ("part", "every")
        elif list_word := _LIST_WORD.match(text, at):
            at, after_list_word = list_word.end(), True
        elif filler := _FILLER.match(text, at):
            at = filler.end()
            end = at if at == len(text) else end
        else:
            break
    if words.part and words.clocks and words.clocks[-1].minute is not None:
        end = before_part  # 8時に朝会
    elif words.part:
        words.clocks.append(ClockTime(part=words.part))
    if len({clock.minute is None for clock in words.clocks if not clock.is_now}) > 1:
        raise WhenNotUnderstood  # 朝晩9時
    if words.every and not words.every[1]:
        words.every = (words.every[0], words.implied_unit)
    return words, end


def _match_form(text: str, at: int, *, bare: bool) -> tuple[str, re.Match[str] | None]:
    for kind, pattern in _FORMS:
        if match := pattern.match(text, at):
            return kind, match
    return "clock", _BARE_CLOCK.match(text, at) if bare else None


def _add_form(words: TimeWords, kind: str, match: re.Match[str]) -> None:
    groups = {name.removesuffix("2"): value for name, value in match.groupdict().items() if value}
    match kind:
        case "every":
            every = _read_every(groups)
            if words.every and words.every[1] and every[1] and words.every != every:
                raise WhenNotUnderstood
            words.every = every if every[1] else words.every or every
        case "shift" | "span":
            words.shift = _read_span(groups["span"])
        case "day":
            name = groups["day"]
            words.days.append(_DAYS[name])
            words.part = "morning" if name[-1] == "朝" else "night" if name[-1] in "夜晩" else words.part
            words.part = "night" if name == "tonight" else words.part
        case "nth":
            numbers = re.findall(rf"[1-5]|{'|'.join(_NTH)}", groups["nth"])
            weekday = _weekday_number(groups["weekday"])
            words.nth += [(int(each) if each.isdecimal() else _NTH[each], weekday) for each in numbers]
        case "named":
            words.named_day = groups["named"]
        case "weekday":
            _add_weekdays(words, groups, match[0])
        case "part":
            _add_part(words, match)
        case "clock":
            words.clocks.append(_read_clock(groups, match[0], words))
            words.part = ""
        case "week" | "month" | "year" if "offset" in groups:
            setattr(words, kind, _OFFSETS[groups["offset"]])
        case _:
            _add_date(words, groups)


def _read_every(groups: dict[str, str]) -> tuple[int, Unit]:
    if "rhythm" in groups:
        return _RHYTHMS[groups["rhythm"]]
    count = 2 if "other" in groups else int(groups.get("count", 1))
    return count, _find_unit(groups["unit"]) if "unit" in groups else ""


def _add_weekdays(words: TimeWords, groups: dict[str, str], text: str) -> None:
    if "first" in groups:
        first, last = _weekday_number(groups["first"]), _weekday_number(groups["last"])
        words.weekdays += [(first + ahead) % 7 for ahead in range((last - first) % 7 + 1)]
    elif "workdays" in groups:
        words.weekdays += range(5)
    elif "weekend" in groups:
        once = "week" in groups or "not_today" in groups or (text in ("weekend", "週末") and not words.every)
        words.weekdays += [5] if once else [5, 6]
    elif "weekday" in groups:
        words.weekdays.append(_weekday_number(groups["weekday"]))
    else:
        words.weekdays += [_weekday_number(each) for each in groups["list"] if each in _WEEKDAYS]
    words.implies_repeat = words.implies_repeat or re.search(r"days\b", text) is not None
    words.not_today = "not_today" in groups
    if groups.get("week", "this") != "this":
        words.week = _OFFSETS[groups["week"]]


def _add_part(words: TimeWords, match: re.Match[str]) -> None:
    """A part of the day belongs to the hour before it (`9 in the morning`) or to the next one."""
    part = next(each for each in _PARTS if each == match.lastgroup)
    before = words.clocks[-1] if words.clocks else ClockTime()
    if match[0].isascii() and not before.part and before.minute is not None:
        words.clocks[-1] = replace(before, part=part)
        return
    if words.part:  # 朝と夜
        words.clocks.append(ClockTime(part=words.part))
    words.part = part


def _read_clock(groups: dict[str, str], text: str, words: TimeWords) -> ClockTime:
    if "as_now" in groups:
        return ClockTime(is_now=True)
    if "noon" in groups or "midnight" in groups:
        return ClockTime(NOON if "noon" in groups else MINUTES_PER_DAY)  # 24:00
    hour, minute = int(groups["hour"]), int(groups.get("minute", 30 if "half" in groups else 0))
    if hour > MAX_HOUR or minute > 59:
        raise NoSuchTime
    a_or_p = groups.get("ampm")
    if a_or_p and not 1 <= hour <= 12:
        raise WhenNotUnderstood
    hour = hour % 12 + (12 if a_or_p == "p" else 0) if a_or_p else hour
    exact = a_or_p or groups["hour"].startswith("0") or ":" in text
    part = words.part or (words.clocks[-1].part if words.clocks else "")
    return ClockTime(hour * 60 + minute, part, is_12_hour=not exact)


def _add_date(words: TimeWords, groups: dict[str, str]) -> None:
    if "year" in groups:
        words.year_number = int(groups["year"])
        words.kinds.add("year")
    if "month" in groups:
        words.month_number = int(groups["month"])
    elif "name" in groups:
        words.month_number = _MONTHS_EN.index(groups["name"][:3]) + 1
    if words.month_number not in (None, *range(1, 13)):
        raise NoSuchTime
    if "day" in groups:
        if not 1 <= int(groups["day"]) <= 31:
            raise NoSuchTime
        words.monthdays.append(int(groups["day"]))
    elif "last" in groups:
        words.monthdays.append(0)


def _weekday_number(name: str) -> int:
    return _WEEKDAYS.index(name) if name in _WEEKDAYS else _WEEKDAYS_EN.index(name[:3])
