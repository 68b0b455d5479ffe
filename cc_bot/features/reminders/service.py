"""The actions of `/remind …`, for all front ends."""

from collections import Counter
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Final, NamedTuple

from cc_bot.chat.reply import Action, Caller, Item, Reply
from cc_bot.chat.turn import TurnOptions
from cc_bot.domain.clock import utc_now
from cc_bot.domain.errors import ScheduleNotFound, SeveralTimes
from cc_bot.domain.message import Message, Target
from cc_bot.domain.session import SessionKey
from cc_bot.domain.when.repeats import QuietHours
from cc_bot.domain.when.resolve import ScheduledTime
from cc_bot.features.reminders.errors import TooManySchedules
from cc_bot.features.reminders.model import MAX_SCHEDULES, ReminderChange, Schedule
from cc_bot.features.reminders.resolver import TimeResolver
from cc_bot.features.reminders.store import ScheduleFields, ScheduleStore
from cc_bot.features.reminders.texts import ReminderTexts, RepeatTexts, WebReminderTexts
from cc_bot.texts import Texts
from cc_bot.texts.replies import MomentTexts, ReplyTexts

MAX_QUOTE_LENGTH: Final = 700


@dataclass(frozen=True, slots=True)
class Composition:
    message: Message | None  # None if only the canvas changed; tool calls name the quoted memories
    changed_canvas: bool = False


@dataclass(frozen=True, slots=True)
class Composer:
    compose: Callable[[Schedule, TurnOptions], Awaitable[Composition | None]]  # None: nothing to say
    failure_sentence: Callable[[Schedule, Texts], str]  # for the user, after Discord refused the message


class Destination(NamedTuple):
    key: SessionKey
    target: Target
    moved_to_dm: bool = False  # because the bot can't write in the channel

    @classmethod
    def choose(cls, key: SessionKey, *, in_channel: bool, can_write: bool) -> "Destination":
        target: Target = "channel" if in_channel and can_write else "dm"
        return cls(key, target, moved_to_dm=in_channel and not can_write)

    def fields(self, caller: Caller, repeat: str, quiet: QuietHours | None = None) -> ScheduleFields:
        return {
            "repeat": repeat,
            "quiet": quiet,
            "guild_id": caller.guild_id,
            "visibility": "private" if self.target == "dm" else "public",
            "timezone": caller.timezone.key,
            "locale": caller.locale,
        }


async def list_reminders(caller: Caller, *, schedules: ScheduleStore) -> Reply:
    return describe_reminders(await schedules.list(caller.user_id), caller)


def describe_reminders(reminders: Sequence[Schedule], caller: Caller) -> Reply:
    """Return an item for each reminder. The notes name the most common target, the items any other."""
    texts = caller.words[ReminderTexts]
    if not reminders:
        return Reply((texts.none,))
    targets = Counter(name_target(each, caller) for each in reminders)
    [(usual, _)] = targets.most_common(1)
    note = texts.where_terminal if usual == texts.terminal else texts.where
    if len(targets) > 1:
        note = texts.where_if_unnamed
    items = tuple(_reminder_item(each, caller, usual_target=usual) for each in reminders)
    title = texts.list_title.format(count=len(reminders))
    paused = caller.words[WebReminderTexts].paused.format(count=sum(bool(each.problem) for each in items))
    return Reply(title=title, items=items, problems_title=paused, notes=(note.format(target=usual),))


async def add(
    caller: Caller,
    destination: Destination,
    *,
    text: str,
    when: str,
    repeat: str = "",
    schedules: ScheduleStore,
    resolver: TimeResolver,
) -> Reply:
    """Add a reminder for each time in `when`. Raises the errors of `resolve` and ScheduleStore.add."""
    schedules.check(text)
    planned = await resolver.resolve(when, repeat, caller.timezone, payer=caller.payer)
    if len(planned) > MAX_SCHEDULES - len(await schedules.list(caller.user_id)):
        raise TooManySchedules(limit=MAX_SCHEDULES)
    added = [
        await schedules.add(
            destination.key, text, due_at, target=destination.target, **destination.fields(caller, cron)
        )
        for due_at, cron in planned
    ]
    limit = MAX_QUOTE_LENGTH // (2 * len(added) - 1)  # so that MAX_AT_ONCE sentences fit a message
    texts = caller.words[ReminderTexts]
    target_notes: tuple[str, ...] = (texts.where.format(target=name_target(added[0], caller)),)
    if destination.moved_to_dm:
        target_notes = (texts.by_dm_instead,)
    elif destination.target == "terminal":
        target_notes = ()
    return Reply(
        tuple(reminder_sentence(each, each.local_due, caller, limit=limit) for each in added),
        notes=(*target_notes, *await _paused_notes(caller, schedules)),
        actions=tuple(_cancel_action(each, caller, one_of_several=len(added) > 1) for each in added),
    )


