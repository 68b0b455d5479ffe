import asyncio
from dataclasses import dataclass
from functools import partial
from typing import Any

from aiohttp import web

from tests.loopback.discord.faults import Fault, Faults
from tests.loopback.discord.messages import File
from tests.loopback.discord.refusals import Refusal, rate_limited, unauthorized
from tests.loopback.discord.wire import (
    Answer,
    Call,
    Entry,
    RateLimits,
    Route,
    Transcript,
    Violation,
    read_body,
)
from tests.loopback.discord.world import World, loop_time

API = "/api/v10"
TICK_S = 0.25
STOOD_STILL_S = 0.5


@dataclass(slots=True)
class Server:
    world: World
    token: str
    routes: list[Route]
    limits: RateLimits
    faults: Faults
    transcript: Transcript
    runner: web.AppRunner | None = None
    ticking: asyncio.Task[None] | None = None

    async def start(self) -> None:
        """Listens on a free port of 127.0.0.1 and tells the world its address."""
        app = web.Application(client_max_size=256 * 1024 * 1024)
        for route in self.routes:
            app.router.add_route(route.method, API + route.template, partial(self._answer, route))
        app.router.add_get("/gateway", self.world.gateway.serve)
        app.router.add_get("/attachments/{channel}/{attachment}/{name}", self._attachment)
        app.router.add_route("*", "/{rest:.*}", self._nowhere)
        self.runner = web.AppRunner(app, access_log=None, shutdown_timeout=0.1)
        await self.runner.setup()
        site = web.TCPSite(self.runner, "127.0.0.1", 0)
        await site.start()
        port = self.runner.addresses[0][1]
        self.world.base_url = f"http://127.0.0.1:{port}"
        self.ticking = asyncio.create_task(self._make_up())

    async def _make_up(self) -> None:
        while True:
            due_s = loop_time() + TICK_S
            await asyncio.sleep(TICK_S)
            if (late_s := loop_time() - due_s) > STOOD_STILL_S:
                for interaction in self.world.interactions.values():
                    if interaction.answered is None and not interaction.is_late(due_s):
                        interaction.sent_at_s = min(interaction.sent_at_s + late_s, loop_time())

    async def stop(self) -> None:
        if self.ticking is not None:
            self.ticking.cancel()
        for link in list(self.world.gateway.links):
            link.cut()
        if self.runner is not None:
            await self.runner.cleanup()

    async def _answer(self, route: Route, request: web.Request) -> web.StreamResponse:
        started = loop_time()
        params, files, body = dict(request.match_info), dict[int, File](), None
        fault: Fault | None = None
        try:
            body, files = await read_body(request)
            fault = self.faults.take(route.name, params, _held_in(body, files))
            self.world.pulse.beat()
            call = Call(params, dict(request.query), body, files)
            answer = await self._handled(route, request, call, fault)
        except Refusal as refusal:
            ordered = fault is not None and refusal.status == fault.status
            if not ordered:
                self._refused(route.name, refusal, params.get("token", ""))
            answer = Answer(refusal.status, refusal.body, refusal.headers)
        except _ConnectionCut:
            answer = Answer(0)
        except Exception as mistake:
            self._refused(route.name, Refusal(500, -1, f"the double failed: {mistake!r}"))
            raise
        status = answer.status or None
        names = tuple(file.name for file in files.values())
        entry = Entry(route.name, params, status, started, loop_time() - started, body, names)
        self.transcript.entries.append(entry)
        self.world.pulse.beat()
        if status is None and request.transport is not None:
            request.transport.abort()
        return _response(answer)

    async def _handled(self, route: Route, request: web.Request, call: Call, fault: Fault | None) -> Answer:
        if fault is not None and fault.delay_s:
            await asyncio.sleep(fault.delay_s)
        if fault is not None and not fault.take_effect:
            raise _failure(fault)
        headers = self._pass_gates(route, request, call)
        try:
            answer = await route.handler(call)
        except Refusal as refusal:
            refusal.headers |= headers
            raise
        if fault is not None and fault.status != 200:
            raise _failure(fault)
        return Answer(answer.status, answer.body, headers)

    def _pass_gates(self, route: Route, request: web.Request, call: Call) -> dict[str, str]:
        if route.needs_token:
            if request.headers.get("Authorization") != f"Bot {self.token}":
                raise unauthorized()
            self.limits.check_everywhere(loop_time())
        if route.limit is None or route.major is None:
            return {}
        return self.limits.spend(route.limit, route.name, call.params[route.major], loop_time())

    def _refused(self, where: str, refusal: Refusal, token: str = "") -> None:
        about = (refusal.status, refusal.code, refusal.message, refusal.details)
        self.transcript.violations.append(Violation(where, *about, token))

    async def _nowhere(self, request: web.Request) -> web.Response:
        refusal, where = Refusal(404, 0, "404: Not Found"), f"{request.method} {request.path}"
        self._refused(where, refusal)
        self.transcript.entries.append(Entry(where, {}, 404, loop_time(), 0.0, None))
        return _response(Answer(404, refusal.body))

    async def _attachment(self, request: web.Request) -> web.Response:
        """Like Discord's CDN: no token needed, and 404 after the link expired."""
        attachment = self.world.attachments.get(int(request.match_info["attachment"]))
        if attachment is None or attachment.expired:
            return web.Response(status=404, text="This content is no longer available.")
        return web.Response(body=attachment.file.data, headers={"Content-Type": attachment.file.content_type})


class _ConnectionCut(Exception):
    pass


def _held_in(body: Any, files: dict[int, File]) -> set[str]:
    """The fields of a message that are not empty, and "files" for what is uploaded."""
    told = {key for key, value in body.items() if value} if isinstance(body, dict) else set[str]()
    return {*told, "files"} if files else told


def _failure(fault: Fault) -> Exception:
    if fault.refusal is not None:
        return fault.refusal
    if fault.status is None:
        return _ConnectionCut()
    if fault.status == 429:
        return rate_limited(fault.retry_after_s, scope="shared")
    return Refusal(fault.status, 0, f"{fault.status}: ordered by the test")


def _response(answer: Answer) -> web.Response:
    status = answer.status or 500
    if status == 204 or answer.body is None:
        return web.Response(status=status, headers=answer.headers)
    return web.json_response(answer.body, status=status, headers=answer.headers)
