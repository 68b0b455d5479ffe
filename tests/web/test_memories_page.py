"""The memory pages in a browser: in every look, without scripts, by keyboard alone, and a search as one
types."""

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
import pytest_asyncio
from axe_playwright_python.async_playwright import Axe
from playwright.async_api import Browser, Dialog, FilePayload, Page, Route, expect

from cc_bot.domain.memory import Source
from tests.browser import PHONE, Trouble, browser_fixture, new_page
from tests.web.pages import TARO, Site, open_site
from tests.web.test_account_pages import LOOKS, SERIOUS

pytestmark = [pytest.mark.asyncio(loop_scope="module")]
browser = browser_fixture()

PATHS = (
    *("/memories", "/memories?q=猫&tag=猫", "/memories/1", "/memories/2", "/memories/erase?n=1&n=3"),
    *("/memories/several?n=1&n=2&n=9", "/memories/erase-all", "/memories/import"),
)


@pytest_asyncio.fixture(loop_scope="module")
async def site(tmp_path: Path) -> AsyncIterator[Site]:
    async with open_site(tmp_path) as opened:
        yield opened


async def keep(site: Site, *contents: str) -> None:
    for content in contents:
        await site.core.stores.memories.add(TARO, content)


async def contents(site: Site) -> list[str]:
    return [each.content for each in await site.core.stores.memories.list(TARO)]


async def open_memories(page: Page, site: Site) -> None:
    await page.goto(await site.link())
    await page.locator("button.main").click()
    await expect(page.locator("nav").first).to_be_visible()
    await page.goto(f"{site.url}/memories")


async def live(site: Site) -> None:
    """Have Taro keep one that was changed, one that is deleted, and one that is long."""
    memories = site.core.stores.memories
    link = "https://discord.com/channels/1/2/3"
    first = await memories.add(TARO, "犬を飼っている", tags=("犬",), source=Source("message", link))
    await memories.update(TARO, first.id, content="猫を飼っている\n名前はモチ", tags=("猫", "家族のこと"))
    gone = await memories.add(TARO, "もう要らない")
    await memories.delete(TARO, gone.id)
    await memories.add(TARO, "x" * 300 + " 猫 Lives in Kyoto", category="旅行", audience="private")
    await site.core.stores.memory_pins.pin(TARO, first.id)
    await keep(site, *(f"メモ{n}" for n in range(30)))


class TestEveryPage:
    @pytest.mark.slow
    @pytest.mark.parametrize(("size", "options"), LOOKS)
    async def test_fits_and_is_there_for_everybody(
        self, browser: Browser, site: Site, size: tuple[int, int], options: dict[str, Any]
    ) -> None:
        await live(site)
        async with new_page(browser, size=size, **options) as page:
            await open_memories(page, site)
            for path in PATHS:
                await page.goto(site.url + path)
                await expect(page.locator("h1")).to_have_count(1)
                for each in await page.locator("main details").all():
                    await each.evaluate("each => { each.open = true; }")
                wide = await page.evaluate("document.documentElement.scrollWidth")
                assert wide <= size[0], path
                found = (await Axe().run(page)).response["violations"]
                assert [each["id"] for each in found if each["impact"] in SERIOUS] == [], path


