"""Schedules: said once at most, never lost without a word, and nobody's but their user's."""

import asyncio
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Any, Final

import pytest

from cc_bot.domain import ChannelKey, Locale, Message, SessionKey
from cc_bot.domain.errors import (
    EmptyReminder,
    ReminderTooLong,
    SecretNotStored,
    TooManySchedules,
)
from cc_bot.domain.message import Visibility
from cc_bot.domain.schedule import LATEST, MAX_SCHEDULES, Firing, Place, Quiet, Schedule
from cc_bot.storage import Database, Statement
from cc_bot.stores import ScheduleStore, SessionStore
from tests.stores.backends import KEY, OTHER_USER

PLACES: Final[tuple[Place, ...]] = ("channel", "dm")
NOON = datetime(2026, 11, 22, 12, tzinfo=UTC)
MINUTE = timedelta(minutes=1)
HOUR = timedelta(hours=1)
DAY = timedelta(days=1)
DAILY = "0 21 * * *"  # 21:00 in Tokyo: NOON


class Clocked(ScheduleStore):
    """A store with a clock that is set by hand."""

    def __init__(self, database: Database) -> None:
        self.now = NOON - HOUR
        super().__init__(database, clock=lambda: self.now)

    async def at(self, moment: datetime, *, process: str = "one", **options: Any) -> list[Firing]:
        """What is claimed then."""
        self.now = moment
        return [*await self.claim_due(moment, PLACES, process, limit=10, **options)]

    async def told(self) -> list[tuple[str, str]]:
        """What somebody is told now did not come: the texts, with how."""
        found = []
        while untold := await self.unreported(PLACES):
            found += [("missed", firing.schedule.text) for firing in untold.missed]
            found += [("uncertain", firing.schedule.text) for firing in untold.uncertain]
        return found


@pytest.fixture
def schedules(database: Database) -> Clocked:
    return Clocked(database)


async def once(schedules: ScheduleStore, due: datetime = NOON, **fields: Any) -> Schedule:
    return await schedules.add(KEY, fields.pop("text", "薬"), due, **fields)


def times(firings: list[Firing]) -> list[datetime]:
    return [firing.due_at for firing in firings]


class TestNewSchedule:
    async def test_is_as_it_was_asked_for(self, schedules: Clocked) -> None:
        added = await schedules.add(
            KEY, " 薬 ", NOON, guild_id=5, repeat=DAILY, timezone="Europe/Berlin", locale=Locale.EN
        )
        assert added.locale is Locale.EN
        assert added == await schedules.get(KEY.user_id, added.id)
        assert (added.key, added.text, added.due_at, added.guild_id) == (KEY, "薬", NOON, 5)
        assert (added.repeat, added.timezone, added.place, added.status) == (
            DAILY,
            "Europe/Berlin",
            "channel",
            "active",
        )

    async def test_that_is_private_goes_to_no_channel(self, schedules: Clocked) -> None:
        assert (await once(schedules, visibility="private")).place == "dm"

    async def test_that_is_private_stays_in_the_terminal(self, schedules: Clocked) -> None:
        assert (await once(schedules, visibility="private", place="terminal")).place == "terminal"

    @pytest.mark.parametrize("text", ["", "  \n"])
    async def test_needs_a_text(self, schedules: Clocked, text: str) -> None:
        with pytest.raises(EmptyReminder):
            await once(schedules, text=text)

    async def test_holds_a_thousand_characters(self, schedules: Clocked) -> None:
        assert len((await once(schedules, text="あ" * 1000)).text) == 1000
        with pytest.raises(ReminderTooLong):
            await once(schedules, text="あ" * 1001)

    async def test_holds_no_secret(self, schedules: Clocked) -> None:
        with pytest.raises(SecretNotStored):
            await once(schedules, text="パスワードは hunter2 だよ")

    async def test_is_one_of_a_hundred_at_most(self, schedules: Clocked) -> None:
        for _ in range(MAX_SCHEDULES):
            await once(schedules)
        with pytest.raises(TooManySchedules):
            await once(schedules)
        await schedules.add(OTHER_USER, "別の人の", NOON)
        [first, *_] = await schedules.list(KEY.user_id)
        await schedules.cancel(KEY.user_id, first.id)
        await once(schedules)

    async def test_takes_the_place_of_a_former_heartbeat(self, schedules: Clocked) -> None:
        quiet = Quiet(1320, 420)
        await schedules.add(KEY, "", NOON, kind="heartbeat", repeat="every 6h", quiet=quiet)
        beat = await schedules.add(
            KEY, "", NOON, kind="heartbeat", repeat="every 8h", quiet=quiet, place="dm"
        )
        assert await schedules.list(KEY.user_id, kind="heartbeat") == [beat]
        assert beat.quiet == quiet
        assert await schedules.list(KEY.user_id) == []


