"""Receipts: an answer's changes to memories and reminders, in an embed with undo buttons."""

from collections.abc import Iterable, Sequence
from itertools import filterfalse
from typing import Final
from zoneinfo import ZoneInfo

from cc_bot.chat.changes import change_handlers, parse_result
from cc_bot.chat.reply import Action, Caller
from cc_bot.discord.pages.custom_ids import OfferErasureButton, UsedMemoriesButton
from cc_bot.discord.pages.page import Button, Facts, Receipts, action_button, small_print
from cc_bot.discord.recipients import Recipient
from cc_bot.domain.change import Change
from cc_bot.domain.message import ToolCall
from cc_bot.features.memory.texts import MemoryTexts, ReceiptTexts
from cc_bot.texts import Texts

MAX_RECEIPTS: Final = 4  # their buttons, and the one for used memories, fill a row
SHOWN_CHARACTERS: Final = 60


def render_receipts(
    receipts: Sequence[Change],
    recalled_memory_ids: Sequence[int],
    words: Texts,
    user_id: int,
    *,
    private: bool,
) -> Receipts:
    """`private`: only the user sees them."""
    texts, shown = words[ReceiptTexts], tuple(receipts[:MAX_RECEIPTS])
    reader = Recipient(user_id, words.locale, ZoneInfo("UTC"), words)  # times have zones of their own
    lines = tuple(_line(each, reader, public=not private) for each in shown)

    def undo_action(receipt: Change, *, only_button: bool = False) -> Action | None:
        handler = change_handlers()[receipt.what]
        return handler.make_undo(receipt, words, only_button=only_button, public=not private)

    undoable = [each for each in shown if undo_action(each)]
    is_only = len(undoable) == 1
    actions = (undo_action(each, only_button=is_only) for each in undoable if each.state == "holds")
    buttons = [action_button(each, user_id) for each in actions if each]
    memory_changes = [each for each in shown if each.what == "memory" and each.state == "holds"]
    deleted_ids = tuple(sorted(each.id for each in memory_changes if each.kind == "deleted"))
    notices = list[str]()
    if len(receipts) > MAX_RECEIPTS:
        notices.append(texts.more.format(count=len(receipts) - MAX_RECEIPTS))
    if private and any(each.private and each.kind in {"added", "updated"} for each in memory_changes):
        notices.append(words[MemoryTexts].private_only)
    erasure_buttons = list[Button]()
    if deleted_ids:
        notices.append(texts.conversations_remain)
        erasure_buttons.append(Button(texts.erase_too, OfferErasureButton(user_id, deleted_ids).custom_id()))
    used_ids = tuple(id_ for id_ in recalled_memory_ids if id_ not in deleted_ids)
    if used_ids and len(buttons) + len(erasure_buttons) <= MAX_RECEIPTS:
        label = texts.used.format(count=len(used_ids))
        buttons.append(Button(label, UsedMemoriesButton(user_id, used_ids).custom_id()))
    facts = Facts((*lines, *small_print(*notices)), locale=words.locale)
    return Receipts(shown, facts, (*buttons, *erasure_buttons), tuple(recalled_memory_ids), user_id, private)


def join_receipts(before: Sequence[Change], new: Iterable[Change]) -> tuple[Change, ...]:
    """Join the receipts of an answer and of its replacement. The new answer repeats a change if it adds the
    same item again; the same memory is then reported as unchanged."""
    known = {each.identity for each in before}

    def is_repeated(each: Change) -> bool:
        return each.kind == ("unchanged" if each.what == "memory" else "added") and each.identity in known

    return (*before, *filterfalse(is_repeated, new))


def recalled_ids(calls: Iterable[ToolCall]) -> tuple[int, ...]:
    ids = dict[int, None]()  # ordered
    for call in calls:
        memories = parse_result(call).get("memories")
        for memory in memories if isinstance(memories, list) else ():
            if isinstance(memory, dict) and isinstance(memory.get("ref"), int):
                ids[memory["ref"]] = None
    return tuple(ids)


def _line(receipt: Change, reader: Caller, *, public: bool) -> str:
    if receipt.state == "undone":
        return reader.words[ReceiptTexts].change_undone
    handler = change_handlers()[receipt.what]
    return handler.format_line(receipt, reader, limit=SHOWN_CHARACTERS, public=public, numbered=False)
