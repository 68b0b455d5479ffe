"""Reminders as their owner sees them: one line for what was just done, and the list of all."""

from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from typing import Final

import hikari

from cc_bot.discord.pages.custom_ids import RemindersButton, SnoozeButton, UnscheduleButton
from cc_bot.discord.pages.markdown import for_discord
from cc_bot.discord.pages.memory import (
    CHOICE_CHARACTERS,
    COLOUR,
    EphemeralView,
    escape_markdown,
    one_line,
    timestamp,
)
from cc_bot.discord.pages.page import CLOSE_LIMIT, NO_FACTS, Button, Facts, Page, without_previews
from cc_bot.discord.pages.split import MESSAGE_LIMIT, utf16_length
from cc_bot.discord.recipients import Recipient
from cc_bot.domain.schedule import Firing, MissedReminders, Schedule, clock_time, hours_of
from cc_bot.domain.text import shorten
from cc_bot.texts import Texts
from cc_bot.texts.reminder import described

# ---- reminder view -------------------------------------------------------------------------------------


PAGE_SIZE: Final = 8
SHOWN_CHARACTERS: Final = 140
"""Of each reminder in a list: eight of them fit an embed, even if every character needs a backslash."""
QUOTED_CHARACTERS: Final = 700
"""In a sentence of its own."""


def schedule_line(schedule: Schedule, recipient: Recipient, *, characters: int = QUOTED_CHARACTERS) -> str:
    """The sentence that tells when it comes, and what it says."""
    words = recipient.words.reminder
    text = shown_text(schedule, characters)
    if schedule.repeat:
        repeat = described(schedule.repeat, recipient.words.repeat)
        return words.again_and_again.format(repeat=repeat, time=timestamp(schedule.due_at, "F"), text=text)
    time, moment = timestamp(schedule.due_at, "F"), timestamp(schedule.due_at, "R")
    return words.once.format(time=time, moment=moment, text=text)


def added_view(added: Sequence[Schedule], where: str, paused: int, recipient: Recipient) -> EphemeralView:
    """The view that tells that reminders were set, where they come, and a way to take each of them back."""
    words = recipient.words.reminder
    characters = QUOTED_CHARACTERS // (2 * len(added) - 1)  # five of them fit a message
    lines = [schedule_line(each, recipient, characters=characters) for each in added]
    buttons = tuple(
        Button(
            words.cancel if len(added) == 1 else words.cancel_one.format(text=_short_time(each)),
            UnscheduleButton(each.key.user_id, each.id).custom_id(),
        )
        for each in added
    )
    return EphemeralView(
        "\n".join((*lines, f"-# {where}", *attention(paused, recipient.words))), buttons=buttons
    )


def attention(paused: int, words: Texts) -> list[str]:
    """The line that tells that some reminders could not be said: whoever can't be told by DM learns of it
    here."""
    return [f"-# {words.reminder.look_at_paused.format(count=paused)}"] if paused else []


def paused_among(schedules: Sequence[Schedule]) -> int:
    """Count those that could not be said. What their owner paused is no news."""
    return sum(each.status == "paused" and each.obstacle != "" for each in schedules)


