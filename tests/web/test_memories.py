"""One's memories in a browser, over a socket."""

import asyncio
import re
from datetime import UTC, datetime, timedelta

import aiohttp
import pytest

from cc_bot.domain import Memory, Message, SessionKey
from cc_bot.domain.locale import Locale
from cc_bot.domain.memory import MAX_PINNED, Source
from cc_bot.domain.memory_transfer import PortableMemory
from cc_bot.memories import mark_of
from cc_bot.texts import texts
from tests.web.pages import CHANNEL, HANA, TARO, Site, Visit

KEY = SessionKey(TARO, CHANNEL)


async def keep(site: Site, content: str, user_id: int = TARO, **given: object) -> Memory:
    return await site.core.stores.memories.add(user_id, content, **given)  # type: ignore[arg-type]


def listed(page: str) -> list[str]:
    """The memories of a page, as its list has them."""
    return re.findall(r'<a class="note"[^>]*>([^<]*)</a>', page)


async def edit(visit: Visit, memory: Memory, **form: str) -> tuple[int, str, str]:
    """Send the form of a memory's page, and return the status, where it leads and the text."""
    filled = {
        "content": memory.content,
        "category": "",
        "tags": "",
        "end": "",
        "audience": memory.audience,
        "mark": mark_of(memory),
        **form,
    }
    async with visit.client.post(
        f"/memories/{memory.number}", data=filled, headers=visit.own_headers(), allow_redirects=False
    ) as answer:
        return answer.status, answer.headers.get("Location", ""), await answer.text()


NEW = {"content": "猫", "category": "", "tags": "", "end": "", "audience": "private"}
"""The form of a new memory, as a browser sends it."""


def said(page: str) -> str:
    """The sentence at the top of a page: what a press has done."""
    [sentence] = re.findall(r'<p id="said"[^>]*>([^<]*)</p>', page)
    return str(sentence)


def alert(page: str) -> str:
    [sentence] = re.findall(r'role="alert">([^<]*)</p>', page)
    return str(sentence)


async def said_after(visit: Visit, answer: aiohttp.ClientResponse) -> str:
    """The sentence of the page that a press leads to."""
    assert answer.status == 303, await answer.text()
    return said(await visit.open(answer.headers["Location"]))


class TestTheList:
    async def test_has_ones_own_the_newest_first(self, site: Site, taro: Visit) -> None:
        assert "メモリはまだありません" in await taro.open("/memories")
        await keep(site, "猫を飼っている")
        await keep(site, "Lives in Kyoto <b>now</b>")
        await keep(site, "花の秘密", HANA)
        page = await taro.open("/memories")
        assert listed(page) == ["Lives in Kyoto &lt;b&gt;now&lt;/b&gt;", "猫を飼っている"]
        assert "2件" in page
        async with site.visit(HANA, **{"Accept-Language": "en"}) as hana:
            page = await hana.open("/memories")
        assert listed(page) == ["花の秘密"]
        assert "Search" in page

    async def test_is_paged_and_ordered(self, site: Site, taro: Visit) -> None:
        await site.core.stores.memory_transfer.take(TARO, [PortableMemory(f"メモ{n:02}") for n in range(31)])
        first = await taro.open("/memories")
        assert listed(first) == [f"メモ{n:02}" for n in range(30, 0, -1)]
        assert 'href="/memories?page=2"' in first
        assert listed(await taro.open("/memories?page=2")) == ["メモ00"]
        assert listed(await taro.open("/memories?order=oldest&page=2")) == ["メモ30"]
        for page in ("0x", "3", "99999999999999999999"):
            await taro.open(f"/memories?page={page}", status=404)

    async def test_finds_as_the_command_does(self, site: Site, taro: Visit) -> None:
        await keep(site, "京都へ旅行した", audience="private")
        await keep(site, "大阪で食べた")
        await keep(site, "京都の花", HANA)
        found = await site.core.stores.memories.search(TARO, "京都", audience="private")
        assert listed(await taro.open("/memories?q=京都")) == [each.content for each in found]
        assert "条件に合うメモリはありません" in await taro.open("/memories?q=xyzzy")

    @pytest.mark.parametrize("query", ["", "q=ねこ&"])
    @pytest.mark.parametrize(
        ("asked", "expected"),
        [
            ("category=家族", {"ねこ 一"}),
            ("tag=ペット", {"ねこ 一"}),
            ("audience=private", {"ねこ 二"}),
            ("audience=anywhere", {"ねこ 一", "ねこ 三"}),
            ("origin=command", {"ねこ 三"}),
            ("origin=none", {"ねこ 一", "ねこ 二"}),
            ("origin=nonsense&audience=x&order=y", {"ねこ 一", "ねこ 二", "ねこ 三"}),
        ],
    )
    async def test_is_narrowed_down(
        self, site: Site, taro: Visit, query: str, asked: str, expected: set[str]
    ) -> None:
        await keep(site, "ねこ 一", category="家族", tags=("ペット",))
        await keep(site, "ねこ 二", audience="private")
        await keep(site, "ねこ 三", source=Source("command"))
        assert {*listed(await taro.open(f"/memories?{query}{asked}"))} == expected

    async def test_gives_a_script_the_same_without_what_it_does_not_show(
        self, site: Site, taro: Visit
    ) -> None:
        await keep(site, "ねこ", category="家族")
        page = await taro.open("/memories?q=ねこ", status=200, **{"X-Part": "found"})
        assert listed(page) == ["ねこ"]
        assert "家族（1件）" not in page
        assert "家族（1件）" in await taro.open("/memories?q=ねこ")


