"""Searches a user's memories by words and vectors, and makes the vectors in the background.

The database selects the memories with the greatest sums of term weights, those that contain the query as
written, and those with the nearest vectors; `rank` orders these candidates. Without vectors, or if the
encoder fails or is late, only words count.
"""

import asyncio
import json
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from heapq import nlargest
from time import monotonic
from typing import Any, Final, NamedTuple
from weakref import WeakValueDictionary

import structlog

from cc_bot.db import Database, Row, Statement, Transaction, user_lock
from cc_bot.db.columns import to_text
from cc_bot.domain.clock import Clock
from cc_bot.domain.errors import ContextTooLong, ModelError, ModelRefusedRequest
from cc_bot.domain.text import remove_controls
from cc_bot.features.memory.model import Audience, FoundMemory
from cc_bot.features.memory.search.ranking import Candidate, Statistics, rank, weigh_terms
from cc_bot.features.memory.search.terms import Query, parse_query
from cc_bot.features.memory.search.vectors import Embedder, Vector, compute_cosines, score_nearness
from cc_bot.features.memory.stores.rows import MEMORY, term_keys

_PAGE: Final = 2000  # vectors per query
TIMEOUT_S: Final = 1.5  # for the vector of a query
BACKOFF_S: Final = 10.0  # after the encoder failed or was late
_MAX_QUERY_CHARACTERS: Final = 1000
_MAX_COMPARED_INLINE: Final = 256  # vectors; comparing so few is faster than starting a thread

_log = structlog.get_logger(__name__)


class VectorSearch:
    def __init__(self, database: Database, embedder: Embedder) -> None:
        self._database = database
        self._embedder = embedder
        self._backoff_ends = 0.0

    async def get_nearness(self, user_id: int, query: str) -> Mapping[int, float]:
        """Return, by id, the nearness (see search/vectors.py) of the user's memories that have a vector."""
        all_cosines: dict[int, float] = {}
        vector: Vector | None = None
        key = (user_id, self._embedder.name)
        sql = """
            SELECT memory_id, vector FROM memory_vectors
            WHERE user_id = $1 AND memory_id > $3 AND model = $2
            ORDER BY memory_id LIMIT $4
        """
        while rows := await self._database.query(sql, *key, max(all_cosines, default=0), _PAGE):
            if (vector := vector or await self._embed_query(query)) is None:
                return {}
            ids, vectors = zip(*rows, strict=True)
            if len(vectors) <= _MAX_COMPARED_INLINE:
                cosines = compute_cosines(vector, vectors)
            else:
                cosines = await asyncio.to_thread(compute_cosines, vector, vectors)
            all_cosines.update(zip(ids, cosines, strict=True))
            if len(rows) < _PAGE:
                break
        return score_nearness(all_cosines, query=query, unrelated=self._embedder.unrelated)

    async def _embed_query(self, query: str) -> Vector | None:
        """Return the query's vector; None if the encoder fails or is late, or did so within BACKOFF_S."""
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


# Stores nothing if the memory's text has changed. $1 user, $2 memory, $3 model, $4 vector, $5 embedded text
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
_NO_VECTOR: Final = Vector(b"")  # of a text that the encoder refuses; all cosines with this vector are 0


class _UnembeddedMemory(NamedTuple):
    user_id: int
    id: int
    content: str


