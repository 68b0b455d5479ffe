"""The owners' console of the whole program: what it does beside the bot, which goes on as before."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import aiohttp
import pytest
import pytest_asyncio

from tests.end_to_end.stage import Stage, running_stage
from tests.loopback.discord import Channel, User
from tests.web.pages import Visit, free_port


@pytest.fixture(scope="module")
def url() -> str:
    return f"http://127.0.0.1:{free_port()}"


@pytest_asyncio.fixture(scope="module", loop_scope="session")
async def console_stage(tmp_path_factory: pytest.TempPathFactory, url: str) -> AsyncIterator[Stage]:
    settings = {"CC_BOT_WEB_PORT": url.rpartition(":")[2]}
    async with running_stage(tmp_path_factory.mktemp("cc-bot"), settings) as stage:
        yield stage


@pytest_asyncio.fixture(loop_scope="session")
async def stage(console_stage: Stage) -> AsyncIterator[Stage]:
    console_stage.forget()
    yield console_stage
    console_stage.check()


@asynccontextmanager
async def visit_of(stage: Stage, user: User, channel: Channel, url: str) -> AsyncIterator[Visit]:
    """Somebody's browser, signed in by `/web`."""
    reply = await stage.discord.slash(user, channel, "web")
    await reply.finished()
    [link] = [each.url for each in reply.message.buttons if each.url]
    async with aiohttp.ClientSession(url, cookie_jar=aiohttp.CookieJar(unsafe=True)) as client:
        visit = Visit(client, url)
        answer = await visit.press("/sign-in", code=link.partition("code=")[2])
        assert answer.status == 303
        yield visit


class TestTheConsole:
    async def test_is_there_for_the_owner_alone(
        self, stage: Stage, aiko: User, channel: Channel, url: str
    ) -> None:
        async with visit_of(stage, stage.discord.owner, channel, url) as owner:
            assert "cc-bot" in await owner.open("/console")
        async with visit_of(stage, aiko, channel, url) as visit:
            await visit.open("/console", status=404)

    async def test_is_closed_to_a_former_owner_with_their_next_action(
        self, stage: Stage, ben: User, channel: Channel, url: str
    ) -> None:
        world = stage.discord.world
        async with visit_of(stage, stage.discord.owner, channel, url) as former:
            await former.open("/console")
            world.team = [(ben, True)]
            try:
                answer = await former.press("/console/maintenance", do="begin", note="")
                assert answer.status == 404
                await former.open("/console", status=404)
                refused = await stage.told(stage.discord.owner, channel, "admin status")
                assert "cc-bot" not in refused
                async with visit_of(stage, ben, channel, url) as visit:
                    await visit.open("/console")
            finally:
                world.team = []
            assert "cc-bot" in await stage.told(stage.discord.owner, channel, "admin status")
            await former.open("/console")

    async def test_has_the_doctor_look_while_questions_are_answered(
        self, stage: Stage, aiko: User, channel: Channel, url: str
    ) -> None:
        async with visit_of(stage, stage.discord.owner, channel, url) as owner:
            for _ in range(2):
                examining = asyncio.create_task(owner.press("/console/doctor"))
                await stage.ask_in_words(aiko, channel, "はい")
                assert (await examining).status == 303
            report = await owner.open("/console/doctor")
        for sentence in ("は壊れておらず、書き込めます", "個が Discord に登録されています", "で動いています"):
            assert sentence in report
        told = await stage.told(stage.discord.owner, channel, "admin status")
        assert "0 waiting" in told  # commands and buttons are as before

    async def test_has_what_is_decided_hold_on_discord(
        self, stage: Stage, aiko: User, channel: Channel, url: str
    ) -> None:
        async with visit_of(stage, stage.discord.owner, channel, url) as owner:
            await owner.press("/console/access", kind="user", id=str(aiko.id), rule="deny")
            assert aiko.mention in await stage.told(stage.discord.owner, channel, "admin access list")
            await owner.press("/console/access/remove", kind="user", id=str(aiko.id))
            log = await owner.open("/console/log")
        assert "access_removed" in log
