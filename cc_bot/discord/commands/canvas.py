"""`/canvas`: show the canvas again, or clear it."""

from dataclasses import replace

import lightbulb

from cc_bot.commands.reply import Reply
from cc_bot.discord.agents import AgentSelector
from cc_bot.discord.declaring import command, reply_command
from cc_bot.discord.delivery.canvas import CanvasBoards
from cc_bot.discord.interactions import own_space
from cc_bot.discord.recipients import Recipient, Recipients
from cc_bot.stores import CanvasStore

loader = lightbulb.Loader()

group = lightbulb.Group("canvas", "canvas_description", localize=True)
loader.command(group)


@command(group.register, "canvas_show")
class ShowCanvasCommand:
    async def invoke(
        self,
        ctx: lightbulb.Context,
        *,
        canvases: CanvasStore,
        boards: CanvasBoards,
        recipients: Recipients,
        chooser: AgentSelector,
    ) -> None:
        """Post what others may see as a message, and the rest as an ephemeral reply."""
        interaction, recipient = ctx.interaction, await recipients.defer(ctx.interaction)
        key, words = (await chooser.of(interaction)).key, recipient.words.canvas
        seen = await canvases.get(key)
        if seen is None or seen.canvas.empty:
            await interaction.edit_initial_response(words.empty)
            return
        posted = await boards.refresh(key, interaction=interaction, below=False, repost=True)
        elements = tuple(each for each in seen.canvas.elements if each.visibility == "private")
        private = replace(seen.canvas, elements=elements)
        if posted and (private.empty or own_space(interaction)):
            await interaction.edit_initial_response(words.shown)
            return
        shown, said = (private, words.shown_with_private) if posted else (seen.canvas, words.shown_to_you)
        if seen.canvas.visible_in("public").empty:
            shown, said = seen.canvas, words.shown_private
        await boards.reply_with(interaction, shown, recipient, said)


async def clear(
    caller: Recipient,
    *,
    ctx: lightbulb.Context,
    canvases: CanvasStore,
    boards: CanvasBoards,
    chooser: AgentSelector,
) -> Reply:
    key = (await chooser.of(ctx.interaction)).key
    cleared = await canvases.clear(key)
    await boards.refresh(key, interaction=ctx.interaction, below=False)
    texts = caller.words.canvas
    return Reply((texts.cleared if cleared else texts.cleared_already,))


reply_command(group.register, "canvas_clear", clear)
