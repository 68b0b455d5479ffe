"""Times that came: claimed before they are said, once, and told when nobody can have heard."""

from datetime import timedelta
from typing import Any

import pytest

from cc_bot.domain import ChannelKey, Message, SessionKey
from cc_bot.domain.message import Visibility
from cc_bot.domain.schedule import LATEST, Place
from cc_bot.storage import Database
from cc_bot.stores import SessionStore
from tests.stores.backends import KEY, OTHER_USER
from tests.stores.clocked import DAILY, DAY, HOUR, MINUTE, NOON, PLACES, Clocked, once, times


@pytest.fixture
def schedules(database: Database) -> Clocked:
    return Clocked(database)


class TestLateTime:
    @pytest.mark.parametrize("late", [MINUTE, LATEST - MINUTE, LATEST])
    async def test_within_an_hour_is_made_up_for(self, schedules: Clocked, late: timedelta) -> None:
        await once(schedules)
        assert times(await schedules.at(NOON + late)) == [NOON]
        assert await schedules.told() == []

    async def test_after_an_hour_is_told_as_missed_once(self, schedules: Clocked) -> None:
        await once(schedules)
        assert await schedules.at(NOON + LATEST + MINUTE) == []
        assert await schedules.told() == [("missed", "薬")]
        assert await schedules.told() == []
        assert await schedules.at(NOON + DAY) == []

    async def test_of_a_repeat_counts_once_however_many_there_are(self, schedules: Clocked) -> None:
        await once(schedules, repeat=DAILY)
        assert await schedules.at(NOON + 9 * DAY + 2 * HOUR) == []
        assert await schedules.told() == [("missed", "薬")]
        assert times(await schedules.at(NOON + 10 * DAY)) == [NOON + 10 * DAY]
        assert await schedules.told() == []

    async def test_of_a_repeat_does_not_keep_the_newest_from_being_said(self, schedules: Clocked) -> None:
        await once(schedules, repeat=DAILY)
        assert times(await schedules.at(NOON + 3 * DAY + 30 * MINUTE)) == [NOON + 3 * DAY]
        assert await schedules.told() == [("missed", "薬")]

    async def test_of_each_hour_is_said_once(self, schedules: Clocked) -> None:
        await once(schedules, repeat="0 * * * *")
        assert times(await schedules.at(NOON + HOUR)) == [NOON + HOUR]
        assert await schedules.told() == []

    async def test_of_a_heartbeat_is_nothing_to_tell(self, schedules: Clocked) -> None:
        added = await schedules.add(KEY, "", NOON, kind="heartbeat", repeat="every 6h")
        assert await schedules.at(NOON + 8 * HOUR) == []
        assert await schedules.told() == []
        beat = await schedules.get(KEY.user_id, added.id)
        assert beat
        assert beat.due_at == NOON + 12 * HOUR

    async def test_is_told_to_each_owner_by_itself(self, schedules: Clocked) -> None:
        for key in (KEY, OTHER_USER, KEY):
            await schedules.add(key, "薬", NOON)
        await schedules.at(NOON + DAY)
        found = [await schedules.take_unreported(PLACES) for _ in range(3)]
        counts = {untold.user_id: len(untold.missed) for untold in found if untold}
        assert counts == {KEY.user_id: 2, OTHER_USER.user_id: 1}

    async def test_of_what_was_cancelled_since_is_not_told(self, schedules: Clocked) -> None:
        added = await once(schedules)
        await schedules.at(NOON + DAY)
        await schedules.cancel(KEY.user_id, added.id)
        assert await schedules.told() == []


class TestClaim:
    async def test_whose_process_died_is_uncertain_and_not_said_again(self, schedules: Clocked) -> None:
        await once(schedules)
        assert await schedules.at(NOON)
        assert await schedules.mark_lost(NOON) == 0
        assert await schedules.mark_lost(NOON + 5 * MINUTE) == 1
        assert await schedules.at(NOON + 5 * MINUTE) == []
        assert await schedules.told() == [("uncertain", "薬")]
        assert await schedules.told() == []

    async def test_that_was_said_or_had_nothing_to_say_is_settled(self, schedules: Clocked) -> None:
        for number in range(2):
            await once(schedules, text=str(number))
        said, silent = await schedules.at(NOON)
        await schedules.mark_sent(said, Message("assistant", "薬", discord_id=7))
        await schedules.mark_skipped(silent)
        assert await schedules.mark_lost(NOON + DAY) == 0

    async def test_that_failed_pauses_its_schedule_until_that_is_resumed(self, schedules: Clocked) -> None:
        added = await once(schedules, repeat=DAILY)
        [firing] = await schedules.at(NOON)
        await schedules.mark_failed(firing, "dms_closed")
        [paused] = await schedules.list(KEY.user_id)
        assert (paused.status, paused.obstacle) == ("paused", "dms_closed")
        assert await schedules.at(NOON + 2 * DAY + HOUR) == []
        assert await schedules.told() == []
        resumed = await schedules.resume(KEY.user_id, added.id)
        assert resumed
        assert (resumed.status, resumed.obstacle, resumed.due_at) == ("active", "", NOON + 3 * DAY)

    async def test_of_an_only_time_that_failed_comes_at_once_when_resumed(self, schedules: Clocked) -> None:
        added = await once(schedules)
        [firing] = await schedules.at(NOON)
        await schedules.mark_failed(firing, "permission_missing")
        schedules.now = NOON + DAY
        assert await schedules.resume(KEY.user_id, added.id)
        assert await schedules.resume(KEY.user_id, added.id) is None
        assert times(await schedules.at(NOON + DAY)) == [NOON + DAY]


