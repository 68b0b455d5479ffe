"""Pinned memories, and the notes that a prompt tells from the start: whose, which, in which order."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import get_args

import pytest

from cc_bot.domain.errors import TooManyPinned
from cc_bot.domain.memory import MAX_PINNED, Source, SourceKind
from cc_bot.domain.memory_transfer import read_memories, to_json
from cc_bot.storage import Database, apply_pending, open_database
from cc_bot.stores import MemoryPinStore, Stores
from cc_bot.stores.memory.pins import LOOKED_AT
from tests.stores.backends import Recorder, stores_over

ME, YOU = 123456789012345678, 876543210987654321
NOW = datetime(2026, 11, 22, 3, 4, 5, tzinfo=UTC)


async def kept(stores: Stores, *contents: str, user_id: int = ME) -> list[int]:
    return [(await stores.memories.add(user_id, content)).id for content in contents]


@pytest.fixture
def stores(database: Database) -> Stores:
    """Of an operator who wants as much told as can be."""
    return telling(database)


def telling(database: Database, most: int = MAX_PINNED) -> Stores:
    return replace(stores_over(database), memory_pins=MemoryPinStore(database, told=most))


async def told(stores: Stores, user_id: int = ME) -> list[str]:
    """What a public answer's prompt tells."""
    return [memory.content for memory in await stores.memory_pins.list_for_prompt(user_id)]


async def pinned(stores: Stores, user_id: int = ME) -> list[str]:
    """As its owner sees them in the list."""
    return [memory.content for memory in await stores.memories.list(user_id) if memory.pinned]


@asynccontextmanager
async def recorded(url: str, most: int) -> AsyncIterator[tuple[Stores, Recorder]]:
    async with open_database(url) as database:
        await apply_pending(database)
        recorder = Recorder(database)
        yield telling(recorder, most), recorder


