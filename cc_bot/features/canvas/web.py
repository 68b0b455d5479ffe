"""The canvas page, and the feed that sends changed canvases to open pages. Each change increases a counter in
the database. The feed reads the counter after each write of this process, and polls for other processes."""

import asyncio
import json
import re
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import dataclass, field, replace
from functools import partial
from html import escape
from typing import Final

import structlog
from aiohttp import WSCloseCode, web

from cc_bot.charts.png import can_draw_png, draw_png
from cc_bot.charts.svg import PAGE_LAYOUTS, chart_html, chart_svg
from cc_bot.chat.reply import Reply
from cc_bot.chat.stores.canvases import CanvasClock
from cc_bot.concurrency import Tasks
from cc_bot.domain import errors
from cc_bot.domain.access import WebSession
from cc_bot.domain.chart import Chart
from cc_bot.domain.message import DEFAULT_AGENT, Visibility
from cc_bot.domain.session import SessionKey
from cc_bot.domain.text import Locale, contains_words
from cc_bot.features.canvas.drawing import get_canvas, item_id, put_back, remove_element, toggle_item
from cc_bot.features.canvas.model import Canvas, Element
from cc_bot.features.canvas.texts import CanvasPageTexts
from cc_bot.log import log_errors
from cc_bot.texts import Texts, texts
from cc_bot.texts.web import WebTexts
from cc_bot.web.conversations import channel_names
from cc_bot.web.form import form_text, path_id
from cc_bot.web.markdown import to_html
from cc_bot.web.page import (
    MAX_FOUND,
    Found,
    Hit,
    Pages,
    TemplateTexts,
    add_user_field,
    explain_error,
    make_environment,
    render,
    see_other,
)
from cc_bot.web.services import WebServices
from cc_bot.web.undo import offer_undo
from cc_bot.web.visitor import WebVisitor, has_our_origin, read_cookie, visitor_of

_log = structlog.get_logger(__name__)

CHANGE_POLL_S: Final = 0.25  # for changes by other processes
ACCESS_POLL_S: Final = 2.0
RELOAD_S: Final = 30.0  # in case a change was missed
SEND_TIMEOUT_S: Final = 10.0
# Our own close codes (RFC 6455, section 7.4.2). A page closed with one of them does not reconnect.
SIGNED_OUT: Final = 4401
DENIED: Final = 4403
TOO_MANY_OPEN: Final = 4429
MAX_OPEN_PAGES: Final = 16  # per user; then the oldest is closed


@dataclass(eq=False, slots=True)
class Watcher:  # an open page
    socket: web.WebSocketResponse
    session: WebSession
    channel_id: int
    locale: Locale
    visibility: Visibility
    key: SessionKey
    last_sent: tuple[SessionKey, Canvas] | None = None
    lock: asyncio.Lock = field(default_factory=asyncio.Lock)


