"""One's memories in a browser, over a socket."""

import asyncio
import json
import re
from base64 import b64encode
from html import unescape
from io import BytesIO
from random import Random
from typing import Final
from urllib.parse import unquote

import aiohttp
import pytest

from cc_bot.domain.text import Locale, remove_leading_emoji
from cc_bot.features.memory.errors import EmptyImport
from cc_bot.features.memory.files import PortableMemory, parse_memories
from cc_bot.features.memory.model import Memory, MemoryFilter, Source
from cc_bot.features.memory.service import form_hash
from cc_bot.features.memory.texts import MemoryCardTexts, MemoryTexts, WebMemoryTexts
from cc_bot.features.privacy.texts import ErasureTexts
from cc_bot.texts import explain, texts
from tests.web.pages import HANA, TARO, Site, Visit
from tests.web.stored import KEY, keep, talk

CARD: Final = texts(Locale.JA)[MemoryCardTexts]
PAGE: Final = texts(Locale.JA)[WebMemoryTexts]
NEW: Final = {"content": "猫", "category": "", "tags": "", "end": "", "audience": "private"}
"""The form of a new memory, as a browser sends it."""


def listed(page: str) -> list[str]:
    """The memories of a page, as its list has them."""
    return re.findall(r'<a class="note"[^>]*>(?:.*</span> )?([^<]*)</a>', re.sub("</?mark>", "", page))


async def edit(visit: Visit, memory: Memory, **form: str) -> aiohttp.ClientResponse:
    """Send the form of a memory's page."""
    filled = {"content": memory.content, "audience": memory.audience, "mark": form_hash(memory)}
    return await visit.press(f"/memories/{memory.number}", **NEW | filled | form)


def said(page: str) -> str:
    """The sentence at the top of a page: what a press has done."""
    [sentence] = re.findall(r'<p id="said"[^>]*>([^<]*)</p>', page)
    return str(sentence)


def alert(page: str) -> str:
    [sentence] = re.findall(r'role="alert"[^>]*>([^<]*)</p>', page)
    return str(sentence)


async def said_after(visit: Visit, answer: aiohttp.ClientResponse) -> str:
    """The sentence of the page that a press leads to."""
    return said(await visit.follow(answer))


async def contents(site: Site, user_id: int = TARO) -> list[str]:
    return [each.content for each in await site.core.stores.memories.list(user_id, limit=99)]


async def fill(site: Site, *notes: str) -> None:
    await site.core.stores.memories.import_all(TARO, [PortableMemory(each) for each in notes])


class TestTheList:
    async def test_has_ones_own_the_newest_first_page_by_page(self, site: Site, taro: Visit) -> None:
        page = await taro.open("/memories")
        assert ("メモリはまだありません" in page, "/memories/export" in page) == (True, False)
        await keep(site, "花の秘密", HANA)
        await fill(site, *(f"<b>{n:02}" for n in range(31)))
        notes, first = [f"&lt;b&gt;{n:02}" for n in range(31)], await taro.open("/memories")
        assert listed(first) == notes[:0:-1]
        assert 'href="/memories?page=2"' in first
        assert listed(await taro.open("/memories?page=2")) == notes[:1]
        assert listed(await taro.open("/memories?order=oldest&page=2")) == notes[30:]
        assert listed(await taro.open("/memories?page=3")) == notes[:1]
        for page in ("0x", "9" * 20):
            await taro.open(f"/memories?page={page}", status=404)
        async with site.visit(HANA, **{"Accept-Language": "en"}) as hana:
            page = await hana.open("/memories")
        assert (listed(page), "Search" in page) == (["花の秘密"], True)

    async def test_is_searched_as_the_command_does_and_narrowed_down(self, site: Site, taro: Visit) -> None:
        await keep(site, "ねこ 一", category="家族", tags=("ペット",))
        await keep(site, "ねこ 二", audience="private", category="一般")
        await keep(site, "ねこ 三", source=Source("command"))
        await keep(site, "ねこ 花", HANA)
        found = await site.core.stores.memories.find(TARO, "ねこ", audience="private")
        assert listed(await taro.open("/memories?q=ねこ")) == [each.memory.content for each in found]
        chips = re.findall(r'name="category" value="(.+?)"', await taro.open("/memories"))
        assert chips == ["general", "家族"]
        assert "条件に合うメモリはありません" in await taro.open("/memories?q=xyzzy")
        for asked, expected in (
            *(
                ("category=家族", "一"),
                ("tag=ペット", "一"),
                ("audience=private", "二"),
                ("origin=command", "三"),
            ),
            *(
                ("audience=anywhere", "一三"),
                ("origin=none", "一二"),
                ("origin=x&audience=x&order=y", "一二三"),
            ),
        ):
            for query in ("", "q=ねこ&"):
                shown = {*listed(await taro.open(f"/memories?{query}{asked}"))}
                assert shown == {f"ねこ {each}" for each in expected}, asked


