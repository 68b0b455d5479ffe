"""Canvases on Discord: one message per session in its channel.

It is posted with the first element and deleted with the last one. The database records which message shows
which revision, so every change is shown, at the latest after a restart. Where the bot may not write, the
message is a follow-up of an interaction: editable for 15 minutes, and not recorded.

Outside of DMs private elements are sent in ephemeral messages only.

Only the canvas of the agent that currently answers the user in the channel is shown. Other agents' turns in
progress may still change theirs.
"""

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import replace
from functools import partial
from typing import Final

import hikari
import structlog

from cc_bot.discord.delivery.canvas_messages import (
    CanvasMessages,
    CanvasSheet,
    FollowedMessages,
    Pictures,
    new_canvas,
)
from cc_bot.discord.delivery.reply import RETRY_PAUSES_S, repeat
from cc_bot.discord.gateway import EVERYWHERE, ShardPlaces, Shards
from cc_bot.discord.interactions import Answerable, can_write, own_space
from cc_bot.discord.pages.canvas import canvas_page
from cc_bot.discord.places import Places, Recent
from cc_bot.discord.recipients import Recipient, Recipients
from cc_bot.domain.canvas import Canvas, Chart
from cc_bot.domain.errors import CcBotError, StorageError
from cc_bot.domain.locale import Locale
from cc_bot.domain.session import SessionKey
from cc_bot.in_order import KeyedLock
from cc_bot.log import job
from cc_bot.process import Leases, OwnLeases
from cc_bot.stores import CanvasStore
from cc_bot.stores.canvases import CanvasMessage, SeenCanvas

_log = structlog.get_logger(__name__)

# ---- canvas boards ---------------------------------------------------------------------------------------

GONE: Final = 0
"""Message id of a message that is missing: deleted, or not posted yet."""
MAX_STALE: Final = 50
"""Canvases refreshed per run."""
REST_S: Final = 600.0
"""Before a retry: an archived thread, for example, refuses edits until a user writes there."""
MAX_RESTING: Final = 1000


