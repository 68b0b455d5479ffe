"""Upgrading files of older versions: what was stored before is still there, and in its new place."""

import json
import sqlite3
from collections.abc import Mapping, Sequence
from contextlib import closing
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from cc_bot.domain import Message, SessionKey
from cc_bot.domain.canvas import AddCard, Drawn
from cc_bot.domain.memory import Source
from cc_bot.domain.message import ChannelKey
from cc_bot.storage import Database, Statement, apply_pending, open_database
from cc_bot.storage.migrate import known_migrations
from cc_bot.stores import MemoryRemovalStore, MemoryStore, open_stores
from cc_bot.stores.memory.upkeep import MemoryUpkeep

ME = 123456789012345678
KEY = SessionKey(ME, 10, "tutor")
AT = "2026-11-22T03:04:05.000000+00:00"
LINK = "https://discord.com/channels/1/2/3"

SESSION = (
    "INSERT INTO sessions (id, user_id, channel_id, agent, created_at, last_active)"
    f" VALUES ('s', {ME}, 10, 'tutor', '{AT}', '{AT}')"
)
_INSERT = (
    "INSERT INTO messages (id, discord_id, session_id, user_id, channel_id, parent_channel_id, author_id,"
    " role, content, timestamp, created_at) VALUES "
)
MESSAGES = (
    SESSION,
    f"{_INSERT} (1, 10, 's', {ME}, 10, 10, {ME}, 'user', '昔の質問', 0, 0)",
    f"{_INSERT} (2, 11, 's', {ME}, 10, 10, 0, 'assistant', '昔の答え', 0, 0)",
    f"{_INSERT} (3, NULL, 's', {ME}, 10, 10, {ME}, 'user', 'An old question', 0, 0)",
    f"{_INSERT} (4, NULL, 's', {ME}, 10, 10, 0, 'assistant', 'An old answer', 0, 0)",
)
MEMORY = (
    "INSERT INTO memories"
    " (user_id, content, category, tags, metadata, created_at, updated_at, search_content)"
    " VALUES ($1, $2, 'general', '[\"猫\"]', $3, $4, $4, $2)"
)


def version_before(description: str) -> int:
    [version] = [each.version for each in known_migrations() if each.description == description]
    return version - 1


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "old.db"


@pytest.fixture
def url(path: Path) -> str:
    return f"sqlite:///{path}"


async def store(url: str, version: int, *statements: str | Statement) -> None:
    """Have this in a file of that version."""
    async with open_database(url) as database:
        await apply_pending(database, known_migrations()[:version])
        rows = [Statement(each) if isinstance(each, str) else each for each in statements]
        await database.transaction(rows, ())


def memory(content: str, metadata: Mapping[str, Any]) -> Statement:
    return Statement(MEMORY, (ME, content, json.dumps(metadata), AT))


def holds(path: Path, word: str) -> bool:
    return word.encode() in path.read_bytes()


def dump(path: Path, columns: Mapping[str, str]) -> list[tuple[object, ...]]:
    with closing(sqlite3.connect(path)) as database:
        return [
            row
            for table, names in columns.items()
            for row in database.execute(f"SELECT {names} FROM {table}")
        ]


def columns_of(path: Path, *tables: str) -> dict[str, str]:
    """The columns that the tables have now; later ones are none of an older version's."""
    with closing(sqlite3.connect(path)) as database:
        return {
            table: ", ".join(
                name for (name,) in database.execute(f"SELECT name FROM pragma_table_info('{table}')")
            )
            for table in tables
        }


