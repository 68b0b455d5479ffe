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
from tests.web.test_memories import alert, said


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
    packed: list[str] = re.findall(r'name="planned" value="([^"]+)"', page)
    assert len(packed) == 1
    return packed[0]


class TestAnImport:
    async def test_is_shown_before_anything_is_kept(self, site: Site, taro: Visit) -> None:
        await site.core.stores.memories.add(TARO, "猫を飼っている")
        lines = "- 猫を飼っている\n- 京都に住んでいる\n- <b>犬</b>がいる\n- パスワードは hunter2secret!A\n"
        status, page = await upload(taro, lines.encode("shift_jis"), "anywhere")
        assert status == 200
        for words in ("新しく覚える: 2件", "もうあるもの: 1件", "取り込めないもの: 1件", "京都に住んでいる"):
            assert words in page
        assert "&lt;b&gt;犬&lt;/b&gt;がいる" in page
        assert len(await site.core.stores.memories.list(TARO)) == 1
        assert await take(taro, planned_in(page)) == (303, "2件を取り込みました。")
        kept = await site.core.stores.memories.list(TARO)
        assert [each.content for each in kept] == [
            "<b>犬</b>がいる",
            "京都に住んでいる",
            "猫を飼っている",
        ]
        assert {(each.audience, each.source.kind) for each in kept[:2]} == {("anywhere", "import")}
        assert await take(taro, planned_in(page)) == (303, "0件を取り込みました。")

    @pytest.mark.slow
    async def test_of_many_arrives_whole(self, site: Site, taro: Visit) -> None:
        notes = [
            f"{n}番目の長いメモです。京都の庭と寺について、思い出したことを書いておく。" * 3
            for n in range(2000)
        ]
        data = "\n".join(notes).encode()
        assert 600_000 < len(data) < 990_000
        status, page = await upload(taro, data)
        assert status == 200
        assert "はじめの50件" in page
        assert (await take(taro, planned_in(page)))[1] == "2,000件を取り込みました。"

    @pytest.mark.slow
    async def test_of_nearly_1_mb_arrives_whole_whatever_it_says(self, site: Site, taro: Visit) -> None:
        letters = [chr(code) for code in range(0x4E00, 0x9000)]
        random = Random(17)
        notes = ["".join(random.choices(letters, k=640)) for _ in range(515)]
        data = "\n".join(notes).encode()
        assert 980_000 < len(data) < 995_000
        status, page = await upload(taro, data)
        assert status == 200
        assert await take(taro, planned_in(page)) == (303, "515件を取り込みました。")

    @pytest.mark.slow
    async def test_that_would_not_come_back_is_told_to_be_split(self, site: Site, taro: Visit) -> None:
        data = b64encode(Random(17).randbytes(735_000))
        lines = b"\n".join(data[at : at + 3000] for at in range(0, len(data), 3000))
        assert len(lines) < 990_000
        status, page = await upload(taro, lines)
        assert status == 413
        assert "500 KB" in alert(page)

    @pytest.mark.parametrize("data", [b"", b"{", b'{"memories": 1}', b"\x00\x01\x02\xff\xfe"])
    async def test_of_what_is_none_is_told(self, site: Site, taro: Visit, data: bytes) -> None:
        status, page = await upload(taro, data)
        assert status == 400
        assert 'role="alert"' in page
        assert not await site.core.stores.memories.list(TARO)

    async def test_needs_a_file(self, taro: Visit) -> None:
        answer = await taro.press("/memories/import", audience="private")
        assert answer.status == 400
        assert "ファイルを選んでください" in await answer.text()

    @pytest.mark.parametrize("audience", ["", "zzz", "everybody"])
    async def test_decides_for_nobody_who_may_see_it(self, taro: Visit, audience: str) -> None:
        status, page = await upload(taro, "猫".encode(), audience)
        assert status == 400
        assert "入力を確かめて" in alert(page)

    async def test_that_is_too_large_is_refused(self, taro: Visit) -> None:
        status, page = await upload(taro, b"x" * 1_100_000)
        assert status == 413
        assert "1 MB" in page

    async def test_of_too_many_is_told(self, taro: Visit) -> None:
        status, page = await upload(taro, json.dumps(["a"] * 5001).encode())
        assert (status, "5000" in page) == (400, True)

    async def test_is_off_while_paused(self, site: Site, taro: Visit) -> None:
        _, page = await upload(taro, "猫".encode())
        await taro.press("/memories/pause")
        status, refused = await upload(taro, "犬".encode())
        assert (status, "一時停止中です" in alert(refused)) == (400, True)
        status, sentence = await take(taro, planned_in(page))
        assert (status, "一時停止中です" in sentence) == (400, True)
        assert not await site.core.stores.memories.list(TARO)

    async def test_trusts_nothing_that_a_browser_sends_back(self, site: Site, taro: Visit) -> None:
        for planned in ("", "x", "eJw=", "AAAA", "あ"):
            assert (await take(taro, planned))[0] == 400
        assert (await taro.press("/memories/import/take")).status == 400
        assert not await site.core.stores.memories.list(TARO)

    async def test_is_counted_as_on_discord(self, site: Site, taro: Visit) -> None:
        for _ in range(20):
            await site.core.stores.memory_transfer.admit(TARO)
        status, page = await upload(taro, "猫".encode())
        assert (status, "取り込みが続いています" in page, "<t:" in page) == (429, True, False)


class TestAnExport:
    async def test_is_one_file_that_can_be_imported_again(self, site: Site, taro: Visit) -> None:
        notes = [PortableMemory(f"メモ {n}", tags=("猫",), pinned=n < 3) for n in range(1203)]
        await site.core.stores.memory_transfer.take(TARO, notes)
        await site.core.stores.memories.add(HANA, "花の秘密")
        async with taro.client.get("/memories/export") as answer:
            text = await answer.text()
            said = answer.headers["Content-Disposition"]
        assert read_memories(text) == await site.core.stores.memory_transfer.list_all(TARO)
        [name] = re.findall(r"filename\*=UTF-8''(.+)$", said)
        assert re.fullmatch(r"メモリ-\d{4}-\d{2}-\d{2}\.json", unquote(name))
        assert said.isascii()
        assert "花の秘密" not in text

    async def test_is_there_for_people_to_read(self, site: Site, taro: Visit) -> None:
        await site.core.stores.memories.add(TARO, "猫が好き", category="家族")
        async with taro.client.get("/memories/export?format=markdown") as answer:
            assert "## 家族" in await answer.text()
            assert answer.headers["Content-Type"].startswith("text/markdown")

    async def test_of_nothing_is_no_file(self, taro: Visit) -> None:
        async with taro.client.get("/memories/export", allow_redirects=False) as answer:
            where = answer.headers["Location"]
        assert "まだありません" in said(await taro.open(where))
