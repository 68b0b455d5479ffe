"""What is made of memories by other rules than those of now: found all the same, and made anew."""

from collections.abc import Sequence
from itertools import product
from pathlib import Path

import pytest

from cc_bot.storage import Database, Statement, user
from cc_bot.stores import MemoryStore, Stores, open_stores
from cc_bot.stores.memory.index import fold_in
from cc_bot.stores.memory.texts import VERSION, pack_numbers, search_text, term_keys, unpack_numbers
from cc_bot.stores.memory.upkeep import MemoryUpkeep, remake_some
from tests.stores.backends import stores_over
from tests.stores.memory.index_check import check_index, counts_by_key
from tests.stores.memory.notes import ME, YOU, keep, rewrite

OLD = """
    INSERT INTO memories
        (user_id, content, category, tags, created_at, updated_at, search_content, search_tags)
    VALUES ($1, $2, 'general', '["ﾀｸﾞ"]', $3, $3, lower($2), '')
"""
OLD_KEYS = pack_numbers(term_keys(["old", "rule"]))
RULES_CHANGED = Statement("UPDATE memory_rules SET version = 1")
MADE = "2026-11-22T03:04:05.000000+00:00"


@pytest.fixture
def stores(database: Database) -> Stores:
    """Of a program whose upkeep does nothing by itself."""
    return stores_over(database)


async def keep_old(database: Database, user: int, contents: Sequence[str]) -> None:
    """As a version kept them that knew neither terms nor likeness."""
    await database.transaction([Statement(OLD, (user, content, MADE)) for content in contents], ())


def bytes_of(folder: Path) -> bytes:
    return b"".join(file.read_bytes() for file in folder.iterdir())


async def outdated(database: Database) -> int:
    [(number,)] = await database.query("SELECT count(*) FROM memories WHERE terms_version <> $1", VERSION)
    return int(number)


class TestOutdatedMemories:
    async def test_are_found_and_then_made_as_new_ones(self, stores: Stores, database: Database) -> None:
        await keep_old(database, ME, [*(f"メモ{number}番" for number in range(1100)), "ｻｰﾊﾞｰの鍵は台所"])
        for query in ("メモ3番", "モ1099", "サーバの鍵", "鍵は台", "タグ サーバー"):
            best = (await stores.memories.search(ME, query))[0].content
            assert query in best or best == "ｻｰﾊﾞｰの鍵は台所"
        await keep_old(database, YOU, [f"メモ{number}" for number in range(130)])
        await MemoryUpkeep(database).catch_up(ME)
        assert await outdated(database) == 0
        rows = await database.query(
            "SELECT content, search_content, search_tags, likeness, keys, terms_version FROM memories"
        )
        for content, *columns in rows:
            made = search_text(content, ["ﾀｸﾞ"])
            assert columns == [
                *(made.search_content, made.search_tags, made.likeness, made.keys, made.terms_version)
            ]

    async def test_are_gone_on_with_after_an_end(self, stores: Stores, database: Database) -> None:
        memory = await rewrite(stores, "古い", "新しい")
        await stores.memories.delete(ME, memory.id)
        await database.transaction([Statement("UPDATE memories SET terms_version = 0"), RULES_CHANGED], ())
        await keep_old(database, ME, [f"メモ{number}" for number in range(350)])
        assert await database.write(lambda: remake_some({ME}), [user(ME)])
        assert await outdated(database) == 252
        await MemoryUpkeep(database).catch_up()
        assert await outdated(database) == 0

    async def test_in_the_index_come_under_the_new_rules(self, stores: Stores, database: Database) -> None:
        await keep(stores, *(f"メモ{number}" for number in range(40)))
        await database.transaction(
            [Statement("UPDATE memories SET keys = $2 WHERE user_id = $1", (ME, OLD_KEYS))], ()
        )
        await database.write(lambda: fold_in(ME, waiting=1), [user(ME)])
        await database.transaction([Statement("UPDATE memories SET terms_version = 1"), RULES_CHANGED], ())
        assert (await stores.memories.search(ME, "メモ7"))[0].content == "メモ7"
        await MemoryUpkeep(database).catch_up()
        assert await outdated(database) == 0
        assert await check_index(database) == 0
        await MemoryUpkeep(database, waiting=1).catch_up(ME)
        assert await check_index(database) == 40
        assert not set(unpack_numbers(OLD_KEYS)) & {key for _, key in await counts_by_key(database)}

    async def test_of_another_program_are_noticed(self, stores: Stores, database: Database) -> None:
        upkeep = MemoryUpkeep(database)
        await upkeep.catch_up()
        await keep_old(database, ME, ["メモ"])
        await upkeep.catch_up()
        assert await outdated(database) == 1
        await MemoryStore(database, upkeep=upkeep).search(ME, "メモ")
        await upkeep.catch_up()
        assert await outdated(database) == 0


class TestErasedMemory:
    @pytest.mark.sqlite("what stands in its file")
    async def test_leaves_nothing_of_its_terms_in_the_file(self, tmp_path: Path) -> None:
        path = tmp_path / "a.db"
        key = pack_numbers(term_keys(["瓢箪"]))
        async with open_stores(f"sqlite:///{path}", embedder=None) as stores:
            database = stores.memories._database
            for segments, everything in product((8, 0), (False, True)):
                await keep(stores, *(f"メモ{number}" for number in range(30)))
                secret = await stores.memories.add(ME, "瓢箪から駒が出た", tags=("xylophone",))
                await MemoryUpkeep(database, waiting=1, segments=segments).catch_up(ME)
                assert (ME, unpack_numbers(key)[0]) in await counts_by_key(database)
                assert key in bytes_of(tmp_path)
                if everything:
                    await stores.memory_removal.erase_all(ME)
                else:
                    await stores.memory_removal.erase(ME, secret.id)
                assert await check_index(database) == (0 if everything else 30)
                assert await stores.memory_removal.write_back()
                in_files = bytes_of(tmp_path)
                for piece in ("瓢箪".encode(), "駒".encode(), b"xylophon", key):
                    assert piece not in in_files
