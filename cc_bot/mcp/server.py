"""The connection to one server: made, and made anew for as long as the file names it.

Each is looked after by a task of its own, which the library's client is opened and closed in; calls come from
any task. A server that fails harms no other, and no turn waits for one that is away.
"""

import asyncio
import logging
import random
from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from contextlib import AsyncExitStack, contextmanager, suppress
from dataclasses import replace
from typing import Any, Final, Literal

import mcp_types as types
import structlog
from mcp.client.client import Client
from mcp.client.session import ClientRequestContext, IncomingMessage
from mcp.shared.exceptions import MCPError
from mcp_types.version import MODERN_PROTOCOL_VERSIONS

from cc_bot.domain.errors import ToolCallLost, ToolServerAway, ToolTimedOut
from cc_bot.domain.form import OPEN_FOR_S, Asker
from cc_bot.domain.tool_server import ServerResult, ToolServerProblem
from cc_bot.mcp.file import ServerEntry
from cc_bot.mcp.forms import CallUnderway
from cc_bot.mcp.http import NO_ANSWER, NO_MESSAGE, HttpWay
from cc_bot.mcp.lists import MOST_TOOLS, ListedTool, listed
from cc_bot.mcp.messages import run_aside
from cc_bot.mcp.process import HURRY_S, ServerProcess
from cc_bot.mcp.results import cut, result_of
from cc_bot.mcp.unanswered import CALL, is_of_the_way

_log = structlog.get_logger(__name__)

CONNECT_S: Final = 90.0
"""For a server to start and to say which tools it has: some are fetched from a registry first."""
FIRST_PAUSE_S: Final = 1.0
LONGEST_PAUSE_S: Final = 60.0
STEADY_S: Final = 60.0
"""Who was there for so long begins with the first pause again."""
ALIVE_S: Final = 5.0
"""For a server to answer anything at all, after a call was given up."""
BETWEEN_LISTS_S: Final = 5.0
MOST_PAGES: Final = 50
LONGEST_ERROR: Final = 1000
"""Bytes of a server's own words on what went wrong."""

for _name in ("mcp", "client", "httpx2", "httpcore2"):  # their records quote what is sent and what comes
    logging.getLogger(_name).setLevel(logging.CRITICAL + 1)

State = Literal["starting", "ready", "away"]
OnList = Callable[[Sequence[ListedTool]], Awaitable[None]]


