"""What a heartbeat looks at, and what of it is new."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo

from hypothesis import given
from hypothesis import strategies as st

from cc_bot.domain import SessionKey
from cc_bot.domain.memory import Memory, Source
from cc_bot.domain.schedule import (
    MOST,
    Firing,
    Matter,
    Schedule,
    audible,
    new,
    of_memories,
    of_missed,
    of_reminders,
)

TOKYO = ZoneInfo("Asia/Tokyo")
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


def of(*memories: Memory, since: datetime = LONG_AGO, now: datetime = NOW) -> list[Matter]:
    return list(of_memories(memories, now, TOKYO, since=since))


def whys(matters: list[Matter]) -> list[list[str]]:
    return [[reason.why for reason in matter.reasons] for matter in matters]


def marks(*matters: Matter) -> set[str]:
    return {mark.name for matter in matters for mark in matter.marks}


class TestReminders:
    def test_are_looked_at_a_day_ahead_where_they_wait(self) -> None:
        ahead = [reminder(timedelta(hours=hours)) for hours in (-1, 0, 24, 25)]
        found = [matter.reasons[0].when for matter in of_reminders(ahead, NOW)]
        assert found == [NOW, NOW + timedelta(hours=24)]
        soon = reminder(timedelta(hours=1))
        others = (
            replace(soon, status="paused"),
            replace(soon, status="done"),
            replace(BEAT, due_at=soon.due_at),
        )
        assert list(of_reminders(others, NOW)) == []

    def test_that_repeat_are_news_once_and_those_that_were_put_off_are_again(self) -> None:
        [today] = of_reminders([reminder(timedelta(hours=1), repeat="0 10 * * *")], NOW)
        tomorrow = reminder(timedelta(hours=25), repeat="0 10 * * *")
        assert new(of_reminders([tomorrow], NOW + timedelta(days=1)), marks(today)) == ()
        [once] = of_reminders([reminder(timedelta(hours=1))], NOW)
        assert new(of_reminders([reminder(timedelta(hours=2))], NOW), marks(once))

    def test_of_elsewhere_and_private_ones_are_for_a_dm_only(self) -> None:
        here = reminder(timedelta(hours=1))
        elsewhere, private = replace(here, key=SessionKey(1, 11)), replace(here, visibility="private")
        assert [audible(each, BEAT, "public") for each in (here, elsewhere, private)] == [True, False, False]
        assert all(audible(each, BEAT, "private") for each in (here, elsewhere, private))

    def test_that_were_missed_are_news_for_some_days(self) -> None:
        firings = [Firing(reminder(timedelta()), NOW - timedelta(days=days)) for days in (-1, 0, 8, 9)]
        found = [matter.reasons[0].when for matter in of_missed(firings, NOW)]
        assert found == [NOW, NOW - timedelta(days=8)]


class TestMemories:
    def test_are_looked_at_a_week_before_they_end(self) -> None:
        looked_at = {}
        for days in (-1, 0, 1, 7, 8):
            ending = replace(memory(), expires_at=NOW + timedelta(days=days))
            looked_at[days] = whys(of(ending))
        assert looked_at == {-1: [], 0: [], 1: [["ends"]], 7: [["ends"]], 8: []}
        assert of(replace(memory("11月25日に歯医者"), expires_at=NOW - timedelta(minutes=1))) == []

    def test_are_looked_at_when_a_day_that_they_name_is_near_where_their_user_is(self) -> None:
        assert whys(of(memory("11月25日に歯医者"), memory("12月25日はパーティー"))) == [["named"]]
        assert whys(of(memory("Dentist on Nov 25, Mum's birthday: Nov 27"))) == [["named", "named"]]
        late = datetime(2026, 11, 21, 15, 30, tzinfo=UTC)  # the 22nd in Tokyo
        assert whys(of(memory("11月29日に旅行"), now=late)) == [["named"]]

    def test_are_looked_at_when_they_were_changed_lately_since_there_are_heartbeats(self) -> None:
        changed = [memory(changed=timedelta(days=days)) for days in (-7, -9)]
        assert whys(of(*changed)) == [["changed"]]
        assert of(memory(changed=timedelta(hours=-2)), since=NOW - timedelta(hours=1)) == []
        assert of(replace(memory(changed=timedelta(hours=-1)), source=Source("import"))) == []
        assert of(memory()) == []


class TestNews:
    def test_of_a_matter_is_what_of_it_is_new(self) -> None:
        [before] = of(memory("11月25日に歯医者"))
        [after] = new(of(memory("11月25日に歯医者", changed=timedelta())), marks(before))
        assert [reason.why for reason in after.reasons] == ["changed"]

    def test_comes_once_more_when_its_day_is_near(self) -> None:
        [ahead] = of(memory("11月25日に歯医者"))
        near = of(memory("11月25日に歯医者"), now=NOW + timedelta(days=2))
        assert len(new(near, marks(ahead))) == 1
        assert new(near, marks(ahead, *near)) == ()

    def test_begins_with_what_is_pressing(self) -> None:
        memories = of(
            memory(number=1, changed=timedelta(hours=-1)),
            memory("11月25日に歯医者", number=2),
            replace(memory(number=3), expires_at=NOW + timedelta(days=1)),
        )
        due = list(of_reminders([reminder(timedelta(hours=1), number=4)], NOW))
        missed = list(of_missed([Firing(reminder(timedelta(), number=5), NOW - timedelta(hours=2))], NOW))
        assert [matter.id for matter in new([*memories, *due, *missed], ())] == [5, 4, 3, 2, 1]

    @given(
        texts=st.lists(
            st.sampled_from(["猫", "11月25日に歯医者", "11月22日と11月29日", "Nov 23"]), max_size=30
        ),
        ends=st.none() | st.integers(-2, 10),
        changed=st.integers(-20, 0),
    )
    def test_ends_after_as_many_looks_as_it_takes(
        self, texts: list[str], ends: int | None, changed: int
    ) -> None:
        memories = [
            replace(
                memory(text, number=number, changed=timedelta(days=changed)),
                expires_at=None if ends is None else NOW + timedelta(days=ends),
            )
            for number, text in enumerate(texts)
        ]
        looked_at: set[str] = set()
        seen: list[int] = []
        while news := new(of(*memories), looked_at):
            assert len(news) <= MOST
            looked_at |= marks(*news)
            seen += [matter.id for matter in news]
        assert len(seen) == len(set(seen)) == len(of(*memories))
