"""Users with very many memories: their vectors are found in short, and no trace stays of what went."""

import asyncio
import random
from collections.abc import Mapping, Sequence

import pytest

from cc_bot.search.vectors import Vector, cosines, pack
from cc_bot.storage import Database, Statement, user
from cc_bot.stores.memory.meaning import CROWD, SKETCHED, Embedding, Meaning, make_sketches
from tests.stores.encoders import TopicEncoder
from tests.stores.memory.notes import ME, YOU

MODEL = "chance"
MANY = 2 * CROWD + 100

PUT = "INSERT INTO memory_vectors (user_id, memory_id, model, vector) VALUES ($1, $2, $3, $4)"
DELETE = "DELETE FROM memory_vectors WHERE user_id = $1 AND memory_id = $2"


def vectors(count: int, seed: int = 1) -> list[Vector]:
    """Directions like those of an encoder: each near to some others, and not to most."""
    chance = random.Random(seed)
    topics = [[chance.gauss(0, 1) for _ in range(64)] for _ in range(40)]
    return [pack([number + chance.gauss(0, 0.8) for number in chance.choice(topics)]) for _ in range(count)]


MADE = vectors(MANY + 1)


class FixedEncoder(TopicEncoder):
    async def embed(self, texts: Sequence[str]) -> Sequence[Vector]:
        return [MADE[-1] for _ in texts]


async def put(database: Database, ids: Sequence[int]) -> None:
    """Every second id: those between are other users'."""
    await database.transaction([Statement(PUT, (ME, 2 * id_, MODEL, MADE[id_])) for id_ in ids], ())


async def sketch_all(database: Database) -> None:
    while await database.write(lambda: make_sketches(ME, MODEL), [user(ME)]):
        pass


async def covered(database: Database) -> list[tuple[int, int]]:
    rows = await database.query("SELECT after_id, last_id FROM memory_sketches ORDER BY after_id")
    return [(after, last) for after, last in rows]


@pytest.fixture
def meaning(database: Database) -> Meaning:
    return Meaning(database, FixedEncoder(name=MODEL))


def truly_nearest(count: int, among: Sequence[int]) -> list[int]:
    values = cosines(MADE[-1], [MADE[id_] for id_ in among])
    order = sorted(range(len(among)), key=lambda at: -values[at])
    return [2 * among[at] for at in order[:count]]


def best(near: Mapping[int, float]) -> list[int]:
    return sorted(near, key=lambda memory: -near[memory])[:10]


class TestManyVectors:
    async def test_are_found_the_same_in_full_and_in_short(
        self, database: Database, meaning: Meaning
    ) -> None:
        top, *others = truly_nearest(10, range(1, MANY))
        late = {top // 2, *range(MANY - 50, MANY)}
        await put(database, [id_ for id_ in range(1, MANY) if id_ not in late])
        before = await meaning.get_nearness(ME, "?")
        await sketch_all(database)
        in_short = await meaning.get_nearness(ME, "?")
        assert best(in_short) == best(before)
        for memory in best(before):
            assert in_short[memory] == pytest.approx(before[memory], rel=0.2)
        await put(database, sorted(late))
        assert best(await meaning.get_nearness(ME, "?")) == [top, *others]

    async def test_are_sketched_after_a_search_had_much_to_read(self, database: Database) -> None:
        encoder = FixedEncoder(name=MODEL)
        embedding = Embedding(database, encoder, settle_s=0.0)
        meaning = Meaning(database, encoder, crowded=embedding.note_crowded)
        await put(database, range(1, MANY))
        await meaning.get_nearness(ME, "?")
        async with embedding.running():
            while len(await covered(database)) < MANY // SKETCHED:  # noqa: ASYNC110 - no event for a commit
                await asyncio.sleep(0.01)

    async def test_that_are_deleted_leave_no_trace(self, database: Database, meaning: Meaning) -> None:
        await put(database, range(1, MANY))
        await sketch_all(database)
        before = await covered(database)
        await database.transaction([Statement(PUT, (YOU, 7, MODEL, MADE[0]))], ())
        await database.transaction([Statement(DELETE, (YOU, 7))], ())
        assert await covered(database) == before
        assert await meaning.get_nearness(YOU, "?") == {}
        top, *_ = truly_nearest(1, range(1, MANY))
        await database.transaction([Statement(DELETE, (ME, top))], ())
        assert await covered(database) == [each for each in before if not each[0] < top <= each[1]]
        among = [id_ for id_ in range(1, MANY) if 2 * id_ != top]
        assert best(await meaning.get_nearness(ME, "?")) == truly_nearest(10, among)
        await sketch_all(database)
        assert len(await covered(database)) == len(before)
        assert best(await meaning.get_nearness(ME, "?")) == truly_nearest(10, among)

    async def test_of_another_encoder_are_not_compared(self, database: Database) -> None:
        await put(database, range(1, MANY))
        await sketch_all(database)
        assert await Meaning(database, FixedEncoder(name="another")).get_nearness(ME, "?") == {}
        assert await database.write(lambda: make_sketches(ME, "another"), [user(ME)]) is False
        assert await covered(database) == []