class CanvasBoards:
    def __init__(
        self,
        canvases: CanvasStore,
        messages: CanvasMessages,
        pictures: Pictures,
        recipients: Recipients,
        places: Places,
        *,
        spoken_in: Callable[[int], Locale | None],
        is_current: Callable[[SessionKey, Answerable | None], Awaitable[bool]],
    ) -> None:
        """`spoken_in` returns the language of a channel's server; `is_current`, whether the key's agent
        currently answers there."""
        self._canvases = canvases
        self._messages = messages
        self._pictures = pictures
        self._recipients = recipients
        self._places = places
        self._spoken_in = spoken_in
        self._is_current = is_current
        self._public = FollowedMessages(messages, ephemeral=False)
        self._ephemeral = FollowedMessages(messages, ephemeral=True)
        self._rest_until_s = Recent[SessionKey, float](MAX_RESTING)
        """By canvas, when to retry."""
        self._order = KeyedLock()
        self._showing = set[asyncio.Task[None]]()

    async def refresh(
        self,
        key: SessionKey,
        *,
        interaction: Answerable | None = None,
        below: bool = True,
        repost: bool = False,
    ) -> bool:
        """Post, edit or delete the message of a canvas. Never raises; returns False on failure.

        `interaction`: saves requests. `below`: show it below the interaction if the bot may not write there.
        `repost`: post it again, and delete the older message.
        """
        return await self._try(key, partial(self._refresh, key, interaction, below=below, repost=repost))

    async def want(self, key: SessionKey, interaction: Answerable | None = None) -> None:
        """Record that a canvas needs a message, if the bot may post here: after a crash the next process
        posts it. Never raises."""
        if interaction is None or _may_write(interaction):
            try:
                if await self._canvases.get_message(key) is None:
                    await self._canvases.note_message(key, GONE, 0)
            except StorageError as error:
                _log.warning("canvas_not_noted", error=type(error).__name__)

    async def update(
        self, key: SessionKey, interaction: Answerable | None = None, *, ephemeral: bool = False
    ) -> None:
        """Show a canvas that a turn has changed, after the answer. Never raises.

        After an ephemeral answer all elements are shown to the user only, and the public message loses those
        that became private.
        """
        showing = asyncio.create_task(self._show_change(key, interaction, ephemeral=ephemeral))
        self._showing.add(showing)
        showing.add_done_callback(self._showing.discard)
        await asyncio.shield(showing)

    async def settle(self) -> None:
        await asyncio.gather(*self._showing)

    async def show_ephemeral(self, interaction: Answerable, key: SessionKey) -> None:
        """Show all elements to the user only. Never raises."""
        await self._try(key, partial(self._show_ephemeral, interaction, key))

    async def forget_message(self, message_id: int) -> None:
        """Record that a user deleted a message. A canvas is posted again with its next change, or on request.
        Raises StorageError."""
        key = await self._canvases.get_key(message_id)
        if key is None:
            return
        async with self._order.after(key):
            shown = await self._canvases.get_message(key)
            if shown and shown.message_id == message_id:
                await self._canvases.note_message(key, GONE, shown.shown_revision)

    async def restore(self, key: SessionKey) -> None:
        """Refresh a canvas whose message may have been deleted while the bot was offline. Never raises."""
        try:
            shown = await self._canvases.get_message(key)
            if shown and shown.message_id and await self._messages.is_gone(key.channel_id, shown.message_id):
                await self.forget_message(shown.message_id)
        except (CcBotError, hikari.HikariError) as error:
            _log.warning("canvas_not_looked_for", error=type(error).__name__)
        await self.refresh(key)

    async def refresh_stale(self) -> None:
        """Refresh canvases whose message shows an older revision. Raises StorageError."""
        now_s = asyncio.get_running_loop().time()
        stale = await self._canvases.list_stale(MAX_STALE + MAX_RESTING)
        ready = [key for key in stale if now_s >= (self._rest_until_s.get(key) or 0)]
        for key in ready[:MAX_STALE]:
            if not await self.refresh(key):
                self._rest_until_s[key] = now_s + REST_S

    async def agent_changed(self, channel_id: int, agent: str) -> None:
        """Replace the canvases shown in a channel by those of its new default agent. Raises StorageError."""
        for key in await self._canvases.list_shown_in(channel_id, MAX_STALE):
            await self.refresh(key)
            await self.refresh(replace(key, agent=agent))

    async def sheet(self, canvas: Canvas, recipient: Recipient, *, alone: bool) -> CanvasSheet:
        """Make the message of a canvas, with its pictures. `alone`: only the user will see it."""
        charts = [element for element in canvas.in_sight if isinstance(element, Chart)]
        pictures = await self._pictures.of(charts, recipient.locale)
        user_id = None if alone else recipient.user_id
        make = partial(canvas_page, canvas, recipient.words, user_id=user_id)
        page = await asyncio.to_thread(make, pictures=pictures)  # slow for tables with long labels
        plain = await asyncio.to_thread(make) if pictures else page
        return CanvasSheet(page, pictures, plain)

    async def reply_with(self, interaction: Answerable, sheet: CanvasSheet, sentence: str) -> None:
        """Answer a command with a canvas below a sentence. Raises hikari's errors."""
        body = new_canvas(sheet)
        body["content"] = f"{sentence}\n{body['content']}"
        await interaction.edit_initial_response(**body)

    async def _try(self, key: SessionKey, show: Callable[[], Awaitable[bool]]) -> bool:
        async with self._order.after(key):
            try:
                return await show()
            except (CcBotError, hikari.HikariError) as error:
                _log.warning("canvas_not_shown", error=type(error).__name__)
            except Exception:  # noqa: BLE001 - logged; the answer is complete
                _log.error("canvas_broke", exc_info=True)
            return False

    async def _show_ephemeral(self, interaction: Answerable, key: SessionKey) -> bool:
        await self._ephemeral.drop(key)
        seen = await self._to_see(key, interaction)
        if seen and not seen.canvas.empty:
            sheet = await self.sheet(seen.canvas, await self._recipients.of(interaction), alone=True)
            await self._ephemeral.post(key, interaction, sheet)
        return True

    async def _show_change(self, key: SessionKey, interaction: Answerable | None, *, ephemeral: bool) -> None:
        if interaction is not None and ephemeral and not own_space(interaction):
            await self.show_ephemeral(interaction, key)
            await self.refresh(key, interaction=interaction, below=False)
        else:
            await self.refresh(key, interaction=interaction)

    async def _refresh(
        self, key: SessionKey, interaction: Answerable | None, *, below: bool, repost: bool
    ) -> bool:
        seen = await self._to_see(key, interaction)
        shown = await self._canvases.get_message(key)
        everything = seen.canvas if seen else Canvas()
        if everything.empty:
            await self._ephemeral.drop(key)
        elif seen and shown and shown.message_id and shown.shown_revision == seen.revision and not repost:
            return True  # saves requests after a restart: most are up to date
        alone = not everything.empty and await self._is_own_space(key.channel_id, interaction)
        canvas = everything.visible_in("private" if alone else "public")
        if seen is None or canvas.empty:
            await self._remove(key, shown)
            return True
        sheet = await self.sheet(canvas, await self._recipient(key, interaction), alone=alone)
        may_post = interaction is None or _may_write(interaction)
        if may_post and await self._show_in_channel(key, shown, seen, sheet, repost=repost):
            await self._public.drop(key)
            return True
        if not repost and await self._public.edit(key, sheet):
            return True
        if interaction is not None and below:
            await self._public.post(key, interaction, sheet)
        return interaction is not None and below

    async def _to_see(self, key: SessionKey, interaction: Answerable | None) -> SeenCanvas | None:
        seen = await self._canvases.get(key)
        return seen if seen and await self._is_current(key, interaction) else None

    async def _show_in_channel(
        self,
        key: SessionKey,
        shown: CanvasMessage | None,
        seen: SeenCanvas,
        sheet: CanvasSheet,
        *,
        repost: bool,
    ) -> bool:
        if shown and shown.message_id and not repost:
            try:
                await self._messages.edit(key.channel_id, shown.message_id, sheet)
            except hikari.NotFoundError:
                shown = replace(shown, message_id=GONE)
            except hikari.ForbiddenError as error:  # may be temporary
                _log.info("canvas_out_of_reach", channel=key.channel_id, code=error.code)
                return False
            else:
                await self._canvases.note_message(key, shown.message_id, seen.revision)
                return True
        return await self._post(key, shown, seen, sheet)

    async def _post(
        self, key: SessionKey, shown: CanvasMessage | None, seen: SeenCanvas, sheet: CanvasSheet
    ) -> bool:
        """Returns False if the bot may not write. A failure is retried because of `want`."""
        await self.want(key)
        try:
            deleted = shown is not None and shown.message_id == GONE and shown.shown_revision > 0
            message_id = await self._messages.post(key, seen, sheet, deleted=deleted)
        except (hikari.NotFoundError, hikari.ForbiddenError) as error:
            _log.info("canvas_has_no_place", channel=key.channel_id, status=int(error.status))
            if shown is None or not shown.message_id:
                await self._canvases.forget_message(key)
            return False
        if not await self._canvases.note_message(key, message_id, seen.revision):  # erased in between
            await self._delete(key.channel_id, message_id)
        if shown and shown.message_id:
            await self._delete(key.channel_id, shown.message_id)
        return True

    async def _delete(self, channel_id: int, message_id: int) -> None:
        try:
            await self._messages.delete(channel_id, message_id)
        except hikari.ForbiddenError as error:  # the bot was removed
            _log.info("canvas_out_of_reach", channel=channel_id, code=error.code)

    async def _remove(self, key: SessionKey, shown: CanvasMessage | None) -> None:
        await self._public.drop(key)
        if shown is None:
            return
        if shown.message_id:
            await self._delete(key.channel_id, shown.message_id)
        await self._canvases.forget_message(key)

    async def _is_own_space(self, channel_id: int, interaction: Answerable | None) -> bool:
        """False if Discord refuses to say."""
        if interaction is not None:
            return own_space(interaction)
        try:
            return (await repeat(lambda: self._places.of(channel_id), RETRY_PAUSES_S)).is_dm
        except (hikari.NotFoundError, hikari.ForbiddenError):
            return False

    async def _recipient(self, key: SessionKey, interaction: Answerable | None) -> Recipient:
        if interaction is not None:
            return await self._recipients.of(interaction)
        return await self._recipients.of_author(key.user_id, self._spoken_in(key.channel_id))


