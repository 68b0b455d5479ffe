"""What was used: admitted while there is room, settled once, kept over restarts."""

import asyncio
from collections.abc import AsyncIterator, Callable
from datetime import UTC, date, datetime, timedelta
from pathlib import Path
from zoneinfo import ZoneInfo

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from cc_bot.domain.errors import LimitReached, ServerLimitReached, TooManyAtOnce
from cc_bot.domain.measures import Purpose
from cc_bot.domain.member import (
    DEFAULT_RULES,
    LimitKey,
    LimitName,
    LimitScope,
    ModelUsage,
    Rules,
    UsageSubject,
    left_of,
)
from cc_bot.domain.turn import Usage
from cc_bot.storage import Database, apply_pending, open_database
from cc_bot.stores import (
    LimitStore,
    PersonalErasureStore,
    Reservation,
    ReservationRequest,
    Settlement,
    UsageStore,
)

TOKYO = ZoneInfo("Asia/Tokyo")
AIKO, KEN, GUILD = 11, 12, 500
PAYER = UsageSubject(AIKO, GUILD)
START = datetime(2026, 11, 22, 3, 0, tzinfo=UTC)


class Till:
    """A usage store over a database, and the time that it goes by."""

    def __init__(self, database: Database) -> None:
        self.database = database
        self.now = START
        self.usage = UsageStore(database, clock=lambda: self.now, zone=TOKYO)
        self.limits = LimitStore(database, clock=lambda: self.now)
        self.rules: Rules = {}

    async def take_over(self, cost: Callable[[str, Usage], int] = lambda *_: 0) -> int:
        """As a process does that lives, when this one does no more."""
        other = UsageStore(self.database, clock=lambda: self.now, zone=TOKYO, process="other")
        return await other.take_over(cost)

    def limit(self, name: LimitName, value: int | None, scope: LimitScope = "everyone", id_: int = 0) -> None:
        self.rules = {**self.rules, LimitKey(scope, id_, name): value}

    async def reserve(
        self,
        payer: UsageSubject = PAYER,
        *,
        purpose: Purpose = "turn",
        tokens: int = 100,
        model: str = "small",
    ) -> Reservation:
        return await self.usage.reserve(ReservationRequest(payer, purpose, model, tokens), self.rules)

    async def spend(
        self, tokens: int, payer: UsageSubject = PAYER, *, purpose: Purpose = "turn", model: str = "small"
    ) -> None:
        reservation = await self.reserve(payer, purpose=purpose, model=model)
        assert await self.usage.settle(
            Settlement(reservation, ((ModelUsage(model, Usage(tokens, 0)), tokens * 2),))
        )

    async def erase(self) -> None:
        limited = await self.usage.may_be_limited(AIKO, self.rules)
        erasure = PersonalErasureStore(self.database, clock=lambda: self.now)
        await erasure.erase(AIKO, counting_on=self.usage.today() if limited else None)

    async def counts(self) -> list[tuple[object, ...]]:
        rows = await self.database.query("SELECT user_id, day, tokens FROM erased_usage ORDER BY day")
        return [tuple(row) for row in rows]

    async def tokens(self, user_id: int = AIKO) -> int:
        return sum(used.tokens for used in await self.usage.list_for_user(user_id, date(2026, 1, 1)))


@pytest.fixture
async def till(tmp_path: Path) -> AsyncIterator[Till]:
    async with open_database(f"sqlite:///{tmp_path}/sessions.db") as database:
        await apply_pending(database)
        yield Till(database)


