"""Each agent has a canvas of its own, and switching shows the new agent's and takes the old one's down."""

import pytest

from tests.end_to_end.agents import FILE, told_to_be, use, write_file
from tests.end_to_end.canvases import PLAN, SHOPPING, board, boards, draw, no_board, texts_of, titles
from tests.end_to_end.heartbeats import beat, begin, day
from tests.end_to_end.stage import Stage, again_label, answered, streaming
from tests.loopback.discord import Channel, Permission, User
from tests.loopback.model_server import End, Pause, Say, calls, says
from tests.loopback.model_server import Reply as Answer


@pytest.fixture
def shared_stage(stage_with_agents: Stage) -> Stage:
    write_file(stage_with_agents.program.folder, FILE)
    return stage_with_agents


class TestSwitching:
    async def test_takes_the_old_canvas_down_and_shows_the_new_one(
        self, stage: Stage, aiko: User, channel: Channel
    ) -> None:
        await draw(stage, aiko, channel, SHOPPING)
        assert titles(await board(stage, channel)) == ["買い物"]
        await use(stage, aiko, channel, "poet")
        await no_board(stage, channel)
        await draw(stage, aiko, channel, PLAN)
        assert texts_of(await board(stage, channel)) == ["朝は散歩、昼は図書館。"]
        await use(stage, aiko, channel, "default")
        shown = await board(stage, channel, lambda shown: titles(shown) == ["買い物"])
        await use(stage, aiko, channel, "poet")
        await board(stage, channel, lambda each: each.id != shown.id and "図書館" in str(texts_of(each)))

    async def test_while_an_answer_runs_leaves_what_it_draws_out_of_sight(
        self, stage: Stage, aiko: User, channel: Channel
    ) -> None:
        stage.model.script(calls(SHOPPING), Answer(Say("いま"), Pause(1), Say("描きました"), End()))
        running = await streaming(await stage.begin(aiko, channel), "いま")
        await use(stage, aiko, channel, "poet")
        await answered(running)
        await stage.discord.quiet(0.3)
        assert boards(stage, channel) == []
        await use(stage, aiko, channel, "default")
        assert titles(await board(stage, channel)) == ["買い物"]

    async def test_leaves_what_a_reply_to_the_agent_before_draws_out_of_sight_and_says_so(
        self, stage: Stage, aiko: User, channel: Channel
    ) -> None:
        await use(stage, aiko, channel, "poet")
        asked = await stage.ask(aiko, channel)
        await use(stage, aiko, channel, "default")
        stage.model.script(calls(PLAN), says("描きました"))
        answer = await stage.says(
            await stage.write(aiko, channel, "予定を出して", reply_to=asked.message), "描きました"
        )
        assert (
            "「Poet」のキャンバスを更新しました。/エージェント 使う で「Poet」に切り替えると見られます。"
            in answer.text
        )
        await stage.discord.quiet(0.3)
        assert boards(stage, channel) == []
        await use(stage, aiko, channel, "poet")
        await board(stage, channel)

    async def test_leaves_what_a_button_of_the_agent_before_draws_out_of_sight_and_says_so(
        self, stage: Stage, ben: User, channel: Channel
    ) -> None:
        await use(stage, ben, channel, "poet")
        asked = await stage.ask_in_words(ben, channel, "Hello.")
        await use(stage, ben, channel, "default")
        stage.model.script(calls(PLAN), says("It is up."))
        await stage.discord.click(ben, asked.message, again_label(ben))
        await asked.until(lambda reply: "The canvas of Poet is updated" in reply.text)
        await stage.discord.quiet(0.3)
        assert boards(stage, channel) == []

    async def test_of_the_channel_by_its_manager_switches_the_canvases_of_all_who_follow_it(
        self, stage: Stage, aiko: User, channel: Channel
    ) -> None:
        manager = stage.discord.user("Mana", locale="ja")
        stage.discord.permit(manager, Permission.MANAGE_GUILD)
        await draw(stage, aiko, channel, SHOPPING)
        await board(stage, channel)
        await (await stage.discord.slash(manager, channel, "agent default", name="poet")).finished()
        await no_board(stage, channel)
        await draw(stage, aiko, channel, PLAN)
        await board(stage, channel)
        await (await stage.discord.slash(manager, channel, "agent default", name="default")).finished()
        await board(stage, channel, lambda shown: titles(shown) == ["買い物"])

    async def test_leaves_everyone_elses_canvas_alone(
        self, stage: Stage, aiko: User, channel: Channel
    ) -> None:
        other = stage.discord.user("Eri", locale="ja")
        await draw(stage, other, channel, PLAN)
        await draw(stage, aiko, channel, SHOPPING)
        await stage.discord.wait(lambda: len(boards(stage, channel)) == 2, "two canvases")
        await use(stage, aiko, channel, "poet")
        assert texts_of(await board(stage, channel)) == ["朝は散歩、昼は図書館。"]

    async def test_to_who_answers_already_leaves_the_canvas_where_it_is(
        self, stage: Stage, aiko: User, channel: Channel
    ) -> None:
        await draw(stage, aiko, channel, SHOPPING)
        shown = await board(stage, channel)
        await use(stage, aiko, channel, "default")
        assert (await board(stage, channel)).id == shown.id

    async def test_is_kept_over_a_restart(self, stage: Stage, aiko: User, channel: Channel) -> None:
        await draw(stage, aiko, channel, SHOPPING)
        await use(stage, aiko, channel, "poet")
        count = "SELECT count(*) FROM canvas_messages WHERE user_id = ?"
        await stage.eventually(count, aiko.id, gives=[(0,)])
        await stage.restart()
        stage.discord.forget_nonces()
        await stage.ask(aiko, channel)
        assert boards(stage, channel) == []
        await use(stage, aiko, channel, "default")
        assert titles(await board(stage, channel)) == ["買い物"]


class TestCanvas:
    async def test_of_one_agent_is_not_told_to_another(
        self, stage: Stage, aiko: User, channel: Channel
    ) -> None:
        await draw(stage, aiko, channel, SHOPPING)
        await use(stage, aiko, channel, "poet")
        await stage.ask(aiko, channel)
        assert "買い物" not in str(stage.model.requests[-1].body["messages"])

    async def test_is_offered_only_to_agents_that_may_draw(
        self, stage: Stage, aiko: User, channel: Channel
    ) -> None:
        await use(stage, aiko, channel, "tutor")
        await stage.ask(aiko, channel)
        assert stage.tools() == {"recall"}
        assert "Ms. Green" in told_to_be(stage)


class TestHeartbeat:
    async def test_on_the_canvas_of_an_agent_that_was_left_shows_when_it_is_back(
        self, stage: Stage, aiko: User, channel: Channel
    ) -> None:
        await stage.ask(aiko, channel, "やあ")
        await begin(stage, aiko, channel, where="channel")
        await stage.told(aiko, channel, "memory add", content=f"{day(2)}に集まり")
        await use(stage, aiko, channel, "poet")
        stage.model.script(calls(SHOPPING), says("[silent]"))
        await beat(stage, aiko, ends="skipped")
        await stage.discord.quiet()
        assert boards(stage, channel) == []
        await use(stage, aiko, channel, "default")
        assert titles(await board(stage, channel)) == ["買い物"]
