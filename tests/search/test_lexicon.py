"""Known words: how they are written down, found in a text, and belong together."""

import pytest

from cc_bot.search.folding import fold, forms, read
from cc_bot.search.lexicon import lexicon, parse_lexicon


def words(text: str, *lines: str) -> list[str]:
    """The words that a lexicon of these lines finds in a text."""
    line = read(fold(text))
    return [line.text[span.start : span.end] for span in parse_lexicon(lines).spans(line)]


def terms(text: str, *lines: str) -> list[str]:
    return parse_lexicon(lines).terms(read(fold(text)))


class TestWords:
    def test_are_found_longest_first(self) -> None:
        assert words("運転免許証", "運転", "運転免許") == ["運転免許"]

    def test_are_found_in_all_their_forms(self) -> None:
        assert words("猫を飼っていた", "飼う") == ["飼つ"]
        assert words("もう食べない", "食べる") == ["食べ"]

    def test_are_found_in_either_kana(self) -> None:
        assert words("ネコがいる", "ねこ") == ["ねこ"]

    def test_of_one_kanji_are_no_part_of_another_word(self) -> None:
        assert words("作家の家系", "家") == []
        assert words("家はここ", "家") == ["家"]

    def test_may_be_said_to_end_longer_words(self) -> None:
        assert words("日本酒", "〜酒") == ["酒"]
        assert words("酒屋", "〜酒") == []

    def test_of_little_kana_are_no_part_of_another_word(self) -> None:
        assert words("バスケットボール", "バス") == []
        assert words("もういちど", "うち") == []

    def test_of_letters_are_whole_words(self) -> None:
        assert words("category cats", "cat") == ["cat"]

    def test_may_be_several_words_of_letters(self) -> None:
        assert words("my place of birth", "place of birth") == ["plac of birth"]

    def test_may_stand_behind_any_number(self) -> None:
        assert words("犬は12歳", "0歳") == ["12歳"]
        assert words("何歳", "0歳") == []

    @pytest.mark.parametrize("verb", ["飼う", "書く", "泳ぐ", "話す", "待つ", "死ぬ", "遊ぶ", "飲む", "走る"])
    def test_that_are_verbs_have_their_past_and_their_negation(self, verb: str) -> None:
        assert len(forms(verb)) >= 5


class TestIdeas:
    def test_have_several_names(self) -> None:
        assert terms("バースデー", "誕生日, バースデー") == ["=誕生日"]

    def test_are_kinds_of_others_at_any_distance(self) -> None:
        lines = ("ペット > 犬", "犬 > 柴犬")
        assert terms("柴犬", *lines) == ["=柴犬", "=犬", "=ペット"]
        assert terms("ペット", *lines) == ["=ペット"]

    def test_that_are_related_answer_for_each_other(self) -> None:
        lines = parse_lexicon(["住む ~ 家", "家, 自宅"])
        asked = {idea.terms[0]: idea.asked for idea in lines.ideas}
        assert "=家" in asked["=住む"]
        assert "=住む" in asked["=家"]

    def test_of_questions_ask_for_kinds_of_answers(self) -> None:
        question, answer = parse_lexicon(["いつ ? @日付", "@日付 > 0月"]).ideas[:2]
        assert question.question
        assert dict(question.asked) == {"=@日付": pytest.approx(0.3)}
        assert answer.terms == ("=@日付",)


class TestTheLexicon:
    def test_knows_both_languages(self) -> None:
        japanese, english = (lexicon().terms(read(word)) for word in ("誕生日", "birthday"))
        assert set(japanese) & set(english)

    def test_reads_a_line_of_no_idea_as_nothing_said(self) -> None:
        assert lexicon().terms(read("教えてください")) == []
