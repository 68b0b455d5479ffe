"""Two whole programs between doubles: cc-bot as its operator starts it, and a bare bot (bare_bot.py).

Each is a process of its own with a Discord of its own; the doubles live in this process, for both alike.
"""

import asyncio
import os
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from itertools import count
from pathlib import Path
from time import perf_counter

from bench.bare_bot import ANSWER
from bench.soak import POLICY, ROOMY
from tests.end_to_end.program import Program
from tests.end_to_end.stage import again_label, set_stage
from tests.loopback.discord import Channel, LoopbackDiscord, Reply, User

ROOT = Path(__file__).resolve().parents[1]
PATIENCE_S = 60.0
QUESTION = "今日の天気はどうですか？"


@dataclass(slots=True)
class Scene:
    """A program, and those who ask it."""

    discord: LoopbackDiscord
    program: Program
    users: list[User] = field(default_factory=list)
    channels: list[Channel] = field(default_factory=list)
    _next: "count[int]" = field(default_factory=count)

    async def start(self) -> float:
        """Start it; the seconds until the last request of its start was answered."""
        began = asyncio.get_running_loop().time()
        await self.program.start("run")
        await self.program.lives_until(self.discord.ready())
        last = self.discord.transcript[-1]
        return last.at_s + last.took_s - began

    def fill(self, users: int) -> None:
        """People and channels."""
        self.users = [self.discord.user(f"user{n}", locale="ja") for n in range(users)]
        self.channels = [self.discord.guild_channel() for _ in range(users)]

    async def ask(self) -> float:
        """Ask once, and return the seconds until the answer was complete."""
        number = next(self._next) % len(self.users)
        user = self.users[number]
        reply = await self.discord.slash(user, self.channels[number], "ask", question=QUESTION)
        await self.answered(reply)
        end = next(shown.at_s for shown in reply.history if self._is_end(user, shown.labels, shown.text))
        return end - reply.interaction.sent_at_s

    async def asks(self, how_many: int, at_once: int) -> float:
        """Ask so often, so many at a time; the seconds that it took."""
        left = iter(range(how_many))

        async def asker() -> None:
            for _ in left:
                await self.ask()

        began = perf_counter()
        async with asyncio.TaskGroup() as group:
            for _ in range(at_once):
                group.create_task(asker())
        took = perf_counter() - began
        self.forget()
        return took

    def forget(self) -> None:
        self.discord.replies.clear()
        self.discord.transcript.clear()

    async def stop(self) -> None:
        """Ask it to stop, and wait until it has."""
        assert await self.program.stop() == 0, self.program.output
        await self.discord.gone()

    async def answered(self, reply: Reply) -> None:
        """Wait until the answer is complete."""
        user = reply.interaction.user
        await reply.until(lambda seen: self._is_end(user, seen.labels, seen.text), "an answer")

    def _is_end(self, user: User, labels: object, text: str) -> bool:
        if self.program.module != "cc_bot":
            return bool(text)
        return again_label(user) in labels  # type: ignore[operator]

    def processor_s(self) -> float:
        fields = Path(f"/proc/{self.program.process_id}/stat").read_text().rsplit(")", 1)[1].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

    def megabytes(self) -> float:
        """Its resident memory."""
        status = Path(f"/proc/{self.program.process_id}/status").read_text()
        return int(status.split("VmRSS:")[1].split()[0]) / 1024


def roomy() -> LoopbackDiscord:
    """A Discord whose own limits add nothing."""
    return LoopbackDiscord(webhook_rate=ROOMY, channel_rate=ROOMY, global_rate=ROOMY, patience_s=PATIENCE_S)


@asynccontextmanager
async def cc_bot_scene(folder: Path, settings: Mapping[str, str] | None = None) -> AsyncIterator[Scene]:
    """cc-bot, not started yet; its model answers at once."""
    (folder / "data").mkdir(parents=True)
    (folder / "data" / "policy.toml").write_text(POLICY)
    chosen = {
        "CC_BOT_MAX_TURNS": "100",
        "CC_BOT_LOG_LEVEL": "warning",
        "CC_BOT_SUMMARY_EVERY": "0",
        "CC_BOT_DATABASE_URL": "sqlite:///data/sessions.db",
        **(settings or {}),
    }
    async with set_stage(folder, chosen, roomy()) as stage:
        stage.program.from_nothing = True
        stage.model.responder = lambda _: ANSWER
        yield Scene(stage.discord, stage.program)


@asynccontextmanager
async def bare_scene(folder: Path, *, deferred: bool = False) -> AsyncIterator[Scene]:
    """The bare bot, not started yet."""
    folder.mkdir(parents=True)  # noqa: ASYNC240 - nothing else runs yet
    async with roomy() as discord:
        told = {"DISCORD_TOKEN": discord.token, "DISCORD_API_URL": discord.api_url, "PYTHONPATH": str(ROOT)}
        if deferred:
            told["BARE_BOT"] = "deferred"
        program = Program(folder, told, from_nothing=True, module="bench.bare_bot")
        try:
            yield Scene(discord, program)
        finally:
            await program.close()
