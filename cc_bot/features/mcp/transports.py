"""Transports with limits: a program's stdin and stdout, and HTTP. The library's own for programs neither
limits lines nor repairs text, and hangs after an unreadable line."""

import asyncio
import json
import os
import signal
from collections.abc import AsyncIterator, Coroutine, Mapping
from contextlib import AsyncExitStack, suppress
from types import TracebackType
from typing import Any, Final

import anyio
import httpx2
import structlog
from anyio.streams.memory import MemoryObjectReceiveStream, MemoryObjectSendStream
from mcp.client._transport import TransportStreams
from mcp.client.streamable_http import streamable_http_client
from mcp.shared.message import SessionMessage
from mcp_types import jsonrpc_message_adapter

from cc_bot.concurrency import cancel_tasks
from cc_bot.features.mcp.file import ServerEntry
from cc_bot.features.mcp.messages import MAX_MESSAGE_BYTES, MessageUnreadable, clean_message

_log = structlog.get_logger(__name__)

READ_PAUSE_S: Final = 0.001  # after each chunk, so that a flood does not block the event loop
MAX_BYTES_PER_S: Final = 8 << 20

EXIT_TIMEOUT_S: Final = 0.5
KILL_TIMEOUT_S: Final = 1.0
POLL_INTERVAL_S: Final = 0.02
WRITE_TIMEOUT_S: Final = 10.0
_READ_BYTES: Final = 1 << 16

CONNECT_TIMEOUT_S: Final = 10.0
READ_TIMEOUT_S: Final = 600.0  # between two chunks
CLOSE_TIMEOUT_S: Final = 3.0
NOT_SENT: Final = -32099  # error code: the call did not reach the server, or was rejected
_REJECTED_STATUSES: Final = (401, 403, 429)
_EVENT_STREAM: Final = "text/event-stream"
_MAX_EVENT_ID_LENGTH: Final = 1000


class Transport:
    def __init__(self, entry: ServerEntry) -> None:
        self.closed = asyncio.Event()
        """Set when the connection has ended or must end."""
        self.exit_code: int | None = None
        """Set if the program ended by itself."""
        self._entry = entry

    def disconnect(self, problem: str) -> None:
        if not self.closed.is_set():
            _log.warning("tool_server_let_go", server=self._entry.name, problem=problem)
        self.closed.set()


async def _pause(size: int) -> None:
    await asyncio.sleep(READ_PAUSE_S + size / MAX_BYTES_PER_S)


