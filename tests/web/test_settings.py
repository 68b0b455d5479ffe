"""The page of one's settings: what `/settings` chooses, and the browsers that are signed in."""

from pathlib import Path

import pytest

from cc_bot.domain import Locale
from cc_bot.domain.message import UserSettings
from tests.web.pages import HANA, TARO, Site, Visit, open_site


class TestSettings:
    async def test_are_chosen_together_and_hold_on_the_next_page(self, site: Site, taro: Visit) -> None:
        page = await taro.open("/settings")
        assert "言語" in page
        assert 'placeholder="Asia/Tokyo"' in page
        answer = await taro.press("/settings", language="en", timezone="パリ")
        page = await taro.follow(answer)
        assert "Your settings are saved." in page
        assert 'value="Europe/Paris"' in page
        chosen = await site.core.stores.settings.get(TARO)
        assert (chosen.locale, chosen.timezone) == (Locale.EN, "Europe/Paris")

    async def test_go_back_to_what_holds_without_a_choice(self, site: Site, taro: Visit) -> None:
        await taro.press("/settings", language="en", timezone="Europe/Paris")
        await taro.press("/settings", language="", timezone="")
        assert await site.core.stores.settings.get(TARO) == UserSettings()
        assert "設定" in await taro.open("/settings")

    @pytest.mark.parametrize(
        ("language", "timezone", "told"),
        [("ja", "どこか", "タイムゾーン"), ("fr", "", ""), ("ja", "x" * 65, "")],
    )
    async def test_that_are_none_change_nothing(
        self, site: Site, taro: Visit, language: str, timezone: str, told: str
    ) -> None:
        answer = await taro.press("/settings", language=language, timezone=timezone)
        assert answer.status == 400
        assert told in await answer.text()
        assert await site.core.stores.settings.get(TARO) == UserSettings()

    async def test_with_no_time_zone_stay_in_the_form_with_what_is_wrong(
        self, site: Site, taro: Visit
    ) -> None:
        await taro.press("/settings", language="ja", timezone="Europe/Paris")
        answer = await taro.press("/settings", language="en", timezone='火星 "<b>"')
        page = await answer.text()
        assert answer.status == 400
        assert 'value="火星 &#34;&lt;b&gt;&#34;"' in page
        assert 'aria-describedby="timezone-trouble timezone-hint" aria-invalid="true"' in page
        assert "そのタイムゾーンは見つかりません" in page
        assert '<option value="en" lang="en" selected>' in page
        assert "サインインしているブラウザ" in page
        chosen = await site.core.stores.settings.get(TARO)
        assert (chosen.locale, chosen.timezone) == (Locale.JA, "Europe/Paris")
        assert "aria-invalid" not in await taro.open("/settings")

    async def test_are_ones_own(self, site: Site, taro: Visit) -> None:
        await taro.press("/settings", language="en", timezone="Europe/Paris")
        assert await site.core.stores.settings.get(HANA) == UserSettings()

    async def test_tell_of_a_voice_where_there_is_one(self, site: Site, taro: Visit, tmp_path: Path) -> None:
        assert 'name="spoken"' not in await taro.open("/settings")
        await taro.press("/settings", language="", timezone="", spoken="on")
        assert not (await site.core.stores.settings.get(TARO)).spoken
        (tmp_path / "speaking").mkdir()
        async with (
            open_site(tmp_path / "speaking", CC_BOT_SPEECH_MODEL="voice", OPENAI_API_KEY="none") as speaking,
            speaking.visit() as visit,
        ):
            assert 'name="spoken"' in await visit.open("/settings")
            await visit.press("/settings", language="", timezone="", spoken="on")
            assert (await speaking.core.stores.settings.get(TARO)).spoken
            assert 'name="spoken" value="on" checked' in await visit.open("/settings")


class TestBrowsers:
    async def test_are_listed_with_this_one_marked(self, site: Site, taro: Visit) -> None:
        async with site.visit(), site.visit(HANA):
            page = await taro.open("/settings")
        assert page.count("最後の利用") == 2
        assert page.count("このブラウザ</span>") == 1

    @pytest.mark.parametrize("which", ["all", "this"])
    async def test_that_are_ended_with_this_one_lead_to_the_page_that_says_so(
        self, site: Site, taro: Visit, which: str
    ) -> None:
        [session] = await site.core.stores.web_sessions.list(TARO)
        answer = await taro.press("/sessions/end", id=which if which == "all" else str(session.id))
        assert answer.headers["Location"] == "/signed-out"
        assert "Max-Age=0" in answer.headers["Set-Cookie"]
        await taro.open("/settings", status=401)

    async def test_are_ended_but_this_one(self, site: Site, taro: Visit) -> None:
        link = await site.link()
        async with site.visit() as other, site.visit(HANA) as hana:
            answer = await taro.press("/sessions/end", id="others")
            assert "ほかのブラウザをすべて" in await taro.follow(answer)
            await other.open("/settings", status=401)
            await other.open(link, status=410)
            await hana.open("/settings")

    async def test_are_ended_all_together(self, site: Site, taro: Visit) -> None:
        async with site.visit() as other:
            await taro.press("/sessions/end", id="all")
            for visit in (taro, other):
                await visit.open("/settings", status=401)


class TestNothingChosen:
    async def test_changes_nothing(self, site: Site, taro: Visit) -> None:
        await taro.press("/settings", language="en", timezone="Europe/Paris")
        assert (await taro.press("/settings")).status == 400
        chosen = await site.core.stores.settings.get(TARO)
        assert (chosen.locale, chosen.timezone) == ("en", "Europe/Paris")