class TestAdding:
    async def test_keeps_what_was_filled_in(self, site: Site, taro: Visit) -> None:
        answer = await taro.press(
            "/memories",
            content="歯医者は木曜",
            category="一般",
            tags="#歯, 予定",
            end="2099-12-31",
            audience="anywhere",
        )
        assert answer.headers["Location"].startswith("/memories/1?done=")
        [kept] = await site.core.stores.memories.list(TARO)
        assert (kept.content, kept.category, kept.tags) == ("歯医者は木曜", "general", ("歯", "予定"))
        assert (kept.audience, kept.source.kind) == ("anywhere", "command")
        assert await said_after(taro, answer) == "覚えました。"

    @pytest.mark.parametrize(
        ("form", "sentence"),
        [
            ({"content": " "}, "覚える内容が空です"),
            ({"content": "あ" * 4001}, "4000文字まで"),
            ({"content": "パスワードは hunter2secret!A です"}, "パスワード"),
            ({"content": "x", "end": "いつか"}, "期限"),
            ({"category": "あ" * 51}, "カテゴリは50文字まで"),
            ({"tags": "猫, " + "い" * 51}, "タグは1つ50文字まで"),
            ({"tags": " ".join(f"t{n}" for n in range(21))}, "タグは20個まで"),
            ({"tags": " ".join(f"タグ{n}" for n in range(500))}, "タグは20個まで"),
        ],
    )
    async def test_tells_why_not_and_gives_the_text_back(
        self, site: Site, taro: Visit, form: dict[str, str], sentence: str
    ) -> None:
        answer = await taro.press("/memories", **NEW | form)
        text = await answer.text()
        assert answer.status == 400
        assert sentence in alert(text)
        for entered in form.values():
            assert f"\n{entered}</textarea>" in text or f'value="{entered}"' in text
        assert not await site.core.stores.memories.list(TARO)

    async def test_is_off_while_paused(self, site: Site, taro: Visit) -> None:
        assert (await taro.press("/memories/pause")).headers["Location"].startswith("/memories")
        assert "一時停止中" in await taro.open("/memories")
        answer = await taro.press("/memories", **NEW)
        assert answer.status == 400
        assert "一時停止中です" in alert(await answer.text())
        assert "/memory" not in alert(await answer.text())
        await taro.press("/memories/resume")
        assert (await taro.press("/memories", **NEW)).status == 303

    @pytest.mark.parametrize("missing", NEW)
    async def test_decides_nothing_that_the_form_does_not_say(
        self, site: Site, taro: Visit, missing: str
    ) -> None:
        memory = await keep(site, "犬", tags=("ペット",), expires_at=datetime.now(UTC) + timedelta(days=3))
        form = {name: value for name, value in NEW.items() if name != missing}
        assert (await taro.press("/memories", **form)).status == 400
        assert (await taro.press("/memories/1", mark=mark_of(memory), **form)).status == 400
        assert (await taro.press("/memories", **NEW | {"audience": "zzz"})).status == 400
        assert await site.core.stores.memories.list(TARO) == [memory]


