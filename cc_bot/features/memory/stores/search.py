"""Searches a user's memories by words and meaning, and makes the embedding vectors for that.

The database returns the memories with the best sums of term weights, and those that contain the query as
written; `rank` ranks these and the nearest ones. Without vectors, or if the encoder fails or is late, only
words count.
"""

import asyncio
import json
from collections import defaultdict
from collections.abc import Mapping, Sequence
from heapq import nlargest
from time import monotonic
from typing import Any, Final, NamedTuple
from weakref import WeakValueDictionary

import structlog

from cc_bot.db import Database, Row, Statement, Transaction, user_lock
from cc_bot.db.columns import to_text
from cc_bot.domain.clock import Clock
from cc_bot.domain.errors import ContextTooLong, ModelError, ModelRefusedRequest
from cc_bot.domain.text import without_controls
from cc_bot.features.memory.model import Audience, FoundMemory
from cc_bot.features.memory.search.ranking import Candidate, Statistics, rank, term_weight
from cc_bot.features.memory.search.terms import Query, parse_query
from cc_bot.features.memory.search.vectors import Embedder, Vector, cosines, nearness
from cc_bot.features.memory.stores.rows import MEMORY, term_keys

_PAGE: Final = 2000
TIMEOUT_S: Final = 1.5
BACKOFF_S: Final = 10.0  # after an encoder failed or was late
_MAX_QUERY_CHARACTERS: Final = 1000
_MAX_COMPARED_INLINE: Final = 256  # comparing these is faster than starting a thread

_log = structlog.get_logger(__name__)


class Meaning:
    def __init__(self, database: Database, embedder: Embedder) -> None:
        self._database = database
        self._embedder = embedder
        self._backoff_ends = 0.0

    async def get_nearness(self, user_id: int, query: str) -> Mapping[int, float]:
        """Return standard scores (see search.vectors) of the memories that have a vector."""
        found: dict[int, float] = {}
        vector: Vector | None = None
        key = (user_id, self._embedder.name)
        sql = """
            SELECT memory_id, vector FROM memory_vectors
            WHERE user_id = $1 AND memory_id > $3 AND model = $2
            ORDER BY memory_id LIMIT $4
        """
        while rows := await self._database.query(sql, *key, max(found, default=0), _PAGE):
            if (vector := vector or await self._get_vector(query)) is None:
                return {}
            ids, others = zip(*rows, strict=True)
            if len(others) <= _MAX_COMPARED_INLINE:
                values = cosines(vector, others)
            else:
                values = await asyncio.to_thread(cosines, vector, others)
            found.update(zip(ids, values, strict=True))
            if len(rows) < _PAGE:
                break
        return nearness(found, query=query, unrelated=self._embedder.unrelated)

    async def _get_vector(self, query: str) -> Vector | None:
        """Return the query's vector; None if the encoder is late, and for a while after."""
        text, now = query.strip()[:_MAX_QUERY_CHARACTERS], asyncio.get_running_loop().time()
        if not text or now < self._backoff_ends:
            return None
        try:
            async with asyncio.timeout(TIMEOUT_S):
                [vector] = await self._embedder.embed([text])
                return vector
        except (TimeoutError, ModelError) as error:
            self._backoff_ends = now + TIMEOUT_S + BACKOFF_S
            _log.info("query_not_embedded", problem=type(error).__name__)
            return None


# Only if the text has not changed since. $1 user, $2 memory, $3 model, $4 vector, $5 the text
PUT_VECTOR: Final = """
    INSERT INTO memory_vectors (user_id, memory_id, model, vector)
    SELECT $1, $2, $3, $4
    WHERE EXISTS (
        SELECT 1 FROM memories WHERE user_id = $1 AND id = $2 AND content = $5 AND status = 'active'
    )
    ON CONFLICT (user_id, memory_id) DO UPDATE SET model = excluded.model, vector = excluded.vector
"""

_BATCH: Final = 16  # memories per call of the encoder; a search waits for at most one call
_MAX_RETRY_S: Final = 600.0
_SWEEP_EVERY_S: Final = 3600.0
DEBOUNCE_S: Final = 1.0  # pause after a memory was written
RETRY_S: Final = 5.0  # pause after the first failure
_NO_VECTOR: Final = Vector(b"")  # for a text that the encoder refuses; similar to nothing


class _Unembedded(NamedTuple):
    user_id: int
    id: int
    content: str


