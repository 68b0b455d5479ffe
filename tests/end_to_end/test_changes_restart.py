"""What the tools of a turn had done when the plug was pulled: its user is told, and nothing is done twice."""

import asyncio
import json

import pytest

from tests.end_to_end.kills import CUT_OFF, RETRY, pull_the_plug
from tests.end_to_end.stage import Stage, again_label, streaming
from tests.end_to_end.test_receipts import UNDO, kept, remembered, told
from tests.end_to_end.test_receipts_elsewhere import says_it_is_undone
from tests.end_to_end.test_reminder_receipts import ASK, CANCEL, scheduling, soon
from tests.loopback.discord import Channel, Reply, User
from tests.loopback.model_requests import new_tool_results
from tests.loopback.model_server import Call, CutConnection, Hang, Say, calls, fails, says
from tests.loopback.model_server import Reply as Answer

CALLS = "SELECT count(*) FROM turn_calls WHERE user_id = ?"
REMINDERS = "SELECT text FROM schedules WHERE user_id = ?"
ERASE = "すべて消す"


@pytest.fixture
def aiko(own_stage: Stage) -> User:
    return own_stage.discord.user("Aiko", locale="ja")


@pytest.fixture
def channel(own_stage: Stage) -> Channel:
    return own_stage.discord.guild_channel()


async def changed_and_killed(stage: Stage, user: User, channel: Channel, **options: bool) -> Reply:
    """An `/ask` that was killed once its tools had kept a memory and set a reminder."""
    both = [Call("remember", {"content": "猫の名前はモチ"}), Call("schedule", {"when": soon(), "text": "薬"})]
    stage.model.script(calls(*both), Answer(Say("書きかけ"), Hang()))
    reply = await stage.begin(user, channel, f"猫の名前はモチ、覚えて。{ASK}", **options)
    await streaming(reply, "書きかけ")
    await pull_the_plug(stage)
    return reply


