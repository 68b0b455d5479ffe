import asyncio
import gc
import random
import sqlite3
import sys
from collections.abc import Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass
from datetime import UTC, datetime
from itertools import count, islice
from pathlib import Path
from statistics import median, quantiles
from tempfile import TemporaryDirectory
from time import perf_counter, process_time
from typing import NamedTuple
from zoneinfo import ZoneInfo

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))  # for `python bench/context.py`


from bench.turn import connect_raw, one_core
from cc_bot import Message, Stores, open_stores
from cc_bot.chat.context.prompt import PromptSettings
from cc_bot.chat.conversations import ChannelTurn, Conversations
from cc_bot.chat.tools import discover_tools
from cc_bot.chat.turn import Calibration, TurnOptions
from cc_bot.domain.message import ChannelKey
from cc_bot.domain.text import Locale

GOAL_P99_MS = 5.0
GOAL_RATIO = 1.3
GOAL_MB = 65.0
TURNS = 2000

TOKYO = ZoneInfo("Asia/Tokyo")
NOW = datetime(2026, 11, 22, 3, 4, 5, tzinfo=UTC)
TOOLS = discover_tools().schemas()
FIRST_CHANNEL = 987654321098765432
THREADS = 4
SENTENCES = (
    "今日は朝から雨が降っていましたが、昼すぎには晴れて、散歩にちょうどよい天気になりました。",
    "それはいいですね。",
    "駅前の新しい店で昼を食べてから、川沿いの道をゆっくり歩いて帰るつもりです。",
    "来週の発表の資料は、金曜日までに一度みんなで見直しておきたいと思っています。",
    "URLはあとで送ります、version 2.1のほうです。",
)
INSERT = """
    INSERT INTO messages (
        discord_id, channel_id, thread_id, parent_channel_id, author_id, author_name,
        role, content, timestamp, created_at
    ) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT DO NOTHING
"""
RAW = """
    SELECT discord_id, role, author_name, content FROM messages
    WHERE parent_channel_id = ? AND thread_id IN (0, ?) AND user_id IS NULL AND discord_id < ?
    ORDER BY thread_id DESC, discord_id DESC
    LIMIT ?
"""
"""As many rows as a context has, without its bounds."""


@dataclass
class World:
    """Channels with threads, and who says what in them: the same every time."""

    channels: int
    newest: int = 1_400_000_000_000_000_000

    def __post_init__(self) -> None:
        self.chance = random.Random(1)
        self.keys = [ChannelKey(FIRST_CHANNEL + number * 7) for number in range(self.channels)]
        self.threads: dict[ChannelKey, list[ChannelKey]] = {key: [] for key in self.keys}

    def id(self) -> int:
        self.newest += self.chance.randrange(1 << 22, 1 << 30)
        return self.newest

    def location(self) -> ChannelKey:
        """A channel, or now and then a thread of it; at most four threads at a time are open there."""
        channel = self.chance.choice(self.keys)
        open_ = self.threads[channel]
        if self.chance.random() >= 0.25:
            return channel
        if not open_ or self.chance.random() < 0.01:
            open_.append(ChannelKey(channel.channel_id, self.id()))
        return self.chance.choice(open_[-THREADS:])

    def said(self) -> Message:
        author = self.chance.randrange(40)
        text = "".join(self.chance.choices(SENTENCES, k=1 + self.chance.randrange(8)))
        return Message("user", text, author_id=author, author_name=f"参加者{author}", discord_id=self.id())

    def rows(self) -> Iterator[tuple[object, ...]]:
        """As INSERT takes them; every tenth message is the bot's."""
        for number in count():
            key, message = self.location(), self.said()
            role = "assistant" if number % 10 == 9 else "user"
            ms = ((message.discord_id or 0) >> 22) + 1_420_070_400_000
            where = (key.location_id, key.thread_id, key.channel_id)
            who = (message.author_id, message.author_name, role)
            yield (message.discord_id, *where, *who, message.content, ms, ms)


def fill(path: Path, world: World, messages: int) -> float:
    """Store so many messages, and return how many bytes each takes."""
    with closing(connect_raw(path)) as raw:
        before = pages_bytes(raw)
        rows = world.rows()
        for _ in range(0, messages, 1000):
            raw.execute("BEGIN")
            raw.executemany(INSERT, islice(rows, 1000))
            raw.execute("COMMIT")
        return (pages_bytes(raw) - before) / messages


def pages_bytes(raw: sqlite3.Connection) -> int:
    [(pages,)] = raw.execute("PRAGMA page_count")
    [(size,)] = raw.execute("PRAGMA page_size")
    return int(pages) * int(size)


class Took(NamedTuple):
    """One prompt: milliseconds by the clock, of the processor, of raw sqlite3 for the rows, and its parts."""

    clock: float
    processor: float
    raw: float
    parts: int


async def build(stores: Stores, raw: sqlite3.Connection, key: ChannelKey, question: Message) -> Took:
    calibration = Calibration(stores.token_factors, "model")
    turns = Conversations(stores, calibration, PromptSettings(), lambda: NOW)
    turn = ChannelTurn(turns, key, (question,), TurnOptions(Locale.JA, TOKYO, bot_id=9))
    start, busy = perf_counter(), process_time()
    prompt = await turn.prompt(TOOLS)
    request = prompt.request(TOOLS, answer_begun=False, model="")
    busy, start = process_time() - busy, perf_counter() - start
    parts = len(request.prompt)
    floor = perf_counter()
    raw.execute(RAW, (key.channel_id, key.thread_id, question.discord_id, parts)).fetchall()
    return Took(start * 1e3, busy * 1e3, (perf_counter() - floor) * 1e3, parts)


