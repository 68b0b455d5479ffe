"""Memories as messages: embeds for lists, one line for what was just done."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final

import hikari

from cc_bot.discord.pages.custom_ids import ConfirmButton, MemoryAction, MemoryButton
from cc_bot.discord.pages.page import Button, Menu, MenuOption
from cc_bot.discord.pages.split import utf16_length
from cc_bot.domain.memory import (
    UNDO_TIME,
    FoundMemory,
    Memory,
    MemoryStatistics,
    Order,
    Source,
)
from cc_bot.domain.memory_transfer import ImportPlan
from cc_bot.domain.text import one_line as one_line  # noqa: PLC0414 - as the next
from cc_bot.domain.text import (
    shorten as shorten,  # noqa: PLC0414 - delivery and extensions take it from here
)
from cc_bot.texts import Texts

# ---- memory view ---------------------------------------------------------------------------------------


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


@dataclass(frozen=True, slots=True)
class ListPage:
    """A page of memories, and where in the whole list they stand."""

    title: str
    found: Sequence[FoundMemory]
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
    embed = hikari.Embed(title=shorten(page.title, 250), description=description, colour=COLOUR)
    footer = _footer(page, words)
    return embed.set_footer(footer) if footer else embed


def open_menu(found: Sequence[FoundMemory], custom_id: str, words: Texts) -> Menu:
    """Choose one of a list, to see all of it."""
    options = tuple(MenuOption(choice_name(each.memory), str(each.memory.id)) for each in found)
    return Menu(custom_id, words.memory.open, options)


def choice_name(memory: Memory) -> str:
    """A memory as a choice of an autocomplete list."""
    return shorten(f"#{memory.number} {one_line(memory.content)}", CHOICE_CHARACTERS)


def excerpt(content: str) -> str:
    """A memory's text within a sentence: one line, as it was written, and not too long for a message."""
    text = shorten(one_line(content), QUOTED_CHARACTERS)
    if len(escape_markdown(text)) > QUOTED_CHARACTERS:
        text = shorten(text, QUOTED_CHARACTERS // 2)
    return escape_markdown(text)


def receipt(template: str, memory: Memory, words: Texts) -> str:
    """The sentence that tells what was just remembered, and where and until when it will be used if not
    everywhere and always."""
    marks = [words.memory.private_only] if memory.audience == "private" else []
    if memory.expires_at is not None:
        marks.append(words.memory.until.format(date=last_day(memory.expires_at)))
    told = template.format(id=memory.number, content=excerpt(memory.content))
    return "\n-# ".join((told, *marks))


def timestamp(moment: datetime, style: str = "d") -> str:
    """A moment as every client shows it in its own zone: `d` the day, `t` the time, `f` both."""
    return f"<t:{int(moment.timestamp())}:{style}>"


def last_day(expires_at: datetime) -> str:
    return timestamp(expires_at - _DAY_BEFORE_ITS_END)


def end_mark(memory: Memory, words: Texts, now: datetime) -> str | None:
    """The mark that a memory's time is over, or until when it is not."""
    if memory.expires_at is None:
        return None
    if memory.is_expired(now):
        return words.memory.expired
    return words.memory.until.format(date=last_day(memory.expires_at))


def escape_markdown(text: str) -> str:
    """The text as it was written, not as Markdown."""
    return "".join(f"\\{character}" if character in r"\*_~`|>[]<" else character for character in text)


def _entry(found: FoundMemory, words: Texts, now: datetime, characters: int) -> str:
    memory = found.memory
    details = (
        words.memory.unsure if found.confidence < UNSURE_BELOW else None,
        escape_markdown(words.memory.shown_category(memory.category)),
        escape_markdown(shorten(" ".join(f"#{tag}" for tag in memory.tags), 60)),
        timestamp(memory.updated_at),
        end_mark(memory, words, now),
    )
    marks = (PIN_MARK if memory.pinned else "") + ("🔒 " if memory.audience == "private" else "")
    text = shorten(one_line(memory.content), characters)
    return f"**#{memory.number}** {marks}{escape_markdown(text)}\n-# {' ・ '.join(filter(None, details))}"


def _footer(page: ListPage, words: Texts) -> str:
    told = words.memory
    order = {"newest": "", "oldest": told.oldest_first, "updated": told.changed_first}[page.order]
    place = told.page.format(page=page.page, pages=page.pages) if page.pages > 1 else ""
    private = any(found.memory.audience == "private" for found in page.found)
    return "\n".join(
        filter(None, (" ・ ".join(filter(None, (place, order))), told.private_mark if private else ""))
    )


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
    memory: Memory, former: Sequence[Memory], words: Texts, now: datetime, *, said: str = ""
) -> EphemeralView:
    """The card with everything about a memory, its former versions (newest first) included, with what can be
    done to it."""
    told = words.memory_card
    embed = hikari.Embed(
        title=f"{PIN_MARK if memory.pinned else ''}{told.title.format(id=memory.number)}",
        description=_whole(memory.content),
        colour=COLOUR,
    )
    for name, value in _facts(memory, words, now):
        embed.add_field(name, shorten(value, _FIELD_CHARACTERS), inline=True)
    embed.add_field(told.why, shorten(_source(memory, words), _FIELD_CHARACTERS))
    if former:
        embed.add_field(told.history, _history(memory, former, words))
    return EphemeralView(said, embed, _buttons(memory, words), _restore_menu(memory, former, words))


