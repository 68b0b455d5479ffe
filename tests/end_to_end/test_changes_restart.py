import json

import pytest

from tests.end_to_end.kills import CUT_OFF, RETRY, pull_the_plug
from tests.end_to_end.stage import Stage, again_label, answered, continue_label, streaming
from tests.end_to_end.test_receipts import ASK, CANCEL, UNDO, kept, scheduling, soon, told
from tests.loopback.discord import Channel, Reply, User
from tests.loopback.model_requests import new_tool_results
from tests.loopback.model_server import Call, CutConnection, Hang, Say, calls, says
from tests.loopback.model_server import Reply as Answer

STAGE = "own_stage"
pytestmark = pytest.mark.slow
CALLS = "SELECT count(*) FROM turns WHERE user_id = ? AND calls <> '[]'"
UNFINISHED = "SELECT count(*) FROM turns WHERE user_id = ? AND state IN ('accepted', 'answered')"
REMINDERS = "SELECT text FROM schedules WHERE user_id = ?"
SHOWN = "SELECT state FROM turns WHERE question_id = ?"
RECEIPTS = "SELECT message_id, line, named_id, kind FROM receipts WHERE user_id = ?"
KEPT = "💾 覚えました: 猫の名前はモチ"
DOG = Call("remember", {"content": "犬が好き"})
BEGUN = Answer(Say("書きかけ"), Hang())


def somebody(stage: Stage) -> User:
    return stage.discord.user("Aiko", locale="ja")


async def changed(stage: Stage, user: User, channel: Channel, **options: bool) -> Reply:
    """An `/ask` whose tools have kept a memory and set a reminder, and whose answer is on its way."""
    both = [Call("remember", {"content": "猫の名前はモチ"}), Call("schedule", {"when": soon(), "text": "薬"})]
    stage.model.script(calls(*both), BEGUN)
    reply = await stage.begin(user, channel, f"猫の名前はモチ、覚えて。{ASK}", **options)
    return await streaming(reply, "書きかけ")


async def may_be_asked_again(reply: Reply) -> None:
    await reply.until(lambda shown: RETRY["ja"] in shown.labels, "the button to ask again")


async def asked_again(stage: Stage, user: User, reply: Reply, answer: str) -> tuple[Reply, list[str]]:
    stage.model.script(says(answer))
    pressed = await stage.discord.click(user, reply.message, RETRY["ja"])
    await answered(pressed)
    assert pressed.text.startswith(answer)
    await reply.until(lambda shown: len(shown.messages) == 1, "the older card is deleted")
    return pressed, new_tool_results(stage.model.requests[-1].body)