class TestTokens:
    async def test_of_a_day_are_used_up_and_there_again_the_next_day(self, till: Till) -> None:
        till.limit("tokens_per_day", 1000)
        await till.spend(600)
        await till.spend(400)
        with pytest.raises(LimitReached) as refused:
            await till.reserve()
        assert refused.value.params == {
            "what": "tokens_per_day",
            "resets": datetime(2026, 11, 22, 15, 0, tzinfo=UTC),
        }
        till.now = datetime(2026, 11, 22, 15, 0, tzinfo=UTC)
        await till.reserve()

    async def test_of_a_month_are_there_again_the_next_month(self, till: Till) -> None:
        till.limit("tokens_per_month", 1000)
        await till.spend(999)
        till.now += timedelta(days=3)
        await till.spend(1)
        with pytest.raises(LimitReached) as refused:
            await till.reserve()
        assert refused.value.params["what"] == "tokens_per_month"
        till.now = datetime(2026, 11, 30, 15, 0, tzinfo=UTC)
        await till.reserve()

    async def test_of_others_are_their_own(self, till: Till) -> None:
        till.limit("tokens_per_day", 1000)
        await till.spend(1000)
        await till.reserve(UsageSubject(KEN, GUILD))

    @pytest.mark.parametrize("name", ["tokens_per_day", "tokens_per_month"])
    @pytest.mark.parametrize(("scope", "id_"), [("everyone", 0), ("guild", GUILD)])
    async def test_that_are_reserved_count_until_they_are_settled(
        self, till: Till, name: LimitName, scope: LimitScope, id_: int
    ) -> None:
        till.limit(name, 1000, scope, id_)
        first = await till.reserve(tokens=1000)
        with pytest.raises(LimitReached):
            await till.reserve()
        await till.usage.settle(Settlement(first, ((ModelUsage("small", Usage(10, 5)), 0),)))
        await till.reserve()

    async def test_of_background_work_count_and_it_is_not_begun_beyond_them(self, till: Till) -> None:
        till.limit("tokens_per_day", 1000)
        await till.spend(1000, purpose="summary")
        for purpose in ("turn", "heartbeat"):
            with pytest.raises(LimitReached):
                await till.reserve(purpose="turn" if purpose == "turn" else "heartbeat")

    async def test_of_a_guild_are_those_of_all_its_members(self, till: Till) -> None:
        till.limit("tokens_per_month", 1000, "guild", GUILD)
        await till.spend(500)
        await till.spend(500, UsageSubject(KEN, GUILD))
        with pytest.raises(ServerLimitReached):
            await till.reserve(UsageSubject(99, GUILD))
        await till.reserve(UsageSubject(AIKO))
        await till.reserve(UsageSubject(AIKO, GUILD + 1))

    async def test_are_not_given_twice_to_questions_that_come_at_once(self, till: Till) -> None:
        till.limit("tokens_per_day", 300)
        asked = await asyncio.gather(*(till.reserve(tokens=100) for _ in range(10)), return_exceptions=True)
        assert sum(isinstance(each, Reservation) for each in asked) == 3

    async def test_count_on_the_day_on_which_they_were_admitted(self, till: Till) -> None:
        till.now = datetime(2026, 11, 22, 14, 59, 59, tzinfo=UTC)
        late = await till.reserve()
        till.now += timedelta(seconds=30)
        await till.usage.settle(Settlement(late, ((ModelUsage("small", Usage(7, 0)), 0),)))
        [used] = await till.usage.list_for_user(AIKO, date(2026, 1, 1))
        assert used.day == date(2026, 11, 22)


class TestSeconds:
    async def heard(self, till: Till, seconds: int, payer: UsageSubject = PAYER) -> None:
        reservation = await till.reserve(payer, tokens=1)
        spent = ModelUsage("ears", Usage(seconds=seconds))
        assert await till.usage.settle(Settlement(reservation, ((spent, seconds),)))

    @pytest.mark.parametrize(("scope", "id_"), [("everyone", 0), ("guild", GUILD)])
    async def test_count_as_ten_tokens_each(self, till: Till, scope: LimitScope, id_: int) -> None:
        till.limit("tokens_per_day", 1000, scope, id_)
        await self.heard(till, 99)
        await self.heard(till, 1)
        with pytest.raises(LimitReached):
            await till.reserve()

    async def test_are_told_by_model_beside_tokens(self, till: Till) -> None:
        await self.heard(till, 60)
        await self.heard(till, 30)
        [used] = await till.usage.list_for_user(AIKO, date(2026, 1, 1))
        assert (used.model, used.usage.seconds, used.tokens, used.cost_micros) == ("ears", 90, 0, 90)
        [all_] = await till.usage.list_for_guild(GUILD, date(2026, 1, 1))
        assert all_.usage.seconds == 90

    async def test_are_counted_on_after_their_user_had_all_of_theirs_erased(self, till: Till) -> None:
        till.limit("tokens_per_day", 1000)
        await self.heard(till, 100)
        await till.erase()
        assert await till.counts() == [(AIKO, "2026-11-22", 1000)]
        with pytest.raises(LimitReached):
            await till.reserve()


