"""Canvases that changed, or whose messages did, while the program was down or out of reach."""

import pytest

from tests.end_to_end.canvases import SHOPPING, board, boards, draw, no_board, texts_of, titles
from tests.end_to_end.stage import Stage
from tests.loopback.discord import Channel, Permission, User

STAGE = "reading_stage"
pytestmark = pytest.mark.slow
UNKNOWN_MESSAGE, UNKNOWN_CHANNEL, MISSING_ACCESS = 10008, 10003, 50001
NOTED = "SELECT message_id FROM canvas_messages WHERE channel_id = ?"


@pytest.fixture(autouse=True)
def excused(stage: Stage) -> None:
    stage.excused.update({UNKNOWN_MESSAGE, UNKNOWN_CHANNEL, MISSING_ACCESS})


async def down(stage: Stage) -> None:
    """Kill the program, once it has noted which messages it posted."""
    await stage.eventually("SELECT count(*) FROM canvas_messages WHERE message_id = 0", gives=[(0,)])
    await stage.program.kill()
    await stage.discord.gone()


async def test_a_start_mends_canvases(stage: Stage, aiko: User, ben: User, channel: Channel) -> None:
    dm, thread = stage.discord.dm(aiko), stage.discord.thread(channel)
    lost, closed = stage.discord.guild_channel(), stage.discord.guild_channel()
    locations = {
        "changed": (aiko, channel),
        "deleted": (ben, channel),
        "emptied": (aiko, thread),
        "dm": (aiko, dm),
        "same": (aiko, stage.discord.guild_channel()),
        "lost": (aiko, lost),
        "closed": (aiko, closed),
    }
    for user, location in locations.values():
        reply = await draw(stage, user, location, SHOPPING)
        reply.any_language = True
    await stage.discord.wait(lambda: len(boards(stage, channel)) == 2, "both canvases")
    [changed, deleted] = boards(stage, channel)
    *_, hidden = [await board(stage, location) for _, location in list(locations.values())[2:]]

    await down(stage)
    for name, state in {
        "changed": '{"elements":[{"type":"card","id":"a","title":"夜の間に","content":"増えました"}]}',
        "emptied": '{"elements":[]}',
        "dm": '{"elements":[{"type":"text","id":"b","content":"覚え書き","visibility":"private"}]}',
    }.items():
        user, location = locations[name]
        stage.change(
            f"UPDATE sessions SET canvas_state = '{state}', canvas_revision = canvas_revision + 1"
            f" WHERE user_id = {user.id} AND channel_id = {location.id}"
        )
    await stage.discord.delete(stage.discord.owner, deleted)
    await stage.discord.delete_channel(lost)
    stage.discord.forbid(stage.discord.bot, Permission.VIEW_CHANNEL, closed)
    stage.discord.forget_nonces()
    await stage.start()

    await no_board(stage, thread)
    await stage.discord.wait(
        lambda: (
            ["夜の間に"] in map(titles, boards(stage, channel))
            and ["買い物"] in map(titles, boards(stage, channel))
        ),
        "both canvases as they should be",
    )
    assert {shown.id for shown in boards(stage, channel)} & {changed.id, deleted.id} == {changed.id}
    assert texts_of(await board(stage, dm, lambda shown: shown.edited)) == ["覚え書き"]
    assert not (await board(stage, locations["same"][1])).edited
    await stage.eventually(NOTED, lost.id, gives=[])
    assert stage.rows(NOTED, closed.id) == [(hidden.id,)]
