"""Memories as messages."""

import re
from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Final

import hikari

from cc_bot.chat.reply import Caller, Item
from cc_bot.discord.pages.custom_ids import ConfirmButton, MemoryAction, MemoryButton
from cc_bot.discord.pages.page import (
    BLURPLE,
    CHOICE_CHARACTERS,
    Button,
    EphemeralView,
    Menu,
    escape_markdown,
    timestamp,
)
from cc_bot.domain.clock import Clock
from cc_bot.domain.text import one_line, shorten
from cc_bot.features.memory.files import ImportPlan
from cc_bot.features.memory.model import Memory, Source
from cc_bot.features.memory.service import end_mark
from cc_bot.features.memory.texts import MemoryBulkTexts, MemoryCardTexts, MemoryTexts, ReceiptTexts
from cc_bot.texts import Texts

PIN_MARK = "📌 "

_DAY_BEFORE_ITS_END = timedelta(seconds=1)  # shows an end at midnight as the day before


def choice_name(item: Item) -> str:
    return shorten(f"#{item.number} {one_line(item.text)}", CHOICE_CHARACTERS)


def last_day(expires_at: datetime) -> str:
    return timestamp(expires_at - _DAY_BEFORE_ITS_END)


DESCRIPTION_CHARACTERS = 4096
FORMER_SHOWN = 4
FORMER_CHOICES = 25
_FIELD_CHARACTERS = 1024
_LINK_CHARACTERS = 200
_LINE_MARK = re.compile(r"^([^\S\n]*)(#{1,3}|-#|[-+])(?=[^\S\n])", re.MULTILINE)
"""Markdown of a heading, small print or list at the start of a line."""
_TAG_CHARACTERS = 250  # all tags; embeds of a message have 6000 characters


def memory_card(
    memory: Memory, former: Sequence[Memory], reader: Caller, clock: Clock, *, text: str = ""
) -> EphemeralView:
    """Return a memory's card with its former versions (newest first) and buttons."""
    words, card = reader.words, reader.words[MemoryCardTexts]
    embed = hikari.Embed(
        title=f"{PIN_MARK if memory.pinned else ''}{card.title.format(id=memory.number)}",
        description=_escape(memory.content),
        colour=BLURPLE,
    )
    for name, value in _list_fields(memory, reader, clock):
        embed.add_field(name, shorten(value, _FIELD_CHARACTERS), inline=True)
    embed.add_field(card.why, shorten(_source_field(memory, words), _FIELD_CHARACTERS))
    if former:
        embed.add_field(card.history, _history(memory, former, words))
    return EphemeralView(text, embed, _buttons(memory, words), _restore_menu(memory, former, words))


def edited_view(memory: Memory, before: Memory, words: Texts) -> EphemeralView:
    card = words[MemoryCardTexts]
    lines = [
        card.changed_from_to.format(name=name, old=old, new=new)
        for name, old, new in zip(
            (card.content, card.category, card.tags, card.end),
            _editable_values(before, words),
            _editable_values(memory, words),
            strict=True,
        )
        if old != new
    ]
    if not lines:
        return EphemeralView(card.unchanged.format(id=memory.number))
    undo = MemoryButton("undo-edit", memory.user_id, memory.id, memory.supersedes or 0)
    return EphemeralView(
        "\n".join((card.edited.format(id=memory.number), *lines)),
        buttons=(Button(words[MemoryTexts].undo, undo.custom_id()),),
    )


def refused_view(sentence: str, entered: str, words: Texts) -> EphemeralView:
    embed = hikari.Embed(title=words[MemoryCardTexts].your_text, description=_escape(entered), colour=BLURPLE)
    return EphemeralView(sentence, embed if entered.strip() else None)


def _escape(content: str) -> str:
    text = _LINE_MARK.sub(r"\1\\\2", escape_markdown(content))
    return text if len(text) <= DESCRIPTION_CHARACTERS else content[:DESCRIPTION_CHARACTERS]


def _list_fields(memory: Memory, reader: Caller, clock: Clock) -> list[tuple[str, str]]:
    words, card = reader.words, reader.words[MemoryCardTexts]
    facts = [
        (card.category, escape_markdown(words[MemoryTexts].shown_category(memory.category))),
        (card.tags, escape_markdown(shorten(" ".join(f"#{tag}" for tag in memory.tags), _TAG_CHARACTERS))),
        (card.audience, card.private if memory.audience == "private" else card.anywhere),
        (card.end, end_mark(memory, reader, clock)),
        (card.changed, timestamp(memory.updated_at) if memory.updated_at != memory.created_at else ""),
    ]
    return [(name, value) for name, value in facts if value]


def _source_field(memory: Memory, words: Texts) -> str:
    link = memory.source.link
    shown = words[MemoryCardTexts].source_link.format(link=link) if 0 < len(link) <= _LINK_CHARACTERS else ""
    return "\n".join(
        filter(None, (explain_source(memory.source, words), shown, timestamp(memory.created_at, "f")))
    )


def explain_source(source: Source, words: Texts) -> str:
    author, model = (escape_markdown(shorten(one_line(name), 100)) for name in (source.author, source.model))
    return words[MemoryCardTexts].explain_source(source.kind, author=author, model=model)


