"""Every memory gets a vector in the background, and search never waits long for one."""

import asyncio
from collections.abc import AsyncIterator, Sequence
from datetime import UTC, datetime

import pytest
from structlog.testing import capture_logs

from cc_bot.domain.errors import ContextTooLong, ModelRefusedRequest, ModelUnavailable
from cc_bot.storage import Database
from cc_bot.stores import MemoryStore, open_stores
from cc_bot.stores.memory.meaning import Embedding, Meaning
from tests.stores.encoders import TopicEncoder

USER, OTHER = 123456789012345678, 876543210987654321


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
    async def test_are_made_of_everything_that_is_stored(
        self, memories: MemoryStore, database: Database
    ) -> None:
        one, two = await memories.add(USER, "猫が好き"), await memories.add(OTHER, "奥さんの名前は花")
        await memories.catch_up()
        assert await vectors(database) == [(USER, one.id, "topics", 9), (OTHER, two.id, "topics", 9)]

    async def test_are_made_in_the_background_after_a_write(
        self, memories: MemoryStore, embedding: Embedding, database: Database
    ) -> None:
        async with embedding.running():
            await memories.remember(USER, "猫が好き")
            await until(database, 1)
            await memories.add(USER, "車は白")
            await until(database, 2)

    async def test_that_are_missing_are_made_after_a_restart(
        self, memories: MemoryStore, database: Database, encoder: TopicEncoder
    ) -> None:
        for number in range(40):
            await memories.add(USER, f"猫が{number}匹")
        async with Embedding(database, encoder, settle_s=0.0).running():
            await until(database, 40)
        assert sorted(encoder.embedded) == sorted(f"猫が{number}匹" for number in range(40))

    async def test_of_more_writes_than_are_noted_are_made_all_the_same(
        self, memories: MemoryStore, embedding: Embedding, database: Database, encoder: TopicEncoder
    ) -> None:
        note = await memories.add(USER, "猫が好き")
        await memories.catch_up()
        for number in range(10_000):
            embedding.note_written(OTHER, number)
        await memories.update(USER, note.id, content="車は白")
        async with embedding.running():
            await until(database, 1)
        assert encoder.embedded == ["猫が好き", "車は白"]

    async def test_are_made_once(self, memories: MemoryStore, encoder: TopicEncoder) -> None:
        await memories.add(USER, "猫が好き")
        await memories.catch_up()
        await memories.catch_up()
        assert encoder.embedded == ["猫が好き"]

    async def test_are_made_anew_for_another_encoder(
        self, memories: MemoryStore, database: Database, encoder: TopicEncoder
    ) -> None:
        note = await memories.add(USER, "猫が好き")
        await memories.catch_up()
        encoder.name = "topics-2"
        await memories.catch_up()
        assert await vectors(database) == [(USER, note.id, "topics-2", 9)]

    async def test_are_made_anew_of_a_new_text(
        self, memories: MemoryStore, database: Database, meaning: Meaning
    ) -> None:
        note = await memories.add(USER, "猫が好き")
        await memories.add(USER, "車は白")
        await memories.catch_up()
        await memories.update(USER, note.id, content="ギターが好き")
        assert [memory for _, memory, *_ in await vectors(database)] == [note.id + 1]
        await memories.catch_up()
        near = await meaning.get_nearness(USER, "楽器")
        assert max(near, key=lambda memory: near[memory]) == note.id

    async def test_stay_where_the_text_stays(
        self, memories: MemoryStore, database: Database, encoder: TopicEncoder
    ) -> None:
        note = await memories.add(USER, "猫が好き")
        await memories.catch_up()
        await memories.update(USER, note.id, content="猫が好き", category="pets")
        await memories.catch_up()
        assert encoder.embedded == ["猫が好き"]

    async def test_of_a_text_that_was_changed_meanwhile_are_not_kept(
        self, memories: MemoryStore, database: Database, encoder: TopicEncoder
    ) -> None:
        note = await memories.add(USER, "猫が好き")
        encoder.waits_for = asyncio.Event()
        working = asyncio.create_task(memories.catch_up())
        await asyncio.sleep(0.02)
        await memories.update(USER, note.id, content="車は白")
        encoder.waits_for.set()
        await working
        assert encoder.embedded == ["猫が好き", "車は白"]
        assert len(await vectors(database)) == 1

    async def test_are_not_made_of_what_was_deleted(
        self, memories: MemoryStore, database: Database, encoder: TopicEncoder
    ) -> None:
        note = await memories.add(USER, "猫が好き")
        await memories.delete(USER, note.id)
        await memories.catch_up()
        assert encoder.embedded == []

    async def test_are_not_waited_for_without_an_encoder(self, url: str) -> None:
        async with open_stores(url, embedder=None) as stores:
            await stores.memories.add(USER, "猫が好き")
            await stores.memories.catch_up()


