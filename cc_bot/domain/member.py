"""The limits of how much somebody may use, which rule says so, and when there is something to use again.

A rule is one number for one subject. Four kinds of subjects have rules: everyone, a user, a role, a guild.
Each limit of a user comes from the most particular rule that names it: the user's own; else the most generous
one of their roles; else the one for everyone. A guild's rules bound what all of its members use together and
hold beside those.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, date, datetime, timedelta
from itertools import dropwhile
from typing import Final, Literal, TypeVar, get_args
from zoneinfo import ZoneInfo

from cc_bot.domain.canvas import Chart, Series
from cc_bot.domain.measures import Purpose
from cc_bot.domain.message import ChannelKey
from cc_bot.domain.turn import Usage

# ---- limits --------------------------------------------------------------------------------------------


UsageLimit = Literal["turns_per_minute", "tokens_per_day", "tokens_per_month", "concurrent"]
"""concurrent: turns that are being answered or wait in line."""
USAGE_LIMITS: Final[tuple[UsageLimit, ...]] = get_args(UsageLimit)

Quota = Literal["memories", "memory_bytes", "imports_per_hour", "commands_per_minute"]
"""Of a user alone: of what is kept of them, and of how often they have the program work. memory_bytes: of the
texts of all memories, former versions included. Commands: buttons and forms too."""
QUOTAS: Final[tuple[Quota, ...]] = get_args(Quota)

LimitName = UsageLimit | Quota
LIMIT_NAMES: Final[tuple[LimitName, ...]] = (*USAGE_LIMITS, *QUOTAS)

LimitScope = Literal["everyone", "user", "role", "guild"]

EVERYONE: Final = 0
"""The id of the one subject of the scope `everyone`."""
DEAREST: Final = 10**9
"""A price of a million tokens, in whatever currency."""
LARGEST: Final = 10**15
"""Of any limit."""
MINUTE: Final = timedelta(minutes=1)
HOUR: Final = timedelta(hours=1)


@dataclass(frozen=True, slots=True)
class LimitKey:
    """The subject of a rule, and its number's name."""

    scope: LimitScope
    scope_id: int
    name: LimitName


Rules = Mapping[LimitKey, int | None]
"""None: no limit, where a less particular rule would set one."""

DEFAULT_RULES: Final[Rules] = {
    LimitKey("everyone", EVERYONE, "turns_per_minute"): 60,
    LimitKey("everyone", EVERYONE, "memories"): 10_000,
    LimitKey("everyone", EVERYONE, "memory_bytes"): 20 * 2**20,
    LimitKey("everyone", EVERYONE, "imports_per_hour"): 20,
    LimitKey("everyone", EVERYONE, "commands_per_minute"): 120,
}
"""What holds where neither the operator's file nor an owner says anything: more than anybody reads, and a
bound for what a program in a user's name may spend. Somebody who keeps five notes a day has ten thousand
after five years, of some hundred bytes each; an export of all that fits is imported within an hour; and who
leafs through pages presses a button a second. That a user's turns run one after the other is none of
these limits: the line sees to it."""


@dataclass(frozen=True, slots=True)
class UsageSubject:
    """The account on which something is done, and the guild."""

    user_id: int
    guild_id: int = 0
    """0: a DM, or outside of Discord."""
    role_ids: tuple[int, ...] | None = ()
    """Their roles in that guild; None where nobody can tell, as for what is done in the background: any rule
    for a role may be theirs then."""
    front_end: Literal["discord", "terminal"] = "discord"

    @property
    def only_own(self) -> bool:
        """True where rules for everyone and for roles pass them by: at the terminal only what names the user
        holds."""
        return self.front_end == "terminal" or not self.user_id


@dataclass(frozen=True, slots=True)
class Bounds:
    """The limits that hold for somebody; None: no limit."""

    turns_per_minute: int | None = None
    tokens_per_day: int | None = None
    tokens_per_month: int | None = None
    concurrent: int | None = None

    @property
    def of_tokens(self) -> bool:
        return self.tokens_per_day is not None or self.tokens_per_month is not None

    @property
    def any(self) -> bool:
        return self != Bounds()


