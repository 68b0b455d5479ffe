import os
import random
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from tempfile import mkdtemp
from time import perf_counter
from uuid import uuid4

os.environ |= {"MEM0_TELEMETRY": "False", "MEM0_DIR": mkdtemp(), "OPENAI_API_KEY": "unused"}  # read at import

from mem0 import Memory
from mem0.embeddings.base import EmbeddingBase

from bench.figures import Line, Spread, Words, by_turns
from bench.recall import fill
from bench.recall_quality import like
from bench.recall_speed import NOTES_OF_SMALL, Population
from bench.recall_text import Everyday, Phrase
from bench.turn import one_core
from cc_bot.db import Database, open_database
from cc_bot.features.memory.stores.store import MemoryStore
from tests.loopback.embeddings_server import DIMENSIONS, direction

GOAL_TO_MEM0 = 1 / 30
USERS, USERS_OF_MEM0 = 10_000, 200
ROUNDS = 12
SEARCHES, SEARCHES_OF_MEM0 = 100, 4
LIMIT = 5


class AtOnce(EmbeddingBase):  # type: ignore[misc]  # mem0 is untyped
    """Directions by the characters of a text."""

    def __init__(self) -> None: ...

    def embed(self, text: str, memory_action: str | None = None) -> list[float]:  # noqa: ARG002
        return direction(text)

    def embed_batch(self, texts: Sequence[str], memory_action: str | None = None) -> list[list[float]]:  # noqa: ARG002
        return [direction(text) for text in texts]


@dataclass(frozen=True, slots=True)
class Mem0:
    """mem0 with the notes of some users."""

    memory: Memory
    asked: Sequence[tuple[str, Phrase]]
    """A user, and a note of theirs."""

    @classmethod
    def filled(cls, folder: Path, users: int) -> "Mem0":
        """The notes are put into its store as `Memory.add(infer=False)` does it, a hundred at a time."""
        store = {"path": str(folder), "embedding_model_dims": DIMENSIONS, "on_disk": True}
        memory = Memory.from_config(
            {
                "vector_store": {"provider": "qdrant", "config": store},
                "embedder": {"provider": "openai", "config": {"embedding_dims": DIMENSIONS}},
                "llm": {"provider": "openai", "config": {}},
                "history_db_path": str(folder.parent / f"{folder.name}.db"),
            }
        )
        memory.embedding_model = AtOnce()
        memory.add("見本", user_id="sample", infer=False)
        [[sample], _] = memory.vector_store.client.scroll(memory.collection_name, limit=1)
        asked = list[tuple[str, Phrase]]()
        for number in range(users):
            source, user = Everyday(number), f"user{number}"
            notes = [source.note() for _ in range(NOTES_OF_SMALL)]
            payloads = [{**sample.payload, "user_id": user, "data": note.text} for note in notes]
            memory.vector_store.insert(
                [direction(note.text) for note in notes], payloads, [str(uuid4()) for _ in notes]
            )
            asked += [(user, note) for note in notes]
        return cls(memory, asked)

    def search(self, user: str, query: str) -> int:
        found = self.memory.search(query, filters={"user_id": user}, top_k=LIMIT)
        return len(found["results"])


@dataclass(frozen=True, slots=True)
class Searches:
    """Blocks of searches, for users and notes drawn by lot."""

    population: Population
    chance: random.Random
    source: Everyday

    async def ours(self, store: MemoryStore) -> float:
        asked = self._asked()
        began = perf_counter()
        for user_id, query in asked:
            await store.find(user_id, query, limit=LIMIT)
        return (perf_counter() - began) / len(asked)

    async def plain(self, database: Database) -> float:
        asked = self._asked()
        began = perf_counter()
        for user_id, query in asked:
            await like(database, user_id, query)
        return (perf_counter() - began) / len(asked)

    async def mem0(self, mem0: Mem0) -> float:
        picked = self.chance.choices(mem0.asked, k=SEARCHES_OF_MEM0)
        asked = [(user, self.source.question(note)) for user, note in picked]
        began = perf_counter()
        found = [mem0.search(user, query) for user, query in asked]
        took = perf_counter() - began
        assert any(found), "mem0 found nothing at all"
        return took / len(asked)

    def _asked(self) -> list[tuple[int, str]]:
        users = [self.chance.randrange(self.population.small) + 1 for _ in range(SEARCHES)]
        known, template = self.population.known, self.population.template_of
        return [(user, self.source.question(self.chance.choice(known[template(user)]))) for user in users]


async def measure(folder: Path) -> list[Line]:
    path, population = folder / "many.db", Population(USERS, ())
    await fill(path, population)
    mem0, small = Mem0.filled(folder / "qdrant", USERS_OF_MEM0), Mem0.filled(folder / "alone", 1)
    searches = Searches(population, random.Random(7), Everyday(7))
    async with open_database(f"sqlite:///{path}") as database:
        store = MemoryStore(database)
        with one_core():
            found = await by_turns(
                {
                    "ours": lambda: searches.ours(store),
                    "like": lambda: searches.plain(database),
                    "mem0": lambda: searches.mem0(mem0),
                    "small": lambda: searches.mem0(small),
                },
                ROUNDS,
            )
    what = Words("メモの検索（10,000人、一人100件）", "finding notes (10,000 users with 100 each)")
    return [
        Line("recall", what, Words("LIKE", "LIKE"), Spread.of_ratios(found["ours"], found["like"])),
        Line(
            "recall",
            what,
            Words("mem0（200人、一人100件）", "mem0 (200 users with 100 each)"),
            Spread.of_ratios(found["ours"], found["mem0"]),
            goal=GOAL_TO_MEM0,
        ),
        Line(
            "recall",
            what,
            Words("mem0（一人だけ、100件）", "mem0 (one user alone, with 100)"),
            Spread.of_ratios(found["ours"], found["small"]),
        ),
    ]
