"""Receipts: what an answer did to memories and reminders, among the facts under it, with buttons to take it
back.

They are made from committed rows, as events of the running turn or as the results of its tool calls, which
are stored with the answer. They stand in an embed, where no model can write (page.py).
"""

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final, Literal

from cc_bot.discord.pages.custom_ids import (
    KnownMemory,
    UndoButton,
    UnscheduleButton,
    UntellButton,
    UsedMemoriesButton,
    parse_custom_id,
)
from cc_bot.discord.pages.memory import escape_markdown, one_line, timestamp
from cc_bot.discord.pages.page import Button, Facts, Page
from cc_bot.domain.memory import Named, Receipt, ReceiptLine
from cc_bot.domain.message import ToolCall
from cc_bot.domain.schedule import ScheduleChange
from cc_bot.domain.text import shorten
from cc_bot.texts import Texts
from cc_bot.texts.reminder import described

# ---- schedule receipts -----------------------------------------------------------------------------------
# What an answer did to reminders: a fact under it for each, and a button to take it back.
#
# Like all receipts they are made from committed rows: from the turn's events, or from the results of its tool
# calls, which are stored with the answer.

SHOWN_CHARACTERS: Final = 60
LABEL_CHARACTERS: Final = 15


@dataclass(frozen=True, slots=True)
class ScheduleReceipt:
    """The record of what was done to one reminder."""

    kind: Literal["added", "cancelled"]
    schedule_id: int
    text: str
    due_at: datetime | None = None
    """The next time, with a time zone; None for one that was cancelled."""
    repeat: str = ""


def receipt_of(change: ScheduleChange) -> ScheduleReceipt:
    schedule = change.schedule
    due_at = schedule.due_at if change.kind == "added" else None
    return ScheduleReceipt(change.kind, schedule.id, schedule.text, due_at, schedule.repeat)


def with_schedule(receipts: Sequence[ScheduleReceipt], new: ScheduleReceipt) -> tuple[ScheduleReceipt, ...]:
    """Add one more. What was made and cancelled in the same answer is not told at all."""
    before = next((each for each in receipts if each.schedule_id == new.schedule_id), None)
    others = tuple(each for each in receipts if each is not before)
    made_here = before is not None and before.kind == "added" and new.kind == "cancelled"
    return others if made_here else (*others, new)


def schedule_line(receipt: ScheduleReceipt, words: Texts) -> str:
    told, text = words.reminder, escape_markdown(shorten(one_line(receipt.text), SHOWN_CHARACTERS))
    if receipt.due_at is None:
        return told.cancelled.format(text=text)
    time = timestamp(receipt.due_at, "F")
    if receipt.repeat:
        repeat = described(receipt.repeat, words.repeat)
        return told.again_and_again.format(repeat=repeat, time=time, text=text)
    return told.once.format(time=time, moment=timestamp(receipt.due_at, "R"), text=text)


def schedule_button(receipt: ScheduleReceipt, user_id: int, words: Texts, *, alone: bool) -> Button | None:
    """The button that takes it back; None for what can't be."""
    if receipt.kind == "cancelled":
        return None
    label = words.reminder.cancel
    if not alone:
        label = words.reminder.cancel_one.format(text=shorten(one_line(receipt.text), LABEL_CHARACTERS))
    return Button(label, UnscheduleButton(user_id, receipt.schedule_id).custom_id())


def schedules_of(buttons: Iterable[Button]) -> frozenset[int]:
    """The reminders that these buttons cancel."""
    parsed = (parse_custom_id(button.custom_id) for button in buttons)
    return frozenset(each.schedule_id for each in parsed if isinstance(each, UnscheduleButton))


def schedules_in(calls: Iterable[ToolCall]) -> tuple[ScheduleReceipt, ...]:
    """The receipts of a stored answer, from what its tools told."""
    found: tuple[ScheduleReceipt, ...] = ()
    for call in calls:
        if receipt := _done(call):
            found = with_schedule(found, receipt)
    return found


