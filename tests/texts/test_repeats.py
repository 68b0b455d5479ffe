"""A repeat in words, in each language."""

import re
from datetime import UTC, datetime
from zoneinfo import ZoneInfo

import pytest

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
every 5h | 5時間ごと | every 5 hours
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
0 9 31 * * | 毎月31日（ない月はお休み） 9:00 | on the 31st (when there is one) of every month at 9:00
0 9 29 2 * | 毎年2月29日（うるう年だけ） 9:00 | every year on February 29th (leap years only) at 9:00
0 9 * * 1 every 3 days from 2026-12-03 | cron「0 9 * * 1 every 3 days from 2026-12-03」の時刻 | \
at the times of cron “0 9 * * 1 every 3 days from 2026-12-03”
"""


def test_a_repeat_is_told_as_people_say_it_and_read_back_to_the_same_one() -> None:
    for line in SAID.strip().splitlines():
        repeat, *told = line.split(" | ")
        assert [described(repeat, texts(each).repeat) for each in (Locale.JA, Locale.EN)] == told
        uncounted, *_ = repeat.partition(" from ")
        for words in told:
            assert "cron" in words or parse_repeat(words) == uncounted, words


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