class TestAQuestion:
    async def test_is_told_what_was_done_with_the_way_back(
        self, own_stage: Stage, aiko: User, channel: Channel
    ) -> None:
        reply = await changed_and_killed(own_stage, aiko, channel)
        await own_stage.start()
        await reply.until(lambda shown: RETRY["ja"] in shown.labels, "the button to ask again")
        assert reply.text.startswith(CUT_OFF["ja"])
        assert "💾 覚えました: 猫の名前はモチ" in reply.text
        assert "⏰" in reply.text
        assert reply.labels == ["取り消す: 猫の名前はモチ", "取り消す: 薬", RETRY["ja"]]
        await told(own_stage, aiko, reply.message, "取り消す: 薬")
        assert own_stage.rows(REMINDERS, aiko.id) == []
        await reply.until(lambda shown: "⏰" not in shown.text, "what was taken back")
        assert "💾 覚えました: 猫の名前はモチ" in reply.text

    async def test_that_only_its_user_sees_is_told_it_as_well(
        self, own_stage: Stage, aiko: User, channel: Channel
    ) -> None:
        reply = await changed_and_killed(own_stage, aiko, channel, private=True)
        await own_stage.start()
        await reply.until(lambda shown: RETRY["ja"] in shown.labels, "the button to ask again")
        assert "💾 覚えました: 猫の名前はモチ" in reply.text

    async def test_asked_again_does_nothing_twice(
        self, own_stage: Stage, aiko: User, channel: Channel
    ) -> None:
        reply = await changed_and_killed(own_stage, aiko, channel)
        await own_stage.start()
        await reply.until(lambda shown: RETRY["ja"] in shown.labels, "the button to ask again")
        own_stage.model.script(says("承知しました。"))
        await own_stage.discord.click(aiko, reply.message, RETRY["ja"])
        await reply.until(lambda shown: again_label(aiko) in shown.labels, "the answer")
        results = new_tool_results(own_stage.model.requests[-1].body)
        assert ["remembered" in results[0], "scheduled" in results[1], len(results)] == [True, True, 2]
        assert reply.text.startswith("承知しました。\n💾 覚えました: 猫の名前はモチ\n⏰")
        assert kept(own_stage, aiko) == ["猫の名前はモチ"]
        assert own_stage.rows(REMINDERS, aiko.id) == [("薬",)]
        await own_stage.eventually(CALLS, aiko.id, gives=[(0,)])
        own_stage.model.script(says("はい。"))
        await own_stage.ask(aiko, channel, "つぎ")
        messages = own_stage.model.requests[-1].messages
        roles = [message["role"] for message in messages if message["role"] != "system"]
        assert roles == ["user", "assistant", "tool", "tool", "assistant", "user"]

    async def test_asked_again_once_it_was_taken_back_says_so_to_the_model(
        self, own_stage: Stage, aiko: User, channel: Channel
    ) -> None:
        reply = await changed_and_killed(own_stage, aiko, channel)
        await own_stage.start()
        await reply.until(lambda shown: RETRY["ja"] in shown.labels, "the button to ask again")
        for label in ("取り消す: 猫の名前はモチ", "取り消す: 薬"):
            await told(own_stage, aiko, reply.message, label)
        own_stage.model.script(says("はい、そうします。"))
        await own_stage.discord.click(aiko, reply.message, RETRY["ja"])
        await reply.until(lambda shown: again_label(aiko) in shown.labels, "the answer")
        results = new_tool_results(own_stage.model.requests[-1].body)
        assert ["took it back" in result for result in results] == [True, True]
        assert reply.text.startswith("はい、そうします。")
        assert not [mark for mark in ("💾", "⏰", UNDO) if mark in f"{reply.text}{reply.labels}"]

    async def test_asked_again_while_the_model_is_away_still_tells_it(
        self, own_stage: Stage, aiko: User, channel: Channel
    ) -> None:
        reply = await changed_and_killed(own_stage, aiko, channel)
        await own_stage.start()
        await reply.until(lambda shown: RETRY["ja"] in shown.labels, "the button to ask again")
        own_stage.model.script(*[fails(500)] * 3)
        await own_stage.discord.click(aiko, reply.message, RETRY["ja"])
        await reply.until(
            lambda shown: CUT_OFF["ja"] not in shown.text and UNDO in str(shown.labels), "an end"
        )
        assert "💾 覚えました: 猫の名前はモチ" in reply.text
        assert "⏰" in reply.text
        await own_stage.eventually(CALLS, aiko.id, gives=[(0,)])

    async def test_killed_again_still_knows_it(self, own_stage: Stage, aiko: User, channel: Channel) -> None:
        reply = await changed_and_killed(own_stage, aiko, channel)
        await own_stage.start()
        await reply.until(lambda shown: RETRY["ja"] in shown.labels, "the button to ask again")
        own_stage.model.script(Answer(Say("書きかけ"), Hang()))
        await own_stage.discord.click(aiko, reply.message, RETRY["ja"])
        await streaming(reply, "書きかけ")
        await pull_the_plug(own_stage)
        await own_stage.start()
        await reply.until(lambda shown: RETRY["ja"] in shown.labels, "the button to ask again")
        assert "💾 覚えました: 猫の名前はモチ" in reply.text

    async def test_killed_while_a_tool_was_at_work_says_that_nobody_knows(
        self, own_stage: Stage, aiko: User, channel: Channel
    ) -> None:
        reply = await changed_and_killed(own_stage, aiko, channel)
        call = {"id": "c1", "name": "schedule", "arguments": "{}", "result": "", "ok": False}
        own_stage.change("UPDATE turn_calls SET calls = ?", json.dumps([call]))
        await own_stage.start()
        await reply.until(lambda shown: RETRY["ja"] in shown.labels, "the button to ask again")
        assert "❓ メモリかお知らせを変えている最中に止まりました。" in reply.text
        own_stage.model.script(says("もう済んでいました。"))
        await own_stage.discord.click(aiko, reply.message, RETRY["ja"])
        await reply.until(lambda shown: again_label(aiko) in shown.labels, "the answer")
        assert "nobody knows whether it was done" in str(new_tool_results(own_stage.model.requests[-1].body))
        assert "❓" in reply.text  # nobody knows more than before


class TestARepeat:
    async def test_leaves_the_older_answer_with_what_was_done(
        self, own_stage: Stage, aiko: User, channel: Channel
    ) -> None:
        reply = await own_stage.ask_in_words(aiko, channel, "前の答え。")
        own_stage.model.script(
            calls(Call("remember", {"content": "犬が好き"})), Answer(Say("書きかけ"), Hang())
        )
        await own_stage.discord.click(aiko, reply.message, again_label(aiko))
        await reply.until(lambda shown: "書きかけ" in shown.text, "the new answer's beginning")
        await pull_the_plug(own_stage)
        await own_stage.start()
        await reply.until(lambda shown: again_label(aiko) in shown.labels, "the older answer")
        assert reply.text.startswith("前の答え。\n💾 覚えました: 犬が好き")
        assert UNDO in reply.labels


class TestGoingOn:
    async def test_is_told_below_the_answer_what_was_done(
        self, own_stage: Stage, aiko: User, channel: Channel
    ) -> None:
        own_stage.model.script(Answer(Say("むかしむかし、"), CutConnection()))
        reply = await own_stage.ask(aiko, channel)
        own_stage.model.script(
            calls(Call("remember", {"content": "犬が好き"})), Answer(Say("書きかけ"), Hang())
        )
        press = await own_stage.discord.click(aiko, reply.message, "続ける")
        await press.until(lambda shown: "書きかけ" in shown.text, "the beginning")
        await pull_the_plug(own_stage)
        await own_stage.start()
        await press.until(lambda shown: "書きかけ" not in shown.text, "what became of it")
        assert "💾 覚えました: 犬が好き" in press.text
        assert UNDO in press.labels