class TestOwner:
    async def test_alone_sees_and_changes_a_schedule(self, schedules: Clocked) -> None:
        mine = await once(schedules)
        stranger = OTHER_USER.user_id
        assert await schedules.list(stranger) == []
        assert await schedules.get(stranger, mine.id) is None
        assert await schedules.pause(stranger, mine.id) is None
        assert await schedules.cancel(stranger, mine.id) is None
        await schedules.pause(KEY.user_id, mine.id)
        assert await schedules.resume(stranger, mine.id) is None
        await schedules.rezone(stranger, "Europe/Berlin")
        [kept] = await schedules.list(KEY.user_id)
        assert (kept.id, kept.status, kept.timezone) == (mine.id, "paused", "Asia/Tokyo")

    async def test_can_have_their_own_claimed_alone(self, schedules: Clocked) -> None:
        await once(schedules)
        assert not await schedules.at(NOON, user_id=OTHER_USER.user_id)
        assert await schedules.at(NOON, user_id=KEY.user_id)

    async def test_settles_nothing_of_others(self, schedules: Clocked) -> None:
        await once(schedules)
        [firing] = await schedules.at(NOON)
        theirs = Firing(
            await schedules.add(OTHER_USER, "別", NOON + DAY), firing.due_at
        )  # a time that was never claimed
        await schedules.sent(theirs, Message("assistant", "別", discord_id=1))
        await schedules.lost(NOON + HOUR)
        assert await schedules.told() == [("uncertain", "薬")]


