"""Writes memories and, in the same transaction, their search data.

Search data of an older SEARCH_VERSION is recomputed in the background.
"""

import asyncio
import hashlib
import json
import re
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import lru_cache, partial
from time import monotonic
from typing import Any, Final
from unicodedata import is_normalized
from zlib import crc32

import structlog

from cc_bot.chat.stores.receipts import mark_receipts_stale
from cc_bot.db import MAINTENANCE_LOCK, Database, Statement, Transaction, user_lock
from cc_bot.db.columns import (
    ISO,
    Codec,
    Columns,
    Parameters,
    list_from_json,
    next_number,
    object_to_json,
    record_last_number,
    to_text,
)
from cc_bot.domain.errors import StorageError
from cc_bot.domain.message import Message, ToolCall, Visibility
from cc_bot.domain.text import remove_controls
from cc_bot.domain.tool_calls import insert_memory_texts, referenced_memory_ids
from cc_bot.domain.usage import LimitRules
from cc_bot.features.memory.errors import MemoryEditOutdated
from cc_bot.features.memory.files import PortableMemory
from cc_bot.features.memory.model import (
    MAX_PINNED,
    VERSIONED_FIELDS,
    Memory,
    Source,
    clean_category,
    clean_metadata,
    clean_source,
    clean_tags,
)
from cc_bot.features.memory.search.folding import fold
from cc_bot.features.memory.search.terms import TERMS_VERSION, count_terms
from cc_bot.features.memory.stores.limits import check_limits

SEARCH_VERSION: Final = TERMS_VERSION * 100 + 3  # lower versions are recomputed
_BATCH: Final = 100
_RETRY_S: Final = 30.0

# Punctuation and white space, except in C++, 3.5, -5 and 10:30, which are not C, 35, 5 and 1030.
_IGNORED_CHARACTERS: Final = re.compile(r"[^\w+#](?!\d)|(?<!\d)[^\w+#-](?=\d)|_")

_log = structlog.get_logger(__name__)


@dataclass(frozen=True, slots=True)
class SearchData:
    search_content: str
    search_tags: str
    likeness: int  # a `dedup_hash`
    term_count: int  # includes repetitions
    term_counts: str  # not a column, but rows of `memory_terms`: a JSON list of `[term key, occurrences]`
    terms_version: int = SEARCH_VERSION


def make_search_data(content: str, tags: Sequence[str]) -> SearchData:
    terms = count_terms(content, tags)
    counts = dict(zip(term_keys(terms), terms.values(), strict=True))
    term_counts = json.dumps([*counts.items()])
    return SearchData(fold_content(content), fold_tags(tags), dedup_hash(content), terms.total(), term_counts)


def term_keys(terms: Iterable[str]) -> list[int]:
    """Return each term's 32-bit hash. With 100,000 memories, a collision changes one query in a thousand."""
    return list(map(crc32, " ".join(terms).encode("utf-8", "replace").split()))


def fold_content(content: str) -> str:
    """Return the text in which a search looks for the query as written. If folding joins letters with marks
    (か and ゛, e and ´), the original text is appended."""
    if is_normalized("NFKC", content) and is_normalized("NFKC", lowered := content.casefold()):
        return lowered  # equals fold(content), but takes less time
    folded = fold(content)
    return folded if folded == "".join(map(_fold_character, content)) else f"{folded}\n{content}"


_fold_character = lru_cache(maxsize=4096)(fold)


def fold_tags(tags: Iterable[str]) -> str:
    """Return the folded tags, each between line feeds, so that a search can find whole tags."""
    folded = [fold(tag) for tag in tags]
    return "\n".join(["", *folded, ""]) if folded else ""


def dedup_hash(content: str) -> int:
    normalized = _IGNORED_CHARACTERS.sub("", fold(content)) or content
    digest = hashlib.blake2b(normalized.encode("utf-8", "replace"), digest_size=8).digest()
    return int.from_bytes(digest, "big", signed=True)


# ruff: noqa: S608 - built only from constants

SEARCH_DATA: Final = Columns(SearchData, without=("term_counts",))

