"""When the next heartbeat is due, what it looks at, what of it is new, and which near days a note names."""

from dataclasses import replace
from datetime import UTC, date, datetime, timedelta
from zoneinfo import ZoneInfo

from hypothesis import example, given
from hypothesis import strategies as st

from cc_bot.domain.session import SessionKey
from cc_bot.domain.when.repeats import QuietHours, is_quiet, next_time
from cc_bot.features.heartbeat.model import (
    DEFAULT_QUIET_HOURS,
    HeartbeatItem,
    due_items,
    find_named_days,
    memory_items,
    missed_items,
    parse_minute,
    select_new,
)
from cc_bot.features.memory.model import Memory, Source
from cc_bot.features.reminders.model import Firing, Schedule, may_mention
from tests.domain.phrases import meanings, phrases

TOKYO = ZoneInfo("Asia/Tokyo")
NEW_YORK = ZoneInfo("America/New_York")
MINUTES = st.integers(0, 24 * 60 - 1)
QUIETS = st.builds(QuietHours, MINUTES, MINUTES)
ZONES = st.sampled_from([TOKYO, NEW_YORK, ZoneInfo("Australia/Lord_Howe"), ZoneInfo("Europe/London")])
SINCE = datetime(2026, 1, 1, tzinfo=UTC)
MOMENTS = st.integers(0, 2 * 365 * 24 * 60).map(lambda minutes: SINCE + timedelta(minutes=minutes))
TODAY = date(2026, 11, 22)
NAMED = phrases(
    """
11月25日に歯医者 | １１月２５日（水）に歯医者 | 歯医者は2026年11月25日の15時 | 令和8年11月25日に引っ越し
歯医者 2026-11-25 15:00 | 2026/11/25 歯医者 | 締め切り: 11/25 | 母の誕生日は1961年11月25日
昭和36年11月25日生まれ | 結婚記念日: 2015-11-25 | Dentist on Nov 25 | Dentist on November 25th, 2026
the 25th of November is the deadline | 25 Nov 2026 dentist | Mum's birthday: 25 November 1961
"""
)
NOT_NAMED = phrases(
    """
歯医者 | 11月30日に歯医者 | 2025年11月25日に退職した | 2027-11-25 まで有効 | 平成30年11月25日に入社
電話は 090-1125-1125 | 1/2 カップの牛乳 | バージョン 11.25 を使っている | Worked there until Nov 25, 2019
may 5 people come | 11月の25人 | 2026-11-2534 | 99月99日
"""
)


def tokyo(day: int, hour: int, minute: int = 0) -> datetime:
    return datetime(2026, 11, day, hour, minute, tzinfo=TOKYO)


def next_beat(now: datetime, repeat: str, zone: ZoneInfo, quiet: QuietHours | None) -> datetime:
    beat = next_time(repeat, now, zone, quiet)
    assert beat is not None
    return beat


class TestNextBeat:
    def test_is_its_hours_from_now_as_they_pass_and_waits_for_the_end_of_quiet_ones(self) -> None:
        assert next_beat(tokyo(22, 9), "every 6h", TOKYO, DEFAULT_QUIET_HOURS) == tokyo(22, 15)
        for now in (tokyo(22, 16), tokyo(22, 20), tokyo(23, 0, 59)):
            assert next_beat(now, "every 6h", TOKYO, DEFAULT_QUIET_HOURS) == tokyo(23, 7)
        assert next_beat(tokyo(22, 22), "every 4h", TOKYO, None) == tokyo(23, 2)
        assert next_beat(tokyo(22, 22), "every 4h", TOKYO, QuietHours(120, 120)) == tokyo(23, 2)
        before = datetime(2026, 3, 7, 20, tzinfo=NEW_YORK)  # the clocks are set forward at 2:00
        assert next_beat(before, "every 12h", NEW_YORK, None) == datetime(2026, 3, 8, 9, tzinfo=NEW_YORK)

    def test_is_at_the_first_end_to_come_of_quiet_hours_that_the_clocks_leave_out(self) -> None:
        before = datetime(2026, 3, 8, 0, 30, tzinfo=NEW_YORK)
        beat = next_beat(before, "every 1h", NEW_YORK, QuietHours(22 * 60, 2 * 60 + 30))
        assert beat == datetime(2026, 3, 8, 3, 30, tzinfo=NEW_YORK).astimezone(UTC)

    @given(now=MOMENTS, hours=st.integers(1, 168), zone=ZONES, quiet=st.none() | QUIETS)
    @example(
        now=datetime(2026, 3, 8, 5, 30, tzinfo=UTC), hours=1, zone=NEW_YORK, quiet=QuietHours(195, 150)
    )  # quiet but for 45 minutes that the clocks leave out on this day
    def test_is_never_in_a_quiet_hour_never_early_and_no_later_than_it_must_be(
        self, now: datetime, hours: int, zone: ZoneInfo, quiet: QuietHours | None
    ) -> None:
        beat, earliest = next_beat(now, f"every {hours}h", zone, quiet), now + timedelta(hours=hours)
        assert beat.tzinfo is UTC
        assert not is_quiet(beat, zone, quiet)
        assert earliest <= beat <= earliest + timedelta(hours=49)
        if not is_quiet(earliest, zone, quiet):
            assert beat == earliest


