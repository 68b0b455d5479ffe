"""`/memory list` and `/memory search`: pages of memories, which turn after a restart, too."""

from collections.abc import Sequence
from typing import get_args

import hikari
import lightbulb

from cc_bot.discord.commands.memory.group import (
    audience_of,
    category_filter,
    memory,
    memory_id,
    on_memory_press,
    row_of,
    where,
)
from cc_bot.discord.declaring import command, text_option
from cc_bot.discord.delivery.receipts import ReceiptUpkeep
from cc_bot.discord.interactions import defer, defer_update
from cc_bot.discord.pages.custom_ids import ListButton, MemoryButton, OpenMenu, SearchButton
from cc_bot.discord.pages.memory import (
    PAGE_SIZE,
    EphemeralView,
    ListPage,
    excerpt,
    memory_card,
    memory_list,
    open_menu,
    receipt,
    statistics_view,
)
from cc_bot.discord.pages.page import Button
from cc_bot.discord.presses import show_view
from cc_bot.discord.recipients import Recipient, Recipients
from cc_bot.domain.clock import Clock
from cc_bot.domain.errors import MemoryPaused
from cc_bot.domain.memory import DEFAULT_CATEGORY, Audience, FoundMemory, Order, Source, parse_end, parse_tags
from cc_bot.stores.memory.history import MemoryHistoryStore
from cc_bot.stores.memory.store import MemoryStore
from cc_bot.stores.settings import SettingsStore

MAX_FOUND = 6 * PAGE_SIZE
"""Nobody looks further through the hits of a search."""
MAX_QUERY_CHARACTERS = 200
_QUERY_MARK = "🔍 "
"""Before what was looked for, which stands above the hits: there a button finds it again."""


@command(memory.register, "memory_list")
class ListMemoriesCommand:
    category = category_filter()
    order = text_option(
        "memory_order",
        default="newest",
        choices=[
            lightbulb.Choice(f"memory_{order}_choice", order, localize=True) for order in get_args(Order)
        ],
    )

    async def invoke(self, ctx: lightbulb.Context, memories: MemoryStore, recipients: Recipients) -> None:
        recipient = await recipients.defer(ctx.interaction)
        order: Order = next((each for each in get_args(Order) if each == self.order), "newest")
        category = recipient.words.memory.stored_category(self.category) or ""
        wanted = ListButton(recipient.user_id, order, 1, category)
        await show_view(ctx.interaction, await _list(memories, wanted, recipient, recipients.clock))


@command(memory.register, "memory_search")
class Search:
    query = text_option("memory_query", max_length=MAX_QUERY_CHARACTERS)
    category = category_filter()

    async def invoke(self, ctx: lightbulb.Context, memories: MemoryStore, recipients: Recipients) -> None:
        recipient = await recipients.defer(ctx.interaction)
        query = " ".join(self.query.split())
        category = recipient.words.memory.stored_category(self.category) or ""
        wanted = SearchButton(recipient.user_id, 1, category)
        await show_view(ctx.interaction, await _search(memories, query, wanted, recipient, recipients.clock))


@on_memory_press(ListButton)
async def turn_page(
    interaction: hikari.ComponentInteraction,
    button: ListButton,
    recipient: Recipient,
    *,
    memories: MemoryStore,
    recipients: Recipients,
) -> None:
    """Show another page of a list in the same message."""
    await defer_update(interaction)
    await show_view(interaction, await _list(memories, button, recipient, recipients.clock))


@on_memory_press(SearchButton)
async def turn_page_of_hits(
    interaction: hikari.ComponentInteraction,
    button: SearchButton,
    recipient: Recipient,
    *,
    memories: MemoryStore,
    recipients: Recipients,
) -> None:
    """Show another page of what was found in the same message."""
    await defer_update(interaction)
    query = query_of(interaction.message)
    await show_view(interaction, await _search(memories, query, button, recipient, recipients.clock))


def query_of(message: hikari.Message) -> str:
    """Return what was looked for, as it stands above the hits."""
    authors = (embed.author.name for embed in message.embeds if embed.author and embed.author.name)
    return next(authors, "").removeprefix(_QUERY_MARK)


