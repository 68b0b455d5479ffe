"""Mentions in channels and threads: answered with what was said there, for whoever asked."""

from tests.end_to_end.stage import STOP, Stage, streaming
from tests.loopback.discord import Channel, File, User
from tests.loopback.model_server import (
    Call,
    Hang,
    Pause,
    Reply,
    Say,
    calls,
    says,
)

WAITING = "SELECT count(*) FROM mentions WHERE channel_id = ? AND answered = 0"


class TestMention:
    async def test_is_answered_once_with_who_said_what(
        self, stage: Stage, aiko: User, ben: User, channel: Channel
    ) -> None:
        stage.discord.nickname(aiko, "あいこ")
        await stage.discord.post(aiko, channel, "おはよう")
        await stage.discord.post(ben, channel, "hi", mention=aiko)
        for other in (stage.discord.other_bot("echo"), stage.discord.webhook("news")):
            await stage.discord.post(other, channel, "hello", mention=True)
        await stage.says(await stage.write(aiko, channel, ""), "はい、何でしょう？")
        await stage.discord.quiet()
        assert stage.stored(channel) == []
        assert stage.model.requests == []
        stage.model.script(says("@everyone ", f"{ben.mention} 金曜日です。"))
        message = await stage.write(aiko, channel, "明日は何曜日？")
        reply = await stage.says(message, "金曜日です。")
        assert reply.stored[0].reply_to is message
        assert reply.labels == []
        await stage.discord.redeliver(message)
        await stage.said(ben, channel, f"What did {aiko.mention} ask?", "明日のことです。")
        assert len(reply.messages) == 1
        assert len(stage.model.requests) == 2
        assert stage.shown()[0] == "あいこ: 明日は何曜日？"
        assert stage.shown()[-1] == "Ben: What did @Aiko ask?"

    async def test_brings_its_files_and_names_those_that_can_not_be_read(
        self, stage: Stage, aiko: User, channel: Channel
    ) -> None:
        archive = File("a.zip", b"PK\x03\x04....", "application/zip")
        message = await stage.write(aiko, channel, "これは？", attachments=(archive,))
        await stage.says(message, "このファイルは開けませんでした。")
        assert stage.model.requests == []
        text = File("買い物.txt", "牛乳とパン".encode(), "text/plain")
        message = await stage.write(aiko, channel, "これは？", attachments=(archive, text))
        reply = await stage.says(message, "a.zip は読めませんでした。")
        assert "承知しました" in reply.text
        assert "牛乳とパン" in stage.shown()[-1]
        assert "[not shown, it could not be read: a.zip]" in stage.shown()[-1]
        kept = "これは？\n[file: a.zip]\n[file: 買い物.txt]"
        assert ("user", kept, "complete") in stage.stored(channel)
        assert stage.rows("SELECT count(*) FROM attachments WHERE name = '買い物.txt'") == [(0,)]
        await stage.eventually(WAITING, channel.id, gives=[(0,)])


class TestSeveral:
    async def test_questions_that_wait_are_answered_together_without_memories(
        self, stage: Stage, aiko: User, ben: User, channel: Channel
    ) -> None:
        stage.model.script(
            Reply(Say("ひとつ目の"), Pause(2.0), *says("答えです。").steps), Reply(Say("長い"), Hang())
        )
        first = await stage.write(aiko, channel, "ひとつ目")
        await streaming(stage.discord.answer(first), "ひとつ目の")
        second = await stage.write(ben, channel, "two")
        third = await stage.write(aiko, channel, "みっつ目")
        reply = await streaming(stage.discord.answer(third), "長い")
        assert stage.discord.answer(first).text == "ひとつ目の答えです。"
        assert stage.discord.answer(second).messages == []
        assert stage.tools(0) >= {"remember", "recall"}
        assert not stage.tools(1) & {"remember", "recall"}
        assert stage.shown(1) == ["Aiko: ひとつ目", "ひとつ目の答えです。", "Ben: two", "Aiko: みっつ目"]
        carl = stage.discord.user("Carl", locale="ja")  # who has not asked
        press = await (await stage.discord.click(carl, reply.message, STOP["ja"])).finished()
        assert press.ephemeral
        assert "質問した人だけ" in press.text
        (await stage.discord.click(ben, reply.message, STOP["ja"])).any_language = True
        await stage.says(third, "ここで止めました")
        assert stage.stored(channel)[-1] == ("assistant", "長い", "stopped")
        assert len(stage.model.requests) == 2

    async def test_channels_and_threads_do_not_hear_or_wait_for_each_other(
        self, stage: Stage, aiko: User, ben: User, channel: Channel
    ) -> None:
        other = stage.discord.guild_channel("other")
        await stage.said(aiko, channel, "りんごの話", "りんごですね。")
        thread = await stage.discord.start_thread(aiko, channel, "相談")
        await stage.said(ben, other, "バナナの話", "バナナですね。")
        await stage.said(aiko, channel, "すいかの話", "すいかですね。")
        await stage.said(ben, thread, "メロンの話", "メロンですね。")
        assert stage.shown() == ["Aiko: りんごの話", "りんごですね。", "Ben: メロンの話"]
        stage.model.script(Reply(Say("待って"), Hang()))
        slow = await stage.write(aiko, channel, "遅い")
        await streaming(stage.discord.answer(slow), "待って")
        assert "メロン" not in str(stage.shown())
        await stage.said(ben, other, "next", "はい。")
        assert stage.shown() == ["Ben: バナナの話", "バナナですね。", "Ben: next"]
        parents = "SELECT DISTINCT parent_channel_id FROM messages WHERE thread_id = ?"
        assert stage.rows(parents, thread.id) == [(channel.id,)]
        await stage.discord.delete(aiko, slow)  # the next start would answer it, whatever test makes that


class TestPrivacy:
    async def test_memories_are_those_of_the_one_who_asks_and_in_no_others_request(
        self, stage: Stage, aiko: User, ben: User, channel: Channel
    ) -> None:
        stage.model.script(calls(Call("remember", {"content": "猫が好き"})), says("覚えました。"))
        await stage.says(await stage.write(aiko, channel, "猫が好きと覚えて"), "覚えました。")
        assert stage.rows("SELECT content FROM memories WHERE user_id = ?", aiko.id) == [("猫が好き",)]
        await stage.told(aiko, channel, "memory add", content="誕生日は4月1日")
        stage.model.script(calls(Call("recall", {"query": "誕生日"})), says("覚えていますよ。"))
        await stage.says(await stage.write(aiko, channel, "誕生日を覚えてる？"), "覚えていますよ。")
        assert "4月1日" in str(stage.model.requests[-1].messages)
        stage.model.script(calls(Call("recall", {"query": "好き"})), says("わかりません。"))
        await stage.says(await stage.write(ben, channel, "what do I like?"), "わかりません。")
        assert "猫が好き" not in str(stage.model.requests[-1].messages[-1])
        assert "4月1日" not in str(stage.model.requests[-1].messages)

    async def test_what_was_said_in_private_never_enters(
        self, stage: Stage, aiko: User, channel: Channel
    ) -> None:
        await stage.ask(aiko, channel, "内緒の質問", private=True)
        await stage.ask(aiko, channel, "自分の質問")
        dm = await stage.write(aiko, stage.discord.dm(aiko), "DMの内緒", mention=False)
        await stage.says(dm, "承知しました")
        await stage.said(aiko, channel, "みんなの質問", "はい。")
        assert stage.shown() == ["Aiko: 自分の質問", "はい、承知しました。", "Aiko: みんなの質問"]
