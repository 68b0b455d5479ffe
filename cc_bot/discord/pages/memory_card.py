"""One memory with all that is known of it: its text, where it is used, why it is known, and its past."""

import re
from collections.abc import Sequence
from datetime import datetime

import hikari

from cc_bot.discord.pages.memory_ids import MemoryAction, MemoryButton
from cc_bot.discord.pages.memory_view import (
    CHOICE_CHARACTERS,
    COLOUR,
    PIN_MARK,
    View,
    end_mark,
    escaped,
    last_day,
    one_line,
    quoted,
    shortened,
    timestamp,
)
from cc_bot.discord.pages.page import Button, Menu, MenuOption
from cc_bot.domain.memory import UNDO_TIME, Memory, Source
from cc_bot.texts import Texts

DESCRIPTION_CHARACTERS = 4096
FORMER_SHOWN = 4
FORMER_CHOICES = 25
_FIELD_CHARACTERS = 1024
_LINK_CHARACTERS = 200
_LINE_MARK = re.compile(r"^([^\S\n]*)(#{1,3}|-#|[-+])(?=[^\S\n])", re.MULTILINE)
"""What makes a heading, small print or a list of a line."""
_TAG_CHARACTERS = 250
"""Of all tags: with the longest text and its history they stay under the 6000 of a message's embeds."""


def memory_card(
    memory: Memory, former: Sequence[Memory], words: Texts, now: datetime, *, said: str = ""
) -> View:
    """Everything about a memory, its former versions (newest first) included, with what can be done to it."""
    told = words.memory_card
    embed = hikari.Embed(
        title=f"{PIN_MARK if memory.pinned else ''}{told.title.format(id=memory.number)}",
        description=_whole(memory.content),
        colour=COLOUR,
    )
    for name, value in _facts(memory, words, now):
        embed.add_field(name, shortened(value, _FIELD_CHARACTERS), inline=True)
    embed.add_field(told.why, shortened(_source(memory, words), _FIELD_CHARACTERS))
    if former:
        embed.add_field(told.history, _history(memory, former, words))
    return View(said, embed, _buttons(memory, words), _restore_menu(memory, former, words))


def forgotten(memory: Memory, words: Texts, since: datetime, told_in: int = 0) -> View:
    """That a memory is hidden, until when it can be had back, how to be rid of it at once, and in how many
    messages it is told all the same."""
    told = words.memory
    until = timestamp(since + UNDO_TIME, "t")
    still = f"\n-# {told.still_told.format(count=told_in)}" if told_in else ""
    too = Button(words.erasure.conversations_too, _custom_id("erase-said", memory), danger=True)
    return View(
        f"{told.deleted.format(id=memory.number, content=quoted(memory.content))}\n"
        f"-# {told.undo_until.format(until=until)}{still}",
        buttons=(
            _button("undelete", memory, told.undo),
            Button(told.erase_now, _custom_id("erase", memory), danger=True),
            *((too,) if told_in else ()),
        ),
    )


def edited(memory: Memory, before: Memory, words: Texts) -> View:
    """What an edit changed, with an undo for it."""
    told = words.memory_card
    lines = [
        told.changed_from_to.format(name=name, old=old, new=new)
        for name, old, new in zip(
            (told.content, told.category, told.tags, told.end),
            _shown(before, words),
            _shown(memory, words),
            strict=True,
        )
        if old != new
    ]
    if not lines:
        return View(told.unchanged.format(id=memory.number))
    undo = MemoryButton("undo-edit", memory.user_id, memory.id, memory.supersedes or 0)
    return View(
        "\n".join((told.edited.format(id=memory.number), *lines)),
        buttons=(Button(words.memory.undo, undo.custom_id()),),
    )


def not_kept(sentence: str, entered: str, words: Texts) -> View:
    """Why what was entered could not be kept, and the text, so that it is not lost."""
    embed = hikari.Embed(title=words.memory_card.your_text, description=_whole(entered), colour=COLOUR)
    return View(sentence, embed if entered.strip() else None)


