"""What people mean to come again, in what they write: `毎朝8時`, `every weekday at 9`."""

from datetime import date, datetime
from zoneinfo import ZoneInfo

import pytest

from cc_bot.domain import errors
from cc_bot.domain.holidays import NAMES, cron_of, day_named, nth_weekday
from cc_bot.domain.repeats import parse_repeat, parse_schedule, parse_schedules
from tests.domain.phrases import meanings, refused_otherwise, this_year

TOKYO = ZoneInfo("Asia/Tokyo")
SUNDAY = datetime(2026, 11, 22, 10, 30, tzinfo=TOKYO)

MEANT = meanings(
    """
毎朝8時 → 0 8 * * * | 毎朝 → 0 8 * * * | 毎日 → 0 9 * * * | 毎日8時と20時 → 0 8,20 * * *
毎日 朝8時と夜8時 → 0 8,20 * * * | 毎晩10時 → 0 22 * * * | 毎晩 → 0 20 * * * | 平日9時 → 0 9 * * 1-5
平日の朝 → 0 8 * * 1-5 | 週末の10時 → 0 10 * * 0,6 | 土日 10時 → 0 10 * * 0,6 | 毎週月曜 9:00 → 0 9 * * 1
毎週月・水・金 9時 → 0 9 * * 1,3,5 | 毎週月曜日と木曜日の18時 → 0 18 * * 1,4
毎週月水金 7:30 → 30 7 * * 1,3,5 | 毎週日曜 → 0 9 * * 0 | 毎週日曜日の朝 → 0 8 * * 0 | 毎月曜9時 → 0 9 * * 1
毎月3日 → 0 9 3 * * | 毎月の3日 10時 → 0 10 3 * * | 毎月末 → 0 9 L * * | 毎月第2月曜 9時 → 0 9 * * 1#2
毎年1月1日 0時 → 0 0 1 1 * | 毎時 → 0 * * * * | 毎時15分 → 15 * * * * | 3時間おき → 0 */3 * * *
毎日25時 → 0 1 * * * | 毎日深夜1時 → 0 1 * * * | 毎日3時 → 0 15 * * * | 毎朝5時 → 0 5 * * *
every monday at 3 → 0 15 * * 1 | 0 9 * * 1-5 → 0 9 * * 1-5 | 0 9 * * MON → 0 9 * * MON
every day at 8am → 0 8 * * * | every morning → 0 8 * * * | every weekday at 9 → 0 9 * * 1-5
weekdays 9:30 → 30 9 * * 1-5 | every monday → 0 9 * * 1 | every monday and thursday at 6pm → 0 18 * * 1,4
mondays, wednesdays and fridays at 7:00 → 0 7 * * 1,3,5
every first monday of the month at 9am → 0 9 * * 1#1 | every month on the 3rd at noon → 0 12 3 * *
on the 3rd of every month → 0 9 3 * * | every year on dec 25 at 8am → 0 8 25 12 * | every hour → 0 * * * *
every 6 hours → 0 */6 * * * | at 9 every day → 0 9 * * * | every night → 0 20 * * *
every night at 11 → 0 23 * * * | daily → 0 9 * * * | weekly on friday at 5pm → 0 17 * * 5
隔週の火曜 10時 → 0 10 * * 2 every 2 weeks | 隔週月曜と木曜 9時 → 0 9 * * 1,4 every 2 weeks
隔週土日 → 0 9 * * 0,6 every 2 weeks | 隔週の平日 → 0 9 * * 1-5 every 2 weeks
2週間ごとの月曜 → 0 9 * * 1 every 2 weeks | 二週間毎の月曜 9時 → 0 9 * * 1 every 2 weeks
1週間おきの月曜 → 0 9 * * 1 every 2 weeks | 3週に1回 金曜の夕方 → 0 18 * * 5 every 3 weeks
3日ごとに8時 → 0 8 * * * every 3 days | ３日に一回、朝7時半 → 30 7 * * * every 3 days
一日おき → 0 9 * * * every 2 days | 隔日 7時と19時 → 0 7,19 * * * every 2 days
2か月ごとの3日 → 0 9 3 * * every 2 months | 毎月第2第4土曜 9時 → 0 9 * * 6#2,6#4
隔月1日 9時 → 0 9 1 * * every 2 months | 3ヶ月に1回、第1月曜 → 0 9 * * 1#1 every 3 months
2年ごとの12月3日 → 0 9 3 12 * every 24 months | 隔年の元日 → 0 9 1 1 * every 24 months
月曜から金曜の8時 → 0 8 * * 1-5 | 月〜金 8時 → 0 8 * * 1-5 | 月-木 8:00 → 0 8 * * 1,2,3,4
金曜から日曜 22時 → 0 22 * * 0,5,6 | 土曜から火曜 8時 → 0 8 * * 0,1,2,6 | 月曜から日曜 8時 → 0 8 * * *
月水金の7時 → 0 7 * * 1,3,5 | 月・水・金 7時 → 0 7 * * 1,3,5 | 火曜と木曜の19時 → 0 19 * * 2,4
毎日曜 9時 → 0 9 * * 0 | 週に1回 月曜 → 0 9 * * 1 | 第2水曜 → 0 9 * * 3#2 | 毎月第三金曜日 → 0 9 * * 5#3
毎月初日 → 0 9 1 * * | 毎月第2、第4水曜 9時 → 0 9 * * 3#2,3#4 | 第1・3月曜の9時 → 0 9 * * 1#1,1#3
第1月曜と第3木曜 → 0 9 * * 1#1,4#3 | 毎月最終金曜の17時 → 0 17 * * 5L | 毎月の最後の金曜 → 0 9 * * 5L
毎月最初の月曜 → 0 9 * * 1#1 | 毎月1日と15日 9時 → 0 9 1,15 * * | 毎月5・20日 → 0 9 5,20 * *
毎月末日 18時 → 0 18 L * * | 毎月31日 → 0 9 L * * | 毎月15日と31日 → 0 9 15,L * * | 毎月30日 → 0 9 30 * *
毎年2月29日 → 0 9 29 2 * | 毎年クリスマスイブ 18時 → 0 18 24 12 * | 毎年成人の日 → 0 9 * 1 1#2
毎年12月の第2水曜 → 0 9 * 12 3#2 | 毎年5月第2日曜 → 0 9 * 5 0#2 | 毎朝7時と毎晩9時 → 0 7,21 * * *
毎日朝昼晩 → 0 8,12,20 * * * | 5時間おき → every 5h | 48時間ごと → every 48h
9時から3時間ごと → 0 */3 * * * | 10時から3時間ごと → 0 1,4,7,10,13,16,19,22 * * *
every other friday → 0 9 * * 5 every 2 weeks
every two weeks on tuesday and thursday at 10 → 0 10 * * 2,4 every 2 weeks
fortnightly on monday at 9 → 0 9 * * 1 every 2 weeks | biweekly on tue → 0 9 * * 2 every 2 weeks
on alternate saturdays at 10 → 0 10 * * 6 every 2 weeks | every other weekend → 0 9 * * 0,6 every 2 weeks
every 3 days at 8 → 0 8 * * * every 3 days | every third day → 0 9 * * * every 3 days
once every two days at 7pm → 0 19 * * * every 2 days | every other day → 0 9 * * * every 2 days
every 2 months on the 3rd → 0 9 3 * * every 2 months
every other month on the last friday → 0 9 * * 5L every 2 months | every 2 hours → 0 */2 * * *
every 3 hours from 10am → 0 1,4,7,10,13,16,19,22 * * * | every 36 hours → every 36h
every weekday at 8 → 0 8 * * 1-5 | mon/wed/fri → 0 9 * * 1,3,5 | mon-fri 9am → 0 9 * * 1-5
monday to friday at 8 → 0 8 * * 1-5 | friday through sunday at 8pm → 0 20 * * 0,5,6
weekdays at 9 and 18 → 0 9,18 * * 1-5 | first monday of the month → 0 9 * * 1#1
every second tuesday of the month → 0 9 * * 2#2
second and fourth tuesday of the month at 9 → 0 9 * * 2#2,2#4
the last friday of every month at 5pm → 0 17 * * 5L | on the 1st and 15th of every month → 0 9 1,15 * *
on the 31st of every month → 0 9 L * * | monthly on the last day → 0 9 L * *
once a week on monday → 0 9 * * 1 | every year on christmas eve → 0 9 24 12 *
every thanksgiving → 0 9 * 11 4#4
0 10 * * 2 every 2 weeks from 2026-11-24 → 0 10 * * 2 every 2 weeks from 2026-11-24
0 10 * * tue EVERY 2 WEEKS → 0 10 * * TUE every 2 weeks | 0 10 * * 2 every 1 weeks → 0 10 * * 2
"""
)
REFUSED: dict[type[errors.CcBotError], str] = {
    errors.SeveralTimes: "毎日9時と18時半",
    errors.RepeatNotUnderstood: """
3日おき | 3日おきに8時 | 毎週 | 毎月 | 2か月に1回 | 1日3回 | twice a day | every second tuesday
毎年春分の日 | 毎月第6月曜 | 毎週12月3日 | 0週間ごとの月曜 | 隔週の月曜の25時 | 3日ごとに25時
0 9 * * 1 every 200 weeks | 0 9 * * 1 every 2 weeks from 2026-02-30 | 0 9 * * 1 every 2 mondays
500時間ごと | 9時から5時間ごと | 毎週月曜の25時 | 毎週金曜の深夜1時 | every other week | whenever
毎日9時に薬 | every day foo | 明日9時 | 毎月32日 | 毎年2月30日 | 0時間おき | 3時間おき 9時
""",
    errors.RepeatTooOften: "15分おき | */5 * * * * | every 5 minutes",
}
SCHEDULES = meanings(
    """
明日9時 → 11-23 09:00 | 毎朝8時 → 11-23 08:00 + 0 8 * * * | every monday at 9 → 11-23 09:00 + 0 9 * * 1
+ 毎晩10時 → 11-22 22:00 + 0 22 * * * | 18:30 + 毎日 → 11-22 18:30 + 30 18 * * *
2026-12-01T07:15 + 平日 → 12-01 07:15 + 15 7 * * 1-5 | 2026-12-01 + 毎朝8時 → 12-01 08:00 + 0 8 * * *
2026-12-01T09:00 + 0 9 * * * → 12-01 09:00 + 0 9 * * * | 11時 + every hour → 11-22 11:00 + 0 * * * *
隔週の火曜 10時 → 11-24 10:00 + 0 10 * * 2 every 2 weeks from 2026-11-24
隔週の日曜 9時 → 11-29 09:00 + 0 9 * * 0 every 2 weeks from 2026-11-29
3日ごとに8時 → 11-23 08:00 + 0 8 * * * every 3 days from 2026-11-23
every other friday → 11-27 09:00 + 0 9 * * 5 every 2 weeks from 2026-11-27
月曜から金曜の8時 → 11-23 08:00 + 0 8 * * 1-5 | 第2水曜 → 12-09 09:00 + 0 9 * * 3#2
毎月31日 → 11-30 09:00 + 0 9 L * * | 毎年2月29日 → 2028-02-29 09:00 + 0 9 29 2 *
5時間ごと → 11-22 15:30 + every 5h | 明日から毎日9時 → 11-23 09:00 + 0 9 * * *
12月1日から平日8時 → 12-01 08:00 + 0 8 * * 1-5 | 来週から毎週月曜9時 → 11-23 09:00 + 0 9 * * 1
来月から毎月1日 9時 → 12-01 09:00 + 0 9 1 * * | every tuesday from next week → 11-24 09:00 + 0 9 * * 2
次の火曜から隔週 10時 → 11-24 10:00 + 0 10 * * 2 every 2 weeks from 2026-11-24
今日から3日ごと → 11-25 09:00 + 0 9 * * * every 3 days from 2026-11-22
今日 + 3日ごとに18時 → 11-22 18:00 + 0 18 * * * every 3 days from 2026-11-22
every 3 days starting tomorrow at 8am → 11-23 08:00 + 0 8 * * * every 3 days from 2026-11-23
every other week from dec 1 → 12-01 09:00 + 0 9 * * 2 every 2 weeks from 2026-12-01
2026-11-24 10:00 + 毎週 → 11-24 10:00 + 0 10 * * 2 | 2026-11-24 10:00 + 毎月 → 11-24 10:00 + 0 10 24 * *
2026-11-24 10:00 + 毎年 → 11-24 10:00 + 0 10 24 11 *
2026-11-24 10:00 + 隔週 → 11-24 10:00 + 0 10 * * 2 every 2 weeks from 2026-11-24
2026-11-24 10:00 + 3日ごと → 11-24 10:00 + 0 10 * * * every 3 days from 2026-11-24
2026-11-24 10:00 + 2か月に1回 → 11-24 10:00 + 0 10 24 * * every 2 months from 2026-11-24
2026-11-24 10:00 + 隔週の月曜 → 11-30 10:00 + 0 10 * * 1 every 2 weeks from 2026-11-30
2026-11-24 10:00 + なし → 11-24 10:00 | 2026-11-24 10:00 + 繰り返しなし → 11-24 10:00
2026-11-24 10:00 + None → 11-24 10:00 | 毎週金曜 9時 + なし → 11-27 09:00
2026-11-24 10:00 + weekly → 11-24 10:00 + 0 10 * * 2
2026-11-24 10:00 + every 2 months → 11-24 10:00 + 0 10 24 * * every 2 months from 2026-11-24
2026-11-24 10:00 + fortnightly → 11-24 10:00 + 0 10 * * 2 every 2 weeks from 2026-11-24
2026-12-31 10:00 + 毎月 → 12-31 10:00 + 0 10 L * * | 明日9時 + 1時間ごと → 11-23 09:00 + 0 * * * *
明日9時半 + 1時間ごと → 11-23 09:30 + 30 * * * *
明日10時 + 3時間ごと → 11-23 10:00 + 0 1,4,7,10,13,16,19,22 * * *
明日10時 + 5時間ごと → 11-23 10:00 + every 5h | 2026-12-01T20:00 + 0 8,20 * * * → 12-01 20:00 + 0 8,20 * * *
1990-03-15 + 毎年 → 2027-03-15 09:00 + 0 9 15 3 *
2026-11-10 10:00 + 隔週 → 11-24 10:00 + 0 10 * * 2 every 2 weeks from 2026-11-10
2026-11-03 10:00 + 隔週 → 12-01 10:00 + 0 10 * * 2 every 2 weeks from 2026-11-03
来週末 + 毎週 → 11-28 09:00 + 0 9 * * 6 | 昨日 + 毎日 → 11-23 09:00 + 0 9 * * *
"""
)
"""When + how often → the first time, in 2026 where there is no year + how it repeats."""
NO_SCHEDULES: dict[type[errors.CcBotError], str] = {
    errors.WhenNotUnderstood: "そのうち | 0001-01-01 + 毎日 | 次の平日の9時 | そのうち + 毎週",
    errors.WhenPassed: "1700-01-01T00:00 + 隔週 | 昨日9時",
    errors.NoSuchTime: "2月30日 | 2月30日 + 毎週 | 2月30日から毎週",
    errors.RepeatNotUnderstood: """
3日おきに8時 | 1日3回 | 毎朝8時 + 平日 | 毎日9時から18時まで1時間ごと | 毎日から毎週
2026-12-31 + 毎年2月30日 | 明日 + ときどき
""",
    errors.SeveralTimes: "明日9時と18時 | 明日9時と18時 + 毎日 | 毎日9時と18時半",
    errors.RepeatTooOften: "15分おき",
}


