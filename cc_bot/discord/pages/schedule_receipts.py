"""What an answer did to reminders: a fact under it for each, and a button to take it back.

Like all receipts they are made from committed rows: from the turn's events, or from the results of its tool
calls, which are stored with the answer.
"""

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Final, Literal

from cc_bot.discord.pages.memory_view import escaped, one_line, shortened, timestamp
from cc_bot.discord.pages.page import Button
from cc_bot.discord.pages.schedule_ids import UnscheduleButton, parse_schedule_id
from cc_bot.domain.message import ToolCall
from cc_bot.domain.schedule import ScheduleChange
from cc_bot.texts import Texts
from cc_bot.texts.repeats import described

SHOWN_CHARACTERS: Final = 60
LABEL_CHARACTERS: Final = 15


@dataclass(frozen=True, slots=True)
class ScheduleReceipt:
    """What was done to one reminder."""

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
    """One more. What was made and cancelled in the same answer is not told at all."""
    before = next((each for each in receipts if each.schedule_id == new.schedule_id), None)
    others = tuple(each for each in receipts if each is not before)
    made_here = before is not None and before.kind == "added" and new.kind == "cancelled"
    return others if made_here else (*others, new)


def schedule_line(receipt: ScheduleReceipt, words: Texts) -> str:
    told, text = words.reminder, escaped(shortened(one_line(receipt.text), SHOWN_CHARACTERS))
    if receipt.due_at is None:
        return told.cancelled.format(text=text)
    time = timestamp(receipt.due_at, "F")
    if receipt.repeat:
        repeat = described(receipt.repeat, words)
        return told.again_and_again.format(repeat=repeat, time=time, text=text)
    return told.once.format(time=time, moment=timestamp(receipt.due_at, "R"), text=text)


def schedule_button(receipt: ScheduleReceipt, user_id: int, words: Texts, *, alone: bool) -> Button | None:
    """What takes it back; None for what can't be."""
    if receipt.kind == "cancelled":
        return None
    label = words.reminder.cancel
    if not alone:
        label = words.reminder.cancel_one.format(text=shortened(one_line(receipt.text), LABEL_CHARACTERS))
    return Button(label, UnscheduleButton(user_id, receipt.schedule_id).custom_id())


def schedules_of(buttons: Iterable[Button]) -> frozenset[int]:
    """The reminders that these buttons cancel."""
    parsed = (parse_schedule_id(button.custom_id) for button in buttons)
    return frozenset(each.schedule_id for each in parsed if isinstance(each, UnscheduleButton))


def schedules_in(calls: Iterable[ToolCall]) -> tuple[ScheduleReceipt, ...]:
    """The receipts of a stored answer, from what its tools told."""
    found: tuple[ScheduleReceipt, ...] = ()
    for call in calls:
        if receipt := _told(call):
            found = with_schedule(found, receipt)
    return found


def _told(call: ToolCall) -> ScheduleReceipt | None:
    """What a call did; None for one that failed, did something else, or whose text was erased."""
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