def _whole(content: str) -> str:
    """All of a text: as it was written if there is room for the backslashes, else as Markdown, which does no
    more here than look different."""
    text = _LINE_MARK.sub(r"\1\\\2", escaped(content))
    return text if len(text) <= DESCRIPTION_CHARACTERS else content[:DESCRIPTION_CHARACTERS]


def _facts(memory: Memory, words: Texts, now: datetime) -> list[tuple[str, str]]:
    told = words.memory_card
    facts = [
        (told.category, escaped(words.memory.shown_category(memory.category))),
        (told.tags, escaped(shortened(" ".join(f"#{tag}" for tag in memory.tags), _TAG_CHARACTERS))),
        (told.audience, told.private if memory.audience == "private" else told.anywhere),
        (told.end, end_mark(memory, words, now) or ""),
        (told.changed, timestamp(memory.updated_at) if memory.updated_at != memory.created_at else ""),
    ]
    return [(name, value) for name, value in facts if value]


def _source(memory: Memory, words: Texts) -> str:
    link = memory.source.link
    shown = words.memory_card.source_link.format(link=link) if 0 < len(link) <= _LINK_CHARACTERS else ""
    return "\n".join(filter(None, (why(memory.source, words), shown, timestamp(memory.created_at, "f"))))


def why(source: Source, words: Texts) -> str:
    """How a memory came about, in a sentence."""
    author, model = (escaped(shortened(one_line(name), 100)) for name in (source.author, source.model))
    return words.memory_card.because(source.kind, author=author, model=model)


def _history(memory: Memory, former: Sequence[Memory], words: Texts) -> str:
    told = words.memory_card
    lines = [
        told.former.format(
            date=timestamp(version.updated_at),
            content=escaped(shortened(_difference(version, memory, words), 90)),
        )
        for version in former[:FORMER_SHOWN]
    ]
    if len(former) > FORMER_SHOWN:
        lines.append(told.more_former.format(count=len(former) - FORMER_SHOWN))
    return "\n".join(lines)


def _difference(version: Memory, memory: Memory, words: Texts) -> str:
    """What a former version said; where that is what the memory says now, what else was different."""
    if version.content != memory.content:
        return one_line(version.content)
    tags = (f"#{tag}" for tag in version.tags)
    return one_line(" ".join((words.memory.shown_category(version.category), *tags)))


def _buttons(memory: Memory, words: Texts) -> tuple[Button, ...]:
    told = words.memory_card
    private = memory.audience == "private"
    return (
        _button("edit", memory, told.edit),
        _button("delete", memory, told.delete),
        _button("anywhere", memory, told.use_anywhere)
        if private
        else _button("private", memory, told.use_in_private),
        _button("unpin", memory, told.unpin) if memory.pinned else _button("pin", memory, told.pin),
    )


def _restore_menu(memory: Memory, former: Sequence[Memory], words: Texts) -> Menu | None:
    if not former:
        return None
    options = tuple(
        MenuOption(shortened(_difference(version, memory, words), CHOICE_CHARACTERS), str(version.id))
        for version in former[:FORMER_CHOICES]
    )
    return Menu(_custom_id("restore", memory), words.memory_card.restore, options)


def _shown(memory: Memory, words: Texts) -> tuple[str, str, str, str]:
    """What can be edited, as it is told: short enough that all of it, twice, has room in a message."""
    nothing = words.memory_card.nothing
    tags = " ".join(f"#{tag}" for tag in memory.tags)
    return (
        escaped(shortened(one_line(memory.content), 200)),
        escaped(words.memory.shown_category(memory.category)),
        escaped(shortened(tags, 80)) or nothing,
        nothing if memory.expires_at is None else last_day(memory.expires_at),
    )


def _button(action: MemoryAction, memory: Memory, label: str) -> Button:
    return Button(label, _custom_id(action, memory))


def _custom_id(action: MemoryAction, memory: Memory) -> str:
    return MemoryButton(action, memory.user_id, memory.id).custom_id()
