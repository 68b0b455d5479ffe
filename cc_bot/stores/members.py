"""The store of who may use the bot, of limits, and of what was used.

All rules of access are read at once: there are few, and each way in asks for them. What owners decide is the
operator's own and no user's data, though it may name a user.
"""

import secrets
from collections import Counter, defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from functools import partial
from typing import Final, Literal, NamedTuple, TypeVar
from zoneinfo import ZoneInfo

from cc_bot.domain.clock import AHEAD, Clock, utc_now
from cc_bot.domain.errors import (
    LimitReached,
    ServerLimitReached,
    TooManyAtOnce,
    TurnLost,
)
from cc_bot.domain.measures import Purpose
from cc_bot.domain.member import (
    LIMIT_NAMES,
    MINUTE,
    TOKENS_A_SECOND,
    AccessRules,
    Bounds,
    DailyUsage,
    LimitKey,
    LimitName,
    LimitScope,
    Maintenance,
    ModelUsage,
    ReachedLimit,
    Rules,
    Ruling,
    Subject,
    Subjects,
    UsageSnapshot,
    UsageSubject,
    bounds_of_guild,
    bounds_of_user,
    day_of,
    find_reached,
    limits_tokens,
)
from cc_bot.domain.message import UserSettings
from cc_bot.domain.turn import PendingTurn, Usage
from cc_bot.storage import EVERYBODY, Database, Row, Statement, Steps, guild, user
from cc_bot.stores.columns import ISO, Columns, Kind, from_ms, to_ms, to_text
from cc_bot.stores.ledger import accept_turn
from cc_bot.stores.processes import left_by_the_dead
from cc_bot.stores.settings import PlaceAgents, agents_in, settings_of

T = TypeVar("T")

# ---- access --------------------------------------------------------------------------------------------


class _Rule(NamedTuple):
    subject: str
    subject_id: int
    rule: str


_RULE: Final = Columns(_Rule)

SELECT_IN_FORCE: Final = f"""
    SELECT {_RULE.select} FROM access_rules
    UNION ALL
    SELECT 'maintenance', 0, note FROM maintenance
"""
"""Every rule, and the maintenance as one row more."""
SET_RULE: Final = """
    INSERT INTO access_rules (subject, subject_id, rule, set_by, set_at) VALUES ($1, $2, $3, $4, $5)
    ON CONFLICT (subject, subject_id) DO UPDATE SET
        rule = excluded.rule, set_by = excluded.set_by, set_at = excluded.set_at
"""
DELETE_RULE: Final = "DELETE FROM access_rules WHERE subject = $1 AND subject_id = $2 RETURNING 1"
BEGIN_MAINTENANCE: Final = """
    INSERT INTO maintenance (id, note, set_by, set_at) VALUES (1, $1, $2, $3)
    ON CONFLICT (id) DO UPDATE SET note = excluded.note, set_by = excluded.set_by, set_at = excluded.set_at
"""
END_MAINTENANCE: Final = "DELETE FROM maintenance WHERE id = 1 RETURNING 1"


@dataclass(frozen=True, slots=True)
class AccessState:
    """The rules and the maintenance that hold at a moment."""

    rules: AccessRules
    maintenance: Maintenance | None


@dataclass(frozen=True, slots=True)
class Visit:
    """The answers to all that is asked of somebody who comes to a place, and of a turn that they begin
    there."""

    in_force: AccessState
    limits: Rules
    """Those that owners set."""
    settings: UserSettings
    agents: PlaceAgents