async def _list(
    memories: MemoryStore, wanted: ListButton, recipient: Recipient, clock: Clock
) -> EphemeralView:
    """The page that a button asks for; the last one if there are fewer by now."""
    words, category = recipient.words.memory, wanted.category or None
    count = await memories.count(recipient.user_id, category=category)
    if not count:
        shown = excerpt(words.shown_category(wanted.category))
        return EphemeralView(words.none_in_category.format(category=shown) if category else words.none)
    pages = -(-count // PAGE_SIZE)
    number = min(max(wanted.page, 1), pages)
    kept = await memories.list(
        recipient.user_id,
        category=category,
        limit=PAGE_SIZE,
        order=wanted.order,
        offset=(number - 1) * PAGE_SIZE,
    )
    shown = words.shown_category(wanted.category)
    title = words.category_title.format(category=shown, count=count) if category else words.list_title
    page = ListPage(
        title.format(count=count), [FoundMemory(each, 1.0) for each in kept], number, pages, wanted.order
    )
    buttons = tuple(
        Button(label, ListButton(wanted.user_id, wanted.order, to, wanted.category).custom_id(), enabled=on)
        for label, to, on in _turns(page, recipient)
    )
    return _page_view(page, buttons, recipient, clock)


async def _search(
    memories: MemoryStore, query: str, wanted: SearchButton, recipient: Recipient, clock: Clock
) -> EphemeralView:
    """The page of hits that a button asks for; the last one if there are fewer by now."""
    words = recipient.words.memory
    if not query:
        return EphemeralView(words.query_needed)
    hits = await memories.find(
        recipient.user_id, query, limit=MAX_FOUND, category=wanted.category or None, audience="private"
    )
    if not hits:
        return EphemeralView(words.no_match.format(query=excerpt(query)))
    pages = -(-len(hits) // PAGE_SIZE)
    number = min(max(wanted.page, 1), pages)
    shown = hits[(number - 1) * PAGE_SIZE : number * PAGE_SIZE]
    page = ListPage(words.hits_title.format(count=len(hits)), shown, number, pages)
    buttons = tuple(
        Button(label, SearchButton(wanted.user_id, to, wanted.category).custom_id(), enabled=on)
        for label, to, on in _turns(page, recipient)
    )
    view = _page_view(page, buttons, recipient, clock)
    if view.embed is not None:
        view.embed.set_author(name=f"{_QUERY_MARK}{query}")
    return view


def _page_view(
    page: ListPage, buttons: tuple[Button, ...], recipient: Recipient, clock: Clock
) -> EphemeralView:
    menu = open_menu(page.found, OpenMenu(recipient.user_id).custom_id(), recipient.words)
    return EphemeralView(embed=memory_list(page, recipient.words, clock()), buttons=buttons, menu=menu)


def _turns(page: ListPage, recipient: Recipient) -> Sequence[tuple[str, int, bool]]:
    """Label, page and whether there is one, of the buttons on either side; none where one page holds all."""
    if page.pages < 2:
        return ()
    words = recipient.words.memory
    return (
        (words.previous, page.page - 1, page.page > 1),
        (words.next, page.page + 1, page.page < page.pages),
    )


# ---- adding ----------------------------------------------------------------------------------------------
# `/memory add`: something to be kept.


@command(memory.register, "memory_add")
class AddMemoryCommand:
    content = text_option("memory_content")
    category = category_filter()
    tags = text_option("memory_tags", default=None)
    audience = where()
    expires = text_option("memory_expires", default=None, max_length=40)

    async def invoke(self, ctx: lightbulb.Context, memories: MemoryStore, recipients: Recipients) -> None:
        recipient = await recipients.defer(ctx.interaction)
        if recipient.memory_paused:
            raise MemoryPaused
        added = await memories.add(
            recipient.user_id,
            self.content,
            category=recipient.words.memory.stored_category(self.category) or DEFAULT_CATEGORY,
            tags=parse_tags(self.tags),
            source=Source("command"),
            audience=audience_of(self.audience, ctx.interaction),
            expires_at=parse_end(self.expires, recipients.clock(), recipient.timezone),
        )
        await ctx.interaction.edit_initial_response(
            receipt(recipient.words.memory.added, added, recipient.words)
        )


# ---- overview --------------------------------------------------------------------------------------------
# `/memory pause`, `/memory resume` and `/memory stats`: whether anything is kept, and how much is.


@command(memory.register, "memory_pause")
class Pause:
    async def invoke(self, ctx: lightbulb.Context, settings: SettingsStore, recipients: Recipients) -> None:
        await defer(ctx.interaction, ephemeral=True)
        await settings.pause_memory(int(ctx.user.id), True)
        recipient = await recipients.of(ctx.interaction)
        await ctx.interaction.edit_initial_response(recipient.words.memory.paused)


@command(memory.register, "memory_resume")
class ResumeMemoryCommand:
    async def invoke(self, ctx: lightbulb.Context, settings: SettingsStore, recipients: Recipients) -> None:
        await defer(ctx.interaction, ephemeral=True)
        await settings.pause_memory(int(ctx.user.id), False)
        recipient = await recipients.of(ctx.interaction)
        await ctx.interaction.edit_initial_response(recipient.words.memory.resumed)


@command(memory.register, "memory_stats")
class Stats:
    async def invoke(self, ctx: lightbulb.Context, memories: MemoryStore, recipients: Recipients) -> None:
        recipient = await recipients.defer(ctx.interaction)
        kept = await memories.get_statistics(recipient.user_id)
        await show_view(
            ctx.interaction, statistics_view(kept, recipient.words, paused=recipient.memory_paused)
        )


# ---- showing ---------------------------------------------------------------------------------------------
# `/memory show`: one memory with all that is known of it, and what can be done with it from there.

_OURS = ("anywhere", "private", "restore")


@command(memory.register, "memory_show")
class ShowMemoryCommand:
    id = memory_id()

    async def invoke(
        self,
        ctx: lightbulb.Context,
        memories: MemoryStore,
        history: MemoryHistoryStore,
        recipients: Recipients,
    ) -> None:
        recipient = await recipients.defer(ctx.interaction)
        memory_id = await row_of(self.id, recipient.user_id, memories)
        await show_view(
            ctx.interaction, await card_of(memory_id, recipient, memories, history, recipients.clock)
        )


@on_memory_press(OpenMenu, response="message")
async def open_card(
    interaction: hikari.ComponentInteraction,
    _: OpenMenu,
    recipient: Recipient,
    *,
    memories: MemoryStore,
    history: MemoryHistoryStore,
    recipients: Recipients,
) -> None:
    """Show all of a memory that was chosen from a list, below the list."""
    await defer(interaction, ephemeral=True)
    view = await card_of(int(interaction.values[0]), recipient, memories, history, recipients.clock)
    await show_view(interaction, view)


@on_memory_press(MemoryButton, only=lambda button: button.action in _OURS)
async def change(
    interaction: hikari.ComponentInteraction,
    button: MemoryButton,
    recipient: Recipient,
    *,
    memories: MemoryStore,
    history: MemoryHistoryStore,
    recipients: Recipients,
    upkeep: ReceiptUpkeep,
) -> None:
    """Change from its card where a memory is used, or have it say what it said before."""
    await defer_update(interaction)
    said = ""
    if button.action == "restore":
        restored = await history.restore(recipient.user_id, int(interaction.values[0]))
        words = recipient.words.memory_card
        said = words.restored.format(id=restored.memory.number) if restored else words.former_gone
    else:
        audience: Audience = "private" if button.action == "private" else "anywhere"
        await memories.update(recipient.user_id, button.memory_id, audience=audience)
    view = await card_of(button.memory_id, recipient, memories, history, recipients.clock, said=said)
    await show_view(interaction, view)
    upkeep.refresh(recipient.user_id, recipient.words)


async def card_of(
    memory_id: int,
    recipient: Recipient,
    memories: MemoryStore,
    history: MemoryHistoryStore,
    clock: Clock,
    *,
    said: str = "",
) -> EphemeralView:
    """The card of a user's memory; a sentence when there is none."""
    kept = await memories.get(recipient.user_id, memory_id)
    if kept is None:
        return EphemeralView(recipient.words.receipt.gone)
    former = await history.list_versions(recipient.user_id, memory_id)
    return memory_card(kept, former, recipient.words, clock(), said=said)