# $1 user, $2 memory, then SEARCH_DATA
_SET_SEARCH_DATA: Final = f"""
    UPDATE memories SET {Parameters(SEARCH_DATA.names, first=3).assignments} WHERE user_id = $1 AND id = $2
"""


def insert_terms(user_id: int, memory_id: int, term_counts: str) -> Statement:
    sql = """
        INSERT INTO memory_terms (user_id, term, memory_id, occurrences)
        SELECT $1, @number_at(value, 0), $2, @number_at(value, 1) FROM @rows($3) AS given
    """
    return Statement(sql, (user_id, memory_id, term_counts))


def delete_terms(user_id: int, memory_ids: Collection[int]) -> Statement:
    sql = "DELETE FROM memory_terms WHERE user_id = $1 AND memory_id IN @ids($2)"
    return Statement(sql, (user_id, json.dumps(sorted(memory_ids))))


def reindex(
    user_id: int, memory_id: int, content: str, tags: Sequence[str], *, active: bool = True
) -> Transaction[None]:
    """Write a memory's search data. Only active memories have terms."""
    data = make_search_data(content, tags)
    yield Statement(_SET_SEARCH_DATA, (user_id, memory_id, *SEARCH_DATA.write(data).values()))
    yield delete_terms(user_id, [memory_id])
    if active:
        yield insert_terms(user_id, memory_id, data.term_counts)


# $1 version, $2 limit
_SELECT_OUTDATED: Final = """
    SELECT user_id, id, content, tags, status FROM memories WHERE terms_version < $1
    ORDER BY terms_version, id LIMIT $2 /* scope: all users */
"""


async def refresh_search_data(database: Database) -> None:
    """Recompute outdated search data. Retries after a StorageError."""
    while True:
        try:
            return await recompute_outdated(database)
        except StorageError as error:
            _log.warning("memory_upkeep_put_off", error=type(error).__name__, pause_s=_RETRY_S)
            await asyncio.sleep(_RETRY_S)


async def recompute_outdated(database: Database) -> None:
    """Recompute outdated search data, pausing after each transaction as long as it took."""
    while rows := await database.query(_SELECT_OUTDATED, SEARCH_VERSION, _BATCH):
        started_at, user_ids = monotonic(), {row[0] for row in rows}
        locks = [MAINTENANCE_LOCK, *map(user_lock, user_ids)]
        await database.write(partial(_recompute_batch, user_ids), locks)
        await asyncio.sleep(monotonic() - started_at)


def _recompute_batch(locked_user_ids: set[int]) -> Transaction[None]:
    for user_id, id_, content, tags, status in (yield Statement(_SELECT_OUTDATED, (SEARCH_VERSION, _BATCH))):
        if user_id in locked_user_ids:
            yield from reindex(user_id, id_, content, list_from_json(tags), active=status == "active")


MEMORY: Final = Columns(
    Memory,
    datetimes=ISO,
    source=Codec(
        lambda source: object_to_json(source.as_object()), lambda stored: Source(**json.loads(stored))
    ),
    number=Codec(read=lambda number: number or 0),
)
_MANAGED_FIELDS: Final = ("id", "user_id", "created_at", "updated_at", "supersedes", "number", "pinned")
SETTABLE_FIELDS: Final = tuple(name for name in MEMORY.names if name not in _MANAGED_FIELDS)
FIELD_CLEANERS: Final[Mapping[str, Callable[[Any], Any]]] = {
    "category": clean_category,
    "tags": clean_tags,
    "metadata": clean_metadata,
    "source": clean_source,
}
MAX_ID: Final = 2**63 - 1


def valid_id_or_zero(number: int) -> int:
    """Return the number if the database can hold it, else 0, which is no row's id."""
    return number if 0 < number <= MAX_ID else 0


def list_texts(fields: Mapping[str, Any]) -> list[str]:
    texts = list[str]()
    for name, value in fields.items():
        match value:
            case str():
                texts += [] if name == "audience" else [value]
            case Mapping():
                texts += value.values()
            case Iterable():
                texts += value
            case _:
                pass
    return list(map(remove_controls, texts))


SELECT_MEMORY: Final = f"""
    SELECT {MEMORY.select} FROM memories WHERE user_id = $1 AND id = $2 AND status = 'active'
"""

