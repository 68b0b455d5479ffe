"""`/memory export`: all memories as a file, to be read by people or to be imported again."""

import asyncio
from collections.abc import Sequence

import hikari
import lightbulb

from cc_bot.discord.extensions.memory.group import memory
from cc_bot.discord.file_line import FileLine
from cc_bot.discord.interactions import defer
from cc_bot.discord.localization import Reader, Readers
from cc_bot.domain.clock import Clock
from cc_bot.domain.memory_transfer import PortableMemory, importable_parts
from cc_bot.stores.memory_transfer import MemoryTransferStore
from cc_bot.texts.memory_markdown import markdown_parts

MAX_FILES = 10
"""In one message."""


@memory.register
class Export(
    lightbulb.SlashCommand, name="memory_export", description="memory_export_description", localize=True
):
    format = lightbulb.string(
        "memory_format",
        "memory_format_description",
        localize=True,
        default="json",
        choices=[
            lightbulb.Choice("memory_json_choice", "json", localize=True),
            lightbulb.Choice("memory_markdown_choice", "markdown", localize=True),
        ],
    )

    @lightbulb.invoke
    async def invoke(
        self, ctx: lightbulb.Context, transfer: MemoryTransferStore, line: FileLine, readers: Readers
    ) -> None:
        await defer(ctx.interaction, ephemeral=True)
        reader = await readers.of(ctx.interaction)
        readable = self.format == "markdown"
        async with line.of(reader.user_id):
            async with line.at_work():
                kept = await transfer.everything(reader.user_id)
                files = await asyncio.to_thread(_files, kept, reader, readers.clock, readable) if kept else []
            if not kept:
                await ctx.interaction.edit_initial_response(reader.words.memory.none)
                return
            words = reader.words.memory_box
            told = (words.exported_readable if readable else words.exported).format(count=len(kept))
            await _send(ctx.interaction, told, files, reader)


async def _send(
    interaction: hikari.CommandInteraction, told: str, files: Sequence[hikari.Bytes], reader: Reader
) -> None:
    if len(files) > 1:
        told = f"{told}\n{reader.words.memory_box.exported_parts.format(files=len(files))}"
    await interaction.edit_initial_response(told, attachments=files[:MAX_FILES])
    for first in range(MAX_FILES, len(files), MAX_FILES):
        await interaction.execute(
            attachments=files[first : first + MAX_FILES], flags=hikari.MessageFlag.EPHEMERAL
        )


def _files(
    kept: Sequence[PortableMemory], reader: Reader, clock: Clock, readable: bool
) -> list[hikari.Bytes]:
    """Many memories take seconds, so not on the event loop."""
    now = clock()
    day = now.astimezone(reader.timezone).date().isoformat()
    parts = list(
        markdown_parts(kept, reader.words, now, reader.timezone) if readable else importable_parts(kept, now)
    )
    kind = "md" if readable else "json"
    numbers = [""] if len(parts) == 1 else [f"-{number}" for number in range(1, len(parts) + 1)]
    return [
        hikari.Bytes(part.encode("utf-8", "replace"), f"memories-{day}{number}.{kind}")
        for part, number in zip(parts, numbers, strict=True)
    ]
