"""Sums of money as people read them."""

import pytest

from cc_bot.texts.usage import money


class TestMoney:
    @pytest.mark.parametrize(
        ("micros", "told"),
        [
            (0, "0.00 JPY"),
            (100, "0.0001 JPY"),
            (999_900, "0.9999 JPY"),
            (1_000_000, "1.00 JPY"),
            (1_234_500_000, "1,234.50 JPY"),
        ],
    )
    def test_has_as_many_decimals_as_say_something(self, micros: int, told: str) -> None:
        assert money(micros, "JPY") == told
