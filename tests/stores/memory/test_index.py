"""The search index of users with many memories: what a search finds never hangs on it."""

import asyncio
from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from cc_bot.domain.memory import Memory
from cc_bot.domain.memory_transfer import PortableMemory
from cc_bot.domain.text import without_controls
from cc_bot.search import Candidate, Statistics, document_terms, fold, parse_query, rank
from cc_bot.storage import Database, Statement, open_database, user
from cc_bot.stores import MemoryHistoryStore, MemoryRemovalStore, MemoryStore, Stores, open_stores
from cc_bot.stores.memory.index import CHUNK, SEGMENT, WAITING, fold_in, join_segments, with_notes
from cc_bot.stores.memory.texts import VERSION, fold_tags, pack_numbers, term_keys
from cc_bot.stores.memory.upkeep import MemoryUpkeep
from tests.stores.backends import stores_over
from tests.stores.memory.index_check import check_index
from tests.stores.memory.notes import ME, YOU, keep

PIECES = (
    *("猫", "犬", "好き", "ポチ", "誕生日は", "3月", "15日", "サーバー", "の", "と", "、"),
    *("green", "tea", "Kyoto", " ", "か\u3099", "ﾊﾟﾝ", "☂", "é", "e\u0301", "1.5"),
)
TEXTS = st.lists(st.sampled_from(PIECES), min_size=1, max_size=6).map("".join)
QUERIES = TEXTS | st.text(min_size=1, max_size=4) | st.sampled_from(("か", "ﾊ", "ハ", "e", "\u3099", "好"))
TAGS = st.lists(st.sampled_from(("猫", "work", "仕事 用")), max_size=2, unique=True).map(tuple)
WHICH = st.integers(0, 9)
ADD = st.tuples(st.just("add"), TEXTS, TAGS)
FOLD = st.tuples(st.just("fold"), st.integers(1, 4))
JOIN = st.tuples(st.just("join"))
CHANGES = st.one_of(
    *(ADD, FOLD, FOLD, JOIN),
    st.tuples(st.just("update"), WHICH, st.none() | TEXTS, st.none() | TAGS),
    st.tuples(st.just("supersede"), WHICH, TEXTS),
    st.tuples(st.just("delete"), WHICH),
    st.tuples(st.just("undelete"), WHICH),
    st.tuples(st.just("erase"), WHICH),
    st.tuples(st.just("undo_add"), WHICH),
    st.tuples(st.just("outdate"), WHICH),
)
NEARLY_FULL = """
    INSERT INTO memory_segments (user_id, segment, filled, documents, total_length, keys)
    VALUES ($1, $2, $3, 0, 0, $4) ON CONFLICT DO NOTHING
"""


@dataclass
class Kept:
    """One user's memories, changed through one connection or the other by turns."""

    user: int
    databases: Sequence[Database]
    ids: list[int]
    turn: int = 0

    def database(self) -> Database:
        self.turn += 1
        return self.databases[self.turn % len(self.databases)]

    def chosen(self, which: int) -> int:
        return self.ids[which % len(self.ids)] if self.ids else 0

    async def change(self, change: tuple[Any, ...]) -> None:
        database = self.database()
        memories = MemoryStore(database)
        removal = MemoryRemovalStore(database)
        match change:
            case "add", content, tags:
                if content.strip():
                    self.ids.append((await memories.add(self.user, content, tags=tags)).id)
            case "fold", most:
                await database.write(lambda: fold_in(self.user, waiting=1, most=most), [user(self.user)])
            case ("join",):
                await database.write(lambda: join_segments(self.user, most=0), [user(self.user)])
            case "update", which, content, tags:
                content = content if content and content.strip() else None
                await memories.update(self.user, self.chosen(which), content=content, tags=tags)
            case "supersede", which, content:
                if content.strip():
                    new = await memories.add(self.user, content, supersedes=self.chosen(which))
                    self.ids.append(new.id)
            case "delete", which:
                await memories.delete(self.user, self.chosen(which))
            case "undelete", which:
                await removal.undelete(self.user, self.chosen(which))
            case "erase", which:
                await removal.erase(self.user, self.chosen(which))
            case "undo_add", which:
                await MemoryHistoryStore(database, memories).undo_add(self.user, self.chosen(which))
            case "outdate", which:  # as if it had been written under other rules
                sql = "UPDATE memories SET terms_version = 1 WHERE user_id = $1 AND id = $2 AND place IS NULL"
                await database.transaction([Statement(sql, (self.user, self.chosen(which)))], ())
            case _:
                raise ValueError(change)


