"""`/heartbeat …`: whether the bot looks around for a user, how often, and where it speaks. Off by default."""

import lightbulb

from cc_bot.assistant.reminders import ReminderSource, start_heartbeat, stop_heartbeat
from cc_bot.discord.agents import Chooser
from cc_bot.discord.declaring import choices, command, number_option, text_option
from cc_bot.discord.interactions import can_write, own_space, payer_of
from cc_bot.discord.pages.memory import escape_markdown
from cc_bot.discord.pages.page import NO_PINGS
from cc_bot.discord.pages.reminders import started_answer, status
from cc_bot.discord.recipients import Recipients
from cc_bot.domain.schedule import LEAST_HOURS, MOST_HOURS, quiet_of
from cc_bot.stores import ScheduleStore, Stores

loader = lightbulb.Loader()
heartbeat = lightbulb.Group("heartbeat", "heartbeat_description", localize=True)
loader.command(heartbeat)

_LONGEST_TIME = 20
"""Characters of a time of day."""


def _time(name: str) -> str | None:
    return text_option(name, default=None, max_length=_LONGEST_TIME)


@command(heartbeat.register, "heartbeat_on")
class On:
    every = number_option("heartbeat_every", min_value=LEAST_HOURS, max_value=MOST_HOURS)
    where = text_option("heartbeat_where", default="dm", choices=choices("heartbeat", "dm", "channel"))
    quiet_from = _time("heartbeat_quiet_from")
    quiet_to = _time("heartbeat_quiet_to")

    async def invoke(
        self, ctx: lightbulb.Context, schedules: ScheduleStore, chooser: Chooser, recipients: Recipients
    ) -> None:
        interaction = ctx.interaction
        recipient = await recipients.defer(interaction)
        try:
            quiet = quiet_of(self.quiet_from or "", self.quiet_to or "")
        except ValueError as error:
            told = recipient.words.heartbeat.time_not_understood.format(given=escape_markdown(str(error)))
            await interaction.edit_initial_response(told, **NO_PINGS)
            return
        here = self.where == "channel" and not own_space(interaction)
        posted = here and can_write(interaction)
        source = ReminderSource(
            (await chooser.of(interaction)).key,
            recipient.timezone,
            recipient.locale,
            payer_of(interaction),
            "channel" if posted else "dm",
            None if interaction.guild_id is None else int(interaction.guild_id),
        )
        schedule = await start_heartbeat(schedules, source, self.every, quiet, recipients.clock)
        answer = started_answer(
            schedule, recipient.words, memory_paused=recipient.memory_paused, moved_to_dm=here and not posted
        )
        await interaction.edit_initial_response(answer, **NO_PINGS)


@command(heartbeat.register, "heartbeat_off")
class Off:
    async def invoke(self, ctx: lightbulb.Context, stores: Stores, recipients: Recipients) -> None:
        recipient = await recipients.defer(ctx.interaction)
        stopped = await stop_heartbeat(stores.schedules, stores.heartbeats, recipient.user_id)
        told = recipient.words.heartbeat
        await ctx.interaction.edit_initial_response(told.stopped if stopped else told.off)


@command(heartbeat.register, "heartbeat_status")
class Status:
    async def invoke(self, ctx: lightbulb.Context, schedules: ScheduleStore, recipients: Recipients) -> None:
        recipient = await recipients.defer(ctx.interaction)
        found = await schedules.list(recipient.user_id, kind="heartbeat")
        answer = status(found[0] if found else None, recipient.words, memory_paused=recipient.memory_paused)
        await ctx.interaction.edit_initial_response(answer, **NO_PINGS)
