"""The step to memories that their owner controls: nothing is lost, where they came from has its place."""

import json
import sqlite3
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path
from typing import Any

from cc_bot.domain.memory import Source
from cc_bot.storage import Migration, Statement, apply_pending, open_database
from cc_bot.storage.migrate import known_migrations
from cc_bot.stores import MemoryRemovalStore, MemoryStore, open_stores
from cc_bot.stores.memory.upkeep import MemoryUpkeep

ME = 123456789012345678
MADE = "2026-11-22T03:04:05.000000+00:00"
LINK = "https://discord.com/channels/1/2/3"
INSERT = (
    "INSERT INTO memories"
    " (user_id, content, category, tags, metadata, created_at, updated_at, search_content)"
    " VALUES ($1, $2, 'general', '[\"猫\"]', $3, $4, $4, $2)"
)
METADATA: Sequence[dict[str, Any]] = (
    {},
    {"source": "command"},
    {"source": "message", "link": LINK, "author": "花子", "color": "red"},
    {"source": "a friend", "link": LINK},
)


MESSAGE = (
    "INSERT INTO messages (id, user_id, discord_id, author_id, role, content, tool_calls,"
    " channel_id, parent_channel_id, timestamp, created_at) VALUES "
)
OLD_ANSWERS = (
    f"{MESSAGE} (1, 7, NULL, 7, 'user', '?', '[]', 1, 1, 0, 0)",
    f"{MESSAGE} (2, 7, NULL, 0, 'assistant', '!', '[{{}}]', 1, 1, 0, 0)",
    f"{MESSAGE} (3, 7, NULL, 0, 'assistant', '!', '[]', 1, 1, 0, 0)",
    f"{MESSAGE} (4, NULL, 40, 8, 'user', '?', '[]', 1, 1, 0, 0)",
    f"{MESSAGE} (5, NULL, 50, 0, 'assistant', '!', '[{{}}]', 1, 1, 0, 0)",
    f"{MESSAGE} (6, NULL, 60, 0, 'assistant', '!', '[{{}}]', 1, 1, 0, 0)",
    "INSERT INTO mentions (discord_id, channel_id, answer_id, answered, created_at) VALUES (40, 1, 50, 1, 0)",
)


def before_memory() -> tuple[Migration, ...]:
    known = known_migrations()
    [memory] = [migration.version for migration in known if migration.description == "memory"]
    return known[: memory - 1]


async def upgraded(path: Path) -> None:
    async with open_database(f"sqlite:///{path}") as database:
        await apply_pending(database, before_memory())
        await database.transaction(
            [
                Statement(INSERT, (ME, f"{number}匹の猫", json.dumps(metadata), MADE))
                for number, metadata in enumerate(METADATA)
            ],
            (),
        )
        await apply_pending(database)


def schema(path: Path) -> set[tuple[object, ...]]:
    with closing(sqlite3.connect(path)) as database:
        return {*database.execute("SELECT type, name, sql FROM sqlite_master")}


OF_0005 = (
    "UPDATE memories SET"
    " search_content = content, terms = '匹 の 猫 瓢箪', terms_version = 101, place = id - 1",
    "INSERT INTO memory_chunks (user_id, chunk, filled, documents, total_length)"
    " SELECT user_id, 0, count(*), count(*), 4 * count(*) FROM memories GROUP BY user_id",
    "INSERT INTO memory_postings (user_id, chunk, term, postings)"
    " SELECT DISTINCT user_id, 0, '瓢箪', x'000001000200' FROM memories",
)
"""As version 0005 kept the search index."""


async def upgraded_from_0005(path: Path) -> None:
    async with open_database(f"sqlite:///{path}") as database:
        await apply_pending(database, known_migrations()[:5])
        await database.transaction(
            [Statement(INSERT, (ME, f"{number}匹の猫", "{}", MADE)) for number in range(3)], ()
        )
        await database.transaction([Statement(sql) for sql in OF_0005], ())
        await apply_pending(database)


