import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cc_bot.chat.context.tokens import estimate_tokens, message_parts
from cc_bot.domain.message import Message, ToolCall
from cc_bot.llm.model import ToolResultPart
from tests.context.token_texts import TEXTS
from tests.o200k import count


class TestEstimate:
    @pytest.mark.parametrize("kind", TEXTS)
    def test_is_within_15_percent_in_sum(self, kind: str) -> None:
        real = sum(count(text) for text in TEXTS[kind])
        assert sum(map(estimate_tokens, TEXTS[kind])) == pytest.approx(real, rel=0.15)

    @given(st.text(min_size=1))
    def test_is_something_and_at_most_two_tokens_a_character(self, text: str) -> None:
        assert 0 < estimate_tokens(text) <= 2 * len(text)


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
