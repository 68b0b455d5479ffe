import asyncio
from collections.abc import AsyncIterator
from contextlib import aclosing
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any
from zoneinfo import ZoneInfo

import pytest
from freezegun import freeze_time
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from structlog.testing import capture_logs

from cc_bot.chat.stores.opening import Stores, open_stores
from cc_bot.db import Database, Statement, apply_pending, open_database
from cc_bot.domain.session import SessionKey
from cc_bot.domain.when.repeats import next_time
from cc_bot.features.reminders.model import Firing, UnreportedFirings
from cc_bot.features.reminders.scheduler import Scheduler
from cc_bot.features.reminders.store import ScheduleStore
from tests.databases import laid_out

KEY = SessionKey(user_id=1, channel_id=10)
NOON = datetime(2026, 11, 22, 12, tzinfo=UTC)
DAILY = "0 21 * * *"  # 21:00 in Tokyo: NOON
HOUR = timedelta(hours=1)


@pytest.fixture
def url(tmp_path: Path) -> str:
    return laid_out(tmp_path / "sessions.db")


@pytest.fixture
async def stores(url: str) -> AsyncIterator[Stores]:
    async with open_stores(url) as stores:
        yield stores


def scheduler(store: ScheduleStore, *, check_every_s: float = 60, user_id: int | None = None) -> Scheduler:
    return Scheduler(store, targets=("channel", "dm"), check_every_s=check_every_s, user_id=user_id)


def texts(found: list[Firing | UnreportedFirings]) -> list[str]:
    words = []
    for each in found:
        if isinstance(each, Firing):
            words.append(each.schedule.text)
        else:
            words += [f"{firing.state} {firing.schedule.text}" for firing in each]
    return words


async def first(*, of: Scheduler) -> Firing | UnreportedFirings:
    async with aclosing(of.run()) as found, asyncio.timeout(60):
        return await anext(found)


class Looking(ScheduleStore):
    """One that tells when a scheduler has found nothing that is due, and waits for it."""

    def __init__(self, database: Database) -> None:
        super().__init__(database)
        self._next_asked = asyncio.Event()

    async def looked(self) -> None:
        self._next_asked.clear()
        await asyncio.wait_for(self._next_asked.wait(), 60)

    async def get_next_due(self, *args: Any, **fields: Any) -> datetime | None:
        due = await super().get_next_due(*args, **fields)
        self._next_asked.set()
        return due


class TestRunning:
    async def test_waits_for_the_time_and_claims_no_more_than_it_hands_over(self, stores: Stores) -> None:
        due = datetime.now(UTC) + timedelta(seconds=0.3)
        for text in ("一", "二"):
            await stores[ScheduleStore].add(KEY, text, due)
        firing = await first(of=scheduler(stores[ScheduleStore]))
        assert isinstance(firing, Firing)
        assert firing.schedule.text == "一"
        assert datetime.now(UTC) >= firing.due_at
        assert texts(await scheduler(stores[ScheduleStore]).claim_all_due()) == ["二"]

    async def test_finds_what_is_made_meanwhile_and_ends_when_it_is_stopped(self, url: str) -> None:
        async with open_database(url) as own, open_database(url) as others:
            store = Looking(own)
            for maker in (store, ScheduleStore(others)):
                waiting = asyncio.create_task(first(of=scheduler(store)))
                await store.looked()
                await maker.add(KEY, "すぐ", datetime.now(UTC))
                assert isinstance(await waiting, Firing)
            waits = scheduler(store)
            waiting = asyncio.create_task(first(of=waits))
            await store.looked()
            waits.stop()
            with pytest.raises(StopAsyncIteration):
                await waiting

    async def test_claims_nothing_more_once_it_is_stopped(self, stores: Stores) -> None:
        stopped = scheduler(stores[ScheduleStore])
        for text in ("一", "二"):
            await stores[ScheduleStore].add(KEY, text, datetime.now(UTC))
        found = []
        async with asyncio.timeout(60):
            async for each in stopped.run():
                found.append(each)
                stopped.stop()
        assert texts(found) == ["一"]
        assert texts(await scheduler(stores[ScheduleStore]).claim_all_due()) == ["二"]

    async def test_goes_on_after_a_failure_of_the_database(self, stores: Stores, url: str) -> None:
        await stores[ScheduleStore].add(KEY, "薬", datetime.now(UTC))
        async with open_database(url) as database:
            refuse = "CREATE TRIGGER full BEFORE INSERT ON firings BEGIN SELECT RAISE(ABORT, 'full'); END"
            await database.transaction([Statement(refuse)], ())
            with capture_logs() as logs:
                waiting = asyncio.create_task(first(of=scheduler(stores[ScheduleStore], check_every_s=0.05)))
                while not logs:  # noqa: ASYNC110 - no event comes out of a log
                    await asyncio.sleep(0.01)
                await database.transaction([Statement("DROP TRIGGER full")], ())
                assert isinstance(await waiting, Firing)
        assert {"event": "schedules_not_read", "error": "StorageError", "log_level": "warning"} in logs


