"""Runs the MCP servers that the operator lists in a file."""

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
from cc_bot.concurrency import cancel_tasks, run_in_background
from cc_bot.domain.access import Visitor
from cc_bot.domain.errors import CcBotError, ToolGone, ToolServerUnavailable
from cc_bot.domain.measures import NULL_METER, Meter
from cc_bot.features.mcp.catalog import Catalog, review, serialize_tools
from cc_bot.features.mcp.errors import ToolListChanged, ToolServerUnknown
from cc_bot.features.mcp.file import ServerEntry, ServerRules
from cc_bot.features.mcp.model import OfferedTool, RemoteTool, ServerResult, StoredToolList, ToolServerState
from cc_bot.features.mcp.store import ToolListStore
from cc_bot.log import log_errors, log_failure
from cc_bot.operator_file import OperatorFile

if TYPE_CHECKING:
    from cc_bot.features.mcp.server import ServerConnection

_log = structlog.get_logger(__name__)

FILE_CHECK_INTERVAL_S: Final = 2.0
POLL_INTERVAL_S: Final = 0.05


@dataclass(slots=True)
class ManagedServer:
    entry: ServerEntry
    tool_list: StoredToolList | None = None  # None until the server has listed its tools
    catalog: Catalog = field(default_factory=Catalog)
    tokens: int = 0
    fits_budget: bool = True
    connection: "ServerConnection | None" = None
    task: asyncio.Task[None] | None = None
    call_count: int = 0
    failure_count: int = 0

    @property
    def state(self) -> ToolServerState:
        if not self.fits_budget:
            return "over_budget"
        return self.connection.state if self.connection else "starting"


@dataclass(slots=True)
class Servers:
    tool_lists: ToolListStore | None  # None: nothing is stored
    token_budget: int  # for all servers
    meter: Meter = NULL_METER
    managed: dict[str, ManagedServer] = field(default_factory=dict)
    servers_to_report: asyncio.Queue[str] = field(default_factory=asyncio.Queue)
    """Names of servers with newly withheld tools, for messages to the owners."""

    def tools_for(self, visitor: Visitor) -> Sequence[OfferedTool]:
        """Return the tools offered to a user in a channel, in a fixed order."""
        return [
            tool
            for each in self.managed.values()
            if each.fits_budget and is_offered_to(each.entry.rules, visitor)
            for tool in each.catalog.offered
        ]

    def is_starting(self, server: str) -> bool:
        managed = self.managed.get(server)
        return managed is not None and managed.state == "starting"

    async def wait_for(self, server: str) -> None:
        """Wait for a server's start, at most its `timeout_s`. Raises ToolServerUnavailable."""
        if managed := self.managed.get(server):
            with suppress(TimeoutError):
                async with asyncio.timeout(managed.entry.rules.timeout_s):
                    while self.is_starting(server):  # noqa: ASYNC110 - there is no event
                        await asyncio.sleep(POLL_INTERVAL_S)
        managed = self.managed.get(server)  # the file may have changed
        if managed is None or managed.connection is None or not managed.connection.is_connected:
            raise ToolServerUnavailable(server=server)

    async def call(self, server: str, name: str, arguments: Mapping[str, Any]) -> ServerResult:
        """Cancelling this cancels the call at the server. Raises ToolGone and ToolServerUnavailable if
        nothing was sent, else ToolTimedOut and ToolCallLost."""
        managed = self.managed.get(server)
        if managed is None or not any(each.name == name for each in managed.catalog.offered):
            raise ToolGone
        managed.call_count += 1
        started_s, ok = time.monotonic(), False
        try:
            if managed.connection is None:
                raise ToolServerUnavailable(server=server)
            result = await managed.connection.call(name, arguments)
            ok = result.ok
        finally:
            managed.failure_count += not ok
            self.meter.record_server_call(server, name, time.monotonic() - started_s, ok=ok)
        return result

    def get(self, server: str) -> ManagedServer:
        """Raises ToolServerUnknown."""
        if server not in self.managed:
            raise ToolServerUnknown
        return self.managed[server]

    async def accept(self, server: str, code: str) -> tuple[str, ...] | None:
        """Accept the list with this code. Returns the names of the tools now offered; None if no list
        awaited an owner. Raises ToolServerUnknown, and ToolListChanged if the code is another list's."""
        managed = self.get(server)
        if managed.tool_list is None or not managed.tool_list.awaits_owner:
            return None
        if code != managed.tool_list.code:
            raise ToolListChanged
        await self._store(managed, replace(managed.tool_list, accepted_json=managed.tool_list.listed_json))
        return tuple(each.full_name for each in managed.catalog.offered)

    async def apply_entries(self, entries: Mapping[str, ServerEntry]) -> None:
        """Manage these servers and end all others. Servers with the same command or address keep running."""
        if not entries and not self.managed:
            return
        stored_lists = await self.tool_lists.get_all() if entries and self.tool_lists else {}
        servers_to_end, managed_by_name = dict(self.managed), dict[str, ManagedServer]()
        for name, entry in entries.items():
            previous, managed = servers_to_end.get(name), ManagedServer(entry)
            if previous and previous.entry.has_same_target(entry):
                managed = servers_to_end.pop(name)
            managed.entry = entry
            if managed.connection:
                managed.connection.entry = entry
            known_list = previous.tool_list if previous else None
            managed.tool_list = managed.tool_list or known_list or stored_lists.get(name)
            await self._review(managed)
            managed_by_name[name] = managed
        self.managed = managed_by_name
        self._apply_budget()
        await _end_servers(list(servers_to_end.values()))

    async def start(self) -> None:
        new_servers = [managed for managed in self.managed.values() if managed.task is None]
        if not new_servers:
            return
        # Importing the MCP library takes 26 MiB and half a second.
        module = await asyncio.to_thread(import_module, "cc_bot.features.mcp.server")
        for managed in new_servers:
            managed.connection = module.ServerConnection(managed.entry, partial(self._receive_list, managed))
            managed.task = asyncio.create_task(managed.connection.run())

    async def wait_until_started(self) -> None:
        while any(managed.state == "starting" for managed in self.managed.values()):  # noqa: ASYNC110 - no event
            await asyncio.sleep(POLL_INTERVAL_S)

    async def close(self) -> None:
        servers, self.managed = list(self.managed.values()), {}
        await _end_servers(servers)

    async def _receive_list(self, managed: ManagedServer, tools: Sequence[RemoteTool]) -> None:
        listed_json = await asyncio.to_thread(serialize_tools, tools)
        tool_list = replace(managed.tool_list or StoredToolList(""), listed_json=listed_json)
        # The list is kept in memory, and stored after the next start.
        with log_failure("tool_list_not_stored", CcBotError, server=managed.entry.name):
            if has_changed := tool_list != managed.tool_list:
                await self._store(managed, tool_list)
        if managed.catalog.awaiting_owner:
            _log.warning(
                "tools_withheld", server=managed.entry.name, count=len(managed.catalog.awaiting_owner)
            )
            if has_changed:
                self.servers_to_report.put_nowait(managed.entry.name)

    async def _store(self, managed: ManagedServer, tool_list: StoredToolList) -> None:
        managed.tool_list = tool_list
        await self._review(managed)
        self._apply_budget()
        if self.tool_lists:
            # Not `tool_list`: an owner may have accepted a newer list during the review.
            await self.tool_lists.put(managed.entry.name, managed.tool_list)

    async def _review(self, managed: ManagedServer) -> None:
        reviewed = None
        while managed.tool_list is not None and reviewed != (managed.entry, managed.tool_list):
            entry, tool_list = reviewed = managed.entry, managed.tool_list
            catalog = await asyncio.to_thread(review, entry.name, entry.rules, tool_list)
            schemas = [tool.schema for tool in catalog.offered]
            tokens = await asyncio.to_thread(tools_tokens, schemas)
            managed.catalog, managed.tokens = catalog, tokens

    def _apply_budget(self) -> None:
        total = 0
        for managed in self.managed.values():
            fits = total + managed.tokens <= self.token_budget
            if not fits and managed.fits_budget:
                _log.warning("tools_over_budget", server=managed.entry.name, tokens=managed.tokens)
            managed.fits_budget = fits
            total += managed.tokens if fits else 0


