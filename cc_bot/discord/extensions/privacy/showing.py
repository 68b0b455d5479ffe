"""`/privacy show`: how much of what is stored, since when, and for how long."""

import lightbulb

from cc_bot.discord.extensions.privacy.group import privacy as group
from cc_bot.discord.interactions import defer
from cc_bot.discord.localization import Readers
from cc_bot.privacy import Privacy


@group.register
class Show(
    lightbulb.SlashCommand, name="privacy_show", description="privacy_show_description", localize=True
):
    @lightbulb.invoke
    async def invoke(self, ctx: lightbulb.Context, privacy: Privacy, readers: Readers) -> None:
        await defer(ctx.interaction, ephemeral=True)
        reader = await readers.of(ctx.interaction)
        held = await privacy.overview(reader.user_id)
        told = reader.words.privacy.overview(held, privacy.retention, reader.timezone)
        await ctx.interaction.edit_initial_response(told)
