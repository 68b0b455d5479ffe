"""Usage in tokens and money: limits, prices, daily sums and reports.

A user's limit is the rule for the user, else the most generous rule for one of their roles, else the rule for
everyone. A guild's limits apply in addition, to the sum over its members.
"""

from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, date, datetime, timedelta
from itertools import dropwhile
from typing import Final, Literal, TypeVar, get_args
from zoneinfo import ZoneInfo

from cc_bot.domain.chart import Chart, Series
from cc_bot.domain.measures import Purpose
from cc_bot.domain.turn import Usage

UsageLimit = Literal["turns_per_minute", "tokens_per_day", "tokens_per_month", "concurrent"]
"""concurrent: turns that run or wait."""
USAGE_LIMITS: Final[tuple[UsageLimit, ...]] = get_args(UsageLimit)

Quota = Literal["memories", "memory_bytes", "imports_per_hour", "commands_per_minute"]
"""memory_bytes includes former versions, commands_per_minute buttons and forms."""
QUOTAS: Final[tuple[Quota, ...]] = get_args(Quota)

LimitName = UsageLimit | Quota
LIMIT_NAMES: Final[tuple[LimitName, ...]] = (*USAGE_LIMITS, *QUOTAS)

LimitScope = Literal["everyone", "user", "role", "guild"]

EVERYONE_ID: Final = 0
MAX_LIMIT: Final = 10**15
MINUTE: Final = timedelta(minutes=1)
HOUR: Final = timedelta(hours=1)


@dataclass(frozen=True, slots=True)
class LimitKey:
    scope: LimitScope
    scope_id: int
    name: LimitName


LimitRules = Mapping[LimitKey, int | None]  # None: no limit, in spite of less specific rules

DEFAULT_RULES: Final[LimitRules] = {
    LimitKey("everyone", EVERYONE_ID, "turns_per_minute"): 60,
    LimitKey("everyone", EVERYONE_ID, "memories"): 10_000,
    LimitKey("everyone", EVERYONE_ID, "memory_bytes"): 20 * 2**20,
    LimitKey("everyone", EVERYONE_ID, "imports_per_hour"): 20,
    LimitKey("everyone", EVERYONE_ID, "commands_per_minute"): 120,
}
"""More than a person needs, less than a script could use."""


@dataclass(frozen=True, slots=True)
class Payer:
    """The user who is charged for a turn, and where."""

    user_id: int
    guild_id: int = 0  # 0 in DMs and outside Discord
    role_ids: tuple[int, ...] | None = ()  # None if unknown: then the most generous rule for any role applies
    front_end: Literal["discord", "terminal"] = "discord"


Limits = Mapping[LimitName, int]  # the limits of one user or guild; what is not limited is absent


def limits_of_user(rules: LimitRules, payer: Payer) -> Limits:
    found = {name: _limit_of_user(rules, payer, name) for name in LIMIT_NAMES}
    return {name: limit for name, limit in found.items() if limit is not None}


def limits_of_guild(rules: LimitRules, guild_id: int) -> Limits:
    found = {name: rules.get(LimitKey("guild", guild_id, name)) for name in USAGE_LIMITS if guild_id}
    return {name: limit for name, limit in found.items() if limit is not None}


def has_usage_limit(limits: Limits) -> bool:
    return not limits.keys().isdisjoint(USAGE_LIMITS)


def has_token_limit(rules: LimitRules, user_id: int) -> bool:
    return any(
        value is not None
        and key.name in ("tokens_per_day", "tokens_per_month")
        and (key.scope in ("everyone", "role") or (key.scope, key.scope_id) == ("user", user_id))
        for key, value in rules.items()
    )


def _limit_of_user(rules: LimitRules, payer: Payer, name: LimitName) -> int | None:
    user_key = LimitKey("user", payer.user_id, name)
    if user_key in rules or payer.front_end == "terminal" or not payer.user_id:  # terminal: no other rules
        return rules.get(user_key)
    everyone_key = LimitKey("everyone", EVERYONE_ID, name)
    if payer.role_ids is None:
        all_roles = [key for key in rules if (key.scope, key.name) == ("role", name)]
        return _most_generous([rules[key] for key in (*all_roles, everyone_key) if key in rules])
    roles = [LimitKey("role", role_id, name) for role_id in payer.role_ids]
    values = [rules[key] for key in roles if key in rules]
    return _most_generous(values) if values else rules.get(everyone_key)


def _most_generous(values: Sequence[int | None]) -> int | None:
    """Return the highest value. None, which means no limit, is the highest."""
    numbers = [value for value in values if value is not None]
    return max(numbers) if len(numbers) == len(values) and numbers else None


