"""What counts as the same writing."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cc_bot.search.folding import counters_in_digits, fold, loosen, stem


class TestFolding:
    @pytest.mark.parametrize(
        ("one", "other"), [("ｶﾌｪ", "カフェ"), ("ＲＴＸ４０７０", "rtx4070"), ("STRASSE", "straße")]
    )
    def test_makes_width_and_case_the_same(self, one: str, other: str) -> None:
        assert fold(one) == fold(other)

    @given(st.text())
    def test_again_changes_nothing(self, text: str) -> None:
        assert fold(fold(text)) == fold(text)


class TestLoosening:
    @pytest.mark.parametrize(
        ("one", "other"),
        [
            ("ラーメン", "らーめん"),
            ("サーバー", "サーバ"),
            ("コンピューター", "コンピュータ"),
            ("ロード・バイク", "ロードバイク"),
            ("ヴァイオリン", "バイオリン"),
            ("ウィスキー", "ウイスキー"),
            ("プラットフォーム", "プラットホーム"),
            ("おおさか", "おうさか"),
            ("ぎゅうにゅう", "ギューニュー"),
            ("つづく", "つずく"),
        ],
    )
    def test_makes_spellings_of_one_word_the_same(self, one: str, other: str) -> None:
        assert loosen(one) == loosen(other)

    @pytest.mark.parametrize("text", ["ねことうさぎ", "いえのうえ", "いぬもうみも"])
    def test_leaves_the_beginning_of_a_word_behind_a_particle(self, text: str) -> None:
        assert loosen(text) == text

    @given(st.text("ぁあいうえおっつづゔョーァヴェィ漢a1"))
    def test_again_changes_little_enough_to_be_found(self, text: str) -> None:
        assert loosen(loosen(text)) in {loosen(text), loosen(loosen(loosen(text)))}


class TestCountedNumbers:
    @pytest.mark.parametrize(
        ("kanji", "digits"),
        [("三月十五日", "3月15日"), ("二〇二六年", "2026年"), ("二十三歳", "23歳"), ("十時", "10時")],
    )
    def test_are_digits(self, kanji: str, digits: str) -> None:
        assert counters_in_digits(kanji) == digits

    @pytest.mark.parametrize("word", ["三重県", "第二回", "十分", "世界一周"])
    def test_are_told_from_names_and_words(self, word: str) -> None:
        assert counters_in_digits(word).removeprefix("10") == word.removeprefix("十")


class TestStems:
    @pytest.mark.parametrize(
        "forms",
        [
            ("study", "studies", "studied", "studying"),
            ("plan", "plans", "planned", "planning"),
            ("prefer", "prefers", "preferred"),
            ("like", "likes", "liked", "liking"),
            ("box", "boxes"),
            ("use", "uses"),
            ("class", "classes"),
        ],
    )
    def test_are_the_same_for_the_forms_of_a_word(self, forms: tuple[str, ...]) -> None:
        assert len({stem(form) for form in forms}) == 1

    @pytest.mark.parametrize(("one", "other"), [("bus", "bu"), ("news", "new"), ("sing", "s"), ("red", "r")])
    def test_keep_different_words_apart(self, one: str, other: str) -> None:
        assert stem(one) != stem(other)

    @given(st.text())
    def test_are_never_empty_for_a_word(self, word: str) -> None:
        assert bool(stem(word)) or not word.strip("'s")
