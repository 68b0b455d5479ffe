"""`/canvas …`: shows the canvas again, or clears it."""

from dataclasses import replace

import lightbulb

from cc_bot.chat.reply import Reply
from cc_bot.chat.stores.canvases import CanvasStore
from cc_bot.discord.agents import AgentSelector
from cc_bot.discord.handlers import Press, reply_command
from cc_bot.discord.interactions import is_bot_dm
from cc_bot.discord.pages.custom_ids import ShowButton
from cc_bot.discord.pages.page import EphemeralView
from cc_bot.discord.recipients import Recipient
from cc_bot.features.canvas.delivery import CanvasMessages
from cc_bot.features.canvas.drawing import get_canvas
from cc_bot.features.canvas.texts import CanvasTexts

loader = lightbulb.Loader()

group = lightbulb.Group("canvas", "canvas_description", localize=True)
loader.command(group)


async def show_canvas(
    caller: Recipient,
    *,
    ctx: lightbulb.Context | Press[ShowButton],
    canvases: CanvasStore,
    canvas_messages: CanvasMessages,
    agent_selector: AgentSelector,
) -> EphemeralView | None:
    """Post public elements as a message, and private ones as an ephemeral reply."""
    interaction, words = ctx.interaction, caller.words[CanvasTexts]
    key = (await agent_selector.for_interaction(interaction)).key
    _, _, agent = ctx.button.command.partition(":") if isinstance(ctx, Press) else ("", "", "")
    is_other_agent = bool(agent) and agent != key.agent
    canvas = await get_canvas(canvases, replace(key, agent=agent) if is_other_agent else key)
    if canvas.is_empty:
        return EphemeralView(words.empty)
    if is_other_agent:  # the channel shows the canvas of the current agent
        await canvas_messages.reply_with_canvas(interaction, canvas, caller, words.shown_of_agent)
        return None
    posted = await canvas_messages.refresh(key, interaction=interaction, may_follow_up=False, repost=True)
    elements = tuple(each for each in canvas.elements if each.visibility == "private")
    private = replace(canvas, elements=elements)
    if posted and (private.is_empty or is_bot_dm(interaction)):
        return EphemeralView(words.shown)
    if canvas.visible_in("public").is_empty:
        reply, sentence = canvas, words.shown_private
    elif posted:
        reply, sentence = private, words.shown_with_private
    else:
        reply, sentence = canvas, words.shown_to_you
    await canvas_messages.reply_with_canvas(interaction, reply, caller, sentence)
    return None


reply_command(group.register, "canvas_show", show_canvas, shown_as="canvas")


async def clear_canvas(
    caller: Recipient,
    *,
    ctx: lightbulb.Context,
    canvases: CanvasStore,
    canvas_messages: CanvasMessages,
    agent_selector: AgentSelector,
) -> Reply:
    key = (await agent_selector.for_interaction(ctx.interaction)).key
    cleared = await canvases.clear(key)
    await canvas_messages.refresh(key, interaction=ctx.interaction, may_follow_up=False)
    texts = caller.words[CanvasTexts]
    return Reply((texts.cleared if cleared else texts.cleared_already,))


reply_command(group.register, "canvas_clear", clear_canvas)
