"""Signing in: a link works once, and only for who presses."""

import asyncio
import re
from datetime import timedelta

from cc_bot.domain.text import Locale
from cc_bot.texts import texts
from cc_bot.texts.web import WebTexts
from tests.web.pages import HANA, TARO, Site, Visit
from tests.web.stored import keep


class TestALink:
    async def test_tells_whose_pages_it_opens_and_is_not_used_up_by_that(self, site: Site) -> None:
        link = await site.link(HANA)
        async with site.visit(None) as visit:
            for _ in range(3):
                assert "花 &amp; &lt;Hana&gt;さんのページ" in await visit.open(link)
            assert texts(Locale.JA)[WebTexts].terminal_user in await visit.open(await site.link(0))

    async def test_works_once(self, site: Site) -> None:
        code = (await site.link()).partition("code=")[2]
        rows = [row async for row in site.core.stores.personal_data.read_records(TARO)]
        assert rows
        assert code not in repr(rows), "no secret is stored"
        async with site.visit(None) as one, site.visit(None) as other:
            answers = await asyncio.gather(
                one.press("/sign-in", code=code), other.press("/sign-in", code=code)
            )
        assert sorted(answer.status for answer in answers) == [303, 410]
        [session] = await site.core.stores.web_sessions.list(TARO)
        assert session.ends_at - session.made_at == timedelta(days=30)
        assert session.expires_at - session.used_at == timedelta(days=7)

    async def test_that_was_made_up_is_gone_and_a_good_one_works_beside_many(self, site: Site) -> None:
        async with site.visit(None) as visit:
            for number in range(5):
                text = await visit.open(f"/sign-in?code=x{number}", status=410)
                assert texts(Locale.JA)[WebTexts].link_title in text
            await visit.open("/sign-in?code=x", status=429)
            link = await site.link()
            await visit.open(link)
            assert (await visit.press("/sign-in", code=link.partition("code=")[2])).status == 303
            for path in ("/sign-in", "/sign-in?code="):
                await visit.open(path, status=401)
            await visit.open("/settings")


class TestSomebodyElseInTheSameBrowser:
    async def test_ends_the_session_of_whoever_was_there(self, site: Site, taro: Visit) -> None:
        await keep(site, "花の秘密", HANA)
        await keep(site, "太郎の秘密")
        page = await taro.open("/memories/1")
        [whose] = {*re.findall(r'name="whose" value="(\d+)"', page)}
        assert page.count('name="whose"') == page.count(' method="post"')
        code = (await site.link(HANA)).partition("code=")[2]
        assert (await taro.press("/sign-in", code=code)).status == 303
        assert await site.core.stores.web_sessions.list(TARO) == []
        assert len(await site.core.stores.web_sessions.list(HANA)) == 1
        answer = await taro.press("/memories/1/delete", whose=whose)
        assert answer.status == 409, "that page was opened by somebody else"
        assert "このブラウザで別の方がサインイン" in await answer.text()
        assert len(await site.core.stores.memories.list(HANA)) == 1


class TestASession:
    async def test_ends_at_the_sign_out_and_is_nobody_elses(self, site: Site, taro: Visit) -> None:
        sessions = site.core.stores.web_sessions
        [session] = await sessions.list(TARO)
        async with site.visit(HANA) as hana:
            assert (await hana.press("/sessions/end", id=str(session.id))).status == 404
            assert await sessions.list(TARO) == [session]
            answer = await hana.press("/sessions/end", id=str((await sessions.list(HANA))[0].id))
            assert answer.headers["Location"] == "/signed-out"
            assert "Max-Age=0" in answer.headers["Set-Cookie"]
            await hana.open("/settings", status=401)
        answer = await taro.press("/sign-out")
        assert "サインアウトしました" in await taro.open(answer.headers["Location"])
        assert "/マイページ" in await taro.open("/", status=401)

    async def test_of_another_browser_is_listed_and_ended(self, site: Site, taro: Visit) -> None:
        link = await site.link()
        async with site.visit() as other, site.visit(HANA) as hana:
            assert (await taro.open("/settings")).count("最後の利用") == 1, "not of this browser"
            answer = await taro.press("/sessions/end", id="others")
            assert "ほかのブラウザをすべて" in await taro.follow(answer)
            await other.open("/settings", status=401)
            await other.open(link, status=410)
            assert "設定" in await taro.open(link), "a used link opens the pages of who is signed in"
            await hana.open("/settings")