def _may_write(interaction: Answerable) -> bool:
    return can_write(interaction) or own_space(interaction)


# ---- canvas upkeep ---------------------------------------------------------------------------------------
# Messages may be deleted while the bot is offline: each new connection checks those of its shards. Stale
# canvases, not updated by a turn, are refreshed every minute.

MAX_COUNT: Final = 500
"""Messages checked after a connection; the others when their canvas changes."""
PAUSE_S: Final = 0.2
"""Between two checks. Discord allows 50 requests a second, and answers come first."""
STALE_EVERY_S: Final = 60.0


class CanvasUpkeep:
    def __init__(
        self,
        bot: hikari.GatewayBot,
        canvases: CanvasStore,
        boards: CanvasBoards,
        shards: Shards,
        *,
        duties: Leases = OwnLeases(),
        every_s: float = STALE_EVERY_S,
    ) -> None:
        self._bot = bot
        self._duties = duties
        self._canvases = canvases
        self._boards = boards
        self._shards = shards
        self._every_s = every_s
        self._upkeep: asyncio.Task[None] | None = None
        self._restoring: dict[int, asyncio.Task[None]] = {}
        self._closed = False

    def listen(self) -> None:
        """Subscribe to events, before the connection is opened."""
        self._bot.subscribe(hikari.ShardReadyEvent, self._on_connected)
        if self._bot.intents & hikari.Intents.GUILD_MESSAGES:  # else Discord sends no deletions
            self._bot.subscribe(hikari.MessageDeleteEvent, self._on_deleted)
            self._bot.subscribe(hikari.GuildBulkMessageDeleteEvent, self._on_deleted)

    def begin(self, served: ShardPlaces = EVERYWHERE) -> None:
        """Start for the channels of a shard."""
        restoring = self._guard(partial(self._restore_all, served))
        self._restoring[served.shard.id] = asyncio.create_task(restoring)
        self._upkeep = self._upkeep or asyncio.create_task(
            self._duties.run_as_leader("canvases", self._keep_up)
        )

    async def close(self) -> None:
        """Stop for good; the next process refreshes stale canvases."""
        self._closed = True
        tasks = [*self._restoring.values(), *([self._upkeep] if self._upkeep else [])]
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    async def _on_connected(self, event: hikari.ShardReadyEvent) -> None:
        if before := self._restoring.get(event.shard.id):
            before.cancel()
            await asyncio.gather(before, return_exceptions=True)
        if not self._closed:  # a reconnect during shutdown
            self.begin(self._shards.served_by(event.shard))

    async def _on_deleted(
        self, event: hikari.MessageDeleteEvent | hikari.GuildBulkMessageDeleteEvent
    ) -> None:
        ids = [event.message_id] if isinstance(event, hikari.MessageDeleteEvent) else event.message_ids
        try:
            for message_id in ids:
                await self._boards.forget_message(int(message_id))
        except CcBotError as error:  # the next edit notices
            _log.warning("deletion_not_noted", error=type(error).__name__)

    async def _keep_up(self) -> None:
        while True:
            await asyncio.sleep(self._every_s)
            await self._guard(self._boards.refresh_stale)

    async def _restore_all(self, served: ShardPlaces) -> None:
        for key in await self._canvases.list_shown(MAX_COUNT, served.shard):
            if await served.has(key.channel_id):
                await self._boards.restore(key)
                await asyncio.sleep(PAUSE_S)

    async def _guard(self, work: Callable[[], Awaitable[None]]) -> None:
        with job("canvases"):
            try:
                await work()
            except CcBotError as error:
                _log.warning("canvases_not_kept_up", error=type(error).__name__)
            except Exception:  # noqa: BLE001 - logged; the loop must go on
                _log.error("canvas_upkeep_broke", exc_info=True)
