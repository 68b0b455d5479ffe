"""Keeps cards current: the messages below answers with receipts of changes, and with proposals."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Collection
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
from cc_bot.discord.interactions import retry
from cc_bot.discord.pages.cards import Card
from cc_bot.discord.pages.custom_ids import ProposalButton, SeeProposalsButton, parse_custom_id
from cc_bot.discord.pages.page import Page, buttons_of, edit_arguments, notes_of
from cc_bot.discord.recipients import Recipients
from cc_bot.domain.change import Change
from cc_bot.domain.errors import StorageError
from cc_bot.domain.message import Visibility
from cc_bot.log import log_errors
from cc_bot.texts import Texts
from cc_bot.texts.proposal import ProposalTexts

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

    async def with_current_changes(self, card: Card) -> Card:
        """Return the card with current receipts; unchanged if the database fails."""
        if not card.changes:
            return card
        try:
            changes = await with_current_state(card.changes, card.user_id, self._stores)
        except StorageError as error:
            _log.warning("receipts_not_checked", error=type(error).__name__)
            return card
        return replace(card, changes=changes)

    async def changes_to_inherit(self, user_id: int, card_ids: Collection[int]) -> tuple[Change, ...]:
        """Return the changes on an answer's card that are not undone. The answer's replacement shows them."""
        stored = [await self._stores.receipts.get(user_id, card_id) for card_id in card_ids]
        changes = [change for message in stored if message for change in message.changes]
        current = await with_current_state(changes, user_id, self._stores)
        return tuple(change for change in current if change.state != "undone")

    async def redraw_pressed(
        self,
        interaction: hikari.ComponentInteraction,
        user_id: int,
        words: Texts,
        change: Callable[[Card], Card] = lambda card: card,
        *,
        private: bool = False,
    ) -> Card:
        """Show the card whose button was pressed, like `redraw`."""
        async with self.message_locks.hold(int(interaction.message.id)):
            message = await retry(interaction.fetch_initial_response)
            reply, card = reply_in_place(interaction), Card(user_id, private)
            return await self.redraw(message, card, words, lambda page: reply.show((page,)), change=change)

    async def redraw(
        self,
        message: hikari.Message,
        card: Card,
        words: Texts,
        show: Callable[[Page], Awaitable[object]],
        *,
        change: Callable[[Card], Card] = lambda card: card,
        stored: ReceiptMessage | None = None,
    ) -> Card:
        """Load a message's card from the database, edit and show it. Of `card` the user counts, and `private`
        if no receipts are stored. `stored`: the message's receipts, if they may have been erased since. The
        caller holds the message's lock. Raises hikari's errors."""
        stored = stored or await self._stores.receipts.get(card.user_id, int(message.id))
        card = change(await self._load(message, card, stored))
        pages = card.pages(words) or card.with_notes(words[ProposalTexts].none_open).pages(words)
        await show(pages[0])
        return card

    async def redraw_after_undo(
        self, interaction: hikari.ComponentInteraction, user_id: int, words: Texts
    ) -> bool:
        """Update the card of a button press, and in the background others. Returns False if the message is
        not the card of an answer."""
        stored = await self._stores.receipts.get(user_id, int(interaction.message.id))
        if stored:
            await self.redraw_pressed(interaction, user_id, words)
            await self._stores.receipts.mark_current(stored)
        self.redraw_outdated(user_id, words)
        return stored is not None

    async def record(self, card: Card, channel_id: int | None, message_id: int, words: Texts) -> None:
        """Store which message shows a card, and refresh others. Call it before the turn's entry is deleted.
        `channel_id`: None if the message is ephemeral."""
        visibility: Visibility = "private" if card.private else "public"
        stored = ReceiptMessage(card.user_id, channel_id, message_id, visibility, card.changes)
        with log_errors("receipts"):
            await self._stores.receipts.put(stored)
        self.redraw_outdated(card.user_id, words)

    async def record_shown(self, card: Card, reply: DiscordReply, words: Texts) -> None:
        if card.changes and reply.card_id is not None:
            await self.record(card, reply.outlet.location_id, reply.card_id, words)

    def redraw_outdated(self, user_id: int, words: Texts) -> None:
        self._tasks.start(self._redraw_all(user_id, words))

    @asynccontextmanager
    async def erasing(self, user_id: int, words: Texts) -> AsyncIterator[None]:
        """Edit the user's newest messages after the block erases their data."""
        messages = await self._stores.receipts.list_newest(user_id, limit=MAX_EDITED_AFTER_ERASURE)
        yield
        self._tasks.start(self._redraw_all(user_id, words, messages))

    async def catch_up(self, recipients: Recipients) -> None:
        """Edit what an earlier process left outdated."""
        for user_id in await self._stores.receipts.list_stale_users():
            self.redraw_outdated(user_id, (await recipients.for_user(user_id)).words)

    async def wait_idle(self) -> None:
        await asyncio.gather(*self._tasks, return_exceptions=True)

    async def _load(self, message: hikari.Message, card: Card, stored: ReceiptMessage | None) -> Card:
        """Complete a message's card from the database; its buttons name the proposals."""
        controls = [parse_custom_id(button.custom_id) for button in buttons_of(message)]
        named = [each for each in controls if isinstance(each, ProposalButton | SeeProposalsButton)]
        proposals = [
            each
            for answer_id in {control.answer_id for control in named}
            for each in await self._stores.proposals.list_for_answer(card.user_id, answer_id)
        ]
        shown_ids = {control.proposal_id for control in named if isinstance(control, ProposalButton)}
        shown = tuple(each for each in proposals if not shown_ids or each.id in shown_ids)
        card = replace(card, proposals=shown, notes=notes_of(message))
        if stored:
            changes = await with_current_state(stored.changes, card.user_id, self._stores)
            card = replace(card, changes=changes, private=stored.visibility == "private")
        return card

    async def _redraw_all(
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
            await self._rate_limiter.wait()  # `_edit` made two requests; waits without its lock
        except hikari.ClientHTTPResponseError as error:
            _log.info("receipt_not_reached", error=type(error).__name__)
        except hikari.HikariError as error:
            _log.info("receipt_waits", error=type(error).__name__)
            return  # tried again at the next refresh or start
        await self._stores.receipts.mark_current(stored)

    async def _edit(self, stored: ReceiptMessage, words: Texts) -> None:
        # Ephemeral messages, which have no channel, are not listed.
        ids = (stored.channel_id or 0, stored.message_id)

        async def show(page: Page) -> None:
            await self._rest.edit_message(*ids, **edit_arguments(None, page))

        async with self.message_locks.hold(stored.message_id):
            message = await self._rest.fetch_message(*ids)
            await self.redraw(message, Card(stored.user_id), words, show, stored=stored)