class TestLeft:
    @pytest.mark.parametrize(
        ("used", "left"),
        [
            (100, {"tokens_per_day": 200, "tokens_per_month": 900}),
            (290, {"tokens_per_day": 10, "tokens_per_month": 710}),
            (750, {"tokens_per_month": 250}),  # for today it says nothing more than the month does
            (1000, {"tokens_per_month": 0}),
        ],
    )
    async def test_of_a_day_is_no_more_than_of_the_month(
        self, till: Till, used: int, left: dict[LimitName, int]
    ) -> None:
        till.limit("tokens_per_day", 300)
        till.limit("tokens_per_month", 1000)
        await till.spend(used)
        if used > 300:
            till.now += timedelta(days=1)
        own, _ = await till.usage.get_allowances(PAYER, till.rules)
        found = left_of(own.bounds, own.standing, till.now, TOKYO)
        assert {each.name: each.left for each in found} == left


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
        with pytest.raises(LimitReached, match="tokens_per_day"):
            await till.reserve()
        till.now += timedelta(days=1)
        await till.spend(5)
        await till.erase()
        await till.erase()
        with pytest.raises(LimitReached, match="tokens_per_month"):
            await till.reserve()
        till.now += timedelta(days=7)
        await till.reserve()
        await till.usage.forget_settled()
        assert await till.counts() == []

    async def test_counts_what_is_reserved_for_what_is_still_on_its_way(self, till: Till) -> None:
        till.limit("tokens_per_day", 100)
        left = await till.reserve(purpose="summary", tokens=100)
        await till.erase()
        assert not await till.usage.settle(Settlement(left, ((ModelUsage("small", Usage(1, 1)), 0),)))
        with pytest.raises(LimitReached):
            await till.reserve()

    async def test_where_no_limit_counts_leaves_no_number(self, till: Till) -> None:
        till.limit("tokens_per_day", 100)
        await till.spend(25)
        await till.erase()
        till.rules = {}
        await till.erase()
        assert await till.counts() == []

    @pytest.mark.parametrize(
        ("scope", "id_", "name", "limited"),
        [
            ("everyone", 0, "tokens_per_day", True),
            ("role", 5, "tokens_per_month", True),
            ("user", AIKO, "tokens_per_day", True),
            ("user", KEN, "tokens_per_day", False),
            ("guild", GUILD, "tokens_per_day", False),
            ("everyone", 0, "turns_per_minute", False),
        ],
    )
    async def test_asks_for_any_limit_of_tokens_that_may_be_the_users(
        self, till: Till, scope: LimitScope, id_: int, name: LimitName, limited: bool
    ) -> None:
        till.limit(name, 5, scope, id_)
        assert await till.usage.may_be_limited(AIKO, till.rules) is limited
        await till.limits.set(scope, id_, name, None, set_by=1)
        assert not await till.usage.may_be_limited(AIKO, till.rules)
        await till.limits.set(scope, id_, name, 5, set_by=1)
        assert await till.usage.may_be_limited(AIKO, {}) is limited


class TestTurnsOfAMinute:
    async def test_are_counted_whether_settled_or_not(self, till: Till) -> None:
        till.limit("turns_per_minute", 2)
        await till.spend(5)
        till.now += timedelta(seconds=20)
        await till.reserve()
        with pytest.raises(LimitReached) as refused:
            await till.reserve()
        assert refused.value.params["resets"] == START + timedelta(minutes=1)
        till.now = START + timedelta(minutes=1)
        await till.reserve()

    async def test_hold_up_nobody_whose_clock_was_put_right(self, till: Till) -> None:
        till.limit("turns_per_minute", 2)
        till.now = START + timedelta(days=30)  # as a machine without a battery may believe
        for _ in range(2):
            await till.spend(10)
        till.now = START
        await till.spend(10)
        await till.spend(10)
        with pytest.raises(LimitReached) as refused:
            await till.reserve()
        assert refused.value.params["resets"] == START + timedelta(minutes=1)

    async def test_count_when_who_came_later_was_served_first(self, till: Till) -> None:
        till.limit("turns_per_minute", 1)
        till.now = START + timedelta(milliseconds=5)
        await till.reserve()
        till.now = START  # as one saw it who then waited, or whose machine is a little behind
        with pytest.raises(LimitReached):
            await till.reserve()

    async def test_do_not_count_background_work(self, till: Till) -> None:
        till.limit("turns_per_minute", 1)
        await till.spend(5, purpose="summary")
        await till.spend(5, purpose="heartbeat")
        await till.reserve()
        await till.reserve(purpose="summary")

    async def test_that_were_refused_do_not_count(self, till: Till) -> None:
        till.limit("turns_per_minute", 1)
        await till.spend(5)
        for _ in range(3):
            with pytest.raises(LimitReached):
                await till.reserve()
        till.now += timedelta(minutes=1)
        await till.reserve()

    async def test_of_a_guild_are_those_of_all_its_members(self, till: Till) -> None:
        till.limit("turns_per_minute", 2, "guild", GUILD)
        await till.spend(1)
        await till.spend(1, UsageSubject(KEN, GUILD))
        with pytest.raises(ServerLimitReached):
            await till.reserve(UsageSubject(99, GUILD))

    async def test_by_default_are_more_than_anybody_asks(self, till: Till) -> None:
        till.rules = DEFAULT_RULES
        for _ in range(60):
            await till.spend(1)
        with pytest.raises(LimitReached):
            await till.reserve()
        for _ in range(70):
            await till.spend(1, UsageSubject(0, front_end="terminal"))


