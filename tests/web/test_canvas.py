"""The canvas page and its socket, over a real server."""

import asyncio
import json
import re
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from typing import Any, Final

import aiohttp
import pytest

from cc_bot.domain.session import SessionKey
from cc_bot.domain.text import Locale
from cc_bot.features.agents.store import ChoiceStore
from cc_bot.features.canvas.drawing import get_canvas
from cc_bot.features.canvas.model import SetMode, Text, UpdateCard
from cc_bot.features.canvas.texts import CanvasPageTexts
from cc_bot.features.canvas.web import MAX_OPEN_PAGES, RELOAD_S, TOO_MANY_OPEN
from cc_bot.texts import texts
from tests.web.pages import CHANNEL, HANA, TARO, Site, Visit
from tests.web.stored import CARD, CHART, KEY, draw, keep

WORDS: Final = texts(Locale.JA)[CanvasPageTexts]
PAGE: Final = f"/canvas/{CHANNEL}"
SENTENCE: Final = "牛乳と卵は毎週土曜日に買うことにしている"


@asynccontextmanager
async def socket_of(visit: Visit) -> AsyncIterator["Socket"]:
    async with visit.client.ws_connect(f"{PAGE}/socket", headers={"Origin": visit.url}) as connection:
        yield Socket(connection)


class Socket:
    def __init__(self, connection: aiohttp.ClientWebSocketResponse) -> None:
        self.connection = connection

    async def read(self) -> dict[str, Any]:
        async with asyncio.timeout(RELOAD_S - 5):  # before everything is read again in any case
            message: dict[str, Any] = json.loads(await self.connection.receive_str())
            return message

    async def elements(self) -> dict[str, str]:
        return {each["id"]: each["html"] for each in (await self.read())["elements"]}

    async def closed(self) -> tuple[int | None, str]:
        async with asyncio.timeout(60):
            while True:
                message = await self.connection.receive()
                if message.type is aiohttp.WSMsgType.CLOSE:
                    return message.data, message.extra or ""
                if message.type in (aiohttp.WSMsgType.CLOSED, aiohttp.WSMsgType.CLOSING):
                    return self.connection.close_code, ""


async def count(site: Site, key: SessionKey = KEY) -> int:
    return len((await get_canvas(site.core.stores.canvases, key)).elements)