@dataclass(frozen=True, slots=True)
class Quotas:
    """The amounts that a user may have kept, and how often they may have the program work; None: no limit."""

    memories: int | None = None
    memory_bytes: int | None = None
    imports_per_hour: int | None = None
    commands_per_minute: int | None = None


def quotas_of_user(rules: Rules, payer: UsageSubject) -> Quotas:
    return Quotas(**{name: _of_user(rules, payer, name) for name in QUOTAS})


def bounds_of_user(rules: Rules, payer: UsageSubject) -> Bounds:
    return Bounds(**{name: _of_user(rules, payer, name) for name in USAGE_LIMITS})


def bounds_of_guild(rules: Rules, guild_id: int) -> Bounds:
    if not guild_id:
        return Bounds()
    return Bounds(**{name: rules.get(LimitKey("guild", guild_id, name)) for name in USAGE_LIMITS})


def limits_tokens(rules: Rules, user_id: int) -> bool:
    """Return whether there is a limit of tokens that may hold for a user, whatever roles they have."""
    return any(
        value is not None
        and key.name in ("tokens_per_day", "tokens_per_month")
        and (key.scope in ("everyone", "role") or (key.scope, key.scope_id) == ("user", user_id))
        for key, value in rules.items()
    )


def _of_user(rules: Rules, payer: UsageSubject, name: LimitName) -> int | None:
    own = LimitKey("user", payer.user_id, name)
    if own in rules or payer.only_own:
        return rules.get(own)
    for_all = LimitKey("everyone", EVERYONE, name)
    if payer.role_ids is None:
        every = [key for key in rules if (key.scope, key.name) == ("role", name)]
        return _most_generous([rules[key] for key in (*every, for_all) if key in rules])
    roles = [LimitKey("role", role_id, name) for role_id in payer.role_ids]
    given = [rules[key] for key in roles if key in rules]
    return _most_generous(given) if given else rules.get(for_all)


def _most_generous(values: Sequence[int | None]) -> int | None:
    """Return the one that lets the most be done. With it nobody whose roles are unknown is refused what might
    be theirs, and a bound there is."""
    numbers = [value for value in values if value is not None]
    return max(numbers) if len(numbers) == len(values) and numbers else None


@dataclass(frozen=True, slots=True)
class UsageSnapshot:
    """The usage of somebody by now."""

    turns: tuple[datetime, ...] = ()
    """When those of the last minute began, oldest first."""
    today: int = 0
    this_month: int = 0
    """Tokens, what is reserved for turns on their way included."""
    underway: int = 0
    """Turns."""


@dataclass(frozen=True, slots=True)
class ReachedLimit:
    name: LimitName
    resets_at: datetime | None
    """When there is something to use again; None where that is when a turn ends."""


def find_reached(
    bounds: Bounds, standing: UsageSnapshot, now: datetime, zone: ZoneInfo, *, asked: bool = True
) -> ReachedLimit | None:
    """The limit that lets nothing more begin; of several, the one that holds longest. What nobody `asked` for
    now is held to the limits of tokens alone."""
    spent = (standing.this_month, bounds.tokens_per_month)
    if spent[1] is not None and spent[0] >= spent[1]:
        return ReachedLimit("tokens_per_month", next_month(now, zone))
    spent = (standing.today, bounds.tokens_per_day)
    if spent[1] is not None and spent[0] >= spent[1]:
        return ReachedLimit("tokens_per_day", next_day(now, zone))
    if not asked:
        return None
    most = bounds.turns_per_minute
    if most is not None and len(standing.turns) >= most:
        return ReachedLimit("turns_per_minute", standing.turns[-most] + MINUTE)
    if bounds.concurrent is not None and standing.underway >= bounds.concurrent:
        return ReachedLimit("concurrent", None)
    return None


@dataclass(frozen=True, slots=True)
class Remaining:
    """The rest of a limit of tokens."""

    name: LimitName
    limit: int
    left: int
    resets_at: datetime


