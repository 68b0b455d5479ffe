"""A server that dies under load and is followed by its standby: what was said to be kept is kept, once."""

import asyncio
from collections import Counter
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

import asyncpg
import pytest

from cc_bot.chat.stores.opening import Stores, open_stores
from cc_bot.domain.errors import CommitUncertain
from cc_bot.domain.message import ChannelKey, Message
from cc_bot.domain.session import SessionKey
from tests.postgres_cluster import Server, pair, url_of

pytestmark = pytest.mark.postgresql("a file has no standby")

USERS: Final = range(1, 17)
LOAD_S: Final = 0.5
"""Before the server dies, and after another one has taken its place."""


@pytest.fixture
def servers() -> Iterator[tuple[Server, Server]]:
    with pair() as both:
        yield both


@dataclass(slots=True)
class Load:
    stores: Stores
    acknowledged: list[str] = field(default_factory=list)
    uncertain: list[str] = field(default_factory=list)
    over: bool = False

    async def run(self) -> None:
        async with asyncio.TaskGroup() as group:
            for user_id in USERS:
                group.create_task(self._talk(user_id))

    async def _talk(self, user_id: int) -> None:
        sessions, number = self.stores.sessions, 0
        while not self.over:
            number += 1
            name = f"{user_id:02}の{number:04}"
            messages = (Message("user", f"質問{name}"), Message("assistant", f"答え{name}"))
            try:
                session = await sessions.open(SessionKey(user_id, 1000))
                await sessions.store_turn(session, messages, channel=ChannelKey(1000 + user_id))
            except CommitUncertain:
                self.uncertain.append(name)
            else:
                self.acknowledged.append(name)


@asynccontextmanager
async def under_load(url: str, folder: Path) -> AsyncIterator[Load]:
    """Load from before a server is lost until twice as much was acknowledged as before."""
    async with open_stores(url, data_folder=folder, embedder=None) as stores:
        load = Load(stores)
        running = asyncio.create_task(load.run())
        await asyncio.sleep(LOAD_S)
        yield load
        until = 2 * len(load.acknowledged)
        async with asyncio.timeout(60):
            while len(load.acknowledged) < until and not running.done():  # noqa: ASYNC110 - no event tells
                await asyncio.sleep(0.02)
        load.over = True
        await running


async def test_a_killed_server_loses_nothing_and_keeps_nothing_twice_or_by_half(
    servers: tuple[Server, Server], tmp_path: Path
) -> None:
    first, second = servers
    async with under_load(url_of(first, second, target_session_attrs="read-write"), tmp_path) as load:
        await asyncio.to_thread(first.kill)
        await asyncio.to_thread(second.promote)
    kept = await kept_in(second)
    assert load.acknowledged
    assert {*load.acknowledged} <= kept.keys() <= {*load.acknowledged, *load.uncertain}
    assert {*kept.values()} == {1}


async def kept_in(server: Server) -> Counter[str]:
    connection = await asyncpg.connect(server.url)
    try:
        rows = await connection.fetch("SELECT content FROM messages ORDER BY user_id, id")
    finally:
        await connection.close()
    said = [content for (content,) in rows]
    names = [content.removeprefix("質問") for content in said[::2]]
    assert said[1::2] == [f"答え{name}" for name in names]
    return Counter(names)
