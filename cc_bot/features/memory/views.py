"""Messages about memories."""

import re
from collections.abc import Sequence
from datetime import datetime
from typing import Final

import hikari

from cc_bot.chat.reply import Caller, Item
from cc_bot.discord.pages.custom_ids import ConfirmButton, MemoryAction, MemoryButton
from cc_bot.discord.pages.page import (
    CHOICE_CHARACTERS,
    Button,
    EphemeralView,
    Menu,
    Paragraph,
    escape_markdown,
    timestamp,
)
from cc_bot.domain.clock import Clock
from cc_bot.domain.text import one_line, shorten
from cc_bot.features.memory.files import ImportPlan
from cc_bot.features.memory.model import Memory
from cc_bot.features.memory.service import JUST_BEFORE, describe_expiry
from cc_bot.features.memory.texts import MemoryBulkTexts, MemoryCardTexts, MemoryTexts, ReceiptTexts
from cc_bot.texts import Texts
from cc_bot.texts.replies import ReplyTexts

PIN_MARK = "📌 "


def format_choice(item: Item) -> str:
    return shorten(f"#{item.number} {one_line(item.text)}", CHOICE_CHARACTERS)


def format_last_day(expires_at: datetime) -> str:
    return timestamp(expires_at - JUST_BEFORE)


MAX_TEXT_CHARACTERS = 2400  # of a card's 4000
MAX_VERSIONS = 4
MAX_VERSION_CHOICES = 25
_MAX_LINK_CHARACTERS = 200
_LINE_MARK = re.compile(r"^([^\S\n]*)(#{1,3}|-#|[-+])(?=[^\S\n])", re.MULTILINE)
"""Markdown for a heading, small print or a list."""
_MAX_TAGS_CHARACTERS = 250  # of all tags


def build_card(
    memory: Memory, versions: Sequence[Memory], caller: Caller, clock: Clock, *, text: str = ""
) -> EphemeralView:
    words, card = caller.words, caller.words[MemoryCardTexts]
    fields = "\n".join(f"**{name}**: {value}" for name, value in _list_fields(memory, caller, clock))
    content, file = _text_or_file(memory.content, words)
    paragraphs = [content, fields, f"**{card.why}**\n{_format_source(memory, caller)}"]
    if versions:
        paragraphs.append(f"**{card.history}**\n{_format_versions(memory, versions, caller)}")
    return EphemeralView(
        text,
        title=f"{PIN_MARK if memory.pinned else ''}{card.title.format(id=memory.number)}",
        paragraphs=tuple(map(Paragraph, paragraphs)),
        buttons=_build_buttons(memory, words),
        menu=_build_restore_menu(memory, versions, words),
        attachment=file,
    )


def build_edited_view(memory: Memory, before: Memory, words: Texts) -> EphemeralView:
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


def build_refused_view(sentence: str, entered: str, words: Texts) -> EphemeralView:
    if not entered.strip():
        return EphemeralView(sentence)
    text, file = _text_or_file(entered, words)
    title = words[MemoryCardTexts].your_text
    return EphemeralView(sentence, title=title, paragraphs=(Paragraph(text),), attachment=file)