class TestDueTime:
    async def test_is_not_claimed_early(self, schedules: Clocked) -> None:
        await once(schedules)
        assert await schedules.at(NOON - timedelta(milliseconds=1)) == []

    async def test_is_claimed_once(self, schedules: Clocked) -> None:
        await once(schedules)
        assert times(await schedules.at(NOON)) == [NOON]
        assert await schedules.at(NOON) == []
        assert await schedules.at(NOON + DAY) == []
        assert await schedules.list(KEY.user_id) == []
        assert await schedules.told() == []

    async def test_is_claimed_by_one_of_two_databases(self, schedules: Clocked, stores: Any) -> None:
        """Two connections to one file, which both look at the same moment."""
        for number in range(20):
            await once(schedules, text=f"{number}")
        claims = await asyncio.gather(
            *(
                store.claim_due(NOON, PLACES, process)
                for _ in range(20)
                for store, process in ((schedules, "one"), (stores.schedules, "two"))
            )
        )
        claimed = [firing.schedule.text for claim in claims for firing in claim]
        assert sorted(claimed, key=int) == [str(number) for number in range(20)]

    async def test_elsewhere_is_left_alone(self, schedules: Clocked) -> None:
        await once(schedules, place="terminal")
        assert await schedules.at(NOON) == []
        assert await schedules.claim_due(NOON, ["terminal"], "one")

    async def test_of_what_was_cancelled_or_paused_does_not_come(self, schedules: Clocked) -> None:
        cancelled, paused = await once(schedules), await once(schedules)
        assert await schedules.cancel(KEY.user_id, cancelled.id)
        assert await schedules.pause(KEY.user_id, paused.id)
        assert await schedules.at(NOON) == []

    async def test_comes_one_after_the_other(self, schedules: Clocked) -> None:
        for minutes in (3, 1, 2):
            await once(schedules, NOON - minutes * MINUTE, text=str(minutes))
        found = [(await schedules.claim_due(NOON, PLACES, "one"))[0].schedule.text for _ in range(3)]
        assert found == ["3", "2", "1"]

    async def test_of_a_repeat_is_followed_by_the_next_day(self, schedules: Clocked) -> None:
        added = await once(schedules, repeat=DAILY)
        for day in range(3):
            assert times(await schedules.at(NOON + day * DAY)) == [NOON + day * DAY]
            assert await schedules.at(NOON + day * DAY + MINUTE) == []
        next_one = await schedules.get(KEY.user_id, added.id)
        assert next_one
        assert (next_one.due_at, next_one.status) == (NOON + 3 * DAY, "active")


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
        found = [await schedules.unreported(PLACES) for _ in range(3)]
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
        assert await schedules.lost(NOON) == 0
        assert await schedules.lost(NOON + 5 * MINUTE) == 1
        assert await schedules.at(NOON + 5 * MINUTE, process="two") == []
        assert await schedules.told() == [("uncertain", "薬")]
        assert await schedules.told() == []

    async def test_that_was_said_or_had_nothing_to_say_is_settled(self, schedules: Clocked) -> None:
        for number in range(2):
            await once(schedules, text=str(number))
        said, silent = await schedules.at(NOON)
        await schedules.sent(said, Message("assistant", "薬", discord_id=7))
        await schedules.skipped(silent)
        assert await schedules.lost(NOON + DAY) == 0

    async def test_that_failed_pauses_its_schedule_until_that_is_resumed(self, schedules: Clocked) -> None:
        added = await once(schedules, repeat=DAILY)
        [firing] = await schedules.at(NOON)
        await schedules.failed(firing, "dms_closed")
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
        await schedules.failed(firing, "permission_missing")
        schedules.now = NOON + DAY
        assert await schedules.resume(KEY.user_id, added.id)
        assert await schedules.resume(KEY.user_id, added.id) is None
        assert times(await schedules.at(NOON + DAY)) == [NOON + DAY]


class TestMessage:
    async def test_is_its_users_and_in_no_history(self, schedules: Clocked, database: Database) -> None:
        await once(schedules)
        [firing] = await schedules.at(NOON)
        await schedules.sent(firing, Message("assistant", "⏰ 薬", discord_id=7), channel_id=70)
        found = await schedules.said(7)
        assert found
        assert (found[0], found[1].content) == (KEY.user_id, "⏰ 薬")
        last = await schedules.last_said(KEY.user_id, 70)
        assert last == found[1]
        assert await schedules.last_said(OTHER_USER.user_id, 70) is None
        session = await SessionStore(database).open(SessionKey(KEY.user_id, 70))
        assert session.history == ()

    async def test_that_was_answered_is_not_the_last_said_in_a_later_session_either(
        self, schedules: Clocked, database: Database
    ) -> None:
        await once(schedules)
        [firing] = await schedules.at(NOON)
        await schedules.sent(firing, Message("assistant", "⏰ 薬", discord_id=7), channel_id=70)
        now = NOON + 5 * MINUTE
        sessions = SessionStore(database, session_ttl=60 * MINUTE, clock=lambda: now)
        await sessions.open(SessionKey(KEY.user_id, 70))
        now = schedules.now = NOON + 120 * MINUTE
        assert await sessions.expire() == 1
        assert await schedules.last_said(KEY.user_id, 70) is None

    @pytest.mark.parametrize(("place", "visibility"), [("channel", "public"), ("dm", "private")])
    async def test_is_as_private_as_the_place(
        self, schedules: Clocked, place: Place, visibility: Visibility
    ) -> None:
        await schedules.add(KEY, "薬", NOON, place=place)
        [firing] = await schedules.at(NOON)
        await schedules.sent(firing, Message("assistant", "⏰ 薬", discord_id=7))
        found = await schedules.said(7)
        assert found
        assert found[1].visibility == visibility

    async def test_that_the_gateway_told_of_first_is_its_users_all_the_same(
        self, schedules: Clocked, stores: Any
    ) -> None:
        await stores.channels.add(ChannelKey(70), Message("assistant", "⏰ 薬", discord_id=7, author_id=1))
        await once(schedules)
        [firing] = await schedules.at(NOON)
        await schedules.sent(firing, Message("assistant", "⏰ 薬", discord_id=7), channel_id=70)
        assert await schedules.last_said(KEY.user_id, 70)
        page = await stores.blocks.page(ChannelKey(70), first=0, before=99, limit=9)
        assert not page

    async def test_of_others_is_no_reminder(self, schedules: Clocked) -> None:
        assert await schedules.said(8) is None


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


