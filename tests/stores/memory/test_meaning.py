"""Every memory gets a vector in the background; searches never wait long for one, and read many in short."""

import asyncio
import random
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime

import pytest
from structlog.testing import capture_logs

from cc_bot.chat.stores.opening import open_stores
from cc_bot.concurrency import run_in_background
from cc_bot.db import Database, Statement
from cc_bot.domain.errors import ContextTooLong, ModelRefusedRequest, ModelUnavailable
from cc_bot.features.memory.model import ALL_MEMORIES, MemoryFilter
from cc_bot.features.memory.search.vectors import Vector, compute_cosines, quantize
from cc_bot.features.memory.stores import search
from cc_bot.features.memory.stores.search import EmbeddingJob, VectorSearch
from cc_bot.features.memory.stores.store import MemoryStore
from tests.stores.backends import got
from tests.stores.encoders import TopicEncoder
from tests.stores.memory.notes import ME, YOU, keep


class Kept:
    """Memories, and an encoder that makes vectors of them."""

    def __init__(self, database: Database) -> None:
        self.database = database
        self.encoder = TopicEncoder()
        self.embedding = EmbeddingJob(database, self.encoder)
        self.memories = MemoryStore(database, embedding=self.embedding)
        self.meaning = VectorSearch(database, self.encoder)

    async def add(self, *contents: str, user_id: int = ME) -> list[int]:
        return [(await self.memories.add(user_id, content)).id for content in contents]

    async def found(self, query: str, filters: MemoryFilter = ALL_MEMORIES) -> list[int]:
        return [each.memory.id for each in await self.memories.find(ME, query, filters=filters)]

    async def vectors(self) -> list[tuple[int, int, str, int]]:
        sql = "SELECT user_id, memory_id, model, length(vector) FROM memory_vectors ORDER BY memory_id"
        rows = await self.database.query(sql)
        return [(user, memory, model, length) for user, memory, model, length in rows]

    async def until(self, count: int) -> None:
        async with asyncio.timeout(60):
            while len(await self.vectors()) < count:  # noqa: ASYNC110 - another task's commit sets no event
                await asyncio.sleep(0.005)


@pytest.fixture
async def kept(database: Database, monkeypatch: pytest.MonkeyPatch) -> Kept:
    monkeypatch.setattr(search, "DEBOUNCE_S", 0.01)
    monkeypatch.setattr(search, "RETRY_S", 0.01)
    return Kept(database)


class TestVectors:
    async def test_are_made_once_for_each_encoder(self, kept: Kept) -> None:
        [one], [two] = await kept.add("猫が好き"), await kept.add("奥さんの名前は花", user_id=YOU)
        await kept.memories.delete(ME, (await kept.add("消した"))[0])
        for _ in range(2):
            await kept.embedding.catch_up()
        assert kept.encoder.embedded == ["猫が好き", "奥さんの名前は花"]
        assert await kept.vectors() == [(ME, one, "topics", 9), (YOU, two, "topics", 9)]
        kept.encoder.name = "topics-2"
        await kept.embedding.catch_up()
        assert await kept.vectors() == [(ME, one, "topics-2", 9), (YOU, two, "topics-2", 9)]

    async def test_are_made_in_the_background(self, kept: Kept) -> None:
        texts = [f"猫が{number}匹" for number in range(40)]
        await kept.add(*texts)
        async with run_in_background(EmbeddingJob(kept.database, kept.encoder).run()):
            await kept.until(40)
        assert sorted(kept.encoder.embedded) == sorted(texts)
        async with run_in_background(kept.embedding.run()):
            for count, content in ((41, "猫が好き"), (42, "車は白")):
                await kept.memories.remember(ME, content)
                await kept.until(count)

    async def test_of_a_text_that_was_changed_meanwhile_are_not_kept(self, kept: Kept) -> None:
        [note] = await kept.add("猫が好き")
        kept.encoder.waits_for = asyncio.Event()
        working = asyncio.create_task(kept.embedding.catch_up())
        await kept.encoder.asked.wait()
        await kept.memories.update(ME, note, content="車は白")
        kept.encoder.waits_for.set()
        await working
        assert kept.encoder.embedded == ["猫が好き", "車は白"]
        assert len(await kept.vectors()) == 1


class TestTrouble:
    async def test_of_a_server_is_over_when_it_is_back_and_of_a_text_stays_with_it(self, kept: Kept) -> None:
        await kept.add("猫が好き")
        kept.encoder.trouble = [ModelUnavailable()]
        with pytest.raises(ModelUnavailable):
            await kept.embedding.catch_up()
        kept.encoder.trouble = [ModelUnavailable(), ZeroDivisionError()]
        with capture_logs() as logs:
            async with run_in_background(kept.embedding.run()):
                await kept.until(1)
        assert [record["event"] for record in logs] == ["vectors_put_off"] * 2
        assert "猫" not in str(logs)
        kept.encoder.refuses = {"毒": ModelUnavailable()}
        await kept.add("毒", "車は白", "楽器")
        with capture_logs():
            async with run_in_background(kept.embedding.run()):
                await kept.until(3)
        assert sorted(kept.encoder.embedded) == ["楽器", "猫が好き", "車は白"]

    async def test_with_a_text_that_is_refused_is_had_once(self, kept: Kept) -> None:
        kept.encoder.refuses = {"毒": ModelRefusedRequest(), "薬": ContextTooLong()}
        poison, drug, cat = await kept.add("毒", "薬", "猫が好き")
        await kept.embedding.catch_up()
        assert [length for *_, length in await kept.vectors()] == [0, 0, 9]
        kept.encoder.refuses = {}
        await kept.embedding.catch_up()
        assert kept.encoder.embedded == ["猫が好き"]
        near = await kept.meaning.get_nearness(ME, "cat")
        assert near[cat] > near[poison] == near[drug]


