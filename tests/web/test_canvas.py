"""The canvas page and its socket, over a real server."""

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from typing import Any, Final

import aiohttp
import pytest

from cc_bot.domain import SessionKey
from cc_bot.domain.canvas import RemoveElement, SetMode, ShowText, UpdateCard
from cc_bot.domain.locale import Locale
from cc_bot.texts import texts
from cc_bot.web.canvas_feed import ALL_ANEW_S, MAX_OPEN_PAGES, TOO_MANY_OPEN
from tests.web.pages import CHANNEL, HANA, TARO, Site, Visit
from tests.web.stored import CARD, CHART, KEY, draw

WORDS: Final = texts(Locale.JA).web
PAGE: Final = f"/canvas/{CHANNEL}"


@asynccontextmanager
async def socket_of(visit: Visit) -> AsyncIterator["Socket"]:
    async with visit.client.ws_connect(f"{PAGE}/socket", headers={"Origin": visit.url}) as connection:
        yield Socket(connection)


class Socket:
    def __init__(self, connection: aiohttp.ClientWebSocketResponse) -> None:
        self.connection = connection

    async def read(self) -> dict[str, Any]:
        async with asyncio.timeout(ALL_ANEW_S - 5):  # before everything is read again in any case
            message: dict[str, Any] = json.loads(await self.connection.receive_str())
            return message

    async def names(self) -> list[str]:
        return [each["command"] for each in (await self.read())["commands"]]

    async def closed(self) -> tuple[int | None, str]:
        async with asyncio.timeout(60):
            while True:
                message = await self.connection.receive()
                if message.type is aiohttp.WSMsgType.CLOSE:
                    return message.data, message.extra or ""
                if message.type in (aiohttp.WSMsgType.CLOSED, aiohttp.WSMsgType.CLOSING):
                    return self.connection.close_code, ""


async def count(site: Site, key: SessionKey = KEY) -> int:
    seen = await site.core.stores.canvases.get(key)
    return len(seen.canvas.elements) if seen else 0


class TestASocket:
    async def test_begins_with_all_of_it_and_goes_on_with_changes(self, site: Site, taro: Visit) -> None:
        await draw(site, CARD, visibility="private")
        await draw(site, CHART, SetMode("board"))
        async with socket_of(taro) as socket, socket_of(taro) as other:
            message = await socket.read()
            assert await other.read() == message
            await socket.connection.send_json({"command": "canvas_resend"})
            assert await socket.read() == message
            clear, mode, card, chart, shown = message["commands"]
            assert message["from"] is None
            assert (clear["mode"], mode["mode"]) == ("clear", "board")
            assert (card["id"], card["title"], card["visibility"]) == ("shopping", "買い物", "private")
            assert "&lt;b&gt;卵&lt;/b&gt;" in card["html"]
            assert "<svg" in chart["html"]
            updates = UpdateCard("shopping", content="- 豆腐"), UpdateCard("sales", title="利益")
            await draw(site, *updates, visibility="private")
            message = await socket.read()
            assert message["from"] == shown["revision"]
            assert message == await other.read()
            card, chart, shown = message["commands"]
            assert ("豆腐" in card["html"], "卵" in card["html"]) == (True, False)
            assert "<caption>利益</caption>" in chart["html"]
            assert "売上" not in chart["html"]
            updated = RemoveElement("shopping"), ShowText("メモ", id="note")
            await draw(site, *updated, visibility="private")
            assert await socket.names() == ["canvas_remove_element", "canvas_show_text", "canvas_shown"]
            await site.core.stores.canvases.clear(KEY)
            gone = [*["canvas_remove_element"] * 2, "canvas_set_mode", "canvas_shown"]
            assert await socket.names() == gone, "and the board is a list again"

    async def test_follows_the_agent_that_answers(self, site: Site, taro: Visit) -> None:
        await draw(site, CARD)
        await draw(site, ShowText("下書き", id="draft"), key=SessionKey(TARO, CHANNEL, "writer"))
        async with socket_of(taro) as socket:
            assert (await socket.read())["agent"]["name"] == "default"
            await site.core.stores.agents.choose(TARO, CHANNEL, "writer")
            message = await socket.read()
            assert (message["from"], message["agent"]["name"]) == (None, "writer")
            assert message["commands"][2]["id"] == "draft"

    async def test_is_closed_with_a_reason_for_what_nobody_understands(self, taro: Visit) -> None:
        unknown, too_long = (1003, WORDS.closed_unknown), (1009, WORDS.closed_too_long)
        texts_sent = {
            **dict.fromkeys(('{"command": "canvas_add_card"}', "[]", "{", "[" * 4000), unknown),
            **dict.fromkeys(("x" * 5000, "あ" * 1500), too_long),
        }
        for text, expected in texts_sent.items():
            async with socket_of(taro) as socket:
                await socket.read()
                await socket.connection.send_str(text)
                assert await socket.closed() == expected, text[:40]
        async with socket_of(taro) as socket:
            for _ in range(25):
                await socket.connection.send_json({"command": "canvas_resend"})
            assert (await socket.closed())[0] == 1008, "nobody asks all the time"

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
                assert (await still.names())[0] == "canvas_add_card"

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
                await draw(site, ShowText("メモ", id="note"))
                await hana.press(f"{PAGE}/clear", agent="default")
                await hana.press(f"{PAGE}/remove", id="shopping", agent="default")
                with pytest.raises(TimeoutError):
                    async with asyncio.timeout(0.5):
                        await socket.connection.receive()
        assert await count(site) == 2


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
    await site.core.stores.agents.choose(TARO, CHANNEL, "poet")
    for path, form in (("remove", {"id": "shopping"}), ("clear", {})):
        assert (await taro.press(f"{PAGE}/{path}", **form, agent="default")).status == 409
        assert (await taro.press(f"{PAGE}/{path}", **form)).status == 400
    assert (await taro.press(f"{PAGE}/agent", agent="nobody")).status == 400
    assert [await count(site, key) for key in (KEY, poet)] == [1, 1]
    await taro.follow(await taro.press(f"{PAGE}/clear", agent="poet"))
    assert [await count(site, key) for key in (KEY, poet)] == [1, 0]
