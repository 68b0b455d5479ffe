"""Embedding vectors of memories, and their similarity to a query.

A search adds the most similar memories to its keyword candidates. It uses keywords alone if there are no
vectors, or if the encoder does not answer in time; then it is not called for a while.
"""

import asyncio
from collections import OrderedDict
from collections.abc import Mapping, Sequence
from time import monotonic
from typing import Final, NamedTuple

import structlog

from cc_bot.domain.errors import ContextTooLong, ModelError, ModelRefusedRequest
from cc_bot.search.vectors import Embedder, Vector, cosines, nearness
from cc_bot.storage import Database, Row, Statement, user

# $1 user, $2 model, $3 after this memory, $4 limit
_SELECT_VECTORS: Final = """
    SELECT memory_id, vector FROM memory_vectors
    WHERE user_id = $1 AND memory_id > $3 AND model = $2
    ORDER BY memory_id LIMIT $4
"""
_PAGE: Final = 2000
_TIMEOUT_S: Final = 1.5
_PAUSE_S: Final = 30.0
_MAX_CACHED_QUERIES: Final = 256
_MAX_QUERY_CHARACTERS: Final = 1000
_QUICK: Final = 256
"""Comparing so many vectors is faster than starting a thread."""

_log = structlog.get_logger(__name__)


class Meaning:
    def __init__(self, database: Database, embedder: Embedder, *, timeout_s: float = _TIMEOUT_S) -> None:
        """`timeout_s`: how long a search waits for its query's vector."""
        self._database = database
        self._embedder = embedder
        self._timeout_s = timeout_s
        self._known: OrderedDict[str, Vector] = OrderedDict()
        self._late: asyncio.Task[Vector] | None = None
        self._pause_ends = 0.0

    async def get_nearness(self, user_id: int, query: str) -> Mapping[int, float]:
        """Return standard scores (see search.vectors) of the user's memories that have a vector."""
        found: dict[int, float] = {}
        vector: Vector | None = None
        known = (user_id, self._embedder.name)
        while rows := await self._database.query(_SELECT_VECTORS, *known, max(found, default=0), _PAGE):
            if (vector := vector or await self._get_vector(query)) is None:
                return {}
            found |= await _compare(vector, rows)
            if len(rows) < _PAGE:
                break
        return nearness(found, query=query, usual=self._embedder.usual)

    async def _get_vector(self, query: str) -> Vector | None:
        """None if it is not ready in time."""
        text = query.strip()[:_MAX_QUERY_CHARACTERS]
        if text in self._known:
            self._known.move_to_end(text)
            return self._known[text]
        clock = asyncio.get_running_loop().time
        if not text or clock() < self._pause_ends or (self._late and not self._late.done()):
            return None
        task = asyncio.create_task(self._embed(text))
        try:
            async with asyncio.timeout(self._timeout_s):
                return await asyncio.shield(task)
        except TimeoutError:
            _log.info("query_not_embedded", problem="too_late")
        except ModelError as error:
            self._pause_ends = clock() + _PAUSE_S
            _log.info("query_not_embedded", problem=type(error).__name__)
        finally:
            if not task.done():
                self._late = task
                task.add_done_callback(_pass_over_failure)
        return None

    async def _embed(self, text: str) -> Vector:
        [vector] = await self._embedder.embed([text])
        self._known[text] = vector
        if len(self._known) > _MAX_CACHED_QUERIES:
            self._known.popitem(last=False)
        return vector


async def _compare(query: Vector, rows: Sequence[Row]) -> dict[int, float]:
    """0 for texts that the encoder refused, and for damaged vectors."""
    whole = [(memory, vector) for memory, vector in rows if len(vector) == len(query)]
    others = [vector for _, vector in whole]
    if len(others) <= _QUICK:
        values = cosines(query, others)
    else:
        values = await asyncio.to_thread(cosines, query, others)
    found = dict.fromkeys((memory for memory, _ in rows), 0.0)
    found.update(zip((memory for memory, _ in whole), values, strict=True))
    return found


def _pass_over_failure(task: asyncio.Task[Vector]) -> None:
    """A late answer is cached for next time; the encoder has logged a late failure."""
    if not task.cancelled():
        task.exception()


# Only if the text is still the one that the vector was made from. $1 user, $2 memory, $3 model, $4 vector, $5
# the text
PUT_VECTOR: Final = """
    INSERT INTO memory_vectors (user_id, memory_id, model, vector)
    SELECT $1, $2, $3, $4
    WHERE EXISTS (
        SELECT 1 FROM memories WHERE user_id = $1 AND id = $2 AND content = $5 AND status = 'active'
    )
    ON CONFLICT (user_id, memory_id) DO UPDATE SET model = excluded.model, vector = excluded.vector
"""

