"""Looking for texts in texts: a few or many, the answer is that of looking for each."""

from hypothesis import example, given
from hypothesis import strategies as st

from cc_bot.search.folding import fold
from cc_bot.stores.memory.texts import TextMatcher

TEXT = st.text(alphabet="aAbＢｶガ゛カ 。", max_size=8)


class TestSought:
    @given(texts=st.lists(TEXT, max_size=80), said=TEXT)
    @example(texts=[f"{number} の猫" for number in range(50)], said="ここに 49 の猫がいる")
    @example(texts=["", " "], said="")
    def test_stands_in_a_text_if_one_of_them_does(self, texts: list[str], said: str) -> None:
        expected = any(fold(text).strip() in fold(said) for text in texts if fold(text).strip())
        assert TextMatcher(texts).within(said) == expected

    def test_is_found_in_any_width_and_case(self) -> None:
        assert TextMatcher(["ｶﾌｪ Blue"]).within("駅前のカフェ　ＢＬＵＥ です")
        assert not TextMatcher(["ｶﾌｪ Blue"]).within("駅前のカフェ")