def left_of(bounds: Bounds, standing: UsageSnapshot, now: datetime, zone: ZoneInfo) -> tuple[Remaining, ...]:
    """Return what is left of the limits of tokens that hold. Where the month leaves less than the day, that
    of the day is none: there is no more today, and a new day changes nothing."""
    found = []
    if (day := bounds.tokens_per_day) is not None:
        found.append(Remaining("tokens_per_day", day, max(0, day - standing.today), next_day(now, zone)))
    if (month := bounds.tokens_per_month) is not None:
        of_month = Remaining(
            "tokens_per_month", month, max(0, month - standing.this_month), next_month(now, zone)
        )
        found = [of_day for of_day in found if of_month.left and of_day.left <= of_month.left]
        found.append(of_month)
    return tuple(found)


def day_of(moment: datetime, zone: ZoneInfo) -> date:
    """The day on which something counts: the operator's."""
    return moment.astimezone(zone).date()


def next_day(moment: datetime, zone: ZoneInfo) -> datetime:
    """Return when the tokens of a day begin anew."""
    return _midnight(day_of(moment, zone) + timedelta(days=1), zone)


def next_month(moment: datetime, zone: ZoneInfo) -> datetime:
    """Return when the tokens of a month begin anew."""
    first = day_of(moment, zone).replace(day=1)
    return _midnight((first + timedelta(days=31)).replace(day=1), zone)


def _midnight(day: date, zone: ZoneInfo) -> datetime:
    """Return midnight in UTC: moments that a clock leaves out or shows twice compare equal to nothing in
    another zone."""
    return datetime(day.year, day.month, day.day, tzinfo=zone).astimezone(UTC)


# ---- usage -----------------------------------------------------------------------------------------------

TOKENS_A_SECOND: Final = 10
"""As which each second of sound counts for limits of tokens: what OpenAI's own models make of one."""
MICROS: Final = 1_000_000
"""Of the currency in one: costs are counted in whole millionths, so that sums are exact."""


@dataclass(frozen=True, slots=True)
class Price:
    """The price of a million tokens, in the currency of the price list."""

    input: float
    output: float
    cached: float | None = None
    """Of those of the prompt that the server had in its cache; None: as any other."""
    per_minute: float = 0.0
    """Of sound, heard or spoken."""

    def of(self, usage: Usage) -> int:
        """Return the price in millionths of the currency: a price of a million tokens is that of one token in
        millionths."""
        cached = min(usage.cached_tokens, usage.prompt_tokens)
        fresh = usage.prompt_tokens - cached
        cheaper = self.input if self.cached is None else self.cached
        tokens = fresh * self.input + cached * cheaper + usage.completion_tokens * self.output
        return round(tokens + usage.seconds * self.per_minute * MICROS / 60)


@dataclass(frozen=True, slots=True)
class PriceList:
    currency: str = "USD"
    models: Mapping[str, Price] = field(default_factory=dict)
    """By the names that requests ask for."""

    def cost(self, model: str, usage: Usage) -> int:
        """Return the cost in millionths of the currency; nothing where the model has no price."""
        price = self.models.get(model)
        return price.of(usage) if price else 0

    def has(self, model: str) -> bool:
        return model in self.models


@dataclass(frozen=True, slots=True)
class ModelUsage:
    """The usage of one model, by what it was asked for."""

    model: str
    usage: Usage


@dataclass(frozen=True, slots=True)
class DailyUsage:
    """The usage of one day, of one model, for one purpose."""

    day: date
    model: str
    purpose: Purpose | None
    """None: for any."""
    turns: int
    usage: Usage
    cost_micros: int

    @property
    def tokens(self) -> int:
        return self.usage.prompt_tokens + self.usage.completion_tokens


# ---- usage report ----------------------------------------------------------------------------------------

DAYS: Final = 14
"""In the chart."""
MODELS: Final = 5
"""That are named, those that used most."""


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
    """Tokens of each day up to today, from the first of the last DAYS on which there were any."""
    models: tuple[tuple[str, Total], ...]
    """Of this month, those that used most first; '' is the one that comes along."""
    currency: str = ""
    """Of the costs; empty where nothing has a price."""
    unpriced: tuple[str, ...] = ()
    """Models of this month that have no price though others have one."""
    left: tuple[Remaining, ...] = ()
    """Of tokens, where there are limits."""
    users: int | None = None
    """How many there were this month; None in the report of one of them."""

    @property
    def empty(self) -> bool:
        return self.month == Total() and not self.days