# All users' memories without a vector of this model. $1, $2 range of ids, excluding $1; $3 model, $4 limit
SELECT_MISSING: Final = """
    SELECT m.user_id, m.id, m.content FROM memories AS m
    WHERE m.id > $1 AND m.id <= $2 AND m.status = 'active' AND NOT EXISTS (
        SELECT 1 FROM memory_vectors AS known
        WHERE known.user_id = m.user_id AND known.memory_id = m.id AND known.model = $3
    )
    ORDER BY m.id LIMIT $4 /* channel */
"""

_SELECT_LAST: Final = "SELECT coalesce(max(id), 0) FROM memories /* all users */"

_BATCH: Final = 16
"""Memories per batch; a search waits for one at most."""
_RANGE: Final = 2000
_MAX_PAUSE_S: Final = 600.0
_SWEEP_EVERY_S: Final = 3600.0
_NO_VECTOR: Final = Vector(b"")
"""For texts that the encoder refuses: similar to nothing."""


class _Missing(NamedTuple):
    user_id: int
    id: int
    content: str


class Embedding:
    """Creates missing vectors: `run` in the background, `catch_up` at once.

    The database shows which are missing, so nothing is lost at exit, and a new encoder replaces all vectors.
    """

    def __init__(
        self, database: Database, embedder: Embedder, *, settle_s: float = 1.0, pause_s: float = 5.0
    ) -> None:
        """Seconds to wait after a memory was written, and after a first failure."""
        self.embedder = embedder
        self._database = database
        self._settle_s = settle_s
        self._pause_s = pause_s
        self._swept_to = 0
        """Memories up to this id have vectors, except skipped ones."""
        self._failures = 0
        self._woken = asyncio.Event()
        self._one_at_a_time = asyncio.Lock()

    def note_written(self, memory_id: int) -> None:
        self._swept_to = min(self._swept_to, memory_id - 1)
        self._woken.set()

    async def catch_up(self) -> None:
        """Wait until all memories have vectors. Raises a ModelError or StorageError."""
        self._swept_to = 0
        while await self._embed_next():
            pass

    async def run(self) -> None:
        while True:
            await asyncio.sleep(self._settle_s)
            self._woken.clear()
            skipped = await self._sweep()
            try:
                async with asyncio.timeout(self._pause_s if skipped else _SWEEP_EVERY_S):
                    await self._woken.wait()
            except TimeoutError:
                self._swept_to = 0  # another program may have written to the same database

    async def _sweep(self) -> bool:
        """Embed until nothing is missing, with pauses. Returns whether memories were skipped."""
        skipped = False
        while True:
            begun = monotonic()
            try:
                if not await self._embed_next():
                    return skipped
                await asyncio.sleep(monotonic() - begun)
            except Exception as error:  # noqa: BLE001 - whatever one text does to an encoder, the rest goes on
                skipped = True
                pause_s = min(self._pause_s * 2.0 ** min(self._failures - 1, 10), _MAX_PAUSE_S)
                _log.warning("vectors_put_off", error=type(error).__name__, pause_s=pause_s)
                await asyncio.sleep(pause_s)

    async def _embed_next(self) -> bool:
        """Embed the next memories, if any; one by one after a failure. One that fails alone is skipped."""
        async with self._one_at_a_time:
            size, start = 1 if self._failures else _BATCH, self._swept_to
            missing = await self._find_missing(size)
            if not missing:
                return False
            try:
                await self._embed(missing)
            except Exception:
                self._failures += 1
                if size > 1:
                    self._swept_to = min(self._swept_to, start)
                raise
            self._failures = 0
            return True

    async def _find_missing(self, size: int) -> Sequence[_Missing]:
        [(last,)] = await self._database.query(_SELECT_LAST)
        while self._swept_to < last:
            end = min(self._swept_to + _RANGE, last)
            rows = await self._database.query(SELECT_MISSING, self._swept_to, end, self.embedder.name, size)
            missing = [_Missing(*row) for row in rows]
            self._swept_to = missing[-1].id if len(missing) == size else end
            if missing:
                return missing
        return ()

    async def _embed(self, missing: Sequence[_Missing]) -> None:
        vectors = await self._make_vectors([each.content for each in missing])
        await self._database.transaction(
            [
                Statement(PUT_VECTOR, (each.user_id, each.id, self.embedder.name, vector, each.content))
                for each, vector in zip(missing, vectors, strict=True)
            ],
            [user(each.user_id) for each in missing],
        )

    async def _make_vectors(self, texts: Sequence[str]) -> Sequence[Vector]:
        """Texts refused as a batch are retried singly."""
        try:
            return await self.embedder.embed(texts)
        except (ModelRefusedRequest, ContextTooLong):
            if len(texts) == 1:
                return [_NO_VECTOR]
            return [vector for text in texts for vector in await self._make_vectors([text])]
