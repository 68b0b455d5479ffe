"""Reads interactions, and acknowledges them in time.

Discord waits 3 s for the first response and accepts exactly one. hikari's retries are off, as a retried post
may have succeeded the first time; what is safe to repeat is repeated here.
"""

import asyncio
from contextvars import ContextVar
from dataclasses import dataclass
from typing import Final

import hikari

from cc_bot.chat.stores.settings import PlaceAgents
from cc_bot.discord.places import key_of_interaction
from cc_bot.domain.message import UserSettings, Visibility
from cc_bot.domain.usage import UsageSubject

Answerable = hikari.CommandInteraction | hikari.ComponentInteraction | hikari.ModalInteraction

ALREADY_ACKNOWLEDGED = 40060
"""An earlier attempt succeeded after all."""

MAX_CHOICES = 25
_AHEAD: Final = ContextVar[int]("is_accepted_ahead", default=0)
"""The press or form that was deferred before its handler runs."""
_PAUSE_S = 0.3
_TRIES = 3


@dataclass(frozen=True, slots=True)
class Preloaded:
    """Read by the gate; empty if the database did not answer."""

    settings: UserSettings | None = None
    agents: PlaceAgents | None = None


def author_name(interaction: Answerable) -> str:
    user, member = interaction.user, interaction.member
    return member.display_name if member else user.display_name or user.username


def payer_of(interaction: hikari.PartialInteraction) -> UsageSubject:
    return UsageSubject(
        int(interaction.user.id), int(interaction.guild_id or 0), roles_of(interaction.member)
    )


def roles_of(member: hikari.Member | None) -> tuple[int, ...]:
    return tuple(map(int, member.role_ids)) if member else ()


def own_space(interaction: Answerable) -> bool:
    """Return whether it is the user's DM with the bot."""
    return interaction.context == hikari.ApplicationContextType.BOT_DM


def can_write(interaction: Answerable) -> bool:
    """Both the bot and the user must be allowed to: the bot does not speak for users who can't. A user-
    installed bot can't write by itself."""
    if hikari.ApplicationIntegrationType.GUILD_INSTALL not in interaction.authorizing_integration_owners:
        return False
    needed = hikari.Permissions.VIEW_CHANNEL | hikari.Permissions.SEND_MESSAGES
    if key_of_interaction(interaction.channel).thread_id:
        needed = hikari.Permissions.VIEW_CHANNEL | hikari.Permissions.SEND_MESSAGES_IN_THREADS
    own, member = interaction.app_permissions, interaction.member
    return member is not None and own is not None and needed in member.permissions & own


def visibility_of(interaction: Answerable, *, ephemeral: bool) -> Visibility:
    return "private" if ephemeral or own_space(interaction) else "public"


def message_link(guild_id: int | None, channel_id: int, message_id: int | None) -> str:
    """Empty if unknown. Without a server it is in a DM."""
    if message_id is None:
        return ""
    return f"https://discord.com/channels/{guild_id or '@me'}/{channel_id}/{message_id}"


def is_ephemeral(message: hikari.Message) -> bool:
    return bool(message.flags & hikari.MessageFlag.EPHEMERAL)


def is_server_or_network_error(error: hikari.HTTPError) -> bool:
    return not isinstance(error, hikari.ClientHTTPResponseError)


async def defer(interaction: Answerable, *, ephemeral: bool) -> int | None:
    """Show 'thinking…', ephemeral or not for good. Returns the message id, if Discord sent it."""
    return await _acknowledge(interaction, hikari.ResponseType.DEFERRED_MESSAGE_CREATE, ephemeral=ephemeral)


async def defer_update(interaction: hikari.ComponentInteraction | hikari.ModalInteraction) -> None:
    await _acknowledge(interaction, hikari.ResponseType.DEFERRED_MESSAGE_UPDATE, ephemeral=False)


async def defer_early(
    interaction: hikari.ComponentInteraction | hikari.ModalInteraction, *, shows: bool = False
) -> None:
    """Defer a press or form that has to wait; its handler may then defer as usual. `shows`: the result is an
    ephemeral message of its own."""
    await (defer(interaction, ephemeral=True) if shows else defer_update(interaction))
    _AHEAD.set(int(interaction.id))


def is_accepted_ahead(interaction: Answerable) -> bool:
    return _AHEAD.get() == int(interaction.id)


async def _acknowledge(interaction: Answerable, kind: hikari.ResponseType, *, ephemeral: bool) -> int | None:
    if is_accepted_ahead(interaction):
        return None
    flags = hikari.MessageFlag.EPHEMERAL if ephemeral else hikari.UNDEFINED
    for tries_left in reversed(range(_TRIES)):
        try:
            response = await interaction.app.rest.create_interaction_response(
                interaction, interaction.token, kind, flags=flags
            )
        except hikari.HTTPError as error:
            if isinstance(error, hikari.BadRequestError) and error.code == ALREADY_ACKNOWLEDGED:
                return None
            if not tries_left or not is_server_or_network_error(error):
                raise
            await asyncio.sleep(_PAUSE_S)
        else:
            message_id = response.interaction.response_message_id
            return None if message_id is hikari.UNDEFINED else int(message_id)
    return None
