"""`/heartbeat …`. All replies are ephemeral."""

from dataclasses import replace

import lightbulb

from cc_bot.chat.reply import Reply
from cc_bot.discord.agents import AgentSelector
from cc_bot.discord.handlers import Press, choices, number_option, on_press, reply_command, text_option
from cc_bot.discord.interactions import can_write, is_bot_dm
from cc_bot.discord.pages.custom_ids import ShowButton
from cc_bot.discord.pages.page import Button, EphemeralView, reply_view
from cc_bot.discord.recipients import Recipient, Recipients
from cc_bot.domain.when.repeats import MAX_HOURS, MIN_HOURS
from cc_bot.features.heartbeat import service as heartbeats
from cc_bot.features.heartbeat.model import DEFAULT_HOURS
from cc_bot.features.heartbeat.store import HeartbeatStore
from cc_bot.features.heartbeat.texts import WebHeartbeatTexts
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
    quiet_from: str,
    quiet_to: str,
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
        quiet_from=quiet_from,
        quiet_to=quiet_to,
        schedules=schedules,
        clock=recipients.clock,
    )


reply_command(
    heartbeat.register,
    "heartbeat_on",
    start,
    every=number_option("heartbeat_every", min_value=MIN_HOURS, max_value=MAX_HOURS),
    where=text_option("heartbeat_where", default="dm", choices=choices("heartbeat", "dm", "channel")),
    quiet_from=text_option("heartbeat_quiet_from", default="", max_length=MAX_TIME_CHARACTERS),
    quiet_to=text_option("heartbeat_quiet_to", default="", max_length=MAX_TIME_CHARACTERS),
)
reply_command(heartbeat.register, "heartbeat_off", heartbeats.stop)


async def status(caller: Recipient, *, schedules: ScheduleStore) -> EphemeralView:
    schedule = await heartbeats.find_heartbeat(schedules, caller.user_id)
    texts = caller.words[WebHeartbeatTexts]
    label, command = (texts.stop, "heartbeat_off") if schedule else (texts.start, "heartbeat_on")
    button = Button(label, ShowButton(caller.user_id, command).custom_id())
    return replace(reply_view(heartbeats.describe_heartbeat(schedule, caller), caller), buttons=(button,))


reply_command(heartbeat.register, "heartbeat_status", status)


@on_press(ShowButton, not_yours=None, matches=lambda each: each.command in ("heartbeat_on", "heartbeat_off"))
async def switch(
    press: Press[ShowButton],
    schedules: ScheduleStore,
    store: HeartbeatStore,
    agent_selector: AgentSelector,
    recipients: Recipients,
) -> EphemeralView:
    if press.button.command == "heartbeat_on":
        key = (await agent_selector.for_interaction(press.interaction)).key
        await heartbeats.start(
            press.user,
            Destination(key, "dm"),
            every=DEFAULT_HOURS,
            schedules=schedules,
            clock=recipients.clock,
        )
    else:
        await heartbeats.stop(press.user, schedules=schedules, heartbeats=store)
    return await status(press.user, schedules=schedules)
