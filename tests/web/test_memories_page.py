"""The memory pages in a browser: a search as one types, and a press without scripts."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest
import pytest_asyncio
from playwright.async_api import Browser, Page, expect

from tests.browser import PHONE, Trouble, browser_fixture, new_page
from tests.web.pages import TARO, Site, open_site
from tests.web.test_memories import contents, keep

pytestmark = [pytest.mark.asyncio(loop_scope="module")]
browser = browser_fixture()


@pytest_asyncio.fixture(loop_scope="module")
async def site(tmp_path: Path) -> AsyncIterator[Site]:
    async with open_site(tmp_path) as opened:
        yield opened


async def open_memories(page: Page, site: Site) -> None:
    await page.goto(await site.link())
    await page.locator("button.main").click()
    await expect(page.locator("nav").first).to_be_visible()
    await page.goto(f"{site.url}/memories")


class TestTheSearch:
    async def test_goes_on_as_one_types_and_keeps_the_field(self, browser: Browser, site: Site) -> None:
        await keep(site, "猫のモチは三毛", "明日は会議", "The cat sleeps")
        async with new_page(browser, locale="ja-JP", size=PHONE) as page:
            await open_memories(page, site)
            field = page.get_by_label("メモリを探す")
            await field.press_sequentially("ネコ")
            await expect(page.locator(".memory")).to_have_count(2)
            await expect(page.locator("#results")).not_to_contain_text("会議")
            await expect(field).to_be_focused()
            await expect(field).to_have_value("ネコ")
            assert "q=" in page.url
            await field.fill("")
            await expect(page.locator(".memory")).to_have_count(3)

    async def test_of_what_was_typed_last_is_what_stays(self, browser: Browser, site: Site) -> None:
        await keep(site, "猫のモチ", "犬のポチ")
        async with new_page(browser, locale="ja-JP") as page:
            await open_memories(page, site)
            field = page.get_by_label("メモリを探す")
            for text in ("猫", "猫の", "", "犬"):
                await field.fill(text)
            await expect(page.locator(".memory")).to_have_count(1)
            await expect(page.locator("#results")).to_contain_text("ポチ")


class TestWithoutScripts:
    async def test_a_memory_is_kept_changed_deleted_and_had_back(self, browser: Browser, site: Site) -> None:
        async with new_page(browser, locale="ja-JP", java_script_enabled=False) as page:
            await open_memories(page, site)
            await page.get_by_label("内容").fill("水曜は在宅")
            await page.get_by_role("button", name="覚える", exact=True).click()
            await expect(page.locator("#said")).to_have_text("覚えました。")
            await page.get_by_role("link", name="#1").click()
            await page.get_by_label("内容").fill("木曜は在宅")
            await page.get_by_role("button", name="保存する").click()
            await expect(page.locator("#said")).to_have_text("変更しました。")
            await page.get_by_role("button", name="削除する").click()
            await page.get_by_role("button", name="元に戻す").click()
            await expect(page.locator("#said")).to_have_text("元に戻しました。")
        assert await contents(site, TARO) == ["木曜は在宅"]

    async def test_the_keyboard_alone_is_enough(self, browser: Browser, site: Site) -> None:
        await keep(site, "猫")
        async with new_page(browser, locale="ja-JP") as page:
            await open_memories(page, site)
            await page.get_by_role("checkbox", name="#1 を選ぶ").focus()
            await page.keyboard.press("Space")
            await page.locator("#results summary").focus()
            await page.keyboard.press("Enter")
            await page.keyboard.press("Tab")
            await page.keyboard.press("Enter")
            await expect(page.locator("#said")).to_have_text("削除しました。")
        assert await contents(site, TARO) == []


class TestWhatWasWritten:
    async def test_stays_in_its_field_when_it_can_not_be_kept(self, browser: Browser, site: Site) -> None:
        async with new_page(browser, locale="ja-JP", trouble=(trouble := Trouble())) as page:
            await open_memories(page, site)
            await page.get_by_label("内容").fill("猫")
            await page.get_by_label("期限").fill("ぱぴぷぺぽ")
            await page.get_by_role("button", name="覚える", exact=True).click()
            await expect(page.locator("#said.trouble")).to_be_visible()
            await expect(page.get_by_label("内容")).to_have_value("猫")
            await page.get_by_label("期限").fill("")
            await page.get_by_role("button", name="覚える", exact=True).click()
            await expect(page.locator(".memory")).to_have_count(1)
            field = page.get_by_label("メモリを探す")
            await field.press_sequentially("犬")
            await expect(page.locator(".memory")).to_have_count(0)
            trouble.forgive("400")

    async def test_is_shown_beside_what_came_meanwhile(self, browser: Browser, site: Site) -> None:
        await keep(site, "水曜は在宅")
        async with new_page(browser, locale="ja-JP", trouble=(trouble := Trouble())) as page:
            await open_memories(page, site)
            await page.goto(f"{site.url}/memories/1")
            [kept] = await site.core.stores.memories.list(TARO)
            await site.core.stores.memories.update(TARO, kept.id, content="金曜は在宅")
            await page.get_by_label("内容").fill("木曜は在宅")
            await page.get_by_role("button", name="保存する").click()
            await expect(page.get_by_role("alert")).to_contain_text("まだ何も変えていません")
            await expect(page.locator("main")).to_contain_text("金曜は在宅")
            await expect(page.get_by_label("内容")).to_have_value("木曜は在宅")
            trouble.forgive("409")
