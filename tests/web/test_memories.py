"""The memory pages over a real server: what is looked for, written, taken leave of, and handed out and in."""

import asyncio
import json

import aiohttp
import pytest

from cc_bot.domain.memory import Source
from tests.web.pages import HANA, TARO, Site, Visit


async def keep(site: Site, *contents: str, user: int = TARO) -> None:
    for content in contents:
        await site.core.stores.memories.add(user, content)


async def contents(site: Site, user: int = TARO) -> list[str]:
    return [each.content for each in await site.core.stores.memories.list(user, limit=100)]


async def mark_in(visit: Visit, number: int) -> str:
    text = await visit.open(f"/memories/{number}")
    return text.partition('name="mark" value="')[2].partition('"')[0]


class TestTheList:
    async def test_shows_the_newest_first_a_page_at_a_time(self, site: Site, taro: Visit) -> None:
        await keep(site, *(f"メモ {n}。" for n in range(25)))
        text = await taro.open("/memories")
        assert text.index("メモ 24。") < text.index("メモ 5。")
        assert "メモ 4。" not in text
        assert "メモ 4。" in await taro.open("/memories?page=2")
        await taro.open("/memories?page=3", status=404)
        await taro.open("/memories?page=x", status=404)

    async def test_is_searched_as_memory_search_does(self, site: Site, taro: Visit) -> None:
        await keep(site, "猫のモチは三毛", "明日は会議", "The cat sleeps")
        text = await taro.open("/memories?q=ネコ")
        assert "三毛" in text
        assert "会議" not in text

    async def test_is_narrowed_by_category_tag_audience_and_origin(self, site: Site, taro: Visit) -> None:
        memories = site.core.stores.memories
        await memories.add(TARO, "三毛猫", category="ペット", tags=("猫",), audience="private")
        await memories.add(TARO, "黒い犬", tags=("犬",), source=Source("command"))
        for query, here, gone in (
            ("category=ペット", "三毛猫", "黒い犬"),
            ("category=一般", "黒い犬", "三毛猫"),
            ("tag=犬", "黒い犬", "三毛猫"),
            ("audience=private", "三毛猫", "黒い犬"),
            ("origin=command", "黒い犬", "三毛猫"),
            ("origin=none&q=猫", "三毛猫", "黒い犬"),
        ):
            text = (await taro.open(f"/memories?{query}")).partition('id="results"')[2]
            assert here in text, query
            assert gone not in text, query

    @pytest.mark.parametrize(
        "query", ["q=" + "あ" * 600, "audience=x", "origin=x", "tag=%00", "q=%F0%9F%98%80"]
    )
    async def test_takes_what_makes_no_sense_for_nothing(self, site: Site, taro: Visit, query: str) -> None:
        await keep(site, "猫")
        await taro.open(f"/memories?{query}")

    async def test_is_ones_own(self, site: Site, taro: Visit) -> None:
        await keep(site, "太郎のひみつ")
        async with site.visit(HANA, **{"Accept-Language": "en"}) as hana:
            assert "ひみつ" not in await hana.open(["/memories", "q=ひみつ"][0])
            assert "Nothing is kept yet" in await hana.open("/memories")


