"""The canvas page in a browser: live, without JavaScript, and while the bot is away."""

import asyncio
import json
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
import pytest_asyncio
from playwright.async_api import Browser, Page, Route, WebSocketRoute, expect

from cc_bot.domain import SessionKey
from cc_bot.domain.canvas import RemoveElement, SetMode, ShowText, UpdateCard
from tests.browser import PHONE, Trouble, browser_fixture, new_page
from tests.web.pages import CHANNEL, TARO, Site, open_site
from tests.web.test_canvas import CARD, CHART, KEY, draw

pytestmark = [pytest.mark.asyncio(loop_scope="module")]
browser = browser_fixture()


@pytest_asyncio.fixture(loop_scope="module")
async def site(tmp_path: Path) -> AsyncIterator[Site]:
    async with open_site(tmp_path) as opened:
        yield opened


async def sign_in(page: Page, site: Site) -> None:
    await page.goto(await site.link())
    await page.get_by_role("button", name="ページを開く").click()
    await expect(page.get_by_role("heading", level=1)).to_contain_text("キャンバス")


class TestThePage:
    async def test_shows_what_is_drawn_as_it_is_drawn(self, browser: Browser, site: Site) -> None:
        async with new_page(browser, locale="ja-JP", size=PHONE) as page:
            await sign_in(page, site)
            await expect(page.locator("#empty")).to_be_visible()
            await expect(page.locator("#state")).to_have_text("変更はすぐ届きます。")
            await draw(site, CARD, CHART)
            await expect(page.locator(".element h2 .name")).to_have_text(["買い物", "売上"])
            await expect(page.locator("[data-id=sales] .chart")).to_be_visible()
            await draw(site, UpdateCard("shopping", content="- 豆腐"))
            await expect(page.locator("[data-id=shopping] .body")).to_have_text("豆腐")
            await draw(site, RemoveElement("sales"), ShowText("朝は散歩", id="plan"))
            await expect(page.locator(".element")).to_have_count(2)
            await draw(site, SetMode("focus", "plan"))
            await expect(page.locator(".element")).to_have_count(1)
            await expect(page.locator("#others")).to_contain_text("買い物")
            await draw(site, SetMode("board"))
            await expect(page.locator(".canvas.board .element")).to_have_count(2)
            await site.core.stores.canvases.clear(KEY)
            await expect(page.locator("#empty")).to_be_visible()

    @pytest.mark.parametrize("scripts", [True, False])
    async def test_has_words_at_the_top_and_charts_as_wide_as_their_cards(
        self, browser: Browser, site: Site, scripts: bool
    ) -> None:
        await draw(site, CHART, ShowText("題のない文", id="plain"))
        async with new_page(browser, locale="ja-JP", java_script_enabled=scripts) as page:
            await sign_in(page, site)
            if scripts:
                await expect(page.locator("#state")).to_have_text("変更はすぐ届きます。")
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

    async def test_keeps_what_did_not_change(self, browser: Browser, site: Site) -> None:
        async with new_page(browser, locale="ja-JP") as page:
            await draw(site, CARD, CHART)
            await sign_in(page, site)
            await expect(page.locator("#state")).to_have_text("変更はすぐ届きます。")
            summary = page.locator("[data-id=sales] summary")
            await summary.click()
            await summary.focus()
            await draw(site, UpdateCard("shopping", content="- 豆腐"))
            await expect(page.locator("[data-id=shopping] .body")).to_have_text("豆腐")
            await expect(page.locator("[data-id=sales] details")).to_have_attribute("open", "")
            await expect(summary).to_be_focused()

    async def test_moves_nothing_under_a_finger_when_it_tells_what_was_done(
        self, browser: Browser, site: Site
    ) -> None:
        """What was pressed is gone by then, and somebody may be about to press the next."""
        told = asyncio.Event()

        async def hold(route: Route) -> None:
            answer = await route.fetch(headers={**route.request.headers, "sec-fetch-site": "same-origin"})
            await told.wait()
            await route.fulfill(response=answer)

        await draw(site, CARD, CHART)
        async with new_page(browser, locale="ja-JP", size=PHONE) as page:
            await sign_in(page, site)
            await expect(page.locator("#state")).to_have_text("変更はすぐ届きます。")
            await page.route("**/remove", hold)
            await page.get_by_role("button", name="買い物").click()
            await expect(page.locator(".element")).to_have_count(1)
            before = await page.locator("#clearing summary").bounding_box()
            told.set()
            await expect(page.locator("#said")).not_to_be_empty()
            assert await page.locator("#clearing summary").bounding_box() == before

    async def test_takes_down_what_is_pressed_away(self, browser: Browser, site: Site) -> None:
        async with new_page(browser, locale="ja-JP") as page:
            await draw(site, CARD, CHART)
            await sign_in(page, site)
            await page.get_by_role("button", name="「買い物」をキャンバスから外す").click()
            await expect(page.locator(".element")).to_have_count(1)
            await expect(page.locator("#said")).to_have_text("キャンバスから外しました。")
            await page.locator("#clearing summary").click()
            await page.get_by_role("button", name="すべて外す").click()
            await expect(page.locator("#empty")).to_be_visible()

    async def test_hides_what_is_private_and_remembers_that(self, browser: Browser, site: Site) -> None:
        async with new_page(browser, locale="ja-JP") as page:
            await draw(site, CARD, visibility="private")
            await draw(site, ShowText("みんなに", id="all"))
            await sign_in(page, site)
            await expect(page.locator("[data-id=shopping] .lock")).to_be_visible()
            await page.get_by_label("自分だけに見えるもの").check()
            await expect(page.locator(".element")).to_have_count(1)
            await draw(site, UpdateCard("shopping", content="ひみつ"), visibility="private")
            await page.reload()
            await expect(page.locator("#state")).to_have_text("変更はすぐ届きます。")
            await expect(page.locator(".element")).to_have_count(1)
            assert "ひみつ" not in await page.locator("main").inner_text()
            sent = await page.request.get(page.url)
            assert "ひみつ" not in await sent.text()
            await page.get_by_label("自分だけに見えるもの").uncheck()
            await expect(page.locator("[data-id=shopping]")).to_contain_text("ひみつ")

    async def test_works_without_javascript(self, browser: Browser, site: Site) -> None:
        async with new_page(browser, locale="ja-JP", java_script_enabled=False) as page:
            await draw(site, CARD, CHART)
            await sign_in(page, site)
            await expect(page.locator(".element")).to_have_count(2)
            await page.get_by_role("button", name="「買い物」をキャンバスから外す").click()
            await expect(page.locator("#said")).to_have_text("キャンバスから外しました。")
            await expect(page.locator(".element")).to_have_count(1)
            await expect(page.locator("#hiding")).to_be_hidden()

    async def test_switches_to_the_agent_that_is_chosen(self, browser: Browser, tmp_path: Path) -> None:
        (tmp_path / "agents.toml").write_text(
            '[agents.writer]\ndisplay_name = { ja = "作家", en = "Writer" }\nprompt = "書く"\n',
            encoding="utf-8",
        )
        async with (
            open_site(tmp_path) as site,
            new_page(browser, locale="ja-JP") as page,
        ):
            await draw(site, CARD)
            other = SessionKey(TARO, CHANNEL, "writer")
            await draw(site, ShowText("下書き", id="draft"), key=other)
            await sign_in(page, site)
            await page.get_by_label("ここで答えるエージェント").select_option("writer")
            await page.get_by_role("button", name="切り替える").click()
            await expect(page.locator(".element")).to_have_attribute("data-id", "draft")
            await site.core.stores.agents.choose(TARO, CHANNEL, None)
            await expect(page.locator(".element")).to_have_attribute("data-id", "shopping")
            await expect(page.get_by_label("ここで答えるエージェント")).to_have_value("default")


