"""Receipts: an answer's changes to memories and reminders, each with its undo button."""

from collections.abc import Iterable, Sequence
from itertools import filterfalse
from typing import Final
from zoneinfo import ZoneInfo

from cc_bot.chat.changes import change_handlers, parse_result
from cc_bot.discord.pages.custom_ids import OfferErasureButton
from cc_bot.discord.pages.page import RECEIPTS_COLOUR, Box, Button, Paragraph, action_button, small_print
from cc_bot.discord.recipients import Recipient
from cc_bot.domain.change import Change
from cc_bot.domain.message import ToolCall
from cc_bot.features.memory.texts import MemoryTexts, ReceiptTexts
from cc_bot.texts import Texts

MAX_RECEIPTS: Final = 4  # an OfferErasureButton has room for 4 ids
SHOWN_CHARACTERS: Final = 60


def receipts_box(receipts: Sequence[Change], words: Texts, user_id: int, *, private: bool) -> Box:
    """`private`: only the user sees them."""
    texts, shown = words[ReceiptTexts], receipts[:MAX_RECEIPTS]
    recipient = Recipient(user_id, words.locale, ZoneInfo("UTC"), words)  # times have zones of their own
    memory_changes = [each for each in shown if each.what == "memory" and each.state == "holds"]
    deleted_ids = tuple(sorted(each.id for each in memory_changes if each.kind == "deleted"))
    notices, buttons = list[str](), tuple[Button, ...]()
    if len(receipts) > MAX_RECEIPTS:
        notices.append(texts.more.format(count=len(receipts) - MAX_RECEIPTS))
    if private and any(each.private and each.kind in {"added", "updated"} for each in memory_changes):
        notices.append(words[MemoryTexts].private_only)
    if deleted_ids:
        notices.append(texts.conversations_remain)
        buttons = (Button(texts.erase_too, OfferErasureButton(user_id, deleted_ids).custom_id()),)
    paragraphs = [_paragraph(each, recipient, public=not private) for each in shown]
    if notices:
        paragraphs.append(Paragraph("\n".join(small_print(*notices))))
    return Box(tuple(paragraphs), RECEIPTS_COLOUR, buttons)


def join_receipts(before: Sequence[Change], new: Iterable[Change]) -> tuple[Change, ...]:
    """Join the receipts of an answer and of its replacement, without repeats. An item that is added again is
    a repeat; for a memory, the second addition has the kind "unchanged"."""
    known = {(each.identity, each.kind) for each in before}

    def is_repeated(each: Change) -> bool:
        is_second_addition = each.kind == ("unchanged" if each.what == "memory" else "added")
        return any(
            each.identity == identity and (is_second_addition or each.kind == kind)
            for identity, kind in known
        )

    return (*before, *filterfalse(is_repeated, new))


def recalled_ids(calls: Iterable[ToolCall]) -> tuple[int, ...]:
    ids = dict[int, None]()  # ordered
    for call in calls:
        memories = parse_result(call).get("memories")
        for memory in memories if isinstance(memories, list) else ():
            if isinstance(memory, dict) and isinstance(memory.get("ref"), int):
                ids[memory["ref"]] = None
    return tuple(ids)


def _paragraph(receipt: Change, recipient: Recipient, *, public: bool) -> Paragraph:
    if receipt.state == "undone":
        return Paragraph(recipient.words[ReceiptTexts].undone[receipt.what].format(id=receipt.number))
    handler = change_handlers()[receipt.what]
    line = handler.format_line(receipt, recipient, limit=SHOWN_CHARACTERS, public=public, numbered=False)
    undo = handler.make_undo(receipt, recipient.words) if receipt.state == "holds" else None
    return Paragraph(line, action_button(undo, recipient.user_id) if undo else None)