class TestTrouble:
    async def test_of_a_server_is_over_when_it_is_back(
        self, memories: MemoryStore, embedding: Embedding, database: Database, encoder: TopicEncoder
    ) -> None:
        encoder.trouble = [ModelUnavailable(), ZeroDivisionError()]
        await memories.add(USER, "猫が好き")
        with capture_logs() as logs:
            async with embedding.running():
                await until(database, 1)
        assert [record["event"] for record in logs] == ["vectors_put_off"] * 2
        assert "猫" not in str(logs)

    async def test_with_one_text_keeps_no_other_from_its_vector(
        self, memories: MemoryStore, embedding: Embedding, database: Database, encoder: TopicEncoder
    ) -> None:
        encoder.refuses = {"毒": ModelUnavailable()}
        for content in ("毒", "猫が好き", "車は白"):
            await memories.add(USER, content)
        with capture_logs():
            async with embedding.running():
                await until(database, 2)
        assert sorted(encoder.embedded) == ["猫が好き", "車は白"]

    @pytest.mark.parametrize("refusal", [ModelRefusedRequest(), ContextTooLong()])
    async def test_with_a_text_that_is_refused_is_had_once(
        self, memories: MemoryStore, database: Database, encoder: TopicEncoder, refusal: ModelRefusedRequest
    ) -> None:
        encoder.refuses = {"毒": refusal}
        for content in ("毒", "猫が好き"):
            await memories.add(USER, content)
        await memories.catch_up()
        assert [length for *_, length in await vectors(database)] == [0, 9]
        encoder.refuses = {}
        await memories.catch_up()
        assert encoder.embedded == ["猫が好き"]

    async def test_is_told_to_who_waits_for_the_vectors(
        self, memories: MemoryStore, encoder: TopicEncoder
    ) -> None:
        encoder.trouble = [ModelUnavailable()]
        await memories.add(USER, "猫が好き")
        with pytest.raises(ModelUnavailable):
            await memories.catch_up()


async def store(memories: MemoryStore, contents: Sequence[str], user: int = USER) -> list[int]:
    return [(await memories.add(user, content)).id for content in contents]


class TestNearness:
    async def test_finds_what_is_said_in_other_words(self, memories: MemoryStore, meaning: Meaning) -> None:
        cat, wife, _ = await store(memories, ["猫が好き", "奥さんの名前は花", "プリウスに乗る"])
        await memories.catch_up()
        near = await meaning.get_nearness(USER, "wife")
        assert max(near, key=lambda memory: near[memory]) == wife
        assert near[cat] < 0

    async def test_is_of_ones_own_memories_alone(self, memories: MemoryStore, meaning: Meaning) -> None:
        await store(memories, ["猫が好き"], OTHER)
        [mine] = await store(memories, ["猫が苦手"])
        await memories.catch_up()
        assert set(await meaning.get_nearness(USER, "cat")) == {mine}

    async def test_is_unknown_before_there_are_vectors(
        self, memories: MemoryStore, meaning: Meaning, encoder: TopicEncoder
    ) -> None:
        await store(memories, ["猫が好き"])
        assert await meaning.get_nearness(USER, "cat") == {}
        assert encoder.embedded == []

    async def test_of_a_text_that_was_refused_is_none(
        self, memories: MemoryStore, meaning: Meaning, encoder: TopicEncoder
    ) -> None:
        encoder.refuses = {"毒": ModelRefusedRequest()}
        poison, cat = await store(memories, ["毒", "猫が好き"])
        await memories.catch_up()
        near = await meaning.get_nearness(USER, "cat")
        assert near[cat] > near[poison]

    async def test_asks_for_the_same_query_once(
        self, memories: MemoryStore, meaning: Meaning, encoder: TopicEncoder
    ) -> None:
        await store(memories, ["猫が好き"])
        await memories.catch_up()
        encoder.embedded.clear()
        assert await meaning.get_nearness(USER, "cat") == await meaning.get_nearness(USER, " cat ")
        assert encoder.embedded == ["cat"]

    async def test_is_not_waited_for_longer_than_patience_and_not_at_all_meanwhile(
        self, memories: MemoryStore, meaning: Meaning, encoder: TopicEncoder
    ) -> None:
        await store(memories, ["猫が好き"])
        await memories.catch_up()
        encoder.waits_for = asyncio.Event()
        assert await meaning.get_nearness(USER, "cat") == {}
        with capture_logs() as logs:
            assert await meaning.get_nearness(USER, "another") == {}
        assert [log for log in logs if log["event"] == "query_not_embedded"] == []
        encoder.waits_for.set()
        await asyncio.sleep(0.02)
        assert await meaning.get_nearness(USER, "cat")
        assert await meaning.get_nearness(USER, "another")

    async def test_is_unknown_for_a_while_after_a_failure(
        self, memories: MemoryStore, meaning: Meaning, encoder: TopicEncoder
    ) -> None:
        await store(memories, ["猫が好き"])
        await memories.catch_up()
        encoder.trouble = [ModelUnavailable()]
        encoder.embedded.clear()
        assert await meaning.get_nearness(USER, "cat") == {}
        assert await meaning.get_nearness(USER, "wife") == {}
        assert (encoder.trouble, encoder.embedded) == ([], [])