class AccessStore:
    def __init__(self, database: Database, *, clock: Clock = utc_now) -> None:
        self._database = database
        self._clock = clock

    async def get_in_force(self) -> AccessState:
        """Return all that is asked at each way in, in one trip. Raises StorageError."""
        return _in_force(await self._database.query(SELECT_IN_FORCE))

    async def get_visit(self, user_id: int, place_ids: Sequence[int]) -> Visit:
        """Return the same with all else that is asked of whoever comes, in one trip. `place_ids` are a
        channel, or a thread and its channel. Raises StorageError."""

        def steps() -> Steps[Visit]:
            in_force = _in_force((yield Statement(SELECT_IN_FORCE)))
            limits = yield from all_limits()
            settings = yield from settings_of(user_id)
            agents = yield from agents_in(user_id, place_ids)
            return Visit(in_force, {limit.key: limit.value for limit in limits}, settings, agents)

        return await self._database.read(steps)

    async def set(self, subject: Subject, subject_id: int, ruling: Ruling, *, set_by: int) -> None:
        """Make this the one rule of the subject. Raises StorageError."""
        params = (subject, subject_id, ruling, set_by, to_text(self._clock()))
        await self._database.transaction([Statement(SET_RULE, params)], [EVERYBODY])

    async def unset(self, subject: Subject, subject_id: int) -> bool:
        """Delete the rule of a subject, and return whether it had one. Raises StorageError."""
        [rows] = await self._database.transaction(
            [Statement(DELETE_RULE, (subject, subject_id))], [EVERYBODY]
        )
        return bool(rows)

    async def begin_maintenance(self, note: str, *, set_by: int) -> None:
        """Begin maintenance, or give it another note. Raises StorageError."""
        params = (note, set_by, to_text(self._clock()))
        await self._database.transaction([Statement(BEGIN_MAINTENANCE, params)], [EVERYBODY])

    async def end_maintenance(self) -> bool:
        """End maintenance, and return whether there was any. Raises StorageError."""
        [rows] = await self._database.transaction([Statement(END_MAINTENANCE)], [EVERYBODY])
        return bool(rows)


def _in_force(rows: Sequence[Row]) -> AccessState:
    ids: defaultdict[tuple[str, str], set[int]] = defaultdict(set)
    maintenance = None
    for each in map(_RULE.read, rows):
        if each.subject == "maintenance":
            maintenance = Maintenance(each.rule)
        else:
            ids[each.rule, each.subject].add(each.subject_id)
    return AccessState(AccessRules(_subjects(ids, "allow"), _subjects(ids, "deny")), maintenance)


def _subjects(ids: defaultdict[tuple[str, str], set[int]], ruling: Ruling) -> Subjects:
    return Subjects(
        frozenset(ids[ruling, "user"]),
        frozenset(ids[ruling, "role"]),
        frozenset(ids[ruling, "channel"]),
        frozenset(ids[ruling, "guild"]),
    )


# ---- usage ---------------------------------------------------------------------------------------------
# The usage of each user, by model and purpose; and reservations for what is on its way.
#
# Something is admitted with a reservation, and settled with what it took. Both are in the database, so a
# restart resets nothing; and what a killed program has reserved counts as used.

# ruff: noqa: S608 - put together from constants alone

# ---- limits ----------------------------------------------------------------------------------------------
# The limits that an owner set while the program runs; they go before what the operator's file says.
#
# The store knows nothing of what limits mean: which of them holds for whom is decided in domain/member.py.


@dataclass(frozen=True, slots=True)
class SetLimit:
    """A rule, and who made it."""

    key: LimitKey
    value: int | None
    """None: no limit."""
    set_by: int
    set_at: datetime


_LIMIT: Final = Columns(SetLimit, moments=ISO, name=Kind())

# Of the bot and of no user: an owner sets them, and whatever is asked is held to them.
SELECT_LIMITS: Final = f"SELECT {_LIMIT.select} FROM limits ORDER BY scope, scope_id, name"


class _Value(NamedTuple):
    key: LimitKey
    value: int | None


_VALUE: Final = Columns(_Value, name=Kind())

# $1 user, $2 guild
_SELECT_FOR: Final = f"""
    SELECT {_VALUE.select} FROM limits WHERE scope = 'everyone'
    UNION ALL
    SELECT {_VALUE.select} FROM limits WHERE scope = 'role'
    UNION ALL
    SELECT {_VALUE.select} FROM limits WHERE scope = 'user' AND scope_id = $1
    UNION ALL
    SELECT {_VALUE.select} FROM limits WHERE scope = 'guild' AND scope_id = $2
"""

