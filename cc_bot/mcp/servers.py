"""The servers that the operator's file names: started, managed, and let go of as it says."""

import asyncio
import time
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field, replace
from functools import partial
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, Protocol

import structlog

from cc_bot.domain.errors import (
    CcBotError,
    InvalidToolServers,
    ToolGone,
    ToolListNotShown,
    ToolServerAway,
    ToolServerUnknown,
)
from cc_bot.domain.form import OPEN_FOR_S, Asker
from cc_bot.domain.measures import NULL_METER, Meter
from cc_bot.domain.tool_server import (
    OfferedTool,
    ServerResult,
    ServerTool,
    StoredToolList,
    ToolDetails,
    ToolPlace,
    ToolServerReport,
    ToolServerState,
)
from cc_bot.mcp.file import ServerEntry, ServerRules
from cc_bot.operator_file import OperatorFile
from cc_bot.texts import Texts

# What the library needs is loaded when a file names a server: 26 MiB, and half a second.
# ruff: noqa: PLC0415 - see above

if TYPE_CHECKING:
    from cc_bot.mcp.lists import ListedTool, Offer
    from cc_bot.mcp.server import ServerConnection

_log = structlog.get_logger(__name__)

LOOK_EVERY_S: Final = 2.0
"""At the file, for a change."""

LOOK_AT_START_S: Final = 0.05
"""At a server that is waited for."""

Cost = Callable[[ServerTool], int]
"""The tokens that it takes to offer a tool."""


class ToolLists(Protocol):
    """The place where the tools of servers are managed."""

    async def get_all(self) -> Mapping[str, StoredToolList]:
        """Return them by server."""
        ...

    async def put(self, server: str, tools: StoredToolList) -> None: ...


@dataclass(slots=True)
class _ManagedServer:
    """A server of the file, its tools and its connection."""

    entry: ServerEntry
    stored: StoredToolList | None = None
    offer: "Offer | None" = None
    tokens: int = 0
    within_budget: bool = True
    connection: "ServerConnection | None" = None
    task: asyncio.Task[None] | None = None
    calls: int = 0
    failures: int = 0

    def rename(self, entry: ServerEntry) -> None:
        """Take another entry, of a server that runs as this one does."""
        self.entry = entry
        if self.connection:
            self.connection.entry = entry

    @property
    def offered(self) -> Sequence[OfferedTool]:
        return self.offer.tools if self.offer else ()

    @property
    def state(self) -> ToolServerState:
        if not self.within_budget:
            return "over_budget"
        return self.connection.state if self.connection else "starting"