class ServerLink:
    """The connection to one server."""

    def __init__(self, entry: ServerEntry, on_list: OnList, *, form_s: float = OPEN_FOR_S) -> None:
        """`on_list` is told which tools it has, whenever that is asked. `form_s` is for whoever is asked
        something back to answer."""
        self.entry = entry
        self._on_list = on_list
        self._form_s = form_s
        self._underway: list[CallUnderway] = []
        self._was_unclear = False
        """Whether a question was declined since nobody knew whose call it was of."""
        self._ended = False
        self._client: Client | None = None
        self._way: ServerProcess | HttpWay | None = None
        self._changed = asyncio.Event()
        self._checks = set[asyncio.Task[None]]()
        self.state: State = "starting"

    @property
    def is_there(self) -> bool:
        """Return whether it can be called."""
        return self._client is not None and self._way is not None and not self._way.closed.is_set()

    def end(self) -> None:
        """Have it not connected again."""
        self._ended = True

    def hurry(self) -> None:
        """Have its process be killed soon where it does not end by itself."""
        if isinstance(self._way, ServerProcess):
            self._way.kill_after_s = HURRY_S

    async def run(self) -> None:
        """Keep it connected until `end` is called and this is cancelled."""
        clock = asyncio.get_running_loop().time
        pause, told = FIRST_PAUSE_S, False
        while not self._ended:
            began = clock()
            problem = await self.attempt(self._stay)
            if self._ended:  # a group of tasks that fails at the same moment swallows the cancellation
                break
            self.state = "away"
            if steady := clock() - began > STEADY_S:
                pause = FIRST_PAUSE_S
            if steady or not told:
                _log.warning("tool_server_away", server=self.entry.name, problem=str(problem))
                told = True
            await asyncio.sleep(pause * random.uniform(0.75, 1.25))  # noqa: S311 - no secret hangs on it
            pause = min(pause * 2, LONGEST_PAUSE_S)

    async def attempt(self, then: Callable[[Client], Awaitable[None]]) -> ToolServerProblem:
        """Connect, and return why that is over."""
        try:
            await self.connect(then)
        except Exception as error:  # noqa: BLE001 - whatever one server does, it is tried again
            return self.problem(error)
        return self.problem(None)

    def problem(self, error: Exception | None) -> ToolServerProblem:
        """Return why the last connection is over: by that error, or because it was closed."""
        return _problem_of(error, self._way)

    async def connect(self, then: Callable[[Client], Awaitable[None]]) -> None:
        """Connect, tell of the tools, do what is asked for then, and let go. Raises whatever goes wrong."""
        way = HttpWay(self.entry) if self.entry.url else ServerProcess(self.entry)
        self._way, self._was_unclear = way, False
        client = Client(
            way,
            cache=None,
            elicitation_callback=self._answer,
            message_handler=self._hear,
            client_info=types.Implementation(name="cc-bot", version="1"),
        )
        async with AsyncExitStack() as stack:
            async with asyncio.timeout(CONNECT_S):
                await stack.enter_async_context(client)
                await self._list(client)
            stack.push_async_callback(self._forget)
            if isinstance(way, HttpWay):
                way.is_up = True
            self._client = client
            self.state = "ready"
            _log.info("tool_server_ready", server=self.entry.name)
            await then(client)

    async def _forget(self) -> None:
        self._client = None
        for check in self._checks:
            check.cancel()

    async def _stay(self, client: Client) -> None:
        """Wait until nothing more comes from it, and ask for its tools whenever they changed."""
        closed = asyncio.create_task(self._until_closed())
        listening = asyncio.create_task(self._listen(client))
        try:
            while not closed.done():
                changed = asyncio.create_task(self._changed.wait())
                try:
                    await asyncio.wait([closed, changed], return_when=asyncio.FIRST_COMPLETED)
                finally:
                    changed.cancel()
                if self._changed.is_set() and not closed.done():
                    self._changed.clear()
                    async with asyncio.timeout(CONNECT_S):
                        await self._list(client)
                    await asyncio.wait([closed], timeout=BETWEEN_LISTS_S)
        finally:
            closed.cancel()
            listening.cancel()
            await asyncio.gather(closed, listening, return_exceptions=True)

    async def _until_closed(self) -> None:
        if self._way is not None:
            await self._way.closed.wait()

    async def _listen(self, client: Client) -> None:
        """Have a server of the newer protocol tell when its tools change."""
        tools = client.server_capabilities.tools
        if client.protocol_version in MODERN_PROTOCOL_VERSIONS and tools and tools.list_changed:
            with suppress(MCPError, RuntimeError):
                async with client.listen(tools_list_changed=True) as events:
                    async for _ in events:
                        self._changed.set()

    async def _hear(self, message: IncomingMessage) -> None:
        if isinstance(message, types.ToolListChangedNotification):
            self._changed.set()

    async def _list(self, client: Client) -> None:
        found = list[ListedTool]()  # two of one name are told of as left out (see lists.py)
        cursor: str | None = None
        for _ in range(MOST_PAGES):
            page = await client.list_tools(cursor=cursor)
            found += await run_aside(_as_listed, page.tools[: MOST_TOOLS - len(found)])
            cursor = page.next_cursor
            if cursor is None or len(found) >= MOST_TOOLS:
                break
        await self._on_list(found)

    async def call(
        self, name: str, arguments: Mapping[str, Any], asker: Asker | None = None, *, read_only: bool = False
    ) -> ServerResult:
        """Call a tool. Raises ToolServerAway, ToolTimedOut and ToolCallLost."""
        client, way, rules, server = self._client, self._way, self.entry.rules, self.entry.name
        if client is None or way is None or way.closed.is_set():
            raise ToolServerAway(server=server)
        way.was_told = True
        try:
            async with asyncio.timeout(rules.timeout_s) as time:
                with self._asking_back(asker, time) as call:
                    result = await client.call_tool(name, dict(arguments))
        except TimeoutError:
            self._check_alive(client)
            raise ToolTimedOut(server=server, seconds=round(rules.timeout_s)) from None
        except asyncio.CancelledError:
            self._check_alive(client)
            raise
        except MCPError as error:
            if isinstance(way, HttpWay) and error.message.startswith(NO_MESSAGE):
                self._check_alive(client)
                return _unreadable(error, server, read_only=read_only)
            if isinstance(way, HttpWay) and error.message == NO_ANSWER:
                self._check_alive(client)
                if call.requests and way.unreached.issuperset(call.requests):
                    raise ToolServerAway(server=server) from None
                if not read_only and not way.broken.isdisjoint(call.requests):
                    raise ToolCallLost(server=server) from None
            if isinstance(way, HttpWay) and way.forgotten and _is_forgotten(error):
                way.closed.set()  # so that it is connected anew, with a session that it knows
                raise ToolServerAway(server=server) from None
            if way.closed.is_set() or is_of_the_way(error.code, error.message):
                raise ToolCallLost(server=server) from None
            return ServerResult(cut(error.message, LONGEST_ERROR), ok=False)
        except Exception as error:  # noqa: BLE001 - of what a server sends, anything may be wrong
            return _unreadable(error, server, read_only=read_only)
        given = await run_aside(result_of, result, rules.max_result_kb)
        return replace(given, text="\n".join((given.text, *call.notes)).strip()) if call.notes else given

    @contextmanager
    def _asking_back(self, asker: Asker | None, time: asyncio.Timeout) -> Iterator[CallUnderway]:
        """Have the server ask back within."""
        call = CallUnderway(self.entry.name, asker, time, self._form_s)
        self._underway.append(call)
        before = CALL.set(call)
        try:
            yield call
        finally:
            CALL.reset(before)
            self._underway.remove(call)
            call.end()
            self._let_go_if_unclear()

    async def _answer(
        self, context: ClientRequestContext, params: types.ElicitRequestParams
    ) -> types.ElicitResult | types.ErrorData:
        """Answer what the server asks back. In the newer protocol it comes with what the call gave; in the
        older one it names no call, so it has to be the only one that the server works on."""
        call = CALL.get()
        if call is None and self._way is not None:
            call = self._way.unanswered.asking(context.request_id)
        if call is not None:
            return await call.answer(params)
        self._was_unclear, told = True, set[int]()
        await asyncio.gather(*(each.decline_unclear(told) for each in self._underway))
        return types.ElicitResult(action="decline")

    def _let_go_if_unclear(self) -> None:
        """Let go of a server that asks back while it has never answered a call that was given up, once no
        other one runs: of the next connection it is known again whose its questions are."""
        way = self._way
        if self._was_unclear and not self._underway and way is not None and way.unanswered.any_call:
            _log.warning(
                "tool_server_let_go", server=self.entry.name, problem="questions of unanswered calls"
            )
            way.closed.set()

    def _check_alive(self, client: Client) -> None:
        """Let go of a server that answers nothing any more after a call was given up: what it still does ends
        with its process."""
        if not self._checks:
            check = asyncio.create_task(self._ask_anything(client))
            self._checks.add(check)
            check.add_done_callback(self._checks.discard)

    async def _ask_anything(self, client: Client) -> None:
        try:
            async with asyncio.timeout(ALIVE_S):
                await client.list_tools()
        except Exception as error:  # noqa: BLE001 - whatever it is, it is no answer
            _log.warning("tool_server_let_go", server=self.entry.name, problem=type(error).__name__)
            if self._way is not None and self._client is client:
                self._way.closed.set()


