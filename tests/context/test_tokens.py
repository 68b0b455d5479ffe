"""Token estimates, held against the tokenizer that they imitate."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cc_bot.context.tokens import (
    IMAGE_TOKENS,
    estimate_tokens,
    message_parts,
    message_tokens,
    request_tokens,
    tools_tokens,
)
from cc_bot.domain.message import Attachment, Message, ToolCall
from cc_bot.llm.model import ChatRequest, SystemPart, UserPart
from tests.context.token_texts import FITTED, HELD_OUT, TOOLS
from tests.o200k import count


class TestEstimate:
    @pytest.mark.parametrize("kind", FITTED)
    @pytest.mark.parametrize("texts", [FITTED, HELD_OUT], ids=["fitted", "held out"])
    def test_is_within_15_percent_in_sum(self, texts: dict[str, tuple[str, ...]], kind: str) -> None:
        real = sum(count(text) for text in texts[kind])
        assert sum(map(estimate_tokens, texts[kind])) == pytest.approx(real, rel=0.15)

    @pytest.mark.parametrize(
        "text",
        [
            "🙏🎉👍🏽👨‍👩‍👧 😭",
            "오늘은 비가 와요.",
            "Сегодня идёт дождь.",
            "Voilà, c'était déjà l'été à Orléans.",
            "ｶﾀｶﾅ １２３",
            "→ ① ※ ♪",
        ],
    )
    def test_is_of_the_right_size_for_rarer_scripts(self, text: str) -> None:
        real = count(text)
        assert real / 2 <= estimate_tokens(text) <= real * 2

    @pytest.mark.parametrize("text", ["　", "\n", " ", "\0", "\ud7ff", "\U000e0001"])
    def test_of_one_odd_character_is_something(self, text: str) -> None:
        assert estimate_tokens(text) >= 1

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

    def test_joins_no_words_that_japanese_stands_between(self) -> None:
        between, spaces = estimate_tokens("abc、" * 100), estimate_tokens("abc " * 100)
        assert between == spaces + estimate_tokens("、" * 100)

    @given(st.text(), st.text())
    def test_never_shrinks_when_text_is_added(self, first: str, second: str) -> None:
        assert estimate_tokens(f"{first} {second}") >= estimate_tokens(first) - 1

    @given(st.text(min_size=1))
    def test_is_never_nothing_for_something(self, text: str) -> None:
        assert estimate_tokens(text) > 0


class TestRequest:
    def test_costs_what_its_parts_and_tools_cost(self) -> None:
        image = Attachment("cat.png", "image/png", b"\x89PNG")
        parts = (SystemPart("簡潔に答えてください。"), UserPart("これは何？", (image, image)))
        bare = request_tokens(ChatRequest((parts[0], UserPart("これは何？"))))
        assert request_tokens(ChatRequest(parts)) == bare + 2 * IMAGE_TOKENS
        assert request_tokens(ChatRequest(parts, TOOLS)) == bare + 2 * IMAGE_TOKENS + tools_tokens(TOOLS)

    def test_costs_more_for_each_message(self) -> None:
        one = request_tokens(ChatRequest((UserPart("はい"),)))
        assert request_tokens(ChatRequest((UserPart("はい"),) * 3)) == 3 * one


class TestMessage:
    def test_costs_what_it_costs_in_a_request(self) -> None:
        call = ToolCall("1", "recall", '{"query": "犬"}', '{"memories": []}')
        note = Attachment("memo.txt", "text/plain", "牛乳を買う".encode())
        for message in (
            Message("assistant", "いません", tool_calls=(call,)),
            Message("user", "読んで", attachments=(note,)),
        ):
            assert message_tokens(message) == request_tokens(ChatRequest(tuple(message_parts(message))))

    def test_costs_more_with_its_tool_calls_and_files(self) -> None:
        bare = message_tokens(Message("assistant", "はい"))
        call = ToolCall("1", "recall", '{"query": "犬"}', '{"memories": []}')
        assert message_tokens(Message("assistant", "はい", tool_calls=(call,))) > bare + 5
        image = Attachment("cat.png", "image/png", b"\x89PNG")
        assert message_tokens(Message("user", "はい", attachments=(image,))) > bare + 500
