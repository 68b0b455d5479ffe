"""Signing in: a link works once, and only for who presses."""

import asyncio
import re
from datetime import timedelta

from tests.web.pages import HANA, TARO, Site, Visit


class TestALink:
    async def test_tells_whose_pages_it_opens_and_is_not_used_up_by_that(self, site: Site) -> None:
        link = await site.link(HANA)
        async with site.visit(None) as visit:
            for _ in range(3):
                assert "花 &amp; &lt;Hana&gt; さんのページ" in await visit.open(link)

    async def test_signs_in_whoever_presses(self, site: Site, taro: Visit) -> None:
        [session] = await site.core.stores.web_sessions.list(TARO)
        assert session.user_id == TARO

    async def test_works_once(self, site: Site) -> None:
        code = (await site.link()).partition("code=")[2]
        async with site.visit(None) as one, site.visit(None) as other:
            answers = await asyncio.gather(
                one.press("/sign-in", code=code), other.press("/sign-in", code=code)
            )
        assert sorted(answer.status for answer in answers) == [303, 410]

    async def test_that_was_made_up_is_gone_and_a_good_one_works_beside_many(self, site: Site) -> None:
        async with site.visit(None) as visit:
            for number in range(5):
                text = await visit.open(f"/sign-in?code=x{number}", status=410)
                assert "このリンクはもう使えません" in text
            await visit.open("/sign-in?code=x", status=429)
            link = await site.link()
            await visit.open(link)
            assert (await visit.press("/sign-in", code=link.partition("code=")[2])).status == 303

    async def test_keeps_no_secret_in_the_database(self, site: Site) -> None:
        code = (await site.link()).partition("code=")[2]
        rows = [row async for row in site.core.stores.personal_data.read_records(TARO)]
        assert rows
        assert code not in repr(rows)


class TestASession:
    async def test_ends_when_its_user_signs_out(self, site: Site, taro: Visit) -> None:
        answer = await taro.press("/sign-out")
        assert "サインアウトしました" in await taro.open(answer.headers["Location"])
        assert "/マイページ" in await taro.open("/", status=401)

    async def test_is_nobody_elses_to_end(self, site: Site, taro: Visit) -> None:
        [session] = await site.core.stores.web_sessions.list(TARO)
        async with site.visit(HANA) as hana:
            assert (await hana.press("/sessions/end", id=str(session.id))).status == 404
        assert await site.core.stores.web_sessions.list(TARO)
        await taro.press("/sessions/end", id=str(session.id))
        assert not await site.core.stores.web_sessions.list(TARO)

    async def test_lasts_at_most_as_long_as_it_may(self, site: Site, taro: Visit) -> None:
        [session] = await site.core.stores.web_sessions.list(TARO)
        assert session.ends_at - session.made_at == timedelta(days=30)
        assert session.ends() - session.used_at == timedelta(days=7)


class TestALinkWithoutACode:
    async def test_signs_nobody_out(self, taro: Visit) -> None:
        await taro.open("/sign-in", status=401)
        await taro.open("/sign-in?code=", status=401)
        await taro.open("/settings")


class TestSomebodyElseInTheSameBrowser:
    async def test_ends_the_session_of_whoever_was_there(self, site: Site, taro: Visit) -> None:
        code = (await site.link(HANA)).partition("code=")[2]
        assert (await taro.press("/sign-in", code=code)).status == 303
        assert await site.core.stores.web_sessions.list(TARO) == []
        assert len(await site.core.stores.web_sessions.list(HANA)) == 1

    async def test_is_not_who_presses_on_a_page_that_was_opened_before(self, site: Site, taro: Visit) -> None:
        await site.core.stores.memories.add(HANA, "花の秘密")
        await site.core.stores.memories.add(TARO, "太郎の秘密")
        page = await taro.open("/memories/1")
        [whose] = {*re.findall(r'name="whose" value="(\d+)"', page)}
        assert page.count('name="whose"') == page.count(' method="post"')
        code = (await site.link(HANA)).partition("code=")[2]
        await taro.press("/sign-in", code=code)
        answer = await taro.press("/memories/1/delete", whose=whose)
        assert answer.status == 409
        assert "このブラウザで別の方がサインイン" in await answer.text()
        assert len(await site.core.stores.memories.list(HANA)) == 1
