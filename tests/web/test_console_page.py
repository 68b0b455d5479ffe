"""The owners' console in a browser: in both languages, on a phone and a desk, light and dark, without a mouse
and without JavaScript."""

import logging
from collections.abc import AsyncIterator, Iterator
from itertools import product
from pathlib import Path
from typing import Any, Final, Literal

import pytest
import pytest_asyncio
import structlog
from axe_playwright_python.async_playwright import Axe
from playwright.async_api import Browser, Page, ViewportSize, expect

from cc_bot.administration import Mentionable
from cc_bot.domain.member import LimitKey
from cc_bot.log import configure_logging, keep_records
from tests.browser import DESKTOP, PHONE, Trouble, browser_fixture, new_page
from tests.web.pages import CHANNEL, HANA, TARO, Site, open_site

pytestmark = [pytest.mark.asyncio(loop_scope="module")]
browser = browser_fixture()

PAGES: Final = ("", "/limits", "/access", "/models", "/log", "/doctor")
Scheme = Literal["light", "dark"]
SCHEMES: Final[tuple[Scheme, ...]] = ("light", "dark")
READERS: Final = tuple(product(("ja-JP", "en-US"), (PHONE, DESKTOP), SCHEMES))
SERIOUS: Final = ("serious", "critical")


@pytest_asyncio.fixture(loop_scope="module")
async def site(tmp_path: Path) -> AsyncIterator[Site]:
    """A bot at work, about which its owner decided something of each kind."""
    async with open_site(tmp_path) as site:
        site.town.owners.add(TARO)
        site.town.pulse.begin(lambda: 0.042)
        console = site.services.console
        administration = console.administration
        await administration.set_limit(TARO, LimitKey("user", HANA, "tokens_per_day"), 100_000)
        await administration.set_limit(TARO, LimitKey("everyone", 0, "concurrent"), None)
        await administration.rule(TARO, Mentionable("guild", CHANNEL), "allow")
        await administration.rule(TARO, Mentionable("user", HANA), "deny")
        await administration.set_models(TARO, CHANNEL, ("gpt-5-mini", "さくら-large"))
        yield site


@pytest.fixture
def _recording(site: Site) -> Iterator[None]:
    """Logging is the process's own: put it back for the other tests."""
    root, ours = logging.getLogger(), logging.getLogger("cc_bot")
    before = (root.handlers[:], root.level, ours.level)
    configure_logging("info")
    structlog.configure(cache_logger_on_first_use=False)  # else loggers would keep to it after this test
    with keep_records(site.services.console.records):
        fill_the_log()
        yield
    root.handlers[:], level, own_level = before
    root.setLevel(level)
    ours.setLevel(own_level)
    structlog.reset_defaults()


def fill_the_log() -> None:
    log = structlog.get_logger("cc_bot.assistant.turn")
    for number in range(6):
        log.info("turn_done", turn=f"a1b2c3d{number}", status="complete", tools=2, seconds=4.2)
    log.warning("edit_failed", error="NotFoundError", at="reply.py:120 < live.py:88 < answers.py:301")
    structlog.get_logger("cc_bot.storage").error("backup_failed", error="DiskFull")


async def sign_in(page: Page, site: Site) -> None:
    await page.goto(await site.link())
    await page.locator("button.main").click()
    await expect(page.locator("header nav")).to_be_visible()


async def wrong_with(page: Page) -> list[dict[str, Any]]:
    found = await Axe().run(page)
    return [
        {"id": each["id"], "nodes": [node["target"] for node in each["nodes"]]}
        for each in found.response["violations"]
        if each["impact"] in SERIOUS
    ]


async def is_too_wide(page: Page) -> bool:
    return bool(await page.evaluate("document.documentElement.scrollWidth > innerWidth"))


@pytest.mark.usefixtures("_recording")
class TestThePages:
    @pytest.mark.slow
    @pytest.mark.parametrize(("locale", "size", "scheme"), READERS)
    async def test_can_be_read_by_everybody(
        self,
        browser: Browser,
        site: Site,
        locale: str,
        size: tuple[int, int],
        scheme: Literal["light", "dark"],
    ) -> None:
        async with new_page(browser, locale=locale, size=size, color_scheme=scheme) as page:
            await sign_in(page, site)
            for path in PAGES:
                await page.goto(f"{site.url}/console{path}")
                await expect(page.locator("nav.parts [aria-current=page]")).to_have_count(1)
                assert await wrong_with(page) == [], path
                assert not await is_too_wide(page), path

    async def test_fit_at_twice_the_size(self, browser: Browser, site: Site) -> None:
        half: ViewportSize = {"width": DESKTOP[0] // 2, "height": DESKTOP[1] // 2}
        async with new_page(browser, locale="ja-JP", device_scale_factor=2) as page:
            await sign_in(page, site)
            await page.set_viewport_size(half)  # as zooming to 200 % does
            for path in PAGES:
                await page.goto(f"{site.url}/console{path}")
                assert not await is_too_wide(page), path

    @pytest.mark.slow
    async def test_do_what_is_pressed(self, browser: Browser, site: Site) -> None:
        trouble = Trouble()
        async with new_page(browser, locale="ja-JP", size=PHONE, trouble=trouble) as page:
            await sign_in(page, site)
            await page.goto(f"{site.url}/console/limits")
            await page.get_by_label("値", exact=True).fill("なし")
            await page.get_by_role("button", name="決める").click()
            await expect(page.get_by_role("alert")).to_contain_text("制限が読み取れませんでした。")
            trouble.forgive("400")
            await expect(page.get_by_label("値", exact=True)).to_have_value("なし")
            await page.get_by_label("値", exact=True).fill("12")
            await page.get_by_role("button", name="決める").click()
            await expect(page.locator("#said")).to_have_text("制限を決めました。次の質問から効きます。")
            await page.get_by_role("button", name=f"取り消す: 人 {HANA} 1日のトークン").click()
            await expect(page.locator("#said")).to_contain_text("取り消しました。")
            await expect(page.locator("tbody")).not_to_contain_text(str(HANA))
            await page.goto(f"{site.url}/console/doctor")
            await page.get_by_role("button", name="点検する").click()
            await expect(page.locator("tbody")).to_contain_text("データベース")

    async def test_do_it_by_keyboard_alone_without_javascript(self, browser: Browser, site: Site) -> None:
        async with new_page(browser, locale="ja-JP", java_script_enabled=False) as page:
            await sign_in(page, site)
            await page.goto(f"{site.url}/console")
            await page.get_by_label("お知らせ").focus()
            await page.keyboard.type("22時まで")
            await page.keyboard.press("Tab")
            await page.keyboard.press("Enter")
            await expect(page.locator("#said")).to_contain_text("メンテナンスを始めました。")
            await expect(page.locator("blockquote")).to_have_text("22時まで")
            await page.get_by_role("button", name="メンテナンスを終える").focus()
            await page.keyboard.press("Enter")
            await expect(page.locator("#said")).to_contain_text("メンテナンスを終えました。")
