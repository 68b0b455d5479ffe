"""Sends replies by an interaction's token, or as ordinary messages of the bot.

Tokens work for 15 minutes, even where the bot may not write. After a server error the channel is searched for
the message before it is posted again. Ordinary messages carry a nonce: for some minutes Discord creates one
message per nonce, so posts may be repeated, even by the next process.
"""

import asyncio
import contextlib
from collections.abc import Awaitable, Callable, Collection, Sequence
from dataclasses import KW_ONLY, dataclass, field, replace
from functools import partial
from typing import Any, Final

import hikari

from cc_bot.chat.stores.channels import ChannelStore
from cc_bot.discord.delivery.reply import (
    ARCHIVED_THREAD,
    DiscordReply,
    ExpectedDeletions,
    FetchPostedIds,
    NotPosted,
    Outlet,
    SentMessage,
    open_dm,
)
from cc_bot.discord.gateway import rate_limit_usage
from cc_bot.discord.interactions import (
    RETRY_PAUSES_S,
    Answerable,
    is_ephemeral,
    is_server_or_network_error,
    retry,
)
from cc_bot.discord.pages.answer import AnswerState, with_effects
from cc_bot.discord.pages.cards import Card
from cc_bot.discord.pages.page import NO_PINGS, Page, edit_arguments, looks_like, post_arguments
from cc_bot.discord.recipients import Recipient
from cc_bot.domain.errors import StorageError
from cc_bot.log import log_failure
from cc_bot.texts.answer import MentionTexts

_MAX_POST_ATTEMPTS: Final = 3

OnPosted = Callable[[int], Awaitable[None]]  # records a posted message's id; does not raise


async def noop(_: int) -> None: ...


def reply_by_token(
    interaction: Answerable,
    *sent: SentMessage,
    ephemeral: bool,
    on_posted: OnPosted = noop,
    expected_deletions: ExpectedDeletions | None = None,
) -> DiscordReply:
    """`sent`: `SentMessage(None)` if the interaction's response is its first message."""
    return DiscordReply(
        InteractionOutlet(
            interaction.app.rest,
            int(interaction.application_id),
            interaction.token,
            int(interaction.channel_id),
            int(interaction.id),
            ephemeral=ephemeral,
            on_posted=on_posted,
            expected_deletions=expected_deletions,
        ),
        sent,
    )


def reply_in_place(interaction: hikari.ComponentInteraction, page: Page | None = None) -> DiscordReply:
    """Return a reply that edits the button's message, which shows `page`, if known. Needs `defer_update`."""
    ephemeral = is_ephemeral(interaction.message)
    return reply_by_token(interaction, SentMessage(None, page), ephemeral=ephemeral)


EDIT_INTERVAL_S: Final = 1.2
_INTERACTION_EDIT_PAUSES_S: Final = (0.6, EDIT_INTERVAL_S, 1.6)
"""By the number of edits that showed text. A token allows five edits in two seconds."""


@dataclass(eq=False)
class InteractionOutlet(Outlet):
    rest: hikari.api.RESTClient
    application_id: int
    token: str
    channel_id: int
    interaction_id: int
    _: KW_ONLY
    ephemeral: bool
    on_posted: OnPosted = noop
    expected_deletions: ExpectedDeletions | None = None  # needed where others see the messages

    def __post_init__(self) -> None:
        self._webhook = (self.application_id, self.token)
        self.location_id = None if self.ephemeral else self.channel_id

    async def post(
        self,
        page: Page,
        number: int,  # noqa: ARG002 - needed by MessageOutlet
        fetch_posted_ids: FetchPostedIds,
        *,
        as_reply: bool,  # noqa: ARG002 - needed by MessageOutlet
    ) -> hikari.Snowflake:
        for _ in range(_MAX_POST_ATTEMPTS):
            try:
                message_id = await self._post(page)
            except hikari.HTTPError as error:
                if not is_server_or_network_error(error):
                    raise
                await asyncio.sleep(RETRY_PAUSES_S[0])
                existing_id = await self._find_posted(page, fetch_posted_ids, error)
                if existing_id is None:
                    continue
                message_id = existing_id
            await self.on_posted(int(message_id))
            return message_id
        raise NotPosted

    async def _post(self, page: Page) -> hikari.Snowflake:
        arguments = post_arguments(page, ephemeral=self.ephemeral)
        return (await self.rest.execute_webhook(*self._webhook, **arguments)).id

    async def edit(self, message_id: hikari.Snowflake | None, changes: dict[str, Any]) -> None:
        if message_id is None:
            edit = partial(self.rest.edit_interaction_response, *self._webhook, **changes)
        else:
            edit = partial(self.rest.edit_webhook_message, *self._webhook, message_id, **changes)
        await _edit_unarchived(self.rest, self.channel_id, edit)

    async def delete(self, message_id: hikari.Snowflake | None) -> None:
        with contextlib.suppress(hikari.NotFoundError):
            if self.expected_deletions:
                self.expected_deletions.expect(message_id or await self.first_id())
            if message_id is None:
                await self.rest.delete_interaction_response(*self._webhook)
            else:
                await self.rest.delete_webhook_message(*self._webhook, message_id)

    async def first_id(self) -> hikari.Snowflake:
        return (await self.rest.fetch_interaction_response(*self._webhook)).id

    async def send_ephemeral(self, sentence: str) -> bool:
        await self.rest.execute_webhook(
            *self._webhook, sentence, flags=hikari.MessageFlag.EPHEMERAL, **NO_PINGS
        )
        return True

    def pause_s(self, text_edits: int) -> float:
        return _INTERACTION_EDIT_PAUSES_S[min(text_edits, len(_INTERACTION_EDIT_PAUSES_S) - 1)]

    async def _find_posted(
        self, page: Page, fetch_posted_ids: FetchPostedIds, error: Exception
    ) -> hikari.Snowflake | None:
        """Return the message's id, or None if it does not exist. Raises NotPosted if that is unknown."""
        if self.ephemeral and page.boxes:
            return None  # a card is better shown twice than not at all
        if self.ephemeral:  # can't be fetched
            raise NotPosted from error
        after_id = [self.interaction_id, *await fetch_posted_ids()][-1]
        try:
            newest = await self.rest.fetch_messages(self.channel_id, after=after_id).limit(50)
        except hikari.HTTPError as fetch_error:
            raise NotPosted from fetch_error
        own_messages = (message for message in newest if message.application_id == self.application_id)
        return min((message.id for message in own_messages if looks_like(message, page)), default=None)


