"""The `/remind` commands, and what they lead to: reminders that are said between answers."""

from collections.abc import Awaitable, Callable
from datetime import datetime, timedelta
from functools import partial
from typing import Annotated, Final

import structlog

from cc_bot.domain.clock import utc_now
from cc_bot.domain.errors import CcBotError, EmptyReminder, ScheduleNotFound
from cc_bot.domain.message import Message
from cc_bot.domain.repeats import parse_schedules
from cc_bot.domain.schedule import Firing, MissedReminders, ScheduleChange
from cc_bot.domain.text import printable
from cc_bot.domain.when_and_what import split_when
from cc_bot.scheduler import Scheduler
from cc_bot.terminal.commands import Argument, Chat, Person, command, number_of
from cc_bot.terminal.markdown import set_apart
from cc_bot.terminal.view import change_line, moment_line, reminder_line

LATE: Final = timedelta(minutes=1)
"""Later than this is said to be late."""

Show = Callable[[Callable[[], None]], Awaitable[None]]
"""Has something printed where the user does not type just now."""

_log = structlog.get_logger(__name__)


@command("remind list")
async def list_reminders(chat: Chat) -> None:
    words, now = chat.texts, utc_now()
    known = await chat.stores.schedules.list(chat.user_id)
    lines = [words.remind_here.title, *(reminder_line(schedule, now, words) for schedule in known)]
    chat.say("\n".join(lines) if known else words.remind_here.none)


@command("remind add")
async def add_reminder(chat: Chat, wish: Annotated[str, Argument("reminder")]) -> None:
    """Keep `明日9時 薬`: where the time ends and the text begins is found out with the clock.

    Raise EmptyReminder, or why no time is found.
    """
    if not wish:
        raise EmptyReminder
    when, text = split_when(wish)
    planned = parse_schedules(when, "", utc_now(), chat.person.timezone)
    if not text:
        chat.complain(chat.texts.remind_here.what)
        return
    for due, repeat in planned:
        added = await chat.stores.schedules.add(
            chat.person.key,
            text,
            due,
            place="terminal",
            visibility=chat.profile.visibility,
            repeat=repeat,
            timezone=chat.person.timezone.key,
        )
        chat.say(change_line(ScheduleChange("added", added), chat.texts))


ReminderNumber = Annotated[
    int, Argument("reminder number", number_of, needed=lambda words: words.remind_here.id_needed)
]


@command("remind delete")
async def delete_reminder(chat: Chat, number: ReminderNumber) -> None:
    schedules = chat.stores.schedules
    known = await schedules.get_by_number(chat.user_id, number)
    cancelled = await schedules.cancel(chat.user_id, known.id) if known else None
    if cancelled is None:
        raise ScheduleNotFound(id=number)
    chat.say(change_line(ScheduleChange("cancelled", cancelled), chat.texts))


async def say_due(chat: Chat, scheduler: Scheduler, show: Show) -> None:
    """Say what is due now. A failure is a log record; what could not be read comes the next time."""
    try:
        for each in await scheduler.due():
            lines = _lines(each, await chat.read_person(), utc_now())
            await show(partial(chat.view.say, "\n".join(lines)))
            if isinstance(each, Firing):
                await chat.stores.schedules.mark_sent(each, Message("assistant", each.schedule.text))
    except CcBotError as error:
        _log.warning("reminders_not_said", error=type(error).__name__)


def _lines(each: Firing | MissedReminders, person: Person, now: datetime) -> list[str]:
    words = person.texts.remind_here
    if isinstance(each, Firing):
        return [_line(words.said_late if now - each.due_at > LATE else words.said, each, person, now)]
    missed = [_line(words.missed, firing, person, now) for firing in each.missed]
    return [*missed, *(_line(words.uncertain, firing, person, now) for firing in each.uncertain)]


def _line(template: str, firing: Firing, person: Person, now: datetime) -> str:
    time = moment_line(firing.due_at, person.timezone, now, person.texts)
    text = set_apart(printable(firing.schedule.text), at_line_start=False)
    return template.format(text=text, time=time)
