import asyncio
import re
import signal
import sys
from collections import Counter, defaultdict
from collections.abc import AsyncIterator, Iterator, Sequence
from contextlib import ExitStack, asynccontextmanager, contextmanager
from dataclasses import dataclass, field
from functools import partial
from itertools import count, cycle, pairwise
from pathlib import Path
from tempfile import TemporaryDirectory
from time import perf_counter, time
from typing import Any

import asyncpg
import psutil  # type: ignore[import-untyped]  # comes with the server, and without types

from bench.simulate import ASK_CPU_S
from bench.soak import POLICY
from tests.end_to_end.program import Program
from tests.end_to_end.stage import set_stage
from tests.loopback.discord import Channel, Guild, LoopbackDiscord, Reply, User
from tests.loopback.model_server import LoopbackModelServer, says
from tests.loopback.model_server import Reply as Answer
from tests.postgres_cluster import POOLER, Server, folder, pooled, running_server

SHARDS, PROCESSES = 16, 4
TURNS, AT_ONCE = 2000, 24
KILLED_EVERY_S, BACK_AFTER_S = 20.0, 5.0
THROUGHPUT = 400
SLOW_S, QUICK_S = 0.5, 0.05
ROUNDS, LIMIT, ASKED = 100, 3, 5
ANSWER_S = 0.15
STOPPED_S = 60.0
RESTARTED_AFTER_S = 6.0
COUNTED = 100
KEPT_IN = ("messages", "sessions", "turns", "reservations", "erasing")
GOAL_TRIPS, GOAL_ROUND_TRIPS = 9, 20
GOAL_THROUGHPUT = 0.9
GOAL_MODEL = 0.25
PATIENCE_S = 90.0
DUTIES_WITHIN_S = 60.0


@dataclass
class Outcome:
    ends: Counter[str] = field(default_factory=Counter)
    answered: list[str] = field(default_factory=list)
    """Questions whose answer was shown."""
    offered: list[str] = field(default_factory=list)
    kills: int = 0
    longest_without_s: float = 0.0


@dataclass
class Fleet:
    discord: LoopbackDiscord
    model: LoopbackModelServer
    programs: list[Program]
    url: str
    guilds: list[Guild]
    """One for each shard."""
    people: list[tuple[User, Channel]] = field(default_factory=list)
    _numbers: "count[int]" = field(default_factory=count)

    async def start(self, number: int) -> None:
        share = SHARDS // len(self.programs)
        shards = f"{number * share}-{(number + 1) * share - 1}"
        program = self.programs[number]
        program.environment |= {"CC_BOT_SHARDS": shards, "CC_BOT_SHARD_COUNT": str(SHARDS)}
        await program.start("run")

    @property
    def processor_s(self) -> float:
        """The time that the programs have taken of a processor."""
        spent = [psutil.Process(each.process_id).cpu_times() for each in self.programs]
        return float(sum(each.user + each.system for each in spent))

    async def all_connected(self) -> None:
        async with asyncio.timeout(PATIENCE_S):
            while len({each.shard[0] for each in self.discord.world.gateway.live()}) < SHARDS:  # noqa: ASYNC110
                await asyncio.sleep(0.1)

    def channel(self, process: int) -> Channel:
        """In a server of a process."""
        share = SHARDS // len(self.programs)
        return self.discord.guild_channel(guild=self.guilds[process * share])

    async def rows(self, sql: str, *values: object) -> Sequence[Any]:
        connection = await asyncpg.connect(self.url)
        try:
            return await connection.fetch(sql, *values)
        finally:
            await connection.close()

    async def ask(self, user: User, channel: Channel, outcome: Outcome) -> None:
        question = f"質問{next(self._numbers)}番"
        reply = await self.discord.slash(user, channel, "ask", question=question)
        try:
            await reply.acknowledged()
        except AssertionError:
            outcome.ends["unheard"] += 1  # nobody held the shard, or it was killed before it was told
            return
        try:
            await reply.until(lambda shown: any(map(_is_end, shown.labels)), "an end", timeout_s=PATIENCE_S)
        except AssertionError:
            outcome.ends["lost"] += 1
            print(f"lost: {reply.describe()}", file=sys.stderr)
            return
        shown = f"{question}の答え" in reply.text
        outcome.ends["answered" if shown else "told"] += 1
        (outcome.answered if shown else outcome.offered).append(question)

    async def ask_all(self, turns: int) -> Outcome:
        """Have people ask, each one question after the other."""
        outcome, left = Outcome(), iter(range(turns))

        async def asker(user: User, channel: Channel) -> None:
            for _ in left:
                await self.ask(user, channel, outcome)
                self.discord.replies.clear()

        async with asyncio.TaskGroup() as group:
            for person in self.people:
                group.create_task(asker(*person))
        return outcome

    async def kill_in_turn(self, outcome: Outcome) -> None:
        for number in cycle(range(len(self.programs))):
            await asyncio.sleep(KILLED_EVERY_S)
            await self.programs[number].kill()
            outcome.kills += 1
            await asyncio.sleep(BACK_AFTER_S)
            await self.start(number)

    async def watch_duties(self, outcome: Outcome) -> None:
        """Measure how long a duty has no living holder."""
        connection = await asyncpg.connect(self.url)
        since: dict[str, float] = {}
        try:
            while True:
                rows = await connection.fetch(
                    "SELECT d.name, p.name FROM duties AS d LEFT JOIN processes AS p ON p.name = d.process"
                    " WHERE d.name IN ('sweep', 'purge', 'reminders', 'summaries', 'canvases', 'retention')"
                )
                for name, holder in rows:
                    if holder is None:
                        waited_s = perf_counter() - since.setdefault(name, perf_counter())
                        outcome.longest_without_s = max(outcome.longest_without_s, waited_s)
                    else:
                        since.pop(name, None)
                await asyncio.sleep(0.2)
        finally:
            await connection.close()

    async def stored(self) -> Sequence[tuple[str, int]]:
        rows = await self.rows("SELECT content, count(*) FROM messages WHERE role = 'user' GROUP BY content")
        return [(content, number) for content, number in rows]


