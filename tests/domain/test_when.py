"""When people mean, in what they write, `明日9時`, `next friday 18:00`, and what it is for."""

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cc_bot.domain import errors
from cc_bot.domain.when.resolve import MAX_YEARS_AHEAD, read_moments, split_when
from tests.domain.phrases import meanings, phrases, refused_otherwise, table, this_year

TOKYO = ZoneInfo("Asia/Tokyo")
BERLIN = ZoneInfo("Europe/Berlin")
NEW_YORK = ZoneInfo("America/New_York")
LORD_HOWE = ZoneInfo("Australia/Lord_Howe")
SUNDAY = datetime(2026, 11, 22, 10, 30, tzinfo=TOKYO)

MEANT = meanings(table("when"))
"""In 2026 where there is no year."""
REFUSED: dict[type[errors.InputError], str] = {
    errors.WhenNotUnderstood: """
十十時 | 2週間後の月曜 | 3日ごと | mondays at 9 | on fridays | 3秒ごとに | 明日の深夜 | 明日の深夜1時
金曜の深夜1時 | 12月3日の夜中2時 | 2月の第5月曜 2027年 | そのうち | いつか | 第2水曜 | 1時間後の同じ時間
来月の元日 | 明日9時と18時 | 9-18時 | 午前12時 | 今日 | 13pm | 毎朝8時 | あとで | soon
明日 明後日 | in 99999 years | の | 9 | 朝から | 1.5日後 | 1時間後の9時 | 0月0日 | 0日
9999-12-31T23:59-12:00 | 0001-01-01T00:00+14:00 | 明日9時 <@123> | tomorrow or friday
""",
    errors.NoSuchTime: """
2月30日 | feb 30 | 令和8年2月30日 | 02-30 | 13月1日 | 2027年2月の第5月曜 | 12月3日（金）9:00
12月3日金曜 9時 | 2027年2月29日 | 25:99 | 99時 | 2026-13-01 | 2026-02-30T09:00 | 12月32日
""",
    errors.WhenPassed: """
令和元年5月1日 | 今日の9時 | 今日の3:00 | 今日の朝5時 | 今週の金曜 | 昨日9時 | 0分後 | 2020年1月1日
2020-01-01T00:00Z
""",
    errors.WhenTooFar: "2050-01-01 | in 9999 days | 9999-12-31T23:59",
}
LONG = {  # some of these took an hour
    errors.WhenNotUnderstood: [
        *("1日 " * 33 + "x", "1時間 と " * 20 + "x", "in " + "1h and " * 28 + "x", "明日" * 200, "1" * 5000),
        *("二三十時", "明日十十時", "十十十日", "一" * 200 + "時", "十" * 199 + "日", "", "   "),
    ]
}
WORDS = (
    *("明日", "来週", "金曜", "12月3日", "31日", "9時", "25時", "半", "朝", "夜", "午後", "正午", "10分後"),
    *("3日後", "月末", "2月29日", "tomorrow", "next", "friday", "week", "dec", "3rd", "at", "9", "pm"),
    *("元日", "成人の日", "今頃", "同じ時間", "あと5分", "第2水曜", "来月", "令和9年", "am9時", "12-01"),
    *("noon", "midnight", "in", "2", "days", "hours", "10:30", "2026-12-03", "の", "に"),
)


SPLIT = meanings(table("when_and_what"))
"""Each as its time + what it is for."""
NO_RULE = phrases("3日おきに薬 | 毎週 薬 | 1日3回薬を飲む | pills twice a day")
NOT_SPLIT = phrases(
    """
1時間以内に電話 | 9時前に薬 | 17時までに提出 | 来週中に提出 | 明日か明後日に薬 | 3日間休む | 5日分の薬をもらう
昼寝する | 朝ごはんを作る | 夜更かししない | 5pm or 6pm call | monday or tuesday call
every day at 9 or 10 pills | every friday until christmas at 18 call | 毎日9時(祝日を除く) 薬
in 10 minutes and 20 minutes call | 明日から1週間毎日9時 薬 | every friday at 18 swim until christmas
明日の深夜 電話 | every day at 9 pills for 3 days | 毎日8時 薬を飲む 3回まで
"""
)
"""Their time goes on, or no rule reads how often: it is not cut short."""


def read_when(text: str, now: datetime, zone: ZoneInfo) -> datetime:
    moment, *others = read_moments(text, now, zone)
    if others:
        raise errors.WhenNotUnderstood
    return moment.moment


def wall(text: str, now: datetime, zone: ZoneInfo = TOKYO) -> str:
    return read_when(text, now, zone).astimezone(zone).strftime("%Y-%m-%d %H:%M")


