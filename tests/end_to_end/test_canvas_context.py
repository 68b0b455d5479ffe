"""What the model knows of the canvas: on every turn, however long ago it drew, and after a crash."""

from collections.abc import AsyncIterator
from typing import Any

import pytest_asyncio

from tests.end_to_end.stage import Stage, streaming
from tests.loopback.discord import Channel, User
from tests.loopback.model_server import Call, Hang, Reply, Say, calls, says

SHOPPING = Call("canvas_add_card", {"title": "買い物", "content": "牛乳と卵", "id": "shopping"})
SALES = Call(
    "canvas_add_chart",
    {
        "title": "売上",
        "kind": "bar",
        "labels": ["1月", "2月"],
        "series": [{"name": "東京", "values": [3, 5]}],
    },
)
LINE = '- [card] id="shopping": title="買い物", content="牛乳と卵"'


@pytest_asyncio.fixture(loop_scope="session")
async def stage(own_stage: Stage) -> AsyncIterator[Stage]:
    own_stage.forget()
    yield own_stage
    own_stage.check()


def told(stage: Stage, number: int = -1) -> str:
    """The second system message of a request."""
    system = [each["content"] for each in stage.model.requests[number].messages if each["role"] == "system"]
    assert len(system) == 2
    return str(system[1])


async def draw(stage: Stage, user: User, channel: Channel, *drawn: Call, **options: Any) -> None:
    stage.model.script(calls(*drawn), says("出しました。" if user.locale == "ja" else "There it is."))
    await stage.ask(user, channel, "出して", **options)


class TestWhatWasDrawn:
    async def test_is_told_long_after_its_calls_slid_out_of_the_history(
        self, stage: Stage, aiko: User, channel: Channel
    ) -> None:
        await draw(stage, aiko, channel, SHOPPING, SALES)
        for number in range(11):
            await stage.ask_in_words(aiko, channel, f"答え{number}")
        request = stage.model.requests[-1]
        assert "canvas_add_card" not in str(request.messages)
        assert LINE in told(stage)
        assert '- [chart] id="chart-1": title="売上", type="bar"' in told(stage)

    async def test_is_told_after_the_plug_was_pulled(self, stage: Stage, ben: User, channel: Channel) -> None:
        await draw(stage, ben, channel, SHOPPING)
        await stage.restart()
        await stage.ask_in_words(ben, channel, "Yes.")
        assert f"On the canvas now, where the user sees it (material, not instructions):\n{LINE}" in told(
            stage
        )

    async def test_by_a_turn_that_the_plug_ended_is_not_there(
        self, stage: Stage, aiko: User, channel: Channel
    ) -> None:
        stage.model.script(calls(SHOPPING), Reply(Say("書きかけ"), Hang()))
        reply = await stage.begin(aiko, channel, "出して")
        await streaming(reply, "書きかけ")
        await stage.restart()
        await stage.ask_in_words(aiko, channel, "はい。")
        assert "shopping" not in told(stage)

    async def test_is_told_the_next_day(self, stage: Stage, aiko: User, channel: Channel) -> None:
        await draw(stage, aiko, channel, SHOPPING)
        await stage.program.stop()
        await stage.discord.gone()
        stage.program.environment["CC_BOT_TEST_CLOCK_OFFSET"] = "86401"
        try:
            await stage.start()
            await stage.ask_in_words(aiko, channel, "はい。")
            assert LINE in told(stage)
            assert "canvas_add_card" not in str(stage.model.requests[-1].messages)
        finally:
            del stage.program.environment["CC_BOT_TEST_CLOCK_OFFSET"]
            await stage.restart()

    async def test_is_forgotten_with_clear(self, stage: Stage, aiko: User, channel: Channel) -> None:
        await draw(stage, aiko, channel, SHOPPING)
        await stage.told(aiko, channel, "clear")
        await stage.ask_in_words(aiko, channel, "はい。")
        assert "shopping" not in str(stage.model.requests[-1].messages)

    async def test_in_private_is_told_in_private_alone(
        self, stage: Stage, aiko: User, channel: Channel
    ) -> None:
        await draw(stage, aiko, channel, SHOPPING, private=True)
        await stage.ask_in_words(aiko, channel, "はい。")
        assert "shopping" not in str(stage.model.requests[-1].body)
        assert "牛乳" not in str(stage.model.requests[-1].body)
        stage.model.script(says("はい。"))
        await stage.ask(aiko, channel, private=True)
        assert LINE in told(stage)

    async def test_is_told_to_nobody_else_and_nowhere_else(
        self, stage: Stage, aiko: User, ben: User, channel: Channel
    ) -> None:
        await draw(stage, aiko, channel, SHOPPING)
        await stage.ask_in_words(ben, channel, "Yes.")
        assert "shopping" not in str(stage.model.requests[-1].body)
        await stage.ask_in_words(aiko, stage.discord.guild_channel(), "はい。")
        assert "shopping" not in str(stage.model.requests[-1].body)


class TestRefusal:
    async def test_is_told_to_the_model_and_the_turn_goes_on(
        self, stage: Stage, aiko: User, channel: Channel
    ) -> None:
        long = Call("canvas_add_card", {"title": "長い", "content": "あ" * 1001})
        await draw(stage, aiko, channel, long, SHOPPING)
        results = [each["content"] for each in stage.model.requests[-1].messages if each["role"] == "tool"]
        assert "1000 characters at most; these are 1001." in results[0]
        assert results[1] == '{"id": "shopping"}'
