"""Servers by other authors, of both protocols, over stdio and HTTP."""

import asyncio
import subprocess
import sys
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest
from aiohttp import web
from aiohttp.test_utils import TestServer

from cc_bot.domain.errors import ToolCallLost, ToolServerUnavailable
from cc_bot.features.mcp.messages import MAX_MESSAGE_BYTES
from tests.mcp.running import HERE, Running, running
from tests.web.pages import free_port

HTTP_SERVER = Path(__file__).parent / "http_server.py"


@asynccontextmanager
async def program(*command: str) -> AsyncIterator[asyncio.subprocess.Process]:
    """Run another Python program inside the block."""
    devnull = subprocess.DEVNULL
    process = await asyncio.create_subprocess_exec(sys.executable, *command, stdout=devnull, stderr=devnull)
    try:
        yield process
    finally:
        with suppress(ProcessLookupError):
            process.kill()
        await process.wait()


class TestOverHttp:
    @pytest.mark.slow
    async def test_a_server_is_called_told_of_when_it_goes_away_and_found_again(self, tmp_path: Path) -> None:
        port = str(free_port())
        async with running(tmp_path, notes={"type": "http", "url": f"http://127.0.0.1:{port}/mcp"}) as bot:
            async with program(str(HTTP_SERVER), port):
                await bot.until_ready("notes")
                assert [each.needs_approval for each in bot.servers.tools_for(HERE)] == [False, True]
                assert (await bot.echo("こんにちは", server="notes")).text == "こんにちは"
            with pytest.raises((ToolServerUnavailable, ToolCallLost)):  # lost: the wire just breaks
                await bot.echo(server="notes")
            await bot.until(lambda: bot.server("notes").state == "away")
            async with program(str(HTTP_SERVER), port):
                await bot.until_ready("notes")
                assert (await bot.echo("また", server="notes")).text == "また"

    async def test_headers_go_to_the_server_alone_and_not_where_it_points(self, tmp_path: Path) -> None:
        seen = list[tuple[str, str | None]]()

        async def elsewhere(request: web.Request) -> web.Response:
            seen.append(("elsewhere", request.headers.get("Authorization")))
            return web.Response(status=404)

        async def pointing(request: web.Request) -> web.Response:
            seen.append(("here", request.headers.get("Authorization")))
            return web.Response(status=307, headers={"Location": str(other.make_url("/mcp"))})

        app, other_app = web.Application(), web.Application()
        app.router.add_route("*", "/mcp", pointing)
        other_app.router.add_route("*", "/mcp", elsewhere)
        async with TestServer(app) as here, TestServer(other_app) as other:
            entry = {"url": str(here.make_url("/mcp")), "headers": {"Authorization": "Bearer geheim"}}
            async with running(tmp_path, notes=entry) as bot:
                await bot.until(lambda: bot.server("notes").state == "away")
        assert ("here", "Bearer geheim") in seen
        assert not [each for each in seen if each[0] == "elsewhere"]


Spoil = Callable[[web.Request], Awaitable[web.StreamResponse]]


async def _breaks(request: web.Request, begun: web.StreamResponse | None = None) -> web.StreamResponse:
    assert request.transport
    request.transport.abort()
    return begun or web.Response()


async def _breaks_half_way(request: web.Request) -> web.StreamResponse:
    begun = web.StreamResponse(headers={"Content-Type": "application/json", "Content-Length": "1000"})
    await begun.prepare(request)
    await begun.write(b'{"jsonrpc": "2.0", ')
    await asyncio.sleep(0.1)
    return await _breaks(request, begun)


async def _is_too_long(_: web.Request) -> web.StreamResponse:
    return web.Response(body=b" " * (MAX_MESSAGE_BYTES + 1), content_type="application/json")


