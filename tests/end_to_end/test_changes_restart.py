"""What the tools of a turn had done when the plug was pulled: its user is told, and nothing is done twice."""

import asyncio
import json

import pytest

from cc_bot.domain import Locale
from cc_bot.texts import texts
from tests.end_to_end.kills import CUT_OFF, RETRY, pull_the_plug
from tests.end_to_end.stage import Stage, again_label, continue_label, stop_label, streaming
from tests.end_to_end.test_receipts import UNDO, kept, told
from tests.end_to_end.test_reminder_receipts import ASK, CANCEL, scheduling, soon
from tests.loopback.discord import Channel, Reply, User
from tests.loopback.model_requests import new_tool_results
from tests.loopback.model_server import Call, CutConnection, Hang, Say, calls, fails, says
from tests.loopback.model_server import Reply as Answer

JA = texts(Locale.JA)
CALLS = "SELECT count(*) FROM turn_calls WHERE user_id = ?"
REMINDERS = "SELECT text FROM schedules WHERE user_id = ?"
KEPT = "💾 覚えました: 猫の名前はモチ"
UNDO_KEPT, UNDO_SET = "取り消す: 猫の名前はモチ", "取り消す: 薬"
DOG = Call("remember", {"content": "犬が好き"})
BEGUN = Answer(Say("書きかけ"), Hang())


@pytest.fixture
def one_of_the_stages(own_stage: Stage) -> Stage:
    return own_stage


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


async def asked_again(stage: Stage, user: User, reply: Reply, answer: str) -> list[str]:
    """What the model is told of the calls that were made before."""
    stage.model.script(says(answer))
    await stage.discord.click(user, reply.message, RETRY["ja"])
    await reply.until(lambda shown: again_label(user) in shown.labels, "the answer")
    assert reply.text.startswith(answer)
    return new_tool_results(stage.model.requests[-1].body)


class TestKill:
    async def test_is_told_with_what_was_done_and_the_way_back_whatever_was_asked(
        self, stage: Stage, channel: Channel
    ) -> None:
        """By a command, in private, for another answer, to go on, in a DM, and by a mention."""
        public = somebody(stage)
        asked = await changed(stage, public, channel)
        private = await changed(stage, somebody(stage), channel, private=True)

        again = somebody(stage)
        repeated = await stage.ask_in_words(again, channel, "前の答え。")
        stage.model.script(calls(DOG), BEGUN)
        await stage.discord.click(again, repeated.message, again_label(again))
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
            await may_be_asked_again(reply)
            assert reply.text.startswith(CUT_OFF["ja"])
            assert KEPT in reply.text
            assert "⏰" in reply.text
            assert reply.labels == [UNDO_KEPT, UNDO_SET, RETRY["ja"]]
        await told(stage, public, asked.message, UNDO_SET)
        assert stage.rows(REMINDERS, public.id) == []
        await asked.until(lambda shown: "⏰" not in shown.text, "what was taken back")
        assert KEPT in asked.text

        await repeated.until(lambda shown: again_label(again) in shown.labels, "the older answer")
        assert repeated.text.startswith("前の答え。\n💾 覚えました: 犬が好き")
        assert UNDO in repeated.labels
        await going_on.until(lambda shown: "書きかけ" not in shown.text, "what became of it")
        assert "💾 覚えました: 犬が好き" in going_on.text
        assert UNDO in going_on.labels

        answer = await stage.says(mention, "承知しました。")
        assert "scheduled" in str(new_tool_results(stage.model.requests[-1].body))
        assert "⏰" in answer.text
        assert CANCEL in answer.labels
        await dm.until(lambda shown: RETRY["ja"] in shown.labels, "the button to ask again")
        assert "⏰" in dm.text
        stage.model.script(says("承知しました。"))
        await stage.discord.click(writer, dm.message, RETRY["ja"])
        await dm.until(lambda shown: again_label(writer) in shown.labels, "the answer")
        assert dm.text.startswith("承知しました。\n⏰")
        for user in (writer, caller):
            assert len(stage.rows(REMINDERS, user.id)) == 1
            await stage.eventually(CALLS, user.id, gives=[(0,)])


