"""What each user has used, by model and purpose, and reservations for turns in flight.

A turn is admitted with a reservation and settled with its actual usage. Both are stored, so a restart resets
nothing, and what a killed process had reserved counts as used. Limits are read, checked and reserved in one
transaction, so that two concurrent questions do not both take the last of an allowance.
"""

import secrets
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from functools import partial
from typing import Final, Literal, NamedTuple
from zoneinfo import ZoneInfo

from cc_bot.domain.clock import AHEAD, Clock, utc_now
from cc_bot.domain.errors import LimitReached, ServerLimitReached, TooManyAtOnce, TurnLost
from cc_bot.domain.measures import Purpose
from cc_bot.domain.turn import PendingTurn, Usage
from cc_bot.domain.usage import (
    MINUTE,
    TOKENS_A_SECOND,
    Bounds,
    DailyUsage,
    ModelUsage,
    ReachedLimit,
    Rules,
    UsageSnapshot,
    UsageSubject,
    bounds_of_guild,
    bounds_of_user,
    day_of,
    find_reached,
    limits_tokens,
)
from cc_bot.storage import MAINTENANCE_LOCK, Database, Row, Statement, Steps, guild, user
from cc_bot.stores.access import rules_for
from cc_bot.stores.columns import Columns, Kind, from_ms, to_ms
from cc_bot.stores.ledger import accept_turn
from cc_bot.stores.processes import left_by_the_dead

# ruff: noqa: S608 - put together from constants alone

COUNTED: Final = f"prompt_tokens + completion_tokens + {TOKENS_A_SECOND} * seconds"
"""Tokens that a row counts for limits."""


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
    """Tokens used on a day, or reserved."""

    day: str
    """Empty for a reservation."""
    purpose: Purpose | Literal[""]
    tokens: int
    at: int
    """In milliseconds; 0 for a day."""


_SELECT_RESERVED: Final = "SELECT '' AS day, purpose, tokens, at FROM reservations"

# $1 user
SELECT_OWN_RESERVED: Final = f"{_SELECT_RESERVED} WHERE user_id = $1 ORDER BY at"

# $1 guild
SELECT_GUILD_RESERVED: Final = f"{_SELECT_RESERVED} WHERE guild_id = $1 ORDER BY at /* all users */"

# Used and reserved in one statement, so that what is settled meanwhile counts exactly once.
# $1 user, $2 the first day
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

# $1 guild, $2 the first day
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

# $1 user, $2 ms: turns before it no longer count
FORGET_OWN_SETTLED: Final = "DELETE FROM reservations WHERE user_id = $1 AND at <= $2 AND tokens = 0"

# $1 guild, $2 ms: turns before it no longer count
FORGET_GUILDS_SETTLED: Final = """
    DELETE FROM reservations WHERE guild_id = $1 AND at <= $2 AND tokens = 0
    /* all users */
"""

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

# $1 the first day
SELECT_EVERYWHERE: Final = f"""
    SELECT {_USED_BY_ALL}
    FROM usage_totals WHERE day >= $1
    GROUP BY guild_id, day, model
    ORDER BY day
"""

# The `+` makes SQLite use usage_by_day, not the primary key. The terminal's user is 0.
# $1 the first day, $2 how many
SELECT_RECENT_USERS: Final = """
    SELECT +user_id FROM usage WHERE day >= $1 AND user_id <> 0
    GROUP BY +user_id ORDER BY max(day) DESC, +user_id DESC LIMIT $2 /* all users */
"""

# $1 process, $2 ms: older ones are abandoned in any case
SELECT_LEFT: Final = f"""
    SELECT {_RESERVED.select} FROM reservations
    WHERE tokens > 0 AND (front_end = 'discord' AND {left_by_the_dead("reservations")} OR at <= $2)
    /* all users */
"""

# $1 ms: turns before it no longer count
FORGET_SETTLED: Final = "DELETE FROM reservations WHERE at <= $1 AND tokens = 0 /* all users */"

# $1 the first day of the month
FORGET_ERASED: Final = "DELETE FROM erased_usage WHERE day < $1"

MAX_TURN: Final = timedelta(minutes=15)
"""No turn lasts longer: it waits at most three minutes and runs ten."""


@dataclass(frozen=True, slots=True)
class ReservationRequest:
    payer: UsageSubject
    purpose: Purpose
    model: str
    """The first of the chain; empty for the offline model, which counts no tokens."""
    tokens: int
    """Estimated."""


@dataclass(frozen=True, slots=True)
class Reservation:
    id: int
    wish: ReservationRequest
    day: date
    """On which it counts, even if it ends later."""


@dataclass(frozen=True, slots=True)
class Settlement:
    """The actual usage, counted in place of the reservation."""

    reservation: Reservation
    costs: tuple[tuple[ModelUsage, int], ...]
    """Each with its cost in millionths of the currency."""


