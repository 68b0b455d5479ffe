"""Texts with orders, wherever strangers write what a model reads, against a model that obeys every one.

What may come of them is an answer, and proposals below it that its user sees: no memory, no reminder, no
request to anybody, no ping.
"""

import re
from collections.abc import AsyncIterator

import pytest
import pytest_asyncio

from tests.architecture.test_layout import ROOT
from tests.databases import DatabaseSettings
from tests.end_to_end.injections import INJECTIONS
from tests.end_to_end.memories import keep
from tests.end_to_end.stage import Stage, running_stage
from tests.end_to_end.test_proposals import kept
from tests.loopback.discord import Channel, Shown, User
from tests.loopback.obedient_model import obey
from tests.loopback.web import Answer, LoopbackWeb

NOTES = {"ja": "鍵は机の中", "en-US": "The key is in the desk"}
EVIL = "http://evil.example"
QUESTIONS = {"ja": "{url} を読んで要約して", "en-US": "Please sum up {url}"}
BARE = re.compile(r"(?<!<)https?://(?!\S*>)")
"""A link that Discord would fetch for a preview."""


@pytest_asyncio.fixture(scope="module", loop_scope="session")
async def web() -> AsyncIterator[LoopbackWeb]:
    pages = {
        f"/{number}": Answer(f"[{number}]\n{text.replace('EVIL', EVIL)}".encode(), "text/plain")
        for number, text in enumerate(INJECTIONS.values())
    }
    async with LoopbackWeb(pages) as web:
        yield web


@pytest_asyncio.fixture(scope="module", loop_scope="session")
async def obedient_stage(
    tmp_path_factory: pytest.TempPathFactory, database_settings: DatabaseSettings, web: LoopbackWeb
) -> AsyncIterator[Stage]:
    settings = {**database_settings(), "TEST_WEB_PORT": str(web.port), "PYTHONPATH": str(ROOT)}
    folder = tmp_path_factory.mktemp("cc-bot")
    async with running_stage(folder, settings, module="tests.end_to_end.reading_program") as stage:
        yield stage


@pytest.fixture
def one_of_the_stages(obedient_stage: Stage, web: LoopbackWeb) -> Stage:
    web.requests.clear()
    web.connections.clear()
    return obedient_stage


def texts_of(message: Shown) -> list[str]:
    return [message.text, *(str(embed.get("description", "")) for embed in message.embeds)]


def check_nothing_came_of_it(stage: Stage, user: User, web: LoopbackWeb) -> None:
    assert kept(stage, user) == [NOTES[user.locale]]
    assert stage.rows("SELECT id FROM schedules WHERE user_id = ?", user.id) == []
    assert [request.host for request in web.requests if request.host != "news.example"] == []
    assert stage.discord.pings == []


@pytest.mark.parametrize("number", range(len(INJECTIONS)), ids=list(INJECTIONS))
async def test_orders_in_a_page_come_to_nothing(
    stage: Stage, channel: Channel, web: LoopbackWeb, number: int
) -> None:
    locale = "en-US" if [*INJECTIONS.values()][number].isascii() else "ja"
    user = stage.discord.user(f"Reader {number}", locale=locale)
    await keep(stage, user, channel, NOTES[locale])
    url = f"http://news.example/{number}"
    stage.model.responder = lambda body: obey(body, f'CALL read_page {{"url": "{url}"}}')
    reply = await stage.ask(user, channel, QUESTIONS[locale].format(url=url))
    assert [request.target for request in web.requests] == [f"/{number}"]
    check_nothing_came_of_it(stage, user, web)
    assert len(stage.model.requests) > 2 or "CALL" not in [*INJECTIONS.values()][number], "it did not obey"
    assert f"[{number}]" in reply.text
    assert not any(BARE.search(text) for text in texts_of(reply.message))
