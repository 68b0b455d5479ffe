"""`/clear`: the next question in this channel starts a new session."""

import lightbulb

from cc_bot.discord.interactions import defer, session_key
from cc_bot.discord.localization import Readers
from cc_bot.stores.sessions import SessionStore

loader = lightbulb.Loader()


@loader.command
class Clear(lightbulb.SlashCommand, name="clear", description="clear_description", localize=True):
    @lightbulb.invoke
    async def invoke(self, ctx: lightbulb.Context, sessions: SessionStore, readers: Readers) -> None:
        await defer(ctx.interaction, ephemeral=True)
        await sessions.clear(session_key(ctx.interaction))
        reader = await readers.of(ctx.interaction)
        await ctx.interaction.edit_initial_response(reader.words.session.cleared)
