"""Canvases on Discord: one message per session in its channel.

The database records which message shows which revision, so changes missed by a crash are shown later. Where
the bot may not write, it posts an unrecorded follow-up instead, which can be deleted for 15 minutes only.
Private elements are sent only to DMs and in ephemeral messages.
"""

import asyncio
import contextlib
import secrets
from collections.abc import Awaitable, Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from functools import lru_cache, partial
from hashlib import blake2b
from typing import Any, Final

import hikari
import structlog
from hikari.impl import TextDisplayComponentBuilder

from cc_bot.charts.png import draw_png
from cc_bot.chat.stores.canvases import CanvasStore, CurrentCanvas
from cc_bot.concurrency import KeyedLock, Tasks
from cc_bot.db.leases import Leases
from cc_bot.discord.agents import AgentSelector
from cc_bot.discord.delivery.outlets import MessageReplies
from cc_bot.discord.delivery.side_messages import SideMessages
from cc_bot.discord.interactions import RETRY_PAUSES_S, Answerable, can_write, is_bot_dm, retry
from cc_bot.discord.locations import LruCache
from cc_bot.discord.pages.page import NO_PINGS
from cc_bot.discord.recipients import Recipient, Recipients
from cc_bot.domain.chart import Chart
from cc_bot.domain.clock import utc_now
from cc_bot.domain.errors import CcBotError, StorageError
from cc_bot.domain.session import SessionKey
from cc_bot.domain.text import Locale
from cc_bot.features.canvas.drawing import canvas_from_json
from cc_bot.features.canvas.model import Canvas
from cc_bot.features.canvas.store import NO_MESSAGE, CanvasMessage, CanvasMessageStore
from cc_bot.features.canvas.views import CanvasPage, canvas_page, picture_name
from cc_bot.log import log_errors, log_failure

_log = structlog.get_logger(__name__)

MISSING_PERMISSIONS: Final = 50013  # Discord's error code, also if the bot may write but not attach files
TOKEN_LIFETIME: Final = timedelta(minutes=14)  # a minute less than at Discord
MAX_CACHED_PICTURES: Final = 30
# Removes the message's text, pictures, and embeds of older versions of the bot.
_REPLACING: Final[dict[str, Any]] = {"content": None, "embeds": [], "attachments": None}
MAX_REFRESHED: Final = 50
MAX_FAILED: Final = 1000  # canvases that wait for a retry
RETRY_AFTER_S: Final = 600.0  # an archived thread refuses edits until a user writes there
REFRESH_S: Final = 60.0

Draw = Callable[[Chart, Locale], bytes | None]
_draw_cached: Final[Draw] = lru_cache(MAX_CACHED_PICTURES)(draw_png)


@dataclass(frozen=True, slots=True)
class _FollowUp:
    """A message that only its interaction's token can edit or delete."""

    interaction: Answerable
    message_id: int
    posted_at: datetime


