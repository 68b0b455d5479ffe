"""Agents of channels, threads and whole servers, and how they are found."""

import pytest

from tests.end_to_end.agents import FILE, GREEN, OWN, VERSE, told_to_be, use, write_file
from tests.end_to_end.stage import Stage
from tests.loopback.discord import Channel, Permission, Reply, User
from tests.loopback.model_server import Hang
from tests.loopback.model_server import Reply as Answer


@pytest.fixture
def shared_stage(stage_with_agents: Stage) -> Stage:
    write_file(stage_with_agents.program.folder, FILE)
    return stage_with_agents


@pytest.fixture
def manager(stage: Stage) -> User:
    user = stage.discord.user("Mana", locale="ja")
    stage.discord.permit(user, Permission.MANAGE_GUILD)
    return user


async def set_default(stage: Stage, user: User, channel: Channel, name: str) -> Reply:
    reply = await stage.discord.slash(user, channel, "agent default", name=name)
    return await reply.finished()


class TestThread:
    async def test_has_what_was_chosen_in_its_channel_until_it_has_its_own(
        self, stage: Stage, aiko: User, channel: Channel
    ) -> None:
        await use(stage, aiko, channel, "tutor")
        thread = stage.discord.thread(channel)
        await stage.ask(aiko, thread)
        assert GREEN in told_to_be(stage)
        await use(stage, aiko, thread, "poet")
        await stage.ask(aiko, thread)
        assert VERSE in told_to_be(stage)
        await use(stage, aiko, thread, "default")
        await stage.ask(aiko, thread)
        assert told_to_be(stage).startswith(OWN)
        await stage.ask(aiko, channel)
        assert GREEN in told_to_be(stage)

    async def test_whose_agent_is_gone_has_that_of_its_channel(
        self, stage: Stage, aiko: User, channel: Channel
    ) -> None:
        thread = stage.discord.thread(channel)
        write_file(stage.program.folder, f"{FILE}\n[agents.gone]\n")
        await use(stage, aiko, channel, "tutor")
        await use(stage, aiko, thread, "gone")
        write_file(stage.program.folder, FILE)
        reply = await stage.ask(aiko, thread)
        assert GREEN in told_to_be(stage)
        assert "使えないので、「英語の先生」が答えます" in reply.text

    async def test_has_the_default_of_its_channel_until_it_has_its_own(
        self, stage: Stage, aiko: User, manager: User, channel: Channel
    ) -> None:
        thread = stage.discord.thread(channel)
        await set_default(stage, manager, channel, "tutor")
        await stage.says(await stage.write(aiko, thread, "だれ？"), "承知しました")
        assert GREEN in told_to_be(stage)
        await set_default(stage, manager, thread, "poet")
        await stage.says(await stage.write(aiko, thread, "だれ？"), "承知しました")
        assert VERSE in told_to_be(stage)
        await stage.ask(aiko, thread)
        assert VERSE in told_to_be(stage)

    async def test_can_have_the_default_agent_whatever_its_channel_has(
        self, stage: Stage, aiko: User, manager: User, channel: Channel
    ) -> None:
        thread = stage.discord.thread(channel)
        await set_default(stage, manager, channel, "tutor")
        reply = await set_default(stage, manager, thread, "default")
        assert "「標準」にしました" in reply.text
        await stage.ask(aiko, thread)
        assert told_to_be(stage).startswith(OWN)
        await stage.says(await stage.write(aiko, thread, "だれ？"), "承知しました")
        assert OWN in told_to_be(stage)
        await stage.ask(aiko, channel)
        assert told_to_be(stage).startswith(GREEN)


class TestChannelDefault:
    async def test_answers_mentions_and_questions_of_everybody(
        self, stage: Stage, aiko: User, manager: User, channel: Channel
    ) -> None:
        reply = await set_default(stage, manager, channel, "tutor")
        assert "既定のエージェントを「英語の先生」にしました" in reply.text
        assert not reply.ephemeral
        await stage.says(await stage.write(aiko, channel, "だれ？"), "承知しました")
        await stage.ask(aiko, channel)
        for request in stage.model.requests:
            assert request.messages[0]["content"].startswith(GREEN)
            assert (request.body["model"], request.body["temperature"]) == ("teacher-large", 0.3)

    async def test_gives_way_to_a_choice_but_not_in_mentions(
        self, stage: Stage, aiko: User, manager: User, channel: Channel
    ) -> None:
        await set_default(stage, manager, channel, "tutor")
        await use(stage, aiko, channel, "default")
        await stage.ask(aiko, channel)
        assert told_to_be(stage).startswith(OWN)
        await stage.says(await stage.write(aiko, channel, "だれ？"), "承知しました")
        assert GREEN in told_to_be(stage)

    async def test_is_followed_again_by_who_went_back_to_the_default_agent(
        self, stage: Stage, aiko: User, manager: User, channel: Channel
    ) -> None:
        await use(stage, aiko, channel, "poet")
        await use(stage, aiko, channel, "default")
        await set_default(stage, manager, channel, "tutor")
        await stage.ask(aiko, channel)
        assert GREEN in told_to_be(stage)

    async def test_is_taken_back_with_the_default_agent(
        self, stage: Stage, aiko: User, manager: User, channel: Channel
    ) -> None:
        await set_default(stage, manager, channel, "tutor")
        await set_default(stage, manager, channel, "標準")
        await stage.says(await stage.write(aiko, channel, "だれ？"), "承知しました")
        assert told_to_be(stage).startswith(OWN)
        assert stage.rows("SELECT * FROM channel_agents WHERE channel_id = ?", channel.id) == []

    async def test_answers_after_a_restart_who_waited(
        self, stage: Stage, aiko: User, manager: User, channel: Channel
    ) -> None:
        await set_default(stage, manager, channel, "poet")
        stage.model.script(Answer(Hang()))
        message = await stage.write(aiko, channel, "待っています")
        await stage.model.arrived(1)
        await stage.restart()
        await stage.says(message, "承知しました")
        assert VERSE in told_to_be(stage)

    @pytest.mark.parametrize(
        ("locale", "told"), [("ja", "「サーバー管理」の権限がある人だけ"), ("en-US", "Only members who may")]
    )
    async def test_is_set_by_nobody_else(
        self, stage: Stage, channel: Channel, locale: str, told: str
    ) -> None:
        user = stage.discord.user("Dan", locale=locale)
        stage.discord.permit(user, Permission.MANAGE_MESSAGES)
        reply = await set_default(stage, user, channel, "poet")
        assert told in reply.text
        assert reply.ephemeral
        assert stage.rows("SELECT * FROM channel_agents WHERE channel_id = ?", channel.id) == []

    async def test_is_for_servers_only(self, stage: Stage, manager: User) -> None:
        reply = await set_default(stage, manager, stage.discord.dm(manager), "poet")
        assert "サーバーのチャンネルだけ" in reply.text


