"""All pages in a browser: in every look, by keyboard alone, without JavaScript, and with hostile words."""

import logging
from datetime import UTC, datetime, timedelta
from typing import Any, Final

import pytest
from axe_playwright_python.async_playwright import Axe
from playwright.async_api import Browser, Locator, Page, expect

from cc_bot.domain.chart import Chart, Series
from cc_bot.domain.session import SessionKey
from cc_bot.domain.text import Locale
from cc_bot.domain.usage import LimitKey
from cc_bot.features.admin.service import Administration
from cc_bot.features.canvas.model import Card, SetMode, Text
from cc_bot.features.memory.model import Source
from cc_bot.features.privacy.texts import PrivacyTexts, WebPrivacyTexts
from cc_bot.features.reminders.model import Firing
from cc_bot.features.reminders.store import ScheduleStore
from cc_bot.features.reminders.texts import ReminderTexts
from cc_bot.features.settings.texts import SessionTexts
from cc_bot.log import attach_handler
from cc_bot.texts import texts
from cc_bot.texts.web import WebConversationTexts, WebTexts
from tests.browser import DESKTOP, PHONE, Trouble, browser_fixture, new_page
from tests.web.browsing import sign_in, signed_in, site_fixture
from tests.web.pages import CHANNEL, HANA, TARO, Site
from tests.web.stored import CARD, CHART, DM, GUILD, KEY, draw, keep, spend, talk

pytestmark = [pytest.mark.asyncio(loop_scope="module")]
browser = browser_fixture()
site = site_fixture()

PATHS: Final = (
    *(f"/canvas/{CHANNEL}", "/canvas?all=1", "/conversations", "/conversations/{id}", "/reminders"),
    *("/usage", "/usage?days=365", "/settings", "/privacy", "/privacy/erase"),
    *("/memories", "/memories?q=猫&tag=猫", "/memories/1", "/memories/2", "/memories/erase?n=1&n=3"),
    *("/memories/erase-all", "/memories/import", "/search?q=猫"),
    *("/console", "/console/limits", "/console/access", "/console/models", "/console/log", "/console/doctor"),
)
ZOOMED: Final = (640, 400)
"""The room of a desk's screen at 200 %."""
SERIOUS: Final = frozenset({"serious", "critical"})
LOOKS: Final[tuple[tuple[tuple[int, int], dict[str, Any]], ...]] = (
    (PHONE, {"locale": "ja-JP", "color_scheme": "light"}),
    (DESKTOP, {"locale": "en-GB", "color_scheme": "dark", "reduced_motion": "reduce"}),
)


async def live(site: Site) -> str:
    """Store something for Taro on every page, and return the id of his conversation."""
    table = "## 一日目\n\n| 時刻 | 場所 |\n| --- | ---: |\n| 9:00 | 清水寺 |"
    words = f"{table}\n\nhttps://example.com/{'x' * 90}"
    id_ = await talk(site, ("京都旅行の計画を立てて", words), visibility="private")
    await talk(site, ("Dinner?", "`ramen`"), key=DM)
    later = datetime.now(UTC) + timedelta(days=1)
    await site.core.stores[ScheduleStore].add(KEY, "会議の資料を送る", later, repeat="0 7 * * *")
    paused = await site.core.stores[ScheduleStore].add(KEY, "Take the pills " + "x" * 60, later)
    await site.core.stores[ScheduleStore].mark_failed(Firing(paused, later), "dms_closed")
    await spend(site, 4321)
    site.town.managers.add((TARO, GUILD))
    await draw(site, CARD, CHART, SetMode("board"))
    await draw(site, Text("secret", "長い語" + "x" * 90), visibility="private")
    await remember(site)
    await administer(site)
    return id_


async def remember(site: Site) -> None:
    """Keep a changed memory, a deleted one, a long one, and more than a page of others."""
    first = await keep(site, "犬を飼っている", source=Source("message", "https://discord.com/channels/1/2/3"))
    memories = site.core.stores.memories
    await memories.update(TARO, first.id, content="猫を飼っている\n名前はモチ", tags=("猫", "家族のこと"))
    await site.core.stores.memories.pin(TARO, first.id)
    gone = await keep(site, "もう要らない")
    await memories.delete(TARO, gone.id)
    await keep(site, "x" * 300 + " 猫 Lives in Kyoto", category="旅行", audience="private")
    for number in range(30):
        await keep(site, f"メモ{number}")


