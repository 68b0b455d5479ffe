"""Schedules: said once at most, never lost without a word, and nobody's but their user's."""

import asyncio
from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest

from cc_bot.domain import Locale, Message
from cc_bot.domain.errors import (
    EmptyReminder,
    ReminderTooLong,
    SecretNotStored,
    TooManySchedules,
)
from cc_bot.domain.schedule import MAX_SCHEDULES, Firing, Quiet
from cc_bot.storage import Database, Statement
from tests.stores.backends import KEY, OTHER_USER
from tests.stores.clocked import DAILY, DAY, HOUR, MINUTE, NOON, PLACES, Clocked, once, times


@pytest.fixture
def schedules(database: Database) -> Clocked:
    return Clocked(database)


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

    @pytest.mark.parametrize("text", ["", "  \n", "\u200b", "\u3164\u2800", "\x00\u202e"])
    async def test_needs_a_text(self, schedules: Clocked, text: str) -> None:
        with pytest.raises(EmptyReminder):
            await once(schedules, text=text)

    async def test_has_nothing_in_its_text_that_a_screen_would_not_show_or_would_turn_around(
        self, schedules: Clocked
    ) -> None:
        text = "\x00薬を\u202e2錠\u202c飲む\x1b[31m\r\n\u2066食後\u2069に\tTake \x07it\x9b"
        added = await once(schedules, text=text)
        assert added.text == "薬を2錠飲む[31m\n食後に\tTake it"
        changed = await schedules.change(KEY.user_id, added.id, text="水\u202eも\x00")
        assert changed is not None
        assert changed.text == "水も"
        assert schedules.check("\u2067薬") == "薬", "as a proposal has it"

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
        await schedules.mark_sent(theirs, Message("assistant", "別", discord_id=1))
        await schedules.mark_lost(NOON + HOUR)
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
            *(store.claim_due(NOON, PLACES) for _ in range(20) for store in (schedules, stores.schedules))
        )
        claimed = [firing.schedule.text for claim in claims for firing in claim]
        assert sorted(claimed, key=int) == [str(number) for number in range(20)]

    async def test_elsewhere_is_left_alone(self, schedules: Clocked) -> None:
        await once(schedules, place="terminal")
        assert await schedules.at(NOON) == []
        assert await schedules.claim_due(NOON, ["terminal"])

    async def test_of_what_was_cancelled_or_paused_does_not_come(self, schedules: Clocked) -> None:
        cancelled, paused = await once(schedules), await once(schedules)
        assert await schedules.cancel(KEY.user_id, cancelled.id)
        assert await schedules.pause(KEY.user_id, paused.id)
        assert await schedules.at(NOON) == []

    async def test_comes_one_after_the_other(self, schedules: Clocked) -> None:
        for minutes in (3, 1, 2):
            await once(schedules, NOON - minutes * MINUTE, text=str(minutes))
        found = [(await schedules.claim_due(NOON, PLACES))[0].schedule.text for _ in range(3)]
        assert found == ["3", "2", "1"]

    async def test_of_a_repeat_is_followed_by_the_next_day(self, schedules: Clocked) -> None:
        added = await once(schedules, repeat=DAILY)
        for day in range(3):
            assert times(await schedules.at(NOON + day * DAY)) == [NOON + day * DAY]
            assert await schedules.at(NOON + day * DAY + MINUTE) == []
        next_one = await schedules.get(KEY.user_id, added.id)
        assert next_one
        assert (next_one.due_at, next_one.status) == (NOON + 3 * DAY, "active")


class TestDamagedRow:
    @pytest.mark.parametrize(
        "damage", ["repeat = 'x'", "repeat = '0 9 * *'", "repeat = 'every 0h'", "timezone = 'Nowhere/Land'"]
    )
    async def test_holds_up_nobody(self, schedules: Clocked, database: Database, damage: str) -> None:
        broken = await once(schedules, NOON - MINUTE, repeat=DAILY, text="壊れた")
        await once(schedules)
        sql = f"UPDATE schedules SET {damage} WHERE user_id = $1 AND id = $2"
        await database.transaction([Statement(sql, (KEY.user_id, broken.id))], ())
        claimed = [firing.schedule.text for firing in await schedules.at(NOON)]
        assert claimed == ["壊れた", "薬"]