@dataclass(frozen=True, slots=True)
class OverLimit:
    reached: ReachedLimit
    of_guild: bool
    """Else the user's own limit."""


@dataclass(frozen=True, slots=True)
class Allowance:
    bounds: Bounds
    snapshot: UsageSnapshot


@dataclass(frozen=True, slots=True)
class Moment:
    """The present, and the operator's time zone, whose days and months count."""

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
    """Reserve under this number, unless a limit is reached. Does nothing and returns None if the guild turns
    out to have a limit and its lock (`about_guild`) is not held."""
    payer, asked = wish.payer, wish.purpose == "turn"
    minute_ago = to_ms(moment.now - MINUTE)
    own, guilds = yield from allowances(payer, file_rules, moment)
    if guilds.bounds.any and not about_guild:
        return None
    yield Statement(FORGET_OWN_SETTLED, (payer.user_id, minute_ago))
    if guilds.bounds.any:
        yield Statement(FORGET_GUILDS_SETTLED, (payer.guild_id, minute_ago))
    for allowance in (own, guilds):
        limit = find_reached(allowance.bounds, allowance.snapshot, moment.now, moment.zone, asked=asked)
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
    return secrets.randbits(62)


def allowances(payer: UsageSubject, file_rules: Rules, moment: Moment) -> Steps[tuple[Allowance, Allowance]]:
    """Return the user's allowance and the guild's. Usage without a limit is not looked up."""
    set_rules = yield from rules_for(payer)
    rules = {**file_rules, **set_rules} if set_rules else file_rules
    own = bounds_of_user(rules, payer)
    guilds = bounds_of_guild(rules, payer.guild_id)
    return (
        Allowance(own, (yield from _snapshot_of_user(payer.user_id, own, moment))),
        Allowance(guilds, (yield from _snapshot_of_guild(payer.guild_id, guilds, moment))),
    )


def _snapshot_of_user(user_id: int, bounds: Bounds, moment: Moment) -> Steps[UsageSnapshot]:
    if not bounds.any:
        return UsageSnapshot()
    if bounds.of_tokens:
        rows = yield Statement(SELECT_OWN_STANDING, (user_id, _first(moment)))
    else:
        rows = yield Statement(SELECT_OWN_RESERVED, (user_id,))
    return _snapshot(bounds, rows, moment)


def _snapshot_of_guild(guild_id: int, bounds: Bounds, moment: Moment) -> Steps[UsageSnapshot]:
    if not bounds.any:
        return UsageSnapshot()
    if bounds.of_tokens:
        rows = yield Statement(SELECT_GUILD_STANDING, (guild_id, _first(moment)))
    else:
        rows = yield Statement(SELECT_GUILD_RESERVED, (guild_id,))
    return _snapshot(bounds, rows, moment)


def _snapshot(bounds: Bounds, rows: Sequence[Row], moment: Moment) -> UsageSnapshot:
    tokens, reserved = Counter[str](), list[_Counted]()
    for each in map(_Counted._make, rows):
        if each.day:
            tokens[each.day] += each.tokens
        else:
            reserved.append(each)
    held = sum(each.tokens for each in reserved)
    minute_ago, oldest, latest = (to_ms(moment.now - ago) for ago in (MINUTE, MAX_TURN, -AHEAD))
    turns = [each for each in reserved if each.purpose == "turn"]
    counted = bounds.turns_per_minute is not None
    return UsageSnapshot(
        turns=tuple(from_ms(each.at) for each in turns if minute_ago < each.at <= latest) if counted else (),
        today=tokens[moment.today.isoformat()] + held,
        this_month=tokens.total() + held,
        turns_in_flight=sum(each.tokens > 0 and each.at > oldest for each in turns),
    )


def _first(moment: Moment) -> str:
    return moment.today.replace(day=1).isoformat()


UTC_ZONE: Final = ZoneInfo("UTC")

Cost = Callable[[str, Usage], int]
"""(model, usage) -> millionths of the currency."""