class TestAdding:
    async def test_keeps_what_was_filled_in(self, site: Site, taro: Visit) -> None:
        form = {"content": "歯医者は木曜", "category": "一般", "tags": "#歯, 予定", "end": "2099-12-31"}
        answer = await taro.press("/memories", **form, audience="anywhere")
        [kept] = await site.core.stores.memories.list(TARO)
        assert (kept.content, kept.category, kept.tags) == ("歯医者は木曜", "general", ("歯", "予定"))
        assert (kept.audience, kept.source.kind) == ("anywhere", "command")
        assert "歯医者は木曜" in await said_after(taro, answer)
        assert "2099年12月31日 まで" in await taro.open("/memories")
        assert 'value="2099-12-31"' in await taro.open("/memories/1")

    async def test_tells_why_not_and_gives_the_text_back(self, site: Site, taro: Visit) -> None:
        refused: dict[str, dict[str, str]] = {
            "4000文字まで": {"content": "あ" * 4001},
            "パスワード": {"content": "パスワードは hunter2secret!A です"},
            "期限": {"content": "x", "end": "いつか"},
            "カテゴリは50文字まで": {"category": "あ" * 51},
        }
        for sentence, form in refused.items():
            answer = await taro.press("/memories", **NEW | form)
            text = await answer.text()
            assert (answer.status, sentence in alert(text)) == (400, True), sentence
            for entered in form.values():
                assert f"\n{entered}</textarea>" in text or f'value="{entered}"' in text
        for name in NEW:
            form = {**NEW}
            del form[name]
            assert (await taro.press("/memories", **form)).status == 400, name
        await taro.press("/memories/pause")
        assert "一時停止中です" in alert(await (await taro.press("/memories", **NEW)).text())
        assert await contents(site) == []
        await taro.press("/memories/resume")
        assert (await taro.press("/memories", **NEW)).status == 303