UNREACHABLE_EMOJI: Final = "🔇"  # the reaction to a question whose answer Discord refuses
_NONCE_SUFFIXES: Final = "bcdefghijklm"
"""Appended in turn while Discord returns a deleted message for the nonce."""

BUSY_USAGE: Final = 0.7  # of the bot's rate limit
BUSY_INTERVAL_S: Final = 9.0  # between edits above BUSY_USAGE


@dataclass(eq=False, slots=True)
class MessageReplies:
    rest: hikari.api.RESTClient
    expected_deletions: ExpectedDeletions
    channels: ChannelStore

    def make_reply(
        self,
        channel_id: int,
        question_id: int | None,
        sent: Sequence[SentMessage] = (),
        *,
        nonce: str = "",
        dm_fallback: "DmFallback | None" = None,
        on_posted: OnPosted = noop,
    ) -> DiscordReply:
        """Return a reply to a question, if any. `sent`: an earlier process's messages, which it continues.
        `nonce`: the question's id by default."""
        nonce = nonce or str(question_id)
        continues = bool(sent)
        outlet = MessageOutlet(self, channel_id, question_id, nonce, on_posted, dm_fallback, continues)
        return DiscordReply(outlet, sent, may_have_more=continues)

    async def post_sentence(
        self, channel_id: int, question_id: int, sentence: str, dm_fallback: "DmFallback | None" = None
    ) -> None:
        reply = self.make_reply(channel_id, question_id, nonce=f"{question_id}-s", dm_fallback=dm_fallback)
        await reply.show((Page(sentence),))

    async def send_by_dm(self, user_id: int, pages: Sequence[Page], nonce: str) -> None:
        await self.make_reply(await open_dm(self.rest, user_id), None, nonce=nonce).show(pages)

    async def report_effects(self, question_id: int, recipient: Recipient, state: AnswerState) -> None:
        """Tell the user by DM what a withdrawn answer's tools changed, if anything."""
        words = recipient.words
        page_without_effects = Page(words[MentionTexts].message_deleted)
        page = with_effects(page_without_effects, state, words)
        cards = Card(recipient.user_id, private=True, changes=state.receipts).pages(words)
        if page == page_without_effects and not cards:
            return
        with log_failure("user_not_told", hikari.HikariError, level="info"):
            await self.send_by_dm(recipient.user_id, (page, *cards), f"{question_id}-w")

    async def delete_all(self, channel_id: int, message_ids: Collection[int]) -> None:
        await _try_to_record(self.channels.drop_pages(channel_id, message_ids))
        for message_id in message_ids:
            self.expected_deletions.expect(message_id)
            with contextlib.suppress(hikari.ForbiddenError, hikari.NotFoundError):
                await self.rest.delete_message(channel_id, message_id)

    async def mark_unreachable(self, channel_id: int, question_id: int) -> None:
        with contextlib.suppress(hikari.HikariError):
            await self.rest.add_reaction(channel_id, question_id, UNREACHABLE_EMOJI)


@dataclass(frozen=True, slots=True)
class DmFallback:
    user_id: int
    note: str  # shown below the answer
    on_move: Callable[[int], Awaitable[None]] = noop  # called with the DM's id before the first post
    on_posted: OnPosted = noop


