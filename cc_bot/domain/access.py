"""Who may use the bot, and where.

What is asked, in this order; the first that applies decides:

1. An owner may do everything, everywhere, always.
2. While there is maintenance, nobody else may.
3. Whoever is denied may not: as a user, by a role of theirs, in a channel, or in a server. A thread counts
   as its channel, too. No allowance makes up for it.
4. Each kind of subject with a list of allowances means 'only those'. Where users are listed, it must be one
   of them; where roles are, the user must have one of them; and so for channels and servers. Several such
   lists hold at once. A DM is in no server and has no roles, so it is not among them.
5. Anybody else may.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final, Literal, get_args

from cc_bot.domain.limits import DEFAULT_RULES, PriceList, Rules
from cc_bot.domain.message import ChannelKey

# ---- policy ----------------------------------------------------------------------------------------------
# What the operator's file decides: how much may be used, what it costs, who may use it.


@dataclass(frozen=True, slots=True)
class Subjects:
    """Whom or what a list names, by their ids on Discord."""

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
class Comer:
    """Somebody who wants something of the bot, and from where."""

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
        """As what they come; None where that is not known."""
        return {
            "user": frozenset({self.user_id}),
            "role": self.role_ids,
            "channel": frozenset(self.channel_ids),
            "guild": frozenset() if self.guild_id is None else frozenset({self.guild_id}),
        }


@dataclass(frozen=True, slots=True)
class AccessRules:
    """All rules that hold at a moment, wherever they were written down."""

    allow: Subjects = field(default_factory=Subjects)
    deny: Subjects = field(default_factory=Subjects)

    def __or__(self, other: "AccessRules") -> "AccessRules":
        return AccessRules(_union(self.allow, other.allow), _union(self.deny, other.deny))

    @property
    def of_channels(self) -> bool:
        """Whether it matters which channel somebody is in."""
        return bool(self.allow.channels or self.deny.channels)

    @property
    def of_guilds(self) -> bool:
        """Whether it matters which server somebody is in."""
        return bool(self.allow.guilds or self.deny.guilds)

    @property
    def of_roles(self) -> bool:
        """Whether it matters which roles somebody has."""
        return bool(self.allow.roles or self.deny.roles)


@dataclass(frozen=True, slots=True)
class Maintenance:
    """Nobody but owners is answered for now."""

    note: str = ""
    """What else its owner has to say to users."""


@dataclass(frozen=True, slots=True)
class Refusal:
    """Why somebody may not."""

    why: Literal["maintenance", "denied", "not_listed"]
    subject: Subject | None = None
    """The kind of subject that is denied, or among whose allowances they are not."""
    note: str = ""
    """Of the maintenance."""


def refusal(
    comer: Comer, rules: AccessRules, *, owners: frozenset[int], maintenance: Maintenance | None
) -> Refusal | None:
    """Why somebody may not use the bot; None when they may."""
    if comer.user_id in owners:
        return None
    if maintenance is not None:
        return Refusal("maintenance", note=maintenance.note)
    for subject, ids in comer.ids.items():
        if (denied := listed(rules.deny, subject)) and (ids is None or ids & denied):
            return Refusal("denied", subject)
    for subject, ids in comer.ids.items():
        if (allowed := listed(rules.allow, subject)) and not (ids and ids & allowed):
            return Refusal("not_listed", subject)
    return None


def is_shut(key: ChannelKey, guild_id: int | None, rules: AccessRules) -> bool:
    """Whether a channel or thread, or the server it is in, is denied or left out: then nobody but owners may
    use the bot there, and what others say to each other is not for it to read."""
    asked: tuple[tuple[Subject, set[int | None]], ...] = (
        ("channel", {key.place_id, key.channel_id}),
        ("guild", {guild_id}),
    )
    for subject, ids in asked:
        allowed = listed(rules.allow, subject)
        if ids & listed(rules.deny, subject) or (allowed and not ids & allowed):
            return True
    return False


def listed(subjects: Subjects, subject: Subject) -> frozenset[int]:
    """Those of one kind."""
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
