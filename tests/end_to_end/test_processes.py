"""Several processes that are one bot: on one database, each with its own shards."""

import asyncio
import time
from collections.abc import AsyncIterator, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import asyncpg
import pytest
import pytest_asyncio

from tests.end_to_end.memories import press
from tests.end_to_end.program import Program
from tests.end_to_end.stage import Stage, set_stage, stop_label, streaming
from tests.end_to_end.test_privacy import run
from tests.loopback.discord import Channel, Guild, LoopbackDiscord, Reply, User
from tests.loopback.model_server import Reply as Answer
from tests.loopback.model_server import Say, Wait, says

pytestmark = pytest.mark.postgresql("a file is used by one")

SHARDS: Final = 4


@dataclass(eq=False)
class Fleet:
    """Two programs: the first has shards 0 and 1, the second 2 and 3."""

    stage: Stage
    url: str
    programs: list[Program]
    guilds: dict[int, Guild]

    def channel(self, of: int) -> Channel:
        """In a server of one of the programs."""
        return self.stage.discord.guild_channel(guild=self.guilds[2 * of])

    async def begin(self, of: int) -> None:
        program = self.programs[of]
        program.environment |= {"CC_BOT_SHARDS": f"{2 * of}-{2 * of + 1}", "CC_BOT_SHARD_COUNT": "4"}
        await program.start("run")

    async def begin_all(self) -> None:
        for of in range(2):
            await self.begin(of)
        for of in range(2):
            await self.is_up(of)

    async def is_up(self, of: int, *, within_s: float = 60) -> None:
        async def connected() -> None:
            shards = {2 * of, 2 * of + 1}
            while not (shards <= self.connected and "つながりました" in self.programs[of].output):  # noqa: ASYNC110
                await asyncio.sleep(0.05)

        async with asyncio.timeout(within_s):
            await self.programs[of].lives_until(connected())

    @property
    def connected(self) -> set[int]:
        return {each.shard[0] for each in self.stage.discord.world.gateway.live()}

    async def rows(self, sql: str, *values: object) -> Sequence[asyncpg.Record]:
        connection = await asyncpg.connect(self.url)
        try:
            return await connection.fetch(sql, *values)
        finally:
            await connection.close()


@asynccontextmanager
async def fleet_of(folder: Path, url: str) -> AsyncIterator[Fleet]:
    discord = LoopbackDiscord(message_content=True, shards=SHARDS)
    async with AsyncExitStack() as opened:
        settings = {
            "CC_BOT_DATABASE_URL": url,
            "CC_BOT_DATA_FOLDER": str(folder),
            "CC_BOT_CHANNELS": "all",
            "CC_BOT_LOCALE": "ja",
        }
        stage = await opened.enter_async_context(set_stage(folder, settings, discord))
        other = Program(folder, {**stage.program.environment})
        opened.push_async_callback(other.close)
        guilds = {(discord.guild.id >> 22) % SHARDS: discord.guild}
        while len(guilds) < SHARDS:
            await asyncio.sleep(0.001)
            guild = discord.add_guild("サーバー")
            guilds.setdefault((guild.id >> 22) % SHARDS, guild)
        yield Fleet(stage, url, [stage.program, other], guilds)


@pytest_asyncio.fixture(loop_scope="session")
async def fleet(tmp_path: Path, url: str) -> AsyncIterator[Fleet]:
    async with fleet_of(tmp_path, url) as fleet:
        await fleet.begin_all()
        yield fleet


async def test_each_answers_in_its_own_servers_and_owners_see_all(fleet: Fleet) -> None:
    for of in range(2):
        user, channel = fleet.stage.discord.user(f"user {of}", locale="ja"), fleet.channel(of)
        fleet.stage.model.script(says(f"{of} です。"))
        assert (await fleet.stage.ask(user, channel, "どちらですか")).text.startswith(f"{of} です。")
    told = await fleet.stage.told(fleet.stage.discord.owner, fleet.channel(0), "admin status")
    assert "0-1" in told
    assert "2-3" in told
    assert told.count("reminders") == 1
    assert not [*fleet.stage.program.folder.rglob("*.db")]


def shards_of(of: int) -> str:
    return f"[{2 * of}, {2 * of + 1}]"


async def eventually(fleet: Fleet, sql: str, *values: object) -> None:
    """Wait until the database says yes."""
    async with asyncio.timeout(60):
        while (await fleet.rows(sql, *values))[0][0] is not True:  # noqa: ASYNC110 - it tells nobody
            await asyncio.sleep(0.2)


async def dies_for_all(fleet: Fleet, of: int) -> None:
    await fleet.rows("UPDATE processes SET until = 0 WHERE shards = $1", shards_of(of))


