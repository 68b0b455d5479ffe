"""Files of a megabyte that are as hard to import as can be, and very many memories that are exported, while
somebody else goes on using the bot."""

import asyncio
from collections.abc import AsyncIterator, Awaitable
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from time import perf_counter

import pytest

from cc_bot.context.attachments import read_memory_file
from cc_bot.domain import SessionKey
from cc_bot.domain.errors import InputError
from cc_bot.domain.memory_transfer import MAX_IMPORT_BYTES
from cc_bot.storage import Statement, open_database
from cc_bot.stores import Stores, open_stores
from cc_bot.terminal.memory import export_memories
from tests.databases import laid_out
from tests.terminal.talk import Talk

ATTACKER, OTHER = 123456789012345678, 876543210987654321


def lines(*each: str) -> bytes:
    return "\n".join(each).encode()[:MAX_IMPORT_BYTES]


def count_of(folder: Path, pattern: str) -> int:
    return len(list(folder.glob(pattern)))


def kanji(number: int) -> str:
    return "".join(chr(0x4E00 + (number * 131 + place * 17) % 20_000) for place in range(160))


WORST = {
    "most memories": lines(*(f"{n:05d}番の猫の名前はタマ{n}" for n in range(5000))),
    "longest memories": lines(
        *(f"{n} " + "今日は天気がいいので散歩に行きました。" * 16 for n in range(1200))
    ),
    "kanji that nobody uses": lines(*(kanji(n) for n in range(2100))),
    "words that are not alike": lines(
        *(" ".join(f"w{n * 40 + m:x}" for m in range(30)) for n in range(4900))
    ),
    "runs without a space": lines(*(f"{n}" + "ヘルシンキ" * 260 + f"{n}" for n in range(260))),
    "what looks like secrets": lines(*(f"password: Tr0ub4dor{n}&3 sk-{n:040d}" for n in range(5000))),
    "marks of lists": lines(*("- " * 100 + f"{n}" for n in range(5000))),
    "one line": b"x " * (MAX_IMPORT_BYTES // 2),
    "lists in lists": b"[" * MAX_IMPORT_BYTES,
}


@dataclass
class Watch:
    """What somebody else did meanwhile."""

    waits: list[float] = field(default_factory=list)
    """Seconds, of each thing that they did."""


@asynccontextmanager
async def somebody_else(stores: Stores) -> AsyncIterator[Watch]:
    watch = Watch()

    async def use() -> None:
        number = 0
        while True:
            begun, number = perf_counter(), number + 1
            await stores.memories.add(OTHER, f"メモ{number}")
            await stores.memories.search(OTHER, "メモ")
            watch.waits.append(perf_counter() - begun)
            await asyncio.sleep(0.01)

    task = asyncio.create_task(use())
    try:
        yield watch
    finally:
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)


@pytest.fixture
def url(tmp_path: Path) -> str:
    return laid_out(tmp_path / "sessions.db")


@pytest.fixture
async def stores(url: str) -> AsyncIterator[Stores]:
    async with open_stores(url, embedder=None) as stores:
        yield stores


async def imported(stores: Stores, data: bytes) -> None:
    """As `/memory import` does it, and the button below it."""
    with suppress(InputError):  # which has a sentence
        read = await asyncio.to_thread(read_memory_file, data)
        await stores.memory_transfer.take(ATTACKER, read)


async def longest_wait(stores: Stores, work: Awaitable[None]) -> tuple[float, int]:
    """Of somebody else beside this work, in seconds, and how much they did."""
    async with somebody_else(stores) as watch:
        await asyncio.sleep(0.05)
        already = len(watch.waits)
        await work
        await asyncio.sleep(0.05)
    return max(watch.waits), len(watch.waits) - already


class TestAnImport:
    @pytest.mark.parametrize("data", WORST.values(), ids=WORST)
    async def test_of_the_worst_megabyte_lets_somebody_else_go_on(self, stores: Stores, data: bytes) -> None:
        wait, _ = await longest_wait(stores, imported(stores, data))
        assert wait < 1.0


class TestAnExport:
    async def test_of_very_many_memories_lets_somebody_else_go_on(
        self, url: str, stores: Stores, tmp_path: Path
    ) -> None:
        async with open_database(url) as database:
            await database.transaction(
                [
                    Statement(
                        """
                        WITH RECURSIVE n(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM n WHERE n < 30000)
                        INSERT INTO memories (
                            user_id, content, category, created_at, updated_at, search_content
                        )
                        SELECT $1, '猫の名前は' || n || 'です。', 'general', $2, $2, '' FROM n
                        """,
                        (ATTACKER, "2026-11-01T00:00:00.000000+00:00"),
                    )
                ],
                (),
            )
        chat = Talk(stores, key=SessionKey(ATTACKER, 0)).chat
        chat.person = await chat.read_person()
        export = export_memories.run(chat, str(tmp_path / "all.json"))
        begun = perf_counter()
        wait, done = await longest_wait(stores, export)
        assert wait < (perf_counter() - begun) / 3
        assert done > 10
        assert count_of(tmp_path, "all-*.json") >= 6