def _logged(server: Server) -> tuple[int, int]:
    within, trips, statements = set[str](), 0, 0
    for line in (server.data / "server.log").read_text(errors="replace").splitlines():
        told = re.search(r"\[(\d+)\] LOG:  (?:statement|execute [^:]*): (\w+)", line)
        if told is None:
            continue
        statements += 1
        if told[2] in {"BEGIN", "START"}:
            within.add(told[1])
        if told[2] in {"COMMIT", "ROLLBACK"}:
            within.discard(told[1])
        trips += told[1] not in within
    return trips, statements


def _is_end(label: str) -> bool:
    return label.startswith("もう一度")


def _asked(body: dict[str, Any]) -> str:
    """Return the question of a request."""
    asked: Any = body["messages"][-1]["content"]
    text = asked if isinstance(asked, str) else "".join(part.get("text", "") for part in asked)
    return text.strip().splitlines()[-1]


def _is_over(reply: Reply) -> bool:
    """Return whether it is answered, or refused for a limit."""
    return any(map(_is_end, reply.labels)) or "使いきりました" in reply.text


def _answer(delay_s: float, body: dict[str, Any]) -> Answer:
    return says(_asked(body), "の", "答え", delay_s=delay_s)


@asynccontextmanager
async def fleet_of(
    processes: int, where: Path, url: str, straight: str, delay_s: float, policy: str
) -> AsyncIterator[Fleet]:
    (where / "policy.toml").write_text(policy)
    discord = LoopbackDiscord(shards=SHARDS)
    settings = {
        "CC_BOT_DATABASE_URL": url,
        "CC_BOT_DATA_FOLDER": str(where),
        "CC_BOT_LOG_LEVEL": "error",
        "CC_BOT_SUMMARY_EVERY": "0",
        "CC_BOT_MAX_TURNS": str(AT_ONCE),
    }
    async with set_stage(where, settings, discord) as stage:
        stage.model.responder = partial(_answer, delay_s)
        others = [Program(where, stage.program.environment) for _ in range(processes - 1)]
        guilds = {(discord.guild.id >> 22) % SHARDS: discord.guild}
        while len(guilds) < SHARDS:
            await asyncio.sleep(0.001)
            guild = discord.add_guild("サーバー")
            guilds.setdefault((guild.id >> 22) % SHARDS, guild)
        by_shard = [guilds[shard] for shard in range(SHARDS)]
        fleet = Fleet(discord, stage.model, [stage.program, *others], straight, by_shard)
        for number in range(AT_ONCE):
            channel = discord.guild_channel(guild=guilds[number % SHARDS])
            fleet.people.append((discord.user(f"user{number}", locale="ja"), channel))
        try:
            for number in range(processes):
                await fleet.start(number)
            await fleet.all_connected()
            await asyncio.sleep(3)
            yield fleet
        finally:
            for program in others:
                await program.close()


@contextmanager
def database() -> Iterator[tuple[str, Server]]:
    """The URL that the programs have, and the server."""
    with ExitStack() as opened:
        server = opened.enter_context(running_server(opened.enter_context(folder())))
        yield opened.enter_context(pooled(server.url, size=20)) if POOLER else server.url, server


