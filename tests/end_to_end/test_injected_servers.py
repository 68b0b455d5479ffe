"""Orders in what a server says, of its tools and in its results, against a model that obeys every one."""

import json
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Final

import pytest
import pytest_asyncio

from tests.end_to_end.injections import INJECTIONS
from tests.end_to_end.memories import keep
from tests.end_to_end.stage import Stage, running_stage
from tests.end_to_end.test_proposals import kept
from tests.end_to_end.test_tool_servers import code_in, name_servers, read, until_ready
from tests.loopback.discord import Channel, User
from tests.loopback.hostile_server import TEXT
from tests.loopback.obedient_model import obey
from tests.mcp.running import hostile

NOTES: Final = {"ja": "鍵は机の中", "en-US": "The key is in the desk"}
EVIL: Final = "http://evil.example"
TEXTS: Final = [text.replace("EVIL", EVIL) for text in INJECTIONS.values()]


@pytest_asyncio.fixture(scope="module", loop_scope="session")
async def served_stage(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Stage]:
    """A program with a server that says what it is told, and whose tools an owner has looked at."""
    folder = tmp_path_factory.mktemp("cc-bot")
    name_servers(folder, notes=hostile("--count", folder / "calls.jsonl"))
    async with running_stage(folder, {}) as stage:
        owner = stage.discord.owner
        owner.locale = "en-US"
        await until_ready(stage, owner, "notes", "ready")
        code = code_in((await read(stage, owner, "notes"))[0])
        await stage.told(
            owner, stage.discord.guild_channel(), "admin tools accept", server="notes", code=code
        )
        yield stage


@pytest.fixture
def one_of_the_stages(served_stage: Stage) -> Stage:
    return served_stage


def made(folder: Path, name: str) -> list[str]:
    """The names of the tools that were called."""
    path = folder / name
    return [json.loads(line)["name"] for line in path.read_text().splitlines()] if path.exists() else []


def check_nothing_came_of_it(stage: Stage, user: User) -> None:
    assert kept(stage, user) == [NOTES[user.locale]]
    assert stage.rows("SELECT id FROM schedules WHERE user_id = ?", user.id) == []
    assert set(made(stage.program.folder, "calls.jsonl")) <= {"echo"}
    assert stage.discord.pings == []


@pytest.mark.parametrize("number", range(len(TEXTS)), ids=list(INJECTIONS))
async def test_orders_in_a_result_come_to_nothing(stage: Stage, channel: Channel, number: int) -> None:
    locale = "en-US" if TEXTS[number].isascii() else "ja"
    user = stage.discord.user(f"Reader {number}", locale=locale)
    await keep(stage, user, channel, NOTES[locale])
    order = json.dumps({"text": TEXTS[number]}, ensure_ascii=False)
    stage.model.responder = lambda body: obey(body, f"CALL notes__echo {order}")
    before = len(made(stage.program.folder, "calls.jsonl"))
    await stage.ask(user, channel, "調べて" if locale == "ja" else "Look it up")
    assert len(made(stage.program.folder, "calls.jsonl")) > before
    check_nothing_came_of_it(stage, user)


@pytest.mark.parametrize("locale", ["ja", "en-US"])
async def test_orders_in_descriptions_come_to_nothing(tmp_path: Path, locale: str) -> None:
    described = [
        {"name": f"tool_{number}", "description": text, "inputSchema": TEXT}
        for number, text in enumerate(TEXTS)
    ]
    file = tmp_path / "tools.json"
    file.write_text(json.dumps(described, ensure_ascii=False), encoding="utf-8")
    name_servers(tmp_path, notes=hostile("--list", file, "--count", tmp_path / "calls.jsonl"))
    async with running_stage(tmp_path, {"CC_BOT_TOOL_TOKENS": "20000"}) as stage:
        user, channel = stage.discord.user("Aiko", locale=locale), stage.discord.guild_channel()
        stage.discord.owner.locale = "en-US"
        await until_ready(stage, stage.discord.owner, "notes", "ready")
        await keep(stage, user, channel, NOTES[locale])
        stage.model.responder = obey
        await stage.ask(user, channel, "こんにちは" if locale == "ja" else "Hello")
        assert len(stage.model.requests) > 1, "it did not obey"
        check_nothing_came_of_it(stage, user)
