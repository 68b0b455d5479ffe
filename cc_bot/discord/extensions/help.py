"""`/help`: what cc-bot can do."""

import hikari
import lightbulb

from cc_bot.discord.access.owners import Owners
from cc_bot.discord.gateway import GrantedReading
from cc_bot.discord.interactions import defer
from cc_bot.discord.localization import Readers
from cc_bot.discord.pages.memory_view import COLOUR
from cc_bot.domain.channel import Reading
from cc_bot.texts.session import SessionTexts

loader = lightbulb.Loader()


@loader.command
class Help(lightbulb.SlashCommand, name="help", description="help_description", localize=True):
    @lightbulb.invoke
    async def invoke(
        self, ctx: lightbulb.Context, readers: Readers, granted: GrantedReading, owners: Owners
    ) -> None:
        await defer(ctx.interaction, ephemeral=True)
        words = (await readers.of(ctx.interaction)).words.session
        owner = int(ctx.user.id) in await owners.ids()
        told = help_text(words, granted.reading, owner=owner)
        await ctx.interaction.edit_initial_response(embed=hikari.Embed(description=told, colour=COLOUR))


def help_text(words: SessionTexts, reading: Reading, *, owner: bool = False) -> str:
    """What the bot can do, and what it stores, where it may read so much. For an embed: with all the commands
    it is longer than a message's content may be."""
    mention = "" if reading == "off" else words.help_mention
    stored = {"off": "", "mentions": words.help_stored_mentions, "all": words.help_stored_all}
    admin = words.help_admin if owner else ""
    return words.help.format(mention=mention, admin=admin, stored=stored[reading])
