from collections.abc import Mapping
from dataclasses import replace
from datetime import UTC, date, datetime, timedelta
from zoneinfo import ZoneInfo

from hypothesis import given
from hypothesis import strategies as st

from cc_bot.domain import access, usage
from cc_bot.domain.access import SUBJECTS, AccessRule, AccessRules, Refusal, Subject, Visitor
from cc_bot.domain.message import ChannelKey
from cc_bot.domain.turn import Usage
from cc_bot.domain.usage import MICROS, LimitKey, Limits, Payer

AIKO, OWNER = 1, 9
ROLE, CHANNEL, THREAD, GUILD = 20, 30, 31, 40
IN_GUILD = Visitor(AIKO, (THREAD, CHANNEL), GUILD, frozenset({ROLE}))
IN_DM = Visitor(AIKO, (35,))
Named = Mapping[Subject, frozenset[int]]
NOBODY: Named = {}
ALL: Named = dict(zip(SUBJECTS, (frozenset({id_}) for id_ in (AIKO, ROLE, CHANNEL, GUILD)), strict=True))
OTHERS: Named = dict(zip(SUBJECTS, (frozenset({id_}) for id_ in (2, 22, 33, 44)), strict=True))

ids = st.frozensets(st.integers(1, 4), max_size=3)
subjects = st.fixed_dictionaries(dict.fromkeys(SUBJECTS, ids))
comers = st.builds(
    Visitor, st.integers(1, 4), st.lists(st.integers(1, 4), max_size=2).map(tuple), st.integers(1, 4), ids
)


def only(named: Named, kind: Subject) -> Named:
    return {kind: named[kind]}


def rules_of(*, allow: Named = NOBODY, deny: Named = NOBODY) -> AccessRules:
    allowed = (AccessRule("allow", kind, id_) for kind, ids in allow.items() for id_ in ids)
    denied = (AccessRule("deny", kind, id_) for kind, ids in deny.items() for id_ in ids)
    return frozenset((*allowed, *denied))


def asked(
    comer: Visitor, *, allow: Named = NOBODY, deny: Named = NOBODY, closed: bool = False
) -> Refusal | None:
    maintenance = access.Maintenance("すぐ戻ります") if closed else None
    rules = rules_of(allow=allow, deny=deny)
    return access.find_refusal(comer, rules, owners=frozenset({OWNER}), maintenance=maintenance)


def test_anybody_may_without_rules_and_only_an_owner_may_during_maintenance() -> None:
    assert (asked(IN_GUILD), asked(IN_DM)) == (None, None)
    assert asked(IN_GUILD, closed=True) == Refusal("maintenance", note="すぐ戻ります")
    owner = replace(IN_GUILD, user_id=OWNER)
    everyone: Named = {**ALL, "user": frozenset({OWNER})}
    assert asked(owner, deny=everyone, allow=OTHERS, closed=True) is None


class TestDenial:
    def test_of_any_kind_is_enough_and_no_allowance_makes_up_for_it(self) -> None:
        for kind in SUBJECTS:
            assert asked(IN_GUILD, deny=only(ALL, kind), allow=ALL) == Refusal("denied", kind)
            assert asked(IN_GUILD, deny=only(OTHERS, kind)) is None

    def test_of_a_role_counts_and_its_allowance_does_not_while_nobody_can_tell_who_has_it(self) -> None:
        comer = replace(IN_GUILD, role_ids=None)
        assert asked(comer, deny=only(OTHERS, "role")) == Refusal("denied", "role")
        assert asked(comer, allow=only(ALL, "role")) == Refusal("not_listed", "role")


class TestRules:
    @given(comers, subjects, subjects)
    def test_let_in_exactly_who_is_on_every_list_of_allowances_and_on_none_of_denials(
        self, comer: Visitor, allow: Named, deny: Named
    ) -> None:
        own: Named = {
            "user": frozenset({comer.user_id}),
            "role": comer.role_ids or frozenset(),
            "channel": frozenset(comer.channel_ids),
            "guild": frozenset({comer.guild_id or 0}),
        }
        denied = any(own[kind] & deny[kind] for kind in SUBJECTS)
        listed = all(not allow[kind] or own[kind] & allow[kind] for kind in SUBJECTS)
        assert (asked(comer, allow=allow, deny=deny) is None) == (listed and not denied)