_SET: Final = """
    INSERT INTO limits (scope, scope_id, name, value, set_by, set_at) VALUES ($1, $2, $3, $4, $5, $6)
    ON CONFLICT (scope, scope_id, name) DO UPDATE SET
        value = excluded.value, set_by = excluded.set_by, set_at = excluded.set_at
"""

_UNSET: Final = "DELETE FROM limits WHERE scope = $1 AND scope_id = $2 AND name = $3 RETURNING name"


class LimitStore:
    def __init__(self, database: Database, *, clock: Clock = utc_now) -> None:
        self._database = database
        self._clock = clock

    async def list_all(self) -> tuple[SetLimit, ...]:
        """List the limits that are set, by scope and id."""
        return await self._database.read(all_limits)

    async def set(
        self, scope: LimitScope, scope_id: int, name: LimitName, value: int | None, *, set_by: int
    ) -> None:
        """Have a limit hold from the next question on; None: no limit. The id of everyone is 0."""
        params = (scope, scope_id, name, value, set_by, to_text(self._clock()))
        await self._database.transaction([Statement(_SET, params)], [EVERYBODY])

    async def unset(self, scope: LimitScope, scope_id: int, name: LimitName) -> bool:
        """Have the operator's file decide again. False when nothing was set."""
        [rows] = await self._database.transaction([Statement(_UNSET, (scope, scope_id, name))], [EVERYBODY])
        return bool(rows)


def all_limits() -> Steps[tuple[SetLimit, ...]]:
    """List the limits that are set, by scope and id."""
    rows = yield Statement(SELECT_LIMITS)
    return tuple(limit for limit in map(_LIMIT.read, rows) if limit.key.name in LIMIT_NAMES)


def rules_for(payer: UsageSubject) -> Steps[Rules]:
    """Return the limits that are set and may concern the payer, all rules for roles among them."""
    rows = yield Statement(_SELECT_FOR, (payer.user_id, payer.guild_id))
    return dict(map(_VALUE.read, rows))


# ---- usage statements ------------------------------------------------------------------------------------
# The SQL of what was used. Sums of a guild, and of all, name no user: they are nobody's.

COUNTED: Final = f"prompt_tokens + completion_tokens + {TOKENS_A_SECOND} * seconds"
"""What limits of tokens count of a row."""


class _Reserved(NamedTuple):
    id: int
    user_id: int
    guild_id: int
    purpose: Purpose
    model: str
    tokens: int
    at: int
    """In milliseconds."""


_RESERVED: Final = Columns(_Reserved)


class _Counted(NamedTuple):
    """The tokens that were used on a day, or are reserved."""

    day: str
    """Empty for those that are reserved."""
    purpose: Purpose | Literal[""]
    tokens: int
    at: int
    """In milliseconds; 0 for a day."""


_SELECT_RESERVED: Final = "SELECT '' AS day, purpose, tokens, at FROM reservations"

# $1 user
SELECT_OWN_RESERVED: Final = f"{_SELECT_RESERVED} WHERE user_id = $1 ORDER BY at"

# $1 guild
SELECT_GUILD_RESERVED: Final = f"{_SELECT_RESERVED} WHERE guild_id = $1 ORDER BY at /* all users */"

# In one statement what was used and what is reserved: what is settled meanwhile counts once, and as one of
# the two. $1 user, $2 the first day
SELECT_OWN_STANDING: Final = f"""
    SELECT day, '' AS purpose, CAST(sum({COUNTED}) AS BIGINT) AS tokens, 0 AS at FROM usage
    WHERE user_id = $1 AND day >= $2
    GROUP BY day
    UNION ALL
    SELECT day, '', tokens, 0 FROM erased_usage WHERE user_id = $1 AND day >= $2
    UNION ALL
    {_SELECT_RESERVED} WHERE user_id = $1
    ORDER BY at
"""

