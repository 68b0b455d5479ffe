"""One turn's storage, and what 100,000 messages take, beside what others keep a conversation in.

A turn reads the last 20 messages of a conversation, each of 150 Japanese characters, and stores a question
and an answer. Beside ours: a program by hand over sqlite3, which is the floor; SQLiteSession and
AsyncSQLiteSession of openai-agents; AsyncSqliteSaver of LangGraph; SQLChatMessageHistory of LangChain.

All have a write-ahead log and the same `synchronous`, NORMAL in one run and FULL in another. Where a choice
is ours it is made in the peer's favour: one object for the whole run, one checkpoint a turn where a graph
makes three; and where a peer reads all that it has, what is older than 20 messages is deleted off the clock.
"""

import sqlite3
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import AbstractAsyncContextManager, AsyncExitStack, asynccontextmanager, closing
from pathlib import Path
from time import perf_counter
from typing import Any, NamedTuple, Protocol
from uuid import uuid4

import aiosqlite
from agents import SQLiteSession
from agents.extensions.memory import AsyncSQLiteSession
from langchain_community.chat_message_histories import SQLChatMessageHistory
from langchain_core.messages import AIMessage, HumanMessage
from langgraph.checkpoint.base import empty_checkpoint
from langgraph.checkpoint.sqlite.aio import AsyncSqliteSaver
from sqlalchemy import delete, event, func, select
from sqlalchemy.ext.asyncio import create_async_engine

from bench.figures import Line, Spread, Words, by_turns
from bench.turn import TEXT, one_core
from cc_bot import Message, SessionKey
from cc_bot.chat.stores.sessions import SessionStore
from cc_bot.db import Database, Synchronous, apply_pending, open_database

GOAL_TO_FLOOR = 3.0
GOAL_TO_PEER = 1.0
GOAL_MB = 59.0
ROUNDS = 15
TURNS_PER_BLOCK = 20
WINDOW = 20
CONVERSATIONS = 5_000


class TurnStorage(Protocol):
    """Something that keeps conversations, each with a number."""

    async def read(self, conversation: int) -> int:
        """Read the last 20 messages; how many there were."""
        ...

    async def append(self, conversation: int) -> None:
        """Store a question and an answer."""
        ...

    async def trim(self, conversation: int) -> None:
        """Leave 20 messages, where older ones would be read."""
        ...


Opening = Callable[[Path, Synchronous], AbstractAsyncContextManager[TurnStorage]]


class CcBot:
    def __init__(self, database: Database) -> None:
        self._store = SessionStore(database)

    async def read(self, conversation: int) -> int:
        self._session = await self._store.open(SessionKey(user_id=conversation, channel_id=1))
        return len(self._session.history)

    async def append(self, conversation: int) -> None:
        if self._session.key.user_id != conversation:
            await self.read(conversation)
        await self._store.commit_turn(self._session, (Message("user", TEXT), Message("assistant", TEXT)))

    async def trim(self, conversation: int) -> None: ...


@asynccontextmanager
async def cc_bot(path: Path, synchronous: Synchronous) -> AsyncIterator[TurnStorage]:
    async with open_database(f"sqlite:///{path}", synchronous=synchronous) as database:
        await apply_pending(database)
        storage = CcBot(database)
        await storage.read(0)
        yield storage


class ByHand:
    def __init__(self, connection: sqlite3.Connection) -> None:
        self._connection = connection

    async def read(self, conversation: int) -> int:
        rows = self._connection.execute(
            "SELECT role, content FROM messages WHERE conversation = ? ORDER BY id DESC LIMIT ?",
            (conversation, WINDOW),
        )
        return len([{"role": role, "content": content} for role, content in rows][::-1])

    async def append(self, conversation: int) -> None:
        execute = self._connection.execute
        execute("BEGIN IMMEDIATE")
        for role in ("user", "assistant"):
            execute(
                "INSERT INTO messages (conversation, role, content) VALUES (?, ?, ?)",
                (conversation, role, TEXT),
            )
        execute(
            "INSERT INTO conversations VALUES (?, CURRENT_TIMESTAMP)"
            " ON CONFLICT DO UPDATE SET last_active = CURRENT_TIMESTAMP",
            (conversation,),
        )
        execute("COMMIT")

    async def trim(self, conversation: int) -> None: ...


SCHEMA_BY_HAND = """
    CREATE TABLE conversations (id INTEGER PRIMARY KEY, last_active TEXT NOT NULL);
    CREATE TABLE messages (
        id INTEGER PRIMARY KEY, conversation INTEGER NOT NULL, role TEXT NOT NULL, content TEXT NOT NULL,
        created_at TEXT NOT NULL DEFAULT CURRENT_TIMESTAMP
    );
    CREATE INDEX messages_by_conversation ON messages (conversation, id);
"""


