"""What was used lately, added up for whoever wants to know: today, this month, by day and by model."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import date, timedelta
from typing import Final

from cc_bot.domain.canvas import Chart, Series
from cc_bot.domain.limits import Left
from cc_bot.domain.usage import Used

DAYS: Final = 14
"""In the chart."""
MODELS: Final = 5
"""That are named, those that used most."""


@dataclass(frozen=True, slots=True)
class Total:
    turns: int = 0
    tokens: int = 0
    cost_micros: int = 0

    def plus(self, used: Used) -> "Total":
        return Total(self.turns + used.turns, self.tokens + used.tokens, self.cost_micros + used.cost_micros)


@dataclass(frozen=True, slots=True)
class UsageReport:
    today: Total
    month: Total
    days: tuple[tuple[date, int], ...]
    """Tokens of each day up to today, from the first of the last DAYS on which there were any."""
    models: tuple[tuple[str, Total], ...]
    """Of this month, those that used most first; '' is the one that comes along."""
    currency: str = ""
    """Of the costs; empty where nothing has a price."""
    unpriced: tuple[str, ...] = ()
    """Models of this month that have no price though others have one."""
    left: tuple[Left, ...] = ()
    """Of tokens, where there are limits."""
    users: int | None = None
    """How many there were this month; None in the report of one of them."""

    @property
    def empty(self) -> bool:
        return not self.month.turns and not self.month.tokens and not self.days


def first_day(today: date) -> date:
    """From which on a report needs to know."""
    return min(today.replace(day=1), today - timedelta(days=DAYS - 1))


def report_of(used: Sequence[Used], today: date) -> UsageReport:
    """`used` since `first_day(today)`."""
    this_month = [each for each in used if each.day >= today.replace(day=1)]
    models: dict[str, Total] = {}
    for each in this_month:
        models[each.model] = models.get(each.model, Total()).plus(each)
    by_use = sorted(models.items(), key=lambda item: (-item[1].tokens, -item[1].turns, item[0]))
    return UsageReport(
        today=_sum(each for each in used if each.day == today),
        month=_sum(this_month),
        days=_days(used, today),
        models=tuple(by_use),
    )


def priced(report: UsageReport, currency: str, priced_models: Iterable[str]) -> UsageReport:
    """With its currency, if any model has a price."""
    known = frozenset(priced_models)
    if not known:
        return report
    unpriced = tuple(model for model, total in report.models if model not in known and total.tokens)
    return replace(report, currency=currency, unpriced=unpriced[:MODELS])


def chart_of(report: UsageReport, name: str) -> Chart:
    """Tokens by day; `name` says that in words."""
    labels = tuple(f"{day.month}/{day.day}" for day, _ in report.days)
    values = tuple(float(tokens) for _, tokens in report.days)
    return Chart("usage", "", "bar", labels, (Series(name, values),))


def _sum(used: Iterable[Used]) -> Total:
    total = Total()
    for each in used:
        total = total.plus(each)
    return total


def _days(used: Iterable[Used], today: date) -> tuple[tuple[date, int], ...]:
    tokens: dict[date, int] = {}
    for each in used:
        tokens[each.day] = tokens.get(each.day, 0) + each.tokens
    days = [today - timedelta(days=back) for back in reversed(range(DAYS))]
    first = next((day for day in days if tokens.get(day)), None)
    return tuple((day, tokens.get(day, 0)) for day in days if first is not None and day >= first)
