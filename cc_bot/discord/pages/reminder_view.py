"""Reminders as their owner sees them: one line for what was just done, and the list of all."""

from collections.abc import Sequence
from typing import Final

import hikari

from cc_bot.discord.localization import Reader
from cc_bot.discord.pages.memory_view import (
    CHOICE_CHARACTERS,
    COLOUR,
    View,
    escaped,
    one_line,
    shortened,
    timestamp,
)
from cc_bot.discord.pages.page import Button
from cc_bot.discord.pages.schedule_ids import RemindersButton, UnscheduleButton
from cc_bot.domain.schedule import Schedule
from cc_bot.texts import Texts
from cc_bot.texts.repeats import described

PAGE_SIZE: Final = 8
SHOWN_CHARACTERS: Final = 140
"""Of each reminder in a list: eight of them fit an embed, even if every character needs a backslash."""
QUOTED_CHARACTERS: Final = 700
"""In a sentence of its own."""


def told(schedule: Schedule, reader: Reader, *, characters: int = QUOTED_CHARACTERS) -> str:
    """When it comes, and what it says."""
    words = reader.words.reminder
    text = shown_text(schedule, characters)
    if schedule.repeat:
        repeat = described(schedule.repeat, reader.words)
        return words.again_and_again.format(repeat=repeat, time=timestamp(schedule.due_at, "F"), text=text)
    time, moment = timestamp(schedule.due_at, "F"), timestamp(schedule.due_at, "R")
    return words.once.format(time=time, moment=moment, text=text)


def added_view(added: Sequence[Schedule], where: str, paused: int, reader: Reader) -> View:
    """That reminders were set, where they come, and a way to take each of them back."""
    words = reader.words.reminder
    characters = QUOTED_CHARACTERS // (2 * len(added) - 1)  # five of them fit a message
    lines = [told(each, reader, characters=characters) for each in added]
    buttons = tuple(
        Button(
            words.cancel if len(added) == 1 else words.cancel_one.format(text=_short_time(each)),
            UnscheduleButton(each.key.user_id, each.id).custom_id(),
        )
        for each in added
    )
    return View("\n".join((*lines, f"-# {where}", *attention(paused, reader.words))), buttons=buttons)


def attention(paused: int, words: Texts) -> list[str]:
    """That some reminders could not be said: whoever can't be told by DM learns of it here."""
    return [f"-# {words.reminder.look_at_paused.format(count=paused)}"] if paused else []


def paused_among(schedules: Sequence[Schedule]) -> int:
    """How many could not be said. What their owner paused is no news."""
    return sum(each.status == "paused" and each.obstacle != "" for each in schedules)


def list_view(schedules: Sequence[Schedule], page: int, reader: Reader) -> View:
    """One page of all reminders of a user, the soonest first; the last page if there are fewer by now."""
    words = reader.words
    if not schedules:
        return View(words.reminder.none)
    pages = -(-len(schedules) // PAGE_SIZE)
    number = min(max(page, 1), pages)
    shown = schedules[(number - 1) * PAGE_SIZE : number * PAGE_SIZE]
    embed = hikari.Embed(
        title=words.reminder.list_title.format(count=len(schedules)),
        description="\n\n".join(_entry(each, reader) for each in shown),
        colour=COLOUR,
    )
    if pages == 1:
        return View(embed=embed)
    turns = ((words.memory.previous, number - 1), (words.memory.next, number + 1))
    buttons = tuple(
        Button(label, RemindersButton(reader.user_id, to).custom_id(), enabled=1 <= to <= pages)
        for label, to in turns
    )
    return View(embed=embed.set_footer(words.memory.page.format(page=number, pages=pages)), buttons=buttons)


def choice_name(schedule: Schedule) -> str:
    """A reminder as a choice of an autocomplete list, which shows no timestamps: its time is its owner's."""
    return shortened(
        f"#{schedule.number} {_short_time(schedule)} {one_line(schedule.text)}", CHOICE_CHARACTERS
    )


def _short_time(schedule: Schedule) -> str:
    return f"{schedule.due_at.astimezone(schedule.zone):%m/%d %H:%M}"


def shown_text(schedule: Schedule, characters: int = QUOTED_CHARACTERS) -> str:
    """What it says, on one line, as it was written."""
    return escaped(shortened(one_line(schedule.text), characters))


def _entry(schedule: Schedule, reader: Reader) -> str:
    words = reader.words.reminder
    place = {
        "dm": words.dm_place,
        "terminal": words.terminal_place,
        "channel": f"<#{schedule.key.channel_id}>",
    }[schedule.place]
    details = [timestamp(schedule.due_at, "f"), timestamp(schedule.due_at, "R")]
    if schedule.repeat:
        details = [f"🔁 {described(schedule.repeat, reader.words)}", timestamp(schedule.due_at, "f")]
    if schedule.status == "paused":
        reason = words.reason(schedule.obstacle)
        details.append(words.paused_because.format(reason=reason) if reason else words.paused)
    text = shown_text(schedule, SHOWN_CHARACTERS)
    return f"**#{schedule.number}** {text}\n-# {' ・ '.join((*details, place))}"