class TestOne:
    async def test_shows_all_that_is_known_of_it(self, site: Site, taro: Visit) -> None:
        link = "https://discord.com/channels/1/2/3"
        memory = await keep(
            site,
            "二行の\n<メモ>",
            category="家族",
            tags=("猫",),
            audience="private",
            source=Source("message", link, author="花"),
            expires_at=datetime.now(UTC) + timedelta(days=3),
        )
        await site.core.stores.memories.update(TARO, memory.id, content="新しい <内容>")
        page = await taro.open(f"/memories/{memory.number}")
        for words in ("\n新しい &lt;内容&gt;</textarea>", "二行の\n&lt;メモ&gt;", "家族", "猫", link):
            assert words in page
        assert "花 さんのメッセージから" in page

    @pytest.mark.parametrize("number", ["0", "-1", "2", "99999999999999999999", "x", "１", "1.0"])
    async def test_that_there_is_not_is_nowhere(self, site: Site, taro: Visit, number: str) -> None:
        await keep(site, "一")
        for _ in range(3):
            await keep(site, "花の秘密", HANA)
        assert "花の秘密" not in await taro.open(f"/memories/{number}", status=404)
        for action in ("", "/undo", "/restore", "/delete", "/undelete", "/pin", "/unpin"):
            assert (await taro.press(f"/memories/{number}{action}")).status == 404
        assert len(await site.core.stores.memories.list(HANA)) == 3

    async def test_is_edited_and_its_former_text_stays(self, site: Site, taro: Visit) -> None:
        memory = await keep(site, "犬を飼っている", category="家族", tags=("赤い 犬",))
        status, where, _ = await edit(
            taro, memory, content="猫を飼っている", category="家族", tags="赤い 犬", end="2099-12-31"
        )
        assert status == 303
        after = await site.core.stores.memories.get(TARO, memory.id)
        assert after
        assert (after.content, after.category, after.tags) == ("猫を飼っている", "家族", ("赤い 犬",))
        assert after.expires_at
        assert site.town.told_anew == [TARO]
        page = await taro.open(where)
        assert said(page) == "変更しました。"
        assert "犬を飼っている" in page
        assert 'value="2099-12-31"' in page

    async def test_that_was_not_changed_says_so(self, site: Site, taro: Visit) -> None:
        memory = await keep(site, "犬")
        _, where, _ = await edit(taro, memory)
        assert "変更はありませんでした" in said(await taro.open(where))

    async def test_that_can_not_be_kept_is_given_back(self, site: Site, taro: Visit) -> None:
        memory = await keep(site, "犬")
        status, _, text = await edit(taro, memory, content="猫" * 4001)
        assert status == 400
        assert "4000文字まで" in text
        assert "\n" + "猫" * 4001 + "</textarea>" in text

    async def test_that_changed_meanwhile_shows_both_and_keeps_neither(self, site: Site, taro: Visit) -> None:
        memory = await keep(site, "犬")
        changed = await site.core.stores.memories.update(TARO, memory.id, content="猫")
        assert changed
        status, _, text = await edit(taro, memory, content="鳥")
        assert status == 409
        assert "猫</p>" in text
        assert "\n鳥</textarea>" in text
        kept = await site.core.stores.memories.get(TARO, memory.id)
        assert kept == changed
        [mark] = re.findall(r'name="mark" value="(\w+)"', text)
        assert (await edit(taro, changed, content="鳥と猫", mark=mark))[0] == 303

    async def test_is_edited_by_one_of_two_at_once(self, site: Site, taro: Visit) -> None:
        memory = await keep(site, "犬")
        answers = await asyncio.gather(*(edit(taro, memory, content=text) for text in ("猫", "鳥")))
        assert sorted(status for status, *_ in answers) == [303, 409]

    async def test_goes_back(self, site: Site, taro: Visit) -> None:
        memory = await keep(site, "一")
        await site.core.stores.memories.update(TARO, memory.id, content="二")
        [former] = await site.core.stores.memory_history.list_versions(TARO, memory.id)
        answer = await taro.press("/memories/1/restore", version=str(former.id))
        assert await said_after(taro, answer) == "前の内容に戻しました。"
        kept = await site.core.stores.memories.get(TARO, memory.id)
        assert kept
        assert (kept.content, kept.supersedes) == ("一", former.id + 1)
        answer = await taro.press("/memories/1/undo", former=str(former.id))
        assert "取り消しませんでした" in await said_after(taro, answer)
        answer = await taro.press("/memories/1/undo", former=str(former.id + 1))
        assert await said_after(taro, answer) == "最後の変更を取り消しました。"
        assert "\n二</textarea>" in await taro.open("/memories/1")

    async def test_takes_no_version_of_anothers(self, site: Site, taro: Visit) -> None:
        await keep(site, "一")
        hers = await keep(site, "花の一", HANA)
        await site.core.stores.memories.update(HANA, hers.id, content="花の二")
        [former] = await site.core.stores.memory_history.list_versions(HANA, hers.id)
        for form in ({"version": str(former.id)}, {"version": "1"}):
            answer = await taro.press("/memories/1/restore", **form)
            assert "もう残っていません" in await said_after(taro, answer)
        assert (await taro.press("/memories/1/restore", version="x")).status == 400
        assert (await taro.press("/memories/1/undo")).status == 400

    async def test_is_deleted_and_had_back(self, site: Site, taro: Visit) -> None:
        memory = await keep(site, "一")
        answer = await taro.press("/memories/1/delete")
        assert answer.headers["Location"] == "/memories/1"
        page = await taro.open("/memories/1")
        assert "このメモリは削除しました" in page
        assert (await taro.press("/memories/1/delete")).status == 303
        assert not listed(await taro.open("/memories"))
        assert (await edit(taro, memory))[0] == 404
        answer = await taro.press("/memories/1/undelete")
        assert await said_after(taro, answer) == "元に戻しました。"
        assert await site.core.stores.memories.get(TARO, memory.id)

    async def test_is_pinned_as_long_as_there_is_room(self, site: Site, taro: Visit) -> None:
        for number in range(MAX_PINNED + 1):
            await keep(site, f"メモ{number}")
        for number in range(1, MAX_PINNED + 1):
            assert (await taro.press(f"/memories/{number}/pin")).status == 303
        answer = await taro.press(f"/memories/{MAX_PINNED + 1}/pin")
        assert answer.status == 400
        assert "ピン留めできるのは" in alert(await answer.text())
        assert "/memory list" not in await answer.text()
        assert "ピンを外す" in await taro.open("/memories/1")
        assert (await taro.press("/memories/1/unpin")).status == 303
        assert "ピンを外す" not in await taro.open("/memories/1")


