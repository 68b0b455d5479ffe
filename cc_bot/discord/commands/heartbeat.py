"""`/heartbeat …`: whether the bot looks around for a user, how often, and where it speaks. Off by default."""

import lightbulb

from cc_bot.commands import reminders
from cc_bot.commands.reply import Reply
from cc_bot.discord.agents import Chooser
from cc_bot.discord.commands.remind import is_moved_to_dm, place_of
from cc_bot.discord.declaring import choices, number_option, reply_command, text_option
from cc_bot.discord.recipients import Recipient, Recipients
from cc_bot.domain.schedule import LEAST_HOURS, MOST_HOURS
from cc_bot.stores import ScheduleStore

loader = lightbulb.Loader()
heartbeat = lightbulb.Group("heartbeat", "heartbeat_description", localize=True)
loader.command(heartbeat)

MAX_TIME_CHARACTERS = 20


def _time(name: str) -> str | None:
    return text_option(name, default=None, max_length=MAX_TIME_CHARACTERS)


async def start(
    caller: Recipient,
    every: int,
    where: str,
    quiet_from: str | None,
    quiet_to: str | None,
    *,
    ctx: lightbulb.Context,
    schedules: ScheduleStore,
    chooser: Chooser,
    recipients: Recipients,
) -> Reply:
    here = where == "channel"
    return await reminders.heartbeat_on(
        caller,
        (await chooser.of(ctx.interaction)).key,
        place_of(ctx.interaction, here=here),
        every=every,
        quiet_from=quiet_from or "",
        quiet_to=quiet_to or "",
        moved_to_dm=here and is_moved_to_dm(ctx.interaction),
        schedules=schedules,
        clock=recipients.clock,
    )


reply_command(
    heartbeat.register,
    "heartbeat_on",
    start,
    every=number_option("heartbeat_every", min_value=LEAST_HOURS, max_value=MOST_HOURS),
    where=text_option("heartbeat_where", default="dm", choices=choices("heartbeat", "dm", "channel")),
    quiet_from=_time("heartbeat_quiet_from"),
    quiet_to=_time("heartbeat_quiet_to"),
)
reply_command(heartbeat.register, "heartbeat_off", reminders.heartbeat_off)
reply_command(heartbeat.register, "heartbeat_status", reminders.heartbeat_status)
