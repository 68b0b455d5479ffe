"""`/clear`, `/reset` and `/summary`: a channel's conversation."""

import asyncio

import hikari
import lightbulb

from cc_bot.chat.reply import Reply
from cc_bot.chat.stores.sessions import SessionStore
from cc_bot.chat.stores.summaries import SummaryStore
from cc_bot.discord.agents import AgentSelector
from cc_bot.discord.delivery.side_message import SideMessage
from cc_bot.discord.handlers import Press, command, on_press, reply_command
from cc_bot.discord.interactions import defer
from cc_bot.discord.locations import key_of_interaction
from cc_bot.discord.messages.listening import MessageListener
from cc_bot.discord.pages.custom_ids import SummaryButton
from cc_bot.discord.pages.page import COLOUR, Button, EphemeralView, timestamp
from cc_bot.discord.recipients import Recipient, Recipients
from cc_bot.domain.session import SessionKey
from cc_bot.features.settings.texts import SessionTexts
from cc_bot.texts.answer import SummaryTexts

loader = lightbulb.Loader()


async def clear(
    caller: Recipient,
    *,
    ctx: lightbulb.Context,
    sessions: SessionStore,
    chooser: AgentSelector,
    side_message: SideMessage,
) -> Reply:
    key = (await chooser.for_interaction(ctx.interaction)).key
    await sessions.clear(key)
    await side_message.refresh(key, interaction=ctx.interaction, below=False)  # the canvas is empty now
    return Reply((caller.words[SessionTexts].cleared,))


reply_command(loader.command, "clear", clear)


# `/reset` affects everyone, so it is announced publicly and needs a permission.

_ASK_DISCORD_S = 1.5
"""To find out who started a thread, which decides whether the reply, due within 3 s, is public."""


@command(
    loader.command,
    "reset",
    parameters={
        "contexts": [hikari.ApplicationContextType.GUILD],
        "integration_types": [hikari.ApplicationIntegrationType.GUILD_INSTALL],
    },
)
async def reset(ctx: lightbulb.Context, *, recipients: Recipients, messages: MessageListener) -> None:
    interaction = ctx.interaction
    allowed = await _may_reset(interaction)
    await defer(interaction, ephemeral=not allowed)
    if allowed:
        await messages.reset(key_of_interaction(interaction.channel), int(interaction.id))
    words = (await recipients.find(interaction)).words[SessionTexts]
    refused = words.reset_unsure if allowed is None else words.reset_refused
    await interaction.edit_initial_response(words.reset if allowed else refused)


async def _may_reset(interaction: hikari.CommandInteraction) -> bool | None:
    """Return whether the member manages messages or started the thread; None if Discord is late."""
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


# The reply is ephemeral, so it may include private messages.


async def show_summary(
    caller: Recipient, *, ctx: lightbulb.Context, summaries: SummaryStore, chooser: AgentSelector
) -> EphemeralView:
    texts, key = caller.words[SummaryTexts], (await chooser.for_interaction(ctx.interaction)).key
    summaries_found = await summaries.list_current(key)
    if not summaries_found:
        return EphemeralView(texts.none)
    parts = [
        f"**{texts.private}**\n{each.content}" if each.visibility == "private" else each.content
        for each in summaries_found
    ]
    written = timestamp(max(each.created_at for each in summaries_found), "f")
    description = "\n\n".join((*parts, f"-# {written}"))
    embed = hikari.Embed(title=texts.title, description=description, colour=COLOUR)
    button = Button(texts.delete, SummaryButton(caller.user_id, key.agent).custom_id())
    return EphemeralView(embed=embed, buttons=(button,))


reply_command(loader.command, "summary", show_summary)


@on_press(SummaryButton, not_yours=lambda words: words[SummaryTexts].not_yours)
async def delete_summary(press: Press[SummaryButton], summaries: SummaryStore) -> EphemeralView:
    interaction, button, recipient = press
    await summaries.delete(SessionKey(button.user_id, int(interaction.channel_id), button.agent))
    return EphemeralView(recipient.words[SummaryTexts].deleted)
