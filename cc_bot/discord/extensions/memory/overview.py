"""`/memory pause`, `/memory resume` and `/memory stats`: whether anything is kept, and how much is."""

import lightbulb

from cc_bot.discord.extensions.memory.group import memory, show
from cc_bot.discord.interactions import defer
from cc_bot.discord.localization import Readers
from cc_bot.discord.pages.memory_statistics import statistics_view
from cc_bot.stores.memories import MemoryStore
from cc_bot.stores.settings import SettingsStore


@memory.register
class Pause(
    lightbulb.SlashCommand, name="memory_pause", description="memory_pause_description", localize=True
):
    @lightbulb.invoke
    async def invoke(self, ctx: lightbulb.Context, settings: SettingsStore, readers: Readers) -> None:
        await defer(ctx.interaction, ephemeral=True)
        await settings.pause_memory(int(ctx.user.id), True)
        reader = await readers.of(ctx.interaction)
        await ctx.interaction.edit_initial_response(reader.words.memory.paused)


@memory.register
class Resume(
    lightbulb.SlashCommand, name="memory_resume", description="memory_resume_description", localize=True
):
    @lightbulb.invoke
    async def invoke(self, ctx: lightbulb.Context, settings: SettingsStore, readers: Readers) -> None:
        await defer(ctx.interaction, ephemeral=True)
        await settings.pause_memory(int(ctx.user.id), False)
        reader = await readers.of(ctx.interaction)
        await ctx.interaction.edit_initial_response(reader.words.memory.resumed)


@memory.register
class Stats(
    lightbulb.SlashCommand, name="memory_stats", description="memory_stats_description", localize=True
):
    @lightbulb.invoke
    async def invoke(self, ctx: lightbulb.Context, memories: MemoryStore, readers: Readers) -> None:
        await defer(ctx.interaction, ephemeral=True)
        reader = await readers.of(ctx.interaction)
        kept = await memories.statistics(reader.user_id)
        await show(ctx.interaction, statistics_view(kept, reader.words, paused=reader.memory_paused))
