"""Usage limits: which rule applies to a user, and when a reached limit resets.

A rule is one number for one subject: everyone, a user, a role or a guild. Each limit of a user comes from
the most specific rule: the user's own, else the most generous of their roles, else the one for everyone. A
guild's rules limit all of its members together and apply in addition.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from typing import Final, Literal, get_args
from zoneinfo import ZoneInfo

UsageLimit = Literal["turns_per_minute", "tokens_per_day", "tokens_per_month", "concurrent"]
"""concurrent: turns that run or are queued."""
USAGE_LIMITS: Final[tuple[UsageLimit, ...]] = get_args(UsageLimit)

Quota = Literal["memories", "memory_bytes", "imports_per_hour", "commands_per_minute"]
"""Limits of a single user. memory_bytes: the texts of all memories and their earlier versions.
commands_per_minute: buttons and forms too."""
QUOTAS: Final[tuple[Quota, ...]] = get_args(Quota)

LimitName = UsageLimit | Quota
LIMIT_NAMES: Final[tuple[LimitName, ...]] = (*USAGE_LIMITS, *QUOTAS)

LimitScope = Literal["everyone", "user", "role", "guild"]

EVERYONE: Final = 0
"""The id of the one subject of the scope `everyone`."""
MAX_LIMIT: Final = 10**15
MINUTE: Final = timedelta(minutes=1)
HOUR: Final = timedelta(hours=1)


@dataclass(frozen=True, slots=True)
class LimitKey:
    scope: LimitScope
    scope_id: int
    name: LimitName


Rules = Mapping[LimitKey, int | None]
"""None: no limit, where a less specific rule would set one."""

DEFAULT_RULES: Final[Rules] = {
    LimitKey("everyone", EVERYONE, "turns_per_minute"): 60,
    LimitKey("everyone", EVERYONE, "memories"): 10_000,
    LimitKey("everyone", EVERYONE, "memory_bytes"): 20 * 2**20,
    LimitKey("everyone", EVERYONE, "imports_per_hour"): 20,
    LimitKey("everyone", EVERYONE, "commands_per_minute"): 120,
}
"""Unless the operator's file or an owner sets others. More than a person needs, and a bound for a script that
uses a user's account: five notes a day are 10,000 after five years, a full export can be imported again
within an hour, and paging through lists presses about one button a second."""


@dataclass(frozen=True, slots=True)
class UsageSubject:
    """The user who is charged, and in which guild."""

    user_id: int
    guild_id: int = 0
    """0: a DM, or not on Discord."""
    role_ids: tuple[int, ...] | None = ()
    """Their roles in that guild; None if unknown, any rule for a role may apply then."""
    front_end: Literal["discord", "terminal"] = "discord"

    @property
    def only_own(self) -> bool:
        """True if only rules for this very user apply: at the terminal."""
        return self.front_end == "terminal" or not self.user_id


@dataclass(frozen=True, slots=True)
class Bounds:
    """The usage limits that apply; None: no limit."""

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
    """The quotas that apply to a user; None: no limit."""

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
    """Return whether any token limit may apply to a user, whatever their roles."""
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
    """Return the highest. So a user whose roles are unknown is never refused what a role may grant."""
    numbers = [value for value in values if value is not None]
    return max(numbers) if len(numbers) == len(values) and numbers else None


@dataclass(frozen=True, slots=True)
class UsageSnapshot:
    """What has been used so far."""

    turns: tuple[datetime, ...] = ()
    """Start times within the last minute, oldest first."""
    today: int = 0
    this_month: int = 0
    """Tokens, including reservations of turns in flight."""
    turns_in_flight: int = 0


@dataclass(frozen=True, slots=True)
class ReachedLimit:
    name: LimitName
    resets_at: datetime | None
    """None: when a turn ends."""


def find_reached(
    bounds: Bounds, snapshot: UsageSnapshot, now: datetime, zone: ZoneInfo, *, asked: bool = True
) -> ReachedLimit | None:
    """Return the limit that is reached; of several, the one that resets last. Background work (not `asked`)
    is subject to token limits alone."""
    spent = (snapshot.this_month, bounds.tokens_per_month)
    if spent[1] is not None and spent[0] >= spent[1]:
        return ReachedLimit("tokens_per_month", next_month(now, zone))
    spent = (snapshot.today, bounds.tokens_per_day)
    if spent[1] is not None and spent[0] >= spent[1]:
        return ReachedLimit("tokens_per_day", next_day(now, zone))
    if not asked:
        return None
    most = bounds.turns_per_minute
    if most is not None and len(snapshot.turns) >= most:
        return ReachedLimit("turns_per_minute", snapshot.turns[-most] + MINUTE)
    if bounds.concurrent is not None and snapshot.turns_in_flight >= bounds.concurrent:
        return ReachedLimit("concurrent", None)
    return None


@dataclass(frozen=True, slots=True)
class Remaining:
    """What is left of a token limit."""

    name: LimitName
    limit: int
    left: int
    resets_at: datetime


def remaining_tokens(
    bounds: Bounds, snapshot: UsageSnapshot, now: datetime, zone: ZoneInfo
) -> tuple[Remaining, ...]:
    """Return what is left of each token limit. The daily limit is omitted if the month leaves less: a new day
    changes nothing then."""
    found = []
    if (day := bounds.tokens_per_day) is not None:
        found.append(Remaining("tokens_per_day", day, max(0, day - snapshot.today), next_day(now, zone)))
    if (month := bounds.tokens_per_month) is not None:
        of_month = Remaining(
            "tokens_per_month", month, max(0, month - snapshot.this_month), next_month(now, zone)
        )
        found = [of_day for of_day in found if of_month.left and of_day.left <= of_month.left]
        found.append(of_month)
    return tuple(found)


def day_of(moment: datetime, zone: ZoneInfo) -> date:
    """Return the operator's calendar day."""
    return moment.astimezone(zone).date()


def next_day(moment: datetime, zone: ZoneInfo) -> datetime:
    """Return when daily limits reset."""
    return _midnight(day_of(moment, zone) + timedelta(days=1), zone)


def next_month(moment: datetime, zone: ZoneInfo) -> datetime:
    """Return when monthly limits reset."""
    first = day_of(moment, zone).replace(day=1)
    return _midnight((first + timedelta(days=31)).replace(day=1), zone)


def _midnight(day: date, zone: ZoneInfo) -> datetime:
    """Return midnight, in UTC: skipped or repeated local times never compare equal across zones."""
    return datetime(day.year, day.month, day.day, tzinfo=zone).astimezone(UTC)
