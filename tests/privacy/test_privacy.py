"""Erasing a user: not while an answer is on its way, and to its end, whatever came in between."""

import asyncio
import sqlite3
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, closing, suppress
from pathlib import Path
from typing import Final
from unittest.mock import patch

import pytest
from structlog.testing import capture_logs

from cc_bot.chat.stores.opening import Stores, open_stores
from cc_bot.domain.errors import ErasureUnfinished
from cc_bot.features.privacy import service
from cc_bot.features.privacy.model import Retention
from cc_bot.features.privacy.service import Privacy
from tests.databases import laid_out

ME: Final = 123456789012345678
YOU: Final = 223456789012345678


@pytest.fixture
async def stores(tmp_path: Path) -> AsyncIterator[Stores]:
    async with open_stores(laid_out(tmp_path / "sessions.db")) as opened:
        yield opened


@asynccontextmanager
async def nobody_waits(_: int) -> AsyncIterator[None]:
    yield


async def nothing_counts(_: int) -> None:
    pass


def privacy_of(stores: Stores) -> Privacy:
    return Privacy(stores, nobody_waits, get_counted_day=nothing_counts, retention=Retention())


@asynccontextmanager
async def finishing(privacy: Privacy) -> AsyncIterator[None]:
    """In the background, as beside the whole program, and sooner."""
    with patch.object(service, "RETRY_S", 0.01):
        task = asyncio.create_task(privacy.keep_finishing())
        try:
            yield
        finally:
            task.cancel()
            with suppress(asyncio.CancelledError):
                await task


async def soon(privacy: Privacy, user_id: int = ME) -> None:
    """Wait until nothing of this user is left to erase."""
    async with asyncio.timeout(60):
        while await privacy.is_being_erased(user_id):  # noqa: ASYNC110 - no event comes out of a file
            await asyncio.sleep(0.01)


def change(folder: Path, sql: str) -> None:
    with closing(sqlite3.connect(folder / "sessions.db")) as database, database:
        database.execute(sql)


class TestErasing:
    async def test_waits_until_no_turn_of_the_user_is_on_its_way(self, stores: Stores) -> None:
        seen = []

        @asynccontextmanager
        async def turns_end(user_id: int) -> AsyncIterator[None]:
            seen.append((user_id, await stores.memories.count(ME)))
            yield
            seen.append((user_id, await stores.memories.count(ME)))

        await stores.memories.add(ME, "しまうまが好き")
        with capture_logs() as logs:
            held = await Privacy(
                stores, turns_end, get_counted_day=nothing_counts, retention=Retention()
            ).erase(ME)
        assert seen == [(ME, 1), (ME, 0)]
        assert held.count("memories") == 1
        [record] = logs
        assert (record["event"], record["rows"]) == ("user_erased", 1)
        assert str(ME) not in str(record)


class TestErasureThatFailsOnTheWay:
    STAND_IN_THE_WAY = (
        "CREATE TRIGGER in_the_way BEFORE DELETE ON memories BEGIN SELECT RAISE(ABORT, 'not now'); END"
    )

    async def test_says_that_the_rest_goes_by_itself_and_it_does_holding_up_nobody_elses(
        self, stores: Stores, tmp_path: Path
    ) -> None:
        privacy, other = privacy_of(stores), 323456789012345678
        for user_id in (ME, YOU, other):
            await stores.memories.add(user_id, "しまうまが好き")
        async with finishing(privacy):
            change(tmp_path, self.STAND_IN_THE_WAY.replace("BEGIN", f"WHEN OLD.user_id = {ME} BEGIN"))
            with pytest.raises(ErasureUnfinished):
                await privacy.erase(ME)
            assert await privacy.is_being_erased(ME)
            change(tmp_path, f"INSERT INTO erasing (user_id, since) VALUES ({YOU}, 0)")  # as a kill leaves it
            await soon(privacy, YOU)
            assert await privacy.is_being_erased(ME)
            change(tmp_path, "DROP TRIGGER in_the_way")
            await soon(privacy)
            assert not await privacy.is_being_erased(other)
        assert [await stores.memories.count(each) for each in (ME, YOU, other)] == [0, 0, 1]

    async def test_and_is_asked_for_once_more_spares_what_is_stored_afterwards(
        self, stores: Stores, tmp_path: Path
    ) -> None:
        third = 323456789012345678
        asked, again = asyncio.Event(), asyncio.Event()

        @asynccontextmanager
        async def turns_end(user_id: int) -> AsyncIterator[None]:
            if user_id == ME:
                asked.set()
                await again.wait()
            yield

        privacy = Privacy(stores, turns_end, get_counted_day=nothing_counts, retention=Retention())
        change(tmp_path, f"INSERT INTO erasing (user_id, since) VALUES ({ME}, 0), ({YOU}, 0), ({third}, 0)")
        async with finishing(privacy):
            await asked.wait()
            await privacy.erase(YOU)
            await stores.memories.add(YOU, "きりんが好き")
            again.set()
            await soon(privacy, third)
        assert await stores.memories.count(YOU) == 1


class TestStop:
    """Another process has a turn of the user's, and does not end it."""

    @pytest.fixture
    def waiting(self, stores: Stores, monkeypatch: pytest.MonkeyPatch) -> asyncio.Event:
        looked = asyncio.Event()

        async def has_turn_elsewhere(_: int) -> bool:
            looked.set()
            return True

        monkeypatch.setattr(stores.personal_data, "has_turn_elsewhere", has_turn_elsewhere)
        return looked

    async def test_leaves_what_waits_to_whoever_finishes_it(
        self, stores: Stores, waiting: asyncio.Event
    ) -> None:
        privacy = privacy_of(stores)
        erasing = asyncio.create_task(privacy.erase(ME))
        await waiting.wait()
        await privacy.drain(0.05)
        with pytest.raises(ErasureUnfinished):
            await erasing
        assert await privacy.is_being_erased(ME)
