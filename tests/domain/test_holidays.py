"""The days that have a name, in the years in which the calendar of the Cabinet Office is known."""

from datetime import date

import pytest

from cc_bot.domain.holidays import NAMES, cron_of, day_named, nth_weekday
from tests.domain.phrases import meanings


class TestDay:
    def test_is_found_in_its_year(self) -> None:
        days = meanings(
            """
元日 2027 → 2027-01-01 | 成人の日 2027 → 2027-01-11 | 成人の日 2024 → 2024-01-08 | 海の日 2026 → 2026-07-20
敬老の日 2026 → 2026-09-21 | スポーツの日 2026 → 2026-10-12 | 春分の日 2024 → 2024-03-20
春分の日 2026 → 2026-03-20 | 春分の日 2027 → 2027-03-21 | 秋分の日 2024 → 2024-09-22
秋分の日 2026 → 2026-09-23 | thanksgiving 2026 → 2026-11-26 | 母の日 2026 → 2026-05-10
"""
        )
        found = {each: day_named(each.split()[0], int(each.split()[1])).isoformat() for each in days}
        assert found == days
        assert all(day_named(name, year).year == year for name in NAMES for year in range(2000, 2099))

    def test_that_a_month_does_not_have_or_cron_cannot_find_is_none(self) -> None:
        assert (cron_of("成人の日"), cron_of("大晦日"), cron_of("春分の日")) == ("* 1 1#2", "31 12 *", None)
        assert nth_weekday(2026, 11, 5, 0) == date(2026, 11, 30)
        assert nth_weekday(2026, 11, 0, 4) == date(2026, 11, 27)
        with pytest.raises(ValueError, match="5"):
            nth_weekday(2027, 2, 5, 0)
