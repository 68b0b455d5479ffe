"""`/memory add|search|list|delete`: a user's own long-term notes. Every reply is ephemeral."""

from dataclasses import dataclass

import hikari
import lightbulb

from cc_bot.discord.delivery.reply import components
from cc_bot.discord.failures import tell, tell_failure
from cc_bot.discord.interactions import MAX_CHOICES, Answerable, defer, defer_update, own_space
from cc_bot.discord.localization import Reader, Readers
from cc_bot.discord.pages.custom_ids import ListButton, parse_custom_id
from cc_bot.discord.pages.memory_view import PAGE_SIZE, choice_name, memory_list, quoted, receipt
from cc_bot.discord.pages.page import Button
from cc_bot.domain.errors import StorageError
from cc_bot.domain.memory import DEFAULT_CATEGORY, MAX_CATEGORY_CHARACTERS, Memory, parse_tags
from cc_bot.stores.memories import MemoryStore

loader = lightbulb.Loader()
memory = lightbulb.Group("memory", "memory_description", localize=True)
loader.command(memory)


@dataclass(frozen=True, slots=True)
class _ListPage:
    """One page of a list, and whether there are newer and older ones."""

    memories: list[Memory]
    count: int
    newer: bool
    older: bool


@memory.register
class Add(lightbulb.SlashCommand, name="memory_add", description="memory_add_description", localize=True):
    content = lightbulb.string("memory_content", "memory_content_description", localize=True)
    category = lightbulb.string(
        "memory_category",
        "memory_category_description",
        localize=True,
        default=None,
        max_length=MAX_CATEGORY_CHARACTERS,
    )
    tags = lightbulb.string("memory_tags", "memory_tags_description", localize=True, default=None)

    @lightbulb.invoke
    async def invoke(self, ctx: lightbulb.Context, memories: MemoryStore, readers: Readers) -> None:
        await defer(ctx.interaction, ephemeral=True)
        reader = await readers.of(ctx.interaction)
        added = await memories.add(
            reader.user_id,
            self.content,
            category=self.category or DEFAULT_CATEGORY,
            tags=parse_tags(self.tags),
            metadata={"source": "command"},
            audience="private" if own_space(ctx.interaction) else "anywhere",
        )
        await ctx.interaction.edit_initial_response(receipt(reader.words.memory.added, added, reader.words))


@memory.register
class Search(
    lightbulb.SlashCommand, name="memory_search", description="memory_search_description", localize=True
):
    query = lightbulb.string("memory_query", "memory_query_description", localize=True, max_length=200)
    category = lightbulb.string(
        "memory_category",
        "memory_category_description",
        localize=True,
        default=None,
        max_length=MAX_CATEGORY_CHARACTERS,
    )

    @lightbulb.invoke
    async def invoke(self, ctx: lightbulb.Context, memories: MemoryStore, readers: Readers) -> None:
        await defer(ctx.interaction, ephemeral=True)
        reader = await readers.of(ctx.interaction)
        words = reader.words.memory
        if not self.query.strip():
            await ctx.interaction.edit_initial_response(words.query_needed)
            return
        found = await memories.search(reader.user_id, self.query, limit=PAGE_SIZE, category=self.category)
        if not found:
            await ctx.interaction.edit_initial_response(words.no_match.format(query=quoted(self.query)))
        else:
            title = words.search_title.format(query=quoted(self.query), count=len(found))
            await ctx.interaction.edit_initial_response(embed=memory_list(title, found, reader.words))


@memory.register
class List(lightbulb.SlashCommand, name="memory_list", description="memory_list_description", localize=True):
    category = lightbulb.string(
        "memory_category",
        "memory_category_description",
        localize=True,
        default=None,
        max_length=MAX_CATEGORY_CHARACTERS,
    )

    @lightbulb.invoke
    async def invoke(self, ctx: lightbulb.Context, memories: MemoryStore, readers: Readers) -> None:
        await defer(ctx.interaction, ephemeral=True)
        reader = await readers.of(ctx.interaction)
        page = await _page(memories, reader.user_id, self.category, None)
        await _show_list(ctx.interaction, page, self.category, reader)


