"""Notes in the prompt, and `/memory pin`: what the model really gets, and whose it is."""

import re
from collections.abc import AsyncIterator

import pytest
import pytest_asyncio

from tests.end_to_end.memories import keep, run
from tests.end_to_end.stage import Stage, running_stage
from tests.loopback.discord import Channel, User
from tests.loopback.model_server import message_text, says

TOLD = 3
"""So many does this operator want."""


@pytest_asyncio.fixture(scope="module", loop_scope="session")
async def telling_stage(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Stage]:
    async with running_stage(tmp_path_factory.mktemp("cc-bot"), {"CC_BOT_PROFILE_NOTES": str(TOLD)}) as stage:
        yield stage


@pytest_asyncio.fixture(loop_scope="session")
async def stage(telling_stage: Stage) -> AsyncIterator[Stage]:
    telling_stage.forget()
    yield telling_stage
    telling_stage.check()


def systems(stage: Stage, number: int = -1) -> list[str]:
    """The system messages of a request."""
    messages = stage.model.requests[number].messages
    return [message_text(message) for message in messages if message["role"] == "system"]


def told(stage: Stage, number: int = -1) -> list[str]:
    """The notes that stand in the first one."""
    return re.findall(r'^- \d{4}-\d\d-\d\d: "(.*)"$', systems(stage, number)[0], re.MULTILINE)


async def pin(stage: Stage, user: User, channel: Channel, number: int) -> str:
    return (await run(stage, user, channel, "pin", id=number)).text


class TestPrompt:
    async def test_tells_what_is_private_where_its_user_alone_reads_the_answer(
        self, stage: Stage, aiko: User, channel: Channel
    ) -> None:
        number = await keep(stage, aiko, channel, "転職を考えている", where="private")
        await pin(stage, aiko, channel, number)
        await stage.ask_in_words(aiko, channel, "公開です。")
        await stage.said(aiko, channel, "こんにちは", "公開です。")
        assert not [request for request in stage.model.requests if "転職" in str(request.body)]
        stage.model.script(says("二人だけです。"), says("保存しません。"))
        await stage.ask(aiko, channel, private=True)
        assert told(stage) == ["転職を考えている"]
        reply = await stage.begin(aiko, channel, temporary=True)
        await reply.finished(lambda shown: "保存しません。" in shown.text)
        assert told(stage) == ["転職を考えている"]
        await stage.said(aiko, stage.discord.dm(aiko), "こんにちは", "DMです。")
        assert told(stage) == ["転職を考えている"]
