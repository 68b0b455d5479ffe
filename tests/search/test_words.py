"""Words: what counts as the same writing, and the lexicon of those that belong together."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cc_bot.features.memory.search.folding import convert_kanji_numbers, fold, loosen, parse_line, stem
from cc_bot.features.memory.search.lexicon import load_lexicon, parse_lexicon

SPELLINGS = (
    *(
        ("ラーメン", "らーめん"),
        ("サーバー", "サーバ"),
        ("コンピューター", "コンピュータ"),
        ("つづく", "つずく"),
    ),
    *(("ロード・バイク", "ロードバイク"), ("ヴァイオリン", "バイオリン"), ("ウィスキー", "ウイスキー")),
    *(("プラットフォーム", "プラットホーム"), ("おおさか", "おうさか"), ("ぎゅうにゅう", "ギューニュー")),
)
DIGITS = {
    "三月十五日": "3月15日",
    "二〇二六年": "2026年",
    "二十三歳": "23歳",
    "十時": "10時",
    **{word: word for word in ("三重県", "第二回", "世界一周")},
}
STEMS = (
    ("study", "studies", "studied", "studying"),
    ("plan", "plans", "planned", "planning"),
    ("prefer", "prefers", "preferred"),
    ("like", "likes", "liked", "liking"),
    ("box", "boxes"),
    ("pie", "pies"),
    ("use", "uses"),
    ("class", "classes"),
)


def words(text: str, *lines: str) -> list[str]:
    """The words that a lexicon of these lines finds in a text."""
    line = parse_line(fold(text))
    return [line.text[span.start : span.end] for span in parse_lexicon(lines).find_spans(line)]


def terms(text: str, *lines: str) -> list[str]:
    return parse_lexicon(lines).list_terms(parse_line(fold(text)))


class TestFolding:
    @given(st.text(), st.text("ぁあいうえおっつづゔョーァヴェィ漢a1"))
    def test_makes_width_and_case_the_same_and_again_changes_little(self, text: str, kana: str) -> None:
        for one, other in (("ｶﾌｪ", "カフェ"), ("ＲＴＸ４０７０", "rtx4070"), ("STRASSE", "straße")):
            assert fold(one) == fold(other)
        assert fold(fold(text)) == fold(text)
        assert loosen(loosen(kana)) in {loosen(kana), loosen(loosen(loosen(kana)))}

    def test_makes_spellings_of_one_word_the_same_and_leaves_what_is_behind_a_particle(self) -> None:
        assert [(one, other) for one, other in SPELLINGS if loosen(one) != loosen(other)] == []
        for text in ("ねことうさぎ", "いえのうえ", "いぬもうみも"):
            assert loosen(text) == text

    def test_makes_digits_of_counted_numbers_and_not_of_names_and_words(self) -> None:
        assert {kanji: convert_kanji_numbers(kanji) for kanji in DIGITS} == DIGITS
        assert convert_kanji_numbers("十分") in {"十分", "10分"}, "enough, or ten minutes"

    @given(st.text())
    def test_makes_stems_of_the_forms_of_a_word_alone(self, word: str) -> None:
        assert [row for row in STEMS if len(set(map(stem, row))) != 1] == []
        for one, other in (("bus", "bu"), ("news", "new"), ("sing", "s"), ("red", "r")):
            assert stem(one) != stem(other)
        assert bool(stem(word)) or not word.strip("'s")


class TestWords:
    def test_are_found_longest_first_in_all_their_forms_and_in_no_other_word(self) -> None:
        for text, lines, found in (
            ("運転免許証", ("運転", "運転免許"), ["運転免許"]),
            ("猫を飼っていた", ("飼う",), ["飼つ"]),
            ("もう食べない", ("食べる",), ["食べ"]),
            ("ネコがいる", ("ねこ",), ["ねこ"]),
            ("作家の家系", ("家",), []),
            ("家はここ", ("家",), ["家"]),
            ("日本酒", ("〜酒",), ["酒"]),
            ("酒屋", ("〜酒",), []),
            ("バスケットボール", ("バス",), []),
            ("もういちど", ("うち",), []),
            ("category cats", ("cat",), ["cat"]),
            ("my place of birth", ("place of birth",), ["plac of birth"]),
            ("犬は12歳", ("0歳",), ["12歳"]),
            ("何歳", ("0歳",), []),
        ):
            assert words(text, *lines) == found, text


class TestIdeas:
    def test_have_several_names_and_are_kinds_of_others_at_any_distance(self) -> None:
        assert terms("バースデー", "誕生日, バースデー") == ["=誕生日"]
        lines = ("ペット > 犬", "犬 > 柴犬")
        assert terms("柴犬", *lines) == ["=柴犬", "=犬", "=ペット"]
        assert terms("ペット", *lines) == ["=ペット"]

    def test_that_are_related_answer_for_each_other_and_those_of_questions_ask_for_answers(self) -> None:
        asked = {idea.terms[0]: idea.query_terms for idea in parse_lexicon(["住む ~ 家", "家, 自宅"]).ideas}
        assert "=家" in asked["=住む"]
        assert "=住む" in asked["=家"]
        question, answer = parse_lexicon(["いつ ? @日付", "@日付 > 0月"]).ideas[:2]
        assert question.is_question
        assert dict(question.query_terms) == {"=@日付": pytest.approx(0.3)}
        assert answer.terms == ("=@日付",)

    def test_of_the_lexicon_are_in_both_languages_and_none_of_politeness(self) -> None:
        japanese, english = (load_lexicon().list_terms(parse_line(word)) for word in ("誕生日", "birthday"))
        assert set(japanese) & set(english)
        assert load_lexicon().list_terms(parse_line("教えてください")) == []
