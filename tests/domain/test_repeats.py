"""When what repeats comes next, whatever clocks do."""

from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo

from hypothesis import given
from hypothesis import strategies as st

from cc_bot.domain.errors import CcBotError, RepeatNotUnderstood, RepeatTooOften
from cc_bot.domain.when.repeats import QuietHours, check_repeat, next_time
from tests.domain.phrases import refused_otherwise

TOKYO = ZoneInfo("Asia/Tokyo")
BERLIN = ZoneInfo("Europe/Berlin")
NEW_YORK = ZoneInfo("America/New_York")
LORD_HOWE = ZoneInfo("Australia/Lord_Howe")
ZONES = (TOKYO, BERLIN, NEW_YORK, LORD_HOWE, ZoneInfo("Pacific/Apia"), ZoneInfo("Asia/Kathmandu"))

MOMENTS = st.integers(1_767_225_600, 1_893_455_999).map(lambda s: datetime.fromtimestamp(s, UTC))
"""Seconds of 2026 to 2029."""

# On a line: what repeats, a moment, and the next times after it.
CRONS = {
    TOKYO: """
0 9 * * * | 2026-11-22 09:00 | 2026-11-23 09:00+09:00 | 2026-11-24 09:00+09:00
30 8 * * 1-5 | 2026-11-20 08:30 | 2026-11-23 08:30+09:00 | 2026-11-24 08:30+09:00
0 12 L * * | 2027-02-01 00:00 | 2027-02-28 12:00+09:00
""",  # left out: as much later; there twice: once
    BERLIN: """
30 2 * * * | 2027-03-27 02:30 | 2027-03-28 03:30+02:00 | 2027-03-29 02:30+02:00
30 2 * * * | 2026-10-24 02:30 | 2026-10-25 02:30+02:00 | 2026-10-26 02:30+01:00
""",
    NEW_YORK: """
30 2 * * * | 2027-03-13 02:30 | 2027-03-14 03:30-04:00 | 2027-03-15 02:30-04:00
30 1 * * * | 2026-10-31 01:30 | 2026-11-01 01:30-04:00 | 2026-11-02 01:30-05:00
""",
    LORD_HOWE: """
15 2 * * * | 2026-10-03 02:15 | 2026-10-04 02:45+11:00 | 2026-10-05 02:15+11:00
45 1 * * * | 2027-04-03 01:45 | 2027-04-04 01:45+11:00 | 2027-04-05 01:45+10:30
0 */2 * * * | 2027-04-04 00:30 | 2027-04-04 02:00+10:30 | 2027-04-04 04:00+10:30
""",
}
INTERVALS = {
    TOKYO: """
0 10 * * 2 every 2 weeks from 2026-11-24 | 2026-11-22 10:30 | 2026-11-24 10:00+09:00 | 2026-12-08 10:00+09:00
0 10 * * 0,1,4 every 2 weeks from 2026-11-26 | 2026-11-22 10:30 | 2026-11-26 10:00+09:00
0 10 * * 0,1,4 every 2 weeks from 2026-11-26 | 2026-11-29 10:00 | 2026-12-07 10:00+09:00
0 8,20 * * * every 3 days from 2028-02-26 | 2028-02-26 20:00 | 2028-02-29 08:00+09:00 | 2028-02-29 20:00+09:00
0 9 31 * * every 2 months from 2026-12-31 | 2026-12-01 00:00 | 2026-12-31 09:00+09:00 | 2027-08-31 09:00+09:00
0 9 L * * every 2 months from 2026-12-31 | 2026-12-01 00:00 | 2026-12-31 09:00+09:00 | 2027-02-28 09:00+09:00
""",  # it keeps its hour when clocks change
    BERLIN: "0 8 * * 1 every 2 weeks from 2027-03-15 | 2027-03-15 08:00 | 2027-03-29 08:00+02:00",
    NEW_YORK: "0 8 * * * every 3 days from 2026-10-30 | 2026-10-30 08:00 | 2026-11-02 08:00-05:00",
}


def rows(table: str) -> list[list[str]]:
    return [line.split(" | ") for line in table.strip().splitlines()]


def run(cron: str, start: str, count: int, zone: ZoneInfo) -> list[str]:
    """The next times as they are on the wall, with what they are off from UTC."""
    moment: datetime | None = datetime.fromisoformat(start).replace(tzinfo=zone)
    found = []
    for _ in range(count):
        assert moment
        moment = next_time(cron, moment, zone)
        assert moment
        found.append(moment.astimezone(zone).isoformat(" ", "minutes"))
    return found


