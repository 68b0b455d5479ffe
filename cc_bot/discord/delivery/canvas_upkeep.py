"""Bringing canvas messages up to date that no turn looks after.

While nobody listened, messages may have been deleted: each connection that was told nothing of what happened
before it looks at all of those that it serves. While the bot runs, canvases that were changed by something
else than a turn (the erasure of a memory, a heartbeat, what failed before) are looked for every minute.
"""

import asyncio
from collections.abc import Awaitable, Callable
from functools import partial
from typing import Final

import hikari
import structlog

from cc_bot.correlation import job
from cc_bot.discord.delivery.canvas_boards import CanvasBoards
from cc_bot.discord.shards import FIRST, Serves, Shards, serves_all
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
        shards: Shards,
        *,
        every_s: float = STALE_EVERY_S,
    ) -> None:
        self._bot = bot
        self._canvases = canvases
        self._boards = boards
        self._shards = shards
        self._every_s = every_s
        self._upkeep: asyncio.Task[None] | None = None
        self._restoring: dict[int, asyncio.Task[None]] = {}
        self._closed = False

    def listen(self) -> None:
        """To be called before the connection is opened."""
        self._bot.subscribe(hikari.ShardReadyEvent, self._on_connected)
        if self._bot.intents & hikari.Intents.GUILD_MESSAGES:  # without, Discord tells of no deletion
            self._bot.subscribe(hikari.MessageDeleteEvent, self._on_deleted)
            self._bot.subscribe(hikari.GuildBulkMessageDeleteEvent, self._on_deleted)

    def begin(self, shard_id: int = FIRST, serves: Serves = serves_all) -> None:
        """Nothing that was not told of before is told of now, in the places that a shard serves."""
        restoring = self._guarded(partial(self._restore_all, serves))
        self._restoring[shard_id] = asyncio.create_task(restoring)
        self._upkeep = self._upkeep or asyncio.create_task(self._keep_up())

    async def close(self) -> None:
        """Stop for good: what is behind then is found after the next start."""
        self._closed = True
        tasks = [*self._restoring.values(), *([self._upkeep] if self._upkeep else [])]
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    async def _on_connected(self, event: hikari.ShardReadyEvent) -> None:
        if before := self._restoring.get(event.shard.id):
            before.cancel()
            await asyncio.gather(before, return_exceptions=True)
        if not self._closed:  # the connection may come back while the program leaves
            self.begin(event.shard.id, self._shards.served_by(event.shard))

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
        while True:
            await asyncio.sleep(self._every_s)
            await self._guarded(self._boards.refresh_stale)

    async def _restore_all(self, serves: Serves) -> None:
        for key in await self._canvases.all_shown(MOST):
            if await serves(key.channel_id):
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
