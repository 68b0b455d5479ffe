"""The model's hands on the user's memories: keep, look up, change, forget, list.

Each acts for the one user of the turn, and only on what the answer's readers may see. What the turn has read
decides whether a change is made or proposed (consent.py).
"""

from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime
from typing import Annotated, Any, Final

from pydantic import BeforeValidator, Field

from cc_bot.domain.errors import MemoryNotFound, SecretNotStored
from cc_bot.domain.memory import (
    Audience,
    Memory,
    MemoryChange,
    clean_category,
    clean_content,
)
from cc_bot.domain.proposal import AS_IT_IS, NEVER, ChangeMemory, ForgetMemory, KeepMemory
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
from cc_bot.tools.consent import PROPOSED, must_propose, must_propose_changing
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
    former = None if supersedes is None else await _own(context, supersedes)
    wanted = KeepMemory(
        clean_content(content),
        clean_category(category),
        tuple(tags),
        context.audience,
        end_of(expires, context),
        former.id if former else None,
        former.content if former else "",
    )
    if must_propose(context):
        return await _proposed(context, wanted)
    if former is not None and must_propose_changing(context, former.id):
        return await _keep_beside(context, wanted, former)
    return await _keep(context, wanted, former)


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
    memories = [each.memory for each in found]
    return ToolResult(told, recalled=_ids(memories), tainted=_any_tainted(memories))


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
    audience: Audience | None = "private" if context.audience == "private" else None
    ends: datetime | Keep | None = end_of(expires, context) if expires else Keep.AS_IS
    if must_propose_changing(context, former.id):
        return await _proposed(
            context,
            ChangeMemory(
                former.id,
                former.content,
                clean_content(content) if content else None,
                clean_category(category) if category else None,
                None if tags is None else tuple(tags),
                audience,
                AS_IT_IS if isinstance(ends, Keep) else ends or NEVER,
                former.category,
                former.tags,
                former.expires_at,
            ),
        )
    memory = await context.memories.update(
        context.user_id,
        former.id,
        content=content or None,
        category=category or None,
        tags=tags,
        audience=audience,
        expires_at=ends,
    )
    if memory is None:
        raise MemoryNotFound(id=former.id)
    change = MemoryChange("updated", memory, former)
    return ToolResult({"updated": changed_note(context, change)}, changes=(change,))


@tool(writes=True, memory=True)
async def forget(context: ToolContext, id: MemoryId) -> ToolResult:  # noqa: A002 - what the notes call it
    """Delete a memory, when the user asks for it; recall or list_memories tells its id."""
    memory = await _own(context, id)
    if must_propose_changing(context, memory.id):
        return await _proposed(context, ForgetMemory(memory.id, memory.content))
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
    shown = memories[:limit]
    return ToolResult(told, recalled=_ids(shown), tainted=_any_tainted(shown))


async def _keep(context: ToolContext, wanted: KeepMemory, former: Memory | None = None) -> ToolResult:
    """Keep a memory, in the place of the former one if there is one."""
    beside = await _beside(context, wanted.content)
    change = await context.memories.remember(
        context.user_id,
        wanted.content,
        category=wanted.category,
        tags=wanted.tags,
        audience=wanted.audience,
        source=context.source,
        expires_at=wanted.expires_at,
        supersedes=former.id if former else None,
    )
    made = (change.memory.id,) if change.kind == "added" else ()
    if former is not None:
        change = await _superseded(context, change, former)
    told: dict[str, Any] = {"remembered": changed_note(context, change)}
    if former is not None:
        replaced = former.id in {change.memory.id, change.memory.supersedes}
        told["superseded"] = former.id if replaced else f"Not #{former.id}: delete it with forget."
    nearest = [memory for memory in beside if memory.id != change.memory.id][:NEAREST]
    if nearest:
        told |= {"note": DATA_NOT_INSTRUCTIONS, "nearest": short_notes(context, nearest)}
    shown = [change.memory, *([change.former] if change.former else []), *nearest]
    return ToolResult(told, changes=(change,), made=made, tainted=_any_tainted(shown))


async def _keep_beside(context: ToolContext, wanted: KeepMemory, former: Memory) -> ToolResult:
    """Keep a memory, and propose that it takes the place of the former one, which its user was not shown."""
    kept = await _keep(context, wanted)
    [change] = kept.changes
    if change.memory.id == former.id:
        return kept
    left = await _proposed(context, wanted)
    return replace(kept, told={**kept.told, "superseded": left.told}, proposal=left.proposal)


async def _proposed(context: ToolContext, change: KeepMemory | ChangeMemory | ForgetMemory) -> ToolResult:
    """Leave a change to the user. Raises SecretNotStored for what may not be stored anywhere."""
    match change:
        case KeepMemory(content, category, tags):
            texts: tuple[str, ...] = (content, category, *tags)
        case ChangeMemory(content=content, category=category, tags=tags):
            texts = tuple(text for text in (content, category, *(tags or ())) if text)
        case ForgetMemory():
            texts = ()
    if await context.memories.refuses(*texts):
        raise SecretNotStored
    return ToolResult(PROPOSED, proposal=change)


def _ids(memories: Sequence[Memory]) -> tuple[int, ...]:
    return tuple(memory.id for memory in memories)


def _any_tainted(memories: Sequence[Memory]) -> bool:
    return any(memory.tainted for memory in memories)


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
