"""Every memory gets a vector, some time after it was written.

One background task for all users. What is to be done is read from the database: a memory without a vector of
this encoder. So nothing is lost when the program ends in between, another encoder's name makes them all anew,
and what failed is found again. What was just written is done first, after a short while in which a burst of
notes gathers; then the rest, some at a time and with rests, since nobody waits for it.

A text that the encoder refuses gets an empty vector, which is near to nothing. A server that is down is tried
again after ever longer pauses, note by note, so that one that breaks it does not stand before the others.
"""

import asyncio
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from time import monotonic
from typing import Final, NamedTuple

import structlog

from cc_bot.domain.errors import ContextTooLong, ModelRefusedRequest
from cc_bot.search.embedder import Embedder
from cc_bot.search.vectors import Vector
from cc_bot.storage import Database, Statement
from cc_bot.stores import vector_statements as sql
from cc_bot.stores.sketches import make_sketches

_BATCH: Final = 16
"""Notes at a time: a search that comes meanwhile waits for that many at most."""
_RANGE: Final = 2000
"""Ids that one statement looks through: few enough that others need not wait for it."""
_MOST_NOTED: Final = 10_000
_LONGEST_PAUSE_S: Final = 600.0
_MOST_DOUBLED: Final = 10
_SWEEP_EVERY_S: Final = 3600.0
_NONE: Final = Vector(b"")

_log = structlog.get_logger(__name__)


class _Note(NamedTuple):
    user_id: int
    id: int
    content: str


class Embedding:
    """Makes the vectors that are missing. `running` does so in the background, `catch_up` at once."""

    def __init__(
        self, database: Database, embedder: Embedder, *, settle_s: float = 1.0, pause_s: float = 5.0
    ) -> None:
        """Seconds: how long it waits after a note was written, and after a first failure."""
        self.embedder = embedder
        self._database = database
        self._settle_s = settle_s
        self._pause_s = pause_s
        self._noted: dict[tuple[int, int], None] = {}
        self._crowded: set[int] = set()
        self._swept_to = 0
        self._failures = 0
        self._woken = asyncio.Event()
        self._one_at_a_time = asyncio.Lock()

    def noted(self, user_id: int, memory_id: int) -> None:
        """This memory was written just now. Returns at once."""
        if len(self._noted) < _MOST_NOTED:
            self._noted[user_id, memory_id] = None
        else:
            self._swept_to = 0
        self._woken.set()

    def crowded(self, user_id: int) -> None:
        """This user has so many vectors that a search had much to read. Returns at once."""
        self._crowded.add(user_id)
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
                if not (await self._step() or await self._sketch()):
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
            notes = await self._noted_notes() if self._noted else await self._swept_notes()
            if notes is None:
                return False
            try:
                await self._embed(notes)
            except Exception:
                self._failures += 1
                for note in notes:
                    self.noted(note.user_id, note.id)
                raise
            if notes:
                self._failures = 0
            return True

    async def _sketch(self) -> bool:
        """Make it quicker to search the vectors of somebody who has many; whether there may be more."""
        if not self._crowded:
            return False
        user_id = next(iter(self._crowded))
        if not await self._database.write(lambda: make_sketches(user_id, self.embedder.name)):
            self._crowded.discard(user_id)
        return True

    @property
    def _batch(self) -> int:
        return 1 if self._failures else _BATCH

    async def _noted_notes(self) -> Sequence[_Note]:
        keys = list(self._noted)[: self._batch]
        found = await self._database.transaction(
            [Statement(sql.SELECT_BARE, (*key, self.embedder.name)) for key in keys]
        )
        for key in keys:
            self._noted.pop(key, None)
        return [_Note(*row) for rows in found for row in rows]

    async def _swept_notes(self) -> Sequence[_Note] | None:
        """The next ones that lack a vector, however old; None after the last."""
        [(last,)] = await self._database.query(sql.SELECT_LAST_OF_ALL)
        while self._swept_to < last:
            end = min(self._swept_to + _RANGE, last)
            rows = await self._database.query(
                sql.SELECT_BARE_OF_ALL, self._swept_to, end, self.embedder.name, self._batch
            )
            notes = [_Note(*row) for row in rows]
            self._swept_to = notes[-1].id if len(notes) == self._batch else end
            if notes:
                return notes
        return None

    async def _embed(self, notes: Sequence[_Note]) -> None:
        vectors = await self._vectors([note.content for note in notes])
        await self._database.transaction(
            [
                Statement(sql.PUT_VECTOR, (note.user_id, note.id, self.embedder.name, vector, note.content))
                for note, vector in zip(notes, vectors, strict=True)
            ]
        )

    async def _vectors(self, texts: Sequence[str]) -> Sequence[Vector]:
        """One each. What is refused together is tried alone."""
        try:
            return await self.embedder.embed(texts) if texts else []
        except (ModelRefusedRequest, ContextTooLong):
            if len(texts) == 1:
                return [_NONE]
            return [vector for text in texts for vector in await self._vectors([text])]
