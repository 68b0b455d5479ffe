"""A model behind a server that takes one order of roles only: Mistral's, and most templates."""

from collections.abc import AsyncIterator

import pytest
import pytest_asyncio

from tests.end_to_end.stage import Stage, running_stage
from tests.loopback.discord import Channel, User
from tests.loopback.model_server import Call, CutConnection, End, Json, Reply, Say, calls, says

REMEMBER = calls(Call("remember", {"content": "青が好き"}))
LOOK = calls(Call("recall", {"query": "青"}))
SILENT = {
    "kept and said nothing": [REMEMBER, Reply(End())],
    "cut after it was kept": [REMEMBER, Reply(CutConnection())],
    "looked up and said nothing": [LOOK, Reply(End())],
    "asked for a tool that there is not": [calls(Call("fly", {})), Reply(End())],
    "eight rounds and no word": [*[LOOK] * 8, Reply(End())],
    "eight rounds with a change": [REMEMBER, *[LOOK] * 7, Reply(Say(" \n"), End())],
}


@pytest_asyncio.fixture(scope="module", loop_scope="session")
async def strict_stage(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Stage]:
    settings = {"CC_BOT_CHANNELS": "mentions"}
    async with running_stage(tmp_path_factory.mktemp("cc-bot"), settings, strict=True) as stage:
        yield stage


@pytest_asyncio.fixture(loop_scope="session")
async def stage(strict_stage: Stage) -> AsyncIterator[Stage]:
    strict_stage.forget()
    yield strict_stage
    strict_stage.check()


class TestATurnWithoutWords:
    @pytest.mark.parametrize("replies", SILENT.values(), ids=SILENT)
    async def test_harms_no_later_question(
        self, stage: Stage, aiko: User, channel: Channel, replies: list[Reply]
    ) -> None:
        await stage.ask_in_words(aiko, channel, "こんにちは。")
        stage.model.responder = lambda _: Reply(End())
        stage.model.script(*replies)
        await stage.begin(aiko, channel, "青が好きと覚えて")
        await stage.discord.quiet(0.3)
        stage.model.reset()
        assert (await stage.ask(aiko, channel, "元気？")).text.startswith("はい、承知しました。")

    async def test_that_changed_nothing_leaves_no_trace(
        self, stage: Stage, aiko: User, channel: Channel
    ) -> None:
        stage.model.script(LOOK, Reply(End()))
        reply = await stage.begin(aiko, channel, "何か覚えている？")
        await stage.discord.quiet(0.3)
        assert stage.stored(channel) == []
        assert "言葉での返事はありませんでした" not in reply.text

    async def test_that_changed_something_is_closed_with_what_its_user_saw(
        self, stage: Stage, aiko: User, channel: Channel
    ) -> None:
        stage.model.script(REMEMBER, Reply(End()))
        reply = await stage.ask(aiko, channel, "青が好きと覚えて")
        assert "言葉での返事はありませんでした" in reply.text
        await stage.ask(aiko, channel, "元気？")
        told = [message for message in stage.model.requests[-1].messages if message["role"] == "assistant"]
        assert told[-1]["content"] == "（言葉での返事はありませんでした）"


class TestAConversation:
    async def test_with_tools_goes_on(self, stage: Stage, ben: User, channel: Channel) -> None:
        def respond(body: Json) -> Reply:
            new = body["messages"][-1]["role"] != "tool"
            return calls(Call("remember", {"content": "Likes tea."})) if new else says("Noted.")

        stage.model.responder = respond
        for question in ("I like tea", "and coffee", "and milk"):
            assert (await stage.ask(ben, channel, question)).text.startswith("Noted.")

    async def test_of_several_people_goes_on(
        self, stage: Stage, aiko: User, ben: User, channel: Channel
    ) -> None:
        for author in (aiko, ben, aiko, ben):
            await stage.said(author, channel, "こんにちは", "はい。")
