"""How near a user's memories are to a query by what they mean.

`search.rank` takes what `nearness` gives: besides the candidates by words, the search reads the rows of the
nearest memories, under the same conditions (owner, status, audience), and shows none that it did not read.

The search by words never depends on it: where there is no encoder, no vector, or no answer in time, nothing
is near. A server that does not answer costs one search its patience, not each.
"""

import asyncio
from collections import OrderedDict
from collections.abc import Callable, Mapping, Sequence
from heapq import nlargest
from typing import Final

import structlog

from cc_bot.domain.errors import ModelError
from cc_bot.search.embedder import Embedder
from cc_bot.search.fusion import nearness
from cc_bot.search.sketches import nearest
from cc_bot.search.vectors import Vector, cosines
from cc_bot.storage import Database, Row
from cc_bot.stores.sketches import CROWD, Crowd, crowd_of, more_of, vectors_of

_PATIENCE_S: Final = 1.5
_PAUSE_S: Final = 30.0
_QUERIES: Final = 256
_LONGEST_QUERY: Final = 1000
"""Characters: what a longer one is about stands in these."""
_NEAREST: Final = 512
_SAMPLE: Final = 128
_QUICK: Final = 256
"""So many vectors are compared in less time than another thread takes to begin."""

_log = structlog.get_logger(__name__)


class Meaning:
    """Compares queries with memories, by one encoder."""

    def __init__(
        self,
        database: Database,
        embedder: Embedder,
        *,
        patience_s: float = _PATIENCE_S,
        crowded: Callable[[int], None] | None = None,
    ) -> None:
        """`patience_s` is how many seconds a search waits for its query's vector; `crowded` is told of users
        for whom there was much to read."""
        self._database = database
        self._embedder = embedder
        self._patience_s = patience_s
        self._crowded = crowded
        self._known: OrderedDict[str, Vector] = OrderedDict()
        self._late: asyncio.Task[Vector] | None = None
        self._pause_ends = 0.0

    async def nearness(self, user_id: int, query: str) -> Mapping[int, float]:
        """The standard scores (see search.fusion) of the user's memories that have a vector; of very many, of
        the nearest ones. Whoever shows them sees to it that they are to be shown."""
        crowd = await self._database.read(lambda: crowd_of(user_id, self._embedder.name))
        if not (crowd.loose or crowd.bits) or (vector := await self._vector(query)) is None:
            return {}
        found, others = await self._among_sketches(user_id, vector, crowd)
        found |= await self._in_full(user_id, vector, crowd)
        if len(found) > CROWD:
            others = others or list(found.values())
            found = {memory: found[memory] for memory in nlargest(_NEAREST, found, key=found.__getitem__)}
        return nearness(found, others or None, query=query, usual=self._embedder.usual)

    async def close(self) -> None:
        if self._late:
            self._late.cancel()

    async def _among_sketches(
        self, user_id: int, vector: Vector, crowd: Crowd
    ) -> tuple[dict[int, float], list[float]]:
        """Cosines of the nearest, and of some others, which tell what is usual."""
        if not crowd.bits:
            return {}, []
        places = await asyncio.to_thread(nearest, vector, crowd.bits, _NEAREST)
        near = {crowd.memory_at(row, place) for row, place in places}
        some = crowd.some_memories(_SAMPLE)
        model, ids = self._embedder.name, sorted(near.union(some))
        rows = await self._database.read(lambda: vectors_of(user_id, model, ids))
        cosines = await _compare(vector, rows)
        return (
            {memory: cosine for memory, cosine in cosines.items() if memory in near},
            [cosines[memory] for memory in some if memory in cosines],
        )

    async def _in_full(self, user_id: int, vector: Vector, crowd: Crowd) -> dict[int, float]:
        """Cosines of all that is in no sketch."""
        if len(crowd.loose) >= CROWD and self._crowded:
            self._crowded(user_id)
        found = await _compare(vector, crowd.loose)
        unread = crowd.unread
        while unread:
            more = more_of(user_id, self._embedder.name, unread)
            rows = await self._database.query(more.sql, *more.params)
            found |= await _compare(vector, rows)
            unread = rows[-1][0] if len(rows) == CROWD else 0
        return found

    async def _vector(self, query: str) -> Vector | None:
        """The query's, or None where it is not there in time."""
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
                task.add_done_callback(_heard)
        return None

    async def _embed(self, text: str) -> Vector:
        [vector] = await self._embedder.embed([text])
        self._known[text] = vector
        if len(self._known) > _QUERIES:
            self._known.popitem(last=False)
        return vector


async def _compare(query: Vector, rows: Sequence[Row]) -> dict[int, float]:
    """The cosines of memories; 0 for a text that the encoder refused, and for what is damaged."""
    whole = [(memory, vector) for memory, vector in rows if len(vector) == len(query)]
    others = [vector for _, vector in whole]
    if len(others) <= _QUICK:
        values = cosines(query, others)
    else:
        values = await asyncio.to_thread(cosines, query, others)
    found = dict.fromkeys((memory for memory, _ in rows), 0.0)
    found.update(zip((memory for memory, _ in whole), values, strict=True))
    return found


def _heard(task: asyncio.Task[Vector]) -> None:
    """A late answer is kept for the next time; a late failure has been told of by the encoder."""
    if not task.cancelled():
        task.exception()
