"""Reads interactions, acknowledges them in time, and retries requests.

Discord waits 3 s for the first response, and accepts only one. hikari's own retries are off, since they could
post a message twice. `retry` is for requests that are safe to repeat.
"""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from typing import Any, Final, TypeVar

import hikari

from cc_bot.chat.stores.settings import StoredAgentChoices
from cc_bot.discord.locations import LruCache, key_of_interaction
from cc_bot.discord.pages.page import NO_PINGS
from cc_bot.domain.message import UserSettings, Visibility

Result = TypeVar("Result")

Answerable = hikari.CommandInteraction | hikari.ComponentInteraction | hikari.ModalInteraction

ALREADY_ACKNOWLEDGED = 40060  # Discord's error code if an earlier attempt succeeded after all

MAX_AUTOCOMPLETE_CHOICES = 25  # Discord's limit
_ACKNOWLEDGED: Final = LruCache[int, None]()  # ids of acknowledged interactions
RETRY_PAUSES_S: Final = (0.5, 1.0, 2.0, 4.0, 8.0)
_ACKNOWLEDGE_PAUSES_S: Final = (0.3, 0.3)


@dataclass(frozen=True, slots=True)
class Preloaded:
    """The user's data that the gate read; empty if the database did not answer."""

    settings: UserSettings | None = None
    agents: StoredAgentChoices | None = None


def author_name(interaction: Answerable) -> str:
    user, member = interaction.user, interaction.member
    return member.display_name if member else user.display_name or user.username


def roles_of(member: hikari.Member | None) -> tuple[int, ...]:
    return tuple(map(int, member.role_ids)) if member else ()


def is_bot_dm(interaction: Answerable) -> bool:
    return interaction.context == hikari.ApplicationContextType.BOT_DM


def is_guild_install(interaction: Answerable) -> bool:
    """Return False where only the user has installed the bot."""
    return hikari.ApplicationIntegrationType.GUILD_INSTALL in interaction.authorizing_integration_owners


def can_write(interaction: Answerable) -> bool:
    """Return whether both bot and user may post in the channel. A user-installed bot may only respond."""
    if not is_guild_install(interaction):
        return False
    needed = hikari.Permissions.VIEW_CHANNEL | hikari.Permissions.SEND_MESSAGES
    if key_of_interaction(interaction.channel).thread_id:
        needed = hikari.Permissions.VIEW_CHANNEL | hikari.Permissions.SEND_MESSAGES_IN_THREADS
    own, member = interaction.app_permissions, interaction.member
    return member is not None and own is not None and needed in member.permissions & own


def visibility_of(interaction: Answerable, *, ephemeral: bool) -> Visibility:
    return "private" if ephemeral or is_bot_dm(interaction) else "public"


def message_link(guild_id: int | None, channel_id: int, message_id: int | None) -> str:
    """Return the link to a message, in a DM if `guild_id` is None; "" without a message id."""
    if message_id is None:
        return ""
    return f"https://discord.com/channels/{guild_id or '@me'}/{channel_id}/{message_id}"


def is_ephemeral(message: hikari.Message) -> bool:
    return bool(message.flags & hikari.MessageFlag.EPHEMERAL)


def is_server_or_network_error(error: hikari.HTTPError) -> bool:
    return not isinstance(error, hikari.ClientHTTPResponseError)


async def retry(call: Callable[[], Awaitable[Result]], pauses_s: Sequence[float] = RETRY_PAUSES_S) -> Result:
    """Repeat an idempotent call while Discord or the network fails."""
    for pause_s in pauses_s:
        try:
            return await call()
        except hikari.HTTPError as error:
            if not is_server_or_network_error(error):
                raise
            await asyncio.sleep(pause_s)
    return await call()


async def defer(interaction: Answerable, *, ephemeral: bool) -> int | None:
    """Show 'thinking…', which the answer replaces. Returns the message's id, if known."""
    return await _acknowledge(interaction, hikari.ResponseType.DEFERRED_MESSAGE_CREATE, ephemeral=ephemeral)


async def defer_update(interaction: hikari.ComponentInteraction | hikari.ModalInteraction) -> None:
    await _acknowledge(interaction, hikari.ResponseType.DEFERRED_MESSAGE_UPDATE, ephemeral=False)


def is_acknowledged(interaction: Answerable) -> bool:
    return int(interaction.id) in _ACKNOWLEDGED


async def tell(interaction: Answerable, sentence: str) -> None:
    response: dict[str, Any] = {"content": sentence, "flags": hikari.MessageFlag.EPHEMERAL, **NO_PINGS}
    if not is_acknowledged(interaction):
        try:
            await interaction.create_initial_response(hikari.ResponseType.MESSAGE_CREATE, **response)
        except hikari.BadRequestError as error:
            if error.code != ALREADY_ACKNOWLEDGED:
                raise
        else:
            return
    await interaction.execute(**response)


async def _acknowledge(interaction: Answerable, kind: hikari.ResponseType, *, ephemeral: bool) -> int | None:
    if is_acknowledged(interaction):
        return None
    flags = hikari.MessageFlag.EPHEMERAL if ephemeral else hikari.UNDEFINED
    create = interaction.app.rest.create_interaction_response
    response = None
    try:
        response = await retry(
            lambda: create(interaction, interaction.token, kind, flags=flags), _ACKNOWLEDGE_PAUSES_S
        )
    except hikari.BadRequestError as error:
        if error.code != ALREADY_ACKNOWLEDGED:
            raise
    _ACKNOWLEDGED[int(interaction.id)] = None
    message_id = response and response.interaction.response_message_id
    return int(message_id) if message_id else None
