"""Erasing a user: not while an answer is on its way, and to its end, whatever came in between."""

import sqlite3
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, closing
from pathlib import Path
from typing import Final

import pytest
from structlog.testing import capture_logs

from cc_bot.domain.errors import StorageError
from cc_bot.domain.privacy import Retention
from cc_bot.privacy import Privacy
from cc_bot.stores import Stores, open_stores
from tests.databases import laid_out

ME: Final = 123456789012345678


@pytest.fixture
async def stores(tmp_path: Path) -> AsyncIterator[Stores]:
    async with open_stores(laid_out(tmp_path / "sessions.db")) as opened:
        yield opened


@asynccontextmanager
async def nobody_waits(_: int) -> AsyncIterator[None]:
    yield


def privacy_of(stores: Stores) -> Privacy:
    return Privacy(stores, nobody_waits, retention=Retention())


class TestErasing:
    async def test_waits_until_no_turn_of_the_user_is_on_its_way(self, stores: Stores) -> None:
        seen = []

        @asynccontextmanager
        async def turns_end(user_id: int) -> AsyncIterator[None]:
            seen.append((user_id, await stores.memories.count(ME)))
            yield
            seen.append((user_id, await stores.memories.count(ME)))

        await stores.memories.add(ME, "しまうまが好き")
        held = await Privacy(stores, turns_end, retention=Retention()).erase(ME)
        assert seen == [(ME, 1), (ME, 0)]
        assert held.count("memories") == 1

    async def test_beside_a_reader_is_done_and_the_log_is_written_back_later(
        self, stores: Stores, tmp_path: Path
    ) -> None:
        await stores.memories.add(ME, "しまうまが好き")
        with closing(sqlite3.connect(tmp_path / "sessions.db", isolation_level=None)) as reader:
            reader.execute("BEGIN")
            reader.execute("SELECT count(*) FROM memories").fetchall()
            await privacy_of(stores).erase(ME)
            assert not await stores.memory_removal.write_back()
        assert await stores.memory_removal.write_back()
        assert "しまうま".encode() not in (tmp_path / "sessions.db").read_bytes()

    async def test_tells_the_log_how_much_and_not_whose(self, stores: Stores) -> None:
        await stores.memories.add(ME, "しまうまが好き")
        with capture_logs() as logs:
            await privacy_of(stores).erase(ME)
        [record] = logs
        assert (record["event"], record["rows"]) == ("user_erased", 1)
        assert str(ME) not in str(record)


class TestStart:
    async def test_goes_on_with_what_a_kill_interrupted(self, stores: Stores, tmp_path: Path) -> None:
        await stores.memories.add(ME, "しまうまが好き")
        with closing(sqlite3.connect(tmp_path / "sessions.db")) as database, database:
            database.execute("INSERT INTO erasing (user_id, since) VALUES (?, 0)", (ME,))
        await privacy_of(stores).go_on()
        assert await stores.memories.count(ME) == 0
        assert await stores.personal_erasure.list_begun() == ()

    async def test_without_anything_left_undone_erases_nobody(self, stores: Stores) -> None:
        await stores.memories.add(ME, "しまうまが好き")
        await privacy_of(stores).go_on()
        assert await stores.memories.count(ME) == 1

    async def test_is_no_matter_of_a_database_that_fails(self, tmp_path: Path) -> None:
        async with open_stores(laid_out(tmp_path / "sessions.db")) as closed:
            pass
        with pytest.raises(StorageError):
            await closed.personal_erasure.list_begun()
        with capture_logs() as logs:
            await privacy_of(closed).go_on()
        assert [each["event"] for each in logs] == ["erasing_failed"]


class TestExport:
    async def test_is_in_parts_of_the_wanted_size(self, stores: Stores) -> None:
        for number in range(20):
            await stores.memories.add(ME, f"メモ{number}" * 50)
        parts = [part async for part in privacy_of(stores).export(ME, most_bytes=8000)]
        assert len(parts) > 1
        assert all(len(part) <= 8000 for part in parts)
