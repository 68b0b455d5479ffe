"""One's own pages, from `/web` on Discord to the canvas in a browser, through a kill and back."""

import re
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import aiohttp
import pytest
import pytest_asyncio
from playwright.async_api import Browser, Page, expect

from tests.browser import PHONE, Trouble, browser_fixture, new_page
from tests.end_to_end.canvases import PLAN, SALES, SHOPPING, board, draw, no_board, titles
from tests.end_to_end.heartbeats import begin, day
from tests.end_to_end.memories import menu_id
from tests.end_to_end.program import Program
from tests.end_to_end.stage import Stage, running_stage
from tests.loopback.discord import Channel, User
from tests.loopback.model_server import calls, says
from tests.web.pages import free_port

browser = browser_fixture("session")
CODE = re.compile(r"code=[\w-]{43}")


@pytest.fixture(scope="module")
def url() -> str:
    return f"http://127.0.0.1:{free_port()}"


@pytest_asyncio.fixture(scope="module", loop_scope="session")
async def pages_stage(tmp_path_factory: pytest.TempPathFactory, url: str) -> AsyncIterator[Stage]:
    settings = {"CC_BOT_WEB_PORT": url.rpartition(":")[2]}
    async with running_stage(tmp_path_factory.mktemp("cc-bot"), settings) as stage:
        yield stage


@pytest_asyncio.fixture(loop_scope="session")
async def stage(pages_stage: Stage) -> AsyncIterator[Stage]:
    pages_stage.forget()
    yield pages_stage
    pages_stage.check()


async def link_of(stage: Stage, user: User, channel: Channel) -> str:
    """`/web`, and where its button leads."""
    reply = await stage.discord.slash(user, channel, "web")
    await reply.finished()
    assert reply.ephemeral
    [link] = [each.url for each in reply.message.buttons if each.url]
    return link


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


class TestThePage:
    async def test_shows_what_a_turn_draws(
        self, browser: Browser, stage: Stage, aiko: User, channel: Channel
    ) -> None:
        async with opened(browser, stage, aiko, channel) as page:
            await draw(stage, aiko, channel, SHOPPING, SALES)
            await expect(page.locator(".element .name")).to_have_text(["買い物", "売上"])
            await board(stage, channel)

    async def test_takes_down_an_element_and_discord_follows(
        self, browser: Browser, stage: Stage, ben: User, channel: Channel
    ) -> None:
        await draw(stage, ben, channel, SHOPPING, PLAN)
        await board(stage, channel)
        async with opened(browser, stage, ben, channel) as page:
            await page.get_by_role("button", name="買い物").click()
            await expect(page.locator(".element")).to_have_count(1)
            await board(stage, channel, lambda shown: "買い物" not in titles(shown))
            await page.locator("#clearing summary").click()
            await page.get_by_role("button", name="Take everything down").click()
            await no_board(stage, channel)

    async def test_shows_a_private_turns_elements_to_its_user(
        self, browser: Browser, stage: Stage, aiko: User, channel: Channel
    ) -> None:
        async with opened(browser, stage, aiko, channel) as page:
            await draw(stage, aiko, channel, SHOPPING, private=True)
            await expect(page.locator(".element .lock")).to_be_visible()

    async def test_follows_slash_canvas_clear(
        self, browser: Browser, stage: Stage, aiko: User, channel: Channel
    ) -> None:
        await draw(stage, aiko, channel, SHOPPING)
        async with opened(browser, stage, aiko, channel) as page:
            await expect(page.locator(".element")).to_have_count(1)
            await stage.told(aiko, channel, "canvas clear")
            await expect(page.locator("#empty")).to_be_visible()

    async def test_follows_another_program(
        self, browser: Browser, stage: Stage, aiko: User, channel: Channel
    ) -> None:
        await draw(stage, aiko, channel, SHOPPING)
        async with opened(browser, stage, aiko, channel) as page:
            await expect(page.locator(".element")).to_have_count(1)
            stage.change(
                """UPDATE sessions SET canvas_state = '{"elements":[]}'"""
                f" WHERE user_id = {aiko.id} AND channel_id = {channel.id}"
            )
            await expect(page.locator("#empty")).to_be_visible()


