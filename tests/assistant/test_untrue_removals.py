"""What its user is told when an answer says that something was forgotten or cancelled, and it was not."""

import json
from datetime import UTC, datetime

import pytest

from cc_bot.domain import NotRemoved, Schedule
from cc_bot.domain.turn import TurnEvent
from cc_bot.llm.model import ToolRequest
from tests.assistant.conftest import KEY, OPTIONS, Table, done

NEXT_CENTURY = datetime(2099, 1, 1, tzinfo=UTC)


def forgetting(number: int) -> ToolRequest:
    return ToolRequest("f", "forget", json.dumps({"id": number}))


def cancelling(number: int) -> ToolRequest:
    return ToolRequest("c", "cancel_schedule", json.dumps({"id": number}))


def untrue(events: list[TurnEvent]) -> list[str]:
    return [event.what for event in events if isinstance(event, NotRemoved)]


async def set_up(table: Table) -> tuple[int, Schedule]:
    """A memory and a reminder."""
    memory = await table.stores.memories.add(KEY.user_id, "猫が好き")
    reminder = await table.stores.schedules.add(KEY, "薬", NEXT_CENTURY)
    return memory.number, reminder


class TestClaim:
    async def test_that_nothing_stands_behind_is_owned_up_to(self, table: Table) -> None:
        await set_up(table)
        table.model.script = [["はい、忘れました。"]]
        assert untrue(await table.ask("猫が好きなことは忘れて")) == ["memory"]
        table.model.script = [["お知らせを取り消しました。"]]
        assert untrue(await table.ask("薬はもういいよ")) == ["reminder"]
        assert await table.stores.memories.count(KEY.user_id) == 1
        assert len(await table.stores.schedules.list(KEY.user_id)) == 1

    async def test_after_a_call_that_failed_is_owned_up_to(self, table: Table) -> None:
        table.model.script = [[forgetting(99)], ["削除しました。"]]
        assert untrue(await table.ask("それ消して")) == ["memory"]
        table.model.script = [[cancelling(99)], ["I've cancelled it."]]
        assert untrue(await table.ask("not that one")) == ["reminder"]

    async def test_that_was_made_true_is_believed(self, table: Table) -> None:
        memory, reminder = await set_up(table)
        table.model.script = [[forgetting(memory)], ["忘れました。"]]
        assert untrue(await table.ask("猫が好きなことは忘れて")) == []
        table.model.script = [[cancelling(reminder.number)], ["お知らせを取り消しました。"]]
        assert untrue(await table.ask("薬のお知らせを取り消して")) == []

    async def test_of_a_cancelled_reminder_is_not_made_true_by_a_memory(self, table: Table) -> None:
        memory, _ = await set_up(table)
        table.model.script = [
            [forgetting(memory), cancelling(99)],
            ["猫の記憶を削除し、お知らせも取り消しました。"],
        ]
        assert untrue(await table.ask("猫のことと薬のお知らせを消して")) == ["reminder"]

    async def test_of_what_another_fact_took_the_place_of_is_believed(self, table: Table) -> None:
        number, _ = await set_up(table)
        new = ToolRequest("r", "remember", json.dumps({"content": "犬が好き", "supersedes": number}))
        table.model.script = [[new], ["犬が好きと覚えました。猫の記憶は削除しました。"]]
        assert untrue(await table.ask("猫じゃなくて犬が好き。覚え直して")) == []

    async def test_of_what_was_taken_off_the_canvas_is_believed(self, table: Table) -> None:
        card = ToolRequest("a", "canvas_add_card", '{"id": "m", "title": "買い物メモ", "content": "牛乳"}')
        table.model.script = [[card], ["出しました。"]]
        await table.ask("買い物メモを出して")
        table.model.script = [[ToolRequest("b", "canvas_remove_element", '{"id": "m"}')], ["消しました。"]]
        assert untrue(await table.ask("買い物メモを消して")) == []

    async def test_of_what_the_canvas_does_not_have_is_owned_up_to(self, table: Table) -> None:
        await set_up(table)
        table.model.script = [[ToolRequest("b", "canvas_remove_element", '{"id": "m"}')], ["消しました。"]]
        assert untrue(await table.ask("猫のメモを消して")) == ["memory"]

    async def test_in_reply_to_a_yes_is_about_what_was_asked(self, table: Table) -> None:
        table.model.script = [["薬のお知らせを取り消してよろしいですか？"], ["取り消しました。"]]
        await table.ask("薬のやつ、いらない")
        assert untrue(await table.ask("はい")) == ["reminder"]

    @pytest.mark.parametrize("question", ["さっきのお知らせ、取り消した？", "ちゃんと取り消してくれた？"])
    async def test_of_an_earlier_turn_is_let_be(self, table: Table, question: str) -> None:
        _, reminder = await set_up(table)
        table.model.script = [[cancelling(reminder.number)], ["取り消しました。"], ["はい、取り消しました。"]]
        await table.ask("薬のお知らせを取り消して")
        assert untrue(await table.ask(question)) == []

    async def test_of_the_answer_that_this_one_takes_the_place_of_is_believed(self, table: Table) -> None:
        _, reminder = await set_up(table)
        table.model.script = [
            [cancelling(reminder.number)],
            ["取り消しました。"],
            [cancelling(reminder.number)],
            ["お知らせを取り消しました。"],
        ]
        answer = done(await table.ask("薬のお知らせを取り消して")).answer
        again = [event async for event in table.assistant.regenerate(KEY, answer.id or 0, OPTIONS)]
        assert done(again).answer.tool_calls[0].ok is False
        assert untrue(again) == []