def reference(memories: Sequence[Memory], query: str, tags: Sequence[str] = ()) -> list[tuple[int, float]]:
    """What a search finds that looks at every memory: ids and confidences, best first."""
    typed = without_controls(query).strip()
    parsed = parse_query(typed)
    candidates, terms = [], {}
    for memory in memories:
        terms[memory.id] = counts = document_terms(memory.content, memory.tags)
        text = fold(memory.content) + fold_tags(memory.tags)
        if typed in memory.content or parsed.folded in memory.content:
            text += "\n" + parsed.folded
        if all(fold_tags([tag]) in fold_tags(memory.tags) for tag in tags):
            candidates.append(Candidate(memory.id, text, counts, sum(counts.values())))
    lengths = [sum(counts.values()) for counts in terms.values()]
    statistics = Statistics(
        documents=len(memories),
        average_length=sum(lengths) / len(lengths) if lengths else 0.0,
        frequency={term: sum(term in counts for counts in terms.values()) for term in parsed.weights},
    )
    return [(hit.id, round(hit.confidence, 9)) for hit in rank(parsed, statistics, candidates)]


async def found(store: MemoryStore, user: int, query: str, **filters: Any) -> list[tuple[int, float]]:
    hits = await store.find(user, query, limit=1000, audience="private", **filters)
    return [(hit.memory.id, round(hit.confidence, 9)) for hit in hits]


@pytest.fixture
async def databases(stores: Stores, url: str) -> AsyncIterator[tuple[Database, Database]]:
    async with open_database(url) as one, open_database(url) as other:
        yield one, other


@pytest.fixture
def upkeep(database: Database) -> MemoryUpkeep:
    """Folds in everything, and joins all but two segments."""
    return MemoryUpkeep(database, waiting=1, segments=2)


class TestAnyHistory:
    @pytest.mark.slow
    @settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
    @given(
        begin=st.lists(ADD, min_size=2, max_size=8),
        changes=st.lists(CHANGES, min_size=4, max_size=16),
        queries=st.lists(QUERIES, min_size=1, max_size=4),
        tags=TAGS,
        filled=st.sampled_from((None, SEGMENT - 3, CHUNK - 3)),
    )
    async def test_leaves_an_index_that_is_true_and_finds_what_a_look_at_every_memory_finds(
        self,
        databases: tuple[Database, Database],
        begin: list[tuple[Any, ...]],
        changes: list[tuple[Any, ...]],
        queries: list[str],
        tags: tuple[str, ...],
        filled: int | None,
    ) -> None:
        kept = Kept(hash((*begin, *changes, *queries)) % 2**40 + 1, databases, [])
        if filled:
            last, places = divmod(filled, SEGMENT)
            params = (kept.user, last, places, with_notes(b"", 0, [], []))
            await databases[0].transaction([Statement(NEARLY_FULL, params)], ())
        for change in (*begin, ("fold", 4), *changes):
            await kept.change(change)
        await databases[0].transaction(
            [
                Statement(f"DELETE FROM {table} WHERE user_id = $1 AND documents = 0", (kept.user,))
                for table in ("memory_segments", "memory_chunks")
            ],
            (),
        )
        await check_index(databases[0])
        store = MemoryStore(databases[1])
        memories = await store.list(kept.user, limit=1000)
        for query in queries:
            if without_controls(query).strip():
                assert await found(store, kept.user, query) == reference(memories, query)
                assert await found(store, kept.user, query, tags=tags) == reference(memories, query, tags)
        await MemoryRemovalStore(databases[1]).erase_all(kept.user)
        for table in ("memory_segments", "memory_chunks", "memory_postings"):
            rows = await databases[0].query(f"SELECT 1 FROM {table} WHERE user_id = $1", kept.user)
            assert rows == []


