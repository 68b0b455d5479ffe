"""The pages on what is one's own in a browser: on a phone and a desk, light and dark, in both languages, by
keyboard alone and without JavaScript."""

from collections.abc import AsyncIterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, Final

import pytest
import pytest_asyncio
from axe_playwright_python.async_playwright import Axe
from playwright.async_api import Browser, Page, expect

from cc_bot.domain import SessionKey
from cc_bot.domain.canvas import SetMode, ShowText
from tests.browser import DESKTOP, PHONE, Trouble, browser_fixture, new_page
from tests.web.pages import CHANNEL, TARO, Site, open_site
from tests.web.test_canvas import CARD, CHART, draw
from tests.web.test_conversations import talk
from tests.web.test_usage import GUILD, spend

pytestmark = [pytest.mark.asyncio(loop_scope="module")]
browser = browser_fixture()

KEY: Final = SessionKey(TARO, CHANNEL)
PATHS: Final = (
    *(
        f"/canvas/{CHANNEL}",
        "/canvas?all=1",
        "/memories",
        "/memories/1",
        "/memories/erase?n=1",
        "/memories/import",
    ),
    *("/conversations", "/conversations/{id}", "/reminders", "/usage", "/usage?days=365"),
    *("/settings", "/privacy", "/privacy/erase"),
)
ZOOMED: Final = (640, 400)
"""The room of a desk's screen at 200 %."""
SERIOUS: Final = frozenset({"serious", "critical"})
LOOKS: Final[tuple[tuple[tuple[int, int], dict[str, Any]], ...]] = (
    (PHONE, {"locale": "ja-JP", "color_scheme": "light"}),
    (PHONE, {"locale": "en-GB", "color_scheme": "dark"}),
    (DESKTOP, {"locale": "en-GB", "color_scheme": "light"}),
    (DESKTOP, {"locale": "ja-JP", "color_scheme": "dark", "reduced_motion": "reduce"}),
    (ZOOMED, {"locale": "ja-JP"}),
)


@pytest_asyncio.fixture(loop_scope="module")
async def site(tmp_path: Path) -> AsyncIterator[Site]:
    async with open_site(tmp_path) as opened:
        yield opened


async def live(site: Site) -> str:
    """Have Taro talk, be reminded and use tokens, and return the id of the conversation."""
    table = "## 一日目\n\n| 時刻 | 場所 |\n| --- | ---: |\n| 9:00 | 清水寺 |"
    words = f"{table}\n\nhttps://example.com/{'x' * 90}"
    id_ = await talk(site, ("京都旅行の計画を立てて", words), visibility="private")
    await talk(site, ("Dinner?", "`ramen`"), key=SessionKey(TARO, 42))
    later = datetime.now(UTC) + timedelta(days=1)
    await site.core.stores.schedules.add(KEY, "会議の資料を送る", later, repeat="0 7 * * *")
    paused = await site.core.stores.schedules.add(KEY, "Take the pills " + "x" * 60, later)
    await site.core.stores.schedules.pause(TARO, paused.id)
    await spend(site, 4321)
    memories = site.core.stores.memories
    kept = await memories.add(TARO, "モチは三毛猫で、" + "x" * 90, tags=("猫",), audience="private")
    await memories.update(TARO, kept.id, content="モチは黒猫です")
    await draw(site, CARD, CHART, SetMode("board"))
    await draw(site, ShowText("長い語" + "x" * 90, id="secret"), visibility="private")
    site.town.managers.add((TARO, GUILD))
    return id_


async def sign_in(page: Page, site: Site) -> None:
    await page.goto(await site.link())
    await page.locator("button.main").click()
    await expect(page.locator("nav").first).to_be_visible()


class TestEveryPage:
    @pytest.mark.slow
    @pytest.mark.parametrize(("size", "options"), LOOKS)
    async def test_fits_and_is_there_for_everybody(
        self, browser: Browser, site: Site, size: tuple[int, int], options: dict[str, Any]
    ) -> None:
        id_ = await live(site)
        async with new_page(browser, size=size, **options) as page:
            await page.goto(await site.link())
            await is_for_everybody(page, size)
            await page.locator("button.main").click()
            await expect(page.locator("nav").first).to_be_visible()
            for path in PATHS:
                await page.goto(site.url + path.format(id=id_))
                await is_for_everybody(page, size)


async def is_for_everybody(page: Page, size: tuple[int, int]) -> None:
    """It fits, says what it is, and axe finds nothing serious."""
    await expect(page.locator("h1")).to_have_count(1)
    wide = await page.evaluate("document.documentElement.scrollWidth")
    assert wide <= size[0], page.url
    found = (await Axe().run(page)).response["violations"]
    assert [each["id"] for each in found if each["impact"] in SERIOUS] == [], page.url


