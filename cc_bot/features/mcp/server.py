"""The connection to one server, reopened for as long as the file names it. The library's client is opened and
closed in one task; calls come from any task. A failing server harms no other, and no turn waits for one
that is away."""

import asyncio
import logging
import random
from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from contextlib import AsyncExitStack, contextmanager, suppress
from contextvars import ContextVar
from dataclasses import replace
from typing import Any, Final, Literal

import mcp_types as types
import structlog
from mcp.client.client import Client
from mcp.client.session import ClientRequestContext, IncomingMessage
from mcp.shared.exceptions import MCPError
from mcp_types.version import MODERN_PROTOCOL_VERSIONS

from cc_bot.domain.errors import ToolCallLost, ToolServerAway, ToolTimedOut
from cc_bot.domain.forms import Asker
from cc_bot.features.mcp.catalog import MAX_TOOLS, to_remote_tool
from cc_bot.features.mcp.file import ServerEntry
from cc_bot.features.mcp.forms import UNCLEAR, ActiveCall
from cc_bot.features.mcp.messages import convert_result, run_in_worker, truncate
from cc_bot.features.mcp.model import RemoteTool, ServerResult, ToolServerProblem
from cc_bot.features.mcp.transports import NOT_SENT, HttpTransport, ServerProcess, Transport

_log = structlog.get_logger(__name__)

CONNECT_S: Final = 90.0
"""For a server to start and list its tools: some are downloaded first."""
FIRST_PAUSE_S: Final = 1.0
MAX_PAUSE_S: Final = 60.0
STEADY_S: Final = 60.0
"""After such a connection, the pauses start over."""
ALIVE_S: Final = 5.0
"""For any answer after a failed call."""
BETWEEN_LISTS_S: Final = 5.0
MAX_PAGES: Final = 50
MAX_QUESTIONS: Final = 16
"""Per call; a server that asks more is disconnected."""
MAX_ERROR_BYTES: Final = 1000
_LOST: Final = (
    *("Connection closed", "SSE stream ", "server answered a request with 202 Accepted"),
    *("Server returned an error response", "Failed to parse", "Unexpected content type"),
)
"""Prefixes of the library's errors for a call without a readable answer."""
_CALL: Final = ContextVar["ActiveCall | None"]("_CALL", default=None)
for _name in ("mcp", "client", "httpx2", "httpcore2"):  # their records quote messages
    logging.getLogger(_name).setLevel(logging.CRITICAL + 1)

State = Literal["starting", "ready", "away"]
OnList = Callable[[Sequence[RemoteTool]], Awaitable[None]]