def _done(call: ToolCall) -> ScheduleReceipt | None:
    """Return what a call did; None for one that failed, did something else, or whose text was erased."""
    try:
        told = json.loads(call.result) if call.ok else {}
        match told:
            case {"scheduled": {"id": int(row), "text": str(text), "when": str(when)} as data}:
                repeat = data.get("repeat")
                due = datetime.fromisoformat(when)
                return ScheduleReceipt(
                    "added", data.get("ref", row), text, due, repeat if isinstance(repeat, str) else ""
                )
            case {"cancelled": {"id": int(row), "text": str(text)} as data}:
                return ScheduleReceipt("cancelled", data.get("ref", row), text)
            case _:
                return None
    except ValueError:
        return None


# ---- receipts --------------------------------------------------------------------------------------------

MOST: Final = 4
"""Receipts under one answer: with the button for the memories used, a row of buttons is full."""


@dataclass(frozen=True, slots=True)
class Carried:
    """The receipts of an answer that another one takes the place of: what was done stays done."""

    lines: tuple[str, ...] = ()
    buttons: tuple[Button, ...] = ()

    @classmethod
    def over(cls, page: Page) -> "Carried":
        """Return those of an answer's last message."""
        return cls(page.facts.receipts, tuple(button for button in page.receipts if takes_back(button)))

    @property
    def forgotten(self) -> frozenset[int]:
        undone = map(_undo_of, self.buttons)
        return frozenset(undo.memory_id for undo in undone if undo and undo.action == "deleted")

    @property
    def memory_ids(self) -> frozenset[int]:
        return frozenset(undo.memory_id for button in self.buttons if (undo := _undo_of(button)))


NOTHING_CARRIED: Final = Carried()


def receipts_in(calls: Iterable[ToolCall]) -> tuple[Receipt, ...]:
    """The receipts of a stored answer, from what its tools told."""
    found: dict[int, Receipt] = {}
    for call in calls:
        told = _result_of(call)
        for name, data in told.items():
            if name in {"remembered", "updated", "forgotten"} and (one := _from_result(name, data)):
                known = found.get(one.memory_id)
                if known and known.kind == "added" and one.kind == "deleted":
                    del found[one.memory_id]
                elif known is None or one.kind != "unchanged":
                    found[one.memory_id] = one.as_added(known) if known and known.kind == "added" else one
    return tuple(found.values())


def recalled_in(calls: Iterable[ToolCall]) -> tuple[int, ...]:
    """The memories that a stored answer looked up."""
    found = (
        note.get("ref", note.get("id"))
        for call in calls
        if isinstance(notes := _result_of(call).get("memories"), list)
        for note in notes
        if isinstance(note, dict)
    )
    return tuple(dict.fromkeys(number for number in found if isinstance(number, int)))


def receipt_facts(
    receipts: Sequence[Receipt],
    carried: Carried,
    words: Texts,
    *,
    private: bool,
    schedules: Sequence[ScheduleReceipt] = (),
) -> Facts:
    """The facts that are stated under an answer. `private`: whether its user alone reads it."""
    new = [_line(one, words, private=private) for one in _news(receipts, carried)]
    lines = [*carried.lines, *new, *(schedule_line(one, words) for one in _new_ones(schedules, carried))]
    below = [words.receipt.more.format(count=len(lines) - MOST)] if len(lines) > MOST else []
    if private and any(one.private and one.kind in {"added", "updated"} for one in receipts):
        below.append(words.memory.private_only)
    if _deleted_ids(receipts, carried):
        below.append(words.receipt.still_told)
    return Facts(tuple(lines[:MOST]), notices=tuple(below), locale=words.locale)


