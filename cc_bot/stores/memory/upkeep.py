"""Recompute what memories are searched by, where an older version of the rules made it.

After an upgrade that changed the rules this may be a million rows. So it is done in batches, each in one
transaction, while searches use what is there. The progress is in the database.
"""

import asyncio
from collections.abc import AsyncIterator, Collection, Sequence
from contextlib import asynccontextmanager
from functools import partial
from time import monotonic
from typing import Final, NamedTuple

import structlog

from cc_bot.storage import EVERYBODY, Database, Statement, Steps, user
from cc_bot.stores.columns import Columns
from cc_bot.stores.memory.rows import REMAKE, SEARCHED
from cc_bot.stores.memory.terms import delete_terms, insert_terms
from cc_bot.stores.memory.texts import VERSION, search_text

_RANGE: Final = 2000
"""Ids that one transaction looks through, at most."""
_BATCH: Final = 100
"""Rows that it recomputes, at most: some dozen milliseconds."""
_DONE: Final = -1
_RETRY_S: Final = 30.0

# One row: the version of the rules, and the id up to which memories have it.
_SELECT_PROGRESS: Final = "SELECT version, remade_to FROM memory_rules WHERE id = 1"

# $1 version, $2 id
_PUT_PROGRESS: Final = "UPDATE memory_rules SET version = $1, remade_to = $2 WHERE id = 1"

_SELECT_LAST_ID: Final = "SELECT coalesce(max(id), 0) FROM memories /* all users */"

_log = structlog.get_logger(__name__)


class _Outdated(NamedTuple):
    user_id: int
    id: int
    content: str
    tags: tuple[str, ...]
    status: str


_OUTDATED: Final = Columns(_Outdated)

# Of all users. $1 and $2 the ids, the first not included; $3 version, $4 limit
_SELECT_OUTDATED: Final = f"""
    SELECT {_OUTDATED.select} FROM memories
    WHERE id > $1 AND id <= $2 AND terms_version <> $3
    ORDER BY id LIMIT $4 /* all users */
"""  # noqa: S608 - put together from constants alone


class _Batch(NamedTuple):
    """The memories that are recomputed next, of all users."""

    outdated: Sequence[_Outdated]
    complete_to: int
    """The id up to which all are recomputed after this batch."""
    last: int

    @property
    def users(self) -> frozenset[int]:
        return frozenset(each.user_id for each in self.outdated)


@asynccontextmanager
async def search_terms_kept_current(database: Database) -> AsyncIterator[None]:
    """Recompute outdated memories in the background while this is open."""
    task = asyncio.create_task(_run(database))
    try:
        yield
    finally:
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)


async def recompute_outdated(database: Database) -> None:
    """Recompute all outdated memories, resting after each transaction as long as it took. Raises
    StorageError."""
    while True:
        begun = monotonic()
        batch = await database.read(_find_batch)
        if batch is None:
            return
        recompute = partial(_recompute_batch, batch.users)
        await database.write(recompute, [EVERYBODY, *map(user, batch.users)])
        await asyncio.sleep(monotonic() - begun)


async def _run(database: Database) -> None:
    while True:
        try:
            return await recompute_outdated(database)
        except Exception as error:  # noqa: BLE001 - it is tried again as long as the program runs
            _log.warning("memory_upkeep_put_off", error=type(error).__name__, pause_s=_RETRY_S)
            await asyncio.sleep(_RETRY_S)


def _find_batch() -> Steps[_Batch | None]:
    """Return the next batch; None when nothing is outdated."""
    [(version, done_to)] = yield Statement(_SELECT_PROGRESS)
    if (version, done_to) == (VERSION, _DONE):
        return None
    if version != VERSION:
        done_to = 0
    [(last,)] = yield Statement(_SELECT_LAST_ID)
    end = min(done_to + _RANGE, last)
    rows = yield Statement(_SELECT_OUTDATED, (done_to, end, VERSION, _BATCH))
    outdated = [*map(_OUTDATED.read, rows)]
    return _Batch(outdated, outdated[-1].id if len(outdated) == _BATCH else end, last)


def _recompute_batch(locked: Collection[int]) -> Steps[None]:
    """Recompute the next batch, unless it has memories of users who are not among those that are locked."""
    batch = yield from _find_batch()
    if batch is None or not batch.users <= set(locked):
        return
    for each in batch.outdated:
        made = search_text(each.content, each.tags)
        yield Statement(REMAKE, (each.user_id, each.id, *SEARCHED.write(made).values()))
        yield delete_terms(each.user_id, [each.id])
        if each.status == "active":
            yield insert_terms(each.user_id, each.id, made.term_counts)
    done = batch.complete_to == batch.last
    yield Statement(_PUT_PROGRESS, (VERSION, _DONE if done else batch.complete_to))
