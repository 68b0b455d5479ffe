"""The canvas page of a channel: the live view, and removing elements."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from aiohttp import WSCloseCode, web

from cc_bot.agents import find_agent
from cc_bot.domain.canvas import Canvas
from cc_bot.domain.errors import (
    CanvasSwitched,
    CcBotError,
    ForeignRequest,
    InputError,
    NothingHere,
    UnknownAgent,
)
from cc_bot.domain.locale import Locale
from cc_bot.domain.session import SessionKey
from cc_bot.web.canvas_feed import CanvasFeed, Watcher, body_of
from cc_bot.web.conversations import channel_names
from cc_bot.web.form import text_of
from cc_bot.web.page import go_on, render, see_other, sentence_on
from cc_bot.web.services import WebServices
from cc_bot.web.visitor import SignedIn, is_from_ours, read_cookie, visitor_of

MAX_MESSAGE_BYTES: Final = 1024
PING_S: Final = 30.0
MAX_PLACES: Final = 50
"""The last used first."""
HIDING: Final = "hide-private"
"""Cookie of a browser that hides private elements; they are not sent then."""
_CLOSE_BYTES: Final = 123
"""Of a close reason (RFC 6455, section 5.5)."""


@dataclass(frozen=True, slots=True)
class CanvasPlace:
    """A channel where the user has talked, or may have a canvas."""

    channel_id: int
    name: str
    elements: int


class CanvasPages:
    def __init__(self, services: WebServices, feed: CanvasFeed) -> None:
        self._services = services
        self._feed = feed

    def routes(self) -> Sequence[web.AbstractRouteDef]:
        return (
            web.get("/canvas", self.list_places),
            web.get("/canvas/{channel}", self.show),
            web.get("/canvas/{channel}/socket", self.connect),
            web.post("/canvas/{channel}/remove", self.remove),
            web.post("/canvas/{channel}/clear", self.clear),
            web.post("/canvas/{channel}/agent", self.use_agent),
        )

    async def list_places(self, request: web.Request) -> web.Response:
        """List the user's canvases; a single one is shown at once."""
        visitor = visitor_of(request)
        channels = await self._channels(visitor)
        if len(channels) == 1 and "all" not in request.query:
            return see_other(f"/canvas/{channels[0]}")
        places = [await self._place(visitor, each) for each in channels[:MAX_PLACES]]
        return render(request, "canvas_places.html", visitor, places=places)

    async def show(self, request: web.Request) -> web.Response:
        visitor, channel_id = visitor_of(request), await self._channel(request)
        discord = self._services.discord
        key = await discord.current_key(visitor.user_id, channel_id)
        seen = await self._services.stores.canvases.get(key)
        hiding = is_hiding(request)
        canvas = (seen.canvas if seen else Canvas()).visible_in("public" if hiding else "private")
        return render(
            request,
            "canvas.html",
            visitor,
            channel_id=channel_id,
            place=await self._name(visitor, channel_id),
            places=len(await self._channels(visitor)),
            canvas=canvas,
            body_of=lambda element: body_of(element, visitor.words),
            agents=await discord.usable_agents(channel_id),
            agent=key.agent,
            hiding=hiding,
        )

    async def connect(self, request: web.Request) -> web.WebSocketResponse:
        """Keep a page up to date. Raises ForeignRequest for a page of another site."""
        visitor, channel_id = visitor_of(request), await self._channel(request)
        if not is_from_ours(request, self._services.settings):
            raise ForeignRequest
        key = await self._services.discord.current_key(visitor.user_id, channel_id)
        socket = web.WebSocketResponse(
            heartbeat=PING_S, compress=False, max_msg_size=MAX_MESSAGE_BYTES, timeout=2.0
        )
        await socket.prepare(request)
        session, hiding = visitor.session, is_hiding(request)
        locale = Locale.of(request.query.get("language", visitor.locale))  # the page's own
        watcher = Watcher(socket, session.id, session.place, channel_id, locale, hiding, key)
        try:
            await self._feed.open(watcher)
            async for _ in socket:
                await _close(socket, WSCloseCode.UNSUPPORTED_DATA, visitor.words.web.closed_unknown)
        except CcBotError as error:
            await _close(socket, WSCloseCode.TRY_AGAIN_LATER, _sentence(error, visitor))
        finally:
            self._feed.close(watcher)
        return socket

    async def remove(self, request: web.Request) -> web.Response:
        """Remove an element. Raises NothingHere, CanvasSwitched, and InputError for a form
        without an agent."""
        key = await self._key(request)
        wanted = text_of(request, "id")
        if not await self._services.stores.canvases.remove(key, wanted):
            raise NothingHere
        await self._services.discord.canvas_changed(key)
        return go_on(request, visitor_of(request), f"/canvas/{key.channel_id}", "element_removed")

    async def clear(self, request: web.Request) -> web.Response:
        """Remove all elements. Raises CanvasSwitched, and InputError for a form without an agent."""
        key = await self._key(request)
        await self._services.stores.canvases.clear(key)
        await self._services.discord.canvas_changed(key)
        return go_on(request, visitor_of(request), f"/canvas/{key.channel_id}", "canvas_cleared")

    async def use_agent(self, request: web.Request) -> web.Response:
        """Choose an agent there. Raises UnknownAgent."""
        visitor, channel_id = visitor_of(request), await self._channel(request)
        usable = await self._services.discord.usable_agents(channel_id)
        wanted = find_agent(tuple(usable), text_of(request, "agent"))
        if wanted is None:
            raise UnknownAgent
        await self._services.discord.use_agent(visitor.user_id, channel_id, wanted)
        return go_on(request, visitor_of(request), f"/canvas/{channel_id}", "agent_used")

    async def _key(self, request: web.Request) -> SessionKey:
        """Return the key of the shown canvas: another agent's element may have the same id."""
        visitor, channel_id = visitor_of(request), await self._channel(request)
        seen = text_of(request, "agent")
        if not seen:
            raise InputError
        key = await self._services.discord.current_key(visitor.user_id, channel_id)
        if key.agent != seen:
            raise CanvasSwitched
        return key

    async def _channel(self, request: web.Request) -> int:
        """Return the page's channel. Raises NothingHere if the user has nothing there."""
        named, visitor = request.match_info["channel"], visitor_of(request)
        if not (named.isascii() and named.isdecimal()) or len(named) > 19:
            raise NothingHere
        if int(named) not in await self._channels(visitor):
            raise NothingHere
        return int(named)

    async def _channels(self, visitor: SignedIn) -> list[int]:
        keys = await self._services.stores.canvases.list_keys(visitor.user_id)
        return [*dict.fromkeys([each.channel_id for each in keys] + [visitor.session.place.channel_id])]

    async def _place(self, visitor: SignedIn, channel_id: int) -> CanvasPlace:
        key = await self._services.discord.current_key(visitor.user_id, channel_id)
        seen = await self._services.stores.canvases.get(key)
        elements = len(seen.canvas.elements) if seen else 0
        return CanvasPlace(channel_id, await self._name(visitor, channel_id), elements)

    async def _name(self, visitor: SignedIn, channel_id: int) -> str:
        return (await channel_names(self._services, [channel_id], visitor))[channel_id]


def is_hiding(request: web.Request) -> bool:
    return read_cookie(request, HIDING) == "yes"


def _sentence(error: CcBotError, visitor: SignedIn) -> str:
    return sentence_on(error, visitor.words, visitor.timezone)


async def _close(socket: web.WebSocketResponse, code: int, reason: str) -> None:
    cut = reason.encode()[:_CLOSE_BYTES].decode(errors="ignore")
    await socket.close(code=code, message=cut.encode())