def first_day(today: date) -> date:
    """Return the day from which on a report needs to know."""
    return min(today.replace(day=1), today - timedelta(days=DAYS - 1))


def report_of(used: Sequence[DailyUsage], today: date) -> UsageReport:
    """`used` since `first_day(today)`."""
    month = break_down(used, today.replace(day=1), today)
    shown = break_down(used, today - timedelta(days=DAYS - 1), today)
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
    return replace(report, currency=currency, unpriced=unpriced[:MODELS])


def chart_of(report: UsageReport, name: str) -> Chart:
    """Tokens by day; `name` says that in words."""
    labels = tuple(f"{day.month}/{day.day}" for day, _ in report.days)
    values = tuple(float(tokens) for _, tokens in report.days)
    return Chart("usage", "", "bar", labels, (Series(name, values),))


@dataclass(frozen=True, slots=True)
class UsageBreakdown:
    """The usage of some days, in all and by each of what it was for."""

    total: Total
    days: tuple[tuple[date, Total], ...]
    """Every day, the first one first; months by their first day, where there would be more than MOST_DAYS."""
    models: tuple[tuple[str, Total], ...]
    """Those that used most first; '' is the one that comes along."""
    purposes: tuple[tuple[Purpose, Total], ...]
    """Likewise; none where they are not known."""

    @property
    def by_month(self) -> bool:
        return len(self.days) > 1 and all(day.day == 1 for day, _ in self.days)


MOST_DAYS: Final = 62


_Name = TypeVar("_Name", bound=str)


def break_down(used: Sequence[DailyUsage], first: date, last: date) -> UsageBreakdown:
    """Add up what was used from the `first` to the `last` day."""
    used = [each for each in used if first <= each.day <= last]
    days = [first + timedelta(days=days) for days in range((last - first).days + 1)]
    by_month = len(days) > MOST_DAYS
    places = dict.fromkeys((day.replace(day=1) if by_month else day for day in days), Total())
    for each in used:
        place = each.day.replace(day=1) if by_month else each.day
        places[place] = places[place].plus(each)
    return UsageBreakdown(
        _sum(used),
        tuple(places.items()),
        _sums_by((each.model, each) for each in used),
        _sums_by((each.purpose, each) for each in used if each.purpose is not None),
    )


def _sums_by(used: Iterable[tuple[_Name, DailyUsage]]) -> tuple[tuple[_Name, Total], ...]:
    """Add up by name, those that used most first."""
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


# ---- access --------------------------------------------------------------------------------------------
# What is asked, in this order; the first that applies decides:
#
# 1. An owner may do everything, everywhere, always.
# 2. While there is maintenance, nobody else may.
# 3. Whoever is denied may not: as a user, by a role of theirs, in a channel, or in a server. A thread counts
#    as its channel, too. No allowance makes up for it.
# 4. Each kind of subject with a list of allowances means 'only those'. Where users are listed, it must be one
#    of them; where roles are, the user must have one of them; and so for channels and servers. Several such
#    lists hold at once. A DM is in no server and has no roles, so it is not among them.
# 5. Anybody else may.

# ---- policy ----------------------------------------------------------------------------------------------
# The operator's file: how much may be used, what it costs, who may use it.


@dataclass(frozen=True, slots=True)
class Subjects:
    """The people and places that a list names, by their ids on Discord."""

    users: frozenset[int] = frozenset()
    roles: frozenset[int] = frozenset()
    channels: frozenset[int] = frozenset()
    guilds: frozenset[int] = frozenset()


@dataclass(frozen=True, slots=True)
class AccessLists:
    owners: frozenset[int] = frozenset()
    """Users who may give the bot's own commands, beside those that a setting names."""
    allow: Subjects = Subjects()
    deny: Subjects = Subjects()


@dataclass(frozen=True, slots=True)
class Policy:
    limits: Rules = field(default_factory=lambda: DEFAULT_RULES)
    """With the defaults, as far as the file says nothing else."""
    prices: PriceList = field(default_factory=PriceList)
    access: AccessLists = AccessLists()


