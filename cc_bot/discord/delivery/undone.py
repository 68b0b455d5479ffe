"""Receipts whose change was taken back, from wherever: a message must not tell of it as if it held."""

import re
from collections.abc import Collection
from dataclasses import replace
from typing import Final

import hikari
import structlog

from cc_bot.discord.delivery.interaction_outlet import reply_in_place
from cc_bot.discord.delivery.reply import changes_to
from cc_bot.discord.interactions import is_ephemeral
from cc_bot.discord.pages.answer import page_of
from cc_bot.discord.pages.custom_ids import UndoButton, UntellButton, parse_custom_id
from cc_bot.discord.pages.page import Page
from cc_bot.discord.pages.receipts import Carried, takes_back
from cc_bot.discord.pages.schedule_ids import UnscheduleButton, parse_schedule_id
from cc_bot.domain.locale import Locale
from cc_bot.domain.memory import Memory
from cc_bot.stores import MemoryStore, ScheduleStore, Stores
from cc_bot.texts import Texts, texts

_log = structlog.get_logger(__name__)

_LINK: Final = re.compile(r"/(\d{1,20})/(\d{1,20})\Z")
"""The channel and the message, at the end of a message's link."""
_MARKS: Final = ("💾", "✏", "🗑", "⏰", "🔁")
_NOTHING_DONE: Final = tuple(texts(locale).receipt.unchanged.partition("{")[0] for locale in Locale)
_TAKEN_BACK: Final = frozenset(texts(locale).receipt.taken_back for locale in Locale)
_STILL_TOLD: Final = frozenset(texts(locale).receipt.still_told for locale in Locale)


async def bring_up_to_date(
    interaction: hikari.ComponentInteraction, memories: MemoryStore, schedules: ScheduleStore, words: Texts
) -> None:
    """The message of an accepted press, once what it tells of may have been taken back."""
    page = page_of(await interaction.fetch_initial_response())
    now = await brought_up_to_date(page, memories, schedules, words)
    await reply_in_place(interaction, page, ephemeral=is_ephemeral(interaction.message)).show((now,))


async def bring_source_up_to_date(
    rest: hikari.api.RESTClient, memory: Memory, stores: Stores, words: Texts
) -> None:
    """The answer that kept a memory, once that is deleted, as far as the bot can reach it by itself."""
    link = _LINK.search(memory.source.link)
    if link is None or memory.source.kind == "message":
        return
    channel_id, first = int(link[1]), int(link[2])
    message_id = (first, *await stores.channels.pages(first))[-1]  # receipts stand on the last one
    try:
        page = page_of(await rest.fetch_message(channel_id, message_id))
        now = await brought_up_to_date(page, stores.memories, stores.schedules, words)
        if now != page:
            await rest.edit_message(channel_id, message_id, **changes_to(page, now))
    except hikari.HikariError as error:
        _log.info("receipt_not_reached", error=type(error).__name__)


async def brought_up_to_date(
    page: Page, memories: MemoryStore, schedules: ScheduleStore, words: Texts
) -> Page:
    """A message that says of what was taken back since that it was, without saying again what it was."""
    undone = [
        button.custom_id
        for button in page.receipts
        if await _undone(button.custom_id, memories) or await _cancelled(button.custom_id, schedules)
    ]
    return _told(page, undone, words.receipt.taken_back) if undone else page


async def without_undone(page: Page, memories: MemoryStore, schedules: ScheduleStore, words: Texts) -> Page:
    """An answer's last message without what was taken back since: for the answer that takes its place."""
    page = await brought_up_to_date(page, memories, schedules, words)
    return replace(
        page,
        facts=replace(
            page.facts,
            receipts=tuple(line for line in page.facts.receipts if line not in _TAKEN_BACK),
            notices=tuple(line for line in page.facts.notices if line not in _TAKEN_BACK),
        ),
    )


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


def _told(page: Page, undone: Collection[str], taken_back: str) -> Page:
    """Lines and buttons stand in the same order; a line of which nothing can be taken back has no button.
    Where that can't be told, and under a reminder, the last notice says it."""
    lines = page.facts.receipts
    told = [
        at for at, line in enumerate(lines) if line.startswith(_MARKS) and not line.startswith(_NOTHING_DONE)
    ]
    buttons = [each.custom_id for each in page.receipts if takes_back(each)]
    if told and len(told) == len(buttons):
        gone = {at for at, button in zip(told, buttons, strict=True) if button in undone}
        facts = replace(
            page.facts,
            receipts=tuple(taken_back if at in gone else line for at, line in enumerate(lines)),
        )
    else:
        once_more = buttons[0] in undone  # that a reminder comes once more is a notice
        notices = (each for each in page.facts.notices if not (once_more and each.startswith(_MARKS)))
        facts = replace(page.facts, notices=(*notices, taken_back))
    left = replace(
        page, facts=facts, receipts=tuple(each for each in page.receipts if each.custom_id not in undone)
    )
    return left if Carried.over(left).forgotten else _without_untelling(left)


def _without_untelling(page: Page) -> Page:
    """Nothing is forgotten any more that conversations could still tell of."""
    return replace(
        page,
        facts=replace(
            page.facts, notices=tuple(each for each in page.facts.notices if each not in _STILL_TOLD)
        ),
        receipts=tuple(
            each for each in page.receipts if not isinstance(parse_custom_id(each.custom_id), UntellButton)
        ),
    )
