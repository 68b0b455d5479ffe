"""What an answer says that it did or will do, and what its user is told where it did not."""

import pytest

from cc_bot.assistant.claims import Wish, promises_to_remember, promises_to_remind, removal_claims
from cc_bot.domain import NotRemoved
from cc_bot.domain.turn import TurnEvent
from cc_bot.llm.model import ToolRequest
from tests.assistant.conftest import KEY, LATER, Table, call, done
from tests.domain.phrases import phrases

REMOVED = phrases(
    """
先ほどの記憶を削除しました。 | うん、もう忘れたよ！ | 薬のリマインドを消しました。 | もうお知らせしません。
I've forgotten that. | Your address is no longer stored. | Reminder cancelled.
"""
)
NOT_REMOVED = phrases(
    """
まだ忘れていません。 | 削除できませんでした。 | お知らせを取り消しますか？ | 先ほど取り消しました。
`記憶を削除しました` | 3行目のコードを消しました。 | I haven't forgotten that. | Should I cancel the reminder?
You deleted the reminder. | I removed the memory leak. | I forgot lyrics.
Sorry, I've forgotten that. | I've forgotten the lyrics.
"""
)
PROMISED = {
    promises_to_remember: "覚えておきます。 | メモしました。 | I will remember this for next time.",
    promises_to_remind: "リマインダーを設定しました！ | 毎朝8時に通知します。 | Your reminder is set.",
}
NOT_PROMISED = {
    promises_to_remember: "覚えておきましょうか？ | 覚えていません。 | Should I remember that?",
    promises_to_remind: "お知らせを予約できませんでした。 | 予約が必要です。 | The alarm went off.",
}


def test_claims_and_promises_are_told_from_what_looks_like_them() -> None:
    either = Wish(frozenset({"memory", "reminder"}), removal=True)
    claimed = {answer: bool(removal_claims(answer).untrue((), either)) for answer in REMOVED + NOT_REMOVED}
    assert claimed == dict.fromkeys(REMOVED, True) | dict.fromkeys(NOT_REMOVED, False)
    for promises, texts in PROMISED.items():
        those, others = phrases(texts), phrases(NOT_PROMISED[promises])
        expected = dict.fromkeys(those, True) | dict.fromkeys(others, False)
        assert {answer: promises(answer) for answer in expected} == expected


def untrue(events: list[TurnEvent]) -> list[str]:
    return [event.what for event in events if isinstance(event, NotRemoved)]


@pytest.mark.parametrize(
    ("question", "calls", "answer", "what"),
    [
        ("猫が好きなことは忘れて", [], "はい、忘れました。", "memory"),
        ("薬はもういいよ", [], "お知らせを取り消しました。", "reminder"),
        ("それ消して", [call("forget", id=99)], "削除しました。", "memory"),
    ],
)
async def test_a_claim_that_nothing_stands_behind_is_owned_up_to(
    table: Table, question: str, calls: list[ToolRequest], answer: str, what: str
) -> None:
    await table.stores.memories.add(KEY.user_id, "猫が好き")
    await table.stores.schedules.add(KEY, "薬", LATER)
    table.model.script = [calls, [answer]] if calls else [[answer]]
    assert untrue(await table.ask(question)) == [what]
    assert await table.stores.memories.count(KEY.user_id) == len(await table.stores.schedules.list(1)) == 1


async def test_a_claim_that_was_made_true_is_believed(table: Table) -> None:
    memory = await table.stores.memories.add(KEY.user_id, "猫が好き")
    reminder = await table.stores.schedules.add(KEY, "薬", LATER)
    for made, question, answer in (
        (call("forget", id=memory.number), "猫が好きなことは忘れて", "忘れました。"),
        (
            call("cancel_schedule", id=reminder.number),
            "薬のお知らせを取り消して",
            "お知らせを取り消しました。",
        ),
    ):
        table.model.script = [[made], [answer]]
        events = await table.ask(question)
        assert [each.ok for each in done(events).answer.tool_calls] == [True]
        assert untrue(events) == []