class EmbeddingJob:
    """Makes missing vectors: `run` in the background, `catch_up` at once.

    The database shows which are missing, so an exit loses none, and a new encoder replaces all.
    """

    def __init__(self, database: Database, embedder: Embedder) -> None:
        self.embedder = embedder
        self._database = database
        self._swept_to = 0  # memories up to this id have vectors, unless skipped
        self._failures = 0
        self._woken = asyncio.Event()
        self._one_at_a_time = asyncio.Lock()

    def schedule(self, memory_id: int) -> None:
        self._swept_to = min(self._swept_to, memory_id - 1)
        self._woken.set()

    async def catch_up(self) -> None:
        """Wait until all memories have vectors. Raises ModelError or StorageError."""
        self._swept_to = 0
        while await self._embed_next():
            pass

    async def run(self) -> None:
        while True:
            await asyncio.sleep(DEBOUNCE_S)
            self._woken.clear()
            skipped = await self._sweep()
            try:
                async with asyncio.timeout(RETRY_S if skipped else _SWEEP_EVERY_S):
                    await self._woken.wait()
            except TimeoutError:
                self._swept_to = 0  # another program may have written to the database

    async def _sweep(self) -> bool:
        """Embed until no vector is missing. Returns whether memories were skipped."""
        skipped = False
        while True:
            begun = monotonic()
            try:
                if not await self._embed_next():
                    return skipped
                await asyncio.sleep(monotonic() - begun)
            except Exception as error:  # noqa: BLE001 - one text must not stop the others
                skipped = True
                pause_s = min(RETRY_S * 2.0 ** min(self._failures - 1, 10), _MAX_RETRY_S)
                _log.warning("vectors_put_off", error=type(error).__name__, pause_s=pause_s)
                await asyncio.sleep(pause_s)

    async def _embed_next(self) -> bool:
        """Embed the next memories; after a failure one by one, skipping those that fail. Returns whether
        there were any."""
        sql = """
            SELECT m.user_id, m.id, m.content FROM memories AS m
            WHERE m.id > $1 AND m.status = 'active' AND NOT EXISTS (
                SELECT 1 FROM memory_vectors AS known
                WHERE known.user_id = m.user_id AND known.memory_id = m.id AND known.model = $2
            )
            ORDER BY m.id LIMIT $3 /* channel */
        """
        async with self._one_at_a_time:
            size, start = 1 if self._failures else _BATCH, self._swept_to
            rows = await self._database.query(sql, start, self.embedder.name, size)
            missing = [_Unembedded(*row) for row in rows]
            if not missing:
                return False
            self._swept_to = missing[-1].id
            try:
                await self._embed(missing)
            except Exception:
                self._failures += 1
                if size > 1:
                    self._swept_to = min(self._swept_to, start)
                raise
            self._failures = 0
            return True

    async def _embed(self, missing: Sequence[_Unembedded]) -> None:
        vectors = await self._make_vectors([each.content for each in missing])
        await self._database.transaction(
            [
                Statement(PUT_VECTOR, (each.user_id, each.id, self.embedder.name, vector, each.content))
                for each, vector in zip(missing, vectors, strict=True)
            ],
            [user_lock(each.user_id) for each in missing],
        )

    async def _make_vectors(self, texts: Sequence[str]) -> Sequence[Vector]:
        """Embed texts; if the encoder refuses a batch, one by one."""
        try:
            return await self.embedder.embed(texts)
        except (ModelRefusedRequest, ContextTooLong):
            if len(texts) == 1:
                return [_NO_VECTOR]
            return [vector for text in texts for vector in await self._make_vectors([text])]


POOL: Final = 64  # candidates found by words
NEAREST: Final = 32  # candidates found only by their vectors
_MAX_TERMS: Final = 128  # the heaviest
_GREATEST_WEIGHT: Final = 1000  # integer weight of the heaviest term

# ruff: noqa: S608 - built only from constants

# A MemoryFilter: $4 category or NULL, $5 audience or NULL, $6 origin or NULL, $7 an array of folded tags
FILTERS: Final = """
    (CAST($4 AS TEXT) IS NULL OR category = $4)
    AND (CAST($5 AS TEXT) IS NULL OR audience = $5)
    AND (CAST($6 AS TEXT) IS NULL OR coalesce(@text_of(source, kind), '') = $6)
    AND ($7 = '[]' OR NOT EXISTS (
        SELECT 1 FROM @texts($7) AS wanted WHERE @position(search_tags, wanted.value) = 0
    ))
"""

# $1 user, $2 the audience besides 'anywhere', $3 now, $4 to $7 as FILTERS
_VISIBLE: Final = f"""
    user_id = $1 AND status = 'active' AND audience IN ('anywhere', $2)
    AND (expires_at IS NULL OR expires_at > $3) AND {FILTERS}
"""

# Uses memories_by_text. $1 user
_COUNT: Final = """
    SELECT count(*), CAST(coalesce(sum(term_count), 0) AS @number) FROM memories
    WHERE user_id = $1 AND status = 'active'
"""


_IS_WRITTEN: Final = """
    CASE WHEN @position(search_content || search_tags, $8) > 0
        OR $9 <> $8 AND @position(search_content || search_tags, $9) > 0 THEN 1 ELSE 0 END
"""
_CANDIDATE: Final = f"id, search_content || search_tags AS text, term_count, {_IS_WRITTEN} AS is_written"

# Uses memory_terms' key and memories_by_text. $1 to $7 as _VISIBLE, $8 and $9 the query, folded and as
# typed, $10 an array of [term, weight], $11 limit
_SELECT_BEST: Final = f"""
    WITH scores AS (
        SELECT memory_id, sum(@number_at(asked.value, 1)) AS score
        FROM @rows($10) AS asked
        @cross_join memory_terms ON memory_terms.user_id = $1 AND term = @number_at(asked.value, 0)
        GROUP BY memory_id
    )
    SELECT id, text, term_count, is_written FROM (
        SELECT {_CANDIDATE}, coalesce(score, 0) AS score
        FROM memories LEFT JOIN scores ON memory_id = id
        WHERE {_VISIBLE}
    ) AS candidates
    WHERE is_written = 1 OR score > 0
    ORDER BY is_written DESC, score DESC, id DESC LIMIT $11
"""