def list_view(schedules: Sequence[Schedule], page: int, recipient: Recipient) -> EphemeralView:
    """A page of all reminders of a user, the soonest first; the last page if there are fewer by now."""
    words = recipient.words
    if not schedules:
        return EphemeralView(words.reminder.none)
    pages = -(-len(schedules) // PAGE_SIZE)
    number = min(max(page, 1), pages)
    shown = schedules[(number - 1) * PAGE_SIZE : number * PAGE_SIZE]
    embed = hikari.Embed(
        title=words.reminder.list_title.format(count=len(schedules)),
        description="\n\n".join(_entry(each, recipient) for each in shown),
        colour=COLOUR,
    )
    if pages == 1:
        return EphemeralView(embed=embed)
    turns = ((words.memory.previous, number - 1), (words.memory.next, number + 1))
    buttons = tuple(
        Button(label, RemindersButton(recipient.user_id, to).custom_id(), enabled=1 <= to <= pages)
        for label, to in turns
    )
    return EphemeralView(
        embed=embed.set_footer(words.memory.page.format(page=number, pages=pages)), buttons=buttons
    )


def choice_name(schedule: Schedule) -> str:
    """A reminder as a choice of an autocomplete list, which shows no timestamps: its time is its owner's."""
    return shorten(f"#{schedule.number} {_short_time(schedule)} {one_line(schedule.text)}", CHOICE_CHARACTERS)


def _short_time(schedule: Schedule) -> str:
    return f"{schedule.due_at.astimezone(schedule.zone):%m/%d %H:%M}"


def shown_text(schedule: Schedule, characters: int = QUOTED_CHARACTERS) -> str:
    """The text that it says, on one line, as it was written."""
    return escape_markdown(shorten(one_line(schedule.text), characters))


def _entry(schedule: Schedule, recipient: Recipient) -> str:
    words = recipient.words.reminder
    place = {
        "dm": words.dm_place,
        "terminal": words.terminal_place,
        "channel": f"<#{schedule.key.channel_id}>",
    }[schedule.place]
    details = [timestamp(schedule.due_at, "f"), timestamp(schedule.due_at, "R")]
    if schedule.repeat:
        details = [
            f"🔁 {described(schedule.repeat, recipient.words.repeat)}",
            timestamp(schedule.due_at, "f"),
        ]
    if schedule.status == "paused":
        reason = words.reasons[schedule.obstacle]
        details.append(words.paused_because.format(reason=reason) if reason else words.paused)
    text = shown_text(schedule, SHOWN_CHARACTERS)
    return f"**#{schedule.number}** {text}\n-# {' ・ '.join((*details, place))}"


# ---- heartbeat view --------------------------------------------------------------------------------------
# Heartbeats as their owner sees them: whether they come, how often, where, and when next.


def started_answer(schedule: Schedule, words: Texts, *, memory_paused: bool, moved_to_dm: bool) -> str:
    """The answer to `/heartbeat on`."""
    told = words.heartbeat
    time, moment = timestamp(schedule.due_at, "F"), timestamp(schedule.due_at, "R")
    lines = [told.started.format(rhythm=rhythm(schedule, words), time=time, moment=moment)]
    if moved_to_dm:
        lines.append(told.by_dm_instead)
    return "\n".join((*lines, *_beside(schedule, words, memory_paused=memory_paused)))


def status(schedule: Schedule | None, words: Texts, *, memory_paused: bool) -> str:
    """The answer to `/heartbeat status`."""
    told = words.heartbeat
    if schedule is None:
        return told.off
    if schedule.status == "paused":
        reason = words.reminder.reasons[schedule.obstacle]
        return told.paused.format(reason=reason) if reason else told.paused_by_user
    time, moment = timestamp(schedule.due_at, "F"), timestamp(schedule.due_at, "R")
    line = told.status.format(rhythm=rhythm(schedule, words), time=time, moment=moment)
    return "\n".join((line, *_beside(schedule, words, memory_paused=memory_paused)))


def rhythm(schedule: Schedule, words: Texts) -> str:
    """The words that tell how often, where, and when not."""
    told, quiet = words.heartbeat, schedule.quiet
    channel = told.in_channel.format(channel=f"<#{schedule.key.channel_id}>")
    where = channel if schedule.place == "channel" else told.by_dm
    kept = told.never_quiet
    if quiet is not None and quiet.since != quiet.until:
        kept = told.quiet.format(since=clock_time(quiet.since), until=clock_time(quiet.until))
    return told.rhythm.format(hours=hours_of(schedule.repeat), where=where, quiet=kept)


def _beside(schedule: Schedule, words: Texts, *, memory_paused: bool) -> list[str]:
    """The notes on what of it is not as one might expect."""
    told = words.heartbeat
    lines = [told.only_public] if schedule.place == "channel" else []
    return [*lines, told.memory_paused] if memory_paused else lines


# ---- reminder page ---------------------------------------------------------------------------------------
# What the bot says at a time that a user chose, as messages. Nothing is sent.

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
