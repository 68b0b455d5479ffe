from collections.abc import Sequence
from time import perf_counter

from bench.recall_speed import Population, percentiles, print_beside, searches
from cc_bot.db import Database, Statement
from cc_bot.features.memory.search.vectors import Embedder, Vector
from cc_bot.features.memory.stores.search import EmbeddingJob
from cc_bot.features.memory.stores.store import MemoryStore

EMBEDDED = 2000
AT_A_TIME = 16
SEARCHES = 300

SELECT_NOTES = "SELECT id, content FROM memories WHERE user_id = $1 AND status = 'active' ORDER BY id"
PUT_VECTOR = "INSERT INTO memory_vectors (memory_id, user_id, model, vector) VALUES ($1, $2, $3, $4)"


async def fill(database: Database, encoder: Embedder, user_id: int) -> None:
    """Give each note of the user a vector."""
    notes = await database.query(SELECT_NOTES, user_id)
    texts = [content for _, content in notes[:EMBEDDED]]
    vectors: list[Vector] = []
    for start in range(0, len(texts), AT_A_TIME):
        vectors += await encoder.embed(texts[start : start + AT_A_TIME])
    await database.transaction(
        [
            Statement(PUT_VECTOR, (memory_id, user_id, encoder.name, vectors[at % len(vectors)]))
            for at, (memory_id, _) in enumerate(notes)
        ],
        (),
    )


class Timed:
    """An encoder that says how long it took."""

    def __init__(self, encoder: Embedder) -> None:
        self._encoder = encoder
        self.name = encoder.name
        self.unrelated = encoder.unrelated
        self.took_ms: list[float] = []

    async def embed(self, texts: Sequence[str]) -> Sequence[Vector]:
        begun = perf_counter()
        vectors = await self._encoder.embed(texts)
        self.took_ms.append(1000 * (perf_counter() - begun))
        return vectors

    async def close(self) -> None:
        await self._encoder.close()


async def report(database: Database, encoder: Embedder, population: Population) -> None:
    """Print times of searches by words and by meaning, for each of the users with many notes."""
    for index, notes in enumerate(population.large):
        user_id = population.large_user(index)
        await fill(database, encoder, user_id)
        timed = Timed(encoder)
        store = MemoryStore(database, embedding=EmbeddingJob(database, timed))
        ours, plain = await searches(store, database, population, [user_id] * SEARCHES)
        print(f"{notes:,} notes of one user, with the encoder: p50 and p99 beside LIKE over the same rows:")
        for name, at in (("processor", 1), ("clock", 0)):
            print_beside(name, at, ours[1:], plain[1:])
        encoded = percentiles(timed.took_ms)
        print(f"  of which the query's vector {encoded.p50:.2f} and {encoded.p99:.2f} ms by the clock")
