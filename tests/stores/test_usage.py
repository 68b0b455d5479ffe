from collections.abc import AsyncIterator, Callable
from datetime import UTC, date, datetime, timedelta
from pathlib import Path
from zoneinfo import ZoneInfo

import pytest

from cc_bot.chat.stores.settings import LimitStore
from cc_bot.chat.stores.usage import Reservation, ReservationRequest, Settlement, UsageStore
from cc_bot.db import Database, apply_pending, open_database
from cc_bot.domain.errors import LimitReached, ServerLimitReached, TooManyAtOnce
from cc_bot.domain.measures import Purpose
from cc_bot.domain.turn import Usage
from cc_bot.domain.usage import LimitKey, LimitName, LimitRules, LimitScope, ModelUsage, Payer
from cc_bot.features.privacy.personal_data import PersonalDataStore

pytestmark = pytest.mark.sqlite("a file of its own; on both engines there is test_at_once")

TOKYO = ZoneInfo("Asia/Tokyo")
AIKO, KEN, ELSE, GUILD = 11, 12, 99, 500
PAYER, OTHER = Payer(AIKO, GUILD), Payer(KEN, GUILD)
START = datetime(2026, 11, 22, 3, 0, tzinfo=UTC)
MIDNIGHT = datetime(2026, 11, 22, 15, 0, tzinfo=UTC)
LONG_AGO = date(2026, 1, 1)


class Till:
    """A usage store over a database, and the time that it goes by."""

    def __init__(self, database: Database) -> None:
        self.database = database
        self.now = START
        self.usage = UsageStore(database, clock=lambda: self.now, zone=TOKYO)
        self.limits = LimitStore(database, clock=lambda: self.now)
        self.rules: LimitRules = {}

    async def settle_abandoned(self, cost: Callable[[str, Usage], int] = lambda *_: 0) -> int:
        """As a process does that lives, when this one does no more."""
        other = UsageStore(self.database, clock=lambda: self.now, zone=TOKYO, process="other")
        return await other.settle_abandoned(cost)

    def limit(self, name: LimitName, value: int | None, scope: LimitScope = "everyone", id_: int = 0) -> None:
        self.rules = {**self.rules, LimitKey(scope, id_, name): value}

    async def reserve(
        self, payer: Payer = PAYER, *, purpose: Purpose = "turn", tokens: int = 100, model: str = "small"
    ) -> Reservation:
        return await self.usage.reserve(ReservationRequest(payer, purpose, model, tokens), self.rules)

    async def refused(
        self, payer: Payer = PAYER, *, purpose: Purpose = "turn", by: type[Exception] = LimitReached
    ) -> dict[str, object]:
        with pytest.raises(by) as found:
            await self.reserve(payer, purpose=purpose)
        return dict(getattr(found.value, "params", {}))

    async def settle(self, reservation: Reservation, *spent: tuple[ModelUsage, int]) -> bool:
        return await self.usage.settle(Settlement(reservation, spent))

    async def spend(
        self, tokens: int, payer: Payer = PAYER, *, purpose: Purpose = "turn", model: str = "small"
    ) -> None:
        reservation = await self.reserve(payer, purpose=purpose, model=model)
        assert await self.settle(reservation, (ModelUsage(model, Usage(tokens, 0)), tokens * 2))

    async def hear(self, seconds: int, payer: Payer = PAYER) -> None:
        reservation = await self.reserve(payer, tokens=1)
        assert await self.settle(reservation, (ModelUsage("ears", Usage(seconds=seconds)), seconds))

    async def erase(self) -> None:
        limited = await self.usage.may_be_limited(AIKO, self.rules)
        erasure = PersonalDataStore(self.database, clock=lambda: self.now)
        await erasure.erase(AIKO, counted_day=self.usage.today() if limited else None)

    async def counts(self) -> list[tuple[object, ...]]:
        rows = await self.database.query("SELECT user_id, day, tokens FROM erased_usage ORDER BY day")
        return [tuple(row) for row in rows]

    async def tokens(self, user_id: int = AIKO) -> int:
        return sum(used.tokens for used in await self.usage.list_for_user(user_id, LONG_AGO))


def used(tokens: int, model: str = "small") -> tuple[ModelUsage, int]:
    return (ModelUsage(model, Usage(tokens, 0)), 0)