@asynccontextmanager
async def running(
    processes: int, delay_s: float, policy: str = POLICY
) -> AsyncIterator[tuple[Fleet, Server]]:
    with TemporaryDirectory() as where, database() as (url, server):
        async with fleet_of(processes, Path(where), url, server.url, delay_s, policy) as fleet:
            yield fleet, server


async def take_turns(processes: int) -> tuple[float, float]:
    """Turns a second, while nothing goes wrong, and the seconds of processor that each takes."""
    async with running(processes, QUICK_S) as (fleet, _):
        await fleet.ask_all(AT_ONCE * 2)
        began_s, before_s = perf_counter(), fleet.processor_s
        await fleet.ask_all(THROUGHPUT)
        took_s, worked_s = perf_counter() - began_s, fleet.processor_s - before_s
        return THROUGHPUT / took_s, worked_s / THROUGHPUT


async def measure_kills() -> bool:
    """One of four is killed every 20 s."""
    async with running(PROCESSES, SLOW_S) as (fleet, _):
        seen = Outcome()
        beside = [asyncio.create_task(work(seen)) for work in (fleet.kill_in_turn, fleet.watch_duties)]
        outcome = await fleet.ask_all(TURNS)
        for task in beside:
            task.cancel()
        await asyncio.gather(*beside, return_exceptions=True)
        right = await _tell(fleet, outcome, f"{TURNS} turns, {seen.kills} kills")
    print(f"longest that a duty had nobody: {seen.longest_without_s:.1f} s (goal: {DUTIES_WITHIN_S:.0f})")
    return right and seen.longest_without_s <= DUTIES_WITHIN_S


async def measure_restart() -> bool:
    async with running(PROCESSES, SLOW_S) as (fleet, server):
        asking = asyncio.create_task(fleet.ask_all(THROUGHPUT))
        for _ in range(2):
            await asyncio.sleep(RESTARTED_AFTER_S)
            await asyncio.to_thread(server.stop)
            await asyncio.to_thread(server.start)
        return await _tell(fleet, await asking, f"{THROUGHPUT} turns, the database started anew twice")


async def _tell(fleet: Fleet, outcome: Outcome, what: str) -> bool:
    times = dict(await fleet.stored())
    twice = sum(number > 1 for number in times.values())
    unkept = sum(question not in times for question in outcome.answered)
    kept_though_told = sum(question in times for question in outcome.offered)
    ends, wrong = outcome.ends, outcome.ends["lost"] + twice + unkept + kept_though_told
    print(f"{what}: " + ", ".join(f"{ends[end]} {end}" for end in sorted(ends)))
    print(
        f"lost {ends['lost']}, stored twice {twice}, shown and not kept {unkept}, offered again though kept "
        f"{kept_though_told} (goal: 0)"
    )
    return not wrong


async def measure_sleep() -> bool:
    async with running(PROCESSES, SLOW_S) as (fleet, _):
        erased, reminded = (fleet.discord.user(name, locale="ja") for name in ("Aiko", "Chie"))
        location = fleet.channel(2)
        set_up = await fleet.discord.slash(reminded, location, "remind add", text="薬", when="10分後")
        await set_up.finished()
        answering = [
            await fleet.discord.slash(user, fleet.channel(1), "ask", question="どう？")
            for user in (erased, reminded)
        ]
        for reply in answering:
            await reply.until(lambda shown: "どう？" in shown.text, "the beginning")
        fleet.programs[1].send(signal.SIGSTOP)
        began_s = perf_counter()
        await fleet.rows(
            "UPDATE schedules SET due_at = $1 WHERE user_id = $2", int(time() * 1000), reminded.id
        )
        asked = await (await fleet.discord.slash(erased, fleet.channel(2), "privacy erase")).finished()
        pressed = await fleet.discord.click(erased, asked.message, "すべて消す")
        await pressed.finished(lambda shown: shown.history, timeout_s=STOPPED_S)
        await asyncio.sleep(STOPPED_S - (perf_counter() - began_s))
        fleet.programs[1].send(signal.SIGCONT)
        await asyncio.sleep(SLOW_S * 6)
        counting = " UNION ALL ".join(f"SELECT 1 FROM {table} WHERE user_id = $1" for table in KEPT_IN)
        left = len(await fleet.rows(counting, erased.id))
        fired = await fleet.rows("SELECT state FROM firings WHERE user_id = $1", reminded.id)
        told = [*fleet.discord.messages(location), *fleet.discord.messages(fleet.discord.dm(reminded))]
        own = [each for each in told if each.author is fleet.discord.bot and not each.ephemeral]
        said = sum("薬" in each.text for each in own)
        kept = await fleet.rows("SELECT 1 FROM messages WHERE user_id = $1 AND role = 'user'", reminded.id)
        offered = any(map(_is_end, answering[1].labels))
    print(
        f"stopped for {STOPPED_S:.0f} s and woken: a reminder said {said} times"
        f" ({', '.join(state for (state,) in fired)}), {left} rows of the erased,"
        f" the other's question offered again: {offered}, stored: {bool(kept)}"
    )
    return said == 1 and not left and offered != bool(kept)


