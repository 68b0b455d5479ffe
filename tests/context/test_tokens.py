"""Token estimates, held against the tokenizer that they imitate, and what is told of earlier calls."""

import json

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
from cc_bot.llm.model import ChatRequest, SystemPart, ToolResultPart, UserPart
from tests.context.token_texts import FITTED, HELD_OUT, TOOLS
from tests.o200k import count


class TestEstimate:
    @pytest.mark.parametrize("kind", FITTED)
    @pytest.mark.parametrize("texts", [FITTED, HELD_OUT], ids=["fitted", "held out"])
    def test_is_within_15_percent_in_sum(self, texts: dict[str, tuple[str, ...]], kind: str) -> None:
        real = sum(count(text) for text in texts[kind])
        assert sum(map(estimate_tokens, texts[kind])) == pytest.approx(real, rel=0.15)

    def test_is_of_the_right_size_for_rarer_scripts_and_close_for_usual_sentences(self) -> None:
        rare = [
            "🙏🎉👍🏽👨‍👩‍👧 😭",
            "오늘은 비가 와요.",
            "Сегодня идёт дождь.",
            "Voilà, c'était déjà l'été à Orléans.",
            "ｶﾀｶﾅ １２３",
            "→ ① ※ ♪",
        ]
        usual = [
            "今日は朝から雨が降っていて、洗濯物を外に干せませんでした。",
            "会議は2026年3月15日 14:30 から、場所は東京駅の八重洲口です。",
            "猫🐈が好き。いちばん好きなのは三毛猫です！",
            "The quick brown fox jumps over the lazy dog while the farmer is asleep.",
            "def main():\n    for i in range(10):\n        print(f'{i:02d}')\n",
            "https://example.com/a/b?c=d&e=12345",
        ]
        for texts, factor in ((rare, 2), (usual, 1.34)):
            for text in texts:
                assert count(text) / factor <= estimate_tokens(text) <= count(text) * factor, text
        assert all(estimate_tokens(odd) >= 1 for odd in ("　", "\n", " ", "\0", "\ud7ff", "\U000e0001"))

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
        one = request_tokens(ChatRequest((UserPart("はい"),)))
        assert request_tokens(ChatRequest((UserPart("はい"),) * 3)) == 3 * one


class TestMessage:
    def test_costs_what_it_costs_in_a_request_with_its_calls_and_files(self) -> None:
        call = ToolCall("1", "recall", '{"query": "犬"}', '{"memories": []}')
        note = Attachment("memo.txt", "text/plain", "牛乳を買う".encode())
        image = Attachment("cat.png", "image/png", b"\x89PNG")
        for message, more in (
            (Message("assistant", "いません", tool_calls=(call,)), 5),
            (Message("user", "読んで", attachments=(note,)), 5),
            (Message("user", "はい", attachments=(image,)), 500),
        ):
            tokens = message_tokens(message)
            assert tokens == request_tokens(ChatRequest(tuple(message_parts(message))))
            assert tokens > message_tokens(Message(message.role, message.content)) + more


NOTE = {"id": 2, "content": '猫, "ref": 5 はモチ, "id": 9', "date": "2026-11-22", "ref": 48213}


def told(result: object) -> object:
    call = ToolCall("1", "recall", "{}", json.dumps(result, ensure_ascii=False))
    [part] = [
        each
        for each in message_parts(Message("assistant", "はい", tool_calls=(call,)))
        if isinstance(each, ToolResultPart)
    ]
    return json.loads(part.text)


class TestToolResult:
    def test_has_the_users_numbers_and_no_rows(self) -> None:
        without = {name: value for name, value in NOTE.items() if name != "ref"}
        assert told({"memories": [NOTE, NOTE], "more_before": 2}) == {
            "memories": [without, without],
            "more_before": 2,
        }
        assert told({"updated": {**NOTE, "former_ref": 7}, "superseded": 1}) == {
            "updated": without,
            "superseded": 1,
        }

    def test_from_before_users_had_numbers_has_none(self) -> None:
        memory = {"content": "猫", "tags": []}
        for stored, seen in (
            ({"forgotten": {"id": 7, "content": "猫"}}, {"forgotten": {"content": "猫"}}),
            ({"memories": [{"id": 7, **memory}]}, {"memories": [memory]}),
            ({"remembered": {"content": "猫", "supersedes": 3}}, {"remembered": {"content": "猫"}}),
            ({"up": ["pills"], "id": "pills"}, {"up": ["pills"], "id": "pills"}),
            ({"forgotten": True}, {"forgotten": True}),
        ):
            assert told(stored) == seen
