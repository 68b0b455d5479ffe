"""The connection to one server, reopened until the operator's file no longer names it. One task opens and
closes the library's client; any task may call."""

import asyncio
import logging
import random
from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import AsyncExitStack, suppress
from typing import Any, Final, Literal

import mcp_types as types
import structlog
from mcp.client.client import Client
from mcp.client.session import IncomingMessage
from mcp.shared.exceptions import MCPError
from mcp_types.version import MODERN_PROTOCOL_VERSIONS

from cc_bot.domain.errors import ToolCallLost, ToolServerUnavailable, ToolTimedOut
from cc_bot.features.mcp.catalog import MAX_TOOLS, to_remote_tool
from cc_bot.features.mcp.file import ServerEntry
from cc_bot.features.mcp.messages import convert_result, run_in_worker, truncate
from cc_bot.features.mcp.model import RemoteTool, ServerResult, ToolServerProblem
from cc_bot.features.mcp.transports import NOT_SENT, HttpTransport, ServerProcess, Transport

_log = structlog.get_logger(__name__)

CONNECT_TIMEOUT_S: Final = 90.0  # some servers are downloaded first
MIN_RETRY_PAUSE_S: Final = 1.0
MAX_RETRY_PAUSE_S: Final = 60.0
STEADY_CONNECTION_S: Final = 60.0  # after that long, retries begin with the shortest pause
ALIVE_TIMEOUT_S: Final = 5.0
MIN_LIST_INTERVAL_S: Final = 5.0
MAX_PAGES: Final = 50
MAX_ERROR_BYTES: Final = 1000
_LOST_RESPONSE_PREFIXES: Final = (
    *("Connection closed", "SSE stream ", "server answered a request with 202 Accepted"),
    *("Server returned an error response", "Failed to parse", "Unexpected content type"),
)
"""How the library's errors for calls without a readable response begin."""
for _name in ("mcp", "client", "httpx2", "httpcore2"):  # their records quote messages
    logging.getLogger(_name).setLevel(logging.CRITICAL + 1)

State = Literal["starting", "ready", "away"]
OnTools = Callable[[Sequence[RemoteTool]], Awaitable[None]]


