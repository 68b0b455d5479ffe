"""Replies to interactions and messages.

An interaction's token works for 15 minutes, also where the bot may not write. Its follow-ups have no nonce:
after a server error they are searched for, and repeated only if certainly missing. For some minutes Discord
creates only one message per nonce, so the bot's own posts may be repeated, also by the next process.
"""

import asyncio
import contextlib
from collections.abc import Awaitable, Callable, Iterable, Sequence
from dataclasses import KW_ONLY, dataclass, replace
from functools import partial
from typing import Any, Final

import hikari
import structlog

from cc_bot.chat.stores.channels import ChannelStore
from cc_bot.discord.delivery.reply import (
    ARCHIVED_THREAD,
    ExpectedDeletions,
    FetchPostedIds,
    Outlet,
    Poster,
    PostUncertain,
    Sent,
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
from cc_bot.discord.pages.page import NO_PINGS, Page, edit_arguments, looks_like, post_arguments
from cc_bot.discord.recipients import Recipient
from cc_bot.domain.errors import StorageError
from cc_bot.texts.answer import MentionTexts

_log = structlog.get_logger(__name__)


_POST_TRIES = 3

OnPosted = Callable[[int], Awaitable[None]]  # Records that a message was posted. Does not raise.


async def noop(_: int) -> None:
    """Record nothing; recovery need not find the message."""


def reply_by_token(
    interaction: Answerable, *sent: Sent, ephemeral: bool, on_posted: OnPosted = noop
) -> Poster:
    """Reply by token. `sent`: `Sent(None)` if a deferred response becomes the first message."""
    return Poster(
        InteractionOutlet(
            interaction.app.rest,
            int(interaction.application_id),
            interaction.token,
            int(interaction.channel_id),
            int(interaction.id),
            ephemeral=ephemeral,
            on_posted=on_posted,
        ),
        sent,
    )


def reply_in_place(interaction: hikari.ComponentInteraction, page: Page) -> Poster:
    """Reply after `defer_update` by editing the button's message, which shows `page`."""
    ephemeral = is_ephemeral(interaction.message)
    return reply_by_token(interaction, Sent(None, page), ephemeral=ephemeral)


EDIT_INTERVAL_S: Final = 1.2
_INTERACTION_EDIT_PAUSES_S: Final = (0.6, EDIT_INTERVAL_S, 1.6)
"""By the number of edits that showed text; the last repeats. A webhook allows five edits in two seconds."""


@dataclass(eq=False)
class InteractionOutlet(Outlet):
    """Sends an answer with the token of an interaction."""

    rest: hikari.api.RESTClient
    application_id: int
    token: str
    channel_id: int
    since_id: int  # older than the answer
    _: KW_ONLY
    ephemeral: bool
    on_posted: OnPosted = noop

    def __post_init__(self) -> None:
        self._webhook = (self.application_id, self.token)
        self.location_id = None if self.ephemeral else self.channel_id

    async def post(
        self,
        page: Page,
        number: int,  # noqa: ARG002 - Outlet
        fetch_posted_ids: FetchPostedIds,
        *,
        may_exist: bool,  # noqa: ARG002 - Outlet
        as_reply: bool,  # noqa: ARG002 - Outlet
    ) -> hikari.Snowflake:
        for _ in range(_POST_TRIES):
            try:
                posted = await self.post_extra(page)
            except hikari.HTTPError as error:
                if not is_server_or_network_error(error):
                    raise
                await asyncio.sleep(RETRY_PAUSES_S[0])
                if (found := await self._find_posted(page, fetch_posted_ids, error)) is None:
                    continue
                posted = found
            await self.on_posted(int(posted))
            return posted
        raise PostUncertain

    async def post_extra(self, page: Page) -> hikari.Snowflake:
        flags = hikari.MessageFlag.EPHEMERAL if self.ephemeral else hikari.UNDEFINED
        return (await self.rest.execute_webhook(*self._webhook, **post_arguments(page), flags=flags)).id

    async def edit(self, message_id: hikari.Snowflake | None, changes: dict[str, Any]) -> None:
        if message_id is None:
            edit = partial(self.rest.edit_interaction_response, *self._webhook, **changes)
        else:
            edit = partial(self.rest.edit_webhook_message, *self._webhook, message_id, **changes)
        await _edit_unarchived(self.rest, self.channel_id, edit)

    async def delete(self, message_id: hikari.Snowflake | None) -> None:
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

    def pause_s(self, changes: int) -> float:
        return _INTERACTION_EDIT_PAUSES_S[min(changes, len(_INTERACTION_EDIT_PAUSES_S) - 1)]

    async def _find_posted(
        self, page: Page, fetch_posted_ids: FetchPostedIds, error: Exception
    ) -> hikari.Snowflake | None:
        """Return the id if the message exists. Raises PostUncertain if that is unknown."""
        if self.ephemeral:
            raise PostUncertain from error
        after = [self.since_id, *await fetch_posted_ids()][-1]
        try:
            newest = await self.rest.fetch_messages(self.channel_id, after=after).limit(50)
        except hikari.HTTPError as fetch_error:
            raise PostUncertain from fetch_error
        own_messages = (message for message in newest if message.application_id == self._webhook[0])
        return min((message.id for message in own_messages if looks_like(message, page)), default=None)


UNREACHABLE: Final = "🔇"  # the reaction to a question whose answer Discord refuses
_NONCE_SUFFIXES: Final = "bcdefghijklm"  # tried while Discord returns a deleted message


BUSY_USAGE: Final = 0.7
BUSY_INTERVAL_S: Final = 9.0  # between edits above BUSY_USAGE of the bot's rate limit


@dataclass(eq=False, slots=True)
class MessageReplies:
    """Sends messages of the bot: answers, single sentences and reactions."""

    rest: hikari.api.RESTClient
    expected_deletions: ExpectedDeletions
    channels: ChannelStore

    def make_reply(
        self,
        channel_id: int,
        question_id: int | None,
        sent: Sequence[Sent] = (),
        *,
        nonce: str = "",
        dm_fallback: "DmFallback | None" = None,
        on_posted: OnPosted = noop,
    ) -> Poster:
        """Reply, continuing in `sent` if any. `nonce`: the question's id by default."""
        nonce = nonce or str(question_id)
        outlet = MessageOutlet(self, channel_id, question_id, nonce, on_posted, dm_fallback)
        return Poster(outlet, sent, is_continued=bool(sent))

    async def post_sentence(
        self, channel_id: int, question_id: int, sentence: str, dm_fallback: "DmFallback | None" = None
    ) -> None:
        """Reply to a question with one sentence, only once even if repeated."""
        reply = self.make_reply(channel_id, question_id, nonce=f"{question_id}-s", dm_fallback=dm_fallback)
        await reply.show((Page(sentence),))

    async def send_by_dm(self, user_id: int, page: Page, nonce: str) -> None:
        await self.make_reply(await open_dm(self.rest, user_id), None, nonce=nonce).show((page,))

    async def report_effects(self, question_id: int, recipient: Recipient, state: AnswerState) -> None:
        """Tell the user by DM what a withdrawn answer's tools changed, if anything."""
        sentence, words = Page(recipient.words[MentionTexts].withdrawn), recipient.words
        page = with_effects(sentence, state, words, recipient.user_id, "private")
        if page == sentence:
            return
        try:
            await self.send_by_dm(recipient.user_id, page, f"{question_id}-w")
        except hikari.HikariError as error:
            _log.info("user_not_told", error=type(error).__name__)

    async def delete_all(self, channel_id: int, message_ids: Iterable[int]) -> None:
        """Delete messages of outdated answers, as far as Discord allows."""
        for message_id in message_ids:
            self.expected_deletions.expect(message_id)
            with contextlib.suppress(hikari.ForbiddenError, hikari.NotFoundError):
                await self.rest.delete_message(channel_id, message_id)

    async def mark_unreachable(self, channel_id: int, question_id: int) -> None:
        with contextlib.suppress(hikari.HikariError):
            await self.rest.add_reaction(channel_id, question_id, UNREACHABLE)


@dataclass(frozen=True, slots=True)
class DmFallback:
    """The author's DM, used if a channel refuses the answer."""

    user_id: int
    note: str  # shown below the answer
    on_fallback: Callable[[int], Awaitable[None]] = noop  # called with the DM's id before posting there
    on_posted: OnPosted = noop


@dataclass(eq=False)
class MessageOutlet(Outlet):
    """Sends an answer as messages of the bot."""

    replies: MessageReplies
    location_id: int
    question_id: int | None
    nonce: str  # of the first message; later ones add their number. Discord allows 25 characters
    on_posted: OnPosted = noop
    dm_fallback: DmFallback | None = None
    note: str = ""

    async def dm_outlet(self) -> "MessageOutlet | None":
        if self.dm_fallback is None:
            return None
        dm_id = await open_dm(self.replies.rest, self.dm_fallback.user_id)
        if dm_id == self.location_id:
            return None
        await self.dm_fallback.on_fallback(dm_id)
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
        self, page: Page, number: int, fetch_posted_ids: FetchPostedIds, *, may_exist: bool, as_reply: bool
    ) -> hikari.Snowflake:
        # A message of an earlier attempt is recorded before its edit: Discord may forget the nonce meanwhile.
        nonce = f"{self.nonce}-{number + 1}" if number else self.nonce
        question_id = self.question_id if as_reply and self.question_id else hikari.UNDEFINED
        for suffix in ("", *_NONCE_SUFFIXES):
            message = await self._create(page, nonce + suffix, question_id)
            is_new = not may_exist and looks_like(message, page)
            if is_new or await self._exists(message.id, page):
                break
        if number and not is_new:
            await self.note_posted(message.id, hikari.Snowflake((await fetch_posted_ids())[0]))
        await self.on_posted(int(message.id))
        if not is_new:
            await self._overwrite(message.id, page)
        return message.id

    async def post_extra(self, page: Page) -> hikari.Snowflake:
        return (await self.replies.rest.create_message(self.location_id, **post_arguments(page))).id

    async def note_posted(self, message_id: hikari.Snowflake, first_id: hikari.Snowflake | None) -> None:
        await _try_to_record(
            self.replies.channels.add_pages(self.location_id, _require_id(first_id), [int(message_id)])
        )

    async def _exists(self, message_id: hikari.Snowflake, page: Page) -> bool:
        # Discord also returns deleted messages for used nonces.
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

    async def _create(self, page: Page, nonce: str, reply: hikari.UndefinedOr[int]) -> hikari.Message:
        return await retry(
            lambda: self.replies.rest.create_message(
                self.location_id,
                **post_arguments(page),
                nonce=nonce,
                reply=reply,
                reply_must_exist=False,
                mentions_reply=False,
            )
        )

    async def edit(self, message_id: hikari.Snowflake | None, changes: dict[str, Any]) -> None:
        edit = partial(self.replies.rest.edit_message, self.location_id, _require_id(message_id), **changes)
        await _edit_unarchived(self.replies.rest, self.location_id, edit)

    async def delete(self, message_id: hikari.Snowflake | None) -> None:
        self.replies.expected_deletions.expect(_require_id(message_id))
        with contextlib.suppress(hikari.NotFoundError):
            await self.replies.rest.delete_message(self.location_id, _require_id(message_id))
        await _try_to_record(
            self.replies.channels.drop_pages(self.location_id, [int(_require_id(message_id))])
        )

    def pause_s(self, changes: int) -> float:
        is_busy = changes > 0 and rate_limit_usage(self.replies.rest) > BUSY_USAGE
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
    """Log failures only: the pages are recorded again at the end."""
    try:
        await write
    except StorageError as error:
        _log.warning("pages_not_noted", error=type(error).__name__)


def _require_id(message_id: hikari.Snowflake | None) -> hikari.Snowflake:
    if message_id is None:
        raise ValueError("only interactions have a first response")
    return message_id
