"""The days that have a name, in the years in which the calendar of the Cabinet Office is known."""

from datetime import date

import pytest

from cc_bot.domain.holidays import NAMES, cron_of, day_named, nth_weekday


class TestDay:
    @pytest.mark.parametrize(
        ("name", "day"),
        [
            ("元日", date(2027, 1, 1)),
            ("成人の日", date(2027, 1, 11)),
            ("成人の日", date(2024, 1, 8)),
            ("海の日", date(2026, 7, 20)),
            ("敬老の日", date(2026, 9, 21)),
            ("スポーツの日", date(2026, 10, 12)),
            ("春分の日", date(2024, 3, 20)),
            ("春分の日", date(2026, 3, 20)),
            ("春分の日", date(2027, 3, 21)),
            ("秋分の日", date(2024, 9, 22)),
            ("秋分の日", date(2026, 9, 23)),
            ("thanksgiving", date(2026, 11, 26)),
            ("母の日", date(2026, 5, 10)),
        ],
    )
    def test_is_found_in_its_year(self, name: str, day: date) -> None:
        assert day_named(name, day.year) == day

    @pytest.mark.parametrize("name", NAMES)
    def test_is_in_every_year(self, name: str) -> None:
        assert all(day_named(name, year).year == year for year in range(2000, 2099))

    def test_that_cron_can_not_find_has_none(self) -> None:
        assert (cron_of("成人の日"), cron_of("大晦日"), cron_of("春分の日")) == ("* 1 1#2", "31 12 *", None)

    def test_that_a_month_does_not_have_is_refused(self) -> None:
        assert nth_weekday(2026, 11, 5, 0) == date(2026, 11, 30)
        assert nth_weekday(2026, 11, 0, 4) == date(2026, 11, 27)
        with pytest.raises(ValueError, match="5"):
            nth_weekday(2027, 2, 5, 0)
