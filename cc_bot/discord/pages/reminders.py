"""Reminders and heartbeats as messages of the bot's own, at their time."""

from dataclasses import replace
from datetime import datetime, timedelta
from typing import Final

from cc_bot.commands.reminders import short_time
from cc_bot.discord.pages.custom_ids import SnoozeButton, UnscheduleButton
from cc_bot.discord.pages.links import CLOSE_LIMIT, without_previews
from cc_bot.discord.pages.markdown import for_discord
from cc_bot.discord.pages.memory import (
    CHOICE_CHARACTERS,
    escape_markdown,
    one_line,
    timestamp,
)
from cc_bot.discord.pages.page import NO_FACTS, Button, Facts, Page
from cc_bot.discord.pages.split import MESSAGE_LIMIT, utf16_length
from cc_bot.domain.schedule import Firing, MissedReminders, Schedule
from cc_bot.domain.text import shorten
from cc_bot.texts import Texts


def choice_name(schedule: Schedule) -> str:
    """A reminder as a choice of an autocomplete list, which shows no timestamps: its time is its owner's."""
    return shorten(f"#{schedule.number} {short_time(schedule)} {one_line(schedule.text)}", CHOICE_CHARACTERS)


SNOOZES_MIN: Final = (10, 60)
LATE: Final = timedelta(minutes=2)
"""What comes later than this says so."""
UNTOLD_CHARACTERS: Final = 200
"""Of each reminder in a list of those that did not come."""
MOST_UNTOLD: Final = 6
"""In one message; of the others only how many there are."""

_MARK: Final = "⏰ "


def reminder_page(firing: Firing, now: datetime, words: Texts) -> Page:
    """A reminder at its time: for whom it is, what it says, and what can be done about it."""
    schedule = firing.schedule
    late = Facts(notices=(words.reminder.late.format(time=timestamp(firing.due_at, "f")),))
    text = f"<@{schedule.key.user_id}> {spoken_reminder(schedule)}"
    return Page(
        _plain_text(text),
        reminder_buttons(schedule, words),
        facts=late if now - firing.due_at > LATE else NO_FACTS,
    )


def spoken_reminder(schedule: Schedule) -> str:
    """The text that a reminder says, without whom it calls: so it is archived, and so it is quoted."""
    return f"{_MARK}{schedule.text}"


def heartbeat_page(schedule: Schedule, text: str) -> Page:
    """The message that a heartbeat says. In a channel its owner is called."""
    call = f"<@{schedule.key.user_id}> " if schedule.heard == "public" else ""
    return Page(_plain_text(f"{call}{for_discord(text)}"))


def reminder_buttons(schedule: Schedule, words: Texts) -> tuple[Button, ...]:
    """The buttons for once more a little later and, of what repeats, for no more at all."""
    user_id, told = schedule.key.user_id, words.reminder
    labels = (told.snooze_ten_minutes, told.snooze_hour)
    buttons = [
        Button(label, SnoozeButton(user_id, schedule.id, minutes).custom_id())
        for label, minutes in zip(labels, SNOOZES_MIN, strict=True)
    ]
    return (*buttons, *_stop_button(schedule, words))


def snoozed_page(shown: Page, before: Schedule, later: Schedule, words: Texts) -> Page:
    """A reminder that will come once more: that, and a way to take it back."""
    told = words.reminder.snoozed.format(moment=timestamp(later.due_at, "R"))
    button = Button(words.reminder.cancel, UnscheduleButton(later.key.user_id, later.id).custom_id())
    return replace(shown, facts=shown.facts.noting(told), buttons=(button, *_stop_button(before, words)))


def _stop_button(schedule: Schedule, words: Texts) -> tuple[Button, ...]:
    if not schedule.repeat:
        return ()
    button = UnscheduleButton(schedule.key.user_id, schedule.id)
    return (Button(words.reminder.stop_repeating, button.custom_id()),)


def untold_page(untold: MissedReminders, words: Texts) -> Page:
    """The message that tells what did not come in its time, or perhaps did not, for its owner."""
    told = words.reminder
    parts = [
        "\n".join((heading, *_untold_lines(firings)))
        for heading, firings in ((told.missed, untold.missed), (told.uncertain, untold.uncertain))
        if firings
    ]
    return Page(_plain_text("\n".join(parts)))


def stopped_page(schedule: Schedule, words: Texts) -> Page:
    """The message that tells why a schedule does not go on, for its owner."""
    told, reason = words.reminder, words.reminder.reasons[schedule.obstacle]
    if schedule.kind == "heartbeat":
        return Page(told.heartbeat_stopped.format(reason=reason))
    text = escape_markdown(shorten(one_line(schedule.text), UNTOLD_CHARACTERS))
    return Page(_plain_text(told.stopped.format(text=text, reason=reason)))


def _untold_lines(firings: tuple[Firing, ...]) -> list[str]:
    lines = [
        f"- {timestamp(firing.due_at, 'f')} "
        f"{escape_markdown(shorten(one_line(firing.schedule.text), UNTOLD_CHARACTERS))}"
        for firing in firings[:MOST_UNTOLD]
    ]
    more = len(firings) - MOST_UNTOLD
    return [*lines, f"- … +{more}"] if more > 0 else lines


def _plain_text(text: str) -> str:
    """Cut a text to what Discord takes, with no previews of its links: a model may have set the reminder."""
    shown = without_previews(_fitting(text, MESSAGE_LIMIT))
    if utf16_length(shown) <= MESSAGE_LIMIT:
        return shown
    return without_previews(_fitting(text, CLOSE_LIMIT))


def _fitting(text: str, limit: int) -> str:
    while (over := utf16_length(text) - limit) > 0:
        text = f"{text[: len(text) - max(1, over // 2) - 1]}…"
    return text
