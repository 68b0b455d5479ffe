"""`/usage`: a member's own tokens and cost; for those who manage the server, all of it together."""

import hikari
import lightbulb

from cc_bot.discord.interactions import defer, payer_of
from cc_bot.discord.localization import Readers
from cc_bot.discord.pages.usage_view import usage_view
from cc_bot.spending import Spending

loader = lightbulb.Loader()

_MANAGERS = hikari.Permissions.MANAGE_GUILD | hikari.Permissions.ADMINISTRATOR


@loader.command
class Usage(lightbulb.SlashCommand, name="usage", description="usage_description", localize=True):
    server = lightbulb.boolean("usage_server", "usage_server_description", localize=True, default=False)

    @lightbulb.invoke
    async def invoke(self, ctx: lightbulb.Context, spending: Spending, readers: Readers) -> None:
        interaction = ctx.interaction
        await defer(interaction, ephemeral=True)
        words = (await readers.of(interaction)).words
        member, guild_id = interaction.member, interaction.guild_id
        if not self.server:
            report = await spending.report_of(payer_of(interaction))
        elif guild_id is None or member is None:
            await interaction.edit_initial_response(words.usage.servers_only)
            return
        elif not member.permissions & _MANAGERS:
            await interaction.edit_initial_response(words.usage.managers_only)
            return
        else:
            report = await spending.report_of_guild(int(guild_id))
        await interaction.edit_initial_response(embed=usage_view(report, words))