class TestInterval:
    async def test_moves_on_by_its_weeks_also_over_times_that_were_missed(self, schedules: Clocked) -> None:
        await once(schedules, repeat="0 21 * * 0 every 2 weeks from 2026-11-22")
        assert times(await schedules.at(NOON)) == [NOON]
        [kept] = await schedules.list(KEY.user_id)
        assert kept.due_at == NOON + 14 * DAY
        assert times(await schedules.at(NOON + 15 * DAY)) == []  # too late for the one of the day before
        [kept] = await schedules.list(KEY.user_id)
        assert kept.due_at == NOON + 28 * DAY


class TestTimeZone:
    async def test_of_a_repeat_follows_its_user(self, schedules: Clocked) -> None:
        await once(schedules, repeat=DAILY)
        await once(schedules, NOON + DAY, text="一度だけ")
        await schedules.rezone(KEY.user_id, "Europe/Berlin")
        daily, single = await schedules.list(KEY.user_id)
        assert (daily.due_at, daily.timezone) == (NOON + 8 * HOUR, "Europe/Berlin")
        assert single.due_at == NOON + DAY

    async def test_moves_neither_a_beginning_nor_what_is_counted_in_hours(self, schedules: Clocked) -> None:
        begin = NOON + 30 * DAY
        await once(schedules, begin, repeat=DAILY, text="来月から")
        await once(schedules, begin, repeat=f"{DAILY} every 3 days from {begin:%Y-%m-%d}", text="3日ごと")
        await once(schedules, NOON + 5 * HOUR, repeat="every 5h", text="5時間ごと")
        await schedules.rezone(KEY.user_id, "Europe/Berlin")
        kept = {each.text: each.due_at for each in await schedules.list(KEY.user_id)}
        assert kept["5時間ごと"] == NOON + 5 * HOUR
        assert kept["来月から"] == begin + 8 * HOUR
        assert kept["3日ごと"] == begin + 8 * HOUR

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
            await schedules.mark_skipped(firing)
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


class TestRewording:
    async def test_changes_the_text_alone(self, schedules: Clocked) -> None:
        added = await once(schedules, text="薬", tainted=True)
        changed = await schedules.change(KEY.user_id, added.id, text=" 薬を飲む ")
        assert changed is not None
        assert (changed.text, changed.due_at, changed.tainted) == ("薬を飲む", added.due_at, False)
        assert changed == await schedules.get(KEY.user_id, added.id)

    async def test_with_a_time_lets_a_paused_one_go_on(self, schedules: Clocked) -> None:
        added = await once(schedules)
        await schedules.pause(KEY.user_id, added.id)
        kept = await schedules.change(KEY.user_id, added.id, text="薬")
        assert kept is not None
        assert kept.status == "paused"
        later = NOON + DAY
        changed = await schedules.change(
            KEY.user_id, added.id, text="薬", time=(later, DAILY), timezone="Europe/Berlin"
        )
        assert changed is not None
        assert (changed.due_at, changed.repeat, changed.timezone) == (later, DAILY, "Europe/Berlin")
        assert changed.status == "active"

    async def test_is_checked_as_a_new_one_is(self, schedules: Clocked) -> None:
        added = await once(schedules, text="薬")
        with pytest.raises(EmptyReminder):
            await schedules.change(KEY.user_id, added.id, text=" ")
        assert await schedules.get(KEY.user_id, added.id) == added

    async def test_is_for_its_owner_alone(self, schedules: Clocked) -> None:
        added = await once(schedules, text="薬")
        assert await schedules.change(OTHER_USER.user_id, added.id, text="毒") is None
        assert await schedules.get(KEY.user_id, added.id) == added