async def test_a_kill_is_told_with_what_was_done(stage: Stage, channel: Channel) -> None:
    public = somebody(stage)
    asked = await changed(stage, public, channel)
    private = await changed(stage, somebody(stage), channel, private=True)

    again = somebody(stage)
    repeated = await stage.ask_in_words(again, channel, "前の答え。")
    stage.model.script(calls(DOG), BEGUN)
    pressed = await stage.discord.click(again, repeated.message, again_label(again))
    await repeated.until(lambda shown: "書きかけ" in shown.text, "the new answer's beginning")

    more = somebody(stage)
    stage.model.script(Answer(Say("むかしむかし、"), CutConnection()))
    cut = await stage.ask(more, channel)
    stage.model.script(calls(DOG), BEGUN)
    going_on = await stage.discord.click(more, cut.message, continue_label(more))
    await going_on.until(lambda shown: "書きかけ" in shown.text, "the beginning")

    writer, caller = somebody(stage), somebody(stage)
    stage.model.script(scheduling(when=soon()), BEGUN, scheduling(when=soon()), BEGUN)
    dm = stage.discord.answer(await stage.write(writer, stage.discord.dm(writer), ASK, mention=False))
    await streaming(dm, "書きかけ")
    mention = await stage.write(caller, stage.discord.guild_channel(), ASK)
    await streaming(stage.discord.answer(mention), "書きかけ")

    await pull_the_plug(stage)
    stage.model.script(says("承知しました。"))
    await stage.start()
    for reply in (asked, private):
        await reply.until(lambda shown: shown.labels == [RETRY["ja"], UNDO, CANCEL], "what was done")
        assert reply.text.startswith(CUT_OFF["ja"])
        assert KEPT in reply.text
        assert "⏰" in reply.text
    await told(stage, public, asked.messages[-1], UNDO)
    assert kept(stage, public) == []
    await asked.until(lambda shown: KEPT not in shown.text, "what was taken back")
    await told(stage, public, asked.messages[-1], CANCEL)
    assert stage.rows(REMINDERS, public.id) == []

    await pressed.until(lambda shown: shown.labels == [again_label(again), UNDO], "the older answer")
    assert pressed.text.startswith("前の答え。\n")
    assert pressed.messages[-1].text == "💾 覚えました: 犬が好き"
    await going_on.until(lambda shown: "書きかけ" not in shown.text and UNDO in shown.labels, "what was done")
    assert "💾 覚えました: 犬が好き" in going_on.text

    answer = await stage.says(mention, "承知しました。")
    await answer.until(lambda shown: CANCEL in shown.labels, "the reminder")
    assert "scheduled" in str(new_tool_results(stage.model.requests[-1].body))
    assert "⏰" in answer.text
    await dm.until(lambda shown: shown.labels == [RETRY["ja"], CANCEL], "the button to ask again")
    assert "⏰" in dm.text
    stage.model.script(says("承知しました。"))
    pressed = await stage.discord.click(writer, dm.message, RETRY["ja"])
    await pressed.until(lambda shown: shown.labels == [CANCEL], "the answer")
    assert pressed.messages[-1].text.startswith("⏰")
    for user in (writer, caller):
        assert len(stage.rows(REMINDERS, user.id)) == 1
        await stage.eventually(UNFINISHED, user.id, gives=[(0,)])
        await stage.eventually(CALLS, user.id, gives=[(0,)])

    await stage.eventually(SHOWN, mention.id, gives=[("shown",)])
    receipts = stage.rows(RECEIPTS, caller.id)
    await pull_the_plug(stage)  # between its end's being shown, and the note of its receipt
    stage.change("DELETE FROM receipts WHERE user_id = ?", caller.id)
    stage.change("UPDATE turns SET state = 'answered' WHERE question_id = ?", mention.id)
    await stage.start()
    await stage.eventually(SHOWN, mention.id, gives=[("shown",)])
    assert stage.rows(RECEIPTS, caller.id) == receipts != []


async def test_what_is_asked_again_does_nothing_twice(stage: Stage, channel: Channel) -> None:
    users = [somebody(stage) for _ in range(3)]
    replies = [await changed(stage, user, channel) for user in users]
    await pull_the_plug(stage)
    at_work = {"id": "c1", "name": "schedule", "arguments": "{}", "result": "", "ok": False}
    stage.change("UPDATE turns SET calls = ? WHERE user_id = ?", json.dumps([at_work]), users[2].id)
    await stage.start()
    for reply in replies:
        await may_be_asked_again(reply)

    pressed, results = await asked_again(stage, users[0], replies[0], "承知しました。")
    assert ["remembered" in results[0], "scheduled" in results[1], len(results)] == [True, True, 2]
    assert f"\n{KEPT}\n⏰" in pressed.text
    assert kept(stage, users[0]) == ["猫の名前はモチ"]
    assert stage.rows(REMINDERS, users[0].id) == [("薬",)]
    await stage.eventually(CALLS, users[0].id, gives=[(0,)])
    await stage.ask(users[0], channel, "つぎ")
    messages = stage.model.requests[-1].messages
    roles = [message["role"] for message in messages if message["role"] != "system"]
    assert roles == ["user", "assistant", "tool", "tool", "assistant", "user"]

    for label in (UNDO, CANCEL):
        await told(stage, users[1], replies[1].messages[-1], label)
    pressed, results = await asked_again(stage, users[1], replies[1], "はい、そうします。")
    assert ["has undone it" in result for result in results] == [True, True]
    assert not [mark for mark in ("💾", "⏰", UNDO) if mark in f"{pressed.text}{pressed.labels}"]

    assert "❓ メモリかお知らせを変えている最中に止まりました。" in replies[2].text
    _, results = await asked_again(stage, users[2], replies[2], "もう済んでいました。")
    assert "nobody knows whether it was done" in str(results)
    assert "❓" in replies[2].text  # nobody knows more than before