def _unreadable(error: Exception, server: str, *, read_only: bool) -> ServerResult:
    """Return what a call came to whose server got it and gave no result that can be read. Raises ToolCallLost
    for one that may have changed something."""
    _log.warning("tool_result_unreadable", server=server, error=type(error).__name__)
    if not read_only:
        raise ToolCallLost(server=server) from None
    return ServerResult("The server gave no result that can be read.", ok=False)


def _is_forgotten(error: MCPError) -> bool:
    """Return whether a call was refused as one of a session that the server does not know: it did nothing."""
    return error.code == types.INVALID_REQUEST and error.message == "Session terminated"


def _as_listed(tools: Sequence[types.Tool]) -> Sequence[ListedTool]:
    return [
        listed(
            tool.name,
            tool.description or tool.title or "",
            tool.input_schema,
            read_only=tool.annotations is not None and tool.annotations.read_only_hint is True,
            open_world=tool.annotations is None or tool.annotations.open_world_hint is not False,
        )
        for tool in tools
    ]


def _problem_of(error: Exception | None, way: ServerProcess | HttpWay | None) -> ToolServerProblem:
    """Return why a server is away, as far as that is told without a word of the file or of the server."""
    if isinstance(way, ServerProcess) and way.code is not None:
        return ToolServerProblem("ended", str(way.code))
    if error is None:
        return ToolServerProblem("closed")
    match _innermost(error):
        case ConnectionRefusedError():
            return ToolServerProblem("refused")
        case TimeoutError():
            return ToolServerProblem("late")
        case cause:
            return ToolServerProblem("error", type(cause).__name__)


def _innermost(error: Exception) -> Exception:
    """Follow an error to where it began; of several at once, to the first."""
    inner = error.exceptions[0] if isinstance(error, ExceptionGroup) else error.__cause__
    if inner is None and isinstance(error.__context__, OSError):  # the HTTP client hides it
        inner = error.__context__
    return _innermost(inner) if isinstance(inner, Exception) else error
