"""The memory pages in a browser: with and without scripts, by keyboard alone, and a search as one types."""

import pytest
from playwright.async_api import Browser, Dialog, FilePayload, Page, expect

from cc_bot.domain.text import Locale, remove_leading_emoji
from cc_bot.features.memory.texts import MemoryCardTexts, WebMemoryTexts
from cc_bot.texts import texts
from tests.browser import PHONE, Trouble, browser_fixture
from tests.web.browsing import signed_in, site_fixture
from tests.web.pages import TARO, Site
from tests.web.stored import keep

pytestmark = [pytest.mark.asyncio(loop_scope="module")]
browser = browser_fixture()
site = site_fixture()

MEMORIES = "/memories"


async def keep_all(site: Site, *contents: str) -> None:
    for content in contents:
        await keep(site, content)


async def contents(site: Site) -> list[str]:
    return [each.content for each in await site.core.stores.memories.list(TARO, limit=99)]


PAGE = texts(Locale.JA)[WebMemoryTexts]
EDITED = remove_leading_emoji(texts(Locale.JA)[MemoryCardTexts].edited.format(id=1))


async def is_said(page: Page, sentence: str) -> None:
    await expect(page.locator("#said")).to_have_text(sentence)


class TestTheSearch:
    async def test_goes_on_as_one_types_and_keeps_the_field(self, browser: Browser, site: Site) -> None:
        await keep_all(site, "猫のモチは三毛", "明日は会議", "The cat sleeps")
        await keep(site, "犬のポチ", category="家族")
        async with signed_in(browser, site, MEMORIES, size=PHONE) as page:
            field = page.get_by_label("言葉で探す")
            await field.press_sequentially("ネコ")
            await expect(page.locator(".notes > li")).to_have_count(2)
            await expect(page.locator("#count")).to_have_text("2件あります。")
            await expect(field).to_be_focused()
            await expect(field).to_have_value("ネコ")
            assert "q=" in page.url
            await field.fill("")
            await expect(page.locator(".notes > li")).to_have_count(4)
            await page.get_by_role("radio", name="家族").check()
            await expect(page.locator(".notes > li")).to_have_count(1)

    async def test_waits_until_a_word_is_composed(self, browser: Browser, site: Site) -> None:
        await keep_all(site, "猫のモチ", "犬のポチ")
        asked = list[str]()
        async with signed_in(browser, site, MEMORIES) as page:
            page.on("request", lambda request: asked.append(request.url) if "q=" in request.url else None)
            field = page.get_by_label("言葉で探す")
            await field.focus()
            session = await page.context.new_cdp_session(page)
            for text in ("ね", "ねこ"):
                end = len(text)
                composed = {"text": text, "selectionStart": end, "selectionEnd": end}
                await session.send("Input.imeSetComposition", composed)
            await page.wait_for_timeout(500)
            assert asked == []
            await expect(field).to_have_value("ねこ")
            async with page.expect_request("**/memories?q=%E7%8C%AB"):
                await session.send("Input.insertText", {"text": "猫"})
            await expect(field).to_have_value("猫")
            assert len(asked) == 1
            await expect(page.locator("#found")).to_contain_text("モチ")
            await expect(page.locator(".notes > li")).to_have_count(1)


class TestWithoutScripts:
    async def test_a_memory_is_kept_changed_and_imported(self, browser: Browser, site: Site) -> None:
        async with signed_in(browser, site, MEMORIES, java_script_enabled=False) as page:
            await page.get_by_text("メモリを追加する").click()
            await page.get_by_label("内容").fill("水曜は在宅")
            await page.get_by_role("button", name="覚える", exact=True).click()
            await expect(page.locator("#said")).to_contain_text("水曜は在宅")
            await page.get_by_label("内容").fill("木曜は在宅")
            await page.get_by_role("button", name="保存する").click()
            await is_said(page, EDITED)
            await page.get_by_role("button", name="最後の変更を取り消す").click()
            await expect(page.get_by_label("内容")).to_have_value("水曜は在宅")
            await page.get_by_role("button", name=texts(Locale.JA)[MemoryCardTexts].delete).click()
            await page.get_by_role("button", name="元に戻す").click()
            await expect(page.locator("#said")).to_contain_text("水曜は在宅")
            await page.goto(site.url + MEMORIES)
            await page.get_by_label(PAGE.more).click()
            await page.get_by_role("link", name="ファイルから取り込む…").click()
            notes = "- 猫\n- 犬".encode()
            file: FilePayload = {"name": "メモ.txt", "mimeType": "text/plain", "buffer": notes}
            await page.get_by_label("ファイル").set_input_files(file)
            await page.get_by_role("button", name="内容を確かめる").click()
            await page.get_by_role("button", name="2件を取り込む").click()
            await is_said(page, "2件を取り込みました。")
        assert await contents(site) == ["犬", "猫", "水曜は在宅"]


class TestWithScripts:
    async def test_what_is_typed_is_not_lost(self, browser: Browser, site: Site) -> None:
        await keep(site, "水曜は在宅")
        trouble, asked = Trouble(), list[str]()

        async def decline(dialog: Dialog) -> None:
            asked.append(dialog.message)
            await dialog.dismiss()

        async with signed_in(browser, site, MEMORIES, trouble=trouble) as page:
            await page.get_by_text("メモリを追加する").click()
            await page.locator("#new-content").fill("歯医者")
            await page.locator("#new-end").fill("いつか")
            await page.get_by_role("button", name="覚える", exact=True).click()
            await expect(page.locator("#new-end + [role=alert]")).to_be_visible()
            await expect(page.locator("#new-content")).to_have_value("歯医者")
            trouble.forgive("400 (Bad Request)")
            assert await contents(site) == ["水曜は在宅"]
            await page.locator("#new-content").fill("")
            await page.locator("#new-end").fill("")
            await page.get_by_text("メモリを追加する").click()
            await page.get_by_role("link", name=PAGE.choose_none).wait_for(state="hidden")
            await page.get_by_text(PAGE.start_choosing, exact=True).click()
            await page.get_by_role("link", name=PAGE.choose_all).click()
            await expect(page.locator("#several .notes input")).to_be_checked()
            await page.get_by_role("link", name=PAGE.choose_none).click()
            await expect(page.locator("#with-chosen")).to_be_hidden()
            await page.goto(f"{site.url}{MEMORIES}?select=all")
            await page.locator("#with-chosen summary").click()
            await page.get_by_label("新しいカテゴリ").fill("予定")
            await page.get_by_label("新しいカテゴリ").press("Enter")
            await page.get_by_role("link", name="水曜は在宅").click()
            await expect(page.get_by_label("内容")).to_have_value("水曜は在宅")
            [kept] = await site.core.stores.memories.list(TARO)
            assert kept.category == "general", "Enter in a field does nothing to what is chosen"
            page.on("dialog", decline)
            await page.get_by_label("内容").fill("木曜は在宅")
            await page.get_by_role("button", name="ピン留めする").click()
            await expect(page.get_by_label("内容")).to_have_value("木曜は在宅")
            assert asked == ["まだ保存していない文章があります。保存せずに進みますか？"]
            await page.get_by_role("button", name="保存する").click()
            await is_said(page, EDITED)
        [kept] = await site.core.stores.memories.list(TARO)
        assert (kept.content, kept.pinned) == ("木曜は在宅", False)
