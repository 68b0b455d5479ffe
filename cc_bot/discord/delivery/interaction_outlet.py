"""Answering an interaction: its first response, and follow-ups. They go through its token, which works
for a quarter of an hour, and also where the bot itself may not write.

Discord takes no nonce for a follow-up. So when a post failed with a server error, the message is looked for
before it is posted again, and where that is impossible nothing is.
"""

import asyncio
from typing import Any

import hikari

from cc_bot.discord.delivery.reply import (
    NO_PINGS,
    RETRY_PAUSES_S,
    KnownIds,
    PostUncertain,
    Reply,
    Sent,
    new_message,
)
from cc_bot.discord.interactions import Answerable, is_fault
from cc_bot.discord.pages.page import Page

_POST_TRIES = 3


def reply_to_deferred(interaction: Answerable, *, ephemeral: bool) -> Reply:
    """After `defer`: the waiting response becomes the first message."""
    return Reply(InteractionOutlet(interaction, ephemeral=ephemeral), (Sent(None),))


def reply_in_place(interaction: hikari.ComponentInteraction, page: Page, *, ephemeral: bool) -> Reply:
    """After `defer_update`: the message of the pressed button, which looks like `page`, is rewritten."""
    return Reply(InteractionOutlet(interaction, ephemeral=ephemeral), (Sent(None, page),))


def reply_following(interaction: Answerable, *, ephemeral: bool) -> Reply:
    """Below an acknowledged interaction: every message is a new one."""
    return Reply(InteractionOutlet(interaction, ephemeral=ephemeral))


class InteractionOutlet:
    def __init__(self, interaction: Answerable, *, ephemeral: bool) -> None:
        self._interaction = interaction
        self._ephemeral = ephemeral

    async def post(self, page: Page, number: int, known: KnownIds) -> hikari.Snowflake:  # noqa: ARG002 - Outlet
        flags = hikari.MessageFlag.EPHEMERAL if self._ephemeral else hikari.UNDEFINED
        for _ in range(_POST_TRIES):
            try:
                return (await self._interaction.execute(**new_message(page), flags=flags)).id
            except hikari.HTTPError as error:
                if not is_fault(error):
                    raise
                await asyncio.sleep(RETRY_PAUSES_S[0])
                posted = await self._look_for(page, known, error)
                if posted is not None:
                    return posted
        raise PostUncertain

    async def posted(self, message_id: hikari.Snowflake, first_id: hikari.Snowflake | None) -> None:
        """Its pages are noted once it is complete."""

    async def edit(self, message_id: hikari.Snowflake | None, changes: dict[str, Any]) -> None:
        if message_id is None:
            await self._interaction.edit_initial_response(**changes)
        else:
            await self._interaction.edit_message(message_id, **changes)

    async def delete(self, message_id: hikari.Snowflake | None) -> None:
        if message_id is None:
            await self._interaction.delete_initial_response()
        else:
            await self._interaction.delete_message(message_id)

    async def first_id(self) -> hikari.Snowflake:
        return (await self._interaction.fetch_initial_response()).id

    async def whisper(self, sentence: str) -> bool:
        await self._interaction.execute(sentence, flags=hikari.MessageFlag.EPHEMERAL, **NO_PINGS)
        return True

    async def _look_for(self, page: Page, known: KnownIds, error: Exception) -> hikari.Snowflake | None:
        """The message if it was posted, None if it was not. Raises PostUncertain when nobody can tell."""
        if self._ephemeral:
            raise PostUncertain from error
        ids = await known()
        try:
            newest = await self._interaction.app.rest.fetch_messages(
                self._interaction.channel_id, after=ids[-1] if ids else self._interaction.id
            ).limit(50)
        except hikari.HTTPError as unseen:
            raise PostUncertain from unseen
        for message in newest:
            if message.application_id == self._interaction.application_id and message.content == page.content:
                return message.id
        return None
