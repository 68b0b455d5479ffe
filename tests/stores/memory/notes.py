"""Memories of two users, and what is listed and found of them."""

from datetime import UTC, datetime
from typing import Any, Final

from cc_bot.chat.stores.opening import Stores
from cc_bot.features.memory.model import Memory
from tests.stores.backends import KEY, OTHER_USER, got

ME: Final = KEY.user_id
YOU: Final = OTHER_USER.user_id
START: Final = datetime(2026, 11, 22, 3, 4, 5, tzinfo=UTC)
NO_IDS: Final = (0, -1, 987654321, 2**70, -(10**30))


async def keep(stores: Stores, *contents: str, user_id: int = ME) -> list[Memory]:
    """A memory of each."""
    return [await stores.memories.add(user_id, content) for content in contents]


async def rewrite(stores: Stores, *contents: str) -> Memory:
    """One memory that said each of these in turn."""
    [memory] = await keep(stores, contents[0])
    for content in contents[1:]:
        updated = got(await stores.memories.update(ME, memory.id, content=content))
        memory = updated
    return memory


async def listed(stores: Stores, user_id: int = ME) -> list[str]:
    """Newest first."""
    return [memory.content for memory in await stores.memories.list(user_id)]


async def found(stores: Stores, query: str, **filters: Any) -> list[str]:
    """Best first."""
    return [each.memory.content for each in await stores.memories.find(ME, query, limit=100, **filters)]
