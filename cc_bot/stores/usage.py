"""What was used, by whom, of which model, and for what; and what is reserved for what is on its way.

Something is admitted with a reservation, and settled with what it took. Both are in the database, so a
restart resets nothing; and what a killed program has reserved counts as used.
"""

from collections.abc import Callable, Sequence
from datetime import date, datetime
from typing import Final, Literal
from zoneinfo import ZoneInfo

from cc_bot.domain.clock import Clock, utc_now
from cc_bot.domain.errors import LimitReached, ServerLimitReached, TooManyAtOnce
from cc_bot.domain.events import Usage
from cc_bot.domain.limits import MINUTE, Payer, Rules, day_of, limits_tokens
from cc_bot.domain.usage import Spent, Used
from cc_bot.storage import Database, Row, Statement, Steps
from cc_bot.stores.columns import from_ms, to_ms
from cc_bot.stores.limits import rules_for
from cc_bot.stores.reservations import (
    LONGEST,
    Allowance,
    Moment,
    OverLimit,
    Reservation,
    Wish,
    allowances,
    reserve,
)
from cc_bot.stores.usage_statements import (
    ADD_OWN,
    ADD_TOTAL,
    COUNT_USERS,
    FORGET_ERASED,
    FORGET_SETTLED,
    SELECT_EVERYWHERE,
    SELECT_GUILD,
    SELECT_LEFT,
    SELECT_OWN,
    SETTLE,
    SETTLE_TURN,
)

UTC_ZONE: Final = ZoneInfo("UTC")

Cost = Callable[[str, Usage], int]
"""What a model's tokens cost, in millionths of the currency."""


class UsageStore:
    def __init__(self, database: Database, *, clock: Clock = utc_now, zone: ZoneInfo = UTC_ZONE) -> None:
        """Days and months are those of `zone`."""
        self._database = database
        self._clock = clock
        self._zone = zone

    async def reserve(self, wish: Wish, file_rules: Rules) -> Reservation:
        """Admit it. Raises LimitReached when a limit is reached that the operator's file or an owner set:
        ServerLimitReached for the guild's, TooManyAtOnce where the end of a turn is what to wait for."""
        outcome = await self._database.write(lambda: reserve(wish, file_rules, self._moment()))
        if isinstance(outcome, OverLimit):
            raise _as_error(outcome)
        return outcome

    async def settle(self, reservation: Reservation, spent: Sequence[tuple[Spent, int]]) -> bool:
        """Count what was used in place of what was reserved; each with its cost in millionths. False when it
        is settled by now, or its user has had it erased: then nothing is counted."""
        return await self._database.write(lambda: _settle(reservation, spent))

    async def take_over(self, front_end: Literal["discord", "terminal"] | None, cost: Cost) -> int:
        """Count as used what programs that died had reserved: of this front end any, since there is none
        beside this one, and of all what is older than anything can be. Returns how many there were."""
        return await self._database.write(lambda: self._take_over(front_end, cost))

    async def forget_settled(self) -> None:
        """Drop what counts for no minute any more, and for no month."""
        before, month = to_ms(self._clock() - MINUTE), self.today().replace(day=1).isoformat()
        await self._database.transaction(
            [Statement(FORGET_SETTLED, (before,)), Statement(FORGET_ERASED, (month,))]
        )

    async def may_be_limited(self, user_id: int, file_rules: Rules) -> bool:
        """Whether any limit of tokens may hold for a user, whatever roles they have."""
        set_rules = await self._database.read(lambda: rules_for(Payer(user_id)))
        return limits_tokens({**file_rules, **set_rules}, user_id)

    async def allowances(self, payer: Payer, file_rules: Rules) -> tuple[Allowance, Allowance]:
        """What holds for the user, and for the guild."""
        return await self._database.read(lambda: allowances(payer, file_rules, self._moment()))

    async def of_user(self, user_id: int, since: date) -> tuple[Used, ...]:
        """A user's own, in every place, by day."""
        return _used(await self._database.query(SELECT_OWN, user_id, since.isoformat()))

    async def of_guild(self, guild_id: int, since: date) -> tuple[Used, ...]:
        """All of a guild together, by day."""
        return _used(await self._database.query(SELECT_GUILD, guild_id, since.isoformat()))

    async def users_of_guild(self, guild_id: int, since: date) -> int:
        """How many have used anything there."""
        [[count]] = await self._database.query(COUNT_USERS, guild_id, since.isoformat())
        return int(count)

    async def everywhere(self, since: date) -> tuple[Used, ...]:
        """All that was used, by day."""
        return _used(await self._database.query(SELECT_EVERYWHERE, since.isoformat()))

    @property
    def zone(self) -> ZoneInfo:
        """Where the operator is."""
        return self._zone

    def now(self) -> datetime:
        return self._clock()

    def today(self) -> date:
        """Where the operator is."""
        return day_of(self._clock(), self._zone)

    def _moment(self) -> Moment:
        return Moment(self._clock(), self._zone)

    def _take_over(self, front_end: str | None, cost: Cost) -> Steps[int]:
        rows = yield Statement(SELECT_LEFT, (front_end, to_ms(self._clock() - LONGEST)))
        for id_, user_id, guild_id, purpose, model, tokens, at in rows:
            usage = Usage(prompt_tokens=tokens) if model else Usage()
            wish = Wish(Payer(user_id, guild_id), purpose, model, tokens)
            reservation = Reservation(id_, wish, day_of(from_ms(at), self._zone))
            yield from _settle(reservation, [(Spent(model, usage), cost(model, usage))])
        return len(rows)


def _settle(reservation: Reservation, spent: Sequence[tuple[Spent, int]]) -> Steps[bool]:
    wish, payer = reservation.wish, reservation.wish.payer
    turn = wish.purpose == "turn"
    rows = yield Statement(SETTLE_TURN if turn else SETTLE, (reservation.id, payer.user_id))
    if not rows:
        return False
    day = reservation.day.isoformat()
    turns = int(turn)
    for each, cost in spent or [(Spent(wish.model, Usage()), 0)]:
        usage = each.usage
        counts = (turns, usage.prompt_tokens, usage.cached_tokens, usage.completion_tokens, cost)
        own = (payer.user_id, day, payer.guild_id, each.model, wish.purpose, *counts)
        yield Statement(ADD_OWN, own)
        yield Statement(ADD_TOTAL, (payer.guild_id, day, each.model, *counts))
        turns = 0  # one turn, however many models it took
    return True


def _as_error(refusal: OverLimit) -> LimitReached:
    limit = refusal.reached
    if limit.resets_at is None:
        return TooManyAtOnce(what=limit.name)
    error = ServerLimitReached if refusal.of_guild else LimitReached
    return error(what=limit.name, resets=limit.resets_at)


def _used(rows: Sequence[Row]) -> tuple[Used, ...]:
    return tuple(
        Used(date.fromisoformat(day), model, purpose, turns, Usage(prompt, completion, cached), cost)
        for day, model, purpose, turns, prompt, cached, completion, cost in rows
    )
