"""The nearness of a user's memories to a query by what they mean.

`search.rank` takes what `nearness` gives: besides the candidates by words, the search reads the rows of the
nearest memories, under the same conditions (owner, status, audience), and shows none that it did not read.

The search by words never depends on it: where there is no encoder, no vector, or no answer in time, nothing
is near. A server that does not answer costs one search its patience, not each.
"""

import asyncio
from collections import OrderedDict
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from time import monotonic
from typing import Final, NamedTuple

import structlog

from cc_bot.domain.errors import ContextTooLong, ModelError, ModelRefusedRequest
from cc_bot.search.ranking import nearness
from cc_bot.search.vectors import Embedder, Vector, cosines
from cc_bot.storage import Database, Row, Statement, Steps, user

# $1 user, $2 model, $3 after which memory, $4 limit
_SELECT_VECTORS: Final = """
    SELECT memory_id, vector FROM memory_vectors
    WHERE user_id = $1 AND memory_id > $3 AND model = $2
    ORDER BY memory_id LIMIT $4
"""
_PAGE: Final = 2000
"""Vectors read at a time: some milliseconds of the one connection that everybody uses."""

# ---- meaning ---------------------------------------------------------------------------------------------

_PATIENCE_S: Final = 1.5
_PAUSE_S: Final = 30.0
_QUERIES: Final = 256
_LONGEST_QUERY: Final = 1000
"""Characters: what a longer one is about stands in these."""
_QUICK: Final = 256
"""So many vectors are compared in less time than another thread takes to begin."""

_log = structlog.get_logger(__name__)


class Meaning:
    """A comparison of queries with memories, by one encoder."""

    def __init__(self, database: Database, embedder: Embedder, *, patience_s: float = _PATIENCE_S) -> None:
        """Make a comparison. `patience_s` is how many seconds a search waits for its query's vector."""
        self._database = database
        self._embedder = embedder
        self._patience_s = patience_s
        self._known: OrderedDict[str, Vector] = OrderedDict()
        self._late: asyncio.Task[Vector] | None = None
        self._pause_ends = 0.0

    async def get_nearness(self, user_id: int, query: str) -> Mapping[int, float]:
        """Return the standard scores (see search.ranking) of the user's memories that have a vector.
        The caller checks that they may be shown."""
        found: dict[int, float] = {}
        vector: Vector | None = None
        while rows := await self._read_page(user_id, after=max(found, default=0)):
            if (vector := vector or await self._get_vector(query)) is None:
                return {}
            found |= await _compare(vector, rows)
            if len(rows) < _PAGE:
                break
        return nearness(found, query=query, usual=self._embedder.usual)

    async def close(self) -> None:
        if self._late:
            self._late.cancel()

    async def _read_page(self, user_id: int, *, after: int) -> Sequence[Row]:
        return await self._database.query(_SELECT_VECTORS, user_id, self._embedder.name, after, _PAGE)

    async def _get_vector(self, query: str) -> Vector | None:
        """Return the query's vector, or None where it is not there in time."""
        text = query.strip()[:_LONGEST_QUERY]
        if text in self._known:
            self._known.move_to_end(text)
            return self._known[text]
        clock = asyncio.get_running_loop().time
        if not text or clock() < self._pause_ends or (self._late and not self._late.done()):
            return None
        task = asyncio.create_task(self._embed(text))
        try:
            async with asyncio.timeout(self._patience_s):
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
        if len(self._known) > _QUERIES:
            self._known.popitem(last=False)
        return vector


async def _compare(query: Vector, rows: Sequence[Row]) -> dict[int, float]:
    """Return the cosines of memories; 0 for a text that the encoder refused, and for what is damaged."""
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
    """Let a late answer be kept for the next time; a late failure has been told of by the encoder."""
    if not task.cancelled():
        task.exception()


# ---- vector statements -----------------------------------------------------------------------------------
# SQL on the vectors of memories. Each names its user, but for the one that looks for what has none yet.