class TestManyMemories:
    async def test_are_found_by_each_of_their_parts(
        self, stores: Stores, upkeep: MemoryUpkeep, database: Database
    ) -> None:
        texts = [f"メモ{number:03}号: 色は{'赤青黄'[number % 3]}、Note {number}x" for number in range(700)]
        await stores.memory_transfer.take(ME, map(PortableMemory, texts))
        await stores.memory_transfer.take(YOU, [PortableMemory("メモ123号は私の")])
        for user_id in (ME, YOU):
            await upkeep.catch_up(user_id)
        assert await check_index(database) == 701
        for query in ("メモ123号", "te 123x", "23号: 色", "３９９"):
            best, *_ = await stores.memories.find(ME, query, audience="private")
            assert best.confidence == 1.0
            assert fold(query) in fold(best.memory.content)
        for user_id, query, expected in ((ME, "699x", "メモ699号"), (YOU, "123号", "メモ123号")):
            hits = await stores.memories.find(user_id, query, audience="private")
            assert [hit.memory.content[:6] for hit in hits] == [expected]
        await stores.memory_removal.erase_all(YOU)
        assert await check_index(database) == 700

    async def test_that_do_not_fit_are_passed_over(self, stores: Stores, upkeep: MemoryUpkeep) -> None:
        wanted = await stores.memories.add(ME, "猫の話と犬の話が長く続く", category="動物", tags=("t",))
        await stores.memory_transfer.take(ME, [PortableMemory(f"猫{number}") for number in range(300)])
        for _ in range(2):
            assert await stores.memories.search(ME, "猫") == [wanted]
            assert await stores.memories.search(ME, "猫", category="動物", audience="private") == [wanted]
            assert await stores.memories.search(ME, "猫", tags=("t",), audience="private") == [wanted]
            for limit, number in ((250, 250), (1000, 301)):
                found = await stores.memories.search(ME, "猫", limit=limit, audience="private")
                assert len(found) == number
            await upkeep.catch_up(ME)


class TestFolding:
    async def test_waits_until_there_are_enough(self, database: Database) -> None:
        await keep(stores_over(database), *map(str, range(4)))
        assert await database.write(lambda: fold_in(ME, waiting=5), [user(ME)]) == 0
        assert await database.write(lambda: fold_in(ME, waiting=4, most=3), [user(ME)]) == 3
        assert await database.write(lambda: fold_in(ME, waiting=1), [user(ME)]) == 1
        assert await check_index(database) == 4

    async def test_by_two_at_once_folds_each_memory_once(self, databases: tuple[Database, Database]) -> None:
        await keep(stores_over(databases[0]), *map(str, range(60)))
        folded = await asyncio.gather(
            *(
                database.write(lambda: fold_in(ME, waiting=1, most=7), [user(ME)])
                for database in databases * 6
            )
        )
        assert sum(folded) == 60
        assert await check_index(databases[0]) == 60

    async def test_happens_by_itself_where_there_are_many(self, url: str, database: Database) -> None:
        async with open_stores(url, embedder=None) as stores:
            await keep(stores, *map(str, range(WAITING - 1)), user_id=YOU)
            await stores.memories.search(YOU, "1")
            texts = [f"メモ{number}" for number in range(640)]
            await stores.memory_transfer.take(ME, map(PortableMemory, texts))
            await stores.memories.search(ME, "メモ")
            async with asyncio.timeout(60):
                while not await database.query("SELECT 1 FROM memory_segments"):  # noqa: ASYNC110 - no event
                    await asyncio.sleep(0.01)
        assert await check_index(database) >= 128
        assert await database.query("SELECT 1 FROM memory_segments WHERE user_id = $1", YOU) == []

    async def test_stays_true_under_other_rules(self, stores: Stores, database: Database) -> None:
        [memory] = await keep(stores, "猫が好き")
        keys = pack_numbers(term_keys(["cats", "likes"]))
        old_rules = "UPDATE memories SET keys = $3, terms_version = $4 WHERE user_id = $1 AND id = $2"
        await database.transaction([Statement(old_rules, (ME, memory.id, keys, VERSION))], ())
        assert await database.write(lambda: fold_in(ME, waiting=1), [user(ME)]) == 1
        await database.transaction([Statement(old_rules, (ME, memory.id, keys, 1))], ())
        await stores.memories.update(ME, memory.id, category="ペット")
        assert await check_index(database) == 1
        await stores.memories.update(ME, memory.id, tags=("猫",))
        assert await check_index(database) == 0
