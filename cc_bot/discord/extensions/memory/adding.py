"""`/memory add`: something to be kept."""

import lightbulb

from cc_bot.discord.extensions.memory.group import memory
from cc_bot.discord.extensions.memory.options import audience_of, category_filter, where
from cc_bot.discord.interactions import defer
from cc_bot.discord.localization import Readers
from cc_bot.discord.pages.memory_view import receipt
from cc_bot.domain.ending import parse_end
from cc_bot.domain.errors import MemoryPaused
from cc_bot.domain.memory import DEFAULT_CATEGORY, Source, parse_tags
from cc_bot.stores.memories import MemoryStore


@memory.register
class Add(lightbulb.SlashCommand, name="memory_add", description="memory_add_description", localize=True):
    content = lightbulb.string("memory_content", "memory_content_description", localize=True)
    category = category_filter()
    tags = lightbulb.string("memory_tags", "memory_tags_description", localize=True, default=None)
    audience = where()
    expires = lightbulb.string(
        "memory_expires", "memory_expires_description", localize=True, default=None, max_length=40
    )

    @lightbulb.invoke
    async def invoke(self, ctx: lightbulb.Context, memories: MemoryStore, readers: Readers) -> None:
        await defer(ctx.interaction, ephemeral=True)
        reader = await readers.of(ctx.interaction)
        if reader.memory_paused:
            raise MemoryPaused
        added = await memories.add(
            reader.user_id,
            self.content,
            category=reader.words.memory.stored_category(self.category) or DEFAULT_CATEGORY,
            tags=parse_tags(self.tags),
            source=Source("command"),
            audience=audience_of(self.audience, ctx.interaction),
            expires_at=parse_end(self.expires, readers.clock(), reader.timezone),
        )
        await ctx.interaction.edit_initial_response(receipt(reader.words.memory.added, added, reader.words))