class TestTimeOfDay:
    def test_is_read_as_people_write_it_and_is_nothing_else(self) -> None:
        meant = meanings(
            """
22 → 1320 | 22:30 → 1350 | ７：０５ → 425 | 22時 → 1320 | 22時半 → 1350 | 7時05分 → 425 | 10pm → 1320
10:15 PM → 1335 | 12am → 0 | 12 pm → 720 | 0 → 0 | 24:00 → 0
"""
        )
        others = ["", *phrases("25 | 24:01 | 7:60 | 13pm | 0am | 夜 | -1 | 7:5 | 9 9 | ٢٢")]
        expected = {text: int(minute) for text, minute in meant.items()} | dict.fromkeys(others)
        assert {text: parse_minute(text) for text in expected} == expected
        assert parse_minute(" 7:05 ") == 425


class TestDaysNamed:
    def test_are_found_in_order_as_people_write_them_and_are_no_others(self) -> None:
        expected = dict.fromkeys(NAMED, (date(2026, 11, 25),)) | dict.fromkeys(NOT_NAMED, ())
        assert {text: find_named_days(text, TODAY, within=7) for text in expected} == expected
        text = "11月29日は旅行、11月22日は買い物、11月30日は休み"
        assert find_named_days(text, TODAY, within=7) == (date(2026, 11, 22), date(2026, 11, 29))
        assert find_named_days("1月2日に初詣", date(2026, 12, 28), within=7) == (date(2027, 1, 2),)
        assert find_named_days("誕生日は2月29日", date(2027, 2, 25), within=7) == ()
        assert find_named_days("誕生日は2月29日", date(2028, 2, 25), within=7) == (date(2028, 2, 29),)


NOW = datetime(2026, 11, 22, 9, tzinfo=TOKYO).astimezone(UTC)
LONG_AGO = NOW - timedelta(days=100)
KEY = SessionKey(1, 10)
BEAT = Schedule(1, KEY, "heartbeat", "", NOW, LONG_AGO, repeat="every 6h")


def reminder(due: timedelta, *, number: int = 2, repeat: str = "") -> Schedule:
    return Schedule(number, KEY, "reminder", "薬を飲む", NOW + due, LONG_AGO, repeat=repeat)


def memory(
    content: str = "猫の名前はモチ", *, number: int = 1, changed: timedelta = timedelta(days=-50)
) -> Memory:
    return Memory(number, 1, content, "general", (), {}, LONG_AGO, NOW + changed, number=number)


def of(*memories: Memory, since: datetime = LONG_AGO, now: datetime = NOW) -> list[HeartbeatItem]:
    return list(memory_items(memories, now, TOKYO, since=since))


def whys(matters: list[HeartbeatItem]) -> list[list[str]]:
    return [[reason.kind for reason in matter.reasons] for matter in matters]


def marks(*matters: HeartbeatItem) -> set[str]:
    return {reason.mark for matter in matters for reason in matter.reasons}


