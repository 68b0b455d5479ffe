"""Starts, supervises and ends the servers of the operator's file."""

import asyncio
import sys
import time
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field, replace
from functools import partial
from importlib import import_module
from typing import TYPE_CHECKING, Any, Final

import structlog

from cc_bot.chat.context.tokens import tools_tokens
from cc_bot.chat.tools import ToolPlace
from cc_bot.domain.errors import CcBotError, ToolGone, ToolListNotShown, ToolServerAway, ToolServerUnknown
from cc_bot.domain.forms import Asker
from cc_bot.domain.measures import NULL_METER, Meter
from cc_bot.features.mcp.catalog import Catalog, review, to_text
from cc_bot.features.mcp.file import ServerEntry, ServerRules
from cc_bot.features.mcp.model import OfferedTool, RemoteTool, ServerResult, StoredToolList, ToolServerState
from cc_bot.features.mcp.store import ToolListStore
from cc_bot.log import upkeep
from cc_bot.operator_file import OperatorFile

if TYPE_CHECKING:
    from cc_bot.features.mcp.server import ServerConnection

_log = structlog.get_logger(__name__)

FILE_INTERVAL_S: Final = 2.0
START_INTERVAL_S: Final = 0.05


@dataclass(slots=True)
class ManagedServer:
    entry: ServerEntry
    stored: StoredToolList | None = None
    """None until it listed its tools once."""
    catalog: Catalog = field(default_factory=Catalog)
    tokens: int = 0
    within_budget: bool = True
    connection: "ServerConnection | None" = None
    task: asyncio.Task[None] | None = None
    calls: int = 0
    failures: int = 0

    @property
    def state(self) -> ToolServerState:
        if not self.within_budget:
            return "over_budget"
        return self.connection.state if self.connection else "starting"


@dataclass(slots=True)
class Servers:
    """The configured servers."""

    lists: ToolListStore | None
    budget: int
    """Tokens for the tools of all servers."""
    meter: Meter = NULL_METER
    managed: dict[str, ManagedServer] = field(default_factory=dict)
    withheld: asyncio.Queue[str] = field(default_factory=asyncio.Queue)
    """Servers with newly withheld tools, of which the owners are notified once."""

    def tools_in(self, place: ToolPlace) -> Sequence[OfferedTool]:
        """List the tools available to one turn, in a fixed order."""
        return [
            tool
            for each in self.managed.values()
            if each.within_budget and is_for(each.entry.rules, place)
            for tool in each.catalog.offered
        ]

    def is_starting(self, server: str) -> bool:
        managed = self.managed.get(server)
        return managed is not None and managed.state == "starting"

    async def wait_for(self, server: str) -> None:
        """Wait for a starting server, as long as a call may take. Raises ToolServerAway."""
        if managed := self.managed.get(server):
            with suppress(TimeoutError):
                async with asyncio.timeout(managed.entry.rules.timeout_s):
                    while self.is_starting(server):  # noqa: ASYNC110 - there is no event
                        await asyncio.sleep(START_INTERVAL_S)
        managed = self.managed.get(server)  # the file may name another one by now
        if managed is None or managed.connection is None or not managed.connection.is_connected:
            raise ToolServerAway(server=server)

    async def call(
        self, server: str, name: str, arguments: Mapping[str, Any], asker: Asker | None = None
    ) -> ServerResult:
        """Call a tool; cancelling this cancels the call at the server. Without `asker` the server's questions
        are declined. Raises ToolGone and ToolServerAway if nothing was sent; ToolTimedOut and ToolCallLost
        if the call may have been made."""
        managed = self.managed.get(server)
        if managed is None or not any(each.name == name for each in managed.catalog.offered):
            raise ToolGone
        managed.calls += 1
        began_s, ok = time.monotonic(), False
        try:
            if managed.connection is None:
                raise ToolServerAway(server=server)
            result = await managed.connection.call(name, arguments, asker)
            ok = result.ok
        finally:
            managed.failures += not ok
            self.meter.record_server_call(server, name, time.monotonic() - began_s, ok=ok)
        return result

    def get(self, server: str) -> ManagedServer:
        """Raises ToolServerUnknown."""
        if server not in self.managed:
            raise ToolServerUnknown
        return self.managed[server]

    async def accept(self, server: str, code: str) -> tuple[str, ...] | None:
        """Accept a server's tools as in the catalog with this code. Returns the names of the tools
        offered from now on; None if nothing awaited acceptance. Raises ToolServerUnknown, ToolListNotShown
        if the tools changed since, and StorageError."""
        managed = self.get(server)
        if managed.stored is None or not managed.stored.waits:
            return None
        if code != managed.stored.code:
            raise ToolListNotShown
        await self._store(managed, replace(managed.stored, accepted=managed.stored.seen))
        return tuple(each.full_name for each in managed.catalog.offered)

    async def follow(self, entries: Mapping[str, ServerEntry]) -> None:
        """Manage these servers and end all others. Those with the same command or address keep running.
        Raises StorageError."""
        if not entries and not self.managed:
            return
        stored = await self.lists.get_all() if entries and self.lists else {}
        ending, named = dict(self.managed), dict[str, ManagedServer]()
        for name, entry in entries.items():
            before = ending.get(name)
            managed = ending.pop(name) if before and before.entry.runs_as(entry) else ManagedServer(entry)
            managed.entry = entry
            if managed.connection:
                managed.connection.entry = entry
            managed.stored = managed.stored or (before.stored if before else None) or stored.get(name)
            await self._review(managed)
            named[name] = managed
        self.managed = named
        self._apply_budget()
        await _end(list(ending.values()))

    async def start(self) -> None:
        """Start the new servers without waiting for them."""
        waiting = [managed for managed in self.managed.values() if managed.task is None]
        if not waiting:
            return
        # The library takes 26 MiB and half a second.
        module = await asyncio.to_thread(import_module, "cc_bot.features.mcp.server")
        for managed in waiting:
            managed.connection = module.ServerConnection(managed.entry, partial(self._take, managed))
            managed.task = asyncio.create_task(managed.connection.run())

    async def settle(self) -> None:
        """Wait until each server is ready or away."""
        while any(managed.state == "starting" for managed in self.managed.values()):  # noqa: ASYNC110 - no event
            await asyncio.sleep(START_INTERVAL_S)

    async def close(self) -> None:
        ending, self.managed = list(self.managed.values()), {}
        await _end(ending)

    async def _take(self, managed: ManagedServer, tools: Sequence[RemoteTool]) -> None:
        seen = await asyncio.to_thread(to_text, tools)
        stored = replace(managed.stored, seen=seen) if managed.stored else StoredToolList(seen)
        try:
            if is_news := stored != managed.stored:
                await self._store(managed, stored)
        except CcBotError as error:  # it is stored at the next start
            _log.warning("tool_list_not_stored", server=managed.entry.name, error=type(error).__name__)
        if managed.catalog.awaiting_owner:
            _log.warning(
                "tools_withheld", server=managed.entry.name, count=len(managed.catalog.awaiting_owner)
            )
            if is_news:
                self.withheld.put_nowait(managed.entry.name)

    async def _store(self, managed: ManagedServer, stored: StoredToolList) -> None:
        managed.stored = stored
        await self._review(managed)
        self._apply_budget()
        if self.lists:
            await self.lists.put(managed.entry.name, managed.stored)  # accepted meanwhile?

    async def _review(self, managed: ManagedServer) -> None:
        """Review in a thread; again if the tools or the rules change meanwhile."""
        reviewed = None
        while managed.stored is not None and reviewed != (managed.entry, managed.stored):
            reviewed = managed.entry, managed.stored
            catalog = await asyncio.to_thread(review, managed.entry.name, managed.entry.rules, managed.stored)
            schemas = [tool.schema for tool in catalog.offered]
            tokens = await asyncio.to_thread(tools_tokens, schemas)
            managed.catalog, managed.tokens = catalog, tokens

    def _apply_budget(self) -> None:
        total = 0
        for managed in self.managed.values():
            fits = total + managed.tokens <= self.budget
            if not fits and managed.within_budget:
                _log.warning("tools_over_budget", server=managed.entry.name, tokens=managed.tokens)
            managed.within_budget = fits
            total += managed.tokens if fits else 0