class TestNotes:
    async def test_are_the_pinned_ones_and_then_the_newest(self, stores: Stores, database: Database) -> None:
        first, *_, third, _ = await kept(stores, "猫の名前はモチ", "犬が苦手", "鳥を飼いたい", "魚は好き")
        await stores.memory_pins.pin(ME, first)
        await stores.memory_pins.pin(ME, third)
        assert await told(stores) == ["鳥を飼いたい", "猫の名前はモチ", "魚は好き", "犬が苦手"]
        assert await told(telling(database, 3)) == ["鳥を飼いたい", "猫の名前はモチ", "魚は好き"]
        assert await told(telling(database, 1)) == ["鳥を飼いたい"]

    async def test_stay_as_they_are_when_other_things_are_done(self, stores: Stores) -> None:
        first, second = await kept(stores, "Lives in Kyoto", "Speaks French")
        await stores.memory_pins.pin(ME, first)
        before = await stores.memory_pins.list_for_prompt(ME)
        await stores.memories.search(ME, "Kyoto")
        await kept(stores, "Not mine", user_id=YOU)
        assert await stores.memory_pins.list_for_prompt(ME) == before
        await stores.memories.update(ME, second, content="Speaks Italian")
        assert await told(stores) == ["Lives in Kyoto", "Speaks Italian"]

    async def test_are_their_users_alone(self, stores: Stores) -> None:
        [mine] = await kept(stores, "私のメモ")
        [yours] = await kept(stores, "あなたのメモ", user_id=YOU)
        assert await stores.memory_pins.pin(YOU, mine) is None
        assert await stores.memory_pins.unpin(YOU, mine) is None
        await stores.memory_pins.pin(YOU, yours)
        assert (await told(stores), await told(stores, user_id=YOU)) == (["私のメモ"], ["あなたのメモ"])
        assert await pinned(stores) == []

    @pytest.mark.parametrize("pin", [True, False])
    async def test_of_a_private_memory_are_for_private_answers(self, stores: Stores, pin: bool) -> None:
        secret = await stores.memories.add(ME, "転職を考えている", audience="private")
        await kept(stores, "京都に住んでいる")
        if pin:
            await stores.memory_pins.pin(ME, secret.id)
        assert await told(stores) == ["京都に住んでいる"]
        private = await stores.memory_pins.list_for_prompt(ME, audience="private")
        assert {memory.content for memory in private} == {"転職を考えている", "京都に住んでいる"}

    @pytest.mark.parametrize("pin", [True, False])
    async def test_end_with_their_memory(self, database: Database, pin: bool) -> None:
        stores = stores_over(database)
        memory = await stores.memories.add(ME, "今週は在宅", expires_at=NOW)
        if pin:
            await stores.memory_pins.pin(ME, memory.id)
        moments = iter([NOW - timedelta(seconds=1), NOW])
        pins = MemoryPinStore(database, clock=lambda: next(moments), told=1)
        assert [[each.content for each in await pins.list_for_prompt(ME)] for _ in range(2)] == [
            ["今週は在宅"],
            [],
        ]

    @pytest.mark.parametrize("author", ["", "太郎"])
    @pytest.mark.parametrize("kind", get_args(SourceKind))
    async def test_are_in_their_users_own_words(self, stores: Stores, kind: SourceKind, author: str) -> None:
        memory = await stores.memories.add(ME, "猫は三毛", source=Source(kind, author=author))
        assert await told(stores) == ([] if memory.tainted else ["猫は三毛"])
        await stores.memory_pins.pin(ME, memory.id)
        assert await told(stores) == ([] if memory.tainted else ["猫は三毛"])

    async def test_tell_nothing_that_is_deleted_superseded_or_former(self, stores: Stores) -> None:
        gone, old, edited = await kept(stores, "消したメモ", "Lives in Osaka", "茶色の犬")
        for memory_id in (gone, old, edited):
            await stores.memory_pins.pin(ME, memory_id)
        await stores.memories.delete(ME, gone)
        await stores.memories.add(ME, "Lives in Nara", supersedes=old)
        await stores.memories.update(ME, edited, content="白い犬")
        assert await told(stores) == ["Lives in Nara", "白い犬"]

    async def test_pass_over_what_was_imported_as_far_as_is_looked_at(self, stores: Stores) -> None:
        await kept(stores, "遠い昔のメモ")
        imported = [f'{{"content": "ファイルの{number}件目"}}' for number in range(LOOKED_AT)]
        await stores.memory_transfer.take(ME, read_memories(f"[{','.join(imported[1:])}]"))
        assert await told(stores) == ["遠い昔のメモ"]
        await stores.memory_transfer.take(ME, read_memories(f"[{imported[0]}]"))
        assert await told(stores) == []

    @pytest.mark.sqlite("its own plans")
    async def test_take_one_query_that_reads_by_indexes(self, url: str) -> None:
        async with recorded(url, 5) as (stores, recorder):
            [first, *_] = await kept(stores, *(f"メモ{number}" for number in range(30)))
            await stores.memory_pins.pin(ME, first)
            recorder.trips, recorder.statements = 0, []
            assert len(await told(stores)) == 5
            [statement] = recorder.statements
            plan = [
                str(row[3])
                for row in await recorder.query(f"EXPLAIN QUERY PLAN {statement.sql}", *statement.params)
            ]
        assert recorder.trips == 2  # with the one that explains
        assert any("memories_pinned" in step for step in plan)
        assert any("memories_by_user" in step for step in plan)
        assert not [step for step in plan if step.startswith("SCAN memories") or "TEMP B-TREE" in step]

    async def test_are_none_and_cost_nothing_unless_the_operator_wants_them(self, url: str) -> None:
        async with recorded(url, 0) as (stores, recorder):
            [memory] = await kept(stores, "猫の名前はモチ")
            await stores.memory_pins.pin(ME, memory)
            recorder.trips = 0
            assert await told(stores) == []
        assert recorder.trips == 0


