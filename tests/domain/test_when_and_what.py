"""Where the time ends and what it is for begins."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cc_bot.domain.errors import RepeatNotUnderstood, WhenNotUnderstood
from cc_bot.domain.when_and_what import split_when


class TestLine:
    @pytest.mark.parametrize(
        ("written", "when", "what"),
        [
            ("明日9時 薬を飲む", "明日9時", "薬を飲む"),
            ("明日 9時 薬を 飲む", "明日 9時", "薬を 飲む"),
            ("明日9時に薬を飲む", "明日9時に", "薬を飲む"),
            ("10分後にカップ麺", "10分後に", "カップ麺"),
            ("毎朝8時 天気を見る", "毎朝8時", "天気を見る"),
            ("12月3日の正午の会議", "12月3日の正午の", "会議"),
            ("15分おき 水", "15分おき", "水"),
            ("tomorrow at 9 take the pills", "tomorrow at 9", "take the pills"),
            ("in 10 minutes 5 eggs", "in 10 minutes", "5 eggs"),
            ("every weekday at 9 stand up", "every weekday at 9", "stand up"),
            ("take the pills tomorrow at 9", "tomorrow at 9", "take the pills"),
            ("薬を明日9時に", "明日9時に", "薬を"),
            ("in 10 minutes about the oven", "in 10 minutes", "the oven"),
            ("tomorrow at 9 to call mom", "tomorrow at 9", "call mom"),
            ("3時になったら会議", "3時に", "会議"),
            ("call mom in 2 hours", "in 2 hours", "call mom"),
            ("2026-12-03T09:00 dentist", "2026-12-03T09:00", "dentist"),
            ("昨日9時 薬", "昨日9時", "薬"),
            ("明日お茶を買う", "明日", "お茶を買う"),
            ("毎朝薬", "毎朝", "薬"),
            ("会議20:30", "20:30", "会議"),
            ("今日の夕飯を考える 18時", "18時", "今日の夕飯を考える"),
            ("9時から会議", "9時", "会議"),
            ("明日9時", "明日9時", ""),
            ("明日 9時に薬", "明日 9時に", "薬"),
            ("明日9時 10時の会議の用意", "明日9時", "10時の会議の用意"),
            ("3秒ごと 薬", "3秒ごと", "薬"),
            ("隔週の火曜 10時に資源ゴミ", "隔週の火曜 10時に", "資源ゴミ"),
            ("3日ごとに8時 水やり", "3日ごとに8時", "水やり"),
            ("3日ごとに薬", "3日ごとに", "薬"),
            ("5時間おきに水", "5時間おきに", "水"),
            ("月水金の7時にジム", "月水金の7時に", "ジム"),
            ("水木さんに電話する 9時", "9時", "水木さんに電話する"),
            ("月曜から金曜の8時に朝会", "月曜から金曜の8時に", "朝会"),
            ("第2水曜に燃えないゴミ", "第2水曜に", "燃えないゴミ"),
            ("会議は第3金曜", "は第3金曜", "会議"),
            ("会議は隔週月曜", "は隔週月曜", "会議"),
            ("明日9時と18時に薬", "明日9時と18時に", "薬"),
            ("9時と21時に薬", "9時と21時に", "薬"),
            ("毎日9時と18時半に薬", "毎日9時と18時半に", "薬"),
            ("今から2時間後に電話", "今から2時間後に", "電話"),
            ("元日に年賀状", "元日に", "年賀状"),
            ("every other friday pay the cleaner", "every other friday", "pay the cleaner"),
            ("every 3 days at 8 water the plants", "every 3 days at 8", "water the plants"),
            ("mon-fri at 8 stand up", "mon-fri at 8", "stand up"),
        ],
    )
    def test_is_taken_apart(self, written: str, when: str, what: str) -> None:
        assert split_when(written) == (when, what)

    @pytest.mark.parametrize("written", ["", "薬を飲む", "take the pills", "そのうち薬", "monitor 9"])
    def test_without_a_time_is_refused(self, written: str) -> None:
        with pytest.raises(WhenNotUnderstood):
            split_when(written)

    @pytest.mark.parametrize("written", ["3日おきに薬", "毎週 薬", "1日3回薬を飲む", "pills twice a day"])
    def test_with_a_repeat_that_no_rule_reads_is_refused_as_such(self, written: str) -> None:
        with pytest.raises(RepeatNotUnderstood):
            split_when(written)

    @pytest.mark.parametrize(
        "written",
        [
            *("3日おきに薬", "1時間以内に電話", "9時前に薬"),
            *("17時までに提出", "来週中に提出", "明日か明後日に薬"),
            *(
                "3日間休む",
                "1日3回薬を飲む",
                "5日分の薬をもらう",
                "昼寝する",
                "朝ごはんを作る",
                "夜更かししない",
            ),
            *("5pm or 6pm call", "monday or tuesday call"),
            "every day at 9 or 10 pills",
        ],
    )
    def test_whose_time_goes_on_is_not_cut_short(self, written: str) -> None:
        with pytest.raises((WhenNotUnderstood, RepeatNotUnderstood)):
            split_when(written)

    @given(st.text(max_size=120))
    def test_of_whatever_is_taken_apart_or_refused(self, written: str) -> None:
        try:
            when, what = split_when(written)
        except (WhenNotUnderstood, RepeatNotUnderstood):
            return
        assert when in written
        assert what in written
