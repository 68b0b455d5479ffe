"""The model's hands on the user's memories: keep one, look some up."""

from collections.abc import Mapping
from typing import Annotated, Any

from pydantic import BeforeValidator, Field

from cc_bot.domain.memory import DEFAULT_CATEGORY, Memory, parse_tags
from cc_bot.tools.registry import ToolContext, tool

MAX_RESULTS = 20


def _as_list(tags: object) -> object:
    """Small models write `"a, b"` or null where a list is asked for."""
    if tags is None:
        return []
    return list(parse_tags(tags)) if isinstance(tags, str) else tags


def _in_range(limit: object) -> object:
    return max(1, min(limit, MAX_RESULTS)) if isinstance(limit, int) else limit


Tags = Annotated[list[str], BeforeValidator(_as_list), Field(description="A few words to file it under.")]


@tool(writes=True)
async def remember(
    context: ToolContext,
    content: Annotated[str, Field(description="One fact, in the user's words and language.")],
    tags: Tags = [],  # noqa: B006 - a schema default; pydantic copies it
    category: Annotated[str | None, Field(description="For example: personal, work, preference.")] = None,
) -> Mapping[str, Any]:
    """Keep one fact about the user for good. Use it when the user asks you to remember something."""
    memory = await context.memories.add(
        context.user_id,
        content,
        category=category or DEFAULT_CATEGORY,
        tags=tuple(tags),
        audience="private" if context.visibility == "private" else "anywhere",
    )
    return {"remembered": {"id": memory.id, "content": memory.content}}


@tool(writes=False)
async def recall(
    context: ToolContext,
    query: Annotated[str, Field(description="Keywords separated by spaces, not a sentence.")],
    limit: Annotated[int, BeforeValidator(_in_range)] = 5,
    category: Annotated[str | None, Field(description="Only this category.")] = None,
) -> Mapping[str, Any]:
    """Look up what the user asked you to remember. Use it before you say that you do not know something
    about the user. If nothing is found, try other words once."""
    found = await context.memories.search(
        context.user_id,
        query,
        limit=limit,
        category=category,
        visibility=context.visibility,
    )
    return {"memories": [_as_json(context, memory) for memory in found]}


def _as_json(context: ToolContext, memory: Memory) -> dict[str, Any]:
    return {
        "id": memory.id,
        "content": memory.content,
        "category": memory.category,
        "tags": list(memory.tags),
        "date": context.local_date(memory.updated_at),
    }