def test_a_location_is_shut_that_is_denied_or_left_out() -> None:
    key, kinds = ChannelKey(CHANNEL, THREAD), list[Subject](("channel", "guild"))
    for mine, others in ((only(ALL, kind), only(OTHERS, kind)) for kind in kinds):
        assert access.is_closed_to_users(key, GUILD, rules_of(deny=mine))
        assert access.is_closed_to_users(key, GUILD, rules_of(allow=others))
        assert access.is_closed_to_users(key, GUILD, rules_of(allow=mine, deny=mine))
        assert not access.is_closed_to_users(key, GUILD, rules_of(allow=mine, deny=others))


TODAY = date(2026, 11, 22)
TOKYO = ZoneInfo("Asia/Tokyo")
NOW = datetime(2026, 11, 30, 20, 0, tzinfo=UTC)  # the first of December, five in the morning, in Tokyo
EVERYONE, OWN, TRUSTED, HELPER = (
    LimitKey("everyone", 0, "tokens_per_day"),
    LimitKey("user", 7, "tokens_per_day"),
    LimitKey("role", 100, "tokens_per_day"),
    LimitKey("role", 200, "tokens_per_day"),
)


def test_the_limit_of_a_user_is_their_own_before_the_best_of_their_roles_before_that_of_everyone() -> None:
    trusted, unknown = Payer(7, 5, (100,)), Payer(7, role_ids=None)
    terminal = Payer(7, front_end="terminal")
    table: list[tuple[usage.LimitRules, Payer, int | None]] = [
        ({}, trusted, None),
        ({EVERYONE: 10}, Payer(7), 10),
        ({EVERYONE: 10, TRUSTED: 100, OWN: 1}, trusted, 1),
        ({EVERYONE: 10, TRUSTED: 5}, trusted, 5),
        ({EVERYONE: 10, OWN: None}, Payer(7), None),
        ({EVERYONE: 10, OWN: None}, Payer(8), 10),
        ({TRUSTED: 5}, Payer(7), None),
        ({EVERYONE: 1, TRUSTED: 5, HELPER: 8}, Payer(7, 5, (100, 200, 300)), 8),
        ({EVERYONE: 1, TRUSTED: None, HELPER: 8}, Payer(7, 5, (100, 200)), None),
        ({EVERYONE: 6, TRUSTED: 5, HELPER: 8}, unknown, 8),
        ({EVERYONE: 9, TRUSTED: 5}, unknown, 9),
        ({EVERYONE: 9, TRUSTED: None}, unknown, None),
        ({EVERYONE: 9, TRUSTED: 50, OWN: 3}, unknown, 3),
        ({EVERYONE: 10}, terminal, None),
        ({EVERYONE: 10, OWN: 3}, terminal, 3),
        ({EVERYONE: 10}, Payer(0), None),
    ]
    assert [usage.limits_of_user(rules, payer).get("tokens_per_day") for rules, payer, _ in table] == [
        limit for *_, limit in table
    ]
    rules = {EVERYONE: 10, LimitKey("user", 7, "concurrent"): 2}  # each name by itself
    assert usage.limits_of_user(rules, Payer(7)) == {"tokens_per_day": 10, "concurrent": 2}


def test_the_limit_of_a_guild_is_only_its_own_and_none_of_dms() -> None:
    rules = {EVERYONE: 10, LimitKey("guild", 5, "tokens_per_month"): 3}
    assert usage.limits_of_guild(rules, 5) == {"tokens_per_month": 3}
    assert usage.limits_of_guild(rules, 6) == {}
    assert usage.limits_of_guild({LimitKey("guild", 0, "tokens_per_month"): 3}, 0) == {}


class TestReached:
    def test_is_a_limit_of_tokens_when_all_are_used_until_it_resets_where_the_operator_is(self) -> None:
        snapshot = usage.UsageSnapshot(tokens_today=100, tokens_this_month=100)
        day = usage.ReachedLimit("tokens_per_day", datetime(2026, 12, 1, 15, tzinfo=UTC))
        month = usage.ReachedLimit("tokens_per_month", datetime(2026, 12, 31, 15, tzinfo=UTC))
        for limit, expected in ((101, (None, None)), (100, (day, month))):
            bounds: tuple[Limits, ...] = ({"tokens_per_day": limit}, {"tokens_per_month": limit})
            assert tuple(usage.find_reached_limit(each, snapshot, NOW, TOKYO) for each in bounds) == expected

    def test_of_several_tells_the_one_that_holds_longest_and_at_once_resets_at_no_time(self) -> None:
        bounds: Limits = {"turns_per_minute": 1, "tokens_per_day": 1, "tokens_per_month": 1, "concurrent": 1}
        found = usage.find_reached_limit(bounds, usage.UsageSnapshot((NOW,), 5, 5, 5), NOW, TOKYO)
        assert found is not None
        assert found.name == "tokens_per_month"
        two = usage.UsageSnapshot(turns_in_flight=2)
        assert usage.find_reached_limit({"concurrent": 3}, two, NOW, TOKYO) is None
        assert usage.find_reached_limit({"concurrent": 2}, two, NOW, TOKYO) == usage.ReachedLimit(
            "concurrent", None
        )
        bounds = {"turns_per_minute": 1, "concurrent": 1}
        assert (
            usage.find_reached_limit(
                bounds, usage.UsageSnapshot((NOW,), turns_in_flight=1), NOW, TOKYO, by_user=False
            )
            is None
        )

    def test_of_a_minute_resets_when_enough_turns_are_a_minute_old(self) -> None:
        turns = tuple(NOW - timedelta(seconds=s) for s in (50, 40, 10))
        assert (
            usage.find_reached_limit({"turns_per_minute": 4}, usage.UsageSnapshot(turns), NOW, TOKYO) is None
        )
        found = usage.find_reached_limit({"turns_per_minute": 2}, usage.UsageSnapshot(turns), NOW, TOKYO)
        assert found == usage.ReachedLimit("turns_per_minute", NOW + timedelta(seconds=20))


