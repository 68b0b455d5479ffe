"""A model behind a server that takes one order of roles only: Mistral's, and most templates."""

from collections.abc import AsyncIterator

import pytest
import pytest_asyncio

from tests.end_to_end.stage import Stage, ended, running_stage
from tests.loopback.discord import Channel, User
from tests.loopback.model_server import Call, CutConnection, End, Json, Reply, Say, calls, says

REMEMBER = calls(Call("remember", {"content": "青が好き"}))
LOOK = calls(Call("recall", {"query": "青"}))


@pytest_asyncio.fixture(scope="module", loop_scope="session")
async def strict_stage(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Stage]:
    settings = {"CC_BOT_CHANNELS": "mentions"}
    async with running_stage(tmp_path_factory.mktemp("cc-bot"), settings, strict=True) as stage:
        yield stage


@pytest.fixture
def one_of_the_stages(strict_stage: Stage) -> Stage:
    return strict_stage


async def test_a_turn_without_words_harms_no_later_question(stage: Stage, channel: Channel) -> None:
    for replies in (
        [REMEMBER, Reply(End())],
        [REMEMBER, Reply(CutConnection())],
        [LOOK, Reply(End())],
        [calls(Call("fly", {})), Reply(End())],
        [*[LOOK] * 8, Reply(End())],
        [REMEMBER, *[LOOK] * 7, Reply(Say(" \n"), End())],
    ):
        user, place = stage.discord.user("Aiko", locale="ja"), stage.discord.guild_channel()
        await stage.ask_in_words(user, place, "こんにちは。")
        stage.model.responder = lambda _: Reply(End())
        stage.model.script(*replies)
        reply = await ended(await stage.begin(user, place, "青が好きと覚えて"))
        stage.model.reset()
        assert (await stage.ask(user, place, "元気？")).text.startswith("はい、承知しました。")
        changed = replies[0] is REMEMBER  # what changed nothing leaves no trace
        assert ("💾 覚えました" in reply.text) == changed
        assert ("青が好きと覚えて" in stage.shown()) == changed


async def test_conversations_go_on_with_tools_and_with_several_people(
    stage: Stage, aiko: User, ben: User, channel: Channel
) -> None:
    def respond(body: Json) -> Reply:
        new = body["messages"][-1]["role"] != "tool"
        return calls(Call("remember", {"content": "Likes tea."})) if new else says("Noted.")

    stage.model.responder = respond
    for question in ("I like tea", "and coffee", "and milk"):
        assert (await stage.ask(ben, channel, question)).text.startswith("Noted.")
    stage.model.reset()
    other = stage.discord.guild_channel()
    for author in (aiko, ben, aiko, ben):
        await stage.said(author, other, "こんにちは", "はい。")
