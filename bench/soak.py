import argparse
import asyncio
import os
import random
import re
import sqlite3
import sys
from collections import Counter, defaultdict
from collections.abc import Callable, Sequence
from contextlib import closing
from dataclasses import dataclass, field
from itertools import takewhile
from pathlib import Path
from statistics import linear_regression, median, quantiles
from tempfile import TemporaryDirectory
from time import perf_counter

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))  # for `python bench/soak.py`

from tests.end_to_end.stage import Stage, again_label, set_stage
from tests.loopback.discord import Allowance, Channel, LoopbackDiscord, Shown, User
from tests.loopback.model_server import Json, last_user_text

GOAL_MB = 1.0
GOAL_FILES = 1.0
PAGES_MB = 16.0
"""So much of the database SQLite keeps in memory."""
GOAL_P99_MS = 150.0
USERS, CHANNELS, AT_ONCE = 500, 200, 100
ALONE = 200
"""Turns, one at a time, for the latency."""
SAMPLES = 80
PATIENCE_S = 60.0
LOOK_S = 0.05
RAMP_S = 5.0
"""A hundred people do not ask in the same millisecond: they come one after the other."""
MARK = re.compile(r"Q(\d{6})Z")
ANSWER = re.compile(r"A(\d{6})Z")
MENTIONS, PRIVATE = 0.15, 0.1
"""Shares of the turns; the rest is /ask in public."""
POLICY = "[limits]\nturns_per_minute = 100000\nconcurrent = 10\n"
ROOMY = Allowance(10**9, 1.0)


@dataclass(frozen=True, slots=True)
class Sample:
    """The program after so many turns."""

    turns: int
    megabytes: float
    """Resident."""
    own_megabytes: float
    files: int
    database_megabytes: float
    """Its file."""

    @property
    def megabytes_beside_pages(self) -> float:
        """Resident, without the pages that SQLite may keep."""
        return self.megabytes - min(self.database_megabytes, PAGES_MB)


