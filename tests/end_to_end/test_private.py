"""Who gets to know what: private and temporary questions, DMs, threads, other users, other channels."""

from tests.end_to_end.stage import Stage, ended, streaming
from tests.loopback.discord import Channel, Reply, User
from tests.loopback.model_server import Call, Hang, Say, calls, says
from tests.loopback.model_server import Reply as Answer

SECRET = "合言葉はオオルリ"


def everything_sent(stage: Stage) -> str:
    """All that the model was shown."""
    return "".join(str(request.body) for request in stage.model.requests)


class TestPrivate:
    async def test_is_for_the_asker_alone_and_stored_as_private(
        self, stage: Stage, aiko: User, channel: Channel
    ) -> None:
        stage.model.script(says("二人だけの話です。"))
        reply = await stage.ask(aiko, channel, SECRET, private=True)
        assert reply.ephemeral
        stored = stage.rows("SELECT content, visibility FROM messages WHERE channel_id = ?", channel.id)
        assert stored == [(SECRET, "private"), ("二人だけの話です。", "private")]

    async def test_is_not_in_the_next_public_answer(self, stage: Stage, aiko: User, channel: Channel) -> None:
        await stage.ask_in_words(aiko, channel, "これは公開の話です。")
        stage.model.script(says("秘密ですね。"))
        await stage.ask(aiko, channel, SECRET, private=True)
        stage.model.requests.clear()
        await stage.ask_in_words(aiko, channel, "はい。")
        assert "これは公開の話です。" in everything_sent(stage)
        assert "オオルリ" not in everything_sent(stage)
        assert "秘密ですね。" not in everything_sent(stage)

    async def test_is_in_the_next_private_answer(self, stage: Stage, aiko: User, channel: Channel) -> None:
        stage.model.script(says("秘密ですね。"), says("オオルリです。"))
        await stage.ask(aiko, channel, SECRET, private=True)
        await stage.ask(aiko, channel, "合言葉は？", private=True)
        assert "オオルリ" in str(stage.model.requests[1].messages)

    async def test_stays_private_when_asked_again(self, stage: Stage, aiko: User, channel: Channel) -> None:
        stage.model.script(says("一つ目の答えです。"), says("二つ目の答えです。"))
        reply = await stage.ask(aiko, channel, SECRET, private=True)
        press = await stage.discord.click(aiko, reply.message, "もう一度答える")
        await press.finished(lambda shown: "二つ目の答えです。" in shown.text and shown.labels)
        assert press.ephemeral
        rows = stage.rows("SELECT DISTINCT visibility FROM messages WHERE channel_id = ?", channel.id)
        assert rows == [("private",)]

    async def test_memories_are_not_recalled_in_public(
        self, stage: Stage, aiko: User, channel: Channel
    ) -> None:
        stage.model.script(
            calls(Call("remember", {"content": SECRET})),
            says("覚えました。"),
            calls(Call("recall", {"query": "合言葉"})),
            says("わかりません。"),
        )
        await stage.ask(aiko, channel, "覚えて", private=True)
        stage.model.requests.clear()
        await stage.ask(aiko, channel, "私のひみつは？")
        assert "オオルリ" not in everything_sent(stage)