class TestNearness:
    async def test_is_of_ones_own_memories_by_what_they_mean(self, kept: Kept) -> None:
        await kept.add("妻が好き", user_id=YOU)
        cat, wife, car = await kept.add("猫が好き", "奥さんの名前は花", "プリウスに乗る")
        assert await kept.meaning.get_nearness(ME, "wife") == {}
        assert kept.encoder.embedded == [], "before there are vectors none is needed"
        await kept.embedding.catch_up()
        kept.encoder.embedded.clear()
        near = await kept.meaning.get_nearness(ME, "wife")
        assert near.keys() == {cat, wife, car}
        assert max(near, key=lambda memory: near[memory]) == wife
        assert near[cat] < 0
        assert await kept.meaning.get_nearness(ME, " wife ") == near

    async def test_is_empty_if_the_encoder_is_late_and_for_a_while_after(
        self, kept: Kept, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(search, "TIMEOUT_S", 0.02)
        monkeypatch.setattr(search, "BACKOFF_S", 0.2)
        await kept.add("猫が好き")
        await kept.embedding.catch_up()
        kept.encoder.waits_for = asyncio.Event()
        assert await kept.meaning.get_nearness(ME, "cat") == {}
        kept.encoder.waits_for = None
        assert await kept.meaning.get_nearness(ME, "cat") == {}
        async with asyncio.timeout(60):
            while not await kept.meaning.get_nearness(ME, "cat"):  # noqa: ASYNC110 - time alone ends it
                await asyncio.sleep(0.02)


class TestSearch:
    async def test_finds_what_has_no_such_word(self, kept: Kept) -> None:
        cat, _, car = await kept.add("猫が好き", "奥さんの名前は花", "プリウスに乗る")
        assert await kept.memories.find(ME, "moped") == []
        await kept.embedding.catch_up()
        assert await kept.found("moped") == [car]
        kept.encoder.embedded.clear()
        assert [memory.id for memory in await kept.memories.suggest(ME, "猫")] == [cat]
        assert kept.encoder.embedded == []
        kept.encoder.trouble = [ModelUnavailable()]
        assert await kept.found("猫") == [cat]
        assert kept.encoder.trouble == []

    async def test_finds_nobody_elses_and_nothing_that_is_not_to_be_seen(self, kept: Kept) -> None:
        await kept.add("猫は私の", "猫を飼う", user_id=YOU)
        [gone] = await kept.add("猫が死んだ")
        await kept.memories.add(ME, "猫の秘密", audience="private")
        await kept.memories.add(ME, "猫は去年のこと", expires_at=datetime(2020, 1, 1, tzinfo=UTC))
        seen = await kept.memories.add(ME, "猫の名前はタマ", category="pets", tags=("家族",))
        await kept.embedding.catch_up()
        await kept.memories.delete(ME, gone)
        assert await kept.found("pet") == [seen.id]
        assert await kept.found("pet", MemoryFilter(category="other")) == []
        assert await kept.found("pet", MemoryFilter(tags=("仕事",))) == []
        assert await kept.found("pet", MemoryFilter(tags=("家族",))) == [seen.id]

    @pytest.mark.slow
    async def test_uses_the_encoder_that_is_installed_or_none(self, url: str) -> None:
        async with open_stores(url) as stores:
            _, wife = await keep(stores, "ギターを始めて2年", "奥さんとは2018年に結婚した")
            await got(stores.embedding).catch_up()
            assert (await stores.memories.find(ME, "wife"))[0].memory == wife
        async with open_stores(url, embedder=None) as stores:
            [guitar] = await keep(stores, "ギターが好き")
            assert (await stores.memories.find(ME, "ギターが好き"))[0].memory == guitar


MODEL = "chance"
MANY = 4100
"""More than are read at a time."""
PUT = "INSERT INTO memory_vectors (user_id, memory_id, model, vector) VALUES ($1, $2, $3, $4)"


def directions(count: int) -> list[Vector]:
    """Directions like those of an encoder: each near to some others, and not to most."""
    chance = random.Random(1)
    topics = [[chance.gauss(0, 1) for _ in range(64)] for _ in range(40)]
    return [quantize([value + chance.gauss(0, 0.8) for value in chance.choice(topics)]) for _ in range(count)]


MADE = directions(MANY + 1)


class FixedEncoder(TopicEncoder):
    async def embed(self, texts: Sequence[str]) -> Sequence[Vector]:
        return [MADE[-1] for _ in texts]


async def put(database: Database, ids: Sequence[int]) -> None:
    await database.transaction([Statement(PUT, (ME, id_, MODEL, MADE[id_])) for id_ in ids], ())


def best(near: Mapping[int, float]) -> list[int]:
    return sorted(near, key=lambda memory: -near[memory])[:10]


def truly_best() -> list[int]:
    among = range(1, MANY)
    return best(dict(zip(among, compute_cosines(MADE[-1], [MADE[id_] for id_ in among]), strict=True)))


class TestManyVectors:
    async def test_are_all_compared(self, database: Database) -> None:
        await put(database, range(1, MANY))
        near = await VectorSearch(database, FixedEncoder(name=MODEL)).get_nearness(ME, "?")
        assert (len(near), best(near)) == (MANY - 1, truly_best())
