import asyncio
from collections.abc import AsyncIterator
from dataclasses import dataclass, field
from datetime import datetime, timedelta

import pytest

from cc_bot.chat.stores.opening import Stores, open_stores
from cc_bot.domain.usage import DEFAULT_RULES, LimitKey, LimitName, LimitRules, LimitScope
from cc_bot.features.memory.errors import MemoryFull, TooManyImports, TooManyMemories
from cc_bot.features.memory.files import PortableMemory
from tests.stores.memory.notes import ME, START, YOU, keep, listed, rewrite

pytestmark = pytest.mark.sqlite("the same statements, but for how bytes are counted")


@dataclass
class File:
    rules: dict[LimitKey, int | None] = field(default_factory=lambda: dict(DEFAULT_RULES))
    now: datetime = START

    def limit(self, name: LimitName, value: int | None, scope: LimitScope = "everyone", id_: int = 0) -> None:
        self.rules[LimitKey(scope, id_, name)] = value

    async def read(self) -> LimitRules:
        return self.rules

    def clock(self) -> datetime:
        return self.now


@pytest.fixture
def file() -> File:
    return File()


@pytest.fixture
async def stores(url: str, file: File) -> AsyncIterator[Stores]:
    async with open_stores(url, embedder=None, limits=file.read, clock=file.clock) as stores:
        yield stores


class TestMemories:
    async def test_beyond_the_number_are_refused_however_they_come(self, stores: Stores, file: File) -> None:
        file.limit("memories", 2)
        await keep(stores, "猫", "犬")
        await keep(stores, "他人の猫", user_id=YOU)
        with pytest.raises(TooManyMemories) as refused:
            await stores.memories.add(ME, "鳥")
        assert refused.value.params == {"limit": 2}
        with pytest.raises(TooManyMemories):
            await stores.memories.remember(ME, "鳥")
        with pytest.raises(TooManyMemories):
            await stores.memories.import_all(ME, [PortableMemory("鳥")])
        with pytest.raises(TooManyMemories):
            await stores.memories.plan_import(ME, [PortableMemory("鳥")])
        assert await listed(stores) == ["犬", "猫"]

    async def test_that_take_the_location_of_another_find_room(self, stores: Stores, file: File) -> None:
        file.limit("memories", 1)
        [former] = await keep(stores, "猫はタマ")
        assert (await stores.memories.remember(ME, "猫は、タマ")).kind == "updated"
        await stores.memories.update(ME, former.id, content="猫はミケ")
        await stores.memories.delete(ME, former.id)
        await keep(stores, "犬")
        assert await listed(stores) == ["犬"]

    async def test_added_at_once_do_not_all_find_room(self, url: str, stores: Stores, file: File) -> None:
        file.limit("memories", 3)
        async with open_stores(url, embedder=None, limits=file.read) as others:
            both = (stores, others)
            adds = [store.memories.add(ME, f"メモ{n}") for n in range(10) for store in both]
            added = await asyncio.gather(*adds, return_exceptions=True)
            read = [PortableMemory(f"メモ{n}") for n in range(10)]
            takes = [both[n % 2].memories.import_all(YOU, [each]) for n, each in enumerate(read)]
            taken = await asyncio.gather(*takes, return_exceptions=True)
        assert [sum(isinstance(each, TooManyMemories) for each in done) for done in (added, taken)] == [17, 7]
        assert len(await listed(stores)) == len(await listed(stores, YOU)) == 3

    async def test_beyond_the_bytes_are_refused(self, stores: Stores, file: File) -> None:
        file.limit("memory_bytes", 3000)
        [memory] = await keep(stores, "あ" * 600)
        with pytest.raises(MemoryFull):
            await stores.memories.add(ME, "い" * 600)
        with pytest.raises(MemoryFull):
            await stores.memories.update(ME, memory.id, content="う" * 600)  # its history has the former text
        with pytest.raises(MemoryFull):
            await stores.memories.import_all(ME, [PortableMemory("え" * 300), PortableMemory("お" * 300)])
        assert await listed(stores) == ["あ" * 600]

    async def test_are_bounded_by_a_history_without_end_too(self, stores: Stores, file: File) -> None:
        file.limit("memory_bytes", 20_000)
        with pytest.raises(MemoryFull):
            await rewrite(stores, *(f"{number} " + "長" * 100 for number in range(1000)))


class TestRules:
    async def test_of_a_user_go_before_owners_before_the_file(self, stores: Stores, file: File) -> None:
        await stores.memories.import_all(YOU, [PortableMemory(f"メモ{n}") for n in range(300)])
        assert await stores.memories.count(YOU) == 300, "which the default leaves alone"
        await stores.limits.set(LimitKey("everyone", 0, "memories"), 1, set_by=1)
        await keep(stores, "猫")
        with pytest.raises(TooManyMemories):
            await keep(stores, "犬")
        await stores.limits.set(LimitKey("role", 5, "memories"), 2, set_by=1)  # which may be theirs
        await keep(stores, "犬")
        file.limit("memories", None, "user", ME)
        await keep(stores, "鳥", "魚")


class TestImports:
    async def test_of_an_hour_are_counted_over_a_restart(self, url: str, stores: Stores, file: File) -> None:
        file.limit("imports_per_hour", 2)
        await stores.memories.admit_import(ME)
        file.now += timedelta(minutes=10)
        await stores.memories.admit_import(ME)
        async with open_stores(url, embedder=None, limits=file.read, clock=file.clock) as again:
            with pytest.raises(TooManyImports) as refused:
                await again.memories.admit_import(ME)
            assert refused.value.params == {"resets": START + timedelta(hours=1)}
            await again.memories.admit_import(YOU)
            file.now = START + timedelta(hours=1)
            await again.memories.admit_import(ME)