class TestErasing:
    async def test_tells_first_what_it_covers(self, site: Site, taro: Visit) -> None:
        memory = await keep(site, "合言葉は山と川")
        session = await site.core.stores.sessions.open(KEY)
        said = (Message("user", "合言葉は山と川"), Message("assistant", "わかりました"))
        await site.core.stores.sessions.commit_turn(session, said)
        page = await taro.open(f"/memories/erase?n={memory.number}")
        assert "合言葉は山と川" in page
        assert "1件あります" in page
        assert await site.core.stores.memories.get(TARO, memory.id)
        answer = await taro.press("/memories/erase", n="1", scope="said")
        text = await answer.text()
        assert answer.status == 200
        assert "完全に消しました" in text
        assert "-#" not in text
        assert site.town.told_anew == [TARO]
        await taro.open("/memories/1", status=404)
        history = (await site.core.stores.sessions.open(KEY)).history
        assert texts(Locale.JA).erasure.mark in {each.content for each in history}

    @pytest.mark.slow
    async def test_leaves_conversations_if_that_is_wanted(self, site: Site, taro: Visit) -> None:
        await keep(site, "合言葉は山と川")
        session = await site.core.stores.sessions.open(KEY)
        said = (Message("user", "合言葉は山と川"), Message("assistant", "わかりました"))
        await site.core.stores.sessions.commit_turn(session, said)
        assert "まだ 1件" in await (await taro.press("/memories/erase", n="1", scope="alone")).text()

    async def test_of_nothing_or_for_no_reason_is_refused(self, site: Site, taro: Visit) -> None:
        await keep(site, "一")
        await keep(site, "花", HANA)
        await keep(site, "花", HANA)
        for form, status in (
            ({"n": "1"}, 400),
            ({"n": "1", "scope": "world"}, 400),
            ({"n": "x", "scope": "alone"}, 400),
            ({"n": "2", "scope": "alone"}, 404),
            ({"scope": "alone"}, 404),
        ):
            assert (await taro.press("/memories/erase", **form)).status == status
        await taro.open("/memories/erase?n=2", status=404)
        assert len(await site.core.stores.memories.list(HANA)) == 2
        assert len(await site.core.stores.memories.list(TARO)) == 1

    async def test_of_all_asks_again_when_there_are_more(self, site: Site, taro: Visit) -> None:
        await keep(site, "一")
        assert "1件をすべて" in await taro.open("/memories/erase-all")
        await keep(site, "二")
        answer = await taro.press("/memories/erase-all", count="1", scope="alone")
        assert "まだ何も消していません" in await said_after(taro, answer)
        assert (await taro.press("/memories/erase-all", count="2", scope="alone")).status == 200
        assert not await site.core.stores.memories.list(TARO)