class TestConversations:
    async def test_keep_every_row_and_become_no_channel(self, path: Path, url: str) -> None:
        await store(url, version_before("channels"), *MESSAGES, memory("猫が好き", {}))
        columns = columns_of(path, "sessions", "messages", "memories")
        before = dump(path, columns)
        async with open_database(url) as database:
            await apply_pending(database)
        assert dump(path, columns) == before
        assert dump(path.with_name(f"old.before-v{known_migrations()[-1].version}.db"), columns) == before
        async with open_stores(url) as stores:
            channel = ChannelKey(KEY.channel_id)
            assert await stores.channels.list_places(limit=9) == ()
            assert await stores.channels.get_newest_answer(channel) is None
            assert await stores.channels.add(channel, Message("user", "新しい発言", discord_id=12))
            assert not await stores.channels.add(channel, Message("user", "重なる番号", discord_id=10))
            assert await stores.channels.get_session_key(11) == KEY
            page = await stores.blocks.get_page(channel, first=0, before=99, limit=9)
            assert [(each.id, each.content) for each in page] == [(12, "新しい発言")]

    async def test_go_on_and_can_be_drawn_in(self, url: str) -> None:
        await store(url, 5, *MESSAGES)
        async with open_stores(url, session_ttl=timedelta.max) as stores:
            session = await stores.sessions.open(KEY)
            assert (session.id, session.history[-1].content) == ("s", "An old answer")
            assert session.canvas.empty
            turn = (Message("user", "出して"), Message("assistant", "はい。"))
            await stores.sessions.commit_turn(session, turn, drawn=[Drawn(AddCard("猫", "タマ"), "public")])
            seen = await stores.canvases.get(KEY)
            assert seen is not None
            assert (seen.revision, [each.title for each in seen.canvas.elements]) == (1, ["猫"])
            assert await stores.schedules.list(ME) == []

    async def test_that_were_open_before_there_were_summaries_get_one(self, url: str) -> None:
        ended = SESSION.replace("'s'", "'ended'").replace("last_active)", "last_active, closed_at)")
        await store(url, version_before("summaries"), SESSION, ended.replace(f"'{AT}')", f"'{AT}', '{AT}')"))
        async with open_database(url) as database:
            await apply_pending(database)
            rows = await database.query("SELECT id, summarize, summarized_to FROM sessions ORDER BY id")
        assert rows == [("ended", 0, 0), ("s", 1, 0)]


class TestAnswersOnTheirWay:
    async def test_in_dms_are_still_known_to_be(self, url: str) -> None:
        noted = "INSERT INTO personal_answers (answer_id, channel_id, user_id, created_at) VALUES "
        await store(url, 11, *MESSAGES, f"{noted} (11, 10, {ME}, 1000)", f"{noted} (41, 11, 2, 2000)")
        async with open_stores(url) as stores:
            answered, accepted = await stores.ledger.list_unfinished()
            answer = await stores.ledger.get_answer(answered)
        assert answer is not None
        assert answer.content == "昔の答え"
        assert (answered.state, answered.kind, answered.key.agent) == ("answered", "message", "tutor")
        assert (answered.place_id, answered.shown_in) == (10, 11)
        assert (accepted.state, accepted.key.user_id, accepted.shown_in) == ("accepted", 2, 41)
        assert (accepted.question, accepted.locale, accepted.token) == (None, None, None)


class TestFiles:
    async def test_have_their_sizes(self, url: str) -> None:
        attach = (
            "INSERT INTO attachments"
            " (message_id, position, session_id, user_id, name, content_type, data, document)"
            f" VALUES (1, 0, 's', {ME}, 'a.png', 'image/png', x'010203', NULL),"
            f" (1, 1, 's', {ME}, 'a.pdf', 'application/pdf', x'0102', '{{}}')"
        )
        await store(url, 37, *MESSAGES, attach)
        async with open_stores(url) as stores:
            assert (await stores.personal_data.get_overview(ME)).file_bytes == 3 + 2 + 2


METADATA: Sequence[dict[str, Any]] = (
    {},
    {"source": "command"},
    {"source": "message", "link": LINK, "author": "花子", "color": "red"},
    {"source": "a friend", "link": LINK},
)
OF_0005 = (
    "UPDATE memories SET"
    " search_content = content, terms = '匹 の 猫 瓢箪', terms_version = 101, place = id - 1",
    "INSERT INTO memory_chunks (user_id, chunk, filled, documents, total_length)"
    " SELECT user_id, 0, count(*), count(*), 4 * count(*) FROM memories GROUP BY user_id",
    "INSERT INTO memory_postings (user_id, chunk, term, postings)"
    " SELECT DISTINCT user_id, 0, '瓢箪', x'000001000200' FROM memories",
)


