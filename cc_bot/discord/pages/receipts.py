"""Receipts: an answer's changes to memories and reminders, in an embed with undo buttons, from events of the
turn, results of stored tool calls, or receipts stored with the message.
"""

import json
from collections.abc import Iterable, Sequence
from datetime import datetime
from itertools import filterfalse
from typing import Any, Final

from cc_bot.discord.pages.custom_ids import UndoButton, UnscheduleButton, UntellButton, UsedMemoriesButton
from cc_bot.discord.pages.page import Button, Facts, Receipts, escape_markdown, small_print, timestamp
from cc_bot.domain.message import ToolCall
from cc_bot.domain.text import one_line, shorten
from cc_bot.domain.tool_calls import is_of_server
from cc_bot.features.memory.model import Receipt
from cc_bot.features.memory.texts import MemoryTexts, ReceiptTexts
from cc_bot.features.reminders.model import ScheduleReceipt, with_schedule
from cc_bot.features.reminders.texts import ReminderTexts, RepeatTexts, described
from cc_bot.texts import Texts

MAX_RECEIPTS: Final = 4
"""With the button for memories used, they fill a row."""
SHOWN_CHARACTERS: Final = 60
LABEL_CHARACTERS: Final = 15

AnyReceipt = Receipt | ScheduleReceipt


def render_receipts(
    receipts: Sequence[AnyReceipt], recalled: Sequence[int], words: Texts, user_id: int, *, private: bool
) -> Receipts:
    """`private`: only the user reads them."""
    shown = tuple(receipts[:MAX_RECEIPTS])
    lines = tuple(_line(each, words, private=private) for each in shown)
    undoable = [(each, undo) for each in shown if (undo := _undo_button(each, user_id))]
    buttons = [
        Button(_label(each, words, alone=len(undoable) == 1, private=private), undo.custom_id())
        for each, undo in undoable
        if each.state == "holds"
    ]
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
    known = {(type(each), _id(each)) for each in before}

    def is_repeated(each: AnyReceipt) -> bool:  # the same reminder is set only once
        may_repeat = each.kind == ("added" if isinstance(each, ScheduleReceipt) else "unchanged")
        return may_repeat and (type(each), _id(each)) in known

    return (*before, *filterfalse(is_repeated, new))


def receipts_in(calls: Iterable[ToolCall]) -> tuple[Receipt, ...]:
    found: dict[int, Receipt] = {}
    for call in calls:
        for name, data in _result_of(call).items():
            if name in {"remembered", "updated", "forgotten"} and (one := _from_result(name, data)):
                known = found.get(one.memory_id)
                if known and known.kind == "added" and one.kind == "deleted":
                    del found[one.memory_id]
                elif known is None or one.kind != "unchanged":
                    found[one.memory_id] = one.as_added(known) if known and known.kind == "added" else one
    return tuple(found.values())


def schedules_in(calls: Iterable[ToolCall]) -> tuple[ScheduleReceipt, ...]:
    found: tuple[ScheduleReceipt, ...] = ()
    for call in calls:
        if receipt := _scheduled(call):
            found = with_schedule(found, receipt)
    return found


def recalled_in(calls: Iterable[ToolCall]) -> tuple[int, ...]:
    found = (
        note.get("ref")
        for call in calls
        if isinstance(notes := _result_of(call).get("memories"), list)
        for note in notes
        if isinstance(note, dict)
    )
    return tuple(dict.fromkeys(number for number in found if isinstance(number, int)))


def _result_of(call: ToolCall) -> dict[str, Any]:
    """Empty for tools of servers, and if it failed or was erased."""
    try:
        result = json.loads(call.result) if call.ok and not is_of_server(call.name) else {}
    except ValueError:
        return {}
    return result if isinstance(result, dict) else {}


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


def _scheduled(call: ToolCall) -> ScheduleReceipt | None:
    match _result_of(call):
        case {
            "scheduled": {"id": int(number), "ref": int(id_), "text": str(text), "when": str(when)} as data
        }:
            due_at = datetime.fromisoformat(when)
            return ScheduleReceipt("added", id_, text, due_at, data.get("repeat") or "", number)
        case {"cancelled": {"id": int(number), "ref": int(id_), "text": str(text)}}:
            return ScheduleReceipt("cancelled", id_, text, number=number)
        case _:
            return None


def _id(receipt: AnyReceipt) -> int:
    return receipt.memory_id if isinstance(receipt, Receipt) else receipt.schedule_id


def _undo_button(receipt: AnyReceipt, user_id: int) -> UndoButton | UnscheduleButton | None:
    if isinstance(receipt, ScheduleReceipt):
        return UnscheduleButton(user_id, receipt.schedule_id) if receipt.kind == "added" else None
    if receipt.undo is None:
        return None
    return UndoButton(receipt.undo, user_id, receipt.memory_id, receipt.former_id or 0)


def _label(receipt: AnyReceipt, words: Texts, *, alone: bool, private: bool) -> str:
    if isinstance(receipt, ScheduleReceipt):
        text = shorten(one_line(receipt.text), LABEL_CHARACTERS)
        return words[ReminderTexts].cancel if alone else words[ReminderTexts].cancel_one.format(text=text)
    if alone or (receipt.private and not private):
        return words[ReceiptTexts].undo
    content = receipt.text if private or receipt.kind != "deleted" else f"#{receipt.number}"
    return words[ReceiptTexts].undo_one.format(content=shorten(one_line(content), LABEL_CHARACTERS))


def _line(receipt: AnyReceipt, words: Texts, *, private: bool) -> str:
    if receipt.state == "undone":
        return words[ReceiptTexts].taken_back
    text = escape_markdown(shorten(one_line(receipt.text), SHOWN_CHARACTERS))
    if isinstance(receipt, ScheduleReceipt):
        return _schedule_line(receipt, text or f"#{receipt.number}", words)
    if receipt.state == "over":
        return words[ReceiptTexts].changed_again.format(id=receipt.number)
    if receipt.private and not private:
        return words[ReceiptTexts].line(receipt, words[ReceiptTexts].hidden)
    if receipt.kind == "deleted" and not (private and text):  # a public line does not repeat what is deleted
        return words[ReceiptTexts].deleted_for_all.format(id=receipt.number)
    return words[ReceiptTexts].line(receipt, text)


def _schedule_line(receipt: ScheduleReceipt, text: str, words: Texts) -> str:
    if receipt.due_at is None:
        return words[ReminderTexts].cancelled.format(text=text)
    time = timestamp(receipt.due_at, "F")
    if receipt.repeat:
        repeat = described(receipt.repeat, words[RepeatTexts])
        return words[ReminderTexts].again_and_again.format(repeat=repeat, time=time, text=text)
    moment = words[ReminderTexts].moment.format(time=time, distance=timestamp(receipt.due_at, "R"))
    return words[ReminderTexts].once.format(time=moment, text=text)
