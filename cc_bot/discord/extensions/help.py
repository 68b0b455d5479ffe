"""`/help`: what cc-bot can do."""

import lightbulb

from cc_bot.discord.gateway import GrantedReading
from cc_bot.discord.interactions import defer
from cc_bot.discord.localization import Readers
from cc_bot.domain.channel import Reading
from cc_bot.texts.session import SessionTexts

loader = lightbulb.Loader()


@loader.command
class Help(lightbulb.SlashCommand, name="help", description="help_description", localize=True):
    @lightbulb.invoke
    async def invoke(self, ctx: lightbulb.Context, readers: Readers, granted: GrantedReading) -> None:
        await defer(ctx.interaction, ephemeral=True)
        reader = await readers.of(ctx.interaction)
        await ctx.interaction.edit_initial_response(help_text(reader.words.session, granted.reading))


def help_text(words: SessionTexts, reading: Reading) -> str:
    """What the bot can do, and what it stores, where it may read so much."""
    mention = "" if reading == "off" else words.help_mention
    stored = {"off": "", "mentions": words.help_stored_mentions, "all": words.help_stored_all}
    return words.help.format(mention=mention, stored=stored[reading])