def _text_or_file(content: str, words: Texts) -> tuple[str, hikari.Bytes | None]:
    """Return the text for a card. A long text is cut, and returned in full as a file."""
    escaped = _LINE_MARK.sub(r"\1\\\2", escape_markdown(content))
    if len(escaped) <= MAX_TEXT_CHARACTERS:
        return escaped, None
    excerpt = escape_markdown(shorten(one_line(content), MAX_TEXT_CHARACTERS // 2))
    return excerpt, hikari.Bytes(content.encode(), words[ReplyTexts].file_name)


def _list_fields(memory: Memory, caller: Caller, clock: Clock) -> list[tuple[str, str]]:
    words, card = caller.words, caller.words[MemoryCardTexts]
    fields = [
        (card.category, escape_markdown(words[MemoryTexts].shown_category(memory.category))),
        (
            card.tags,
            escape_markdown(shorten(" ".join(f"#{tag}" for tag in memory.tags), _MAX_TAGS_CHARACTERS)),
        ),
        (card.audience, card.private if memory.audience == "private" else card.anywhere),
        (card.end, describe_expiry(memory, caller, clock)),
        (
            card.changed,
            caller.format_day(memory.updated_at) if memory.updated_at != memory.created_at else "",
        ),
    ]
    return [(name, value) for name, value in fields if value]


def _format_source(memory: Memory, caller: Caller) -> str:
    card, link = caller.words[MemoryCardTexts], memory.source.link
    lines = [card.explain_source(memory.source, escape_markdown)]
    if 0 < len(link) <= _MAX_LINK_CHARACTERS:
        lines.append(card.source_link.format(link=link))
    return "\n".join((*lines, caller.format_time(memory.created_at)))


def _format_versions(memory: Memory, versions: Sequence[Memory], caller: Caller) -> str:
    lines, words = list[str](), caller.words
    for version in versions[:MAX_VERSIONS]:
        description = shorten(_describe_version(version, memory, words), 90)
        lines.append(f"{caller.format_day(version.updated_at)} {escape_markdown(description)}")
    if (more := len(versions) - MAX_VERSIONS) > 0:
        lines.append(words[MemoryCardTexts].more_former.format(count=more))
    return "\n".join(lines)


def _describe_version(version: Memory, memory: Memory, words: Texts) -> str:
    """Return a former version's text or, if the memory still has the same text, its category and tags."""
    if version.content != memory.content:
        return one_line(version.content)
    tags = (f"#{tag}" for tag in version.tags)
    return one_line(" ".join((words[MemoryTexts].shown_category(version.category), *tags)))


def _build_buttons(memory: Memory, words: Texts) -> tuple[Button, ...]:
    card = words[MemoryCardTexts]
    actions: dict[MemoryAction, str] = {"edit": card.edit, "delete": card.delete}
    actions |= (
        {"anywhere": card.use_anywhere} if memory.audience == "private" else {"private": card.use_in_private}
    )
    actions |= {"unpin": card.unpin} if memory.pinned else {"pin": card.pin}
    return tuple(Button(label, _make_custom_id(action, memory)) for action, label in actions.items())


def _build_restore_menu(memory: Memory, versions: Sequence[Memory], words: Texts) -> Menu | None:
    if not versions:
        return None
    options = tuple(
        (shorten(_describe_version(version, memory, words), CHOICE_CHARACTERS), str(version.id))
        for version in versions[:MAX_VERSION_CHOICES]
    )
    return Menu(_make_custom_id("restore", memory), words[MemoryCardTexts].restore, options)


def _editable_values(memory: Memory, words: Texts) -> tuple[str, str, str, str]:
    none = words[MemoryCardTexts].nothing
    tags = " ".join(f"#{tag}" for tag in memory.tags)
    return (
        escape_markdown(shorten(one_line(memory.content), 200)),
        escape_markdown(words[MemoryTexts].shown_category(memory.category)),
        escape_markdown(shorten(tags, 80)) or none,
        none if memory.expires_at is None else format_last_day(memory.expires_at),
    )


def _make_custom_id(action: MemoryAction, memory: Memory) -> str:
    return MemoryButton(action, memory.user_id, memory.id).custom_id()


MAX_EXAMPLES = 5


def build_preview(plan: ImportPlan, file: str, user_id: int, until: datetime, words: Texts) -> EphemeralView:
    """Show what an import would store, with buttons that work `until` a time."""
    texts, count = words[MemoryBulkTexts], len(plan.memories)
    lines = [texts.import_new.format(count=count)]
    if duplicates := plan.count("duplicate"):
        lines.append(texts.import_known.format(count=duplicates))
    if plan.refused_count:
        reasons = texts.import_reasons(plan)
        lines.append(texts.import_refused.format(count=plan.refused_count, reasons=reasons))
    counts = Paragraph("\n".join(lines))
    if not count:
        return EphemeralView(texts.nothing_to_import, title=texts.import_title, paragraphs=(counts,))
    contents = (shorten(one_line(each.content), 80) for each in plan.memories[:MAX_EXAMPLES])
    examples = (f"**{texts.examples}**", *(f"・{escape_markdown(content)}" for content in contents))
    confirm_id, cancel_id = (
        ConfirmButton(user_id, decision, count, int(until.timestamp())).custom_id()
        for decision in ("import", "cancel")
    )
    confirm = Button(texts.import_now.format(count=count), confirm_id, primary=True)
    return EphemeralView(
        title=texts.import_title,
        paragraphs=(counts, Paragraph("\n".join(examples))),
        footer=texts.import_check.format(until=timestamp(until, "t")),
        buttons=(confirm, Button(texts.cancel, cancel_id)),
        attachment=hikari.Bytes(file.encode(), "memories.json"),
    )


MAX_MESSAGE_CHARACTERS: Final = 1900  # Discord allows 2000
MAX_CONTENT_CHARACTERS: Final = 120
MAX_SHORT_CONTENT_CHARACTERS: Final = 40  # if not all memories fit otherwise


def format_used_memories(memories: Sequence[Memory], words: Texts) -> str:
    texts, total = words[ReceiptTexts], len(memories)
    if not memories:
        return texts.none_left
    attempts = [(total, MAX_CONTENT_CHARACTERS)]  # number of memories, characters per memory
    attempts += [(count, MAX_SHORT_CONTENT_CHARACTERS) for count in range(total, -1, -1)]
    message = ""
    for count, characters in attempts:
        entries = [_format_used_memory(memory, characters, words) for memory in memories[:count]]
        if count < total:
            entries.append(f"-# {texts.more.format(count=total - count)}")
        message = "\n".join((texts.used_title, *entries, f"-# {texts.what_next}"))
        if len(message) <= MAX_MESSAGE_CHARACTERS:
            break
    return message


def format_sentence(template: str, memory: Memory) -> str:
    return template.format(
        id=memory.number, content=escape_markdown(shorten(one_line(memory.content), MAX_CONTENT_CHARACTERS))
    )


def _format_used_memory(memory: Memory, characters: int, words: Texts) -> str:
    text = escape_markdown(shorten(one_line(memory.content), characters))
    source = words[MemoryCardTexts].explain_source(memory.source, escape_markdown)
    details = (source, timestamp(memory.created_at), memory.source.link)
    return f"**#{memory.number}** {text}\n-# {' ・ '.join(filter(None, details))}"
