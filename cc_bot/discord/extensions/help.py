"""`/help`: what cc-bot can do."""

import lightbulb

from cc_bot.discord.interactions import defer
from cc_bot.discord.localization import Readers

loader = lightbulb.Loader()


@loader.command
class Help(lightbulb.SlashCommand, name="help", description="help_description", localize=True):
    @lightbulb.invoke
    async def invoke(self, ctx: lightbulb.Context, readers: Readers) -> None:
        await defer(ctx.interaction, ephemeral=True)
        reader = await readers.of(ctx.interaction)
        await ctx.interaction.edit_initial_response(reader.words.session.help)
