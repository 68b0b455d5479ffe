import pytest

from tests.end_to_end.stage import STOP, Stage, answered, streaming
from tests.loopback.discord import Channel, User
from tests.loopback.model_server import Call, Hang, Pause, Reply, Say, calls, says


async def test_a_mention_is_answered_once(stage: Stage, aiko: User, ben: User, channel: Channel) -> None:
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


@pytest.mark.slow
async def test_each_person_has_one_answer_to_what_they_ask_while_they_wait(
    stage: Stage, aiko: User, ben: User, channel: Channel
) -> None:
    stage.model.script(Reply(Say("ひとつ目の"), Pause(2.0), *says("答えです。").steps))
    first = await stage.write(aiko, channel, "ひとつ目")
    await streaming(stage.discord.answer(first), "ひとつ目の")
    second = await stage.write(aiko, channel, "ふたつ目")
    third = await stage.said(ben, channel, "three", "三つ目の答えです。")
    stage.model.script(Reply(Say("長い"), Hang()))
    last = await stage.write(aiko, channel, "よっつ目")
    reply = await streaming(stage.discord.answer(last), "長い")
    assert stage.discord.answer(first).text == "ひとつ目の答えです。"
    assert stage.discord.answer(second).messages == []
    assert len(stage.discord.answer(third).messages) == 1
    assert all(stage.tools(number) >= {"remember", "recall"} for number in range(3))
    before = ["Aiko: ひとつ目", "Ben: three", "ひとつ目の答えです。", "三つ目の答えです。"]
    assert sorted(stage.shown(2)) == sorted([*before, "Aiko: ふたつ目", "Aiko: よっつ目"])
    assert stage.shown(2)[-2:] == ["Aiko: ふたつ目", "Aiko: よっつ目"]
    press = await (await stage.discord.click(ben, reply.message, STOP["ja"])).finished()  # who has not asked
    assert press.ephemeral
    (await stage.discord.click(aiko, reply.message, STOP["ja"])).any_language = True
    await stage.says(last, "ここで止めました")
    assert stage.stored(channel)[-1] == ("assistant", "長い", "stopped")
    assert len(stage.model.requests) == 3


async def test_channels_do_not_hear_each_other(stage: Stage, aiko: User, ben: User, channel: Channel) -> None:
    other = stage.discord.guild_channel("other")
    await stage.said(aiko, channel, "りんごの話", "りんごですね。")
    thread = await stage.discord.start_thread(aiko, channel, "相談")
    await stage.said(ben, other, "バナナの話", "バナナですね。")
    await stage.said(aiko, channel, "すいかの話", "すいかですね。")
    await stage.said(ben, thread, "メロンの話", "メロンですね。")
    *before, title, asked = stage.shown()
    assert [*before, asked] == ["Aiko: りんごの話", "りんごですね。", "Ben: メロンの話"]
    assert "相談" in title
    await stage.discord.rename_thread(thread, "果物の相談")
    await stage.said(ben, thread, "もう一度", "はい。")
    assert "果物の相談" in stage.shown()[-2]
    stage.model.script(Reply(Say("待って"), Hang()))
    slow = await stage.write(aiko, channel, "遅い")
    await streaming(stage.discord.answer(slow), "待って")
    assert "メロン" not in str(stage.shown())
    await stage.said(ben, other, "next", "はい。")
    assert stage.shown() == ["Ben: バナナの話", "バナナですね。", "Ben: next"]
    parents = "SELECT DISTINCT parent_channel_id FROM messages WHERE thread_id = ?"
    assert stage.rows(parents, thread.id) == [(channel.id,)]
    await stage.discord.delete(aiko, slow)  # the next start would answer it, whatever test makes that


async def test_memories_are_the_askers_alone(stage: Stage, aiko: User, ben: User, channel: Channel) -> None:
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


async def test_private_words_never_enter(stage: Stage, aiko: User, channel: Channel) -> None:
    await stage.ask(aiko, channel, "内緒の質問", private=True)
    await stage.ask(aiko, channel, "自分の質問")
    dm = await stage.write(aiko, stage.discord.dm(aiko), "DMの内緒", mention=False)
    await stage.says(dm, "承知しました")
    await stage.said(aiko, channel, "みんなの質問", "はい。")
    assert stage.shown() == ["Aiko: 自分の質問", "はい、承知しました。", "Aiko: みんなの質問"]


@pytest.mark.slow
async def test_a_public_ask_stands_where_it_was_asked(
    stage: Stage, aiko: User, ben: User, channel: Channel
) -> None:
    await stage.said(ben, channel, "hello", "やあ。")
    stage.model.script(says("うどんです。"))
    await stage.ask(aiko, channel, "お昼は？")
    stage.model.script(Reply(Say("すし"), Pause(2.0), *says("です。").steps), says("はい。"))
    reply = await streaming(await stage.begin(aiko, channel, "夜は？"), "すし")
    await stage.says(await stage.write(ben, channel, "meanwhile"), "はい。")
    await answered(reply)
    await stage.said(ben, channel, "what was that?", "はい。")
    before = ["Ben: hello", "やあ。", "Aiko: お昼は？", "うどんです。", "Aiko: 夜は？", "すしです。"]
    assert stage.shown() == [*before, "Ben: meanwhile", "はい。", "Ben: what was that?"]
