"""A model behind a server that takes one order of roles only: Mistral's, and most templates."""

from collections.abc import AsyncIterator

import pytest
import pytest_asyncio

from tests.end_to_end.stage import Stage, ended, running_stage
from tests.loopback.model_server import Call, CutConnection, End, Reply, Say, calls

STAGE = "strict_stage"
pytestmark = pytest.mark.slow
REMEMBER = calls(Call("remember", {"content": "青が好き"}))
LOOK = calls(Call("recall", {"query": "青"}))


@pytest_asyncio.fixture(scope="module", loop_scope="session")
async def strict_stage(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Stage]:
    settings = {"CC_BOT_CHANNELS": "mentions"}
    async with running_stage(tmp_path_factory.mktemp("cc-bot"), settings, strict=True) as stage:
        yield stage


async def test_a_turn_without_words_harms_no_later_question(stage: Stage) -> None:
    for replies in (
        [REMEMBER, Reply(End())],
        [REMEMBER, Reply(CutConnection())],
        [LOOK, Reply(End())],
        [calls(Call("fly", {})), Reply(End())],
        [*[LOOK] * 8, Reply(End())],
        [REMEMBER, *[LOOK] * 7, Reply(Say(" \n"), End())],
    ):
        user, location = stage.discord.user("Aiko", locale="ja"), stage.discord.guild_channel()
        await stage.ask_in_words(user, location, "こんにちは。")
        stage.model.responder = lambda _: Reply(End())
        stage.model.script(*replies)
        reply = await ended(await stage.begin(user, location, "青が好きと覚えて"))
        stage.model.reset()
        assert (await stage.ask(user, location, "元気？")).text.startswith("はい、承知しました。")
        changed = replies[0] is REMEMBER  # what changed nothing leaves no trace
        assert ("💾 覚えました" in reply.text) == changed
        assert ("青が好きと覚えて" in stage.shown()) == changed
