"""Every memory gets a vector in the background, and search never waits long for one."""

import asyncio
from collections.abc import AsyncIterator
from datetime import UTC, datetime

import pytest
from structlog.testing import capture_logs

from cc_bot.domain.errors import ContextTooLong, ModelRefusedRequest, ModelUnavailable
from cc_bot.storage import Database
from cc_bot.stores import MemoryStore, open_stores
from cc_bot.stores.memory.meaning import Embedding, Meaning
from tests.stores.encoders import TopicEncoder
from tests.stores.memory.notes import ME, YOU


@pytest.fixture
def encoder() -> TopicEncoder:
    return TopicEncoder()


@pytest.fixture
def embedding(database: Database, encoder: TopicEncoder) -> Embedding:
    return Embedding(database, encoder, settle_s=0.01, pause_s=0.01)


@pytest.fixture
def memories(database: Database, embedding: Embedding) -> MemoryStore:
    return MemoryStore(database, embedding=embedding)


@pytest.fixture
async def meaning(database: Database, encoder: TopicEncoder) -> AsyncIterator[Meaning]:
    made = Meaning(database, encoder, patience_s=0.05)
    yield made
    await made.close()


async def add(memories: MemoryStore, *contents: str, user_id: int = ME) -> list[int]:
    return [(await memories.add(user_id, content)).id for content in contents]


async def vectors(database: Database) -> list[tuple[int, int, str, int]]:
    rows = await database.query(
        "SELECT user_id, memory_id, model, length(vector) FROM memory_vectors ORDER BY memory_id"
    )
    return [(user, memory, model, length) for user, memory, model, length in rows]


async def until(database: Database, count: int) -> None:
    async with asyncio.timeout(60):
        while len(await vectors(database)) < count:  # noqa: ASYNC110 - another task's commit sets no event
            await asyncio.sleep(0.005)


class TestVectors:
    async def test_are_made_once_for_each_encoder(
        self, memories: MemoryStore, database: Database, encoder: TopicEncoder
    ) -> None:
        [one], [two] = await add(memories, "猫が好き"), await add(memories, "奥さんの名前は花", user_id=YOU)
        await memories.delete(ME, (await add(memories, "消した"))[0])
        for _ in range(2):
            await memories.catch_up()
        assert encoder.embedded == ["猫が好き", "奥さんの名前は花"]
        assert await vectors(database) == [(ME, one, "topics", 9), (YOU, two, "topics", 9)]
        encoder.name = "topics-2"
        await memories.catch_up()
        assert await vectors(database) == [(ME, one, "topics-2", 9), (YOU, two, "topics-2", 9)]

    async def test_are_made_in_the_background(
        self, memories: MemoryStore, embedding: Embedding, database: Database, encoder: TopicEncoder
    ) -> None:
        texts = [f"猫が{number}匹" for number in range(40)]
        await add(memories, *texts)
        async with Embedding(database, encoder, settle_s=0.0).running():
            await until(database, 40)
        assert sorted(encoder.embedded) == sorted(texts)
        async with embedding.running():
            for count, content in ((41, "猫が好き"), (42, "車は白")):
                await memories.remember(ME, content)
                await until(database, count)

    async def test_of_a_text_that_was_changed_meanwhile_are_not_kept(
        self, memories: MemoryStore, database: Database, encoder: TopicEncoder
    ) -> None:
        [note] = await add(memories, "猫が好き")
        encoder.waits_for = asyncio.Event()
        working = asyncio.create_task(memories.catch_up())
        await encoder.asked.wait()
        await memories.update(ME, note, content="車は白")
        encoder.waits_for.set()
        await working
        assert encoder.embedded == ["猫が好き", "車は白"]
        assert len(await vectors(database)) == 1


class TestTrouble:
    async def test_of_a_server_is_over_when_it_is_back_and_of_a_text_stays_with_it(
        self, memories: MemoryStore, embedding: Embedding, database: Database, encoder: TopicEncoder
    ) -> None:
        await add(memories, "猫が好き")
        encoder.trouble = [ModelUnavailable()]
        with pytest.raises(ModelUnavailable):
            await memories.catch_up()
        encoder.trouble = [ModelUnavailable(), ZeroDivisionError()]
        with capture_logs() as logs:
            async with embedding.running():
                await until(database, 1)
        assert [record["event"] for record in logs] == ["vectors_put_off"] * 2
        assert "猫" not in str(logs)
        encoder.refuses = {"毒": ModelUnavailable()}
        await add(memories, "毒", "車は白", "楽器")
        with capture_logs():
            async with embedding.running():
                await until(database, 3)
        assert sorted(encoder.embedded) == ["楽器", "猫が好き", "車は白"]

    async def test_with_a_text_that_is_refused_is_had_once(
        self, memories: MemoryStore, database: Database, meaning: Meaning, encoder: TopicEncoder
    ) -> None:
        encoder.refuses = {"毒": ModelRefusedRequest(), "薬": ContextTooLong()}
        poison, drug, cat = await add(memories, "毒", "薬", "猫が好き")
        await memories.catch_up()
        assert [length for *_, length in await vectors(database)] == [0, 0, 9]
        encoder.refuses = {}
        await memories.catch_up()
        assert encoder.embedded == ["猫が好き"]
        near = await meaning.get_nearness(ME, "cat")
        assert near[cat] > near[poison] == near[drug]