# $1 user, $2 memory, $3 model
SELECT_BARE: Final = """
    SELECT user_id, id, content FROM memories
    WHERE user_id = $1 AND id = $2 AND status = 'active' AND NOT EXISTS (
        SELECT 1 FROM memory_vectors AS known
        WHERE known.user_id = $1 AND known.memory_id = $2 AND known.model = $3
    )
"""

# A vector is stored for the text that it was made of, or not at all: it may have been changed meanwhile.
# $1 user, $2 memory, $3 model, $4 vector, $5 the text
PUT_VECTOR: Final = """
    INSERT INTO memory_vectors (user_id, memory_id, model, vector)
    SELECT $1, $2, $3, $4
    WHERE EXISTS (
        SELECT 1 FROM memories WHERE user_id = $1 AND id = $2 AND content = $5 AND status = 'active'
    )
    ON CONFLICT (user_id, memory_id) DO UPDATE SET model = excluded.model, vector = excluded.vector
"""

# Before the text becomes another. $1 user, $2 memory, $3 the new text
DROP_OUTDATED_VECTOR: Final = """
    DELETE FROM memory_vectors
    WHERE user_id = $1 AND memory_id = $2 AND EXISTS (
        SELECT 1 FROM memories WHERE user_id = $1 AND id = $2 AND content <> $3
    )
"""

# Of all users, since it is done for all of them: what lies between two ids and has no vector of this model.
# $1 and $2 the ids, the first not included; $3 model, $4 how many
SELECT_BARE_OF_ALL: Final = """
    SELECT m.user_id, m.id, m.content FROM memories AS m
    WHERE m.id > $1 AND m.id <= $2 AND m.status = 'active' AND NOT EXISTS (
        SELECT 1 FROM memory_vectors AS known
        WHERE known.user_id = m.user_id AND known.memory_id = m.id AND known.model = $3
    )
    ORDER BY m.id LIMIT $4 /* channel */
"""

SELECT_LAST_OF_ALL: Final = "SELECT coalesce(max(id), 0) FROM memories /* all users */"

# ---- embedding -------------------------------------------------------------------------------------------
# Every memory gets a vector, some time after it was written.
#
# One background task for all users. What is to be done is read from the database: a memory without a vector
# of this encoder. So nothing is lost when the program ends in between, another encoder's name makes them all
# anew, and what failed is found again. What was just written is done first, after a short while in which a
# burst of notes gathers; then the rest, some at a time and with rests, since nobody waits for it.
#
# A text that the encoder refuses gets an empty vector, which is near to nothing. A server that is down is
# tried again after ever longer pauses, note by note, so that one that breaks it does not stand before the
# others.

_BATCH: Final = 16
"""Notes at a time: a search that comes meanwhile waits for that many at most."""
_RANGE: Final = 2000
"""Ids that one statement looks through: few enough that others need not wait for it."""
_MOST_NOTED: Final = 10_000
_LONGEST_PAUSE_S: Final = 600.0
_MOST_DOUBLED: Final = 10
_SWEEP_EVERY_S: Final = 3600.0
_NONE: Final = Vector(b"")


class _Note(NamedTuple):
    user_id: int
    id: int
    content: str