class TestWhileTheBotIsAway:
    async def test_the_page_is_grey_and_comes_back(self, browser: Browser, tmp_path: Path) -> None:
        trouble = Trouble()
        async with new_page(browser, locale="ja-JP", trouble=trouble) as page:
            async with open_site(tmp_path) as site:
                port = site.url.rpartition(":")[2]
                await draw(site, CARD)
                await sign_in(page, site)
                await expect(page.locator("#state")).to_have_text("変更はすぐ届きます。")
            await expect(page.locator("#canvas")).to_have_attribute("aria-busy", "true")
            await expect(page.locator(".element")).to_have_count(1)
            async with open_site(tmp_path, CC_BOT_WEB_PORT=port) as site:
                await draw(site, ShowText("るすの間に", id="away"))
                await expect(page.locator(".element")).to_have_count(2)
                await expect(page.locator("#canvas")).not_to_have_attribute("aria-busy", "true")
                await expect(page.locator("#state")).to_have_text("変更はすぐ届きます。")
            trouble.forgive("ERR_CONNECTION_REFUSED")
            trouble.forgive("WebSocket connection")

    async def test_whoever_signs_out_sees_why_and_it_stays_so(self, browser: Browser, site: Site) -> None:
        async with new_page(browser, locale="ja-JP") as page:
            await draw(site, CARD)
            await sign_in(page, site)
            await expect(page.locator("#state")).to_have_text("変更はすぐ届きます。")
            await site.core.stores.web_sessions.end_all(TARO)
            await expect(page.locator("#state")).to_have_text("サインアウトしました。")
            await asyncio.sleep(0.6)
            await expect(page.locator("#empty")).to_be_hidden()
            await expect(page.locator("#state")).to_have_text("サインアウトしました。")

    async def test_whoever_is_shut_out_is_told_why_and_comes_back_by_themselves(
        self, browser: Browser, site: Site
    ) -> None:
        trouble = Trouble()
        async with new_page(browser, locale="ja-JP", trouble=trouble) as page:
            await page.clock.install()
            await draw(site, CARD)
            await sign_in(page, site)
            await expect(page.locator("#state")).to_have_text("変更はすぐ届きます。")
            site.town.denied.add(TARO)
            await expect(page.locator("#state")).to_contain_text("お使いいただけない")
            await expect(page.locator(".element")).to_have_count(0)
            await expect(page.locator("#empty")).to_be_hidden()
            site.town.denied.clear()
            await page.clock.run_for(8000)
            await expect(page.locator(".element")).to_have_count(1)
            await expect(page.locator("#state")).to_have_text("変更はすぐ届きます。")
            trouble.forgive("403")

    async def test_another_tab_is_empty_after_signing_out(self, browser: Browser, site: Site) -> None:
        async with new_page(browser, locale="ja-JP") as page:
            await draw(site, CARD)
            await draw(site, ShowText("ひみつ", id="secret"), visibility="private")
            await sign_in(page, site)
            other = await page.context.new_page()
            await other.goto(page.url)
            await expect(other.locator("#state")).to_have_text("変更はすぐ届きます。")
            await expect(other.locator(".element")).to_have_count(2)
            await page.get_by_role("button", name="サインアウト").click()
            await expect(page.get_by_role("heading", level=1)).to_have_text("サインアウトしました")
            await expect(other.locator(".element")).to_have_count(0)
            assert "ひみつ" not in await other.locator("main").inner_text()
            await expect(other.locator("#state")).to_have_text("サインアウトしました。")

    async def test_each_wait_is_twice_the_last_up_to_eight_seconds(
        self, browser: Browser, site: Site
    ) -> None:
        async with new_page(browser, locale="ja-JP") as page:
            opened: list[WebSocketRoute] = []
            ended = asyncio.Queue[WebSocketRoute]()
            away = asyncio.Event()

            async def stand_between(socket: WebSocketRoute) -> None:
                opened.append(socket)
                if not away.is_set():
                    socket.connect_to_server()
                    return
                await socket.close()
                ended.put_nowait(socket)

            await page.route_web_socket("**/socket", stand_between)
            await page.clock.install(time=0)
            await draw(site, CARD)
            await sign_in(page, site)
            await expect(page.locator("#state")).to_have_text("変更はすぐ届きます。")
            await page.clock.pause_at(60_000)
            away.set()
            await opened[-1].close()
            await expect(page.locator("#canvas")).to_have_attribute("aria-busy", "true")
            for wait_ms in (250, 500, 1000, 2000, 4000, 8000, 8000):
                before = len(opened)
                await page.clock.run_for(wait_ms - 1)
                assert len(opened) == before, wait_ms
                await page.clock.run_for(1)
                async with asyncio.timeout(60):
                    await ended.get()


