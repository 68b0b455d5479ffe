"""Rows of memories, with the steps that write them, and their search data: columns of the row, and terms in
`memory_terms`.

Search data changes in the memory's transaction. Rows of older rules are recomputed in the background.
"""

import asyncio
import hashlib
import json
import re
from collections.abc import AsyncIterator, Callable, Collection, Coroutine, Iterable, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import datetime
from functools import lru_cache, partial
from time import monotonic
from typing import Any, Final
from unicodedata import is_normalized
from zlib import crc32

import structlog

from cc_bot.chat.stores.receipts import mark_stale
from cc_bot.db import MAINTENANCE_LOCK, Database, Row, Statement, Transaction, user_lock
from cc_bot.db.columns import (
    ISO,
    Columns,
    Kind,
    Parameters,
    keep_number,
    list_of,
    next_number,
    object_to_json,
    to_text,
)
from cc_bot.domain.errors import MemoryEditOutdated, StorageError
from cc_bot.domain.message import Message, ToolCall, Visibility
from cc_bot.domain.text import without_controls
from cc_bot.domain.tool_calls import referenced_memory_ids, with_texts
from cc_bot.domain.usage import Rules
from cc_bot.features.memory.files import PortableMemory
from cc_bot.features.memory.model import (
    MAX_PINNED,
    WORDING,
    Memory,
    Source,
    clean_category,
    clean_metadata,
    clean_source,
    clean_tags,
)
from cc_bot.features.memory.search.folding import fold
from cc_bot.features.memory.search.terms import TERMS_VERSION, document_terms
from cc_bot.features.memory.stores.limits import ensure_room_left

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
    terms = document_terms(content, tags)
    counts = dict(zip(term_keys(terms), terms.values(), strict=True))
    term_counts = json.dumps([*counts.items()])
    return SearchText(searchable(content), fold_tags(tags), likeness(content), terms.total(), term_counts)


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
_INSERT_TERMS: Final = """
    INSERT INTO memory_terms (user_id, term, memory_id, occurrences)
    SELECT $1, @number_at(value, 0), $2, @number_at(value, 1) FROM @rows($3) AS given
"""

# Uses memory_terms_by_memory. $1 user, $2 an array of memories
_DELETE_TERMS: Final = "DELETE FROM memory_terms WHERE user_id = $1 AND memory_id IN @ids($2)"


def insert_terms(user_id: int, memory_id: int, term_counts: str) -> Statement:
    return Statement(_INSERT_TERMS, (user_id, memory_id, term_counts))


def delete_terms(user_id: int, memory_ids: Collection[int]) -> Statement:
    return Statement(_DELETE_TERMS, (user_id, json.dumps(sorted(memory_ids))))


def reindex(
    user_id: int, memory_id: int, content: str, tags: Sequence[str], *, active: bool = True
) -> Transaction[None]:
    """Write a memory's search data. Only active memories have terms."""
    made = search_text(content, tags)
    yield Statement(_SET_SEARCHED, (user_id, memory_id, *SEARCHED.write(made).values()))
    yield delete_terms(user_id, [memory_id])
    if active:
        yield insert_terms(user_id, memory_id, made.term_counts)


# Uses memories_by_rules. $1 version, $2 limit
_SELECT_OUTDATED: Final = """
    SELECT user_id, id, content, tags, status FROM memories WHERE terms_version < $1
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
        begun, users = monotonic(), {row[0] for row in rows}
        await database.write(partial(_recompute_batch, users), [MAINTENANCE_LOCK, *map(user_lock, users)])
        await asyncio.sleep(monotonic() - begun)


def _recompute_batch(locked: set[int]) -> Transaction[None]:
    for user_id, id_, content, tags, status in (yield Statement(_SELECT_OUTDATED, (VERSION, _BATCH))):
        if user_id in locked:
            yield from reindex(user_id, id_, content, list_of(tags), active=status == "active")


MEMORY: Final = Columns(
    Memory,
    moments=ISO,
    source=Kind(
        lambda source: object_to_json(source.as_object()), lambda stored: Source(**json.loads(stored))
    ),
    number=Kind(read=lambda number: number or 0),
)
_PUT_BY_STORES: Final = ("id", "user_id", "created_at", "updated_at", "supersedes", "number", "pinned")
GIVEN: Final = tuple(name for name in MEMORY.names if name not in _PUT_BY_STORES)
CLEAN: Final[Mapping[str, Callable[[Any], Any]]] = {
    "category": clean_category,
    "tags": clean_tags,
    "metadata": clean_metadata,
    "source": clean_source,
}
MAX_ID: Final = 2**63 - 1


def known_id(number: int) -> int:
    """Return the number; 0, which no row has, beyond the database's integers."""
    return number if 0 < number <= MAX_ID else 0


