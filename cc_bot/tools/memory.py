"""The model's hands on the user's memories: keep, look up, change, forget, list.

Each acts for the one user of the turn, and only on what the answer's readers may see. What changes anything
is held against what the user asked for (consent.py).
"""

from collections.abc import Sequence
from typing import Annotated, Any, Final

from pydantic import BeforeValidator, Field

from cc_bot.domain.errors import MemoryNotFound, NotAskedFor
from cc_bot.domain.memory import DEFAULT_CATEGORY, Memory, MemoryChange
from cc_bot.stores.settings import Keep
from cc_bot.tools.arguments import (
    Expires,
    Limit,
    MemoryId,
    Superseded,
    Tags,
    as_list,
    end_of,
)
from cc_bot.tools.consent import Asked
from cc_bot.tools.notes import DATA_NOT_INSTRUCTIONS, changed_note, found_notes, labelled, note, short_notes
from cc_bot.tools.registry import ToolContext, ToolResult, tool

NEAREST: Final = 3
"""Other notes that are shown beside a new one."""
_LARGEST_PAGE: Final = 1000


@tool(writes=True, memory=True)
async def remember(
    context: ToolContext,
    *,
    content: Annotated[str, Field(description="In the user's own words and language.")],
    tags: Tags = [],  # noqa: B006 - a schema default; pydantic copies it
    category: Annotated[str | None, Field(description="Such as personal, work, preference.")] = None,
    expires: Expires = None,
    supersedes: Superseded = None,
) -> ToolResult:
    """Keep one fact about the user for good, when they ask for it; several facts take several calls. Write
    relative times (tomorrow, 来週の金曜) as dates. Never keep passwords, keys or card numbers; health, money
    and facts about other people only when asked for in so many words. If one of the other notes in the result
    no longer holds because of the new fact, call remember again with the same content and its id as
    `supersedes`."""
    asked = _asked(context)
    former = None if supersedes is None else await _own(context, supersedes)
    allowed = asked.to_keep(content)
    if former is not None:
        allowed = asked.to_change(former.content, former.id, content)
    if not allowed:
        raise NotAskedFor
    beside = await _beside(context, content)
    change = await context.memories.remember(
        context.user_id,
        content,
        category=category or DEFAULT_CATEGORY,
        tags=tuple(tags),
        audience=context.audience,
        source=context.source,
        expires_at=end_of(expires, context),
        supersedes=supersedes,
    )
    if former is not None:
        change = await _superseded(context, change, former)
    told: dict[str, Any] = {"remembered": changed_note(context, change)}
    if former is not None:
        replaced = former.id in {change.memory.id, change.memory.supersedes}
        told["superseded"] = former.id if replaced else f"Not #{former.id}: delete it with forget."
    if nearest := [memory for memory in beside if memory.id != change.memory.id][:NEAREST]:
        told |= {"note": DATA_NOT_INSTRUCTIONS, "nearest": short_notes(context, nearest)}
    return ToolResult(told, changes=(change,), beside=tuple(memory.id for memory in nearest))


@tool(writes=False, memory=True)
async def recall(
    context: ToolContext,
    query: Annotated[
        str,
        Field(description="Keywords in several wordings: synonyms, both languages (飼い猫 ペット cat pet)."),
    ],
    limit: Limit = 5,
    category: str | None = None,
) -> ToolResult:
    """Look up what the user asked you to remember, before you say that you do not know something about them.
    If nothing is found, try other words once. Leave out notes of low confidence that do not fit."""
    found = await context.memories.find(
        context.user_id,
        query,
        limit=limit,
        category=category,
        audience=context.audience,
    )
    told = labelled(found_notes(context, found))
    return ToolResult(told, recalled=tuple(each.memory.id for each in found))


