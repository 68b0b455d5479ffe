"""A program under traffic that is killed again and again, and brought to rest before it is judged."""

import asyncio
import random
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from signal import SIGKILL

from tests.end_to_end.stage import Stage, set_stage
from tests.faults.asked import Kind, history
from tests.faults.judge import Evidence, judge, traces
from tests.faults.kills import HELD_S, Moment
from tests.faults.stories import Storyteller
from tests.faults.traffic import KINDS, Traffic
from tests.faults.weather import trouble_with_discord, trouble_with_the_model
from tests.loopback.discord import LoopbackDiscord

A_MINUTE_LATER_S = 70
"""By the program's clock: what was to be said in a minute is due."""
_MINUTES = 3
"""With each so many-th kill a minute passes. All of a campaign takes less than the ten minutes after which
questions that were missed are not answered any more."""
UNCERTAIN_S = 6 * 60
_EARLY_DEATHS = 0.2
"""So often is a start killed as well."""

SETTINGS = {"CC_BOT_MAX_TURNS": "16", "CC_BOT_SUMMARY_EVERY": "0", "CC_BOT_MODEL_TIMEOUT": "3"}


@dataclass(slots=True)
class Campaign:
    """One program, one database, one Discord; many lives."""

    stage: Stage
    traffic: Traffic
    rng: random.Random
    stormy: bool = False
    away_s: int = 0
    hurried: bool = True
    clock_s: int = 0
    kills_s: list[float] = field(default_factory=list)
    log: list[str] = field(default_factory=list)
    left: list[str] = field(default_factory=list)

    async def live_and_die(self, moment: Moment) -> None:
        """A wave of questions, death at that moment, and a new start that may die as well."""
        coming = asyncio.create_task(moment.comes(self.stage, self.rng))
        await asyncio.sleep(0)
        if self.stormy:
            self.log += trouble_with_discord(self.stage, self.rng, bursts=2)
        asked = await self.traffic.wave()
        if self.stormy:
            unlucky = self.rng.sample(asked, 2)
            self.log += trouble_with_the_model(self.traffic.teller, unlucky, self.rng)
        await coming
        await self._killed(str(moment))
        await asyncio.sleep(HELD_S + 0.05)
        self.stage.discord.faults.forget()
        self.traffic.missed(self.kills_s[-1])
        await self.traffic.away()
        while self.rng.random() < _EARLY_DEATHS:
            await self._begin()
            await asyncio.sleep(self.rng.uniform(0.3, 3.0))
            await self._killed("while it started")
        for reply in self.stage.discord.replies:
            if reply.is_acknowledged:
                reply.age(self.away_s)
        minute_s = A_MINUTE_LATER_S if self.hurried and len(self.kills_s) % _MINUTES == 0 else 0
        await self.start(self.away_s or minute_s)

    async def start(self, later_s: int = 0) -> None:
        await self._begin(later_s)
        await self.stage.program.lives_until(self.stage.discord.ready())

    async def rest(self) -> None:
        """Let all come to an end: what is on its way, what is due, and what only a start brings to light."""
        await self.traffic.settled()
        await self.stop()
        await self.start(UNCERTAIN_S)
        await self.traffic.settled()
        self.stage.discord.forget_nonces()
        await self.stop()
        await self.start(UNCERTAIN_S)
        await self.stage.discord.quiet(0.5)
        await self.stop()

    def verdict(self) -> str:
        """Nothing where all is well; else what is wrong, what was done, and what those people saw: of all of
        them in a file, beside the program's log."""
        found = [*self.left, *judge(self.evidence()), *self.traffic.faults()]
        if not found:
            return ""
        wronged = [asked for asked in self.traffic.asked if any(f"{asked}:" in fault for fault in found)]
        lives = [f"killed at {at:.2f}" for at in self.kills_s]
        seen = [history(self.stage.discord, asked) for asked in wronged]
        folder = self.stage.program.folder
        (folder / "seen.txt").write_text("\n".join(seen), "utf-8")
        (folder / "log.txt").write_text(self.stage.program.output, "utf-8")
        seen = [*seen[:5], f"more in {folder}"]
        return "\n".join([*self.log, *lives, *seen, *found])

    async def ends_well(self, about: str) -> None:
        """Bring it to rest, and nothing is wrong."""
        await self.rest()
        assert (verdict := self.verdict()) == "", f"{about}\n{verdict}"

    async def stop(self) -> None:
        assert await self.stage.program.stop() == 0, self.stage.program.output
        await self.stage.discord.gone()

    def evidence(self) -> Evidence:
        traffic = self.traffic
        return Evidence(
            self.stage.discord,
            traffic.teller,
            traffic.asked,
            traffic.reminders,
            self.kills_s,
            self.stage.inspector,
        )

    async def _begin(self, later_s: int = 0) -> None:
        self.clock_s += later_s
        self.stage.program.environment["CC_BOT_TEST_CLOCK_OFFSET"] = str(self.clock_s)
        await self.stage.program.start("run")

    async def _killed(self, when: str) -> None:
        loop = asyncio.get_running_loop()
        code = await self.stage.program.kill()
        assert code == -SIGKILL, f"it was gone before it was killed ({code}):\n{self.stage.program.output}"
        self.kills_s.append(loop.time())
        self.log.append(f"{len(self.traffic.asked)} questions, killed: {when}")
        await self.stage.discord.gone()
        self.left += traces(self.stage.inspector, self.traffic.asked)


@asynccontextmanager
async def campaign(
    folder: Path,
    name: str,
    settings: Mapping[str, str] | None = None,
    *,
    stormy: bool = False,
    reads_all: bool = True,
    away_s: int = 0,
    kinds: Sequence[Kind] = KINDS,
    people: type[Traffic] = Traffic,
) -> AsyncIterator[Campaign]:
    """A started program. `name` is what everything random is made of; `reads_all`: it may read channels;
    `kinds` is what is asked."""
    discord = LoopbackDiscord(message_content=reads_all)
    guilds = {"ja": discord.guild, "en-US": discord.add_guild("overseas", locale="en-US")}
    reading = {"CC_BOT_CHANNELS": "all" if reads_all else "mentions"}
    async with set_stage(folder, {**SETTINGS, **reading, **(settings or {})}, discord) as stage:
        rng = random.Random(name)
        teller = Storyteller()
        stage.model.responder = teller
        traffic = people(stage, teller, rng, guilds, kinds)
        fought = Campaign(stage, traffic, rng, stormy, away_s)
        await fought.start()
        await traffic.settle_in()
        yield fought