# The same. $1 guild, $2 the first day
SELECT_GUILD_STANDING: Final = f"""
    SELECT day, '' AS purpose, CAST(sum({COUNTED}) AS BIGINT) AS tokens, 0 AS at FROM usage_totals
    WHERE guild_id = $1 AND day >= $2
    GROUP BY day
    UNION ALL
    {_SELECT_RESERVED} WHERE guild_id = $1
    ORDER BY at /* all users */
"""

# $1 id, $2 user, $3 guild, $4 front end, $5 purpose, $6 model, $7 tokens, $8 now, $9 process
RESERVE: Final = """
    INSERT INTO reservations (id, user_id, guild_id, front_end, purpose, model, tokens, at, process)
    VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9)
"""

# $1 user, $2 the moment from which on turns are counted
FORGET_OWN_SETTLED: Final = "DELETE FROM reservations WHERE user_id = $1 AND at <= $2 AND tokens = 0"

# $1 guild, $2 the moment from which on turns are counted
FORGET_GUILDS_SETTLED: Final = """
    DELETE FROM reservations WHERE guild_id = $1 AND at <= $2 AND tokens = 0
    /* all users */
"""
"""So that a guild with a limit has no more of them to count than those of a minute."""

# $1 id, $2 user
SETTLE_TURN: Final = """
    UPDATE reservations SET tokens = 0 WHERE id = $1 AND user_id = $2 AND tokens > 0 RETURNING id
"""

# $1 id, $2 user
SETTLE: Final = "DELETE FROM reservations WHERE id = $1 AND user_id = $2 RETURNING id"

# $1 id, $2 user
RELEASE: Final = "DELETE FROM reservations WHERE id = $1 AND user_id = $2 AND tokens > 0"

# $1 user, $2 day, $3 guild, $4 model, $5 purpose, $6 turns, $7 prompt, $8 cached, $9 completion, $10 seconds,
# $11 cost
ADD_OWN: Final = """
    INSERT INTO usage AS known (user_id, day, guild_id, model, purpose,
        turns, prompt_tokens, cached_tokens, completion_tokens, seconds, cost_micros)
    VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11)
    ON CONFLICT (user_id, day, guild_id, model, purpose) DO UPDATE SET
        turns = known.turns + excluded.turns,
        prompt_tokens = known.prompt_tokens + excluded.prompt_tokens,
        cached_tokens = known.cached_tokens + excluded.cached_tokens,
        completion_tokens = known.completion_tokens + excluded.completion_tokens,
        seconds = known.seconds + excluded.seconds,
        cost_micros = known.cost_micros + excluded.cost_micros
    WHERE known.user_id = $1
"""

# $1 guild, $2 day, $3 model, $4 turns, $5 prompt, $6 cached, $7 completion, $8 seconds, $9 cost, $10 user
ADD_TOTAL: Final = """
    INSERT INTO usage_totals AS known (guild_id, day, model,
        turns, prompt_tokens, cached_tokens, completion_tokens, seconds, cost_micros, slot)
    VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, @slot($10))
    ON CONFLICT (guild_id, day, model, slot) DO UPDATE SET
        turns = known.turns + excluded.turns,
        prompt_tokens = known.prompt_tokens + excluded.prompt_tokens,
        cached_tokens = known.cached_tokens + excluded.cached_tokens,
        completion_tokens = known.completion_tokens + excluded.completion_tokens,
        seconds = known.seconds + excluded.seconds,
        cost_micros = known.cost_micros + excluded.cost_micros
"""

_USED: Final = Columns(DailyUsage, day=Kind(date.isoformat, date.fromisoformat))
_USED_BY_ALL: Final = ", ".join(
    {"day": "day", "model": "model", "purpose": "NULL"}.get(name) or f"CAST(sum({name}) AS BIGINT)"
    for name in _USED.names
)

