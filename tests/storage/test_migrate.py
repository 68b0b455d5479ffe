"""Migrations: the road from an empty file and an old one, and of two programs at once; nothing is lost."""

import asyncio
import sqlite3
from collections.abc import Mapping
from contextlib import closing
from pathlib import Path

import pytest

from cc_bot.domain import Message, SessionKey
from cc_bot.domain.errors import DatabaseNewer, UpgradeFailed
from cc_bot.domain.message import ChannelKey
from cc_bot.storage import Migration, Statement, apply_pending, list_pending, open_database
from cc_bot.storage.migrate import known_migrations, read_migrations
from cc_bot.stores import open_stores
from tests.storage.files import change, mode

NOTES = """
-- A comment; with a semicolon.
CREATE TABLE notes (id INTEGER PRIMARY KEY, text TEXT DEFAULT 'a;b');
INSERT INTO notes (text) VALUES ('最初の; メモ');
"""
AUTHORS = "ALTER TABLE notes ADD COLUMN author INTEGER;\nUPDATE notes SET author = 7;\n"
ME = 123456789012345678
KEY = SessionKey(ME, 10, "tutor")
AT = "2026-11-22T03:04:05.000000+00:00"
_INSERT = (
    "INSERT INTO messages (id, discord_id, session_id, user_id, channel_id, parent_channel_id, author_id,"
    " role, content, timestamp, created_at) VALUES "
)
MESSAGES = (
    "INSERT INTO sessions (id, user_id, channel_id, agent, created_at, last_active)"
    f" VALUES ('s', {ME}, 10, 'tutor', '{AT}', '{AT}')",
    f"{_INSERT} (1, 10, 's', {ME}, 10, 10, {ME}, 'user', '昔の質問', 0, 0)",
    f"{_INSERT} (2, 11, 's', {ME}, 10, 10, 0, 'assistant', '昔の答え', 0, 0)",
)
SCHEDULE = (
    "INSERT INTO schedules (user_id, channel_id, kind, place, due_at, timezone, created_at, advanced_at) "
    f"VALUES ({ME}, 2, 'reminder', 'channel', 1, 'Asia/Tokyo', 1, 1)"
)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "sessions.db"


@pytest.fixture
def url(path: Path) -> str:
    return f"sqlite:///{path}"


def folder_of(path: Path, *scripts: tuple[str, str]) -> tuple[Migration, ...]:
    path.mkdir()
    for name, script in scripts:
        (path / name).write_text(script, "utf-8")
    return read_migrations(path)


@pytest.fixture
def first(tmp_path: Path) -> tuple[Migration, ...]:
    return folder_of(tmp_path / "first", ("0001_notes.sql", NOTES))


@pytest.fixture
def second(tmp_path: Path) -> tuple[Migration, ...]:
    return folder_of(tmp_path / "second", ("0001_notes.sql", NOTES), ("0002_who_wrote_it.sql", AUTHORS))


def schema(path: Path) -> list[tuple[str, ...]]:
    with closing(sqlite3.connect(path)) as database:
        return database.execute("SELECT type, name, sql FROM sqlite_master ORDER BY name").fetchall()


