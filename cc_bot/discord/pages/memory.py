"""Memories as messages: embeds for lists, one line for what was just done."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final

import hikari

from cc_bot.commands.memories import end_mark
from cc_bot.commands.reply import Caller, Item
from cc_bot.discord.pages.custom_ids import ConfirmButton, MemoryAction, MemoryButton
from cc_bot.discord.pages.page import Button, Menu, MenuOption
from cc_bot.domain.clock import Clock
from cc_bot.domain.memory import (
    Memory,
    Source,
)
from cc_bot.domain.memory_transfer import ImportPlan
from cc_bot.domain.text import one_line as one_line  # noqa: PLC0414 - as the next
from cc_bot.domain.text import (
    shorten as shorten,  # noqa: PLC0414 - delivery and extensions take it from here
)
from cc_bot.texts import Texts

# ---- memory view ---------------------------------------------------------------------------------------


CHOICE_CHARACTERS = 100
"""The longest name of an autocomplete choice, or label of a menu's option, that Discord takes."""

COLOUR = 0x5865F2
PIN_MARK = "📌 "

_DAY_BEFORE_ITS_END = timedelta(seconds=1)
"""What holds until midnight is told as holding until that day."""


@dataclass(frozen=True, slots=True)
class EphemeralView:
    """A reply that its user alone sees. It takes the place of whatever the message said before."""

    content: str = ""
    embed: hikari.Embed | None = None
    buttons: tuple[Button, ...] = ()
    menu: Menu | None = None
    attachment: hikari.Bytes | None = None


def choice_name(item: Item) -> str:
    """Write an entry of a list as a choice of an autocomplete list or a menu."""
    return shorten(f"#{item.number} {one_line(item.text)}", CHOICE_CHARACTERS)


def timestamp(moment: datetime, style: str = "d") -> str:
    """A moment as every client shows it in its own zone: `d` the day, `t` the time, `f` both."""
    return f"<t:{int(moment.timestamp())}:{style}>"


def last_day(expires_at: datetime) -> str:
    return timestamp(expires_at - _DAY_BEFORE_ITS_END)


def escape_markdown(text: str) -> str:
    """The text as it was written, not as Markdown."""
    return "".join(f"\\{character}" if character in r"\*_~`|>[]<" else character for character in text)


# ---- memory card ---------------------------------------------------------------------------------------
# One memory with all that is known of it: its text, where it is used, why it is known, and its past.


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
    memory: Memory, former: Sequence[Memory], reader: Caller, clock: Clock, *, said: str = ""
) -> EphemeralView:
    """The card with everything about a memory, its former versions (newest first) included, with what can be
    done to it."""
    words, told = reader.words, reader.words.memory_card
    embed = hikari.Embed(
        title=f"{PIN_MARK if memory.pinned else ''}{told.title.format(id=memory.number)}",
        description=_whole(memory.content),
        colour=COLOUR,
    )
    for name, value in _facts(memory, reader, clock):
        embed.add_field(name, shorten(value, _FIELD_CHARACTERS), inline=True)
    embed.add_field(told.why, shorten(_source(memory, words), _FIELD_CHARACTERS))
    if former:
        embed.add_field(told.history, _history(memory, former, words))
    return EphemeralView(said, embed, _buttons(memory, words), _restore_menu(memory, former, words))


def edited_view(memory: Memory, before: Memory, words: Texts) -> EphemeralView:
    """The view that tells what an edit changed, with an undo for it."""
    told = words.memory_card
    lines = [
        told.changed_from_to.format(name=name, old=old, new=new)
        for name, old, new in zip(
            (told.content, told.category, told.tags, told.end),
            _editable_values(before, words),
            _editable_values(memory, words),
            strict=True,
        )
        if old != new
    ]
    if not lines:
        return EphemeralView(told.unchanged.format(id=memory.number))
    undo = MemoryButton("undo-edit", memory.user_id, memory.id, memory.supersedes or 0)
    return EphemeralView(
        "\n".join((told.edited.format(id=memory.number), *lines)),
        buttons=(Button(words.memory.undo, undo.custom_id()),),
    )


def refused_view(sentence: str, entered: str, words: Texts) -> EphemeralView:
    """The view that tells why what was entered could not be kept, and the text, so that it is not lost."""
    embed = hikari.Embed(title=words.memory_card.your_text, description=_whole(entered), colour=COLOUR)
    return EphemeralView(sentence, embed if entered.strip() else None)


def _whole(content: str) -> str:
    """The whole of a text: as it was written if there is room for the backslashes, else as Markdown, which
    does no more here than look different."""
    text = _LINE_MARK.sub(r"\1\\\2", escape_markdown(content))
    return text if len(text) <= DESCRIPTION_CHARACTERS else content[:DESCRIPTION_CHARACTERS]


def _facts(memory: Memory, reader: Caller, clock: Clock) -> list[tuple[str, str]]:
    words, told = reader.words, reader.words.memory_card
    facts = [
        (told.category, escape_markdown(words.memory.shown_category(memory.category))),
        (told.tags, escape_markdown(shorten(" ".join(f"#{tag}" for tag in memory.tags), _TAG_CHARACTERS))),
        (told.audience, told.private if memory.audience == "private" else told.anywhere),
        (told.end, end_mark(memory, reader, clock)),
        (told.changed, timestamp(memory.updated_at) if memory.updated_at != memory.created_at else ""),
    ]
    return [(name, value) for name, value in facts if value]


