"""The canvas page and its socket, over a real server."""

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from typing import Any

import aiohttp
import pytest

from cc_bot.domain import SessionKey
from cc_bot.domain.canvas import (
    AddCard,
    AddChart,
    Drawn,
    RemoveElement,
    Series,
    SetMode,
    ShowText,
    UpdateCard,
)
from cc_bot.domain.locale import Locale
from cc_bot.domain.message import Visibility
from cc_bot.texts import texts
from cc_bot.web.canvas_feed import MAX_OPEN_PAGES, TOO_MANY_OPEN
from tests.web.pages import CHANNEL, HANA, TARO, Site, Visit

KEY = SessionKey(TARO, CHANNEL)
CARD = AddCard("買い物", "- 牛乳\n- <b>卵</b>", "shopping")
CHART = AddChart("売上", "bar", ("1月", "2月"), (Series("本店", (3.0, 5.0)),), "sales")


async def draw(site: Site, *commands: Any, visibility: Visibility = "public", key: SessionKey = KEY) -> None:
    await site.core.stores.sessions.open(key)
    await site.core.stores.canvases.draw(key, [Drawn(each, visibility) for each in commands])


@asynccontextmanager
async def socket_of(visit: Visit, channel: int = CHANNEL) -> AsyncIterator["Socket"]:
    async with visit.client.ws_connect(
        f"/canvas/{channel}/socket", headers={"Origin": visit.url}
    ) as connection:
        yield Socket(connection)


class Socket:
    def __init__(self, connection: aiohttp.ClientWebSocketResponse) -> None:
        self.connection = connection

    async def read(self) -> dict[str, Any]:
        async with asyncio.timeout(60):
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


