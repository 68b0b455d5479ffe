"""Where it is told what was done: found by what it names, its owner's alone, and gone with its user."""

import pytest

from cc_bot.domain import SessionKey
from cc_bot.domain.clock import utc_now
from cc_bot.domain.receipt import MemoryState, Named, ToldIn, ToldLine
from cc_bot.stores import Stores

ME, YOU = 123456789012345678, 876543210987654321
CAT, DOG = Named("memory", 1), Named("memory", 2)


def told(message_id: int, *named: Named, user_id: int = ME) -> ToldIn:
    lines = (ToldLine(at, each, f"undo:{each.id}") for at, each in enumerate(named))
    return ToldIn(user_id, 7, message_id, "public", tuple(lines))


@pytest.fixture
async def stores(stores: Stores) -> Stores:
    """Of two people with two memories each."""
    for user_id in (ME, ME, YOU, YOU):
        await stores.memories.add(user_id, "猫の名前はモチ")
    return stores


class TestReceipts:
    async def test_are_found_by_what_they_name_the_newest_first(self, stores: Stores) -> None:
        both, cat = told(100, CAT, DOG), told(200, CAT)
        await stores.receipts.note(both)
        await stores.receipts.note(cat)
        assert await stores.receipts.naming(ME, [CAT], most=9) == [cat, both]
        assert await stores.receipts.naming(ME, [CAT], most=1) == [cat]
        assert await stores.receipts.naming(ME, [DOG], most=9) == [both]
        assert await stores.receipts.naming(ME, [Named("schedule", CAT.id)], most=9) == []
        assert await stores.receipts.newest(ME, most=9) == [cat, both]
        assert await stores.receipts.of_message(ME, 100) == both

    async def test_are_their_owners_alone(self, stores: Stores) -> None:
        await stores.receipts.note(told(100, CAT))
        yours = told(200, Named("memory", 3), user_id=YOU)
        await stores.receipts.note(yours)
        assert await stores.receipts.of_message(YOU, 100) is None
        assert await stores.receipts.naming(YOU, [CAT, Named("memory", 3)], most=9) == [yours]
        assert await stores.receipts.states(YOU, [1, 2]) == {}

    async def test_of_a_message_are_what_it_tells_now(self, stores: Stores) -> None:
        await stores.receipts.note(told(100, CAT, DOG))
        await stores.receipts.note(told(100, DOG))
        assert await stores.receipts.of_message(ME, 100) == told(100, DOG)

    async def test_of_what_is_gone_for_good_go_with_the_next_one(self, stores: Stores) -> None:
        await stores.receipts.note(told(100, CAT, DOG))
        await stores.memories.delete(ME, CAT.id)
        await stores.receipts.note(told(200, DOG))
        assert len(await stores.receipts.naming(ME, [CAT], most=9)) == 1  # it may be had back
        await stores.memory_removal.erase(ME, CAT.id)
        await stores.receipts.note(told(200, DOG))
        assert await stores.receipts.naming(ME, [CAT], most=9) == []

    async def test_of_reminders_go_once_they_say_that_it_was_cancelled(self, stores: Stores) -> None:
        reminder = await stores.schedules.add(SessionKey(ME, 7), "薬", utc_now())
        named = Named("schedule", reminder.id)
        await stores.receipts.note(told(100, CAT, named))
        await stores.receipts.settle(ME, 100)
        assert await stores.receipts.of_message(ME, 100) == told(100, CAT, named)
        await stores.schedules.cancel(ME, reminder.id)
        assert len(await stores.receipts.naming(ME, [named], most=9)) == 1
        await stores.receipts.settle(ME, 100)
        assert await stores.receipts.of_message(ME, 100) == told(100, CAT)

    async def test_tell_what_has_become_of_memories(self, stores: Stores) -> None:
        newer = await stores.memories.add(ME, "猫の名前はタマ", supersedes=CAT.id)
        await stores.memories.delete(ME, DOG.id)
        assert await stores.receipts.states(ME, [CAT.id, DOG.id, newer.id, 99]) == {
            CAT.id: MemoryState("superseded", 0),
            DOG.id: MemoryState("deleted", 0),
            newer.id: MemoryState("active", CAT.id),
        }

    async def test_go_with_their_user(self, stores: Stores) -> None:
        await stores.receipts.note(told(100, CAT))
        await stores.personal_erasure.erase(ME)
        assert await stores.receipts.newest(ME, most=9) == []
