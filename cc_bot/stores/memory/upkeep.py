"""Recomputes search data made by an older version of the rules.

Each batch is one transaction; searches use the stored data in the meantime.
"""

import asyncio
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from functools import partial
from time import monotonic
from typing import Final, NamedTuple

import structlog

from cc_bot.domain.errors import StorageError
from cc_bot.storage import MAINTENANCE_LOCK, Database, Statement, Steps, user
from cc_bot.stores.columns import Columns
from cc_bot.stores.memory.rows import REMAKE, SEARCHED
from cc_bot.stores.memory.terms import delete_terms, insert_terms
from cc_bot.stores.memory.texts import VERSION, search_text

_BATCH: Final = 100
"""Rows per transaction, which takes a few dozen milliseconds."""
_RETRY_S: Final = 30.0

_log = structlog.get_logger(__name__)


class _Outdated(NamedTuple):
    user_id: int
    id: int
    content: str
    tags: tuple[str, ...]
    status: str


_OUTDATED: Final = Columns(_Outdated)

# Uses memories_by_rules. $1 version, $2 limit
_SELECT_OUTDATED: Final = f"""
    SELECT {_OUTDATED.select} FROM memories WHERE terms_version < $1
    ORDER BY terms_version, id LIMIT $2 /* all users */
"""  # noqa: S608 - put together from constants alone


@asynccontextmanager
async def search_terms_kept_current(database: Database) -> AsyncIterator[None]:
    """Recompute outdated memories in the background while open."""
    task = asyncio.create_task(_run(database))
    try:
        yield
    finally:
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)


async def recompute_outdated(database: Database) -> None:
    """Recompute all outdated memories, pausing after each transaction as long as it took. Raises
    StorageError."""
    while rows := await database.query(_SELECT_OUTDATED, VERSION, _BATCH):
        begun, users = monotonic(), {_OUTDATED.read(row).user_id for row in rows}
        await database.write(partial(_recompute_batch, users), [MAINTENANCE_LOCK, *map(user, users)])
        await asyncio.sleep(monotonic() - begun)


async def _run(database: Database) -> None:
    while True:
        try:
            return await recompute_outdated(database)
        except StorageError as error:
            _log.warning("memory_upkeep_put_off", error=type(error).__name__, pause_s=_RETRY_S)
            await asyncio.sleep(_RETRY_S)


def _recompute_batch(locked: set[int]) -> Steps[None]:
    outdated: Sequence[_Outdated] = [
        *map(_OUTDATED.read, (yield Statement(_SELECT_OUTDATED, (VERSION, _BATCH))))
    ]
    for each in outdated:
        if each.user_id not in locked:
            continue
        made = search_text(each.content, each.tags)
        yield Statement(REMAKE, (each.user_id, each.id, *SEARCHED.write(made).values()))
        yield delete_terms(each.user_id, [each.id])
        if each.status == "active":
            yield insert_terms(each.user_id, each.id, made.term_counts)