class TestAskedAgain:
    async def test_does_nothing_twice(self, stage: Stage, channel: Channel) -> None:
        """Also where its changes were taken back, the model is away, a tool was at work, or once more is
        killed."""
        users = [somebody(stage) for _ in range(5)]
        replies = [await changed(stage, user, channel) for user in users]
        await pull_the_plug(stage)
        at_work = {"id": "c1", "name": "schedule", "arguments": "{}", "result": "", "ok": False}
        stage.change("UPDATE turn_calls SET calls = ? WHERE user_id = ?", json.dumps([at_work]), users[3].id)
        await stage.start()
        for reply in replies:
            await may_be_asked_again(reply)

        results = await asked_again(stage, users[0], replies[0], "承知しました。")
        assert ["remembered" in results[0], "scheduled" in results[1], len(results)] == [True, True, 2]
        assert replies[0].text.startswith(f"承知しました。\n{KEPT}\n⏰")
        assert kept(stage, users[0]) == ["猫の名前はモチ"]
        assert stage.rows(REMINDERS, users[0].id) == [("薬",)]
        await stage.eventually(CALLS, users[0].id, gives=[(0,)])
        await stage.ask(users[0], channel, "つぎ")
        messages = stage.model.requests[-1].messages
        roles = [message["role"] for message in messages if message["role"] != "system"]
        assert roles == ["user", "assistant", "tool", "tool", "assistant", "user"]

        for label in (UNDO_KEPT, UNDO_SET):
            await told(stage, users[1], replies[1].message, label)
        results = await asked_again(stage, users[1], replies[1], "はい、そうします。")
        assert ["took it back" in result for result in results] == [True, True]
        assert not [mark for mark in ("💾", "⏰", UNDO) if mark in f"{replies[1].text}{replies[1].labels}"]

        stage.model.script(*[fails(500)] * 3)
        await stage.discord.click(users[2], replies[2].message, RETRY["ja"])
        await replies[2].until(
            lambda shown: CUT_OFF["ja"] not in shown.text and UNDO in str(shown.labels), "an end"
        )
        assert KEPT in replies[2].text
        assert "⏰" in replies[2].text
        await stage.eventually(CALLS, users[2].id, gives=[(0,)])

        assert "❓ メモリかお知らせを変えている最中に止まりました。" in replies[3].text
        results = await asked_again(stage, users[3], replies[3], "もう済んでいました。")
        assert "nobody knows whether it was done" in str(results)
        assert "❓" in replies[3].text  # nobody knows more than before

        stage.model.script(BEGUN)
        await stage.discord.click(users[4], replies[4].message, RETRY["ja"])
        await streaming(replies[4], "書きかけ")
        await pull_the_plug(stage)
        await stage.start()
        await may_be_asked_again(replies[4])
        assert KEPT in replies[4].text


class TestAMemory:
    async def test_erased_while_it_is_told_is_not_told_any_more(self, stage: Stage, channel: Channel) -> None:
        user = somebody(stage)
        stage.model.script(calls(Call("remember", {"content": "口座は赤城銀行"})), BEGUN)
        reply = await stage.begin(user, channel, "口座は赤城銀行、覚えて")
        await streaming(reply, "書きかけ")
        question = await (await stage.discord.slash(user, channel, "privacy erase")).finished()
        await stage.discord.click(user, question.message, JA.privacy.erase)
        await reply.until(lambda shown: stop_label(user) not in shown.labels, "the end of the turn")
        await stage.eventually("SELECT count(*) FROM memories WHERE user_id = ?", user.id, gives=[(0,)])
        await asyncio.sleep(0.3)
        assert "赤城" not in reply.text
        assert UNDO not in reply.labels