class TestASocket:
    async def test_sends_the_whole_canvas_at_each_change(self, site: Site, taro: Visit) -> None:
        await draw(site, CARD, visibility="private")
        await draw(site, CHART, SetMode("board"))
        async with socket_of(taro) as socket, socket_of(taro) as other:
            message = await socket.read()
            assert await other.read() == message
            card, chart = message["elements"]
            assert (message["mode"], card["id"], chart["id"]) == ("board", "shopping", "sales")
            assert "&lt;b&gt;卵&lt;/b&gt;" in card["html"]
            assert "<svg" in chart["html"]
            assert f'name="whose" value="{TARO}"' in card["html"], "it can be taken down"
            updates = UpdateCard("shopping", content="- 豆腐"), UpdateCard("sales", title="利益")
            await draw(site, *updates, visibility="private")
            elements = await socket.elements()
            assert elements == await other.elements()
            assert ("豆腐" in elements["shopping"], "卵" in elements["shopping"]) == (True, False)
            assert ("<caption>利益" in elements["sales"], "売上" in elements["sales"]) == (True, False)
            await site.core.stores.canvases.clear(KEY)
            message = await socket.read()
            assert (message["mode"], message["elements"]) == ("list", [])
            assert WORDS.canvas_empty in message["below"]

    async def test_sends_nothing_private_to_a_browser_that_hides_it(self, site: Site, taro: Visit) -> None:
        await draw(site, CARD, visibility="private")
        taro.client.cookie_jar.update_cookies({"hide-private": "yes"})
        async with socket_of(taro) as socket:
            assert await socket.elements() == {}
            await draw(site, UpdateCard("shopping", content="ひみつ"), visibility="private")
            await draw(site, CHART)
            assert [*await socket.elements()] == ["sales"]

    async def test_hides_titles_and_questions_in_the_list_as_well(self, site: Site, taro: Visit) -> None:
        await draw(site, CHART, asked="売上を<b>見せて</b>")
        await draw(site, CARD, visibility="private", asked=SENTENCE)
        page = await taro.open("/canvas?all=1")
        assert "買い物" in page
        assert SENTENCE in page
        taro.client.cookie_jar.update_cookies({"hide-private": "yes"})
        page = await taro.open("/canvas?all=1")
        assert "買い物" not in page
        assert SENTENCE not in page
        assert "売上を&lt;b&gt;見せて" in page

    async def test_follows_the_agent_that_answers(self, site: Site, taro: Visit) -> None:
        await draw(site, CARD)
        await draw(site, Text("draft", "下書き"), key=SessionKey(TARO, CHANNEL, "writer"))
        async with socket_of(taro) as socket:
            assert (await socket.read())["agent"] == "default"
            await site.core.stores[ChoiceStore].choose(TARO, CHANNEL, "writer")
            message = await socket.read()
            assert (message["agent"], message["elements"][0]["id"]) == ("writer", "draft")

    async def test_is_closed_if_it_sends_anything(self, taro: Visit) -> None:
        for text, code in {"[]": 1000, "あ" * 1500: 1009}.items():
            async with socket_of(taro) as socket:
                await socket.read()
                await socket.connection.send_str(text)
                assert (await socket.closed())[0] == code

    async def test_is_closed_for_one_more_than_a_user_may_have_open(self, site: Site, taro: Visit) -> None:
        async with AsyncExitStack() as stack, site.visit(HANA) as hana:
            another = await stack.enter_async_context(socket_of(hana))
            first, *others = [await stack.enter_async_context(socket_of(taro)) for _ in range(MAX_OPEN_PAGES)]
            for each in (another, first, *others):
                await each.read()
            await (await stack.enter_async_context(socket_of(taro))).read()
            assert await first.closed() == (TOO_MANY_OPEN, WORDS.closed_too_many_open)
            await draw(site, CARD)
            await draw(site, CARD, key=SessionKey(HANA, CHANNEL))
            for still in (others[0], another):
                assert "shopping" in await still.elements()

    async def test_of_another_site_is_refused(self, taro: Visit) -> None:
        for origin in ("https://evil.example", "null", "", "http://127.0.0.1:1"):
            with pytest.raises(aiohttp.WSServerHandshakeError) as refused:
                await taro.client.ws_connect(f"{PAGE}/socket", headers={"Origin": origin})
            assert refused.value.status == 403, origin

    async def test_is_closed_for_who_is_denied_or_signed_out(self, site: Site, taro: Visit) -> None:
        await draw(site, CARD)
        async with site.visit() as other, socket_of(taro) as socket:
            await socket.read()
            site.town.denied.add(TARO)
            assert await socket.closed() == (4403, WORDS.closed_denied)
            site.town.denied.clear()
            async with socket_of(taro) as again:
                await again.read()
                await other.press("/sessions/end", id="others")
                assert await again.closed() == (4401, WORDS.closed_signed_out)
            async with socket_of(other) as last:
                await last.read()
                await site.core.privacy.erase(TARO)
                assert (await last.closed())[0] == 4401


class TestAnother:
    async def test_user_sees_and_takes_down_nothing_of_it(self, site: Site, taro: Visit) -> None:
        await draw(site, CARD)
        async with site.visit(HANA) as hana:
            assert "買い物" not in await hana.open(PAGE)
            async with socket_of(hana) as socket:
                await socket.read()
                await draw(site, Text("note", "メモ"))
                await hana.press(f"{PAGE}/clear", agent="default")
                await hana.press(f"{PAGE}/remove", id="shopping", agent="default")
                with pytest.raises(TimeoutError):
                    async with asyncio.timeout(0.5):
                        await socket.connection.receive()
        assert await count(site) == 2


