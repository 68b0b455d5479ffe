from tests.end_to_end.stage import Stage, ended, streaming
from tests.loopback.discord import Channel, User
from tests.loopback.model_server import Call, Hang, Say, calls, says
from tests.loopback.model_server import Reply as Answer

SECRET = "合言葉はオオルリ"


async def test_a_private_answer_is_in_no_public_one(stage: Stage, aiko: User, channel: Channel) -> None:
    await stage.ask_in_words(aiko, channel, "これは公開の話です。")
    stage.model.script(
        *(calls(Call("remember", {"content": SECRET})), says("覚えました。")),
        *(says("オオルリです。"), says("カワセミではありません。")),
    )
    await stage.ask(aiko, channel, f"{SECRET}。覚えて", private=True)
    reply = await stage.ask(aiko, channel, "合言葉は？", private=True)
    assert "オオルリ" in str(stage.model.requests[-1].messages)
    press = await stage.discord.click(aiko, reply.message, "もう一度答える")
    await press.finished(lambda shown: "カワセミ" in shown.text and shown.labels)
    assert press.ephemeral
    stored = "SELECT DISTINCT visibility FROM messages WHERE channel_id = ? ORDER BY visibility"
    assert stage.rows(stored, channel.id) == [("private",), ("public",)]
    stage.model.reset()
    stage.model.script(calls(Call("recall", {"query": "合言葉"})), says("わかりません。"))
    await stage.ask(aiko, channel, "私のひみつは？")
    sent = "".join(str(request.body) for request in stage.model.requests)
    assert "これは公開の話です。" in sent
    assert not [each for each in ("オオルリ", "カワセミ", "覚えました。") if each in sent]


async def test_a_temporary_one_is_not_in_the_database(stage: Stage, ben: User, channel: Channel) -> None:
    await stage.ask_in_words(ben, channel, "My colour is teal.")
    stage.model.script(
        calls(Call("remember", {"content": "A temporary hoopoe"})), says("A temporary wryneck.")
    )
    question: dict[str, str | bool] = {"question": "A temporary hoopoe", "temporary": True}
    reply = await stage.discord.slash(ben, channel, "ask", **question)
    await reply.finished(lambda shown: "not stored" in shown.text)
    assert reply.ephemeral
    assert reply.labels == []
    assert "My colour is teal." in stage.shown()
    assert stage.tools() == {"list_memories", "list_schedules", "read_page", "recall"}
    stage.model.script(Answer(Say("Half a wryneck"), Hang()))
    stopped = await stage.discord.slash(ben, channel, "ask", **question)
    await streaming(stopped, "Half a wryneck")
    await stage.discord.click(ben, stopped.message, "Stop")
    assert "Half a wryneck" in (await ended(stopped)).text
    assert stopped.labels == []
    kept = b"".join(path.read_bytes() for path in stage.database.parent.iterdir())
    assert b"teal" in kept
    assert b"wryneck" not in kept
    assert b"hoopoe" not in kept
    await stage.ask_in_words(ben, channel, "Yes.")
    assert "hoopoe" not in str(stage.model.requests[-1].messages)


async def test_every_location_has_its_conversation(
    stage: Stage, aiko: User, ben: User, channel: Channel
) -> None:
    dm = stage.discord.dm(aiko)
    locations = [
        *(channel, stage.discord.thread(channel), dm, stage.discord.guild_channel()),
        stage.discord.user_installed_channel(aiko),
        stage.discord.group_dm(aiko, stage.discord.user("Chie", locale="ja")),
        stage.discord.guild_channel(bot_present=False),
    ]
    for number, location in enumerate(locations):
        stage.model.script(says("はい。"), says("ええ。"))
        reply = await stage.ask(aiko, location, f"ここは場所{number}番")
        press = await stage.discord.click(aiko, reply.message, "もう一度答える")
        await press.finished(lambda shown: "ええ。" in shown.text and shown.labels)
        assert stage.shown() == [f"ここは場所{number}番"]
        assert not reply.ephemeral
    rows = stage.rows("SELECT DISTINCT visibility FROM messages WHERE channel_id = ?", dm.id)
    assert rows == [("private",)]
    stage.model.script(says("Yes."))
    assert (await stage.ask(ben, channel, "What did Aiko say?")).labels == ["Answer again"]
    assert stage.shown() == ["What did Aiko say?"]
