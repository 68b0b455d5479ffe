"""Heartbeats as their owner sees them: whether they come, how often, where, and when next."""

from cc_bot.discord.pages.memory_view import timestamp
from cc_bot.domain.heartbeat import clock_time, hours_of
from cc_bot.domain.schedule import Schedule
from cc_bot.texts import Texts


def started(schedule: Schedule, words: Texts, *, memory_paused: bool, moved_to_dm: bool) -> str:
    """What `/heartbeat on` answers."""
    told = words.heartbeat
    time, moment = timestamp(schedule.due_at, "F"), timestamp(schedule.due_at, "R")
    lines = [told.started.format(rhythm=rhythm(schedule, words), time=time, moment=moment)]
    if moved_to_dm:
        lines.append(told.by_dm_instead)
    return "\n".join((*lines, *_beside(schedule, words, memory_paused=memory_paused)))


def status(schedule: Schedule | None, words: Texts, *, memory_paused: bool) -> str:
    """What `/heartbeat status` answers."""
    told = words.heartbeat
    if schedule is None:
        return told.off
    if schedule.status == "paused":
        reason = words.reminder.reason(schedule.obstacle)
        return told.paused.format(reason=reason) if reason else told.paused_by_user
    time, moment = timestamp(schedule.due_at, "F"), timestamp(schedule.due_at, "R")
    line = told.status.format(rhythm=rhythm(schedule, words), time=time, moment=moment)
    return "\n".join((line, *_beside(schedule, words, memory_paused=memory_paused)))


def rhythm(schedule: Schedule, words: Texts) -> str:
    """How often, where, and when not."""
    told, quiet = words.heartbeat, schedule.quiet
    channel = told.in_channel.format(channel=f"<#{schedule.key.channel_id}>")
    where = channel if schedule.place == "channel" else told.by_dm
    kept = told.never_quiet
    if quiet is not None and quiet.since != quiet.until:
        kept = told.quiet.format(since=clock_time(quiet.since), until=clock_time(quiet.until))
    return told.rhythm.format(hours=hours_of(schedule.repeat), where=where, quiet=kept)


def _beside(schedule: Schedule, words: Texts, *, memory_paused: bool) -> list[str]:
    """What of it is not as one might expect."""
    told = words.heartbeat
    lines = [told.only_public] if schedule.place == "channel" else []
    return [*lines, told.memory_paused] if memory_paused else lines