def _history(memory: Memory, former: Sequence[Memory], words: Texts) -> str:
    lines = [
        f"{timestamp(version.updated_at)} {escape_markdown(shorten(_difference(version, memory, words), 90))}"
        for version in former[:FORMER_SHOWN]
    ]
    if len(former) > FORMER_SHOWN:
        lines.append(words[MemoryCardTexts].more_former.format(count=len(former) - FORMER_SHOWN))
    return "\n".join(lines)


def _difference(version: Memory, memory: Memory, words: Texts) -> str:
    """Return a former version's text or, if equal, its category and tags."""
    if version.content != memory.content:
        return one_line(version.content)
    tags = (f"#{tag}" for tag in version.tags)
    return one_line(" ".join((words[MemoryTexts].shown_category(version.category), *tags)))


def _buttons(memory: Memory, words: Texts) -> tuple[Button, ...]:
    card = words[MemoryCardTexts]
    actions: dict[MemoryAction, str] = {"edit": card.edit, "delete": card.delete}
    actions |= (
        {"anywhere": card.use_anywhere} if memory.audience == "private" else {"private": card.use_in_private}
    )
    actions |= {"unpin": card.unpin} if memory.pinned else {"pin": card.pin}
    return tuple(Button(label, _custom_id(action, memory)) for action, label in actions.items())


def _restore_menu(memory: Memory, former: Sequence[Memory], words: Texts) -> Menu | None:
    if not former:
        return None
    options = tuple(
        (shorten(_difference(version, memory, words), CHOICE_CHARACTERS), str(version.id))
        for version in former[:FORMER_CHOICES]
    )
    return Menu(_custom_id("restore", memory), words[MemoryCardTexts].restore, options)


def _editable_values(memory: Memory, words: Texts) -> tuple[str, str, str, str]:
    """Return the editable fields, shortened to fit twice in a message."""
    nothing = words[MemoryCardTexts].nothing
    tags = " ".join(f"#{tag}" for tag in memory.tags)
    return (
        escape_markdown(shorten(one_line(memory.content), 200)),
        escape_markdown(words[MemoryTexts].shown_category(memory.category)),
        escape_markdown(shorten(tags, 80)) or nothing,
        nothing if memory.expires_at is None else last_day(memory.expires_at),
    )


def _custom_id(action: MemoryAction, memory: Memory) -> str:
    return MemoryButton(action, memory.user_id, memory.id).custom_id()


EXAMPLES = 5


def import_preview(
    plan: ImportPlan, planned: str, user_id: int, until: datetime, words: Texts
) -> EphemeralView:
    """Show the numbers of new, known and refused memories; with new ones, also samples, the file `planned`
    and buttons."""
    box, new = words[MemoryBulkTexts], len(plan.new)
    lines = [box.import_new.format(count=new)]
    if plan.known:
        lines.append(box.import_known.format(count=plan.known))
    if plan.refused:
        lines.append(box.import_refused.format(count=plan.refused, reasons=box.import_reasons(plan)))
    if not new:
        return EphemeralView(box.nothing_to_import, _embed(lines, words))
    lines += ["", f"**{box.examples}**"]
    lines += [f"・{escape_markdown(shorten(one_line(each.content), 80))}" for each in plan.new[:EXAMPLES]]
    lines += ["", f"-# {box.import_check.format(until=timestamp(until, 't'))}"]
    yes, no = (
        ConfirmButton(user_id, decision, new, int(until.timestamp())).custom_id()
        for decision in ("import", "cancel")
    )
    take = Button(box.import_now.format(count=new), yes, primary=True)
    file = hikari.Bytes(planned.encode(), "memories.json")
    return EphemeralView("", _embed(lines, words), (take, Button(box.cancel, no)), attachment=file)


def _embed(lines: list[str], words: Texts) -> hikari.Embed:
    return hikari.Embed(
        title=words[MemoryBulkTexts].import_title, description="\n".join(lines), colour=BLURPLE
    )


MAX_MESSAGE_CHARACTERS: Final = 1900  # Discord allows 2000
CARD_CHARACTERS: Final = 120
SHORT_CHARACTERS: Final = 40  # per memory, if not all fit otherwise


def format_used_memories(memories: Sequence[Memory], words: Texts) -> str:
    """List as many memories as fit in a message, and count the rest."""
    if not memories:
        return words[ReceiptTexts].none_left
    receipts, text, total = words[ReceiptTexts], "", len(memories)
    for count, characters in (
        (total, CARD_CHARACTERS),
        *((count, SHORT_CHARACTERS) for count in range(total, -1, -1)),
    ):
        shown = [_card_entry(memory, characters, words) for memory in memories[:count]]
        more = [f"-# {receipts.more.format(count=total - count)}"] if count < total else []
        text = "\n".join((receipts.used_title, *shown, *more, f"-# {receipts.what_next}"))
        if len(text) <= MAX_MESSAGE_CHARACTERS:
            break
    return text


def format_with(template: str, memory: Memory) -> str:
    return template.format(
        id=memory.number, content=escape_markdown(shorten(one_line(memory.content), CARD_CHARACTERS))
    )


def _card_entry(memory: Memory, characters: int, words: Texts) -> str:
    text = escape_markdown(shorten(one_line(memory.content), characters))
    origin = (explain_source(memory.source, words), timestamp(memory.created_at), memory.source.link)
    return f"**#{memory.number}** {text}\n-# {' ・ '.join(filter(None, origin))}"
