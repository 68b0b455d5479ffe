"""Token estimates: rough, but right about scripts."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cc_bot.context.tokens import estimate_tokens, message_tokens
from cc_bot.domain.message import Attachment, Message, ToolCall


class TestEstimate:
    @pytest.mark.parametrize(
        ("text", "real"),
        [
            # counted with the o200k tokenizer
            ("今日は朝から雨が降っていて、洗濯物を外に干せませんでした。", 21),
            ("会議は2026年3月15日 14:30 から、場所は東京駅の八重洲口です。", 28),
            ("猫🐈が好き。いちばん好きなのは三毛猫です！", 17),
            ("The quick brown fox jumps over the lazy dog while the farmer is asleep.", 15),
            ("def main():\n    for i in range(10):\n        print(f'{i:02d}')\n", 20),
            ("https://example.com/a/b?c=d&e=12345", 13),
        ],
    )
    def test_is_within_a_third(self, text: str, real: int) -> None:
        assert real / 1.34 <= estimate_tokens(text) <= real * 1.34

    def test_counts_japanese_several_times_as_dear_as_english(self) -> None:
        assert estimate_tokens("日本語の文章です" * 20) > 2.5 * estimate_tokens("english " * 20)

    @given(st.text(), st.text())
    def test_never_shrinks_when_text_is_added(self, first: str, second: str) -> None:
        assert estimate_tokens(f"{first} {second}") >= estimate_tokens(first) - 1

    @given(st.text(min_size=1))
    def test_is_never_nothing_for_something(self, text: str) -> None:
        assert estimate_tokens(text) > 0


class TestMessage:
    def test_costs_more_with_its_tool_calls_and_files(self) -> None:
        bare = message_tokens(Message("assistant", "はい"))
        call = ToolCall("1", "recall", '{"query": "犬"}', '{"memories": []}')
        assert message_tokens(Message("assistant", "はい", tool_calls=(call,))) > bare + 5
        image = Attachment("cat.png", "image/png", b"\x89PNG")
        assert message_tokens(Message("user", "はい", attachments=(image,))) > bare + 500