class EmbeddingJob:
    """Makes missing vectors: `run` in the background, `catch_up` at once.

    A query finds the missing vectors, so an exit loses none. After a change of encoder all are missing.
    """

    def __init__(self, database: Database, embedder: Embedder) -> None:
        self.embedder = embedder
        self._database = database
        self._last_id = 0  # memories up to this id have vectors or were skipped
        self._failures = 0  # in a row
        self._wake_event = asyncio.Event()
        self._lock = asyncio.Lock()

    def schedule(self, memory_id: int) -> None:
        self._last_id = min(self._last_id, memory_id - 1)
        self._wake_event.set()

    async def catch_up(self) -> None:
        """Wait until all memories have vectors. Raises ModelError or StorageError."""
        self._last_id = 0
        while await self._embed_next():
            pass

    async def run(self) -> None:
        while True:
            await asyncio.sleep(DEBOUNCE_S)
            self._wake_event.clear()
            skipped = await self._sweep()
            try:
                async with asyncio.timeout(RETRY_S if skipped else _SWEEP_EVERY_S):
                    await self._wake_event.wait()
            except TimeoutError:
                self._last_id = 0  # another program may have written to the database

    async def _sweep(self) -> bool:
        """Embed until no vector is missing. Returns whether memories were skipped after a failure."""
        skipped = False
        while True:
            started_at = monotonic()
            try:
                if not await self._embed_next():
                    return skipped
                await asyncio.sleep(monotonic() - started_at)
            except Exception as error:  # noqa: BLE001 - one text must not stop the others
                skipped = True
                pause_s = min(RETRY_S * 2.0 ** min(self._failures - 1, 10), _MAX_RETRY_S)
                _log.warning("vectors_put_off", error=type(error).__name__, pause_s=pause_s)
                await asyncio.sleep(pause_s)

    async def _embed_next(self) -> bool:
        """Embed the next memories; after a failure a single memory, which is skipped if it fails. Returns
        False if no vector is missing."""
        sql = """
            SELECT m.user_id, m.id, m.content FROM memories AS m
            WHERE m.id > $1 AND m.status = 'active' AND NOT EXISTS (
                SELECT 1 FROM memory_vectors AS known
                WHERE known.user_id = m.user_id AND known.memory_id = m.id AND known.model = $2
            )
            ORDER BY m.id LIMIT $3 /* scope: channel */
        """
        async with self._lock:
            size, start = 1 if self._failures else _BATCH, self._last_id
            rows = await self._database.query(sql, start, self.embedder.name, size)
            missing = [_UnembeddedMemory(*row) for row in rows]
            if not missing:
                return False
            self._last_id = missing[-1].id
            try:
                await self._embed(missing)
            except Exception:
                self._failures += 1
                if size > 1:
                    self._last_id = min(self._last_id, start)
                raise
            self._failures = 0
            return True

    async def _embed(self, missing: Sequence[_UnembeddedMemory]) -> None:
        vectors = await self._make_vectors([each.content for each in missing])
        await self._database.transaction(
            [
                Statement(PUT_VECTOR, (each.user_id, each.id, self.embedder.name, vector, each.content))
                for each, vector in zip(missing, vectors, strict=True)
            ],
            [user_lock(each.user_id) for each in missing],
        )

    async def _make_vectors(self, texts: Sequence[str]) -> Sequence[Vector]:
        """Embed texts. If the encoder refuses a batch, embed each text alone."""
        try:
            return await self.embedder.embed(texts)
        except (ModelRefusedRequest, ContextTooLong):
            if len(texts) == 1:
                return [_NO_VECTOR]
            return [vector for text in texts for vector in await self._make_vectors([text])]


MAX_WORD_HITS: Final = 64  # candidates found by words
MAX_VECTOR_HITS: Final = 32  # candidates found only by their vectors
_MAX_TERMS: Final = 128  # per query
_MAX_INTEGER_WEIGHT: Final = 1000

# ruff: noqa: S608 - built only from constants

# A MemoryFilter's conditions: $4 category, $5 audience and $6 source kind (or NULL), $7 array of folded tags
FILTER_SQL: Final = """
    (CAST($4 AS TEXT) IS NULL OR category = $4)
    AND (CAST($5 AS TEXT) IS NULL OR audience = $5)
    AND (CAST($6 AS TEXT) IS NULL OR coalesce(@text_of(source, kind), '') = $6)
    AND ($7 = '[]' OR NOT EXISTS (
        SELECT 1 FROM @texts($7) AS wanted WHERE @position(search_tags, wanted.value) = 0
    ))
"""

