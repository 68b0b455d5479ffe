"""Times in columns: exact, and in order."""

from datetime import UTC, datetime, timedelta, timezone

from hypothesis import given
from hypothesis import strategies as st

from cc_bot.stores.columns import from_ms, to_ms, to_text

TIMES = st.datetimes(datetime(1970, 1, 1), datetime(2198, 1, 1), timezones=st.just(UTC))  # noqa: DTZ001 - hypothesis wants its bounds naive


class TestTimes:
    @given(one=TIMES, other=TIMES)
    def test_are_exact_and_in_order_however_they_are_written(self, one: datetime, other: datetime) -> None:
        assert timedelta(0) <= one - from_ms(to_ms(one)) < timedelta(milliseconds=1)
        assert to_ms(from_ms(to_ms(one))) == to_ms(one)
        assert datetime.fromisoformat(to_text(one)) == one
        assert (to_text(one) < to_text(other)) == (one < other)

    def test_are_utc_wherever_the_moment_came_from(self) -> None:
        tokyo = datetime(2026, 11, 22, 9, tzinfo=timezone(timedelta(hours=9)))
        assert to_text(tokyo) == "2026-11-22T00:00:00.000000+00:00"
