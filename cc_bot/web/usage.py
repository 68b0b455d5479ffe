import asyncio
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import compress
from typing import Final

from aiohttp import web
from markupsafe import Markup

from cc_bot.charts.svg import chart_svg
from cc_bot.domain.canvas import Chart, Series
from cc_bot.domain.usage import Remaining, Total, UsageBreakdown, UsageReport
from cc_bot.texts.session import money
from cc_bot.web.page import render
from cc_bot.web.services import WebServices
from cc_bot.web.visitor import SignedIn, visitor_of

PERIODS: Final = (7, 30, 365)  # days to choose from
USUAL: Final = 30
MAX_GUILDS: Final = 20  # checked per request


@dataclass(frozen=True, slots=True)
class UsageTable:
    title: str
    of: str
    rows: Sequence[tuple[str, Total]]


@dataclass(frozen=True, slots=True)
class UsageView:
    name: str
    """Empty for the user's own."""
    lines: Sequence[str]
    left: Sequence[Remaining]
    currency: str
    total: Total
    chart: Markup
    tables: Sequence[UsageTable]


class UsagePages:
    def __init__(self, services: WebServices) -> None:
        self._services = services

    def routes(self) -> Sequence[web.AbstractRouteDef]:
        return (web.get("/usage", self.show),)

    async def show(self, request: web.Request) -> web.Response:
        visitor, spending = visitor_of(request), self._services.spending
        asked = request.query.get("days", "")
        days = next((days for days in PERIODS if str(days) == asked), USUAL)
        report = await spending.report_of(replace(visitor.payer, role_ids=()))
        own = _view(report, await spending.usage_of(visitor.user_id, days), visitor)
        return render(
            request,
            "usage.html",
            visitor,
            views=[own, *await self._guilds(visitor, days)],
            days=days,
            periods=PERIODS,
            money=money,
            in_guild=visitor.session.place.guild_id is not None,
        )

    async def _guilds(self, visitor: SignedIn, days: int) -> list[UsageView]:
        discord, spending = self._services.discord, self._services.spending
        known = await spending.list_guilds(visitor.user_id, PERIODS[-1])
        guilds = sorted({*known, *filter(None, [visitor.session.place.guild_id])})[:MAX_GUILDS]
        managed = await asyncio.gather(*(discord.manages(visitor.user_id, guild) for guild in guilds))
        views = []
        for guild in compress(guilds, managed):
            name = await discord.name_of_guild(guild) or str(guild)
            report, used = await spending.report_of_guild(guild), await spending.usage_of_guild(guild, days)
            views.append(_view(report, used, visitor, name))
        return views


def _view(report: UsageReport, used: UsageBreakdown, visitor: SignedIn, name: str = "") -> UsageView:
    words, said = visitor.words, visitor.words.web_usage
    labels = tuple(f"{day:%Y-%m}" if used.by_month else f"{day.month}/{day.day}" for day, _ in used.days)
    tokens = Series("", tuple(float(total.tokens) for _, total in used.days))
    chart = chart_svg(Chart("usage", words.usage.chart, "bar", labels, (tokens,)), words.locale)
    days = [
        (f"{day:%Y-%m}" if used.by_month else day.isoformat(), total)
        for day, total in reversed(used.days)
        if total != Total()
    ]
    models = [(model or words.usage.offline, total) for model, total in used.models]
    purposes = [(said.purposes[purpose], total) for purpose, total in used.purposes]
    by_day = (said.by_month, said.month) if used.by_month else (said.by_day, said.day)
    tables = (
        UsageTable(said.by_model, said.model, models),
        UsageTable(said.by_purpose, said.purpose, purposes),
        UsageTable(*by_day, days),
    )
    return UsageView(
        name,
        words.usage.lines(report, visitor.at),
        report.left,
        report.currency,
        used.total,
        Markup(chart),  # noqa: S704 - ours
        [table for table in tables if table.rows],
    )
