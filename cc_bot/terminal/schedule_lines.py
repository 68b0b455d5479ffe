"""Reminders as lines of text: in a list, under an answer, and at their time."""

from datetime import datetime
from zoneinfo import ZoneInfo

from cc_bot.domain.schedule import Schedule, ScheduleChange
from cc_bot.terminal.printable import one_line
from cc_bot.texts import Texts
from cc_bot.texts.repeats import described


def moment_line(moment: datetime, zone: ZoneInfo, now: datetime, words: Texts) -> str:
    """A time where the user is: 11月23日(月) 9:00."""
    told, local = words.remind_here, moment.astimezone(zone)
    template = told.moment if local.year == now.astimezone(zone).year else told.moment_of_year
    return template.format(
        y=local.year,
        m=told.months[local.month - 1],
        d=local.day,
        w=told.weekdays[local.weekday()],
        t=f"{local.hour}:{local.minute:02}",
    )


def change_line(change: ScheduleChange, words: Texts) -> str:
    """What was done to a reminder."""
    told, schedule = words.remind_here, change.schedule
    text = one_line(schedule.text)
    if change.kind == "cancelled":
        return told.cancelled.format(text=text)
    time = moment_line(schedule.due_at, schedule.zone, schedule.created_at, words)
    if schedule.repeat:
        repeat = described(schedule.repeat, words)
        return told.again_and_again.format(repeat=repeat, time=time, text=text, id=schedule.number)
    return told.once.format(time=time, text=text, id=schedule.number)


def listed_line(schedule: Schedule, now: datetime, words: Texts) -> str:
    told = words.remind_here
    time = moment_line(schedule.due_at, schedule.zone, now, words)
    notes = told.paused if schedule.status == "paused" else ""
    notes += "" if schedule.place == "terminal" else told.elsewhere
    text = one_line(schedule.text) + notes
    if schedule.repeat:
        time = told.repeated.format(time=time, repeat=described(schedule.repeat, words))
    return told.line.format(id=schedule.number, time=time, text=text)
