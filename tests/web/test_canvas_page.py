"""The canvas page in a browser: live, without JavaScript, and while the bot is away."""

from pathlib import Path

import pytest
from playwright.async_api import Browser, Page, expect

from cc_bot.domain.text import Locale
from cc_bot.features.canvas.model import RemoveElement, SetMode, Text, UpdateCard
from cc_bot.features.canvas.texts import CanvasPageTexts
from cc_bot.texts import texts
from tests.browser import PHONE, Trouble, browser_fixture, new_page
from tests.web.browsing import sign_in, signed_in, site_fixture
from tests.web.pages import Site, open_site
from tests.web.stored import CARD, CHART, draw

pytestmark = [pytest.mark.asyncio(loop_scope="module")]
browser = browser_fixture()
site = site_fixture()

WORDS = texts(Locale.JA)[CanvasPageTexts]


async def is_live(page: Page) -> None:
    await expect(page.locator("#state")).to_have_text("変更はすぐ届きます")


class TestThePage:
    async def test_shows_what_is_drawn_and_takes_down_what_is_pressed(
        self, browser: Browser, site: Site
    ) -> None:
        async with signed_in(browser, site, size=PHONE) as page:
            await expect(page.locator("#empty")).to_be_visible()
            await is_live(page)
            await draw(site, CARD, CHART, Text("plain", "題のない文"))
            await expect(page.locator(".element")).to_have_count(3)
            summary = page.locator("[data-id=sales] summary")
            await summary.click()
            await summary.focus()
            await draw(site, UpdateCard("shopping", content="- 豆腐"))
            await expect(page.locator("[data-id=shopping] .body")).to_have_text("豆腐")
            await expect(page.locator("[data-id=sales] details")).to_have_attribute("open", "")
            await expect(summary).to_be_focused()
            await draw(site, RemoveElement("sales"))
            await expect(page.locator(".element")).to_have_count(2)
            await draw(site, SetMode("focus", "plain"))
            await expect(page.locator("#canvas .element")).to_have_count(1)
            await expect(page.locator("#others")).to_contain_text("買い物")
            await draw(site, SetMode("board"))
            await expect(page.locator(".canvas.board .element")).to_have_count(2)
            await page.get_by_role("button", name="「買い物」をキャンバスから外す").click()
            await expect(page.locator("#said")).to_have_text("キャンバスから外しました。")
            await expect(page.locator("#canvas .element")).to_have_count(1)
            await page.get_by_role("button", name="元に戻す").click()
            await expect(page.locator(".element").first).to_contain_text("買い物")
            await draw(site, UpdateCard("shopping", content="1. [ ] 豆腐\n2. [ ] 卵"))
            box = page.get_by_role("checkbox", name="卵")
            await box.click()
            await expect(box).to_be_checked()
            await expect(box).to_be_focused()
            await page.locator("#clearing summary").click()
            await page.get_by_role("button", name="すべて外す").click()
            await expect(page.locator("#empty")).to_be_visible()

    async def test_shows_and_takes_down_the_same_without_scripts(self, browser: Browser, site: Site) -> None:
        await draw(site, CARD, CHART)
        async with signed_in(browser, site, java_script_enabled=False) as page:
            await page.get_by_role("button", name="「買い物」をキャンバスから外す").click()
            await expect(page.locator(".element")).to_have_count(1)
            await expect(page.locator("#said")).to_have_text("キャンバスから外しました。")

    async def test_hides_what_is_private_and_is_empty_once_signed_out(
        self, browser: Browser, site: Site
    ) -> None:
        await draw(site, CARD, visibility="private")
        await draw(site, Text("all", "みんなに"))
        async with signed_in(browser, site) as page:
            other = await page.context.new_page()
            await other.goto(page.url)
            await is_live(other)
            await expect(other.locator(".element")).to_have_count(2)
            await expect(page.locator("[data-id=shopping] .lock")).to_be_visible()
            await page.get_by_label(WORDS.hide_private).check()
            await expect(page.locator(".element")).to_have_count(1)
            await draw(site, UpdateCard("shopping", content="ひみつ"), visibility="private")
            await page.reload()
            await is_live(page)
            await expect(page.locator(".element")).to_have_count(1)
            assert "ひみつ" not in await page.locator("main").inner_text()
            await page.locator(".top summary").click()
            await page.get_by_role("button", name="サインアウト").click()
            await expect(page.get_by_role("heading", level=1)).to_have_text("サインアウトしました")
            await expect(other.locator(".element")).to_have_count(0)
            assert "ひみつ" not in await other.locator("main").inner_text()
            await expect(other.locator("#state")).to_have_text(WORDS.closed_signed_out)


class TestWhileTheBotIsAway:
    async def test_the_page_is_grey_and_comes_back(self, browser: Browser, tmp_path: Path) -> None:
        trouble = Trouble()
        async with new_page(browser, locale="ja-JP", trouble=trouble) as page:
            async with open_site(tmp_path) as site:
                port = site.url.rpartition(":")[2]
                await draw(site, CARD)
                await sign_in(page, site)
                await is_live(page)
            await expect(page.locator("#canvas")).to_have_attribute("aria-busy", "true")
            await expect(page.locator(".element")).to_have_count(1)
            async with open_site(tmp_path, CC_BOT_WEB_PORT=port) as site:
                await draw(site, Text("away", "るすの間に"))
                await expect(page.locator(".element")).to_have_count(2)
                await expect(page.locator("#canvas")).not_to_have_attribute("aria-busy", "true")
                await is_live(page)
            trouble.forgive("ERR_CONNECTION_REFUSED")
            trouble.forgive("WebSocket connection")
