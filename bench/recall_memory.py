import asyncio
import random
import subprocess
import sys
from pathlib import Path
from typing import NamedTuple

from bench.recall_text import Everyday
from cc_bot import open_stores
from cc_bot.llm.embeddings import LocalEmbedder

STATUS = Path("/proc/self/status")
SEARCHES_OF_EACH = 3


class Resident(NamedTuple):
    """Megabytes: the process's own, and of the mapped file and libraries."""

    own: float
    mapped: float


def resident() -> Resident:
    lines = (line.partition(":") for line in STATUS.read_text().splitlines())
    kb = {name: int(value.split()[0]) for name, _, value in lines if name in ("RssAnon", "RssFile")}
    return Resident(kb["RssAnon"] / 1024, kb["RssFile"] / 1024)


async def search(path: Path, users: list[int], *, encoder: bool) -> Resident:
    """The most that was added while these users searched, with the encoder or without."""
    source, before = Everyday(4), resident()
    known = [source.note() for _ in range(1000)]
    most = Resident(0, 0)
    embedder = LocalEmbedder.create_if_installed() if encoder else None
    async with open_stores(f"sqlite:///{path}", embedder=embedder) as stores:
        for user_id in users:
            for _ in range(SEARCHES_OF_EACH):
                await stores.memories.find(user_id, source.question(random.choice(known)))
            now = resident()
            most = Resident(max(most.own, now.own - before.own), max(most.mapped, now.mapped - before.mapped))
    return most


def added(path: Path, users: list[int], *, encoder: bool = False) -> Resident | None:
    if not STATUS.exists():
        return None
    command = [sys.executable, "-m", "bench.recall_memory", str(path), str(int(encoder)), *map(str, users)]
    said = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    own, mapped = said.splitlines()[-1].split()  # records of the log may stand above
    return Resident(float(own), float(mapped))


if __name__ == "__main__":
    _, path, encoder, *users = sys.argv
    print(*asyncio.run(search(Path(path), list(map(int, users)), encoder=encoder == "1")))
