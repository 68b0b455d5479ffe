"""Sends canvas changes to open pages.

Whatever changes a canvas increases a counter in the database, which is read after each write of this process
and a few times a second for others. Then the whole canvas is sent, at most ten elements. Pages that show the
same share a board, which is read and rendered once.
"""

import asyncio
import time
from collections.abc import AsyncIterator, Coroutine
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any, Final

import structlog
from aiohttp import WSCloseCode, web

from cc_bot.domain.canvas import Canvas
from cc_bot.domain.errors import CcBotError
from cc_bot.domain.locale import Locale
from cc_bot.domain.session import SessionKey
from cc_bot.domain.web import WebPlace
from cc_bot.stores.canvases import CanvasClock
from cc_bot.texts import texts
from cc_bot.web.canvas_view import canvas_message
from cc_bot.web.services import WebServices

_log = structlog.get_logger(__name__)

OTHERS_S: Final = 0.25
"""Between checks for changes by other processes."""
LEAVE_S: Final = 2.0
"""Between checks for users who lost access."""
ALL_ANEW_S: Final = 30.0
"""Between reloads of all boards, in case a change was missed."""
SENDING_S: Final = 10.0
"""For a page to accept a message."""
SIGNED_OUT: Final = 4401
DENIED: Final = 4403
TOO_MANY_OPEN: Final = 4429
"""Own close codes (RFC 6455, section 7.4.2); a page closed with one does not reconnect."""


MAX_OPEN_PAGES: Final = 16
"""Per user, in all browsers; the oldest is closed."""


@dataclass(eq=False, slots=True)
class Watcher:
    """An open page."""

    socket: web.WebSocketResponse
    session_id: int
    place: WebPlace
    channel_id: int
    locale: Locale
    hiding: bool
    """Whether private elements are hidden."""
    sent: str = ""
    """The last message."""
    opened_s: float = field(default_factory=time.monotonic)


@dataclass(eq=False, slots=True)
class Board:
    """A canvas in one language, with or without private elements."""

    key: SessionKey
    locale: Locale
    hiding: bool
    canvas: Canvas | None = None
    """None until it is read."""
    message: str = ""
    """As sent to pages."""
    watchers: set[Watcher] = field(default_factory=set)
    order: asyncio.Lock = field(default_factory=asyncio.Lock)