class TestSeveral:
    async def press(self, visit: Visit, numbers: list[int], **form: str) -> str:
        data = [*(("n", str(number)) for number in numbers), *form.items()]
        async with visit.client.post(
            "/memories/several", data=data, headers=visit.own_headers(), allow_redirects=False
        ) as answer:
            assert answer.status == 303, await answer.text()
            return answer.headers["Location"]

    async def test_are_deleted_and_had_back_and_each_is_answered_for(self, site: Site, taro: Visit) -> None:
        for content in "一二三":
            await keep(site, content)
        await keep(site, "花", HANA)
        where = await self.press(taro, [1, 2, 4], action="delete", back="category=家族&evil=1")
        page = await taro.open(where)
        assert "削除したもの: 2件" in page
        assert "もうないもの: 1件" in page
        assert "evil" not in page
        assert [each.content for each in await site.core.stores.memories.list(TARO)] == ["三"]
        assert site.town.told_anew == [TARO]
        page = await taro.open(await self.press(taro, [1, 2], action="undelete"))
        assert "あるもの: 2件" in page
        assert len(await site.core.stores.memories.list(TARO)) == 3

    async def test_get_another_category(self, site: Site, taro: Visit) -> None:
        for content in "一二":
            await keep(site, content)
        page = await taro.open(await self.press(taro, [1, 2], action="category", category="家族"))
        assert page.count("家族") == 2
        kept = await site.core.stores.memories.list(TARO, category="家族")
        assert len(kept) == 2

    async def test_are_told_that_could_not_be_done_and_why(self, site: Site, taro: Visit) -> None:
        await keep(site, "一")
        secret = "パスワードは hunter2secret!A"
        where = await self.press(taro, [1], action="category", category=secret)
        page = await taro.open(where)
        assert "できなかったもの: 1件" in page
        assert "保存しませんでした" in page
        assert "できなかったもの" not in await taro.open(where)

    @pytest.mark.parametrize(
        ("category", "sentence"), [("", "カテゴリの名前を書いて"), ("あ" * 51, "50文字まで")]
    )
    async def test_stay_chosen_when_the_category_is_refused(
        self, site: Site, taro: Visit, category: str, sentence: str
    ) -> None:
        await site.core.stores.memory_transfer.take(TARO, [PortableMemory(f"メモ{n:02}") for n in range(31)])
        async with taro.client.post(
            "/memories/several",
            data=[("n", "1"), ("n", "31"), ("action", "category"), ("category", category)],
            headers=taro.own_headers(),
        ) as answer:
            text = await answer.text()
        assert answer.status == 400
        assert sentence in alert(text)
        assert re.findall(r'name="n" value="(\d+)"[^>]* checked', text) == ["1", "31"]
        assert (
            f'name="category" list="categories" maxlength="50" autocomplete="off" value="{category}"' in text
        )
        assert len(await site.core.stores.memories.list(TARO, category="general", limit=99)) == 31

    async def test_are_erased(self, site: Site, taro: Visit) -> None:
        for content in "一二三":
            await keep(site, content)
        page = await taro.open("/memories/erase?n=1&n=3&n=9&back=q%3Dx")
        assert page.count('name="n"') == 2
        assert "#9" in page
        async with taro.client.post(
            "/memories/erase",
            data=[("n", "1"), ("n", "3"), ("n", "9"), ("scope", "alone")],
            headers=taro.own_headers(),
        ) as answer:
            text = await answer.text()
        assert "メモリ 2件" in text
        assert "#9" in text
        assert [each.content for each in await site.core.stores.memories.list(TARO)] == ["二"]

    async def test_must_be_chosen_and_must_be_a_few(self, site: Site, taro: Visit) -> None:
        page = await taro.open(await self.press(taro, [], action="delete", back="q=猫"))
        assert "何も選ばれていません" in said(page)
        assert 'value="猫"' in page
        assert (await taro.press("/memories/several", n="99", action="steal")).status == 400
        assert (await taro.press("/memories/several", n="99")).status == 400
        await keep(site, "一")
        assert (await taro.press("/memories/several", n="1", action="steal")).status == 400
        assert (await taro.press("/memories/several", n="x", action="delete")).status == 400
        async with taro.client.post(
            "/memories/several",
            data=[("action", "delete"), *(("n", str(number)) for number in range(1, 250))],
            headers=taro.own_headers(),
        ) as answer:
            assert answer.status == 400
        assert len(await site.core.stores.memories.list(TARO)) == 1


