"""`/remind …`: what a user wants to be told, and when. Every reply is for that user alone."""

from collections.abc import Callable, Iterable
from datetime import timedelta

import hikari
import lightbulb
import structlog

from cc_bot.assistant import TimeResolver
from cc_bot.assistant.reminders import ReminderSource, add_reminders, find_reminder
from cc_bot.discord.agents import Chooser
from cc_bot.discord.declaring import Choice, choices, command, number_option, suggesting, text_option
from cc_bot.discord.delivery.outlets import reply_in_place
from cc_bot.discord.delivery.receipts import ReceiptUpkeep
from cc_bot.discord.interactions import (
    Answerable,
    can_write,
    defer_update,
    own_space,
    payer_of,
)
from cc_bot.discord.pages.custom_ids import RemindersButton, SnoozeButton, UnscheduleButton
from cc_bot.discord.pages.memory import one_line, timestamp
from cc_bot.discord.pages.page import NO_PINGS, Facts, Page
from cc_bot.discord.pages.reminders import (
    added_view,
    attention,
    choice_name,
    list_view,
    paused_among,
    shown_text,
    snoozed_page,
)
from cc_bot.discord.presses import on_press, show_view, whisper
from cc_bot.discord.recipients import Recipient, Recipients
from cc_bot.domain.errors import ScheduleNotFound
from cc_bot.domain.schedule import MAX_TEXT_CHARACTERS, Place, Schedule
from cc_bot.stores import ScheduleStore

# ---- group -----------------------------------------------------------------------------------------------
# What all `/remind` commands share: the group, and the option that chooses a reminder.

_log = structlog.get_logger(__name__)

loader = lightbulb.Loader()
remind = lightbulb.Group("remind", "remind_description", localize=True)
loader.command(remind)


def reminder_id(*, only: Callable[[Schedule], bool] = lambda _: True) -> int:
    """The option that chooses one of the user's reminders; `only` those are offered."""

    async def suggest(
        ctx: lightbulb.AutocompleteContext[int], schedules: ScheduleStore = lightbulb.di.INJECTED
    ) -> list[Choice]:
        known = await schedules.list(int(ctx.interaction.user.id))
        found = matching(filter(only, known), str(ctx.focused.value or ""))
        return [(choice_name(each), each.number) for each in found]

    return number_option("remind_id", autocomplete=suggesting(suggest))


def matching(schedules: Iterable[Schedule], typed: str) -> list[Schedule]:
    """Return those whose text or number contains what was typed."""
    wanted = typed.strip().removeprefix("#").casefold()
    return [
        each for each in schedules if wanted in one_line(each.text).casefold() or wanted in str(each.number)
    ]


# ---- listing ---------------------------------------------------------------------------------------------
# `/remind list`: pages of reminders, which turn after a restart, too.


@command(remind.register, "remind_list")
class ListSchedulesCommand:
    async def invoke(self, ctx: lightbulb.Context, schedules: ScheduleStore, recipients: Recipients) -> None:
        recipient = await recipients.defer(ctx.interaction)
        await show_view(ctx.interaction, list_view(await schedules.list(recipient.user_id), 1, recipient))


@on_press(loader, RemindersButton, not_yours=lambda words: words.reminder.not_yours)
async def turn_page(
    interaction: hikari.ComponentInteraction,
    button: RemindersButton,
    recipient: Recipient,
    *,
    schedules: ScheduleStore,
) -> None:
    """Show another page of the list in the same message."""
    await defer_update(interaction)
    await show_view(interaction, list_view(await schedules.list(recipient.user_id), button.page, recipient))


# ---- adding ----------------------------------------------------------------------------------------------
# `/remind add`: something to be told, at a time in the user's own words.

MAX_WHEN_CHARACTERS = 100


@command(remind.register, "remind_add")
class AddScheduleCommand:
    when = text_option("remind_when", max_length=MAX_WHEN_CHARACTERS)
    text = text_option("remind_text", max_length=MAX_TEXT_CHARACTERS)
    repeat = text_option("remind_repeat", default=None, max_length=MAX_WHEN_CHARACTERS)
    where = text_option("remind_where", default=None, choices=choices("remind", "here", "dm"))

    async def invoke(
        self,
        ctx: lightbulb.Context,
        schedules: ScheduleStore,
        chooser: Chooser,
        recipients: Recipients,
        moments: TimeResolver,
    ) -> None:
        interaction = ctx.interaction
        recipient = await recipients.defer(interaction)
        place = place_of(self.where, interaction)
        source = ReminderSource(
            (await chooser.of(interaction)).key,
            recipient.timezone,
            recipient.locale,
            payer_of(interaction),
            place,
            None if interaction.guild_id is None else int(interaction.guild_id),
        )
        added = await add_reminders(
            schedules, moments, source, text=self.text, when=self.when, repeat=self.repeat or ""
        )
        known = await schedules.list(recipient.user_id)
        where = _where(place, self.where, interaction, recipient)
        await show_view(interaction, added_view(added, where, paused_among(known), recipient))


