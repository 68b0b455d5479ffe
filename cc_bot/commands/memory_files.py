"""Export memories to files and import them."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from typing import Final

from cc_bot.commands.memories import Memories
from cc_bot.commands.reply import Caller
from cc_bot.context.attachments import read_memory_file
from cc_bot.domain.errors import MemoryPaused
from cc_bot.domain.memory import Audience
from cc_bot.domain.memory_transfer import (
    BETWEEN_LINES,
    END_JSON,
    MAX_IMPORT_BYTES,
    ImportPlan,
    begin_json,
    to_json,
    write_lines,
)
from cc_bot.texts.memory import to_markdown

MAX_PLANNED_BYTES: Final = 8 * MAX_IMPORT_BYTES
"""For a planned import, which may be longer than its file."""

Fetch = Callable[[], Awaitable[bytes]]


async def read_json(caller: Caller, *, service: Memories) -> AsyncIterator[bytes]:
    """Yield all memories as a JSON file in chunks; nothing if there are none. Raises FilesInLine."""
    lead = begin_json(service.clock())
    async with service.line.of(caller.user_id):
        async for page in service.stores.memory_transfer.read_pages(caller.user_id):
            async with service.line.at_work():
                lines = await asyncio.to_thread(write_lines, page)
            yield f"{lead}{lines}".encode("utf-8", "replace")
            lead = BETWEEN_LINES
    if lead == BETWEEN_LINES:
        yield END_JSON.encode()


async def read_markdown(caller: Caller, *, service: Memories) -> AsyncIterator[bytes]:
    """Yield all memories as a Markdown page. Raises FilesInLine."""
    async with service.line.of(caller.user_id):
        async with service.line.at_work():
            kept = await service.stores.memory_transfer.list_all(caller.user_id)
            page = await asyncio.to_thread(to_markdown, kept, caller.words, service.clock(), caller.timezone)
        if kept:
            yield page.encode("utf-8", "replace")


async def plan_import(
    caller: Caller, fetch: Fetch, *, audience: Audience, service: Memories
) -> tuple[ImportPlan, str]:
    """Return a preview of an import, and the new memories as a file for `take_import`. `audience`: for
    memories without one.

    Raises MemoryPaused, InputError, and what `fetch` raises.
    """
    _ensure_on(caller)
    transfer = service.stores.memory_transfer
    async with service.line.of(caller.user_id):
        await transfer.admit(caller.user_id)
        data = await fetch()
        async with service.line.at_work():
            read = await asyncio.to_thread(read_memory_file, data)
            plan = await transfer.plan(caller.user_id, read, audience=audience)
            return plan, await asyncio.to_thread(to_json, plan.new, service.clock())


async def take_import(caller: Caller, fetch: Fetch, *, service: Memories) -> int:
    """Store the new memories of a file from `plan_import`, and return their number. Raises as
    `plan_import`."""
    _ensure_on(caller)
    async with service.line.of(caller.user_id):
        data = await fetch()
        async with service.line.at_work():
            read = await asyncio.to_thread(read_memory_file, data)
            return await service.stores.memory_transfer.take(caller.user_id, read)


def _ensure_on(caller: Caller) -> None:
    if caller.memory_paused:
        raise MemoryPaused