class ServerProcess(Transport):
    """A program that reads and writes a message per line. It is ended with its child processes."""

    def __init__(self, entry: ServerEntry) -> None:
        super().__init__(entry)
        self._process: asyncio.subprocess.Process | None = None
        self._watchdog: asyncio.subprocess.Process | None = None
        self._pipe_tasks = list[asyncio.Task[None]]()
        self._closed_by_server = False

    async def __aenter__(self) -> TransportStreams:
        try:
            await _finish_before_cancelling(self._start())
        except BaseException:
            await self.__aexit__(None, None, None)
            raise
        process = self._process
        if process is None or process.stdin is None or process.stdout is None:
            raise RuntimeError("a process without pipes")
        incoming_end, incoming = anyio.create_memory_object_stream[SessionMessage | Exception](0)
        outgoing, outgoing_end = anyio.create_memory_object_stream[SessionMessage](0)
        self._pipe_tasks = [
            asyncio.create_task(self._read(process.stdout, incoming_end)),
            asyncio.create_task(self._write(process.stdin, outgoing_end)),
        ]
        return incoming, outgoing

    async def _start(self) -> None:
        entry = self._entry
        self._process = await asyncio.create_subprocess_exec(
            entry.command,
            *entry.arguments,
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.DEVNULL,  # stderr may contain users' messages
            env=dict(entry.environment),
            cwd=entry.folder,
            process_group=0,
        )
        # Servers may ignore the end of stdin, so a watchdog kills their process group when the bot dies, even
        # by kill -9. `kill 0` needs no process id, which could be reused.
        with suppress(OSError):  # no shell, or the server has ended
            self._watchdog = await asyncio.create_subprocess_exec(
                *("/bin/sh", "-c", "trap '' HUP INT TERM; read -r _; kill -KILL 0"),
                stdin=asyncio.subprocess.PIPE,
                stdout=asyncio.subprocess.DEVNULL,
                stderr=asyncio.subprocess.DEVNULL,
                env={},
                process_group=self._process.pid,
            )

    async def _read(
        self, stdout: asyncio.StreamReader, messages: MemoryObjectSendStream[SessionMessage | Exception]
    ) -> None:
        """Pass on messages, and skip lines that are not JSON objects, such as greetings and logs."""
        with messages, suppress(anyio.BrokenResourceError):
            try:
                async for line in _read_lines(stdout):
                    if line.lstrip().startswith(b"{"):
                        message = await clean_message(line)
                        await messages.send(
                            SessionMessage(jsonrpc_message_adapter.validate_json(message, by_name=False))
                        )
                    await _pause(len(line))
                self._closed_by_server = True
            except ConnectionError:
                self._closed_by_server = True
            except ValueError:
                self.disconnect("unreadable message")
            finally:
                self.closed.set()

    async def _write(
        self, stdin: asyncio.StreamWriter, messages: MemoryObjectReceiveStream[SessionMessage]
    ) -> None:
        with messages:
            try:
                async for each in messages:
                    line = each.message.model_dump_json(by_alias=True, exclude_unset=True)
                    stdin.write(line.encode("utf-8", "replace") + b"\n")
                    async with asyncio.timeout(WRITE_TIMEOUT_S):
                        await stdin.drain()
            except TimeoutError:
                self.disconnect("does not read its input")
            except (OSError, RuntimeError):
                self._closed_by_server = True
            finally:
                self.closed.set()

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._process is not None:
            await _finish_before_cancelling(self._end(self._process))

    async def _end(self, process: asyncio.subprocess.Process) -> None:
        ended_by_itself = process.returncode is not None or self._closed_by_server
        await cancel_tasks(*self._pipe_tasks)
        if process.stdin is not None:
            process.stdin.close()
        if await _wait_for_exit(process, EXIT_TIMEOUT_S):
            self.exit_code = process.returncode if ended_by_itself else None
        else:
            _signal_group(process, signal.SIGTERM)
            await _wait_for_exit(process, KILL_TIMEOUT_S)
        _signal_group(process, signal.SIGKILL)  # children may still run
        for each in filter(None, (process, self._watchdog)):
            await _wait_for_exit(each, KILL_TIMEOUT_S)
            transport = getattr(each, "_transport", None)
            if transport is not None:
                with suppress(OSError):
                    transport.close()


async def _read_lines(stdout: asyncio.StreamReader) -> AsyncIterator[bytes]:
    """Raises MessageUnreadable for a line of more than MAX_MESSAGE_BYTES."""
    # StreamReader.readline would move its whole buffer for each line.
    unfinished = bytearray()
    while chunk := await stdout.read(_READ_BYTES):
        *ends, rest = chunk.split(b"\n")
        for end in ends:
            line = bytes(unfinished + end)
            unfinished.clear()
            yield line
        unfinished += rest
        if len(unfinished) > MAX_MESSAGE_BYTES:
            raise MessageUnreadable("a line that is too long")


async def _finish_before_cancelling(work: Coroutine[Any, Any, None]) -> None:
    """Finish the work even if cancelled, so that no process is half started."""
    task, cancelled = asyncio.create_task(work), None
    with anyio.CancelScope(shield=True):
        while not task.done():
            try:
                await asyncio.wait([task])
            except asyncio.CancelledError as error:
                cancelled = error
    try:
        task.result()
    finally:
        if cancelled is not None:
            raise cancelled


def _signal_group(process: asyncio.subprocess.Process, number: int) -> None:
    with suppress(ProcessLookupError, PermissionError):
        os.killpg(process.pid, number)


async def _wait_for_exit(process: asyncio.subprocess.Process, timeout_s: float) -> bool:
    clock = asyncio.get_running_loop().time
    deadline = clock() + timeout_s
    # Process.wait also waits for its pipes, which children may hold open.
    while process.returncode is None and clock() < deadline:  # noqa: ASYNC110 - see above
        await asyncio.sleep(POLL_INTERVAL_S)
    return process.returncode is not None


