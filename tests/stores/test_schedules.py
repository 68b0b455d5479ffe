from datetime import timedelta

import pytest

from cc_bot.db import Database
from cc_bot.domain.errors import SecretNotStored
from cc_bot.domain.message import Message
from cc_bot.domain.text import Locale
from cc_bot.domain.when.repeats import QuietHours
from cc_bot.features.reminders.errors import EmptyReminder, ReminderTooLong, TooManySchedules
from cc_bot.features.reminders.model import MAX_SCHEDULES, Firing
from tests.stores.backends import KEY, OTHER_USER, got
from tests.stores.clocked import DAILY, DAY, HOUR, MINUTE, NOON, Clocked, once, times

ME, STRANGER = KEY.user_id, OTHER_USER.user_id
BERLIN = "Europe/Berlin"


@pytest.fixture
def schedules(database: Database) -> Clocked:
    return Clocked(database)


class TestNewSchedule:
    async def test_is_as_it_was_asked_for(self, schedules: Clocked) -> None:
        added = await schedules.add(
            KEY, " 薬 ", NOON, guild_id=5, repeat=DAILY, timezone=BERLIN, locale=Locale.EN
        )
        assert added == await schedules.get(ME, added.id)
        assert (added.key, added.text, added.due_at, added.guild_id) == (KEY, "薬", NOON, 5)
        assert (added.repeat, added.timezone, added.locale) == (DAILY, BERLIN, Locale.EN)
        assert (added.target, added.status) == ("channel", "active")
        assert (await once(schedules, visibility="private")).target == "dm"
        assert (await once(schedules, visibility="private", target="terminal")).target == "terminal"

    async def test_has_a_text_without_secrets_and_controls(self, schedules: Clocked) -> None:
        refused = {
            EmptyReminder: ["", "  \n", "\u200b", "\u3164\u2800", "\x00\u202e"],
            ReminderTooLong: ["あ" * 1001],
            SecretNotStored: ["パスワードは hunter2 だよ"],
        }
        for error, texts in refused.items():
            for text in texts:
                with pytest.raises(error):
                    await once(schedules, text=text)
        assert len((await once(schedules, text="あ" * 1000)).text) == 1000
        text = "\x00薬を\u202e2錠\u202c飲む\x1b[31m\r\n\u2066食後\u2069に\tTake \x07it\x9b"
        added = await once(schedules, text=text)
        assert added.text == "薬を2錠飲む[31m\n食後に\tTake it"
        changed = got(await schedules.change(ME, added.id, text="水\u202eも\x00"))
        assert changed.text == "水も"
        assert schedules.check("\u2067薬") == "薬", "as a proposal has it"

    async def test_is_one_of_a_hundred_at_most(self, schedules: Clocked) -> None:
        for _ in range(MAX_SCHEDULES):
            await once(schedules)
        with pytest.raises(TooManySchedules):
            await once(schedules)
        await schedules.add(OTHER_USER, "別の人の", NOON)
        [first, *_] = await schedules.list(ME)
        await schedules.cancel(ME, first.id)
        await once(schedules)

    async def test_takes_the_location_of_a_former_heartbeat(self, schedules: Clocked) -> None:
        quiet = QuietHours(1320, 420)
        await schedules.add(KEY, "", NOON, kind="heartbeat", repeat="every 6h", quiet=quiet)
        beat = await schedules.add(
            KEY, "", NOON, kind="heartbeat", repeat="every 8h", quiet=quiet, target="dm"
        )
        assert await schedules.list(ME, kind="heartbeat") == [beat]
        assert beat.quiet == quiet
        assert await schedules.list(ME) == []


class TestOwner:
    async def test_alone_sees_and_changes_a_schedule(self, schedules: Clocked) -> None:
        mine = await once(schedules)
        assert await schedules.list(STRANGER) == []
        assert await schedules.get(STRANGER, mine.id) is None
        assert await schedules.cancel(STRANGER, mine.id) is None
        assert await schedules.change(STRANGER, mine.id, text="毒") is None
        await schedules.rezone(STRANGER, BERLIN)
        assert await schedules.list(ME) == [mine]
        await schedules.mark_failed(Firing(mine, mine.due_at), "dms_closed")
        assert await schedules.resume(STRANGER, mine.id) is None
        [kept] = await schedules.list(ME)
        assert kept.status == "paused"

    async def test_alone_has_their_own_claimed_and_settled(self, schedules: Clocked) -> None:
        await once(schedules)
        assert not await schedules.at(NOON, user_id=STRANGER)
        [firing] = await schedules.at(NOON, user_id=ME)
        theirs = await schedules.add(OTHER_USER, "別", NOON + DAY)
        never_claimed = Firing(theirs, firing.due_at)
        await schedules.mark_sent(never_claimed, Message("assistant", "別", discord_id=1))
        await schedules.mark_uncertain(NOON + HOUR)
        assert await schedules.told() == [("uncertain", "薬")]


