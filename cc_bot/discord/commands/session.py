"""`/clear`: the next question in this channel starts a new session."""

import asyncio

import hikari
import lightbulb

from cc_bot.commands.reply import Reply
from cc_bot.discord.agents import AgentSelector
from cc_bot.discord.declaring import reply_command
from cc_bot.discord.delivery.canvas import CanvasBoards
from cc_bot.discord.interactions import defer
from cc_bot.discord.messages.listening import Messages
from cc_bot.discord.pages.custom_ids import SummaryButton
from cc_bot.discord.pages.memory import COLOUR, EphemeralView, timestamp
from cc_bot.discord.pages.page import Button
from cc_bot.discord.places import key_of_interaction
from cc_bot.discord.presses import on_press
from cc_bot.discord.recipients import Recipient, Recipients
from cc_bot.domain.session import SessionKey
from cc_bot.stores.sessions import SessionStore
from cc_bot.stores.summaries import SummaryStore

loader = lightbulb.Loader()


async def clear(
    caller: Recipient,
    *,
    ctx: lightbulb.Context,
    sessions: SessionStore,
    chooser: AgentSelector,
    boards: CanvasBoards,
) -> Reply:
    key = (await chooser.of(ctx.interaction)).key
    await sessions.clear(key)
    await boards.refresh(key, interaction=ctx.interaction, below=False)  # the canvas is empty now
    return Reply((caller.words.session.cleared,))


reply_command(loader.command, "clear", clear)


# ---- reset -----------------------------------------------------------------------------------------------
# `/reset`: excludes everything written so far in this channel or thread from context, for all users.
#
# It affects everyone there, so it is announced publicly and needs a permission.

_ASK_DISCORD_S = 1.5
"""To find out who started a thread. The acknowledgement, due within 3 s, decides whether the reply is
public."""


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
    async def invoke(self, ctx: lightbulb.Context, recipients: Recipients, messages: Messages) -> None:
        interaction = ctx.interaction
        allowed = await _may_reset(interaction)
        await defer(interaction, ephemeral=not allowed)
        if allowed:
            await messages.reset(key_of_interaction(interaction.channel), int(interaction.id))
        words = (await recipients.of(interaction)).words.session
        refused = words.reset_unsure if allowed is None else words.reset_refused
        await interaction.edit_initial_response(words.reset if allowed else refused)


async def _may_reset(interaction: hikari.CommandInteraction) -> bool | None:
    """Return whether this member may manage messages or started this thread. None: Discord did not answer in
    time."""
    member = interaction.member
    if member is not None and member.permissions & hikari.Permissions.MANAGE_MESSAGES:
        return True
    if not key_of_interaction(interaction.channel).thread_id:
        return False
    try:
        asked = interaction.app.rest.fetch_channel(interaction.channel_id)
        thread = await asyncio.wait_for(asked, _ASK_DISCORD_S)
    except (hikari.HTTPError, TimeoutError):
        return None
    return isinstance(thread, hikari.GuildThreadChannel) and thread.owner_id == interaction.user.id


# ---- summary ---------------------------------------------------------------------------------------------
# `/summary`: the summary of the user's conversation in this channel, with a button to delete it.
#
# The reply is ephemeral, so it may include private messages.


async def show_summary(
    caller: Recipient, *, ctx: lightbulb.Context, summaries: SummaryStore, chooser: AgentSelector
) -> EphemeralView:
    texts, key = caller.words.summary, (await chooser.of(ctx.interaction)).key
    kept = await summaries.list_current(key)
    if not kept:
        return EphemeralView(texts.none)
    parts = [
        f"**{texts.private}**\n{each.content}" if each.visibility == "private" else each.content
        for each in kept
    ]
    written = timestamp(max(each.created_at for each in kept), "f")
    description = "\n\n".join((*parts, f"-# {written}"))
    embed = hikari.Embed(title=texts.title, description=description, colour=COLOUR)
    button = Button(texts.delete, SummaryButton(caller.user_id, key.agent).custom_id())
    return EphemeralView(embed=embed, buttons=(button,))


reply_command(loader.command, "summary", show_summary)


@on_press(SummaryButton, not_yours=lambda words: words.summary.not_yours)
async def delete_summary(
    interaction: hikari.ComponentInteraction,
    button: SummaryButton,
    recipient: Recipient,
    *,
    summaries: SummaryStore,
) -> EphemeralView:
    await summaries.delete(SessionKey(button.user_id, int(interaction.channel_id), button.agent))
    return EphemeralView(recipient.words.summary.deleted)
