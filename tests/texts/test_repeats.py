"""A repeat in words, in each language."""

import re
from datetime import UTC, datetime
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cc_bot.domain import Locale
from cc_bot.domain.errors import RepeatNotUnderstood, SeveralTimes, WhenNotUnderstood
from cc_bot.domain.repeats import parse_repeat, parse_schedules
from cc_bot.texts import explain, texts
from cc_bot.texts.commands import command_names
from cc_bot.texts.reminder import described

SAID = """
0 8 * * * | 毎日 8:00 | every day at 8:00
5 8,20 * * * | 毎日 8:05・20:05 | every day at 8:05 and 20:05
0 9 * * 1-5 | 平日 9:00 | every weekday at 9:00
0 10 * * 0,6 | 毎週土・日曜 10:00 | every Saturday and Sunday at 10:00
30 7 * * 0,1,3 | 毎週月・水・日曜 7:30 | every Monday, Wednesday and Sunday at 7:30
0 9 * * 1#2 | 毎月第2月曜 9:00 | every 2nd Monday of the month at 9:00
0 9 * * 5L | 毎月最後の金曜 9:00 | every last Friday of the month at 9:00
0 9 3 * * | 毎月3日 9:00 | on the 3rd of every month at 9:00
0 9 1,15 * * | 毎月1日・15日 9:00 | on the 1st and 15th of every month at 9:00
0 9 L * * | 毎月末日 9:00 | on the last day of every month at 9:00
0 0 1 1 * | 毎年1月1日 0:00 | every year on January 1st at 0:00
0 * * * * | 1時間ごと | every hour
15 * * * * | 毎時15分 | every hour, 15 minutes past
0 */3 * * * | 3時間ごと | every 3 hours
every 6h | 6時間ごと | every 6 hours
0 9 1-7 * 1 | cron「0 9 1-7 * 1」の時刻 | at the times of cron “0 9 1-7 * 1”
15 */3 * * * | 3時間ごと（0:15から） | every 3 hours from 0:15
0 1,4,7,10,13,16,19,22 * * * | 3時間ごと（1:00から） | every 3 hours from 01:00
0 8 * * * every 3 days from 2026-11-23 | 3日ごと 8:00 | every 3 days at 8:00
0 10 * * 2 every 2 weeks from 2026-11-24 | 2週間ごとの火曜 10:00 | every 2 weeks on Tuesday at 10:00
0 9 3 * * every 2 months from 2026-12-03 | 2か月ごとの3日 9:00 | every 2 months on the 3rd at 9:00
0 9 * * 3#2 every 2 months from 2026-12-03 | 2か月ごとの第2水曜 9:00 | \
every 2 months on the 2nd Wednesday at 9:00
0 9 3 12 * every 24 months from 2026-12-03 | 2年ごとの12月3日 9:00 | every 2 years on December 3rd at 9:00
0 9 * * 3#2,3#4 | 毎月第2水曜・第4水曜 9:00 | every 2nd Wednesday and 4th Wednesday of the month at 9:00
0 9 * 1 1#2 | 毎年1月の第2月曜 9:00 | every year on the 2nd Monday of January at 9:00
0 9 30 * * | 毎月30日（ない月はお休み） 9:00 | on the 30th (when there is one) of every month at 9:00
0 9 29 2 * | 毎年2月29日（うるう年だけ） 9:00 | every year on February 29th (leap years only) at 9:00
0 9 * * 1 every 3 days from 2026-12-03 | cron「0 9 * * 1 every 3 days from 2026-12-03」の時刻 | \
at the times of cron “0 9 * * 1 every 3 days from 2026-12-03”
"""


def test_a_repeat_is_told_as_people_say_it() -> None:
    rows = [line.split(" | ") for line in SAID.strip().splitlines()]
    for repeat, *told in rows:
        assert [described(repeat, texts(each).repeat) for each in (Locale.JA, Locale.EN)] == told


def listed(low: int, high: int, most: int) -> st.SearchStrategy[str]:
    return st.sets(st.integers(low, high), min_size=1, max_size=most).map(
        lambda numbers: ",".join(map(str, sorted(numbers)))
    )


TIMES = st.builds(lambda minute, hours: f"{minute} {hours}", st.integers(0, 59), listed(0, 23, 4))
WEEKDAYS = listed(0, 6, 4)
MONTH_DAYS = listed(1, 31, 3).map(lambda days: f"{days} * *") | st.just("L * *")
NTH_DAYS = st.sets(st.tuples(st.integers(0, 6), st.integers(0, 5)), min_size=1, max_size=3).map(
    lambda days: ",".join(f"{day}#{nth}" if nth else f"{day}L" for day, nth in sorted(days))
)
OF_WEEK = WEEKDAYS.map(lambda days: f"* * {days}") | st.just("* * 1-5")
OF_MONTH = MONTH_DAYS | NTH_DAYS.map(lambda days: f"* * {days}")
OF_YEAR = st.sampled_from(["29 2 *", "31 1 *", "3 12 *"]) | st.builds(
    lambda month, days: f"* {month} {days}", st.integers(1, 12), NTH_DAYS
)
COUNTS = st.integers(2, 9)
REPEATS = (
    st.builds(lambda times, days: f"{times} {days}", TIMES, st.just("* * *") | OF_WEEK | OF_MONTH | OF_YEAR)
    | st.builds(lambda times, count: f"{times} * * * every {count} days", TIMES, COUNTS)
    | st.builds(lambda times, days, count: f"{times} {days} every {count} weeks", TIMES, OF_WEEK, COUNTS)
    | st.builds(lambda times, days, count: f"{times} {days} every {count} months", TIMES, OF_MONTH, COUNTS)
    | st.builds(
        lambda times, days, count: f"{times} {days} every {count * 12} months", TIMES, OF_YEAR, COUNTS
    )
    | st.sampled_from([2, 3, 4, 6, 8, 12]).map(lambda hours: f"0 */{hours} * * *")
    | st.integers(0, 59).map(lambda minute: f"{minute} * * * *")
    | st.sampled_from([5, 7, 36, 168]).map(lambda hours: f"every {hours}h")
)
"""Each that the rules make of words."""


@given(repeat=REPEATS, locale=st.sampled_from(Locale))
def test_words_for_a_repeat_read_back_to_the_same_one(repeat: str, locale: Locale) -> None:
    told = described(repeat, texts(locale).repeat)
    assert "cron" not in told
    assert parse_repeat(told) == repeat


@pytest.mark.parametrize("locale", list(Locale))
def test_examples_of_options_and_refusals_are_read(locale: Locale) -> None:
    now, tokyo = datetime(2026, 11, 22, 10, 30, tzinfo=UTC), ZoneInfo("Asia/Tokyo")
    for name in ("remind_when_description", "remind_repeat_description"):
        for example in re.split(r"、|, ", command_names(locale)[name].partition(": ")[2]):
            when, repeat = ("2026-12-01", example) if "repeat" in name else (example, "")
            assert parse_schedules(when, repeat, now, tokyo), example
    for error in (RepeatNotUnderstood(), WhenNotUnderstood(), SeveralTimes()):
        for example in re.findall(r"「([^」]+)」", explain(error, texts(Locale.JA))):
            assert parse_schedules(example, "", now, tokyo), example
