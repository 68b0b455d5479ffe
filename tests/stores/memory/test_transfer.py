"""Memories on their way into a file and from one."""

from datetime import UTC, datetime

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from cc_bot.domain.memory import Source
from cc_bot.domain.memory_transfer import PortableMemory, portable, read_memories, to_json
from cc_bot.stores import Stores

ME, YOU = 123456789012345678, 876543210987654321
NOW = datetime(2026, 11, 22, tzinfo=UTC)


class TestEverything:
    async def test_is_what_is_kept_oldest_first_and_ones_own(self, stores: Stores) -> None:
        await stores.memories.add(YOU, "あなたのもの")
        kept = [await stores.memories.add(ME, f"メモ{number}") for number in range(3)]
        await stores.memories.delete(ME, kept[1].id)
        await stores.memories.update(ME, kept[2].id, content="書き直したメモ")
        found = await stores.memory_transfer.list_all(ME)
        assert [memory.content for memory in found] == ["メモ0", "書き直したメモ"]

    async def test_goes_on_beyond_a_page(self, stores: Stores) -> None:
        for number in range(1001):
            await stores.memories.add(ME, f"メモ{number}")
        found = await stores.memory_transfer.list_all(ME)
        assert [memory.content for memory in found] == [f"メモ{number}" for number in range(1001)]


class TestPlan:
    async def test_sorts_out_what_is_new_known_and_refused(self, stores: Stores) -> None:
        await stores.memories.add(ME, "猫の名前はタマ")
        await stores.memories.add(YOU, "お茶が好き")
        read = [
            "猫の名前は、タマ！",
            "お茶が好き",
            "お茶が好き。",
            "",
            " ",
            "あ" * 4001,
            "パスワードは Tr0ub4dor&3",
        ]
        plan = await stores.memory_transfer.plan(ME, map(PortableMemory, read))
        assert [memory.content for memory in plan.new] == ["お茶が好き"]
        assert (plan.known, plan.empty, plan.too_long, plan.secret) == (2, 2, 1, 1)
        assert plan.refused == 4

    async def test_measures_memories_before_it_looks_through_them(self, stores: Stores) -> None:
        secret = "パスワードは Tr0ub4dor&3"
        read = [
            PortableMemory("猫", tags=(secret,) * 300),
            PortableMemory("犬", category=secret * 300),
            PortableMemory("鳥", metadata={"x": secret * 300}),
            PortableMemory(secret * 1000),
        ]
        plan = await stores.memory_transfer.plan(ME, read)
        assert (plan.new, plan.too_long, plan.secret) == ((), 4, 0)

    async def test_changes_nothing(self, stores: Stores) -> None:
        await stores.memory_transfer.plan(ME, [PortableMemory("お茶が好き")])
        assert await stores.memories.count(ME) == 0

    async def test_takes_the_audience_of_the_file_before_the_usual_one(self, stores: Stores) -> None:
        read = [PortableMemory("一", audience="anywhere"), PortableMemory("二")]
        plan = await stores.memory_transfer.plan(ME, read, audience="private")
        assert [memory.audience for memory in plan.new] == ["anywhere", "private"]

    async def test_counts_what_was_deleted_as_new(self, stores: Stores) -> None:
        memory = await stores.memories.add(ME, "お茶が好き")
        await stores.memories.delete(ME, memory.id)
        assert (await stores.memory_transfer.plan(ME, [PortableMemory("お茶が好き")])).known == 0


class TestTake:
    async def test_keeps_everything_but_the_kind_of_source(self, stores: Stores) -> None:
        source = Source("message", link="https://discord.com/channels/1/2/3", author="Ben")
        read = PortableMemory(
            "合宿は8月",
            "部活",
            ("夏",),
            "private",
            created_at=NOW,
            updated_at=NOW,
            expires_at=datetime(2030, 1, 1, tzinfo=UTC),
            source=source,
            metadata={"a": "b"},
        )
        assert await stores.memory_transfer.take(ME, [read]) == 1
        [kept] = await stores.memories.list(ME)
        assert kept.source == Source("import", source.link, author="Ben")
        assert (kept.created_at, kept.expires_at, kept.audience) == (NOW, read.expires_at, "private")
        assert (kept.content, kept.category, kept.tags, kept.metadata) == (
            "合宿は8月",
            "部活",
            ("夏",),
            {"a": "b"},
        )

    async def test_twice_brings_nothing_twice(self, stores: Stores) -> None:
        read = [PortableMemory("一"), PortableMemory("二")]
        assert await stores.memory_transfer.take(ME, read) == 2
        assert await stores.memory_transfer.take(ME, read) == 0

    async def test_makes_memories_that_are_found(self, stores: Stores) -> None:
        await stores.memory_transfer.take(ME, [PortableMemory("猫の名前はタマ", audience="anywhere")])
        assert [memory.content for memory in await stores.memories.search(ME, "猫")] == ["猫の名前はタマ"]

    @pytest.mark.slow
    @settings(max_examples=20, suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
    @given(
        contents=st.lists(st.text(st.characters(categories=["L", "N"]), min_size=1, max_size=30), max_size=5)
    )
    async def test_of_an_export_gives_everything_back(self, stores: Stores, contents: list[str]) -> None:
        await stores.memory_removal.erase_all(ME)
        for content in contents:
            await stores.memories.remember(ME, content, category="部活", tags=["夏"])
        before = await stores.memories.list(ME, order="oldest")
        file = to_json(await stores.memory_transfer.list_all(ME), NOW)
        await stores.memory_removal.erase_all(ME)
        if before:
            await stores.memory_transfer.take(ME, read_memories(file))
        after = await stores.memories.list(ME, order="oldest")
        assert [_text(portable(memory)) for memory in after] == [_text(portable(memory)) for memory in before]


def _text(memory: PortableMemory) -> tuple[object, ...]:
    """All but how it came about, and when it was last changed."""
    return memory.content, memory.category, memory.tags, memory.audience, memory.created_at, memory.expires_at