class TestARowThatCannotBe:
    """A file that was changed by hand."""

    @pytest.mark.parametrize(
        "change",
        [
            "locale = 'xx'",
            'quiet = \'{"since": "22", "until": 7}\', repeat = \'every 6h\'',
            "due_at = -9223372036854775808",
            "advanced_at = 9223372036854775807, repeat = '0 21 * * *', due_at = 9223372036854775807",
            "timezone = 'America', repeat = '0 21 * * *'",
            "repeat = '* * * * * *'",
        ],
    )
    async def test_harms_nobody_else(self, stores: Stores, url: str, change: str) -> None:
        with freeze_time(NOON, real_asyncio=True):
            broken = await stores[ScheduleStore].add(KEY, "壊れた", NOON - HOUR / 2)
            await stores[ScheduleStore].add(KEY, "薬", NOON)
            await stores[ScheduleStore].add(SessionKey(2, 20), "別の人", NOON)
            await stores[ScheduleStore].add(SessionKey(2, 20), "あとで", NOON + HOUR)
            async with open_database(url) as database:
                await database.transaction(
                    [Statement(f"UPDATE schedules SET {change} WHERE id = {broken.id}")], ()
                )
            assert "あとで" in [each.text for each in await stores[ScheduleStore].list(2)]
            assert "薬" in [each.text for each in await stores[ScheduleStore].list(KEY.user_id)]
            said = texts(await asyncio.wait_for(scheduler(stores[ScheduleStore]).claim_all_due(), 60))
            assert {"薬", "別の人"} <= set(said)
            assert await stores[ScheduleStore].get_next_due(["channel"]) is not None


class TestTwo:
    async def test_schedulers_on_one_file_hand_over_and_tell_each_time_once(self, url: str) -> None:
        async with open_stores(url) as one, open_stores(url) as other:
            for number in range(30):
                await one[ScheduleStore].add(SessionKey(number, 10 + number), str(number), NOON)
                await one[ScheduleStore].add(SessionKey(number, 10 + number), str(number), NOON - 3 * HOUR)
            with freeze_time(NOON, real_asyncio=True):
                found = await asyncio.gather(
                    scheduler(one[ScheduleStore]).claim_all_due(),
                    scheduler(other[ScheduleStore]).claim_all_due(),
                )
            numbers = [str(number) for number in range(30)]
            expected = numbers + [f"missed {number}" for number in numbers]
            assert sorted(texts([*found[0], *found[1]])) == sorted(expected)


NIGHTS = [
    ("Europe/Berlin", datetime(2027, 3, 27, 12, tzinfo=UTC)),
    ("Europe/Berlin", datetime(2026, 10, 24, 12, tzinfo=UTC)),
    ("America/New_York", datetime(2027, 3, 13, 18, tzinfo=UTC)),
    ("America/New_York", datetime(2026, 10, 31, 18, tzinfo=UTC)),
    ("Australia/Lord_Howe", datetime(2026, 10, 3, 3, tzinfo=UTC)),
    ("Australia/Lord_Howe", datetime(2027, 4, 3, 3, tzinfo=UTC)),
]


class TestClockChange:
    @pytest.mark.parametrize(("zone", "noon"), NIGHTS)
    async def test_each_day_has_its_time_once(self, stores: Stores, zone: str, noon: datetime) -> None:
        """Looked at every quarter of an hour, for three days around the night."""
        where, start = ZoneInfo(zone), noon - timedelta(days=1)
        said: dict[str, list[datetime]] = {"0:30": [], "1:45": [], "2:15": [], "9:00": []}
        with freeze_time(start, real_asyncio=True) as clock:
            for local in said:
                hour, minute = local.split(":")
                cron = f"{int(minute)} {hour} * * *"
                due = next_time(cron, start, where)
                assert due
                await stores[ScheduleStore].add(KEY, local, due, repeat=cron, timezone=zone)
            for _ in range(3 * 24 * 4):
                clock.tick(timedelta(minutes=15))
                for each in await scheduler(stores[ScheduleStore]).claim_all_due():
                    assert isinstance(each, Firing)
                    await stores[ScheduleStore].mark_skipped(each)
                    said[each.schedule.text].append(each.due_at.astimezone(where))
        for local, (first, second, third) in said.items():
            days = [moment.date() - first.date() for moment in (first, second, third)]
            assert days == [timedelta(days=day) for day in range(3)]
            assert [f"{moment.hour}:{moment.minute:02}" for moment in (first, third)] == [local, local]


class TestSetClock:
    @pytest.mark.slow
    @settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
    @given(jumps=st.lists(st.integers(-4 * 1440, 4 * 1440), max_size=8))
    async def test_neither_repeats_nor_loses_a_day(
        self, tmp_path_factory: pytest.TempPathFactory, jumps: list[int]
    ) -> None:
        """The clock is set to and fro; then a week passes."""
        noted: list[datetime] = []
        now = NOON - HOUR
        folder = tmp_path_factory.mktemp("clock")
        async with open_database(f"sqlite:///{folder}/sessions.db") as database:
            await apply_pending(database)
            store = ScheduleStore(database)
            with freeze_time(now, real_asyncio=True) as clock:
                added = await store.add(KEY, "薬", NOON, repeat=DAILY)
                for jump in jumps:
                    clock.move_to(datetime.now(UTC) + timedelta(minutes=jump))
                    noted += [each.due_at for each in firings(await scheduler(store).claim_all_due())]
                end = datetime.now(UTC)
                for _ in range(7 * 24):
                    clock.tick(HOUR)
                    noted += [each.due_at for each in firings(await scheduler(store).claim_all_due())]
                assert len(noted) == len(set(noted))
                covered = set(noted) | await missed(database, added.id)
                coming = next_time(DAILY, max(end, NOON - HOUR), ZoneInfo("Asia/Tokyo"))
                while coming and coming <= datetime.now(UTC):
                    assert coming in covered
                    coming = next_time(DAILY, coming, ZoneInfo("Asia/Tokyo"))


def firings(found: list[Firing | UnreportedFirings]) -> list[Firing]:
    return [each for each in found if isinstance(each, Firing)]


async def missed(database: Database, schedule_id: int) -> set[datetime]:
    rows = await database.query(
        "SELECT due_at FROM firings WHERE schedule_id = $1 AND state = 'missed'", schedule_id
    )
    return {datetime.fromtimestamp(ms / 1000, UTC) for (ms,) in rows}