# $1 user, $2 the audience besides 'anywhere', $3 now, $4 to $7 as FILTER_SQL
_VISIBLE_SQL: Final = f"""
    user_id = $1 AND status = 'active' AND audience IN ('anywhere', $2)
    AND (expires_at IS NULL OR expires_at > $3) AND {FILTER_SQL}
"""

# $1 user
_COUNT_TERMS: Final = """
    SELECT count(*), CAST(coalesce(sum(term_count), 0) AS @number) FROM memories
    WHERE user_id = $1 AND status = 'active'
"""

# $8 and $9 the query, folded and as typed
_CONTAINS_QUERY_SQL: Final = """
    CASE WHEN @position(search_content || search_tags, $8) > 0
        OR $9 <> $8 AND @position(search_content || search_tags, $9) > 0 THEN 1 ELSE 0 END
"""
_CANDIDATE_COLUMNS: Final = f"""
    id, search_content || search_tags AS text, term_count, {_CONTAINS_QUERY_SQL} AS contains_query
"""

# $1 to $7 as _VISIBLE_SQL, $8 and $9 as _CONTAINS_QUERY_SQL, $10 an array of [term, weight], $11 limit. Uses
# the primary key of memory_terms and the index memories_by_text.
_SELECT_BEST: Final = f"""
    WITH scores AS (
        SELECT memory_id, sum(@number_at(asked.value, 1)) AS score
        FROM @rows($10) AS asked
        @cross_join memory_terms ON memory_terms.user_id = $1 AND term = @number_at(asked.value, 0)
        GROUP BY memory_id
    )
    SELECT id, text, term_count, contains_query FROM (
        SELECT {_CANDIDATE_COLUMNS}, coalesce(score, 0) AS score
        FROM memories LEFT JOIN scores ON memory_id = id
        WHERE {_VISIBLE_SQL}
    ) AS candidates
    WHERE contains_query = 1 OR score > 0
    ORDER BY contains_query DESC, score DESC, id DESC LIMIT $11
"""

_SELECT_MEMORIES: Final = f"""
    SELECT {MEMORY.select} FROM memories WHERE user_id = $1 AND id IN @ids($2) AND status = 'active'
"""

# $1 to $7 as _VISIBLE_SQL, $8 limit
_SELECT_NEWEST: Final = f"SELECT {MEMORY.select} FROM memories WHERE {_VISIBLE_SQL} ORDER BY id DESC LIMIT $8"


class MemorySearch:
    def __init__(self, database: Database, clock: Clock, *, vectors: VectorSearch | None = None) -> None:
        self._database = database
        self._clock = clock
        self._vectors = vectors
        self._locks = WeakValueDictionary[int, asyncio.Lock]()  # by user, whose searches wait in line

    async def find(
        self, user_id: int, query: str, *, limit: int, audience: Audience, filter_params: Sequence[str | None]
    ) -> list[FoundMemory]:
        if limit == 0:
            return []
        async with self._locks.setdefault(user_id, asyncio.Lock()):
            typed = remove_controls(query).strip()
            visible_params = (user_id, audience, to_text(self._clock()), *filter_params)
            if not typed:
                newest = await self._database.query(_SELECT_NEWEST, *visible_params, limit)
                return [FoundMemory(MEMORY.read(row), confidence=1.0) for row in newest]
            parsed = await asyncio.to_thread(parse_query, typed)  # takes up to 20 ms, the first time 0.2 s
            nearness = await self._vectors.get_nearness(user_id, typed) if self._vectors else {}
            search = _Search(parsed, typed, visible_params, limit, nearness)
            return await self._database.read(search.run)