class TestTheSearch:
    async def test_goes_on_as_one_types_and_keeps_the_field(self, browser: Browser, site: Site) -> None:
        await keep(site, "猫のモチは三毛", "明日は会議", "The cat sleeps")
        async with new_page(browser, locale="ja-JP", size=PHONE) as page:
            await open_memories(page, site)
            field = page.get_by_label("言葉で探す")
            await field.press_sequentially("ネコ")
            await expect(page.locator(".notes > li")).to_have_count(2)
            await expect(page.locator("#count")).to_have_text("2件あります。")
            await expect(page.locator("#found")).not_to_contain_text("会議")
            await expect(field).to_be_focused()
            await expect(field).to_have_value("ネコ")
            assert "q=" in page.url
            await field.fill("")
            await expect(page.locator(".notes > li")).to_have_count(3)

    async def test_is_narrowed_down_as_one_chooses(self, browser: Browser, site: Site) -> None:
        await site.core.stores.memories.add(TARO, "猫", category="家族")
        await keep(site, "犬")
        async with new_page(browser, locale="ja-JP") as page:
            await open_memories(page, site)
            await page.get_by_text("しぼり込む").click()
            await page.locator("#search").get_by_label("カテゴリ").focus()
            await page.locator("#search").get_by_label("カテゴリ").select_option("家族")
            await expect(page.locator(".notes > li")).to_have_count(1)
            await expect(page.locator("#search").get_by_label("カテゴリ")).to_be_focused()

    async def test_leaves_what_was_ticked_ticked(self, browser: Browser, site: Site) -> None:
        await keep(site, "猫のモチ", "猫のタマ", "犬のポチ")
        async with new_page(browser, locale="ja-JP", size=PHONE) as page:
            await open_memories(page, site)
            field = page.get_by_label("言葉で探す")
            await field.fill("猫")
            await expect(page.locator("#found .notes > li")).to_have_count(2)
            await page.get_by_role("checkbox", name="#1 を選ぶ").check()
            await field.fill("モチ")
            await expect(page.locator("#found .notes > li")).to_have_count(1)
            await expect(page.get_by_role("checkbox", name="#1 を選ぶ")).to_be_checked()
            await expect(page.locator("#kept")).to_be_hidden()
            await field.fill("犬")
            await expect(page.locator("#found")).to_contain_text("ポチ")
            await expect(page.locator("#kept")).to_contain_text("モチ")
            await page.get_by_role("checkbox", name="#3 を選ぶ").check()
            await field.fill("zzz")
            await expect(page.locator("#found")).to_contain_text("合うメモリはありません")
            await expect(page.locator("#kept .notes > li")).to_have_count(2)
            await page.get_by_role("button", name="削除する").click()
            await expect(page.locator(".counts")).to_have_text("削除したもの: 2件")
        assert await contents(site) == ["猫のタマ"]

    async def test_shows_no_late_answer_over_a_newer_one(self, browser: Browser, site: Site) -> None:
        await keep(site, "猫のモチ", "犬のポチ")
        release = asyncio.Event()

        async def hold(route: Route) -> None:
            await release.wait()
            await route.continue_()

        trouble = Trouble()
        async with new_page(browser, locale="ja-JP", trouble=trouble) as page:
            await open_memories(page, site)
            await page.route("**/memories?q=%E7%8C%AB", hold)
            field = page.get_by_label("言葉で探す")
            async with page.expect_request("**/memories?q=%E7%8C%AB"):
                await field.fill("猫")
            await field.fill("犬")
            await expect(page.locator("#found")).to_contain_text("ポチ")
            release.set()
            await page.wait_for_timeout(300)
            await expect(page.locator("#found")).to_contain_text("ポチ")
            await expect(page.locator(".notes > li")).to_have_count(1)

    async def test_waits_until_a_word_is_composed(self, browser: Browser, site: Site) -> None:
        await keep(site, "猫のモチ", "犬のポチ")
        asked = list[str]()
        async with new_page(browser, locale="ja-JP") as page:
            await open_memories(page, site)
            page.on("request", lambda request: asked.append(request.url) if "q=" in request.url else None)
            field = page.get_by_label("言葉で探す")
            await field.focus()
            session = await page.context.new_cdp_session(page)
            for text in ("ね", "ねこ"):
                await session.send(
                    "Input.imeSetComposition",
                    {"text": text, "selectionStart": len(text), "selectionEnd": len(text)},
                )
            await page.wait_for_timeout(500)
            assert asked == []
            await expect(field).to_have_value("ねこ")
            await session.send("Input.insertText", {"text": "猫"})
            await expect(page.locator(".notes > li")).to_have_count(1)
            await expect(field).to_have_value("猫")
            assert len(asked) == 1