class TestOne:
    async def test_is_added_edited_and_says_what_it_said_before(self, site: Site, taro: Visit) -> None:
        answer = await taro.press(
            "/memories", content="水曜は在宅", category="仕事", tags="勤務, 在宅", audience="private"
        )
        assert answer.status == 303
        [kept] = await site.core.stores.memories.list(TARO)
        assert (kept.category, kept.tags, kept.audience) == ("仕事", ("勤務", "在宅"), "private")
        mark = await mark_in(taro, kept.number)
        answer = await taro.press(
            f"/memories/{kept.number}", mark=mark, content="木曜は在宅", category="仕事", tags="勤務"
        )
        assert answer.status == 303
        text = await taro.open(f"/memories/{kept.number}")
        assert "木曜は在宅" in text
        assert "水曜は在宅" in text
        [version] = await site.core.stores.memory_history.list_versions(TARO, kept.id)
        await taro.press(f"/memories/{kept.number}/restore", version=str(version.id))
        assert await contents(site) == ["水曜は在宅"]

    async def test_that_changed_meanwhile_is_shown_beside_what_was_written(
        self, site: Site, taro: Visit
    ) -> None:
        await keep(site, "水曜は在宅")
        mark = await mark_in(taro, 1)
        [kept] = await site.core.stores.memories.list(TARO)
        await site.core.stores.memories.update(TARO, kept.id, content="金曜は在宅")
        answer = await taro.press("/memories/1", mark=mark, content="木曜は在宅")
        text = await answer.text()
        assert answer.status == 409
        assert "金曜は在宅" in text
        assert "木曜は在宅" in text
        assert await contents(site) == ["金曜は在宅"]
        mark = text.partition('name="mark" value="')[2].partition('"')[0]
        assert (await taro.press("/memories/1", mark=mark, content="木曜は在宅")).status == 303
        assert await contents(site) == ["木曜は在宅"]

    async def test_of_two_edits_at_once_one_is_kept_and_the_other_shown(
        self, site: Site, taro: Visit
    ) -> None:
        await keep(site, "水曜は在宅")
        mark = await mark_in(taro, 1)
        answers = await asyncio.gather(
            *(taro.press("/memories/1", mark=mark, content=f"{day}曜は在宅") for day in "木金")
        )
        assert sorted(answer.status for answer in answers) == [303, 409]

    async def test_is_deleted_and_had_back(self, site: Site, taro: Visit) -> None:
        await keep(site, "猫")
        answer = await taro.press("/memories/1/delete")
        assert "元に戻す" in await taro.open(answer.headers["Location"])
        assert not await contents(site)
        await taro.open("/memories/1", status=404)
        await taro.press("/memories/1/undelete")
        assert await contents(site) == ["猫"]

    async def test_is_erased_for_good_once_its_user_has_seen_what_goes(self, site: Site, taro: Visit) -> None:
        await keep(site, "猫")
        assert "完全に消す" in await taro.open("/memories/1/erase")
        assert "メモリ 1件" in await (await taro.press("/memories/1/erase")).text()
        await taro.open("/memories/1/erase", status=404)
        assert (await taro.press("/memories/1/undelete")).status == 404

    async def test_is_pinned_and_its_pin_taken_off(self, site: Site, taro: Visit) -> None:
        await keep(site, "猫")
        for pinned in ("yes", "no"):
            await taro.press("/memories/1/pin", pinned=pinned)
            [kept] = await site.core.stores.memories.list(TARO)
            assert kept.pinned == (pinned == "yes")

    @pytest.mark.parametrize("number", ["0", "-1", "2", "x", "9" * 30, "１"])
    async def test_that_is_not_there_or_anothers_is_none(self, site: Site, number: str) -> None:
        await keep(site, "太郎の猫")
        async with site.visit(HANA) as hana:
            for path in (f"/memories/{number}", f"/memories/{number}/erase", "/memories/1"):
                await hana.open(path, status=404)
            for act in ("", "/delete", "/undelete", "/erase", "/restore", "/pin"):
                answer = await hana.press(
                    f"/memories/1{act}", content="x", version="1", mark="x", pinned="yes"
                )
                assert answer.status == 404, act
        assert await contents(site) == ["太郎の猫"]

    @pytest.mark.parametrize(
        ("form", "told"),
        [
            ({"content": "  "}, "空です"),
            ({"content": "あ" * 4001}, "4000文字"),
            ({"content": "パスワードは hunter2-Secret!99 です"}, "保存しませんでした"),
            ({"content": "猫", "end": "ぱぴぷぺぽ"}, ""),
            ({"content": "猫", "end": "2001-01-01"}, ""),
        ],
    )
    async def test_that_can_not_be_kept_is_refused_with_a_sentence(
        self, site: Site, taro: Visit, form: dict[str, str], told: str
    ) -> None:
        answer = await taro.press("/memories", **form)
        assert answer.status == 400
        assert told in await answer.text()
        assert not await contents(site)