@tool(writes=True, memory=True)
async def update_memory(
    context: ToolContext,
    *,
    id: MemoryId,  # noqa: A002 - what the notes call it
    content: Annotated[str | None, Field(description="The fact as it is now.")] = None,
    category: str | None = None,
    tags: Annotated[list[str] | None, BeforeValidator(lambda tags: tags and as_list(tags))] = None,
    expires: Annotated[str | None, Field(description="As for remember; or `never`.")] = None,
) -> ToolResult:
    """Correct a memory, when the user asks for it or says that it changed; recall tells its id."""
    # What is said where the user alone sees it makes the memory private, as it would a new one.
    former = await _own(context, id)
    if not _asked(context).to_change(former.content, former.id, content or ""):
        raise NotAskedFor
    memory = await context.memories.update(
        context.user_id,
        former.id,
        content=content or None,
        category=category or None,
        tags=tags,
        audience="private" if context.audience == "private" else None,
        expires_at=end_of(expires, context) if expires else Keep.AS_IS,
    )
    if memory is None:
        raise MemoryNotFound(id=former.id)
    change = MemoryChange("updated", memory, former)
    return ToolResult({"updated": changed_note(context, change)}, changes=(change,))


@tool(writes=True, memory=True)
async def forget(context: ToolContext, id: MemoryId) -> ToolResult:  # noqa: A002 - what the notes call it
    """Delete a memory, when the user asks for it; recall or list_memories tells its id."""
    memory = await _own(context, id)
    if not _asked(context).to_forget(
        f"{memory.content} {memory.category} {' '.join(memory.tags)}", memory.id
    ):
        raise NotAskedFor
    if not await context.memories.delete(context.user_id, memory.id):
        raise MemoryNotFound(id=memory.id)
    told = {"forgotten": {"id": memory.id, "content": memory.content}}
    return ToolResult(told, changes=(MemoryChange("deleted", memory),))


@tool(writes=False, memory=True)
async def list_memories(
    context: ToolContext,
    category: str | None = None,
    limit: Limit = 10,
    before: Annotated[int | None, Field(description="Only older than this id.")] = None,
) -> ToolResult:
    """List the user's memories, newest first. To answer a question, use recall."""
    memories = await _page(context, category, limit + 1, before)
    told = labelled([note(context, memory) for memory in memories[:limit]])
    if len(memories) > limit:
        told["more_before"] = memories[limit - 1].id
    return ToolResult(told, recalled=tuple(memory.id for memory in memories[:limit]))


def _asked(context: ToolContext) -> Asked:
    return Asked(context.question, context.previous_answer, context.earlier, context.informed)


async def _own(context: ToolContext, memory_id: int) -> Memory:
    """The user's memory of this id, if the answer's readers may know of it. Raises MemoryNotFound."""
    memory = await context.memories.get(context.user_id, memory_id)
    if memory is None or not _may_see(context, memory):
        raise MemoryNotFound(id=memory_id)
    return memory


def _may_see(context: ToolContext, memory: Memory) -> bool:
    return memory.audience == "anywhere" or context.audience == "private"


async def _superseded(context: ToolContext, change: MemoryChange, former: Memory) -> MemoryChange:
    """The change, with what it replaces: a note that was kept a moment ago, and is kept once more to be told
    what it replaces, does not stand there twice."""
    if former.id in {change.memory.id, change.memory.supersedes}:
        return change
    memory = await context.memories.supersede(context.user_id, change.memory.id, former.id)
    return change if memory is None else MemoryChange("added", memory, former)


async def _beside(context: ToolContext, content: str) -> Sequence[Memory]:
    """The nearest notes to one that is about to be kept: beside itself, hardly any would count as near."""
    found = await context.memories.find(
        context.user_id, content, limit=NEAREST + 2, audience=context.audience
    )
    return [each.memory for each in found]


async def _page(
    context: ToolContext, category: str | None, limit: int, before: int | None
) -> Sequence[Memory]:
    """The next memories that may be seen: those that may not are passed over, in ever larger pages."""
    seen: list[Memory] = []
    size = limit
    while len(seen) < limit:
        page = await context.memories.list(context.user_id, category=category, limit=size, before_id=before)
        seen += [memory for memory in page if _may_see(context, memory)]
        if len(page) < size:
            break
        before, size = page[-1].id, min(size * 4, _LARGEST_PAGE)
    return seen[:limit]
