"""The file of agents while the program runs and when it starts."""

import asyncio
from pathlib import Path

import pytest

from tests.end_to_end.agents import FILE, GREEN, OWN, VERSE, told_to_be, use, write_file
from tests.end_to_end.stage import Stage, answered, set_stage, streaming
from tests.loopback.discord import Channel, User
from tests.loopback.model_server import End, Pause, Say, says
from tests.loopback.model_server import Reply as Answer

BROKEN = f"{FILE}\n[agents.broken]\ntemperature = 9\n"


@pytest.fixture
def shared_stage(stage_with_agents: Stage) -> Stage:
    write_file(stage_with_agents.program.folder, FILE)
    return stage_with_agents


class TestChange:
    async def test_holds_from_the_next_question_on(self, stage: Stage, aiko: User, channel: Channel) -> None:
        await use(stage, aiko, channel, "poet")
        await stage.ask(aiko, channel, "いち")
        write_file(stage.program.folder, FILE.replace(VERSE, "You answer in prose."))
        await stage.ask(aiko, channel, "に")
        assert told_to_be(stage).startswith("You answer in prose.")
        assert stage.shown()[0] == "いち"

    async def test_leaves_a_running_answer_alone(self, stage: Stage, aiko: User, channel: Channel) -> None:
        await use(stage, aiko, channel, "tutor")
        stage.model.script(Answer(Say("ここから"), Pause(2), Say("ここまで"), End()))
        running = await streaming(await stage.begin(aiko, channel), "ここから")
        write_file(stage.program.folder, "")
        assert "だけです" in await stage.told(aiko, channel, "agent list")
        assert (await answered(running)).text.startswith("ここからここまで")
        assert stage.rows("SELECT agent FROM sessions WHERE channel_id = ?", channel.id) == [("tutor",)]

    async def test_that_takes_an_agent_away_has_the_default_one_answer_in_its_own_conversation(
        self, stage: Stage, aiko: User, channel: Channel
    ) -> None:
        await use(stage, aiko, channel, "tutor")
        await stage.ask(aiko, channel, "先生への質問")
        write_file(stage.program.folder, "")
        reply = await stage.ask(aiko, channel, "だれですか")
        assert "-# 選んだエージェントはいまここでは使えないので、「標準」が答えます。" in reply.text
        assert told_to_be(stage).startswith(OWN)
        assert stage.shown() == ["だれですか"]
        write_file(stage.program.folder, FILE)
        reply = await stage.ask(aiko, channel, "先生、ただいま")
        assert GREEN in told_to_be(stage)
        assert stage.shown()[0] == "先生への質問"
        assert "選んだエージェント" not in reply.text

    async def test_that_allows_an_agent_elsewhere_only_takes_it_away_here(
        self, stage: Stage, aiko: User, channel: Channel
    ) -> None:
        await use(stage, aiko, channel, "poet")
        write_file(stage.program.folder, f"{FILE}channels = [1]\n")
        await stage.ask(aiko, channel)
        assert told_to_be(stage).startswith(OWN)
        assert "ここでは使えません" in await use(stage, aiko, channel, "poet")
        offered = await stage.discord.autocomplete(aiko, channel, "agent use", name="")
        assert "poet" not in [choice.value for choice in offered]

    async def test_may_allow_an_agent_in_one_channel_with_its_threads_and_no_dm(
        self, stage: Stage, aiko: User, channel: Channel
    ) -> None:
        write_file(stage.program.folder, f"{FILE}channels = [{channel.id}]\n")
        for place in (channel, stage.discord.thread(channel)):
            assert "「Poet」" in await use(stage, aiko, place, "poet")
        for place in (stage.discord.guild_channel("elsewhere"), stage.discord.dm(aiko)):
            assert "ここでは使えません" in await use(stage, aiko, place, "poet")

    async def test_may_give_the_default_agent_another_persona(
        self, stage: Stage, aiko: User, channel: Channel
    ) -> None:
        await stage.ask(aiko, channel, "いち")
        write_file(stage.program.folder, '[agents.default]\nprompt = "You are a cat."\n')
        await stage.ask(aiko, channel, "に")
        assert told_to_be(stage).startswith("You are a cat.")
        assert stage.shown()[0] == "いち"


class TestBrokenChange:
    async def test_changes_nothing_and_is_on_record_once(
        self, stage: Stage, aiko: User, channel: Channel
    ) -> None:
        await use(stage, aiko, channel, "tutor")
        write_file(stage.program.folder, BROKEN)
        for question in ("いち", "に"):
            await stage.ask(aiko, channel, question)
            assert GREEN in told_to_be(stage)
        [record] = [line for line in stage.program.output.splitlines() if "agents_not_reloaded" in line]
        assert "[agents.broken] の temperature を直してください" in record


class TestStart:
    @pytest.mark.parametrize(
        ("locale", "told"),
        [
            ("ja", "[agents.broken] の temperature を直してください。正しい書き方: temperature = 0.7"),
            ("en", "[agents.broken] temperature is not as it should be. Write it like this: temperature"),
        ],
    )
    async def test_with_a_broken_file_ends_with_one_sentence(
        self, tmp_path: Path, locale: str, told: str
    ) -> None:
        async with set_stage(tmp_path, {"CC_BOT_LOCALE": locale}) as stage:
            write_file(tmp_path, BROKEN)
            for command in ("run", "chat"):
                code, output = await stage.program.run(command)
                assert (code, output.count("\n")) == (2, 1)
                assert told in output
                assert "agents.toml" in output

    async def test_takes_the_file_that_the_operator_names(self, tmp_path: Path) -> None:
        named = tmp_path / "others.toml"
        async with set_stage(tmp_path, {"CC_BOT_AGENTS_FILE": str(named)}) as stage:
            code, output = await stage.program.run("run")
            assert (code, "CC_BOT_AGENTS_FILE" in output) == (2, True)
            await asyncio.to_thread(named.write_text, FILE, encoding="utf-8")
            await stage.start()
            user, channel = stage.discord.user("Eri", locale="ja"), stage.discord.guild_channel()
            assert "「Poet」" in await use(stage, user, channel, "poet")
            stage.model.script(says("はい。"))
            await stage.ask(user, channel)
            assert VERSE in told_to_be(stage)
            stage.check()