class TestMessage:
    async def test_is_its_users_and_in_no_history(self, schedules: Clocked, database: Database) -> None:
        await once(schedules)
        [firing] = await schedules.at(NOON)
        await schedules.mark_sent(firing, Message("assistant", "⏰ 薬", discord_id=7), channel_id=70)
        found = await schedules.get_said(7)
        assert found
        assert (found[0], found[1].content) == (KEY.user_id, "⏰ 薬")
        last = await schedules.get_last_said(KEY.user_id, 70)
        assert last == found[1]
        assert await schedules.get_last_said(OTHER_USER.user_id, 70) is None
        session = await SessionStore(database).open(SessionKey(KEY.user_id, 70))
        assert session.history == ()

    async def test_that_was_answered_is_not_the_last_said_in_a_later_session_either(
        self, schedules: Clocked, database: Database
    ) -> None:
        await once(schedules)
        [firing] = await schedules.at(NOON)
        await schedules.mark_sent(firing, Message("assistant", "⏰ 薬", discord_id=7), channel_id=70)
        now = NOON + 5 * MINUTE
        sessions = SessionStore(database, session_ttl=60 * MINUTE, clock=lambda: now)
        await sessions.open(SessionKey(KEY.user_id, 70))
        now = schedules.now = NOON + 120 * MINUTE
        assert await sessions.expire() == 1
        assert await schedules.get_last_said(KEY.user_id, 70) is None

    @pytest.mark.parametrize(("place", "visibility"), [("channel", "public"), ("dm", "private")])
    async def test_is_as_private_as_the_place(
        self, schedules: Clocked, place: Place, visibility: Visibility
    ) -> None:
        await schedules.add(KEY, "薬", NOON, place=place)
        [firing] = await schedules.at(NOON)
        await schedules.mark_sent(firing, Message("assistant", "⏰ 薬", discord_id=7))
        found = await schedules.get_said(7)
        assert found
        assert found[1].visibility == visibility

    async def test_that_the_gateway_told_of_first_is_its_users_all_the_same(
        self, schedules: Clocked, stores: Any
    ) -> None:
        await stores.channels.add(ChannelKey(70), Message("assistant", "⏰ 薬", discord_id=7, author_id=1))
        await once(schedules)
        [firing] = await schedules.at(NOON)
        await schedules.mark_sent(firing, Message("assistant", "⏰ 薬", discord_id=7), channel_id=70)
        assert await schedules.get_last_said(KEY.user_id, 70)
        page = await stores.blocks.get_page(ChannelKey(70), first=0, before=99, limit=9)
        assert not page

    async def test_of_others_is_no_reminder(self, schedules: Clocked) -> None:
        assert await schedules.get_said(8) is None


class TestClock:
    """A clock that is set, forward or back, by hand or by whoever keeps the time."""

    async def test_that_goes_back_says_nothing_twice(self, schedules: Clocked) -> None:
        await once(schedules, repeat=DAILY)
        assert times(await schedules.at(NOON)) == [NOON]
        for minutes in range(-90, 30, 10):
            assert await schedules.at(NOON + minutes * MINUTE) == []
        assert times(await schedules.at(NOON + DAY)) == [NOON + DAY]

    async def test_that_goes_ahead_and_back_again_loses_nothing(self, schedules: Clocked) -> None:
        await once(schedules, repeat=DAILY)
        await schedules.at(NOON + 40 * DAY)
        await schedules.told()
        seen = []
        for hours in range(24 * 4):
            seen += times(await schedules.at(NOON + HOUR + hours * HOUR))
        assert seen == [NOON + day * DAY for day in range(1, 5)]

    async def test_that_goes_ahead_tells_what_it_passed(self, schedules: Clocked) -> None:
        await once(schedules)
        assert await schedules.at(NOON + 3 * DAY) == []
        assert await schedules.at(NOON) == []
        assert await schedules.told() == [("missed", "薬")]

    async def test_of_a_heartbeat_that_goes_back_does_not_silence_it(self, schedules: Clocked) -> None:
        await schedules.add(KEY, "", NOON, kind="heartbeat", repeat="every 6h")
        await schedules.at(NOON + 40 * DAY)
        await schedules.at(NOON)
        assert times(await schedules.at(NOON + 6 * HOUR)) == [NOON + 6 * HOUR]

    async def test_that_is_put_right_by_seconds_moves_no_heartbeat(self, schedules: Clocked) -> None:
        added = await schedules.add(KEY, "", NOON, kind="heartbeat", repeat="every 6h")
        await schedules.at(NOON + timedelta(seconds=5))
        await schedules.at(NOON - timedelta(seconds=20))
        beat = await schedules.get(KEY.user_id, added.id)
        assert beat
        assert beat.due_at == NOON + 6 * HOUR
