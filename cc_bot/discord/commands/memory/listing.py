"""`/memory list` and other commands and buttons that show a reply. Paging works after a restart."""

from collections.abc import Awaitable, Callable
from typing import Final, get_args

import hikari
import lightbulb

from cc_bot.commands import memories
from cc_bot.commands.memories import Memories
from cc_bot.commands.reply import Reply
from cc_bot.discord.commands.memory.group import audience_of, category_filter, memory, on_memory_press, where
from cc_bot.discord.declaring import reply_command, text_option
from cc_bot.discord.delivery.canvas import CanvasBoards
from cc_bot.discord.delivery.receipts import ReceiptUpkeep
from cc_bot.discord.interactions import defer_update
from cc_bot.discord.pages.custom_ids import ListButton, MemoryAction, MemoryButton, OpenMenu, SearchButton
from cc_bot.discord.pages.memory import EphemeralView, choice_name
from cc_bot.discord.pages.page import Menu, MenuOption
from cc_bot.discord.pages.replies import reply_view
from cc_bot.discord.presses import show, show_view
from cc_bot.discord.recipients import Recipient
from cc_bot.domain.memory import Order, Source

MAX_QUERY_CHARACTERS = 200
MAX_END_CHARACTERS = 40
_QUERY_MARK = "🔍 "
"""Marks the query above its hits, where the paging buttons read it."""


async def _list(
    caller: Recipient, category: str | None, order: str, page: int = 1, *, service: Memories
) -> EphemeralView:
    reply = await memories.list_memories(caller, category=category, order=order, page=page, service=service)
    known: Order = next((each for each in get_args(Order) if each == order), "newest")
    stored = caller.words.memory.stored_category(category) or ""
    return _list_view(reply, caller, lambda to: ListButton(caller.user_id, known, to, stored).custom_id())


async def _search(
    caller: Recipient, query: str, category: str | None, page: int = 1, *, service: Memories
) -> EphemeralView:
    reply = await memories.search(caller, query=query, category=category, page=page, service=service)
    stored = caller.words.memory.stored_category(category) or ""
    view = _list_view(reply, caller, lambda to: SearchButton(caller.user_id, to, stored).custom_id())
    if view.embed is not None:
        view.embed.set_author(name=f"{_QUERY_MARK}{' '.join(query.split())}")
    return view


def _list_view(reply: Reply, caller: Recipient, turn: Callable[[int], str]) -> EphemeralView:
    options = tuple(MenuOption(choice_name(each), str(each.number)) for each in reply.items)
    menu = Menu(OpenMenu(caller.user_id).custom_id(), caller.words.memory.open, options) if options else None
    return reply_view(reply, caller, turn=turn, menu=menu)


async def _add(
    caller: Recipient,
    *,
    content: str,
    category: str | None,
    tags: str | None,
    audience: str | None,
    expires: str | None,
    service: Memories,
) -> Reply:
    _, reply = await memories.add(
        caller,
        content=content,
        category=category,
        tags=tags,
        audience=audience_of(audience, caller),
        expires=expires,
        source=Source("command"),
        service=service,
    )
    return reply


orders = [lightbulb.Choice(f"memory_{order}_choice", order, localize=True) for order in get_args(Order)]
reply_command(
    memory.register,
    "memory_list",
    _list,
    category=category_filter(),
    order=text_option("memory_order", default="newest", choices=orders),
)
reply_command(
    memory.register,
    "memory_search",
    _search,
    query=text_option("memory_query", max_length=MAX_QUERY_CHARACTERS),
    category=category_filter(),
)
reply_command(
    memory.register,
    "memory_add",
    _add,
    content=text_option("memory_content"),
    category=category_filter(),
    tags=text_option("memory_tags", default=None),
    audience=where(),
    expires=text_option("memory_expires", default=None, max_length=MAX_END_CHARACTERS),
)
reply_command(memory.register, "memory_pause", memories.pause)
reply_command(memory.register, "memory_resume", memories.resume)
reply_command(memory.register, "memory_stats", memories.statistics)


@on_memory_press(ListButton)
async def turn_page(
    interaction: hikari.ComponentInteraction, button: ListButton, recipient: Recipient, *, service: Memories
) -> None:
    """Show another page of a list in the same message."""
    await defer_update(interaction)
    view = await _list(recipient, button.category or None, button.order, button.page, service=service)
    await show_view(interaction, view)


@on_memory_press(SearchButton)
async def turn_page_of_hits(
    interaction: hikari.ComponentInteraction, button: SearchButton, recipient: Recipient, *, service: Memories
) -> None:
    """Show another page of hits in the same message."""
    await defer_update(interaction)
    query = query_of(interaction.message)
    await show_view(
        interaction, await _search(recipient, query, button.category or None, button.page, service=service)
    )


def query_of(message: hikari.Message) -> str:
    authors = (embed.author.name for embed in message.embeds if embed.author and embed.author.name)
    return next(authors, "").removeprefix(_QUERY_MARK)


_CHANGES: Final[dict[MemoryAction, Callable[[Recipient, int, Memories], Awaitable[Reply]]]] = {
    "delete": lambda caller, id_, service: memories.hide(caller, id_, service=service),
    "undelete": lambda caller, id_, service: memories.undelete(caller, id_, service=service),
    "erase": lambda caller, id_, service: memories.erase(caller, id_, said=False, service=service),
    "erase-said": lambda caller, id_, service: memories.erase(caller, id_, said=True, service=service),
}


@on_memory_press(MemoryButton, only=lambda button: button.action in _CHANGES)
async def remove(
    interaction: hikari.ComponentInteraction,
    button: MemoryButton,
    recipient: Recipient,
    *,
    service: Memories,
    boards: CanvasBoards,
    upkeep: ReceiptUpkeep,
) -> None:
    await defer_update(interaction)
    reply = await _CHANGES[button.action](recipient, button.memory_id, service)
    await show(interaction, reply, recipient)
    upkeep.refresh(recipient.user_id, recipient.words)
    if button.action == "erase-said":
        await boards.refresh_stale()  # canvases lose its content, too