class TestAKill:
    async def test_brings_the_same_elements_back_and_what_came_meanwhile(
        self, browser: Browser, stage: Stage, aiko: User, channel: Channel
    ) -> None:
        trouble = Trouble()
        await draw(stage, aiko, channel, SHOPPING, PLAN)
        await board(stage, channel)
        async with opened(browser, stage, aiko, channel, trouble) as page:
            await expect(page.locator(".element")).to_have_count(2)
            await stage.program.kill()
            await stage.discord.gone()
            await expect(page.locator("#canvas")).to_have_attribute("aria-busy", "true")
            await expect(page.locator(".element")).to_have_count(2)
            drawn = '{"elements":[{"type":"card","id":"night","title":"夜の間に","content":"増えました"}]}'
            stage.change(
                f"UPDATE sessions SET canvas_state = '{drawn}'"
                f" WHERE user_id = {aiko.id} AND channel_id = {channel.id}"
            )
            await stage.start()
            await expect(page.locator(".element .name")).to_have_text(["夜の間に"])
            await expect(page.locator("#canvas")).not_to_have_attribute("aria-busy", "true")
            trouble.forgive("Failed to load resource: net::ERR_")
            trouble.forgive("WebSocket")
            await board(stage, channel, lambda shown: "夜の間に" in titles(shown))

    async def test_lets_a_heartbeat_draw_while_the_page_reconnects(
        self, browser: Browser, stage: Stage, aiko: User, channel: Channel
    ) -> None:
        trouble = Trouble()
        await draw(stage, aiko, channel, PLAN)
        await board(stage, channel)
        await begin(stage, aiko, channel, where="channel")
        await stage.told(aiko, channel, "memory add", content=f"{day(2)}に歯医者")
        async with opened(browser, stage, aiko, channel, trouble) as page:
            await expect(page.locator(".element")).to_have_count(1)
            await stage.program.kill()
            await stage.discord.gone()
            await expect(page.locator("#canvas")).to_have_attribute("aria-busy", "true")
            stage.change(f"UPDATE schedules SET due_at = {int(time.time() * 1000)} WHERE user_id = {aiko.id}")
            stage.model.script(calls(SHOPPING), says("[silent]"))
            await stage.start()
            await expect(page.locator(".element .name")).to_have_text(["無題", "買い物"])
            await expect(page.locator("#canvas")).not_to_have_attribute("aria-busy", "true")
            trouble.forgive("Failed to load resource: net::ERR_")
            trouble.forgive("WebSocket")
            await board(stage, channel, lambda shown: "買い物" in titles(shown))


class TestTheConversations:
    async def test_of_a_dm_are_called_so(
        self, browser: Browser, stage: Stage, aiko: User, channel: Channel
    ) -> None:
        await stage.ask(aiko, stage.discord.dm(aiko), "ここはどこ?")
        async with opened(browser, stage, aiko, stage.discord.dm(aiko)) as page:
            await expect(page.get_by_role("heading", level=1)).to_have_text("キャンバス ボットとのDM")
            await page.get_by_role("link", name="会話").click()
            await expect(page.locator("main")).to_contain_text("ボットとのDM")


class TestSlashWeb:
    async def test_lists_browsers_and_signs_them_out(
        self, browser: Browser, stage: Stage, aiko: User, channel: Channel
    ) -> None:
        async with opened(browser, stage, aiko, channel) as page:
            reply = await stage.discord.slash(aiko, channel, "web")
            await reply.finished()
            assert "サインイン中のブラウザ（" in reply.text
            chosen = await stage.discord.select(aiko, reply.message, menu_id(reply), "all")
            await chosen.acknowledged()
            await reply.until(lambda now: "サインアウトしました" in now.text, "the end of it")
            await expect(page.locator("#state")).to_have_text("サインアウトしました。")

    async def test_gives_a_link_that_nobody_uses_up_by_looking(
        self, stage: Stage, ben: User, channel: Channel
    ) -> None:
        link = await link_of(stage, ben, channel)
        async with aiohttp.ClientSession() as client:
            for _ in range(2):
                async with client.get(link) as answer:
                    assert answer.status == 200
                    assert ben.name in await answer.text()

    async def test_leaves_no_code_in_the_log(self, stage: Stage, ben: User, channel: Channel) -> None:
        link = await link_of(stage, ben, channel)
        found = CODE.search(link)
        assert found is not None
        assert found[0].removeprefix("code=") not in stage.program.output


class TestTheTerminalsLink:
    async def test_signs_in_the_terminals_user(self, browser: Browser, stage: Stage) -> None:
        beside = Program(stage.program.folder, stage.program.environment)
        code, output = await beside.run("web")
        assert code == 0
        [link] = re.findall(r"http://\S+", output)
        async with new_page(browser, size=PHONE, locale="ja") as page:
            await page.goto(link)
            await page.locator("button.main").click()
            await expect(page.locator("nav")).to_be_visible()
            await page.goto(link.partition("/sign-in")[0] + "/memories")
            await expect(page.locator("h1")).to_have_text("メモリ")


class TestSomebodyDenied:
    async def test_loses_what_is_open_and_has_it_back_when_they_may_again(
        self, browser: Browser, stage: Stage, ben: User, channel: Channel
    ) -> None:
        trouble = Trouble()
        async with opened(browser, stage, ben, channel, trouble) as page:
            await stage.told(stage.discord.owner, channel, "admin access deny", subject=f"<@{ben.id}>")
            await expect(page.locator("#state")).to_contain_text("set up not to answer")
            await stage.told(stage.discord.owner, channel, "admin access remove", subject=f"<@{ben.id}>")
            await expect(page.locator("#state")).to_have_text("Changes appear at once.")
            trouble.forgive("403")