# $1 user, $2 the first day
SELECT_OWN: Final = f"""
    SELECT {_USED.select}
    FROM usage WHERE user_id = $1 AND day >= $2
    ORDER BY day
"""

# By the primary key. $1 user, $2 the first day
_SELECT_OWN_GUILDS: Final = """
    SELECT DISTINCT guild_id FROM usage WHERE user_id = $1 AND day >= $2 AND guild_id <> 0
"""

# $1 guild, $2 the first day
SELECT_GUILD: Final = f"""
    SELECT {_USED_BY_ALL}
    FROM usage_totals WHERE guild_id = $1 AND day >= $2
    GROUP BY guild_id, day, model
    ORDER BY day
"""

# $1 guild, $2 the first day
COUNT_USERS: Final = """
    SELECT count(DISTINCT user_id) FROM usage WHERE guild_id = $1 AND day >= $2
    /* all users */
"""
"""How many they are, and no more than that."""

# $1 the first day
SELECT_EVERYWHERE: Final = f"""
    SELECT {_USED_BY_ALL}
    FROM usage_totals WHERE day >= $1
    GROUP BY guild_id, day, model
    ORDER BY day
"""

# By usage_by_day, for which the `+` keeps SQLite from the primary key. The terminal's user is 0.
# $1 the first day, $2 how many
SELECT_RECENT_USERS: Final = """
    SELECT +user_id FROM usage WHERE day >= $1 AND user_id <> 0
    GROUP BY +user_id ORDER BY max(day) DESC, +user_id DESC LIMIT $2 /* all users */
"""

# $1 process, $2 the moment up to which they are nobody's any more in any case
SELECT_LEFT: Final = f"""
    SELECT {_RESERVED.select} FROM reservations
    WHERE tokens > 0 AND (front_end = 'discord' AND {left_by_the_dead("reservations")} OR at <= $2)
    /* all users */
"""
"""Of all users: those whose process has died. That of a terminal is not known."""

# $1 the moment from which on turns are counted
FORGET_SETTLED: Final = "DELETE FROM reservations WHERE at <= $1 AND tokens = 0 /* all users */"

# $1 the first day of the month
FORGET_ERASED: Final = "DELETE FROM erased_usage WHERE day < $1"

# ---- reservations ----------------------------------------------------------------------------------------
# All is read, decided and reserved in one transaction, so that two questions that come at once do not both
# find the same room.

LONGEST: Final = timedelta(minutes=15)
"""Nothing is on its way for longer: a turn waits three minutes at most and takes ten."""


@dataclass(frozen=True, slots=True)
class ReservationRequest:
    """A request for something that is about to begin."""

    payer: UsageSubject
    purpose: Purpose
    model: str
    """That is asked first; empty for the one that comes along, which counts no tokens."""
    tokens: int
    """About what it will use."""


@dataclass(frozen=True, slots=True)
class Reservation:
    id: int
    wish: ReservationRequest
    day: date
    """On which it counts, however long it takes."""


@dataclass(frozen=True, slots=True)
class Settlement:
    """The amounts that are counted in place of what was reserved."""

    reservation: Reservation
    costs: tuple[tuple[ModelUsage, int], ...]
    """Each with its cost in millionths."""


@dataclass(frozen=True, slots=True)
class OverLimit:
    reached: ReachedLimit
    of_guild: bool
    """Whether it is the guild's limit, and not the user's own."""


@dataclass(frozen=True, slots=True)
class Allowance:
    """The bounds of somebody, and how much of them is used."""

    bounds: Bounds
    standing: UsageSnapshot


@dataclass(frozen=True, slots=True)
class Moment:
    """The present, and the operator's time zone: its days and months count."""

    now: datetime
    zone: ZoneInfo

    @property
    def today(self) -> date:
        return day_of(self.now, self.zone)