class TestTime:
    def test_is_what_people_mean(self) -> None:
        expected = {text: this_year(moment) for text, moment in MEANT.items()}
        assert {text: wall(text, SUNDAY) for text in MEANT} == expected
        assert read_when("明日9時", SUNDAY, TOKYO).tzinfo is UTC

    def test_that_is_none_or_over_is_refused(self) -> None:
        assert refused_otherwise(REFUSED, lambda text: read_when(text, SUNDAY, TOKYO)) == {}
        assert refused_otherwise(LONG, lambda text: read_when(text, SUNDAY, TOKYO)) == {}

    def test_of_this_night_is_near_once_it_is_night(self) -> None:
        night = datetime(2026, 11, 23, 0, 30, tzinfo=TOKYO)
        for text in ("今夜1時", "夜の1時", "深夜1時", "25時", "tonight at 1am", "1時"):
            assert wall(text, night) == "2026-11-23 01:00", text

    def test_of_an_hour_that_is_over_is_in_the_afternoon_tomorrow_too(self) -> None:
        for text in ("3時", "at 3"):
            assert wall(text, datetime(2026, 11, 22, 16, tzinfo=TOKYO)) == "2026-11-23 15:00", text

    def test_at_the_end_of_the_month_is_today_on_that_day(self) -> None:
        last = datetime(2026, 11, 30, 8, tzinfo=TOKYO)
        for text in ("月末", "the last day of the month"):
            assert wall(text, last) == "2026-11-30 09:00"
            with pytest.raises(errors.WhenPassed):
                wall(text, last + timedelta(hours=3))

    def test_ends_in_the_month_after_a_long_one(self) -> None:
        assert wall("1か月後", datetime(2027, 1, 31, 9, tzinfo=TOKYO)) == "2027-02-28 09:00"

    @given(
        st.lists(st.sampled_from(WORDS), max_size=6),
        st.sampled_from([TOKYO, BERLIN, NEW_YORK, LORD_HOWE]),
        st.integers(1_767_225_600, 1_893_455_999),
    )
    def test_is_always_still_to_come(self, words: list[str], zone: ZoneInfo, second: int) -> None:
        now = datetime.fromtimestamp(second, UTC)
        try:
            moment = read_when(" ".join(words), now, zone)
        except errors.InputError:
            return
        assert now < moment < now + timedelta(days=366 * MAX_YEARS_AHEAD)


class TestClockChange:
    def test_neither_loses_nor_repeats_a_time(self) -> None:
        for zone, now, text, expected in (
            # left out: as much later
            (BERLIN, "2027-03-27T12:00+01:00", "明日 2:30", "2027-03-28T03:30+02:00"),
            (NEW_YORK, "2027-03-13T12:00-05:00", "tomorrow at 2:30am", "2027-03-14T03:30-04:00"),
            (LORD_HOWE, "2026-10-03T12:00+10:30", "2026-10-04T02:15", "2026-10-04T02:45+11:00"),
            # there twice: the first
            (BERLIN, "2026-10-24T12:00+02:00", "明日 2:30", "2026-10-25T02:30+02:00"),
            (NEW_YORK, "2026-10-31T12:00-04:00", "2026-11-01T01:30", "2026-11-01T01:30-04:00"),
            (LORD_HOWE, "2027-04-03T12:00+11:00", "明日 1:45", "2027-04-04T01:45+11:00"),
            # there twice, and the first is over
            (BERLIN, "2026-10-25T02:40+02:00", "2:30", "2026-10-25T02:30+01:00"),
            (BERLIN, "2026-10-25T02:10+01:00", "2:30", "2026-10-25T02:30+01:00"),
            (BERLIN, "2026-10-25T02:40+01:00", "2:30", "2026-10-26T02:30+01:00"),
            # hours pass, days are counted
            (BERLIN, "2027-03-27T12:00+01:00", "24時間後", "2027-03-28T13:00+02:00"),
            (BERLIN, "2027-03-27T12:00+01:00", "1日後", "2027-03-28T12:00+02:00"),
            (NEW_YORK, "2026-11-01T01:50-04:00", "in 20 minutes", "2026-11-01T01:10-05:00"),
            (LORD_HOWE, "2027-04-03T12:00+11:00", "in 1 day", "2027-04-04T12:00+10:30"),
        ):
            moment = read_when(text, datetime.fromisoformat(now), zone)
            assert moment == datetime.fromisoformat(expected), (now, text)


class TestTimeAndWhatItIsFor:
    def test_are_taken_apart(self) -> None:
        expected = {}
        for written, parts in SPLIT.items():
            when, _, what = parts.partition(" +")
            expected[written] = when, what.strip()
        assert {written: split_when(written) for written in SPLIT} == expected

    def test_are_not_where_there_is_no_time_or_it_goes_on(self) -> None:
        no_time = ["", *phrases("薬を飲む | take the pills | そのうち薬 | monitor 9")]
        refused: dict[type[errors.InputError], Sequence[str]] = {
            errors.WhenNotUnderstood: no_time,
            errors.RepeatNotUnderstood: NO_RULE,
        }
        assert refused_otherwise(refused, split_when) == {}
        for written in NOT_SPLIT:
            with pytest.raises((errors.WhenNotUnderstood, errors.RepeatNotUnderstood)):
                split_when(written)
