"""The last day of a memory is read as people write days, and ends where they are."""

from datetime import UTC, date, datetime
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cc_bot.domain.errors import EndNotUnderstood, EndPassed, InputError, NoSuchTime, WhenTooFar
from cc_bot.domain.memory import parse_end, write_end

TOKYO = ZoneInfo("Asia/Tokyo")
SUNDAY = datetime(2026, 11, 22, 10, 30, tzinfo=TOKYO)


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
            "12月31日",
            "12/31",
            "12-31",
            "12月31日まで",
            "31日",
            "大晦日",
            "年末",
            "年内",
            "今年いっぱい",
            "来月末",
            "来月いっぱい",
            "令和8年12月31日",
            "Dec 31",
            "until dec 31, 2026",
        ],
    )
    def test_is_the_end_of_that_day_where_the_user_is(self, written: str) -> None:
        assert parse_end(written, SUNDAY, TOKYO) == datetime(2026, 12, 31, 15, 0, tzinfo=UTC)

    @pytest.mark.parametrize("written", [None, "", "  "])
    def test_may_be_left_out(self, written: str | None) -> None:
        assert parse_end(written, SUNDAY, TOKYO) is None

    @pytest.mark.parametrize(
        ("written", "end"),
        [
            ("今日", "2026-11-23 00:00"),
            ("今日中", "2026-11-23 00:00"),
            ("today", "2026-11-23 00:00"),
            ("日曜", "2026-11-23 00:00"),  # which it is
            ("今週中", "2026-11-23 00:00"),
            ("今週末", "2026-11-23 00:00"),
            ("明日", "2026-11-24 00:00"),
            ("明日まで", "2026-11-24 00:00"),
            ("tomorrow", "2026-11-24 00:00"),
            ("来週の金曜", "2026-11-28 00:00"),
            ("next friday", "2026-11-28 00:00"),
            ("3日後", "2026-11-26 00:00"),
            ("in 3 days", "2026-11-26 00:00"),
            ("1週間", "2026-11-30 00:00"),
            ("3か月", "2027-02-23 00:00"),
            ("for 2 weeks", "2026-12-07 00:00"),
            ("今月末", "2026-12-01 00:00"),
            ("成人の日", "2027-01-12 00:00"),
            ("2年後", "2028-11-23 00:00"),
            # a time is a time
            ("明日9時", "2026-11-23 09:00"),
            ("3時間後", "2026-11-22 13:30"),
            ("あと5分", "2026-11-22 10:35"),
            ("2026-12-01T18:00", "2026-12-01 18:00"),
            ("tomorrow at 6pm", "2026-11-23 18:00"),
        ],
    )
    def test_is_read_as_the_time_of_a_reminder_is(self, written: str, end: str) -> None:
        found = parse_end(written, SUNDAY, TOKYO)
        assert found is not None
        assert found.astimezone(TOKYO).strftime("%Y-%m-%d %H:%M") == end

    @pytest.mark.parametrize(
        ("written", "error"),
        [
            *[
                (written, EndNotUnderstood)
                for written in ("soon", "そのうち", "毎週", "9999-12-31", "0", "明日と明後日")
            ],
            *[(written, NoSuchTime) for written in ("2026-13-01", "2026-02-30", "2月30日", "25:99")],
            *[
                (written, EndPassed)
                for written in ("2026-11-21", "昨日", "今週の金曜", "2020年1月1日", "2026-11-22T10:00")
            ],
            ("20年後", WhenTooFar),
            ("あ" * 300, EndNotUnderstood),
        ],
    )
    def test_that_is_none_or_is_over_is_refused(self, written: str, error: type[InputError]) -> None:
        with pytest.raises(error):
            parse_end(written, SUNDAY, TOKYO)

    @given(
        st.dates(date(1990, 1, 1), date(2200, 1, 1)),
        st.sampled_from(["Asia/Tokyo", "America/New_York", "Asia/Kathmandu", "Pacific/Apia", "UTC"]),
    )
    def test_is_written_as_it_is_read(self, day: date, zone: str) -> None:
        before = datetime(1980, 1, 1, tzinfo=UTC)
        end = parse_end(day.isoformat(), before, ZoneInfo(zone))
        assert write_end(end, ZoneInfo(zone)) == day.isoformat()