class CanvasFeed:
    def __init__(self, services: WebServices) -> None:
        self._services = services
        self._watchers = dict[Watcher, None]()  # oldest first
        self._opened = asyncio.Event()
        self._sending = Tasks()

    @asynccontextmanager
    async def run(self) -> AsyncIterator[None]:
        """Update open pages; on exit, close them, so that they reconnect to the next run."""
        tasks = Tasks()
        for each in (self._follow_changes, self._disconnect_refused, self._reload_all):
            tasks.start(self._restart_on_error(each))
        try:
            yield
        finally:
            await tasks.cancel()
            closings = [self._disconnect(each, WSCloseCode.GOING_AWAY, "") for each in [*self._watchers]]
            await asyncio.gather(*closings, *self._sending, return_exceptions=True)

    async def open(self, watcher: Watcher) -> None:
        users_pages = [each for each in self._watchers if each.session.user_id == watcher.session.user_id]
        for oldest in users_pages[: 1 - MAX_OPEN_PAGES]:
            self.forget(oldest)
            reason = texts(oldest.locale)[CanvasPageTexts].closed_too_many_open
            self._sending.start(self._disconnect(oldest, TOO_MANY_OPEN, reason))
        self._watchers[watcher] = None
        self._opened.set()
        await self._refresh(watcher)

    def forget(self, watcher: Watcher) -> None:
        self._watchers.pop(watcher, None)
        if not self._watchers:
            self._opened.clear()

    async def _refresh(self, watcher: Watcher) -> None:
        async with watcher.lock:
            key = watcher.key
            canvas = await get_canvas(self._services.stores.canvases, key)
            canvas = canvas.visible_in(watcher.visibility)
            if (key, canvas) != watcher.last_sent:
                message = await asyncio.to_thread(page_update_json, key, canvas, texts(watcher.locale))
                watcher.last_sent = key, canvas
                self._sending.start(self._send(watcher, message))

    async def _follow_changes(self) -> None:
        canvases = self._services.stores.canvases
        last: CanvasClock | None = None
        while True:
            await self._opened.wait()
            if last is not None:
                await canvases.wait_for_change(CHANGE_POLL_S)
            now = await canvases.read_clock()
            if last is None or now.switches != last.switches:
                await self._refresh_all()
            if last is None or now.changes != last.changes:
                changed_keys = {*await canvases.list_changed_keys(last.changes if last else now.changes)}
                for watcher in [*self._watchers]:
                    if watcher.key in changed_keys:
                        await self._refresh(watcher)
            last = now

    async def _refresh_all(self) -> None:
        keys: dict[tuple[int, int], SessionKey] = {}
        for watcher in [*self._watchers]:
            user_channel = (watcher.session.user_id, watcher.channel_id)
            if user_channel not in keys:
                keys[user_channel] = await self._services.discord.current_key(*user_channel)
            watcher.key = keys[user_channel]
            await self._refresh(watcher)

    async def _reload_all(self) -> None:
        while True:
            await asyncio.sleep(RELOAD_S)
            await self._refresh_all()

    async def _disconnect_refused(self) -> None:
        while True:
            await self._opened.wait()
            await asyncio.sleep(ACCESS_POLL_S)
            live = await self._services.stores.web_sessions.list_live()
            locations = [*dict.fromkeys(each.session.origin for each in self._watchers)]
            refused = await self._services.discord.refusals(locations)
            for watcher in [*self._watchers]:
                words = texts(watcher.locale)[CanvasPageTexts]
                if watcher.session.id not in live:
                    await self._disconnect(watcher, SIGNED_OUT, words.closed_signed_out)
                elif watcher.session.origin in refused:
                    await self._disconnect(watcher, DENIED, words.closed_denied)

    async def _restart_on_error(self, work: Callable[[], Awaitable[None]]) -> None:
        while True:
            with log_errors("canvas_feed"):
                await work()
            await asyncio.sleep(1.0)

    async def _send(self, watcher: Watcher, text: str) -> None:
        try:
            async with asyncio.timeout(SEND_TIMEOUT_S):
                await watcher.socket.send_str(text)
        except (ConnectionError, TimeoutError, RuntimeError):  # the page is gone or does not respond
            await self._disconnect(watcher, WSCloseCode.TRY_AGAIN_LATER, "")

    async def _disconnect(self, watcher: Watcher, code: int, reason: str) -> None:
        self.forget(watcher)
        await _close_socket(watcher.socket, code, reason)


_ENVIRONMENT: Final = make_environment()


def page_update_json(key: SessionKey, canvas: Canvas, words: Texts) -> str:
    template = _ENVIRONMENT.get_template("canvas/canvas_parts.html")
    macros = template.make_module({"words": TemplateTexts(words), "can_draw_png": can_draw_png()})

    def render_macro(macro: str, *values: object) -> str:
        return add_user_field(getattr(macros, macro)(*values, key.channel_id, key.agent).strip(), key.user_id)

    elements = [
        {"id": each.id, "html": render_macro("element", each, body_html(each, words))}
        for each in canvas.shown_elements
    ]
    below = render_macro("below", canvas, partial(body_html, words=words))
    message = {"agent": key.agent, "mode": canvas.mode, "elements": elements, "below": below}
    return json.dumps(message, ensure_ascii=False)


def body_html(element: Element, words: Texts) -> str:
    if isinstance(element, Chart):
        return chart_html(element, words.locale)
    lines = element.content.split("\n")

    def render_checkbox(number: int, is_checked: bool) -> str:
        """Return a button of the form beside the element."""
        name, checked = escape(lines[number].partition("] ")[2]), "true" if is_checked else "false"
        return (
            f'<button class="check" form="check-{element.id}" name="item" role="checkbox"'
            f' value="{item_id(number, lines[number])}" aria-checked="{checked}" aria-label="{name}">'
            f"{'☑' if is_checked else '☐'}</button> "
        )

    return to_html(element.content, render_checkbox)


def _find_line(element: Element, words: str) -> str:
    """Return the title or the line that has the words; empty if none has."""
    content = "" if isinstance(element, Chart) else element.content
    lines = (_ITEM.sub("", line) for line in (element.title, *content.split("\n")))
    return next((line for line in lines if contains_words(line, words)), "")


_ITEM: Final = re.compile(r"^\s*[-*#>]+ (\[[ x]\] )?")
MAX_MESSAGE_BYTES: Final = 1024
PING_S: Final = 30.0
MAX_CHANNELS: Final = 50
HIDING_COOKIE: Final = "hide-private"  # this browser gets no private elements
_MAX_REASON_BYTES: Final = 123  # of a close reason (RFC 6455, section 5.5)


