"""The search data of memories: columns of their row, and their terms in `memory_terms`.

They change in the same transaction as the memory. Rows of older rules are recomputed in the background.
"""

import asyncio
import hashlib
import json
import re
from collections import Counter
from collections.abc import AsyncIterator, Collection, Coroutine, Iterable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from functools import lru_cache, partial
from time import monotonic
from typing import Any, Final, NamedTuple
from unicodedata import is_normalized
from zlib import crc32

import structlog

from cc_bot.domain.errors import StorageError
from cc_bot.search.folding import fold
from cc_bot.search.terms import TERMS_VERSION, listed_terms
from cc_bot.storage import MAINTENANCE_LOCK, Database, Statement, Steps, user
from cc_bot.stores.columns import Columns, Parameters

VERSION: Final = TERMS_VERSION * 100 + 3
"""Rows with a lower version are recomputed at start."""
_BATCH: Final = 100
_RETRY_S: Final = 30.0

# Neither letter nor digit; but C++ is not C, and 3.5, -5 and 10:30 are not 35, 5 and 1030.
_NO_DIFFERENCE: Final = re.compile(r"[^\w+#](?!\d)|(?<!\d)[^\w+#-](?=\d)|_")

_log = structlog.get_logger(__name__)


@dataclass(frozen=True, slots=True)
class SearchText:
    """Each field but `term_counts` is a column."""

    search_content: str
    search_tags: str
    likeness: int
    term_count: int
    """Including repeated terms."""
    term_counts: str
    """JSON list of `[term key, occurrences]`."""
    terms_version: int = VERSION


def search_text(content: str, tags: Sequence[str]) -> SearchText:
    keys = term_keys(listed_terms(content, tags))
    counts = json.dumps([*Counter(keys).items()])
    return SearchText(searchable(content), fold_tags(tags), likeness(content), len(keys), counts)


def term_keys(terms: Iterable[str]) -> list[int]:
    """Return each term's 32-bit hash, in order. In 100,000 memories, one query in a thousand meets a
    collision, and scores a memory slightly too high."""
    return list(map(crc32, " ".join(terms).encode("utf-8", "replace").split()))


def searchable(content: str) -> str:
    """Return the folded text in which a verbatim query is searched.

    Folding joins letters written in parts (か and ゛, e and ´). A text with such parts is followed by the
    original, so that a part alone is found too.
    """
    if is_normalized("NFKC", content) and is_normalized("NFKC", lowered := content.casefold()):
        return lowered  # as each of its characters is folded by itself
    folded = fold(content)
    return folded if folded == "".join(map(_fold_character, content)) else f"{folded}\n{content}"


_fold_character = lru_cache(maxsize=4096)(fold)


def fold_tags(tags: Iterable[str]) -> str:
    """Join folded tags between line feeds, so that only whole tags match."""
    folded = [fold(tag) for tag in tags]
    return "\n".join(["", *folded, ""]) if folded else ""


def likeness(content: str) -> int:
    """Return a 64-bit hash, the same for texts that differ only in width, case, white space or
    punctuation."""
    normalized = _NO_DIFFERENCE.sub("", fold(content)) or content
    digest = hashlib.blake2b(normalized.encode("utf-8", "replace"), digest_size=8).digest()
    return int.from_bytes(digest, "big", signed=True)


# ruff: noqa: S608 - put together from constants alone

SEARCHED: Final = Columns(SearchText, without=("term_counts",))

# $1 user, $2 memory, then SEARCHED
_SET_SEARCHED: Final = f"""
    UPDATE memories SET {Parameters(SEARCHED.names, first=3).assignments} WHERE user_id = $1 AND id = $2
"""

# $1 user, $2 memory, $3 its SearchText.term_counts
_INSERT: Final = """
    INSERT INTO memory_terms (user_id, term, memory_id, occurrences)
    SELECT $1, @number_at(value, 0), $2, @number_at(value, 1) FROM @rows($3) AS given
"""

# Uses memory_terms_by_memory. $1 user, $2 an array of memories
_DELETE: Final = "DELETE FROM memory_terms WHERE user_id = $1 AND memory_id IN @ids($2)"


def insert_terms(user_id: int, memory_id: int, term_counts: str) -> Statement:
    return Statement(_INSERT, (user_id, memory_id, term_counts))


def delete_terms(user_id: int, memory_ids: Collection[int]) -> Statement:
    return Statement(_DELETE, (user_id, json.dumps(sorted(memory_ids))))


def reindex(
    user_id: int, memory_id: int, content: str, tags: Sequence[str], *, active: bool = True
) -> Steps[None]:
    """Write a memory's search data. Only active memories have terms."""
    made = search_text(content, tags)
    yield Statement(_SET_SEARCHED, (user_id, memory_id, *SEARCHED.write(made).values()))
    yield delete_terms(user_id, [memory_id])
    if active:
        yield insert_terms(user_id, memory_id, made.term_counts)


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
"""


@asynccontextmanager
async def in_background(work: Coroutine[Any, Any, object]) -> AsyncIterator[None]:
    """Run the work until the block ends."""
    task = asyncio.create_task(work)
    try:
        yield
    finally:
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)


async def keep_terms_current(database: Database) -> None:
    """Recompute outdated search data, again after a StorageError."""
    while True:
        try:
            return await recompute_outdated(database)
        except StorageError as error:
            _log.warning("memory_upkeep_put_off", error=type(error).__name__, pause_s=_RETRY_S)
            await asyncio.sleep(_RETRY_S)


async def recompute_outdated(database: Database) -> None:
    """Pauses after each transaction as long as it took. Raises StorageError."""
    while rows := await database.query(_SELECT_OUTDATED, VERSION, _BATCH):
        begun, users = monotonic(), {_OUTDATED.read(row).user_id for row in rows}
        await database.write(partial(_recompute_batch, users), [MAINTENANCE_LOCK, *map(user, users)])
        await asyncio.sleep(monotonic() - begun)


def _recompute_batch(locked: set[int]) -> Steps[None]:
    for row in (yield Statement(_SELECT_OUTDATED, (VERSION, _BATCH))):
        each = _OUTDATED.read(row)
        if each.user_id in locked:
            yield from reindex(each.user_id, each.id, each.content, each.tags, active=each.status == "active")