class ServerConnection:
    def __init__(self, entry: ServerEntry, on_tools: OnTools) -> None:
        self.entry = entry
        self.state: State = "starting"
        self.problem: ToolServerProblem | None = None
        """Why the last connection ended."""
        self._on_tools = on_tools
        self._ended = False
        self._client: Client | None = None
        self._transport: HttpTransport | ServerProcess | None = None
        self._list_changed = asyncio.Event()
        self._running_probe: asyncio.Task[None] | None = None

    @property
    def is_connected(self) -> bool:
        return bool(self._client and self._transport and not self._transport.closed.is_set())

    def end(self) -> None:
        self._ended = True

    async def run(self) -> None:
        """Stay connected until `end` is called and the task is cancelled."""
        clock = asyncio.get_running_loop().time
        pause_s, logged = MIN_RETRY_PAUSE_S, False
        while not self._ended:
            started_s = clock()
            try:
                await self._connect()
                error = None
            except Exception as caught:  # noqa: BLE001 - retried
                error = caught
            if self._ended:  # a failing task group may swallow the cancellation
                break
            self.problem, self.state = _describe_problem(error, self._transport), "away"
            if steady := clock() - started_s > STEADY_CONNECTION_S:
                pause_s = MIN_RETRY_PAUSE_S
            if steady or not logged:
                _log.warning("tool_server_away", server=self.entry.name, problem=str(self.problem))
                logged = True
            await asyncio.sleep(pause_s * random.uniform(0.75, 1.25))  # noqa: S311 - not for security
            pause_s = min(pause_s * 2, MAX_RETRY_PAUSE_S)

    async def _connect(self) -> None:
        transport = HttpTransport(self.entry) if self.entry.url else ServerProcess(self.entry)
        self._transport = transport
        client = Client(
            transport,
            cache=None,
            message_handler=self._on_message,
            client_info=types.Implementation(name="cc-bot", version="1"),
        )
        async with AsyncExitStack() as stack:
            async with asyncio.timeout(CONNECT_TIMEOUT_S):
                await stack.enter_async_context(client)
                await self._fetch_tools(client)
            stack.callback(self._forget_client)
            self._client = client
            self.state = "ready"
            _log.info("tool_server_ready", server=self.entry.name)
            await self._watch_connection(client, transport)

    def _forget_client(self) -> None:
        self._client = None
        if self._running_probe:
            self._running_probe.cancel()

    async def _watch_connection(self, client: Client, transport: Transport) -> None:
        async with asyncio.TaskGroup() as tasks:
            listen_task = tasks.create_task(self._listen_for_changes(client))
            fetch_task = tasks.create_task(self._fetch_after_changes(client))
            await transport.closed.wait()
            listen_task.cancel()
            fetch_task.cancel()

    async def _fetch_after_changes(self, client: Client) -> None:
        while True:
            await self._list_changed.wait()
            self._list_changed.clear()
            async with asyncio.timeout(CONNECT_TIMEOUT_S):
                await self._fetch_tools(client)
            await asyncio.sleep(MIN_LIST_INTERVAL_S)

    async def _listen_for_changes(self, client: Client) -> None:
        tools = client.server_capabilities.tools
        if client.protocol_version in MODERN_PROTOCOL_VERSIONS and tools and tools.list_changed:
            with suppress(MCPError, RuntimeError):
                async with client.listen(tools_list_changed=True) as events:
                    async for _ in events:
                        self._list_changed.set()

    async def _on_message(self, message: IncomingMessage) -> None:
        if isinstance(message, types.ToolListChangedNotification):
            self._list_changed.set()

    async def _fetch_tools(self, client: Client) -> None:
        tools = list[RemoteTool]()
        cursor: str | None = None
        for _ in range(MAX_PAGES):
            page = await client.list_tools(cursor=cursor)
            tools += await run_in_worker(list, map(to_remote_tool, page.tools[: MAX_TOOLS - len(tools)]))
            cursor = page.next_cursor
            if cursor is None or len(tools) >= MAX_TOOLS:
                break
        await self._on_tools(tools)

    async def call(self, name: str, arguments: Mapping[str, Any]) -> ServerResult:
        """Raises ToolServerUnavailable, ToolTimedOut and ToolCallLost."""
        client, rules, server = self._client, self.entry.rules, self.entry.name
        if client is None or not self.is_connected:
            raise ToolServerUnavailable(server=server)
        try:
            async with asyncio.timeout(rules.timeout_s):
                result = await self._call_tool(client, name, arguments)
        except TimeoutError:
            raise ToolTimedOut(server=server, seconds=round(rules.timeout_s)) from None
        except MCPError as error:
            return self._handle_error(client, error)
        except Exception as error:  # noqa: BLE001 - the server may send anything
            _log.warning("tool_result_unreadable", server=server, error=type(error).__name__)
            raise ToolCallLost(server=server) from None
        return await run_in_worker(convert_result, result, rules.max_result_kb)

    def _handle_error(self, client: Client, error: MCPError) -> ServerResult:
        """Raises ToolServerUnavailable if the call was not sent, ToolCallLost if its outcome is unknown."""
        if error.code != NOT_SENT and not error.message.startswith(_LOST_RESPONSE_PREFIXES):
            return ServerResult(truncate(error.message, MAX_ERROR_BYTES), ok=False)
        self._start_probe(client)
        error_type = ToolServerUnavailable if error.code == NOT_SENT else ToolCallLost
        raise error_type(server=self.entry.name) from None

    async def _call_tool(
        self, client: Client, name: str, arguments: Mapping[str, Any]
    ) -> types.CallToolResult:
        try:
            return await client.call_tool(name, dict(arguments))
        except asyncio.CancelledError:  # the server may go on with the call
            self._start_probe(client)
            raise

    def _start_probe(self, client: Client) -> None:
        if self._running_probe is None or self._running_probe.done():
            self._running_probe = asyncio.create_task(self._disconnect_if_silent(client, self._transport))

    async def _disconnect_if_silent(self, client: Client, transport: Transport | None) -> None:
        try:
            async with asyncio.timeout(ALIVE_TIMEOUT_S):
                await client.list_tools()
        except Exception as error:  # noqa: BLE001 - there was no answer
            if transport is not None:
                transport.disconnect(type(error).__name__)


def _describe_problem(error: Exception | None, transport: Transport | None) -> ToolServerProblem:
    """Name only the kind of failure: error messages may quote secrets of the file or text of the server."""
    if transport is not None and transport.exit_code is not None:
        return ToolServerProblem("ended", str(transport.exit_code))
    if error is None:
        return ToolServerProblem("closed")
    match _root_cause(error):
        case ConnectionRefusedError():
            return ToolServerProblem("refused")
        case TimeoutError():
            return ToolServerProblem("late")
        case cause:
            return ToolServerProblem("error", type(cause).__name__)


def _root_cause(error: Exception) -> Exception:
    inner = error.exceptions[0] if isinstance(error, ExceptionGroup) else error.__cause__
    if inner is None and isinstance(error.__context__, OSError):  # the HTTP client hides the cause
        inner = error.__context__
    return _root_cause(inner) if isinstance(inner, Exception) else error
