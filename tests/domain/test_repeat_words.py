"""What people mean to come again, in what they write: `毎朝8時`, `every weekday at 9`."""

from contextlib import suppress
from datetime import datetime
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cc_bot.domain.errors import (
    CcBotError,
    InputError,
    RepeatNotUnderstood,
    RepeatTooOften,
    WhenNotUnderstood,
    WhenPassed,
)
from cc_bot.domain.repeat_words import parse_repeat, parse_schedule

TOKYO = ZoneInfo("Asia/Tokyo")
SUNDAY = datetime(2026, 11, 22, 10, 30, tzinfo=TOKYO)

MEANT = [
    ("毎朝8時", "0 8 * * *"),
    ("毎朝", "0 8 * * *"),
    ("毎日", "0 9 * * *"),
    ("毎日8時と20時", "0 8,20 * * *"),
    ("毎日 朝8時と夜8時", "0 8,20 * * *"),
    ("毎晩10時", "0 22 * * *"),
    ("毎晩", "0 20 * * *"),
    ("平日9時", "0 9 * * 1-5"),
    ("平日の朝", "0 8 * * 1-5"),
    ("週末の10時", "0 10 * * 0,6"),
    ("土日 10時", "0 10 * * 0,6"),
    ("毎週月曜 9:00", "0 9 * * 1"),
    ("毎週月・水・金 9時", "0 9 * * 1,3,5"),
    ("毎週月曜日と木曜日の18時", "0 18 * * 1,4"),
    ("毎週月水金 7:30", "30 7 * * 1,3,5"),
    ("毎週日曜", "0 9 * * 0"),
    ("毎週日曜日の朝", "0 8 * * 0"),
    ("毎月曜9時", "0 9 * * 1"),
    ("毎月3日", "0 9 3 * *"),
    ("毎月の3日 10時", "0 10 3 * *"),
    ("毎月末", "0 9 L * *"),
    ("毎月第2月曜 9時", "0 9 * * 1#2"),
    ("毎年1月1日 0時", "0 0 1 1 *"),
    ("毎時", "0 * * * *"),
    ("毎時15分", "15 * * * *"),
    ("3時間おき", "0 */3 * * *"),
    ("毎日25時", "0 1 * * *"),
    ("毎日深夜1時", "0 1 * * *"),
    ("毎日3時", "0 15 * * *"),
    ("毎朝5時", "0 5 * * *"),
    ("every monday at 3", "0 15 * * 1"),
    ("0 9 * * 1-5", "0 9 * * 1-5"),
    ("0 9 * * MON", "0 9 * * MON"),
    ("every day at 8am", "0 8 * * *"),
    ("every morning", "0 8 * * *"),
    ("every weekday at 9", "0 9 * * 1-5"),
    ("weekdays 9:30", "30 9 * * 1-5"),
    ("every monday", "0 9 * * 1"),
    ("every monday and thursday at 6pm", "0 18 * * 1,4"),
    ("mondays, wednesdays and fridays at 7:00", "0 7 * * 1,3,5"),
    ("every first monday of the month at 9am", "0 9 * * 1#1"),
    ("every month on the 3rd at noon", "0 12 3 * *"),
    ("on the 3rd of every month", "0 9 3 * *"),
    ("every year on dec 25 at 8am", "0 8 25 12 *"),
    ("every hour", "0 * * * *"),
    ("every 6 hours", "0 */6 * * *"),
    ("at 9 every day", "0 9 * * *"),
    ("every night", "0 20 * * *"),
    ("every night at 11", "0 23 * * *"),
    ("daily", "0 9 * * *"),
    ("weekly on friday at 5pm", "0 17 * * 5"),
]
REFUSED = [
    ("毎日9時と18時半", RepeatNotUnderstood),
    ("5時間おき", RepeatNotUnderstood),
    ("15分おき", RepeatTooOften),
    ("隔週月曜", RepeatNotUnderstood),
    ("毎週月曜の25時", RepeatNotUnderstood),
    ("毎週金曜の深夜1時", RepeatNotUnderstood),
    ("*/5 * * * *", RepeatTooOften),
    ("every 5 minutes", RepeatTooOften),
    ("every other week", RepeatNotUnderstood),
    ("whenever", RepeatNotUnderstood),
    ("毎日9時に薬", RepeatNotUnderstood),
    ("every day foo", RepeatNotUnderstood),
    ("", RepeatNotUnderstood),
    ("明日9時", RepeatNotUnderstood),
    ("毎月32日", RepeatNotUnderstood),
    ("毎年2月30日", RepeatNotUnderstood),
    ("0時間おき", RepeatNotUnderstood),
    ("3時間おき 9時", RepeatNotUnderstood),
    ("every weekday" * 20, RepeatNotUnderstood),
]


class TestRepeat:
    @pytest.mark.parametrize(("text", "cron"), MEANT)
    def test_is_what_people_mean(self, text: str, cron: str) -> None:
        assert parse_repeat(text) == cron

    @pytest.mark.parametrize(("text", "error"), REFUSED)
    def test_that_is_none_is_refused(self, text: str, error: type[CcBotError]) -> None:
        with pytest.raises(error):
            parse_repeat(text)

    @given(st.text(max_size=40))
    def test_is_read_or_refused_whatever_is_written(self, text: str) -> None:
        with suppress(InputError):
            assert len(parse_repeat(text).split()) == 5


class TestSchedule:
    @pytest.mark.parametrize(
        ("when", "repeat", "first", "cron"),
        [
            ("明日9時", "", "2026-11-23 09:00", ""),
            ("毎朝8時", "", "2026-11-23 08:00", "0 8 * * *"),
            ("every monday at 9", " ", "2026-11-23 09:00", "0 9 * * 1"),
            ("", "毎晩10時", "2026-11-22 22:00", "0 22 * * *"),
            ("18:30", "毎日", "2026-11-22 18:30", "30 18 * * *"),
            ("2026-12-01T07:15", "平日", "2026-12-01 07:15", "15 7 * * 1-5"),
            ("2026-12-01", "毎朝8時", "2026-12-01 08:00", "0 8 * * *"),
            ("2026-12-01T09:00", "0 9 * * *", "2026-12-01 09:00", "0 9 * * *"),
            ("11時", "every hour", "2026-11-22 11:00", "0 * * * *"),
        ],
    )
    def test_begins_with_the_first_time(self, when: str, repeat: str, first: str, cron: str) -> None:
        moment, found = parse_schedule(when, repeat, SUNDAY, TOKYO)
        assert (moment.astimezone(TOKYO).strftime("%Y-%m-%d %H:%M"), found) == (first, cron)

    @pytest.mark.parametrize(
        ("when", "repeat", "error"),
        [
            ("", "", WhenNotUnderstood),
            ("そのうち", "", WhenNotUnderstood),
            ("昨日", "毎日", WhenPassed),
            ("明日", "ときどき", RepeatNotUnderstood),
            ("15分おき", "", RepeatTooOften),
        ],
    )
    def test_that_makes_no_sense_is_refused(self, when: str, repeat: str, error: type[CcBotError]) -> None:
        with pytest.raises(error):
            parse_schedule(when, repeat, SUNDAY, TOKYO)