_SELECT_MEMORIES: Final = f"""
    SELECT {MEMORY.select} FROM memories WHERE user_id = $1 AND id IN @ids($2) AND status = 'active'
"""

# $1 to $7 as _VISIBLE, $8 limit
_SELECT_NEWEST: Final = f"SELECT {MEMORY.select} FROM memories WHERE {_VISIBLE} ORDER BY id DESC LIMIT $8"


class MemorySearch:
    def __init__(self, database: Database, clock: Clock, *, meaning: Meaning | None = None) -> None:
        self._database = database
        self._clock = clock
        self._meaning = meaning
        self._locks = WeakValueDictionary[int, asyncio.Lock]()
        """Per user: a hundred searches of one user must not delay others."""

    async def find(
        self, user_id: int, query: str, *, limit: int, audience: Audience, filters: Sequence[str | None]
    ) -> list[FoundMemory]:
        """Find memories as MemoryStore.find does. `filters`: the parameters of FILTERS."""
        if limit == 0:
            return []
        async with self._locks.setdefault(user_id, asyncio.Lock()):
            typed = without_controls(query).strip()
            visible = (user_id, audience, to_text(self._clock()), *filters)
            if not typed:
                newest = await self._database.query(_SELECT_NEWEST, *visible, limit)
                return [FoundMemory(MEMORY.read(row), confidence=1.0) for row in newest]
            parsed = await asyncio.to_thread(parse_query, typed)  # takes up to 20 ms, at first 0.2 s
            near = await self._meaning.get_nearness(user_id, typed) if self._meaning else {}
            return await self._database.read(lambda: _search(parsed, visible, typed, limit, near))


def _search(
    query: Query, visible: tuple[Any, ...], typed: str, limit: int, near: Mapping[int, float]
) -> Transaction[list[FoundMemory]]:
    """Rank the memories that contain the query as written, the best by words, and the nearest. `visible`:
    the parameters of _VISIBLE."""
    user_id, weights = visible[0], query.weights
    used = nlargest(_MAX_TERMS, weights, key=weights.__getitem__)
    terms = dict(zip(term_keys(used), used, strict=True))
    keys = json.dumps([*terms])
    [(documents, length)] = yield Statement(_COUNT, (user_id,))
    sql = """
        SELECT term, count(*) FROM memory_terms WHERE user_id = $1 AND term IN @ids($2) GROUP BY term
    """
    frequency = {terms[key]: count for key, count in (yield Statement(sql, (user_id, keys)))}
    statistics = Statistics(documents, length / max(documents, 1), frequency)
    whole = _integer_weights(terms, term_weight(query, statistics))
    shown = (*visible, query.folded, typed)
    rows: list[Row] = [*(yield Statement(_SELECT_BEST, (*shown, whole, max(POOL, limit))))]
    others = near.keys() - {row[0] for row in rows}
    select_near = f"SELECT {_CANDIDATE} FROM memories WHERE {_VISIBLE} AND id IN @ids($10)"
    if nearest := nlargest(max(NEAREST, limit), others, key=near.__getitem__):
        rows += yield Statement(select_near, (*shown, json.dumps(nearest)))
    occurrences: defaultdict[int, dict[str, int]] = defaultdict(dict)
    ids = json.dumps([row[0] for row in rows])
    # The plus makes SQLite use the primary key.
    select_terms = """
        SELECT memory_id, term, occurrences FROM memory_terms
        WHERE user_id = $1 AND +memory_id IN @ids($2) AND term IN @ids($3)
    """
    for memory_id, key, count in (yield Statement(select_terms, (user_id, ids, keys))):
        occurrences[memory_id][terms[key]] = count
    candidates = [
        # `rank` looks for the folded query, so add it to a text that contains the query as typed.
        Candidate(id_, f"{text}\n{query.folded}" if is_written else text, occurrences[id_], term_count)
        for id_, text, term_count, is_written in rows
    ]
    similarity = {note.id: near[note.id] for note in candidates if note.id in near}
    hits = rank(query, statistics, candidates, similarity=similarity or None)[:limit]
    chosen = yield Statement(_SELECT_MEMORIES, (user_id, json.dumps([hit.id for hit in hits])))
    memories = {memory.id: memory for memory in map(MEMORY.read, chosen)}
    return [FoundMemory(memories[hit.id], hit.confidence) for hit in hits]


def _integer_weights(terms: Mapping[int, str], weights: Mapping[str, float]) -> str:
    greatest = max((weights[term] for term in terms.values()), default=0.0)
    whole = (
        (key, weights[term] / greatest * _GREATEST_WEIGHT) for key, term in terms.items() if weights[term] > 0
    )
    return json.dumps([(key, max(round(weight), 1)) for key, weight in whole])