def reserve(
    wish: ReservationRequest,
    file_rules: Rules,
    moment: Moment,
    turn: PendingTurn | None,
    *,
    number: int,
    process: str = "",
    about_guild: bool = True,
) -> Steps[Reservation | OverLimit | None]:
    """Reserve under this number, unless a limit is reached. None, and nothing is done, where the guild has a
    limit after all and this is not `about_guild`."""
    payer, asked = wish.payer, wish.purpose == "turn"
    minute_ago = to_ms(moment.now - MINUTE)
    own, guilds = yield from allowances(payer, file_rules, moment)
    if guilds.bounds.any and not about_guild:
        return None
    yield Statement(FORGET_OWN_SETTLED, (payer.user_id, minute_ago))
    if guilds.bounds.any:
        yield Statement(FORGET_GUILDS_SETTLED, (payer.guild_id, minute_ago))
    for allowance in (own, guilds):
        limit = find_reached(allowance.bounds, allowance.standing, moment.now, moment.zone, asked=asked)
        if limit:
            return OverLimit(limit, of_guild=allowance is guilds)
    reserving = Statement(
        RESERVE,
        (
            *(number, payer.user_id, payer.guild_id, payer.front_end),
            *(wish.purpose, wish.model, max(1, wish.tokens), to_ms(moment.now)),
            process,
        ),
    )
    yield reserving
    if turn is not None:
        yield from accept_turn(turn, process)
    return Reservation(number, wish, moment.today)


def new_number() -> int:
    """Make the number of a reservation."""
    return secrets.randbits(62)


def allowances(payer: UsageSubject, file_rules: Rules, moment: Moment) -> Steps[tuple[Allowance, Allowance]]:
    """The user's own, and that of the guild. What has no bound is not looked up."""
    set_rules = yield from rules_for(payer)
    rules = {**file_rules, **set_rules} if set_rules else file_rules
    own = bounds_of_user(rules, payer)
    guilds = bounds_of_guild(rules, payer.guild_id)
    return (
        Allowance(own, (yield from _standing_of_user(payer.user_id, own, moment))),
        Allowance(guilds, (yield from _standing_of_guild(payer.guild_id, guilds, moment))),
    )


def _standing_of_user(user_id: int, bounds: Bounds, moment: Moment) -> Steps[UsageSnapshot]:
    if not bounds.any:
        return UsageSnapshot()
    if bounds.of_tokens:
        rows = yield Statement(SELECT_OWN_STANDING, (user_id, _first(moment)))
    else:
        rows = yield Statement(SELECT_OWN_RESERVED, (user_id,))
    return _standing(bounds, rows, moment)


def _standing_of_guild(guild_id: int, bounds: Bounds, moment: Moment) -> Steps[UsageSnapshot]:
    if not bounds.any:
        return UsageSnapshot()
    if bounds.of_tokens:
        rows = yield Statement(SELECT_GUILD_STANDING, (guild_id, _first(moment)))
    else:
        rows = yield Statement(SELECT_GUILD_RESERVED, (guild_id,))
    return _standing(bounds, rows, moment)


def _standing(bounds: Bounds, rows: Sequence[Row], moment: Moment) -> UsageSnapshot:
    tokens, reserved = Counter[str](), list[_Counted]()
    for each in map(_Counted._make, rows):
        if each.day:
            tokens[each.day] += each.tokens
        else:
            reserved.append(each)
    held = sum(each.tokens for each in reserved)
    minute_ago, oldest, latest = (to_ms(moment.now - ago) for ago in (MINUTE, LONGEST, -AHEAD))
    turns = [each for each in reserved if each.purpose == "turn"]
    counted = bounds.turns_per_minute is not None
    return UsageSnapshot(
        turns=tuple(from_ms(each.at) for each in turns if minute_ago < each.at <= latest) if counted else (),
        today=tokens[moment.today.isoformat()] + held,
        this_month=tokens.total() + held,
        underway=sum(each.tokens > 0 and each.at > oldest for each in turns),
    )


def _first(moment: Moment) -> str:
    return moment.today.replace(day=1).isoformat()


