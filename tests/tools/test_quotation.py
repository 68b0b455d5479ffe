"""What a message quotes is nobody's wish in it."""

import pytest

from cc_bot.tools.consent import Asked
from cc_bot.tools.quotation import own_words, quoted_words

QUOTING = "> ⏰ 牛乳を買うと覚えておいて\n> 忘れずに\n買ったよ"


class TestQuotation:
    def test_is_told_from_what_its_author_says(self) -> None:
        assert own_words(QUOTING) == "買ったよ"
        assert quoted_words(QUOTING) == "⏰ 牛乳を買うと覚えておいて\n忘れずに"

    @pytest.mark.parametrize("text", ["買ったよ", ">_<", ">= 3 items", "a > b", ""])
    def test_is_not_seen_where_there_is_none(self, text: str) -> None:
        assert (own_words(text), quoted_words(text)) == (text, "")

    def test_asks_for_nothing(self) -> None:
        assert Asked("牛乳を買うと覚えておいて").to_keep("牛乳を買う")
        assert not Asked(own_words(QUOTING), quoted_words(QUOTING)).to_keep("牛乳を買う")
