"""Reminders in the terminal: how they read, and saying them when they are due."""

from datetime import datetime, timedelta
from typing import Final
from zoneinfo import ZoneInfo

from cc_bot.domain.clock import utc_now
from cc_bot.domain.schedule import Firing, MissedReminders, Schedule, ScheduleChange
from cc_bot.domain.text import printable
from cc_bot.terminal.markdown import indent_symbols, one_line
from cc_bot.texts import Texts
from cc_bot.texts.reminder import described

LATE_AFTER: Final = timedelta(minutes=1)


def moment_line(moment: datetime, zone: ZoneInfo, now: datetime, texts: Texts) -> str:
    """Return a time where the user is: 11月23日(月) 9:00."""
    words, local = texts.remind_here, moment.astimezone(zone)
    template = words.moment if local.year == now.astimezone(zone).year else words.moment_of_year
    return template.format(
        y=local.year,
        m=words.months[local.month - 1],
        d=local.day,
        w=words.weekdays[local.weekday()],
        t=f"{local.hour}:{local.minute:02}",
    )


def change_line(change: ScheduleChange, texts: Texts) -> str:
    """Return what was done to a reminder."""
    words, schedule = texts.remind_here, change.schedule
    content = one_line(schedule.text)
    if change.kind == "cancelled":
        return words.cancelled.format(text=content)
    time = moment_line(schedule.due_at, schedule.zone, schedule.created_at, texts)
    if not schedule.repeat:
        return words.once.format(time=time, text=content, id=schedule.number)
    repeat = described(schedule.repeat, texts.repeat)
    return words.again_and_again.format(repeat=repeat, time=time, text=content, id=schedule.number)


def reminder_line(schedule: Schedule, now: datetime, texts: Texts) -> str:
    """Return a reminder in a list."""
    words = texts.remind_here
    time = moment_line(schedule.due_at, schedule.zone, now, texts)
    if schedule.repeat:
        time = words.repeated.format(time=time, repeat=described(schedule.repeat, texts.repeat))
    notes = words.paused if schedule.status == "paused" else ""
    notes += "" if schedule.place == "terminal" else words.elsewhere
    return words.line.format(id=schedule.number, time=time, text=one_line(schedule.text) + notes)


def due_lines(due: Firing | MissedReminders, zone: ZoneInfo, texts: Texts) -> str:
    """Return what is said when a reminder is due, or was missed."""
    words, now = texts.remind_here, utc_now()

    def line(template: str, firing: Firing) -> str:
        content = indent_symbols(printable(firing.schedule.text), at_line_start=False)
        return template.format(text=content, time=moment_line(firing.due_at, zone, now, texts))

    if isinstance(due, Firing):
        return line(words.said_late if now - due.due_at > LATE_AFTER else words.said, due)
    missed = [line(words.missed, firing) for firing in due.missed]
    return "\n".join([*missed, *(line(words.uncertain, firing) for firing in due.uncertain)])
