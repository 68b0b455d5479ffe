"""The page of what is stored about whoever is signed in: shown, downloaded, erased."""

import json

import pytest

from cc_bot.domain import Locale, Message, SessionKey
from tests.web.pages import CHANNEL, HANA, TARO, Site, Visit


async def talk(
    site: Site, user_id: int = TARO, said: str = "猫の名前は?", answered: str = "タマです"
) -> None:
    sessions = site.core.stores.sessions
    session = await sessions.open(SessionKey(user_id, CHANNEL))
    await sessions.commit_turn(session, [Message("user", said), Message("assistant", answered)])


class TestShowing:
    async def test_tells_how_much_of_what_and_for_how_long(self, site: Site, taro: Visit) -> None:
        await talk(site)
        page = await taro.open("/privacy")
        assert "会話の中の質問と回答" in page
        assert ">2</td>" in page
        assert "そのほかは、あなたが消すまで残ります。" in page
        await site.core.stores.settings.set(TARO, locale=Locale.EN)
        english = await taro.open("/privacy")
        assert "What is stored about you" in english
        assert "Everything else stays until you delete it." in english

    @pytest.mark.parametrize("path", ["/privacy", "/privacy/erase"])
    async def test_is_a_part_of_the_settings(self, taro: Visit, path: str) -> None:
        assert 'href="/settings" aria-current="page"' in await taro.open(path)

    async def test_counts_links_as_what_they_are_and_no_browser_that_signed_out(
        self, site: Site, taro: Visit
    ) -> None:
        async with site.visit() as other:
            await other.press("/sign-out")
        await site.link()
        counted = "サインイン（未使用のリンクをふくむ） 2件"
        assert counted in await taro.open("/privacy/erase"), "this browser, and the link"
        answer = await taro.press("/privacy/erase", until=await until(taro))
        page = await answer.text()
        assert counted in page
        assert "すべて消しました。" in page
        assert "🗑" not in page

    async def test_is_also_for_whoever_may_not_use_the_bot_any_more(self, site: Site, taro: Visit) -> None:
        site.town.denied.add(TARO)
        refused = await taro.open("/settings", status=403)
        assert '<a href="/privacy">' in refused
        assert 'action="/sign-out"' in refused
        await taro.open("/privacy")
        await taro.open("/privacy/export")


class TestExport:
    async def test_is_one_file_of_everything_and_of_nobody_elses(self, site: Site, taro: Visit) -> None:
        for number in range(30):
            await talk(site, said=f"質問{number}「\n」")
        await talk(site, HANA, said="花の秘密")
        async with taro.client.get("/privacy/export") as answer:
            assert answer.content_type == "application/json"
            assert "attachment" in answer.headers["Content-Disposition"]
            text = await answer.text()
        told = json.loads(text)
        assert told["format"] == "cc-bot-personal-data"
        assert told["last"]
        assert [each["content"] for each in told["data"]["messages"]].count("質問7「\n」") == 1
        assert len(told["data"]["messages"]) == 60
        assert "web_sessions" in told["data"]
        assert "花の秘密" not in text


class TestErasing:
    async def test_tells_first_what_goes_and_what_stays(self, site: Site, taro: Visit) -> None:
        await talk(site)
        page = await taro.open("/privacy/erase")
        assert "会話の中の質問と回答 2件" in page
        assert "残るもの: Discord に表示されているメッセージ" in page
        assert "-#" not in page
        assert (await site.core.privacy.overview(TARO)).count("messages") == 2

    async def test_erases_signs_out_everywhere_and_says_so(self, site: Site, taro: Visit) -> None:
        await talk(site)
        await talk(site, HANA)
        async with site.visit() as other:
            answer = await taro.press("/privacy/erase", until=await until(taro))
            assert answer.status == 200
            page = await answer.text()
            assert "すべて消しました" in page
            assert "サインアウトしました" in page
            assert 'href="/memories"' not in page
            for visit in (taro, other):
                await visit.open("/privacy", status=401)
        assert (await site.core.privacy.overview(TARO)).empty
        assert site.town.told_anew == [TARO]
        assert (await site.core.privacy.overview(HANA)).count("messages") == 2

    @pytest.mark.slow
    async def test_asks_once_more_when_the_question_is_an_old_one(self, site: Site, taro: Visit) -> None:
        await talk(site)
        for old in ("1", "", "x", "９" * 3):
            answer = await taro.press("/privacy/erase", until=old)
            assert "何も消していません" in await taro.follow(answer)
        assert (await site.core.privacy.overview(TARO)).count("messages") == 2

    async def test_is_for_pages_of_ours_alone(self, site: Site, taro: Visit) -> None:
        form = {"until": await until(taro)}
        async with taro.client.post(
            "/privacy/erase", data=form, headers={"Origin": "https://evil.example"}
        ) as answer:
            assert answer.status == 403
        assert not (await site.core.privacy.overview(TARO)).empty

    async def test_says_the_same_in_english(self, site: Site, taro: Visit) -> None:
        await talk(site, said="What is it called?", answered="Tama")
        await site.core.stores.settings.set(TARO, locale=Locale.EN)
        answer = await taro.press("/privacy/erase", until=await until(taro))
        assert "Everything is erased. That was: conversations: 1" in await answer.text()


async def until(visit: Visit) -> str:
    """Return what the button of the question carries."""
    return (await visit.open("/privacy/erase")).partition('name="until" value="')[2].partition('"')[0]