class WithSessions:
    """A server over HTTP with sessions."""

    def __init__(self) -> None:
        self.known = set[str]()
        self.calls = 0
        self.status = 200
        self.spoils: Spoil | None = None
        self.holds = asyncio.Event()
        self.holds.set()
        """Until then no call is answered."""
        self.app = web.Application()
        self.app.router.add_post("/mcp", self._post)
        self.app.router.add_get("/mcp", self._stream)
        self.app.router.add_delete("/mcp", self._delete)

    async def _post(self, request: web.Request) -> web.StreamResponse:
        asked = await request.json()
        if asked["method"] == "initialize":
            session = uuid4().hex
            self.known.add(session)
            info = {"name": "notes", "version": "1"}
            first = {"protocolVersion": "2025-11-25", "capabilities": {"tools": {}}, "serverInfo": info}
            return self._answer(asked, first, {"mcp-session-id": session})
        if request.headers.get("mcp-session-id") not in self.known:
            return web.Response(status=404)
        if "id" not in asked:
            return web.Response(status=202)
        if asked["method"] == "tools/list":
            return self._answer(asked, {"tools": [{"name": "echo", "inputSchema": {"type": "object"}}]})
        self.calls += 1
        if self.spoils:
            return await self.spoils(request)
        await self.holds.wait()
        if self.status != 200:
            return web.Response(status=self.status)
        return self._answer(asked, {"content": [{"type": "text", "text": "猫"}]})

    def _answer(
        self, asked: dict[str, Any], result: dict[str, Any], headers: dict[str, str] | None = None
    ) -> web.Response:
        return web.json_response({"jsonrpc": "2.0", "id": asked["id"], "result": result}, headers=headers)

    async def _stream(self, request: web.Request) -> web.StreamResponse:
        response = web.StreamResponse(headers={"Content-Type": "text/event-stream"})
        await response.prepare(request)
        await response.write(b"retry: 0\nid: 1\n\n")
        return response

    async def _delete(self, _: web.Request) -> web.Response:
        return web.Response()


@asynccontextmanager
async def sessions(folder: Path, double: WithSessions) -> AsyncIterator[Running]:
    """Run a bot that has a session with the server."""
    async with (
        TestServer(double.app) as here,
        running(folder, notes={"url": str(here.make_url("/mcp"))}) as bot,
    ):
        await bot.until_ready("notes")
        yield bot


class TestASession:
    async def test_that_the_server_forgot_is_followed_by_another_one(self, tmp_path: Path) -> None:
        double = WithSessions()
        async with sessions(tmp_path, double) as bot:
            double.known.clear()
            with pytest.raises(ToolServerUnavailable):  # not lost: a call of no session does nothing
                await bot.echo(server="notes")
            assert double.calls == 0
            await bot.until(lambda: double.known)
            await bot.until_ready("notes")
            assert (await bot.echo(server="notes")).text == "猫"

    async def test_in_which_a_call_is_spoiled_goes_on_with_all_others(self, tmp_path: Path) -> None:
        double = WithSessions()
        async with sessions(tmp_path, double) as bot:
            for spoil in (_breaks, _breaks_half_way, _is_too_long):
                double.calls = 0
                double.holds.clear()
                first = asyncio.create_task(bot.echo(server="notes"))
                await bot.until(lambda: double.calls)
                double.spoils = spoil
                with pytest.raises(ToolCallLost):
                    await bot.echo(server="notes")
                double.spoils = None
                assert not first.done(), spoil
                double.holds.set()
                assert (await first).text == "猫"
                assert (await bot.echo(server="notes")).text == "猫"
                assert double.calls == 3, spoil

    async def test_in_which_an_error_comes_for_a_write_is_lost_and_one_that_is_turned_away_is_not(
        self, tmp_path: Path
    ) -> None:
        for status, error in (
            (500, ToolCallLost),
            (401, ToolServerUnavailable),
            (429, ToolServerUnavailable),
        ):
            double = WithSessions()
            (folder := tmp_path / str(status)).mkdir()
            async with sessions(folder, double) as bot:
                double.status = status
                with pytest.raises(error):
                    await bot.echo(server="notes")
                assert double.calls == 1, status
                double.status = 200
                if error is ToolServerUnavailable:
                    assert (await bot.echo(server="notes")).text == "猫"
