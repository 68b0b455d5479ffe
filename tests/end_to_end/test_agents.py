"""Agents: who answers whom, each in a conversation of its own."""

import pytest

from tests.end_to_end.agents import FILE, GREEN, VERSE, told_to_be, use, write_file
from tests.end_to_end.heartbeats import beat, begin, day
from tests.end_to_end.stage import Stage, again_label, answered, continue_label, streaming
from tests.loopback.discord import Channel, User
from tests.loopback.model_server import CutConnection, Hang, Say, fails, says
from tests.loopback.model_server import Reply as Answer


@pytest.fixture
def shared_stage(stage_with_agents: Stage) -> Stage:
    write_file(stage_with_agents.program.folder, FILE)
    return stage_with_agents


class TestChosenAgent:
    async def test_answers_with_its_own_persona_model_temperature_and_tools(
        self, stage: Stage, aiko: User, channel: Channel
    ) -> None:
        assert "「英語の先生」" in await use(stage, aiko, channel, "tutor")
        await stage.ask(aiko, channel)
        body = stage.model.requests[-1].body
        assert told_to_be(stage).startswith(f"{GREEN}\n書式は Discord の Markdown です")
        assert (body["model"], body["temperature"]) == ("teacher-large", 0.3)
        assert stage.tools() == {"recall"}
        assert "remember" not in told_to_be(stage)

    async def test_answers_nobody_else_and_nowhere_else(
        self, stage: Stage, aiko: User, ben: User, channel: Channel
    ) -> None:
        await use(stage, aiko, channel, "tutor")
        await stage.ask_in_words(ben, channel, "Yes.")
        await stage.ask(aiko, stage.discord.guild_channel("elsewhere"))
        for request in stage.model.requests:
            assert GREEN not in str(request.body)
            assert request.body["model"] == "loopback"
            assert "temperature" not in request.body
        assert "remember" in stage.tools()

    async def test_has_its_own_chain_of_models(self, stage: Stage, aiko: User, channel: Channel) -> None:
        await use(stage, aiko, channel, "tutor")
        stage.model.script(fails(404), says("代わりです。"))
        assert "代わりです。" in (await stage.ask(aiko, channel)).text
        assert [request.body["model"] for request in stage.model.requests] == [
            "teacher-large",
            "teacher-small",
        ]

    async def test_is_the_users_choice_after_a_restart(
        self, stage: Stage, aiko: User, channel: Channel
    ) -> None:
        await use(stage, aiko, channel, "poet")
        await stage.ask(aiko, channel, "いち")
        await stage.restart()
        await stage.ask(aiko, channel, "に")
        assert VERSE in told_to_be(stage)
        assert stage.shown()[0] == "いち"

    async def test_answers_in_private_and_temporary_turns_too(
        self, stage: Stage, aiko: User, channel: Channel
    ) -> None:
        await use(stage, aiko, channel, "poet")
        await stage.ask(aiko, channel, private=True)
        reply = await stage.begin(aiko, channel, temporary=True)
        await reply.finished(lambda shown: "承知しました" in shown.text)
        assert VERSE in told_to_be(stage, 0)
        assert VERSE in told_to_be(stage, 1)

    async def test_that_is_chosen_meanwhile_leaves_the_running_answer_alone(
        self, stage: Stage, aiko: User, channel: Channel
    ) -> None:
        stage.model.script(Answer(Say("ここまで"), Hang()))
        running = await streaming(await stage.begin(aiko, channel, "いち"), "ここまで")
        await use(stage, aiko, channel, "tutor")
        await stage.discord.click(aiko, running.message, "止める")
        await running.finished(lambda shown: again_label(aiko) in shown.labels)
        assert stage.rows("SELECT agent FROM sessions WHERE channel_id = ?", channel.id) == [("default",)]


class TestConversation:
    async def test_of_one_agent_is_not_seen_by_another(
        self, stage: Stage, aiko: User, channel: Channel
    ) -> None:
        await stage.ask(aiko, channel, "ひみつはオオルリ")
        await use(stage, aiko, channel, "poet")
        await stage.ask(aiko, channel, "詩をください")
        assert stage.shown() == ["詩をください"]
        assert "オオルリ" not in str(stage.model.requests[-1].body)
        await use(stage, aiko, channel, "default")
        await stage.ask(aiko, channel, "ひみつは？")
        assert stage.shown()[0] == "ひみつはオオルリ"
        assert "詩をください" not in str(stage.model.requests[-1].body)

    async def test_is_cleared_without_the_others(self, stage: Stage, aiko: User, channel: Channel) -> None:
        await stage.ask(aiko, channel, "いち")
        await use(stage, aiko, channel, "poet")
        await stage.ask(aiko, channel, "に")
        await stage.told(aiko, channel, "clear")
        await stage.ask(aiko, channel, "さん")
        assert stage.shown() == ["さん"]
        await use(stage, aiko, channel, "default")
        await stage.ask(aiko, channel, "よん")
        assert stage.shown()[0] == "いち"

    async def test_shares_the_users_memories(self, stage: Stage, aiko: User, channel: Channel) -> None:
        await stage.told(aiko, channel, "memory add", content="猫の名前はタマ")
        await use(stage, aiko, channel, "tutor")
        assert "タマ" in await stage.told(aiko, channel, "memory search", query="猫")


