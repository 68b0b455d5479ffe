"""Files of memories: written for a download, and read from an upload."""

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
"""The size of a planned import, which was read from at most MAX_IMPORT_BYTES."""

Fetch = Callable[[], Awaitable[bytes]]


async def read_json(caller: Caller, *, service: Memories) -> AsyncIterator[bytes]:
    """Yield all memories as one file that can be imported again, a piece at a time; nothing if there are
    none. Raises FilesInLine and StorageError."""
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
    """Yield the same as a page for people to read."""
    async with service.line.of(caller.user_id):
        async with service.line.at_work():
            kept = await service.stores.memory_transfer.list_all(caller.user_id)
            page = await asyncio.to_thread(to_markdown, kept, caller.words, service.clock(), caller.timezone)
        if kept:
            yield page.encode("utf-8", "replace")


async def plan_import(
    caller: Caller, fetch: Fetch, *, audience: Audience, service: Memories
) -> tuple[ImportPlan, str]:
    """Count an import, and return what it would bring, and the new memories as the file that `take_import`
    reads. `audience` is that of memories that don't say.

    Raises MemoryPaused, TooManyImports, FilesInLine, ImportNotUnderstood, TooManyToImport, TooManyMemories,
    MemoryFull, and what `fetch` raises.
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
    """Keep what is new in a file of `plan_import`. Returns how many. Raises as that does, but for
    TooManyImports."""
    _ensure_on(caller)
    async with service.line.of(caller.user_id):
        data = await fetch()
        async with service.line.at_work():
            read = await asyncio.to_thread(read_memory_file, data)
            return await service.stores.memory_transfer.take(caller.user_id, read)


def _ensure_on(caller: Caller) -> None:
    if caller.memory_paused:
        raise MemoryPaused
