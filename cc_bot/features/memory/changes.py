"""Receipts of memories that an answer stored, changed or deleted."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, Final, Literal

from cc_bot.chat.reply import Action, Caller
from cc_bot.chat.stores.opening import Stores
from cc_bot.chat.stores.receipts import MemoryState
from cc_bot.domain.change import Change, ReceiptState
from cc_bot.features.memory.texts import ReceiptTexts
from cc_bot.texts import Texts


class MemoryChanges:
    table = "memories"

    def read_changes(self, result: Mapping[str, Any]) -> Iterator[Change]:
        for name, data in result.items():
            match name, data:
                case "forgotten", {"id": int(number), "ref": int(id_), "content": str(text)}:
                    yield Change("memory", "deleted", id_, text, number)
                case "remembered" | "updated", {
                    "id": int(number),
                    "ref": int(id_),
                    "content": str(text),
                    "change": ("added" | "updated" | "unchanged") as kind,
                }:
                    yield Change("memory", kind, id_, text, number, former_id=data.get("former_ref"))
                case _:
                    pass

    def format_line(self, change: Change, caller: Caller, *, limit: int, public: bool, numbered: bool) -> str:
        words, text = caller.words[ReceiptTexts], caller.format_text(change.text, limit)
        if change.state == "over":
            return words.changed_again.format(id=change.number)
        if change.private and public:
            return words.line(change, words.hidden)
        if change.kind == "deleted" and (public or not text):  # no public receipt quotes a deleted text
            return words.deleted_for_all.format(id=change.number)
        return words.line(change, text, numbered=numbered)

    def make_undo(self, change: Change, words: Texts) -> Action | None:
        kind = _undoable_kind(change)
        if kind is None:
            return None
        command = f"/memory {'delete' if kind == 'added' else 'undo'} {change.number}"
        return Action(words[ReceiptTexts].undo, kind, change.id, command, former_id=change.former_id or 0)

    async def refresh(self, changes: Sequence[Change], user_id: int, stores: Stores) -> Sequence[Change]:
        ids = {each.id for each in changes} | {each.former_id for each in changes if each.former_id}
        memories = await stores.receipts.get_memories(user_id, ids)
        return [_with_current_state(each, memories) for each in changes]


def _with_current_state(change: Change, memories: Mapping[int, MemoryState]) -> Change:
    state, memory = _find_state(change, memories), memories.get(change.id)
    if memory is None:
        return replace(change, state=state)
    text, number = change.text or memory.content, memory.number or change.number
    return replace(change, state=state, text=text, private=memory.audience == "private", number=number)


def _find_state(change: Change, memories: Mapping[int, MemoryState]) -> ReceiptState:
    memory = memories.get(change.id)
    is_active = memory is not None and memory.status == "active"
    if change.kind == "deleted":
        return "undone" if is_active else "holds"
    if memory is None or not is_active:
        return "undone"
    if _undoable_kind(change) is None or memory.former_id == change.former_id:
        return "holds"
    if change.kind == "added" or change.former_id in memories:
        return "over"
    return "undone"  # an undo deletes the former version


def _undoable_kind(change: Change) -> Literal["added", "updated", "deleted"] | None:
    match change.kind:
        case "added" | "deleted" as kind:
            return kind
        case "updated" if change.former_id is not None:
            return "updated"
        case _:
            return None


CHANGES: Final = {"memory": MemoryChanges()}
