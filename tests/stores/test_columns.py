"""Times in columns: exact, and in an order that the database can see."""

from datetime import UTC, datetime, timedelta, timezone

from hypothesis import given
from hypothesis import strategies as st

from cc_bot.stores.columns import from_ms, to_ms, to_text

TIMES = st.datetimes(datetime(1970, 1, 1), datetime(2198, 1, 1), timezones=st.just(UTC))  # noqa: DTZ001 - hypothesis wants its bounds naive


class TestMilliseconds:
    @given(ms=st.integers(0, 7_200_000_000_000))
    def test_are_read_back_as_they_were_written(self, ms: int) -> None:
        assert to_ms(from_ms(ms)) == ms

    @given(moment=TIMES)
    def test_lose_less_than_one(self, moment: datetime) -> None:
        assert timedelta(0) <= moment - from_ms(to_ms(moment)) < timedelta(milliseconds=1)


class TestText:
    @given(moment=TIMES)
    def test_is_read_back_as_it_was_written(self, moment: datetime) -> None:
        assert datetime.fromisoformat(to_text(moment)) == moment

    @given(one=TIMES, other=TIMES)
    def test_is_in_the_order_of_time(self, one: datetime, other: datetime) -> None:
        assert (to_text(one) < to_text(other)) == (one < other)

    def test_is_utc_wherever_the_moment_came_from(self) -> None:
        tokyo = datetime(2026, 11, 22, 9, tzinfo=timezone(timedelta(hours=9)))
        assert to_text(tokyo) == "2026-11-22T00:00:00.000000+00:00"
