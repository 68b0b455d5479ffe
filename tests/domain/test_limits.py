"""Which rule says how much somebody may use, and when there is something to use again."""

from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cc_bot.domain.member import (
    Bounds,
    LimitKey,
    LimitName,
    ReachedLimit,
    Rules,
    UsageSnapshot,
    UsageSubject,
    bounds_of_guild,
    bounds_of_user,
    find_reached,
    next_day,
    next_month,
)

TOKYO = ZoneInfo("Asia/Tokyo")
NOW = datetime(2026, 11, 30, 20, 0, tzinfo=UTC)  # the first of December, five in the morning, in Tokyo
EVERYONE, OWN, TRUSTED, HELPER = (
    LimitKey("everyone", 0, "tokens_per_day"),
    LimitKey("user", 7, "tokens_per_day"),
    LimitKey("role", 100, "tokens_per_day"),
    LimitKey("role", 200, "tokens_per_day"),
)


def a_day(rules: Rules, payer: UsageSubject) -> int | None:
    return bounds_of_user(rules, payer).tokens_per_day


class TestLimitOfAUser:
    def test_is_that_of_everyone(self) -> None:
        assert a_day({EVERYONE: 10}, UsageSubject(7)) == 10

    def test_is_none_without_a_rule(self) -> None:
        assert bounds_of_user({}, UsageSubject(7, 5, (100,))) == Bounds()

    def test_is_the_users_own_even_where_that_is_less(self) -> None:
        assert a_day({EVERYONE: 10, TRUSTED: 100, OWN: 1}, UsageSubject(7, 5, (100,))) == 1

    def test_can_be_none_for_one_user(self) -> None:
        assert a_day({EVERYONE: 10, OWN: None}, UsageSubject(7)) is None
        assert a_day({EVERYONE: 10, OWN: None}, UsageSubject(8)) == 10

    def test_is_that_of_a_role_even_where_that_is_less_than_everyones(self) -> None:
        assert a_day({EVERYONE: 10, TRUSTED: 5}, UsageSubject(7, 5, (100,))) == 5

    def test_is_the_most_generous_of_several_roles(self) -> None:
        assert a_day({EVERYONE: 1, TRUSTED: 5, HELPER: 8}, UsageSubject(7, 5, (100, 200, 300))) == 8
        assert a_day({EVERYONE: 1, TRUSTED: None, HELPER: 8}, UsageSubject(7, 5, (100, 200))) is None

    def test_is_the_most_that_it_can_be_where_nobody_tells_the_roles(self) -> None:
        assert a_day({EVERYONE: 6, TRUSTED: 5, HELPER: 8}, UsageSubject(7, role_ids=None)) == 8
        assert a_day({EVERYONE: 9, TRUSTED: 5}, UsageSubject(7, role_ids=None)) == 9
        assert a_day({EVERYONE: 9, TRUSTED: None}, UsageSubject(7, role_ids=None)) is None
        assert a_day({EVERYONE: 9, TRUSTED: 50, OWN: 3}, UsageSubject(7, role_ids=None)) == 3

    def test_of_a_role_where_there_is_none_for_everyone_leaves_nothing_unlimited_but_them(self) -> None:
        assert a_day({TRUSTED: 5}, UsageSubject(7, role_ids=(100,))) == 5
        assert a_day({TRUSTED: 5}, UsageSubject(7)) is None

    def test_is_only_their_own_at_the_terminal(self) -> None:
        assert a_day({EVERYONE: 10}, UsageSubject(7, front_end="terminal")) is None
        assert a_day({EVERYONE: 10, OWN: 3}, UsageSubject(7, front_end="terminal")) == 3
        assert a_day({EVERYONE: 10}, UsageSubject(0)) is None

    def test_is_looked_up_for_each_name_by_itself(self) -> None:
        rules = {EVERYONE: 10, LimitKey("user", 7, "concurrent"): 2}
        assert bounds_of_user(rules, UsageSubject(7)) == Bounds(tokens_per_day=10, concurrent=2)


class TestLimitOfAGuild:
    def test_is_only_its_own(self) -> None:
        rules = {EVERYONE: 10, LimitKey("guild", 5, "tokens_per_month"): 3}
        assert bounds_of_guild(rules, 5) == Bounds(tokens_per_month=3)
        assert bounds_of_guild(rules, 6) == Bounds()

    def test_holds_for_no_dm(self) -> None:
        assert bounds_of_guild({LimitKey("guild", 0, "tokens_per_month"): 3}, 0) == Bounds()