# ---- usage -----------------------------------------------------------------------------------------------

UTC_ZONE: Final = ZoneInfo("UTC")

Cost = Callable[[str, Usage], int]
"""What a model's tokens cost, in millionths of the currency."""


class UsageStore:
    def __init__(
        self, database: Database, *, clock: Clock = utc_now, zone: ZoneInfo = UTC_ZONE, process: str = ""
    ) -> None:
        """Make the store. Days and months are those of `zone`; `process` is whose reservations it makes."""
        self._database = database
        self._process = process
        self._limited = set[int]()
        """Guilds for which an owner has set a limit: who asks there waits for who asked before. All others
        wait for nobody."""
        self._clock = clock
        self._zone = zone

    async def reserve(
        self,
        wish: ReservationRequest,
        file_rules: Rules,
        turn: PendingTurn | None = None,
    ) -> Reservation:
        """Admit it, and enter its turn in the ledger, or do neither. Raises LimitReached when a limit is
        reached that the operator's file or an owner set: ServerLimitReached for the guild's, TooManyAtOnce
        where the end of a turn is what to wait for."""
        payer, moment = wish.payer, self._moment()
        about_guild = payer.guild_id in self._limited or bounds_of_guild(file_rules, payer.guild_id).any
        number = new_number()
        outcome: Reservation | OverLimit | None = None
        while outcome is None:
            about = (user(payer.user_id), *([guild(payer.guild_id)] if about_guild else ()))
            reserving = partial(
                reserve,
                wish,
                file_rules,
                moment,
                turn,
                number=number,
                process=self._process,
                about_guild=about_guild,
            )
            outcome = await self._database.write(reserving, about)
            if outcome is None:
                self._limited.add(payer.guild_id)
                about_guild = True
        if isinstance(outcome, OverLimit):
            raise _as_error(outcome)
        return outcome

    async def settle(self, settlement: Settlement) -> bool:
        """Count what was used in place of what was reserved. False when it is settled by now, or its user has
        had it erased: then nothing is counted."""
        about = [user(settlement.reservation.wish.payer.user_id)]
        return await self._database.write(lambda: settle(settlement), about)

    async def release(self, reservation: Reservation) -> None:
        """Drop a reservation: what it was made for never began, and counts as nothing."""
        columns = (reservation.id, reservation.wish.payer.user_id)
        await self._database.transaction(
            [Statement(RELEASE, columns)], [user(reservation.wish.payer.user_id)]
        )

    async def take_over(self, cost: Cost) -> int:
        """Count as used what processes that died had reserved, and what is older than anything can be. Return
        how many there were."""
        return await self._database.write(lambda: self._take_over(cost), [EVERYBODY])

    async def forget_settled(self) -> None:
        """Drop what counts for no minute any more, and for no month."""
        before, month = to_ms(self._clock() - MINUTE), self.today().replace(day=1).isoformat()
        await self._database.transaction(
            [Statement(FORGET_SETTLED, (before,)), Statement(FORGET_ERASED, (month,))], [EVERYBODY]
        )

    async def may_be_limited(self, user_id: int, file_rules: Rules) -> bool:
        """Return whether any limit of tokens may hold for a user, whatever roles they have."""
        set_rules = await self._database.read(lambda: rules_for(UsageSubject(user_id)))
        return limits_tokens({**file_rules, **set_rules}, user_id)

    async def get_allowances(self, payer: UsageSubject, file_rules: Rules) -> tuple[Allowance, Allowance]:
        """Return what holds for the user, and for the guild."""
        return await self._database.read(lambda: allowances(payer, file_rules, self._moment()))

    async def list_for_user(self, user_id: int, since: date) -> tuple[DailyUsage, ...]:
        """List what a user has used, in every place, by day."""
        return tuple(map(_USED.read, await self._database.query(SELECT_OWN, user_id, since.isoformat())))

    async def list_guilds(self, user_id: int, since: date) -> frozenset[int]:
        """List the guilds in which a user has used anything."""
        rows = await self._database.query(_SELECT_OWN_GUILDS, user_id, since.isoformat())
        return frozenset(guild_id for (guild_id,) in rows)

    async def list_for_guild(self, guild_id: int, since: date) -> tuple[DailyUsage, ...]:
        """List what all of a guild have used, by day."""
        return tuple(map(_USED.read, await self._database.query(SELECT_GUILD, guild_id, since.isoformat())))

    async def count_users(self, guild_id: int, since: date) -> int:
        """Count the users who have used anything in a guild."""
        [[count]] = await self._database.query(COUNT_USERS, guild_id, since.isoformat())
        return int(count)

    async def list_users(self, since: date, *, limit: int) -> tuple[int, ...]:
        """List the users on Discord who have used anything since that day, the most recent first."""
        rows = await self._database.query(SELECT_RECENT_USERS, since.isoformat(), limit)
        return tuple(user_id for (user_id,) in rows)

    async def list_all(self, since: date) -> tuple[DailyUsage, ...]:
        """List what everybody has used, by day."""
        return tuple(map(_USED.read, await self._database.query(SELECT_EVERYWHERE, since.isoformat())))

    @property
    def zone(self) -> ZoneInfo:
        """The operator's time zone."""
        return self._zone

    def now(self) -> datetime:
        return self._clock()

    def today(self) -> date:
        """The day where the operator is."""
        return day_of(self._clock(), self._zone)

    def _moment(self) -> Moment:
        return Moment(self._clock(), self._zone)

    def _take_over(self, cost: Cost) -> Steps[int]:
        rows = yield Statement(SELECT_LEFT, (self._process, to_ms(self._clock() - LONGEST)))
        for left in map(_RESERVED.read, rows):
            usage = Usage(prompt_tokens=left.tokens) if left.model else Usage()
            payer = UsageSubject(left.user_id, left.guild_id)
            wish = ReservationRequest(payer, left.purpose, left.model, left.tokens)
            reservation = Reservation(left.id, wish, day_of(from_ms(left.at), self._zone))
            spent = ModelUsage(left.model, usage)
            yield from settle(Settlement(reservation, ((spent, cost(left.model, usage)),)))
        return len(rows)


