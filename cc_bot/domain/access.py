"""Who may use the bot. The first rule that applies decides:

1. Owners may. During maintenance, only they may.
2. A denied user, role, channel or server may not, in spite of any allow rule. Rules for a channel include its
   threads.
3. Allow rules mean "only these", for each kind of subject. A DM has no server and no roles, so an allow rule
   for a server or role excludes DMs.
4. Anyone else may.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from hashlib import sha256
from typing import Final, Literal, NamedTuple, get_args

from cc_bot.domain.message import ChannelKey

Subject = Literal["user", "role", "channel", "guild"]
SUBJECTS: Final[tuple[Subject, ...]] = get_args(Subject)
Ruling = Literal["allow", "deny"]


class AccessRule(NamedTuple):
    ruling: Ruling
    subject: Subject
    id: int


AccessRules = frozenset[AccessRule]


def has_rule_for(rules: AccessRules, subject: Subject) -> bool:
    return any(rule.subject == subject for rule in rules)


_VisitorIds = Mapping[Subject, frozenset[int] | None]


@dataclass(frozen=True, slots=True)
class Visitor:
    user_id: int
    channel_ids: tuple[int, ...] = ()  # for a thread, also its channel
    guild_id: int | None = None
    role_ids: frozenset[int] | None = frozenset()
    """None if unknown: then no allow rule for a role matches, and every deny rule for a role does."""

    @property
    def ids(self) -> _VisitorIds:
        location_ids = _location_ids(self.channel_ids, self.guild_id)
        return {"user": frozenset({self.user_id}), "role": self.role_ids, **location_ids}


def _location_ids(channel_ids: Iterable[int], guild_id: int | None) -> _VisitorIds:
    guild_ids = frozenset[int]() if guild_id is None else frozenset({guild_id})
    return {"channel": frozenset(channel_ids), "guild": guild_ids}


@dataclass(frozen=True, slots=True)
class Maintenance:
    note: str = ""  # for users


@dataclass(frozen=True, slots=True)
class Refusal:
    why: Literal["maintenance", "denied", "not_listed"]
    subject: Subject | None = None
    note: str = ""


def find_refusal(
    visitor: Visitor, rules: AccessRules, *, owners: frozenset[int], maintenance: Maintenance | None
) -> Refusal | None:
    if visitor.user_id in owners:
        return None
    if maintenance is not None:
        return Refusal("maintenance", note=maintenance.note)
    return _find_rule_refusal(rules, visitor.ids)


def _find_rule_refusal(rules: AccessRules, visitor_ids: _VisitorIds) -> Refusal | None:
    for subject, ids in visitor_ids.items():
        if (denied := _rule_ids(rules, "deny", subject)) and (ids is None or ids & denied):
            return Refusal("denied", subject)
    for subject, ids in visitor_ids.items():
        if (allowed := _rule_ids(rules, "allow", subject)) and not (ids and ids & allowed):
            return Refusal("not_listed", subject)
    return None


def _rule_ids(rules: AccessRules, ruling: Ruling, subject: Subject) -> frozenset[int]:
    return frozenset(rule.id for rule in rules if (rule.ruling, rule.subject) == (ruling, subject))


def is_closed_to_users(key: ChannelKey, guild_id: int | None, rules: AccessRules) -> bool:
    """Return whether only owners may use the bot in a channel: then the bot must not read messages there."""
    return _find_rule_refusal(rules, _location_ids(key.ids, guild_id)) is not None


LINK_LIFETIME: Final = timedelta(minutes=10)  # then a sign-in link expires
MAX_SESSION_IDLE_TIME: Final = timedelta(days=7)  # then an unused browser session ends
MAX_SESSION_LIFETIME: Final = timedelta(days=30)  # then a browser session ends even if it is used


@dataclass(frozen=True, slots=True)
class BotProfile:
    name: str = "cc-bot"
    avatar: bytes = b""  # a PNG; empty if the bot has none

    @property
    def avatar_hash(self) -> str:
        return sha256(self.avatar).hexdigest()[:12]


@dataclass(frozen=True, slots=True)
class SignInOrigin:
    """The user, and the channel where the user requested the sign-in link: its access rules apply."""

    user_id: int
    channel_id: int = 0  # 0: not on Discord
    guild_id: int | None = None


@dataclass(frozen=True, slots=True)
class WebSession:
    id: int
    origin: SignInOrigin
    made_at: datetime
    used_at: datetime
    ends_at: datetime  # at the latest; `expires_at` is earlier if the browser is idle
    browser: str = ""  # the browser's name and system, such as `Chrome · Android`

    @property
    def user_id(self) -> int:
        return self.origin.user_id

    @property
    def expires_at(self) -> datetime:
        return min(self.ends_at, self.used_at + MAX_SESSION_IDLE_TIME)