class TestApplying:
    async def test_to_an_old_file_copies_that_first_and_leads_to_the_same_schema(
        self,
        tmp_path: Path,
        path: Path,
        url: str,
        first: tuple[Migration, ...],
        second: tuple[Migration, ...],
    ) -> None:
        async with open_database(url) as database:
            await apply_pending(database, first)
            before = schema(path)
            assert await apply_pending(database, second) == second[1:]
            assert await list_pending(database, second) == ()
            assert await database.query("SELECT version, description FROM schema_migrations") == [
                *((1, "notes"), (2, "who wrote it"))
            ]
            assert await database.query("SELECT text, author FROM notes") == [("最初の; メモ", 7)]
        async with open_database(f"sqlite:///{tmp_path}/new.db") as database:
            await apply_pending(database, second)
        assert schema(path) == schema(tmp_path / "new.db")
        copy = tmp_path / "sessions.before-v2.db"
        assert mode(copy) == 0o600
        assert schema(copy) == before

    async def test_a_failing_statement_leaves_nothing_of_its_file(
        self, tmp_path: Path, path: Path, url: str, first: tuple[Migration, ...]
    ) -> None:
        half = "CREATE TABLE half (id INTEGER);\nINSERT INTO nowhere VALUES (1);"
        broken = folder_of(tmp_path / "broken", ("0001_notes.sql", NOTES), ("0002_broken.sql", half))
        async with open_database(url) as database:
            await apply_pending(database, first)
            before = schema(path)
            with pytest.raises(UpgradeFailed) as refused:
                await apply_pending(database, broken)
            assert refused.value.params["version"] == 2
            assert await list_pending(database, broken) == broken[1:]
        assert schema(path) == before

    async def test_by_two_programs_at_once_happens_once(
        self, url: str, second: tuple[Migration, ...]
    ) -> None:
        async def start() -> tuple[Migration, ...]:
            async with open_database(url) as database:
                return await apply_pending(database, second)

        applied = await asyncio.gather(*(start() for _ in range(6)))
        assert sorted(migration.version for mine in applied for migration in mine) == [1, 2]
        async with open_database(url) as database:
            assert await database.query("SELECT count(*) FROM notes") == [(1,)]

    async def test_a_newer_database_is_refused_and_left_as_it_is(
        self, path: Path, url: str, first: tuple[Migration, ...], second: tuple[Migration, ...]
    ) -> None:
        async with open_database(url) as database:
            await apply_pending(database, second)
        before = schema(path)
        async with open_database(url) as database:
            with pytest.raises(DatabaseNewer) as refusal:
                await apply_pending(database, first)
        assert refusal.value.params == {"path": str(path), "found": 2, "known": 1}
        assert schema(path) == before


async def store(url: str, version: int, *statements: str) -> None:
    """Have this in a file of that version."""
    async with open_database(url) as database:
        await apply_pending(database, known_migrations()[:version])
        await database.transaction([Statement(each) for each in statements], ())


def version_before(description: str) -> int:
    [version] = [each.version for each in known_migrations() if each.description == description]
    return version - 1


MEMORY = (
    "INSERT INTO memories"
    " (user_id, content, category, tags, metadata, created_at, updated_at, search_content)"
    f" VALUES ({ME}, '猫が好き', 'general', '[]', '{{}}', '{AT}', '{AT}', '猫が好き')"
)


def dump(path: Path, columns: Mapping[str, str]) -> list[tuple[object, ...]]:
    with closing(sqlite3.connect(path)) as database:
        return [
            row
            for table, names in columns.items()
            for row in database.execute(f"SELECT {names} FROM {table}")
        ]


class TestWhatIsStored:
    async def test_of_conversations_keeps_every_row_and_is_gone_on_with(self, path: Path, url: str) -> None:
        await store(url, version_before("channels"), *MESSAGES, MEMORY)
        with closing(sqlite3.connect(path)) as old:
            columns = {
                table: ", ".join(
                    name for (name,) in old.execute(f"SELECT name FROM pragma_table_info('{table}')")
                )
                for table in ("sessions", "messages", "memories")
            }
        before = dump(path, columns)
        async with open_database(url) as database:
            await apply_pending(database)
        assert dump(path, columns) == before
        assert dump(path.with_name(f"sessions.before-v{len(known_migrations())}.db"), columns) == before
        async with open_stores(url) as stores:
            channel = ChannelKey(KEY.channel_id)
            assert await stores.channels.add(channel, Message("user", "新しい発言", discord_id=12))
            assert not await stores.channels.add(channel, Message("user", "重なる番号", discord_id=10))
            assert await stores.channels.get_session_key(11) == KEY
            page = await stores.blocks.get_page(channel, first=0, before=99, limit=9)
            assert [(each.id, each.content) for each in page] == [(12, "新しい発言")]
            [memory] = await stores.memories.search(ME, "猫")
            assert (memory.content, memory.number) == ("猫が好き", 1)

    async def test_of_reminders_is_taken_for_what_others_may_have_written(self, path: Path, url: str) -> None:
        await store(url, 16)
        change(path, SCHEDULE)
        async with open_stores(url):
            pass
        with closing(sqlite3.connect(path)) as connection:
            assert connection.execute("SELECT tainted FROM schedules").fetchall() == [(1,)]