class TestTemporary:
    async def test_leaves_nothing_in_the_database(self, stage: Stage, ben: User, channel: Channel) -> None:
        stage.model.script(says("A temporary kingfisher."))
        reply = await stage.discord.slash(
            ben, channel, "ask", question="A temporary bluebird", temporary=True
        )
        await reply.finished(lambda shown: "not stored" in shown.text)
        assert reply.ephemeral
        assert reply.labels == []
        assert stage.stored(channel) == []
        kept = b"".join(path.read_bytes() for path in stage.database.parent.iterdir())
        assert b"kingfisher" not in kept
        assert b"bluebird" not in kept

    async def test_knows_the_conversation_but_is_not_part_of_it(
        self, stage: Stage, ben: User, channel: Channel
    ) -> None:
        await stage.ask_in_words(ben, channel, "My colour is teal.")
        stage.model.script(says("Aside."))
        reply = await stage.discord.slash(ben, channel, "ask", question="An aside", temporary=True)
        await ended(reply)
        await stage.ask_in_words(ben, channel, "Yes.")
        assert "An aside" not in str(stage.model.requests[-1].messages)

    async def test_can_not_remember(self, stage: Stage, aiko: User, channel: Channel) -> None:
        stage.model.script(calls(Call("remember", {"content": SECRET})), says("覚えられません。"))
        reply = await stage.discord.slash(aiko, channel, "ask", question="覚えて", temporary=True)
        await reply.finished(lambda shown: "保存されません" in shown.text)
        offered = [tool["function"]["name"] for tool in stage.model.requests[0].body["tools"]]
        assert offered == ["list_memories", "list_schedules", "read_page", "recall"]
        assert stage.rows("SELECT * FROM memories WHERE user_id = ?", aiko.id) == []

    async def test_can_be_stopped(self, stage: Stage, ben: User, channel: Channel) -> None:
        stage.model.script(Answer(Say("Half an answer"), Hang()))
        reply = await stage.discord.slash(ben, channel, "ask", question="?", temporary=True)
        await streaming(reply, "Half an answer")
        await stage.discord.click(ben, reply.message, "Stop")
        await ended(reply)
        assert "Half an answer" in reply.text
        assert reply.labels == []
        assert stage.stored(channel) == []


class TestOtherPlaces:
    async def test_each_have_a_conversation_of_their_own(
        self, stage: Stage, aiko: User, channel: Channel
    ) -> None:
        places = [
            channel,
            stage.discord.thread(channel),
            stage.discord.dm(aiko),
            stage.discord.guild_channel(),
            stage.discord.user_installed_channel(aiko),
            stage.discord.group_dm(aiko, stage.discord.user("Chie", locale="ja")),
        ]
        for number, place in enumerate(places):
            stage.model.script(says("はい。"))
            await stage.ask(aiko, place, f"ここは場所{number}番")
        for number, request in enumerate(stage.model.requests):
            said = [m["content"] for m in request.messages if m["role"] != "system"]
            assert said == [f"ここは場所{number}番"]

    async def test_a_dm_is_private(self, stage: Stage, aiko: User) -> None:
        dm = stage.discord.dm(aiko)
        reply = await stage.ask_in_words(aiko, dm, "はい。")
        assert not reply.ephemeral
        rows = stage.rows("SELECT DISTINCT visibility FROM messages WHERE channel_id = ?", dm.id)
        assert rows == [("private",)]

    async def test_buttons_work_in_all_of_them(self, stage: Stage, ben: User, channel: Channel) -> None:
        for place in (
            stage.discord.thread(channel),
            stage.discord.dm(ben),
            stage.discord.user_installed_channel(ben),
            stage.discord.guild_channel(bot_present=False),
        ):
            stage.model.script(says("One."), says("Two."))
            reply: Reply = await stage.ask(ben, place)
            press = await stage.discord.click(ben, reply.message, "Answer again")
            await press.finished(lambda shown: shown.text == "Two." and shown.labels)


class TestOtherPeople:
    async def test_in_the_same_channel_are_not_heard(
        self, stage: Stage, aiko: User, ben: User, channel: Channel
    ) -> None:
        stage.model.script(says("秘密ですね。"), says("Yes."))
        await stage.ask(aiko, channel, SECRET)
        await stage.ask(ben, channel, "What did Aiko say?")
        assert "オオルリ" not in str(stage.model.requests[1].body)

    async def test_of_another_language_each_get_their_own(
        self, stage: Stage, aiko: User, ben: User, channel: Channel
    ) -> None:
        stage.model.script(says("はい。"), says("Yes."))
        assert (await stage.ask(aiko, channel)).labels == ["もう一度答える"]
        assert (await stage.ask(ben, channel)).labels == ["Answer again"]