def receipt_buttons(
    receipts: Sequence[Receipt],
    recalled: Sequence[int],
    carried: Carried,
    words: Texts,
    user_id: int,
    *,
    private: bool,
    schedules: Sequence[ScheduleReceipt] = (),
) -> tuple[Button, ...]:
    """A row of buttons: a button for each line that can be taken back, and one for the memories that were
    used."""
    room = max(0, MOST - len(carried.lines))
    news = _news(receipts, carried)[:room]
    made = _new_ones(schedules, carried)[: room - len(news)]
    undoable = [one for one in news if one.undo]
    alone = len(undoable) + len(made) + len(carried.buttons) == 1
    buttons = list(carried.buttons[:MOST])
    for one in undoable:
        label = words.receipt.undo
        if not alone and (private or not one.private):
            told = one.text if private or one.kind != "deleted" else f"#{one.number}"
            label = words.receipt.undo_one.format(content=shorten(one_line(told), LABEL_CHARACTERS))
        if one.undo:
            button = UndoButton(one.undo, user_id, one.memory_id, one.former_id or 0)
            buttons.append(Button(label, button.custom_id()))
    for scheduled in made:
        if cancel := schedule_button(scheduled, user_id, words, alone=alone):
            buttons.append(cancel)
    gone = _deleted_ids(receipts, carried)
    untell = [Button(words.receipt.untell, UntellButton(user_id, gone).custom_id())] if gone else []
    used = tuple(number for number in recalled if number not in gone)
    if used and len(buttons) + len(untell) <= MOST:
        label = words.receipt.used.format(count=len(used))
        buttons.append(Button(label, UsedMemoriesButton(user_id, used).custom_id()))
    return (*buttons, *untell)


def known_lines(receipts: Sequence[Receipt], carried: Carried, user_id: int) -> tuple[ReceiptLine, ...]:
    """The lines that say that a memory was known already."""
    told = enumerate(_news(receipts, carried), start=len(carried.lines))
    return tuple(
        ReceiptLine(at, Named("memory", one.memory_id), KnownMemory(user_id, one.memory_id).record())
        for at, one in told
        if one.kind == "unchanged" and at < MOST
    )


def is_receipt_button(button: Button) -> bool:
    kinds = (UsedMemoriesButton, UntellButton)
    return takes_back(button) or isinstance(parse_custom_id(button.custom_id), kinds)


def takes_back(button: Button) -> bool:
    """Return whether it takes back what a line tells of."""
    return isinstance(parse_custom_id(button.custom_id), UnscheduleButton) or _undo_of(button) is not None


def _deleted_ids(receipts: Sequence[Receipt], carried: Carried) -> tuple[int, ...]:
    """The memories that were deleted, of those that have a line."""
    ids = {one.memory_id for one in receipts if one.kind == "deleted"} | carried.forgotten
    return tuple(sorted(ids))[:MOST]


def _news(receipts: Sequence[Receipt], carried: Carried) -> list[Receipt]:
    """Leave out those that say once more what a carried one says."""
    return [one for one in receipts if not (one.kind == "unchanged" and one.memory_id in carried.memory_ids)]


def _new_ones(schedules: Sequence[ScheduleReceipt], carried: Carried) -> list[ScheduleReceipt]:
    """Leave out those that an answer before made already."""
    known = schedules_of(carried.buttons)
    return [one for one in schedules if not (one.kind == "added" and one.schedule_id in known)]


def _line(receipt: Receipt, words: Texts, *, private: bool) -> str:
    if receipt.private and not private:
        return words.receipt.told(receipt, words.receipt.hidden)
    if receipt.kind == "deleted" and not private:  # what is forgotten is not said once more to everybody
        return words.receipt.deleted_for_all.format(id=receipt.number)
    return words.receipt.told(receipt, escape_markdown(shorten(one_line(receipt.text), SHOWN_CHARACTERS)))


def _result_of(call: ToolCall) -> dict[str, Any]:
    """Return what a tool told the model; nothing for a call that failed, and for one whose text was
    erased."""
    try:
        told = json.loads(call.result) if call.ok else {}
    except ValueError:
        return {}
    return told if isinstance(told, dict) else {}


def _from_result(name: str, data: Any) -> Receipt | None:
    """Read a receipt from a tool's result. Before users had numbers of their own, the ids were those of
    rows."""
    match name, data:
        case "forgotten", {"id": int(number), "content": str(text)}:
            return Receipt("deleted", data.get("ref", number), text, number=number)
        case _, {
            "id": int(number),
            "content": str(text),
            "change": ("added" | "updated" | "unchanged") as kind,
        }:
            former = data.get("former_ref", data.get("supersedes"))
            former_id = former if isinstance(former, int) else None
            replaced = kind == "added" and former_id is not None
            return Receipt(kind, data.get("ref", number), text, former_id, replaced, number=number)
        case _:
            return None


def _undo_of(button: Button) -> UndoButton | None:
    parsed = parse_custom_id(button.custom_id)
    return parsed if isinstance(parsed, UndoButton) else None
