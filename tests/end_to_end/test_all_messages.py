from tests.end_to_end.stage import Stage
from tests.loopback.discord import Channel, Poll, User
from tests.loopback.model_server import says

STAGE = "reading_stage"


async def test_the_talk_of_others_is_read_as_it_is(
    stage: Stage, aiko: User, ben: User, channel: Channel
) -> None:
    bot, source = stage.discord.other_bot("ci"), await stage.discord.post(ben, channel, "at ten")
    deleted = await stage.discord.post(aiko, channel, "忘れて")
    edited = await stage.discord.post(aiko, channel, "赤")
    await stage.discord.post(bot, channel, "", embeds=({"title": "main", "description": "失敗"},))
    await stage.discord.post(aiko, channel, "", poll=Poll("お昼は？", ("寿司", "そば")))
    await stage.discord.post(ben, channel, "", stickers=("wave",))
    await stage.discord.forward(ben, channel, source)
    await stage.discord.delete(aiko, deleted)
    await stage.discord.edit(aiko, edited, "青")
    await stage.said(aiko, channel, "まとめて", "はい。")
    assert stage.shown() == [
        "Ben: at ten",
        "Aiko: 青",
        "ci: [embed]\n  > main\n  > 失敗",
        "Aiko: [poll] お昼は？\n  - 寿司: 0\n  - そば: 0",
        "Ben: [sticker: wave]",
        "Ben: [forwarded message]\n  > at ten",
        "Aiko: まとめて",
    ]
    assert len(stage.model.requests) == 1


async def test_a_denied_location_is_never_read(stage: Stage, aiko: User, ben: User, channel: Channel) -> None:
    await stage.said(aiko, channel, "はじめまして", "どうも。")
    owner, thread = stage.discord.owner, await stage.discord.start_thread(aiko, channel)
    await stage.told(owner, channel, "admin access deny", subject=f"<#{channel.id}>")
    for location in (channel, thread):
        await stage.discord.post(ben, location, "between us")
    await stage.write(ben, channel, "Are you there?")
    await stage.said(owner, channel, "だれか話した？", "はい。")
    await stage.told(owner, channel, "admin access remove", subject=f"<#{channel.id}>")
    await stage.restart()
    await stage.said(ben, channel, "And now?", "いまは、はい。")
    told = ["owner: だれか話した？", "はい。", "Ben: And now?"]
    assert stage.shown() == ["Aiko: はじめまして", "どうも。", *told]
    stage.discord.pings.clear()
    assert stage.rows("SELECT 1 FROM messages WHERE content LIKE '%between us%'") == []


async def test_a_thread_needs_no_mention(stage: Stage, aiko: User, ben: User, channel: Channel) -> None:
    await stage.said(aiko, channel, "こんにちは", "こんにちは。")
    thread = await stage.discord.start_thread(aiko, channel)
    await stage.discord.post(ben, thread, "quiet yet")
    asked = await stage.said(aiko, thread, "こんにちは", "こんにちは。")
    await stage.discord.post(aiko, channel, "ひとりごと")
    await stage.discord.post(ben, thread, "what do you think?", mention=aiko)
    await stage.discord.post(ben, thread, "me too", reply_to=asked, ping=False)
    await stage.discord.quiet()
    assert len(stage.model.requests) == 2
    stage.model.script(says("はい、ここに。"))
    message = await stage.write(ben, thread, "are you there?", mention=False)
    await stage.says(message, "はい、ここに。")
    assert len(stage.model.requests) == 3


async def test_a_reply_to_the_bot_needs_no_ping(stage: Stage, aiko: User, channel: Channel) -> None:
    eri = stage.discord.user("Eri", locale="ja")
    asked = await stage.said(aiko, channel, "こんにちは", "こんにちは。")
    answer = stage.discord.answer(asked).message
    own = await stage.ask(aiko, channel, "はじめに")
    for user, shown in ((aiko, answer), (aiko, own.message), (eri, own.message)):
        stage.model.script(says("はい。"))
        message = await stage.discord.post(user, channel, "それで？", reply_to=shown, ping=False)
        await stage.says(message, "はい。")
    await stage.discord.post(eri, channel, "見て", reply_to=answer, ping=False, mention=aiko)
    late = await stage.discord.post(eri, channel, "これは？")
    await stage.discord.quiet()
    assert len(stage.model.requests) == 5
    stage.model.script(says("それも。"))
    await stage.discord.edit(eri, late, f"{stage.discord.bot.mention} これは？")
    await stage.says(late, "それも。")