async def measure_limits() -> bool:
    """Users ask at once in as many places, of all processes, as goes beyond their limit."""
    policy = f"[limits]\nturns_per_minute = {LIMIT}\nconcurrent = 10\n"
    began = defaultdict[str, list[float]](list)

    def answer(body: dict[str, Any]) -> Answer:
        asked = _asked(body)
        began[asked.split("-")[0]].append(perf_counter())
        return says(asked, "の", "答え", delay_s=ANSWER_S / 3)

    async with running(PROCESSES, QUICK_S, policy) as (fleet, _):
        fleet.model.responder = answer
        locations = [fleet.channel(number % PROCESSES) for number in range(ASKED)]

        async def round_of(number: int) -> int:
            user = fleet.discord.user(f"round{number}", locale="ja")
            asked = [
                fleet.discord.slash(user, location, "ask", question=f"{number}-{index}")
                for index, location in enumerate(locations)
            ]
            replies = [await reply.until(_is_over, "an end") for reply in await asyncio.gather(*asked)]
            return sum("の答え" in reply.text for reply in replies)

        answered = list[int]()
        for first in range(0, ROUNDS, PROCESSES):
            answered += await asyncio.gather(*(round_of(first + beside) for beside in range(PROCESSES)))
    at_once = sum(
        later - sooner < ANSWER_S * 2 / 3
        for times in began.values()
        for sooner, later in pairwise(sorted(times))
    )
    wrong = sum(number != LIMIT for number in answered)
    print(
        f"{ROUNDS} rounds of {ASKED} questions with {LIMIT} allowed: {wrong} wrong,"
        f" {at_once} turns of one user at once (goal: 0)"
    )
    return not wrong and not at_once and len(answered) == ROUNDS


async def measure_trips() -> bool:
    async with running(1, QUICK_S) as (fleet, server):
        await fleet.ask_all(AT_ONCE)
        await server.change("log_statement = 'all'")
        user, channel = fleet.people[0]
        before, began_s = _logged(server), perf_counter()
        for _ in range(COUNTED):
            await fleet.ask(user, channel, Outcome())
        took_s, after = perf_counter() - began_s, _logged(server)
        await asyncio.sleep(took_s)  # in which it does what it does anyway
        quiet = _logged(server)
    trips, round_trips = (
        (then - sooner - (later - then)) / COUNTED
        for sooner, then, later in zip(before, after, quiet, strict=True)
    )
    print(
        f"an /ask: {trips:.1f} trips (goal: {GOAL_TRIPS}), {round_trips:.1f} round trips"
        f" (goal: {GOAL_ROUND_TRIPS})"
    )
    return trips <= GOAL_TRIPS and round_trips <= GOAL_ROUND_TRIPS


async def measure_throughput() -> bool:
    """Four processes beside one."""
    (one, alone_s), (four, each_s) = await take_turns(1), await take_turns(PROCESSES)
    print(
        f"turns a second: {four:.1f} with four processes, {one:.1f} with one: {four / one:.2f}x "
        f"(goal: {GOAL_THROUGHPUT}x)"
    )
    off = each_s / ASK_CPU_S - 1
    print(
        f"processor for a turn: {each_s * 1000:.1f} ms with four, {alone_s * 1000:.1f} ms with one;"
        f" bench.simulate has {ASK_CPU_S * 1000:.1f} ms ({off:+.0%}; goal: within {GOAL_MODEL:.0%})"
    )
    return abs(off) <= GOAL_MODEL and four >= GOAL_THROUGHPUT * one


MEASURES = {
    "kills": measure_kills,
    "restart": measure_restart,
    "sleep": measure_sleep,
    "limits": measure_limits,
    "trips": measure_trips,
    "throughput": measure_throughput,
}


async def main(names: Sequence[str]) -> int:
    met = [await MEASURES[name]() for name in names or MEASURES]
    return 0 if all(met) else 1


if __name__ == "__main__":
    sys.exit(asyncio.run(main(sys.argv[1:])))
