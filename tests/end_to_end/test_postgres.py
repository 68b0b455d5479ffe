"""The whole program over a database on a server: killed and asked again, and with a server that dies."""

import asyncio
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Final

import asyncpg
import pytest

from tests.end_to_end.stage import Stage, answered, ended, running_stage
from tests.loopback.discord import Reply
from tests.loopback.model_server import says
from tests.postgres_cluster import Server, pair, pooled, url_of

pytestmark = pytest.mark.postgresql("its own engine")

ASKING: Final = 12
ANSWER: Final = "はい、どうぞ。"


@pytest.fixture(params=["straight", "pgbouncer"])
def url(request: pytest.FixtureRequest, url: str) -> Iterator[str]:
    """Where the database is; behind a pooler, one with fewer connections than the program asks for."""
    if request.param == "straight":
        yield url
        return
    with pooled(url, size=2) as other:
        yield other


@pytest.fixture
def servers() -> Iterator[tuple[Server, Server]]:
    with pair() as both:
        yield both


async def test_answers_remembers_and_goes_on_after_a_kill(url: str, tmp_path: Path) -> None:
    settings = {"CC_BOT_DATABASE_URL": url, "CC_BOT_DATA_FOLDER": str(tmp_path)}
    async with running_stage(tmp_path, settings) as stage:
        aiko, channel = stage.discord.user("Aiko", locale="ja"), stage.discord.guild_channel()
        stage.model.script(says("いい名前ですね。"))
        assert (await stage.ask(aiko, channel, "犬の名前はポチです")).text.startswith("いい名前ですね。")
        assert "水曜は在宅" in await stage.told(aiko, channel, "memory add", content="水曜は在宅")
        await stage.restart()
        stage.model.script(says("ポチです。"))
        assert (await stage.ask(aiko, channel, "犬の名前は？")).text.startswith("ポチです。")
        said = [each["content"] for each in stage.model.requests[-1].messages if each["role"] != "system"]
        assert said[-3:] == ["犬の名前はポチです", "いい名前ですね。", "犬の名前は？"]
        assert "水曜は在宅" in await stage.told(aiko, channel, "memory search", query="在宅")
        assert not [*tmp_path.rglob("*.db")]  # noqa: ASYNC240 - a look at the end
        assert "Traceback" not in stage.program.output


async def asked_at_once(stage: Stage) -> Sequence[Reply]:
    """Questions of as many people, acknowledged."""
    stage.model.script(*(says(ANSWER, delay_s=0.1) for _ in range(ASKING)))
    users = [stage.discord.user(f"user {number}", locale="ja") for number in range(ASKING)]
    channels = [stage.discord.guild_channel() for _ in users]
    return await asyncio.gather(*map(stage.begin, users, channels))


async def stored_of(server: Server) -> Mapping[int, Sequence[str]]:
    """The roles of each user's messages, in their order."""
    connection = await asyncpg.connect(server.url)
    try:
        rows = await connection.fetch("SELECT user_id, role FROM messages ORDER BY id")
    finally:
        await connection.close()
    found = defaultdict[int, list[str]](list)
    for user_id, role in rows:
        found[user_id].append(role)
    return found


async def test_goes_on_with_the_standby_of_a_server_that_dies(
    servers: tuple[Server, Server], tmp_path: Path
) -> None:
    """Everyone is answered or told, and what is shown as an answer is kept, once."""
    first, second = servers
    url = url_of(first, second, target_session_attrs="read-write")
    settings = {"CC_BOT_DATABASE_URL": url, "CC_BOT_DATA_FOLDER": str(tmp_path), "CC_BOT_MAX_TURNS": "16"}
    async with running_stage(tmp_path, settings) as stage:
        before = await asked_at_once(stage)
        await asyncio.gather(*map(answered, before))
        during = await asked_at_once(stage)
        await asyncio.to_thread(first.kill)
        late = asyncio.create_task(asked_at_once(stage))
        await asyncio.to_thread(second.promote)
        await asyncio.gather(*map(ended, [*during, *await late]))
        after = await asked_at_once(stage)
        await asyncio.gather(*map(answered, after))
        stage.check()
        kept = await stored_of(second)
        for reply in (*before, *during, *await late, *after):
            shown = ANSWER in reply.text
            stored = kept.get(reply.interaction.user.id, [])
            assert stored == ["user", "assistant"] or (not shown and not stored)
        assert "Traceback" not in stage.program.output
