from collections.abc import Awaitable, Callable, Sequence
from datetime import UTC, datetime

import pytest

from cc_bot.chat.stores.opening import Stores
from cc_bot.chat.stores.receipts import ReceiptMessage
from cc_bot.domain.change import Change
from cc_bot.domain.session import SessionKey
from cc_bot.features.reminders.store import ScheduleStore
from tests.stores.backends import got

ME, YOU = 123456789012345678, 876543210987654321
DUE = datetime(2030, 1, 1, tzinfo=UTC)
CAT, DOG = Change("memory", "added", 1, number=1), Change("memory", "deleted", 2, number=2)


def told(message_id: int, *lines: Change, user_id: int = ME) -> ReceiptMessage:
    return ReceiptMessage(user_id, 7, message_id, "public", lines)


async def settle(stores: Stores, user_id: int, message_id: int) -> None:
    """Show a message as it is by now."""
    told = got(await stores.receipts.get(user_id, message_id))
    await stores.receipts.mark_current(told)


@pytest.fixture
async def stores(stores: Stores) -> Stores:
    for user_id in (ME, YOU):
        await stores.memories.add(user_id, "猫の名前はモチ")
        await stores.memories.add(user_id, "犬の名前はマメ")
    return stores


class TestReceipts:
    async def test_are_stale_once_what_they_name_has_changed(self, stores: Stores) -> None:
        both, cat, dog = told(100, CAT, DOG), told(200, CAT), told(300, DOG)
        for each in (both, cat, dog):
            await stores.receipts.put(each)
        assert await stores.receipts.list_newest(ME, limit=2) == [dog, cat]
        assert await stores.receipts.get(ME, 100) == both
        assert await stores.receipts.list_stale(ME) == []
        await stores.memories.update(ME, CAT.id, content="猫の名前はタマ")
        assert await stores.receipts.list_stale(ME) == [cat, both]
        await settle(stores, ME, 200)
        assert await stores.receipts.list_stale(ME) == [both]
        assert await stores.receipts.list_stale_users() == [ME]
        await stores.receipts.put(told(100, DOG))  # a message tells what it told last
        assert await stores.receipts.list_stale(ME) == []
        assert await stores.receipts.get(ME, 100) == told(100, DOG)

    async def test_are_stale_after_each_change_until_they_are_shown_as_it_is(self, stores: Stores) -> None:
        memories, removal = stores.memories, stores.memory_removal
        reminder = await stores[ScheduleStore].add(SessionKey(ME, 7, "default"), "薬", DUE)
        cat, dog, pill = told(100, CAT), told(200, DOG), told(300, Change("schedule", "added", reminder.id))
        for each in (cat, dog, pill):
            await stores.receipts.put(each)

        async def undo_update() -> None:
            updated = got(await memories.update(ME, CAT.id, content="猫の名前はタマ"))
            [_] = await stores.receipts.list_stale(ME)
            await settle(stores, ME, 100)
            assert await memories.undo_update(ME, CAT.id, got(updated.supersedes))

        async def purge() -> None:
            await memories.delete(ME, DOG.id)
            await settle(stores, ME, 200)
            assert await removal.purge(datetime.now(UTC))

        changes: tuple[tuple[Callable[[], Awaitable[object]], Sequence[ReceiptMessage]], ...] = (
            (undo_update, [cat]),
            (lambda: memories.delete(ME, CAT.id), [cat]),
            (lambda: removal.undelete(ME, CAT.id), [cat]),
            (purge, [dog]),
            (lambda: stores[ScheduleStore].cancel(ME, reminder.id), [pill]),
        )
        for change, stale in changes:
            shown = [got(await stores.receipts.get(ME, each.message_id)) for each in stale]
            await change()
            for each in shown:
                await stores.receipts.mark_current(each)  # as it was before that
            assert await stores.receipts.list_stale(ME) == stale
            for each in stale:
                await settle(stores, ME, each.message_id)

    async def test_are_their_owners_alone(self, stores: Stores) -> None:
        await stores.receipts.put(told(100, CAT))
        yours = told(200, Change("memory", "added", 3), user_id=YOU)
        await stores.receipts.put(yours)
        await stores.memories.delete(ME, CAT.id)
        assert await stores.receipts.get(YOU, 100) is None
        assert await stores.receipts.list_stale(YOU) == []
        await stores.receipts.mark_current(told(100, CAT, user_id=YOU))
        assert await stores.receipts.list_stale(ME) == [told(100, CAT)]
        assert await stores.receipts.get_memories(YOU, [1, 2]) == {}
