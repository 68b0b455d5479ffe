"""Reminders and heartbeats that their user sets, changes and ends by hand: the same from wherever that is
done."""

from collections.abc import Sequence
from dataclasses import dataclass
from zoneinfo import ZoneInfo

from cc_bot.assistant.moments import TimeResolver
from cc_bot.domain.clock import Clock
from cc_bot.domain.errors import ScheduleNotFound, SeveralTimes, TooManySchedules
from cc_bot.domain.limits import UsageSubject
from cc_bot.domain.locale import Locale
from cc_bot.domain.schedule import MAX_SCHEDULES, Place, Quiet, Schedule, next_beat, repeat_of
from cc_bot.domain.session import SessionKey
from cc_bot.stores import HeartbeatStore, ScheduleStore


@dataclass(frozen=True, slots=True)
class ReminderSource:
    """The one who sets a reminder, and where."""

    key: SessionKey
    zone: ZoneInfo
    locale: Locale
    payer: UsageSubject
    """On whose account a model is asked what a time means."""
    place: Place = "dm"
    """Where it is said."""
    guild_id: int | None = None


async def add_reminders(
    schedules: ScheduleStore,
    moments: TimeResolver,
    source: ReminderSource,
    *,
    text: str,
    when: str,
    repeat: str = "",
) -> Sequence[Schedule]:
    """Set a reminder for each time that is meant: all of them, or none. Raises TooManySchedules, what
    `TimeResolver.resolve` and what `ScheduleStore.add` raise."""
    user_id = source.key.user_id
    schedules.check(text)
    planned = await moments.resolve(when, repeat, source.zone, source.locale, payer=source.payer)
    if len(planned) > MAX_SCHEDULES - len(await schedules.list(user_id)):
        raise TooManySchedules(limit=MAX_SCHEDULES)
    return [
        await schedules.add(
            source.key,
            text,
            due_at,
            place=source.place,
            guild_id=source.guild_id,
            visibility="public" if source.place == "channel" else "private",
            repeat=again,
            timezone=source.zone.key,
            locale=source.locale,
        )
        for due_at, again in planned
    ]


async def change_reminder(
    schedules: ScheduleStore,
    moments: TimeResolver,
    source: ReminderSource,
    before: Schedule,
    *,
    text: str,
    when: str = "",
    repeat: str = "",
) -> Schedule:
    """Give a reminder this text and, where one is given, this time and repeat; a repeat without a time begins
    at the time that there was. Raises ScheduleNotFound for one that is over by now, SeveralTimes, and what
    `TimeResolver.resolve` and `ScheduleStore.check` raise."""
    time = None
    if when.strip() or repeat.strip():
        begins = when if when.strip() else f"{before.due_at.astimezone(source.zone):%Y-%m-%d %H:%M}"
        schedules.check(text)
        time, *others = await moments.resolve(begins, repeat, source.zone, source.locale, payer=source.payer)
        if others:
            raise SeveralTimes
    changed = await schedules.change(
        before.key.user_id, before.id, text=text, time=time, timezone=source.zone.key
    )
    if changed is None:
        raise ScheduleNotFound(id=before.number)
    return changed


async def find_reminder(schedules: ScheduleStore, user_id: int, number: int) -> Schedule:
    """Return a user's reminder by its number. Raises ScheduleNotFound, also for one that is over."""
    found = await schedules.get_by_number(user_id, number)
    if found is None or found.status == "done":
        raise ScheduleNotFound(id=number)
    return found


async def start_heartbeat(
    schedules: ScheduleStore, source: ReminderSource, hours: int, quiet: Quiet, clock: Clock
) -> Schedule:
    """Look around for a user every so many hours from now on, in the place of what there was. Raises
    ValueError for more or fewer hours than there may be."""
    repeat = repeat_of(hours)
    return await schedules.add(
        source.key,
        "",
        next_beat(clock(), repeat, source.zone, quiet),
        kind="heartbeat",
        place=source.place,
        guild_id=source.guild_id,
        visibility="public" if source.place == "channel" else "private",
        repeat=repeat,
        timezone=source.zone.key,
        quiet=quiet,
        locale=source.locale,
    )


async def stop_heartbeat(schedules: ScheduleStore, heartbeats: HeartbeatStore, user_id: int) -> bool:
    """Look around for a user no longer, and know nothing of what was looked at; False where nobody did."""
    found = await schedules.list(user_id, kind="heartbeat")
    for schedule in found:
        await schedules.cancel(user_id, schedule.id)
    await heartbeats.forget(user_id)
    return bool(found)