@pytest.fixture
async def till(tmp_path: Path) -> AsyncIterator[Till]:
    async with open_database(f"sqlite:///{tmp_path}/sessions.db") as database:
        await apply_pending(database)
        yield Till(database)


class TestTokens:
    async def test_of_a_day_are_used_up_and_there_again_the_next_day(self, till: Till) -> None:
        till.limit("tokens_per_day", 1000)
        await till.spend(600)
        await till.spend(400, purpose="summary")
        for purpose in ("turn", "heartbeat"):
            told = await till.refused(purpose="turn" if purpose == "turn" else "heartbeat")
            assert told == {"what": "tokens_per_day", "resets": MIDNIGHT}
        await till.reserve(OTHER)
        till.now = MIDNIGHT
        await till.reserve()

    async def test_of_a_guild_are_those_of_all_its_members(self, till: Till) -> None:
        till.limit("tokens_per_month", 1000, "guild", GUILD)
        till.limit("turns_per_minute", 3, "guild", GUILD)
        await till.spend(400)
        await till.spend(400, OTHER)
        await till.spend(200, OTHER)
        await till.refused(Payer(ELSE, GUILD), by=ServerLimitReached)
        till.limit("turns_per_minute", None, "guild", GUILD)
        await till.refused(Payer(ELSE, GUILD), by=ServerLimitReached)
        await till.reserve(Payer(AIKO))
        await till.reserve(Payer(AIKO, GUILD + 1))


class TestSeconds:
    async def test_count_as_ten_tokens_each_and_are_told_beside_them(self, till: Till) -> None:
        till.limit("tokens_per_day", 1000)
        till.limit("tokens_per_day", 2000, "guild", GUILD)
        await till.hear(99)
        await till.hear(1)
        await till.refused()
        [own] = await till.usage.list_for_user(AIKO, LONG_AGO)
        assert (own.model, own.usage.seconds, own.tokens, own.cost_micros) == ("ears", 100, 0, 100)
        await till.hear(100, OTHER)
        await till.refused(Payer(ELSE, GUILD), by=ServerLimitReached)
        [all_] = await till.usage.list_for_guild(GUILD, LONG_AGO)
        assert all_.usage.seconds == 200
        await till.erase()
        assert await till.counts() == [(AIKO, "2026-11-22", 1000)]
        await till.refused(Payer(AIKO))


class TestLeft:
    async def test_of_a_day_is_no_more_than_of_the_month(self, till: Till) -> None:
        till.limit("tokens_per_day", 300)
        till.limit("tokens_per_month", 1000)

        async def left() -> dict[LimitName, int]:
            own, guild = await till.usage.get_remaining(PAYER, till.rules)
            assert not guild
            return {each.name: each.left for each in own}

        await till.spend(100)
        assert await left() == {"tokens_per_day": 200, "tokens_per_month": 900}
        reserved = await till.reserve(tokens=190)
        assert await left() == {"tokens_per_day": 10, "tokens_per_month": 710}
        await till.settle(reserved, used(190))
        till.limit("tokens_per_day", None)
        await till.spend(460)
        till.limit("tokens_per_day", 300)
        till.now += timedelta(days=1)
        assert await left() == {"tokens_per_month": 250}  # for today it says nothing more than the month
        await till.spend(250)
        assert await left() == {"tokens_per_month": 0}


class TestErasing:
    async def test_gives_nobody_what_is_used_up_until_the_month_is_over(self, till: Till) -> None:
        till.limit("tokens_per_day", 30)
        till.limit("tokens_per_month", 60)
        await till.spend(25)
        till.now += timedelta(days=1)
        await till.spend(20)
        await till.erase()
        assert await till.tokens() == 0
        assert await till.counts() == [(AIKO, "2026-11-01", 25), (AIKO, "2026-11-23", 20)]
        await till.spend(10)
        assert (await till.refused())["what"] == "tokens_per_day"
        till.now += timedelta(days=1)
        await till.spend(5)
        await till.erase()
        await till.erase()
        assert (await till.refused())["what"] == "tokens_per_month"
        till.now += timedelta(days=7)
        await till.reserve()
        await till.usage.forget_settled()
        assert await till.counts() == []

    async def test_counts_what_is_on_its_way_and_nothing_where_no_limit_counts(self, till: Till) -> None:
        till.limit("tokens_per_day", 100)
        left = await till.reserve(purpose="summary", tokens=100)
        await till.reserve(OTHER, tokens=7)
        await till.erase()
        assert await till.counts() == [(AIKO, "2026-11-22", 100)]
        assert not await till.settle(left, used(2))
        await till.refused()
        till.rules = {}
        await till.erase()
        assert await till.counts() == []