class TestSearch:
    async def test_finds_by_meaning_what_has_none_of_the_words(self, memories: MemoryStore) -> None:
        _, _, car = await store(memories, ["猫が好き", "奥さんの名前は花", "プリウスに乗る"])
        assert await memories.find(USER, "moped") == []
        await memories.catch_up()
        assert [memory.id for memory in await memories.search(USER, "moped")] == [car]

    async def test_among_few_goes_by_words_where_nobody_knows_what_the_encoder_gives_to_any_two_texts(
        self, memories: MemoryStore, encoder: TopicEncoder
    ) -> None:
        encoder.usual = None
        [cat, _] = await store(memories, ["猫が好き", "プリウスに乗る"])
        await memories.catch_up()
        assert await memories.search(USER, "moped") == []
        assert [memory.id for memory in await memories.search(USER, "猫")] == [cat]

    async def test_finds_nobody_elses_and_nothing_that_is_not_to_be_seen(self, memories: MemoryStore) -> None:
        await store(memories, ["猫は私の", "猫を飼う"], OTHER)
        [gone, *_] = await store(memories, ["猫が死んだ"])
        await memories.add(USER, "猫の秘密", audience="private")
        await memories.add(USER, "猫は去年のこと", expires_at=datetime(2020, 1, 1, tzinfo=UTC))
        seen = await memories.add(USER, "猫の名前はタマ", category="pets", tags=("家族",))
        await memories.catch_up()
        await memories.delete(USER, gone)
        assert [memory.id for memory in await memories.search(USER, "pet")] == [seen.id]
        assert await memories.search(USER, "pet", category="other") == []
        assert await memories.search(USER, "pet", tags=("仕事",)) == []
        assert [memory.id for memory in await memories.search(USER, "pet", tags=("家族",))] == [seen.id]

    async def test_goes_on_by_words_when_the_encoder_does_not(
        self, memories: MemoryStore, encoder: TopicEncoder
    ) -> None:
        [cat] = await store(memories, ["猫が好き"])
        await memories.catch_up()
        encoder.trouble = [ModelUnavailable()]
        assert [memory.id for memory in await memories.search(USER, "猫")] == [cat]

    async def test_while_someone_types_goes_by_words_alone(
        self, memories: MemoryStore, encoder: TopicEncoder
    ) -> None:
        await store(memories, ["猫が好き"])
        await memories.catch_up()
        encoder.embedded.clear()
        assert len(await memories.suggest(USER, "猫")) == 1
        assert encoder.embedded == []

    @pytest.mark.slow
    async def test_uses_the_encoder_that_is_installed(self, url: str) -> None:
        async with open_stores(url) as stores:
            [_, wife] = await store(stores.memories, ["ギターを始めて2年", "奥さんとは2018年に結婚した"])
            await stores.memories.catch_up()
            assert (await stores.memories.search(USER, "wife"))[0].id == wife
