"""PostgreSQL beside SQLite: the same stores, a server on this machine behind a unix socket.

The server is the one that the tests bring along, with what is safe switched on again. Two databases on it:
one with `synchronous_commit = off` beside SQLite's `synchronous = NORMAL` (a power cut may take the last
turns), and one as PostgreSQL comes beside `FULL`.
"""

import asyncio
import random
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from time import perf_counter
from urllib.parse import quote

import asyncpg

from bench.figures import Block, Line, Spread, Words, by_turns
from bench.programs import cc_bot_scene
from bench.recall_text import Everyday, Phrase
from bench.turn import TURN
from cc_bot import SessionKey
from cc_bot.chat.stores.sessions import SessionStore
from cc_bot.db import Database, Statement, Synchronous, apply_pending, open_database
from cc_bot.features.memory.stores.store import MemoryStore
from tests.postgres_server import SETTINGS, server

GOALS_OF_TURNS = {"relaxed": 2.5, "durable": 1.5}
SYNCHRONOUS: dict[str, Synchronous] = {"relaxed": "NORMAL", "durable": "FULL"}
GOAL_PROCESSOR, GOAL_NEWEST, GOAL_HOT = 1.1, 1.3, 80.0
GOALS_OF_SEARCHES = {100: 2.0, 3_000: 1.3}
ROUNDS, TURNS_PER_BLOCK = 15, 20
ROUNDS_OF_ASKS, ASKS = 8, 60
SHORT, LONG = 40, 1_000_000
SEARCHES, COMPARED = 40, 120
LONGEST_BLOCK_S = 0.05

LITE = Words("SQLite", "SQLite")
NONE = Words("PostgreSQL", "PostgreSQL")


@dataclass(frozen=True, slots=True)
class Server:
    """A PostgreSQL with its databases."""

    folder: Path

    def url(self, name: str) -> str:
        return f"postgresql://postgres:@/{name}?host={quote(str(server(self.folder).pgdata), safe='')}"

    async def start(self) -> None:
        """Start it with the settings that it comes with, and make the databases."""
        started = await asyncio.to_thread(server, self.folder)
        for name in SETTINGS:
            started.psql(f"ALTER SYSTEM RESET {name};")
        started.psql("SELECT pg_reload_conf();")
        for name in ("relaxed", "durable", "asked"):
            await self.run("postgres", f"CREATE DATABASE {name} TEMPLATE template0 ENCODING 'UTF8'")
        for name in ("relaxed", "asked"):
            await self.run("postgres", f"ALTER DATABASE {name} SET synchronous_commit = off")

    async def run(self, name: str, sql: str) -> list[asyncpg.Record]:
        connection = await asyncpg.connect(self.url(name))
        try:
            return await connection.fetch(sql)
        finally:
            await connection.close()


@asynccontextmanager
async def opened(url: str, synchronous: Synchronous = "NORMAL") -> AsyncIterator[Database]:
    async with open_database(url, synchronous=synchronous) as database:
        await apply_pending(database)
        yield database


async def measure(folder: Path) -> list[Line]:
    running = Server(folder)
    await running.start()
    lines = list[Line]()
    for durability in ("relaxed", "durable"):
        lines.append(await turns(folder, running, durability))
    lines.append(await hot_updates(running))
    async with opened(f"sqlite:///{folder}/engines.db") as lite, opened(running.url("relaxed")) as postgres:
        lines += await newest(lite, LITE)
        lines += await newest(postgres, NONE)
        for notes, goal in GOALS_OF_SEARCHES.items():
            lines += await searches(lite, postgres, notes, goal)
    return [*lines, await processor(folder, running)]


async def turns(folder: Path, running: Server, durability: str) -> Line:
    synchronous = SYNCHRONOUS[durability]
    async with (
        opened(f"sqlite:///{folder}/{durability}.db", synchronous) as lite,
        opened(running.url(durability)) as postgres,
    ):
        blocks = {"lite": _turns(SessionStore(lite)), "postgres": _turns(SessionStore(postgres))}
        found = await by_turns(blocks, ROUNDS)
    both = {"relaxed": ("緩い保存", "both relaxed"), "durable": ("確実な保存", "both durable")}[durability]
    what = Words(
        f"1ターンの保存（PostgreSQL、両方とも{both[0]}）", f"one turn's storage on PostgreSQL, {both[1]}"
    )
    ratios = Spread.of_ratios(found["postgres"], found["lite"])
    return Line("engines", what, LITE, ratios, goal=GOALS_OF_TURNS[durability])


def _turns(store: SessionStore) -> Block:
    key = SessionKey(user_id=1, channel_id=1)

    async def block() -> float:
        began = perf_counter()
        for _ in range(TURNS_PER_BLOCK):
            await store.commit_turn(await store.open(key), TURN)
        return (perf_counter() - began) / TURNS_PER_BLOCK

    return block


async def hot_updates(running: Server) -> Line:
    await asyncio.sleep(2.0)  # a connection tells of what it did a second later
    [found] = await running.run(
        "relaxed", "SELECT n_tup_upd, n_tup_hot_upd FROM pg_stat_user_tables WHERE relname = 'sessions'"
    )
    assert found["n_tup_upd"] > ROUNDS * TURNS_PER_BLOCK / 2, found
    share = 100 * found["n_tup_hot_upd"] / found["n_tup_upd"]
    what = Words("sessions の更新のうち索引に触れないもの", "updates of sessions that touch no index")
    return Line("engines", what, NONE, Spread.of([share]), "%", GOAL_HOT, "least")


