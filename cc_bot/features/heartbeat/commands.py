"""`/heartbeat …`. All replies are ephemeral."""

import lightbulb

from cc_bot.chat.reply import Reply
from cc_bot.discord.agents import AgentSelector
from cc_bot.discord.handlers import choices, number_option, reply_command, text_option
from cc_bot.discord.interactions import can_write, is_bot_dm
from cc_bot.discord.recipients import Recipient, Recipients
from cc_bot.domain.when.repeats import MAX_HOURS, MIN_HOURS
from cc_bot.features.heartbeat import service as heartbeats
from cc_bot.features.reminders.service import Destination
from cc_bot.features.reminders.store import ScheduleStore

loader = lightbulb.Loader()
heartbeat = lightbulb.Group("heartbeat", "heartbeat_description", localize=True)
loader.command(heartbeat)

MAX_TIME_CHARACTERS = 20


async def start(
    caller: Recipient,
    every: int,
    where: str,
    quiet_from: str | None,
    quiet_to: str | None,
    *,
    ctx: lightbulb.Context,
    schedules: ScheduleStore,
    agent_selector: AgentSelector,
    recipients: Recipients,
) -> Reply:
    interaction = ctx.interaction
    in_channel = where == "channel" and not is_bot_dm(interaction)
    key = (await agent_selector.for_interaction(interaction)).key
    return await heartbeats.start(
        caller,
        Destination.choose(key, in_channel=in_channel, can_write=can_write(interaction)),
        every=every,
        quiet_from=quiet_from or "",
        quiet_to=quiet_to or "",
        schedules=schedules,
        clock=recipients.clock,
    )


reply_command(
    heartbeat.register,
    "heartbeat_on",
    start,
    every=number_option("heartbeat_every", min_value=MIN_HOURS, max_value=MAX_HOURS),
    where=text_option("heartbeat_where", default="dm", choices=choices("heartbeat", "dm", "channel")),
    quiet_from=text_option("heartbeat_quiet_from", default=None, max_length=MAX_TIME_CHARACTERS),
    quiet_to=text_option("heartbeat_quiet_to", default=None, max_length=MAX_TIME_CHARACTERS),
)
reply_command(heartbeat.register, "heartbeat_off", heartbeats.stop)
reply_command(heartbeat.register, "heartbeat_status", heartbeats.status)
