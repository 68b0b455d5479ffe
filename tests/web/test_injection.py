"""Whatever somebody writes is text on a page: in a card, in a memory's place, in a display name."""

from collections.abc import AsyncIterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
import pytest_asyncio
from playwright.async_api import Browser, Page, expect

from cc_bot.domain import Message, SessionKey
from cc_bot.domain.canvas import AddCard, AddChart, Series, ShowText
from tests.browser import browser_fixture, new_page
from tests.web.pages import CHANNEL, TARO, Site, open_site
from tests.web.test_canvas import KEY, draw

pytestmark = [pytest.mark.asyncio(loop_scope="module")]
browser = browser_fixture()

HOSTILE = (
    "<script>document.title='taken'</script><img src=x onerror=\"document.title='taken'\">"
    "<svg onload=\"document.title='taken'\"><a href=\"javascript:document.title='taken'\">押して</a>"
    "<form action=https://evil.example><button>続ける</button></form><style>*{display:none}</style>"
    "[押して](javascript:alert(1)) ![絵](https://evil.example/x.png) <https://evil.example>\n\n"
    "</textarea></title></template>{{ 7-7 }}${7-7}"
)


@pytest_asyncio.fixture(loop_scope="module")
async def site(tmp_path: Path) -> AsyncIterator[Site]:
    async with open_site(tmp_path) as opened:
        yield opened


async def sign_in(page: Page, site: Site) -> None:
    await page.goto(await site.link())
    await page.locator("button.main").click()
    await expect(page.locator("nav").first).to_be_visible()


async def is_harmless(page: Page) -> None:
    """Nothing of it is anything but text: no element of its own, and nothing it asks for."""
    assert "taken" not in await page.title()
    main = page.locator("main")
    for selector in ("script", "img", "style", "[onerror]", "[onload]", "a[href^=javascript]"):
        await expect(main.locator(selector)).to_have_count(0)
    await expect(main.locator("form[action*=evil]")).to_have_count(0)
    await expect(main.get_by_text("7-7").first).to_be_attached()


class TestHostileWords:
    @pytest.mark.parametrize("scripted", [True, False])
    async def test_on_a_canvas_are_text(self, browser: Browser, site: Site, scripted: bool) -> None:
        await draw(
            site,
            AddCard(HOSTILE[:90], HOSTILE[:900], "card"),
            ShowText(HOSTILE[-400:], id="text"),
            AddChart(
                "<b>売上</b>", "bar", ("<i>1月</i>", '"2月'), (Series("<u>本店</u>", (1.0, 2.0)),), "chart"
            ),
        )
        async with new_page(browser, locale="ja-JP", java_script_enabled=scripted) as page:
            await sign_in(page, site)
            await expect(page.locator(".element")).to_have_count(3)
            await is_harmless(page)
            await expect(page.locator("main b, main i, main u")).to_have_count(0)

    async def test_that_were_said_are_text(self, browser: Browser, site: Site) -> None:
        session = await site.core.stores.sessions.open(KEY)
        said = (Message("user", HOSTILE), Message("assistant", HOSTILE))
        await site.core.stores.sessions.commit_turn(session, said)
        async with new_page(browser, locale="ja-JP") as page:
            await sign_in(page, site)
            await page.goto(f"{site.url}/conversations/{session.id}")
            await is_harmless(page)

    async def test_in_a_display_name_are_text(self, browser: Browser, site: Site) -> None:
        site.town.names[TARO] = HOSTILE
        async with new_page(browser, locale="ja-JP") as page:
            await page.goto(await site.link())
            await is_harmless(page)

    async def test_in_a_memory_are_text(self, browser: Browser, site: Site) -> None:
        await site.core.stores.memories.add(TARO, HOSTILE, tags=("<b>札</b>",))
        async with new_page(browser, locale="ja-JP") as page:
            await sign_in(page, site)
            await page.goto(f"{site.url}/memories/1")
            await is_harmless(page)
            for path in ("/memories", "/memories?q=%3Cscript%3E", "/memories/erase?n=1"):
                await page.goto(f"{site.url}{path}")
                assert "taken" not in await page.title()
                await expect(page.locator("main img, main script, main style")).to_have_count(0)
                await expect(page.get_by_text("<script>").first).to_be_attached()

    @pytest.mark.slow
    async def test_in_a_reminder_are_text(self, browser: Browser, site: Site) -> None:
        due = datetime.now(UTC) + timedelta(days=1)
        await site.core.stores.schedules.add(SessionKey(TARO, CHANNEL), HOSTILE[:400], due)
        async with new_page(browser, locale="ja-JP") as page:
            await sign_in(page, site)
            await page.goto(f"{site.url}/reminders")
            assert "taken" not in await page.title()
            await expect(page.locator("main img, main script, main style")).to_have_count(0)
