"""The memories of a user, as every front end changes them: a form, taking leave, and files.

What a store does in one call is asked of the store. Here stands what takes several, or a decision between.
"""

import asyncio
import hashlib
from collections.abc import AsyncIterator, Awaitable, Callable
from dataclasses import dataclass
from typing import Final
from zoneinfo import ZoneInfo

from cc_bot.context.attachments import read_memory_file
from cc_bot.domain.clock import Clock
from cc_bot.domain.errors import MemoryPaused
from cc_bot.domain.memory import (
    DEFAULT_CATEGORY,
    WORDING,
    Audience,
    Memory,
    parse_end,
    read_category,
    read_tags,
    write_end,
)
from cc_bot.domain.memory_transfer import (
    BETWEEN_LINES,
    END_JSON,
    ImportPlan,
    begin_json,
    to_json,
    write_lines,
)
from cc_bot.domain.text import one_line, shorten
from cc_bot.in_order import FileLine
from cc_bot.stores import Keep, Stores
from cc_bot.texts import Texts
from cc_bot.texts.memory import MemoryTexts, to_markdown

# ---- a form ------------------------------------------------------------------------------------------------

MAX_TAGS_CHARACTERS: Final = 1100
"""Of all tags together, with what stands between them; what Discord takes of one input is 4000."""


@dataclass(frozen=True, slots=True)
class MemoryForm:
    """A memory as somebody fills it in."""

    content: str = ""
    category: str = ""
    tags: str = ""
    end: str = ""
    """The last day on which it holds, or any other words for that."""
    audience: Audience | None = None
    """None: the form does not ask."""


def fill_form(kept: Memory, zone: ZoneInfo) -> MemoryForm:
    """Fill in what a form says before anything is changed. It can't say everything: tags of several words
    look like several tags, and an end at some hour like the end of that day."""
    return MemoryForm(
        kept.content,
        "" if kept.category == DEFAULT_CATEGORY else kept.category,
        shorten(", ".join(map(one_line, kept.tags)), MAX_TAGS_CHARACTERS),
        write_end(kept.expires_at, zone),
        kept.audience,
    )


def mark_of(kept: Memory) -> str:
    """Return what a form carries so that it can be told whether the memory still is as the form was made
    from it."""
    said = repr([getattr(kept, name) for name in (*WORDING, "audience")])
    return hashlib.sha256(said.encode("utf-8", "replace")).hexdigest()[:32]


# ---- memories ----------------------------------------------------------------------------------------------


class Memories:
    """Memories, as they are changed from Discord and from pages alike. The files of a user are made and read
    in the line, which holds all that are made of the same process."""

    def __init__(self, stores: Stores, line: FileLine, clock: Clock) -> None:
        self._stores = stores
        self.line = line
        self._clock = clock

    async def edit(
        self, before: Memory, entered: MemoryForm, words: MemoryTexts, zone: ZoneInfo
    ) -> Memory | None:
        """Change what was changed in the form; None when the memory is gone. Raises MemoryEditOutdated when
        it is no longer as it was before, and an InputError when it can't be kept."""
        filled = fill_form(before, zone)
        return await self._stores.memories.update(
            before.user_id,
            before.id,
            only_as=before,
            content=entered.content,
            category=words.stored_category(read_category(entered.category)) or DEFAULT_CATEGORY,
            tags=None if entered.tags == filled.tags else read_tags(entered.tags),
            expires_at=Keep.AS_IS
            if entered.end == filled.end
            else parse_end(entered.end, self._clock(), zone),
            audience=entered.audience,
        )

    async def have_back(self, user_id: int, memory_id: int) -> Memory | None:
        """Have a memory back, and return the same of what is back already; None when it is too late. Raises
        TooManyMemories or MemoryFull."""
        kept = await self._stores.memories.get(user_id, memory_id)
        return kept or await self._stores.memory_removal.undelete(user_id, memory_id)

    # ---- files ---------------------------------------------------------------------------------------------

    async def read_json(self, user_id: int) -> AsyncIterator[bytes]:
        """Yield all memories as one file that can be imported again, a piece at a time; nothing where there
        are none. Raises FilesInLine and StorageError."""
        lead = begin_json(self._clock())
        async with self.line.of(user_id):
            async for page in self._stores.memory_transfer.read_pages(user_id):
                async with self.line.at_work():
                    lines = await asyncio.to_thread(write_lines, page)
                yield f"{lead}{lines}".encode("utf-8", "replace")
                lead = BETWEEN_LINES
        if lead == BETWEEN_LINES:
            yield END_JSON.encode()

    async def read_markdown(self, user_id: int, words: Texts, zone: ZoneInfo) -> AsyncIterator[bytes]:
        """Yield the same as a page for people to read."""
        async with self.line.of(user_id):
            async with self.line.at_work():
                kept = await self._stores.memory_transfer.list_all(user_id)
                page = await asyncio.to_thread(to_markdown, kept, words, self._clock(), zone)
            if kept:
                yield page.encode("utf-8", "replace")

    async def plan_import(
        self,
        user_id: int,
        fetch: Callable[[], Awaitable[bytes]],
        *,
        audience: Audience,
        paused: bool,
    ) -> tuple[ImportPlan, str]:
        """Count an import, and return what it would bring, and the new ones as the file that `take_import`
        reads. `audience` is that of memories that don't say.

        Raises MemoryPaused, TooManyImports, FilesInLine, ImportNotUnderstood, TooManyToImport,
        TooManyMemories, MemoryFull, and what `fetch` raises.
        """
        _ensure_on(paused=paused)
        transfer = self._stores.memory_transfer
        async with self.line.of(user_id):
            await transfer.admit(user_id)
            data = await fetch()
            async with self.line.at_work():
                read = await asyncio.to_thread(read_memory_file, data)
                plan = await transfer.plan(user_id, read, audience=audience)
                return plan, await asyncio.to_thread(to_json, plan.new, self._clock())

    async def take_import(self, user_id: int, fetch: Callable[[], Awaitable[bytes]], *, paused: bool) -> int:
        """Keep what is new in a file of `plan_import`, and return how many that were. Raises as that does,
        but for TooManyImports."""
        _ensure_on(paused=paused)
        async with self.line.of(user_id):
            data = await fetch()
            async with self.line.at_work():
                read = await asyncio.to_thread(read_memory_file, data)
                return await self._stores.memory_transfer.take(user_id, read)


def _ensure_on(*, paused: bool) -> None:
    if paused:
        raise MemoryPaused