class TestManyNotes:
    @pytest.mark.slow
    async def test_are_listed_and_searched(self, site: Site, taro: Visit) -> None:
        notes = [PortableMemory(f"京都のメモ {n}", tags=(f"t{n % 50}",)) for n in range(3000)]
        await site.core.stores.memory_transfer.take(TARO, notes)
        page = await taro.open("/memories")
        assert "3,000件" in page
        assert len(listed(page)) == 30
        assert "近いものから60件だけ" in await taro.open("/memories?q=京都")
        assert listed(await taro.open("/memories?tag=t7&order=oldest"))[0] == "京都のメモ 7"

    async def test_are_counted_in_a_sentence(self, site: Site, taro: Visit) -> None:
        await site.core.stores.memory_transfer.take(TARO, [PortableMemory(f"京都 {n}") for n in range(60)])
        page = await taro.open("/memories?q=京都")
        assert "60件あります。" in page
        assert "だけを出しています" not in page
        async with site.visit(TARO, **{"Accept-Language": "en"}) as english:
            assert ">60 memories</p>" in await english.open("/memories")
            await site.core.stores.memories.add(TARO, "奈良")
            assert ">1 memory</p>" in await english.open("/memories?q=奈良")
            assert "the 60 that fit best" not in await english.open("/memories?q=京都")
            await site.core.stores.memories.add(TARO, "京都 61")
            assert "these are the 60 that fit best" in await english.open("/memories?q=京都")