class TestButton:
    async def test_answers_again_as_the_agent_above_it(
        self, stage: Stage, aiko: User, channel: Channel
    ) -> None:
        await use(stage, aiko, channel, "tutor")
        reply = await stage.ask(aiko, channel, "いち")
        await use(stage, aiko, channel, "poet")
        await stage.ask(aiko, channel, "に")
        await answered(await stage.discord.click(aiko, reply.message, again_label(aiko)))
        assert GREEN in told_to_be(stage)
        assert stage.shown() == ["いち"]
        assert stage.model.requests[-1].body["model"] == "teacher-large"

    async def test_goes_on_as_the_agent_above_it_after_a_restart_too(
        self, stage: Stage, aiko: User, channel: Channel
    ) -> None:
        await use(stage, aiko, channel, "tutor")
        stage.model.script(Answer(Say("途中"), CutConnection()))
        reply = await stage.begin(aiko, channel, "いち")
        await reply.finished(lambda shown: continue_label(aiko) in shown.labels)
        await use(stage, aiko, channel, "default")
        await stage.restart()
        await answered(await stage.discord.click(aiko, reply.message, continue_label(aiko)))
        assert GREEN in told_to_be(stage)
        assert stage.shown()[:2] == ["いち", "途中"]

    async def test_under_the_answer_of_an_agent_that_is_gone_says_so(
        self, stage: Stage, aiko: User, ben: User, channel: Channel
    ) -> None:
        write_file(stage.program.folder, f"{FILE}\n[agents.gone]\n")
        replies = []
        for user in (aiko, ben):
            await use(stage, user, channel, "gone")
            words = "はい。" if user is aiko else "Yes."
            replies.append(await stage.ask_in_words(user, channel, words))
        write_file(stage.program.folder, FILE)
        for user, reply, told in (
            (aiko, replies[0], "もうここでは使えません"),
            (ben, replies[1], "can't be used here any more"),
        ):
            press = await stage.discord.click(user, reply.message, again_label(user))
            await press.finished(lambda shown, told=told: told in shown.text)  # type: ignore[misc]
        assert len(stage.model.requests) == 2


class TestReply:
    async def test_goes_on_with_the_agent_that_it_replies_to(
        self, stage: Stage, aiko: User, channel: Channel
    ) -> None:
        await use(stage, aiko, channel, "tutor")
        reply = await stage.ask(aiko, channel, "いち")
        await use(stage, aiko, channel, "default")
        message = await stage.write(aiko, channel, "に", mention=False, reply_to=reply.message)
        await stage.says(message, "承知しました")
        assert GREEN in told_to_be(stage)
        assert stage.shown()[0] == "いち"

    async def test_to_an_agent_that_is_gone_is_answered_by_whom_the_user_has_now(
        self, stage: Stage, aiko: User, channel: Channel
    ) -> None:
        write_file(stage.program.folder, f"{FILE}\n[agents.gone]\n")
        await use(stage, aiko, channel, "gone")
        reply = await stage.ask(aiko, channel, "いち")
        await use(stage, aiko, channel, "poet")
        write_file(stage.program.folder, FILE)
        message = await stage.write(aiko, channel, "に", mention=False, reply_to=reply.message)
        await stage.says(message, "使えないので、「Poet」が答えます")
        assert VERSE in told_to_be(stage)
        assert stage.shown() == ["[In reply to your own answer:]\n> はい、承知しました。\n\nに"]


class TestPlaceOfOthers:
    async def test_without_the_bot_has_agents_too(self, stage: Stage, aiko: User) -> None:
        friend = stage.discord.user("Eri", locale="ja")
        places = (stage.discord.user_installed_channel(aiko), stage.discord.group_dm(aiko, friend))
        for place in places:
            assert "「Poet」" in await use(stage, aiko, place, "poet")
            reply = await stage.ask(aiko, place, "いち")
            assert VERSE in told_to_be(stage)
            await use(stage, aiko, place, "default")
            await answered(await stage.discord.click(aiko, reply.message, again_label(aiko)))
            assert VERSE in told_to_be(stage)
            await stage.ask(aiko, place, "に")
            assert stage.shown() == ["に"]


class TestHeartbeat:
    async def test_comes_from_the_agent_that_it_was_begun_with(
        self, stage: Stage, aiko: User, channel: Channel
    ) -> None:
        await use(stage, aiko, channel, "tutor")
        await begin(stage, aiko, channel)
        await stage.told(aiko, stage.discord.dm(aiko), "memory add", content=f"{day(2)}に試験")
        await beat(stage, aiko, ends="sent")
        body = stage.model.requests[-1].body
        assert told_to_be(stage).startswith(GREEN)
        assert (body["model"], body["temperature"]) == ("teacher-large", 0.3)
        assert stage.tools() == {"recall"}


class TestDm:
    async def test_is_answered_by_the_chosen_agent(self, stage: Stage, aiko: User) -> None:
        dm = stage.discord.dm(aiko)
        await stage.says(await stage.write(aiko, dm, "いち", mention=False), "承知しました")
        await use(stage, aiko, dm, "poet")
        await stage.says(await stage.write(aiko, dm, "に", mention=False), "承知しました")
        assert VERSE in told_to_be(stage)
        assert stage.shown() == ["に"]
