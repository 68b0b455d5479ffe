"""Reminders in the terminal: changes by the model, and due ones."""

from datetime import timedelta
from typing import Final
from zoneinfo import ZoneInfo

from cc_bot.commands.reminders import cancelled, reminder_sentence
from cc_bot.commands.reply import Caller
from cc_bot.domain.clock import utc_now
from cc_bot.domain.schedule import Firing, Missed, ScheduleChange
from cc_bot.domain.text import printable
from cc_bot.terminal.markdown import indent_symbols
from cc_bot.texts import Texts

LATE_AFTER: Final = timedelta(minutes=1)


def change_line(change: ScheduleChange, texts: Texts) -> str:
    schedule = change.schedule
    caller = Caller(schedule.key.user_id, texts.locale, schedule.zone, texts)
    if change.kind == "cancelled":
        return cancelled(schedule, caller)
    return (
        f"{reminder_sentence(schedule, caller)} ({texts.reminder.cancel}: /remind delete {schedule.number})"
    )


def due_lines(due: Firing | Missed, zone: ZoneInfo, texts: Texts) -> str:
    words, now = texts.remind_here, utc_now()

    def line(template: str, firing: Firing) -> str:
        content = indent_symbols(printable(firing.schedule.text), at_line_start=False)
        return template.format(text=content, time=words.written(firing.due_at.astimezone(zone), now))

    if isinstance(due, Firing):
        return line(words.said_late if now - due.due_at > LATE_AFTER else words.said, due)
    templates = {"missed": words.missed, "uncertain": words.uncertain}
    return "\n".join(line(templates[firing.state], firing) for firing in due)
