"""The buttons about reminders: cancel one, stop a repeat, and be reminded once more a little later.

What a button needs stands in its custom id, so one that was shown before a restart still works.
"""

from datetime import timedelta

import hikari
import lightbulb

from cc_bot.discord.access.ways_in import Pressed
from cc_bot.discord.delivery.interaction_outlet import reply_in_place
from cc_bot.discord.delivery.receipt_upkeep import ReceiptUpkeep
from cc_bot.discord.delivery.reply import NO_PINGS
from cc_bot.discord.extensions.remind.group import loader
from cc_bot.discord.failures import tell, tell_failure
from cc_bot.discord.interactions import defer_update
from cc_bot.discord.localization import Reader, Readers
from cc_bot.discord.pages.facts import Facts
from cc_bot.discord.pages.page import Page
from cc_bot.discord.pages.reminder_page import snoozed_page
from cc_bot.discord.pages.reminder_view import shown_text
from cc_bot.discord.pages.schedule_ids import SnoozeButton, UnscheduleButton, parse_schedule_id
from cc_bot.domain.clock import Clock
from cc_bot.stores import ScheduleStore


@loader.listener(Pressed)
@lightbulb.di.with_di
async def on_press(
    event: Pressed,
    schedules: ScheduleStore,
    readers: Readers,
    upkeep: ReceiptUpkeep,
) -> None:
    interaction = event.interaction
    button = parse_schedule_id(interaction.custom_id)
    if not isinstance(button, UnscheduleButton | SnoozeButton):
        return
    try:
        reader = await readers.of(interaction)
        if button.user_id != reader.user_id:
            await tell(interaction, reader.words.reminder.not_yours)
        elif isinstance(button, UnscheduleButton):
            await defer_update(interaction)
            said = await _cancel(schedules, button, reader)
            await upkeep.pressed(interaction, reader.user_id, reader.words)
            await interaction.execute(said, flags=hikari.MessageFlag.EPHEMERAL, **NO_PINGS)
        else:
            await defer_update(interaction)
            await _snooze(interaction, schedules, button, reader, readers.clock)
    except Exception as error:  # noqa: BLE001 - hikari would only log it, and the user would not know
        await tell_failure(interaction, error, readers)


async def _cancel(schedules: ScheduleStore, button: UnscheduleButton, reader: Reader) -> str:
    words = reader.words.reminder
    known = await schedules.get(reader.user_id, button.schedule_id)
    if known is None or known.status == "done":
        return words.gone
    cancelled = await schedules.cancel(reader.user_id, button.schedule_id)
    return words.cancelled.format(text=shown_text(cancelled)) if cancelled else words.gone


async def _snooze(
    interaction: hikari.ComponentInteraction,
    schedules: ScheduleStore,
    button: SnoozeButton,
    reader: Reader,
    clock: Clock,
) -> None:
    """Set a reminder of the same once more; the buttons under the old one have done their work."""
    before = await schedules.get(reader.user_id, button.schedule_id)
    if before is None:
        await interaction.execute(reader.words.reminder.gone, flags=hikari.MessageFlag.EPHEMERAL)
        return
    later = await schedules.add(
        before.key,
        before.text,
        clock() + timedelta(minutes=button.minutes),
        place=before.place,
        guild_id=before.guild_id,
        visibility=before.visibility,
        timezone=before.timezone,
        locale=reader.locale,
    )
    message = interaction.message
    shown = Page(message.content or "", facts=Facts.read(message.embeds))
    page = snoozed_page(shown, before, later, reader.words)
    await reply_in_place(interaction, shown, ephemeral=False).show((page,))