async def administer(site: Site) -> None:
    """Make Taro an owner who has decided something of each kind."""
    site.town.owners.add(TARO)
    site.core.gateway_health.read_latency_s = lambda: 0.042
    owners = site.services[Administration]
    await owners.stores.limits.set(LimitKey("user", HANA, "tokens_per_day"), 100_000, set_by=TARO)
    await owners.stores.limits.set(LimitKey("everyone", 0, "concurrent"), None, set_by=TARO)
    await owners.stores.access.set("guild", CHANNEL, "allow", set_by=TARO)
    await owners.stores.access.set("user", HANA, "deny", set_by=TARO)
    await owners.stores.channel_models.set(CHANNEL, ("gpt-5-mini", "さくら-large"), set_by=TARO)
    with attach_handler(site.services.records):
        logging.getLogger("cc_bot.db").error("backup_failed")
        logging.getLogger("cc_bot.chat").warning("edit_failed")


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
            await sign_in(page, site)
            for path in PATHS:
                await page.goto(site.url + path.format(id=id_))
                await is_for_everybody(page, size)


async def is_for_everybody(page: Page, size: tuple[int, int]) -> None:
    """It fits on every screen, says what it is, and axe finds nothing serious."""
    await expect(page.locator("h1")).to_have_count(1)
    for each in await page.locator("main details").all():
        await each.evaluate("each => { each.open = true; }")
    for width, height in (PHONE, ZOOMED, DESKTOP):
        await page.set_viewport_size({"width": width, "height": height})
        assert await page.evaluate("document.documentElement.scrollWidth") <= width, page.url
    await page.set_viewport_size({"width": size[0], "height": size[1]})
    found = (await Axe().run(page)).response["violations"]
    assert [each["id"] for each in found if each["impact"] in SERIOUS] == [], page.url


class TestWithoutScripts:
    async def test_reminders_conversations_and_all_are_erased(self, browser: Browser, site: Site) -> None:
        id_ = await talk(site, ("旅行の計画", "はい"))
        await talk(site, ("DMの話", "はい"), key=DM)
        async with signed_in(browser, site, "/reminders", size=PHONE, java_script_enabled=False) as page:
            await page.get_by_label("お知らせする内容").fill("薬")
            await page.get_by_label("いつ", exact=True).fill("毎朝7時")
            await page.get_by_role("button", name="予約する").click()
            await expect(page.locator("#said")).to_contain_text("薬")
            await page.locator("li summary").click()
            await page.get_by_role("link", name=texts(Locale.JA)[SessionTexts].change, exact=True).click()
            await page.locator("textarea").fill("薬と水")
            await page.get_by_role("button", name="保存する").click()
            await expect(page.locator("#said")).to_contain_text("薬と水")
            await expect(page.locator("li strong")).to_have_text("薬と水")
            await page.locator("li summary").click()
            await page.get_by_role("button", name=texts(Locale.JA)[ReminderTexts].cancel, exact=True).click()
            await expect(page.get_by_text("予約したお知らせはありません。")).to_be_visible()
            await page.goto(f"{site.url}/conversations/{id_}")
            words = texts(Locale.JA)[WebConversationTexts]
            await press_by_keyboard(page, page.locator(".who summary"))
            await press_by_keyboard(page, page.get_by_role("button", name=words.delete, exact=True))
            await expect(page.locator("#said")).to_contain_text(
                texts(Locale.JA)[WebTexts].done["conversation_deleted"]
            )
            assert await site.core.stores.archive.get_session(TARO, id_) is None
            await page.locator(".top summary").click()  # holds what the row of a phone has no room for
            await page.get_by_role("link", name="設定").click()
            await page.get_by_role("link", name="見る・消す").click()
            await page.get_by_role("link", name=texts(Locale.JA)[PrivacyTexts].erase_ask).click()
            await page.get_by_role("button", name=texts(Locale.JA)[WebPrivacyTexts].erase_now).click()
            await expect(page.get_by_text("すべて消しました。")).to_be_visible()
            await expect(page.get_by_role("link", name="メモリ")).to_have_count(0)
        assert (await site.core.privacy.get_overview(TARO)).is_empty


async def press_by_keyboard(page: Page, wanted: Locator) -> None:
    """Press Tab until that has the focus, then Enter."""
    for _ in range(60):
        await page.keyboard.press("Tab")
        if await wanted.evaluate("element => element === document.activeElement"):
            await page.keyboard.press("Enter")
            return
    pytest.fail("the keyboard never comes there")