class TestWithoutScripts:
    async def test_a_memory_is_kept_changed_deleted_and_had_back(self, browser: Browser, site: Site) -> None:
        async with new_page(browser, locale="ja-JP", java_script_enabled=False) as page:
            await open_memories(page, site)
            await page.get_by_text("メモリを追加する").click()
            await page.get_by_label("内容").fill("水曜は在宅")
            await page.get_by_role("button", name="覚える", exact=True).click()
            await expect(page.locator("#said")).to_have_text("覚えました。")
            await page.get_by_label("内容").fill("木曜は在宅")
            await page.get_by_role("button", name="保存する").click()
            await expect(page.locator("#said")).to_have_text("変更しました。")
            await page.get_by_role("button", name="最後の変更を取り消す").click()
            await expect(page.get_by_label("内容")).to_have_value("水曜は在宅")
            await page.get_by_role("button", name="削除する").click()
            await page.get_by_role("button", name="元に戻す").click()
            await expect(page.locator("#said")).to_have_text("元に戻しました。")
        assert await contents(site) == ["水曜は在宅"]

    async def test_several_are_filed_and_erased(self, browser: Browser, site: Site) -> None:
        await keep(site, "一", "二", "三")
        async with new_page(browser, locale="en-GB", size=PHONE, java_script_enabled=False) as page:
            await open_memories(page, site)
            for number in (1, 3):
                await page.get_by_role("checkbox", name=f"Choose #{number}").check()
            await (
                page.get_by_role("textbox", name="New category")
                .or_(page.get_by_role("combobox", name="New category"))
                .fill("family")
            )
            await page.get_by_role("button", name="Change the category").click()
            await expect(page.locator(".counts")).to_have_text("There: 2")
            await page.goto(f"{site.url}/memories")
            for number in (1, 3):
                await page.get_by_role("checkbox", name=f"Choose #{number}").check()
            await page.get_by_role("button", name="Erase for good…").click()
            await page.get_by_role("button", name="Erase the memory only").click()
            await expect(page.locator("h1")).to_have_text("Erased for good")
        assert await contents(site) == ["二"]

    async def test_a_file_is_looked_at_and_imported(self, browser: Browser, site: Site) -> None:
        async with new_page(browser, locale="ja-JP", java_script_enabled=False) as page:
            await open_memories(page, site)
            await page.get_by_role("link", name="ファイルから取り込む…").click()
            file: FilePayload = {
                "name": "メモ.txt",
                "mimeType": "text/plain",
                "buffer": "- 猫\n- 犬".encode(),
            }
            await page.get_by_label("ファイル").set_input_files(file)
            await page.get_by_role("button", name="内容を確かめる").click()
            await page.get_by_role("button", name="2件を取り込む").click()
            await expect(page.locator("#said")).to_have_text("2件を取り込みました。")
        assert await contents(site) == ["犬", "猫"]


