"""When people mean, in what they write, `明日9時`, `next friday 18:00`, and what it is for."""

from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cc_bot.domain import errors
from cc_bot.domain.when import FURTHEST_YEARS, parse_when
from cc_bot.domain.when_and_what import split_when
from tests.domain.phrases import meanings, phrases, refused_otherwise, this_year

TOKYO = ZoneInfo("Asia/Tokyo")
BERLIN = ZoneInfo("Europe/Berlin")
NEW_YORK = ZoneInfo("America/New_York")
LORD_HOWE = ZoneInfo("Australia/Lord_Howe")
SUNDAY = datetime(2026, 11, 22, 10, 30, tzinfo=TOKYO)

MEANT = meanings(
    """
10分後 → 11-22 10:40 | 十分後に → 11-22 10:40 | 明日二十三時 → 11-23 23:00
1時間半後 → 11-22 12:00 | 半時間後 → 11-22 11:00 | 明日十時 → 11-23 10:00 | 明日二十時 → 11-23 20:00
1時間30分後 → 11-22 12:00 | 2.5時間後 → 11-22 13:00 | 3日後 → 11-25 10:30 | 3日後の9時 → 11-25 09:00
1か月後 → 12-22 10:30 | 1ヶ月後 → 12-22 10:30 | 明日9時 → 11-23 09:00 | 明日の朝 → 11-23 08:00
あさっての朝8時半 → 11-24 08:30 | 今夜 → 11-22 20:00 | 今夜9時 → 11-22 21:00 | 今夜12時 → 11-23 00:00
夜10時 → 11-22 22:00 | 夜の2時 → 11-23 02:00 | 深夜1時 → 11-23 01:00 | 今日の深夜1時 → 11-23 01:00
明日の25時 → 11-24 01:00 | 来週の金曜18:00 → 11-27 18:00 | 来週 → 11-29 09:00 | 金曜日の夕方 → 11-27 18:00
次の日曜 9時 → 11-29 09:00 | 日曜9時 → 11-29 09:00 | 日曜11時 → 11-22 11:00 | 12月3日の正午 → 12-03 12:00
12月3日(木) 9:00 → 12-03 09:00 | 12月3日木曜 9時 → 12-03 09:00 | 3日 → 12-03 09:00 | 23日 8時 → 11-23 08:00
31日 → 12-31 09:00 | 来月3日 → 12-03 09:00 | 来月末 → 12-31 09:00 | 月末の18時 → 11-30 18:00
来年1月1日 0時 → 2027-01-01 00:00 | 2月29日 → 2028-02-29 09:00 | 12/3 9:30 → 12-03 09:30
2026/12/3 → 12-03 09:00 | 2026-12-03 → 12-03 09:00 | 2026-12-03T09:00 → 12-03 09:00
2026-12-03T09:00:00Z → 12-03 18:00 | 2026-12-03 09:00+01:00 → 12-03 17:00 | 9時 → 11-23 09:00
11時 → 11-22 11:00 | 9時15分 → 11-23 09:15 | 9時5分前 → 11-23 08:55 | 午後3時 → 11-22 15:00
昼の1時 → 11-22 13:00 | 夕方5時 → 11-22 17:00 | 明日の夕 → 11-23 18:00 | in 10 minutes → 11-22 10:40
in an hour → 11-22 11:30 | in half an hour → 11-22 11:00 | in 1h30m → 11-22 12:00
in 1 hour and 30 minutes → 11-22 12:00 | in 2 days → 11-24 10:30 | in 2 days at 9am → 11-24 09:00
in a week → 11-29 10:30 | in 3 months → 2027-02-22 10:30 | 10 minutes from now → 11-22 10:40
tomorrow at 9am → 11-23 09:00 | tomorrow 9:30 pm → 11-23 21:30 | tomorrow morning → 11-23 08:00
tomorrow → 11-23 09:00 | tonight → 11-22 20:00 | tonight at 9 → 11-22 21:00
the day after tomorrow at noon → 11-24 12:00 | next friday 18:00 → 11-27 18:00 | friday → 11-27 09:00
on friday at 5pm → 11-27 17:00 | friday next week → 11-27 09:00 | next week → 11-29 09:00
next month → 12-22 09:00 | this friday → 11-27 09:00 | dec 3 noon → 12-03 12:00
Dec 3rd, 2026 at 6:15pm → 12-03 18:15 | 3 december → 12-03 09:00 | the 3rd at 9 → 12-03 09:00
end of the month → 11-30 09:00 | at 9 → 11-23 09:00 | at 11 → 11-22 11:00 | 9pm → 11-22 21:00
half past 8 → 11-23 08:30 | quarter to 9 in the evening → 11-22 20:45 | midnight → 11-23 00:00
12am → 11-23 00:00 | 9 in the morning → 11-23 09:00 | 8 o'clock → 11-23 08:00 | 20:00 → 11-22 20:00
０９：００ → 11-23 09:00 | 明日午後三時 → 11-23 15:00 | 明日の午後 → 11-23 15:00
明日の午前中 → 11-23 09:00 | 明日の3時 → 11-23 15:00 | 明日3:00 → 11-23 03:00 | 明日の朝3時 → 11-23 03:00
明日の未明3時 → 11-23 03:00 | 明日5時 → 11-23 05:00 | 3日後の2時 → 11-25 14:00 | 金曜の4時半 → 11-27 16:30
3時 → 11-22 15:00 | 今日の5時 → 11-22 17:00 | 6時半 → 11-22 18:30 | 3:00 → 11-23 03:00 | 零時 → 11-23 00:00
at 5 → 11-22 17:00 | today at 5 → 11-22 17:00 | tomorrow at 3 → 11-23 15:00 | at 3:30 → 11-22 15:30
at 03:30 → 11-23 03:30 | あさ7時 → 11-23 07:00 | よる7時 → 11-22 19:00 | 明日のゆうがた → 11-23 18:00
half past six → 11-22 18:30 | quarter to 6 pm → 11-22 17:45 | five pm → 11-22 17:00
nine o'clock → 11-23 09:00 | tonight at 1am → 11-23 01:00 | tonight at 12am → 11-23 00:00
in an hour and a half → 11-22 12:00 | in two and a half hours → 11-22 13:00 | in a fortnight → 12-06 10:30
二十三日の八時半 → 11-23 08:30 | 今から2時間後 → 11-22 12:30 | いまから10分 → 11-22 10:40
これから1時間半したら → 11-22 12:00 | あと5分 → 11-22 10:35 | あと５分で → 11-22 10:35
明日の今頃 → 11-23 10:30 | 明日の同じ時間 → 11-23 10:30 | 2週間後の同じ時間 → 12-06 10:30
来週の同じ時刻 → 11-29 10:30 | same time tomorrow → 11-23 10:30 | this time next week → 11-29 10:30
元日 → 2027-01-01 09:00 | 元日の0時 → 2027-01-01 00:00 | 大晦日 23時 → 12-31 23:00
成人の日 → 2027-01-11 09:00 | 来年の成人の日 → 2027-01-11 09:00 | 2028年の成人の日 → 2028-01-10 09:00
勤労感謝の日の朝 → 11-23 08:00 | 春分の日 → 2027-03-21 09:00 | クリスマスイブ → 12-24 09:00
クリスマスイブの18時 → 12-24 18:00 | クリスマス → 12-25 09:00 | christmas eve at 6pm → 12-24 18:00
New Year’s Eve → 12-31 09:00 | 令和8年12月1日 → 12-01 09:00 | 令和八年十二月一日 十時 → 12-01 10:00
令和９年１月１日 → 2027-01-01 09:00 | ＡＭ９時 → 11-23 09:00 | PM3時半 → 11-22 15:30 | am 9:15 → 11-23 09:15
明日PM6時 → 11-23 18:00 | 12-01 09:00 → 12-01 09:00 | 12-01 → 12-01 09:00 | 来月の第2水曜 → 12-09 09:00
来週末の10時 → 11-28 10:00 | 今度の週末 → 11-28 09:00 | next weekend at 10am → 11-28 10:00
on the weekend → 11-28 09:00 | 12月の最終金曜 18時 → 12-25 18:00 | 今月の最後の金曜 → 11-27 09:00
the first monday of next month → 12-07 09:00 | last friday of december at 5pm → 12-25 17:00
3月の最終金曜 → 2027-03-26 09:00 | 来年の3月の第1月曜 → 2027-03-01 09:00
"""
)
"""In 2026 where there is no year."""
REFUSED: dict[type[errors.InputError], str] = {
    errors.WhenNotUnderstood: """
十十時 | 2週間後の月曜 | 3日ごと | mondays at 9 | on fridays | 3秒ごとに | 明日の深夜 | 明日の深夜1時
金曜の深夜1時 | 12月3日の夜中2時 | 2月の第5月曜 2027年 | そのうち | いつか | 第2水曜 | 1時間後の同じ時間
来月の元日 | 明日9時と18時 | 9-18時 | am13時 | 午前12時 | 今日 | 13pm | 毎朝8時 | あとで | soon
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


SPLIT = meanings(
    """
明日9時 薬を飲む → 明日9時 + 薬を飲む | 明日 9時 薬を 飲む → 明日 9時 + 薬を 飲む
明日9時に薬を飲む → 明日9時に + 薬を飲む | 10分後にカップ麺 → 10分後に + カップ麺
毎朝8時 天気を見る → 毎朝8時 + 天気を見る | 12月3日の正午の会議 → 12月3日の正午の + 会議
15分おき 水 → 15分おき + 水 | tomorrow at 9 take the pills → tomorrow at 9 + take the pills
in 10 minutes 5 eggs → in 10 minutes + 5 eggs | every weekday at 9 stand up → every weekday at 9 + stand up
take the pills tomorrow at 9 → tomorrow at 9 + take the pills | 薬を明日9時に → 明日9時に + 薬を
in 10 minutes about the oven → in 10 minutes + the oven
tomorrow at 9 to call mom → tomorrow at 9 + call mom | 3時になったら会議 → 3時に + 会議
call mom in 2 hours → in 2 hours + call mom | 2026-12-03T09:00 dentist → 2026-12-03T09:00 + dentist
昨日9時 薬 → 昨日9時 + 薬 | 明日お茶を買う → 明日 + お茶を買う | 毎朝薬 → 毎朝 + 薬
会議20:30 → 20:30 + 会議 | 今日の夕飯を考える 18時 → 18時 + 今日の夕飯を考える | 9時から会議 → 9時 + 会議
明日9時 → 明日9時 + | 明日 9時に薬 → 明日 9時に + 薬 | 明日9時 10時の会議の用意 → 明日9時 + 10時の会議の用意
3秒ごと 薬 → 3秒ごと + 薬 | 隔週の火曜 10時に資源ゴミ → 隔週の火曜 10時に + 資源ゴミ
3日ごとに8時 水やり → 3日ごとに8時 + 水やり | 3日ごとに薬 → 3日ごとに + 薬
5時間おきに水 → 5時間おきに + 水 | 月水金の7時にジム → 月水金の7時に + ジム
水木さんに電話する 9時 → 9時 + 水木さんに電話する | 月曜から金曜の8時に朝会 → 月曜から金曜の8時に + 朝会
第2水曜に燃えないゴミ → 第2水曜に + 燃えないゴミ | 会議は第3金曜 → は第3金曜 + 会議
会議は隔週月曜 → は隔週月曜 + 会議 | 明日9時と18時に薬 → 明日9時と18時に + 薬
9時と21時に薬 → 9時と21時に + 薬 | 毎日9時と18時半に薬 → 毎日9時と18時半に + 薬
今から2時間後に電話 → 今から2時間後に + 電話 | 元日に年賀状 → 元日に + 年賀状
every other friday pay the cleaner → every other friday + pay the cleaner
every 3 days at 8 water the plants → every 3 days at 8 + water the plants
mon-fri at 8 stand up → mon-fri at 8 + stand up
"""
)
"""Each as its time + what it is for."""
NO_RULE = phrases("3日おきに薬 | 毎週 薬 | 1日3回薬を飲む | pills twice a day")
NOT_SPLIT = phrases(
    """
1時間以内に電話 | 9時前に薬 | 17時までに提出 | 来週中に提出 | 明日か明後日に薬 | 3日間休む | 5日分の薬をもらう
昼寝する | 朝ごはんを作る | 夜更かししない | 5pm or 6pm call | monday or tuesday call
every day at 9 or 10 pills
"""
)
"""Their time goes on, or no rule reads how often: it is not cut short."""


def wall(text: str, now: datetime, zone: ZoneInfo = TOKYO) -> str:
    return parse_when(text, now, zone).astimezone(zone).strftime("%Y-%m-%d %H:%M")


class TestTime:
    def test_is_what_people_mean(self) -> None:
        expected = {text: this_year(moment) for text, moment in MEANT.items()}
        assert {text: wall(text, SUNDAY) for text in MEANT} == expected
        assert parse_when("明日9時", SUNDAY, TOKYO).tzinfo is UTC

    def test_that_is_none_or_over_is_refused(self) -> None:
        assert refused_otherwise(REFUSED, lambda text: parse_when(text, SUNDAY, TOKYO)) == {}
        assert refused_otherwise(LONG, lambda text: parse_when(text, SUNDAY, TOKYO)) == {}

    def test_of_this_night_is_near_once_it_is_night(self) -> None:
        night = datetime(2026, 11, 23, 0, 30, tzinfo=TOKYO)
        for text in ("今夜1時", "夜の1時", "深夜1時", "25時", "tonight at 1am", "1時"):
            assert wall(text, night) == "2026-11-23 01:00", text

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
            moment = parse_when(" ".join(words), now, zone)
        except errors.InputError:
            return
        assert now < moment < now + timedelta(days=366 * FURTHEST_YEARS)


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
            moment = parse_when(text, datetime.fromisoformat(now), zone)
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
        assert (
            refused_otherwise(
                {errors.WhenNotUnderstood: no_time, errors.RepeatNotUnderstood: NO_RULE}, split_when
            )
            == {}
        )
        for written in NOT_SPLIT:
            with pytest.raises((errors.WhenNotUnderstood, errors.RepeatNotUnderstood)):
                split_when(written)