def test_days_and_months_begin_at_midnight_also_where_clocks_move() -> None:
    for zone, moment, day in (
        ("Europe/Berlin", "2026-03-28T23:30Z", "2026-03-29T22:00Z"),
        ("Europe/Berlin", "2026-10-24T22:00Z", "2026-10-25T23:00Z"),
        ("Africa/Cairo", "2026-04-23T12:00Z", "2026-04-23T22:00Z"),
    ):
        found = usage.next_day(datetime.fromisoformat(moment), ZoneInfo(zone))
        assert found == datetime.fromisoformat(day)
    assert usage.next_month(NOW, TOKYO) == datetime(2026, 12, 31, 15, tzinfo=UTC)


def test_a_cost_is_that_of_tokens_by_kind_and_of_minutes_and_nothing_without_a_price() -> None:
    assert (
        usage.Price(input=0.25, output=2.0, cached=0.025).cost(Usage(1000, 100, 400)) == 600 * 0.25 + 10 + 200
    )
    assert usage.Price(0, 0, per_minute=0.006).cost(Usage(seconds=90)) == 0.009 * MICROS
    assert usage.Price(1, 1).cost(Usage(seconds=90)) == 0
    prices = usage.PriceList("JPY", {"small": usage.Price(1, 2)})
    assert [prices.cost(model, Usage(1000, 1000)) for model in ("large", "small")] == [0, 3000]


def used(days_ago: int, tokens: int, *, model: str = "small", cost: int = 0) -> usage.DailyUsage:
    return usage.DailyUsage(TODAY - timedelta(days=days_ago), model, "turn", 1, Usage(tokens - 1, 1), cost)


def test_a_report_adds_up_days_and_months_and_names_models_without_a_price() -> None:
    free, prices = usage.PriceList(), usage.PriceList("USD", {"small": usage.Price(1, 1)})
    days = [used(0, 10, cost=3), used(0, 5, cost=1), used(21, 100), used(22, 1000)]
    report = usage.make_report(days, TODAY, free)
    assert (report.today, report.month.total) == (usage.Total(2, 15, 4), usage.Total(3, 115, 4))
    assert [usage.first_day(day, 14) for day in (TODAY, date(2026, 12, 3))] == [
        date(2026, 11, 1),
        date(2026, 11, 20),
    ]
    recent = usage.make_report([used(12, 7), used(2, 5), used(14, 99)], TODAY, free).recent
    chart = recent.without_unused_start().chart()
    assert (len(recent.days), chart.labels[0], chart.labels[-3], chart.series[0].values[10]) == (
        *(14, "11/10", "11/20"),
        5,
    )
    models = [used(0, 5), used(0, 5, model="large"), used(0, 1, model="")]
    assert usage.make_report(models, TODAY, free).currency == ""
    priced = usage.make_report(models, TODAY, prices)
    assert (priced.currency, priced.unpriced) == ("USD", ("large", ""))
    first = TODAY - timedelta(days=6)
    week = usage.break_down([used(0, 5, cost=2), used(6, 7), used(7, 1000)], first, TODAY)
    assert [total.tokens for _, total in week.days] == [7, 0, 0, 0, 0, 0, 5]
    assert (week.total, week.is_by_month) == (usage.Total(2, 12, 2), False)
    year = usage.break_down([used(0, 5), used(30, 7), used(31, 1)], TODAY - timedelta(days=364), TODAY)
    assert [total.tokens for _, total in year.days][-2:] == [8, 5]