class UsageStore:
    def __init__(
        self, database: Database, *, clock: Clock = utc_now, zone: ZoneInfo = UTC_ZONE, process: str = ""
    ) -> None:
        """`zone`: whose days and months count. `process`: the owner of the reservations made here."""
        self._database = database
        self._process = process
        self._limited = set[int]()
        """Guilds with a limit set by an owner: reservations there run one after the other."""
        self._clock = clock
        self._zone = zone

    async def reserve(
        self, wish: ReservationRequest, file_rules: Rules, turn: PendingTurn | None = None
    ) -> Reservation:
        """Reserve and enter the turn in the ledger, or neither. Raises LimitReached if a limit is reached:
        ServerLimitReached for the guild's, TooManyAtOnce if another turn has to end first."""
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
        """Count the actual usage. Returns False if it was settled or erased already; then nothing counts."""
        about = [user(settlement.reservation.wish.payer.user_id)]
        return await self._database.write(lambda: settle(settlement), about)

    async def release(self, reservation: Reservation) -> None:
        """Drop the reservation of a turn that never began."""
        columns = (reservation.id, reservation.wish.payer.user_id)
        await self._database.transaction(
            [Statement(RELEASE, columns)], [user(reservation.wish.payer.user_id)]
        )

    async def take_over(self, cost: Cost) -> int:
        """Count abandoned reservations (of dead processes, or too old) as used. Returns their number."""
        return await self._database.write(lambda: self._take_over(cost), [MAINTENANCE_LOCK])

    async def forget_settled(self) -> None:
        """Drop what no longer counts for a minute or month."""
        before, month = to_ms(self._clock() - MINUTE), self.today().replace(day=1).isoformat()
        await self._database.transaction(
            [Statement(FORGET_SETTLED, (before,)), Statement(FORGET_ERASED, (month,))], [MAINTENANCE_LOCK]
        )

    async def may_be_limited(self, user_id: int, file_rules: Rules) -> bool:
        """Return whether any token limit may apply to a user, whatever their roles."""
        set_rules = await self._database.read(lambda: rules_for(UsageSubject(user_id)))
        return limits_tokens({**file_rules, **set_rules}, user_id)

    async def get_allowances(self, payer: UsageSubject, file_rules: Rules) -> tuple[Allowance, Allowance]:
        """Return the user's allowance and the guild's."""
        return await self._database.read(lambda: allowances(payer, file_rules, self._moment()))

    async def list_for_user(self, user_id: int, since: date) -> tuple[DailyUsage, ...]:
        """List a user's usage by day."""
        return tuple(map(_USED.read, await self._database.query(SELECT_OWN, user_id, since.isoformat())))

    async def list_guilds(self, user_id: int, since: date) -> frozenset[int]:
        """List the guilds where a user has any usage."""
        rows = await self._database.query(_SELECT_OWN_GUILDS, user_id, since.isoformat())
        return frozenset(guild_id for (guild_id,) in rows)

    async def list_for_guild(self, guild_id: int, since: date) -> tuple[DailyUsage, ...]:
        """List a guild's usage by day."""
        return tuple(map(_USED.read, await self._database.query(SELECT_GUILD, guild_id, since.isoformat())))

    async def count_users(self, guild_id: int, since: date) -> int:
        """Count the users with any usage in a guild."""
        [[count]] = await self._database.query(COUNT_USERS, guild_id, since.isoformat())
        return int(count)

    async def list_users(self, since: date, *, limit: int) -> tuple[int, ...]:
        """List the users on Discord with any usage since that day, the most recent first."""
        rows = await self._database.query(SELECT_RECENT_USERS, since.isoformat(), limit)
        return tuple(user_id for (user_id,) in rows)

    async def list_all(self, since: date) -> tuple[DailyUsage, ...]:
        """List all usage by day."""
        return tuple(map(_USED.read, await self._database.query(SELECT_EVERYWHERE, since.isoformat())))

    @property
    def zone(self) -> ZoneInfo:
        return self._zone

    def now(self) -> datetime:
        return self._clock()

    def today(self) -> date:
        """Today in the operator's time zone."""
        return day_of(self._clock(), self._zone)

    def _moment(self) -> Moment:
        return Moment(self._clock(), self._zone)

    def _take_over(self, cost: Cost) -> Steps[int]:
        rows = yield Statement(SELECT_LEFT, (self._process, to_ms(self._clock() - MAX_TURN)))
        for left in map(_RESERVED.read, rows):
            usage = Usage(prompt_tokens=left.tokens) if left.model else Usage()
            payer = UsageSubject(left.user_id, left.guild_id)
            wish = ReservationRequest(payer, left.purpose, left.model, left.tokens)
            reservation = Reservation(left.id, wish, day_of(from_ms(left.at), self._zone))
            spent = ModelUsage(left.model, usage)
            yield from settle(Settlement(reservation, ((spent, cost(left.model, usage)),)))
        return len(rows)


def settle_stored(settlement: Settlement) -> Steps[None]:
    """Settle a turn in the transaction that stores it. Raises TurnLost if its reservation is gone: another
    process took it over, or its user was erased."""
    if not (yield from settle(settlement)):
        raise TurnLost


def settle(settlement: Settlement) -> Steps[bool]:
    """Settle within a transaction. Returns False if the reservation is gone."""
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
        turns = 0  # one turn, however many models it used
    # Last, and in a fixed order, as other transactions of the guild wait for these rows.
    for total in sorted(totals):
        yield Statement(ADD_TOTAL, total)
    return True


def _as_error(refusal: OverLimit) -> LimitReached:
    limit = refusal.reached
    if limit.resets_at is None:
        return TooManyAtOnce(what=limit.name)
    error = ServerLimitReached if refusal.of_guild else LimitReached
    return error(what=limit.name, resets=limit.resets_at)