class TestWithScripts:
    async def test_what_is_refused_leaves_what_was_typed(self, browser: Browser, site: Site) -> None:
        trouble = Trouble()
        async with new_page(browser, locale="ja-JP", trouble=trouble) as page:
            await open_memories(page, site)
            await page.get_by_text("メモリを追加する").click()
            await page.locator("#new-content").fill("歯医者")
            await page.locator("#new-end").fill("いつか")
            await page.get_by_role("button", name="覚える", exact=True).click()
            await expect(page.locator("#said.trouble")).to_be_visible()
            await expect(page.locator("#new-content")).to_have_value("歯医者")
            trouble.forgive("400 (Bad Request)")
        assert await contents(site) == []

    @pytest.mark.parametrize("scripted", [True, False])
    async def test_enter_in_a_field_does_nothing_to_what_is_chosen(
        self, browser: Browser, site: Site, scripted: bool
    ) -> None:
        await keep(site, "水曜は在宅")
        async with new_page(browser, locale="ja-JP", java_script_enabled=scripted) as page:
            await open_memories(page, site)
            await page.locator("#several input[type=checkbox]").check()
            await page.get_by_label("新しいカテゴリ").fill("予定")
            await page.get_by_label("新しいカテゴリ").press("Enter")
            await page.get_by_role("link", name="水曜は在宅").click()
            await expect(page.get_by_label("内容")).to_have_value("水曜は在宅")
        [kept] = await site.core.stores.memories.list(TARO)
        assert kept.category == "general"

    async def test_what_is_typed_is_not_dropped_by_another_button_without_a_question(
        self, browser: Browser, site: Site
    ) -> None:
        await keep(site, "水曜は在宅")
        async with new_page(browser, locale="ja-JP") as page:
            await open_memories(page, site)
            await page.get_by_role("link", name="水曜は在宅").click()
            await page.get_by_label("内容").fill("木曜は在宅")
            asked = list[str]()

            async def decline(dialog: Dialog) -> None:
                asked.append(dialog.message)
                await dialog.dismiss()

            page.on("dialog", decline)
            await page.get_by_role("button", name="ピン留めする").click()
            await expect(page.get_by_label("内容")).to_have_value("木曜は在宅")
            assert asked == ["まだ保存していない文章があります。保存せずに進みますか？"]
            await page.get_by_role("button", name="保存する").click()
            await expect(page.locator("#said")).to_have_text("変更しました。")
        [kept] = await site.core.stores.memories.list(TARO)
        assert (kept.content, kept.pinned) == ("木曜は在宅", False)

    async def test_ticks_stay_on_another_page_of_the_list(self, browser: Browser, site: Site) -> None:
        for number in range(35):
            await keep(site, f"メモ {number}")
        async with new_page(browser, locale="ja-JP") as page:
            await open_memories(page, site)
            await page.locator("#found input[type=checkbox]").first.check()
            await page.get_by_role("link", name="次へ").click()
            await expect(page.locator("#found .notes li")).to_have_count(5)
            await expect(page.locator("#kept input:checked")).to_have_count(1)

    async def test_a_press_on_what_is_gone_says_so_and_keeps_what_was_typed(
        self, browser: Browser, site: Site
    ) -> None:
        await keep(site, "水曜は在宅")
        trouble = Trouble()
        async with new_page(browser, locale="ja-JP", trouble=trouble) as page:
            await open_memories(page, site)
            await page.get_by_role("link", name="水曜は在宅").click()
            [kept] = await site.core.stores.memories.list(TARO)
            await site.core.stores.memories.delete(TARO, kept.id)
            await page.get_by_label("内容").fill("木曜は在宅")
            await page.get_by_role("button", name="保存する").click()
            await expect(page.locator("#said.trouble")).to_contain_text("少し前に削除されました")
            await expect(page.get_by_label("内容")).to_have_value("木曜は在宅")
            await page.get_by_role("link", name="メモリの一覧へ").click()
            await expect(page.locator("h1")).to_have_text("メモリ")
            trouble.forgive("404 (Not Found)")

    @pytest.mark.parametrize("scripted", [True, False])
    async def test_a_file_that_is_too_large_is_told(
        self, browser: Browser, site: Site, scripted: bool
    ) -> None:
        trouble = Trouble()
        async with new_page(browser, locale="ja-JP", trouble=trouble, java_script_enabled=scripted) as page:
            await open_memories(page, site)
            await page.goto(f"{site.url}/memories/import")
            large: FilePayload = {"name": "大.txt", "mimeType": "text/plain", "buffer": b"a\n" * 4_000_000}
            await page.get_by_label("ファイル").set_input_files(large)
            await page.get_by_role("button", name="内容を確かめる").click()
            await expect(page.get_by_text("1 MB まで）。小さく分けて")).to_be_visible()
            trouble.forgive("413 (Request Entity Too Large)")

    @pytest.mark.slow
    async def test_an_edit_of_what_changed_meanwhile_shows_both(self, browser: Browser, site: Site) -> None:
        await keep(site, "水曜は在宅")
        trouble = Trouble()
        async with new_page(browser, locale="ja-JP", trouble=trouble) as page:
            await open_memories(page, site)
            await page.get_by_role("link", name="水曜は在宅").click()
            [kept] = await site.core.stores.memories.list(TARO)
            await site.core.stores.memories.update(TARO, kept.id, content="金曜は在宅")
            await page.get_by_label("内容").fill("木曜は在宅")
            await page.get_by_role("button", name="保存する").click()
            await expect(page.locator(".beside")).to_contain_text("金曜は在宅")
            await expect(page.get_by_label("内容", exact=True)).to_have_value("木曜は在宅")
            assert await contents(site) == ["金曜は在宅"]
            await page.get_by_role("button", name="この内容で保存する").click()
            await expect(page.locator("#said")).to_have_text("変更しました。")
            trouble.forgive("409 (Conflict)")
        assert await contents(site) == ["木曜は在宅"]

    async def test_the_keyboard_alone_is_enough(self, browser: Browser, site: Site) -> None:
        await keep(site, "猫")
        async with new_page(browser, locale="ja-JP") as page:
            await open_memories(page, site)
            await page.get_by_role("checkbox", name="#1 を選ぶ").focus()
            await page.keyboard.press("Space")
            for _ in range(2):  # over the memory itself
                await page.keyboard.press("Tab")
            await expect(page.get_by_role("button", name="削除する")).to_be_focused()
            await page.keyboard.press("Enter")
            await expect(page.locator(".counts")).to_have_text("削除したもの: 1件")
        assert await contents(site) == []