async def test_what_was_taken_down_comes_back_unless_something_was_erased(site: Site, taro: Visit) -> None:
    await draw(site, CARD, visibility="private", asked=SENTENCE)
    await draw(site, CHART, SetMode("board"))
    before = await get_canvas(site.core.stores.canvases, KEY)
    for path, form in (("remove", {"id": "shopping"}), ("remove", {"id": "sales"}), ("clear", {})):
        page = await taro.follow(await taro.press(f"{PAGE}/{path}", agent="default", **form))
        [undo] = re.findall(r'action="(/undo/[\w-]+)"', page)
        assert "元に戻しました" in await taro.follow(await taro.press(undo))
        assert await get_canvas(site.core.stores.canvases, KEY) == before
    page = await taro.follow(await taro.press(f"{PAGE}/clear", agent="default"))
    [undo] = re.findall(r'action="(/undo/[\w-]+)"', page)
    memories = {user: await keep(site, SENTENCE, user) for user in (TARO, HANA)}
    await site.core.stores.memory_removal.erase(HANA, memories[HANA].id, stub="…")
    await taro.follow(await taro.press(undo))
    assert await get_canvas(site.core.stores.canvases, KEY) == before
    page = await taro.follow(await taro.press(f"{PAGE}/clear", agent="default"))
    [undo] = re.findall(r'action="(/undo/[\w-]+)"', page)
    await site.core.stores.memory_removal.erase(TARO, memories[TARO].id, stub="…")
    assert "もう元に戻せません" in await taro.follow(await taro.press(undo))
    assert await count(site) == 0


async def test_an_item_of_a_list_is_checked_and_unchecked(site: Site, taro: Visit) -> None:
    content = "# 朝\n\n- [ ] 牛乳\n- [x] <b>卵</b> [ ]\n\n`- [ ]`"
    await draw(site, Text("list", content), visibility="private")
    page = await taro.open(PAGE)
    boxes = re.findall(r'name="item" [^>]*value="([\w-]+)" aria-checked="(\w+)"', page)
    assert [checked for _, checked in boxes] == ["false", "true"]
    milk, eggs = (item for item, _ in boxes)
    for item in (milk, eggs):
        assert (await taro.press(f"{PAGE}/check", id="list", agent="default", item=item)).status == 303
    canvas = await get_canvas(site.core.stores.canvases, KEY)
    assert canvas.elements == (
        Text("list", "# 朝\n\n- [x] 牛乳\n- [ ] <b>卵</b> [ ]\n\n`- [ ]`", visibility="private"),
    )
    await draw(site, UpdateCard("list", content="- [ ] 卵\n" * 4), visibility="private")
    for item in (milk, "", "0-00000000"):
        answer = await taro.press(f"{PAGE}/check", id="list", agent="default", item=item)
        assert answer.status == 404, "its text has changed"


async def test_a_chart_is_sent_as_a_picture(site: Site, taro: Visit) -> None:
    await draw(site, CARD, CHART)
    async with taro.client.get(f"{PAGE}/sales.png") as answer:
        assert (answer.status, answer.content_type) == (200, "image/png")
        assert (await answer.read()).startswith(b"\x89PNG")
    for name in ("shopping", "none"):
        await taro.open(f"{PAGE}/{name}.png", status=404)


async def test_a_press_takes_down_one_element_or_all_of_the_agent_that_answers_and_discord_follows(
    site: Site, taro: Visit
) -> None:
    poet = SessionKey(TARO, CHANNEL, "poet")
    await draw(site, CARD, visibility="private")
    await draw(site, CHART)
    await draw(site, CARD, key=poet)
    page = await taro.open(PAGE)
    assert "&lt;b&gt;卵" in page
    assert "自分だけに見えます" in page
    await site.core.stores.sessions.expire()
    remove = {"id": "shopping", "agent": "default"}
    page = await taro.follow(await taro.press(f"{PAGE}/remove", **remove))
    assert ("売上" in page, "買い物" in page) == (True, False)
    assert site.town.changed == [KEY]
    assert (await taro.press(f"{PAGE}/remove", **remove)).status == 404
    await site.core.stores[ChoiceStore].choose(TARO, CHANNEL, "poet")
    for path, form in (("remove", {"id": "shopping"}), ("clear", {})):
        assert (await taro.press(f"{PAGE}/{path}", **form, agent="default")).status == 409
        assert (await taro.press(f"{PAGE}/{path}", **form)).status == 400
    assert (await taro.press(f"{PAGE}/agent", agent="nobody")).status == 400
    assert [await count(site, key) for key in (KEY, poet)] == [1, 1]
    await taro.follow(await taro.press(f"{PAGE}/clear", agent="poet"))
    assert [await count(site, key) for key in (KEY, poet)] == [1, 0]