_INSERT_PARAMETERS: Final = Parameters((*SETTABLE_FIELDS, *SEARCH_DATA.names), first=4)

# $1 user, $2 now, $3 1 to allow duplicates, else 0; then _INSERT_PARAMETERS
_INSERT_MEMORY: Final = f"""
    INSERT INTO memories (user_id, number, created_at, updated_at, {_INSERT_PARAMETERS.names})
    SELECT $1, {next_number("memory")}, $2, $2, {_INSERT_PARAMETERS.placeholders}
    WHERE CAST($3 AS @number) = 1 OR NOT EXISTS (
        SELECT 1 FROM memories AS duplicate
        WHERE duplicate.user_id = $1 AND duplicate.status = 'active'
            AND duplicate.likeness = {_INSERT_PARAMETERS["likeness"]}
            AND duplicate.audience IN ('anywhere', {_INSERT_PARAMETERS["audience"]})
    )
    RETURNING {MEMORY.select}
"""
_RECORD_LAST_NUMBER: Final = record_last_number("memory")

_COPIED_COLUMNS: Final = f"{_INSERT_PARAMETERS.names}, supersedes, created_at, updated_at"

# Copies a memory to a former version. $1 user, $2 memory
_COPY_TO_FORMER: Final = f"""
    INSERT INTO memories (user_id, status, {_COPIED_COLUMNS})
    SELECT user_id, 'superseded', {_COPIED_COLUMNS} FROM memories
    WHERE user_id = $1 AND id = $2 AND status = 'active'
    RETURNING id
"""

_UPDATE_PARAMETERS: Final = Parameters(SETTABLE_FIELDS, first=5)

# Uses memories_pinned. $1 user
ROOM_FOR_PIN: Final = f"""
    (
        SELECT count(*) FROM memories AS other
        WHERE other.user_id = $1 AND other.pinned = 1 AND other.status = 'active'
    ) < {MAX_PINNED}
"""

PIN_MEMORY: Final = f"""
    UPDATE memories SET pinned = 1
    WHERE user_id = $1 AND id = $2 AND status = 'active' AND (pinned = 1 OR {ROOM_FOR_PIN})
    RETURNING {MEMORY.select}
"""

# `scrub` compares the number of erasures now and at the last VACUUM.
RECORD_ERASURE: Final = "UPDATE memory_erasures SET erased = erased + 1 WHERE id = 1"


def chain_cte(condition: str) -> str:
    """Return a WITH clause of `chain`: user $1's memories that meet a condition, and former versions."""
    return f"""
    WITH RECURSIVE chain (id, former) AS (
        SELECT id, supersedes FROM memories WHERE user_id = $1 AND {condition}
        UNION
        SELECT older.id, older.supersedes
        FROM chain
        JOIN memories AS older
            ON older.user_id = $1 AND older.id = chain.former AND older.status = 'superseded'
    )
    """


class DuplicateMemory(Exception):
    """The user has a memory with the same dedup hash that is usable wherever the new one would be."""


@dataclass(frozen=True, slots=True)
class NewMemory:
    user_id: int
    created_at: str
    columns: Mapping[str, Any]  # of SETTABLE_FIELDS and SEARCH_DATA
    term_counts: str  # see SearchData

    @classmethod
    def prepare(cls, user_id: int, memory: PortableMemory, now: datetime) -> "NewMemory":
        """Clean all fields except the content, which must be clean already."""
        fields = {name: getattr(memory, name) for name in SETTABLE_FIELDS} | {
            **{name: clean(getattr(memory, name)) for name, clean in FIELD_CLEANERS.items()},
            "audience": memory.audience or "anywhere",
        }
        data = make_search_data(memory.content, fields["tags"])
        columns = MEMORY.write_some(fields) | SEARCH_DATA.write(data)
        return cls(user_id, to_text(memory.created_at or now), columns, data.term_counts)

    def insert(self, file_rules: LimitRules, *, allow_duplicate: bool = True) -> Transaction[Memory]:
        """Insert and return the memory. Raises TooManyMemories, MemoryFull or, without `allow_duplicate`,
        DuplicateMemory."""
        params = (self.user_id, self.created_at, int(allow_duplicate), *_INSERT_PARAMETERS.pick(self.columns))
        memory = MEMORY.read_first((yield Statement(_INSERT_MEMORY, params)))
        if memory is None:
            raise DuplicateMemory
        yield insert_terms(self.user_id, memory.id, self.term_counts)
        yield Statement(_RECORD_LAST_NUMBER, (self.user_id,))
        if file_rules:
            yield from check_limits(self.user_id, file_rules)
        return memory