class TestOne:
    async def test_shows_all_that_is_known_of_it(self, site: Site, taro: Visit) -> None:
        source = Source("message", "https://discord.com/channels/1/2/3", author="花")
        memory = await keep(site, "二行の\n<メモ>", category="家族", tags=("猫",), source=source)
        await site.core.stores.memories.update(TARO, memory.id, content="新しい <内容>")
        page = await taro.open(f"/memories/{memory.number}")
        for words in ("\n新しい &lt;内容&gt;</textarea>", "二行の\n&lt;メモ&gt;", "家族", "猫", source.link):
            assert words in page
        assert "花 さんのメッセージから" in page

    async def test_that_there_is_not_or_is_anothers_is_nowhere(self, site: Site, taro: Visit) -> None:
        gone = await keep(site, "一")
        await site.core.stores.memory_removal.erase(TARO, gone.id)
        for _ in range(3):
            await keep(site, "花の秘密", HANA)
        form = {"mark": "x", "version": "1", **NEW}
        for number in ("1", "0", "-1", "2", "99999999999999999999", "x", "１", "1.0"):
            assert "花の秘密" not in await taro.open(f"/memories/{number}", status=404)
            for action in ("", "/undo-edit", "/restore", "/delete", "/undelete", "/pin", "/unpin"):
                answer = await taro.press(f"/memories/{number}{action}", **form)
                assert answer.status == 404, (number, action)
        answer = await taro.press("/memories/1/undo-edit", version="1")
        assert alert(await answer.text())
        assert '<a class="button" href="/memories">' in await answer.text()
        assert len(await contents(site, HANA)) == 3

    async def test_is_edited_deleted_and_had_back(self, site: Site, taro: Visit) -> None:
        memory = await keep(site, "犬を飼っている", category="家族", tags=("赤い 犬",))
        form = {"content": "猫を飼っている", "category": "家族", "tags": "赤い 犬", "end": "2099-12-31"}
        page = await taro.follow(await edit(taro, memory, **form))
        after = await site.core.stores.memories.get(TARO, memory.id)
        assert after
        assert (after.content, after.category, after.tags) == ("猫を飼っている", "家族", ("赤い 犬",))
        assert after.expires_at
        assert site.town.told_anew == [TARO]
        assert said(page) == remove_leading_emoji(CARD.edited.format(id=1))
        assert "犬を飼っている" in page
        assert CARD.unchanged.format(id=1) == await said_after(taro, await edit(taro, after, **form))
        answer = await taro.press("/memories/1/delete")
        assert answer.headers["Location"] == "/memories/1"
        assert "このメモリは削除しました" in await taro.open("/memories/1")
        assert (await taro.press("/memories/1/delete")).status == 303
        assert not listed(await taro.open("/memories"))
        assert (await edit(taro, after)).status == 404
        assert after.content in await said_after(taro, await taro.press("/memories/1/undelete"))
        assert await site.core.stores.memories.get(TARO, memory.id)

    async def test_is_pinned_and_deleted_in_the_list(self, site: Site, taro: Visit) -> None:
        await fill(site, *"一二三")
        back = "category=general"
        answer = await taro.press("/memories/1/pin", back=back)
        assert answer.headers["Location"] == "/memories?category=general"
        assert listed(await taro.follow(answer)) == ["一", "三", "二"]
        page = await taro.follow(await taro.press("/memories/2/delete", back=""))
        assert listed(page) == ["一", "三"]
        [undo] = re.findall(r'action="(/memories/2/undelete[^"]*)"', page)
        assert listed(await taro.follow(await taro.press(unescape(undo)))) == ["一", "三", "二"]

    async def test_that_changed_meanwhile_shows_both_and_keeps_neither(self, site: Site, taro: Visit) -> None:
        memory = await keep(site, "犬")
        answers = await asyncio.gather(*(edit(taro, memory, content=text) for text in ("猫", "鳥")))
        assert sorted(each.status for each in answers) == [303, 409]
        [kept] = await contents(site)
        answer = await edit(taro, memory, content="魚")
        text = await answer.text()
        assert answer.status == 409
        assert f"{kept}</p>" in text
        assert "\n魚</textarea>" in text
        assert await contents(site) == [kept]
        [mark] = re.findall(r'name="mark" value="(\w+)"', text)
        assert (await edit(taro, memory, content="魚と猫", mark=mark)).status == 303

    async def test_goes_back_to_its_own_versions_alone(self, site: Site, taro: Visit) -> None:
        memory = await keep(site, "一")
        await site.core.stores.memories.update(TARO, memory.id, content="二")
        [former] = await site.core.stores.memories.list_versions(TARO, memory.id)
        answer = await taro.press("/memories/1/restore", version=str(former.id))
        assert await said_after(taro, answer) == remove_leading_emoji(CARD.restored.format(id=1))
        assert await contents(site) == ["一"]
        answer = await taro.press("/memories/1/undo-edit", version=str(former.id))
        assert CARD.edit_not_undone == await said_after(taro, answer), "that is not its last change"
        answer = await taro.press("/memories/1/undo-edit", version=str(former.id + 1))
        assert await said_after(taro, answer) == remove_leading_emoji(CARD.edit_undone.format(id=1))
        assert await contents(site) == ["二"]
        hers = await keep(site, "花の一", HANA)
        await site.core.stores.memories.update(HANA, hers.id, content="花の二")
        [former] = await site.core.stores.memories.list_versions(HANA, hers.id)
        answer = await taro.press("/memories/1/restore", version=str(former.id))
        assert CARD.former_gone == await said_after(taro, answer)
        assert (await taro.press("/memories/1/restore", version="x")).status == 400


