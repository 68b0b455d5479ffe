"""With `CC_BOT_CHANNELS=all`: what is written while the program is down or cut off is read afterwards."""

import asyncio

import pytest

from tests.end_to_end.stage import Stage
from tests.loopback.discord import Channel, Entry, Message, User

STAGE = "reading_stage"
pytestmark = pytest.mark.slow
HISTORY = "GET /channels/{channel}/messages"


async def is_stored(stage: Stage, channel: Channel, text: str) -> None:
    async with stage.patience():
        while text not in said(stage, channel):  # noqa: ASYNC110 - no event comes out of a database
            await asyncio.sleep(0.02)


def said(stage: Stage, channel: Channel) -> list[str]:
    return [content for role, content, _ in stage.stored(channel) if role == "user"]


def asked_for(stage: Stage, channel: Channel) -> list[Entry]:
    """The pages of a channel that the program read."""
    return [call for call in stage.discord.calls(HISTORY) if call.params["channel"] == str(channel.id)]


async def write(stage: Stage, user: User, channel: Channel, *texts: str) -> list[Message]:
    return [await stage.discord.post(user, channel, text) for text in texts]


async def heard(stage: Stage, user: User, channel: Channel, text: str) -> None:
    """Write something that the program hears and stores."""
    await write(stage, user, channel, text)
    await is_stored(stage, channel, text)


async def test_a_lost_connection_is_made_up_for(stage: Stage, aiko: User, channel: Channel) -> None:
    await heard(stage, aiko, channel, "切れる前")
    before = stage.discord.world.gateway.resumes
    await stage.discord.drop_gateway()
    await write(stage, aiko, channel, "切れている間")
    await stage.discord.resumed(before + 1)
    await is_stored(stage, channel, "切れている間")
    assert asked_for(stage, channel) == []
    await stage.discord.drop_gateway(resumable=False)
    await write(stage, aiko, channel, "また切れている間")
    await stage.program.lives_until(stage.discord.ready())
    await is_stored(stage, channel, "また切れている間")
    await heard(stage, aiko, channel, "つながったあと")
    expected = ["切れる前", "切れている間", "また切れている間", "つながったあと"]
    assert said(stage, channel) == expected
