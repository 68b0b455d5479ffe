"""Search of a user's memories, in one snapshot of the database.

The database sums the weights of the query's terms per memory and returns the best that pass the filters, and
all that contain the query verbatim; cc_bot.search ranks them.
"""

import asyncio
import json
from collections import defaultdict
from collections.abc import Mapping, Sequence
from heapq import nlargest
from typing import Any, Final, NamedTuple
from weakref import WeakValueDictionary

from cc_bot.domain.clock import Clock
from cc_bot.domain.memory import Audience, FoundMemory
from cc_bot.domain.text import without_controls
from cc_bot.search.ranking import Candidate, Statistics, rank, term_weight
from cc_bot.search.terms import Query, parse_query
from cc_bot.storage import Database, Row, Statement, Steps
from cc_bot.stores.columns import to_text
from cc_bot.stores.memory.meaning import Meaning
from cc_bot.stores.memory.rows import MEMORY, term_keys

POOL: Final = 64
"""Candidates to rank."""
NEAREST: Final = 32
"""Candidates chosen by similarity alone."""
_MAX_TERMS: Final = 128
"""The ones with the greatest weights."""
_GREATEST_WEIGHT: Final = 1000
"""Integer weight of the heaviest term."""
_SHORT_CHARACTERS: Final = 500

# ruff: noqa: S608 - put together from constants alone

# A MemoryFilter: $4 category or NULL, $5 audience or NULL, $6 origin or NULL, $7 an array of folded tags
WANTED: Final = """
    (CAST($4 AS TEXT) IS NULL OR category = $4)
    AND (CAST($5 AS TEXT) IS NULL OR audience = $5)
    AND (CAST($6 AS TEXT) IS NULL OR coalesce(@text_of(source, kind), '') = $6)
    AND ($7 = '[]' OR NOT EXISTS (
        SELECT 1 FROM @texts($7) AS wanted WHERE @position(search_tags, wanted.value) = 0
    ))
"""

# $1 user, $2 the audience besides 'anywhere', $3 now, $4 to $7 as WANTED
_ADMITTED: Final = f"""
    user_id = $1 AND status = 'active' AND audience IN ('anywhere', $2)
    AND (expires_at IS NULL OR expires_at > $3) AND {WANTED}
"""

# Uses memories_by_text. $1 user
_COUNT: Final = """
    SELECT count(*), CAST(coalesce(sum(term_count), 0) AS @number) FROM memories
    WHERE user_id = $1 AND status = 'active'
"""

# Memories with each term. $1 user, $2 an array of terms
_COUNT_TERMS: Final = """
    SELECT term, count(*) FROM memory_terms WHERE user_id = $1 AND term IN @ids($2) GROUP BY term
"""


class _Found(NamedTuple):
    id: int
    text: str
    term_count: int
    is_written: int


_IS_WRITTEN: Final = """
    CASE WHEN @position(search_content || search_tags, $8) > 0
        OR $9 <> $8 AND @position(search_content || search_tags, $9) > 0 THEN 1 ELSE 0 END
"""
_CANDIDATE: Final = f"id, search_content || search_tags AS text, term_count, {_IS_WRITTEN} AS is_written"

# Uses memory_terms' key and memories_by_text. $1 to $7 as _ADMITTED, $8 and $9 the query, folded and as
# typed, $10 an array of [term, weight], $11 limit
_SELECT_BEST: Final = f"""
    WITH scores AS (
        SELECT memory_id, sum(@number_at(asked.value, 1)) AS score
        FROM @rows($10) AS asked
        @look_up memory_terms ON memory_terms.user_id = $1 AND term = @number_at(asked.value, 0)
        GROUP BY memory_id
    )
    SELECT id, text, term_count, is_written FROM (
        SELECT {_CANDIDATE}, coalesce(score, 0) AS score
        FROM memories LEFT JOIN scores ON memory_id = id
        WHERE {_ADMITTED}
    ) AS candidates
    WHERE is_written = 1 OR score > 0
    ORDER BY is_written DESC, score DESC, id DESC LIMIT $11
"""

# $1 to $9 as _SELECT_BEST, $10 an array of memories
_SELECT_NEAR: Final = f"SELECT {_CANDIDATE} FROM memories WHERE {_ADMITTED} AND id IN @ids($10)"

# The plus makes SQLite use the primary key. $1 user, $2 an array of memories, $3 of terms
_SELECT_TERMS: Final = """
    SELECT memory_id, term, occurrences FROM memory_terms
    WHERE user_id = $1 AND +memory_id IN @ids($2) AND term IN @ids($3)
"""

