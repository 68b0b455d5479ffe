"""`/summary`: what is kept of this user's conversation in this channel, with a button that deletes it.

The reply is ephemeral, so that it may show what was said in private, too.
"""

import lightbulb

from cc_bot.discord.access.ways_in import Pressed
from cc_bot.discord.agents import Chooser
from cc_bot.discord.delivery.reply import components
from cc_bot.discord.failures import tell, tell_failure
from cc_bot.discord.interactions import defer, defer_update
from cc_bot.discord.localization import Readers
from cc_bot.discord.pages.custom_ids import SummaryButton, parse_custom_id
from cc_bot.discord.pages.page import Button
from cc_bot.discord.pages.summary_view import summary_embed
from cc_bot.domain.session import SessionKey
from cc_bot.stores.summaries import SummaryStore

loader = lightbulb.Loader()


@loader.command
class ShowSummary(lightbulb.SlashCommand, name="summary", description="summary_description", localize=True):
    @lightbulb.invoke
    async def invoke(
        self, ctx: lightbulb.Context, summaries: SummaryStore, readers: Readers, chooser: Chooser
    ) -> None:
        await defer(ctx.interaction, ephemeral=True)
        reader = await readers.of(ctx.interaction)
        words = reader.words.summary
        key = (await chooser.of(ctx.interaction)).key
        kept = await summaries.current(key)
        if not kept:
            await ctx.interaction.edit_initial_response(words.none)
            return
        delete = Button(words.delete, SummaryButton(reader.user_id, key.agent).custom_id())
        await ctx.interaction.edit_initial_response(
            embed=summary_embed(kept, reader.words), components=components((delete,))
        )


@loader.listener(Pressed)
@lightbulb.di.with_di
async def on_press(event: Pressed, summaries: SummaryStore, readers: Readers) -> None:
    """Delete what is kept of the channel that the button stands in."""
    interaction = event.interaction
    button = parse_custom_id(interaction.custom_id)
    if not isinstance(button, SummaryButton):
        return
    try:
        reader = await readers.of(interaction)
        words = reader.words
        if button.user_id != reader.user_id:
            await tell(interaction, words.summary.not_yours)
            return
        await defer_update(interaction)
        await summaries.delete(SessionKey(button.user_id, int(interaction.channel_id), button.agent))
        await interaction.edit_initial_response(words.summary.deleted, embeds=[], components=[])
    except Exception as error:  # noqa: BLE001 - hikari would only log it, and the user would not know
        await tell_failure(interaction, error, readers)
