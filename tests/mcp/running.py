"""Runs servers of an operator's file."""

import asyncio
import json
import os
import socket
import sys
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, Final

from cc_bot.config import read_config
from cc_bot.domain.access import Visitor
from cc_bot.features.mcp.file import servers_file
from cc_bot.features.mcp.model import ServerResult, StoredToolList
from cc_bot.features.mcp.servers import ManagedServer, Servers, open_servers
from cc_bot.features.mcp.store import ToolListStore

HOSTILE: Final = Path(__file__).parents[1] / "loopback" / "hostile_server.py"
HERE: Final = Visitor(1, (2,), 3)


def closed_port() -> int:
    """Return a port without a listener."""
    with socket.socket() as held:
        held.bind(("127.0.0.1", 0))
        return int(held.getsockname()[1])


class KeptLists(ToolListStore):
    """The tools of servers, in memory."""

    def __init__(self) -> None:
        self.kept: dict[str, StoredToolList] = {}

    async def get_all(self) -> Mapping[str, StoredToolList]:
        return dict(self.kept)

    async def put(self, server: str, tool_list: StoredToolList) -> None:
        self.kept[server] = tool_list


def hostile(*switches: object, **rules: Any) -> dict[str, Any]:
    """Return the entry of a server that does what servers must not do."""
    return {
        "command": sys.executable,
        "args": [str(HOSTILE), *map(str, switches)],
        "cc_bot": {"timeout_s": 4, **rules},
    }


class Running:
    """The servers of one file, with the file."""

    def __init__(self, servers: Servers, path: Path, lists: KeptLists) -> None:
        self.servers = servers
        self.path = path
        self.lists = lists

    def write(self, **entries: Mapping[str, Any]) -> None:
        """Write other servers to the file."""
        write(self.path, entries)

    def server(self, name: str = "hostile") -> ManagedServer:
        return self.servers.managed[name]

    def offered(self, visitor: Visitor = HERE) -> list[str]:
        return [each.full_name for each in self.servers.tools_for(visitor)]

    async def accept(self, server: str = "hostile") -> tuple[str, ...] | None:
        """Accept the tools as they are now."""
        return await self.servers.accept(server, self.server(server).catalog.code)

    async def until(self, holds: Callable[[], object]) -> None:
        async with asyncio.timeout(60):
            while not holds():  # noqa: ASYNC110 - what is waited for tells nobody
                await asyncio.sleep(0.02)

    async def until_ready(self, server: str = "hostile") -> None:
        """Wait for a server, and accept its tools if none were accepted before."""
        await self.until(lambda: self.server(server).state == "ready" and server in self.lists.kept)
        if not self.lists.kept[server].accepted_json:
            await self.accept(server)

    async def echo(self, text: str = "猫", server: str = "hostile") -> ServerResult:
        return await self.servers.call(server, "echo", {"text": text})


def write(path: Path, entries: Mapping[str, Any]) -> None:
    path.write_text(json.dumps({"mcpServers": entries}, ensure_ascii=False), encoding="utf-8")


@asynccontextmanager
async def running(
    folder: Path, *, lists: KeptLists | None = None, budget: int = 4000, **entries: Mapping[str, Any]
) -> AsyncIterator[Running]:
    """Run servers."""
    path, kept = folder / "mcp.json", lists or KeptLists()
    write(path, entries)
    named = {"CC_BOT_MCP_FILE": str(path), "CC_BOT_LOCALE": "en"}
    file = servers_file(read_config({**os.environ, **named}, folder / "none"))
    await file.load()
    async with open_servers(file, kept, token_budget=budget) as servers:
        yield Running(servers, path, kept)


@asynccontextmanager
async def ready(folder: Path, *switches: object, **rules: Any) -> AsyncIterator[Running]:
    """Run one hostile server with these switches and rules, and wait until it is ready."""
    async with running(folder, hostile=hostile(*switches, **rules)) as bot:
        await bot.until_ready()
        yield bot
