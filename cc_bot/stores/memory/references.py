"""Inserts the texts of memories into stored tool calls that refer to them, on reading."""

import json
from collections.abc import Sequence
from typing import Final

from cc_bot.domain.memory_calls import named_ids, with_texts
from cc_bot.domain.message import Message, ToolCall, Visibility
from cc_bot.storage import Database
from cc_bot.stores.memory.rows import MEMORY

# Includes former versions and hidden memories. $1 user, $2 an array of memories
_SELECT: Final = f"SELECT {MEMORY.select} FROM memories WHERE user_id = $1 AND id IN @ids($2)"  # noqa: S608 - constants


async def read_texts(database: Database, user_id: int, messages: Sequence[Message]) -> tuple[Message, ...]:
    """Return stored messages with this user's current memory texts in their tool calls."""
    named = [frozenset[int]().union(*map(named_ids, message.tool_calls)) for message in messages]
    ids = frozenset[int]().union(*named)
    if not ids:
        return tuple(messages)
    found = map(MEMORY.read, await database.query(_SELECT, user_id, json.dumps(sorted(ids))))
    memories = {memory.id: memory for memory in found}
    return tuple(
        with_texts(message, memories) if refers else message
        for message, refers in zip(messages, named, strict=True)
    )


async def read_call_texts(
    database: Database, user_id: int, calls: tuple[ToolCall, ...], visibility: Visibility
) -> tuple[ToolCall, ...]:
    """Like `read_texts`, for a turn's stored calls with this visibility."""
    answer = Message("assistant", "", tool_calls=calls, visibility=visibility)
    [read] = await read_texts(database, user_id, [answer])
    return read.tool_calls