class CanvasFeed:
    def __init__(self, services: WebServices) -> None:
        self._services = services
        self._boards: dict[tuple[SessionKey, Locale, bool], Board] = {}
        self._on: dict[Watcher, Board] = {}
        self._opened = asyncio.Event()
        self._sending = set[asyncio.Task[None]]()

    @asynccontextmanager
    async def running(self) -> AsyncIterator[None]:
        """Update open pages until left; then close them, so that they reconnect to the next run."""
        tasks = [
            asyncio.create_task(self._repeat(each))
            for each in (self._follow_changes, self._send_off, self._read_all_anew)
        ]
        try:
            yield
        finally:
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)
            leaving = [self._close(each, WSCloseCode.GOING_AWAY, "") for each in [*self._on]]
            await asyncio.gather(*leaving, *self._sending, return_exceptions=True)

    async def open(self, watcher: Watcher) -> None:
        """Show the canvas of the user's current agent there, and its changes. Raises StorageError."""
        key = await self._services.discord.current_key(watcher.place.user_id, watcher.channel_id)
        self._make_room(watcher.place.user_id)
        await self._put_on(watcher, key)

    def _make_room(self, user_id: int) -> None:
        mine = sorted(
            (each for each in self._on if each.place.user_id == user_id), key=lambda each: each.opened_s
        )
        for oldest in mine[: 1 - MAX_OPEN_PAGES]:
            self.close(oldest)
            reason = texts(oldest.locale).web.closed_too_many_open
            self._start(self._close(oldest, TOO_MANY_OPEN, reason))

    def close(self, watcher: Watcher) -> None:
        """Forget a closed page."""
        board = self._on.pop(watcher, None)
        if board is not None:
            board.watchers.discard(watcher)
            if not board.watchers:
                self._boards.pop((board.key, board.locale, board.hiding), None)
        if not self._on:
            self._opened.clear()

    async def _put_on(self, watcher: Watcher, key: SessionKey) -> None:
        self.close(watcher)
        self._opened.set()
        name = (key, watcher.locale, watcher.hiding)
        board = self._boards.setdefault(name, Board(*name))
        self._on[watcher] = board
        board.watchers.add(watcher)
        await self._refresh(board)

    async def _refresh(self, board: Board) -> None:
        """Send a board to those of its pages that are outdated."""
        async with board.order:
            seen = await self._services.stores.canvases.get(board.key)
            canvas = (seen.canvas if seen else Canvas()).visible_in("public" if board.hiding else "private")
            if canvas != board.canvas:
                board.message = await asyncio.to_thread(
                    canvas_message, board.key, canvas, texts(board.locale)
                )
                board.canvas = canvas
            for watcher in board.watchers:
                if watcher.sent != board.message:
                    watcher.sent = board.message
                    self._start(self._send(watcher, board.message))

    async def _follow_changes(self) -> None:
        canvases = self._services.stores.canvases
        seen: CanvasClock | None = None
        while True:
            await self._opened.wait()
            if seen is not None:
                await canvases.wait_for_change(OTHERS_S)
            now = await canvases.read_clock()
            if seen is None or now.moved != seen.moved:
                await self._follow_agents()
            if seen is None or now.drawn != seen.drawn:
                drawn = {*await canvases.list_drawn(seen.drawn if seen else now.drawn)}
                for board in [*self._boards.values()]:
                    if board.key in drawn:
                        await self._refresh(board)
            seen = now

    async def _follow_agents(self) -> None:
        """Switch pages to the agent that answers there now."""
        asked: dict[tuple[int, int], SessionKey] = {}
        for watcher, board in [*self._on.items()]:
            where = (watcher.place.user_id, watcher.channel_id)
            if where not in asked:
                asked[where] = await self._services.discord.current_key(*where)
            if asked[where] != board.key and watcher in self._on:
                await self._put_on(watcher, asked[where])
        for board in [*self._boards.values()]:
            await self._refresh(board)

    async def _read_all_anew(self) -> None:
        while True:
            await asyncio.sleep(ALL_ANEW_S)
            await self._follow_agents()

    async def _send_off(self) -> None:
        """Close the pages of users who signed out or lost access."""
        while True:
            await self._opened.wait()
            await asyncio.sleep(LEAVE_S)
            live = await self._services.stores.web_sessions.list_live()
            places = [*dict.fromkeys(each.place for each in self._on)]
            refused = await self._services.discord.refusals(places)
            for watcher in [*self._on]:
                words = texts(watcher.locale).web
                if watcher.session_id not in live:
                    await self._close(watcher, SIGNED_OUT, words.closed_signed_out)
                elif watcher.place in refused:
                    await self._close(watcher, DENIED, words.closed_denied)

    async def _repeat(self, work: "Any") -> None:
        """Repeat the work forever, also after storage errors."""
        while True:
            try:
                await work()
            except CcBotError as error:
                _log.warning("canvas_feed_failed", error=type(error).__name__)
            except Exception:  # noqa: BLE001 - nobody waits for it; pages would stand still for ever
                _log.error("canvas_feed_broke", exc_info=True)
            await asyncio.sleep(1.0)

    def _start(self, sending: Coroutine[Any, Any, None]) -> None:
        task = asyncio.create_task(sending)
        self._sending.add(task)
        task.add_done_callback(self._sending.discard)

    async def _send(self, watcher: Watcher, text: str) -> None:
        try:
            async with asyncio.timeout(SENDING_S):
                await watcher.socket.send_str(text)
        except (ConnectionError, TimeoutError, RuntimeError):  # it is gone, or does not read
            self.close(watcher)
            await self._close(watcher, WSCloseCode.TRY_AGAIN_LATER, "")

    async def _close(self, watcher: Watcher, code: int, reason: str) -> None:
        self.close(watcher)
        await watcher.socket.close(code=code, message=reason.encode())
