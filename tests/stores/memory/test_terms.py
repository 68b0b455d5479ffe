"""The search index finds what a look at each memory finds, and keeps nothing of what was erased."""

import random
from collections.abc import Sequence
from pathlib import Path
from typing import Final

import pytest

from cc_bot.chat.stores.opening import Stores, open_stores
from cc_bot.db import MAINTENANCE_LOCK, Database, Statement
from cc_bot.features.memory.files import PortableMemory
from cc_bot.features.memory.model import Memory
from cc_bot.features.memory.search.folding import fold
from cc_bot.features.memory.search.ranking import Candidate, Statistics, rank
from cc_bot.features.memory.search.terms import count_terms, parse_query
from cc_bot.features.memory.stores.rows import fold_tags, recompute_outdated, term_keys
from tests.stores.backends import got, stores_over
from tests.stores.forgetting import bytes_of
from tests.stores.memory.notes import ME, YOU, keep

PIECES: Final = (
    *("猫", "犬", "好き", "誕生日は", "3月", "サーバー", "の", "と", "、", "green", "tea", "Kyoto", " "),
    *("か\u3099", "ﾊﾟﾝ", "☂", "é", "e\u0301", "1.5"),
)
QUERIES: Final = ("猫", "メモ123号", "モ12", "誕生日は3月", "サーバ", "green tea", "が", "e", "１．５", "鳥")


@pytest.fixture
def stores(database: Database) -> Stores:
    return stores_over(database)


def look_at_each(memories: Sequence[Memory], query: str) -> list[tuple[int, float]]:
    parsed = parse_query(query)
    candidates, terms = [], [count_terms(memory.content, memory.tags) for memory in memories]
    for memory, counts in zip(memories, terms, strict=True):
        text = fold(memory.content) + fold_tags(memory.tags)
        if query in memory.content or parsed.folded in memory.content:
            text += "\n" + parsed.folded
        candidates.append(Candidate(memory.id, text, counts, sum(counts.values())))
    statistics = Statistics(
        note_count=len(memories),
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
            changed = got(await stores.memories.update(ME, memory.id, content=text))
            await stores.memories.undo_update(ME, memory.id, changed.supersedes or 0)
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

        for _ in range(2):
            await stores.memories.import_all(ME, [PortableMemory(text()) for _ in range(300)])
            chosen = chance.sample(await stores.memories.list(ME, limit=2000), 60)
            for number, memory in enumerate(chosen):
                await change(stores, number, memory, text())
            memories = await stores.memories.list(ME, limit=2000)
            for query in QUERIES:
                hits = await stores.memories.find(ME, query, limit=2000, audience="private")
                found = [(hit.memory.id, round(hit.confidence, 9)) for hit in hits]
                assert found == look_at_each(memories, query), query
        await stores.memories.import_all(YOU, [PortableMemory("メモ123号は私の")])
        [theirs] = await stores.memories.find(YOU, "123号", audience="private")
        assert theirs.memory.content == "メモ123号は私の"


class TestOutdatedMemories:
    async def test_are_found_by_todays_rules_once_they_were_recomputed(
        self, stores: Stores, database: Database
    ) -> None:
        await keep(stores, *(f"メモ{number}" for number in range(150)), "猫を飼い始めた")
        hidden = await stores.memories.add(ME, "犬を飼い始めた")
        await stores.memories.delete(ME, hidden.id)
        for sql in (
            "UPDATE memories SET terms_version = 1, search_content = '', term_count = 0",
            "DELETE FROM memory_terms",
        ):
            await database.transaction([Statement(sql)], [MAINTENANCE_LOCK])
        assert not await stores.memories.find(ME, "飼う", audience="private")
        await recompute_outdated(database)
        [found] = await stores.memories.find(ME, "飼う", audience="private")
        assert found.memory.content == "猫を飼い始めた"


class TestErasedMemory:
    @pytest.mark.sqlite("what stands in its file")
    async def test_leaves_nothing_of_its_terms_in_the_file(self, tmp_path: Path) -> None:
        key = term_keys(["瓢箪"])[0].to_bytes(4, "big")
        async with open_stores(f"sqlite:///{tmp_path / 'sessions.db'}", embedder=None) as stores:
            for everything in (False, True):
                await keep(stores, *(f"メモ{number}" for number in range(30)))
                secret = await stores.memories.add(ME, "瓢箪から駒が出た", tags=("xylophone",))
                assert key in bytes_of(tmp_path)
                if everything:
                    await stores.memory_removal.erase_all(ME)
                else:
                    await stores.memory_removal.erase(ME, secret.id)
                assert await stores.memory_removal.scrub() == "done"
                in_files = bytes_of(tmp_path)
                for piece in ("瓢箪".encode(), "駒".encode(), b"xylophon", key):
                    assert piece not in in_files
