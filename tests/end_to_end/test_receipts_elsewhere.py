"""What an answer did and is undone from elsewhere: the answer says so, and says again what holds again."""

import asyncio

import pytest

from tests.end_to_end.kills import EDIT, pull_the_plug
from tests.end_to_end.memories import form, press, run, submitted
from tests.end_to_end.reminders import called, comes_due
from tests.end_to_end.stage import Stage, again_label
from tests.end_to_end.test_proposals import press as decide
from tests.end_to_end.test_proposals import proposed
from tests.end_to_end.test_receipts import LOOKS, UNDO, kept, remembered, told
from tests.end_to_end.test_reminder_receipts import ASK, CANCEL, scheduling, soon
from tests.loopback.discord import Channel, ChannelReply, Reply, User
from tests.loopback.model_server import Call, Wait, calls, says
from tests.loopback.model_server import Reply as Answer

SHOWN_ANEW = "PATCH /channels/{channel}/messages/{message}"
LOOKED_AT = "GET /channels/{channel}/messages/{message}"
KEPT = "SELECT content FROM memories WHERE user_id = ? AND status = 'active'"
TAKEN_BACK = "↩️ 取り消しました。"


async def set_reminder(stage: Stage, user: User, channel: Channel) -> tuple[Reply, int]:
    stage.model.script(scheduling(when=soon()), says("はい。"))
    reply = await stage.ask(user, channel, ASK)
    assert "⏰" in reply.text
    [(number,)] = stage.rows("SELECT number FROM schedules WHERE user_id = ?", user.id)
    return reply, int(number)


async def rewritten(stage: Stage, user: User, channel: Channel, content: str) -> Reply:
    """A later answer that changed the one memory there is."""
    [(number,)] = stage.rows("SELECT number FROM memories WHERE user_id = ? AND status = 'active'", user.id)
    changes = calls(Call("update_memory", {"id": number, "content": content}))
    stage.model.script(LOOKS, changes, says("はい。"))
    reply = await stage.ask(user, channel, f"{content}に変わりました")
    assert f"✏️ 書き換えました: {content}" in reply.text
    return reply


async def kept_beside(stage: Stage, user: User, channel: Channel) -> Reply:
    """An answer that kept something beside an older memory that was not looked up, and proposes to replace
    that."""
    await remembered(stage, user, channel, "大阪に住んでいる")
    old = await memory_of(stage, user)
    stage.model.script(
        calls(Call("remember", {"content": "京都に住んでいる", "supersedes": old})), says("はい。")
    )
    return await stage.ask(user, channel, "京都に引っ越した。覚えて")


async def memory_of(stage: Stage, user: User) -> int:
    there = "SELECT number FROM memories WHERE user_id = ? AND status <> 'superseded'"
    [(number,)] = stage.rows(there, user.id)
    return int(number)


async def says_it_is_undone(reply: Reply | ChannelReply) -> None:
    """Its one line tells it, and there is nothing to press for it."""
    await reply.until(lambda shown: TAKEN_BACK in shown.text, "what was taken back")
    assert not {UNDO, CANCEL} & {*reply.labels}
    assert not [mark for mark in ("💾", "✏️", "⏰") if mark in reply.text]


class TestReminder:
    @pytest.mark.parametrize("asked", [True, False])
    async def test_cancelled_by_command_is_no_longer_promised(
        self, stage: Stage, aiko: User, channel: Channel, asked: bool
    ) -> None:
        if asked:
            reply: Reply | ChannelReply = (await set_reminder(stage, aiko, channel))[0]
        else:
            stage.model.script(scheduling(when=soon()), says("はい。"))
            reply = await stage.says(await stage.write(aiko, channel, ASK), "⏰")
        [(number,)] = stage.rows("SELECT number FROM schedules WHERE user_id = ?", aiko.id)
        await stage.told(aiko, channel, "remind delete", id=number)
        await says_it_is_undone(reply)

    async def test_cancelled_by_the_model_is_no_longer_promised(
        self, stage: Stage, aiko: User, channel: Channel
    ) -> None:
        reply, number = await set_reminder(stage, aiko, channel)
        stage.model.script(calls(Call("cancel_schedule", {"id": number})), says("取り消しました。"))
        later = await stage.ask(aiko, channel, "やっぱりいらない")
        assert "🔕 お知らせを取り消しました: 薬" in later.text
        await says_it_is_undone(reply)

    async def test_confirmed_from_a_proposal_is_found_as_well(
        self, stage: Stage, aiko: User, channel: Channel
    ) -> None:
        reply = await proposed(stage, aiko, channel, Call("schedule", {"when": soon(), "text": "薬"}))
        label = next(each for each in reply.labels if each not in (again_label(aiko), "やめる"))
        message = await decide(stage, aiko, reply.stored[0], label)
        assert "⏰" in message.text
        [(number,)] = stage.rows("SELECT number FROM schedules WHERE user_id = ?", aiko.id)
        await stage.told(aiko, channel, "remind delete", id=number)
        await says_it_is_undone(reply)

    async def test_of_somebody_else_is_left_alone(
        self, stage: Stage, aiko: User, ben: User, channel: Channel
    ) -> None:
        reply, number = await set_reminder(stage, aiko, channel)
        await stage.told(ben, channel, "remind delete", id=number)
        await stage.discord.quiet(0.3)
        assert "⏰" in reply.text
        assert CANCEL in reply.labels

    async def test_that_has_rung_has_nothing_to_cancel(
        self, stage: Stage, aiko: User, channel: Channel
    ) -> None:
        reply, _ = await set_reminder(stage, aiko, channel)
        [(row,)] = stage.rows("SELECT id FROM schedules WHERE user_id = ?", aiko.id)
        await comes_due(stage, aiko, row)
        await stage.eventually("SELECT state FROM firings WHERE schedule_id = ?", row, gives=[("sent",)])
        await stage.discord.click(aiko, reply.message, CANCEL)
        await reply.until(lambda shown: CANCEL not in shown.labels, "no button")
        assert "⏰" in reply.text
        called(stage)