@dataclass(eq=False, slots=True)
class CanvasMessages(SideMessages):
    canvases: CanvasStore
    store: CanvasMessageStore
    replies: MessageReplies
    recipients: Recipients
    agent_selector: AgentSelector
    leases: Leases = field(default_factory=Leases)
    draw: Draw = _draw_cached
    _used_nonces: LruCache[str, None] = field(default_factory=LruCache)
    _follow_ups: LruCache[tuple[SessionKey, bool], _FollowUp] = field(default_factory=LruCache)
    _retry_at_s: LruCache[SessionKey, float] = field(default_factory=LruCache)
    _lock: KeyedLock = field(default_factory=KeyedLock)
    _updates: Tasks = field(default_factory=Tasks)
    _background_tasks: Tasks = field(default_factory=Tasks)
    _closed: bool = False

    def listen(self, bot: hikari.GatewayBot) -> None:
        bot.subscribe(hikari.ShardReadyEvent, self._on_connected)

    def start(self) -> None:
        """Refresh outdated canvases, now and regularly."""
        if not self._background_tasks and not self._closed:  # the bot may reconnect during shutdown
            self._background_tasks.start(self.leases.run_as_leader("canvases", self._refresh_regularly))

    async def refresh(
        self,
        key: SessionKey,
        *,
        interaction: Answerable | None = None,
        may_follow_up: bool = True,
        repost: bool = False,
    ) -> bool:
        """Post, edit or delete the message. Returns False on failure. `repost`: replace the message."""
        return await self._guard(
            key, partial(self._refresh, key, interaction, may_follow_up=may_follow_up, repost=repost)
        )

    async def mark_outdated(self, key: SessionKey, interaction: Answerable | None = None) -> None:
        if interaction is None or _can_post(interaction):
            with log_failure("canvas_not_noted", StorageError):
                if await self.store.get(key) is None:
                    await self.store.record(key, NO_MESSAGE, 0)

    async def show_change(
        self, key: SessionKey, interaction: Answerable | None = None, *, ephemeral: bool = False
    ) -> None:
        await asyncio.shield(self._updates.start(self._show_change(key, interaction, ephemeral=ephemeral)))

    async def wait_idle(self) -> None:
        await asyncio.gather(*self._updates)

    async def close(self) -> None:
        self._closed = True
        await self._background_tasks.cancel()

    async def get_key(self, message_id: int) -> SessionKey | None:
        return await self.store.get_key(message_id)

    async def forget_message(self, message_id: int) -> None:
        """Record that a user deleted the message. A change or `/canvas show` posts the canvas again."""
        key = await self.store.get_key(message_id)
        if key is None:
            return
        async with self._lock.hold(key):
            message = await self.store.get(key)
            if message and message.message_id == message_id:
                await self.store.record(key, NO_MESSAGE, message.shown_revision)

    async def _on_connected(self, _: hikari.ShardReadyEvent) -> None:
        self.start()

    async def _refresh_regularly(self) -> None:
        while True:
            with log_errors("canvases"):
                await self.refresh_outdated()
            await asyncio.sleep(REFRESH_S)

    async def refresh_outdated(self) -> None:
        now_s = asyncio.get_running_loop().time()
        outdated = await self.store.list_outdated_keys(MAX_REFRESHED + MAX_FAILED)
        due = [key for key in outdated if now_s >= (self._retry_at_s.get(key) or 0)]
        for key in due[:MAX_REFRESHED]:
            if not await self.refresh(key):
                self._retry_at_s[key] = now_s + RETRY_AFTER_S

    async def agent_changed(self, channel_id: int, agent: str) -> None:
        for key in await self.store.list_keys_in_channel(channel_id, MAX_REFRESHED):
            await self.refresh(key)
            await self.refresh(replace(key, agent=agent))

    async def reply_with_canvas(
        self, interaction: Answerable, canvas: Canvas, recipient: Recipient, sentence: str
    ) -> None:
        """Answer with an ephemeral canvas. Raises HikariError."""
        page = await self._render(canvas, recipient, private=True)
        above = TextDisplayComponentBuilder(content=sentence)
        page = CanvasPage([above, *page.components], [above, *page.plain])
        await _send(page, interaction.edit_initial_response, **_REPLACING)

    async def _guard(self, key: SessionKey, show: Callable[[], Awaitable[bool]]) -> bool:
        async with self._lock.hold(key):
            try:
                return await show()
            except (CcBotError, hikari.HikariError) as error:
                _log.warning("canvas_not_shown", error=type(error).__name__)
            except Exception:  # noqa: BLE001 - logged; the answer is complete
                _log.error("canvas_broke", exc_info=True)
            return False

    async def _show_change(self, key: SessionKey, interaction: Answerable | None, *, ephemeral: bool) -> None:
        ephemeral_reply = interaction if ephemeral and interaction and not is_bot_dm(interaction) else None
        if ephemeral_reply is not None:
            await self._guard(key, partial(self._show_ephemeral, ephemeral_reply, key))
        await self.refresh(key, interaction=interaction, may_follow_up=ephemeral_reply is None)

    async def _show_ephemeral(self, interaction: Answerable, key: SessionKey) -> bool:
        current = await self._get_if_current(key, interaction)
        canvas = canvas_from_json(current.state) if current else Canvas()
        await self._delete_follow_up(key, ephemeral=True)
        if not canvas.is_empty:
            page = await self._render(canvas, await self.recipients.find(interaction), private=True)
            await self._post_follow_up(key, interaction, page, ephemeral=True)
        return True

    async def _refresh(
        self, key: SessionKey, interaction: Answerable | None, *, may_follow_up: bool, repost: bool
    ) -> bool:
        current = await self._get_if_current(key, interaction)
        message = await self.store.get(key)
        shown_revision = message.shown_revision if message and message.message_id else None
        full_canvas = canvas_from_json(current.state) if current else Canvas()
        if full_canvas.is_empty:
            await self._delete_follow_up(key, ephemeral=True)
        elif current and shown_revision == current.revision and not repost:
            return True  # saves requests after a restart
        is_dm = not full_canvas.is_empty and await self._is_bot_dm(key.channel_id, interaction)
        canvas = full_canvas.visible_in("private" if is_dm else "public")
        if current is None or canvas.is_empty:
            await self._remove(key, message)
            return True
        page = await self._render(canvas, await self._find_recipient(key, interaction), private=is_dm)
        may_post = interaction is None or _can_post(interaction)
        if may_post and await self._show_in_channel(key, message, current, page, repost=repost):
            await self._delete_follow_up(key, ephemeral=False)
            return True
        if interaction is None or not may_follow_up:
            return False
        await self._post_follow_up(key, interaction, page, ephemeral=False)
        return True

    async def _get_if_current(self, key: SessionKey, interaction: Answerable | None) -> CurrentCanvas | None:
        current = await self.canvases.get(key)
        return current if current and await self.agent_selector.is_current(key, interaction) else None

    async def _show_in_channel(
        self,
        key: SessionKey,
        message: CanvasMessage | None,
        current: CurrentCanvas,
        page: CanvasPage,
        *,
        repost: bool,
    ) -> bool:
        """Edit the message or post a new one. Returns False if the bot may not write."""
        if message and message.message_id and not repost:
            edit = partial(self.replies.rest.edit_message, key.channel_id, message.message_id)
            try:
                await _send(page, edit, **_REPLACING)
            except hikari.NotFoundError:
                message = replace(message, message_id=NO_MESSAGE)
            except hikari.ForbiddenError as error:  # may be temporary
                _log.info("canvas_out_of_reach", channel=key.channel_id, code=error.code)
                return False
            else:
                await self.store.record(key, message.message_id, current.revision)
                return True
        return await self._post_in_channel(key, message, current, page)

    async def _post_in_channel(
        self, key: SessionKey, message: CanvasMessage | None, current: CurrentCanvas, page: CanvasPage
    ) -> bool:
        """Post, then delete the older message. Returns False if the bot may not write."""
        await self.mark_outdated(key)  # in case posting fails
        deleted = message is not None and message.message_id == NO_MESSAGE and message.shown_revision > 0
        nonce = self._nonce(key, current, deleted=deleted)
        try:
            posted = await _send(page, partial(self.replies.rest.create_message, key.channel_id), nonce=nonce)
        except (hikari.NotFoundError, hikari.ForbiddenError) as error:
            _log.info("canvas_has_no_place", channel=key.channel_id, status=int(error.status))
            if message is None or not message.message_id:
                await self.store.forget(key)
            return False
        self._used_nonces[nonce] = None
        if not await self.store.record(key, int(posted.id), current.revision):  # erased in between
            await self._delete(key.channel_id, int(posted.id))
        if message and message.message_id:
            await self._delete(key.channel_id, message.message_id)
        return True

    def _nonce(self, key: SessionKey, current: CurrentCanvas, *, deleted: bool) -> str:
        """Discord makes one message per nonce, so a crash adds none. An erasure resets the revision."""
        identity = f"{key}-{current.revision}-{current.state}{'-again' if deleted else ''}"
        nonce = blake2b(identity.encode(), digest_size=10).hexdigest()
        return secrets.token_hex(10) if nonce in self._used_nonces else nonce

    async def _post_follow_up(
        self, key: SessionKey, interaction: Answerable, page: CanvasPage, *, ephemeral: bool
    ) -> None:
        """Post below an acknowledged interaction, without retries: a follow-up takes no nonce."""
        await self._delete_follow_up(key, ephemeral=ephemeral)
        flags = hikari.MessageFlag.EPHEMERAL if ephemeral else hikari.UNDEFINED
        posted = await _send(page, interaction.execute, pauses_s=(), flags=flags)
        self._follow_ups[key, ephemeral] = _FollowUp(interaction, int(posted.id), utc_now())

    async def _delete_follow_up(self, key: SessionKey, *, ephemeral: bool) -> None:
        follow_up = self._follow_ups.get((key, ephemeral))
        self._follow_ups.discard((key, ephemeral))
        if follow_up and utc_now() - follow_up.posted_at < TOKEN_LIFETIME:
            # The user may have dismissed it, or the token expired.
            with log_failure("canvas_not_dropped", hikari.HikariError, level="debug"):
                await follow_up.interaction.delete_message(follow_up.message_id)

    async def _delete(self, channel_id: int, message_id: int) -> None:
        self.replies.expected_deletions.expect(message_id)
        try:
            with contextlib.suppress(hikari.NotFoundError):
                await retry(lambda: self.replies.rest.delete_message(channel_id, message_id), RETRY_PAUSES_S)
        except hikari.ForbiddenError as error:  # the bot was removed
            _log.info("canvas_out_of_reach", channel=channel_id, code=error.code)

    async def _remove(self, key: SessionKey, message: CanvasMessage | None) -> None:
        await self._delete_follow_up(key, ephemeral=False)
        if message is None:
            return
        if message.message_id:
            await self._delete(key.channel_id, message.message_id)
        await self.store.forget(key)

    async def _is_bot_dm(self, channel_id: int, interaction: Answerable | None) -> bool:
        """Return False also if Discord refuses the channel."""
        if interaction is not None:
            return is_bot_dm(interaction)
        try:
            return (await retry(lambda: self.agent_selector.locations.get(channel_id), RETRY_PAUSES_S)).is_dm
        except (hikari.NotFoundError, hikari.ForbiddenError):
            return False

    async def _find_recipient(self, key: SessionKey, interaction: Answerable | None) -> Recipient:
        if interaction is not None:
            return await self.recipients.find(interaction)
        locale = self.recipients.guilds.locale_of_channel(key.channel_id)
        return await self.recipients.for_user(key.user_id, locale)

    async def _render(self, canvas: Canvas, recipient: Recipient, *, private: bool) -> CanvasPage:
        """`private`: only the user sees the message."""
        charts = [element for element in canvas.shown_elements if isinstance(element, Chart)]
        pictures = await draw_pictures(charts, recipient.locale, self.draw)
        user_id = None if private else recipient.user_id
        make = partial(canvas_page, canvas, recipient.words, user_id=user_id, pictures=pictures)
        return await asyncio.to_thread(make)  # slow with long labels


