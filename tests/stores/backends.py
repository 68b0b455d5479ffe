"""The databases that the stores' contract is held against, and a database that notes what it is asked."""

import atexit
from collections.abc import Callable, Sequence
from contextlib import AbstractAsyncContextManager
from dataclasses import MISSING, fields
from datetime import timedelta
from pathlib import Path
from shutil import rmtree
from tempfile import mkdtemp
from typing import Any, Protocol, TypeVar, cast

from cc_bot.chat.stores.archive import ArchiveStore
from cc_bot.chat.stores.channels import ChannelStore
from cc_bot.chat.stores.opening import StoreContext, Stores, make_feature_stores
from cc_bot.chat.stores.sessions import SessionStore
from cc_bot.db import Database, ErasureLog, LockKey, Row, ScrubOutcome, Statement, Transaction
from cc_bot.domain.clock import utc_now
from cc_bot.domain.message import Message
from cc_bot.domain.session import SessionKey
from cc_bot.features.memory.stores.limits import SecretRules
from cc_bot.features.memory.stores.removal import MemoryRemovalStore
from cc_bot.features.memory.stores.search import EmbeddingJob
from cc_bot.features.memory.stores.store import MemoryStore
from cc_bot.features.privacy.retention import RetentionStore
from tests.stores.encoders import TopicEncoder

KEY = SessionKey(user_id=123456789012345678, channel_id=987654321098765432)
OTHER_USER = SessionKey(user_id=876543210987654321, channel_id=KEY.channel_id)
OTHER_KEYS = (
    OTHER_USER,
    SessionKey(KEY.user_id, channel_id=1),
    SessionKey(KEY.user_id, KEY.channel_id, agent="tutor"),
)


T = TypeVar("T")


class OpenStores(Protocol):
    """Opens the test's database; a second time, it is the same one."""

    def __call__(
        self, *, history_limit: int = 20, session_ttl: timedelta = timedelta(days=1)
    ) -> AbstractAsyncContextManager[Stores]: ...


def turn(text: str, *, answer: str | None = None, **fields: Any) -> tuple[Message, Message]:
    """A question and its answer, both with these fields."""
    return Message("user", text, **fields), Message("assistant", answer or f"{text}の答え", **fields)


def contents(messages: Sequence[Message]) -> list[str]:
    return [message.content for message in messages]


def got(value: T | None) -> T:
    assert value is not None
    return value


class Recorder(Database):
    """A database that notes every statement before it is run."""

    def __init__(self, database: Database) -> None:
        self.database = database
        self.dialect, self.location = database.dialect, database.location
        for name in ("stream", "wait_for_write", "size", "begin_shutdown", "close"):
            setattr(self, name, getattr(database, name))
        self.statements = list[Statement]()
        self.trips = 0

    async def query(self, sql: str, *params: Any) -> Sequence[Row]:
        self.trips += 1
        self.statements.append(Statement(sql, params))
        return await self.database.query(sql, *params)

    async def transaction(
        self, statements: Sequence[Statement], about: Sequence[LockKey]
    ) -> list[Sequence[Row]]:
        self.trips += 1
        self.statements.extend(statements)
        return await self.database.transaction(statements, about)

    async def read(self, steps: Callable[[], Transaction[T]]) -> T:
        self.trips += 1
        return await self.database.read(lambda: self._noting(steps()))

    async def read_long(self, steps: Callable[[], Transaction[T]]) -> T:
        self.trips += 1
        return await self.database.read_long(lambda: self._noting(steps()))

    async def write(self, steps: Callable[[], Transaction[T]], about: Sequence[LockKey]) -> T:
        self.trips += 1
        return await self.database.write(lambda: self._noting(steps()), about)

    async def scrub(self, *, vacuum: bool) -> ScrubOutcome:
        return await self.database.scrub(vacuum=vacuum)

    def _noting(self, steps: Transaction[T]) -> Transaction[T]:
        rows: Sequence[Row] | None = None
        while True:
            try:
                statement = next(steps) if rows is None else steps.send(rows)
            except StopIteration as end:
                result: T = end.value
                return result
            self.statements.append(statement)
            rows = yield statement


class Full(Recorder):
    """A database on a disk without room."""

    async def scrub(self, *, vacuum: bool) -> ScrubOutcome:
        return "no_room" if vacuum else await super().scrub(vacuum=False)


async def tables_of(database: Database) -> list[str]:
    """The names of all tables."""
    if database.dialect == "sqlite":
        sql = "SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite_%'"
    else:
        sql = "SELECT CAST(tablename AS TEXT) FROM pg_tables WHERE schemaname = 'public'"
    return [name for (name,) in await database.query(sql)]


async def columns_of(database: Database, table: str) -> tuple[str, ...]:
    if database.dialect == "sqlite":
        sql = "SELECT name FROM pragma_table_info($1)"
    else:
        sql = """
            SELECT CAST(column_name AS TEXT) FROM information_schema.columns
            WHERE table_schema = 'public' AND table_name = $1 AND is_generated = 'NEVER'
            ORDER BY ordinal_position
        """
    return tuple(name for (name,) in await database.query(sql, table))


def _aside() -> Path:
    folder = mkdtemp()
    atexit.register(rmtree, folder, ignore_errors=True)
    return Path(folder, "postgresql")


def stores_over(database: Database, *, history_limit: int = 4) -> Stores:
    memories = MemoryStore(database, embedding=EmbeddingJob(database, TopicEncoder()), max_prompt_memories=10)
    erasures = ErasureLog.beside(Path(database.location) if database.dialect == "sqlite" else _aside())
    made: dict[str, Any] = {
        "sessions": SessionStore(database, history_limit=history_limit),
        "archive": ArchiveStore(database, log=erasures),
        "memories": memories,
        "memory_removal": MemoryRemovalStore(database, log=erasures),
        "channels": ChannelStore(database, log=erasures),
        "retention": RetentionStore(database, history_limit=history_limit),
        "erasures": erasures,
        "features": make_feature_stores(
            StoreContext(database, utc_now, SecretRules(), timedelta(days=1), "")
        ),
    }
    others = [each for each in fields(Stores) if each.default is MISSING and each.name not in made]
    return Stores(**made, **{each.name: cast("Any", each.type)(database) for each in others})
