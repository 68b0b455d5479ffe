"""Keeps receipts current: the lines below answers that report changes of memories and reminders, and the
button for the memories that the answer used."""

import asyncio
from collections.abc import AsyncIterator, Collection, Sequence
from contextlib import asynccontextmanager
from dataclasses import replace
from typing import Final

import hikari
import structlog

from cc_bot.chat.changes import with_current_state
from cc_bot.chat.stores.opening import Stores
from cc_bot.chat.stores.receipts import ReceiptMessage
from cc_bot.concurrency import KeyedLock, RateLimiter, Tasks
from cc_bot.discord.delivery.outlets import reply_in_place
from cc_bot.discord.delivery.reply import DiscordReply
from cc_bot.discord.pages.answer import page_of
from cc_bot.discord.pages.custom_ids import UnscheduleButton, parse_custom_id
from cc_bot.discord.pages.page import Page, Receipts, edit_arguments
from cc_bot.discord.pages.receipts import render_receipts
from cc_bot.discord.recipients import Recipients
from cc_bot.domain.change import Change
from cc_bot.domain.errors import StorageError
from cc_bot.domain.message import Visibility
from cc_bot.features.memory.texts import ReceiptTexts
from cc_bot.log import log_errors
from cc_bot.texts import Texts

_log = structlog.get_logger(__name__)


MAX_EDITED_AFTER_ERASURE: Final = 25  # the newest ones