def _can_post(interaction: Answerable) -> bool:
    return can_write(interaction) or is_bot_dm(interaction)


async def _send(
    page: CanvasPage,
    send: Callable[..., Awaitable[hikari.Message]],
    *,
    pauses_s: Sequence[float] = RETRY_PAUSES_S,
    **fields: Any,
) -> hikari.Message:
    """Send the card, or its texts alone if Discord refuses the card or its files."""
    try:
        return await retry(lambda: send(components=page.components, **fields, **NO_PINGS), pauses_s)
    except (hikari.BadRequestError, hikari.ForbiddenError) as error:
        if isinstance(error, hikari.ForbiddenError) and error.code != MISSING_PERMISSIONS:
            raise
        _log.info("canvas_card_refused", code=error.code)
        return await retry(lambda: send(components=page.plain, **fields, **NO_PINGS), pauses_s)


async def draw_pictures(charts: Iterable[Chart], locale: Locale, draw: Draw) -> dict[str, bytes]:
    """Return PNGs by file name. Charts that can't be drawn are missing."""
    pictures = dict[str, bytes]()
    for chart in charts:
        try:
            if png := await asyncio.to_thread(draw, chart, locale):
                pictures[picture_name(chart)] = png
        except Exception:  # noqa: BLE001 - logged
            _log.error("chart_not_drawn", exc_info=True)
    return pictures