@dataclass(slots=True)
class Servers:
    """The servers (ToolServers, see tools/servers.py)."""

    lists: ToolLists
    cost: Cost
    budget: int
    """Tokens that all their tools may take together."""
    form_s: float = OPEN_FOR_S
    """The time to fill in a form of a server."""
    meter: Meter = NULL_METER
    managed: dict[str, _ManagedServer] = field(default_factory=dict)
    withheld: asyncio.Queue[str] = field(default_factory=asyncio.Queue)
    """The servers of which tools are withheld since now, for an owner to be told once."""

    # ---- for turns ----

    def tools_in(self, place: ToolPlace) -> Sequence[OfferedTool]:
        return [
            tool
            for each in self.managed.values()
            if each.within_budget and is_for(each.entry.rules, place)
            for tool in each.offered
        ]

    def is_starting(self, server: str) -> bool:
        managed = self.managed.get(server)
        return managed is not None and managed.state == "starting"

    async def wait_for(self, server: str) -> None:
        if managed := self.managed.get(server):
            with suppress(TimeoutError):
                async with asyncio.timeout(managed.entry.rules.timeout_s):
                    while self.is_starting(server):  # noqa: ASYNC110 - see the tasks
                        await asyncio.sleep(LOOK_AT_START_S)
        managed = self.managed.get(server)  # the file may name another one by now
        if managed is None or managed.connection is None or not managed.connection.is_there:
            raise ToolServerAway(server=server)

    async def call(
        self, server: str, name: str, arguments: Mapping[str, Any], asker: Asker | None = None
    ) -> ServerResult:
        managed = self.managed.get(server)
        if managed is None or not any(each.tool.name == name for each in managed.offered):
            raise ToolGone(server=server, tool=name)
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

    # ---- for the operator ----

    def reports(self) -> tuple[ToolServerReport, ...]:
        """Tell how each server is, in the file's order."""
        return tuple(_report(each) for each in self.managed.values())

    def known_tools(self) -> Mapping[str, Sequence[str] | None]:
        """Name what each server has, by server; None of one that was never there."""
        if not self.managed:
            return {}
        from cc_bot.mcp.lists import from_text

        return {
            name: [tool.name for tool in from_text(managed.stored.seen)] if managed.stored else None
            for name, managed in self.managed.items()
        }

    def details(self, server: str) -> tuple[ToolDetails, ...]:
        """Tell of every tool of a server; none before it was there once. Raises ToolServerUnknown."""
        managed = self._named(server)
        if managed.stored is None or managed.offer is None:
            return ()
        from cc_bot.mcp.lists import details_of

        return details_of(server, managed.entry.rules, managed.stored, managed.offer)

    async def accept(self, server: str, code: str) -> tuple[str, ...] | None:
        """Let the tools of a server be used that its owner has read, which the code of its report tells.
        Return the names of those that models are offered from now on; None when nothing had to wait for that.

        Raises ToolServerUnknown, ToolListNotShown when they are no longer the same, and StorageError.
        """
        managed = self._named(server)
        if managed.stored is None or not managed.stored.waits:
            return None
        if code != managed.stored.code:
            raise ToolListNotShown
        await self._keep(managed, replace(managed.stored, accepted=managed.stored.seen))
        return tuple(each.tool.full_name for each in managed.offered)

    def _named(self, server: str) -> _ManagedServer:
        if server not in self.managed:
            raise ToolServerUnknown
        return self.managed[server]

    # ---- supervision ----

    async def follow(self, entries: Mapping[str, ServerEntry]) -> None:
        """Name the servers of a file, and no other, with the tools that they had; those whose entries are as
        they were go on. Raises StorageError."""
        if not entries and not self.managed:
            return
        if entries:
            await asyncio.to_thread(import_module, "cc_bot.mcp.lists")
        known = await self.lists.get_all() if entries else {}
        before, named = dict(self.managed), dict[str, _ManagedServer]()
        for name, entry in entries.items():
            had = before.get(name)
            managed = before.pop(name) if had and had.entry.runs_as(entry) else _ManagedServer(entry)
            managed.rename(entry)
            stored = managed.stored or (had.stored if had else None) or known.get(name)
            managed.stored = replace(stored, entry=entry.digest) if stored else None
            await self._decide(managed)
            named[name] = managed
        self.managed = named
        self._keep_to_budget()
        await _end(list(before.values()))

    async def start(self) -> None:
        """Start those that are not started. Nobody waits until they are there."""
        waiting = [managed for managed in self.managed.values() if managed.task is None]
        if not waiting:
            return
        await asyncio.to_thread(import_module, "cc_bot.mcp.server")
        from cc_bot.mcp.server import ServerConnection

        for managed in waiting:
            managed.connection = ServerConnection(
                managed.entry, partial(self._take, managed), form_s=self.form_s
            )
            managed.task = asyncio.create_task(managed.connection.run())

    async def settle(self) -> None:
        """Wait until each server has said what it has, or is away."""
        while any(managed.state == "starting" for managed in self.managed.values()):  # noqa: ASYNC110 - see the tasks
            await asyncio.sleep(LOOK_AT_START_S)

    async def close(self) -> None:
        """Let go of every server, soon."""
        ending, self.managed = list(self.managed.values()), {}
        await _end(ending)

    async def _take(self, managed: _ManagedServer, tools: Sequence["ListedTool"]) -> None:
        """Take in which tools a server has. What no owner has accepted so is withheld: a new server's tools,
        and those that another version or another program has under its name."""
        from cc_bot.mcp.lists import to_text

        seen, entry = await asyncio.to_thread(to_text, tools), managed.entry.digest
        stored = replace(managed.stored, seen=seen) if managed.stored else StoredToolList(entry, seen)
        try:
            if is_news := stored != managed.stored:
                await self._keep(managed, stored)
        except CcBotError as error:  # it is asked again at the next start
            _log.warning("tool_list_not_kept", server=managed.entry.name, error=type(error).__name__)
        if managed.offer and managed.offer.withheld:
            _log.warning("tools_withheld", server=managed.entry.name, count=len(managed.offer.withheld))
            if is_news:
                self.withheld.put_nowait(managed.entry.name)

    async def _keep(self, managed: _ManagedServer, stored: StoredToolList) -> None:
        managed.stored = stored
        await self._decide(managed)
        self._keep_to_budget()
        await self.lists.put(managed.entry.name, managed.stored)  # an owner may have accepted it meanwhile

    async def _decide(self, managed: _ManagedServer) -> None:
        """Decide which tools of a server are offered, and what they take: aside, for a list may be long."""
        from cc_bot.mcp.lists import offer_of

        decided = None
        while decided != (now := (managed.entry, managed.stored)) and managed.stored is not None:
            decided = now  # it may be another when this one is decided on
            rules, stored = managed.entry.rules, managed.stored
            offer = await asyncio.to_thread(offer_of, managed.entry.name, rules, stored)
            managed.offer, managed.tokens = offer, await asyncio.to_thread(offer.cost, self.cost)

    def _keep_to_budget(self) -> None:
        """Leave out the servers that are over what tools may take, the first ones of the file first in."""
        total = 0
        for managed in self.managed.values():
            fits = total + managed.tokens <= self.budget
            if not fits and managed.within_budget:
                _log.warning("tools_over_budget", server=managed.entry.name, tokens=managed.tokens)
            managed.within_budget = fits
            total += managed.tokens if fits else 0

    def ensure_budget(self, path: Path, words: Texts) -> None:
        """Refuse a start with more tools than a request may have. Raises InvalidToolServers."""
        total = sum(managed.tokens for managed in self.managed.values())
        if total > self.budget:
            each = ", ".join(f"{name} {managed.tokens}" for name, managed in self.managed.items())
            detail = words.tool_servers_file.over_budget.format(total=total, limit=self.budget, each=each)
            raise InvalidToolServers(path=str(path), detail=detail)


