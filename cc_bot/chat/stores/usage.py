"""Stores the usage of each user by model and purpose. A turn begins with a reservation of estimated tokens,
and is settled with its actual usage. If its process was killed, the reserved tokens count as used."""

import secrets
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from functools import partial
from typing import Final
from zoneinfo import ZoneInfo

from cc_bot.chat.stores.ledger import accept_turn
from cc_bot.chat.stores.settings import read_owner_rules
from cc_bot.db import MAINTENANCE_LOCK, Database, Row, Statement, Transaction, guild_lock, user_lock
from cc_bot.db.columns import Codec, Columns, Store, from_ms, to_ms
from cc_bot.db.process import left_by_dead_process
from cc_bot.domain.clock import MAX_CLOCK_SKEW, Clock, utc_now
from cc_bot.domain.errors import LimitReached, ServerLimitReached, TooManyAtOnce, TurnLost
from cc_bot.domain.measures import Purpose
from cc_bot.domain.turn import PendingTurn, Usage
from cc_bot.domain.usage import (
    MINUTE,
    TOKENS_PER_AUDIO_SECOND,
    DailyUsage,
    LimitRules,
    Limits,
    ModelUsage,
    Payer,
    RemainingTokens,
    UsageSnapshot,
    find_reached_limit,
    has_token_limit,
    has_usage_limit,
    limits_of_guild,
    limits_of_user,
    local_day,
    remaining_tokens,
)

# ruff: noqa: S608 - SQL is built from constants

USED_TOKENS: Final = f"prompt_tokens + completion_tokens + {TOKENS_PER_AUDIO_SECOND} * seconds"

# Rows of usage by day, and of reservations, whose day is empty. They are read by one statement, so that usage
# settled meanwhile counts exactly once.
_SELECT_USER_TOKENS: Final = f"""
    SELECT day, '' AS purpose, CAST(sum({USED_TOKENS}) AS BIGINT) AS tokens, 0 AS at FROM usage
    WHERE user_id = $1 AND day >= $2
    GROUP BY day
    UNION ALL SELECT day, '', tokens, 0 FROM erased_usage WHERE user_id = $1 AND day >= $2
    UNION ALL SELECT '', purpose, tokens, at FROM reservations WHERE user_id = $1
    ORDER BY at
"""

_SELECT_GUILD_TOKENS: Final = f"""
    SELECT day, '' AS purpose, CAST(sum({USED_TOKENS}) AS BIGINT) AS tokens, 0 AS at FROM usage_totals
    WHERE guild_id = $1 AND day >= $2
    GROUP BY day
    UNION ALL SELECT '', purpose, tokens, at FROM reservations WHERE guild_id = $1
    ORDER BY at /* scope: all users */
"""

# $2 ms: settled turns (tokens = 0) before that no longer count for the turns per minute
_FORGET_USERS_SETTLED: Final = "DELETE FROM reservations WHERE user_id = $1 AND at <= $2 AND tokens = 0"
_FORGET_GUILDS_SETTLED: Final = (
    "DELETE FROM reservations WHERE guild_id = $1 AND at <= $2 AND tokens = 0 /* scope: all users */"
)

_SETTLE_TURN: Final = """
    UPDATE reservations SET tokens = 0 WHERE id = $1 AND user_id = $2 AND tokens > 0 RETURNING id
"""
_SETTLE_OTHER: Final = "DELETE FROM reservations WHERE id = $1 AND user_id = $2 RETURNING id"

_AMOUNTS: Final = ("turns", "prompt_tokens", "cached_tokens", "completion_tokens", "seconds", "cost_micros")
_ADDED: Final = ", ".join(f"{name} = known.{name} + excluded.{name}" for name in _AMOUNTS)

_ADD_USAGE: Final = f"""
    INSERT INTO usage AS known (user_id, day, guild_id, model, purpose, {", ".join(_AMOUNTS)})
    VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11)
    ON CONFLICT (user_id, day, guild_id, model, purpose) DO UPDATE SET {_ADDED} WHERE known.user_id = $1
"""

# $1 guild, $2 day, $3 model, then _AMOUNTS, $10 user
_ADD_TOTAL: Final = f"""
    INSERT INTO usage_totals AS known (guild_id, day, model, {", ".join(_AMOUNTS)}, slot)
    VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, @slot($10))
    ON CONFLICT (guild_id, day, model, slot) DO UPDATE SET {_ADDED}
"""

