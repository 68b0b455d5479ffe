"""Which notes answer, and in what order: by words, and by words and meaning as one order."""

from hypothesis import given
from hypothesis import strategies as st

from cc_bot.features.memory.search.ranking import Statistics, WordMatch, fuse, rank
from cc_bot.features.memory.search.terms import parse_query
from cc_bot.features.memory.search.vectors import UnrelatedCosines, score_nearness
from tests.search.notes import candidate, found

DENTIST, WALK, NEPHEW, VIOLIN, FRIDGE, SHELLFISH, MOVE, STITCHES = NOTES = (
    *("歯医者は青葉台の白石クリニック", "毎朝6時に起きて近所を散歩する", "甥の誕生日は8月2日"),
    *("ヴァイオリンを弾く", "冷蔵庫の保証書は台所の棚の二段目", "Allergic to shellfish"),
    *("引っ越しの申し込みは三月まで", "刺繍の教室に通っている"),
)
MEANT = {
    DENTIST: ("クリニック 歯医者",),
    WALK: ("散歩した", "早起きの習慣"),
    NEPHEW: ("甥の誕生日はいつだったっけ？", "birthday"),
    VIOLIN: ("バイオリン", "ﾊﾞｲｵﾘﾝ", "楽器", "what instrument do I play?"),
    FRIDGE: ("れいぞうこ",),
    SHELLFISH: ("アレルギー",),
    MOVE: ("申込", "3月"),
    STITCHES: ("ししゅう",),
}
SPELT_IN_TWO_WAYS = (
    *(
        ("髙橋", "高橋"),
        ("渡邊", "渡邉"),
        ("渡辺", "渡邊"),
        ("齋藤", "斎藤"),
        ("山﨑", "山崎"),
        ("濵田", "浜田"),
    ),
    *(
        ("黑猫", "黒猫"),
        ("櫻井", "桜井"),
        ("辻\U000e0100", "辻"),
        ("葛\U000e0100城", "葛城"),
        ("𠮷野家", "吉野家"),
    ),
    *(("03-1234-5678", "0312345678"), ("03(1234)5678", "０３１２３４５６７８"), ("〒123-4567", "1234567")),
    *(("こゝろ", "こころ"), ("みすゞ", "みすず"), ("いすゞ自動車", "いすず")),
)

COSINES = st.dictionaries(st.integers(1, 30), st.floats(-1, 1), max_size=30)
EVIDENCE = st.lists(
    st.builds(WordMatch, st.integers(1, 30), st.booleans(), st.floats(0, 1)),
    max_size=20,
    unique_by=lambda item: item.id,
)
UNRELATED = {100 + number: -0.07 + 0.28 * number / 80 for number in range(80)}
KNOWN = UnrelatedCosines(mean=0.07, spread=0.08)


def ids(evidence: list[WordMatch], cosines: dict[int, float]) -> list[int]:
    return [hit.id for hit in fuse(evidence, score_nearness({**UNRELATED, **cosines}))]


class TestByWords:
    def test_puts_the_note_that_is_meant_first(self) -> None:
        first = {query: (note, found(query, *NOTES)[0]) for note, asked in MEANT.items() for query in asked}
        assert {query: notes for query, notes in first.items() if notes[0] != notes[1]} == {}

    def test_finds_either_spelling_by_the_other(self) -> None:
        for one, other in (*SPELT_IN_TWO_WAYS, *((b, a) for a, b in SPELT_IN_TWO_WAYS)):
            assert found(f"{other}の件", *NOTES, f"連絡先は{one}") == [f"連絡先は{one}"], (one, other)
        assert found("電話 5678", *NOTES, "電話は03-1234-5678") == ["電話は03-1234-5678"], "by a part, too"

    def test_puts_what_is_as_written_first_then_the_rarer_word_then_the_newest(self) -> None:
        assert found("カフェ", "カフエ カフエ カフエ", "駅のｶﾌｪによく行く人たちの長い話")[0].startswith("駅")
        notes = ("好きな色は青", "好きな本は図鑑", "好きな駅は上野", "楽器は尺八")
        assert found("尺八が好き", *notes)[0] == "楽器は尺八"
        hits = rank(parse_query("猫"), Statistics(2, 9.0, {}), [candidate(1, "猫"), candidate(2, "猫")])
        assert [hit.id for hit in hits] == [2, 1]
        assert found(" ", "一つ目", "二つ目") == ["二つ目", "一つ目"]

    def test_leaves_out_what_does_not_answer_and_what_is_far_behind_the_best(self) -> None:
        queries = ("株価の見通し", "quantum chromodynamics", "フランス革命の指導者")
        assert [found(query, *NOTES) for query in queries] == [[], [], []]
        assert found("白石クリニックの歯医者", *NOTES) == [DENTIST]