class ReceiptUpdater:
    def __init__(self, rest: hikari.api.RESTClient, stores: Stores, rate_limiter: RateLimiter) -> None:
        self._rest = rest
        self._rate_limiter = rate_limiter
        self._stores = stores
        self._user_locks = KeyedLock()
        self.message_locks = KeyedLock()  # held from reading a message until its edit
        self._tasks = Tasks()

    async def with_current_receipts(self, page: Page, words: Texts) -> Page:
        """Return the page with current receipts; unchanged if the database fails."""
        if not page.receipts.items:
            return page
        try:
            return await self._with_changes(page, page.receipts.items, words)
        except StorageError as error:
            _log.warning("receipts_not_checked", error=type(error).__name__)
            return page

    async def page_with_receipts(self, message: hikari.Message, user_id: int, words: Texts) -> Page:
        """Return a message's page with current receipts."""
        stored = await self._stores.receipts.get(user_id, int(message.id))
        return await self._page_with_stored(message, stored, user_id, words)

    async def page_without_undone(self, message: hikari.Message, user_id: int, words: Texts) -> Page:
        page = await self.page_with_receipts(message, user_id, words)
        changes = [change for change in page.receipts.items if change.state != "undone"]
        return await self._with_changes(page, changes, words)

    async def with_added(
        self, page: Page, more: Sequence[Change], user_id: int, words: Texts, *, private: bool
    ) -> Page:
        page = replace(page, receipts=replace(page.receipts, user_id=user_id, private=private))
        return await self._with_changes(page, (*page.receipts.items, *more), words)

    async def refresh_pressed(
        self, interaction: hikari.ComponentInteraction, user_id: int, words: Texts
    ) -> None:
        """Edit the message of a button press, and in the background others."""
        message_id = int(interaction.message.id)
        async with self.message_locks.hold(message_id):
            message = await interaction.fetch_initial_response()
            stored = await self._stores.receipts.get(user_id, message_id)
            page = await self._page_with_stored(message, stored, user_id, words)
            button = parse_custom_id(interaction.custom_id)
            if not page.receipts.items and isinstance(button, UnscheduleButton):
                page = await self._without_button(page, button, words)
            await reply_in_place(interaction, page_of(message, words.locale)).show((page,))
        if stored:
            await self._stores.receipts.mark_current(stored)
        self.refresh(user_id, words)

    async def record(self, reply: DiscordReply, receipts: Receipts, words: Texts) -> None:
        """Store a reply's receipts, and refresh others. Call it before the turn's entry is deleted."""
        if receipts.items:
            visibility: Visibility = "private" if receipts.private else "public"
            with log_errors("receipts", hikari.HikariError):
                channel_id, message_id = await reply.last_position()
                stored = ReceiptMessage(receipts.user_id, channel_id, message_id, visibility, receipts.items)
                await self._stores.receipts.put(stored)
            self.refresh(receipts.user_id, words)

    def refresh(self, user_id: int, words: Texts) -> None:
        self._tasks.start(self._refresh(user_id, words))

    @asynccontextmanager
    async def erasing(self, user_id: int, words: Texts) -> AsyncIterator[None]:
        """Edit the user's newest messages after the block erases their data."""
        messages = await self._stores.receipts.list_newest(user_id, limit=MAX_EDITED_AFTER_ERASURE)
        yield
        self._tasks.start(self._refresh(user_id, words, messages))

    async def catch_up(self, recipients: Recipients) -> None:
        """Edit what an earlier process left outdated."""
        for user_id in await self._stores.receipts.list_stale_users():
            self.refresh(user_id, (await recipients.for_user(user_id)).words)

    async def wait_idle(self) -> None:
        await asyncio.gather(*self._tasks, return_exceptions=True)

    async def _page_with_stored(
        self, message: hikari.Message, stored: ReceiptMessage | None, user_id: int, words: Texts
    ) -> Page:
        page = page_of(message, words.locale)
        private = stored is not None and stored.visibility == "private"
        page = replace(page, receipts=replace(page.receipts, user_id=user_id, private=private))
        return await self._with_changes(page, stored.changes, words) if stored else page

    async def _with_changes(self, page: Page, changes: Sequence[Change], words: Texts) -> Page:
        old = page.receipts
        current = await with_current_state(changes, old.user_id, self._stores)
        receipts = render_receipts(current, old.recalled, words, old.user_id, private=old.private)
        return replace(page, receipts=receipts)

    async def _without_button(self, page: Page, button: UnscheduleButton, words: Texts) -> Page:
        custom_id = button.custom_id()
        buttons = tuple(each for each in page.receipts.buttons if each.custom_id != custom_id)
        page = replace(page, receipts=replace(page.receipts, buttons=buttons))
        change = Change("schedule", "added", button.schedule_id)
        [current] = await with_current_state([change], button.user_id, self._stores)
        if current.state != "undone":
            return page
        return replace(page, facts=page.facts.with_notes(words[ReceiptTexts].change_undone))

    async def _refresh(
        self, user_id: int, words: Texts, messages: Collection[ReceiptMessage] | None = None
    ) -> None:
        """`messages`: None for the outdated ones."""
        async with self._user_locks.hold(user_id):
            with log_errors("receipts", hikari.HikariError):
                if messages is None:
                    messages = await self._stores.receipts.list_stale(user_id)
                for stored in messages:
                    await self._try_to_edit(stored, words)

    async def _try_to_edit(self, stored: ReceiptMessage, words: Texts) -> None:
        try:
            await self._rate_limiter.wait()
            await self._edit(stored, words)
            await self._rate_limiter.wait()  # for the second request of `_edit`, after its lock
        except hikari.ClientHTTPResponseError as error:
            _log.info("receipt_not_reached", error=type(error).__name__)
        except hikari.HikariError as error:
            _log.info("receipt_waits", error=type(error).__name__)
            return  # until the next start
        await self._stores.receipts.mark_current(stored)

    async def _edit(self, stored: ReceiptMessage, words: Texts) -> None:
        channel_id = stored.channel_id or 0  # None for ephemeral messages, which are never listed
        async with self.message_locks.hold(stored.message_id):
            message = await self._rest.fetch_message(channel_id, stored.message_id)
            old_page = page_of(message, words.locale)
            new_page = await self._page_with_stored(message, stored, stored.user_id, words)
            await self._rest.edit_message(channel_id, stored.message_id, **edit_arguments(old_page, new_page))