async def change(
    caller: Caller,
    reminder: Schedule,
    *,
    text: str,
    when: str,
    repeat: str,
    schedules: ScheduleStore,
    resolver: TimeResolver,
) -> Reply:
    """Change a reminder, but not a `when` or `repeat` that is empty: `when` alone moves only the next time of
    a repeat. Raises ScheduleNotFound, SeveralTimes, and the errors of `add`."""
    planned, zone = None, caller.timezone
    if when.strip() or repeat.strip():
        first_time = when if when.strip() else f"{reminder.due_at.astimezone(zone):%Y-%m-%d %H:%M}"
        schedules.check(text)
        planned, *others = await resolver.resolve(first_time, repeat, zone, payer=caller.payer)
        if others:
            raise SeveralTimes
        due, cron = planned
        if not repeat.strip():
            planned = due, cron or reminder.repeat
    user_id, timezone = caller.user_id, zone.key
    changed = await schedules.change(user_id, reminder.id, text=text, planned=planned, timezone=timezone)
    if changed is None:
        raise ScheduleNotFound(id=reminder.number)
    return Reply((reminder_sentence(changed, changed.local_due, caller),), receipts_changed=True)


async def find_reminder(schedules: ScheduleStore, user_id: int, number: int) -> Schedule:
    """Return a user's active or paused reminder. Raises ScheduleNotFound."""
    reminder = await schedules.get_by_number(user_id, number)
    if reminder is None or reminder.status == "done":
        raise ScheduleNotFound(id=number)
    return reminder


async def delete(caller: Caller, id: int, *, schedules: ScheduleStore) -> Reply:  # noqa: A002 - the option's name
    reminder = await find_reminder(schedules, caller.user_id, id)
    if await schedules.cancel(caller.user_id, reminder.id) is None:
        raise ScheduleNotFound(id=id)
    return Reply((cancelled_sentence(reminder, caller),), receipts_changed=True)


async def cancel(caller: Caller, schedule_id: int, *, schedules: ScheduleStore) -> Reply:
    reminder = await schedules.get(caller.user_id, schedule_id)
    if reminder and reminder.status != "done" and await schedules.cancel(caller.user_id, schedule_id):
        return Reply((cancelled_sentence(reminder, caller),))
    return Reply((caller.words[ReminderTexts].gone,))


async def resume(caller: Caller, id: int, *, schedules: ScheduleStore) -> Reply:  # noqa: A002 - the option's name
    texts, reminder = caller.words[ReminderTexts], await find_reminder(schedules, caller.user_id, id)
    resumed = await schedules.resume(caller.user_id, reminder.id)
    text = caller.format_text(reminder.text, MAX_QUOTE_LENGTH)
    if resumed is None:
        return Reply((texts.not_paused.format(text=text),))
    return Reply((texts.resumed.format(time=caller.format_time(resumed.due_at), text=text),))


def reminder_sentence(
    reminder: Schedule | ReminderChange, local_due: datetime, caller: Caller, *, limit: int = MAX_QUOTE_LENGTH
) -> str:
    texts, text = caller.words[ReminderTexts], caller.format_text(reminder.text, limit)
    time = caller.words[MomentTexts].written(local_due, utc_now())
    if not reminder.repeat:
        return texts.once.format(time=time, text=text)
    repeat = caller.words[RepeatTexts].describe(reminder.repeat)
    coming = caller.words[ReplyTexts].say_next(repeat, time)
    return texts.repeated.format(repeat=repeat, day=coming, text=text)


def describe_times(times: Sequence[ScheduledTime], caller: Caller) -> str:
    describe = caller.words[RepeatTexts].describe
    return " / ".join(
        (f"{describe(repeat)} · " if repeat else "") + caller.format_time(due_at) for due_at, repeat in times
    )


def cancelled_sentence(schedule: Schedule, caller: Caller) -> str:
    text = caller.format_text(schedule.text, MAX_QUOTE_LENGTH)
    return caller.words[ReminderTexts].cancelled.format(text=text)


def _reminder_item(schedule: Schedule, caller: Caller, *, usual_target: str) -> Item:
    repeat = f"🔁 {caller.words[RepeatTexts].describe(schedule.repeat)}" if schedule.repeat else ""
    target = name_target(schedule, caller)
    named = "" if target == usual_target else target
    time = caller.format_time(schedule.due_at)
    texts, is_paused = caller.words[ReminderTexts], schedule.status == "paused"
    reason = texts.reasons[schedule.obstacle]
    trouble = f"⏸ {reason[0].upper()}{reason[1:]}" if is_paused else ""
    return Item(schedule.number, schedule.text, (named,), time, repeat, trouble)


def _cancel_action(schedule: Schedule, caller: Caller, *, one_of_several: bool) -> Action:
    texts, label = caller.words[ReminderTexts], caller.words[ReminderTexts].cancel
    if one_of_several:
        time = caller.words[MomentTexts].written(schedule.local_due, utc_now())
        label = texts.cancel_one.format(text=time)
    return Action(label, "cancel", schedule.id, f"/remind delete {schedule.number}")


def name_target(schedule: Schedule, caller: Caller) -> str:
    if schedule.target == "channel":
        return caller.format_channel(schedule.key.channel_id)
    return "DM" if schedule.target == "dm" else caller.words[ReminderTexts].terminal


async def _paused_notes(caller: Caller, schedules: ScheduleStore) -> tuple[str, ...]:
    """Return a hint at undeliverable reminders, of which a user with closed DMs would not learn otherwise."""
    reminders = await schedules.list(caller.user_id)
    count = sum(each.status == "paused" and each.obstacle != "" for each in reminders)
    return (caller.words[ReminderTexts].look_at_paused.format(count=count),) if count else ()
