"""`/clear` and `/summary` for the user's own conversation in a channel, `/reset` for the shared one."""

import asyncio

import hikari
import lightbulb

from cc_bot.chat.reply import Reply
from cc_bot.chat.stores.sessions import SessionStore
from cc_bot.chat.stores.summaries import SummaryStore
from cc_bot.discord.agents import AgentSelector
from cc_bot.discord.delivery.side_messages import SideMessages
from cc_bot.discord.handlers import Press, command, on_press, reply_command
from cc_bot.discord.interactions import defer
from cc_bot.discord.locations import key_of_interaction
from cc_bot.discord.messages.listening import MessageListener
from cc_bot.discord.pages.custom_ids import SummaryButton
from cc_bot.discord.pages.page import MAX_CARD_CHARACTERS, Button, EphemeralView, Paragraph, timestamp
from cc_bot.discord.recipients import Recipient, Recipients
from cc_bot.domain.session import SessionKey
from cc_bot.domain.text import shorten
from cc_bot.features.settings.texts import SessionTexts
from cc_bot.texts.answer import SummaryTexts

loader = lightbulb.Loader()


async def clear(
    caller: Recipient,
    *,
    ctx: lightbulb.Context,
    sessions: SessionStore,
    agent_selector: AgentSelector,
    side_messages: SideMessages,
) -> Reply:
    key = (await agent_selector.for_interaction(ctx.interaction)).key
    await sessions.clear(key)
    await side_messages.refresh(
        key, interaction=ctx.interaction, may_follow_up=False
    )  # shows the canvas, now empty
    return Reply((caller.words[SessionTexts].cleared,))


reply_command(loader.command, "clear", clear)


# `/reset` affects everyone in a channel, so it needs a permission, and its reply is public.

_THREAD_LOOKUP_TIMEOUT_S = 1.5
"""The reply is due within 3 s. Whether it is public depends on who started the thread."""


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
    """Return whether the member manages messages or started the thread; None if Discord does not answer."""
    member = interaction.member
    if member is not None and member.permissions & hikari.Permissions.MANAGE_MESSAGES:
        return True
    if not key_of_interaction(interaction.channel).thread_id:
        return False
    try:
        request = interaction.app.rest.fetch_channel(interaction.channel_id)
        thread = await asyncio.wait_for(request, _THREAD_LOOKUP_TIMEOUT_S)
    except (hikari.HTTPError, TimeoutError):
        return None
    return isinstance(thread, hikari.GuildThreadChannel) and thread.owner_id == interaction.user.id


# The reply is ephemeral, so it may include summaries of private messages.
async def show_summary(
    caller: Recipient, *, ctx: lightbulb.Context, summaries: SummaryStore, agent_selector: AgentSelector
) -> EphemeralView:
    texts, key = caller.words[SummaryTexts], (await agent_selector.for_interaction(ctx.interaction)).key
    current = await summaries.list_current(key)
    if not current:
        return EphemeralView(title=texts.title, paragraphs=(Paragraph(texts.none),))
    parts = [
        f"**{texts.private}**\n{each.content}" if each.visibility == "private" else each.content
        for each in current
    ]
    created_at = timestamp(max(each.created_at for each in current), "f")
    paragraphs = (Paragraph(shorten("\n\n".join(parts), MAX_CARD_CHARACTERS)), Paragraph(f"-# {created_at}"))
    button = Button(texts.delete, SummaryButton(caller.user_id, key.agent).custom_id())
    return EphemeralView(title=texts.title, paragraphs=paragraphs, buttons=(button,))


reply_command(loader.command, "summary", show_summary)


@on_press(SummaryButton, not_yours=lambda words: words[SummaryTexts].not_yours)
async def delete_summary(press: Press[SummaryButton], summaries: SummaryStore) -> EphemeralView:
    interaction, button, recipient = press
    await summaries.delete(SessionKey(button.user_id, int(interaction.channel_id), button.agent))
    return EphemeralView(recipient.words[SummaryTexts].deleted)