class CanvasPages(Pages):
    path = "/canvas"
    menu_position = 0

    def __init__(self, services: WebServices) -> None:
        super().__init__(services)
        self._feed = CanvasFeed(services)
        self._drawing = asyncio.Lock()  # each picture takes 0.1 s of a processor

    def run(self) -> AbstractAsyncContextManager[None]:
        return self._feed.run()

    def title(self, words: Texts) -> str:
        return words[CanvasPageTexts].canvas

    def routes(self) -> Sequence[web.AbstractRouteDef]:
        return (
            web.get("/canvas", self.show_overview),
            web.get("/canvas/{channel}", self.show),
            web.get("/canvas/{channel}/socket", self.connect),
            web.get("/canvas/{channel}/{element}.png", self.send_chart),
            web.post("/canvas/{channel}/check", self.check),
            web.post("/canvas/{channel}/remove", self.remove),
            web.post("/canvas/{channel}/clear", self.clear),
        )

    async def show_overview(self, request: web.Request) -> web.Response:
        """Show all channels, or redirect to the only one unless the query has `all`."""
        visitor = visitor_of(request)
        channels = await self._list_channels(visitor)
        if len(channels) == 1 and "all" not in request.query:
            return see_other(f"/canvas/{channels[0]}")
        names = await channel_names(self._services, channels[:MAX_CHANNELS], visitor)
        agents, canvases = await self._services.agents.get_all(), {}
        store, visibility = self._services.stores.canvases, page_visibility(request)
        drawings = await store.get_last_drawings(visitor.user_id, visibility)
        for channel_id in channels[:MAX_CHANNELS]:
            key, canvas = await self._load_canvas(request, channel_id)
            agent = key.agent != DEFAULT_AGENT and agents.get(key.agent)
            name = agent.display_name(visitor.locale) if agent else ""
            canvases[channel_id] = canvas, name, drawings.get(key)

        def preview(element: Element, channel_id: int) -> str:
            if isinstance(element, Chart):  # ids may repeat on other canvases
                small = replace(element, id=f"{element.id}-{channel_id}")
                return chart_svg(small, visitor.locale, PAGE_LAYOUTS[0])
            return to_html(element.content)

        return render(request, "canvas/canvases.html", names=names, canvases=canvases, preview=preview)

    async def search(self, request: web.Request, words: str) -> Found:
        visitor, found = visitor_of(request), list[Hit]()
        channels = (await self._list_channels(visitor))[:MAX_CHANNELS]
        names = await channel_names(self._services, channels, visitor)
        for channel_id in channels:
            _, canvas = await self._load_canvas(request, channel_id)
            if lines := [*filter(None, (_find_line(each, words) for each in canvas.elements))]:
                found.append(Hit(f"/canvas/{channel_id}", " · ".join(lines), names[channel_id]))
        return Found(found[:MAX_FOUND], len(found), f"{self.path}?all=1")

    async def show(self, request: web.Request) -> web.Response:
        visitor, channel_id = visitor_of(request), await self._read_channel(request)
        key, canvas = await self._load_canvas(request, channel_id)
        return render(
            request,
            "canvas/canvas.html",
            channel_id=channel_id,
            channel=(await channel_names(self._services, [channel_id], visitor))[channel_id],
            channels=len(await self._list_channels(visitor)),
            canvas=canvas,
            body_html=lambda element: body_html(element, visitor.words),
            agents=await self._services.agents.list_available(
                await self._services.discord.location_of(channel_id)
            ),
            agent=key.agent,
            is_hiding=page_visibility(request) == "public",
            can_draw_png=can_draw_png(),
        )

    async def connect(self, request: web.Request) -> web.WebSocketResponse:
        """Raises ForeignRequest for a page of another site."""
        visitor, channel_id = visitor_of(request), await self._read_channel(request)
        if not has_our_origin(request):
            raise errors.ForeignRequest
        key = await self._services.discord.current_key(visitor.user_id, channel_id)
        socket = web.WebSocketResponse(
            heartbeat=PING_S, compress=False, max_msg_size=MAX_MESSAGE_BYTES, timeout=2.0
        )
        await socket.prepare(request)
        locale = Locale.from_tag(request.query.get("language", visitor.locale))  # of the page
        watcher = Watcher(socket, visitor.session, channel_id, locale, page_visibility(request), key)
        try:
            await self._feed.open(watcher)
            await socket.receive()  # until it closes: a page sends nothing
        except errors.CcBotError as error:
            await _close_socket(socket, WSCloseCode.TRY_AGAIN_LATER, explain_error(error, request))
        finally:
            self._feed.forget(watcher)
        return socket

    async def send_chart(self, request: web.Request) -> web.Response:
        """Send a chart as a picture. Raises NothingHere, also if the chart can't be drawn."""
        visitor, channel_id = visitor_of(request), await self._read_channel(request)
        chart = (await self._load_canvas(request, channel_id))[1].find(request.match_info["element"])
        if not isinstance(chart, Chart):
            raise errors.NothingHere
        async with self._drawing:
            picture = await asyncio.to_thread(draw_png, chart, visitor.locale)
        if picture is None:
            raise errors.NothingHere
        return web.Response(body=picture, content_type="image/png")

    async def check(self, request: web.Request) -> web.Response:
        """Check or uncheck an item of a list. Raises NothingHere, CanvasSwitched or InputError."""
        key, canvases = await self._read_key(request), self._services.stores.canvases
        if not await toggle_item(canvases, key, form_text(request, "id"), form_text(request, "item")):
            raise errors.NothingHere
        await self._services.discord.refresh_canvas(key)
        return see_other(f"/canvas/{key.channel_id}")

    async def remove(self, request: web.Request) -> web.Response:
        """Raises NothingHere, CanvasSwitched or InputError."""
        key, element_id = await self._read_key(request), form_text(request, "id")
        before = await get_canvas(self._services.stores.canvases, key)
        if not await remove_element(self._services.stores.canvases, key, element_id):
            raise errors.NothingHere
        return await self._redirect_with_undo(request, key, before, [element_id], "element_removed")

    async def clear(self, request: web.Request) -> web.Response:
        """Raises NothingHere, CanvasSwitched or InputError."""
        key = await self._read_key(request)
        before = await get_canvas(self._services.stores.canvases, key)
        await self._services.stores.canvases.clear(key)
        ids = [each.id for each in before.elements]
        return await self._redirect_with_undo(request, key, before, ids, "canvas_cleared")

    async def _redirect_with_undo(
        self, request: web.Request, key: SessionKey, before: Canvas, ids: Sequence[str], sentence: str
    ) -> web.Response:
        discord, path = self._services.discord, f"/canvas/{key.channel_id}"
        canvases, removal = self._services.stores.canvases, self._services.stores.memory_removal
        await discord.refresh_canvas(key)
        current, emptied = await canvases.get(key), await removal.count_emptied_messages(key.user_id)

        async def restore() -> bool:
            now = await canvases.get(key)
            is_same = now and current and now.session_id == current.session_id
            if not is_same or await removal.count_emptied_messages(key.user_id) != emptied:
                return False  # it may have held what was erased
            is_restored = await put_back(canvases, key, before, ids)
            await discord.refresh_canvas(key)
            return is_restored

        reply = Reply((visitor_of(request).words[WebTexts].done[sentence],))
        undo = offer_undo(request, self._services, path, restore)
        return await self._redirect_with_reply(request, path, reply, undo)

    async def _read_key(self, request: web.Request) -> SessionKey:
        """Raises NothingHere, CanvasSwitched if another agent answers now, InputError if none is named."""
        visitor, channel_id = visitor_of(request), await self._read_channel(request)
        page_agent = form_text(request, "agent")
        if not page_agent:
            raise errors.InputError
        key = await self._services.discord.current_key(visitor.user_id, channel_id)
        if key.agent != page_agent:
            raise errors.CanvasSwitched
        return key

    async def _read_channel(self, request: web.Request) -> int:
        """Raises NothingHere if the user has no canvas in the channel."""
        channel_id = path_id(request, "channel")
        if channel_id not in await self._list_channels(visitor_of(request)):
            raise errors.NothingHere
        return channel_id

    async def _list_channels(self, visitor: WebVisitor) -> list[int]:
        keys = await self._services.stores.canvases.list_keys(visitor.user_id)
        return [*dict.fromkeys([each.channel_id for each in keys] + [visitor.session.origin.channel_id])]

    async def _load_canvas(self, request: web.Request, channel_id: int) -> tuple[SessionKey, Canvas]:
        key = await self._services.discord.current_key(visitor_of(request).user_id, channel_id)
        canvas = await get_canvas(self._services.stores.canvases, key)
        return key, canvas.visible_in(page_visibility(request))


def page_visibility(request: web.Request) -> Visibility:
    return "public" if read_cookie(request, HIDING_COOKIE) == "yes" else "private"


async def _close_socket(socket: web.WebSocketResponse, code: int, reason: str) -> None:
    short = reason.encode()[:_MAX_REASON_BYTES].decode(errors="ignore")
    await socket.close(code=code, message=short.encode())


PAGES: Final = (CanvasPages,)
