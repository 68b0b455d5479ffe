"""`/clear`: the next question in this channel starts a new session."""

import lightbulb

from cc_bot.discord.agents import Chooser
from cc_bot.discord.delivery.canvas_boards import CanvasBoards
from cc_bot.discord.interactions import defer
from cc_bot.discord.localization import Readers
from cc_bot.stores.sessions import SessionStore

loader = lightbulb.Loader()


@loader.command
class Clear(lightbulb.SlashCommand, name="clear", description="clear_description", localize=True):
    @lightbulb.invoke
    async def invoke(
        self,
        ctx: lightbulb.Context,
        *,
        sessions: SessionStore,
        readers: Readers,
        chooser: Chooser,
        boards: CanvasBoards,
    ) -> None:
        await defer(ctx.interaction, ephemeral=True)
        key = (await chooser.of(ctx.interaction)).key
        await sessions.clear(key)
        reader = await readers.of(ctx.interaction)
        await ctx.interaction.edit_initial_response(reader.words.session.cleared)
        await boards.refresh(key, interaction=ctx.interaction, below=False)  # nothing is up any more
