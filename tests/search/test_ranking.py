"""Which notes answer, and in what order."""

import pytest

from cc_bot.search import Statistics, parse_query, rank, saturation
from tests.search.notes import candidate, found

NOTES = (
    "歯医者は青葉台の白石クリニック",
    "毎朝6時に起きて近所を散歩する",
    "甥の誕生日は8月2日",
    "ヴァイオリンを弾く",
    "冷蔵庫の保証書は台所の棚の二段目",
    "Allergic to shellfish",
    "引っ越しの申し込みは三月まで",
    "刺繍の教室に通っている",
)


class TestOrder:
    @pytest.mark.parametrize(
        ("query", "note"),
        [
            ("クリニック 歯医者", "歯医者は青葉台の白石クリニック"),
            ("甥の誕生日はいつだったっけ？", "甥の誕生日は8月2日"),
            ("バイオリン", "ヴァイオリンを弾く"),
            ("ﾊﾞｲｵﾘﾝ", "ヴァイオリンを弾く"),
            ("申込", "引っ越しの申し込みは三月まで"),
            ("3月", "引っ越しの申し込みは三月まで"),
            ("ししゅう", "刺繍の教室に通っている"),
            ("れいぞうこ", "冷蔵庫の保証書は台所の棚の二段目"),
            ("散歩した", "毎朝6時に起きて近所を散歩する"),
            ("早起きの習慣", "毎朝6時に起きて近所を散歩する"),
            ("birthday", "甥の誕生日は8月2日"),
            ("アレルギー", "Allergic to shellfish"),
            ("楽器", "ヴァイオリンを弾く"),
            ("what instrument do I play?", "ヴァイオリンを弾く"),
        ],
    )
    def test_puts_the_note_that_is_meant_first(self, query: str, note: str) -> None:
        assert found(query, *NOTES)[0] == note

    def test_puts_what_is_as_written_before_everything_else(self) -> None:
        assert found("カフェ", "カフエ カフエ カフエ", "駅のｶﾌｪによく行く人たちの長い話")[0].startswith("駅")

    def test_puts_the_newest_of_equal_notes_first(self) -> None:
        hits = rank(parse_query("猫"), Statistics(2, 9.0, {}), [candidate(1, "猫"), candidate(2, "猫")])
        assert [hit.id for hit in hits] == [2, 1]

    def test_of_a_blank_query_is_newest_first(self) -> None:
        assert found(" ", "一つ目", "二つ目") == ["二つ目", "一つ目"]

    def test_lets_the_rarer_word_decide(self) -> None:
        notes = ("好きな色は青", "好きな本は図鑑", "好きな駅は上野", "楽器は尺八")
        assert found("尺八が好き", *notes)[0] == "楽器は尺八"


class TestConfidence:
    @pytest.mark.parametrize("query", ["株価の見通し", "quantum chromodynamics", "フランス革命の指導者"])
    def test_is_too_little_where_nothing_answers(self, query: str) -> None:
        assert found(query, *NOTES) == []

    def test_is_full_for_what_is_as_written(self) -> None:
        [hit] = rank(parse_query("青葉台"), Statistics(1, 9.0, {}), [candidate(1, NOTES[0])])
        assert hit.confidence == 1.0

    def test_is_less_for_another_wording_than_for_the_word(self) -> None:
        notes = [candidate(1, "柴犬と住む"), candidate(2, "ペットと住む")]
        kind, word = sorted(
            rank(parse_query("どんなペット"), Statistics(2, 9.0, {}), notes), key=lambda hit: hit.id
        )
        assert 0 < kind.confidence < word.confidence < 1

    def test_leaves_out_what_is_far_behind_the_best(self) -> None:
        assert found("白石クリニックの歯医者", *NOTES) == [NOTES[0]]


class TestSaturation:
    def test_grows_with_the_count_and_ever_less(self) -> None:
        once, twice, thrice = (saturation(count, 10, 10.0) for count in (1, 2, 3))
        assert 0 < thrice - twice < twice - once

    def test_is_less_in_a_longer_note(self) -> None:
        assert saturation(1, 100, 10.0) < saturation(1, 10, 10.0)

    def test_is_one_for_one_term_in_an_average_note(self) -> None:
        assert saturation(1, 10, 10.0) == pytest.approx(1.0)
        assert saturation(1, 10, 0.0) == pytest.approx(1.0)