class TestFused:
    def test_words_and_meaning_make_one_order(self) -> None:
        cases: dict[str, tuple[list[WordMatch], dict[int, float], list[int]]] = {
            "meaning where words fail": ([], {1: 0.45, 2: 0.6, 3: 0.1}, [2, 1]),
            "every word before a nearer one": ([WordMatch(1, False, 1.0)], {1: 0.3, 2: 0.6}, [1, 2]),
            "near before the lesser part": ([WordMatch(1, False, 0.3)], {1: 0.1, 2: 0.5}, [2]),
            "exact first": ([WordMatch(1, True, 0.2), WordMatch(2, False, 1.0)], {1: 0.0, 2: 0.9}, [1, 2]),
            "by words without a vector": ([WordMatch(1, False, 0.9)], {2: 0.4}, [1, 2]),
            "newest": ([WordMatch(5, True, 1.0), WordMatch(8, True, 1.0)], {5: 0.4, 8: 0.4}, [8, 5]),
            "as near as notes are to any query": ([], {1: 0.12, 2: 0.15}, []),
            "enough by its words": ([WordMatch(1, False, 0.2, words_suffice=True)], {1: 0.1}, [1]),
            "not enough by its words": ([WordMatch(1, False, 0.2)], {1: 0.1}, []),
            "far behind one that answers": ([WordMatch(1, False, 1.0)], {1: 0.7, 2: 0.3}, [1]),
        }
        orders = {name: ids(evidence, cosines) for name, (evidence, cosines, _) in cases.items()}
        assert orders == {name: order for name, (*_, order) in cases.items()}

    @given(EVIDENCE, COSINES)
    def test_each_note_stands_once_those_as_written_first_and_less_sure_the_further_down(
        self, evidence: list[WordMatch], cosines: dict[int, float]
    ) -> None:
        hits = fuse(evidence, score_nearness(cosines))
        found, sure = [hit.id for hit in hits], [hit.confidence for hit in hits]
        written = {item.id for item in evidence if item.is_exact}
        assert len(found) == len(set(found))
        assert set(found[: len(written)]) == written
        assert sure == sorted(sure, reverse=True)
        assert all(0 <= confidence <= 1 for confidence in sure)


class TestFewNotes:
    def test_hold_the_one_that_answers_or_none(self) -> None:
        one: list[dict[int, float]] = [{2: 0.45}, {1: 0.1, 2: 0.45, 3: 0.05}, {2: 0.45, 5: 0.3}]
        none: list[dict[int, float]] = [{1: 0.1}, {1: 0.2, 2: -0.05, 3: 0.05}, {1: 0.24, 2: 0.23}]
        assert [fuse([], score_nearness(cosines, unrelated=KNOWN))[0].id for cosines in one] == [2, 2, 2]
        assert [fuse([], score_nearness(cosines, unrelated=KNOWN)) for cosines in none] == [[], [], []]
        twenty = {note: note / 100 for note in range(20)}
        assert score_nearness(twenty, unrelated=KNOWN) == score_nearness(twenty), "measured by themselves"