class TestMemory:
    async def test_forgotten_by_the_model_is_no_longer_told_as_kept(
        self, stage: Stage, aiko: User, channel: Channel
    ) -> None:
        reply = await remembered(stage, aiko, channel, "会議は金曜")
        number = await memory_of(stage, aiko)
        stage.model.script(LOOKS, calls(Call("forget", {"id": number})), says("はい。"))
        later = await stage.ask(aiko, channel, "忘れて")
        await says_it_is_undone(reply)
        await told(stage, aiko, later.message, UNDO)
        await reply.until(lambda shown: UNDO in shown.labels, "the receipt that holds again")
        assert "💾 覚えました: 会議は金曜" in reply.text

    @pytest.mark.parametrize("command", ["delete-all", "erase"])
    async def test_gone_with_everything_is_no_longer_told_as_kept(
        self, stage: Stage, aiko: User, channel: Channel, command: str
    ) -> None:
        replies = [await remembered(stage, aiko, channel, content) for content in ("会議は金曜", "猫はモチ")]
        if command == "erase":
            asked = await (await stage.discord.slash(aiko, channel, "privacy erase")).finished()
            label = next(label for label in asked.labels if "消" in label)
        else:
            asked, label = await run(stage, aiko, channel, "delete-all"), "2件をすべて消す"
        await press(stage, aiko, asked, label)
        assert kept(stage, aiko) == []
        for reply in replies:
            await says_it_is_undone(reply)

    async def test_deleted_is_told_in_every_answer_that_changed_it(
        self, stage: Stage, aiko: User, channel: Channel
    ) -> None:
        first = await remembered(stage, aiko, channel, "会議は金曜")
        second = await rewritten(stage, aiko, channel, "会議は木曜")
        await stage.told(aiko, channel, "memory delete", id=await memory_of(stage, aiko))
        for reply in (first, second):
            await says_it_is_undone(reply)

    async def test_deleted_is_no_longer_told_as_known(
        self, stage: Stage, aiko: User, channel: Channel
    ) -> None:
        await remembered(stage, aiko, channel, "猫はモチ")
        again = await remembered(stage, aiko, channel, "猫はモチ")
        assert "💾 もう覚えています" in again.text
        deleted = await run(stage, aiko, channel, "delete", id=await memory_of(stage, aiko))
        await again.until(lambda shown: TAKEN_BACK in shown.text, "what was taken back")
        assert "モチ" not in again.text
        await press(stage, aiko, deleted, "元に戻す")
        await again.until(lambda shown: "💾 もう覚えています" in shown.text, "what holds again")
        assert "猫はモチ" in again.text

    async def test_had_back_is_told_again_with_its_button(
        self, stage: Stage, aiko: User, channel: Channel
    ) -> None:
        keeps = [Call("remember", {"content": content}) for content in ("会議は金曜", "猫はモチ", "鳥が好き")]
        stage.model.script(calls(*keeps), says("承知しました。"))
        reply = await stage.ask(aiko, channel, "三つとも覚えて")
        before = reply.text, reply.labels
        [(number,)] = stage.rows(
            "SELECT number FROM memories WHERE content = '猫はモチ' AND user_id = ?", aiko.id
        )
        deleted = await run(stage, aiko, channel, "delete", id=number)
        await reply.until(lambda shown: "猫はモチ" not in shown.text, "the line that was taken back")
        assert reply.text.splitlines()[1:4] == [
            "💾 覚えました: 会議は金曜",
            TAKEN_BACK,
            "💾 覚えました: 鳥が好き",
        ]
        await press(stage, aiko, deleted, "元に戻す")
        await reply.until(lambda shown: "猫はモチ" in shown.text, "the line that holds again")
        assert (reply.text, reply.labels) == before
        await told(stage, aiko, reply.message, "取り消す: 猫はモチ")
        assert kept(stage, aiko) == ["会議は金曜", "鳥が好き"]

    async def test_changed_once_more_leaves_the_older_change_told_with_nothing_to_press(
        self, stage: Stage, aiko: User, channel: Channel
    ) -> None:
        await remembered(stage, aiko, channel, "会議は金曜")
        older = await rewritten(stage, aiko, channel, "会議は木曜")
        newer = await rewritten(stage, aiko, channel, "会議は水曜")
        await older.until(lambda shown: UNDO not in shown.labels, "no button")
        assert "✏️ 書き換えました: 会議は木曜" in older.text
        assert UNDO in newer.labels

    async def test_changed_by_its_user_is_still_told_as_kept_with_nothing_to_press(
        self, stage: Stage, aiko: User, channel: Channel
    ) -> None:
        reply = await remembered(stage, aiko, channel, "会議は金曜")
        opened = await form(stage, aiko, channel, await memory_of(stage, aiko))
        await submitted(stage, opened, content="会議は木曜")
        await reply.until(lambda shown: UNDO not in shown.labels, "no button")
        assert "💾 覚えました: 会議は金曜" in reply.text

    async def test_undone_and_then_confirmed_in_the_place_of_another_is_told_as_it_is(
        self, stage: Stage, aiko: User, channel: Channel
    ) -> None:
        reply = await kept_beside(stage, aiko, channel)
        assert "入れ替える" in reply.labels
        await told(stage, aiko, reply.message, UNDO)
        assert kept(stage, aiko) == ["大阪に住んでいる"]
        message = await decide(stage, aiko, reply.stored[0], "入れ替える")
        assert kept(stage, aiko) == ["京都に住んでいる"]
        assert "✏️ 書き換えました: 京都に住んでいる" in message.text
        assert message.labels.count(UNDO) == 1
        await told(stage, aiko, message, UNDO)
        assert kept(stage, aiko) == ["大阪に住んでいる"]
        await reply.until(lambda shown: "✏️" not in shown.text, "what was taken back")
        assert UNDO not in reply.labels

    async def test_changed_elsewhere_while_a_proposal_is_decided_loses_neither(
        self, stage: Stage, aiko: User, channel: Channel
    ) -> None:
        reply = await kept_beside(stage, aiko, channel)
        stage.discord.fail_next(SHOWN_ANEW, 200, delay_s=0.5, channel=channel)
        newest = "SELECT max(number) FROM memories WHERE user_id = ?"
        await run(stage, aiko, channel, "delete", id=stage.rows(newest, aiko.id)[0][0])
        await stage.discord.wait(lambda: stage.discord.calls(LOOKED_AT, channel=channel), "a look at it")
        await stage.discord.click(aiko, reply.message, "入れ替える")
        await stage.eventually(KEPT, aiko.id, gives=[("京都に住んでいる",)])
        await stage.discord.wait(lambda: stage.discord.calls(SHOWN_ANEW, channel=channel), "it shown anew")
        await stage.discord.quiet(0.3)
        assert "✏️ 書き換えました: 京都に住んでいる" in reply.text
        assert "入れ替える" not in reply.labels
        assert reply.labels.count(UNDO) == 1


