"""Usage in tokens and money: prices, daily sums and reports."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import date, timedelta
from itertools import dropwhile
from typing import Final, TypeVar

from cc_bot.domain.canvas import Chart, Series
from cc_bot.domain.limits import Remaining
from cc_bot.domain.measures import Purpose
from cc_bot.domain.turn import Usage

TOKENS_A_SECOND: Final = 10
"""Tokens that a second of audio counts as, as in OpenAI's own models."""
MICROS: Final = 1_000_000
"""Costs are whole millionths of the currency, so that sums are exact."""
MAX_PRICE: Final = 10**9
"""Per million tokens."""


@dataclass(frozen=True, slots=True)
class Price:
    """Prices per million tokens, in the currency of the price list."""

    input: float
    output: float
    cached: float | None = None
    """Prompt tokens that the server had cached; None: as any other."""
    per_minute: float = 0.0
    """Audio, heard or spoken."""

    def of(self, usage: Usage) -> int:
        """Return the cost in millionths of the currency."""
        cached = min(usage.cached_tokens, usage.prompt_tokens)
        fresh = usage.prompt_tokens - cached
        cheaper = self.input if self.cached is None else self.cached
        tokens = fresh * self.input + cached * cheaper + usage.completion_tokens * self.output
        return round(tokens + usage.seconds * self.per_minute * MICROS / 60)


@dataclass(frozen=True, slots=True)
class PriceList:
    currency: str = "USD"
    models: Mapping[str, Price] = field(default_factory=dict)
    """By the model names in requests."""

    def cost(self, model: str, usage: Usage) -> int:
        """Return the cost in millionths of the currency; 0 for a model without a price."""
        price = self.models.get(model)
        return price.of(usage) if price else 0

    def has(self, model: str) -> bool:
        return model in self.models


@dataclass(frozen=True, slots=True)
class ModelUsage:
    model: str
    usage: Usage


@dataclass(frozen=True, slots=True)
class DailyUsage:
    """Usage of one model for one purpose on one day."""

    day: date
    model: str
    purpose: Purpose | None
    """None: any."""
    turns: int
    usage: Usage
    cost_micros: int

    @property
    def tokens(self) -> int:
        return self.usage.prompt_tokens + self.usage.completion_tokens


CHART_DAYS: Final = 14
MAX_MODELS_NAMED: Final = 5


@dataclass(frozen=True, slots=True)
class Total:
    turns: int = 0
    tokens: int = 0
    cost_micros: int = 0
    seconds: int = 0

    def plus(self, used: DailyUsage) -> "Total":
        return Total(
            self.turns + used.turns,
            self.tokens + used.tokens,
            self.cost_micros + used.cost_micros,
            self.seconds + used.usage.seconds,
        )


@dataclass(frozen=True, slots=True)
class UsageReport:
    today: Total
    month: Total
    days: tuple[tuple[date, int], ...]
    """Tokens of each day up to today, from the first of the last CHART_DAYS with any."""
    models: tuple[tuple[str, Total], ...]
    """This month, the most used first; '' is the offline model."""
    currency: str = ""
    """Empty if no model has a price."""
    unpriced: tuple[str, ...] = ()
    """Models of this month without a price, if others have one."""
    left: tuple[Remaining, ...] = ()
    """Of each token limit."""
    users: int | None = None
    """Users this month; None in the report of one user."""

    @property
    def empty(self) -> bool:
        return self.month == Total() and not self.days


def first_day(today: date) -> date:
    """Return the first day that a report covers."""
    return min(today.replace(day=1), today - timedelta(days=CHART_DAYS - 1))


def report_of(used: Sequence[DailyUsage], today: date) -> UsageReport:
    """`used` since `first_day(today)`."""
    month = break_down(used, today.replace(day=1), today)
    shown = break_down(used, today - timedelta(days=CHART_DAYS - 1), today)
    days = dropwhile(lambda day: not day[1], ((day, total.tokens) for day, total in shown.days))
    return UsageReport(shown.days[-1][1], month.total, tuple(days), month.models)


def with_prices(report: UsageReport, currency: str, priced_models: Iterable[str]) -> UsageReport:
    """Return the report with its currency, if any model has a price."""
    known = frozenset(priced_models)
    if not known:
        return report
    unpriced = tuple(
        model for model, total in report.models if model not in known and (total.tokens or total.seconds)
    )
    return replace(report, currency=currency, unpriced=unpriced[:MAX_MODELS_NAMED])


def chart_of(report: UsageReport, name: str) -> Chart:
    """Return a chart of tokens by day, whose series is called `name`."""
    labels = tuple(f"{day.month}/{day.day}" for day, _ in report.days)
    values = tuple(float(tokens) for _, tokens in report.days)
    return Chart("usage", "", "bar", labels, (Series(name, values),))


@dataclass(frozen=True, slots=True)
class UsageBreakdown:
    """Usage of a range of days: in all, by day, by model and by purpose."""

    total: Total
    days: tuple[tuple[date, Total], ...]
    """Every day in order; months (by their first day) for more than MAX_DAYS_SHOWN."""
    models: tuple[tuple[str, Total], ...]
    """The most used first; '' is the offline model."""
    purposes: tuple[tuple[Purpose, Total], ...]
    """The most used first; empty if unknown."""

    @property
    def by_month(self) -> bool:
        return len(self.days) > 1 and all(day.day == 1 for day, _ in self.days)


MAX_DAYS_SHOWN: Final = 62
_Name = TypeVar("_Name", bound=str)


def break_down(used: Sequence[DailyUsage], first: date, last: date) -> UsageBreakdown:
    """Add up usage from the `first` to the `last` day, both included."""
    used = [each for each in used if first <= each.day <= last]
    days = [first + timedelta(days=days) for days in range((last - first).days + 1)]
    by_month = len(days) > MAX_DAYS_SHOWN
    sums = dict.fromkeys((day.replace(day=1) if by_month else day for day in days), Total())
    for each in used:
        day = each.day.replace(day=1) if by_month else each.day
        sums[day] = sums[day].plus(each)
    return UsageBreakdown(
        _sum(used),
        tuple(sums.items()),
        _sums_by((each.model, each) for each in used),
        _sums_by((each.purpose, each) for each in used if each.purpose is not None),
    )


def _sums_by(used: Iterable[tuple[_Name, DailyUsage]]) -> tuple[tuple[_Name, Total], ...]:
    """Add up by name, the most used first."""
    sums: dict[_Name, Total] = {}
    for name, each in used:
        sums[name] = sums.get(name, Total()).plus(each)
    return tuple(sorted(sums.items(), key=_by_use))


def _by_use(item: tuple[str, Total]) -> tuple[int, int, int, str]:
    name, total = item
    return -total.tokens, -total.turns, -total.seconds, name


def _sum(used: Iterable[DailyUsage]) -> Total:
    total = Total()
    for each in used:
        total = total.plus(each)
    return total