@asynccontextmanager
async def by_hand(path: Path, synchronous: Synchronous) -> AsyncIterator[TurnStorage]:
    with closing(sqlite3.connect(path, isolation_level=None)) as connection:
        for pragma in ours_too(synchronous):
            connection.execute(pragma).fetchall()
        connection.executescript(SCHEMA_BY_HAND)
        yield ByHand(connection)


def ours_too(synchronous: Synchronous) -> Sequence[str]:
    """The pragmas that cc-bot sets."""
    pragmas = ("journal_mode = WAL", f"synchronous = {synchronous}", "foreign_keys = ON")
    return [
        f"PRAGMA {pragma}"
        for pragma in (*pragmas, "mmap_size = 0", "cache_size = -16384", "secure_delete = ON")
    ]


class OpenaiAgents:
    def __init__(self, session: SQLiteSession | AsyncSQLiteSession) -> None:
        self._session = session

    async def read(self, conversation: int) -> int:
        self._session.session_id = str(conversation)
        return len(await self._session.get_items(limit=WINDOW))

    async def append(self, conversation: int) -> None:
        self._session.session_id = str(conversation)
        await self._session.add_items(
            [{"role": "user", "content": TEXT}, {"role": "assistant", "content": TEXT}]
        )

    async def trim(self, conversation: int) -> None: ...


@asynccontextmanager
async def openai_agents(path: Path, synchronous: Synchronous) -> AsyncIterator[TurnStorage]:
    class Session(SQLiteSession):  # type: ignore[misc]  # it is not where types are checked
        @staticmethod
        def _configure_connection(conn: sqlite3.Connection) -> None:
            SQLiteSession._configure_connection(conn)
            conn.execute(f"PRAGMA synchronous = {synchronous}")

    session = Session("0", path)
    try:
        yield OpenaiAgents(session)
    finally:
        session.close()


@asynccontextmanager
async def openai_agents_async(path: Path, synchronous: Synchronous) -> AsyncIterator[TurnStorage]:
    class Session(AsyncSQLiteSession):  # type: ignore[misc]  # likewise
        @staticmethod
        async def _configure_connection(conn: aiosqlite.Connection) -> None:
            await AsyncSQLiteSession._configure_connection(conn)
            await conn.execute(f"PRAGMA synchronous = {synchronous}")

    session = Session("0", path)
    try:
        yield OpenaiAgents(session)
    finally:
        await session.close()


class LangGraph:
    """A checkpoint holds the whole window, which the graph cuts to 20 messages."""

    def __init__(self, saver: AsyncSqliteSaver) -> None:
        self._saver = saver
        self._step = 0
        self._read: tuple[int, Any, list[Any]] = (-1, None, [])

    async def read(self, conversation: int) -> int:
        start = {"configurable": {"thread_id": str(conversation), "checkpoint_ns": ""}}
        found = await self._saver.aget_tuple(start)
        messages = found.checkpoint["channel_values"]["messages"] if found else []
        self._read = (conversation, found.config if found else start, messages)
        return len(messages)

    async def append(self, conversation: int) -> None:
        if self._read[0] != conversation:
            await self.read(conversation)
        _, config, messages = self._read
        self._step += 1
        versions = {"messages": f"{self._step:032}"}
        new = [HumanMessage(TEXT, id=str(uuid4())), AIMessage(TEXT, id=str(uuid4()))]
        checkpoint = empty_checkpoint()
        checkpoint["channel_values"] = {"messages": [*messages, *new][-WINDOW:]}
        checkpoint["channel_versions"] = versions
        kept = await self._saver.aput(
            config, checkpoint, {"source": "loop", "step": self._step, "parents": {}}, versions
        )
        self._read = (conversation, kept, checkpoint["channel_values"]["messages"])

    async def trim(self, conversation: int) -> None: ...


@asynccontextmanager
async def langgraph(path: Path, synchronous: Synchronous) -> AsyncIterator[TurnStorage]:
    async with AsyncSqliteSaver.from_conn_string(str(path)) as saver:
        await saver.setup()
        await saver.conn.execute(f"PRAGMA synchronous = {synchronous}")
        yield LangGraph(saver)


class LangChain:
    """It reads everything of a conversation, through a whole table without an index."""

    def __init__(self, history: SQLChatMessageHistory) -> None:
        self._history = history

    async def read(self, conversation: int) -> int:
        self._history.session_id = str(conversation)
        return len(await self._history.aget_messages())

    async def append(self, conversation: int) -> None:
        self._history.session_id = str(conversation)
        await self._history.aadd_messages([HumanMessage(TEXT), AIMessage(TEXT)])

    async def trim(self, conversation: int) -> None:  # noqa: ARG002 - its block has this one alone
        table = self._history.sql_model_class
        async with self._history.async_engine.begin() as connection:
            [(newest,)] = await connection.execute(select(func.max(table.id)))
            await connection.execute(delete(table).where(table.id <= newest - WINDOW))