class TestWhatIsTold:
    async def test_can_not_be_claimed_by_a_link_or_told_twice(self, site: Site, taro: Visit) -> None:
        await keep(site, "一")
        for path in ("/settings", "/reminders", "/conversations", "/privacy/erase"):
            assert said(await taro.open(f"{path}?done=settings_saved")) == ""
        await asyncio.sleep(1.0)  # one session may ask twenty times a second
        for path in ("/memories", "/memories/1", "/memories/import"):
            for claim in ("done=memory_edited", "done=memories_paused", "imported=5", "done=x&done_of=5"):
                assert said(await taro.open(f"{path}?{claim}")) == ""
        claimed = await taro.open("/memories/several?n=1&not=1")
        assert "できなかったもの" not in claimed
        answer = await taro.press("/memories/1/pin")
        assert await said_after(taro, answer) == "ピン留めしました。"
        assert await said_after(taro, answer) == ""

    async def test_is_for_the_browser_that_pressed(self, site: Site, taro: Visit) -> None:
        answer = await taro.press("/memories/pause")
        async with site.visit(TARO) as other, site.visit(HANA) as hana:
            assert await said_after(other, answer) == ""
            assert await said_after(hana, answer) == ""
        assert await said_after(taro, answer) == "メモリを一時停止しました。"

    @pytest.mark.parametrize("action", ["", "/undo", "/restore", "/pin", "/unpin", "/undelete"])
    async def test_of_a_memory_that_is_gone_leads_back_to_the_list(
        self, site: Site, taro: Visit, action: str
    ) -> None:
        memory = await keep(site, "一")
        await site.core.stores.memory_removal.erase(TARO, memory.id)
        answer = await taro.press(f"/memories/1{action}", mark="x", former="1", version="1", **NEW)
        assert answer.status == 404
        page = await answer.text()
        assert "このメモリは、もうありません" in alert(page)
        assert '<a href="/memories">' in page

    async def test_names_no_commands_and_shows_no_emoji(self, site: Site, taro: Visit) -> None:
        memory = await keep(site, "一", audience="private", source=Source("command"))
        await site.core.stores.memories.update(
            TARO, memory.id, content="二", expires_at=datetime.now(UTC) + timedelta(days=1)
        )
        await site.core.stores.memory_pins.pin(TARO, memory.id)
        await keep(site, "三")
        await keep(site, "四")
        await taro.press("/memories/2/delete")
        paths = (
            *("/memories", "/memories?q=zzz", "/memories/1", "/memories/2", "/memories/3"),
            *(
                "/memories/erase?n=1&n=2",
                "/memories/erase-all",
                "/memories/import",
                "/memories/several?n=1&n=2",
            ),
        )
        async with site.visit(TARO, **{"Accept-Language": "en"}) as english:
            pages = [await visit.open(path) for path in paths for visit in (taro, english)]
            for visit, n in ((taro, "1"), (english, "3")):
                answer = await visit.press("/memories/erase", n=n, scope="alone")
                pages.append(await answer.text())
                answer = await visit.press("/memories/erase-all", count="1", scope="alone")
                pages.append(await answer.text())
            pages.append(await english.open("/memories"))
        for page in pages:
            assert not re.search("[\u231a-\u23ff\u25a0-\u27bf\u2b00-\u2bff\U0001f000-\U0001faff]", page)
            assert not re.search(r"(?<![\w\"=])/memory\b|/メモリ", page)

    async def test_of_an_end_is_its_last_day(self, site: Site, taro: Visit) -> None:
        await taro.press("/memories", **NEW | {"end": "2099-12-31"})
        assert "2099-12-31 まで" in await taro.open("/memories")
        assert 'value="2099-12-31"' in await taro.open("/memories/1")

    async def test_of_days_has_one_form(self, site: Site, taro: Visit) -> None:
        memory = await keep(site, "一", expires_at=datetime(2099, 12, 31, 15, tzinfo=UTC))
        await site.core.stores.memories.update(TARO, memory.id, content="二")
        await keep(site, "三")
        await taro.press("/memories/2/delete")
        for path in ("/memories", "/memories/1", "/memories/2", "/memories/several?n=1&n=2"):
            assert not re.search(r"\d{4}/\d{1,2}/\d{1,2}", await taro.open(path))