@memory.register
class Delete(
    lightbulb.SlashCommand, name="memory_delete", description="memory_delete_description", localize=True
):
    @staticmethod
    async def suggest(
        ctx: lightbulb.AutocompleteContext[int], memories: MemoryStore = lightbulb.di.INJECTED
    ) -> None:
        """Memories whose text or number matches what was typed, which arrives as a string."""
        typed = str(ctx.focused.value or "")
        try:
            found = await memories.matching(int(ctx.interaction.user.id), typed, limit=MAX_CHOICES)
        except StorageError:  # an autocomplete list has no place for a sentence
            found = []
        await ctx.respond([(choice_name(each), each.id) for each in found])

    id = lightbulb.integer(
        "memory_id", "memory_id_description", localize=True, autocomplete=lightbulb.di.with_di(suggest)
    )

    @lightbulb.invoke
    async def invoke(self, ctx: lightbulb.Context, memories: MemoryStore, readers: Readers) -> None:
        await defer(ctx.interaction, ephemeral=True)
        reader = await readers.of(ctx.interaction)
        words = reader.words.memory
        doomed = await memories.get(reader.user_id, self.id)
        if doomed is None or not await memories.delete(reader.user_id, self.id):
            await ctx.interaction.edit_initial_response(words.not_found.format(id=self.id))
        else:
            sentence = words.deleted.format(id=doomed.id, content=quoted(doomed.content))
            await ctx.interaction.edit_initial_response(sentence)


@loader.listener(hikari.ComponentInteractionCreateEvent)
@lightbulb.di.with_di
async def on_press(
    event: hikari.ComponentInteractionCreateEvent, memories: MemoryStore, readers: Readers
) -> None:
    """Newer or older memories in the same message."""
    interaction = event.interaction
    button = parse_custom_id(interaction.custom_id)
    if not isinstance(button, ListButton):
        return
    try:
        reader = await readers.of(interaction)
        if button.user_id != reader.user_id:
            await tell(interaction, reader.words.answer.not_yours)
            return
        await defer_update(interaction)
        page = await _page(memories, reader.user_id, button.category or None, button)
        await _show_list(interaction, page, button.category or None, reader)
    except Exception as error:  # noqa: BLE001 - hikari would only log it, and the user would not know
        await tell_failure(interaction, error, readers)


async def _page(
    memories: MemoryStore, user_id: int, category: str | None, button: ListButton | None
) -> _ListPage:
    """The newest memories, or those beside the one that a button names. One more is read than is shown, to
    know whether it goes on."""
    newer = button is not None and button.direction == "newer"
    found = await memories.list(
        user_id,
        category=category,
        limit=PAGE_SIZE + 1,
        before_id=button.from_id if button and not newer else None,
        after_id=button.from_id if button and newer else None,
    )
    if button is not None and not found:  # what was there is deleted by now
        return await _page(memories, user_id, category, None)
    goes_on = len(found) > PAGE_SIZE
    shown = (found[-PAGE_SIZE:] if newer else found[:PAGE_SIZE]) if goes_on else found
    count = await memories.count(user_id, category=category)
    return _ListPage(
        shown,
        count,
        newer=goes_on if newer else button is not None,
        older=True if newer else goes_on,
    )


async def _show_list(
    interaction: Answerable,
    page: _ListPage,
    category: str | None,
    reader: Reader,
) -> None:
    words = reader.words.memory
    if not page.memories:
        nothing = words.none if category is None else words.none_in_category.format(category=quoted(category))
        await interaction.edit_initial_response(nothing, embeds=[], components=[])
        return
    title = words.list_title.format(count=page.count)
    await interaction.edit_initial_response(
        embed=memory_list(title, page.memories, reader.words),
        components=components(_list_buttons(page, category or "", reader)),
    )


def _list_buttons(page: _ListPage, category: str, reader: Reader) -> tuple[Button, ...]:
    if not (page.newer or page.older):
        return ()
    words = reader.words.memory
    newer = ListButton(reader.user_id, "newer", page.memories[0].id, category)
    older = ListButton(reader.user_id, "older", page.memories[-1].id, category)
    return (
        Button(f"◀ {words.newer}", newer.custom_id(), enabled=page.newer),
        Button(f"{words.older} ▶", older.custom_id(), enabled=page.older),
    )
