"""Receipts whose change was taken back: an answer that is given anew must not tell of it as if it held."""

from collections.abc import Collection
from dataclasses import replace
from typing import Final

from cc_bot.discord.pages.custom_ids import UndoButton, parse_custom_id
from cc_bot.discord.pages.page import Page
from cc_bot.discord.pages.receipts import takes_back
from cc_bot.discord.pages.schedule_ids import UnscheduleButton, parse_schedule_id
from cc_bot.domain.locale import Locale
from cc_bot.stores import MemoryStore, ScheduleStore
from cc_bot.texts import texts

_MARKS: Final = ("💾", "✏", "🗑", "⏰", "🔁")
_NOTHING_DONE: Final = tuple(texts(locale).receipt.unchanged.partition("{")[0] for locale in Locale)


async def without_undone(page: Page, memories: MemoryStore, schedules: ScheduleStore) -> Page:
    """An answer's last message without what was taken back since."""
    undone = [
        button.custom_id
        for button in page.receipts
        if await _undone(button.custom_id, memories) or await _cancelled(button.custom_id, schedules)
    ]
    return _without(page, undone) if undone else page


async def _undone(custom_id: str, memories: MemoryStore) -> bool:
    button = parse_custom_id(custom_id)
    if not isinstance(button, UndoButton):
        return False
    memory = await memories.get(button.user_id, button.memory_id)
    match button.action:
        case "added":
            return memory is None
        case "updated":  # or changed once more: then there is nothing to take back either
            return memory is None or memory.supersedes != button.former_id
        case "deleted":
            return memory is not None


async def _cancelled(custom_id: str, schedules: ScheduleStore) -> bool:
    button = parse_schedule_id(custom_id)
    if not isinstance(button, UnscheduleButton):
        return False
    return await schedules.get(button.user_id, button.schedule_id) is None


def _without(page: Page, undone: Collection[str]) -> Page:
    """Lines and buttons stand in the same order; a line of which nothing can be taken back has no button."""
    lines = page.facts.receipts
    told = [
        at for at, line in enumerate(lines) if line.startswith(_MARKS) and not line.startswith(_NOTHING_DONE)
    ]
    buttons = [each for each in page.receipts if takes_back(each)]
    if len(told) != len(buttons):
        return page
    gone = {at for at, button in zip(told, buttons, strict=True) if button.custom_id in undone}
    return replace(
        page,
        facts=replace(page.facts, receipts=tuple(line for at, line in enumerate(lines) if at not in gone)),
        receipts=tuple(button for button in page.receipts if button.custom_id not in undone),
    )