@dataclass(eq=False)
class MessageOutlet(Outlet):
    replies: MessageReplies
    location_id: int
    question_id: int | None
    nonce: str  # at most 25 characters; further messages append their number, and cards a letter
    on_posted: OnPosted = noop
    dm_fallback: DmFallback | None = None
    continues: bool = False  # an earlier process may have posted more
    note: str = ""
    _used_nonces: set[str] = field(default_factory=set, init=False)

    async def dm_outlet(self) -> "MessageOutlet | None":
        if self.dm_fallback is None:
            return None
        dm_id = await open_dm(self.replies.rest, self.dm_fallback.user_id)
        if dm_id == self.location_id:
            return None
        await self.dm_fallback.on_move(dm_id)
        return replace(
            self,
            location_id=dm_id,
            question_id=None,
            nonce=f"{self.nonce}d",
            on_posted=self.dm_fallback.on_posted,
            dm_fallback=None,
            note=self.dm_fallback.note,
        )

    async def post(
        self, page: Page, number: int, fetch_posted_ids: FetchPostedIds, *, as_reply: bool
    ) -> hikari.Snowflake:
        # Record an earlier attempt's message before editing it: Discord soon forgets its nonce.
        nonce = f"{self.nonce}-{'a' if page.boxes else number + 1}" if number else self.nonce
        may_exist = self.continues or nonce in self._used_nonces
        question_id = self.question_id if as_reply and self.question_id else hikari.UNDEFINED
        for suffix in ("", *_NONCE_SUFFIXES):
            message = await self._create(page, nonce + suffix, question_id)
            is_new = not may_exist and looks_like(message, page)
            if is_new or await self._is_not_deleted(message.id, page):
                break
        self._used_nonces.add(nonce)
        if number and not is_new:
            await self.record_message(message.id, hikari.Snowflake((await fetch_posted_ids())[0]))
        await self.on_posted(int(message.id))
        if not is_new:
            await self._overwrite(message.id, page)
        return message.id

    async def record_message(self, message_id: hikari.Snowflake, first_id: hikari.Snowflake | None) -> None:
        await _try_to_record(
            self.replies.channels.add_pages(self.location_id, _require_id(first_id), [int(message_id)])
        )

    async def _is_not_deleted(self, message_id: hikari.Snowflake, page: Page) -> bool:
        try:
            await retry(lambda: self.replies.rest.fetch_message(self.location_id, message_id))
        except hikari.NotFoundError:
            return False
        except hikari.ForbiddenError:
            try:
                await self._overwrite(message_id, page)
            except hikari.NotFoundError:
                return False
        return True

    async def _overwrite(self, message_id: hikari.Snowflake, page: Page) -> None:
        await retry(lambda: self.edit(message_id, edit_arguments(None, page)))

    async def _create(self, page: Page, nonce: str, reply_to: hikari.UndefinedOr[int]) -> hikari.Message:
        return await retry(
            lambda: self.replies.rest.create_message(
                self.location_id,
                **post_arguments(page),
                nonce=nonce,
                reply=reply_to,
                reply_must_exist=False,
                mentions_reply=False,
            )
        )

    async def edit(self, message_id: hikari.Snowflake | None, changes: dict[str, Any]) -> None:
        edit = partial(self.replies.rest.edit_message, self.location_id, _require_id(message_id), **changes)
        await _edit_unarchived(self.replies.rest, self.location_id, edit)

    async def delete(self, message_id: hikari.Snowflake | None) -> None:
        message_id = _require_id(message_id)
        self.replies.expected_deletions.expect(message_id)
        with contextlib.suppress(hikari.NotFoundError):
            await self.replies.rest.delete_message(self.location_id, message_id)
        await _try_to_record(self.replies.channels.drop_pages(self.location_id, [int(message_id)]))

    def pause_s(self, text_edits: int) -> float:
        is_busy = text_edits > 0 and rate_limit_usage(self.replies.rest) > BUSY_USAGE
        return BUSY_INTERVAL_S if is_busy else EDIT_INTERVAL_S


async def _edit_unarchived(
    rest: hikari.api.RESTClient, channel_id: int, edit: Callable[[], Awaitable[object]]
) -> None:
    try:
        await edit()
    except hikari.ClientHTTPResponseError as error:
        if error.code != ARCHIVED_THREAD:
            raise
        await rest.edit_channel(channel_id, archived=False)
        await edit()


async def _try_to_record(write: Awaitable[None]) -> None:
    """Only log a database error: the messages are recorded again at the end."""
    with log_failure("pages_not_noted", StorageError):
        await write


def _require_id(message_id: hikari.Snowflake | None) -> hikari.Snowflake:
    if message_id is None:
        raise ValueError("only interactions have a first response")
    return message_id
