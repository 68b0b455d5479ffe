import asyncio
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Final

import pytest

from cc_bot.domain.errors import DatabaseReadOnly, DatabaseUnreachable
from tests.end_to_end.stage import Stage, answered, running_stage
from tests.faults.campaign import campaign
from tests.loopback.discord import Reply
from tests.loopback.model_server import says
from tests.postgres_cluster import Server, folder, running_server

pytestmark = pytest.mark.postgresql("a file has no server")

WAVES: Final = 6
A_MINUTE_S: Final = 60.0
ANSWER: Final = "Here you are."


@pytest.fixture
def server() -> Iterator[Server]:
    with folder() as where, running_server(where) as server:
        yield server


class TestCampaign:
    async def test_over_a_server_that_is_killed_again_and_again_loses_nothing(
        self, seed: int, server: Server, tmp_path: Path
    ) -> None:
        async with campaign(tmp_path, f"server {seed}", {"CC_BOT_DATABASE_URL": server.url}) as fought:
            for _ in range(WAVES):
                wave = asyncio.create_task(fought.traffic.wave())
                await asyncio.sleep(fought.rng.uniform(0.0, 1.6))
                await asyncio.to_thread(server.kill)
                await asyncio.to_thread(server.start)
                await wave
                await fought.traffic.settled()
            await fought.ends_well(f"seed {seed}")


@asynccontextmanager
async def started(folder: Path, server: Server) -> AsyncIterator[Stage]:
    """The program over a server that works."""
    async with running_stage(folder, {"CC_BOT_DATABASE_URL": server.url}) as stage:
        stage.model.responder = lambda _: says(ANSWER)
        await asked(stage, 1)
        yield stage
        await asked(stage, 2)  # as it does when the trouble is over
        stage.check()


async def asked(stage: Stage, people: int) -> None:
    """New people ask and are answered."""
    await asyncio.gather(*map(answered, await begun(stage, people)))


async def begun(stage: Stage, people: int) -> list[Reply]:
    users = [stage.discord.user(f"user {each}", locale="en-US") for each in range(people)]
    return await asyncio.gather(*(stage.begin(user, stage.discord.guild_channel()) for user in users))


async def told(reply: Reply, *words: str) -> None:
    """Wait until one of these can be read."""
    await reply.until(
        lambda shown: any(each in shown.text or each in shown.labels for each in words),
        " or ".join(words),
        timeout_s=A_MINUTE_S,
    )


class TestServer:
    async def test_that_takes_no_changes_is_told_and_over_as_soon_as_it_does(
        self, server: Server, tmp_path: Path
    ) -> None:
        async with started(tmp_path, server) as stage:
            await server.change("default_transaction_read_only = on")
            for reply in await begun(stage, 3):
                await told(reply, DatabaseReadOnly.en)
            await stage.logs("DatabaseReadOnly")
            await server.change("default_transaction_read_only = off")

    async def test_that_is_halted_is_told_and_over_as_soon_as_it_goes_on(
        self, server: Server, tmp_path: Path
    ) -> None:
        async with started(tmp_path, server) as stage:
            with server.halted():
                for reply in await begun(stage, 3):
                    await told(reply, DatabaseUnreachable.en)
            await stage.logs("DatabaseUnreachable")
