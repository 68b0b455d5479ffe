"""Memories as messages: embeds for lists, one line for what was just done."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

import hikari

from cc_bot.discord.pages.page import Button, Menu, MenuOption
from cc_bot.discord.pages.split import utf16_length
from cc_bot.domain.memory import Found, Memory, Order
from cc_bot.domain.text import (
    shortened as shortened,  # noqa: PLC0414 - delivery and extensions take it from here
)
from cc_bot.texts import Texts

PAGE_SIZE = 10
SHOWN_CHARACTERS = (160, 120, 80, 40)
"""Of each memory in a list: the first with which all of them have room. With the last, ten always have, even
if every character needs a backslash."""
_DESCRIPTION_CHARACTERS = 4096
"""Of an embed: "Embed Limits" of Discord's documentation of messages."""
CHOICE_CHARACTERS = 100
"""The longest name of an autocomplete choice, or label of a menu's option, that Discord takes."""
QUOTED_CHARACTERS = 1500
"""Of a memory in a sentence, backslashes and all."""
UNSURE_BELOW = 0.4
"""Confidence of a hit that is marked: it may not be what was meant."""

COLOUR = 0x5865F2
PIN_MARK = "📌 "

_TURNING = re.compile("[\u202a-\u202e\u2066-\u2069]")
"""Directions of writing that hold beyond what they are meant for: UAX #9, section 2."""

_DAY_BEFORE_ITS_END = timedelta(seconds=1)
"""What holds until midnight is told as holding until that day."""


@dataclass(frozen=True, slots=True)
class EphemeralView:
    """A reply that its user alone sees. It takes the place of whatever the message said before."""

    content: str = ""
    embed: hikari.Embed | None = None
    buttons: tuple[Button, ...] = ()
    menu: Menu | None = None


@dataclass(frozen=True, slots=True)
class ListPage:
    """Some memories, and where in the whole list they stand."""

    title: str
    found: Sequence[Found]
    page: int = 1
    pages: int = 1
    order: Order = "newest"


def memory_list(page: ListPage, words: Texts, now: datetime) -> hikari.Embed:
    """Memories under a title, each with its number, category, tags and date.

    Dates are written as Discord timestamps, which every client shows in its own time zone and language.
    """
    ways = (
        "\n\n".join(_entry(found, words, now, characters) for found in page.found)
        for characters in SHOWN_CHARACTERS
    )
    description = next((way for way in ways if utf16_length(way) <= _DESCRIPTION_CHARACTERS), "")
    embed = hikari.Embed(title=shortened(page.title, 250), description=description, colour=COLOUR)
    footer = _footer(page, words)
    return embed.set_footer(footer) if footer else embed


def open_menu(found: Sequence[Found], custom_id: str, words: Texts) -> Menu:
    """Choose one of a list, to see all of it."""
    options = tuple(MenuOption(choice_name(each.memory), str(each.memory.id)) for each in found)
    return Menu(custom_id, words.memory.open, options)


def choice_name(memory: Memory) -> str:
    """A memory as a choice of an autocomplete list."""
    return shortened(f"#{memory.number} {one_line(memory.content)}", CHOICE_CHARACTERS)


def quoted(content: str) -> str:
    """A memory's text within a sentence: one line, as it was written, and not too long for a message."""
    text = shortened(one_line(content), QUOTED_CHARACTERS)
    if len(escaped(text)) > QUOTED_CHARACTERS:
        text = shortened(text, QUOTED_CHARACTERS // 2)
    return escaped(text)


def receipt(template: str, memory: Memory, words: Texts) -> str:
    """What was just remembered, and where and until when it will be used if not everywhere and always."""
    marks = [words.memory.private_only] if memory.audience == "private" else []
    if memory.expires_at is not None:
        marks.append(words.memory.until.format(date=last_day(memory.expires_at)))
    told = template.format(id=memory.number, content=quoted(memory.content))
    return "\n-# ".join((told, *marks))


def timestamp(moment: datetime, style: str = "d") -> str:
    """A moment as every client shows it in its own zone: `d` the day, `t` the time, `f` both."""
    return f"<t:{int(moment.timestamp())}:{style}>"


def last_day(expires_at: datetime) -> str:
    return timestamp(expires_at - _DAY_BEFORE_ITS_END)


def end_mark(memory: Memory, words: Texts, now: datetime) -> str | None:
    """That a memory's time is over, or until when it is not."""
    if memory.expires_at is None:
        return None
    if memory.expired(now):
        return words.memory.expired
    return words.memory.until.format(date=last_day(memory.expires_at))


def escaped(text: str) -> str:
    """The text as it was written, not as Markdown."""
    return "".join(f"\\{character}" if character in r"\*_~`|>[]<" else character for character in text)


def one_line(text: str) -> str:
    """Without line breaks, and without marks that turn what stands after it in the line around."""
    return " ".join(_TURNING.sub("", text).split())


def _entry(found: Found, words: Texts, now: datetime, characters: int) -> str:
    memory = found.memory
    details = (
        words.memory.unsure if found.confidence < UNSURE_BELOW else None,
        escaped(words.memory.shown_category(memory.category)),
        escaped(shortened(" ".join(f"#{tag}" for tag in memory.tags), 60)),
        timestamp(memory.updated_at),
        end_mark(memory, words, now),
    )
    marks = (PIN_MARK if memory.pinned else "") + ("🔒 " if memory.audience == "private" else "")
    text = shortened(one_line(memory.content), characters)
    return f"**#{memory.number}** {marks}{escaped(text)}\n-# {' ・ '.join(filter(None, details))}"


def _footer(page: ListPage, words: Texts) -> str:
    told = words.memory
    order = {"newest": "", "oldest": told.oldest_first, "updated": told.changed_first}[page.order]
    place = told.page.format(page=page.page, pages=page.pages) if page.pages > 1 else ""
    private = any(found.memory.audience == "private" for found in page.found)
    return "\n".join(
        filter(None, (" ・ ".join(filter(None, (place, order))), told.private_mark if private else ""))
    )
