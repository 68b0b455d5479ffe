"""More questions at a time than are answered: who waits sees where they stand, and may leave."""

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
import pytest_asyncio

from tests.end_to_end.stage import Stage, answered, ended, running_stage, stop_label, streaming
from tests.loopback.discord import Channel, Reply, User
from tests.loopback.model_server import End, Hang, Say, Wait, says
from tests.loopback.model_server import Reply as Answer

PLACES = 8


@pytest_asyncio.fixture(scope="module", loop_scope="session")
async def shared_stage(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Stage]:
    async with running_stage(tmp_path_factory.mktemp("cc-bot"), {"CC_BOT_MAX_TURNS": str(PLACES)}) as stage:
        yield stage


async def all_places_taken(stage: Stage, channel: Channel) -> list[tuple[User, Reply]]:
    stage.model.script(*(Answer(Say("One moment"), Hang()) for _ in range(PLACES)))
    users = [stage.discord.user(f"User{number}") for number in range(PLACES)]
    begun = [(user, await stage.begin(user, channel)) for user in users]
    for _, reply in begun:
        await streaming(reply, "One moment")
    return begun


class TestLine:
    async def test_shows_how_many_are_ahead_and_lets_whoever_wants_to_leave(
        self, stage: Stage, aiko: User, ben: User, channel: Channel
    ) -> None:
        busy = await all_places_taken(stage, channel)
        first = await streaming(await stage.begin(aiko, channel), "順番を待っています…（次です）")
        second = await streaming(await stage.begin(ben, channel), "Waiting in line… (1 ahead)")
        await stage.discord.click(aiko, first.message, stop_label(aiko))
        assert "回答を止めました" in (await ended(first)).text
        assert len(stage.model.requests) == PLACES
        stage.model.script(says("Here you are."))
        user, running = busy.pop()
        await stage.discord.click(user, running.message, stop_label(user))
        assert "Here you are." in (await answered(second)).text
        for user, running in busy:
            await stage.discord.click(user, running.message, stop_label(user))
            await ended(running)


class TestNoLine:
    async def test_twenty_people_are_answered_at_once_as_it_is_set_up(self, tmp_path: Path) -> None:
        go = asyncio.Event()
        async with running_stage(tmp_path, {}) as stage:
            stage.model.responder = lambda _: Answer(Say("One moment"), Wait(go), End())
            for number in range(20):
                await stage.begin(stage.discord.user(f"User{number}"), stage.discord.guild_channel())
            await stage.model.arrived(20)
            go.set()
            await stage.discord.quiet(0.5)
