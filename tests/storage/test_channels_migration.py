"""The step to channels: what was said before it stays as it was, and is nobody's channel."""

import sqlite3
from collections.abc import Mapping
from contextlib import closing
from pathlib import Path

from cc_bot.domain import Message, SessionKey
from cc_bot.domain.message import ChannelKey
from cc_bot.storage import Migration, Statement, apply_pending, open_database
from cc_bot.storage.migrate import known_migrations
from cc_bot.stores import open_stores

KEY = SessionKey(123456789012345678, 987654321098765432)
OLD_ROWS = (
    (
        "INSERT INTO sessions (id, user_id, channel_id, agent, created_at, last_active)"
        " VALUES ('s', $1, $2, 'default', $3, $3)",
        (KEY.user_id, KEY.channel_id, "2026-11-22T03:04:05.000000+00:00"),
    ),
    *(
        (
            "INSERT INTO messages (discord_id, session_id, user_id, channel_id, parent_channel_id, author_id,"
            " role, content, timestamp, created_at) VALUES ($1, 's', $2, $3, $3, $2, $4, $5, 0, 0)",
            (discord_id, KEY.user_id, KEY.channel_id, role, content),
        )
        for discord_id, role, content in (
            (10, "user", "昔の質問"),
            (11, "assistant", "昔の答え"),
            (None, "user", "An old question"),
            (None, "assistant", "An old answer"),
        )
    ),
    (
        "INSERT INTO memories (user_id, content, category, created_at, updated_at, search_content)"
        " VALUES ($1, '猫が好き', 'general', $2, $2, '猫が好き')",
        (KEY.user_id, "2026-11-22T03:04:05.000000+00:00"),
    ),
)


def before_channels() -> tuple[Migration, ...]:
    known = known_migrations()
    [channels] = [migration.version for migration in known if migration.description == "channels"]
    return known[: channels - 1]


def dump(path: Path, columns: Mapping[str, str]) -> list[tuple[object, ...]]:
    with closing(sqlite3.connect(path)) as database:
        return [
            row
            for table, names in columns.items()
            for row in database.execute(f"SELECT {names} FROM {table}")
        ]


def columns_of(path: Path, *tables: str) -> dict[str, str]:
    """The columns that the tables have now; later ones are none of this step's."""
    with closing(sqlite3.connect(path)) as database:
        return {
            table: ", ".join(
                name for (name,) in database.execute(f"SELECT name FROM pragma_table_info('{table}')")
            )
            for table in tables
        }


def schema(path: Path) -> set[tuple[object, ...]]:
    with closing(sqlite3.connect(path)) as database:
        return {*database.execute("SELECT type, name, sql FROM sqlite_master")}


class TestUpgrade:
    async def test_keeps_every_row_and_ends_in_the_schema_of_a_new_file(self, tmp_path: Path) -> None:
        old, new = tmp_path / "old.db", tmp_path / "new.db"
        async with open_database(f"sqlite:///{old}") as database:
            await apply_pending(database, before_channels())
            await database.transaction([Statement(*row) for row in OLD_ROWS], ())
        columns = columns_of(old, "sessions", "messages", "memories")
        before = dump(old, columns)
        for path in (old, new):
            async with open_database(f"sqlite:///{path}") as database:
                await apply_pending(database)
        assert dump(old, columns) == before
        assert schema(old) == schema(new)
        copy = tmp_path / f"old.before-v{known_migrations()[-1].version}.db"
        assert dump(copy, columns) == before

    async def test_makes_no_channel_of_what_was_said_in_sessions(self, tmp_path: Path) -> None:
        url = f"sqlite:///{tmp_path}/old.db"
        async with open_database(url) as database:
            await apply_pending(database, before_channels())
            await database.transaction([Statement(*row) for row in OLD_ROWS], ())
        async with open_stores(url) as stores:
            key = ChannelKey(KEY.channel_id)
            assert await stores.channels.list_places(limit=9) == ()
            assert await stores.channels.get_newest_answer(key) is None
            assert await stores.channels.add(key, Message("user", "新しい発言", discord_id=12))
            assert not await stores.channels.add(key, Message("user", "重なる番号", discord_id=10))
            assert await stores.channels.get_session_key(11) == KEY
            [row] = await stores.channels.list_places(limit=9)
            assert row.newest_id == 12