class TestRevision:
    @pytest.mark.slow
    async def test_that_was_missed_has_the_page_ask_for_all_of_it(self, browser: Browser, site: Site) -> None:
        async with new_page(browser, locale="ja-JP") as page:
            asked: list[str | bytes] = []
            sockets: list[WebSocketRoute] = []

            def stand_between(socket: WebSocketRoute) -> None:
                server = socket.connect_to_server()

                def pass_on(message: str | bytes) -> None:
                    asked.append(message)
                    server.send(message)

                socket.on_message(pass_on)
                sockets.append(socket)

            await page.route_web_socket("**/socket", stand_between)
            await draw(site, CARD)
            await sign_in(page, site)
            await expect(page.locator(".element")).to_have_count(1)
            await expect(page.locator("#state")).to_have_text("変更はすぐ届きます。")
            gone = {"command": "canvas_remove_element", "id": "shopping", "visibility": "private"}
            shown = {"command": "canvas_shown", "revision": 1001}
            late = {"command": "canvas_set_mode", "mode": "board"}
            sockets[-1].send(json.dumps({"from": 1000, "commands": [gone, late, shown]}))
            await draw(site, CHART)
            await expect(page.locator(".canvas.list .element h2 .name")).to_have_text(["買い物", "売上"])
            assert [json.loads(each) for each in asked] == [{"command": "canvas_resend"}]
