"""When people mean, in what they write: `明日9時`, `next friday 18:00`."""

from contextlib import suppress
from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cc_bot.domain.errors import CcBotError, InputError, NoSuchTime, WhenNotUnderstood, WhenPassed, WhenTooFar
from cc_bot.domain.when import FURTHEST_YEARS, parse_when

TOKYO = ZoneInfo("Asia/Tokyo")
BERLIN = ZoneInfo("Europe/Berlin")
NEW_YORK = ZoneInfo("America/New_York")
LORD_HOWE = ZoneInfo("Australia/Lord_Howe")
SUNDAY = datetime(2026, 11, 22, 10, 30, tzinfo=TOKYO)

MEANT = [
    ("10分後", "2026-11-22 10:40"),
    ("十分後に", "2026-11-22 10:40"),
    ("1時間半後", "2026-11-22 12:00"),
    ("半時間後", "2026-11-22 11:00"),
    ("1時間30分後", "2026-11-22 12:00"),
    ("2.5時間後", "2026-11-22 13:00"),
    ("3日後", "2026-11-25 10:30"),
    ("3日後の9時", "2026-11-25 09:00"),
    ("1か月後", "2026-12-22 10:30"),
    ("1ヶ月後", "2026-12-22 10:30"),
    ("明日9時", "2026-11-23 09:00"),
    ("明日の朝", "2026-11-23 08:00"),
    ("あさっての朝8時半", "2026-11-24 08:30"),
    ("今夜", "2026-11-22 20:00"),
    ("今夜9時", "2026-11-22 21:00"),
    ("今夜12時", "2026-11-23 00:00"),
    ("夜10時", "2026-11-22 22:00"),
    ("夜の2時", "2026-11-23 02:00"),
    ("深夜1時", "2026-11-23 01:00"),
    ("今日の深夜1時", "2026-11-23 01:00"),
    ("明日の25時", "2026-11-24 01:00"),
    ("来週の金曜18:00", "2026-11-27 18:00"),
    ("来週", "2026-11-29 09:00"),
    ("金曜日の夕方", "2026-11-27 18:00"),
    ("次の日曜 9時", "2026-11-29 09:00"),
    ("日曜9時", "2026-11-29 09:00"),
    ("日曜11時", "2026-11-22 11:00"),
    ("12月3日の正午", "2026-12-03 12:00"),
    ("12月3日(木) 9:00", "2026-12-03 09:00"),
    ("12月3日木曜 9時", "2026-12-03 09:00"),
    ("3日", "2026-12-03 09:00"),
    ("23日 8時", "2026-11-23 08:00"),
    ("31日", "2026-12-31 09:00"),
    ("来月3日", "2026-12-03 09:00"),
    ("来月末", "2026-12-31 09:00"),
    ("月末の18時", "2026-11-30 18:00"),
    ("来年1月1日 0時", "2027-01-01 00:00"),
    ("2月29日", "2028-02-29 09:00"),
    ("12/3 9:30", "2026-12-03 09:30"),
    ("2026/12/3", "2026-12-03 09:00"),
    ("2026-12-03", "2026-12-03 09:00"),
    ("2026-12-03T09:00", "2026-12-03 09:00"),
    ("2026-12-03T09:00:00Z", "2026-12-03 18:00"),
    ("2026-12-03 09:00+01:00", "2026-12-03 17:00"),
    ("9時", "2026-11-23 09:00"),
    ("11時", "2026-11-22 11:00"),
    ("9時15分", "2026-11-23 09:15"),
    ("9時5分前", "2026-11-23 08:55"),
    ("午後3時", "2026-11-22 15:00"),
    ("昼の1時", "2026-11-22 13:00"),
    ("夕方5時", "2026-11-22 17:00"),
    ("明日の夕", "2026-11-23 18:00"),
    ("in 10 minutes", "2026-11-22 10:40"),
    ("in an hour", "2026-11-22 11:30"),
    ("in half an hour", "2026-11-22 11:00"),
    ("in 1h30m", "2026-11-22 12:00"),
    ("in 1 hour and 30 minutes", "2026-11-22 12:00"),
    ("in 2 days", "2026-11-24 10:30"),
    ("in 2 days at 9am", "2026-11-24 09:00"),
    ("in a week", "2026-11-29 10:30"),
    ("in 3 months", "2027-02-22 10:30"),
    ("10 minutes from now", "2026-11-22 10:40"),
    ("tomorrow at 9am", "2026-11-23 09:00"),
    ("tomorrow 9:30 pm", "2026-11-23 21:30"),
    ("tomorrow morning", "2026-11-23 08:00"),
    ("tomorrow", "2026-11-23 09:00"),
    ("tonight", "2026-11-22 20:00"),
    ("tonight at 9", "2026-11-22 21:00"),
    ("the day after tomorrow at noon", "2026-11-24 12:00"),
    ("next friday 18:00", "2026-11-27 18:00"),
    ("friday", "2026-11-27 09:00"),
    ("on friday at 5pm", "2026-11-27 17:00"),
    ("friday next week", "2026-11-27 09:00"),
    ("next week", "2026-11-29 09:00"),
    ("next month", "2026-12-22 09:00"),
    ("this friday", "2026-11-27 09:00"),
    ("dec 3 noon", "2026-12-03 12:00"),
    ("Dec 3rd, 2026 at 6:15pm", "2026-12-03 18:15"),
    ("3 december", "2026-12-03 09:00"),
    ("the 3rd at 9", "2026-12-03 09:00"),
    ("end of the month", "2026-11-30 09:00"),
    ("at 9", "2026-11-23 09:00"),
    ("at 11", "2026-11-22 11:00"),
    ("9pm", "2026-11-22 21:00"),
    ("half past 8", "2026-11-23 08:30"),
    ("quarter to 9 in the evening", "2026-11-22 20:45"),
    ("midnight", "2026-11-23 00:00"),
    ("12am", "2026-11-23 00:00"),
    ("9 in the morning", "2026-11-23 09:00"),
    ("8 o'clock", "2026-11-23 08:00"),
    ("20:00", "2026-11-22 20:00"),
    ("０９：００", "2026-11-23 09:00"),
    ("明日午後三時", "2026-11-23 15:00"),
    ("明日の午後", "2026-11-23 15:00"),
    ("明日の午前中", "2026-11-23 09:00"),
    ("明日の3時", "2026-11-23 15:00"),
    ("明日3:00", "2026-11-23 03:00"),
    ("明日の朝3時", "2026-11-23 03:00"),
    ("明日の未明3時", "2026-11-23 03:00"),
    ("明日5時", "2026-11-23 05:00"),
    ("3日後の2時", "2026-11-25 14:00"),
    ("金曜の4時半", "2026-11-27 16:30"),
    ("3時", "2026-11-22 15:00"),
    ("今日の5時", "2026-11-22 17:00"),
    ("6時半", "2026-11-22 18:30"),
    ("3:00", "2026-11-23 03:00"),
    ("零時", "2026-11-23 00:00"),
    ("at 5", "2026-11-22 17:00"),
    ("today at 5", "2026-11-22 17:00"),
    ("tomorrow at 3", "2026-11-23 15:00"),
    ("at 3:30", "2026-11-22 15:30"),
    ("at 03:30", "2026-11-23 03:30"),
    ("あさ7時", "2026-11-23 07:00"),
    ("よる7時", "2026-11-22 19:00"),
    ("明日のゆうがた", "2026-11-23 18:00"),
    ("half past six", "2026-11-22 18:30"),
    ("quarter to 6 pm", "2026-11-22 17:45"),
    ("five pm", "2026-11-22 17:00"),
    ("nine o'clock", "2026-11-23 09:00"),
    ("tonight at 1am", "2026-11-23 01:00"),
    ("tonight at 12am", "2026-11-23 00:00"),
    ("in an hour and a half", "2026-11-22 12:00"),
    ("in two and a half hours", "2026-11-22 13:00"),
    ("in a fortnight", "2026-12-06 10:30"),
    ("二十三日の八時半", "2026-11-23 08:30"),
    ("今から2時間後", "2026-11-22 12:30"),
    ("いまから10分", "2026-11-22 10:40"),
    ("これから1時間半したら", "2026-11-22 12:00"),
    ("あと5分", "2026-11-22 10:35"),
    ("あと５分で", "2026-11-22 10:35"),
    ("明日の今頃", "2026-11-23 10:30"),
    ("明日の同じ時間", "2026-11-23 10:30"),
    ("2週間後の同じ時間", "2026-12-06 10:30"),
    ("来週の同じ時刻", "2026-11-29 10:30"),
    ("same time tomorrow", "2026-11-23 10:30"),
    ("this time next week", "2026-11-29 10:30"),
    ("元日", "2027-01-01 09:00"),
    ("元日の0時", "2027-01-01 00:00"),
    ("大晦日 23時", "2026-12-31 23:00"),
    ("成人の日", "2027-01-11 09:00"),
    ("来年の成人の日", "2027-01-11 09:00"),
    ("2028年の成人の日", "2028-01-10 09:00"),
    ("勤労感謝の日の朝", "2026-11-23 08:00"),
    ("春分の日", "2027-03-21 09:00"),
    ("クリスマスイブ", "2026-12-24 09:00"),
    ("クリスマスイブの18時", "2026-12-24 18:00"),
    ("クリスマス", "2026-12-25 09:00"),
    ("christmas eve at 6pm", "2026-12-24 18:00"),
    ("New Year’s Eve", "2026-12-31 09:00"),
    ("令和8年12月1日", "2026-12-01 09:00"),
    ("令和八年十二月一日 十時", "2026-12-01 10:00"),
    ("令和９年１月１日", "2027-01-01 09:00"),
    ("ＡＭ９時", "2026-11-23 09:00"),
    ("PM3時半", "2026-11-22 15:30"),
    ("am 9:15", "2026-11-23 09:15"),
    ("明日PM6時", "2026-11-23 18:00"),
    ("12-01 09:00", "2026-12-01 09:00"),
    ("12-01", "2026-12-01 09:00"),
    ("来月の第2水曜", "2026-12-09 09:00"),
    ("来週末の10時", "2026-11-28 10:00"),
    ("今度の週末", "2026-11-28 09:00"),
    ("next weekend at 10am", "2026-11-28 10:00"),
    ("on the weekend", "2026-11-28 09:00"),
    ("12月の最終金曜 18時", "2026-12-25 18:00"),
    ("今月の最後の金曜", "2026-11-27 09:00"),
    ("the first monday of next month", "2026-12-07 09:00"),
    ("last friday of december at 5pm", "2026-12-25 17:00"),
]
REFUSED = [
    ("1日 " * 33 + "x", WhenNotUnderstood),  # took an hour
    ("1時間 と " * 20 + "x", WhenNotUnderstood),
    ("in " + "1h and " * 28 + "x", WhenNotUnderstood),
    ("十十時", WhenNotUnderstood),
    ("2週間後の月曜", WhenNotUnderstood),
    ("3日ごと", WhenNotUnderstood),
    ("mondays at 9", WhenNotUnderstood),
    ("on fridays", WhenNotUnderstood),
    ("3秒ごとに", WhenNotUnderstood),
    ("明日の深夜", WhenNotUnderstood),
    ("明日の深夜1時", WhenNotUnderstood),
    ("金曜の深夜1時", WhenNotUnderstood),
    ("12月3日の夜中2時", WhenNotUnderstood),
    ("2月30日", NoSuchTime),
    ("feb 30", NoSuchTime),
    ("令和8年2月30日", NoSuchTime),
    ("02-30", NoSuchTime),
    ("13月1日", NoSuchTime),
    ("2月の第5月曜 2027年", WhenNotUnderstood),
    ("2027年2月の第5月曜", NoSuchTime),
    ("令和元年5月1日", WhenPassed),
    ("そのうち", WhenNotUnderstood),
    ("いつか", WhenNotUnderstood),
    ("第2水曜", WhenNotUnderstood),
    ("1時間後の同じ時間", WhenNotUnderstood),
    ("来月の元日", WhenNotUnderstood),
    ("明日9時と18時", WhenNotUnderstood),
    ("9-18時", WhenNotUnderstood),
    ("am13時", WhenNotUnderstood),
    ("今日の9時", WhenPassed),
    ("今日の3:00", WhenPassed),
    ("今日の朝5時", WhenPassed),
    ("今週の金曜", WhenPassed),
    ("12月3日（金）9:00", NoSuchTime),
    ("12月3日金曜 9時", NoSuchTime),
    ("2027年2月29日", NoSuchTime),
    ("午前12時", WhenNotUnderstood),
    ("昨日9時", WhenPassed),
    ("今日", WhenNotUnderstood),
    ("13pm", WhenNotUnderstood),
    ("25:99", NoSuchTime),
    ("99時", NoSuchTime),
    ("毎朝8時", WhenNotUnderstood),
    ("あとで", WhenNotUnderstood),
    ("soon", WhenNotUnderstood),
    ("2026-13-01", NoSuchTime),
    ("2026-02-30T09:00", NoSuchTime),
    ("2050-01-01", WhenTooFar),
    ("明日 明後日", WhenNotUnderstood),
    ("in 99999 years", WhenNotUnderstood),
    ("in 9999 days", WhenTooFar),
    ("", WhenNotUnderstood),
    ("   ", WhenNotUnderstood),
    ("の", WhenNotUnderstood),
    ("9", WhenNotUnderstood),
    ("朝から", WhenNotUnderstood),
    ("0分後", WhenPassed),
    ("1.5日後", WhenNotUnderstood),
    ("1時間後の9時", WhenNotUnderstood),
    ("0月0日", WhenNotUnderstood),
    ("12月32日", NoSuchTime),
    ("0日", WhenNotUnderstood),
    ("2020年1月1日", WhenPassed),
    ("2020-01-01T00:00Z", WhenPassed),
    ("9999-12-31T23:59", WhenTooFar),
    ("9999-12-31T23:59-12:00", WhenNotUnderstood),
    ("0001-01-01T00:00+14:00", WhenNotUnderstood),
    ("明日" * 200, WhenNotUnderstood),
    ("1" * 5000, WhenNotUnderstood),
    ("明日9時 <@123>", WhenNotUnderstood),
    ("tomorrow or friday", WhenNotUnderstood),
]
WORDS = (
    *("明日", "来週", "金曜", "12月3日", "31日", "9時", "25時", "半", "朝", "夜", "午後", "正午", "10分後"),
    *("3日後", "月末", "2月29日", "tomorrow", "next", "friday", "week", "dec", "3rd", "at", "9", "pm"),
    *("元日", "成人の日", "今頃", "同じ時間", "あと5分", "第2水曜", "来月", "令和9年", "am9時", "12-01"),
    *("noon", "midnight", "in", "2", "days", "hours", "10:30", "2026-12-03", "の", "に"),
)


