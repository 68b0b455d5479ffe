"""The canvas page in a browser: live, without JavaScript, and while the bot is away."""

import asyncio
import json
from pathlib import Path

import pytest
from playwright.async_api import Browser, Page, Route, WebSocketRoute, expect

from cc_bot.domain.canvas import RemoveElement, SetMode, ShowText, UpdateCard
from cc_bot.domain.locale import Locale
from cc_bot.texts import texts
from tests.browser import PHONE, Trouble, browser_fixture, new_page
from tests.web.browsing import sign_in, signed_in, site_fixture
from tests.web.pages import TARO, Site, open_site
from tests.web.stored import CARD, CHART, KEY, draw

pytestmark = [pytest.mark.asyncio(loop_scope="module")]
browser = browser_fixture()
site = site_fixture()

SIGNED_OUT = texts(Locale.JA).web.closed_signed_out


async def is_live(page: Page) -> None:
    await expect(page.locator("#state")).to_have_text("変更はすぐ届きます。")


async def is_laid_out(page: Page) -> None:
    """A text without a title begins at the top, and a chart is as wide as its card."""
    card, words, body, chart = [
        await page.locator(f"[data-id={which}").bounding_box()
        for which in ("plain]", "plain] .body p", "sales] .body", "sales] .chart")
    ]
    assert card
    assert words
    assert body
    assert chart
    assert words["y"] - card["y"] < 16, "no empty line stands for a title"
    assert chart["width"] == pytest.approx(body["width"], abs=1)
    await expect(page.locator(".untitled")).to_have_count(1)


class TestThePage:
    async def test_shows_what_is_drawn_as_it_is_drawn_and_keeps_the_rest(
        self, browser: Browser, site: Site
    ) -> None:
        async with signed_in(browser, site, size=PHONE) as page:
            await expect(page.locator("#empty")).to_be_visible()
            await is_live(page)
            await draw(site, CARD, CHART, ShowText("題のない文", id="plain"))
            await expect(page.locator(".element")).to_have_count(3)
            await expect(page.locator("[data-id=sales] h2 .name")).to_have_text("売上")
            await is_laid_out(page)
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
            await expect(page.locator(".element")).to_have_count(1)
            await expect(page.locator("#others")).to_contain_text("買い物")
            await draw(site, SetMode("board"))
            await expect(page.locator(".canvas.board .element")).to_have_count(2)
            await site.core.stores.canvases.clear(KEY)
            await expect(page.locator("#empty")).to_be_visible()

    async def test_takes_down_what_is_pressed_away_and_moves_nothing_under_a_finger(
        self, browser: Browser, site: Site
    ) -> None:
        """What was pressed is gone by then, and somebody may be about to press the next."""
        told = asyncio.Event()

        async def hold(route: Route) -> None:
            answer = await route.fetch(headers={**route.request.headers, "sec-fetch-site": "same-origin"})
            await told.wait()
            await route.fulfill(response=answer)

        await draw(site, CARD, CHART)
        async with signed_in(browser, site, size=PHONE) as page:
            await is_live(page)
            await page.route("**/remove", hold)
            await page.get_by_role("button", name="「買い物」をキャンバスから外す").click()
            await expect(page.locator(".element")).to_have_count(1)
            before = await page.locator("#clearing summary").bounding_box()
            told.set()
            await expect(page.locator("#said")).to_have_text("キャンバスから外しました。")
            assert await page.locator("#clearing summary").bounding_box() == before
            await page.locator("#clearing summary").click()
            await page.get_by_role("button", name="すべて外す").click()
            await expect(page.locator("#empty")).to_be_visible()

    async def test_shows_and_takes_down_the_same_without_scripts(self, browser: Browser, site: Site) -> None:
        await draw(site, CARD, CHART, ShowText("題のない文", id="plain"))
        async with signed_in(browser, site, java_script_enabled=False) as page:
            await is_laid_out(page)
            await page.get_by_role("button", name="「買い物」をキャンバスから外す").click()
            await expect(page.locator(".element")).to_have_count(2)
            await expect(page.locator("#said")).to_have_text("キャンバスから外しました。")
            await expect(page.locator("#hiding")).to_be_hidden()

    async def test_hides_what_is_private_and_empties_each_tab_at_the_sign_out(
        self, browser: Browser, site: Site
    ) -> None:
        await draw(site, CARD, visibility="private")
        await draw(site, ShowText("みんなに", id="all"))
        async with signed_in(browser, site) as page:
            other = await page.context.new_page()
            await other.goto(page.url)
            await is_live(other)
            await expect(other.locator(".element")).to_have_count(2)
            await expect(page.locator("[data-id=shopping] .lock")).to_be_visible()
            await page.get_by_label("自分だけに見えるもの").check()
            await expect(page.locator(".element")).to_have_count(1)
            await draw(site, UpdateCard("shopping", content="ひみつ"), visibility="private")
            await page.reload()
            await is_live(page)
            await expect(page.locator(".element")).to_have_count(1)
            assert "ひみつ" not in await page.locator("main").inner_text()
            await page.get_by_role("button", name="サインアウト").click()
            await expect(page.get_by_role("heading", level=1)).to_have_text("サインアウトしました")
            await expect(other.locator(".element")).to_have_count(0)
            assert "ひみつ" not in await other.locator("main").inner_text()
            await expect(other.locator("#state")).to_have_text(SIGNED_OUT)


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
                await draw(site, ShowText("るすの間に", id="away"))
                await expect(page.locator(".element")).to_have_count(2)
                await expect(page.locator("#canvas")).not_to_have_attribute("aria-busy", "true")
                await is_live(page)
            trouble.forgive("ERR_CONNECTION_REFUSED")
            trouble.forgive("WebSocket connection")

    async def test_whoever_is_shut_out_comes_back_and_whoever_signs_out_stays_out(
        self, browser: Browser, site: Site
    ) -> None:
        trouble = Trouble()
        async with new_page(browser, locale="ja-JP", trouble=trouble) as page:
            await page.clock.install()
            await draw(site, CARD)
            await sign_in(page, site)
            await is_live(page)
            site.town.denied.add(TARO)
            await expect(page.locator("#state")).to_contain_text("お使いいただけない")
            await expect(page.locator(".element")).to_have_count(0)
            await expect(page.locator("#empty")).to_be_hidden()
            site.town.denied.clear()
            await page.clock.run_for(8000)
            await expect(page.locator(".element")).to_have_count(1)
            await is_live(page)
            trouble.forgive("403")
            await site.core.stores.web_sessions.end_all(TARO)
            await expect(page.locator("#state")).to_have_text(SIGNED_OUT)
            await page.clock.run_for(8000)
            await expect(page.locator("#empty")).to_be_hidden()
            await expect(page.locator("#state")).to_have_text(SIGNED_OUT)


