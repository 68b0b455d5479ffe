"""Receipts of reminders that an answer set or cancelled."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from typing import Any, Final

from cc_bot.chat.reply import Action, Caller
from cc_bot.chat.stores.opening import Stores
from cc_bot.domain.change import Change
from cc_bot.features.memory.texts import ReceiptTexts
from cc_bot.features.reminders.model import ReminderChange
from cc_bot.features.reminders.service import reminder_sentence
from cc_bot.features.reminders.store import ScheduleStore
from cc_bot.features.reminders.texts import ReminderTexts
from cc_bot.texts import Texts


class ReminderChanges:
    table = "schedules"

    def read_changes(self, result: Mapping[str, Any]) -> Iterator[Change]:
        match result:
            case {
                "scheduled": {
                    "id": int(number),
                    "ref": int(id_),
                    "text": str(text),
                    "when": str(when),
                } as data
            }:
                due_at, repeat = datetime.fromisoformat(when), data.get("repeat") or ""
                yield ReminderChange("schedule", "added", id_, text, number, due_at=due_at, repeat=repeat)
            case {"cancelled": {"id": int(number), "ref": int(id_), "text": str(text)}}:
                yield ReminderChange("schedule", "cancelled", id_, text, number)
            case _:
                pass

    def format_line(self, change: Change, caller: Caller, *, limit: int, public: bool, numbered: bool) -> str:
        change = change if change.text else replace(change, text=f"#{change.number}")
        if isinstance(change, ReminderChange) and change.due_at is not None:
            return reminder_sentence(change, change.due_at, caller, limit=limit)
        return caller.words[ReminderTexts].cancelled.format(text=caller.format_text(change.text, limit))

    def make_undo(self, change: Change, words: Texts) -> Action | None:
        if change.kind != "added":
            return None
        return Action(words[ReceiptTexts].undo, "cancel", change.id, f"/remind delete {change.number}")

    async def refresh(self, changes: Sequence[Change], user_id: int, stores: Stores) -> Sequence[Change]:
        return [await self._refresh(each, user_id, stores) for each in changes]

    async def _refresh(self, change: Change, user_id: int, stores: Stores) -> Change:
        if change.kind == "cancelled":
            return change
        schedule = await stores[ScheduleStore].get(user_id, change.id)
        if schedule is None:
            return replace(change, state="undone")
        current = ReminderChange.from_schedule("added", schedule)
        return replace(current, state="over") if schedule.status == "done" else current


CHANGES: Final = {"schedule": ReminderChanges()}