class TestDamagedRow:
    @pytest.mark.parametrize(
        "damage", ["repeat = 'x'", "repeat = '0 9 * *'", "repeat = 'every 0h'", "timezone = 'Nowhere/Land'"]
    )
    async def test_holds_up_nobody(self, schedules: Clocked, database: Database, damage: str) -> None:
        broken = await once(schedules, NOON - MINUTE, repeat=DAILY, text="壊れた")
        await once(schedules)
        sql = f"UPDATE schedules SET {damage} WHERE user_id = $1 AND id = $2"
        await database.transaction([Statement(sql, (KEY.user_id, broken.id))])
        claimed = [firing.schedule.text for firing in await schedules.at(NOON)]
        assert claimed == ["壊れた", "薬"]


class TestTimeZone:
    async def test_of_a_repeat_follows_its_user(self, schedules: Clocked) -> None:
        await once(schedules, repeat=DAILY)
        await once(schedules, NOON + DAY, text="一度だけ")
        await schedules.rezone(KEY.user_id, "Europe/Berlin")
        daily, single = await schedules.list(KEY.user_id)
        assert (daily.due_at, daily.timezone) == (NOON + 8 * HOUR, "Europe/Berlin")
        assert single.due_at == NOON + DAY

    async def test_that_changes_loses_nothing_that_is_due(self, schedules: Clocked) -> None:
        await once(schedules, repeat=DAILY)
        schedules.now = NOON + MINUTE
        await schedules.rezone(KEY.user_id, "Europe/Berlin")
        assert times(await schedules.at(NOON + MINUTE)) == [NOON]
        assert times(await schedules.at(NOON + 8 * HOUR)) == [NOON + 8 * HOUR]


class TestWhatIsOver:
    async def test_is_deleted_after_a_month(self, schedules: Clocked, database: Database) -> None:
        added = await once(schedules)
        kept = await once(schedules, repeat=DAILY)
        for firing in await schedules.at(NOON):
            await schedules.skipped(firing)
        schedules.now = NOON + 29 * DAY
        await schedules.prune()
        assert await schedules.get(KEY.user_id, added.id)
        schedules.now = NOON + 31 * DAY
        await schedules.prune()
        assert await schedules.get(KEY.user_id, added.id) is None
        assert await schedules.get(KEY.user_id, kept.id)
        assert await database.query("SELECT * FROM firings") == []


class TestChange:
    @pytest.mark.parametrize("change", [once, lambda s: s.rezone(KEY.user_id, "Europe/Berlin")])
    async def test_wakes_who_waits_for_it(self, schedules: Clocked, change: Callable[[Clocked], Any]) -> None:
        waiting = schedules.changed
        assert not waiting.is_set()
        await change(schedules)
        assert waiting.is_set()
        assert not schedules.changed.is_set()
