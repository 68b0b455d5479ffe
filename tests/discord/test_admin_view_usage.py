"""What was used, as its reader sees it."""

from dataclasses import replace
from datetime import UTC, date, datetime

from cc_bot.discord.pages.admin import usage_view
from cc_bot.domain.locale import Locale
from cc_bot.domain.member import Remaining, Total, UsageReport
from cc_bot.texts import texts

RESETS = datetime(2026, 12, 1, tzinfo=UTC)
REPORT = UsageReport(
    Total(2, 1500, 12_300),
    Total(40, 1_234_567, 4_560_000),
    ((date(2026, 11, 21), 3000), (date(2026, 11, 22), 1500)),
    (("gpt_5", Total(40, 1_234_567, 4_560_000)), ("", Total(1, 0, 0))),
    "USD",
    left=(Remaining("tokens_per_day", 2000, 500, RESETS), Remaining("tokens_per_month", 10**7, 8, RESETS)),
)


class TestView:
    def test_tells_what_was_used_what_it_cost_and_what_is_left(self) -> None:
        shown = usage_view(REPORT, texts(Locale.EN)).description or ""
        assert shown.splitlines() == [
            "Today: 1,500 tokens, questions: 2, 0.0123 USD",
            "This month: 1,234,567 tokens, questions: 40, 4.56 USD",
            f"Left today: 500 of 2,000 tokens (all again <t:{int(RESETS.timestamp())}:R>)",
            f"Left this month: 8 of 10,000,000 tokens (all again <t:{int(RESETS.timestamp())}:R>)",
        ]

    def test_tells_it_in_japanese(self) -> None:
        view = usage_view(REPORT, texts(Locale.JA))
        assert (view.description or "").startswith("今日: 1,500 トークン・質問 2件・0.0123 USD")

    def test_has_a_chart_of_the_days(self) -> None:
        [chart] = usage_view(REPORT, texts(Locale.JA)).fields
        assert chart.value.splitlines() == [
            "```",
            "3,000 ████████████ 11/21",
            "1,500 ██████       11/22",
            "```",
        ]

    def test_of_a_server_tells_how_many_and_the_models_and_nobody(self) -> None:
        view = usage_view(replace(REPORT, users=3), texts(Locale.EN))
        assert view.title == "What this server used"
        assert "Members who used it this month: 3" in (view.description or "")
        assert view.fields[1].value.splitlines() == [
            r"gpt\_5: 1,234,567 tokens, 4.56 USD",
            "the offline model: 0 tokens, 0.00 USD",
        ]

    def test_has_no_cost_where_nothing_has_a_price(self) -> None:
        shown = usage_view(replace(REPORT, currency="", left=()), texts(Locale.EN)).description
        assert shown == "Today: 1,500 tokens, questions: 2\nThis month: 1,234,567 tokens, questions: 40"

    def test_names_models_without_a_price(self) -> None:
        shown = usage_view(replace(REPORT, unpriced=("gpt_5",)), texts(Locale.EN)).description or ""
        assert r"no price: gpt\_5" in shown

    def test_of_nothing_says_so_and_what_is_left(self) -> None:
        nothing = UsageReport(Total(), Total(), (), ())
        assert usage_view(nothing, texts(Locale.EN)).description == "Nothing has been used yet."
        left = usage_view(replace(nothing, left=REPORT.left), texts(Locale.EN)).description or ""
        assert "Left today: 500 of 2,000" in left

    def test_of_any_size_is_one_that_discord_takes(self) -> None:
        days = tuple((date(2026, 11, 1 + n), 10**14 + n) for n in range(14))
        models = tuple((f"{'m*' * 60}{n}", Total(1, 10**14, 10**15)) for n in range(5))
        view = usage_view(replace(REPORT, days=days, models=models, users=1), texts(Locale.JA))
        assert all(len(field.value) <= 1024 for field in view.fields)