@dataclass(frozen=True, slots=True)
class UsageSnapshot:
    turn_starts: tuple[datetime, ...] = ()  # within the last minute, oldest first
    tokens_today: int = 0  # including reservations of turns in flight; `tokens_this_month` likewise
    tokens_this_month: int = 0
    turns_in_flight: int = 0


@dataclass(frozen=True, slots=True)
class ReachedLimit:
    name: LimitName
    resets_at: datetime | None  # None: as soon as a turn ends


def find_reached_limit(
    limits: Limits, snapshot: UsageSnapshot, now: datetime, zone: ZoneInfo, *, by_user: bool = True
) -> ReachedLimit | None:
    """Return the reached limit that resets last. Background work (not `by_user`) has only token limits."""
    month, day = limits.get("tokens_per_month"), limits.get("tokens_per_day")
    per_minute, at_once = limits.get("turns_per_minute"), limits.get("concurrent")
    if month is not None and snapshot.tokens_this_month >= month:
        return ReachedLimit("tokens_per_month", next_month(now, zone))
    if day is not None and snapshot.tokens_today >= day:
        return ReachedLimit("tokens_per_day", next_day(now, zone))
    if by_user and per_minute is not None and len(snapshot.turn_starts) >= per_minute:
        return ReachedLimit("turns_per_minute", snapshot.turn_starts[-per_minute] + MINUTE)
    if by_user and at_once is not None and snapshot.turns_in_flight >= at_once:
        return ReachedLimit("concurrent", None)
    return None


@dataclass(frozen=True, slots=True)
class RemainingTokens:
    name: LimitName
    limit: int
    left: int
    resets_at: datetime


def remaining_tokens(
    limits: Limits, snapshot: UsageSnapshot, now: datetime, zone: ZoneInfo
) -> tuple[RemainingTokens, ...]:
    """Return what is left of token limits. Omits the daily limit if the month has fewer tokens left."""
    remaining = []
    if (day := limits.get("tokens_per_day")) is not None:
        remaining.append(
            RemainingTokens("tokens_per_day", day, max(0, day - snapshot.tokens_today), next_day(now, zone))
        )
    if (month := limits.get("tokens_per_month")) is not None:
        left, resets_at = max(0, month - snapshot.tokens_this_month), next_month(now, zone)
        remaining = [daily for daily in remaining if left and daily.left <= left]
        remaining.append(RemainingTokens("tokens_per_month", month, left, resets_at))
    return tuple(remaining)


def local_day(moment: datetime, zone: ZoneInfo) -> date:
    return moment.astimezone(zone).date()


def next_day(moment: datetime, zone: ZoneInfo) -> datetime:
    return _midnight(local_day(moment, zone) + timedelta(days=1), zone)


def next_month(moment: datetime, zone: ZoneInfo) -> datetime:
    first = local_day(moment, zone).replace(day=1)
    return _midnight((first + timedelta(days=31)).replace(day=1), zone)


def _midnight(day: date, zone: ZoneInfo) -> datetime:
    """Return the start of a day in UTC: comparisons with skipped or repeated local times are never equal."""
    return datetime(day.year, day.month, day.day, tzinfo=zone).astimezone(UTC)


TOKENS_PER_AUDIO_SECOND: Final = 10  # as OpenAI's models count
MICROS: Final = 1_000_000  # in a unit of currency: costs are integers, so that sums are exact
MAX_PRICE: Final = 10**9  # per million tokens


@dataclass(frozen=True, slots=True)
class Price:
    """Prices per million tokens, in the currency of the price list."""

    input: float
    output: float
    cached: float | None = None  # for cached prompt tokens; None: same as `input`
    per_minute: float = 0.0  # for audio, in or out

    def cost(self, usage: Usage) -> int:
        """Return the cost in millionths of the currency."""
        cached = min(usage.cached_tokens, usage.prompt_tokens)
        cached_price = self.input if self.cached is None else self.cached
        prompt = (usage.prompt_tokens - cached) * self.input + cached * cached_price
        return round(
            prompt + usage.completion_tokens * self.output + usage.seconds * self.per_minute * MICROS / 60
        )


@dataclass(frozen=True, slots=True)
class PriceList:
    currency: str = "USD"
    models: Mapping[str, Price] = field(default_factory=dict)  # keys are the names of models in requests

    def cost(self, model: str, usage: Usage) -> int:
        """Return the cost in millionths of the currency; 0 for a model without a price."""
        price = self.models.get(model)
        return price.cost(usage) if price else 0


@dataclass(frozen=True, slots=True)
class ModelUsage:
    model: str
    usage: Usage


@dataclass(frozen=True, slots=True)
class DailyUsage:
    day: date
    model: str
    purpose: Purpose | None  # None: summed over all
    turns: int
    usage: Usage
    cost_micros: int

    @property
    def tokens(self) -> int:
        return self.usage.prompt_tokens + self.usage.completion_tokens


