"""What heartbeats know: what they have looked at, and what was missed."""

from contextlib import AbstractContextManager
from datetime import UTC, datetime, timedelta

from freezegun import freeze_time

from cc_bot.domain import SessionKey
from cc_bot.domain.schedule import Mark
from cc_bot.stores import Stores
from tests.stores.backends import OpenStores

ME, YOU = 123456789012345678, 876543210987654321
NOW = datetime(2026, 11, 22, tzinfo=UTC)
LATER = NOW + timedelta(days=2)


def frozen(moment: datetime) -> AbstractContextManager[object]:
    return freeze_time(moment, real_asyncio=True)


class TestMarks:
    async def test_are_ones_own_and_kept_as_long_as_the_newest_look_needs_them(
        self, open_again: OpenStores
    ) -> None:
        hour = timedelta(hours=1)
        with frozen(NOW):
            async with open_again() as stores:
                await stores.heartbeats.set_marks(ME, [Mark("named 1 20261125", NOW + hour)])
                await stores.heartbeats.set_marks(
                    ME, [Mark("named 1 20261125", LATER), Mark("ends 2", LATER)]
                )
        with frozen(NOW + 2 * hour):
            async with open_again() as stores:
                await stores.heartbeats.set_marks(ME, [])
                await stores.heartbeats.forget(YOU)
                assert await stores.heartbeats.get_marks(ME) == {"named 1 20261125", "ends 2"}
                assert await stores.heartbeats.get_marks(YOU) == frozenset()
        with frozen(LATER + hour):
            async with open_again() as stores:
                await stores.heartbeats.set_marks(ME, [Mark("ends 3", LATER + timedelta(days=1))])
                assert await stores.heartbeats.get_marks(ME) == {"ends 3"}
                await stores.heartbeats.forget(ME)
                assert await stores.heartbeats.get_marks(ME) == frozenset()


class TestMissed:
    async def test_are_reminders_that_came_too_late_or_perhaps_not(self, stores: Stores) -> None:
        hour = timedelta(hours=1)
        with frozen(NOW):
            late = await stores.schedules.add(SessionKey(ME, 1), "薬", NOW + hour)
            lost = await stores.schedules.add(SessionKey(ME, 1), "会議", NOW + 3 * hour)
            await stores.schedules.add(SessionKey(ME, 1), "", NOW + hour, kind="heartbeat", repeat="every 6h")
            await stores.schedules.add(SessionKey(YOU, 1), "散歩", NOW + hour)
            await stores.schedules.add(SessionKey(ME, 1), "夕食", NOW + 9 * hour)
        now = NOW + 3.5 * hour
        claimed = await stores.schedules.claim_due(now, ["channel"])
        assert [each.schedule.text for each in claimed] == ["会議"]
        await stores.schedules.mark_lost(datetime.now(UTC) + timedelta(minutes=1))
        missed = await stores.heartbeats.list_missed(ME, NOW)
        assert [(each.schedule.id, each.due_at) for each in missed] == [
            (late.id, NOW + hour),
            (lost.id, NOW + 3 * hour),
        ]
        assert await stores.heartbeats.list_missed(ME, NOW + 4 * hour) == []