class TestAfterACrash:
    async def test_an_answer_is_shown_with_what_holds_by_then(self, own_stage: Stage) -> None:
        stage, go_on = own_stage, asyncio.Event()
        aiko = stage.discord.user("Aiko", locale="ja")
        keeps = [Call("remember", {"content": content}) for content in ("会議は金曜", "猫はモチ")]
        stage.model.script(calls(*keeps), Answer(Wait(go_on), *says("承知しました。").steps))
        reply = await stage.begin(aiko, stage.discord.guild_channel(), "覚えて")
        await stage.eventually("SELECT count(*) FROM memories WHERE user_id = ?", aiko.id, gives=[(2,)])
        stage.discord.fail_next(EDIT, 503, times=1000)
        go_on.set()
        await stage.eventually("SELECT count(*) FROM messages WHERE user_id = ?", aiko.id, gives=[(2,)])
        await pull_the_plug(stage)
        stage.change(
            "UPDATE memories SET status = 'deleted', deleted_at = '2099-01-01T00:00:00.000000+00:00'"
            " WHERE content = '会議は金曜'"
        )
        await stage.start()
        await reply.until(lambda shown: again_label(aiko) in shown.labels, "the answer")
        assert reply.text == f"承知しました。\n{TAKEN_BACK}\n💾 覚えました: 猫はモチ"
        assert len(reply.labels) == 2