class Between:
    """Stands between the page's sockets and the server, and can keep the server away."""

    def __init__(self) -> None:
        self.opened: list[WebSocketRoute] = []
        self.asked: list[str | bytes] = []
        self.ended = asyncio.Queue[WebSocketRoute]()
        self.away = asyncio.Event()

    async def take(self, socket: WebSocketRoute) -> None:
        self.opened.append(socket)
        if self.away.is_set():
            await socket.close()
            self.ended.put_nowait(socket)
            return
        server = socket.connect_to_server()

        def pass_on(message: str | bytes) -> None:
            self.asked.append(message)
            server.send(message)

        socket.on_message(pass_on)


class TestAnInterruptedSocket:
    async def test_that_missed_a_revision_has_the_page_ask_for_all_of_it(
        self, browser: Browser, site: Site
    ) -> None:
        between = Between()
        async with new_page(browser, locale="ja-JP") as page:
            await page.route_web_socket("**/socket", between.take)
            await draw(site, CARD)
            await sign_in(page, site)
            await is_live(page)
            gone = {"command": "canvas_remove_element", "id": "shopping", "visibility": "private"}
            shown = {"command": "canvas_shown", "revision": 1001}
            late = {"command": "canvas_set_mode", "mode": "board"}
            between.opened[-1].send(json.dumps({"from": 1000, "commands": [gone, late, shown]}))
            await draw(site, CHART)
            await expect(page.locator(".canvas.list .element h2 .name")).to_have_text(["買い物", "売上"])
            assert [json.loads(each) for each in between.asked] == [{"command": "canvas_resend"}]

    async def test_is_tried_again_after_twice_the_last_wait_up_to_eight_seconds(
        self, browser: Browser, site: Site
    ) -> None:
        between = Between()
        async with new_page(browser, locale="ja-JP") as page:
            await page.route_web_socket("**/socket", between.take)
            await page.clock.install(time=0)
            await sign_in(page, site)
            await is_live(page)
            await page.clock.pause_at(60_000)
            between.away.set()
            await between.opened[-1].close()
            await expect(page.locator("#canvas")).to_have_attribute("aria-busy", "true")
            for wait_ms in (250, 500, 1000, 2000, 4000, 8000, 8000):
                before = len(between.opened)
                await page.clock.run_for(wait_ms - 1)
                assert len(between.opened) == before, wait_ms
                await page.clock.run_for(1)
                async with asyncio.timeout(60):
                    await between.ended.get()
