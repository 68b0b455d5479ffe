"""`/heartbeat …`."""

from cc_bot.chat.reply import Caller, Reply
from cc_bot.domain.clock import Clock
from cc_bot.domain.errors import InputError
from cc_bot.domain.when.repeats import next_time
from cc_bot.features.heartbeat.model import format_clock, parse_quiet_hours
from cc_bot.features.heartbeat.store import HeartbeatStore
from cc_bot.features.heartbeat.texts import HeartbeatTexts, WebHeartbeatTexts
from cc_bot.features.reminders.model import Schedule
from cc_bot.features.reminders.service import Destination
from cc_bot.features.reminders.store import ScheduleStore
from cc_bot.features.reminders.texts import ReminderTexts, RepeatTexts
from cc_bot.texts import Texts


async def start(
    caller: Caller,
    destination: Destination,
    *,
    every: int,
    quiet_from: str = "",
    quiet_to: str = "",
    schedules: ScheduleStore,
    clock: Clock,
) -> Reply:
    """Start the user's heartbeat, or replace it. Raises InputError."""
    texts, repeat = caller.words[HeartbeatTexts], f"every {every}h"
    quiet = parse_quiet_hours(quiet_from, quiet_to)
    first = next_time(repeat, clock(), caller.timezone, quiet)
    if first is None:
        raise InputError
    fields, target = destination.fields(caller, repeat, quiet), destination.target
    schedule = await schedules.add(destination.key, "", first, kind="heartbeat", target=target, **fields)
    rhythm, time = describe_rhythm(schedule, caller), caller.format_time(schedule.due_at)
    target_notes = [texts.by_dm_instead] if destination.moved_to_dm else []
    notes = (texts.how_to_stop, *target_notes, *_heartbeat_notes(schedule, caller))
    return Reply((texts.started.format(rhythm=rhythm, time=time),), notes=notes)


async def stop(caller: Caller, *, schedules: ScheduleStore, heartbeats: HeartbeatStore) -> Reply:
    schedule = await find_heartbeat(schedules, caller.user_id)
    await heartbeats.delete_marks(caller.user_id)
    if schedule is None:
        return describe_heartbeat(None, caller)
    await schedules.cancel(caller.user_id, schedule.id)
    return Reply((caller.words[HeartbeatTexts].stopped,))


async def find_heartbeat(schedules: ScheduleStore, user_id: int) -> Schedule | None:
    return next(iter(await schedules.list(user_id, kind="heartbeat")), None)


def describe_heartbeat(schedule: Schedule | None, caller: Caller) -> Reply:
    texts, titles = caller.words[HeartbeatTexts], caller.words[WebHeartbeatTexts]
    if schedule is None:
        return Reply((titles.hint,), title=f"{titles.title}: {titles.off}")
    if schedule.status == "paused":
        reason = caller.words[ReminderTexts].reasons[schedule.obstacle]
        return Reply((texts.paused.format(reason=reason),), title=titles.title)
    rhythm, time = describe_rhythm(schedule, caller), caller.format_time(schedule.due_at)
    line, notes = texts.status.format(rhythm=rhythm, time=time), _heartbeat_notes(schedule, caller)
    return Reply((line,), title=titles.title, notes=notes)


def failure_sentence(schedule: Schedule, words: Texts) -> str:
    reason = words[ReminderTexts].reasons[schedule.obstacle]
    return words[HeartbeatTexts].could_not_speak.format(reason=reason)


def describe_rhythm(schedule: Schedule, caller: Caller) -> str:
    texts, quiet = caller.words[HeartbeatTexts], schedule.quiet
    where = texts.by_dm
    if schedule.target == "channel":
        where = texts.in_channel.format(channel=caller.format_channel(schedule.key.channel_id))
    quiet_hours = texts.never_quiet
    if quiet is not None and quiet.since != quiet.until:
        quiet_hours = texts.quiet.format(since=format_clock(quiet.since), until=format_clock(quiet.until))
    repeat = caller.words[RepeatTexts].describe(schedule.repeat)
    return texts.rhythm.format(repeat=repeat, where=where, quiet=quiet_hours)


def _heartbeat_notes(schedule: Schedule, caller: Caller) -> tuple[str, ...]:
    texts = caller.words[HeartbeatTexts]
    notes = [texts.only_public] if schedule.target == "channel" else []
    return (*notes, *([texts.memory_paused] if caller.memory_paused else []))
