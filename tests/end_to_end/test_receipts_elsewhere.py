"""What an answer did and is undone from elsewhere: the answer says so, and says again what holds again."""

import asyncio

from tests.end_to_end.kills import EDIT, pull_the_plug
from tests.end_to_end.memories import press, run
from tests.end_to_end.stage import Stage, again_label
from tests.end_to_end.test_proposals import press as decide
from tests.end_to_end.test_proposals import proposed
from tests.end_to_end.test_receipts import LOOKS, UNDO, kept, number_of_the_memory, remembered, told
from tests.end_to_end.test_reminder_receipts import ASK, CANCEL, scheduling, soon
from tests.loopback.discord import Channel, ChannelReply, Reply, User
from tests.loopback.model_server import Call, Wait, calls, says
from tests.loopback.model_server import Reply as Answer

TAKEN_BACK = "↩️ 取り消しました。"


async def on_record(stage: Stage, reply: Reply | ChannelReply) -> None:
    """Wait until the bot knows that this message tells of something: a moment after it is shown."""
    rows = "SELECT count(*) > 0 FROM receipts WHERE message_id = ?"
    await stage.eventually(rows, reply.message.id, gives=[(True,)])


async def kept_one(stage: Stage, user: User, channel: Channel, content: str) -> Reply:
    reply = await remembered(stage, user, channel, content)
    await on_record(stage, reply)
    return reply


async def set_reminder(stage: Stage, user: User, channel: Channel) -> Reply:
    stage.model.script(scheduling(when=soon()), says("はい。"))
    reply = await stage.ask(user, channel, ASK)
    assert "⏰" in reply.text
    await on_record(stage, reply)
    return reply


async def says_it_is_undone(reply: Reply | ChannelReply) -> None:
    """Its one line tells it, and there is nothing to press for it."""
    await reply.until(lambda shown: TAKEN_BACK in shown.text, "what was taken back")
    assert not {UNDO, CANCEL} & {*reply.labels}
    assert not [mark for mark in ("💾", "✏️", "⏰") if mark in reply.text]


class TestReminder:
    async def test_cancelled_by_its_owner_is_no_longer_promised(
        self, stage: Stage, aiko: User, ben: User, channel: Channel
    ) -> None:
        numbers = "SELECT number FROM schedules WHERE user_id = ?"
        reply = await set_reminder(stage, aiko, channel)
        [(number,)] = stage.rows(numbers, aiko.id)
        await stage.told(ben, channel, "remind delete", id=number)
        await stage.discord.quiet(0.3)
        assert CANCEL in reply.labels
        stage.model.script(calls(Call("cancel_schedule", {"id": number})), says("取り消しました。"))
        later = await stage.ask(aiko, channel, "やっぱりいらない")
        assert "🔕 お知らせを取り消しました: 薬" in later.text
        await says_it_is_undone(reply)

        stage.model.script(scheduling(when=soon()), says("はい。"))
        mention = await stage.says(await stage.write(aiko, stage.discord.guild_channel(), ASK), "⏰")
        await on_record(stage, mention)
        [(number,)] = stage.rows(numbers, aiko.id)
        await stage.told(aiko, channel, "remind delete", id=number)
        await says_it_is_undone(mention)

        reply = await proposed(stage, aiko, channel, Call("schedule", {"when": soon(), "text": "薬"}))
        message = await decide(stage, aiko, reply.stored[0], "予約する")
        assert "⏰" in message.text
        await on_record(stage, reply)
        [(number,)] = stage.rows(numbers, aiko.id)
        await stage.told(aiko, channel, "remind delete", id=number)
        await says_it_is_undone(reply)


class TestMemory:
    async def test_forgotten_by_the_model_is_told_again_once_that_is_undone(
        self, stage: Stage, aiko: User, channel: Channel
    ) -> None:
        reply = await kept_one(stage, aiko, channel, "会議は金曜")
        number = await number_of_the_memory(stage, aiko)
        stage.model.script(LOOKS, calls(Call("forget", {"id": number})), says("はい。"))
        later = await stage.ask(aiko, channel, "忘れて")
        await on_record(stage, later)
        await says_it_is_undone(reply)
        await told(stage, aiko, later.message, UNDO)
        await reply.until(lambda shown: UNDO in shown.labels, "the receipt that holds again")
        assert "💾 覚えました: 会議は金曜" in reply.text

    async def test_gone_with_everything_is_no_longer_told_as_kept(
        self, stage: Stage, aiko: User, channel: Channel
    ) -> None:
        for command in ("delete-all", "erase"):
            replies = [await kept_one(stage, aiko, channel, text) for text in ("会議は金曜", "猫はモチ")]
            if command == "erase":
                asked = await (await stage.discord.slash(aiko, channel, "privacy erase")).finished()
            else:
                asked = await run(stage, aiko, channel, "delete-all")
            await press(stage, aiko, asked, next(label for label in asked.labels if "消す" in label))
            assert kept(stage, aiko) == []
            for reply in replies:
                await says_it_is_undone(reply)


async def test_after_a_crash_an_answer_is_shown_with_what_holds_by_then(own_stage: Stage) -> None:
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