class TestUpgradeOfTheIndex:
    async def test_ends_in_the_schema_of_a_new_file(self, tmp_path: Path) -> None:
        old, new = tmp_path / "old.db", tmp_path / "new.db"
        await upgraded_from_0005(old)
        async with open_database(f"sqlite:///{new}") as database:
            await apply_pending(database)
        assert schema(old) == schema(new)

    async def test_finds_what_was_in_it_before_and_after_it_is_made_anew(self, tmp_path: Path) -> None:
        await upgraded_from_0005(tmp_path / "old.db")
        async with open_database(f"sqlite:///{tmp_path}/old.db") as database:
            memories, upkeep = MemoryStore(database), MemoryUpkeep(database, waiting=1)
            for _ in range(2):
                assert (await memories.search(ME, "2匹"))[0].content == "2匹の猫"
                assert len(await memories.search(ME, "猫")) == 3
                assert await memories.search(ME, "瓢箪") == []
                await upkeep.catch_up(ME)
            [(indexed,)] = await database.query("SELECT count(*) FROM memories WHERE place IS NOT NULL")
            assert indexed == 3

    async def test_owes_that_the_file_is_written_anew_since_terms_were_texts(self, tmp_path: Path) -> None:
        path = tmp_path / "old.db"
        await upgraded_from_0005(path)
        async with open_database(f"sqlite:///{path}") as database:
            assert await MemoryRemovalStore(database).write_back()
            [(erased, rewritten)] = await database.query("SELECT erased, rewritten FROM memory_erasures")
            assert erased == rewritten == 1
            assert "瓢箪".encode() not in path.read_bytes()

    async def test_of_nobodys_memories_owes_nothing(self, tmp_path: Path) -> None:
        async with open_database(f"sqlite:///{tmp_path}/new.db") as database:
            await apply_pending(database)
            assert await database.query("SELECT erased, rewritten FROM memory_erasures") == [(0, 0)]


class TestUpgrade:
    async def test_ends_in_the_schema_of_a_new_file(self, tmp_path: Path) -> None:
        old, new = tmp_path / "old.db", tmp_path / "new.db"
        await upgraded(old)
        async with open_database(f"sqlite:///{new}") as database:
            await apply_pending(database)
        assert schema(old) == schema(new)

    async def test_keeps_every_memory_and_moves_where_it_came_from(self, tmp_path: Path) -> None:
        await upgraded(tmp_path / "old.db")
        async with open_stores(f"sqlite:///{tmp_path}/old.db") as stores:
            memories = await stores.memories.list(ME, order="oldest")
        assert [memory.content for memory in memories] == [f"{number}匹の猫" for number in range(4)]
        assert {memory.tags for memory in memories} == {("猫",)}
        assert {memory.created_at.isoformat(timespec="microseconds") for memory in memories} == {MADE}
        assert [(memory.source, memory.metadata) for memory in memories] == [
            (Source(), {}),
            (Source("command"), {}),
            (Source("message", link=LINK, author="花子"), {"color": "red"}),
            (Source(), {"source": "a friend", "link": LINK}),
        ]

    async def test_finds_what_was_kept_before_it(self, tmp_path: Path) -> None:
        await upgraded(tmp_path / "old.db")
        async with open_stores(f"sqlite:///{tmp_path}/old.db") as stores:
            found = await stores.memories.search(ME, "2匹")
            assert found[0].content == "2匹の猫"
            assert len(await stores.memories.search(ME, "匹の猫", limit=9)) == 4

    async def test_knows_whose_memories_the_tool_calls_of_old_answers_are_about(self, tmp_path: Path) -> None:
        path = tmp_path / "old.db"
        async with open_database(f"sqlite:///{path}") as database:
            await apply_pending(database, before_memory())
            await database.transaction([Statement(sql) for sql in OLD_ANSWERS], ())
            await apply_pending(database)
            owners = await database.query("SELECT id, memory_user_id FROM messages ORDER BY id")
        assert owners == [(1, None), (2, 7), (3, None), (4, None), (5, 8), (6, None)]
