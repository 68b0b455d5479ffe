"""Users with very many memories: their vectors are found in short, and no trace stays of what went."""

import random
from collections.abc import Mapping, Sequence

import pytest

from cc_bot.search.vectors import Vector, cosines, pack
from cc_bot.storage import Database, Statement, user
from cc_bot.stores.memory.meaning import CROWD, Meaning, make_sketches
from tests.stores.encoders import TopicEncoder
from tests.stores.memory.notes import ME

MODEL = "chance"
MANY = 2 * CROWD + 100
PUT = "INSERT INTO memory_vectors (user_id, memory_id, model, vector) VALUES ($1, $2, $3, $4)"
DELETE = "DELETE FROM memory_vectors WHERE user_id = $1 AND memory_id = $2"


def vectors(count: int) -> list[Vector]:
    """Directions like those of an encoder: each near to some others, and not to most."""
    chance = random.Random(1)
    topics = [[chance.gauss(0, 1) for _ in range(64)] for _ in range(40)]
    return [pack([number + chance.gauss(0, 0.8) for number in chance.choice(topics)]) for _ in range(count)]


MADE = vectors(MANY + 1)


class FixedEncoder(TopicEncoder):
    async def embed(self, texts: Sequence[str]) -> Sequence[Vector]:
        return [MADE[-1] for _ in texts]


async def put(database: Database, ids: Sequence[int]) -> None:
    await database.transaction([Statement(PUT, (ME, id_, MODEL, MADE[id_])) for id_ in ids], ())


async def sketch_all(database: Database) -> None:
    while await database.write(lambda: make_sketches(ME, MODEL), [user(ME)]):
        pass


async def covered(database: Database) -> list[tuple[int, int]]:
    rows = await database.query("SELECT after_id, last_id FROM memory_sketches ORDER BY after_id")
    return [(after, last) for after, last in rows]


def best(near: Mapping[int, float]) -> list[int]:
    return sorted(near, key=lambda memory: -near[memory])[:10]


def truly_best(gone: int = 0) -> list[int]:
    among = [id_ for id_ in range(1, MANY) if id_ != gone]
    return best(dict(zip(among, cosines(MADE[-1], [MADE[id_] for id_ in among]), strict=True)))


class TestManyVectors:
    async def test_are_found_in_short_as_in_full_without_what_is_gone(self, database: Database) -> None:
        meaning = Meaning(database, FixedEncoder(name=MODEL))
        top, *_ = truly_best()
        late = {top, *range(MANY - 50, MANY)}
        await put(database, [id_ for id_ in range(1, MANY) if id_ not in late])
        before = await meaning.get_nearness(ME, "?")
        await sketch_all(database)
        in_short = await meaning.get_nearness(ME, "?")
        assert best(in_short) == best(before)
        for memory in best(before):
            assert in_short[memory] == pytest.approx(before[memory], rel=0.2)
        await put(database, sorted(late))
        assert best(await meaning.get_nearness(ME, "?")) == truly_best()
        await sketch_all(database)
        sketches = await covered(database)
        gone = truly_best()[1]
        await database.transaction([Statement(DELETE, (ME, gone))], ())
        assert await covered(database) == [each for each in sketches if not each[0] < gone <= each[1]]
        for _ in range(2):
            assert best(await meaning.get_nearness(ME, "?")) == truly_best(gone)
            await sketch_all(database)
