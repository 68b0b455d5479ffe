"""`/reset`: nothing that was written in this channel or thread so far is ever read again, whoever wrote it.

That concerns everybody there, so everybody is shown that it happened, and not everybody may do it.
"""

import asyncio

import hikari
import lightbulb

from cc_bot.discord.interactions import defer
from cc_bot.discord.localization import Readers
from cc_bot.discord.messages.listening import Messages
from cc_bot.discord.places import Places, key_of_interaction

loader = lightbulb.Loader()

_ASK_DISCORD_S = 1.5
"""For who started a thread. Whether a reply is shown to everyone is decided by its acknowledgement, which
Discord must have within 3 s."""


@loader.command
class Reset(
    lightbulb.SlashCommand,
    name="reset",
    description="reset_description",
    localize=True,
    contexts=[hikari.ApplicationContextType.GUILD],
    integration_types=[hikari.ApplicationIntegrationType.GUILD_INSTALL],
):
    @lightbulb.invoke
    async def invoke(
        self,
        ctx: lightbulb.Context,
        places: Places,
        readers: Readers,
        messages: Messages,
    ) -> None:
        interaction = ctx.interaction
        allowed = await _may_reset(interaction, places)
        await defer(interaction, ephemeral=not allowed)
        if allowed:
            await messages.reset(key_of_interaction(interaction.channel), int(interaction.id))
        words = (await readers.of(interaction)).words.session
        refused = words.reset_unsure if allowed is None else words.reset_refused
        await interaction.edit_initial_response(words.reset if allowed else refused)


async def _may_reset(interaction: hikari.CommandInteraction, places: Places) -> bool | None:
    """Whether this member may manage messages or started this thread. None: Discord did not tell in time."""
    member = interaction.member
    if member is not None and member.permissions & hikari.Permissions.MANAGE_MESSAGES:
        return True
    if not key_of_interaction(interaction.channel).thread_id:
        return False
    try:
        place = await asyncio.wait_for(places.of(int(interaction.channel_id)), _ASK_DISCORD_S)
    except (hikari.HTTPError, TimeoutError):
        return None
    return place.thread_owner_id == int(interaction.user.id)