_DAILY: Final = Columns(DailyUsage, day=Codec(date.isoformat, date.fromisoformat))
_SUMMED_COLUMNS: Final = ", ".join(
    {"day": "day", "model": "model", "purpose": "NULL"}.get(name) or f"CAST(sum({name}) AS BIGINT)"
    for name in _DAILY.names
)

_SELECT_USER: Final = f"SELECT {_DAILY.select} FROM usage WHERE user_id = $1 AND day >= $2 ORDER BY day"

_SELECT_TOTALS: Final = f"""
    SELECT {_SUMMED_COLUMNS} FROM usage_totals WHERE {{}}
    GROUP BY guild_id, day, model
    ORDER BY day
"""
_SELECT_GUILD: Final = _SELECT_TOTALS.format("guild_id = $1 AND day >= $2")
_SELECT_ALL: Final = _SELECT_TOTALS.format("day >= $1")

# $2 ms: earlier reservations are abandoned even if their process is alive
SELECT_ABANDONED: Final = f"""
    SELECT id, user_id, guild_id, purpose, model, tokens, at FROM reservations
    WHERE tokens > 0 AND (front_end = 'discord' AND {left_by_dead_process("reservations")} OR at <= $2)
    /* scope: all users */
"""

# $1 ms, as in _FORGET_USERS_SETTLED
FORGET_SETTLED: Final = "DELETE FROM reservations WHERE at <= $1 AND tokens = 0 /* scope: all users */"

MAX_TURN_TIME: Final = timedelta(minutes=15)  # a turn waits at most three minutes and runs at most ten
UTC_ZONE: Final = ZoneInfo("UTC")

Cost = Callable[[str, Usage], int]  # (model, usage) -> millionths of the currency


@dataclass(frozen=True, slots=True)
class ReservationRequest:
    payer: Payer
    purpose: Purpose
    model: str  # the first of the chain; empty for the offline model, which counts no tokens
    tokens: int  # an estimate


@dataclass(frozen=True, slots=True)
class Reservation:
    id: int
    request: ReservationRequest
    day: date  # the day on which the usage counts, even if the turn ends later


@dataclass(frozen=True, slots=True)
class Settlement:
    reservation: Reservation
    costs: tuple[tuple[ModelUsage, int], ...]  # in millionths of the currency


@dataclass(frozen=True, slots=True)
class _LimitedUsage:
    limits: Limits
    usage: UsageSnapshot