CHART_DAYS: Final = 14  # recent days in a report
MAX_MODELS_NAMED: Final = 5
MAX_DAYS_SHOWN: Final = 62


@dataclass(frozen=True, slots=True)
class Total:
    turns: int = 0
    tokens: int = 0
    cost_micros: int = 0
    seconds: int = 0

    @classmethod
    def sum_of(cls, rows: Iterable[DailyUsage]) -> "Total":
        each = [(one.turns, one.tokens, one.cost_micros, one.usage.seconds) for one in rows]
        return cls(*map(sum, zip(*each, strict=True)))


@dataclass(frozen=True, slots=True)
class UsageBreakdown:
    total: Total
    days: tuple[tuple[date, Total], ...]
    """All days in order; beyond MAX_DAYS_SHOWN, all months, each as its first day."""
    models: tuple[tuple[str, Total], ...]  # the most used first; '' is the offline model
    purposes: tuple[tuple[Purpose, Total], ...]  # the most used first; empty if unknown

    @property
    def is_by_month(self) -> bool:
        return len(self.days) > 1 and all(day.day == 1 for day, _ in self.days)

    def without_unused_start(self) -> "UsageBreakdown":
        return replace(self, days=tuple(dropwhile(lambda day: not day[1].tokens, self.days)))

    def chart(self, *, title: str = "", series: str = "") -> Chart:
        labels = tuple(
            f"{day:%Y-%m}" if self.is_by_month else f"{day.month}/{day.day}" for day, _ in self.days
        )
        values = tuple(float(total.tokens) for _, total in self.days)
        return Chart("usage", title, "bar", labels, (Series(series, values),))


def break_down(rows: Sequence[DailyUsage], first: date, last: date) -> UsageBreakdown:
    rows = [each for each in rows if first <= each.day <= last]
    days = [first + timedelta(days=days) for days in range((last - first).days + 1)]
    by_month = len(days) > MAX_DAYS_SHOWN
    sums = _sums_by((each.day.replace(day=1) if by_month else each.day, each) for each in rows)
    zeros = dict.fromkeys((day.replace(day=1) if by_month else day for day in days), Total())
    return UsageBreakdown(
        Total.sum_of(rows),
        tuple((zeros | sums).items()),
        _most_used(_sums_by((each.model, each) for each in rows)),
        _most_used(_sums_by((each.purpose, each) for each in rows if each.purpose is not None)),
    )


_Key = TypeVar("_Key", bound=Hashable)
_Name = TypeVar("_Name", bound=str)


def _sums_by(keyed_rows: Iterable[tuple[_Key, DailyUsage]]) -> dict[_Key, Total]:
    groups: dict[_Key, list[DailyUsage]] = {}
    for key, row in keyed_rows:
        groups.setdefault(key, []).append(row)
    return {key: Total.sum_of(rows) for key, rows in groups.items()}


def _most_used(sums: Mapping[_Name, Total]) -> tuple[tuple[_Name, Total], ...]:
    def rank(item: tuple[str, Total]) -> tuple[int, int, int, str]:
        name, total = item
        return -total.tokens, -total.turns, -total.seconds, name

    return tuple(sorted(sums.items(), key=rank))


@dataclass(frozen=True, slots=True)
class UsageReport:
    today: Total
    month: UsageBreakdown  # the days of this month so far
    recent: UsageBreakdown
    currency: str = ""  # empty if no model has a price
    unpriced: tuple[str, ...] = ()  # models used this month that have no price; empty if no model has one
    left: tuple[RemainingTokens, ...] = ()  # for each token limit
    users: int | None = None  # how many used tokens this month; None in a report about one user

    @property
    def is_empty(self) -> bool:
        return self.month.total == self.recent.total == Total()


def first_day(today: date, days: int) -> date:
    """Return the first day of a report with the last `days` days."""
    return min(today.replace(day=1), today - timedelta(days=days - 1))


def make_report(
    rows: Sequence[DailyUsage], today: date, prices: PriceList, *, days: int = CHART_DAYS
) -> UsageReport:
    """`rows`: since `first_day`. `days`: how many days count as recent."""
    month = break_down(rows, today.replace(day=1), today)
    recent = break_down(rows, today - timedelta(days=days - 1), today)
    today_total = Total.sum_of(each for each in rows if each.day == today)
    if not prices.models:
        return UsageReport(today_total, month, recent)
    names = (model for model, total in month.models if total.tokens or total.seconds)
    unpriced = tuple(model for model in names if model not in prices.models)
    return UsageReport(today_total, month, recent, prices.currency, unpriced[:MAX_MODELS_NAMED])