@dataclass(slots=True)
class Soak:
    """One run."""

    stage: Stage
    rng: random.Random
    users: list[User]
    channels: list[Channel]
    process_id: int = 0
    asked: int = 0
    ended: int = 0
    samples: list[Sample] = field(default_factory=list)
    took_s: dict[int, float] = field(default_factory=dict)
    faults: list[str] = field(default_factory=list)
    _every: int = 1
    _doubles_s: dict[str, float] = field(default_factory=lambda: defaultdict(float))

    async def turns(self, count: int, at_once: int) -> float:
        """So many turns, so many at a time; the seconds that they took."""
        started, last = perf_counter(), self.asked + count
        self._every = max(1, count // SAMPLES)

        async def asker(location: int) -> None:
            await asyncio.sleep(RAMP_S * location / at_once)
            while self.asked < last:
                self.asked += 1
                await self._turn(self.asked)
                self.ended += 1
                if self.ended % self._every == 0:
                    self._sample()

        async with asyncio.TaskGroup() as group:
            for location in range(at_once):
                group.create_task(asker(location))
        return perf_counter() - started

    async def _turn(self, number: int) -> None:
        user = self.users.pop(self.rng.randrange(len(self.users)))
        chance = self.rng.random()
        try:
            if chance < MENTIONS:
                await self._mention(number, user)
            else:
                await self._ask(number, user, private=chance < MENTIONS + PRIVATE)
        except (AssertionError, TimeoutError) as error:
            self.faults.append(f"turn {number}: {type(error).__name__} {error}")
        finally:
            self.users.append(user)

    async def _ask(self, number: int, user: User, *, private: bool) -> None:
        channel = self.rng.choice(self.channels)
        reply = await self.stage.discord.slash(
            user, channel, "ask", question=_question(number), private=private
        )
        label = again_label(user)
        try:
            await _until(lambda: label in reply.labels)
        except TimeoutError:
            acknowledged = "acknowledged" if reply.is_acknowledged else "not acknowledged"
            self.faults.append(f"turn {number} was {acknowledged} and shows {reply.text[:100]!r}")
            return
        self._judge(number, reply.text)
        end = next(shown for shown in reply.history if label in shown.labels)
        self._note(number, reply.interaction.token, reply.interaction.sent_at_s, end)
        self.stage.discord.replies.remove(reply)

    async def _mention(self, number: int, user: User) -> None:
        channel = self.channels.pop(self.rng.randrange(len(self.channels)))
        try:
            discord = self.stage.discord
            post = await discord.post(user, channel, _question(number), mention=True)
            wanted = f"A{number:06}Z"

            def newest() -> Shown:
                since = takewhile(lambda m: m.id >= post.id, reversed(discord.world.messages.values()))
                return next(m for m in since if m.channel is post.channel and m.interaction is None).shown

            await _until(lambda: wanted in newest().content and not newest().labels)
            self._judge(number, newest().content)
            self._note(number, str(channel.id), post.history[0].at_s, newest())
        finally:
            self.channels.append(channel)

    def _judge(self, number: int, text: str) -> None:
        if ANSWER.findall(text) != [f"{number:06}"]:
            self.faults.append(f"turn {number} was answered {text[:100]!r}")

    def _note(self, number: int, location: str, began_s: float, end: Shown) -> None:
        discord = self.stage.discord
        for call in discord.transcript:
            self._doubles_s[call.params.get("token") or call.params.get("channel", "")] += call.took_s
        discord.transcript.clear()
        self.took_s[number] = end.at_s - began_s - self._doubles_s.pop(location, 0.0)

    def _sample(self) -> None:
        status = Path(f"/proc/{self.process_id}/status").read_text()
        resident, own = (int(status.split(name)[1].split()[0]) / 1024 for name in ("VmRSS:", "RssAnon:"))
        files = len(os.listdir(f"/proc/{self.process_id}/fd"))  # noqa: PTH208 - a folder of links to nothing
        database = self.stage.database.stat().st_size / 1024**2
        self.samples.append(Sample(self.ended, resident, own, files, database))

    def processor_s(self) -> float:
        fields = Path(f"/proc/{self.process_id}/stat").read_text().rsplit(")", 1)[1].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

    def lost(self) -> list[str]:
        with closing(sqlite3.connect(self.stage.database)) as connection:
            verdict = connection.execute("PRAGMA integrity_check").fetchall()
            rows = connection.execute("SELECT role, content FROM messages").fetchall()
        questions = Counter(n for role, text in rows if role == "user" for n in MARK.findall(text))
        answers = Counter(n for role, text in rows if role == "assistant" for n in ANSWER.findall(text))
        every = [f"{number:06}" for number in range(1, self.asked + 1)]
        found = [f"question {n} stands there {questions[n]} times" for n in every if questions[n] != 1]
        found += [f"answer {n} stands there {answers[n]} times" for n in every if answers[n] != 1]
        return found + [f"the database is damaged: {row}" for row in verdict if row != ("ok",)]


async def _until(look: Callable[[], bool]) -> None:
    """Looking now and then costs less than looking at each change, with so many who wait."""
    async with asyncio.timeout(PATIENCE_S):
        while not look():  # noqa: ASYNC110 - see above
            await asyncio.sleep(LOOK_S)


def _question(number: int) -> str:
    return f"Q{number:06}Z 今日の天気はどうですか？"


def _answer(body: Json) -> str:
    [*_, number] = MARK.findall(last_user_text(body)) or ["000000"]
    return f"A{number}Z よく晴れています。洗濯物もよく乾くでしょう。"


def slope(samples: Sequence[Sample], value: str) -> float:
    kept = [sample for sample in samples if sample.turns >= samples[-1].turns / 4]
    return linear_regression([s.turns for s in kept], [getattr(s, value) for s in kept]).slope * 1000


def spread(seconds: Sequence[float]) -> str:
    return f"p50 {median(seconds) * 1000:.0f} ms, p99 {quantiles(seconds, n=100)[-1] * 1000:.0f} ms"


async def soak(folder: Path, turns: int) -> bool:
    """Run it and print what came of it. Whether all goals are met."""
    (folder / "data").mkdir()
    (folder / "data" / "policy.toml").write_text(POLICY)
    discord = LoopbackDiscord(webhook_rate=ROOMY, channel_rate=ROOMY, global_rate=ROOMY)
    settings = {
        "CC_BOT_MAX_TURNS": str(AT_ONCE),
        "CC_BOT_LOG_LEVEL": "warning",
        "CC_BOT_SUMMARY_EVERY": "0",
        "CC_BOT_DATABASE_URL": "sqlite:///data/sessions.db",
    }
    async with set_stage(folder, settings, discord) as stage:
        stage.program.from_nothing = True
        stage.model.responder = _answer
        await stage.start()
        users = [discord.user(f"user{n}", locale="ja" if n % 2 else "en-US") for n in range(USERS)]
        channels = [discord.guild_channel() for _ in range(CHANNELS)]
        run = Soak(stage, random.Random(6), users, channels, stage.program.process_id)
        alone_s = await run.turns(ALONE, 1)
        alone = [*run.took_s.values()]
        processor_s = run.processor_s()
        run.samples.clear()
        elapsed_s = await run.turns(turns, AT_ONCE)
        together = [seconds for number, seconds in run.took_s.items() if number > ALONE]
        each_ms = (run.processor_s() - processor_s) / turns * 1000
        assert await stage.program.stop() == 0, stage.program.output
        found = [*run.faults, *run.lost(), *(f"refused: {v}" for v in discord.violations)]
    grows, opens = slope(run.samples, "megabytes_beside_pages"), slope(run.samples, "files")
    p99_ms = quantiles(alone, n=100)[-1] * 1000
    first, last = run.samples[0], run.samples[-1]
    print(f"one at a time: {ALONE / alone_s:.1f} turns/s, the program adds {spread(alone)}")
    print(f"{AT_ONCE} at a time: {turns / elapsed_s:.1f} turns/s, {spread(together)}")
    print(f"processor: {each_ms:.1f} ms a turn")
    print(f"memory: {first.megabytes:.0f} MB, then {last.megabytes:.0f} MB, in 1,000 turns:")
    print(f"    {slope(run.samples, 'megabytes'):+.2f} MB in all, {grows:+.2f} MB beside SQLite's pages,")
    print(f"    {slope(run.samples, 'own_megabytes'):+.2f} MB without pages of mapped files")
    print(f"open files: {first.files}, then {last.files}: {opens:+.2f} in 1,000 turns")
    print(f"lost or wrong: {len(found)} of {run.asked}")
    print(*found[:20], sep="\n")
    verdicts = {
        f"memory beside SQLite's pages grows less than {GOAL_MB} MB": grows < GOAL_MB,
        f"open files rise less than {GOAL_FILES}": opens < GOAL_FILES,
        f"p99 below {GOAL_P99_MS:.0f} ms": p99_ms < GOAL_P99_MS,
        "nothing lost": not found,
    }
    for goal, met in verdicts.items():
        print(f"{'passed' if met else 'FAILED'}: {goal}")
    return all(verdicts.values())


def main() -> int:
    """The exit code tells whether all goals are met."""
    parser = argparse.ArgumentParser(description="the whole program under load for long")
    parser.add_argument("--turns", type=int, default=10_000)
    with TemporaryDirectory() as folder:
        return 0 if asyncio.run(soak(Path(folder), parser.parse_args().turns)) else 1


if __name__ == "__main__":
    sys.exit(main())
