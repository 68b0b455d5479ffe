"""The server of the database is away, and people press buttons, ask, and end the program meanwhile."""

import asyncio
from collections.abc import AsyncIterator, Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from typing import Final

import pytest

from tests.end_to_end.memories import keep, menu_id, row_of, run
from tests.end_to_end.stage import Stage, running_stage, streaming
from tests.loopback.discord import Reply
from tests.loopback.model_server import Hang, Say, says
from tests.loopback.model_server import Reply as Said
from tests.postgres_cluster import Server, folder, running_server

pytestmark = pytest.mark.postgresql("a file is not away")

ANSWER: Final = "はい、どうぞ。"
PIECES: Final = 6
BEGUN: Final = "書きかけ"
A_MINUTE_S: Final = 60.0
AWAY: Final = ("保存場所につながりません", "保存できませんでした")


@pytest.fixture
def server() -> Iterator[Server]:
    with folder() as where, running_server(where) as server:
        yield server


@contextmanager
def stopped(server: Server) -> Iterator[None]:
    server.kill()
    try:
        yield
    finally:
        server.start()


@pytest.fixture(params=[stopped, Server.halted], ids=["gone", "halted"])
def away(request: pytest.FixtureRequest, server: Server) -> AbstractContextManager[None]:
    """Meanwhile nothing comes of it."""
    outage: AbstractContextManager[None] = request.param(server)
    return outage


@pytest.fixture
async def stage(server: Server, tmp_path: Path) -> AsyncIterator[Stage]:
    async with running_stage(tmp_path, {"CC_BOT_DATABASE_URL": server.url}) as stage:
        yield stage
        stage.check()


async def is_told(reply: Reply) -> None:
    """Wait until its user reads that nothing can be kept."""
    await reply.until(
        lambda shown: any(words in shown.text for words in AWAY), "a word", timeout_s=A_MINUTE_S
    )


async def test_a_press_is_accepted_and_told_of_the_trouble_and_stop_ends_an_answer(
    stage: Stage, away: AbstractContextManager[None]
) -> None:
    channel = stage.discord.guild_channel()
    users = [stage.discord.user(f"user {number}", locale="ja") for number in range(5)]
    answers = [await stage.ask_in_words(user, channel, ANSWER) for user in users[:2]]
    number = await keep(stage, users[2], channel, "水曜は在宅")
    card = await run(stage, users[2], channel, "show", id=number)
    await keep(stage, users[3], channel, "鍵は机の上")
    listed = await run(stage, users[3], channel, "list")
    row = str(row_of(stage, users[3], 1))
    stage.model.script(Said(Say(BEGUN), Hang()))
    begun = await streaming(await stage.begin(users[4], channel), BEGUN)
    with away:
        pressed = [
            await stage.discord.click(users[0], answers[0].message, "もう一度答える"),
            await stage.discord.click(users[1], answers[1].message, "もう一度答える"),
            await stage.discord.click(users[2], card.message, "編集"),
            await stage.discord.select(users[3], listed.message, menu_id(listed), row),
        ]
        again = await stage.discord.click(users[0], answers[0].message, "もう一度答える")
        stopping = await stage.discord.click(users[4], begun.message, "止める")
        await asyncio.gather(*(reply.acknowledged() for reply in (*pressed, again, stopping)))
        await asyncio.gather(*map(is_told, pressed))
        await begun.until(lambda shown: "止める" not in shown.labels, "the end", timeout_s=A_MINUTE_S)
    assert not any(words in again.text for words in AWAY)
    assert [answer.text.startswith(ANSWER) for answer in answers] == [True, True]
    assert BEGUN in begun.text


async def test_a_program_that_is_told_to_stop_ends_every_answer_with_what_was_said_which_stays(
    stage: Stage, away: AbstractContextManager[None]
) -> None:
    channel = stage.discord.guild_channel()
    stage.model.responder = lambda _: says(*[ANSWER] * PIECES, delay_s=0.3)
    users = [stage.discord.user(f"user {number}", locale="ja") for number in range(4)]
    replies = await asyncio.gather(*(stage.begin(user, channel) for user in users))
    await asyncio.gather(*(streaming(reply, ANSWER) for reply in replies))
    with away:
        assert await stage.program.stop() == 0
    for reply in replies:
        assert reply.text.startswith(ANSWER * PIECES)
        assert any(words in reply.text for words in AWAY)
        assert reply.labels == []
    before = [reply.text for reply in replies]
    await stage.discord.gone()
    await stage.start()
    stage.model.responder = lambda _: says(ANSWER)
    await stage.ask(stage.discord.user("Ben", locale="ja"), channel)
    await stage.eventually("SELECT count(*) FROM turns", gives=[(0,)])
    assert [reply.text for reply in replies] == before
