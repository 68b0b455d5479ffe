"""A user's tokens and cost, as in `/usage`, and those of servers that the user manages."""

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from datetime import date
from typing import Final

from aiohttp import web
from markupsafe import Markup

from cc_bot.charts.svg import chart_svg
from cc_bot.domain.canvas import Chart, Series
from cc_bot.domain.usage import Remaining, Total, UsageBreakdown, UsageReport
from cc_bot.texts import Texts
from cc_bot.texts.session import money
from cc_bot.web.page import render
from cc_bot.web.services import WebServices
from cc_bot.web.visitor import SignedIn, visitor_of

PERIODS: Final = (7, 30, 365)
"""Days to choose from."""
USUAL: Final = 30
MAX_GUILDS: Final = 20
"""Checked per request."""


@dataclass(frozen=True, slots=True)
class UsageTable:
    title: str
    of: str
    """Heading of the first column."""
    rows: Sequence[tuple[str, Total]]


@dataclass(frozen=True, slots=True)
class UsageView:
    """Usage of a user or server, formatted."""

    name: str
    """Of a server; empty for the user."""
    lines: Sequence[str]
    left: Sequence[Remaining]
    total: Total
    chart: Markup
    tables: Sequence[UsageTable]
    currency: str
    sound: bool
    """Whether there is any speech usage."""


class UsagePages:
    def __init__(self, services: WebServices) -> None:
        self._services = services

    def routes(self) -> Sequence[web.AbstractRouteDef]:
        return (web.get("/usage", self.show),)

    async def show(self, request: web.Request) -> web.Response:
        """Show the user's usage, and that of managed servers."""
        visitor, spending = visitor_of(request), self._services.spending
        days = _days_of(request)
        payer = replace(visitor.payer, role_ids=())
        own = view_of(
            await spending.report_of(payer), await spending.usage_of(visitor.user_id, days), visitor
        )
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
        asked_for = visitor.session.place.guild_id
        known = await spending.list_guilds(visitor.user_id, PERIODS[-1])
        guilds = sorted({*known, *filter(None, [asked_for])})[:MAX_GUILDS]
        managed = await asyncio.gather(*(discord.manages(visitor.user_id, guild) for guild in guilds))
        return [
            view_of(
                await spending.report_of_guild(guild),
                await spending.usage_of_guild(guild, days),
                visitor,
                name=await discord.name_of_guild(guild) or str(guild),
            )
            for guild, may_see in zip(guilds, managed, strict=True)
            if may_see
        ]


def _days_of(request: web.Request) -> int:
    asked = request.query.get("days", "")
    return next((days for days in PERIODS if str(days) == asked), USUAL)


def view_of(report: UsageReport, used: UsageBreakdown, visitor: SignedIn, *, name: str = "") -> UsageView:
    """Return usage as a page shows it; `name` is a server's."""
    words = visitor.words
    return UsageView(
        name,
        words.usage.lines(report, visitor.at),
        report.left,
        used.total,
        _chart(used, words),
        _tables(used, words),
        report.currency,
        sound=used.total.seconds > 0,
    )


def _written(used: UsageBreakdown) -> Callable[[date], str]:
    return (lambda day: f"{day:%Y-%m}") if used.by_month else date.isoformat


def _chart(used: UsageBreakdown, words: Texts) -> Markup:
    labels = tuple(f"{day:%Y-%m}" if used.by_month else f"{day.month}/{day.day}" for day, _ in used.days)
    tokens = Series("", tuple(float(total.tokens) for _, total in used.days))
    return Markup(chart_svg(Chart("usage", words.usage.chart, "bar", labels, (tokens,)), words.locale))  # noqa: S704 - ours


def _tables(used: UsageBreakdown, words: Texts) -> list[UsageTable]:
    said, written = words.web_usage, _written(used)
    days = [(written(day), total) for day, total in reversed(used.days) if total != Total()]
    models = [(model or words.usage.offline, total) for model, total in used.models]
    purposes = [(said.purposes[purpose], total) for purpose, total in used.purposes]
    by_day = UsageTable(
        said.by_month if used.by_month else said.by_day, said.month if used.by_month else said.day, days
    )
    by_model = UsageTable(said.by_model, said.model, models)
    by_purpose = UsageTable(said.by_purpose, said.purpose, purposes)
    return [table for table in (by_model, by_purpose, by_day) if table.rows]
