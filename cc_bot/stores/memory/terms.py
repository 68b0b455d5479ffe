"""The search index: the table `memory_terms` lists the terms of active memories.

Every change of a memory's text, tags or status updates its terms in the same transaction.
"""

import json
from collections.abc import Collection, Iterable
from typing import Final

from cc_bot.domain.memory import Memory
from cc_bot.storage import Statement, Steps
from cc_bot.stores.memory.texts import search_text

# $1 user, $2 memory, $3 its SearchText.term_counts
_INSERT: Final = """
    INSERT INTO memory_terms (user_id, term, memory_id, occurrences)
    SELECT $1, @number_at(value, 0), $2, @number_at(value, 1) FROM @rows($3) AS given
"""

# Uses memory_terms_by_memory. $1 user, $2 an array of memories
_DELETE: Final = "DELETE FROM memory_terms WHERE user_id = $1 AND memory_id IN @ids($2)"


def insert_terms(user_id: int, memory_id: int, term_counts: str) -> Statement:
    """Index a memory without terms. `term_counts` is from its SearchText."""
    return Statement(_INSERT, (user_id, memory_id, term_counts))


def delete_terms(user_id: int, memory_ids: Collection[int]) -> Statement:
    """Remove memories from the index; others are ignored."""
    return Statement(_DELETE, (user_id, json.dumps(sorted(memory_ids))))


def reindex(user_id: int, memories: Iterable[Memory]) -> Steps[None]:
    """Index active memories by their current text."""
    for memory in memories:
        yield delete_terms(user_id, [memory.id])
        made = search_text(memory.content, memory.tags)
        yield insert_terms(user_id, memory.id, made.term_counts)
