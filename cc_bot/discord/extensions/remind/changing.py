"""`/remind delete` and `/remind resume`."""

import lightbulb

from cc_bot.discord.delivery.receipt_upkeep import ReceiptUpkeep
from cc_bot.discord.delivery.reply import NO_PINGS
from cc_bot.discord.extensions.remind.group import remind, reminder_id
from cc_bot.discord.interactions import defer
from cc_bot.discord.localization import Reader, Readers
from cc_bot.discord.pages.memory_view import timestamp
from cc_bot.discord.pages.reminder_view import attention, paused_among, shown_text
from cc_bot.domain.errors import ScheduleNotFound
from cc_bot.domain.schedule import Schedule
from cc_bot.stores import ScheduleStore


@remind.register
class Delete(
    lightbulb.SlashCommand, name="remind_delete", description="remind_delete_description", localize=True
):
    id = reminder_id()

    @lightbulb.invoke
    async def invoke(
        self, ctx: lightbulb.Context, schedules: ScheduleStore, readers: Readers, upkeep: ReceiptUpkeep
    ) -> None:
        await defer(ctx.interaction, ephemeral=True)
        reader = await readers.of(ctx.interaction)
        known = await _reminder(schedules, reader, self.id)
        cancelled = await schedules.cancel(reader.user_id, known.id)
        if cancelled is None:
            raise ScheduleNotFound(id=self.id)
        told = reader.words.reminder.cancelled.format(text=shown_text(cancelled))
        lines = [told, *attention(paused_among(await schedules.list(reader.user_id)), reader.words)]
        await ctx.interaction.edit_initial_response("\n".join(lines), **NO_PINGS)
        upkeep.refresh(reader.user_id, reader.words)


@remind.register
class Resume(
    lightbulb.SlashCommand, name="remind_resume", description="remind_resume_description", localize=True
):
    id = reminder_id(only=lambda schedule: schedule.status == "paused")

    @lightbulb.invoke
    async def invoke(self, ctx: lightbulb.Context, schedules: ScheduleStore, readers: Readers) -> None:
        await defer(ctx.interaction, ephemeral=True)
        reader = await readers.of(ctx.interaction)
        await ctx.interaction.edit_initial_response(await _resumed(schedules, reader, self.id), **NO_PINGS)


async def _resumed(schedules: ScheduleStore, reader: Reader, number: int) -> str:
    """Have it go on, and say when. What had one time only, and is past it, comes at once."""
    words = reader.words.reminder
    before = await _reminder(schedules, reader, number)
    resumed = await schedules.resume(reader.user_id, before.id)
    if resumed is None:
        return words.not_paused.format(text=shown_text(before))
    time, moment = timestamp(resumed.due_at, "F"), timestamp(resumed.due_at, "R")
    return words.resumed.format(time=time, moment=moment, text=shown_text(resumed))


async def _reminder(schedules: ScheduleStore, reader: Reader, number: int) -> Schedule:
    """Raises ScheduleNotFound; a heartbeat has commands of its own."""
    found = await schedules.numbered(reader.user_id, number)
    if found is None or found.status == "done":
        raise ScheduleNotFound(id=number)
    return found