def wall(text: str, now: datetime, zone: ZoneInfo = TOKYO) -> str:
    return parse_when(text, now, zone).astimezone(zone).strftime("%Y-%m-%d %H:%M")


class TestTime:
    @pytest.mark.parametrize(("text", "expected"), MEANT)
    def test_is_what_people_mean(self, text: str, expected: str) -> None:
        assert wall(text, SUNDAY) == expected

    @pytest.mark.parametrize(("text", "error"), REFUSED)
    def test_that_is_none_or_over_is_refused(self, text: str, error: type[CcBotError]) -> None:
        with pytest.raises(error):
            parse_when(text, SUNDAY, TOKYO)

    @pytest.mark.parametrize("text", ["今夜1時", "夜の1時", "深夜1時", "25時", "tonight at 1am", "1時"])
    def test_of_this_night_is_near_once_it_is_night(self, text: str) -> None:
        assert wall(text, datetime(2026, 11, 23, 0, 30, tzinfo=TOKYO)) == "2026-11-23 01:00"

    def test_is_told_in_utc(self) -> None:
        moment = parse_when("明日9時", SUNDAY, TOKYO)
        assert (moment, moment.tzinfo) == (datetime(2026, 11, 23, tzinfo=UTC), UTC)

    def test_of_a_weekday_that_is_over_is_next_weeks(self) -> None:
        assert wall("日曜9時", SUNDAY) == "2026-11-29 09:00"

    def test_ends_so_many_years_on(self) -> None:
        with pytest.raises(WhenTooFar) as refused:
            parse_when("11年後", SUNDAY, TOKYO)
        assert refused.value.params == {"limit": FURTHEST_YEARS}

    def test_on_the_last_of_a_month_stays_in_the_next(self) -> None:
        assert wall("1か月後", datetime(2027, 1, 31, 9, tzinfo=TOKYO)) == "2027-02-28 09:00"

    @given(st.text(max_size=40))
    def test_is_read_or_refused_whatever_is_written(self, text: str) -> None:
        with suppress(InputError):
            assert parse_when(text, SUNDAY, TOKYO) > SUNDAY

    @given(
        st.lists(
            st.sampled_from(WORDS),
            max_size=6,
        ),
        st.sampled_from([TOKYO, BERLIN, NEW_YORK, LORD_HOWE]),
        st.integers(1_767_225_600, 1_893_455_999),
    )
    def test_is_always_still_to_come(self, words: list[str], zone: ZoneInfo, second: int) -> None:
        now = datetime.fromtimestamp(second, UTC)
        try:
            moment = parse_when(" ".join(words), now, zone)
        except InputError:
            return
        assert now < moment < now + timedelta(days=366 * FURTHEST_YEARS)


class TestClockChange:
    @pytest.mark.parametrize(
        ("zone", "now", "text", "expected"),
        [
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
            (NEW_YORK, "2026-11-01T00:50-04:00", "in 20 minutes", "2026-11-01T01:10-04:00"),
            (NEW_YORK, "2026-11-01T01:50-04:00", "in 20 minutes", "2026-11-01T01:10-05:00"),
            (LORD_HOWE, "2027-04-03T12:00+11:00", "in 1 day", "2027-04-04T12:00+10:30"),
        ],
    )
    def test_neither_loses_nor_repeats_a_time(
        self, zone: ZoneInfo, now: str, text: str, expected: str
    ) -> None:
        moment = parse_when(text, datetime.fromisoformat(now), zone)
        assert moment == datetime.fromisoformat(expected)