class TestList:
    @pytest.mark.parametrize(
        ("locale", "lines"),
        [
            (
                "ja",
                [
                    "**ここで使えるエージェント**",
                    "- **標準** (`default`)",
                    "- **英語の先生** (`tutor`) — このチャンネルの既定",
                    "  英会話の練習に",
                    "- **Poet** (`poet`) — 使用中",
                ],
            ),
            (
                "en-US",
                [
                    "**Agents that you can use here**",
                    "- **Standard** (`default`)",
                    "- **English teacher** (`tutor`) — this channel's default",
                    "  Practise your English",
                    "- **Poet** (`poet`) — in use",
                ],
            ),
        ],
    )
    async def test_tells_who_there_is_and_who_answers(
        self, stage: Stage, manager: User, channel: Channel, locale: str, lines: list[str]
    ) -> None:
        user = stage.discord.user("Lin", locale=locale)
        await set_default(stage, manager, channel, "tutor")
        await use(stage, user, channel, "poet")
        assert (await stage.told(user, channel, "agent list")).splitlines()[:-1] == lines

    async def test_tells_that_the_chosen_one_is_gone(
        self, stage: Stage, aiko: User, channel: Channel
    ) -> None:
        write_file(stage.program.folder, f"{FILE}\n[agents.gone]\n")
        await use(stage, aiko, channel, "gone")
        write_file(stage.program.folder, FILE)
        told = await stage.told(aiko, channel, "agent list")
        assert "**標準** (`default`) — 使用中" in told
        assert "選んだエージェントはいまここでは使えないので、「標準」が答えます" in told


class TestName:
    @pytest.mark.parametrize("name", ["TUTOR", "ｔｕｔｏｒ", "英語の先生", "english teacher"])
    async def test_is_any_that_the_agent_has(
        self, stage: Stage, aiko: User, channel: Channel, name: str
    ) -> None:
        assert "「英語の先生」" in await use(stage, aiko, channel, name)
        assert "もう「英語の先生」がお答えしています" in await use(stage, aiko, channel, name)

    @pytest.mark.parametrize("command", ["agent use", "agent default"])
    async def test_that_nobody_has_is_one_sentence(
        self, stage: Stage, aiko: User, ben: User, manager: User, channel: Channel, command: str
    ) -> None:
        stage.discord.permit(ben, Permission.MANAGE_GUILD)
        for user, told in (
            (manager, "その名前のエージェントは、ここでは使えません。/エージェント 一覧"),
            (ben, "There is no agent of that name here. See /agent list"),
        ):
            assert told in await stage.told(user, channel, command, name="nobody")

    @pytest.mark.parametrize(
        ("typed", "names"),
        [("", ["default", "tutor", "poet"]), ("先生", ["tutor"]), ("Ｅｎｇ", ["tutor"]), ("x", [])],
    )
    async def test_is_offered_while_it_is_typed(
        self, stage: Stage, aiko: User, channel: Channel, typed: str, names: list[str]
    ) -> None:
        for command in ("agent use", "agent default"):
            choices = await stage.discord.autocomplete(aiko, channel, command, name=typed)
            assert [choice.value for choice in choices] == names

    async def test_is_offered_in_the_readers_language(
        self, stage: Stage, aiko: User, ben: User, channel: Channel
    ) -> None:
        for user, labels in (
            (aiko, ["標準 (default)", "英語の先生 (tutor)", "Poet"]),
            (ben, ["Standard (default)", "English teacher (tutor)", "Poet"]),
        ):
            choices = await stage.discord.autocomplete(user, channel, "agent use", name="")
            assert [choice.name for choice in choices] == labels