async def _end(servers: Sequence[ManagedServer]) -> None:
    for managed in servers:
        if managed.connection is not None:
            managed.connection.end()
    tasks = [managed.task for managed in servers if managed.task is not None]
    for task in tasks:
        task.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)


def is_for(rules: ServerRules, place: ToolPlace) -> bool:
    """Return whether a server is offered to that user in that channel."""
    if rules.roles and not rules.roles & set(place.role_ids or ()):
        return False
    everywhere = not rules.guilds and not rules.channels
    if place.guild_id is None:
        there = everywhere if rules.dms is None else rules.dms
    else:
        there = everywhere or place.guild_id in rules.guilds
    return there or bool(rules.channels & set(place.channel_ids))


@asynccontextmanager
async def open_servers(
    file: OperatorFile[Mapping[str, ServerEntry]],
    lists: ToolListStore,
    *,
    budget: int,
    meter: Meter = NULL_METER,
) -> AsyncIterator[Servers]:
    """Run the servers of a loaded file. Does not wait for them to start. Raises StorageError."""
    servers = Servers(lists, budget, meter)
    entries = await file.now()
    await servers.follow(entries)
    following = asyncio.create_task(_follow(servers, file, entries))
    try:
        yield servers
    finally:
        following.cancel()
        await asyncio.gather(following, return_exceptions=True)
        await servers.close()


async def _follow(
    servers: Servers, file: OperatorFile[Mapping[str, ServerEntry]], entries: Mapping[str, ServerEntry]
) -> None:
    while True:
        with upkeep("tool_servers"):
            if (now := await file.now()) is not entries:
                await servers.follow(now)
                entries = now
            await servers.start()
        await asyncio.sleep(FILE_INTERVAL_S)


async def try_servers(entries: Mapping[str, ServerEntry], timeout_s: float) -> Sequence[ManagedServer]:
    """Start servers as a test and end them. Returns them as if an owner had accepted all their tools."""
    servers = Servers(None, budget=sys.maxsize)
    try:
        await servers.follow(entries)
        await servers.start()
        with suppress(TimeoutError):
            async with asyncio.timeout(timeout_s):
                await servers.settle()
        tried = list(servers.managed.values())
        for each in tried:
            if each.stored:
                await servers.accept(each.entry.name, each.stored.code)
        return tried
    finally:
        await servers.close()
