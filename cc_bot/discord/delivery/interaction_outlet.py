"""Answering an interaction: its first response, and follow-ups. They go through its token, which works
for a quarter of an hour, also where the bot itself may not write, and also for the next run of the program.

Discord takes no nonce for a follow-up. So when a post failed with a server error, the message is looked for
before it is posted again, and where that is impossible nothing is.
"""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from typing import Any

import hikari

from cc_bot.discord.delivery.reply import (
    NO_PINGS,
    RETRY_PAUSES_S,
    KnownIds,
    PostUncertain,
    Reply,
    Sent,
    looks_like,
    new_message,
)
from cc_bot.discord.interactions import Answerable, is_fault
from cc_bot.discord.pages.page import Page

_POST_TRIES = 3

Noting = Callable[[int], Awaitable[None]]
"""Puts on record that a message was posted. Does not raise."""


async def nowhere(_: int) -> None:
    """For answers that no later run of the program has to find."""


@dataclass(frozen=True, slots=True)
class Hook:
    """What the token of an interaction gives access to."""

    rest: hikari.api.RESTClient
    application_id: int
    token: str
    channel_id: int
    since_id: int
    """Nothing of the answer is older: the interaction's id, or any of that time."""

    @classmethod
    def of(cls, interaction: Answerable) -> "Hook":
        return cls(
            interaction.app.rest,
            int(interaction.application_id),
            interaction.token,
            int(interaction.channel_id),
            int(interaction.id),
        )


def reply_to_deferred(interaction: Answerable, *, ephemeral: bool, noting: Noting = nowhere) -> Reply:
    """After `defer`: the waiting response becomes the first message."""
    return Reply(InteractionOutlet(Hook.of(interaction), ephemeral=ephemeral, noting=noting), (Sent(None),))


def reply_in_place(
    interaction: hikari.ComponentInteraction, page: Page, *, ephemeral: bool, noting: Noting = nowhere
) -> Reply:
    """After `defer_update`: the message of the pressed button, which looks like `page`, is rewritten."""
    outlet = InteractionOutlet(Hook.of(interaction), ephemeral=ephemeral, noting=noting)
    return Reply(outlet, (Sent(None, page),))


def reply_following(interaction: Answerable, *, ephemeral: bool, noting: Noting = nowhere) -> Reply:
    """Below an acknowledged interaction: every message is a new one."""
    return Reply(InteractionOutlet(Hook.of(interaction), ephemeral=ephemeral, noting=noting))


class InteractionOutlet:
    def __init__(self, hook: Hook, *, ephemeral: bool, noting: Noting = nowhere) -> None:
        """`noting` is told of each follow-up as soon as it stands there."""
        self._hook = hook
        self._to = (hook.application_id, hook.token)
        self._ephemeral = ephemeral
        self._noting = noting

    async def post(
        self,
        page: Page,
        number: int,  # noqa: ARG002 - Outlet
        known: KnownIds,
        *,
        again: bool,  # noqa: ARG002 - Outlet
    ) -> hikari.Snowflake:
        message_id = await self._post(page, known)
        await self._noting(int(message_id))
        return message_id

    async def posted(self, message_id: hikari.Snowflake, first_id: hikari.Snowflake | None) -> None:
        """Its pages are noted once it is complete."""

    async def edit(self, message_id: hikari.Snowflake | None, changes: dict[str, Any]) -> None:
        if message_id is None:
            await self._hook.rest.edit_interaction_response(*self._to, **changes)
        else:
            await self._hook.rest.edit_webhook_message(*self._to, message_id, **changes)

    async def delete(self, message_id: hikari.Snowflake | None) -> None:
        if message_id is None:
            await self._hook.rest.delete_interaction_response(*self._to)
        else:
            await self._hook.rest.delete_webhook_message(*self._to, message_id)

    async def first_id(self) -> hikari.Snowflake:
        return (await self._hook.rest.fetch_interaction_response(*self._to)).id

    async def whisper(self, sentence: str) -> bool:
        ephemeral = hikari.MessageFlag.EPHEMERAL
        await self._hook.rest.execute_webhook(*self._to, sentence, flags=ephemeral, **NO_PINGS)
        return True

    @property
    def place_id(self) -> int | None:
        return None if self._ephemeral else self._hook.channel_id

    async def _post(self, page: Page, known: KnownIds) -> hikari.Snowflake:
        flags = hikari.MessageFlag.EPHEMERAL if self._ephemeral else hikari.UNDEFINED
        for _ in range(_POST_TRIES):
            try:
                message = await self._hook.rest.execute_webhook(*self._to, **new_message(page), flags=flags)
            except hikari.HTTPError as error:
                if not is_fault(error):
                    raise
                await asyncio.sleep(RETRY_PAUSES_S[0])
                posted = await self._look_for(page, known, error)
                if posted is not None:
                    return posted
            else:
                return message.id
        raise PostUncertain

    async def _look_for(self, page: Page, known: KnownIds, error: Exception) -> hikari.Snowflake | None:
        """The message if it was posted, None if it was not. Raises PostUncertain when nobody can tell."""
        if self._ephemeral:
            raise PostUncertain from error
        ids = await known()
        try:
            found = await sent_since(self._hook, ids)
        except hikari.HTTPError as unseen:
            raise PostUncertain from unseen
        return next((message.id for message in found if looks_like(message, page)), None)


async def sent_since(hook: Hook, known: Sequence[int]) -> list[hikari.Message]:
    """What the bot has sent there after the last of these messages, the oldest first. Raises hikari's errors
    where it can't look."""
    after = known[-1] if known else hook.since_id
    newest = await hook.rest.fetch_messages(hook.channel_id, after=after).limit(50)
    own = [message for message in newest if message.application_id == hook.application_id]
    return sorted(own, key=lambda message: message.id)