class UsageStore(Store):
    def __init__(
        self, database: Database, *, clock: Clock = utc_now, zone: ZoneInfo = UTC_ZONE, process: str = ""
    ) -> None:
        """`zone`: the time zone in which days and months begin."""
        super().__init__(database, clock=clock, process=process)
        self._limited_guilds = set[int]()  # their reservations run one after the other
        self.zone = zone

    async def reserve(
        self, request: ReservationRequest, file_rules: LimitRules, turn: PendingTurn | None = None
    ) -> Reservation:
        """Reserve tokens and add the turn to the ledger, both or neither. Raises LimitReached."""
        payer, id_ = request.payer, secrets.randbits(62)
        if has_usage_limit(limits_of_guild(file_rules, payer.guild_id)):
            self._limited_guilds.add(payer.guild_id)
        outcome: Reservation | LimitReached | None = None
        while outcome is None:
            locked = payer.guild_id in self._limited_guilds
            lock_keys = (user_lock(payer.user_id), *([guild_lock(payer.guild_id)] if locked else ()))
            steps = partial(self._reserve, id_, request, file_rules, turn, locked=locked)
            outcome = await self._database.write(steps, lock_keys)
            if outcome is None:  # an owner has set a limit for the guild
                self._limited_guilds.add(payer.guild_id)
        if isinstance(outcome, LimitReached):
            raise outcome
        return outcome

    def _reserve(
        self,
        id_: int,
        request: ReservationRequest,
        file_rules: LimitRules,
        turn: PendingTurn | None,
        *,
        locked: bool,
    ) -> Transaction[Reservation | LimitReached | None]:
        """Reserve nothing and return None if the guild has a limit but is not `locked`."""
        payer, now = request.payer, self._clock()
        user, guild = yield from self._read_limited_usage(payer, file_rules, now)
        guild_is_limited = has_usage_limit(guild.limits)
        if guild_is_limited and not locked:
            return None
        minute_ago = to_ms(now - MINUTE)
        yield Statement(_FORGET_USERS_SETTLED, (payer.user_id, minute_ago))
        if guild_is_limited:
            yield Statement(_FORGET_GUILDS_SETTLED, (payer.guild_id, minute_ago))
        by_user = request.purpose == "turn"
        for each, error in ((user, LimitReached), (guild, ServerLimitReached)):
            if limit := find_reached_limit(each.limits, each.usage, now, self.zone, by_user=by_user):
                if limit.resets_at is None:
                    return TooManyAtOnce(what=limit.name)
                return error(what=limit.name, resets=limit.resets_at)
        id_and_payer = (id_, payer.user_id, payer.guild_id, payer.front_end)
        tokens = max(1, request.tokens)  # 0 would mean settled
        sql = """
            INSERT INTO reservations (id, user_id, guild_id, front_end, purpose, model, tokens, at, process)
            VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9)
        """
        params = (*id_and_payer, request.purpose, request.model, tokens, to_ms(now), self._process)
        yield Statement(sql, params)
        if turn is not None:
            yield from accept_turn(turn, self._process)
        return Reservation(id_, request, local_day(now, self.zone))

    def _read_limited_usage(
        self, payer: Payer, file_rules: LimitRules, now: datetime
    ) -> Transaction[tuple[_LimitedUsage, _LimitedUsage]]:
        """Return the limits and usage of the user, and of the guild. Usage without a limit is not read."""
        rules = {**file_rules, **(yield from read_owner_rules())}
        first_day = local_day(now, self.zone).replace(day=1).isoformat()
        user_and_guild = list[_LimitedUsage]()
        for sql, id_, limits in (
            (_SELECT_USER_TOKENS, payer.user_id, limits_of_user(rules, payer)),
            (_SELECT_GUILD_TOKENS, payer.guild_id, limits_of_guild(rules, payer.guild_id)),
        ):
            rows = (yield Statement(sql, (id_, first_day))) if has_usage_limit(limits) else ()
            user_and_guild.append(_LimitedUsage(limits, self._sum_up(rows, now)))
        return user_and_guild[0], user_and_guild[1]

    def _sum_up(self, rows: Sequence[Row], now: datetime) -> UsageSnapshot:
        tokens_by_day, turns, reserved_tokens = Counter[str](), list[tuple[int, int]](), 0
        for day, purpose, tokens, at in rows:
            if day:
                tokens_by_day[day] += tokens
            else:
                reserved_tokens += tokens
            if purpose == "turn":
                turns.append((at, tokens))
        minute_ago, oldest, latest = (to_ms(now - ago) for ago in (MINUTE, MAX_TURN_TIME, -MAX_CLOCK_SKEW))
        return UsageSnapshot(
            turn_starts=tuple(from_ms(at) for at, _ in turns if minute_ago < at <= latest),
            tokens_today=tokens_by_day[local_day(now, self.zone).isoformat()] + reserved_tokens,
            tokens_this_month=tokens_by_day.total() + reserved_tokens,
            turns_in_flight=sum(tokens > 0 and at > oldest for at, tokens in turns),
        )

    async def settle(self, settlement: Settlement) -> bool:
        """Count the actual usage. Returns False if the reservation was settled or erased already."""
        lock_keys = [user_lock(settlement.reservation.request.payer.user_id)]
        return await self._database.write(lambda: settle(settlement), lock_keys)

    async def release(self, reservation: Reservation) -> None:
        """Drop the reservation of a turn that never began."""
        user_id = reservation.request.payer.user_id
        sql = "DELETE FROM reservations WHERE id = $1 AND user_id = $2 AND tokens > 0"
        await self._change([user_lock(user_id)], sql, reservation.id, user_id)

    async def settle_abandoned(self, cost: Cost) -> int:
        return await self._database.write(lambda: self._settle_abandoned(cost), [MAINTENANCE_LOCK])

    def _settle_abandoned(self, cost: Cost) -> Transaction[int]:
        rows = yield Statement(SELECT_ABANDONED, (self._process, to_ms(self._clock() - MAX_TURN_TIME)))
        for id_, user_id, guild_id, purpose, model, tokens, at in rows:
            usage = Usage(prompt_tokens=tokens) if model else Usage()
            request = ReservationRequest(Payer(user_id, guild_id), purpose, model, tokens)
            reservation = Reservation(id_, request, local_day(from_ms(at), self.zone))
            yield from settle(Settlement(reservation, ((ModelUsage(model, usage), cost(model, usage)),)))
        return len(rows)

    async def forget_settled(self) -> None:
        """Delete reservations and erased usage that no longer count for any limit."""
        minute_ago, first_day = to_ms(self._clock() - MINUTE), self.today().replace(day=1).isoformat()
        sql = "DELETE FROM erased_usage WHERE day < $1"
        await self._database.transaction(
            [Statement(FORGET_SETTLED, (minute_ago,)), Statement(sql, (first_day,))], [MAINTENANCE_LOCK]
        )

    async def may_be_limited(self, user_id: int, file_rules: LimitRules) -> bool:
        """Return whether any token limit may apply to a user, whatever their roles."""
        owner_rules = await self._database.read(read_owner_rules)
        return has_token_limit({**file_rules, **owner_rules}, user_id)

    async def get_remaining(
        self, payer: Payer, file_rules: LimitRules
    ) -> tuple[Sequence[RemainingTokens], Sequence[RemainingTokens]]:
        """Return the tokens that are left to the user, and to the guild."""
        now = self._clock()
        user, guild = await self._database.read(lambda: self._read_limited_usage(payer, file_rules, now))
        return (
            remaining_tokens(user.limits, user.usage, now, self.zone),
            remaining_tokens(guild.limits, guild.usage, now, self.zone),
        )

    async def list_for_user(self, user_id: int, since: date) -> tuple[DailyUsage, ...]:
        return tuple(map(_DAILY.read, await self._database.query(_SELECT_USER, user_id, since.isoformat())))

    async def list_for_guild(self, guild_id: int, since: date) -> tuple[DailyUsage, ...]:
        return tuple(map(_DAILY.read, await self._database.query(_SELECT_GUILD, guild_id, since.isoformat())))

    async def list_all(self, since: date) -> tuple[DailyUsage, ...]:
        return tuple(map(_DAILY.read, await self._database.query(_SELECT_ALL, since.isoformat())))

    async def list_guilds(self, user_id: int, since: date) -> frozenset[int]:
        sql = """
            SELECT DISTINCT guild_id FROM usage WHERE user_id = $1 AND day >= $2 AND guild_id <> 0
        """
        rows = await self._database.query(sql, user_id, since.isoformat())
        return frozenset(guild_id for (guild_id,) in rows)

    async def count_users(self, guild_id: int, since: date) -> int:
        sql = """
            SELECT count(DISTINCT user_id) FROM usage WHERE guild_id = $1 AND day >= $2
            /* scope: all users */
        """
        [[count]] = await self._database.query(sql, guild_id, since.isoformat())
        return int(count)

    async def list_users(self, since: date, *, limit: int) -> tuple[int, ...]:
        """List Discord users, the most recent first."""
        # The `+` makes SQLite use usage_by_day, not the primary key. The terminal's user is 0.
        sql = """
            SELECT +user_id FROM usage WHERE day >= $1 AND user_id <> 0
            GROUP BY +user_id ORDER BY max(day) DESC, +user_id DESC LIMIT $2 /* scope: all users */
        """
        rows = await self._database.query(sql, since.isoformat(), limit)
        return tuple(user_id for (user_id,) in rows)

    def today(self) -> date:
        return local_day(self._clock(), self.zone)