# ---- access ----------------------------------------------------------------------------------------------

Subject = Literal["user", "role", "channel", "guild"]
SUBJECTS: Final[tuple[Subject, ...]] = get_args(Subject)
Ruling = Literal["allow", "deny"]


@dataclass(frozen=True, slots=True)
class Visitor:
    """A person who wants something of the bot, and from where."""

    user_id: int
    channel_ids: tuple[int, ...] = ()
    """The channel or thread; of a thread, its channel as well."""
    guild_id: int | None = None
    """None in a DM."""
    role_ids: frozenset[int] | None = frozenset()
    """None: nobody can tell. Then no role is theirs of those that are allowed, and any of those that are
    denied may be."""

    @property
    def ids(self) -> Mapping[Subject, frozenset[int] | None]:
        """The ids under which they come, by kind; None where that is not known."""
        return {
            "user": frozenset({self.user_id}),
            "role": self.role_ids,
            "channel": frozenset(self.channel_ids),
            "guild": frozenset() if self.guild_id is None else frozenset({self.guild_id}),
        }


@dataclass(frozen=True, slots=True)
class AccessRules:
    """The rules that hold at a moment, wherever they were written down."""

    allow: Subjects = field(default_factory=Subjects)
    deny: Subjects = field(default_factory=Subjects)

    def __or__(self, other: "AccessRules") -> "AccessRules":
        return AccessRules(_union(self.allow, other.allow), _union(self.deny, other.deny))

    @property
    def of_channels(self) -> bool:
        """True if it matters which channel somebody is in."""
        return bool(self.allow.channels or self.deny.channels)

    @property
    def of_guilds(self) -> bool:
        """True if it matters which server somebody is in."""
        return bool(self.allow.guilds or self.deny.guilds)

    @property
    def of_roles(self) -> bool:
        """True if it matters which roles somebody has."""
        return bool(self.allow.roles or self.deny.roles)


@dataclass(frozen=True, slots=True)
class Maintenance:
    """A time in which nobody but owners is answered."""

    note: str = ""
    """What else its owner has to say to users."""


@dataclass(frozen=True, slots=True)
class Refusal:
    """The reason why somebody may not."""

    why: Literal["maintenance", "denied", "not_listed"]
    subject: Subject | None = None
    """The kind of subject that is denied, or among whose allowances they are not."""
    note: str = ""
    """Of the maintenance."""


def refusal(
    comer: Visitor, rules: AccessRules, *, owners: frozenset[int], maintenance: Maintenance | None
) -> Refusal | None:
    """Return why somebody may not use the bot; None when they may."""
    if comer.user_id in owners:
        return None
    if maintenance is not None:
        return Refusal("maintenance", note=maintenance.note)
    for subject, ids in comer.ids.items():
        if (denied := ids_of(rules.deny, subject)) and (ids is None or ids & denied):
            return Refusal("denied", subject)
    for subject, ids in comer.ids.items():
        if (allowed := ids_of(rules.allow, subject)) and not (ids and ids & allowed):
            return Refusal("not_listed", subject)
    return None


def is_shut(key: ChannelKey, guild_id: int | None, rules: AccessRules) -> bool:
    """Return whether a channel or thread, or the server it is in, is denied or left out: then nobody but
    owners may use the bot there, and what others say to each other is not for it to read."""
    asked: tuple[tuple[Subject, set[int | None]], ...] = (
        ("channel", {key.place_id, key.channel_id}),
        ("guild", {guild_id}),
    )
    for subject, ids in asked:
        allowed = ids_of(rules.allow, subject)
        if ids & ids_of(rules.deny, subject) or (allowed and not ids & allowed):
            return True
    return False


def ids_of(subjects: Subjects, subject: Subject) -> frozenset[int]:
    match subject:
        case "user":
            return subjects.users
        case "role":
            return subjects.roles
        case "channel":
            return subjects.channels
        case "guild":
            return subjects.guilds


def _union(one: Subjects, other: Subjects) -> Subjects:
    return Subjects(
        one.users | other.users,
        one.roles | other.roles,
        one.channels | other.channels,
        one.guilds | other.guilds,
    )
