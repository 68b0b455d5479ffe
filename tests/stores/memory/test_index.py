"""Many memories: what a search finds hangs neither on the index nor on the rules that they were made by."""

import random
from collections.abc import Sequence
from itertools import product
from pathlib import Path
from typing import Final

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cc_bot.domain.memory import Memory
from cc_bot.domain.memory_transfer import PortableMemory
from cc_bot.search import Candidate, Statistics, document_terms, fold, parse_query, rank
from cc_bot.storage import Database
from cc_bot.stores import Stores, open_stores
from cc_bot.stores.memory.index import CHUNK, gather, latest, places_of, with_places, without_places
from cc_bot.stores.memory.texts import fold_tags, pack_numbers, term_keys
from cc_bot.stores.memory.upkeep import MemoryUpkeep
from tests.stores.backends import stores_over
from tests.stores.forgetting import bytes_of
from tests.stores.memory.notes import ME, YOU, keep

PIECES: Final = (
    *("猫", "犬", "好き", "誕生日は", "3月", "サーバー", "の", "と", "、", "green", "tea", "Kyoto", " "),
    *("か\u3099", "ﾊﾟﾝ", "☂", "é", "e\u0301", "1.5"),
)
QUERIES: Final = ("猫", "メモ123号", "モ12", "誕生日は3月", "サーバ", "green tea", "が", "e", "１．５", "鳥")


@pytest.fixture
def stores(database: Database) -> Stores:
    """Of a program whose upkeep does nothing by itself."""
    return stores_over(database)


def look_at_each(memories: Sequence[Memory], query: str) -> list[tuple[int, float]]:
    """What a search finds that looks at every memory: ids and confidences, best first."""
    parsed = parse_query(query)
    candidates, terms = [], [document_terms(memory.content, memory.tags) for memory in memories]
    for memory, counts in zip(memories, terms, strict=True):
        text = fold(memory.content) + fold_tags(memory.tags)
        if query in memory.content or parsed.folded in memory.content:
            text += "\n" + parsed.folded
        candidates.append(Candidate(memory.id, text, counts, sum(counts.values())))
    statistics = Statistics(
        documents=len(memories),
        average_length=sum(sum(counts.values()) for counts in terms) / len(memories),
        frequency={term: sum(term in counts for counts in terms) for term in parsed.weights},
    )
    return [(hit.id, round(hit.confidence, 9)) for hit in rank(parsed, statistics, candidates)]


async def change(stores: Stores, number: int, memory: Memory, text: str) -> None:
    """In one of the ways that there are."""
    match number % 6:
        case 0:
            await stores.memories.update(ME, memory.id, content=text)
        case 1:
            await stores.memories.update(ME, memory.id, tags=("猫", "Kyoto"))
        case 2:
            await stores.memories.add(ME, text, supersedes=memory.id)
        case 3:
            await stores.memories.delete(ME, memory.id)
        case 4:
            await stores.memories.delete(ME, memory.id)
            await stores.memory_removal.undelete(ME, memory.id)
        case _:
            await stores.memory_removal.erase(ME, memory.id)


class TestManyMemories:
    @pytest.mark.slow
    async def test_are_found_as_by_a_look_at_each(self, stores: Stores, database: Database) -> None:
        chance = random.Random(7)

        def text() -> str:
            return f"メモ{chance.randrange(1000):03}号 {''.join(chance.choices(PIECES, k=5))}"

        upkeep = MemoryUpkeep(database, waiting=1, segments=2)
        for _ in range(2):
            await stores.memory_transfer.take(ME, [PortableMemory(text()) for _ in range(300)])
            await upkeep.catch_up(ME)
            chosen = chance.sample(await stores.memories.list(ME, limit=2000), 60)
            for number, memory in enumerate(chosen):
                await change(stores, number, memory, text())
            memories = await stores.memories.list(ME, limit=2000)
            for query in QUERIES:
                hits = await stores.memories.find(ME, query, limit=2000, audience="private")
                found = [(hit.memory.id, round(hit.confidence, 9)) for hit in hits]
                assert found == look_at_each(memories, query), query
        await stores.memory_transfer.take(YOU, [PortableMemory("メモ123号は私の")])
        await upkeep.catch_up(YOU)
        [theirs] = await stores.memories.search(YOU, "123号", audience="private")
        assert theirs.content == "メモ123号は私の"


PLACES: Final = st.frozensets(st.integers(0, CHUNK - 1), max_size=40)


class TestPlaces:
    @given(PLACES, PLACES, PLACES)
    def test_are_those_that_were_added_and_not_removed(
        self, first: frozenset[int], more: frozenset[int], gone: frozenset[int]
    ) -> None:
        stored = with_places(with_places(b"", [*first]), [*more - first])
        left = without_places(stored, gone)
        expected = sorted(CHUNK + place for place in (first | more) - gone)
        assert places_of(gather({7: left}, [2, 7])) == expected
        assert places_of(latest(gather({7: left}, [2, 7]), 3)) == expected[-3:]


class TestErasedMemory:
    @pytest.mark.sqlite("what stands in its file")
    async def test_leaves_nothing_of_its_terms_in_the_file(self, tmp_path: Path) -> None:
        key = pack_numbers(term_keys(["瓢箪"]))
        async with open_stores(f"sqlite:///{tmp_path / 'sessions.db'}", embedder=None) as stores:
            for segments, everything in product((8, 0), (False, True)):
                await keep(stores, *(f"メモ{number}" for number in range(30)))
                secret = await stores.memories.add(ME, "瓢箪から駒が出た", tags=("xylophone",))
                await MemoryUpkeep(stores.memories._database, waiting=1, segments=segments).catch_up(ME)
                assert key in bytes_of(tmp_path)
                if everything:
                    await stores.memory_removal.erase_all(ME)
                else:
                    await stores.memory_removal.erase(ME, secret.id)
                assert await stores.memory_removal.write_back()
                in_files = bytes_of(tmp_path)
                for piece in ("瓢箪".encode(), "駒".encode(), b"xylophon", key):
                    assert piece not in in_files
