"""What the operator's file decides: how much may be used, what it costs, who may use it."""

from dataclasses import dataclass, field

from cc_bot.domain.limits import DEFAULT_RULES, Rules
from cc_bot.domain.usage import PriceList


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