def settle_stored(settlement: Settlement) -> Steps[None]:
    """Settle a turn in the transaction that stores it. Raises TurnLost where there is nothing to be settled
    any more: then it was given up by another process, or all of its user's is erased."""
    if not (yield from settle(settlement)):
        raise TurnLost


def settle(settlement: Settlement) -> Steps[bool]:
    """Settle in the transaction that stores what it was used for, or by itself."""
    reservation = settlement.reservation
    wish, payer = reservation.wish, reservation.wish.payer
    turn = wish.purpose == "turn"
    rows = yield Statement(SETTLE_TURN if turn else SETTLE, (reservation.id, payer.user_id))
    if not rows:
        return False
    day = reservation.day.isoformat()
    turns = int(turn)
    totals = []
    for each, cost in settlement.costs or ((ModelUsage(wish.model, Usage()), 0),):
        usage = each.usage
        tokens = (usage.prompt_tokens, usage.cached_tokens, usage.completion_tokens)
        counts = (turns, *tokens, usage.seconds, cost)
        own = (payer.user_id, day, payer.guild_id, each.model, wish.purpose, *counts)
        yield Statement(ADD_OWN, own)
        totals.append((payer.guild_id, day, each.model, *counts, payer.user_id))
        turns = 0  # one turn, however many models it took
    # Last, and everybody in the same order: others of the guild wait for these rows.
    for total in sorted(totals):
        yield Statement(ADD_TOTAL, total)
    return True


def _as_error(refusal: OverLimit) -> LimitReached:
    limit = refusal.reached
    if limit.resets_at is None:
        return TooManyAtOnce(what=limit.name)
    error = ServerLimitReached if refusal.of_guild else LimitReached
    return error(what=limit.name, resets=limit.resets_at)
