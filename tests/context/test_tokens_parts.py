"""What a model is told of calls that were made before."""

import json

import pytest

from cc_bot.context.tokens import message_parts
from cc_bot.domain import Message, ToolCall
from cc_bot.llm.model import ToolResultPart

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

    @pytest.mark.parametrize(
        ("stored", "seen"),
        [
            ({"forgotten": {"id": 7, "content": "猫"}}, {"forgotten": {"content": "猫"}}),
            (
                {"memories": [{"id": 7, "content": "猫", "tags": []}]},
                {"memories": [{"content": "猫", "tags": []}]},
            ),
            ({"remembered": {"content": "猫", "supersedes": 3}}, {"remembered": {"content": "猫"}}),
            ({"up": ["pills"], "id": "pills"}, {"up": ["pills"], "id": "pills"}),
            ({"forgotten": True}, {"forgotten": True}),
        ],
    )
    def test_from_before_users_had_numbers_has_none(self, stored: object, seen: object) -> None:
        assert told(stored) == seen
