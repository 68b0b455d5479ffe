"""Memories as files in a browser: looked at before they are kept, and downloaded whole."""

import json
import re
from base64 import b64encode
from io import BytesIO
from random import Random
from urllib.parse import unquote

import aiohttp
import pytest

from cc_bot.domain.memory_transfer import PortableMemory, read_memories
from tests.web.pages import HANA, TARO, Site, Visit
from tests.web.stored import keep
from tests.web.test_memories import alert, contents, said


async def upload(visit: Visit, data: bytes, audience: str = "private") -> tuple[int, str]:
    form = aiohttp.FormData()
    form.add_field("file", BytesIO(data), filename="メモリ.json", content_type="application/json")
    form.add_field("audience", audience)
    async with visit.client.post("/memories/import", data=form, headers=visit.own_headers()) as answer:
        return answer.status, await answer.text()


async def take(visit: Visit, planned: str) -> tuple[int, str]:
    form = aiohttp.FormData()
    form.add_field("planned", planned, content_type="text/plain")
    async with visit.client.post(
        "/memories/import/take", data=form, headers=visit.own_headers(), allow_redirects=False
    ) as answer:
        if answer.status != 303:
            return answer.status, alert(await answer.text())
        return answer.status, said(await visit.open(answer.headers["Location"]))


def planned_in(page: str) -> str:
    [packed] = re.findall(r'name="planned" value="([^"]+)"', page)
    return str(packed)


class TestAnImport:
    async def test_is_shown_before_anything_is_kept(self, site: Site, taro: Visit) -> None:
        await keep(site, "猫を飼っている")
        lines = "- 猫を飼っている\n- 京都に住んでいる\n- <b>犬</b>がいる\n- パスワードは hunter2secret!A\n"
        status, page = await upload(taro, lines.encode("shift_jis"), "anywhere")
        assert status == 200
        for words in (
            "新しく覚える: 2件",
            "もうあるもの: 1件",
            "取り込めないもの: 1件",
            "&lt;b&gt;犬&lt;/b&gt;",
        ):
            assert words in page
        assert len(await contents(site)) == 1
        assert await take(taro, planned_in(page)) == (303, "2件を取り込みました。")
        kept = await site.core.stores.memories.list(TARO)
        assert [each.content for each in kept] == ["<b>犬</b>がいる", "京都に住んでいる", "猫を飼っている"]
        assert {(each.audience, each.source.kind) for each in kept[:2]} == {("anywhere", "import")}
        assert await take(taro, planned_in(page)) == (303, "0件を取り込みました。")

    @pytest.mark.slow
    async def test_of_nearly_1_mb_arrives_whole_or_is_to_be_split(self, taro: Visit) -> None:
        random, letters = Random(17), [chr(code) for code in range(0x4E00, 0x9000)]
        data = "\n".join("".join(random.choices(letters, k=640)) for _ in range(515)).encode()
        assert 600_000 < len(data) < 995_000
        status, page = await upload(taro, data)
        assert (status, "はじめの50件" in page) == (200, True)
        assert (await take(taro, planned_in(page)))[1] == "515件を取り込みました。"
        data = b64encode(Random(17).randbytes(735_000))
        lines = b"\n".join(data[at : at + 3000] for at in range(0, len(data), 3000))
        assert len(lines) < 990_000
        status, page = await upload(taro, lines)
        assert (status, "500 KB" in alert(page)) == (413, True)

    async def test_that_can_not_be_read_is_told_why(self, site: Site, taro: Visit) -> None:
        for data in (b"", b'{"memories": 1}', b"\x00\x01\x02\xff\xfe", json.dumps(["a"] * 5001).encode()):
            status, page = await upload(taro, data)
            assert (status, bool(alert(page))) == (400, True), data[:20]
        assert "5000" in page
        assert (await upload(taro, "猫".encode(), "everybody"))[0] == 400
        answer = await taro.press("/memories/import", audience="private")
        assert (answer.status, "ファイルを選んでください" in await answer.text()) == (400, True)
        status, page = await upload(taro, b"x" * 1_100_000)
        assert (status, "1 MB" in page) == (413, True)
        for planned in ("", "x", "eJw=", "AAAA", "あ"):
            assert (await take(taro, planned))[0] == 400, "a browser sends back anything"
        assert await contents(site) == []

    async def test_is_off_while_paused_and_counted_as_on_discord(self, site: Site, taro: Visit) -> None:
        _, page = await upload(taro, "猫".encode())
        await taro.press("/memories/pause")
        status, refused = await upload(taro, "犬".encode())
        assert (status, "一時停止中です" in alert(refused)) == (400, True)
        assert (await take(taro, planned_in(page)))[0] == 400
        await taro.press("/memories/resume")
        for _ in range(19):
            await site.core.stores.memory_transfer.admit(TARO)
        status, page = await upload(taro, "猫".encode())
        assert (status, "取り込みが続いています" in page, "<t:" in page) == (429, True, False)
        assert await contents(site) == []


async def test_an_export_is_one_file_that_can_be_imported_again(site: Site, taro: Visit) -> None:
    async with taro.client.get("/memories/export", allow_redirects=False) as answer:
        assert "まだありません" in said(await taro.open(answer.headers["Location"]))
    notes = [PortableMemory(f"メモ {n}", tags=("猫",), pinned=n < 3) for n in range(1203)]
    await site.core.stores.memory_transfer.take(TARO, notes)
    await keep(site, "花の秘密", HANA)
    async with taro.client.get("/memories/export") as answer:
        text, disposition = await answer.text(), answer.headers["Content-Disposition"]
    assert read_memories(text) == await site.core.stores.memory_transfer.list_all(TARO)
    assert "花の秘密" not in text
    [name] = re.findall(r"filename\*=UTF-8''(.+)$", disposition)
    assert re.fullmatch(r"メモリ-\d{4}-\d{2}-\d{2}\.json", unquote(name))
    assert disposition.isascii()
