"""`/heartbeat …`."""

from collections.abc import Sequence

from cc_bot.chat.reply import Caller, Reply
from cc_bot.domain.clock import Clock
from cc_bot.domain.errors import InputError
from cc_bot.domain.when.repeats import next_time, parse_hours
from cc_bot.features.heartbeat.model import clock_time, parse_quiet_hours
from cc_bot.features.heartbeat.store import HeartbeatStore
from cc_bot.features.heartbeat.texts import HeartbeatTexts
from cc_bot.features.reminders.model import Schedule
from cc_bot.features.reminders.service import Destination
from cc_bot.features.reminders.store import ScheduleStore
from cc_bot.features.reminders.texts import ReminderTexts
from cc_bot.texts import Texts


async def start(
    caller: Caller,
    to: Destination,
    *,
    every: int,
    quiet_from: str,
    quiet_to: str,
    schedules: ScheduleStore,
    clock: Clock,
) -> Reply:
    """Start a heartbeat, replacing the former one. Raises InputError."""
    texts, repeat = caller.words[HeartbeatTexts], f"every {every}h"
    quiet = parse_quiet_hours(quiet_from, quiet_to)
    first = next_time(repeat, clock(), caller.timezone, quiet)
    if first is None:
        raise InputError
    fields = to.fields(caller, repeat, quiet)
    schedule = await schedules.add(to.key, "", first, kind="heartbeat", target=to.target, **fields)
    sentence = texts.started.format(rhythm=rhythm(schedule, caller), time=caller.moment(schedule.due_at))
    moved = [texts.by_dm_instead] if to.moved_to_dm else []
    return Reply((sentence,), notes=(texts.how_to_stop, *moved, *_heartbeat_notes(schedule, caller)))


async def stop(caller: Caller, *, schedules: ScheduleStore, heartbeats: HeartbeatStore) -> Reply:
    found = await schedules.list(caller.user_id, kind="heartbeat")
    for schedule in found:
        await schedules.cancel(caller.user_id, schedule.id)
    await heartbeats.forget(caller.user_id)
    return Reply((caller.words[HeartbeatTexts].stopped if found else caller.words[HeartbeatTexts].off,))


async def status(caller: Caller, *, schedules: ScheduleStore) -> Reply:
    found = await schedules.list(caller.user_id, kind="heartbeat")
    return state(found, caller)


def state(found: Sequence[Schedule], caller: Caller) -> Reply:
    texts = caller.words[HeartbeatTexts]
    if not found:
        return Reply((texts.off,))
    [schedule] = found
    if schedule.status == "paused":
        reason = caller.words[ReminderTexts].reasons[schedule.obstacle]
        return Reply((texts.paused.format(reason=reason),))
    sentence = texts.status.format(rhythm=rhythm(schedule, caller), time=caller.moment(schedule.due_at))
    return Reply((sentence,), notes=_heartbeat_notes(schedule, caller))


def stopped(schedule: Schedule, words: Texts) -> str:
    reason = words[ReminderTexts].reasons[schedule.obstacle]
    return words[HeartbeatTexts].could_not_speak.format(reason=reason)


def rhythm(schedule: Schedule, caller: Caller) -> str:
    """How often a heartbeat comes, where, and its quiet hours."""
    texts, quiet = caller.words[HeartbeatTexts], schedule.quiet
    where = texts.by_dm
    if schedule.target == "channel":
        where = texts.in_channel.format(channel=caller.channel(schedule.key.channel_id))
    silence = texts.never_quiet
    if quiet is not None and quiet.since != quiet.until:
        silence = texts.quiet.format(since=clock_time(quiet.since), until=clock_time(quiet.until))
    return texts.rhythm.format(hours=parse_hours(schedule.repeat), where=where, quiet=silence)


def _heartbeat_notes(schedule: Schedule, caller: Caller) -> tuple[str, ...]:
    texts = caller.words[HeartbeatTexts]
    public = [texts.only_public] if schedule.target == "channel" else []
    return (*public, *([texts.memory_paused] if caller.memory_paused else []))