def words_of(given: Mapping[str, Any]) -> list[str]:
    """Return all texts in a memory's fields, as they will be stored."""
    words = list[str]()
    for name, value in given.items():
        match value:
            case str():
                words += [] if name == "audience" else [value]
            case Mapping():
                words += value.values()
            case Iterable():
                words += value
            case _:
                pass
    return list(map(without_controls, words))


# $1 user, $2 memory
SELECT: Final = f"""
    SELECT {MEMORY.select} FROM memories WHERE user_id = $1 AND id = $2 AND status = 'active'
"""

# Includes former versions and hidden memories. $1 user, $2 an array of memories
_SELECT_ANY: Final = f"SELECT {MEMORY.select} FROM memories WHERE user_id = $1 AND id IN @ids($2)"

_WRITTEN: Final = Parameters((*GIVEN, *SEARCHED.names), first=4)

# Uses memories_by_likeness. $1 user, $2 now, $3 1: always, 0: unless there is one of this likeness with
# audience 'anywhere' or the same; then _WRITTEN
_INSERT: Final = f"""
    INSERT INTO memories (user_id, number, created_at, updated_at, {_WRITTEN.names})
    SELECT $1, {next_number("memory")}, $2, $2, {_WRITTEN.marks}
    WHERE CAST($3 AS @number) = 1 OR NOT EXISTS (
        SELECT 1 FROM memories AS known
        WHERE known.user_id = $1 AND known.likeness = {_WRITTEN["likeness"]} AND known.status = 'active'
            AND known.audience IN ('anywhere', {_WRITTEN["audience"]})
    )
    RETURNING {MEMORY.select}
"""
_KEEP_NUMBER: Final = keep_number("memory")

_COPIED: Final = f"{_WRITTEN.names}, supersedes, created_at, updated_at"

# Copies the version to be replaced. $1 user, $2 memory
_KEEP_FORMER: Final = f"""
    INSERT INTO memories (user_id, status, {_COPIED})
    SELECT user_id, 'superseded', {_COPIED} FROM memories WHERE user_id = $1 AND id = $2 AND status = 'active'
    RETURNING id
"""

_CHANGED: Final = Parameters(GIVEN, first=5)

# $1 user, $2 memory, $3 now, $4 the copy of the former version or NULL, then _CHANGED
_UPDATE: Final = f"""
    UPDATE memories SET
        updated_at = $3, supersedes = coalesce($4, supersedes),
        {_CHANGED.assignments}
    WHERE user_id = $1 AND id = $2 AND status = 'active'
    RETURNING {MEMORY.select}
"""

# Run before the text changes. $1 user, $2 memory, $3 the new text
_DROP_OUTDATED_VECTOR: Final = """
    DELETE FROM memory_vectors
    WHERE user_id = $1 AND memory_id = $2 AND EXISTS (
        SELECT 1 FROM memories WHERE user_id = $1 AND id = $2 AND content <> $3
    )
"""

# $1 user, $2 memory, $3 now
_HIDE: Final = """
    UPDATE memories SET status = 'deleted', deleted_at = $3
    WHERE user_id = $1 AND id = $2 AND status = 'active'
    RETURNING id
"""

# True if another memory may be pinned. Uses memories_pinned. $1 user
ROOM_FOR_PIN: Final = f"""
    (
        SELECT count(*) FROM memories AS other
        WHERE other.user_id = $1 AND other.pinned = 1 AND other.status = 'active'
    ) < {MAX_PINNED}
"""

# $1 user, $2 memory
PIN: Final = f"""
    UPDATE memories SET pinned = 1
    WHERE user_id = $1 AND id = $2 AND status = 'active' AND (pinned = 1 OR {ROOM_FOR_PIN})
    RETURNING {MEMORY.select}
"""

OWE: Final = "UPDATE memory_erasures SET erased = erased + 1 WHERE id = 1"


def with_versions(chosen: str) -> str:
    """Return SQL beginning with `chain`: the chosen memories of user $1 with their former versions."""
    return f"""
    WITH RECURSIVE chain (id, former) AS (
        SELECT id, supersedes FROM memories WHERE user_id = $1 AND {chosen}
        UNION
        SELECT older.id, older.supersedes
        FROM chain
        JOIN memories AS older
            ON older.user_id = $1 AND older.id = chain.former AND older.status = 'superseded'
    )
    """