class TestMemories:
    async def test_are_kept_found_and_know_where_they_came_from(self, url: str) -> None:
        kept = [memory(f"{number}匹の猫", metadata) for number, metadata in enumerate(METADATA)]
        await store(url, version_before("memory"), *kept)
        async with open_stores(url) as stores:
            memories = await stores.memories.list(ME, order="oldest")
            assert (await stores.memories.search(ME, "2匹"))[0].content == "2匹の猫"
            assert len(await stores.memories.search(ME, "匹の猫", limit=9)) == 4
        assert [each.content for each in memories] == [f"{number}匹の猫" for number in range(4)]
        assert {each.tags for each in memories} == {("猫",)}
        assert {each.created_at.isoformat(timespec="microseconds") for each in memories} == {AT}
        assert [(each.source, each.metadata) for each in memories] == [
            (Source(), {}),
            (Source("command"), {}),
            (Source("message", link=LINK, author="花子"), {"color": "red"}),
            (Source(), {"source": "a friend", "link": LINK}),
        ]

    async def test_are_known_to_the_tool_calls_of_old_answers(self, url: str) -> None:
        insert = (
            "INSERT INTO messages (id, user_id, discord_id, author_id, role, content, tool_calls,"
            " channel_id, parent_channel_id, timestamp, created_at) VALUES "
        )
        rows = (
            "(1, 7, NULL, 7, 'user', '?', '[]', 1, 1, 0, 0)",
            "(2, 7, NULL, 0, 'assistant', '!', '[{}]', 1, 1, 0, 0)",
            "(3, 7, NULL, 0, 'assistant', '!', '[]', 1, 1, 0, 0)",
            "(4, NULL, 40, 8, 'user', '?', '[]', 1, 1, 0, 0)",
            "(5, NULL, 50, 0, 'assistant', '!', '[{}]', 1, 1, 0, 0)",
            "(6, NULL, 60, 0, 'assistant', '!', '[{}]', 1, 1, 0, 0)",
        )
        answered = (
            "INSERT INTO mentions (discord_id, channel_id, answer_id, answered, created_at)"
            " VALUES (40, 1, 50, 1, 0)"
        )
        await store(url, version_before("memory"), *(insert + row for row in rows), answered)
        async with open_database(url) as database:
            await apply_pending(database)
            owners = await database.query("SELECT id, memory_user_id FROM messages ORDER BY id")
        assert owners == [(1, None), (2, 7), (3, None), (4, None), (5, 8), (6, None)]

    async def test_are_found_before_and_after_their_index_is_made_again(self, path: Path, url: str) -> None:
        """Its terms were texts, so the file has to be written anew."""

        async def owed(database: Database) -> Sequence[object]:
            return await database.query("SELECT erased, rewritten FROM memory_erasures")

        await store(url, 5, *(memory(f"{number}匹の猫", {}) for number in range(3)), *OF_0005)
        async with open_database(url) as database:
            await apply_pending(database)
            memories, upkeep = MemoryStore(database), MemoryUpkeep(database, waiting=1)
            for _ in range(2):
                assert (await memories.search(ME, "2匹"))[0].content == "2匹の猫"
                assert len(await memories.search(ME, "猫")) == 3
                assert await memories.search(ME, "瓢箪") == []
                await upkeep.catch_up(ME)
            [(indexed,)] = await database.query("SELECT count(*) FROM memories WHERE place IS NOT NULL")
            assert indexed == 3
            assert await MemoryRemovalStore(database).write_back()
            assert await owed(database) == [(1, 1)]
            assert not holds(path, "瓢箪")
        async with open_database(f"sqlite:///{path.with_name('new.db')}") as database:
            await apply_pending(database)
            assert await owed(database) == [(0, 0)], "nobody's memories owe nothing"


class TestNumbers:
    async def test_count_what_is_listed_first(self, url: str) -> None:
        keep = (
            "INSERT INTO memories"
            " (id, user_id, content, category, created_at, updated_at, search_content, status) VALUES "
        )
        memories = ((3, ME, "superseded"), (4, 8, "active"), (7, ME, "deleted"), (9, ME, "active"))
        plan = (
            "INSERT INTO schedules (id, user_id, channel_id, kind, place, due_at, timezone, created_at,"
            " advanced_at, status, tainted) VALUES "
        )
        plans = ((5, "reminder", "done"), (6, "heartbeat", "active"), (8, "reminder", "active"))
        await store(
            url,
            version_before("numbers"),
            *(f"{keep} ({n}, {user}, '', 'general', '{AT}', '{AT}', '', '{s}')" for n, user, s in memories),
            *(
                f"{plan} ({n}, {ME}, 1, '{kind}', 'channel', 1, 'UTC', 1, 1, '{s}', 0)"
                for n, kind, s in plans
            ),
        )
        async with open_stores(url) as stores:
            assert [await stores.memories.get_id(ME, number) for number in (1, 2, 3, 4)] == [7, 9, 3, None]
            assert await stores.memories.get_id(8, 1) == 4
            assert (await stores.memories.add(ME, "新しい")).number == 4
            reminder = await stores.schedules.get_by_number(ME, 1)
            assert reminder is not None
            assert reminder.id == 8
            assert (await stores.schedules.add(KEY, "水", reminder.due_at)).number == 3