def forgotten_view(memory: Memory, words: Texts, since: datetime) -> EphemeralView:
    """A deleted memory, until when that can be undone, and the ways to erase it at once."""
    told = words.memory
    until = timestamp(since + UNDO_TIME, "t")
    return EphemeralView(
        f"{told.deleted.format(id=memory.number, content=excerpt(memory.content))}\n"
        f"-# {told.undo_until.format(until=until)}\n-# {told.still_told}",
        buttons=(
            _button("undelete", memory, told.undo),
            Button(told.erase_now, _custom_id("erase", memory), danger=True),
            Button(words.erasure.conversations_too, _custom_id("erase-said", memory), danger=True),
        ),
    )


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


def _facts(memory: Memory, words: Texts, now: datetime) -> list[tuple[str, str]]:
    told = words.memory_card
    facts = [
        (told.category, escape_markdown(words.memory.shown_category(memory.category))),
        (told.tags, escape_markdown(shorten(" ".join(f"#{tag}" for tag in memory.tags), _TAG_CHARACTERS))),
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


# ---- memory statistics -----------------------------------------------------------------------------------
# A user's memories in numbers, with bars that line up on a phone: they stand first and have the same number
# of cells, so nothing depends on how wide a name is drawn.

BARS = 8
CELLS = 8


def statistics_view(kept: MemoryStatistics, words: Texts, *, paused: bool) -> EphemeralView:
    """The view that tells how many there are, of what kind, and since when."""
    told = words.memory_box
    if not kept.count:
        return EphemeralView("\n".join(filter(None, (told.paused if paused else "", words.memory.none))))
    embed = hikari.Embed(
        title=told.statistics_title.format(count=kept.count),
        description="\n".join(_lines(kept, words, paused=paused)),
        colour=COLOUR,
    )
    embed.add_field(told.categories, "\n".join(_bars(kept, words)))
    embed.add_field(told.sources, " ・ ".join(_sources(kept, words)))
    return EphemeralView(embed=embed)


def bar(count: int, most: int) -> str:
    """A share of the largest count in cells, at least one."""
    filled = max(1, round(CELLS * count / most))
    return "▰" * filled + "▱" * (CELLS - filled)


def _lines(kept: MemoryStatistics, words: Texts, *, paused: bool) -> list[str]:
    told = words.memory_box
    lines = [told.paused] if paused else []
    if kept.private:
        lines.append(told.private.format(count=kept.private))
    if kept.expired:
        lines.append(told.expired.format(count=kept.expired))
    if kept.oldest and kept.newest:
        lines.append(told.span.format(oldest=timestamp(kept.oldest), newest=timestamp(kept.newest)))
    return lines


def _bars(kept: MemoryStatistics, words: Texts) -> list[str]:
    told, most = words.memory_box, kept.categories[0][1]
    lines = [
        told.bar.format(
            bar=bar(count, most),
            name=escape_markdown(shorten(words.memory.shown_category(name), 30)),
            count=count,
        )
        for name, count in kept.categories[:BARS]
    ]
    rest = kept.categories[BARS:]
    if rest:
        count = sum(number for _, number in rest)
        lines.append(told.other_categories.format(categories=len(rest), count=count))
    return lines


def _sources(kept: MemoryStatistics, words: Texts) -> list[str]:
    told = words.memory_box
    names = told.source_names
    return [told.source_count.format(name=names[kind], count=count) for kind, count in kept.sources]


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
