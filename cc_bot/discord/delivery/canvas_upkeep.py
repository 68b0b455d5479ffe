"""Bringing canvas messages up to date that no turn looks after.

While nobody listened, messages may have been deleted: each connection that was told nothing of what happened
before it looks at all of them. While it lasts, canvases that were changed by something else than a turn (the
erasure of a memory, a heartbeat, what failed before) are looked for every minute.
"""

import asyncio
from collections.abc import Awaitable, Callable
from typing import Final

import hikari
import structlog

from cc_bot.correlation import job
from cc_bot.discord.delivery.canvas_boards import CanvasBoards
from cc_bot.domain.errors import CcBotError
from cc_bot.stores import CanvasStore

_log = structlog.get_logger(__name__)

MOST: Final = 500
"""Messages that are looked at after a connection; the others when their canvas changes."""
PAUSE_S: Final = 0.2
"""Between two of them. Discord allows 50 requests a second, and answers come first."""
STALE_EVERY_S: Final = 60.0


class CanvasUpkeep:
    def __init__(
        self,
        bot: hikari.GatewayBot,
        canvases: CanvasStore,
        boards: CanvasBoards,
        *,
        every_s: float = STALE_EVERY_S,
    ) -> None:
        self._bot = bot
        self._canvases = canvases
        self._boards = boards
        self._every_s = every_s
        self._work: asyncio.Task[None] | None = None
        self._closed = False

    def listen(self) -> None:
        """To be called before the connection is opened."""
        self._bot.subscribe(hikari.ShardReadyEvent, self._on_connected)
        if self._bot.intents & hikari.Intents.GUILD_MESSAGES:  # without, Discord tells of no deletion
            self._bot.subscribe(hikari.MessageDeleteEvent, self._on_deleted)
            self._bot.subscribe(hikari.GuildBulkMessageDeleteEvent, self._on_deleted)

    def begin(self) -> None:
        """Nothing that was not told of before is told of now."""
        self._work = asyncio.create_task(self._keep_up())

    async def close(self) -> None:
        """Stop for good: what is behind then is found after the next start."""
        self._closed = True
        await self._stop()

    async def _stop(self) -> None:
        if self._work:
            self._work.cancel()
            await asyncio.gather(self._work, return_exceptions=True)

    async def _on_connected(self, _: hikari.ShardReadyEvent) -> None:
        await self._stop()
        if not self._closed:  # the connection may come back while the program leaves
            self.begin()

    async def _on_deleted(
        self, event: hikari.MessageDeleteEvent | hikari.GuildBulkMessageDeleteEvent
    ) -> None:
        ids = [event.message_id] if isinstance(event, hikari.MessageDeleteEvent) else event.message_ids
        try:
            for message_id in ids:
                await self._boards.deleted(int(message_id))
        except CcBotError as error:  # its next edit finds out
            _log.warning("deletion_not_noted", error=type(error).__name__)

    async def _keep_up(self) -> None:
        await self._guarded(self._restore_all)
        while True:
            await asyncio.sleep(self._every_s)
            await self._guarded(self._boards.refresh_stale)

    async def _restore_all(self) -> None:
        for key in await self._canvases.all_shown(MOST):
            await self._boards.restore(key)
            await asyncio.sleep(PAUSE_S)

    async def _guarded(self, work: Callable[[], Awaitable[None]]) -> None:
        with job("canvases"):
            try:
                await work()
            except CcBotError as error:
                _log.warning("canvases_not_kept_up", error=type(error).__name__)
            except Exception:  # noqa: BLE001 - the next look is in a minute; without it there would be none
                _log.error("canvas_upkeep_broke", exc_info=True)