# $1 user, $2 an array of memories
_SELECT_MEMORIES: Final = f"""
    SELECT {MEMORY.select} FROM memories WHERE user_id = $1 AND id IN @ids($2) AND status = 'active'
"""

# $1 to $7 as _ADMITTED, $8 limit
_SELECT_NEWEST: Final = f"SELECT {MEMORY.select} FROM memories WHERE {_ADMITTED} ORDER BY id DESC LIMIT $8"


class MemorySearch:
    def __init__(self, database: Database, clock: Clock, *, meaning: Meaning | None = None) -> None:
        self._database = database
        self._clock = clock
        self._meaning = meaning
        self._lines = WeakValueDictionary[int, asyncio.Lock]()
        """One search per user at a time, so that one user's hundred searches do not delay others."""

    async def find(
        self, user_id: int, query: str, *, limit: int, audience: Audience, wanted: Sequence[str | None]
    ) -> list[FoundMemory]:
        """As MemoryStore.find. `wanted` are the parameters of WANTED."""
        if limit == 0:
            return []
        async with self._lines.setdefault(user_id, asyncio.Lock()):
            # as it would be stored
            typed = without_controls(query).encode("utf-8", "replace").decode().strip()
            filters = (user_id, audience, to_text(self._clock()), *wanted)
            if not typed:
                newest = await self._database.query(_SELECT_NEWEST, *filters, limit)
                return [FoundMemory(MEMORY.read(row), confidence=1.0) for row in newest]
            long = len(typed) > _SHORT_CHARACTERS  # parsing takes up to 20 ms
            parsed = await asyncio.to_thread(parse_query, typed) if long else parse_query(typed)
            near = await self._meaning.get_nearness(user_id, typed) if self._meaning else {}
            return await self._database.read(lambda: _search(parsed, filters, typed, limit, near))


def _search(
    query: Query, filters: tuple[Any, ...], typed: str, limit: int, near: Mapping[int, float]
) -> Steps[list[FoundMemory]]:
    """Rank memories that contain the query verbatim, those with the best scores, and the nearest. `filters`:
    the parameters of _ADMITTED."""
    user_id, weights = filters[0], query.weights
    used = nlargest(_MAX_TERMS, weights, key=weights.__getitem__)
    terms = dict(zip(term_keys(used), used, strict=True))
    keys = json.dumps([*terms])
    [(documents, length)] = yield Statement(_COUNT, (user_id,))
    frequency = {terms[key]: count for key, count in (yield Statement(_COUNT_TERMS, (user_id, keys)))}
    statistics = Statistics(documents, length / max(documents, 1), frequency)
    whole = _whole_weights(terms, term_weight(query, statistics))
    shown = (*filters, query.folded, typed)
    rows: list[Row] = [*(yield Statement(_SELECT_BEST, (*shown, whole, max(POOL, limit))))]
    others = near.keys() - {row[0] for row in rows}
    if nearest := nlargest(max(NEAREST, limit), others, key=near.__getitem__):
        rows += yield Statement(_SELECT_NEAR, (*shown, json.dumps(nearest)))
    found = [_Found(*row) for row in rows]
    occurrences: defaultdict[int, dict[str, int]] = defaultdict(dict)
    ids = json.dumps([each.id for each in found])
    for memory_id, key, count in (yield Statement(_SELECT_TERMS, (user_id, ids, keys))):
        occurrences[memory_id][terms[key]] = count
    candidates = [
        # The query itself is added to a text that contains it as typed: `rank` looks for it folded.
        Candidate(
            each.id,
            f"{each.text}\n{query.folded}" if each.is_written else each.text,
            occurrences[each.id],
            each.term_count,
        )
        for each in found
    ]
    similarity = {note.id: near[note.id] for note in candidates if note.id in near}
    hits = rank(query, statistics, candidates, similarity=similarity or None)[:limit]
    chosen = yield Statement(_SELECT_MEMORIES, (user_id, json.dumps([hit.id for hit in hits])))
    memories = {memory.id: memory for memory in map(MEMORY.read, chosen)}
    return [FoundMemory(memories[hit.id], hit.confidence) for hit in hits]


def _whole_weights(terms: Mapping[int, str], weights: Mapping[str, float]) -> str:
    """Integer weights of terms, as _SELECT_BEST takes them."""
    greatest = max((weights[term] for term in terms.values()), default=0.0)
    whole = (
        (key, weights[term] / greatest * _GREATEST_WEIGHT) for key, term in terms.items() if weights[term] > 0
    )
    return json.dumps([(key, max(round(weight), 1)) for key, weight in whole])
