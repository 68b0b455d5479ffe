import json

from cc_bot.domain.message import UserSettings
from cc_bot.domain.session import SessionKey
from cc_bot.domain.text import Locale
from cc_bot.features.privacy.texts import PrivacyTexts
from cc_bot.texts import texts
from tests.web.pages import CHANNEL, HANA, TARO, Site, Visit
from tests.web.stored import GUILD, spend, talk

JA = texts(Locale.JA)[PrivacyTexts]


async def test_settings_are_chosen_together_and_those_that_are_none_stay_in_the_form(
    site: Site, taro: Visit
) -> None:
    settings = site.core.stores.settings
    for language, timezone in (("fr", ""), ("ja", "x" * 65)):
        assert (await taro.press("/settings", language=language, timezone=timezone)).status == 400
    page = await (await taro.press("/settings", language="en", timezone='火星 "<b>"')).text()
    for html in ('value="火星 &#34;&lt;b&gt;&#34;"', '<option value="en" lang="en" selected>'):
        assert html in page
    assert await settings.get(TARO) == UserSettings()
    page = await taro.follow(await taro.press("/settings", language="en", timezone="パリ"))
    assert "Your settings are saved." in page
    assert 'value="Europe/Paris"' in page
    chosen = await settings.get(TARO)
    assert (chosen.locale, chosen.timezone) == (Locale.EN, "Europe/Paris")
    assert await settings.get(HANA) == UserSettings()
    assert (await taro.press("/settings")).status == 400
    assert await settings.get(TARO) == chosen, "nothing was chosen"
    await taro.press("/settings", language="", timezone="")
    assert await settings.get(TARO) == UserSettings()


class TestUsage:
    async def test_is_told_by_day_and_model_and_is_nobody_elses(self, site: Site, taro: Visit) -> None:
        await spend(site, 777, user_id=HANA, model="secret-model")
        assert "この期間には、何も使っていません" in await taro.open("/usage")
        await spend(site, 1234)
        await spend(site, 500, model="large", purpose="summary", days_ago=20)
        page = await taro.open("/usage?days=30")
        for html in ("1,234 <small>トークン", ">1,734</td>", "1,234</title>"):
            assert html in page
        for name in ("small", "large", "質問への回答", "会話の要約"):
            assert f'class="name"><span>{name}' in page
        for secret in ("777", "secret-model", "サーバー:"):
            assert secret not in page
        assert ">1,734</td>" not in await taro.open("/usage?days=7")
        rows = (await taro.open("/usage/file?days=30")).removeprefix("\ufeff").splitlines()
        assert (len(rows), rows[0]) == (31, "日,トークン,質問,音声（秒）,金額")
        assert [row.split(",")[1] for row in rows if ",0,0,0," not in row] == ["トークン", "500", "1234"]
        assert "月ごと" in await taro.open("/usage?days=365")
        for wrong in ("1", "abc", "", "-7", "９"):
            assert ">1,734</td>" in await taro.open(f"/usage?days={wrong}")

    async def test_of_a_server_is_shown_to_its_manager_without_names(self, site: Site, taro: Visit) -> None:
        await spend(site, 900, user_id=HANA)
        site.town.managers.add((TARO, GUILD))
        assert "サーバー:" not in await taro.open("/usage")
        await spend(site, 100)
        page = await taro.open("/usage")
        for words in ("サーバー: 日本語サーバー", ">1,000</td>", "今月使った人"):
            assert words in page
        assert str(HANA) not in page
        site.town.managers.clear()
        assert "サーバー:" not in await taro.open("/usage")


class TestStoredData:
    async def test_is_downloaded_whole_and_without_anybody_elses(self, site: Site, taro: Visit) -> None:
        await talk(site, *((f"質問{number}「\n」", "はい") for number in range(30)))
        await talk(site, ("花の秘密", "はい"), key=SessionKey(HANA, CHANNEL))
        page = await taro.open("/privacy")
        for words in (JA.kinds["messages"], ">60</td>", JA.kept_until_erased):
            assert words in page
        async with taro.client.get("/privacy/export") as answer:
            assert answer.content_type == "application/json"
            assert "attachment" in answer.headers["Content-Disposition"]
            text = await answer.text()
        told = json.loads(text)
        assert (told["format"], bool(told["last"])) == ("cc-bot-personal-data", True)
        assert [each["content"] for each in told["data"]["messages"]].count("質問7「\n」") == 1
        assert (len(told["data"]["messages"]), "花の秘密" in text) == (60, False)

    async def test_is_erased_after_a_question_and_signs_out_everywhere(self, site: Site, taro: Visit) -> None:
        await talk(site, ("猫の名前は?", "タマです"))
        await talk(site, ("猫の名前は?", "タマです"), key=SessionKey(HANA, CHANNEL))
        async with site.visit() as other:
            question = await taro.open("/privacy/erase")
            for words in (f"{JA.kinds['messages']} <span>2</span>", JA.stays[0]):
                assert words in question
            assert (await site.core.privacy.get_overview(TARO)).count("messages") == 2
            answer = await taro.press("/privacy/erase", until=until(question))
            page = await answer.text()
            assert answer.status == 200
            for words in ("すべて消しました", "サインアウトしました"):
                assert words in page
            assert 'href="/memories"' not in page
            for visit in (taro, other):
                await visit.open("/privacy", status=401)
        assert (await site.core.privacy.get_overview(TARO)).is_empty
        assert site.town.told_anew == [TARO]
        assert (await site.core.privacy.get_overview(HANA)).count("messages") == 2

    async def test_is_not_erased_by_another_site_or_an_old_page(self, site: Site, taro: Visit) -> None:
        await talk(site, ("猫の名前は?", "タマです"))
        form = {"until": until(await taro.open("/privacy/erase"))}
        foreign = {"Origin": "https://evil.example"}
        async with taro.client.post("/privacy/erase", data=form, headers=foreign) as answer:
            assert answer.status == 403
        for old in ("1", "", "x", "９" * 3):
            answer = await taro.press("/privacy/erase", until=old)
            assert "何も消していません" in await taro.follow(answer)
        assert (await site.core.privacy.get_overview(TARO)).count("messages") == 2


def until(page: str) -> str:
    """Return what the button of the question carries."""
    return page.partition('name="until" value="')[2].partition('"')[0]