class TestErasing:
    async def test_tells_what_it_covers_and_takes_what_was_said(self, site: Site, taro: Visit) -> None:
        await keep(site, "合言葉は山と川、返事は海")
        await talk(site, ("合言葉は山と川、返事は海", "わかりました"))
        page = await taro.open("/memories/erase?n=1")
        assert "合言葉は山と川、返事は海" in page
        assert await contents(site) == ["合言葉は山と川、返事は海"]
        deleted = await taro.follow(await taro.press("/memories/1/delete"))
        assert texts(Locale.JA)[MemoryTexts].conversations_remain in deleted
        answer = await taro.press("/memories/erase", n="1", scope="said")
        assert (answer.status, "完全に消しました" in await answer.text()) == (200, True)
        assert site.town.told_anew == [TARO] * 2
        await taro.open("/memories/1", status=404)
        history = (await site.core.stores.sessions.open(KEY)).history
        assert texts(Locale.JA)[ErasureTexts].mark in {each.content for each in history}

    async def test_of_several_or_all_leaves_all_that_is_not_chosen(self, site: Site, taro: Visit) -> None:
        await fill(site, "合言葉は山と川、返事は海", "二", "三")
        await talk(site, ("合言葉は山と川、返事は海", "わかりました"))
        for _ in range(4):
            await keep(site, "花", HANA)
        for form, status in (
            *(({"n": "1"}, 400), ({"n": "1", "scope": "world"}, 400), ({"n": "x", "scope": "alone"}, 400)),
            *(({"n": "4", "scope": "alone"}, 404), ({"scope": "alone"}, 404)),
        ):
            assert (await taro.press("/memories/erase", **form)).status == status, form
        await taro.open("/memories/erase?n=4", status=404)
        answer = await taro.send("/memories/erase", [("n", "1"), ("n", "3"), ("n", "9"), ("scope", "alone")])
        text = await answer.text()
        for words in ("メモリ 2件", "#9"):
            assert words in text
        assert await contents(site) == ["二"]
        await keep(site, "四")
        answer = await taro.press("/memories/erase-all", count="1", scope="alone")
        assert "まだ何も消していません" in await said_after(taro, answer)
        assert (await taro.press("/memories/erase-all", count="2", scope="alone")).status == 200
        assert [len(await contents(site, who)) for who in (TARO, HANA)] == [0, 4]


async def press_several(visit: Visit, numbers: list[int], **form: str) -> aiohttp.ClientResponse:
    data = [*(("n", str(number)) for number in numbers), *form.items()]
    return await visit.send("/memories/several", data)


class TestSeveral:
    async def test_are_deleted_had_back_filed_and_answered_for(self, site: Site, taro: Visit) -> None:
        await fill(site, *"一二三")
        await keep(site, "花", HANA)
        page = await taro.follow(await press_several(taro, [1, 2, 4], action="delete", back="evil=1"))
        assert said(page).split("\n") == [
            PAGE.several_done["delete"].format(count=2),
            PAGE.not_done.format(count=1, why=PAGE.state_gone),
        ]
        assert "evil" not in page
        assert await contents(site) == ["三"]
        assert site.town.told_anew == [TARO]
        [undo] = re.findall(r'action="(/memories/several[^"]+)"', page)
        page = await taro.follow(await taro.press(unescape(undo)))
        assert said(page) == PAGE.several_done["undelete"].format(count=2)
        assert len(await contents(site)) == 3
        refused = await press_several(taro, [1, 2], action="category", category=" ")
        assert (refused.status, bool(alert(await refused.text()))) == (400, True)
        await taro.follow(await press_several(taro, [1, 2], action="category", category="家族"))
        assert len(await site.core.stores.memories.list(TARO, filters=MemoryFilter(category="家族"))) == 2
        assert "何も選ばれていません" in said(
            await taro.follow(await press_several(taro, [], action="delete"))
        )
        for form in ({"n": "1", "action": "steal"}, {"n": "1"}, {"n": "x", "action": "delete"}):
            assert (await taro.press("/memories/several", **form)).status == 400, form
        assert (await press_several(taro, [*range(1, 250)], action="delete")).status == 400
        assert len(await contents(site)) == 3


