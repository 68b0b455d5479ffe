"""The servers that the operator's file names: started, kept, and let go of as it says."""

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
    from cc_bot.mcp.server import ServerLink

_log = structlog.get_logger(__name__)

LOOK_EVERY_S: Final = 2.0
"""At the file, for a change."""

LOOK_AT_START_S: Final = 0.05
"""At a server that is waited for."""

Cost = Callable[[ServerTool], int]
"""The tokens that it takes to offer a tool."""


class ToolLists(Protocol):
    """The place where the tools of servers are kept."""

    async def get_all(self) -> Mapping[str, StoredToolList]:
        """Return them by server."""
        ...

    async def put(self, server: str, tools: StoredToolList) -> None: ...


@dataclass(slots=True)
class _Kept:
    """A server of the file, and what looks after it."""

    entry: ServerEntry
    stored: StoredToolList | None = None
    offer: "Offer | None" = None
    tokens: int = 0
    within_budget: bool = True
    link: "ServerLink | None" = None
    task: asyncio.Task[None] | None = None
    calls: int = 0
    failures: int = 0

    def rename(self, entry: ServerEntry) -> None:
        """Take another entry, of a server that runs as this one does."""
        self.entry = entry
        if self.link:
            self.link.entry = entry

    @property
    def offered(self) -> Sequence[OfferedTool]:
        return self.offer.tools if self.offer else ()

    @property
    def state(self) -> ToolServerState:
        if not self.within_budget:
            return "over_budget"
        return self.link.state if self.link else "starting"