class TestASocket:
    async def test_begins_with_all_of_the_canvas(self, site: Site, taro: Visit) -> None:
        await draw(site, CARD, CHART, SetMode("board"))
        async with socket_of(taro) as socket:
            message = await socket.read()
        assert message["from"] is None
        clear, mode, card, chart, shown = message["commands"]
        assert clear == {"command": "canvas_set_mode", "mode": "clear"}
        assert mode == {"command": "canvas_set_mode", "mode": "board"}
        assert card["command"] == "canvas_add_card"
        assert (card["id"], card["title"], card["visibility"]) == ("shopping", "買い物", "public")
        assert "&lt;b&gt;卵&lt;/b&gt;" in card["html"]
        assert chart["command"] == "canvas_add_chart"
        assert "<svg" in chart["html"]
        assert "5" in chart["html"]
        seen = await site.core.stores.canvases.get(KEY)
        assert seen is not None
        assert shown == {"command": "canvas_shown", "revision": seen.revision}

    async def test_begins_with_nothing_where_nothing_is_up(self, taro: Visit) -> None:
        async with socket_of(taro) as socket:
            assert await socket.names() == ["canvas_set_mode", "canvas_set_mode", "canvas_shown"]

    async def test_goes_on_with_what_changes(self, site: Site, taro: Visit) -> None:
        await draw(site, CARD)
        async with socket_of(taro) as socket:
            known = (await socket.read())["commands"][-1]["revision"]
            await draw(site, UpdateCard("shopping", content="- 豆腐"))
            message = await socket.read()
            assert message["from"] == known
            assert [each["command"] for each in message["commands"]] == ["canvas_update_card", "canvas_shown"]
            await draw(site, RemoveElement("shopping"), ShowText("メモ", id="note"))
            assert await socket.names() == ["canvas_remove_element", "canvas_show_text", "canvas_shown"]
            await site.core.stores.canvases.clear(KEY)
            assert await socket.names() == ["canvas_remove_element", "canvas_shown"]

    async def test_shows_what_is_private_to_its_user_with_a_mark(self, site: Site, taro: Visit) -> None:
        await draw(site, CARD, visibility="private")
        async with socket_of(taro) as socket:
            assert (await socket.read())["commands"][2]["visibility"] == "private"
        assert "自分だけに見えます" in await taro.open(f"/canvas/{CHANNEL}")

    async def test_sends_all_again_when_asked(self, site: Site, taro: Visit) -> None:
        await draw(site, CARD)
        async with socket_of(taro) as socket:
            first = await socket.read()
            await socket.connection.send_json({"command": "canvas_resend"})
            assert await socket.read() == first

    @pytest.mark.parametrize(
        ("sent", "code"),
        [
            ('{"command": "canvas_add_card"}', 1003),
            ("[]", 1003),
            ("{", 1003),
            ("[" * 4000, 1003),
            (b'{"command": "canvas_resend"}', 1003),
            ("x" * 5000, 1009),
            ("あ" * 1500, 1009),
        ],
    )
    async def test_is_closed_with_a_reason_for_what_nobody_understands(
        self, taro: Visit, sent: str | bytes, code: int
    ) -> None:
        reasons = {1003: "わからない内容が届きました。", 1009: "送られた内容が長すぎます。"}
        async with socket_of(taro) as socket:
            await socket.read()
            await socket.connection.send_frame(
                sent.encode() if isinstance(sent, str) else sent,
                aiohttp.WSMsgType.TEXT if isinstance(sent, str) else aiohttp.WSMsgType.BINARY,
            )
            assert await socket.closed() == (code, reasons[code])

    async def test_is_closed_for_whoever_asks_all_the_time(self, taro: Visit) -> None:
        async with socket_of(taro) as socket:
            for _ in range(25):
                await socket.connection.send_json({"command": "canvas_resend"})
            assert (await socket.closed())[0] == 1008

    async def test_is_closed_for_one_more_than_a_user_may_have_open(self, site: Site, taro: Visit) -> None:
        async with AsyncExitStack() as stack, site.visit(HANA) as hana:
            another = await stack.enter_async_context(socket_of(hana))
            first, *others = [await stack.enter_async_context(socket_of(taro)) for _ in range(MAX_OPEN_PAGES)]
            for each in (another, first, *others):
                await each.read()
            await (await stack.enter_async_context(socket_of(taro))).read()
            assert await first.closed() == (TOO_MANY_OPEN, texts(Locale.JA).web.closed_too_many_open)
            await draw(site, CARD)
            assert (await others[0].names())[0] == "canvas_add_card"
            await draw(site, CARD, key=SessionKey(HANA, CHANNEL))
            assert (await another.names())[0] == "canvas_add_card"

    @pytest.mark.parametrize("origin", ["https://evil.example", "null", "", "http://127.0.0.1:1"])
    async def test_of_another_site_is_refused(self, taro: Visit, origin: str) -> None:
        with pytest.raises(aiohttp.WSServerHandshakeError) as refused:
            await taro.client.ws_connect(f"/canvas/{CHANNEL}/socket", headers={"Origin": origin})
        assert refused.value.status == 403

    async def test_is_closed_within_seconds_for_whoever_is_denied(self, site: Site, taro: Visit) -> None:
        async with socket_of(taro) as socket:
            await socket.read()
            site.town.denied.add(TARO)
            assert await socket.closed() == (4403, "いまは使えないため、表示を終えました。")

    async def test_is_closed_for_whoever_signs_out_elsewhere(self, site: Site, taro: Visit) -> None:
        async with socket_of(taro) as socket:
            await socket.read()
            await site.core.stores.web_sessions.end_all(TARO)
            assert await socket.closed() == (4401, "サインアウトしました。")

    async def test_is_closed_by_an_erasure_and_shows_nothing_more(self, site: Site, taro: Visit) -> None:
        await draw(site, CARD)
        async with socket_of(taro) as socket:
            await socket.read()
            await site.core.privacy.erase(TARO)
            assert (await socket.closed())[0] == 4401

    async def test_follows_the_agent_that_answers(self, site: Site, taro: Visit) -> None:
        await draw(site, CARD)
        other = SessionKey(TARO, CHANNEL, "writer")
        await draw(site, ShowText("下書き", id="draft"), key=other)
        async with socket_of(taro) as socket:
            assert (await socket.read())["agent"]["name"] == "default"
            await site.core.stores.agents.choose(TARO, CHANNEL, "writer")
            message = await socket.read()
            assert message["from"] is None
            assert message["agent"]["name"] == "writer"
            assert message["commands"][2]["id"] == "draft"

    async def test_of_many_pages_tells_all_of_them(self, site: Site, taro: Visit) -> None:
        await draw(site, CARD)
        async with socket_of(taro) as one, socket_of(taro) as other:
            await one.read()
            await other.read()
            await draw(site, ShowText("メモ", id="note"))
            assert await one.read() == await other.read()


