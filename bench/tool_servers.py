import asyncio
import json
import os
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory
from time import perf_counter
from typing import Any, Final

from mcp.client.client import Client
from mcp.client.stdio import StdioServerParameters

from bench.base import worktree
from bench.programs import ROOT
from cc_bot.domain.errors import ToolServerUnavailable
from cc_bot.features.mcp.servers import Servers
from tests.mcp.running import HOSTILE, KeptLists, Running, hostile, running

STARTS: Final = 7
CALLS: Final = 400
ARGUMENTS: Final = {"text": "こんにちは"}

START = """
import asyncio, sys, time
began = time.perf_counter()
from cc_bot.app.core import open_core
from cc_bot.config import read_config
from cc_bot.domain.clock import utc_now

def resident():
    with open("/proc/self/status") as file:
        return next(int(line.split()[1]) for line in file if line.startswith("VmRSS")) / 1024

async def main(wait):
    async with open_core(read_config(), utc_now) as core:
        took = time.perf_counter() - began
        if wait:
            from cc_bot.features.mcp.servers import Servers
            while core[Servers].reports()[0].state != "ready":
                await asyncio.sleep(0.05)
        await asyncio.sleep(1)
        print(took, resident())

asyncio.run(main(len(sys.argv) > 1))
"""


def start(source: Path, folder: Path, servers: Mapping[str, Any] | None, *wait: str) -> tuple[float, float]:
    """Return the seconds until the bot could answer, and the MiB that it takes."""
    (folder / "data").mkdir(parents=True, exist_ok=True)
    file = folder / "data" / "mcp.json"
    file.unlink(missing_ok=True)
    if servers is not None:
        file.write_text(json.dumps({"mcpServers": servers}), encoding="utf-8")
    environment = {**os.environ, "PYTHONPATH": str(source), "CC_BOT_LOG_LEVEL": "error"}
    command = [sys.executable, "-c", START, *wait]
    done = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, check=True)
    took, resident = done.stdout.split()[-2:]
    return float(took), float(resident)


def tell(what: str, took: list[tuple[float, float]]) -> None:
    seconds, mib = (median(each[at] for each in took) for at in (0, 1))
    print(f"{what:44} {seconds * 1000:7.0f} ms {mib:8.1f} MiB")


def measure_starts(folder: Path, base: str) -> None:
    one, slow = {"echo": hostile()}, {"slow": hostile("--slow-start", 30)}
    with worktree(folder, base) as before:
        sources: list[tuple[str, Path, Mapping[str, Any] | None, tuple[str, ...]]] = [
            (f"no file, {base}", before, None, ()),
            ("no file, here", ROOT, None, ()),
        ]
        sources += [("one server, ready", ROOT, one, ("wait",)), ("a server that takes 30 s", ROOT, slow, ())]
        found: dict[str, list[tuple[float, float]]] = {what: [] for what, *_ in sources}
        for _ in range(STARTS):
            for what, source, servers, wait in sources:
                location = folder / what.replace(" ", "_")  # each has a database of its own
                found[what].append(start(source, location, servers, *wait))
    for what, took in found.items():
        tell(what, took)


async def time_call(servers: Servers) -> float:
    began = perf_counter()
    await servers.call("echo", "echo", ARGUMENTS)
    return perf_counter() - began


async def measure_calls(folder: Path) -> None:
    ours, bare = list[float](), list[float]()
    program = StdioServerParameters(command=sys.executable, args=[str(HOSTILE)])
    async with running(folder, echo=hostile()) as bot, Client(program) as client:
        await bot.until_ready("echo")
        for _ in range(CALLS):
            ours.append(await time_call(bot.servers))
            began = perf_counter()
            await client.call_tool("echo", ARGUMENTS)
            bare.append(perf_counter() - began)
    for what, took in (("a call through us", ours), ("the same by the bare client", bare)):
        print(f"{what:44} {median(took) * 1000:7.2f} ms p50 {sorted(took)[-CALLS // 20] * 1000:7.2f} ms p95")


async def measure_absence(folder: Path) -> None:
    lists, took = KeptLists(), list[float]()
    async with running(folder, lists=lists, echo=hostile()) as bot:
        await bot.until_ready("echo")
    gone = {**hostile(), "env": {"PYTHONHASHSEED": "no number, so that Python does not start"}}
    async with running(folder, lists=lists, echo=gone) as bot:
        await bot.until(lambda: bot.server("echo").state == "away")
        for _ in range(CALLS):
            took.append(await _refused(bot))
    print(f"{'a call of a server that is down':44} {max(took) * 1000:7.2f} ms at most")


async def _refused(bot: Running) -> float:
    began = perf_counter()
    try:
        await bot.echo(server="echo")
    except ToolServerUnavailable:
        return perf_counter() - began
    raise RuntimeError("it is not down")


def main() -> None:
    base = sys.argv[1] if len(sys.argv) > 1 else "main"
    with TemporaryDirectory() as folder:
        measure_starts(Path(folder), base)
        asyncio.run(measure_calls(Path(folder)))
        asyncio.run(measure_absence(Path(folder)))


if __name__ == "__main__":
    main()