@dataclass(slots=True)
class Servers:
    """The servers (ToolServers, see tools/servers.py)."""

    lists: ToolLists
    cost: Cost
    budget: int
    """Tokens that all their tools may take together."""
    form_s: float = OPEN_FOR_S
    """For whoever is asked something back to answer."""
    meter: Meter = NULL_METER
    kept: dict[str, _Kept] = field(default_factory=dict)
    withheld: asyncio.Queue[str] = field(default_factory=asyncio.Queue)
    """The servers of which tools are withheld since now, for an owner to be told once."""

    # ---- for turns ----

    def tools_in(self, place: ToolPlace) -> Sequence[OfferedTool]:
        return [
            tool
            for each in self.kept.values()
            if each.within_budget and is_for(each.entry.rules, place)
            for tool in each.offered
        ]

    def is_starting(self, server: str) -> bool:
        kept = self.kept.get(server)
        return kept is not None and kept.state == "starting"

    async def wait_for(self, server: str) -> None:
        if kept := self.kept.get(server):
            with suppress(TimeoutError):
                async with asyncio.timeout(kept.entry.rules.timeout_s):
                    while self.is_starting(server):  # noqa: ASYNC110 - see the tasks
                        await asyncio.sleep(LOOK_AT_START_S)
        kept = self.kept.get(server)  # the file may name another one by now
        if kept is None or kept.link is None or not kept.link.is_there:
            raise ToolServerAway(server=server)

    async def call(
        self, server: str, name: str, arguments: Mapping[str, Any], asker: Asker | None = None
    ) -> ServerResult:
        kept = self.kept.get(server)
        if kept is None or not any(each.tool.name == name for each in kept.offered):
            raise ToolGone(server=server, tool=name)
        kept.calls += 1
        began_s, ok = time.monotonic(), False
        try:
            if kept.link is None:
                raise ToolServerAway(server=server)
            result = await kept.link.call(name, arguments, asker)
            ok = result.ok
        finally:
            kept.failures += not ok
            self.meter.record_server_call(server, name, time.monotonic() - began_s, ok=ok)
        return result

    # ---- for the operator ----

    def reports(self) -> tuple[ToolServerReport, ...]:
        """Tell how each server is, in the file's order."""
        return tuple(_report(each) for each in self.kept.values())

    def known_tools(self) -> Mapping[str, Sequence[str] | None]:
        """Name what each server has, by server; None of one that was never there."""
        if not self.kept:
            return {}
        from cc_bot.mcp.lists import from_text

        return {
            name: [tool.name for tool in from_text(kept.stored.seen)] if kept.stored else None
            for name, kept in self.kept.items()
        }

    def details(self, server: str) -> tuple[ToolDetails, ...]:
        """Tell of every tool of a server; none before it was there once. Raises ToolServerUnknown."""
        kept = self._named(server)
        if kept.stored is None or kept.offer is None:
            return ()
        from cc_bot.mcp.lists import details_of

        return details_of(server, kept.entry.rules, kept.stored, kept.offer)

    async def accept(self, server: str, code: str) -> tuple[str, ...] | None:
        """Let the tools of a server be used that its owner has read, which the code of its report tells.
        Return the names of those that models are offered from now on; None when nothing had to wait for that.

        Raises ToolServerUnknown, ToolListNotShown when they are no longer the same, and StorageError.
        """
        kept = self._named(server)
        if kept.stored is None or not kept.stored.waits:
            return None
        if code != kept.stored.code:
            raise ToolListNotShown
        await self._keep(kept, replace(kept.stored, accepted=kept.stored.seen))
        return tuple(each.tool.full_name for each in kept.offered)

    def _named(self, server: str) -> _Kept:
        if server not in self.kept:
            raise ToolServerUnknown
        return self.kept[server]

    # ---- supervision ----

    async def follow(self, entries: Mapping[str, ServerEntry]) -> None:
        """Name the servers of a file, and no other, with the tools that they had; those whose entries are as
        they were go on. Raises StorageError."""
        if not entries and not self.kept:
            return
        if entries:
            await asyncio.to_thread(import_module, "cc_bot.mcp.lists")
        known = await self.lists.get_all() if entries else {}
        before, named = dict(self.kept), dict[str, _Kept]()
        for name, entry in entries.items():
            had = before.get(name)
            kept = before.pop(name) if had and had.entry.runs_as(entry) else _Kept(entry)
            kept.rename(entry)
            stored = kept.stored or (had.stored if had else None) or known.get(name)
            kept.stored = replace(stored, entry=entry.digest) if stored else None
            await self._decide(kept)
            named[name] = kept
        self.kept = named
        self._keep_to_budget()
        await _end(list(before.values()))

    async def start(self) -> None:
        """Start those that are not started. Nobody waits until they are there."""
        waiting = [kept for kept in self.kept.values() if kept.task is None]
        if not waiting:
            return
        await asyncio.to_thread(import_module, "cc_bot.mcp.server")
        from cc_bot.mcp.server import ServerLink

        for kept in waiting:
            kept.link = ServerLink(kept.entry, partial(self._take, kept), form_s=self.form_s)
            kept.task = asyncio.create_task(kept.link.run())

    async def settle(self) -> None:
        """Wait until each server has said what it has, or is away."""
        while any(kept.state == "starting" for kept in self.kept.values()):  # noqa: ASYNC110 - see the tasks
            await asyncio.sleep(LOOK_AT_START_S)

    async def close(self) -> None:
        """Let go of every server, soon."""
        ending, self.kept = list(self.kept.values()), {}
        await _end(ending)

    async def _take(self, kept: _Kept, tools: Sequence["ListedTool"]) -> None:
        """Take in which tools a server has. What no owner has accepted so is withheld: a new server's tools,
        and those that another version or another program has under its name."""
        from cc_bot.mcp.lists import to_text

        seen, entry = await asyncio.to_thread(to_text, tools), kept.entry.digest
        stored = replace(kept.stored, seen=seen) if kept.stored else StoredToolList(entry, seen)
        try:
            if is_news := stored != kept.stored:
                await self._keep(kept, stored)
        except CcBotError as error:  # it is asked again at the next start
            _log.warning("tool_list_not_kept", server=kept.entry.name, error=type(error).__name__)
        if kept.offer and kept.offer.withheld:
            _log.warning("tools_withheld", server=kept.entry.name, count=len(kept.offer.withheld))
            if is_news:
                self.withheld.put_nowait(kept.entry.name)

    async def _keep(self, kept: _Kept, stored: StoredToolList) -> None:
        kept.stored = stored
        await self._decide(kept)
        self._keep_to_budget()
        await self.lists.put(kept.entry.name, kept.stored)  # an owner may have accepted it meanwhile

    async def _decide(self, kept: _Kept) -> None:
        """Decide which tools of a server are offered, and what they take: aside, for a list may be long."""
        from cc_bot.mcp.lists import offer_of

        decided = None
        while decided != (now := (kept.entry, kept.stored)) and kept.stored is not None:
            decided = now  # it may be another when this one is decided on
            rules, stored = kept.entry.rules, kept.stored
            offer = await asyncio.to_thread(offer_of, kept.entry.name, rules, stored)
            kept.offer, kept.tokens = offer, await asyncio.to_thread(offer.cost, self.cost)

    def _keep_to_budget(self) -> None:
        """Leave out the servers that are over what tools may take, the first ones of the file first in."""
        total = 0
        for kept in self.kept.values():
            fits = total + kept.tokens <= self.budget
            if not fits and kept.within_budget:
                _log.warning("tools_over_budget", server=kept.entry.name, tokens=kept.tokens)
            kept.within_budget = fits
            total += kept.tokens if fits else 0

    def ensure_budget(self, path: Path, words: Texts) -> None:
        """Refuse a start with more tools than a request may have. Raises InvalidToolServers."""
        total = sum(kept.tokens for kept in self.kept.values())
        if total > self.budget:
            each = ", ".join(f"{name} {kept.tokens}" for name, kept in self.kept.items())
            detail = words.tool_servers_file.over_budget.format(total=total, limit=self.budget, each=each)
            raise InvalidToolServers(path=str(path), detail=detail)


async def _end(servers: Sequence[_Kept]) -> None:
    for kept in servers:
        if kept.link is not None:
            kept.link.end()
    tasks = [kept.task for kept in servers if kept.task is not None]
    for task in tasks:
        task.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)


def _report(kept: _Kept) -> ToolServerReport:
    offer = kept.offer
    return ToolServerReport(
        kept.entry.name,
        kept.state,
        len(kept.offered),
        kept.tokens,
        kept.calls,
        kept.failures,
        offer.withheld if offer else (),
        offer.left_out if offer else (),
        code=kept.stored.code if kept.stored and kept.stored.waits else "",
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