async def _end_servers(servers: Sequence[ManagedServer]) -> None:
    for managed in servers:
        if managed.connection is not None:
            managed.connection.end()
    tasks = [managed.task for managed in servers if managed.task is not None]
    await cancel_tasks(*tasks)


def is_offered_to(rules: ServerRules, visitor: Visitor) -> bool:
    if rules.roles and not rules.roles & set(visitor.role_ids or ()):
        return False
    allows_everywhere = not rules.guilds and not rules.channels
    if visitor.guild_id is None:
        is_allowed = allows_everywhere if rules.dms is None else rules.dms
    else:
        is_allowed = allows_everywhere or visitor.guild_id in rules.guilds
    return is_allowed or bool(rules.channels & set(visitor.channel_ids))


@asynccontextmanager
async def open_servers(
    file: OperatorFile[Mapping[str, ServerEntry]],
    tool_lists: ToolListStore,
    *,
    token_budget: int,
    meter: Meter = NULL_METER,
) -> AsyncIterator[Servers]:
    """Run the servers of a loaded file, without waiting for their start."""
    servers = Servers(tool_lists, token_budget, meter)
    entries = await file.current()
    await servers.apply_entries(entries)
    try:
        async with run_in_background(_follow_file(servers, file, entries)):
            yield servers
    finally:
        await servers.close()


async def _follow_file(
    servers: Servers, file: OperatorFile[Mapping[str, ServerEntry]], entries: Mapping[str, ServerEntry]
) -> None:
    while True:
        with log_errors("tool_servers"):
            current = await file.current()
            if current is not entries:
                await servers.apply_entries(current)
                entries = current
            await servers.start()
        await asyncio.sleep(FILE_CHECK_INTERVAL_S)


async def try_servers(entries: Mapping[str, ServerEntry], timeout_s: float) -> Sequence[ManagedServer]:
    servers = Servers(None, token_budget=sys.maxsize)
    try:
        await servers.apply_entries(entries)
        await servers.start()
        with suppress(TimeoutError):
            async with asyncio.timeout(timeout_s):
                await servers.wait_until_started()
        tried = list(servers.managed.values())
        for each in tried:
            if each.tool_list:
                await servers.accept(each.entry.name, each.tool_list.code)
        return tried
    finally:
        await servers.close()
