"""Answering a message with messages: in a channel, a thread or a DM, with the bot's own token.

A post carries a nonce, for which Discord makes one message only, so it may be repeated. The nonce is made of
the question's id: a program that was killed before it noted the answer's id finds the same message again.
Discord remembers a nonce for some minutes. The further messages of a long answer are put on record as they
come and go, so that the next run of the program knows them too.
"""

import contextlib
import secrets
from collections.abc import Awaitable, Sequence
from dataclasses import dataclass
from typing import Any, Final

import hikari
import structlog

from cc_bot.discord.delivery.reply import (
    RETRY_PAUSES_S,
    KnownIds,
    Reply,
    Sent,
    changes_to,
    new_message,
    repeated,
)
from cc_bot.discord.delivery.taken_down import TakenDown
from cc_bot.discord.pages.page import Page
from cc_bot.domain.errors import StorageError
from cc_bot.stores import ChannelStore

_log = structlog.get_logger(__name__)

REPLY_REFUSED: Final = frozenset({160002, 50013})
"""Discord's error codes where a bot may write and not read the past: a reply refers to it, another message
does not. 50013 may also mean that it may not write: the second try tells."""


@dataclass(frozen=True, slots=True)
class MessageReplies:
    """Makes replies to messages."""

    rest: hikari.api.RESTClient
    taken_down: TakenDown
    channels: ChannelStore

    def to(
        self, channel_id: int, question_id: int, sent: Sequence[Sent] = (), *, anew: bool = False
    ) -> Reply:
        """An answer to a message; `sent` is what of it is there already. `anew`: the question was answered
        before, and what was posted then must not be found again."""
        nonce = secrets.token_hex(8) if anew else str(question_id)
        return Reply(self._outlet(channel_id, question_id, nonce), sent)

    async def say(self, channel_id: int, question_id: int, sentence: str) -> None:
        """Answer a message with one sentence, beside an answer that it may have. Raises hikari's errors."""
        await Reply(self._outlet(channel_id, question_id, f"{question_id}-s")).show((Page(sentence),))

    def _outlet(self, channel_id: int, question_id: int, nonce: str) -> "MessageOutlet":
        return MessageOutlet(self.rest, self.taken_down, self.channels, channel_id, question_id, nonce)


@dataclass(frozen=True, slots=True)
class MessageOutlet:
    rest: hikari.api.RESTClient
    taken_down: TakenDown
    channels: ChannelStore
    channel_id: int
    question_id: int
    nonce: str
    """Of the first message; the others have numbers after it. At most 25 characters in all, says Discord."""

    async def post(self, page: Page, number: int, known: KnownIds) -> hikari.Snowflake:  # noqa: ARG002 - Outlet
        nonce = f"{self.nonce}-{number + 1}" if number else self.nonce
        try:
            message = await self._create(page, nonce, hikari.UNDEFINED if number else self.question_id)
        except (hikari.BadRequestError, hikari.ForbiddenError) as error:
            if number or error.code not in REPLY_REFUSED:
                raise
            message = await self._create(page, nonce)
        if (message.content or "").strip() != page.content.strip():  # posted by an earlier run of the program
            await repeated(lambda: self.edit(message.id, changes_to(None, page)), RETRY_PAUSES_S)
        return message.id

    async def posted(self, message_id: hikari.Snowflake, first_id: hikari.Snowflake | None) -> None:
        await _if_possible(self.channels.add_pages(_real(first_id), [int(message_id)]))

    async def _create(
        self, page: Page, nonce: str, reply: hikari.UndefinedOr[int] = hikari.UNDEFINED
    ) -> hikari.Message:
        return await repeated(
            lambda: self.rest.create_message(
                self.channel_id,
                **new_message(page),
                nonce=nonce,
                reply=reply,
                reply_must_exist=False,
                mentions_reply=False,
            ),
            RETRY_PAUSES_S,
        )

    async def edit(self, message_id: hikari.Snowflake | None, changes: dict[str, Any]) -> None:
        await self.rest.edit_message(self.channel_id, _real(message_id), **changes)

    async def delete(self, message_id: hikari.Snowflake | None) -> None:
        self.taken_down.expect(_real(message_id))
        with contextlib.suppress(hikari.NotFoundError):  # somebody else was faster
            await self.rest.delete_message(self.channel_id, _real(message_id))
        await _if_possible(self.channels.drop_pages([int(_real(message_id))]))

    async def first_id(self) -> hikari.Snowflake:
        return _real(None)

    async def whisper(self, sentence: str) -> bool:  # noqa: ARG002 - there is no way to, and that is the answer
        return False


async def _if_possible(noting: Awaitable[None]) -> None:
    """The answer goes on while the database does not; its pages are noted once more at its end."""
    try:
        await noting
    except StorageError as error:
        _log.warning("pages_not_noted", error=type(error).__name__)


def _real(message_id: hikari.Snowflake | None) -> hikari.Snowflake:
    if message_id is None:
        raise ValueError("only interactions have a first response")
    return message_id
