"""Messages for due reminders and heartbeats."""

from dataclasses import replace
from datetime import datetime, timedelta
from typing import Final

from cc_bot.discord.pages.custom_ids import SnoozeButton, UnscheduleButton
from cc_bot.discord.pages.markdown import for_discord, split_messages
from cc_bot.discord.pages.page import CHOICE_CHARACTERS, NO_FACTS, Button, Page, escape_markdown, timestamp
from cc_bot.discord.pages.split import MESSAGE_LIMIT
from cc_bot.domain.text import one_line, shorten
from cc_bot.features.reminders.model import Firing, Schedule, UnreportedFirings
from cc_bot.features.reminders.texts import ReminderTexts
from cc_bot.texts import Texts


def choice_name(schedule: Schedule) -> str:
    """Return a choice with the time written out, as Discord renders no timestamps in choices."""
    time = f"{schedule.local_due:%m/%d %H:%M}"
    return shorten(f"#{schedule.number} {time} {one_line(schedule.text)}", CHOICE_CHARACTERS)


LATE_AFTER: Final = timedelta(minutes=2)  # a message that is later than this says when it was due
MAX_QUOTE_LENGTH: Final = 200
MAX_LISTED: Final = 6


def reminder_page(firing: Firing, now: datetime, words: Texts) -> Page:
    schedule = firing.schedule
    facts = NO_FACTS
    if now - firing.due_at > LATE_AFTER:
        facts = NO_FACTS.with_notes(words[ReminderTexts].late.format(time=timestamp(firing.due_at, "f")))
    content = _one_message(f"<@{schedule.key.user_id}> {reminder_text(schedule)}")
    labels = {10: words[ReminderTexts].snooze_ten_minutes, 60: words[ReminderTexts].snooze_hour}
    buttons = (
        Button(label, SnoozeButton(schedule.key.user_id, schedule.id, minutes).custom_id())
        for minutes, label in labels.items()
    )
    return Page(content, (*buttons, *_stop_button(schedule, words)), facts=facts)


def reminder_text(schedule: Schedule) -> str:
    return f"⏰ {schedule.text}"


def heartbeat_page(schedule: Schedule, text: str) -> Page:
    mention = f"<@{schedule.key.user_id}> " if schedule.audience == "public" else ""
    return Page(_one_message(f"{mention}{for_discord(text)}"))


def snoozed_page(shown: Page, before: Schedule, later: Schedule, words: Texts) -> Page:
    facts = shown.facts.with_notes(words[ReminderTexts].snoozed.format(moment=timestamp(later.due_at, "R")))
    button = Button(words[ReminderTexts].cancel, UnscheduleButton(later.key.user_id, later.id).custom_id())
    return replace(shown, facts=facts, buttons=(button, *_stop_button(before, words)))


def _stop_button(schedule: Schedule, words: Texts) -> tuple[Button, ...]:
    if not schedule.repeat:
        return ()
    button = UnscheduleButton(schedule.key.user_id, schedule.id)
    return (Button(words[ReminderTexts].stop_repeating, button.custom_id()),)


def undelivered_page(unreported: UnreportedFirings, words: Texts) -> Page:
    lines = list[str]()
    texts = words[ReminderTexts]
    for heading, state in ((texts.missed, "missed"), (texts.uncertain, "uncertain")):
        if firings := [each for each in unreported if each.state == state]:
            lines.append(heading)
        for each in firings[:MAX_LISTED]:
            lines.append(f"- {timestamp(each.due_at, 'f')} {_quote(each.schedule)}")
        if len(firings) > MAX_LISTED:
            lines.append(f"- … +{len(firings) - MAX_LISTED}")
    return Page(_one_message("\n".join(lines)))


def paused_page(schedule: Schedule, words: Texts) -> Page:
    texts, reason = words[ReminderTexts], words[ReminderTexts].reasons[schedule.obstacle]
    return Page(_one_message(texts.paused.format(text=_quote(schedule), reason=reason)))


def _quote(schedule: Schedule) -> str:
    return escape_markdown(shorten(one_line(schedule.text), MAX_QUOTE_LENGTH))


def _one_message(text: str) -> str:
    """Cut a text to one message, without previews of links, as a model may have written the links."""
    return next(iter(split_messages(text, limit=MESSAGE_LIMIT, max_count=1)), "")