class TestWhatIsTold:
    async def test_can_not_be_claimed_by_a_link_or_told_twice(self, site: Site, taro: Visit) -> None:
        await keep(site, "一")
        for path in ("/settings", "/reminders", "/conversations", "/privacy/erase"):
            assert said(await taro.open(f"{path}?done=settings_saved")) == ""
        for path in ("/memories", "/memories/1", "/memories/import"):
            for claim in ("done=memories_none", "done=memories_paused", "imported=5", "done=x&done_of=5"):
                assert said(await taro.open(f"{path}?{claim}")) == ""
        answer = await taro.press("/memories/1/pin")
        async with site.visit(TARO) as other, site.visit(HANA) as hana:
            assert await said_after(other, answer) == ""
            await hana.open(answer.headers["Location"], status=404)
        assert remove_leading_emoji(CARD.pinned.format(id=1)) in await said_after(taro, answer)
        assert await said_after(taro, answer) == ""


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
        left_out = (PAGE.left_out["duplicate"], PAGE.left_out["secret"])
        for words in ("新しく覚える: 2件", *left_out, "&lt;b&gt;犬&lt;/b&gt;"):
            assert words in page
        assert "hunter2secret" not in page
        assert len(await contents(site)) == 1
        assert await take(taro, planned_in(page)) == (303, "2件を取り込みました。")
        kept = await site.core.stores.memories.list(TARO)
        assert [each.content for each in kept] == ["<b>犬</b>がいる", "京都に住んでいる", "猫を飼っている"]
        assert {(each.audience, each.source.kind) for each in kept[:2]} == {("anywhere", "import")}
        assert await take(taro, planned_in(page)) == (303, "0件を取り込みました。")

    async def test_can_be_undone(self, site: Site, taro: Visit) -> None:
        await keep(site, "猫")
        _, page = await upload(taro, "猫\n犬\n鳥".encode())
        page = await taro.follow(await taro.press("/memories/import/take", planned=planned_in(page)))
        assert listed(page) == ["鳥", "犬"]
        [undo] = re.findall(r'action="(/undo/[\w-]+)"', page)
        await taro.press(undo)
        assert await contents(site) == ["猫"]

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
        assert alert((await upload(taro, b" \n"))[1]) == explain(EmptyImport(), texts(Locale.JA))
        assert (await upload(taro, "猫".encode(), "everybody"))[0] == 400
        answer = await taro.press("/memories/import", audience="private")
        assert (answer.status, bool(alert(await answer.text()))) == (400, True)
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
            await site.core.stores.memories.admit_import(TARO)
        status, page = await upload(taro, "猫".encode())
        assert (status, "取り込みが続いています" in page, "<t:" in page) == (429, True, False)
        assert await contents(site) == []


async def test_an_export_is_one_file_that_can_be_imported_again(site: Site, taro: Visit) -> None:
    async with taro.client.get("/memories/export", allow_redirects=False) as answer:
        assert "まだありません" in said(await taro.open(answer.headers["Location"]))
    notes = [PortableMemory(f"メモ {n}", tags=("猫",), pinned=n < 3) for n in range(1203)]
    await site.core.stores.memories.import_all(TARO, notes)
    await keep(site, "花の秘密", HANA)
    async with taro.client.get("/memories/export") as answer:
        text, disposition = await answer.text(), answer.headers["Content-Disposition"]
    assert parse_memories(text) == await site.core.stores.memories.export_all(TARO)
    assert "花の秘密" not in text
    [name] = re.findall(r"filename\*=UTF-8''(.+)$", disposition)
    assert re.fullmatch(r"メモリ-\d{4}-\d{2}-\d{2}\.json", unquote(name))
    assert disposition.isascii()
