"""`/memory export`: all memories as a readable file that can be imported again."""

import asyncio
from collections.abc import Sequence
from datetime import datetime, timedelta
from functools import partial

import hikari
import lightbulb

from cc_bot.commands.memories import Memories
from cc_bot.commands.memory_files import MAX_PLANNED_BYTES, plan_import, take_import
from cc_bot.context.attachments import too_large
from cc_bot.discord.attachments import fetch_bytes
from cc_bot.discord.commands.memory.group import audience_of, memory, on_memory_press, where
from cc_bot.discord.declaring import choices, command, file_option, text_option
from cc_bot.discord.interactions import defer_update
from cc_bot.discord.pages.custom_ids import ConfirmButton
from cc_bot.discord.pages.memory import EphemeralView, import_preview
from cc_bot.discord.pages.page import components
from cc_bot.discord.presses import show_view
from cc_bot.discord.recipients import Recipient, Recipients
from cc_bot.domain.clock import Clock
from cc_bot.domain.errors import AttachmentNotFetched
from cc_bot.domain.memory_transfer import MAX_IMPORT_BYTES, ImportPlan, PortableMemory, importable_parts
from cc_bot.texts.memory import markdown_parts

MAX_FILES = 10
"""In one message."""


@command(memory.register, "memory_export")
class ExportMemoriesCommand:
    format = text_option("memory_format", default="json", choices=choices("memory", "json", "markdown"))

    async def invoke(self, ctx: lightbulb.Context, service: Memories, recipients: Recipients) -> None:
        recipient = await recipients.defer(ctx.interaction)
        readable = self.format == "markdown"
        async with service.line.of(recipient.user_id):
            async with service.line.at_work():
                kept = await service.stores.memory_transfer.list_all(recipient.user_id)
                files = await asyncio.to_thread(_files, kept, recipient, service.clock, readable)
            if not kept:
                await ctx.interaction.edit_initial_response(recipient.words.memory.none)
                return
            words = recipient.words.memory_box
            told = (words.exported_readable if readable else words.exported).format(count=len(kept))
            await _send(ctx.interaction, told, files, recipient)


async def _send(
    interaction: hikari.CommandInteraction, told: str, files: Sequence[hikari.Bytes], recipient: Recipient
) -> None:
    if len(files) > 1:
        told = f"{told}\n{recipient.words.memory_box.exported_parts.format(files=len(files))}"
    await interaction.edit_initial_response(told, attachments=files[:MAX_FILES])
    for first in range(MAX_FILES, len(files), MAX_FILES):
        await interaction.execute(
            attachments=files[first : first + MAX_FILES], flags=hikari.MessageFlag.EPHEMERAL
        )


def _files(
    kept: Sequence[PortableMemory], recipient: Recipient, clock: Clock, readable: bool
) -> list[hikari.Bytes]:
    """Write the files. Takes seconds for many memories, so not on the event loop."""
    now = clock()
    day = now.astimezone(recipient.timezone).date().isoformat()
    parts = list(
        markdown_parts(kept, recipient.words, now, recipient.timezone)
        if readable
        else importable_parts(kept, now)
    )
    kind = "md" if readable else "json"
    numbers = [""] if len(parts) == 1 else [f"-{number}" for number in range(1, len(parts) + 1)]
    return [
        hikari.Bytes(part.encode("utf-8", "replace"), f"memories-{day}{number}.{kind}")
        for part, number in zip(parts, numbers, strict=True)
    ]


# ---- importing -------------------------------------------------------------------------------------------
# `/memory import`: previews a file, and imports it when confirmed.
#
# The planned import is a file below the question, where the user can read it and from which the button takes
# it: no state is kept, so it works after a restart.

CONFIRM_WITHIN = timedelta(minutes=30)
"""Leaves time to read the file."""


@command(memory.register, "memory_import")
class Import:
    file = file_option("memory_file")
    audience = where()

    async def invoke(self, ctx: lightbulb.Context, service: Memories, recipients: Recipients) -> None:
        interaction = ctx.interaction
        recipient = await recipients.defer(interaction)
        if self.file.size > MAX_IMPORT_BYTES:
            raise too_large(MAX_IMPORT_BYTES)
        audience, fetch = audience_of(self.audience, recipient), partial(_fetch, self.file)
        plan, planned = await plan_import(recipient, fetch, audience=audience, service=service)
        await _preview(interaction, plan, planned, recipient, service.clock() + CONFIRM_WITHIN)


async def _preview(
    interaction: hikari.CommandInteraction,
    plan: ImportPlan,
    planned: str,
    recipient: Recipient,
    until: datetime,
) -> None:
    view = import_preview(plan, recipient.user_id, until, recipient.words)
    file = hikari.Bytes(planned.encode(), "memories.json")
    await interaction.edit_initial_response(
        view.content,
        embed=view.embed,
        components=components(view.buttons),
        attachments=[file] if plan.new else hikari.UNDEFINED,
    )


@on_memory_press(ConfirmButton, only=lambda button: button.decision == "import")
async def confirm_import(
    interaction: hikari.ComponentInteraction,
    button: ConfirmButton,
    recipient: Recipient,
    *,
    service: Memories,
) -> None:
    """Import the file below the question."""
    await defer_update(interaction)
    words = recipient.words.memory_box
    if button.until < service.clock().timestamp():
        await show_view(interaction, EphemeralView(words.ask_again))
        return
    fetch = partial(_fetch_planned, interaction.message)
    try:
        count = await take_import(recipient, fetch, service=service)
    except AttachmentNotFetched:
        await show_view(interaction, EphemeralView(words.attach_again))
        return
    await interaction.edit_initial_response(
        words.imported.format(count=count), embeds=[], components=[], attachments=None
    )


async def _fetch_planned(message: hikari.Message) -> bytes:
    """Fetch the file below the question. Raises AttachmentNotFetched."""
    if len(message.attachments) != 1:
        raise AttachmentNotFetched
    return await _fetch(message.attachments[0], MAX_PLANNED_BYTES)


async def _fetch(file: hikari.Attachment, limit_bytes: int = MAX_IMPORT_BYTES) -> bytes:
    if file.size > limit_bytes:
        raise too_large(limit_bytes)
    return await fetch_bytes(file.url, limit_bytes)