async def newest(database: Database, beside: Words) -> list[Line]:
    """Opening a long conversation, beside a short one in the same database."""
    store = SessionStore(database)
    keys = {SHORT: SessionKey(user_id=SHORT, channel_id=1), LONG: SessionKey(user_id=LONG, channel_id=1)}
    for messages, key in keys.items():
        await lengthen(database, store, key, messages)
    await database.query("ANALYZE messages")

    def opens(key: SessionKey) -> Block:
        async def block() -> float:
            began, opened = perf_counter(), 0
            while opened < 2 or perf_counter() - began < LONGEST_BLOCK_S:
                assert len((await store.open(key)).history) == 20
                opened += 1
            return (perf_counter() - began) / opened

        return block

    found = await by_turns({"short": opens(keys[SHORT]), "long": opens(keys[LONG])}, ROUNDS)
    what = Words(
        f"{LONG:,}件の会話を開く（{SHORT}件の会話と比べて）",
        f"opening a conversation of {LONG:,} messages, beside one of {SHORT}",
    )
    ratios = Spread.of_ratios(found["long"], found["short"])
    return [Line("engines", what, beside, ratios, goal=GOAL_NEWEST)]


async def lengthen(database: Database, store: SessionStore, key: SessionKey, messages: int) -> None:
    """Give a conversation so many messages: turns, and then copies of them, twice as many each time."""
    session = await store.open(key)
    for _ in range(SHORT // 2):
        session = await store.commit_turn(session, TURN)
    listing = {
        "sqlite": "SELECT name FROM pragma_table_info('messages')",
        "postgresql": "SELECT column_name FROM information_schema.columns WHERE table_name = 'messages'",
    }[database.dialect]
    names = ", ".join(name for (name,) in await database.query(listing) if name != "id")
    copy = f"""
        INSERT INTO messages ({names}) SELECT {names} FROM messages WHERE session_id = $1
        ORDER BY id LIMIT $2
    """
    stored = SHORT
    while stored < messages:
        more = min(stored, messages - stored)
        await database.transaction([Statement(copy, (session.id, more))], ())
        stored += more


async def searches(lite: Database, postgres: Database, notes: int, goal: float) -> list[Line]:
    """Finding one of so many notes, and how many of the questions are answered differently."""
    known = [Everyday(notes + number).note() for number in range(notes)]
    stores = {
        name: await noted(each, notes, known) for name, each in (("lite", lite), ("postgres", postgres))
    }
    await postgres.query("ANALYZE")  # as the server does by itself within a minute
    source, chance = Everyday(11), random.Random(11)
    queries = [source.question(chance.choice(known)) for _ in range(COMPARED)]

    def block_of(store: MemoryStore) -> Block:
        async def block() -> float:
            began = perf_counter()
            for query in queries[:SEARCHES]:
                await store.find(notes, query)
            return (perf_counter() - began) / SEARCHES

        return block

    found = await by_turns({name: block_of(store) for name, store in stores.items()}, ROUNDS)
    different = 0
    for query in queries:
        mine, theirs = [
            [each.memory.content for each in await store.find(notes, query)] for store in stores.values()
        ]
        different += mine != theirs
    what = Words(f"メモの検索（PostgreSQL、{notes:,}件）", f"finding notes on PostgreSQL, {notes:,} of them")
    same = Words(
        f"検索結果が SQLite と異なる割合（{notes:,}件）",
        f"results that differ from SQLite's, {notes:,} notes",
    )
    share = 100 * different / COMPARED
    return [
        Line("engines", what, LITE, Spread.of_ratios(found["postgres"], found["lite"]), goal=goal),
        Line("engines", same, LITE, Spread.of([share]), "%", 0.0),
    ]


async def noted(database: Database, user_id: int, known: list[Phrase]) -> MemoryStore:
    """A store in which the user has these notes."""
    store = MemoryStore(database)
    for note in known:
        await store.add(user_id, note.text)
    return store


async def processor(folder: Path, running: Server) -> Line:
    used: dict[str, list[float]] = {"lite": [], "postgres": []}
    settings = {"CC_BOT_DATABASE_URL": running.url("asked")}
    async with AsyncExitStack() as stack:
        scenes = {
            "lite": await stack.enter_async_context(cc_bot_scene(folder / "asked-lite")),
            "postgres": await stack.enter_async_context(cc_bot_scene(folder / "asked-postgres", settings)),
        }
        for scene in scenes.values():
            await scene.start()
            scene.fill(ASKS)
        for number in range(ROUNDS_OF_ASKS + 1):
            for name, scene in scenes.items():
                before = scene.processor_s()
                await scene.asks(ASKS, 1)
                if number:
                    used[name].append(scene.processor_s() - before)
    what = Words(
        "ボットの /ask ごとのプロセッサー時間（PostgreSQL）", "processor of the bot for an /ask on PostgreSQL"
    )
    ratios = Spread.of_ratios(used["postgres"], used["lite"])
    return Line("engines", what, LITE, ratios, goal=GOAL_PROCESSOR)
