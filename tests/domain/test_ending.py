"""The last day of a memory is read as people write days, and ends where they are."""

from datetime import UTC, date, datetime
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cc_bot.domain.ending import parse_end, write_end
from cc_bot.domain.errors import EndNotUnderstood

TOKYO = ZoneInfo("Asia/Tokyo")


class TestAnEnd:
    @pytest.mark.parametrize(
        "written",
        [
            "2026-12-31",
            "2026/12/31",
            "2026.12.31",
            "2026年12月31日",
            "２０２６年１２月３１日",
            " 2026-12-31 ",
        ],
    )
    def test_is_the_end_of_that_day_where_the_user_is(self, written: str) -> None:
        assert parse_end(written, TOKYO) == datetime(2026, 12, 31, 15, 0, tzinfo=UTC)

    @pytest.mark.parametrize("written", [None, "", "  "])
    def test_may_be_left_out(self, written: str | None) -> None:
        assert parse_end(written, TOKYO) is None

    @pytest.mark.parametrize("written", ["tomorrow", "2026-13-01", "2026-02-30", "12/31", "9999-12-31", "0"])
    def test_that_is_no_day_is_refused(self, written: str) -> None:
        with pytest.raises(EndNotUnderstood):
            parse_end(written, TOKYO)

    @given(
        st.dates(date(1990, 1, 1), date(2200, 1, 1)),
        st.sampled_from(["Asia/Tokyo", "America/New_York", "Asia/Kathmandu", "Pacific/Apia", "UTC"]),
    )
    def test_is_written_as_it_is_read(self, day: date, zone: str) -> None:
        assert write_end(parse_end(day.isoformat(), ZoneInfo(zone)), ZoneInfo(zone)) == day.isoformat()