class TestWithScripts:
    async def test_a_form_keeps_what_was_typed_and_is_sent_once(self, browser: Browser, site: Site) -> None:
        trouble = Trouble()
        async with signed_in(browser, site, "/reminders", trouble=trouble) as page:
            await page.get_by_label("お知らせする内容").fill("薬")
            await page.get_by_label("いつ", exact=True).fill("いつか")
            await page.get_by_role("button", name="予約する").click()
            await expect(page.get_by_role("alert")).to_be_visible()
            await expect(page.get_by_label("お知らせする内容")).to_have_value("薬")
            trouble.forgive("400")
            await page.get_by_label("いつ", exact=True).fill("明日9時")
            await expect(page.get_by_role("alert")).to_have_count(0)
            await page.get_by_role("button", name="予約する").dblclick()
            await expect(page.locator("#said")).to_contain_text("薬")
            assert len(await site.core.stores[ScheduleStore].list(TARO)) == 1
            await page.goto(f"{site.url}/settings")
            await page.get_by_label("言語").select_option("en")
            await page.get_by_role("button", name="保存する").click()
            await expect(page.locator("h1")).to_have_text("Settings")
            await expect(page.locator("html")).to_have_attribute("lang", "en")

    async def test_the_consoles_state_is_fetched_again_and_the_theme_is_kept(
        self, browser: Browser, site: Site
    ) -> None:
        await administer(site)
        async with signed_in(browser, site) as page:
            await page.clock.install()
            await page.goto(f"{site.url}/console")
            await expect(page.locator("#status")).to_contain_text("42 ms")
            site.core.gateway_health.read_latency_s = lambda: 0.099
            await page.clock.fast_forward(11_000)
            await expect(page.locator("#status")).to_contain_text("99 ms")
            await page.locator(".top summary").click()
            await page.get_by_role("button", name="ダーク").click()
            await expect(page.locator("html")).to_have_attribute("data-theme", "dark")
            await expect(page).to_have_url(f"{site.url}/console")


HOSTILE: Final = (
    "<script>document.title='taken'</script><img src=x onerror=\"document.title='taken'\">"
    "<svg onload=\"document.title='taken'\"><a href=\"javascript:document.title='taken'\">押して</a>"
    "<form action=https://evil.example><button>続ける</button></form><style>*{display:none}</style>"
    "[押して](javascript:alert(1)) ![絵](https://evil.example/x.png) <https://evil.example>\n\n"
    "</textarea></title></template>{{ 7-7 }}${7-7}"
)


class TestHostileWords:
    @pytest.mark.parametrize("scripted", [True, False])
    async def test_are_text_on_every_page(self, browser: Browser, site: Site, scripted: bool) -> None:
        chart = Chart("", "<b>売上</b>", "bar", ("<i>1月</i>", '"2月'), (Series("<u>店</u>", (1.0, 2.0)),))
        await draw(site, Card("", HOSTILE[:90], HOSTILE[:900]), Text("", HOSTILE[-400:]), chart)
        id_ = await talk(site, (HOSTILE, HOSTILE))
        await keep(site, HOSTILE, tags=("<b>札</b>",))
        due = datetime.now(UTC) + timedelta(days=1)
        await site.core.stores[ScheduleStore].add(SessionKey(TARO, CHANNEL), HOSTILE[:400], due)
        site.town.names[TARO] = HOSTILE
        async with new_page(browser, locale="ja-JP", java_script_enabled=scripted) as page:
            await page.goto(await site.link())
            await is_harmless(page, "7-7")
            await sign_in(page, site)
            await expect(page.locator(".element")).to_have_count(3)
            await is_harmless(page, "7-7")
            await expect(page.locator("main b, main i, main u")).to_have_count(0)
            for path in (f"/conversations/{id_}", "/memories/1"):
                await page.goto(site.url + path)
                await is_harmless(page, "7-7")
            for path in ("/memories", "/memories?q=%3Cscript%3E", "/memories/erase?n=1", "/reminders"):
                await page.goto(site.url + path)
                await is_harmless(page, "<script>")


async def is_harmless(page: Page, words: str) -> None:
    """Nothing of it is anything but text: no element of its own, and nothing it asks for."""
    assert await page.title() != "taken"
    main = page.locator("main")
    for selector in (
        "script",
        "img:not([src^='/static/'])",
        "style",
        "[onerror]",
        "[onload]",
        "a[href^=javascript]",
    ):
        await expect(main.locator(selector)).to_have_count(0)
    await expect(main.locator("form[action*=evil]")).to_have_count(0)
    await expect(main.get_by_text(words).first).to_be_attached()