class TestADirectMessage:
    async def test_is_told_what_was_done_and_nothing_twice(self, own_stage: Stage, aiko: User) -> None:
        own_stage.model.script(scheduling(when=soon()), Answer(Say("書きかけ"), Hang()))
        message = await own_stage.write(aiko, own_stage.discord.dm(aiko), ASK, mention=False)
        answer = own_stage.discord.answer(message)
        await streaming(answer, "書きかけ")
        await pull_the_plug(own_stage)
        await own_stage.start()
        await answer.until(lambda shown: RETRY["ja"] in shown.labels, "the button to ask again")
        assert "⏰" in answer.text
        own_stage.model.script(says("承知しました。"))
        await own_stage.discord.click(aiko, answer.message, RETRY["ja"])
        await answer.until(lambda shown: again_label(aiko) in shown.labels, "the answer")
        assert answer.text.startswith("承知しました。\n⏰")
        assert len(own_stage.rows(REMINDERS, aiko.id)) == 1


class TestAMention:
    async def test_is_answered_with_what_was_done_and_nothing_twice(
        self, own_stage: Stage, aiko: User, channel: Channel
    ) -> None:
        own_stage.model.script(scheduling(when=soon()), Answer(Say("書きかけ"), Hang()))
        message = await own_stage.write(aiko, channel, ASK)
        await streaming(own_stage.discord.answer(message), "書きかけ")
        await pull_the_plug(own_stage)
        own_stage.model.script(says("承知しました。"))
        await own_stage.start()
        answer = await own_stage.says(message, "承知しました。")
        assert "scheduled" in str(new_tool_results(own_stage.model.requests[-1].body))
        assert "⏰" in answer.text
        assert CANCEL in answer.labels
        assert len(own_stage.rows(REMINDERS, aiko.id)) == 1
        await own_stage.eventually(CALLS, aiko.id, gives=[(0,)])


class TestAMemory:
    async def test_that_is_erased_leaves_nothing_of_it_with_the_question(
        self, own_stage: Stage, aiko: User, channel: Channel
    ) -> None:
        reply = await changed_and_killed(own_stage, aiko, channel)
        await own_stage.start()
        await reply.until(lambda shown: RETRY["ja"] in shown.labels, "the button to ask again")
        await told(own_stage, aiko, reply.message, "取り消す: 猫の名前はモチ")
        own_stage.change("UPDATE memories SET deleted_at = '2020-01-01T00:00:00.000000+00:00'")
        await own_stage.restart()
        await own_stage.eventually("SELECT count(*) FROM memories WHERE user_id = ?", aiko.id, gives=[(0,)])
        [(left,)] = own_stage.rows("SELECT calls FROM turn_calls WHERE user_id = ?", aiko.id)
        assert "モチ" not in left
        assert "薬" in left

    async def test_deleted_in_the_moment_of_the_kill_is_told_so_after_the_start(
        self, own_stage: Stage, aiko: User, channel: Channel
    ) -> None:
        reply = await remembered(own_stage, aiko, channel, "会議は金曜")
        await own_stage.eventually("SELECT count(*) FROM receipts WHERE user_id = ?", aiko.id, gives=[(1,)])
        await pull_the_plug(own_stage)
        own_stage.change(
            "UPDATE memories SET status = 'deleted', deleted_at = '2099-01-01T00:00:00.000000+00:00'"
            f" WHERE user_id = {aiko.id}"
        )
        await own_stage.start()
        await says_it_is_undone(reply)
        await own_stage.eventually("SELECT count(*) FROM receipts WHERE stale > 0", gives=[(0,)])

    async def test_erased_while_it_is_told_is_not_told_any_more(
        self, own_stage: Stage, aiko: User, channel: Channel
    ) -> None:
        own_stage.model.script(
            calls(Call("remember", {"content": "口座は赤城銀行"})), Answer(Say("書きかけ"), Hang())
        )
        reply = await own_stage.begin(aiko, channel, "口座は赤城銀行、覚えて")
        await streaming(reply, "書きかけ")
        question = await own_stage.discord.slash(aiko, channel, "privacy erase")
        await question.finished()
        await own_stage.discord.click(aiko, question.message, ERASE)
        await reply.until(lambda shown: "止める" not in shown.labels, "the end of the turn")
        await own_stage.eventually("SELECT count(*) FROM memories WHERE user_id = ?", aiko.id, gives=[(0,)])
        await asyncio.sleep(0.3)
        assert "赤城" not in reply.text
        assert UNDO not in reply.labels