@dataclass(frozen=True, slots=True)
class _Search:
    query: Query
    typed: str  # the query as the user wrote it
    visible_params: tuple[Any, ...]  # of _VISIBLE_SQL
    limit: int
    nearness: Mapping[int, float]

    def run(self) -> Transaction[list[FoundMemory]]:
        user_id, weights = self.visible_params[0], self.query.weights
        heaviest = nlargest(_MAX_TERMS, weights, key=weights.__getitem__)
        terms = dict(zip(term_keys(heaviest), heaviest, strict=True))  # by key
        statistics = yield from _read_statistics(user_id, terms)
        integer_weights = _integer_weights(terms, weigh_terms(self.query, statistics))
        rows = yield from self._select_candidates(integer_weights)
        counts = yield from _read_term_counts(user_id, [row[0] for row in rows], terms)
        candidates = [
            # `rank` looks for the folded query only, which a text with the query as typed may not contain.
            Candidate(id_, f"{text}\n{self.query.folded}" if contains_query else text, counts[id_], length)
            for id_, text, length, contains_query in rows
        ]
        similarity = {each.id: self.nearness[each.id] for each in candidates if each.id in self.nearness}
        hits = rank(self.query, statistics, candidates, similarity=similarity or None)[: self.limit]
        found = yield Statement(_SELECT_MEMORIES, (user_id, json.dumps([hit.id for hit in hits])))
        memories = {memory.id: memory for memory in map(MEMORY.read, found)}
        return [FoundMemory(memories[hit.id], hit.confidence) for hit in hits]

    def _select_candidates(self, integer_weights: str) -> Transaction[list[Row]]:
        params = (*self.visible_params, self.query.folded, self.typed)
        best_params = (*params, integer_weights, max(MAX_WORD_HITS, self.limit))
        rows: list[Row] = [*(yield Statement(_SELECT_BEST, best_params))]
        others = self.nearness.keys() - {row[0] for row in rows}
        nearest = nlargest(max(MAX_VECTOR_HITS, self.limit), others, key=self.nearness.__getitem__)
        if nearest:
            select = f"SELECT {_CANDIDATE_COLUMNS} FROM memories WHERE {_VISIBLE_SQL} AND id IN @ids($10)"
            rows += yield Statement(select, (*params, json.dumps(nearest)))
        return rows


def _read_statistics(user_id: int, terms: Mapping[int, str]) -> Transaction[Statistics]:
    [(note_count, total_length)] = yield Statement(_COUNT_TERMS, (user_id,))
    sql = "SELECT term, count(*) FROM memory_terms WHERE user_id = $1 AND term IN @ids($2) GROUP BY term"
    rows = yield Statement(sql, (user_id, json.dumps([*terms])))
    frequency = {terms[key]: count for key, count in rows}
    return Statistics(note_count, total_length / max(note_count, 1), frequency)


def _read_term_counts(
    user_id: int, memory_ids: Sequence[int], terms: Mapping[int, str]
) -> Transaction[Mapping[int, Mapping[str, int]]]:
    # The plus makes SQLite use the primary key, not the index memory_terms_by_memory.
    sql = """
        SELECT memory_id, term, occurrences FROM memory_terms
        WHERE user_id = $1 AND +memory_id IN @ids($2) AND term IN @ids($3)
    """
    counts: defaultdict[int, dict[str, int]] = defaultdict(dict)
    params = (user_id, json.dumps(memory_ids), json.dumps([*terms]))
    for memory_id, key, occurrences in (yield Statement(sql, params)):
        counts[memory_id][terms[key]] = occurrences
    return counts


def _integer_weights(terms: Mapping[int, str], weights: Mapping[str, float]) -> str:
    """Return a JSON list of [term key, weight]."""
    greatest = max((weights[term] for term in terms.values()), default=0.0) or 1.0
    scaled = {key: weights[term] / greatest * _MAX_INTEGER_WEIGHT for key, term in terms.items()}
    return json.dumps([(key, max(round(weight), 1)) for key, weight in scaled.items() if weight > 0])