def _source(memory: Memory, words: Texts) -> str:
    link = memory.source.link
    shown = words.memory_card.source_link.format(link=link) if 0 < len(link) <= _LINK_CHARACTERS else ""
    return "\n".join(filter(None, (why(memory.source, words), shown, timestamp(memory.created_at, "f"))))


def why(source: Source, words: Texts) -> str:
    """The sentence that tells how a memory came about."""
    author, model = (escape_markdown(shorten(one_line(name), 100)) for name in (source.author, source.model))
    return words.memory_card.because(source.kind, author=author, model=model)


def _history(memory: Memory, former: Sequence[Memory], words: Texts) -> str:
    told = words.memory_card
    lines = [
        told.former.format(
            date=timestamp(version.updated_at),
            content=escape_markdown(shorten(_difference(version, memory, words), 90)),
        )
        for version in former[:FORMER_SHOWN]
    ]
    if len(former) > FORMER_SHOWN:
        lines.append(told.more_former.format(count=len(former) - FORMER_SHOWN))
    return "\n".join(lines)


def _difference(version: Memory, memory: Memory, words: Texts) -> str:
    """Return what a former version said; where that is what the memory says now, what else was different."""
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
        MenuOption(shorten(_difference(version, memory, words), CHOICE_CHARACTERS), str(version.id))
        for version in former[:FORMER_CHOICES]
    )
    return Menu(_custom_id("restore", memory), words.memory_card.restore, options)


def _editable_values(memory: Memory, words: Texts) -> tuple[str, str, str, str]:
    """The fields that can be edited, as they are told: short enough that all of it, twice, has room in a
    message."""
    nothing = words.memory_card.nothing
    tags = " ".join(f"#{tag}" for tag in memory.tags)
    return (
        escape_markdown(shorten(one_line(memory.content), 200)),
        escape_markdown(words.memory.shown_category(memory.category)),
        escape_markdown(shorten(tags, 80)) or nothing,
        nothing if memory.expires_at is None else last_day(memory.expires_at),
    )


def _button(action: MemoryAction, memory: Memory, label: str) -> Button:
    return Button(label, _custom_id(action, memory))


def _custom_id(action: MemoryAction, memory: Memory) -> str:
    return MemoryButton(action, memory.user_id, memory.id).custom_id()


# ---- memory import ---------------------------------------------------------------------------------------
# What an import would do, told before anything is done.

EXAMPLES = 5


def import_preview(plan: ImportPlan, user_id: int, until: datetime, words: Texts) -> EphemeralView:
    """The view that tells how many memories are new, known and refused, with some of the new ones; a button
    if there are any."""
    told, new = words.memory_box, len(plan.new)
    lines = [told.import_new.format(count=new)]
    if plan.known:
        lines.append(told.import_known.format(count=plan.known))
    if plan.refused:
        lines.append(told.import_refused.format(count=plan.refused, reasons=told.import_reasons(plan)))
    if not new:
        return EphemeralView(told.nothing_to_import, _embed(lines, words))
    lines += ["", f"**{told.examples}**"]
    lines += [f"・{escape_markdown(shorten(one_line(each.content), 80))}" for each in plan.new[:EXAMPLES]]
    lines += ["", f"-# {told.import_check.format(until=timestamp(until, 't'))}"]
    moment = int(until.timestamp())
    yes = ConfirmButton(user_id, "import", new, moment)
    no = ConfirmButton(user_id, "cancel", new, moment)
    return EphemeralView(
        "",
        _embed(lines, words),
        (
            Button(told.import_now.format(count=new), yes.custom_id(), primary=True),
            Button(told.cancel, no.custom_id()),
        ),
    )


def _embed(lines: list[str], words: Texts) -> hikari.Embed:
    return hikari.Embed(title=words.memory_box.import_title, description="\n".join(lines), colour=COLOUR)


# ---- used memories ---------------------------------------------------------------------------------------
# What the buttons under an answer reply about memories. Only their owner reads it.

LIMIT: Final = 1900
"""Of Discord's 2000 characters."""
CARD_CHARACTERS: Final = 120
SHORT_CHARACTERS: Final = 40
"""Where there are too many to show that much of each."""


def used_list(memories: Sequence[Memory], words: Texts) -> str:
    """A list of memories, each with its number, what it says, and where it came from; as many as a message
    holds, and how many more there are."""
    if not memories:
        return words.receipt.none_left
    full, short = (
        [_card_entry(memory, characters, words) for memory in memories]
        for characters in (CARD_CHARACTERS, SHORT_CHARACTERS)
    )
    hint = f"-# {words.receipt.what_next}"
    text = "\n".join((words.receipt.used_title, *full, hint))
    for left in range(len(short) + 1):
        if len(text) <= LIMIT:
            break
        more = [f"-# {words.receipt.more.format(count=left)}"] if left else []
        text = "\n".join((words.receipt.used_title, *short[: len(short) - left], *more, hint))
    return text


def within(template: str, memory: Memory) -> str:
    """A sentence about a memory."""
    return template.format(
        id=memory.number, content=escape_markdown(shorten(one_line(memory.content), CARD_CHARACTERS))
    )


def _card_entry(memory: Memory, characters: int, words: Texts) -> str:
    text = escape_markdown(shorten(one_line(memory.content), characters))
    origin = (why(memory.source, words), timestamp(memory.created_at), memory.source.link)
    return f"**#{memory.number}** {text}\n-# {' ・ '.join(filter(None, origin))}"
