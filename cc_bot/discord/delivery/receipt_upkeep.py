"""Messages that tell what was done to memories and reminders, kept true: whatever changes one of those has
the messages that name it shown anew."""

import asyncio
from collections import defaultdict
from collections.abc import Collection, Coroutine, Sequence
from typing import Final

import hikari
import structlog

from cc_bot.discord.delivery.interaction_outlet import reply_in_place
from cc_bot.discord.delivery.reply import Reply, changes_to
from cc_bot.discord.delivery.undone import brought_up_to_date, still_known, told_lines, without_undone
from cc_bot.discord.in_order import InOrder, Pace
from cc_bot.discord.interactions import is_ephemeral
from cc_bot.discord.localization import Readers
from cc_bot.discord.pages.answer import page_of
from cc_bot.discord.pages.page import Page
from cc_bot.domain.errors import StorageError
from cc_bot.domain.memory import ToldIn, ToldLine
from cc_bot.domain.message import Visibility
from cc_bot.stores import Stores
from cc_bot.texts import Texts

_log = structlog.get_logger(__name__)

MOST: Final = 25
"""Messages that are shown anew when all of a user's is erased, the newest: nothing is on record any more that
a later run could go on with."""


class ReceiptUpkeep:
    """What is shown anew is shown in the background, for each user one change after the other: nobody waits
    for messages that they do not look at."""

    def __init__(self, rest: hikari.api.RESTClient, stores: Stores, pace: Pace) -> None:
        self._rest = rest
        self._pace = pace
        self._stores = stores
        self._order = InOrder()
        self._tasks: set[asyncio.Task[None]] = set()

    async def as_it_is(self, page: Page, words: Texts) -> Page:
        """A message that is about to be shown, as far as it holds by now: it may be made from what was stored
        before something was taken back."""
        return await brought_up_to_date(page, self._stores, words) if page.receipts else page

    async def carried(self, message: hikari.Message, user_id: int, words: Texts) -> Page:
        """A shown message as the answer begins that takes its place."""
        told = await self._stores.receipts.of_message(user_id, int(message.id))
        return await without_undone(page_of(message, words.locale), self._stores, words, told)

    async def pressed(self, interaction: hikari.ComponentInteraction, user_id: int, words: Texts) -> None:
        """The message of an accepted press, and others that name the same, once that may be taken back."""
        message = await interaction.fetch_initial_response()
        page, message_id = page_of(message, words.locale), int(message.id)
        told = await self._stores.receipts.of_message(user_id, message_id)
        now = await brought_up_to_date(page, self._stores, words, told)
        await reply_in_place(interaction, page, ephemeral=is_ephemeral(interaction.message)).show((now,))
        if told:
            await self._stores.receipts.settle(told)
        self.refresh(user_id, words)

    def shown(
        self,
        reply: Reply,
        user_id: int,
        visibility: Visibility,
        words: Texts,
        known: Sequence[ToldLine] = (),
    ) -> None:
        """Put on record what the last message of a reply tells now, and have others say so. `known`: lines of
        which nothing can be taken back."""
        page = reply.last_page
        if page is not None and (page.facts.receipts or told_lines(page)):
            self._begin(user_id, self._note(reply, page, user_id, visibility, words=words, known=known))

    def refresh(self, user_id: int, words: Texts) -> None:
        """Have the messages that tell of what was changed say what has become of it."""
        self._begin(user_id, self._refresh(user_id, words))

    async def newest(self, user_id: int) -> Sequence[ToldIn]:
        """The messages of a user that are shown anew when all is erased. Raises StorageError."""
        return await self._stores.receipts.newest(user_id, most=MOST)

    def refresh_these(self, messages: Sequence[ToldIn], words: Texts) -> None:
        """All of one user."""
        if messages:
            self._begin(messages[0].user_id, self._show_anew(messages, words))

    async def catch_up(self, readers: Readers) -> None:
        """Show anew what the last run of the program was ended before showing. Raises StorageError."""
        of_user = defaultdict[int, list[ToldIn]](list)
        for told in await self._stores.receipts.all_stale():
            of_user[told.user_id].append(told)
        for user_id, messages in of_user.items():
            reader = await readers.of_author(user_id)
            self._begin(user_id, self._show_anew(messages, reader.words))

    async def settled(self) -> None:
        """Wait until all that was begun is shown."""
        await asyncio.gather(*self._tasks, return_exceptions=True)

    def _begin(self, user_id: int, work: Coroutine[None, None, None]) -> None:
        task = asyncio.create_task(self._in_turn(user_id, work))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def _in_turn(self, user_id: int, work: Coroutine[None, None, None]) -> None:
        try:
            async with self._order.after(user_id):
                await work
        except (StorageError, hikari.HikariError) as error:
            _log.warning("receipts_not_kept_up", error=type(error).__name__)
        except Exception:  # noqa: BLE001 - it is on record, and nobody waits for it
            _log.error("receipts_not_kept_up", exc_info=True)
        finally:
            work.close()

    async def _note(
        self,
        reply: Reply,
        page: Page,
        user_id: int,
        visibility: Visibility,
        *,
        words: Texts,
        known: Sequence[ToldLine],
    ) -> None:
        place = await reply.last_place()
        if place is not None:
            before = None if known else await self._stores.receipts.of_message(user_id, place[1])
            lines = (*told_lines(page), *(known or still_known(page, before)))
            await self._stores.receipts.note(ToldIn(user_id, *place, visibility, lines))
        await self._refresh(user_id, words)

    async def _refresh(self, user_id: int, words: Texts) -> None:
        await self._show_anew(await self._stores.receipts.stale(user_id), words)

    async def _show_anew(self, messages: Collection[ToldIn], words: Texts) -> None:
        """What can't be reached stays as it is."""
        for told in messages:
            try:
                await self._pace.wait()
                page = page_of(await self._rest.fetch_message(told.channel_id, told.message_id), words.locale)
                now = await brought_up_to_date(page, self._stores, words, told)
                if now != page:
                    await self._pace.wait()
                    await self._rest.edit_message(told.channel_id, told.message_id, **changes_to(page, now))
            except hikari.ClientHTTPResponseError as error:
                _log.info("receipt_not_reached", error=type(error).__name__)
            except hikari.HikariError as error:
                _log.info("receipt_waits", error=type(error).__name__)
                continue  # until the next start
            await self._stores.receipts.settle(told)