class TestReminders:
    def test_are_looked_at_a_day_ahead_and_for_some_days_where_they_were_missed(self) -> None:
        ahead = [reminder(timedelta(hours=hours)) for hours in (-1, 0, 24, 25)]
        soon = reminder(timedelta(hours=1))
        others = replace(soon, status="paused"), replace(soon, status="done"), replace(BEAT, due_at=NOW)
        found = [matter.reasons[0].when for matter in due_items([*ahead, *others], NOW)]
        assert found == [NOW, NOW + timedelta(hours=24)]
        firings = [Firing(reminder(timedelta()), NOW - timedelta(days=days)) for days in (-1, 0, 8, 9)]
        found = [matter.reasons[0].when for matter in missed_items(firings, NOW)]
        assert found == [NOW, NOW - timedelta(days=8)]

    def test_that_repeat_are_news_once_and_those_that_were_put_off_are_again(self) -> None:
        [today] = due_items([reminder(timedelta(hours=1), repeat="0 10 * * *")], NOW)
        tomorrow = reminder(timedelta(hours=25), repeat="0 10 * * *")
        assert select_new(due_items([tomorrow], NOW + timedelta(days=1)), marks(today)) == ()
        [once] = due_items([reminder(timedelta(hours=1))], NOW)
        assert select_new(due_items([reminder(timedelta(hours=2))], NOW), marks(once))

    def test_of_elsewhere_and_private_ones_are_for_a_dm_only(self) -> None:
        here = reminder(timedelta(hours=1))
        elsewhere, private = replace(here, key=SessionKey(1, 11)), replace(here, visibility="private")
        assert [may_mention(each, BEAT.key.channel_id, "public") for each in (here, elsewhere, private)] == [
            True,
            False,
            False,
        ]
        assert all(may_mention(each, BEAT.key.channel_id, "private") for each in (here, elsewhere, private))


class TestMemories:
    def test_are_looked_at_when_they_end_name_a_near_day_or_were_changed_lately(self) -> None:
        ending = {
            days: whys(of(replace(memory(), expires_at=NOW + timedelta(days=days))))
            for days in (-1, 0, 1, 7, 8)
        }
        assert ending == {-1: [], 0: [], 1: [["ends"]], 7: [["ends"]], 8: []}
        assert of(replace(memory("11月25日に歯医者"), expires_at=NOW - timedelta(minutes=1))) == []
        assert whys(of(memory("11月25日に歯医者"), memory("12月25日はパーティー"))) == [["named"]]
        late = datetime(2026, 11, 21, 15, 30, tzinfo=UTC)  # the 22nd in Tokyo
        assert whys(of(memory("11月29日に旅行"), now=late)) == [["named"]]
        assert whys(of(*(memory(changed=timedelta(days=days)) for days in (-7, -9)))) == [["changed"]]
        assert of(memory(changed=timedelta(hours=-2)), since=NOW - timedelta(hours=1)) == []
        assert of(replace(memory(changed=timedelta(hours=-1)), source=Source("import"))) == []
        assert of(memory()) == []


def test_news_are_what_of_a_matter_is_new_the_pressing_first() -> None:
    dentist = "11月25日に歯医者"
    [before] = of(memory(dentist))
    [after] = select_new(of(memory(dentist, changed=timedelta())), marks(before))
    assert [reason.kind for reason in after.reasons] == ["changed"]
    near = of(memory(dentist), now=NOW + timedelta(days=2))
    assert len(select_new(near, marks(before))) == 1, "once more when its day is near"
    assert select_new(near, marks(before, *near)) == ()
    ending = replace(memory(number=3), expires_at=NOW + timedelta(days=1))
    memories = of(memory(number=1, changed=timedelta(hours=-1)), memory(dentist, number=2), ending)
    due = list(due_items([reminder(timedelta(hours=1), number=4)], NOW))
    missed = list(missed_items([Firing(reminder(timedelta(), number=5), NOW - timedelta(hours=2))], NOW))
    assert [matter.id for matter in select_new([*memories, *due, *missed], ())] == [5, 4, 3, 2, 1]