class TestCron:
    def test_counts_where_its_user_is_whatever_clocks_do(self) -> None:
        for zone, table in CRONS.items():
            for cron, start, *expected in rows(table):
                assert run(cron, start, len(expected), zone) == expected

    def test_of_every_hour_comes_in_each_that_passes(self) -> None:
        for zone, start in (
            *((BERLIN, "2026-10-24 20:00"), (BERLIN, "2027-03-27 20:00")),
            *((NEW_YORK, "2026-10-31 20:00"), (NEW_YORK, "2027-03-13 20:00")),
        ):
            moments = [datetime.fromisoformat(each) for each in run("0 * * * *", start, 10, zone)]
            begin = datetime.fromisoformat(start).replace(tzinfo=zone).astimezone(UTC)
            assert moments == [begin + timedelta(hours=hour) for hour in range(1, 11)]

    def test_is_stored_in_one_form_and_ends_with_the_calendar(self) -> None:
        assert next_time("0 9 * * *", datetime(9999, 12, 31, 23, tzinfo=UTC), TOKYO) is None
        assert check_repeat("  0  9 * jan  mon-fri ") == "0 9 * JAN MON-FRI"

    def test_that_is_none_or_comes_more_than_once_an_hour_is_refused(self) -> None:
        refused: dict[type[CcBotError], str] = {
            RepeatNotUnderstood: """
毎朝 | 0 9 * * | 0 9 * * * * | 61 9 * * * | 0 25 * * * | 0 9 30 2 * | x 9 * * * | 0 9 * * 9 | 0 9 0 * *
0 9 * * MON#6 | 0-1x 9 * * * | 0/0 9 * * * | 0 9 -1 * * | 0 9 L/2 * L
""",
            RepeatTooOften: "* * * * * | */15 * * * * | 0,30 9 * * * | 0-5 9 * * 1",
        }
        assert refused_otherwise(refused, check_repeat) == {}
        assert refused_otherwise({RepeatNotUnderstood: [""]}, check_repeat) == {}

    @given(
        minute=st.integers(0, 59),
        hours=st.sampled_from(["0", "1", "2", "3", "9", "23", "*", "*/2", "1,2,3", "0-23/3"]),
        days=st.sampled_from(["* * *", "* * 1-5", "1 * *", "L * *", "* 10 0", "29 2 *", "* * 5#2"]),
        zone=st.sampled_from(ZONES),
        start=MOMENTS,
    )
    def test_is_always_later_and_skips_nothing(
        self, minute: int, hours: str, days: str, zone: ZoneInfo, start: datetime
    ) -> None:
        cron = f"{minute} {hours} {days}"
        first = next_time(cron, start, zone)
        assert first
        assert first > start
        between = start + (first - start) / 2
        assert next_time(cron, between, zone) == first  # whoever looks at whatever time before sees the same
        second = next_time(cron, first, zone)
        assert second
        assert second > first


class TestInterval:
    def test_comes_in_every_so_manieth_day_week_or_month(self) -> None:
        for zone, table in INTERVALS.items():
            for repeat, start, *expected in rows(table):
                assert run(repeat, start, len(expected), zone) == expected

    def test_that_never_comes_or_is_damaged_has_no_time(self) -> None:
        for repeat in (
            "0 9 29 2 * every 24 months from 2027-02-01",
            "0 9 31 * * every 12 months from 2026-11-01",
            "0 9 * * 1 every two weeks from 2026-11-23",
            "0 9 * * 1 every 2 weeks from 2026-11-31",
        ):
            assert next_time(repeat, datetime(2026, 11, 22, tzinfo=UTC), TOKYO) is None, repeat


class TestHours:
    def test_are_counted_as_they_pass_and_wait_for_the_end_of_quiet_ones(self) -> None:
        start = datetime(2027, 3, 28, 0, tzinfo=BERLIN)
        assert next_time("every 6h", start, BERLIN) == datetime(2027, 3, 28, 5, tzinfo=UTC)
        start = datetime(2026, 11, 22, 17, tzinfo=TOKYO)
        found = next_time("every 6h", start, TOKYO, QuietHours(22 * 60, 7 * 60))
        assert found == datetime(2026, 11, 23, 7, tzinfo=TOKYO)