class TestReached:
    @pytest.mark.parametrize("name", ["tokens_per_day", "tokens_per_month"])
    def test_is_a_limit_of_tokens_when_all_are_used(self, name: LimitName) -> None:
        standing = UsageSnapshot(today=100, this_month=100)
        assert find_reached(Bounds(**{name: 101}), standing, NOW, TOKYO) is None
        found = find_reached(Bounds(**{name: 100}), standing, NOW, TOKYO)
        assert found is not None
        assert found.name == name

    def test_resets_where_the_operator_is(self) -> None:
        standing = UsageSnapshot(today=9, this_month=9)
        assert find_reached(Bounds(tokens_per_day=5), standing, NOW, TOKYO) == ReachedLimit(
            "tokens_per_day", datetime(2026, 12, 1, 15, 0, tzinfo=UTC)
        )
        assert find_reached(Bounds(tokens_per_month=5), standing, NOW, TOKYO) == ReachedLimit(
            "tokens_per_month", datetime(2026, 12, 31, 15, 0, tzinfo=UTC)
        )

    def test_of_several_tells_the_one_that_holds_longest(self) -> None:
        bounds = Bounds(turns_per_minute=1, tokens_per_day=1, tokens_per_month=1, concurrent=1)
        standing = UsageSnapshot((NOW,), 5, 5, 5)
        found = find_reached(bounds, standing, NOW, TOKYO)
        assert found is not None
        assert found.name == "tokens_per_month"

    def test_of_a_minute_resets_when_enough_turns_are_a_minute_old(self) -> None:
        turns = tuple(NOW - timedelta(seconds=s) for s in (50, 40, 10))
        assert find_reached(Bounds(turns_per_minute=4), UsageSnapshot(turns), NOW, TOKYO) is None
        found = find_reached(Bounds(turns_per_minute=2), UsageSnapshot(turns), NOW, TOKYO)
        assert found == ReachedLimit("turns_per_minute", NOW + timedelta(seconds=20))

    def test_at_once_resets_at_no_time(self) -> None:
        assert find_reached(Bounds(concurrent=2), UsageSnapshot(underway=1), NOW, TOKYO) is None
        assert find_reached(Bounds(concurrent=2), UsageSnapshot(underway=2), NOW, TOKYO) == ReachedLimit(
            "concurrent", None
        )

    def test_in_what_nobody_asked_for_now_are_limits_of_tokens_alone(self) -> None:
        bounds = Bounds(turns_per_minute=1, concurrent=1)
        assert find_reached(bounds, UsageSnapshot((NOW,), underway=1), NOW, TOKYO, asked=False) is None
        assert find_reached(Bounds(tokens_per_day=1), UsageSnapshot(today=1), NOW, TOKYO, asked=False)


class TestDaysAndMonths:
    @pytest.mark.parametrize(
        ("zone", "moment", "day"),
        [
            (
                "Europe/Berlin",
                datetime(2026, 3, 28, 23, 30, tzinfo=UTC),
                datetime(2026, 3, 29, 22, tzinfo=UTC),
            ),
            ("Europe/Berlin", datetime(2026, 10, 24, 22, tzinfo=UTC), datetime(2026, 10, 25, 23, tzinfo=UTC)),
            ("Africa/Cairo", datetime(2026, 4, 23, 12, tzinfo=UTC), datetime(2026, 4, 23, 22, tzinfo=UTC)),
        ],
    )
    def test_begin_at_midnight_also_where_clocks_move(
        self, zone: str, moment: datetime, day: datetime
    ) -> None:
        assert next_day(moment, ZoneInfo(zone)) == day

    def test_of_a_year_end_in_the_next(self) -> None:
        assert next_month(datetime(2026, 12, 31, 14, 59, tzinfo=UTC), TOKYO) == datetime(
            2026, 12, 31, 15, tzinfo=UTC
        )

    @given(
        st.datetimes(datetime(2020, 1, 1), datetime(2040, 1, 1), timezones=st.just(UTC)),  # noqa: DTZ001 - with UTC
        st.sampled_from(["Asia/Tokyo", "Europe/Berlin", "America/Sao_Paulo", "Asia/Kolkata", "UTC"]),
    )
    def test_always_come(self, moment: datetime, name: str) -> None:
        zone = ZoneInfo(name)
        assert moment < next_day(moment, zone) <= next_month(moment, zone)
        assert next_day(moment, zone) - moment <= timedelta(hours=25)
        assert next_month(moment, zone).astimezone(zone).day == 1