@asynccontextmanager
async def langchain(path: Path, synchronous: Synchronous) -> AsyncIterator[TurnStorage]:
    engine = create_async_engine(f"sqlite+aiosqlite:///{path}")

    @event.listens_for(engine.sync_engine, "connect")  # type: ignore[untyped-decorator]  # likewise
    def configure(connection: Any, _: object) -> None:
        cursor = connection.cursor()
        cursor.execute("PRAGMA journal_mode = WAL")
        cursor.execute(f"PRAGMA synchronous = {synchronous}")
        cursor.close()

    try:
        yield LangChain(SQLChatMessageHistory("0", connection=engine))
    finally:
        await engine.dispose()


class Contender(NamedTuple):
    name: Words
    open: Opening


OURS = "cc-bot"
FLOOR = "by hand"
CONTENDERS = {
    OURS: Contender(Words("cc-bot", "cc-bot"), cc_bot),
    FLOOR: Contender(Words("手書きの sqlite3", "sqlite3 by hand"), by_hand),
    "sqlite-session": Contender(
        Words("openai-agents SQLiteSession", "openai-agents SQLiteSession"), openai_agents
    ),
    "async-sqlite-session": Contender(
        Words("openai-agents AsyncSQLiteSession", "openai-agents AsyncSQLiteSession"), openai_agents_async
    ),
    "langgraph": Contender(Words("LangGraph AsyncSqliteSaver", "LangGraph AsyncSqliteSaver"), langgraph),
    "langchain": Contender(
        Words("LangChain SQLChatMessageHistory", "LangChain SQLChatMessageHistory"), langchain
    ),
}


async def block(storage: TurnStorage) -> float:
    """Seconds per turn of one conversation whose history is full."""
    took = 0.0
    for _ in range(TURNS_PER_BLOCK):
        began = perf_counter()
        read = await storage.read(0)
        await storage.append(0)
        took += perf_counter() - began
        assert read == WINDOW, read
        await storage.trim(0)
    return took / TURNS_PER_BLOCK


async def turns(folder: Path, synchronous: Synchronous) -> dict[str, list[float]]:
    """Seconds per turn in each block of each contender."""
    folder.mkdir()  # noqa: ASYNC240 - nothing else runs yet
    async with _all_open(folder, synchronous) as storages:
        for storage in storages.values():
            for _ in range(WINDOW // 2):
                await storage.append(0)
        blocks = {name: (lambda storage=each: block(storage)) for name, each in storages.items()}
        return await by_turns(blocks, ROUNDS)


@asynccontextmanager
async def _all_open(folder: Path, synchronous: Synchronous) -> AsyncIterator[dict[str, TurnStorage]]:
    async with AsyncExitStack() as stack:
        yield {
            name: await stack.enter_async_context(each.open(folder / f"{name}.db", synchronous))
            for name, each in CONTENDERS.items()
        }


async def megabytes(folder: Path, contender: Contender) -> float:
    path = folder / "filled.db"
    async with contender.open(path, "NORMAL") as storage:
        for conversation in range(1, CONVERSATIONS + 1):
            for _ in range(WINDOW // 2):
                await storage.append(conversation)
    return _taken_away(folder) / 1e6


def _taken_away(folder: Path) -> int:
    files = list(folder.glob("filled.db*"))
    size = sum(file.stat().st_size for file in files)
    for file in files:
        file.unlink()
    return size


def turn_lines(found: dict[str, list[float]], synchronous: Synchronous) -> list[Line]:
    """Our turn beside each of the others."""
    what = Words(
        f"1ターンの保存（synchronous={synchronous}）", f"one turn's storage (synchronous={synchronous})"
    )
    goals = {FLOOR: GOAL_TO_FLOOR}
    return [
        Line(
            "turn",
            what,
            each.name,
            Spread.of_ratios(found[OURS], found[name]),
            goal=goals.get(name, GOAL_TO_PEER) if synchronous == "NORMAL" or name != FLOOR else None,
            bound="most" if name == FLOOR else "under",
        )
        for name, each in CONTENDERS.items()
        if name != OURS
    ]


async def measure(folder: Path) -> list[Line]:
    lines = list[Line]()
    for synchronous in ("NORMAL", "FULL"):
        with one_core():
            found = await turns(folder / synchronous, synchronous)
        lines += turn_lines(found, synchronous)
    what = Words("メッセージ10万件の大きさ", "bytes of 100,000 messages")
    for name, each in CONTENDERS.items():
        size = await megabytes(folder, each)
        goal = GOAL_MB if name == OURS else None
        lines.append(Line("turn", what, each.name, Spread.of([size]), "MB", goal))
    return lines
