"""Pinned memories, and the notes that a prompt tells from the start: whose, which, in which order."""

from dataclasses import replace
from datetime import timedelta
from typing import get_args

import pytest

from cc_bot.chat.stores.opening import Stores
from cc_bot.db import Database
from cc_bot.features.memory.errors import TooManyPinned
from cc_bot.features.memory.model import MAX_PINNED, Source, SourceKind
from cc_bot.features.memory.stores.store import MemoryStore
from tests.stores.backends import Recorder, got, stores_over
from tests.stores.memory.notes import ME, NO_IDS, START, YOU, keep


@pytest.fixture
def stores(database: Database) -> Stores:
    return telling(database)


def telling(database: Database, most: int = MAX_PINNED) -> Stores:
    return replace(stores_over(database), memories=MemoryStore(database, max_prompt_memories=most))


async def told(stores: Stores, user_id: int = ME) -> list[str]:
    return [memory.content for memory in await stores.memories.list_for_prompt(user_id)]


async def keep_pinned(stores: Stores, *contents: str, user_id: int = ME) -> list[int]:
    ids = [memory.id for memory in await keep(stores, *contents, user_id=user_id)]
    for memory_id in ids:
        assert await stores.memories.pin(user_id, memory_id)
    return ids


async def pinned(stores: Stores, user_id: int = ME) -> list[str]:
    """As its owner sees them in the list."""
    return [memory.content for memory in await stores.memories.list(user_id) if memory.pinned]


class TestNotes:
    async def test_are_the_pinned_ones_and_then_the_newest(self, stores: Stores, database: Database) -> None:
        first, _, third, last = await keep(stores, "猫の名前はモチ", "犬が苦手", "鳥を飼いたい", "魚は好き")
        for memory in (first, third):
            await stores.memories.pin(ME, memory.id)
        order = ["鳥を飼いたい", "猫の名前はモチ", "魚は好き", "犬が苦手"]
        for most in (1, 3, 10):
            assert await told(telling(database, most)) == order[:most]
        before = await stores.memories.list_for_prompt(ME)
        await stores.memories.find(ME, "猫")
        await keep(stores, "Not mine", user_id=YOU)
        assert await stores.memories.list_for_prompt(ME) == before
        await stores.memories.update(ME, last.id, content="魚は嫌い")
        assert await told(stores) == [*order[:2], "魚は嫌い", "犬が苦手"]
        recorder = Recorder(database)
        assert await told(telling(recorder, 0)) == []
        assert recorder.trips == 0, "where the operator wants none"
        assert await told(telling(recorder, 4)) == [*order[:2], "魚は嫌い", "犬が苦手"]
        assert recorder.trips == 1

    async def test_are_their_users_alone(self, stores: Stores) -> None:
        [mine] = await keep(stores, "私のメモ")
        await keep_pinned(stores, "あなたのメモ", user_id=YOU)
        assert await stores.memories.pin(YOU, mine.id) is None
        assert await stores.memories.unpin(YOU, mine.id) is None
        assert (await told(stores), await told(stores, user_id=YOU)) == (["私のメモ"], ["あなたのメモ"])
        assert await pinned(stores) == []

    async def test_are_in_their_users_own_words_pinned_or_not(self, stores: Stores) -> None:
        for kind in get_args(SourceKind):
            for author in ("", "太郎"):
                memory = await stores.memories.add(ME, "猫は三毛", source=Source(kind, author=author))
                notes = [] if memory.tainted else ["猫は三毛"]
                assert await told(stores) == notes, memory.source
                await stores.memories.pin(ME, memory.id)
                assert await told(stores) == notes, memory.source
                await stores.memory_removal.erase_all(ME)

    async def test_are_private_and_end_as_their_memory(self, stores: Stores, database: Database) -> None:
        secret = await stores.memories.add(ME, "転職を考えている", audience="private")
        passing = await stores.memories.add(ME, "今週は在宅", expires_at=START)
        for pin in (False, True):
            for memory in (secret, passing) if pin else ():
                await stores.memories.pin(ME, memory.id)
            moments = iter([START - timedelta(seconds=1), START, START])
            pins = MemoryStore(database, clock=moments.__next__, max_prompt_memories=5)
            assert [memory.content for memory in await pins.list_for_prompt(ME)] == [passing.content]
            assert await pins.list_for_prompt(ME) == []
            private = await pins.list_for_prompt(ME, audience="private")
            assert [memory.content for memory in private] == [secret.content]

    async def test_tell_nothing_that_is_deleted_or_former(self, stores: Stores) -> None:
        gone, edited = await keep_pinned(stores, "消したメモ", "茶色の犬")
        await stores.memories.delete(ME, gone)
        await stores.memories.update(ME, edited, content="白い犬")
        assert await told(stores) == ["白い犬"]


class TestPins:
    async def test_are_at_most_ten_of_memories_that_are_there(self, stores: Stores) -> None:
        [last] = await keep(stores, "11個目")
        first, *_ = await keep_pinned(stores, *(f"{number}個目" for number in range(MAX_PINNED)))
        with pytest.raises(TooManyPinned) as refused:
            await stores.memories.pin(ME, last.id)
        assert refused.value.params == {"limit": MAX_PINNED}
        again = got(await stores.memories.pin(ME, first))  # it is among them
        assert again.pinned
        assert await keep_pinned(stores, "別の人のメモ", user_id=YOU)
        await stores.memories.unpin(ME, first)
        assert await stores.memories.pin(ME, last.id)
        assert len(await pinned(stores)) == MAX_PINNED
        await stores.memories.delete(ME, last.id)
        for memory_id in (last.id, *NO_IDS):
            assert await stores.memories.pin(ME, memory_id) is None
            assert await stores.memories.unpin(ME, memory_id) is None
