from pathlib import Path

import pytest

from cc_bot.chat.stores.opening import open_stores
from cc_bot.db import open_database
from cc_bot.domain.message import ChannelKey
from cc_bot.domain.session import SessionKey
from tests.postgres_cluster import Server, folder, running_server
from tests.stores.backends import turn
from tests.stores.life import live

pytestmark = pytest.mark.postgresql("files have a test of their own")

ME, OTHER = 123456789012345678, 876543210987654321
MINE, THEIRS = "水曜は在宅", "金曜は出社"


async def test_is_in_no_file_of_a_table_once_the_server_has_cleaned_up(tmp_path: Path) -> None:
    with folder() as where, running_server(where) as server:
        async with open_stores(server.url, data_folder=tmp_path, embedder=None) as stores:
            for user_id, text in ((ME, MINE), (OTHER, THEIRS)):
                session = await stores.sessions.open(SessionKey(user_id, 2))
                await stores.sessions.commit_turn(session, turn(text))
                await stores.memories.add(user_id, text)
            await server.execute("ANALYZE", "CHECKPOINT")  # autovacuum takes samples of each column, too
            assert in_tables(server, MINE)
            await stores.personal_data.erase(ME)
        await server.execute("VACUUM FULL", "CHECKPOINT")
        assert not in_tables(server, MINE)
        assert not in_tables(server, str(ME))
        assert in_tables(server, THEIRS)


async def test_is_in_no_sample_that_the_server_takes_of_a_column(url: str, tmp_path: Path) -> None:
    async with (
        open_stores(url, data_folder=tmp_path, embedder=None) as stores,
        open_database(url) as database,
    ):
        for user_id, word in ((ME, "しまうま"), (OTHER, "しまりす")):
            await live(stores, database, user_id, word, channel=ChannelKey(3))
        await database.query("ANALYZE")
        sampled = await database.query(
            "SELECT tablename, attname FROM pg_stats WHERE schemaname = 'public' AND"
            " concat(most_common_vals, histogram_bounds, most_common_elems) LIKE $1",
            "%しま%",
        )
        assert [tuple(row) for row in sampled] == []
        assert await database.query("SELECT 1 FROM pg_stats WHERE tablename = 'messages'")


def in_tables(server: Server, text: str) -> bool:
    files = (server.data / "base").rglob("*")
    return any(text.encode() in file.read_bytes() for file in files if file.is_file())