class HttpTransport(Transport):
    def __init__(self, entry: ServerEntry) -> None:
        super().__init__(entry)
        self._stack = AsyncExitStack()

    async def __aenter__(self) -> TransportStreams:
        client = httpx2.AsyncClient(
            headers={**self._entry.headers, "Accept-Encoding": "identity"},
            timeout=httpx2.Timeout(CONNECT_TIMEOUT_S, read=READ_TIMEOUT_S),
            transport=_LimitedRequests(self),
            trust_env=False,
        )
        await self._stack.enter_async_context(client)
        streams = streamable_http_client(
            self._entry.url, http_client=client, max_sse_event_size=MAX_MESSAGE_BYTES
        )
        return await self._stack.enter_async_context(streams)

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.closed.set()
        with suppress(TimeoutError):
            async with asyncio.timeout(CLOSE_TIMEOUT_S):
                await self._stack.__aexit__(kind, error, trace)


class _LimitedRequests(httpx2.AsyncHTTPTransport):
    def __init__(self, connection: Transport) -> None:
        super().__init__(trust_env=False)
        self._connection = connection

    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
        message: Mapping[str, Any] = json.loads(request.content or b"{}")
        is_call = message.get("method") == "tools/call"
        try:
            response = await super().handle_async_request(request)
        except httpx2.TransportError as error:
            if is_call and isinstance(error, httpx2.ConnectError | httpx2.ConnectTimeout):
                return _not_sent_response(message)
            if is_call:
                return httpx2.Response(503)  # an exception would end all other calls
            if request.method == "POST":
                self._connection.closed.set()
            raise
        session_expired = response.status_code == 404 and "mcp-session-id" in request.headers
        if is_call and (session_expired or response.status_code in _REJECTED_STATUSES):
            if session_expired:
                self._connection.closed.set()  # reconnecting opens a new session
            await response.aclose()
            return _not_sent_response(message)
        # Compression was not requested: the data could unpack to any size.
        if response.headers.get("content-encoding", "identity") != "identity":
            raise httpx2.DecodingError("compressed", request=request)
        media_type = response.headers.get("content-type", "").partition(";")[0].strip().lower()
        body = response.stream
        if isinstance(body, httpx2.AsyncByteStream):
            chunks = _clean_events(body, request) if media_type == _EVENT_STREAM else _clean_body(body)
            response.stream = _ChangedBody(chunks, body)
        response.headers["content-type"] = media_type  # decoding some charsets takes very long
        return response


def _not_sent_response(call: Mapping[str, Any]) -> httpx2.Response:
    error = {"code": NOT_SENT, "message": "not sent"}
    return httpx2.Response(200, json={"jsonrpc": "2.0", "id": call["id"], "error": error})


class _ChangedBody(httpx2.AsyncByteStream):
    def __init__(self, chunks: AsyncIterator[bytes], body: httpx2.AsyncByteStream) -> None:
        self._chunks = chunks
        self._body = body

    def __aiter__(self) -> AsyncIterator[bytes]:
        return self._chunks

    async def aclose(self) -> None:
        await self._body.aclose()


async def _limit_rate(body: httpx2.AsyncByteStream) -> AsyncIterator[bytes]:
    """Yield the chunks, at most 1000 a second."""
    async for chunk in body:
        yield chunk
        await asyncio.sleep(READ_PAUSE_S)


async def _clean_body(body: httpx2.AsyncByteStream) -> AsyncIterator[bytes]:
    """Yield the cleaned message; nothing if it is too long, cut off or unreadable, so that the call fails."""
    received = bytearray()
    try:
        async for chunk in _limit_rate(body):
            received += chunk
            if len(received) > MAX_MESSAGE_BYTES:
                return
        message = await clean_message(bytes(received))
    except (httpx2.TransportError, MessageUnreadable):
        return
    received.clear()
    yield message


async def _clean_events(body: httpx2.AsyncByteStream, request: httpx2.Request) -> AsyncIterator[bytes]:
    """Yield cleaned events, without the server's `retry` pauses."""
    stream = _ChangedBody(_limit_rate(body), body)
    response = httpx2.Response(200, headers={"content-type": _EVENT_STREAM}, stream=stream, request=request)
    async for event in httpx2.EventSource(response, max_event_size=MAX_MESSAGE_BYTES):
        if event.event != "message":
            continue
        if event.id and len(event.id) <= _MAX_EVENT_ID_LENGTH:
            yield f"id: {event.id}\n".encode()
        data = event.data.encode()
        try:
            yield b"data: " + (await clean_message(data) if data.strip() else b"") + b"\n\n"
        except MessageUnreadable:
            yield b"data: -\n\n"  # not JSON, so the call fails
        await _pause(len(data))
