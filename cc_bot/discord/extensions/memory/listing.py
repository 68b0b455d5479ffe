"""`/memory list` and `/memory search`: pages of memories, which turn after a restart, too."""

from collections.abc import Sequence
from typing import get_args

import hikari
import lightbulb

from cc_bot.discord.access.ways_in import Pressed
from cc_bot.discord.extensions.memory.group import answer_press, loader, memory, show
from cc_bot.discord.extensions.memory.options import category_filter
from cc_bot.discord.interactions import defer, defer_update
from cc_bot.discord.localization import Reader, Readers
from cc_bot.discord.pages.memory_ids import ListButton, OpenMenu, SearchButton
from cc_bot.discord.pages.memory_view import PAGE_SIZE, ListPage, View, memory_list, open_menu, quoted
from cc_bot.discord.pages.page import Button
from cc_bot.domain.clock import Clock
from cc_bot.domain.memory import Found, Order
from cc_bot.stores.memories import MemoryStore

MAX_FOUND = 6 * PAGE_SIZE
"""Nobody looks further through the hits of a search."""
MAX_QUERY_CHARACTERS = 200
_QUERY_MARK = "🔍 "
"""Before what was looked for, which stands above the hits: there a button finds it again."""


@memory.register
class List(lightbulb.SlashCommand, name="memory_list", description="memory_list_description", localize=True):
    category = category_filter()
    order = lightbulb.string(
        "memory_order",
        "memory_order_description",
        localize=True,
        default="newest",
        choices=[
            lightbulb.Choice(f"memory_{order}_choice", order, localize=True) for order in get_args(Order)
        ],
    )

    @lightbulb.invoke
    async def invoke(self, ctx: lightbulb.Context, memories: MemoryStore, readers: Readers) -> None:
        await defer(ctx.interaction, ephemeral=True)
        reader = await readers.of(ctx.interaction)
        order: Order = next((each for each in get_args(Order) if each == self.order), "newest")
        category = reader.words.memory.stored_category(self.category) or ""
        wanted = ListButton(reader.user_id, order, 1, category)
        await show(ctx.interaction, await _listed(memories, wanted, reader, readers.clock))


@memory.register
class Search(
    lightbulb.SlashCommand, name="memory_search", description="memory_search_description", localize=True
):
    query = lightbulb.string(
        "memory_query", "memory_query_description", localize=True, max_length=MAX_QUERY_CHARACTERS
    )
    category = category_filter()

    @lightbulb.invoke
    async def invoke(self, ctx: lightbulb.Context, memories: MemoryStore, readers: Readers) -> None:
        await defer(ctx.interaction, ephemeral=True)
        reader = await readers.of(ctx.interaction)
        query = " ".join(self.query.split())
        category = reader.words.memory.stored_category(self.category) or ""
        wanted = SearchButton(reader.user_id, 1, category)
        await show(ctx.interaction, await _found(memories, query, wanted, reader, readers.clock))


@loader.listener(Pressed)
@lightbulb.di.with_di
async def on_turn(event: Pressed, memories: MemoryStore, readers: Readers) -> None:
    """Another page of a list in the same message."""

    async def turn(button: ListButton, reader: Reader) -> None:
        await defer_update(event.interaction)
        await show(event.interaction, await _listed(memories, button, reader, readers.clock))

    await answer_press(event.interaction, ListButton, readers, turn)


@loader.listener(Pressed)
@lightbulb.di.with_di
async def on_turn_of_search(event: Pressed, memories: MemoryStore, readers: Readers) -> None:
    """Another page of what was found in the same message."""

    async def turn(button: SearchButton, reader: Reader) -> None:
        await defer_update(event.interaction)
        query = query_of(event.interaction.message)
        await show(event.interaction, await _found(memories, query, button, reader, readers.clock))

    await answer_press(event.interaction, SearchButton, readers, turn)


def query_of(message: hikari.Message) -> str:
    """What was looked for, as it stands above the hits."""
    authors = (embed.author.name for embed in message.embeds if embed.author and embed.author.name)
    return next(authors, "").removeprefix(_QUERY_MARK)


async def _listed(memories: MemoryStore, wanted: ListButton, reader: Reader, clock: Clock) -> View:
    """The page that a button asks for; the last one if there are fewer by now."""
    words, category = reader.words.memory, wanted.category or None
    count = await memories.count(reader.user_id, category=category)
    if not count:
        shown = quoted(words.shown_category(wanted.category))
        return View(words.none_in_category.format(category=shown) if category else words.none)
    pages = -(-count // PAGE_SIZE)
    number = min(max(wanted.page, 1), pages)
    kept = await memories.list(
        reader.user_id,
        category=category,
        limit=PAGE_SIZE,
        order=wanted.order,
        offset=(number - 1) * PAGE_SIZE,
    )
    shown = words.shown_category(wanted.category)
    title = words.category_title.format(category=shown, count=count) if category else words.list_title
    page = ListPage(
        title.format(count=count), [Found(each, 1.0) for each in kept], number, pages, wanted.order
    )
    buttons = tuple(
        Button(label, ListButton(wanted.user_id, wanted.order, to, wanted.category).custom_id(), enabled=on)
        for label, to, on in _turns(page, reader)
    )
    return _page_view(page, buttons, reader, clock)


async def _found(
    memories: MemoryStore, query: str, wanted: SearchButton, reader: Reader, clock: Clock
) -> View:
    """The page of hits that a button asks for; the last one if there are fewer by now."""
    words = reader.words.memory
    if not query:
        return View(words.query_needed)
    hits = await memories.find(
        reader.user_id, query, limit=MAX_FOUND, category=wanted.category or None, audience="private"
    )
    if not hits:
        return View(words.no_match.format(query=quoted(query)))
    pages = -(-len(hits) // PAGE_SIZE)
    number = min(max(wanted.page, 1), pages)
    shown = hits[(number - 1) * PAGE_SIZE : number * PAGE_SIZE]
    page = ListPage(words.hits_title.format(count=len(hits)), shown, number, pages)
    buttons = tuple(
        Button(label, SearchButton(wanted.user_id, to, wanted.category).custom_id(), enabled=on)
        for label, to, on in _turns(page, reader)
    )
    view = _page_view(page, buttons, reader, clock)
    if view.embed is not None:
        view.embed.set_author(name=f"{_QUERY_MARK}{query}")
    return view


def _page_view(page: ListPage, buttons: tuple[Button, ...], reader: Reader, clock: Clock) -> View:
    menu = open_menu(page.found, OpenMenu(reader.user_id).custom_id(), reader.words)
    return View(embed=memory_list(page, reader.words, clock()), buttons=buttons, menu=menu)


def _turns(page: ListPage, reader: Reader) -> Sequence[tuple[str, int, bool]]:
    """Label, page and whether there is one, of the buttons on either side; none where one page holds all."""
    if page.pages < 2:
        return ()
    words = reader.words.memory
    return (
        (words.previous, page.page - 1, page.page > 1),
        (words.next, page.page + 1, page.page < page.pages),
    )
