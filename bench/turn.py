import asyncio
import os
import re
import sqlite3
import sys
from collections.abc import Awaitable, Callable, Iterator, Sequence
from contextlib import closing, contextmanager
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory
from time import perf_counter
from typing import Any, TypeVar

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))  # for `python bench/turn.py`

from cc_bot import Message, SessionKey
from cc_bot.chat.stores.sessions import SessionStore
from cc_bot.db import Database, LockKey, Row, Statement, Transaction, apply_pending, open_database
from cc_bot.db.database import expand

T = TypeVar("T")

GOAL = 3.0
BLOCKS = 40
TURNS_PER_BLOCK = 50

KEY = SessionKey(user_id=123456789012345678, channel_id=987654321098765432)
TEXT = ("今日は朝から雨が降っていましたが、昼すぎには晴れて、散歩にちょうどよい天気になりました。" * 4)[:150]
TURN = (Message("user", TEXT), Message("assistant", TEXT))


class Recorder(Database):
    """A database that notes what it is asked to do."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self.dialect, self.location = database.dialect, database.location
        for name in (
            "read",
            "read_long",
            "stream",
            "scrub",
            "size",
            "wait_for_write",
            "begin_shutdown",
            "close",
        ):
            setattr(self, name, getattr(database, name))
        self.statements: list[tuple[str, tuple[Any, ...]]] = []

    async def query(self, sql: str, *params: Any) -> Sequence[Row]:
        self._note(sql, params)
        return await self._database.query(sql, *params)

    async def transaction(
        self, statements: Sequence[Statement], about: Sequence[LockKey]
    ) -> list[Sequence[Row]]:
        self._note("BEGIN IMMEDIATE", ())
        for statement in statements:
            self._note(statement.sql, statement.params)
        self._note("COMMIT", ())
        return await self._database.transaction(statements, about)

    async def write(self, begin: Callable[[], Transaction[T]], about: Sequence[LockKey]) -> T:
        self._note("BEGIN IMMEDIATE", ())
        result = await self._database.write(lambda: self._noting(begin()), about)
        self._note("COMMIT", ())
        return result

    def _noting(self, steps: Transaction[T]) -> Transaction[T]:
        rows: Sequence[Row] | None = None
        while True:
            try:
                statement = next(steps) if rows is None else steps.send(rows)
            except StopIteration as end:
                result: T = end.value
                return result
            self._note(statement.sql, statement.params)
            rows = yield statement

    def _note(self, sql: str, params: tuple[Any, ...]) -> None:
        self.statements.append((re.sub(r"\$(\d+)", r"?\1", expand(sql, "sqlite")), params))


async def turn(store: SessionStore) -> None:
    session = await store.open(KEY)
    await store.commit_turn(session, TURN)


async def fill(database: Database) -> SessionStore:
    """A store whose history is full."""
    await apply_pending(database)
    store = SessionStore(database)
    for _ in range(20):
        await turn(store)
    return store


@contextmanager
def one_core() -> Iterator[None]:
    """Keep the process on one core, where the system lets it."""
    if sys.platform != "linux":
        yield
        return
    cores = os.sched_getaffinity(0)
    os.sched_setaffinity(0, {min(cores)})
    try:
        yield
    finally:
        os.sched_setaffinity(0, cores)


def connect_raw(path: Path) -> sqlite3.Connection:
    connection = sqlite3.connect(path, isolation_level=None)
    for pragma in ("journal_mode = WAL", "synchronous = NORMAL", "foreign_keys = ON", "secure_delete = ON"):
        connection.execute(f"PRAGMA {pragma}").fetchall()
    return connection


async def block(work: Callable[[], Awaitable[None]]) -> float:
    """Microseconds per turn."""
    start = perf_counter()
    for _ in range(TURNS_PER_BLOCK):
        await work()
    return (perf_counter() - start) / TURNS_PER_BLOCK * 1e6


async def measure(ours: Path, raws: Path) -> tuple[float, float]:
    """The medians of our turn and of the raw one, in microseconds."""
    async with open_database(f"sqlite:///{raws}") as database:
        await fill(database)
        recorder = Recorder(database)
        await turn(SessionStore(recorder))
    async with open_database(f"sqlite:///{ours}") as database:
        store = await fill(database)
        with closing(connect_raw(raws)) as raw:

            async def raw_turn() -> None:
                for sql, params in recorder.statements:
                    raw.execute(sql, params).fetchall()

            pairs = [(await block(lambda: turn(store)), await block(raw_turn)) for _ in range(BLOCKS)]
    return median(pair[0] for pair in pairs), median(pair[1] for pair in pairs)


def report(where: str) -> float:
    """Measure, print, and return the ratio."""
    with TemporaryDirectory() as folder:
        ours, raw = asyncio.run(measure(Path(folder, "ours.db"), Path(folder, "raw.db")))
    print(f"{where}: turn {ours:.0f} µs, raw sqlite3 {raw:.0f} µs, ratio {ours / raw:.2f}")
    return ours / raw


def main() -> int:
    """Print the ratio; the exit code tells whether the goal is met."""
    with one_core():
        ratio = report("one core")
    report("any core")
    print(f"ratio {ratio:.2f}, goal: at most {GOAL:.0f}")
    return 0 if ratio <= GOAL else 1


if __name__ == "__main__":
    sys.exit(main())