_SEARCHED_FIELDS: Final = frozenset({"content", "tags"})


def update_fields(
    user_id: int,
    memory_id: int,
    fields: Mapping[str, Any],
    now: datetime,
    file_rules: LimitRules,
    *,
    expected: Memory | None = None,
) -> Transaction[Memory | None]:
    """Set cleaned fields, and return the memory; None if it does not exist. Raises MemoryFull, or
    MemoryEditOutdated if its versioned fields or audience differ from `expected`."""
    rows = yield Statement(SELECT_MEMORY, (user_id, memory_id))
    if not rows:
        return None
    stored = MEMORY.read(rows[0])
    compared = (*VERSIONED_FIELDS, "audience")
    if expected and any(getattr(stored, name) != getattr(expected, name) for name in compared):
        raise MemoryEditOutdated
    before = MEMORY.by_name(rows[0])
    after = before | MEMORY.write_some(fields)
    former_id = None
    if any(before[name] != after[name] for name in VERSIONED_FIELDS):
        [(former_id,)] = yield Statement(_COPY_TO_FORMER, (user_id, memory_id))
    if before["content"] != after["content"]:
        drop_vector = "DELETE FROM memory_vectors WHERE user_id = $1 AND memory_id = $2"
        yield Statement(drop_vector, (user_id, memory_id))
    if not _SEARCHED_FIELDS.isdisjoint(fields):
        yield from reindex(user_id, memory_id, after["content"], list_from_json(after["tags"]))
    sql = f"""
        UPDATE memories SET
            updated_at = $3, supersedes = coalesce($4, supersedes),
            {_UPDATE_PARAMETERS.assignments}
        WHERE user_id = $1 AND id = $2 AND status = 'active'
        RETURNING {MEMORY.select}
    """
    params = (user_id, memory_id, to_text(now), former_id, *_UPDATE_PARAMETERS.pick(after))
    [changed] = yield Statement(sql, params)
    yield mark_receipts_stale(user_id, "memory", [memory_id])
    if file_rules:
        yield from check_limits(user_id, file_rules, only_bytes=True)
    return MEMORY.read(changed)


def hide(user_id: int, memory_id: int, now: str) -> Transaction[bool]:
    sql = """
        UPDATE memories SET status = 'deleted', deleted_at = $3
        WHERE user_id = $1 AND id = $2 AND status = 'active'
        RETURNING id
    """
    rows = yield Statement(sql, (user_id, memory_id, now))
    if rows:
        yield delete_terms(user_id, [memory_id])
        yield mark_receipts_stale(user_id, "memory", [memory_id])
    return bool(rows)


async def fill_in_texts(database: Database, user_id: int, messages: Sequence[Message]) -> tuple[Message, ...]:
    """Put the texts of the user's memories into the stored tool calls, which contain only their ids."""
    calls = (call for message in messages for call in message.tool_calls)
    ids = frozenset[int]().union(*map(referenced_memory_ids, calls))
    if not ids:
        return tuple(messages)
    # Includes former versions and hidden memories.
    sql = f"SELECT {MEMORY.select} FROM memories WHERE user_id = $1 AND id IN @ids($2)"
    rows = await database.query(sql, user_id, json.dumps(sorted(ids)))
    memories = {memory.id: memory for memory in map(MEMORY.read, rows)}
    return tuple(insert_memory_texts(each, memories) if each.tool_calls else each for each in messages)


async def fill_in_call_texts(
    database: Database, user_id: int, calls: tuple[ToolCall, ...], visibility: Visibility
) -> tuple[ToolCall, ...]:
    answer = Message("assistant", "", tool_calls=calls, visibility=visibility)
    [read] = await fill_in_texts(database, user_id, [answer])
    return read.tool_calls
