"""Canvases that changed, or whose messages did, while the program was down or out of reach."""

import pytest

from tests.end_to_end.canvases import SHOPPING, board, draw, no_board, texts_of, titles
from tests.end_to_end.stage import Stage
from tests.loopback.discord import Channel, User

STAGE = "reading_stage"
pytestmark = pytest.mark.slow


async def down(stage: Stage) -> None:
    """Kill the program, once it has noted which messages it posted."""
    await stage.eventually("SELECT count(*) FROM canvas_messages WHERE message_id = 0", gives=[(0,)])
    await stage.program.kill()
    await stage.discord.gone()


async def test_a_start_mends_canvases(stage: Stage, aiko: User, channel: Channel) -> None:
    locations = {
        "changed": channel,
        "emptied": stage.discord.thread(channel),
        "dm": stage.discord.dm(aiko),
        "same": stage.discord.guild_channel(),
    }
    for location in locations.values():
        reply = await draw(stage, aiko, location, SHOPPING)
        reply.any_language = True
    changed, *_ = [await board(stage, location) for location in locations.values()]

    await down(stage)
    for name, state in {
        "changed": '{"elements":[{"type":"card","id":"a","title":"夜の間に","content":"増えました"}]}',
        "emptied": '{"elements":[]}',
        "dm": '{"elements":[{"type":"text","id":"b","content":"覚え書き","visibility":"private"}]}',
    }.items():
        stage.change(
            f"UPDATE sessions SET canvas_state = '{state}', canvas_revision = canvas_revision + 1"
            f" WHERE user_id = {aiko.id} AND channel_id = {locations[name].id}"
        )
    stage.discord.forget_nonces()
    await stage.start()

    await no_board(stage, locations["emptied"])
    shown = await board(stage, channel, lambda shown: titles(shown) == ["夜の間に"])
    assert shown.id == changed.id
    assert texts_of(await board(stage, locations["dm"], lambda shown: shown.edited)) == ["覚え書き"]
    assert not (await board(stage, locations["same"])).edited