class TestNearness:
    async def test_is_of_ones_own_memories_by_what_they_mean(
        self, memories: MemoryStore, meaning: Meaning, encoder: TopicEncoder
    ) -> None:
        await add(memories, "妻が好き", user_id=YOU)
        cat, wife, car = await add(memories, "猫が好き", "奥さんの名前は花", "プリウスに乗る")
        assert await meaning.get_nearness(ME, "wife") == {}
        assert encoder.embedded == [], "before there are vectors none is needed"
        await memories.catch_up()
        encoder.embedded.clear()
        near = await meaning.get_nearness(ME, "wife")
        assert near.keys() == {cat, wife, car}
        assert max(near, key=lambda memory: near[memory]) == wife
        assert near[cat] < 0
        assert await meaning.get_nearness(ME, " wife ") == near
        assert encoder.embedded == ["wife"]

    async def test_is_not_waited_for_longer_than_patience(
        self, memories: MemoryStore, meaning: Meaning, encoder: TopicEncoder
    ) -> None:
        await add(memories, "猫が好き")
        await memories.catch_up()
        encoder.embedded.clear()
        encoder.waits_for = asyncio.Event()
        for query in ("cat", "another"):
            assert await meaning.get_nearness(ME, query) == {}
        encoder.waits_for.set()
        while not await meaning.get_nearness(ME, "cat"):  # noqa: ASYNC110 - what is late sets no event
            await asyncio.sleep(0)
        assert encoder.embedded == ["cat"]
        assert await meaning.get_nearness(ME, "another")


class TestSearch:
    async def test_finds_what_has_no_such_word(self, memories: MemoryStore, encoder: TopicEncoder) -> None:
        cat, _, car = await add(memories, "猫が好き", "奥さんの名前は花", "プリウスに乗る")
        assert await memories.find(ME, "moped") == []
        await memories.catch_up()
        assert [memory.id for memory in await memories.search(ME, "moped")] == [car]
        encoder.embedded.clear()
        assert [memory.id for memory in await memories.suggest(ME, "猫")] == [cat]
        assert encoder.embedded == []
        encoder.trouble = [ModelUnavailable()]
        assert [memory.id for memory in await memories.search(ME, "猫")] == [cat]
        assert encoder.trouble == []

    async def test_finds_nobody_elses_and_nothing_that_is_not_to_be_seen(self, memories: MemoryStore) -> None:
        await add(memories, "猫は私の", "猫を飼う", user_id=YOU)
        [gone] = await add(memories, "猫が死んだ")
        await memories.add(ME, "猫の秘密", audience="private")
        await memories.add(ME, "猫は去年のこと", expires_at=datetime(2020, 1, 1, tzinfo=UTC))
        seen = await memories.add(ME, "猫の名前はタマ", category="pets", tags=("家族",))
        await memories.catch_up()
        await memories.delete(ME, gone)
        assert [memory.id for memory in await memories.search(ME, "pet")] == [seen.id]
        assert await memories.search(ME, "pet", category="other") == []
        assert await memories.search(ME, "pet", tags=("仕事",)) == []
        assert [memory.id for memory in await memories.search(ME, "pet", tags=("家族",))] == [seen.id]

    @pytest.mark.slow
    async def test_uses_the_encoder_that_is_installed_or_none(self, url: str) -> None:
        async with open_stores(url) as stores:
            _, wife = await add(stores.memories, "ギターを始めて2年", "奥さんとは2018年に結婚した")
            await stores.memories.catch_up()
            assert (await stores.memories.search(ME, "wife"))[0].id == wife
        async with open_stores(url, embedder=None) as stores:
            [guitar] = await add(stores.memories, "ギターが好き")
            await stores.memories.catch_up()
            assert (await stores.memories.search(ME, "ギターが好き"))[0].id == guitar
