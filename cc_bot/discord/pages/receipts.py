"""Receipts: an answer's changes to memories and reminders, in an embed with undo buttons, from events of the
turn, results of stored tool calls, or receipts stored with the message.
"""

from collections.abc import Iterable, Sequence
from itertools import filterfalse
from typing import Any, Final
from zoneinfo import ZoneInfo

from cc_bot.chat.changes import result_of, shown_changes
from cc_bot.chat.reply import Caller
from cc_bot.discord.pages.custom_ids import UndoButton, UntellButton, UsedMemoriesButton
from cc_bot.discord.pages.page import Button, Facts, Receipts, action_button, small_print
from cc_bot.discord.recipients import Recipient
from cc_bot.domain.change import Change
from cc_bot.domain.message import ToolCall
from cc_bot.domain.text import one_line, shorten
from cc_bot.features.memory.model import Receipt
from cc_bot.features.memory.texts import MemoryTexts, ReceiptTexts
from cc_bot.texts import Texts

MAX_RECEIPTS: Final = 4
"""With the button for memories used, they fill a row."""
SHOWN_CHARACTERS: Final = 60
LABEL_CHARACTERS: Final = 15

AnyReceipt = Receipt | Change


def render_receipts(
    receipts: Sequence[AnyReceipt], recalled: Sequence[int], words: Texts, user_id: int, *, private: bool
) -> Receipts:
    """`private`: only the user reads them."""
    shown = tuple(receipts[:MAX_RECEIPTS])
    reader = Recipient(user_id, words.locale, ZoneInfo("UTC"), words)
    lines = tuple(_line(each, reader, private=private) for each in shown)
    alone = sum(_is_undoable(each) for each in shown) == 1
    undoable = (each for each in shown if each.state == "holds" and _is_undoable(each))
    buttons = [*filter(None, (_undo_button(each, reader, alone=alone, private=private) for each in undoable))]
    holding = [each for each in shown if isinstance(each, Receipt) and each.state == "holds"]
    deleted = tuple(sorted(each.memory_id for each in holding if each.kind == "deleted"))
    notices = list[str]()
    if len(receipts) > MAX_RECEIPTS:
        notices.append(words[ReceiptTexts].more.format(count=len(receipts) - MAX_RECEIPTS))
    if private and any(each.private and each.kind in {"added", "updated"} for each in holding):
        notices.append(words[MemoryTexts].private_only)
    if deleted:
        notices.append(words[ReceiptTexts].still_told)
    untell = (
        [Button(words[ReceiptTexts].untell, UntellButton(user_id, deleted).custom_id())] if deleted else []
    )
    used = tuple(number for number in recalled if number not in deleted)
    if used and len(buttons) + len(untell) <= MAX_RECEIPTS:
        label = words[ReceiptTexts].used.format(count=len(used))
        buttons.append(Button(label, UsedMemoriesButton(user_id, used).custom_id()))
    facts = Facts((*lines, *small_print(*notices)), locale=words.locale)
    return Receipts(shown, facts, (*buttons, *untell), tuple(recalled), user_id, private)


def followed_by(before: Sequence[AnyReceipt], new: Iterable[AnyReceipt]) -> tuple[AnyReceipt, ...]:
    """Return an answer's receipts and those of its replacement, without repetitions."""
    known = set(map(_item, before))

    def is_repeated(each: AnyReceipt) -> bool:  # the same reminder is set only once
        may_repeat = each.kind == ("added" if isinstance(each, Change) else "unchanged")
        return may_repeat and _item(each) in known

    return (*before, *filterfalse(is_repeated, new))


def receipts_in(calls: Iterable[ToolCall]) -> tuple[Receipt, ...]:
    found: dict[int, Receipt] = {}
    for call in calls:
        for name, data in result_of(call).items():
            if name in {"remembered", "updated", "forgotten"} and (one := _from_result(name, data)):
                known = found.get(one.memory_id)
                if known and known.kind == "added" and one.kind == "deleted":
                    del found[one.memory_id]
                elif known is None or one.kind != "unchanged":
                    found[one.memory_id] = one.as_added(known) if known and known.kind == "added" else one
    return tuple(found.values())


def recalled_in(calls: Iterable[ToolCall]) -> tuple[int, ...]:
    found = (
        note.get("ref")
        for call in calls
        if isinstance(notes := result_of(call).get("memories"), list)
        for note in notes
        if isinstance(note, dict)
    )
    return tuple(dict.fromkeys(number for number in found if isinstance(number, int)))


def _from_result(name: str, data: Any) -> Receipt | None:
    match name, data:
        case "forgotten", {"id": int(number), "ref": int(id_), "content": str(text)}:
            return Receipt("deleted", id_, text, number=number)
        case _, {
            "id": int(number),
            "ref": int(id_),
            "content": str(text),
            "change": ("added" | "updated" | "unchanged") as kind,
        }:
            return Receipt(kind, id_, text, data.get("former_ref"), number=number)
        case _:
            return None


def _item(receipt: AnyReceipt) -> tuple[str, int]:
    return (receipt.what, receipt.id) if isinstance(receipt, Change) else ("memory", receipt.memory_id)


def _is_undoable(receipt: AnyReceipt) -> bool:
    return receipt.kind == "added" if isinstance(receipt, Change) else receipt.undo is not None


def _undo_button(receipt: AnyReceipt, reader: Caller, *, alone: bool, private: bool) -> Button | None:
    words, user_id = reader.words, reader.user_id
    if isinstance(receipt, Change):
        action = shown_changes()[receipt.what].undo(receipt, words, only_button=alone)
        return action_button(action, user_id) if action else None
    if receipt.undo is None:
        return None
    undo = UndoButton(receipt.undo, user_id, receipt.memory_id, receipt.former_id or 0)
    return Button(_label(receipt, words, alone=alone, private=private), undo.custom_id())


def _label(receipt: Receipt, words: Texts, *, alone: bool, private: bool) -> str:
    if alone or (receipt.private and not private):
        return words[ReceiptTexts].undo
    content = receipt.text if private or receipt.kind != "deleted" else f"#{receipt.number}"
    return words[ReceiptTexts].undo_one.format(content=shorten(one_line(content), LABEL_CHARACTERS))


def _line(receipt: AnyReceipt, reader: Caller, *, private: bool) -> str:
    words = reader.words
    if receipt.state == "undone":
        return words[ReceiptTexts].taken_back
    if isinstance(receipt, Change):
        return shown_changes()[receipt.what].line(receipt, reader, limit=SHOWN_CHARACTERS)
    text = reader.text(receipt.text, SHOWN_CHARACTERS)
    if receipt.state == "over":
        return words[ReceiptTexts].changed_again.format(id=receipt.number)
    if receipt.private and not private:
        return words[ReceiptTexts].line(receipt, words[ReceiptTexts].hidden)
    if receipt.kind == "deleted" and not (private and text):  # a public line does not repeat what is deleted
        return words[ReceiptTexts].deleted_for_all.format(id=receipt.number)
    return words[ReceiptTexts].line(receipt, text)