def place_of(chosen: str | None, interaction: Answerable) -> Place:
    """Return where it is said: here, unless its user wants a DM, or the bot can't write here by itself."""
    if chosen == "dm" or own_space(interaction) or not can_write(interaction):
        return "dm"
    return "channel"


def _where(place: Place, chosen: str | None, interaction: Answerable, recipient: Recipient) -> str:
    words = recipient.words.reminder
    if place == "channel":
        return words.in_channel.format(channel=f"<#{int(interaction.channel_id)}>")
    brought = not own_space(interaction) and not can_write(interaction)
    return words.by_dm_instead if brought and chosen != "dm" else words.by_dm


# ---- buttons ---------------------------------------------------------------------------------------------
# The buttons about reminders: cancel one, stop a repeat, and be reminded once more a little later.


@on_press(loader, UnscheduleButton, not_yours=lambda words: words.reminder.not_yours)
async def cancel(
    interaction: hikari.ComponentInteraction,
    button: UnscheduleButton,
    recipient: Recipient,
    *,
    schedules: ScheduleStore,
    upkeep: ReceiptUpkeep,
) -> None:
    await defer_update(interaction)
    said = await _cancel(schedules, button, recipient)
    await upkeep.refresh_pressed(interaction, recipient.user_id, recipient.words)
    await whisper(interaction, said)


async def _cancel(schedules: ScheduleStore, button: UnscheduleButton, recipient: Recipient) -> str:
    words = recipient.words.reminder
    known = await schedules.get(recipient.user_id, button.schedule_id)
    if known is None or known.status == "done":
        return words.gone
    cancelled = await schedules.cancel(recipient.user_id, button.schedule_id)
    return words.cancelled.format(text=shown_text(cancelled)) if cancelled else words.gone


@on_press(loader, SnoozeButton, not_yours=lambda words: words.reminder.not_yours)
async def snooze(
    interaction: hikari.ComponentInteraction,
    button: SnoozeButton,
    recipient: Recipient,
    *,
    schedules: ScheduleStore,
    recipients: Recipients,
) -> None:
    """Set a reminder of the same once more; the buttons under the old one have done their work."""
    await defer_update(interaction)
    before = await schedules.get(recipient.user_id, button.schedule_id)
    if before is None:
        await whisper(interaction, recipient.words.reminder.gone)
        return
    later = await schedules.add(
        before.key,
        before.text,
        recipients.clock() + timedelta(minutes=button.minutes),
        place=before.place,
        guild_id=before.guild_id,
        visibility=before.visibility,
        timezone=before.timezone,
        locale=recipient.locale,
    )
    message = interaction.message
    shown = Page(message.content or "", facts=Facts.read(message.embeds))
    page = snoozed_page(shown, before, later, recipient.words)
    await reply_in_place(interaction, shown).show((page,))


# ---- changing --------------------------------------------------------------------------------------------
# `/remind delete` and `/remind resume`.


@command(remind.register, "remind_delete")
class DeleteScheduleCommand:
    id = reminder_id()

    async def invoke(
        self, ctx: lightbulb.Context, schedules: ScheduleStore, recipients: Recipients, upkeep: ReceiptUpkeep
    ) -> None:
        recipient = await recipients.defer(ctx.interaction)
        known = await find_reminder(schedules, recipient.user_id, self.id)
        cancelled = await schedules.cancel(recipient.user_id, known.id)
        if cancelled is None:
            raise ScheduleNotFound(id=self.id)
        told = recipient.words.reminder.cancelled.format(text=shown_text(cancelled))
        lines = [told, *attention(paused_among(await schedules.list(recipient.user_id)), recipient.words)]
        await ctx.interaction.edit_initial_response("\n".join(lines), **NO_PINGS)
        upkeep.refresh(recipient.user_id, recipient.words)


@command(remind.register, "remind_resume")
class ResumeScheduleCommand:
    id = reminder_id(only=lambda schedule: schedule.status == "paused")

    async def invoke(self, ctx: lightbulb.Context, schedules: ScheduleStore, recipients: Recipients) -> None:
        recipient = await recipients.defer(ctx.interaction)
        await ctx.interaction.edit_initial_response(await _resume(schedules, recipient, self.id), **NO_PINGS)


async def _resume(schedules: ScheduleStore, recipient: Recipient, number: int) -> str:
    """Have it go on, and say when. What had one time only, and is past it, comes at once."""
    words = recipient.words.reminder
    before = await find_reminder(schedules, recipient.user_id, number)
    resumed = await schedules.resume(recipient.user_id, before.id)
    if resumed is None:
        return words.not_paused.format(text=shown_text(before))
    time, moment = timestamp(resumed.due_at, "F"), timestamp(resumed.due_at, "R")
    return words.resumed.format(time=time, moment=moment, text=shown_text(resumed))
