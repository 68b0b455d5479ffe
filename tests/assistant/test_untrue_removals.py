"""What its user is told when an answer says that something was forgotten or cancelled, and it was not."""

from dataclasses import dataclass
from datetime import UTC, datetime

import pytest

from cc_bot.domain import NotRemoved
from cc_bot.domain.turn import TurnEvent
from cc_bot.llm.model import ToolRequest
from tests.assistant.conftest import KEY, Table, call, done

NEXT_CENTURY = datetime(2099, 1, 1, tzinfo=UTC)
NO_SUCH = (
    call("forget", "f", id=99),
    call("cancel_schedule", "c", id=99),
    call("canvas_remove_element", id="m"),
)
NO_MEMORY, NO_REMINDER, NO_CARD = NO_SUCH


def untrue(events: list[TurnEvent]) -> list[str]:
    return [event.what for event in events if isinstance(event, NotRemoved)]


@dataclass
class Kept:
    """A memory and a reminder, with the calls that remove them."""

    forgets: ToolRequest
    cancels: ToolRequest
    supersedes: ToolRequest


@pytest.fixture
async def kept(table: Table) -> Kept:
    memory = await table.stores.memories.add(KEY.user_id, "猫が好き")
    reminder = await table.stores.schedules.add(KEY, "薬", NEXT_CENTURY)
    return Kept(
        call("forget", "f", id=memory.number),
        call("cancel_schedule", "c", id=reminder.number),
        call("remember", "r", content="犬が好き", supersedes=memory.number),
    )


class TestClaim:
    @pytest.mark.parametrize(
        ("question", "calls", "answer", "what"),
        [
            ("猫が好きなことは忘れて", [], "はい、忘れました。", "memory"),
            ("薬はもういいよ", [], "お知らせを取り消しました。", "reminder"),
            ("それ消して", [NO_MEMORY], "削除しました。", "memory"),
            ("not that one", [NO_REMINDER], "I've cancelled it.", "reminder"),
            ("猫のメモを消して", [NO_CARD], "消しました。", "memory"),
        ],
    )
    async def test_that_nothing_stands_behind_is_owned_up_to(
        self, table: Table, kept: Kept, question: str, calls: list[ToolRequest], answer: str, what: str
    ) -> None:
        table.model.script = [calls, [answer]] if calls else [[answer]]
        assert untrue(await table.ask(question)) == [what]
        assert await table.stores.memories.count(KEY.user_id) == 1
        assert len(await table.stores.schedules.list(KEY.user_id)) == 1

    async def test_that_was_made_true_is_believed(self, table: Table, kept: Kept) -> None:
        card = call("canvas_add_card", id="m", title="買い物メモ", content="牛乳")
        for made, question, answer in (
            (kept.supersedes, "犬が好き。覚え直して", "犬が好きと覚えました。猫の記憶は削除しました。"),
            (call("forget", id=2), "犬が好きなことは忘れて", "忘れました。"),
            (kept.cancels, "薬のお知らせを取り消して", "お知らせを取り消しました。"),
            (card, "買い物メモを出して", "出しました。"),
            (NO_CARD, "買い物メモを消して", "消しました。"),
        ):
            table.model.script = [[made], [answer]]
            events = await table.ask(question)
            assert [each.ok for each in done(events).answer.tool_calls] == [True]
            assert untrue(events) == []

    async def test_in_reply_to_a_yes_is_about_what_was_asked(self, table: Table) -> None:
        table.model.script = [["薬のお知らせを取り消してよろしいですか？"], ["取り消しました。"]]
        await table.ask("薬のやつ、いらない")
        assert untrue(await table.ask("はい")) == ["reminder"]

    @pytest.mark.parametrize("question", ["さっきのお知らせ、取り消した？", "ちゃんと取り消してくれた？"])
    async def test_of_an_earlier_turn_is_let_be(self, table: Table, kept: Kept, question: str) -> None:
        table.model.script = [[kept.cancels], ["取り消しました。"], ["はい、取り消しました。"]]
        await table.ask("薬のお知らせを取り消して")
        assert untrue(await table.ask(question)) == []

    async def test_of_the_answer_that_this_one_takes_the_place_of_is_believed(
        self, table: Table, kept: Kept
    ) -> None:
        table.model.script = [[kept.cancels], ["お知らせを取り消しました。"]] * 2
        again = await table.regenerate(await table.answer("薬のお知らせを取り消して"))
        assert done(again).answer.tool_calls[0].ok is False
        assert untrue(again) == []
