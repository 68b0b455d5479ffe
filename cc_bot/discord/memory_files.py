"""`/memory export` and `/memory import`.

The plan of an import is a file below the question, from which the button takes it, so it works after a
restart.
"""

import asyncio
from collections.abc import Sequence
from datetime import timedelta
from functools import partial
from typing import Final

import hikari

from cc_bot.commands.memories import MAX_PLANNED_BYTES, Memories, plan_import, take_import
from cc_bot.context.attachments import too_large
from cc_bot.discord.attachments import fetch_bytes
from cc_bot.discord.pages.memory import EphemeralView, import_preview
from cc_bot.discord.recipients import Recipient
from cc_bot.domain.clock import Clock
from cc_bot.domain.errors import AttachmentNotFetched
from cc_bot.domain.memory import Audience
from cc_bot.domain.memory_transfer import MAX_IMPORT_BYTES, PortableMemory, importable_parts
from cc_bot.texts.memory import markdown_parts

MAX_FILES: Final = 10
"""In one message."""
CONFIRM_WITHIN: Final = timedelta(minutes=30)
"""To read the file."""


async def export_memories(
    interaction: hikari.CommandInteraction, caller: Recipient, service: Memories, *, readable: bool
) -> None:
    """Send all memories as files, in as many messages as it takes."""
    words = caller.words.memory_box
    async with service.line.of(caller.user_id):
        async with service.line.at_work():
            kept = await service.stores.memory_transfer.list_all(caller.user_id)
            files = await asyncio.to_thread(_files, kept, caller, service.clock, readable)
        if not kept:
            await interaction.edit_initial_response(caller.words.memory.none)
            return
        text = (words.exported_readable if readable else words.exported).format(count=len(kept))
        if len(files) > 1:
            text = f"{text}\n{words.exported_parts.format(files=len(files))}"
        await interaction.edit_initial_response(text, attachments=files[:MAX_FILES])
        for first in range(MAX_FILES, len(files), MAX_FILES):
            more = files[first : first + MAX_FILES]
            await interaction.execute(attachments=more, flags=hikari.MessageFlag.EPHEMERAL)


def _files(
    kept: Sequence[PortableMemory], caller: Recipient, clock: Clock, readable: bool
) -> list[hikari.Bytes]:
    """Takes seconds for many memories: not for the event loop."""
    now, kind = clock(), "md" if readable else "json"
    readable_parts = partial(markdown_parts, kept, caller.words, now, caller.timezone)
    parts = [*(readable_parts() if readable else importable_parts(kept, now))]
    numbers = [""] if len(parts) == 1 else [f"-{number}" for number in range(1, len(parts) + 1)]
    return [
        hikari.Bytes(part.encode("utf-8", "replace"), f"memories-{caller.day(now)}{number}.{kind}")
        for part, number in zip(parts, numbers, strict=True)
    ]


async def import_memories(
    caller: Recipient, file: hikari.Attachment, audience: Audience, service: Memories
) -> EphemeralView:
    """Preview an import."""
    if file.size > MAX_IMPORT_BYTES:
        raise too_large(MAX_IMPORT_BYTES)
    fetch = partial(_fetch, file, MAX_IMPORT_BYTES)
    plan, planned = await plan_import(caller, fetch, audience=audience, service=service)
    return import_preview(plan, planned, caller.user_id, service.clock() + CONFIRM_WITHIN, caller.words)


async def take_planned(message: hikari.Message, caller: Recipient, service: Memories) -> EphemeralView:
    """Import the file below a preview."""
    words = caller.words.memory_box
    try:
        if len(message.attachments) != 1:
            raise AttachmentNotFetched
        fetch = partial(_fetch, message.attachments[0], MAX_PLANNED_BYTES)
        count = await take_import(caller, fetch, service=service)
    except AttachmentNotFetched:
        return EphemeralView(words.attach_again)
    return EphemeralView(words.imported.format(count=count))


async def _fetch(file: hikari.Attachment, limit_bytes: int) -> bytes:
    if file.size > limit_bytes:
        raise too_large(limit_bytes)
    return await fetch_bytes(file.url, limit_bytes)