async def test_a_user_who_asks_in_two_at_once_has_both_answers_kept(fleet: Fleet) -> None:
    stage, go_on = fleet.stage, asyncio.Event()
    aiko = stage.discord.user("Aiko", locale="ja")
    stage.model.script(Answer(Say("一つ目"), Wait(go_on), *says("です。").steps), says("二つ目です。"))
    first = await stage.begin(aiko, fleet.channel(0), "一")
    await streaming(first, "一つ目")
    assert (await stage.ask(aiko, fleet.channel(1), "二")).text.startswith("二つ目です。")
    go_on.set()
    await first.until(lambda shown: "一つ目です。" in shown.text, "the first answer")
    kept = "SELECT count(*) = 4 FROM messages WHERE user_id = $1"
    await eventually(fleet, kept, aiko.id)


async def test_an_erased_user_has_no_answer_stored_anywhere(fleet: Fleet) -> None:
    stage, never = fleet.stage, asyncio.Event()
    aiko = stage.discord.user("Aiko", locale="ja")
    stage.model.script(Answer(Say("消える答え"), Wait(never), *says("です。").steps))
    streams = await stage.begin(aiko, fleet.channel(0), "消える質問")
    await streaming(streams, "消える答え")
    erasing = await run(stage, aiko, fleet.channel(1), "erase")
    erased = await press(stage, aiko, erasing, "すべて消す")
    assert "すべて消しました" in erased.text
    await streams.until(lambda shown: stop_label(streams) not in shown.labels, "the end of the answer")
    never.set()
    async with stage.patience():
        await stage.model.requests[-1].disconnected.wait()
    for table in ("messages", "sessions", "turns", "reservations", "erasing"):
        assert not await fleet.rows(f"SELECT 1 FROM {table} WHERE user_id = $1", aiko.id)


async def begins_an_answer(fleet: Fleet) -> tuple[User, Reply]:
    aiko = fleet.stage.discord.user("Aiko", locale="ja")
    fleet.stage.model.script(Answer(Say("途中まで"), Wait(asyncio.Event())))
    reply = await fleet.stage.begin(aiko, fleet.channel(0), "続きは？")
    return aiko, await streaming(reply, "途中まで")


async def test_shards_that_another_holds_are_refused(fleet: Fleet) -> None:
    folder, environment = fleet.stage.program.folder, fleet.stage.program.environment
    runs = [
        Program(folder, {**environment, "CC_BOT_SHARDS": shards, "CC_BOT_SHARD_COUNT": count}).run("run")
        for shards, count in (("1", "4"), ("5", "8"), ("", ""))
    ]
    for code, output in await asyncio.gather(*runs):
        assert code == 2
        assert "動いていれば起動をやめます" in output
        assert output.rstrip().endswith("同じ CC_BOT_SHARD_COUNT を指定してください。")


async def test_a_killed_process_leaves_its_answer_to_another(fleet: Fleet) -> None:
    stage = fleet.stage
    aiko, reply = await begins_an_answer(fleet)
    await fleet.programs[0].kill()
    await dies_for_all(fleet, 0)
    await reply.until(lambda shown: any("もう一度" in label for label in shown.labels), "an offer")
    settled = "SELECT count(*) = 0 FROM reservations WHERE user_id = $1 AND tokens > 0"
    await eventually(fleet, settled, aiko.id)
    stage.model.script(says("はい。"))
    await fleet.begin(0)
    await fleet.is_up(0)
    assert (await stage.ask(aiko, fleet.channel(0), "では？")).text.startswith("はい。")


async def test_a_duty_goes_to_another_as_its_process_leaves(fleet: Fleet) -> None:
    stage = fleet.stage
    aiko = stage.discord.user("Aiko", locale="ja")
    await stage.told(aiko, fleet.channel(1), "remind add", text="薬", when="10分後")
    [[holder]] = await fleet.rows(
        "SELECT p.shards FROM duties AS d JOIN processes AS p ON p.name = d.process"
        " WHERE d.name = 'reminders'"
    )
    of = 0 if holder == "[0, 1]" else 1
    await fleet.programs[of].stop()
    now_ms = int(time.time() * 1000)
    await fleet.rows("UPDATE schedules SET due_at = $2 WHERE user_id = $1", aiko.id, now_ms)
    await eventually(fleet, "SELECT count(*) = 1 FROM firings WHERE user_id = $1 AND state = 'sent'", aiko.id)
    await fleet.begin(of)
    await fleet.is_up(of)
    await stage.discord.quiet()
    [[count]] = await fleet.rows("SELECT count(*) FROM firings WHERE user_id = $1", aiko.id)
    assert count == 1
