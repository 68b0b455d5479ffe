"""Whether something may begin, and a reservation for it.

It is read, decided and written in one transaction, so that two questions that come at once do not both find
the same room.
"""

import secrets
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from typing import Final
from zoneinfo import ZoneInfo

from cc_bot.domain.limits import (
    MINUTE,
    Bounds,
    Payer,
    Reached,
    Rules,
    Standing,
    bounds_of_guild,
    bounds_of_user,
    day_of,
    reached,
)
from cc_bot.domain.measures import Purpose
from cc_bot.storage import Row, Statement, Steps
from cc_bot.stores.columns import from_ms, to_ms
from cc_bot.stores.limits import rules_for
from cc_bot.stores.usage_statements import (
    FORGET_GUILDS_SETTLED,
    FORGET_OWN_SETTLED,
    RESERVE,
    SELECT_GUILD_DAYS,
    SELECT_GUILD_RESERVED,
    SELECT_OWN_DAYS,
    SELECT_OWN_RESERVED,
)

LONGEST: Final = timedelta(minutes=15)
"""Nothing is on its way for longer: a turn waits three minutes at most and takes ten."""


@dataclass(frozen=True, slots=True)
class Wish:
    """What is about to begin."""

    payer: Payer
    purpose: Purpose
    model: str
    """That is asked first; empty for the one that comes along, which counts no tokens."""
    tokens: int
    """About what it will use."""


@dataclass(frozen=True, slots=True)
class Reservation:
    id: int
    wish: Wish
    day: date
    """On which it counts, however long it takes."""


@dataclass(frozen=True, slots=True)
class OverLimit:
    reached: Reached
    of_guild: bool
    """Whether it is the guild's limit, and not the user's own."""


@dataclass(frozen=True, slots=True)
class Allowance:
    """What somebody may use, and has used."""

    bounds: Bounds
    standing: Standing


@dataclass(frozen=True, slots=True)
class Moment:
    """Now, and where the operator is: their days and months count."""

    now: datetime
    zone: ZoneInfo

    @property
    def today(self) -> date:
        return day_of(self.now, self.zone)


def reserve(wish: Wish, file_rules: Rules, moment: Moment) -> Steps[Reservation | OverLimit]:
    payer, asked = wish.payer, wish.purpose == "turn"
    minute_ago = to_ms(moment.now - MINUTE)
    yield Statement(FORGET_OWN_SETTLED, (payer.user_id, minute_ago))
    own, guild = yield from allowances(payer, file_rules, moment)
    if guild.bounds.any:
        yield Statement(FORGET_GUILDS_SETTLED, (payer.guild_id, minute_ago))
    for allowance in (own, guild):
        limit = reached(allowance.bounds, allowance.standing, moment.now, moment.zone, asked=asked)
        if limit:
            return OverLimit(limit, of_guild=allowance is guild)
    reservation = Reservation(secrets.randbits(62), wish, moment.today)
    yield Statement(
        RESERVE,
        (
            *(reservation.id, payer.user_id, payer.guild_id, payer.front_end),
            *(wish.purpose, wish.model, max(1, wish.tokens), to_ms(moment.now)),
        ),
    )
    return reservation


def allowances(payer: Payer, file_rules: Rules, moment: Moment) -> Steps[tuple[Allowance, Allowance]]:
    """The user's own, and that of the guild. What has no bound is not looked up."""
    set_rules = yield from rules_for(payer)
    rules = {**file_rules, **set_rules} if set_rules else file_rules
    own = bounds_of_user(rules, payer)
    guild = bounds_of_guild(rules, payer.guild_id)
    return (
        Allowance(own, (yield from _standing_of_user(payer.user_id, own, moment))),
        Allowance(guild, (yield from _standing_of_guild(payer.guild_id, guild, moment))),
    )


def _standing_of_user(user_id: int, bounds: Bounds, moment: Moment) -> Steps[Standing]:
    if not bounds.any:
        return Standing()
    days: Sequence[Row] = ()
    if bounds.of_tokens:
        days = yield Statement(SELECT_OWN_DAYS, (user_id, _first(moment)))
    reserved = yield Statement(SELECT_OWN_RESERVED, (user_id,))
    return _standing(bounds, days, reserved, moment)


def _standing_of_guild(guild_id: int, bounds: Bounds, moment: Moment) -> Steps[Standing]:
    if not bounds.any:
        return Standing()
    days: Sequence[Row] = ()
    if bounds.of_tokens:
        days = yield Statement(SELECT_GUILD_DAYS, (guild_id, _first(moment)))
    reserved = yield Statement(SELECT_GUILD_RESERVED, (guild_id,))
    return _standing(bounds, days, reserved, moment)


def _standing(bounds: Bounds, days: Sequence[Row], reserved: Sequence[Row], moment: Moment) -> Standing:
    tokens = Counter[str]()
    for day, used in days:
        tokens[day] += int(used)
    held = sum(row[1] for row in reserved)
    minute_ago, oldest, now = (to_ms(moment.now - ago) for ago in (MINUTE, LONGEST, timedelta()))
    turns = [(kept, at) for purpose, kept, at in reserved if purpose == "turn"]
    counted = bounds.turns_per_minute is not None
    return Standing(
        # A clock that was put back has left moments that are yet to come: they are of no last minute.
        turns=tuple(from_ms(at) for _, at in turns if minute_ago < at <= now) if counted else (),
        today=tokens[moment.today.isoformat()] + held,
        this_month=tokens.total() + held,
        underway=sum(kept > 0 and at > oldest for kept, at in turns),
    )


def _first(moment: Moment) -> str:
    return moment.today.replace(day=1).isoformat()