class TestTurnsAtOnce:
    async def test_are_bounded_until_one_ends(self, till: Till) -> None:
        till.limit("concurrent", 2)
        first = await till.reserve()
        await till.reserve()
        with pytest.raises(TooManyAtOnce):
            await till.reserve()
        await till.usage.settle(Settlement(first, ()))
        await till.reserve()

    async def test_do_not_count_what_is_older_than_anything_takes(self, till: Till) -> None:
        till.limit("concurrent", 1)
        await till.reserve()
        till.now += timedelta(minutes=16)
        await till.reserve()


class TestOwnersLimit:
    async def test_goes_before_the_files_and_back(self, till: Till) -> None:
        till.limit("turns_per_minute", 1)
        await till.limits.set("user", AIKO, "turns_per_minute", 3, set_by=1)
        for _ in range(3):
            await till.spend(1)
        with pytest.raises(LimitReached):
            await till.reserve()
        await till.limits.set("user", AIKO, "turns_per_minute", None, set_by=1)
        await till.reserve()
        assert await till.limits.unset("user", AIKO, "turns_per_minute")
        assert not await till.limits.unset("user", AIKO, "turns_per_minute")
        with pytest.raises(LimitReached):
            await till.reserve()

    @pytest.mark.parametrize(
        ("scope", "scope_id"), [("everyone", 0), ("user", AIKO), ("role", 70), ("guild", GUILD)]
    )
    async def test_holds_for_each_kind_of_subject(self, till: Till, scope: LimitScope, scope_id: int) -> None:
        await till.limits.set(scope, scope_id, "concurrent", 1, set_by=1)
        payer = UsageSubject(AIKO, GUILD, (70,))
        await till.reserve(payer)
        with pytest.raises(TooManyAtOnce):
            await till.reserve(payer)

    async def test_is_listed_with_who_set_it_and_when(self, till: Till) -> None:
        await till.limits.set("role", 70, "tokens_per_day", 5, set_by=1)
        await till.limits.set("role", 70, "tokens_per_day", 6, set_by=2)
        await till.limits.set("everyone", 0, "concurrent", None, set_by=2)
        first, second = await till.limits.list_all()
        assert (first.key, first.value) == (LimitKey("everyone", 0, "concurrent"), None)
        assert (second.value, second.set_by, second.set_at) == (6, 2, START)


class TestUsage:
    async def test_is_kept_by_day_model_and_purpose(self, till: Till) -> None:
        reservation = await till.reserve()
        spent = ((ModelUsage("small", Usage(100, 10, 40)), 5), (ModelUsage("large", Usage(7, 3)), 9))
        assert await till.usage.settle(Settlement(reservation, spent))
        await till.spend(50)
        await till.spend(20, purpose="summary")
        used = {
            (each.model, each.purpose): each
            for each in await till.usage.list_for_user(AIKO, date(2026, 11, 22))
        }
        small = used["small", "turn"]
        assert (small.turns, small.usage, small.cost_micros) == (2, Usage(150, 10, 40), 105)
        assert used["large", "turn"].turns == 0
        assert used["small", "summary"].tokens == 20

    async def test_is_settled_once(self, till: Till) -> None:
        for purpose in ("turn", "summary"):
            reservation = await till.reserve(purpose="turn" if purpose == "turn" else "summary")
            assert await till.usage.settle(Settlement(reservation, ((ModelUsage("small", Usage(5, 0)), 0),)))
            assert not await till.usage.settle(
                Settlement(reservation, ((ModelUsage("small", Usage(5, 0)), 0),))
            )
        assert await till.tokens() == 10

    async def test_counts_a_turn_that_asked_no_model(self, till: Till) -> None:
        await till.usage.settle(Settlement(await till.reserve(), ()))
        [used] = await till.usage.list_for_user(AIKO, date(2026, 1, 1))
        assert (used.turns, used.tokens) == (1, 0)

    async def test_of_a_guild_has_no_user_but_their_number(self, till: Till) -> None:
        await till.spend(5)
        await till.spend(6)
        await till.spend(7, UsageSubject(KEN, GUILD))
        await till.spend(100, UsageSubject(KEN))
        [used] = await till.usage.list_for_guild(GUILD, date(2026, 1, 1))
        assert (used.turns, used.tokens, used.purpose) == (3, 18, None)
        assert await till.usage.count_users(GUILD, date(2026, 1, 1)) == 2
        assert sum(each.tokens for each in await till.usage.list_all(till.usage.today())) == 118

    async def test_is_that_since_a_day(self, till: Till) -> None:
        await till.spend(5)
        till.now += timedelta(days=1)
        await till.spend(6)
        assert [each.tokens for each in await till.usage.list_for_user(AIKO, till.usage.today())] == [6]

    async def test_tells_what_is_left(self, till: Till) -> None:
        till.limit("tokens_per_day", 1000)
        await till.spend(600)
        await till.reserve(tokens=50)
        own, guild = await till.usage.get_allowances(PAYER, till.rules)
        assert (own.bounds.tokens_per_day, own.standing.today, own.standing.underway) == (1000, 650, 1)
        assert not guild.bounds.any


