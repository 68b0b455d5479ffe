"""One's own pages and the owners' console, from `/web` on Discord, through a kill and back."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import aiohttp
import pytest
import pytest_asyncio
from playwright.async_api import Browser, Page, expect

from tests.browser import PHONE, Trouble, browser_fixture, new_page
from tests.end_to_end.canvases import PLAN, SALES, SHOPPING, board, draw, titles
from tests.end_to_end.stage import Stage, running_stage
from tests.loopback.discord import Channel, User
from tests.web.pages import Visit, free_port

STAGE = "pages_stage"

browser = browser_fixture("session")


@pytest.fixture(scope="module")
def url() -> str:
    return f"http://127.0.0.1:{free_port()}"


@pytest_asyncio.fixture(scope="module", loop_scope="session")
async def pages_stage(tmp_path_factory: pytest.TempPathFactory, url: str) -> AsyncIterator[Stage]:
    settings = {"CC_BOT_WEB_PORT": url.rpartition(":")[2]}
    async with running_stage(tmp_path_factory.mktemp("cc-bot"), settings) as stage:
        yield stage


async def link_of(stage: Stage, user: User, channel: Channel) -> str:
    """`/web`, and where its button leads."""
    reply = await stage.discord.slash(user, channel, "web")
    await reply.finished()
    assert reply.ephemeral
    [link] = [each.url for each in reply.message.buttons if each.url]
    return link


@asynccontextmanager
async def visit_of(stage: Stage, user: User, channel: Channel, url: str) -> AsyncIterator[Visit]:
    link = await link_of(stage, user, channel)
    async with aiohttp.ClientSession(url, cookie_jar=aiohttp.CookieJar(unsafe=True)) as client:
        visit = Visit(client, url)
        answer = await visit.press("/sign-in", code=link.partition("code=")[2])
        assert answer.status == 303
        yield visit


@asynccontextmanager
async def opened(
    browser: Browser, stage: Stage, user: User, channel: Channel, trouble: Trouble | None = None
) -> AsyncIterator[Page]:
    """A user's phone, with their page of the canvas of that channel."""
    link = await link_of(stage, user, channel)
    async with new_page(browser, size=PHONE, locale=user.locale, trouble=trouble) as page:
        await page.goto(link)
        await expect(page.locator("main")).to_contain_text(user.name)
        await page.locator("button.main").click()
        await expect(page.locator("nav").first).to_be_visible()
        await page.goto(f"{link.partition('/sign-in')[0]}/canvas/{channel.id}")
        await expect(page.locator("#canvas")).not_to_have_attribute("aria-busy", "true")
        yield page


async def test_the_page_shows_what_turns_draw(
    browser: Browser, stage: Stage, aiko: User, channel: Channel
) -> None:
    async with opened(browser, stage, aiko, channel) as page:
        await draw(stage, aiko, channel, SHOPPING, SALES)
        await expect(page.locator(".element .name")).to_have_text(["買い物", "売上"])
        await board(stage, channel)
        await page.get_by_role("button", name="買い物").click()
        await expect(page.locator(".element")).to_have_count(1)
        await board(stage, channel, lambda shown: "買い物" not in titles(shown))
        await draw(stage, aiko, channel, PLAN, private=True)
        await expect(page.locator(".element .lock").last).to_be_visible()
        await stage.told(aiko, channel, "canvas clear")
        await expect(page.locator("#empty")).to_be_visible()
        await draw(stage, aiko, channel, SHOPPING)
        await expect(page.locator(".element")).to_have_count(1)
        stage.change(  # as another program does
            """UPDATE sessions SET canvas_state = '{"elements":[]}'"""
            f" WHERE user_id = {aiko.id} AND channel_id = {channel.id}"
        )
        await expect(page.locator("#empty")).to_be_visible()


async def test_the_console_is_closed_to_a_former_owner(
    stage: Stage, ben: User, channel: Channel, url: str
) -> None:
    world = stage.discord.world
    async with visit_of(stage, stage.discord.owner, channel, url) as former:
        await former.open("/console")
        world.team = [(ben, True)]
        try:
            answer = await former.press("/console/begin-maintenance", note="")
            assert answer.status == 404
            await former.open("/console", status=404)
            refused = await stage.told(stage.discord.owner, channel, "admin status")
            assert "cc-bot" not in refused
            async with visit_of(stage, ben, channel, url) as visit:
                assert f">#{channel.name} (" in await visit.open("/console/access"), "picked by name"
        finally:
            world.team = []
        assert "cc-bot" in await stage.told(stage.discord.owner, channel, "admin status")
        await former.open("/console")