class TestSeveral:
    async def test_are_deleted_filed_and_erased_and_answered_for(self, site: Site, taro: Visit) -> None:
        await keep(site, "一", "二", "三", "四")
        one = aiohttp.FormData([("number", "1"), ("number", "2"), ("number", "99"), ("action", "category")])
        one.add_field("category", "数")
        async with taro.client.post("/memories/several", data=one, headers=taro.own_headers()) as answer:
            text = await answer.text()
        assert "カテゴリを変えました" in text
        assert "1件は、もうありませんでした" in text
        kept = await site.core.stores.memories.list(TARO, category="数")
        assert {each.content for each in kept} == {"一", "二"}
        other = aiohttp.FormData([("number", "1"), ("number", "2"), ("action", "delete")])
        async with taro.client.post("/memories/several", data=other, headers=taro.own_headers()) as answer:
            assert "2件できました" in await answer.text()
        asked = [("number", "3"), ("number", "4"), ("action", "erase")]
        last = aiohttp.FormData(asked)
        async with taro.client.post("/memories/several", data=last, headers=taro.own_headers()) as answer:
            assert "2件を完全に消す" in await answer.text()
        assert set(await contents(site)) == {"三", "四"}
        last = aiohttp.FormData([*asked, ("sure", "yes")])
        async with taro.client.post("/memories/several", data=last, headers=taro.own_headers()) as answer:
            assert "メモリ 2件" in await answer.text()
        assert not await contents(site)

    async def test_of_others_are_none(self, site: Site, taro: Visit) -> None:
        await keep(site, "花の猫", user=HANA)
        await taro.press("/memories/several", number="1", action="erase", sure="yes")
        assert await contents(site, HANA) == ["花の猫"]

    @pytest.mark.parametrize("form", [{}, {"action": "erase"}, {"number": "1", "action": "x"}])
    async def test_of_no_kind_change_nothing(self, site: Site, taro: Visit, form: dict[str, str]) -> None:
        await keep(site, "猫")
        await taro.press("/memories/several", **form)
        assert await contents(site) == ["猫"]


def upload(data: bytes, name: str = "memories.json") -> aiohttp.FormData:
    form = aiohttp.FormData()
    form.add_field("file", data, filename=name)
    form.add_field("audience", "anywhere")
    return form


async def send(visit: Visit, path: str, form: aiohttp.FormData) -> tuple[int, str]:
    async with visit.client.post(path, data=form, headers=visit.own_headers()) as answer:
        return answer.status, await answer.text()


class TestFiles:
    async def test_hand_all_out_and_in_again(self, site: Site, taro: Visit) -> None:
        await keep(site, *(f"メモ {n}: 猫と <b>" for n in range(300)))
        async with taro.client.get("/memories/export.json") as answer:
            assert "attachment" in answer.headers["Content-Disposition"]
            data = await answer.read()
        assert len(json.loads(data)["memories"]) == 300
        assert "メモ 7" in await taro.open("/memories/export.md")
        async with site.visit(HANA) as hana:
            status, text = await send(hana, "/memories/import", upload(data))
            assert status == 200
            assert "300" in text
            assert not await contents(site, HANA)
            planned = text.partition('<textarea name="planned" hidden>\n')[2].partition("</textarea>")[0]
            form = aiohttp.FormData()
            for old, new in (("&lt;", "<"), ("&gt;", ">"), ("&#34;", '"'), ("&#39;", "'"), ("&amp;", "&")):
                planned = planned.replace(old, new)
            form.add_field("planned", planned, content_type="text/plain")
            status, text = await send(hana, "/memories/import/take", form)
            assert "300件できました" in text
            assert await site.core.stores.memories.count(HANA) == 300

    @pytest.mark.parametrize("data", [b"", b"\x00\x01\x02", b'{"memories": 5}'])
    async def test_that_nobody_understands_change_nothing(self, site: Site, taro: Visit, data: bytes) -> None:
        status, _ = await send(taro, "/memories/import", upload(data))
        assert status == 400
        assert not await contents(site)

    async def test_that_are_missing_are_refused(self, taro: Visit) -> None:
        assert (await taro.press("/memories/import")).status == 400

    async def test_of_nothing_are_empty(self, taro: Visit) -> None:
        assert await taro.open("/memories/export.json") == ""


class TestAPause:
    async def test_is_begun_and_ended(self, site: Site, taro: Visit) -> None:
        await taro.press("/memories/pause", paused="yes")
        assert "止まっています" in await taro.open("/memories")
        assert (await send(taro, "/memories/import", upload(b"- neko")))[0] == 400
        await taro.press("/memories/pause", paused="no")
        assert "止まっています" not in await taro.open("/memories")