class Embedding:
    """The making of vectors that are missing. `running` does so in the background, `catch_up` at once."""

    def __init__(
        self, database: Database, embedder: Embedder, *, settle_s: float = 1.0, pause_s: float = 5.0
    ) -> None:
        """Make it. Seconds: how long it waits after a note was written, and after a first failure."""
        self.embedder = embedder
        self._database = database
        self._settle_s = settle_s
        self._pause_s = pause_s
        self._noted: dict[tuple[int, int], None] = {}
        self._swept_to = 0
        self._failures = 0
        self._woken = asyncio.Event()
        self._one_at_a_time = asyncio.Lock()

    def note_written(self, user_id: int, memory_id: int) -> None:
        """Note that this memory was written just now. Returns at once."""
        if len(self._noted) < _MOST_NOTED:
            self._noted[user_id, memory_id] = None
        else:
            self._swept_to = 0
        self._woken.set()

    async def catch_up(self) -> None:
        """Wait until all that is stored now has its vector. Raises a ModelError or StorageError."""
        self._swept_to = 0
        while await self._step():
            pass

    @asynccontextmanager
    async def running(self) -> AsyncIterator[None]:
        task = asyncio.create_task(self._run())
        try:
            yield
        finally:
            task.cancel()
            await asyncio.gather(task, return_exceptions=True)

    async def _run(self) -> None:
        while True:
            await asyncio.sleep(self._settle_s)
            self._woken.clear()
            await self._work()
            try:
                async with asyncio.timeout(_SWEEP_EVERY_S):
                    await self._woken.wait()
            except TimeoutError:
                self._swept_to = 0  # another program may have written to the same database

    async def _work(self) -> None:
        """Step by step until nothing is missing, resting as long as each took; longer after a failure."""
        while True:
            begun = monotonic()
            try:
                if not await self._step():
                    return
            except Exception as error:  # noqa: BLE001 - whatever one text does to an encoder, the rest goes on
                pause_s = min(self._pause_s * 2.0 ** min(self._failures - 1, _MOST_DOUBLED), _LONGEST_PAUSE_S)
                _log.warning("vectors_put_off", error=type(error).__name__, pause_s=pause_s)
                await asyncio.sleep(pause_s)
            else:
                await asyncio.sleep(monotonic() - begun)

    async def _step(self) -> bool:
        """Embed some notes; whether there may be more."""
        async with self._one_at_a_time:
            notes = await self._read_noted() if self._noted else await self._read_swept()
            if notes is None:
                return False
            try:
                await self._embed(notes)
            except Exception:
                self._failures += 1
                for note in notes:
                    self.note_written(note.user_id, note.id)
                raise
            if notes:
                self._failures = 0
            return True

    @property
    def _batch(self) -> int:
        return 1 if self._failures else _BATCH

    async def _read_noted(self) -> Sequence[_Note]:
        keys = list(self._noted)[: self._batch]

        def steps() -> Steps[list[_Note]]:
            notes = list[_Note]()
            for key in keys:
                rows = yield Statement(SELECT_BARE, (*key, self.embedder.name))
                notes += (_Note(*row) for row in rows)
            return notes

        notes = await self._database.read(steps)
        for key in keys:
            self._noted.pop(key, None)
        return notes

    async def _read_swept(self) -> Sequence[_Note] | None:
        """Return the next ones that lack a vector, however old; None after the last."""
        [(last,)] = await self._database.query(SELECT_LAST_OF_ALL)
        while self._swept_to < last:
            end = min(self._swept_to + _RANGE, last)
            rows = await self._database.query(
                SELECT_BARE_OF_ALL, self._swept_to, end, self.embedder.name, self._batch
            )
            notes = [_Note(*row) for row in rows]
            self._swept_to = notes[-1].id if len(notes) == self._batch else end
            if notes:
                return notes
        return None

    async def _embed(self, notes: Sequence[_Note]) -> None:
        vectors = await self._make_vectors([note.content for note in notes])
        await self._database.transaction(
            [
                Statement(PUT_VECTOR, (note.user_id, note.id, self.embedder.name, vector, note.content))
                for note, vector in zip(notes, vectors, strict=True)
            ],
            [user(note.user_id) for note in notes],
        )

    async def _make_vectors(self, texts: Sequence[str]) -> Sequence[Vector]:
        """Make a vector for each text. Texts that are refused together are tried alone."""
        try:
            return await self.embedder.embed(texts) if texts else []
        except (ModelRefusedRequest, ContextTooLong):
            if len(texts) == 1:
                return [_NONE]
            return [vector for text in texts for vector in await self._make_vectors([text])]