async def _end(servers: Sequence[_ManagedServer]) -> None:
    for managed in servers:
        if managed.connection is not None:
            managed.connection.end()
    tasks = [managed.task for managed in servers if managed.task is not None]
    for task in tasks:
        task.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)


def _report(managed: _ManagedServer) -> ToolServerReport:
    offer = managed.offer
    return ToolServerReport(
        managed.entry.name,
        managed.state,
        len(managed.offered),
        managed.tokens,
        managed.calls,
        managed.failures,
        offer.withheld if offer else (),
        offer.left_out if offer else (),
        code=managed.stored.code if managed.stored and managed.stored.waits else "",
    )


def is_for(rules: ServerRules, place: ToolPlace) -> bool:
    """Return whether a server is for that user in that place."""
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
    lists: ToolLists,
    *,
    path: Path,
    cost: Cost,
    budget: int,
    words: Texts,
    form_s: float = OPEN_FOR_S,
    meter: Meter = NULL_METER,
) -> AsyncIterator[Servers]:
    """Have the servers of a file while this is open; it is loaded already. Nobody waits for them to start.
    Raises InvalidToolServers and StorageError."""
    servers = Servers(lists, cost, budget, form_s, meter)
    entries = await file.now()
    await servers.follow(entries)
    servers.ensure_budget(path, words)
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
    """Start the servers, and those of the file as it becomes."""
    while True:
        try:
            await servers.start()
            await asyncio.sleep(LOOK_EVERY_S)
            if (now := await file.now()) is not entries:
                await servers.follow(now)
                entries = now
        except Exception as error:  # noqa: BLE001 - nobody waits for this, so nobody would see that it ended
            expected = isinstance(error, CcBotError)
            _log.error("tool_servers_not_followed", error=type(error).__name__, exc_info=not expected)
            await asyncio.sleep(LOOK_EVERY_S)
