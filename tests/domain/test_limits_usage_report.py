"""What was used lately, added up."""

from datetime import date, timedelta

from cc_bot.domain.member import DailyUsage, Total, break_down, chart_of, first_day, report_of, with_prices
from cc_bot.domain.turn import Usage

TODAY = date(2026, 11, 22)


def used(days_ago: int, tokens: int, *, model: str = "small", turns: int = 1, cost: int = 0) -> DailyUsage:
    return DailyUsage(TODAY - timedelta(days=days_ago), model, "turn", turns, Usage(tokens - 1, 1), cost)


class TestReport:
    def test_adds_up_today_and_this_month(self) -> None:
        report = report_of([used(0, 10, cost=3), used(0, 5, cost=1), used(21, 100), used(22, 1000)], TODAY)
        assert report.today == Total(2, 15, 4)
        assert report.month == Total(3, 115, 4)

    def test_has_the_days_since_the_first_of_the_last_two_weeks_with_tokens(self) -> None:
        report = report_of([used(13, 7), used(2, 5), used(14, 99)], TODAY)
        assert len(report.days) == 14
        assert (report.days[0], report.days[11], report.days[13]) == (
            (date(2026, 11, 9), 7),
            (date(2026, 11, 20), 5),
            (TODAY, 0),
        )
        assert [tokens for _, tokens in report_of([used(1, 5)], TODAY).days] == [5, 0]

    def test_names_the_models_of_this_month_that_used_most_first(self) -> None:
        report = report_of([used(1, 5), used(1, 50, model="large"), used(40, 500, model="old")], TODAY)
        assert [model for model, _ in report.models] == ["large", "small"]

    def test_of_nothing_is_empty(self) -> None:
        assert report_of([], TODAY).empty
        assert not report_of([used(3, 1, turns=0)], TODAY).empty

    def test_needs_all_of_the_month_and_two_weeks(self) -> None:
        assert first_day(TODAY) == date(2026, 11, 1)
        assert first_day(date(2026, 12, 3)) == date(2026, 11, 20)

    def test_names_models_without_a_price_once_others_have_one(self) -> None:
        report = report_of([used(0, 5), used(0, 5, model="large"), used(0, 1, model="", turns=1)], TODAY)
        assert with_prices(report, "USD", ()).currency == ""
        assert with_prices(report, "USD", ["small"]).unpriced == ("large", "")
        assert with_prices(report, "USD", ["small"]).currency == "USD"

    def test_is_a_chart_with_a_bar_for_each_day(self) -> None:
        chart = chart_of(report_of([used(1, 5)], TODAY), "Tokens")
        assert (chart.labels, chart.series[0].values) == (("11/21", "11/22"), (5.0, 0.0))


class TestBreakdown:
    def test_has_every_day_and_nothing_from_outside(self) -> None:
        first = TODAY - timedelta(days=6)
        found = break_down([used(0, 5, cost=2), used(6, 7), used(7, 1000)], first, TODAY)
        assert [day for day, _ in found.days] == [first + timedelta(days=days) for days in range(7)]
        assert [total.tokens for _, total in found.days] == [7, 0, 0, 0, 0, 0, 5]
        assert found.total == Total(2, 12, 2)
        assert not found.by_month

    def test_of_a_year_is_by_month(self) -> None:
        found = break_down([used(0, 5), used(30, 7), used(31, 1)], TODAY - timedelta(days=364), TODAY)
        assert found.by_month
        assert [(day, total.tokens) for day, total in found.days][-2:] == [
            (date(2026, 10, 1), 8),
            (date(2026, 11, 1), 5),
        ]

    def test_is_by_model_and_purpose_those_that_used_most_first(self) -> None:
        summary = DailyUsage(TODAY, "small", "summary", 0, Usage(80, 20), 1)
        anything = DailyUsage(TODAY, "large", None, 1, Usage(1, 0), 0)
        found = break_down([used(0, 50), summary, anything], TODAY, TODAY)
        assert [(model, total.tokens) for model, total in found.models] == [("small", 150), ("large", 1)]
        assert [(purpose, total.tokens) for purpose, total in found.purposes] == [
            ("summary", 100),
            ("turn", 50),
        ]
