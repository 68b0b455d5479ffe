"""Times that came: claimed before they are said, once, and told when nobody can have heard."""

from dataclasses import replace

import pytest

from cc_bot.domain import ChannelKey, Message, SessionKey
from cc_bot.domain.schedule import LATEST
from cc_bot.storage import Database
from cc_bot.stores import SessionStore, Stores
from tests.stores.backends import KEY, OTHER_USER
from tests.stores.clocked import DAILY, DAY, HOUR, MINUTE, NOON, PLACES, Clocked, once, times

ME = KEY.user_id
SAID = Message("assistant", "⏰ 薬", discord_id=7)


@pytest.fixture
def schedules(database: Database) -> Clocked:
    return Clocked(database)


class TestLateTime:
    async def test_within_an_hour_is_made_up_for_and_after_that_told_as_missed_once(
        self, schedules: Clocked
    ) -> None:
        for late in (MINUTE, LATEST - MINUTE, LATEST):
            await once(schedules)
            assert times(await schedules.at(NOON + late)) == [NOON]
            assert await schedules.told() == []
        cancelled = await once(schedules, text="中止")
        await once(schedules)
        assert await schedules.at(NOON + LATEST + MINUTE) == []
        await schedules.cancel(ME, cancelled.id)
        assert await schedules.told() == [("missed", "薬")]
        assert await schedules.told() == []
        assert await schedules.at(NOON + DAY) == []

    async def test_of_a_repeat_counts_once_and_does_not_keep_the_newest_from_being_said(
        self, schedules: Clocked
    ) -> None:
        await once(schedules, repeat=DAILY)
        assert times(await schedules.at(NOON + 3 * DAY + 30 * MINUTE)) == [NOON + 3 * DAY]
        assert await schedules.told() == [("missed", "薬")]
        assert await schedules.at(NOON + 9 * DAY + 2 * HOUR) == []
        assert await schedules.told() == [("missed", "薬")]
        assert times(await schedules.at(NOON + 10 * DAY)) == [NOON + 10 * DAY]
        assert await schedules.told() == []

    async def test_of_a_heartbeat_is_nothing_to_tell(self, schedules: Clocked) -> None:
        added = await schedules.add(KEY, "", NOON, kind="heartbeat", repeat="every 6h")
        assert await schedules.at(NOON + 8 * HOUR) == []
        assert await schedules.told() == []
        beat = await schedules.get(ME, added.id)
        assert beat
        assert beat.due_at == NOON + 12 * HOUR

    async def test_is_told_to_each_owner_by_itself(self, schedules: Clocked) -> None:
        for key in (KEY, OTHER_USER, KEY):
            await schedules.add(key, "薬", NOON)
        await schedules.at(NOON + DAY)
        found = [await schedules.take_unreported(PLACES) for _ in range(3)]
        counts = {untold.user_id: len(untold.missed) for untold in found if untold}
        assert counts == {ME: 2, OTHER_USER.user_id: 1}


class TestClaim:
    async def test_whose_process_died_is_uncertain_and_not_said_again_unless_it_was_settled(
        self, schedules: Clocked
    ) -> None:
        for text in ("言った", "黙った", "薬"):
            await once(schedules, text=text)
        claimed = {firing.schedule.text: firing for firing in await schedules.at(NOON)}
        await schedules.mark_sent(claimed["言った"], SAID)
        await schedules.mark_skipped(claimed["黙った"])
        assert await schedules.mark_lost(NOON) == 0
        assert await schedules.mark_lost(NOON + 5 * MINUTE) == 1
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
        resumed = await schedules.resume(ME, added.id)
        assert resumed
        assert (resumed.status, resumed.obstacle, resumed.due_at) == ("active", "", NOON + 3 * DAY)


class TestMessage:
    async def test_that_the_gateway_told_of_first_is_its_users_all_the_same(
        self, schedules: Clocked, stores: Stores
    ) -> None:
        await stores.channels.add(ChannelKey(70), replace(SAID, author_id=1))
        await once(schedules)
        [firing] = await schedules.at(NOON)
        await schedules.mark_sent(firing, SAID, channel_id=70)
        assert await schedules.get_last_said(ME, 70)
        assert not await stores.blocks.get_page(ChannelKey(70), first=0, before=99, limit=9)

    async def test_is_its_users_and_in_no_history(self, schedules: Clocked, database: Database) -> None:
        await once(schedules)
        [firing] = await schedules.at(NOON)
        await schedules.mark_sent(firing, SAID, channel_id=70)
        found = await schedules.get_said(7)
        assert found
        assert (found[0], found[1].content) == (ME, "⏰ 薬")
        assert await schedules.get_last_said(ME, 70) == found[1]
        assert await schedules.get_last_said(OTHER_USER.user_id, 70) is None
        assert await schedules.get_said(8) is None
        await once(schedules)
        [later] = await schedules.at(NOON)
        await schedules.mark_sent(later, replace(SAID, discord_id=9, content="⏰ 次"), channel_id=70)
        newest = await schedules.get_last_said(ME, 70)
        assert newest
        assert newest.content == "⏰ 次"
        now = NOON + 5 * MINUTE
        sessions = SessionStore(database, session_ttl=60 * MINUTE, clock=lambda: now)
        assert (await sessions.open(SessionKey(ME, 70))).history == ()
        now = schedules.now = NOON + 120 * MINUTE
        assert await sessions.expire() == 1
        assert await schedules.get_last_said(ME, 70) is None, "it was answered in a session before"

    async def test_is_as_private_as_the_place(self, schedules: Clocked) -> None:
        for place in PLACES:
            await schedules.add(KEY, "薬", NOON, place=place)
        for number, firing in enumerate(await schedules.at(NOON)):
            await schedules.mark_sent(firing, Message("assistant", "⏰ 薬", discord_id=number))
            found = await schedules.get_said(number)
            assert found
            expected = "private" if firing.schedule.place == "dm" else "public"
            assert found[1].visibility == expected


class TestClock:
    """A clock that is set, forward or back, by hand or by whoever keeps the time."""

    async def test_that_goes_back_says_nothing_twice(self, schedules: Clocked) -> None:
        await once(schedules, repeat=DAILY)
        assert times(await schedules.at(NOON)) == [NOON]
        for minutes in range(-90, 30, 10):
            assert await schedules.at(NOON + minutes * MINUTE) == []
        assert times(await schedules.at(NOON + DAY)) == [NOON + DAY]

    async def test_that_goes_ahead_and_back_again_tells_what_it_passed_and_loses_nothing(
        self, schedules: Clocked
    ) -> None:
        await once(schedules, text="一度だけ")
        await once(schedules, repeat=DAILY)
        await schedules.at(NOON + 40 * DAY + 2 * HOUR)
        assert await schedules.at(NOON) == []
        assert sorted(await schedules.told()) == [("missed", "一度だけ"), ("missed", "薬")]
        seen = []
        for hours in range(24 * 4):
            seen += times(await schedules.at(NOON + HOUR + hours * HOUR))
        assert seen == [NOON + day * DAY for day in range(1, 5)]