async def one_turn(stores: Stores, raw: sqlite3.Connection, world: World, key: ChannelKey) -> Took:
    question = world.said()
    await stores.channels.add(key, question, is_question=True)
    measured = await build(stores, raw, key, question)
    answer = Message("assistant", world.said().content, author_id=9, discord_id=world.id())
    await stores.channels.archive_answer(key, answer, [question])
    return measured


async def contexts(path: Path, world: World, turns: int) -> tuple[list[Took], list[Took]]:
    """The first prompt of each place, then of `turns` more."""
    chance = random.Random(2)
    async with open_stores(f"sqlite:///{path}") as stores:
        with closing(connect_raw(path)) as raw:
            keys = world.keys[:50]
            locations = [*keys, *(world.threads[key][-1] for key in keys if world.threads[key])]
            first = [await one_turn(stores, raw, world, key) for key in locations]
            gc.collect()
            gc.freeze()  # what was loaded at start is not looked through again in the middle of a turn
            return first, [await one_turn(stores, raw, world, chance.choice(locations)) for _ in range(turns)]


def prepared(folder: str, name: str) -> Path:
    """A database with all tables and nothing in them."""
    path = Path(folder, name)

    async def migrate() -> None:
        async with open_stores(f"sqlite:///{path}"):
            pass

    asyncio.run(migrate())
    return path


def report_contexts(folder: str, messages: int, channels: int, turns: int) -> tuple[float, float, float]:
    """Print, and return p50 and p99 in ms of the processor, and the megabytes of 100,000 messages."""
    path, world = prepared(folder, f"{messages}.db"), World(channels)
    megabytes = fill(path, world, messages) * 100_000 / 1e6
    with one_core():
        first, then = asyncio.run(contexts(path, world, turns))
    clock, processor, raw = (percentiles([took[index] for took in then]) for index in range(3))
    print(f"{messages:,} messages in {channels} channels, {megabytes:.1f} MB per 100,000; p50 and p99:")
    print(
        f"  processor {processor[0]:.2f} and {processor[1]:.2f} ms,"
        f" clock {clock[0]:.2f} and {clock[1]:.2f} ms, raw sqlite3 {raw[0]:.2f} and {raw[1]:.2f} ms"
    )
    parts = sum(took.parts for took in then) / len(then)
    cold = median(took.processor for took in first)
    print(f"  {parts:.0f} parts; the first time, when all is frozen: p50 {cold:.0f} ms")
    return *processor, megabytes


def percentiles(values: Sequence[float]) -> tuple[float, float]:
    return median(values), quantiles(values, n=100)[98]


async def inserts(path: Path, world: World, messages: int, batch: int) -> float:
    """Messages a second."""
    chance = random.Random(3)
    async with open_stores(f"sqlite:///{path}") as stores:
        pages = ([world.said() for _ in range(batch)] for _ in range(messages // batch))
        batches = [(chance.choice(world.keys), page) for page in pages]
        start = perf_counter()
        for key, page in batches:
            if batch == 1:
                await stores.channels.add(key, page[0])
            else:
                await stores.channels.add_all(key, page)
        return messages / (perf_counter() - start)


def raw_inserts(path: Path, world: World, messages: int, batch: int) -> float:
    rows = list(islice(world.rows(), messages))
    with closing(connect_raw(path)) as raw:
        start = perf_counter()
        for at in range(0, messages, batch):
            raw.execute("BEGIN IMMEDIATE")
            raw.executemany(INSERT, rows[at : at + batch])
            raw.execute("COMMIT")
        return messages / (perf_counter() - start)


def report_inserts(folder: str, messages: int, batch: int) -> None:
    ours, raws = (prepared(folder, f"{name}{batch}.db") for name in ("ours", "raw"))
    worlds = World(50), World(50)
    measured = []
    with one_core():
        for _ in range(5):  # by turns, so that whatever else the machine does meets both alike
            our = asyncio.run(inserts(ours, worlds[0], messages, batch))
            measured.append((our, raw_inserts(raws, worlds[1], messages, batch)))
    our, raw = (median(pair[index] for pair in measured) for index in (0, 1))
    print(f"inserts by {batch}: {our:,.0f} a second, raw sqlite3 {raw:,.0f}, ratio {raw / our:.2f}")


def main(arguments: Sequence[str]) -> int:
    """Print it all; the exit code tells whether the goals are met."""
    with TemporaryDirectory() as folder:
        _, p99, megabytes = report_contexts(folder, 100_000, 50, TURNS)
        report_inserts(folder, 2_000, 1)
        report_inserts(folder, 10_000, 200)
        met = p99 < GOAL_P99_MS and megabytes <= GOAL_MB
        if "quick" not in arguments:
            small, _, _ = report_contexts(folder, 10_000, 5, 500)
            large, _, _ = report_contexts(folder, 1_000_000, 5, 500)
            print(f"1,000,000 beside 10,000 messages: ratio {large / small:.2f}")
            met = met and large / small <= GOAL_RATIO
    print(f"goals: p99 < {GOAL_P99_MS:.0f} ms, ratio <= {GOAL_RATIO}, {GOAL_MB:.0f} MB")
    return 0 if met else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
