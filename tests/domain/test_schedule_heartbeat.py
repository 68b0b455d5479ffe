"""When the next heartbeat is due, in quiet hours and on nights when the clocks are changed."""

import re
from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from cc_bot.domain.schedule import (
    USUAL_QUIET,
    Quiet,
    clock_time,
    hours_of,
    is_quiet,
    next_beat,
    parse_minute,
    repeat_of,
)

TOKYO = ZoneInfo("Asia/Tokyo")
NEW_YORK = ZoneInfo("America/New_York")
MINUTES = st.integers(0, 24 * 60 - 1)
QUIETS = st.builds(Quiet, MINUTES, MINUTES)
ZONES = st.sampled_from([TOKYO, NEW_YORK, ZoneInfo("Australia/Lord_Howe"), ZoneInfo("Europe/London")])
SINCE = datetime(2026, 1, 1, tzinfo=UTC)
MOMENTS = st.integers(0, 2 * 365 * 24 * 60).map(lambda minutes: SINCE + timedelta(minutes=minutes))


def tokyo(day: int, hour: int, minute: int = 0) -> datetime:
    return datetime(2026, 11, day, hour, minute, tzinfo=TOKYO)


class TestNextBeat:
    def test_is_its_hours_from_now(self) -> None:
        assert next_beat(tokyo(22, 9), "every 6h", TOKYO, USUAL_QUIET) == tokyo(22, 15)

    @pytest.mark.parametrize("now", [tokyo(22, 16), tokyo(22, 20), tokyo(23, 0, 59)])
    def test_waits_for_the_end_of_the_quiet_hours(self, now: datetime) -> None:
        assert next_beat(now, "every 6h", TOKYO, USUAL_QUIET) == tokyo(23, 7)

    def test_may_be_at_any_hour_when_none_is_quiet(self) -> None:
        assert next_beat(tokyo(22, 22), "every 4h", TOKYO, None) == tokyo(23, 2)
        assert next_beat(tokyo(22, 22), "every 4h", TOKYO, Quiet(120, 120)) == tokyo(23, 2)

    def test_counts_hours_that_pass_and_not_those_on_the_clock(self) -> None:
        before = datetime(2026, 3, 7, 20, tzinfo=NEW_YORK)  # the clocks are set forward at 2:00
        assert next_beat(before, "every 12h", NEW_YORK, None) == datetime(2026, 3, 8, 9, tzinfo=NEW_YORK)

    def test_of_quiet_hours_that_end_at_a_time_the_clocks_leave_out_is_that_much_later(self) -> None:
        before = datetime(2026, 3, 8, 0, 30, tzinfo=NEW_YORK)
        beat = next_beat(before, "every 1h", NEW_YORK, Quiet(22 * 60, 2 * 60 + 30))
        assert beat == datetime(2026, 3, 8, 3, 30, tzinfo=NEW_YORK).astimezone(UTC)

    def test_of_quiet_hours_that_end_twice_is_at_the_first_end_to_come(self) -> None:
        quiet = Quiet(22 * 60, 90)
        before = datetime(2026, 11, 1, 0, 0, tzinfo=NEW_YORK)  # set back at 2:00
        first = datetime(2026, 11, 1, 1, 30, tzinfo=NEW_YORK)
        assert next_beat(before, "every 1h", NEW_YORK, quiet) == first.astimezone(UTC)
        again = datetime(2026, 11, 1, 1, 10, tzinfo=NEW_YORK, fold=1).astimezone(UTC)
        second = datetime(2026, 11, 1, 1, 30, tzinfo=NEW_YORK, fold=1).astimezone(UTC)
        assert next_beat(again - timedelta(hours=1), "every 1h", NEW_YORK, quiet) == second

    @given(now=MOMENTS, hours=st.integers(1, 168), zone=ZONES, quiet=st.none() | QUIETS)
    @example(
        now=datetime(2026, 3, 8, 5, 30, tzinfo=UTC), hours=1, zone=NEW_YORK, quiet=Quiet(195, 150)
    )  # quiet but for 45 minutes that the clocks leave out on this day
    def test_is_never_in_a_quiet_hour_never_early_and_no_later_than_it_must_be(
        self, now: datetime, hours: int, zone: ZoneInfo, quiet: Quiet | None
    ) -> None:
        beat, earliest = next_beat(now, repeat_of(hours), zone, quiet), now + timedelta(hours=hours)
        assert beat.tzinfo is UTC
        assert not is_quiet(beat, zone, quiet)
        assert earliest <= beat <= earliest + timedelta(hours=49)
        if not is_quiet(earliest, zone, quiet):
            assert beat == earliest


class TestRepeat:
    @pytest.mark.parametrize("hours", [1, 6, 24, 168])
    def test_is_read_as_it_was_written(self, hours: int) -> None:
        assert hours_of(repeat_of(hours)) == hours

    @pytest.mark.parametrize("hours", [-1, 0, 169])
    def test_is_an_hour_at_least_and_a_week_at_most(self, hours: int) -> None:
        with pytest.raises(ValueError, match=str(hours)):
            repeat_of(hours)

    @pytest.mark.parametrize("repeat", ["", "every 0h", "every 169h", "every 6 h", "0 9 * * *", "every 6h\n"])
    def test_is_nothing_else(self, repeat: str) -> None:
        with pytest.raises(ValueError, match=re.escape(repeat) or "^$"):
            hours_of(repeat)


class TestTimeOfDay:
    @pytest.mark.parametrize(
        ("text", "minute"),
        [
            ("22", 1320),
            ("22:30", 1350),
            (" ７：０５ ", 425),
            ("22時", 1320),
            ("22時半", 1350),
            ("7時05分", 425),
            ("10pm", 1320),
            ("10:15 PM", 1335),
            ("12am", 0),
            ("12 pm", 720),
            ("0", 0),
            ("24:00", 0),
        ],
    )
    def test_is_read_as_people_write_it(self, text: str, minute: int) -> None:
        assert parse_minute(text) == minute

    @pytest.mark.parametrize(
        "text", ["", "25", "24:01", "7:60", "13pm", "0am", "夜", "-1", "7:5", "9 9", "٢٢"]
    )
    def test_is_nothing_else(self, text: str) -> None:
        assert parse_minute(text) is None

    @given(MINUTES)
    def test_is_shown_as_it_can_be_written(self, minute: int) -> None:
        assert parse_minute(clock_time(minute)) == minute
