from datetime import datetime
from zoneinfo import ZoneInfo

import pytest

from cc_bot.domain import errors
from cc_bot.domain.when.resolve import parse_schedule, parse_schedules
from tests.domain.phrases import meanings, refused_otherwise, table, this_year

TOKYO = ZoneInfo("Asia/Tokyo")
SUNDAY = datetime(2026, 11, 22, 10, 30, tzinfo=TOKYO)

MEANT = meanings(table("repeats"))
REFUSED: dict[type[errors.CcBotError], str] = {
    errors.SeveralTimes: "毎日9時と18時半",
    errors.RepeatNotUnderstood: """
3日おき | 3日おきに8時 | 毎週 | 毎月 | 2か月に1回 | 1日3回 | twice a day | every second tuesday
毎年春分の日 | 毎月第6月曜 | 毎週12月3日 | 0週間ごとの月曜 | 隔週の月曜の25時 | 3日ごとに25時
0 9 * * 1 every 200 weeks | 0 9 * * 1 every 2 weeks from 2026-02-30 | 0 9 * * 1 every 2 mondays
500時間ごと | 9時から5時間ごと | 毎週月曜の25時 | 毎週金曜の深夜1時 | every other week | whenever
毎日9時に薬 | every day foo | 明日9時 | 毎年2月30日 | 0時間おき | 3時間おき 9時
""",
    errors.RepeatTooOften: "15分おき | */5 * * * * | every 5 minutes",
}
SCHEDULES = meanings(table("schedules"))
"""When + how often → the first time, in 2026 where there is no year + how it repeats."""
NO_SCHEDULES: dict[type[errors.CcBotError], str] = {
    errors.WhenNotUnderstood: "そのうち | 0001-01-01 + 毎日 | そのうち + 毎週",
    errors.WhenPassed: "1700-01-01T00:00 + 隔週 | 昨日9時",
    errors.NoSuchTime: "2月30日 | 2月30日 + 毎週 | 2月30日から毎週 | 毎月32日",
    errors.RepeatNotUnderstood: """
1日3回 | 毎朝8時 + 平日 | 毎日9時から18時まで1時間ごと | 毎日から毎週
2026-12-31 + 毎年2月30日 | 明日 + ときどき
""",
    errors.RepeatAmbiguous: "2日おき | 3日おきに8時 | 明日 + 2日おき | every second tuesday",
    errors.SeveralTimes: "明日9時と18時 | 明日9時と18時 + 毎日 | 毎日9時と18時半",
    errors.RepeatTooOften: "15分おき",
}


def repeat_of(written: str) -> str:
    return parse_schedule("", written, SUNDAY, TOKYO)[1].partition(" from ")[0]


def planned(written: str) -> tuple[str, str]:
    when, _, repeat = written.partition("+")
    moment, cron = parse_schedule(when.strip(), repeat.strip(), SUNDAY, TOKYO)
    return moment.astimezone(TOKYO).strftime("%Y-%m-%d %H:%M"), cron


class TestRepeat:
    def test_is_what_people_mean(self) -> None:
        assert {text: repeat_of(text) for text in MEANT} == MEANT

    def test_that_is_none_is_refused(self) -> None:
        assert refused_otherwise(REFUSED, repeat_of) == {}
        assert refused_otherwise({errors.RepeatNotUnderstood: ["every weekday" * 20]}, repeat_of) == {}


class TestSchedule:
    def test_begins_with_the_first_time(self) -> None:
        expected = {}
        for written, meaning in SCHEDULES.items():
            first, _, cron = meaning.partition(" + ")
            expected[written] = this_year(first), cron
        assert {written: planned(written) for written in SCHEDULES} == expected

    def test_that_makes_no_sense_is_refused(self) -> None:
        assert refused_otherwise(NO_SCHEDULES, planned) == {}
        assert refused_otherwise({errors.RepeatNotUnderstood: ["明日 + " + "毎" * 500]}, planned) == {}


class TestSeveral:
    def test_are_each_planned(self) -> None:
        expected = meanings(
            """
明日9時と18時 → 11-23 09:00 & 11-23 18:00 | 明日と明後日の9時 → 11-23 09:00 & 11-24 09:00
明日の朝と夜 → 11-23 08:00 & 11-23 20:00 | 来週の月曜と水曜 9時 → 11-23 09:00 & 11-25 09:00
12月3日と5日 → 12-03 09:00 & 12-05 09:00 | tomorrow at 9 and 6pm → 11-23 09:00 & 11-23 18:00
tomorrow at 9 and 18 → 11-23 09:00 & 11-23 18:00
毎日9時と18時半 → 11-22 18:30 30 18 * * * & 11-23 09:00 0 9 * * *
"""
        )
        for when, moments in expected.items():
            found = parse_schedules(when, "", SUNDAY, TOKYO)
            told = (f"{moment.astimezone(TOKYO):%m-%d %H:%M} {cron}".strip() for moment, cron in found)
            assert " & ".join(told) == moments, when

    def test_are_not_guessed(self) -> None:
        for when in ("明日と", "朝晩9時", "月曜か火曜", "1時間後と2時間後", "明日9時と寝る前"):
            with pytest.raises(errors.WhenNotUnderstood):
                parse_schedules(when, "", SUNDAY, TOKYO)
