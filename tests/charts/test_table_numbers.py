"""Numbers in charts, as their readers count."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cc_bot.charts.table import format_exactly, format_short, scale
from cc_bot.domain import Locale


class TestShortNumbers:
    @pytest.mark.parametrize(
        ("value", "japanese", "english"),
        [
            (0, "0", "0"),
            (-0.0, "0", "0"),
            (0.0012, "0.0012", "0.0012"),
            (12.345, "12.35", "12.35"),
            (-8.5, "-8.5", "-8.5"),
            (99999, "99,999", "99,999"),
            (123456, "12.35万", "123.5K"),
            (12500000, "1,250万", "12.5M"),
            (-2.1e8, "-2.1億", "-210M"),
            (3e12, "3兆", "3T"),
            (1e30, "1e+30", "1e+30"),
        ],
    )
    def test_are_counted_in_ten_thousands_or_in_thousands(
        self, value: float, japanese: str, english: str
    ) -> None:
        assert (format_short(value, Locale.JA), format_short(value, Locale.EN)) == (japanese, english)


class TestScales:
    @pytest.mark.parametrize(
        ("ticks", "japanese", "english"),
        [
            ([0, 500000, 1000000], ["0", "50万", "100万"], ["0", "0.5M", "1M"]),
            ([0.1, 0.15, 0.2], ["0.1", "0.15", "0.2"], ["0.1", "0.15", "0.2"]),
            ([-5, 0, 5], ["-5", "0", "5"], ["-5", "0", "5"]),
            ([0, 5e14, 1e15], ["0", "500兆", "1,000兆"], ["0", "500T", "1,000T"]),
            ([7], ["7"], ["7"]),
            ([], [], []),
        ],
    )
    def test_have_one_unit_and_as_many_decimals_as_needed(
        self, ticks: list[float], japanese: list[str], english: list[str]
    ) -> None:
        assert (scale(ticks, Locale.JA), scale(ticks, Locale.EN)) == (japanese, english)

    @given(st.floats(-1e9, 1e9), st.sampled_from([0.001, 0.25, 1, 2.5, 1000, 20000]))
    def test_name_no_two_ticks_alike(self, low: float, step: float) -> None:
        ticks = [round(low / step) * step + place * step for place in range(6)]
        assert len(set(scale(ticks, Locale.JA))) == 6


class TestExactNumbers:
    @pytest.mark.parametrize(
        ("value", "written"),
        [
            (1234567, "1,234,567"),
            (0.1 + 0.2, "0.3"),
            (1234.5, "1,234.5"),
            (1e16, "1e+16"),
            (-3, "-3"),
            (-0.0, "0"),
        ],
    )
    def test_say_all_that_matters(self, value: float, written: str) -> None:
        assert format_exactly(value) == written