class TestWithoutScripts:
    async def test_a_reminder_is_set_changed_and_cancelled(self, browser: Browser, site: Site) -> None:
        async with new_page(browser, locale="ja-JP", size=PHONE, java_script_enabled=False) as page:
            await sign_in(page, site)
            await page.goto(f"{site.url}/reminders")
            await page.get_by_label("お知らせする内容").fill("薬")
            await page.get_by_label("いつ", exact=True).fill("毎朝7時")
            await page.get_by_role("button", name="予約する").click()
            await expect(page.locator("#said")).to_have_text("お知らせを予約しました。")
            await page.locator("details summary").click()
            await page.locator("textarea").fill("薬と水")
            await page.get_by_role("button", name="保存する").click()
            await expect(page.locator("#said")).to_have_text("お知らせを変えました。")
            await expect(page.locator("li strong")).to_have_text("薬と水")
            await page.get_by_role("button", name="お知らせ 1 を取り消す").click()
            await expect(page.get_by_text("予約したお知らせはありません。")).to_be_visible()

    async def test_everything_is_erased_with_a_second_press(self, browser: Browser, site: Site) -> None:
        await live(site)
        async with new_page(browser, locale="ja-JP", java_script_enabled=False) as page:
            await sign_in(page, site)
            await page.goto(f"{site.url}/settings")
            await page.get_by_role("link", name="あなたについて保存しているもの").click()
            await page.get_by_role("link", name="消す前に確かめる…").click()
            await page.get_by_role("button", name="すべて消す").click()
            await expect(page.get_by_text("すべて消しました。")).to_be_visible()
            await expect(page.get_by_role("link", name="メモリ")).to_have_count(0)
        assert (await site.core.privacy.overview(TARO)).empty


class TestWithScripts:
    async def test_what_was_typed_stays_when_it_was_refused(self, browser: Browser, site: Site) -> None:
        trouble = Trouble()
        async with new_page(browser, locale="ja-JP", trouble=trouble) as page:
            await sign_in(page, site)
            await page.goto(f"{site.url}/reminders")
            await page.get_by_label("お知らせする内容").fill("薬")
            await page.get_by_label("いつ", exact=True).fill("いつか")
            await page.get_by_role("button", name="予約する").click()
            await expect(page.get_by_role("alert")).to_be_visible()
            await expect(page.get_by_label("お知らせする内容")).to_have_value("薬")
            await page.get_by_label("いつ", exact=True).fill("明日9時")
            await page.get_by_role("button", name="予約する").click()
            await expect(page.locator("#said")).to_have_text("お知らせを予約しました。")
            trouble.forgive("400")

    @pytest.mark.slow
    async def test_the_language_changes_with_its_press(self, browser: Browser, site: Site) -> None:
        async with new_page(browser, locale="ja-JP") as page:
            await sign_in(page, site)
            await page.goto(f"{site.url}/settings")
            await page.get_by_label("言語").select_option("en")
            await page.get_by_role("button", name="保存する").click()
            await expect(page.locator("h1")).to_have_text("Settings")
            await expect(page.locator("html")).to_have_attribute("lang", "en")


class TestTheKeyboard:
    @pytest.mark.slow
    async def test_alone_deletes_a_conversation(self, browser: Browser, site: Site) -> None:
        id_ = await live(site)
        async with new_page(browser, locale="ja-JP") as page:
            await sign_in(page, site)
            await page.goto(f"{site.url}/conversations/{id_}")
            summary = page.get_by_text("この会話を消す", exact=True)
            await press_until(page, "Tab", summary)
            await page.keyboard.press("Enter")
            button = page.get_by_role("button", name="元に戻せないことを確かめて消す")
            await press_until(page, "Tab", button)
            await page.keyboard.press("Enter")
            await expect(page.locator("#said")).to_have_text("会話を消しました。")
        assert await site.core.stores.archive.get_session(TARO, id_) is None


async def press_until(page: Page, key: str, wanted: Any) -> None:
    """Press a key until that has the focus."""
    for _ in range(60):
        await page.keyboard.press(key)
        if await wanted.evaluate("element => element === document.activeElement"):
            return
    pytest.fail("the keyboard never comes there")


class TestADoubleClick:
    async def test_is_one_press(self, browser: Browser, site: Site) -> None:
        async with new_page(browser, locale="ja-JP") as page:
            await sign_in(page, site)
            await page.goto(f"{site.url}/reminders")
            await page.get_by_label("お知らせする内容").fill("薬")
            await page.get_by_label("いつ", exact=True).fill("明日7時")
            await page.get_by_role("button", name="予約する").dblclick()
            await expect(page.locator("#said")).to_have_text("お知らせを予約しました。")
        assert len(await site.core.stores.schedules.list(TARO)) == 1