class TestAnother:
    async def test_user_sees_nothing_of_it(self, site: Site, taro: Visit) -> None:
        await draw(site, CARD)
        async with site.visit(HANA) as hana:
            assert "買い物" not in await hana.open(f"/canvas/{CHANNEL}")
            async with socket_of(hana) as socket:
                await socket.read()
                await draw(site, ShowText("メモ", id="note"))
                await hana.press(f"/canvas/{CHANNEL}/clear", agent="default")
                await hana.press(f"/canvas/{CHANNEL}/remove", id="shopping", agent="default")
                with pytest.raises(TimeoutError):
                    async with asyncio.timeout(0.5):
                        await socket.connection.receive()
        seen = await site.core.stores.canvases.get(KEY)
        assert seen is not None
        assert len(seen.canvas.elements) == 2

    @pytest.mark.parametrize(
        "path", ["/canvas/5", "/canvas/x", "/canvas/-1", f"/canvas/{10**19}", "/canvas/五"]
    )
    async def test_channel_is_none(self, taro: Visit, path: str) -> None:
        await taro.open(path, status=404)
        await taro.open(f"{path}/socket", status=404)


class TestAPress:
    async def test_takes_one_element_down_and_discord_follows(self, site: Site, taro: Visit) -> None:
        await draw(site, CARD, CHART)
        answer = await taro.press(f"/canvas/{CHANNEL}/remove", id="shopping", agent="default")
        assert answer.status == 303
        assert "売上" in await taro.open(answer.headers["Location"])
        assert site.town.changed == [KEY]
        assert (await taro.press(f"/canvas/{CHANNEL}/remove", id="shopping", agent="default")).status == 404

    async def test_takes_everything_down(self, site: Site, taro: Visit) -> None:
        await draw(site, CARD, CHART)
        answer = await taro.press(f"/canvas/{CHANNEL}/clear", agent="default")
        text = await taro.open(answer.headers["Location"])
        assert "キャンバスを空にしました" in text
        assert "売上" not in text

    async def test_on_the_canvas_of_an_agent_that_no_longer_answers_takes_nothing_down(
        self, site: Site, taro: Visit
    ) -> None:
        other = SessionKey(TARO, CHANNEL, "poet")
        await draw(site, CARD)
        await draw(site, CARD, key=other)
        await site.core.stores.agents.choose(TARO, CHANNEL, "poet")
        for path, form in (("remove", {"id": "shopping"}), ("clear", {})):
            assert (await taro.press(f"/canvas/{CHANNEL}/{path}", **form, agent="default")).status == 409
            assert (await taro.press(f"/canvas/{CHANNEL}/{path}", **form)).status == 400
        for key in (KEY, other):
            seen = await site.core.stores.canvases.get(key)
            assert seen is not None
            assert len(seen.canvas.elements) == 1

    async def test_works_on_a_canvas_whose_conversation_has_expired(self, site: Site, taro: Visit) -> None:
        await draw(site, CARD, CHART)
        await site.core.stores.sessions.expire()
        assert (await taro.press(f"/canvas/{CHANNEL}/remove", id="shopping", agent="default")).status == 303

    async def test_for_an_agent_that_there_is_not_is_refused(self, taro: Visit) -> None:
        answer = await taro.press(f"/canvas/{CHANNEL}/agent", agent="nobody")
        assert answer.status == 400


class TestWithoutJavaScript:
    async def test_the_page_shows_all_of_it(self, site: Site, taro: Visit) -> None:
        await draw(site, CARD, CHART)
        text = await taro.open(f"/canvas/{CHANNEL}")
        assert "買い物" in text
        assert "<svg" in text
        assert "&lt;b&gt;卵" in text
        assert " style=" not in text