class TestTurnsOfAMinute:
    async def test_are_counted_unless_refused_or_in_the_background(self, till: Till) -> None:
        till.limit("turns_per_minute", 2)
        await till.spend(5, purpose="summary")
        await till.spend(5, purpose="heartbeat")
        await till.spend(5)
        till.now += timedelta(seconds=20)
        await till.reserve()
        for _ in range(3):
            assert (await till.refused())["resets"] == START + timedelta(minutes=1)
        await till.reserve(purpose="summary")
        till.now = START + timedelta(minutes=1)
        await till.reserve()


class TestTurnsAtOnce:
    async def test_are_bounded_until_one_ends_or_is_older_than_anything_takes(self, till: Till) -> None:
        till.limit("concurrent", 2)
        first = await till.reserve()
        await till.reserve()
        await till.refused(by=TooManyAtOnce)
        await till.settle(first)
        await till.reserve()
        await till.refused(by=TooManyAtOnce)
        till.now += timedelta(minutes=16)
        await till.reserve()


class TestOwnersLimit:
    async def test_goes_before_the_files_and_back(self, till: Till) -> None:
        till.limit("turns_per_minute", 1)
        await till.limits.set(LimitKey("user", AIKO, "turns_per_minute"), 3, set_by=1)
        for _ in range(3):
            await till.spend(1)
        await till.refused()
        await till.limits.set(LimitKey("user", AIKO, "turns_per_minute"), None, set_by=1)
        await till.reserve()
        assert await till.limits.unset(LimitKey("user", AIKO, "turns_per_minute"))
        assert not await till.limits.unset(LimitKey("user", AIKO, "turns_per_minute"))
        await till.refused()


class TestUsage:
    async def test_is_kept_by_day_model_and_purpose_and_settled_once(self, till: Till) -> None:
        reservation = await till.reserve()
        spent = ((ModelUsage("small", Usage(100, 10, 40)), 5), (ModelUsage("large", Usage(7, 3)), 9))
        assert await till.settle(reservation, *spent)
        assert not await till.settle(reservation, *spent)
        await till.spend(50)
        summary = await till.reserve(purpose="summary")
        assert await till.settle(summary, used(20))
        assert not await till.settle(summary, used(20))
        await till.settle(await till.reserve())  # a turn that asked no model
        found = {(each.model, each.purpose): each for each in await till.usage.list_for_user(AIKO, LONG_AGO)}
        small = found["small", "turn"]
        assert (small.turns, small.usage, small.cost_micros) == (3, Usage(150, 10, 40), 105)
        assert found["large", "turn"].turns == 0
        assert found["small", "summary"].tokens == 20
        assert await till.tokens() == 190

    async def test_of_a_guild_has_no_user_but_their_number(self, till: Till) -> None:
        await till.spend(5)
        await till.spend(6)
        await till.spend(7, OTHER)
        await till.spend(100, Payer(KEN))
        [each] = await till.usage.list_for_guild(GUILD, LONG_AGO)
        assert (each.turns, each.tokens, each.purpose) == (3, 18, None)
        assert await till.usage.count_users(GUILD, LONG_AGO) == 2
        assert {*await till.usage.list_users(LONG_AGO, limit=9)} == {AIKO, KEN}
        assert sum(each.tokens for each in await till.usage.list_all(till.usage.today())) == 118


class TestRestart:
    async def test_after_a_kill_counts_what_was_reserved_as_used(self, till: Till) -> None:
        lost = await till.reserve(tokens=300)
        assert await till.settle_abandoned(lambda _, usage: usage.prompt_tokens * 3) == 1
        [each] = await till.usage.list_for_user(AIKO, LONG_AGO)
        assert (each.tokens, each.turns, each.cost_micros, each.model) == (300, 1, 900, "small")
        assert not await till.settle(lost, used(10))
        assert await till.settle_abandoned() == 0