def planned(written: str) -> tuple[str, str]:
    when, _, repeat = written.partition("+")
    moment, cron = parse_schedule(when.strip(), repeat.strip(), SUNDAY, TOKYO)
    return moment.astimezone(TOKYO).strftime("%Y-%m-%d %H:%M"), cron


class TestRepeat:
    def test_is_what_people_mean(self) -> None:
        assert {text: parse_repeat(text) for text in MEANT} == MEANT

    def test_that_is_none_is_refused(self) -> None:
        assert refused_otherwise(REFUSED, parse_repeat) == {}
        assert refused_otherwise({errors.RepeatNotUnderstood: ["", "every weekday" * 20]}, parse_repeat) == {}


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
        for when in ("9時と9時", "明日と", "月曜か火曜", "1時間後と2時間後", "明日9時と寝る前"):
            with pytest.raises(errors.WhenNotUnderstood):
                parse_schedules(when, "", SUNDAY, TOKYO)


class TestDay:
    def test_is_found_in_its_year(self) -> None:
        days = meanings(
            """
元日 2027 → 2027-01-01 | 成人の日 2027 → 2027-01-11 | 成人の日 2024 → 2024-01-08 | 海の日 2026 → 2026-07-20
敬老の日 2026 → 2026-09-21 | スポーツの日 2026 → 2026-10-12 | 春分の日 2024 → 2024-03-20
春分の日 2026 → 2026-03-20 | 春分の日 2027 → 2027-03-21 | 秋分の日 2024 → 2024-09-22
秋分の日 2026 → 2026-09-23 | thanksgiving 2026 → 2026-11-26 | 母の日 2026 → 2026-05-10
"""
        )
        found = {each: day_named(each.split()[0], int(each.split()[1])).isoformat() for each in days}
        assert found == days
        assert all(day_named(name, year).year == year for name in NAMES for year in range(2000, 2099))

    def test_that_a_month_does_not_have_or_cron_cannot_find_is_none(self) -> None:
        assert (cron_of("成人の日"), cron_of("大晦日"), cron_of("春分の日")) == ("* 1 1#2", "31 12 *", None)
        assert nth_weekday(2026, 11, 5, 0) == date(2026, 11, 30)
        assert nth_weekday(2026, 11, 0, 4) == date(2026, 11, 27)
        with pytest.raises(ValueError, match="5"):
            nth_weekday(2027, 2, 5, 0)
