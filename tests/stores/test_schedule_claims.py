from contextlib import AbstractContextManager
from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest
from freezegun import freeze_time

from cc_bot.chat.stores.opening import Stores
from cc_bot.chat.stores.sessions import SessionStore
from cc_bot.db import Database
from cc_bot.domain.message import ChannelKey, Message
from cc_bot.domain.session import SessionKey
from cc_bot.features.reminders.model import MAX_LATENESS, Firing
from cc_bot.features.reminders.store import MAX_IN_FLIGHT, ScheduleStore
from tests.stores.backends import KEY, OTHER_USER, got
from tests.stores.clocked import DAILY, DAY, HOUR, MINUTE, NOON, TARGETS, Clocked, once, times
from tests.stores.locations import read_page

ME = KEY.user_id
SAID = Message("assistant", "⏰ 薬", discord_id=7)


@pytest.fixture
def schedules(database: Database) -> Clocked:
    return Clocked(database)


class TestLateTime:
    async def test_within_an_hour_is_made_up_for_and_later_told_as_missed(self, schedules: Clocked) -> None:
        for late in (MINUTE, MAX_LATENESS - MINUTE, MAX_LATENESS):
            await once(schedules)
            assert times(await schedules.at(NOON + late)) == [NOON]
            assert await schedules.told() == []
        cancelled = await once(schedules, text="中止")
        await once(schedules)
        assert await schedules.at(NOON + MAX_LATENESS + MINUTE) == []
        await schedules.cancel(ME, cancelled.id)
        assert await schedules.told() == [("missed", "薬")]
        assert await schedules.told() == []
        assert await schedules.at(NOON + DAY) == []

    async def test_of_a_repeat_counts_once_and_lets_the_newest_be_said(self, schedules: Clocked) -> None:
        await once(schedules, repeat=DAILY)
        assert times(await schedules.at(NOON + 3 * DAY + 30 * MINUTE)) == [NOON + 3 * DAY]
        assert await schedules.told() == [("missed", "薬")]
        assert await schedules.at(NOON + 9 * DAY + 2 * HOUR) == []
        assert await schedules.told() == [("missed", "薬")]
        assert times(await schedules.at(NOON + 10 * DAY)) == [NOON + 10 * DAY]
        assert await schedules.told() == []

    async def test_is_told_to_each_owner_by_itself(self, schedules: Clocked) -> None:
        for key in (KEY, OTHER_USER, KEY):
            await schedules.add(key, "薬", NOON)
        await schedules.at(NOON + DAY)
        found = [await schedules.take_unreported(TARGETS) for _ in range(3)]
        counts = {untold[0].schedule.key.user_id: len(untold) for untold in found if untold}
        assert counts == {ME: 2, OTHER_USER.user_id: 1}


class TestACrowdedChannel:
    async def test_holds_up_no_other_and_goes_on_when_one_is_said(self, schedules: Clocked) -> None:
        for number in range(6):
            await once(schedules, text=f"混雑{number}")
        elsewhere = SessionKey(OTHER_USER.user_id, KEY.channel_id + 1)
        await schedules.add(elsewhere, "薬", NOON + MINUTE)

        async def claimed() -> list[Firing]:
            return [*await schedules.claim_due(NOON + MINUTE, TARGETS)]

        first = [firing for _ in range(MAX_IN_FLIGHT) for firing in await claimed()]
        assert {firing.schedule.key for firing in first} == {KEY}
        assert [firing.schedule.text for firing in await claimed()] == ["薬"]
        assert await claimed() == []
        assert await schedules.get_next_due(TARGETS) is None
        await schedules.mark_sent(first[0], SAID)
        assert [firing.schedule.key for firing in await claimed()] == [KEY]


class TestClaim:
    async def test_whose_process_died_is_uncertain_unless_it_was_settled(self, schedules: Clocked) -> None:
        for text in ("言った", "黙った", "薬"):
            await once(schedules, text=text)
        claimed = {firing.schedule.text: firing for firing in await schedules.at(NOON)}
        await schedules.mark_sent(claimed["言った"], SAID)
        await schedules.mark_skipped(claimed["黙った"])
        assert await schedules.mark_uncertain(NOON) == 0
        assert await schedules.mark_uncertain(NOON + 5 * MINUTE) == 1
        assert await schedules.at(NOON + 5 * MINUTE) == []
        assert await schedules.told() == [("uncertain", "薬")]
        assert await schedules.told() == []

    async def test_that_failed_pauses_its_schedule_until_that_is_resumed(self, schedules: Clocked) -> None:
        added = await once(schedules, repeat=DAILY)
        [firing] = await schedules.at(NOON)
        await schedules.mark_failed(firing, "dms_closed")
        [paused] = await schedules.list(ME)
        assert (paused.status, paused.obstacle) == ("paused", "dms_closed")
        assert await schedules.at(NOON + 2 * DAY + HOUR) == []
        assert await schedules.told() == []
        resumed = got(await schedules.resume(ME, added.id))
        assert (resumed.status, resumed.obstacle, resumed.due_at) == ("active", "", NOON + 3 * DAY)