class TestPins:
    async def test_are_at_most_ten(self, stores: Stores) -> None:
        ids = await kept(stores, *(f"{number}個目" for number in range(MAX_PINNED + 1)))
        for memory_id in ids[1:]:
            await stores.memory_pins.pin(ME, memory_id)
        with pytest.raises(TooManyPinned) as refused:
            await stores.memory_pins.pin(ME, ids[0])
        assert refused.value.params == {"limit": MAX_PINNED}
        again = await stores.memory_pins.pin(ME, ids[1])  # it is among them
        assert again is not None
        assert again.pinned
        [other] = await kept(stores, "別の人のメモ", user_id=YOU)
        assert await stores.memory_pins.pin(YOU, other)
        await stores.memory_pins.unpin(ME, ids[1])
        assert await stores.memory_pins.pin(ME, ids[0])
        assert len(await pinned(stores)) == MAX_PINNED

    async def test_are_of_memories_that_are_there(self, stores: Stores) -> None:
        [gone] = await kept(stores, "消したメモ")
        await stores.memories.delete(ME, gone)
        for memory_id in (gone, 987654321, -1, 2**70):
            assert await stores.memory_pins.pin(ME, memory_id) is None
            assert await stores.memory_pins.unpin(ME, memory_id) is None

    async def test_are_kept_by_an_update_and_its_undo_and_go_back(self, stores: Stores) -> None:
        [memory] = await kept(stores, "東京に住んでいる")
        await stores.memory_pins.pin(ME, memory)
        updated = await stores.memories.update(ME, memory, content="大阪に住んでいる", audience="private")
        assert updated is not None
        assert updated.pinned
        undone = await stores.memory_history.undo_update(ME, memory, updated.supersedes or 0)
        assert undone is not None
        assert undone.pinned
        assert await pinned(stores) == ["東京に住んでいる"]

    @pytest.mark.parametrize("way", ["add", "remember", "supersede"])
    async def test_are_taken_over_by_what_supersedes_and_given_back_by_its_undo(
        self, stores: Stores, way: str
    ) -> None:
        [old] = await kept(stores, "Lives in Tokyo")
        await stores.memory_pins.pin(ME, old)
        if way == "add":
            new = (await stores.memories.add(ME, "Lives in Kyoto", supersedes=old)).id
        elif way == "remember":
            new = (await stores.memories.remember(ME, "Lives in Kyoto", supersedes=old)).memory.id
        else:
            [new] = await kept(stores, "Lives in Kyoto")
            await stores.memories.supersede(ME, new, old)
        assert await pinned(stores) == ["Lives in Kyoto"]
        assert await stores.memory_history.undo_add(ME, new)
        assert await pinned(stores) == ["Lives in Tokyo"]

    async def test_that_were_taken_off_the_newer_one_are_off_the_older_one(self, stores: Stores) -> None:
        [old] = await kept(stores, "Lives in Tokyo")
        await stores.memory_pins.pin(ME, old)
        new = await stores.memories.add(ME, "Lives in Kyoto", supersedes=old)
        await stores.memory_pins.unpin(ME, new.id)
        assert await stores.memory_history.undo_add(ME, new.id)
        assert await pinned(stores) == []

    async def test_come_back_with_a_deleted_memory_while_there_is_room(self, stores: Stores) -> None:
        first, *others = await kept(stores, *(f"{number}個目" for number in range(MAX_PINNED + 1)))
        await stores.memory_pins.pin(ME, first)
        await stores.memories.delete(ME, first)
        back = await stores.memory_removal.undelete(ME, first)
        assert back is not None
        assert back.pinned
        await stores.memories.delete(ME, first)
        for memory_id in others:
            await stores.memory_pins.pin(ME, memory_id)
        back = await stores.memory_removal.undelete(ME, first)
        assert back is not None
        assert not back.pinned

    async def test_go_through_a_file_and_back(self, stores: Stores) -> None:
        first, second = await kept(stores, "猫の名前はモチ", "Speaks French")
        await stores.memory_pins.pin(ME, second)
        written = to_json(await stores.memory_transfer.list_all(ME), NOW)
        assert written.count('"pinned": true') == 1
        await stores.memory_removal.erase_all(ME)
        await stores.memory_transfer.take(ME, read_memories(written))
        assert await pinned(stores) == ["Speaks French"]
        assert await stores.memories.count(ME) == 2
        assert first != second

    async def test_of_a_file_are_kept_as_far_as_there_is_room(self, stores: Stores) -> None:
        ids = await kept(stores, *(f"{number}個目" for number in range(MAX_PINNED - 1)))
        for memory_id in ids:
            await stores.memory_pins.pin(ME, memory_id)
        items = ", ".join(f'{{"content": "ファイルの{number}件目", "pinned": true}}' for number in range(3))
        await stores.memory_transfer.take(ME, read_memories(f"[{items}]"))
        assert len(await pinned(stores)) == MAX_PINNED
        assert await stores.memories.count(ME) == MAX_PINNED + 2

    async def test_are_part_of_what_is_stored_about_a_user_and_go_with_it(self, stores: Stores) -> None:
        [memory] = await kept(stores, "猫の名前はモチ")
        await stores.memory_pins.pin(ME, memory)
        records = [row async for name, row in stores.personal_data.read_records(ME) if name == "memories"]
        assert [row["pinned"] for row in records] == [1]
        await stores.personal_erasure.erase(ME)
        assert await told(stores) == []
