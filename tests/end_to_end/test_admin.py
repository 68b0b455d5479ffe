from collections.abc import AsyncIterator

import pytest
import pytest_asyncio

from cc_bot import __version__
from tests.end_to_end.stage import Stage
from tests.loopback.discord import Channel, Permission, User
from tests.loopback.model_server import fails, says

COMMANDS: dict[str, dict[str, str | int]] = {
    "status": {},
    "limits show": {},
    "limits set": {"limit": "concurrent", "value": 1},
    "limits unset": {"limit": "concurrent"},
    "access list": {},
    "access allow": {"subject": "5", "kind": "user"},
    "access deny": {"subject": "5", "kind": "user"},
    "access remove": {"subject": "5", "kind": "user"},
    "model set": {"models": "large"},
    "model unset": {},
    "model list": {},
    "tools show": {},
    "tools accept": {"server": "time", "code": "0"},
    "maintenance on": {"note": "closed"},
    "maintenance off": {},
}
DECIDED = ("access_rules", "limits", "channel_models", "maintenance")
"""The tables of what owners decide."""


@pytest.fixture
def owner(stage: Stage) -> User:
    return stage.discord.owner


@pytest_asyncio.fixture(autouse=True, loop_scope="session")
async def undecided_afterwards(stage: Stage) -> AsyncIterator[None]:
    yield
    for table in DECIDED:
        stage.change(f"DELETE FROM {table}")


async def admin(stage: Stage, owner: User, location: Channel, command: str, /, **options: str | int) -> str:
    return await stage.told(owner, location, f"admin {command}", **options)


async def test_nobody_else_may_do_any_of_it(stage: Stage, aiko: User, channel: Channel) -> None:
    [registered] = [each for each in stage.discord.commands if each.name == "admin"]
    names = [
        f"{option['name']} {inner['name']}" if option["type"] == 2 else option["name"]
        for option in registered.raw["options"]
        for inner in (option["options"] if option["type"] == 2 else [option])
    ]
    assert sorted(names) == sorted(COMMANDS)
    assert int(registered.raw["default_member_permissions"]) == Permission.ADMINISTRATOR
    stage.discord.permit(aiko, Permission.ADMINISTRATOR)
    for command, options in COMMANDS.items():
        told = await stage.told(aiko, channel, f"admin {command}", **options)
        assert told == "この操作は、ボットの管理者だけが使えます。"
    assert [stage.rows(f"SELECT * FROM {table}") for table in DECIDED] == [[]] * len(DECIDED)


async def test_a_channels_models_answer_there(
    stage: Stage, aiko: User, owner: User, channel: Channel
) -> None:
    thread = stage.discord.thread(channel)
    elsewhere = stage.discord.guild_channel()
    told = await admin(stage, owner, channel, "model set", models="large, small")
    assert f"In <#{channel.id}> I now ask large → small." in told
    asked = len(stage.model.requests)
    for location in (channel, thread, elsewhere):
        await stage.ask(aiko, location)
    await stage.said(aiko, channel, "だれ？", "わたしです")
    used = [request.body["model"] for request in stage.model.requests[asked:]]
    assert used == ["large", "large", "loopback", "large"]
    assert f"<#{channel.id}>: large → small" in await admin(stage, owner, channel, "model list")
    await admin(stage, owner, elsewhere, "model unset", channel=f"<#{channel.id}>")
    await stage.ask(aiko, channel)
    assert stage.model.requests[-1].body["model"] == "loopback"
    assert "None are set yet." in await admin(stage, owner, channel, "model list")
    stage.model.script(fails(404, "The model `bad-model` does not exist"))
    told = await admin(stage, owner, channel, "model set", models="bad-model")
    assert f"In <#{channel.id}> I now ask bad-model. " in told
    assert "no model named bad-model" in told
    assert "up to five" in await admin(stage, owner, channel, "model set", models="x`y")


async def test_maintenance_is_told_to_all_others(
    stage: Stage, aiko: User, owner: User, channel: Channel
) -> None:
    status = await admin(stage, owner, channel, "status")
    parts = ("database 1", "Discord: ", "B\n", "0 waiting", "tokens", "backup")
    for part in (f"cc-bot {__version__}", *parts):
        assert part in status
    assert "Maintenance" not in status
    assert "begun" in await admin(stage, owner, channel, "maintenance on", note="Back at 9.")
    assert "Maintenance is on." in await admin(stage, owner, channel, "status")
    await admin(stage, owner, channel, "maintenance on", note="9時に戻ります。")
    told = await stage.told(aiko, channel, "ask", question="ねえ")
    assert "メンテナンス中です" in told
    assert "9時に戻ります。" in told
    for location in (channel, stage.discord.dm(aiko)):
        written = await stage.write(aiko, location, "ねえ", mention=location is channel)
        await stage.says(written, "メンテナンス中です")
    await stage.ask_in_words(owner, channel, "Yes")
    assert "over" in await admin(stage, owner, channel, "maintenance off")
    stage.model.script(says("戻りました"))
    assert "戻りました" in (await stage.ask(aiko, channel)).text
    assert "Maintenance is not on" in await admin(stage, owner, channel, "maintenance off")