class TestMessage:
    async def test_that_the_gateway_told_first_is_its_users(self, schedules: Clocked, stores: Stores) -> None:
        await stores.channels.add(ChannelKey(70), replace(SAID, author_id=1))
        await once(schedules)
        [firing] = await schedules.at(NOON)
        await schedules.mark_sent(firing, SAID, channel_id=70)
        assert await schedules.archive.get_last_notification(ME, 70)
        assert not await read_page(stores, ChannelKey(70), first=0, before=99, limit=9)

    async def test_is_its_users_and_in_no_history(self, schedules: Clocked, database: Database) -> None:
        await once(schedules)
        [firing] = await schedules.at(NOON)
        await schedules.mark_sent(firing, SAID, channel_id=70)
        found = got(await schedules.archive.get_notification(7))
        assert (found[0], found[1].content) == (ME, "⏰ 薬")
        assert await schedules.archive.get_last_notification(ME, 70) == found[1]
        assert await schedules.archive.get_last_notification(OTHER_USER.user_id, 70) is None
        assert await schedules.archive.get_notification(8) is None
        await once(schedules)
        [later] = await schedules.at(NOON)
        await schedules.mark_sent(later, replace(SAID, discord_id=9, content="⏰ 次"), channel_id=70)
        newest = got(await schedules.archive.get_last_notification(ME, 70))
        assert newest.content == "⏰ 次"
        now = NOON + 5 * MINUTE
        sessions = SessionStore(database, session_ttl=60 * MINUTE, clock=lambda: now)
        assert (await sessions.open(SessionKey(ME, 70))).history == ()
        now = schedules.now = NOON + 120 * MINUTE
        assert await sessions.expire() == 1
        assert await schedules.archive.get_last_notification(ME, 70) is None, (
            "it was answered in a session before"
        )

    async def test_is_as_private_as_the_location(self, schedules: Clocked) -> None:
        for target in TARGETS:
            await schedules.add(KEY, "薬", NOON, target=target)
        for number, firing in enumerate(await schedules.at(NOON)):
            await schedules.mark_sent(firing, Message("assistant", "⏰ 薬", discord_id=number))
            found = got(await schedules.archive.get_notification(number))
            expected = "private" if firing.schedule.target == "dm" else "public"
            assert found[1].visibility == expected


ME, YOU = 123456789012345678, 876543210987654321
NOW = datetime(2026, 11, 22, tzinfo=UTC)


def frozen(moment: datetime) -> AbstractContextManager[object]:
    return freeze_time(moment, real_asyncio=True)


class TestMissed:
    async def test_are_reminders_that_came_too_late_or_perhaps_not(self, stores: Stores) -> None:
        hour = timedelta(hours=1)
        with frozen(NOW):
            late = await stores[ScheduleStore].add(SessionKey(ME, 1), "薬", NOW + hour)
            lost = await stores[ScheduleStore].add(SessionKey(ME, 1), "会議", NOW + 3 * hour)
            await stores[ScheduleStore].add(
                SessionKey(ME, 1), "", NOW + hour, kind="heartbeat", repeat="every 6h"
            )
            await stores[ScheduleStore].add(SessionKey(YOU, 1), "散歩", NOW + hour)
            await stores[ScheduleStore].add(SessionKey(ME, 1), "夕食", NOW + 9 * hour)
        now = NOW + 3.5 * hour
        claimed = await stores[ScheduleStore].claim_due(now, ["channel"])
        assert [each.schedule.text for each in claimed] == ["会議"]
        await stores[ScheduleStore].mark_uncertain(datetime.now(UTC) + timedelta(minutes=1))
        missed = await stores[ScheduleStore].list_missed(ME, NOW)
        assert [(each.schedule.id, each.due_at) for each in missed] == [
            (late.id, NOW + hour),
            (lost.id, NOW + 3 * hour),
        ]
        assert await stores[ScheduleStore].list_missed(ME, NOW + 4 * hour) == []