class TestSums:
    @given(
        st.lists(
            st.tuples(
                st.sampled_from([AIKO, KEN]),
                st.sampled_from([0, GUILD]),
                st.sampled_from(["settle", "twice", "lose"]),
                st.lists(st.tuples(st.sampled_from(["small", "large"]), st.integers(0, 10**6)), max_size=3),
                st.integers(0, 90_000),
            ),
            max_size=12,
        )
    )
    @settings(max_examples=25, suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
    async def test_agree_whatever_is_settled_twice_or_lost(
        self, till: Till, done: list[tuple[int, int, str, list[tuple[str, int]], int]]
    ) -> None:
        before = [await till.tokens(user_id) for user_id in (AIKO, KEN)]
        expected = {AIKO: before[0], KEN: before[1]}
        for user_id, guild_id, how, parts, seconds in done:
            reservation = await till.reserve(UsageSubject(user_id, guild_id), tokens=7)
            till.now += timedelta(seconds=seconds)
            for _ in range({"settle": 1, "twice": 2, "lose": 0}[how]):
                await till.usage.settle(
                    Settlement(reservation, tuple((ModelUsage(name, Usage(n, 0)), n) for name, n in parts))
                )
            expected[user_id] += 7 if how == "lose" else sum(tokens for _, tokens in parts)
        await till.take_over()
        assert {user_id: await till.tokens(user_id) for user_id in (AIKO, KEN)} == expected
        everywhere = await till.usage.list_all(date(2026, 1, 1))
        assert sum(each.tokens for each in everywhere) == sum(expected.values())


class TestRestart:
    async def test_resets_nothing(self, tmp_path: Path) -> None:
        url = f"sqlite:///{tmp_path}/sessions.db"
        async with open_database(url) as database:
            await apply_pending(database)
            await Till(database).spend(1000)
        async with open_database(url) as database:
            again = Till(database)
            again.limit("tokens_per_day", 1000)
            with pytest.raises(LimitReached):
                await again.reserve()

    async def test_after_a_kill_counts_what_was_reserved_as_used(self, till: Till) -> None:
        lost = await till.reserve(tokens=300)
        assert await till.take_over(lambda _, usage: usage.prompt_tokens * 3) == 1
        [used] = await till.usage.list_for_user(AIKO, date(2026, 1, 1))
        assert (used.tokens, used.turns, used.cost_micros, used.model) == (300, 1, 900, "small")
        assert not await till.usage.settle(Settlement(lost, ((ModelUsage("small", Usage(10, 0)), 0),)))
        assert await till.take_over() == 0

    async def test_leaves_what_a_terminal_beside_has_reserved_until_nothing_takes_so_long(
        self, till: Till
    ) -> None:
        await till.reserve(UsageSubject(0, front_end="terminal"))
        assert await till.take_over() == 0
        till.now += timedelta(minutes=15)
        assert await till.take_over() == 1

    async def test_leaves_no_row_that_counts_for_nothing(self, till: Till) -> None:
        await till.spend(5)
        await till.usage.forget_settled()
        assert len(await till.database.query("SELECT id FROM reservations")) == 1
        till.now += timedelta(minutes=1)
        await till.usage.forget_settled()
        assert await till.database.query("SELECT id FROM reservations") == []