class ServerConnection:
    def __init__(self, entry: ServerEntry, on_list: OnList) -> None:
        """`on_list` gets each list of tools."""
        self.entry = entry
        self.state: State = "starting"
        self.problem: ToolServerProblem | None = None
        """Why the last connection ended."""
        self._on_list = on_list
        self._active = list[ActiveCall]()
        self._has_abandoned = False
        """True if a call of this connection was cancelled or timed out."""
        self._asks = False
        """True if the server sent a form that names no call."""
        self._ended = False
        self._client: Client | None = None
        self._transport: HttpTransport | ServerProcess | None = None
        self._changed = asyncio.Event()
        self._check: asyncio.Task[None] | None = None

    @property
    def is_connected(self) -> bool:
        return bool(self._client and self._transport and not self._transport.closed.is_set())

    def end(self) -> None:
        self._ended = True

    async def run(self) -> None:
        """Stay connected until `end` is called and this is cancelled."""
        clock = asyncio.get_running_loop().time
        pause, logged = FIRST_PAUSE_S, False
        while not self._ended:
            began = clock()
            try:
                await self._connect()
                error = None
            except Exception as caught:  # noqa: BLE001 - whatever one server does, it is tried again
                error = caught
            if self._ended:  # a group of tasks that fails at the same moment swallows the cancellation
                break
            self.problem, self.state = _problem_of(error, self._transport), "away"
            if steady := clock() - began > STEADY_S:
                pause = FIRST_PAUSE_S
            if steady or not logged:
                _log.warning("tool_server_away", server=self.entry.name, problem=str(self.problem))
                logged = True
            await asyncio.sleep(pause * random.uniform(0.75, 1.25))  # noqa: S311 - not for security
            pause = min(pause * 2, MAX_PAUSE_S)

    async def _connect(self) -> None:
        transport = HttpTransport(self.entry) if self.entry.url else ServerProcess(self.entry)
        self._transport, self._has_abandoned, self._asks = transport, False, False
        client = Client(
            transport,
            cache=None,
            elicitation_callback=self._answer,
            message_handler=self._on_message,
            client_info=types.Implementation(name="cc-bot", version="1"),
        )
        async with AsyncExitStack() as stack:
            async with asyncio.timeout(CONNECT_S):
                await stack.enter_async_context(client)
                await self._list(client)
            stack.callback(self._forget)
            self._client = client
            self.state = "ready"
            _log.info("tool_server_ready", server=self.entry.name)
            await self._stay(client, transport)

    def _forget(self) -> None:
        self._client = None
        if self._check:
            self._check.cancel()

    async def _stay(self, client: Client, transport: Transport) -> None:
        async with asyncio.TaskGroup() as tasks:
            running = [tasks.create_task(each(client)) for each in (self._listen, self._list_again)]
            await transport.closed.wait()
            for task in running:
                task.cancel()

    async def _list_again(self, client: Client) -> None:
        """List the tools after each change."""
        while True:
            await self._changed.wait()
            self._changed.clear()
            async with asyncio.timeout(CONNECT_S):
                await self._list(client)
            await asyncio.sleep(BETWEEN_LISTS_S)

    async def _listen(self, client: Client) -> None:
        tools = client.server_capabilities.tools
        if client.protocol_version in MODERN_PROTOCOL_VERSIONS and tools and tools.list_changed:
            with suppress(MCPError, RuntimeError):
                async with client.listen(tools_list_changed=True) as events:
                    async for _ in events:
                        self._changed.set()

    async def _on_message(self, message: IncomingMessage) -> None:
        if isinstance(message, types.ToolListChangedNotification):
            self._changed.set()

    async def _list(self, client: Client) -> None:
        found = list[RemoteTool]()  # two of one name are left out (see catalog.py)
        cursor: str | None = None
        for _ in range(MAX_PAGES):
            page = await client.list_tools(cursor=cursor)
            found += await run_in_worker(list, map(to_remote_tool, page.tools[: MAX_TOOLS - len(found)]))
            cursor = page.next_cursor
            if cursor is None or len(found) >= MAX_TOOLS:
                break
        await self._on_list(found)

    async def call(self, name: str, arguments: Mapping[str, Any], asker: Asker | None = None) -> ServerResult:
        """Call a tool. Raises ToolServerAway, ToolTimedOut and ToolCallLost."""
        client, rules, server = self._client, self.entry.rules, self.entry.name
        if client is None or not self.is_connected:
            raise ToolServerAway(server=server)
        try:
            async with asyncio.timeout(rules.timeout_s) as time:
                with self._active_call(client, asker, time) as call:
                    result = await client.call_tool(name, dict(arguments))
        except TimeoutError:
            raise ToolTimedOut(server=server, seconds=round(rules.timeout_s)) from None
        except MCPError as error:
            return self._failure(client, error)
        except Exception as error:  # noqa: BLE001 - of what a server sends, anything may be wrong
            _log.warning("tool_result_unreadable", server=server, error=type(error).__name__)
            raise ToolCallLost(server=server) from None
        given = await run_in_worker(convert_result, result, rules.max_result_kb)
        return replace(given, text="\n".join((given.text, *call.notes)).strip()) if call.notes else given

    def _failure(self, client: Client, error: MCPError) -> ServerResult:
        """Raises ToolServerAway if the call was not sent, ToolCallLost if its outcome is unknown."""
        if error.code != NOT_SENT and not error.message.startswith(_LOST):
            return ServerResult(truncate(error.message, MAX_ERROR_BYTES), ok=False)
        self._check_alive(client)
        problem = ToolServerAway if error.code == NOT_SENT else ToolCallLost
        raise problem(server=self.entry.name) from None

    @contextmanager
    def _active_call(
        self, client: Client, asker: Asker | None, time: asyncio.Timeout
    ) -> Iterator[ActiveCall]:
        call = ActiveCall(self.entry.name, asker, time)
        self._active.append(call)
        before = _CALL.set(call)
        try:
            yield call
        except asyncio.CancelledError:  # stopped or timed out: the server may still work on it
            self._has_abandoned = True
            self._check_alive(client)
            raise
        finally:
            _CALL.reset(before)
            self._active.remove(call)
            call.end()
            if self._has_abandoned and self._asks and not self._active and self._transport:
                self._transport.let_go("it may still ask in an abandoned call")

    async def _answer(
        self,
        context: ClientRequestContext,  # noqa: ARG002 - the library's signature
        params: types.ElicitRequestParams,
    ) -> types.ElicitResult | types.ErrorData:
        """Answer a form. The newer protocol sends it as the result of a call. The older one names no call, so
        only one call may be running, and none may be abandoned."""
        if call := _CALL.get():
            return await call.answer(params)
        self._asks = True
        if len(self._active) == 1 and not self._has_abandoned:
            [call] = self._active
            if call.asked >= MAX_QUESTIONS and self._transport:
                self._transport.let_go("too many questions")
            return await call.answer(params)
        for each in self._active:
            each.decline(UNCLEAR)
        return types.ElicitResult(action="decline")

    def _check_alive(self, client: Client) -> None:
        if self._check is None or self._check.done():
            self._check = asyncio.create_task(self._ask_anything(client, self._transport))

    async def _ask_anything(self, client: Client, transport: Transport | None) -> None:
        try:
            async with asyncio.timeout(ALIVE_S):
                await client.list_tools()
        except Exception as error:  # noqa: BLE001 - whatever it is, it is no answer
            if transport is not None:
                transport.let_go(type(error).__name__)


def _problem_of(error: Exception | None, transport: Transport | None) -> ToolServerProblem:
    """Use no texts of the file or the server."""
    if transport is not None and transport.code is not None:
        return ToolServerProblem("ended", str(transport.code))
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
    inner = error.exceptions[0] if isinstance(error, ExceptionGroup) else error.__cause__
    if inner is None and isinstance(error.__context__, OSError):  # the HTTP client hides it
        inner = error.__context__
    return _innermost(inner) if isinstance(inner, Exception) else error
