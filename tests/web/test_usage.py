"""The page of one's usage, and of servers that one manages: theirs, and of nobody else's."""

from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Final

from cc_bot.domain import Locale
from cc_bot.domain.measures import Purpose
from cc_bot.domain.member import DEFAULT_RULES, ModelUsage, UsageSubject
from cc_bot.domain.turn import Usage
from cc_bot.stores import ReservationRequest, Settlement, UsageStore
from tests.web.pages import HANA, TARO, Site, Visit, open_site

GUILD: Final = 1_100_000_000_000_000_001
POLICY: Final = """
[limits]
tokens_per_day = 10_000
[prices]
currency = "USD"
[prices.small]
input = 2.0
output = 10.0
"""


async def spend(
    site: Site,
    tokens: int,
    *,
    user_id: int = TARO,
    model: str = "small",
    purpose: Purpose = "turn",
    days_ago: int = 0,
    guild_id: int = GUILD,
) -> None:
    """Have so many tokens counted, as a turn does."""
    stores = site.core.stores
    usage = UsageStore(
        stores.usage._database,
        clock=lambda: datetime.now(UTC) - timedelta(days=days_ago),
        zone=stores.usage.zone,
    )
    payer = UsageSubject(user_id, guild_id)
    reservation = await usage.reserve(ReservationRequest(payer, purpose, model, 10), DEFAULT_RULES)
    spent = ((ModelUsage(model, Usage(tokens - 1, 1)), 1_500_000),)
    assert await usage.settle(Settlement(reservation, spent))


class TestOwn:
    async def test_is_told_by_day_model_and_purpose(self, site: Site, taro: Visit) -> None:
        assert "この期間には、何も使っていません" in await taro.open("/usage")
        await spend(site, 1234)
        await spend(site, 500, model="large", purpose="summary", days_ago=3)
        page = await taro.open("/usage")
        assert "今日: 1,234 トークン" in page
        assert ">1,734</td>" in page
        for name in ("small", "large", "質問への回答", "会話の要約"):
            assert f'<th scope="row">{name}</th>' in page
        assert page.count("<rect ") == 30
        assert "1,234 トークン</title>" in page

    async def test_is_told_of_so_many_days(self, site: Site, taro: Visit) -> None:
        await spend(site, 1000, days_ago=20)
        await spend(site, 100)
        assert ">1,100</td>" in await taro.open("/usage?days=30")
        week = await taro.open("/usage?days=7")
        assert ">1,100</td>" not in week
        assert week.count("<rect ") == 7
        assert "月ごと" in await taro.open("/usage?days=365")
        for wrong in ("1", "abc", "", "-7", "９"):
            page = await taro.open(f"/usage?days={wrong}")
            assert 'href="/usage?days=30" aria-current="true"' in page
            assert ">1,100</td>" in page

    async def test_is_nobody_elses(self, site: Site, taro: Visit) -> None:
        await spend(site, 777, user_id=HANA, model="secret-model")
        page = await taro.open("/usage")
        assert "777" not in page
        assert "secret-model" not in page

    async def test_tells_what_is_left_and_what_it_costs(self, tmp_path: Path) -> None:
        policy = tmp_path / "policy.toml"
        policy.write_text(POLICY)
        async with open_site(tmp_path, CC_BOT_POLICY_FILE=str(policy)) as site, site.visit() as taro:
            await spend(site, 4000)
            await site.core.stores.settings.set(TARO, locale=Locale.EN)
            page = await taro.open("/usage")
        assert "Left today: 6,000 of 10,000 tokens (all again at " in page
        assert '<meter min="0" max="10000" value="6000"' in page
        assert "1.50 USD" in page
        assert "&lt;t:" not in page


class TestServer:
    async def test_is_shown_to_who_manages_it_without_names(self, site: Site, taro: Visit) -> None:
        await spend(site, 100)
        await spend(site, 900, user_id=HANA)
        assert "サーバー: 日本語サーバー" not in await taro.open("/usage")
        site.town.managers.add((TARO, GUILD))
        page = await taro.open("/usage")
        assert "サーバー: 日本語サーバー" in page
        assert ">1,000</td>" in page
        assert "今月使った人: 2人" in page
        assert str(HANA) not in page

    async def test_that_one_used_nothing_in_is_not_asked_about(self, site: Site, taro: Visit) -> None:
        await spend(site, 900, user_id=HANA)
        site.town.managers.add((TARO, GUILD))
        assert "サーバー:" not in await taro.open("/usage")
