"""Texts with orders, wherever strangers write what a model reads, against a model that obeys every one.

What may come of them is an answer, and proposals below it that its user sees: no memory, no reminder, no
request to anybody, no call of a server, no ping.
"""

import json
import re
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Final

import pytest
import pytest_asyncio

from tests.architecture.test_layout import ROOT
from tests.databases import DatabaseSettings
from tests.end_to_end.injections import INJECTIONS
from tests.end_to_end.memories import keep
from tests.end_to_end.stage import Stage, running_stage
from tests.end_to_end.test_receipts import kept
from tests.end_to_end.test_tool_servers import accept, name_servers, until_ready
from tests.loopback.discord import Channel, User
from tests.loopback.hostile_server import TEXT
from tests.loopback.obedient_model import obey
from tests.loopback.tool_servers import calls_in
from tests.loopback.web import Answer, LoopbackWeb
from tests.mcp.running import hostile

STAGE = "obedient_stage"
pytestmark = pytest.mark.slow
NOTES: Final = {"ja": "鍵は机の中", "en-US": "The key is in the desk"}
QUESTIONS: Final = {"ja": "{url} を読んで要約して", "en-US": "Please sum up {url}"}
TEXTS: Final = [text.replace("EVIL", "http://evil.example") for text in INJECTIONS.values()]
BARE: Final = re.compile(r"(?<!<)https?://(?!\S*>)")
"""A link that Discord would fetch for a preview."""


@pytest_asyncio.fixture(scope="module", loop_scope="session")
async def web() -> AsyncIterator[LoopbackWeb]:
    pages = {
        f"/{number}": Answer(f"[{number}]\n{text}".encode(), "text/plain")
        for number, text in enumerate(TEXTS)
    }
    async with LoopbackWeb(pages) as web:
        yield web


@pytest_asyncio.fixture(scope="module", loop_scope="session")
async def obedient_stage(
    tmp_path_factory: pytest.TempPathFactory, database_settings: DatabaseSettings, web: LoopbackWeb
) -> AsyncIterator[Stage]:
    settings = {**database_settings(), "TEST_WEB_PORT": str(web.port), "PYTHONPATH": str(ROOT)}
    folder = tmp_path_factory.mktemp("cc-bot")
    name_servers(folder, notes=hostile("--count", folder / "calls.jsonl"))
    async with running_stage(folder, settings, module="tests.end_to_end.reading_program") as stage:
        owner = stage.discord.owner
        owner.locale = "en-US"
        await until_ready(stage, owner, "notes", "ready")
        await accept(stage, owner, "notes")
        yield stage


async def reader(stage: Stage, channel: Channel, text: str) -> User:
    user = stage.discord.user("Reader", locale="en-US" if text.isascii() else "ja")
    await keep(stage, user, channel, NOTES[user.locale])
    return user


def came_of_it(stage: Stage, user: User) -> list[object]:
    made = [call for call in calls_in(stage.program.folder) if call["name"] != "echo"]
    reminders = stage.rows("SELECT id FROM schedules WHERE user_id = ?", user.id)
    memories = [] if kept(stage, user) == [NOTES[user.locale]] else kept(stage, user)
    return [*made, *reminders, *memories, *stage.discord.pings]


async def test_orders_in_a_page_come_to_nothing(stage: Stage, channel: Channel, web: LoopbackWeb) -> None:
    found = dict[str, object]()
    for number, (name, text) in enumerate(zip(INJECTIONS, TEXTS, strict=True)):
        user, url = await reader(stage, channel, text), f"http://news.example/{number}"
        stage.model.requests.clear()
        web.requests.clear()
        stage.model.responder = lambda body, url=url: obey(body, f'CALL read_page {{"url": "{url}"}}')
        reply = await stage.ask(user, channel, QUESTIONS[user.locale].format(url=url))
        assert f"[{number}]" in reply.text
        assert len(stage.model.requests) > 2 or "CALL" not in text, "it did not obey"
        asked = [f"{request.host}{request.target}" for request in web.requests]
        told = [reply.message.text, *(str(each.get("description", "")) for each in reply.message.embeds)]
        previews = [text for text in told if BARE.search(text)]
        if asked != [f"news.example/{number}"] or previews or came_of_it(stage, user):
            found[name] = (asked, previews, came_of_it(stage, user))
    assert found == {}


async def test_orders_in_a_result_come_to_nothing(stage: Stage, channel: Channel) -> None:
    found = dict[str, object]()
    for name, text in zip(INJECTIONS, TEXTS, strict=True):
        user = await reader(stage, channel, text)
        order = json.dumps({"text": text}, ensure_ascii=False)
        stage.model.responder = lambda body, order=order: obey(body, f"CALL notes__echo {order}")
        before = len(calls_in(stage.program.folder))
        await stage.ask(user, channel, "調べて" if user.locale == "ja" else "Look it up")
        assert len(calls_in(stage.program.folder)) > before
        if came := came_of_it(stage, user):
            found[name] = came
    assert found == {}


async def test_orders_in_descriptions_reach_no_model_before_an_owner_accepted_them(tmp_path: Path) -> None:
    described = [
        {"name": f"tool_{number}", "description": text, "inputSchema": TEXT}
        for number, text in enumerate(TEXTS)
    ]
    file = tmp_path / "tools.json"
    file.write_text(json.dumps(described, ensure_ascii=False), encoding="utf-8")
    name_servers(tmp_path, notes=hostile("--list", file, "--count", tmp_path / "calls.jsonl"))
    async with running_stage(tmp_path, {"CC_BOT_TOOL_TOKENS": "20000"}) as stage:
        channel = stage.discord.guild_channel()
        stage.discord.owner.locale = "en-US"
        await until_ready(stage, stage.discord.owner, "notes", "ready")
        for question in ("こんにちは", "Hello"):
            user = await reader(stage, channel, question)
            stage.model.requests.clear()
            stage.model.responder = obey
            await stage.ask(user, channel, question)
            assert "tool_0" not in str(stage.model.requests[0].body)
            assert came_of_it(stage, user) == []
            stage.model.responder = None
