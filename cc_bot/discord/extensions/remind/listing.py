"""`/remind list`: pages of reminders, which turn after a restart, too."""

import lightbulb

from cc_bot.discord.access.ways_in import Pressed
from cc_bot.discord.delivery.reply import components
from cc_bot.discord.extensions.remind.group import loader, remind
from cc_bot.discord.failures import tell, tell_failure
from cc_bot.discord.interactions import Answerable, defer, defer_update
from cc_bot.discord.localization import Readers
from cc_bot.discord.pages.memory_view import View
from cc_bot.discord.pages.reminder_view import list_view
from cc_bot.discord.pages.schedule_ids import RemindersButton, parse_schedule_id
from cc_bot.stores import ScheduleStore


@remind.register
class List(lightbulb.SlashCommand, name="remind_list", description="remind_list_description", localize=True):
    @lightbulb.invoke
    async def invoke(self, ctx: lightbulb.Context, schedules: ScheduleStore, readers: Readers) -> None:
        await defer(ctx.interaction, ephemeral=True)
        reader = await readers.of(ctx.interaction)
        await show(ctx.interaction, list_view(await schedules.list(reader.user_id), 1, reader))


@loader.listener(Pressed)
@lightbulb.di.with_di
async def on_turn(event: Pressed, schedules: ScheduleStore, readers: Readers) -> None:
    """Another page of the list in the same message."""
    interaction = event.interaction
    button = parse_schedule_id(interaction.custom_id)
    if not isinstance(button, RemindersButton):
        return
    try:
        reader = await readers.of(interaction)
        if button.user_id != reader.user_id:
            await tell(interaction, reader.words.reminder.not_yours)
            return
        await defer_update(interaction)
        await show(interaction, list_view(await schedules.list(reader.user_id), button.page, reader))
    except Exception as error:  # noqa: BLE001 - hikari would only log it, and the user would not know
        await tell_failure(interaction, error, readers)


async def show(interaction: Answerable, view: View) -> None:
    """Put a view in the place of what the acknowledged reply says."""
    await interaction.edit_initial_response(
        view.content or None,
        embeds=[view.embed] if view.embed else [],
        components=components(view.buttons),
    )