@dataclass(frozen=True, slots=True)
class NewMemory:
    user_id: int
    made_at: str
    columns: Mapping[str, Any]
    """Given columns and search columns."""
    term_counts: str

    @classmethod
    def of(cls, user_id: int, memory: PortableMemory, now: datetime) -> "NewMemory":
        """Clean a memory with clean content."""
        given = {name: getattr(memory, name) for name in GIVEN} | {
            **{name: clean(getattr(memory, name)) for name, clean in CLEAN.items()},
            "audience": memory.audience or "anywhere",
        }
        made = search_text(memory.content, given["tags"])
        columns = MEMORY.write_some(given) | SEARCHED.write(made)
        return cls(user_id, to_text(memory.created_at or now), columns, made.term_counts)

    def steps(self, file_rules: Rules, *, unless_known: bool = False) -> Transaction[list[Memory]]:
        """Store it and return it; with `unless_known`, an empty list if the user has one of this likeness.
        Raises TooManyMemories or MemoryFull."""
        own = (self.user_id, self.made_at, int(not unless_known))
        stored = [*map(MEMORY.read, (yield Statement(_INSERT, (*own, *_WRITTEN.of(self.columns)))))]
        for memory in stored:
            yield insert_terms(self.user_id, memory.id, self.term_counts)
            yield Statement(_KEEP_NUMBER, own[:1])
            if file_rules:
                yield from ensure_room_left(self.user_id, file_rules)
        return stored


_SEARCHED_BY: Final = frozenset({"content", "tags"})


def change(
    own: tuple[int, int],
    given: Mapping[str, Any],
    now: datetime,
    file_rules: Rules,
    *,
    only_as: Memory | None = None,
) -> Transaction[Memory | None]:
    """Set cleaned fields and return the memory, if any. Raises MemoryFull, or MemoryEditOutdated if wording
    or audience differ from `only_as`."""
    known = yield Statement(SELECT, own)
    if not known:
        return None
    stored = MEMORY.read(known[0])
    if only_as and any(getattr(stored, name) != getattr(only_as, name) for name in (*WORDING, "audience")):
        raise MemoryEditOutdated
    before = MEMORY.by_name(known[0])
    after = before | MEMORY.write_some(given)
    former_id = None
    if any(before[name] != after[name] for name in WORDING):
        [(former_id,)] = yield Statement(_KEEP_FORMER, own)
    if "content" in given:
        yield Statement(_DROP_OUTDATED_VECTOR, (*own, after["content"]))
    if not _SEARCHED_BY.isdisjoint(given):
        yield from reindex(*own, after["content"], list_of(after["tags"]))
    [changed] = yield Statement(_UPDATE, (*own, to_text(now), former_id, *_CHANGED.of(after)))
    yield mark_stale(own[0], "memory", own[1:])
    if file_rules:
        yield from ensure_room_left(own[0], file_rules, added=False)
    return MEMORY.read(changed)


def hide(user_id: int, memory_id: int, now: str) -> Transaction[Sequence[Row]]:
    rows = yield Statement(_HIDE, (user_id, memory_id, now))
    if rows:
        yield delete_terms(user_id, [memory_id])
        yield mark_stale(user_id, "memory", [memory_id])
    return rows


async def read_texts(database: Database, user_id: int, messages: Sequence[Message]) -> tuple[Message, ...]:
    """Insert the user's current memory texts into the tool calls of stored messages."""
    if not any(message.tool_calls for message in messages):
        return tuple(messages)
    named = [frozenset[int]().union(*map(referenced_memory_ids, message.tool_calls)) for message in messages]
    ids = frozenset[int]().union(*named)
    if not ids:
        return tuple(messages)
    found = map(MEMORY.read, await database.query(_SELECT_ANY, user_id, json.dumps(sorted(ids))))
    memories = {memory.id: memory for memory in found}
    return tuple(
        with_texts(message, memories) if refers else message
        for message, refers in zip(messages, named, strict=True)
    )


async def read_call_texts(
    database: Database, user_id: int, calls: tuple[ToolCall, ...], visibility: Visibility
) -> tuple[ToolCall, ...]:
    """As `read_texts`, for a turn's stored calls."""
    answer = Message("assistant", "", tool_calls=calls, visibility=visibility)
    [read] = await read_texts(database, user_id, [answer])
    return read.tool_calls