class TestDueTime:
    async def test_is_claimed_once_and_not_early_or_elsewhere(self, schedules: Clocked) -> None:
        await once(schedules)
        await once(schedules, text="端末で", target="terminal")
        cancelled, paused = await once(schedules, text="中止"), await once(schedules, text="休止")
        assert await schedules.cancel(ME, cancelled.id)
        await schedules.mark_failed(Firing(paused, NOON), "dms_closed")
        assert await schedules.at(NOON - timedelta(milliseconds=1)) == []
        [firing] = await schedules.at(NOON)
        assert (firing.schedule.text, firing.due_at) == ("薬", NOON)
        [elsewhere] = await schedules.claim_due(NOON, ["terminal"])
        assert elsewhere.schedule.text == "端末で"
        for moment in (NOON, NOON + DAY):
            assert await schedules.at(moment) == []
        assert [each.id for each in await schedules.list(ME)] == [paused.id]
        assert await schedules.told() == []

    async def test_of_a_repeat_is_followed_by_the_next_one(self, schedules: Clocked) -> None:
        added = await once(schedules, repeat=DAILY)
        for day in range(3):
            assert times(await schedules.at(NOON + day * DAY)) == [NOON + day * DAY]
            assert await schedules.at(NOON + day * DAY + MINUTE) == []
        next_one = got(await schedules.get(ME, added.id))
        assert (next_one.due_at, next_one.status) == (NOON + 3 * DAY, "active")


class TestTimeZone:
    async def test_of_a_repeat_follows_but_no_beginning_and_no_hours(self, schedules: Clocked) -> None:
        begin = NOON + 30 * DAY
        await once(schedules, repeat=DAILY, text="毎日")
        await once(schedules, NOON + DAY, text="一度だけ")
        await once(schedules, begin, repeat=DAILY, text="来月から")
        await once(schedules, begin, repeat=f"{DAILY} every 3 days from {begin:%Y-%m-%d}", text="3日ごと")
        await once(schedules, NOON + 5 * HOUR, repeat="every 5h", text="5時間ごと")
        await once(schedules, NOON - HOUR, repeat="0 20 * * *", text="もう来た")
        await once(schedules, NOON - HOUR, repeat="0 * * * *", text="毎時")
        await schedules.at(NOON - HOUR)
        await once(schedules, NOON + 22 * HOUR, repeat="0 19 * * *", text="まだ来ない")
        await schedules.rezone(ME, BERLIN)
        kept = {each.text: each for each in await schedules.list(ME)}
        assert kept["毎日"].timezone == BERLIN
        assert {text: each.due_at for text, each in kept.items()} == {
            "毎日": NOON + 8 * HOUR,
            "一度だけ": NOON + DAY,
            "来月から": begin + 8 * HOUR,
            "3日ごと": begin + 8 * HOUR,
            "5時間ごと": NOON + 5 * HOUR,
            "もう来た": NOON + 7 * HOUR + DAY,
            "毎時": NOON,
            "まだ来ない": NOON + 6 * HOUR,
        }

    async def test_that_changes_loses_nothing_that_is_due(self, schedules: Clocked) -> None:
        await once(schedules, repeat=DAILY)
        schedules.now = NOON + MINUTE
        await schedules.rezone(ME, BERLIN)
        assert times(await schedules.at(NOON + MINUTE)) == [NOON]
        assert times(await schedules.at(NOON + 8 * HOUR)) == [NOON + 8 * HOUR]


class TestRewording:
    async def test_changes_the_text_alone_and_with_a_time_resumes(self, schedules: Clocked) -> None:
        added = await once(schedules, text="薬", tainted=True)
        await schedules.mark_failed(Firing(added, NOON), "dms_closed")
        with pytest.raises(EmptyReminder):
            await schedules.change(ME, added.id, text=" ")
        changed = got(await schedules.change(ME, added.id, text=" 薬を飲む "))
        assert (changed.text, changed.due_at, changed.tainted) == ("薬を飲む", added.due_at, False)
        assert changed.status == "paused"
        assert changed == await schedules.get(ME, added.id)
        planned = (NOON + DAY, DAILY)
        changed = got(await schedules.change(ME, added.id, text="薬", planned=planned, timezone=BERLIN))
        assert (changed.due_at, changed.repeat, changed.timezone) == (*planned, BERLIN)
        assert changed.status == "active"