def settle_stored(settlement: Settlement) -> Transaction[None]:
    """Settle a turn in the transaction that stores it. Raises TurnLost if its reservation is gone."""
    if not (yield from settle(settlement)):
        raise TurnLost


def settle(settlement: Settlement) -> Transaction[bool]:
    """Store the usage of a reservation. Returns False if the reservation is gone."""
    reservation = settlement.reservation
    request, payer = reservation.request, reservation.request.payer
    turns = int(request.purpose == "turn")
    rows = yield Statement(_SETTLE_TURN if turns else _SETTLE_OTHER, (reservation.id, payer.user_id))
    if not rows:
        return False
    day = reservation.day.isoformat()
    totals = []
    for each, cost in settlement.costs or ((ModelUsage(request.model, Usage()), 0),):
        usage = each.usage
        tokens = (usage.prompt_tokens, usage.cached_tokens, usage.completion_tokens)
        amounts = (turns, *tokens, usage.seconds, cost)
        usage_key = (payer.user_id, day, payer.guild_id, each.model, request.purpose)
        yield Statement(_ADD_USAGE, (*usage_key, *amounts))
        totals.append((payer.guild_id, day, each.model, *amounts, payer.user_id))
        turns = 0  # the turn counts once, for the first of its models
    # Last, and in a fixed order, as other transactions of the guild wait for these rows.
    for total in sorted(totals):
        yield Statement(_ADD_TOTAL, total)
    return True
