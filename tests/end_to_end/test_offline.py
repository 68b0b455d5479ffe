"""The program that was given neither a key nor a model server."""

from collections.abc import AsyncIterator

import pytest
import pytest_asyncio

from tests.end_to_end.heartbeats import beat, begin, day
from tests.end_to_end.reminders import says_by_itself
from tests.end_to_end.stage import Stage, running_stage
from tests.loopback.discord import Channel, User


@pytest_asyncio.fixture(scope="module", loop_scope="session")
async def shared_stage(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Stage]:
    async with running_stage(tmp_path_factory.mktemp("cc-bot"), {"OPENAI_BASE_URL": ""}) as stage:
        yield stage


class TestOfflineModel:
    async def test_knows_after_a_restart_what_was_said(
        self, stage: Stage, ben: User, channel: Channel
    ) -> None:
        await stage.ask(ben, channel, "My name is Diego")
        await stage.restart()
        reply = await stage.ask(ben, channel, "What is my name?")
        assert "Diego" in reply.text
        assert stage.model.requests == []

    async def test_knows_in_another_channel_what_it_was_told_to_remember(
        self, stage: Stage, aiko: User, channel: Channel
    ) -> None:
        await stage.ask(aiko, channel, "私の犬の名前はポチです。覚えておいて")
        await stage.restart()
        reply = await stage.ask(aiko, stage.discord.guild_channel(), "私の犬の名前は？")
        assert "ポチ" in reply.text
        assert "ポチ" in await stage.told(aiko, channel, "memory list")

    async def test_says_that_it_is_one_and_how_to_get_another(
        self, stage: Stage, aiko: User, ben: User, channel: Channel
    ) -> None:
        for user in (aiko, ben):
            reply = await stage.ask(user, channel, "Hello" if user is ben else "こんにちは")
            assert "OPENAI_API_KEY" in reply.text

    async def test_tells_unasked_what_is_coming_up(self, stage: Stage, aiko: User) -> None:
        dm = stage.discord.dm(aiko)
        await begin(stage, aiko, dm)
        await stage.told(aiko, dm, "memory add", content="猫が好き")
        await beat(stage, aiko, ends="skipped")
        await stage.told(aiko, dm, "memory add", content=f"{day(2)}に歯医者")
        await beat(stage, aiko, ends="sent")
        shown = await says_by_itself(stage, dm, "お知らせしておきます。")
        assert shown.content == f"お知らせしておきます。\n- {day(2)}に歯医者"
