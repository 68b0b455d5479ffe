"""The memory table: columns and statements."""

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import fields, replace
from functools import lru_cache
from typing import Any, Final

from cc_bot.domain.memory import MAX_PINNED, Memory, MemoryStatistics, Order, Source
from cc_bot.domain.text import without_controls
from cc_bot.storage import Row
from cc_bot.stores.columns import ISO, Columns, Kind, Parameters, keep_number, next_number, object_to_json
from cc_bot.stores.memory.texts import SearchText

_SOURCE: Final = tuple(field.name for field in fields(Source))


def _source_to_json(source: Source) -> str:
    return object_to_json({name: value for name in _SOURCE if (value := getattr(source, name))})


@lru_cache(maxsize=64)
def _source_of(stored: str) -> Source:
    known: Mapping[str, Any] = json.loads(stored)
    return Source(**{name: value for name, value in known.items() if value})


MEMORY: Final = Columns(
    Memory,
    moments=ISO,
    source=Kind(_source_to_json, _source_of),
    number=Kind(read=lambda number: number or 0),
)
SEARCHED: Final = Columns(SearchText, without=("term_counts",))
"""Search columns of a memory."""

_PUT_BY_STORES: Final = ("id", "user_id", "created_at", "updated_at", "supersedes", "number", "pinned")
GIVEN: Final = tuple(name for name in MEMORY.names if name not in _PUT_BY_STORES)
"""Columns written as given."""

MAX_ID: Final = 2**63 - 1
_COUNTED: Final = Columns(MemoryStatistics, moments=ISO, without=("categories", "sources"))


def statistics_of(
    counts: Sequence[Row], categories: Sequence[Row], sources: Sequence[Row]
) -> MemoryStatistics:
    """Build statistics from the rows of STATISTICS, CATEGORIES and SOURCES."""
    kinds: dict[Any, int] = {}
    for source, number in sources:
        kind = json.loads(source).get("kind", "")
        kinds[kind] = kinds.get(kind, 0) + number
    return replace(
        _COUNTED.read(counts[0]),
        categories=tuple((name, number) for name, number in categories),
        sources=tuple(sorted(kinds.items(), key=lambda item: -item[1])),
    )


def known_id(number: int) -> int:
    """Return the number, or one that no row has if it exceeds the database's integers."""
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


def as_stored(columns: dict[str, Any]) -> dict[str, Any]:
    """Replace lone surrogates, which models sometimes write and UTF-8 can't encode, by question marks."""
    texts = {name: value for name, value in columns.items() if isinstance(value, str)}
    try:
        "".join(texts.values()).encode()
    except UnicodeEncodeError:
        return columns | {name: text.encode("utf-8", "replace").decode() for name, text in texts.items()}
    return columns


# ---- memory statements -----------------------------------------------------------------------------------
# Every statement is restricted to a user, including those by id.

# ruff: noqa: S608 - put together from constants alone


WRITTEN: Final = Parameters((*GIVEN, *SEARCHED.names), first=4)

# Returns only the ids: reading the row back would take a tenth of the insertion's time. Uses
# memories_by_likeness. $1 user, $2 now, $3 1: always, 0: unless an equivalent memory exists with audience
# 'anywhere' or the same one; then WRITTEN
INSERT: Final = f"""
    INSERT INTO memories (user_id, number, created_at, updated_at, {WRITTEN.names})
    SELECT $1, {next_number("memory")}, $2, $2, {WRITTEN.marks}
    WHERE CAST($3 AS @number) = 1 OR NOT EXISTS (
        SELECT 1 FROM memories AS known
        WHERE known.user_id = $1 AND known.likeness = {WRITTEN["likeness"]} AND known.status = 'active'
            AND known.audience IN ('anywhere', {WRITTEN["audience"]})
    )
    RETURNING id, number
"""

KEEP_NUMBER: Final = keep_number("memory")

# $1 user, $2 likeness, $3 the audience besides 'anywhere'
SELECT_ALIKE: Final = f"""
    SELECT {MEMORY.select} FROM memories
    WHERE user_id = $1 AND likeness = $2 AND status = 'active' AND audience IN ('anywhere', $3)
    ORDER BY id DESC LIMIT 1
"""

SELECT: Final = f"""
    SELECT {MEMORY.select} FROM memories WHERE user_id = $1 AND id = $2 AND status = 'active'
"""

# Only current rows have numbers, hidden ones included. Uses memories_by_number.
SELECT_ID: Final = "SELECT id FROM memories WHERE user_id = $1 AND number = $2"

# A MemoryFilter: $4 category or NULL, $5 audience or NULL, $6 origin or NULL, $7 an array of folded tags
WANTED: Final = """
    (CAST($4 AS TEXT) IS NULL OR category = $4)
    AND (CAST($5 AS TEXT) IS NULL OR audience = $5)
    AND (CAST($6 AS TEXT) IS NULL OR coalesce(@text_of(source, kind), '') = $6)
    AND ($7 = '[]' OR NOT EXISTS (
        SELECT 1 FROM @texts($7) AS wanted WHERE @place_in(search_tags, wanted.value) = 0
    ))
"""

_ORDERS: Final[Mapping[Order, str]] = {
    "newest": "id DESC",
    "oldest": "id",
    "updated": "updated_at DESC, id DESC",
}
# $1 user, $2 and $3 the ids before and after the page, then WANTED, $8 limit, $9 offset
LIST: Final[Mapping[Order, str]] = {
    order: f"""
        SELECT {MEMORY.select} FROM memories
        WHERE user_id = $1 AND id > $2 AND id < $3 AND {WANTED} AND status = 'active'
        ORDER BY {columns} LIMIT $8 OFFSET $9
    """
    for order, columns in _ORDERS.items()
}

COUNT: Final = f"""
    SELECT count(*) FROM memories
    WHERE user_id = $1 AND id > $2 AND id < $3 AND {WANTED} AND status = 'active'
"""

# $1 user, $2 now
_COUNTS: Final = _COUNTED.filled(
    count="count(*)",
    private="count(CASE WHEN audience = 'private' THEN 1 END)",
    expired="count(CASE WHEN expires_at <= $2 THEN 1 END)",
    oldest="min(created_at)",
    newest="max(created_at)",
)
STATISTICS: Final = f"""
    SELECT {_COUNTS} FROM memories WHERE user_id = $1 AND status = 'active'
"""

CATEGORIES: Final = """
    SELECT category, count(*) FROM memories
    WHERE user_id = $1 AND status = 'active'
    GROUP BY category ORDER BY count(*) DESC, category
"""

# $2 limit
TAGS: Final = """
    SELECT tag.value, count(*) FROM memories, @each_text(memories.tags) AS tag
    WHERE user_id = $1 AND status = 'active' AND tags <> '[]'
    GROUP BY tag.value ORDER BY count(*) DESC, tag.value LIMIT $2
"""

SOURCES: Final = """
    SELECT source, count(*) FROM memories
    WHERE user_id = $1 AND status = 'active'
    GROUP BY source
"""


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


_COPIED: Final = f"{WRITTEN.names}, supersedes, created_at, updated_at"

# Copies the version to be replaced. $1 user, $2 memory
KEEP_FORMER: Final = f"""
    INSERT INTO memories (user_id, status, {_COPIED})
    SELECT user_id, 'superseded', {_COPIED} FROM memories WHERE user_id = $1 AND id = $2 AND status = 'active'
    RETURNING id
"""

CHANGED: Final = Parameters(GIVEN, first=5)

# $1 user, $2 memory, $3 now, $4 the copy of the former version or NULL, then CHANGED
UPDATE: Final = f"""
    UPDATE memories SET
        updated_at = $3, supersedes = coalesce($4, supersedes),
        {CHANGED.assignments}
    WHERE user_id = $1 AND id = $2 AND status = 'active'
    RETURNING {MEMORY.select}
"""

# $1 user, $2 memory, then SEARCHED
REMAKE: Final = f"""
    UPDATE memories SET {Parameters(SEARCHED.names, first=3).assignments}
    WHERE user_id = $1 AND id = $2
"""

# Whether another memory may be pinned. Uses memories_pinned. $1 user
ROOM_FOR_PIN: Final = f"""
    (
        SELECT count(*) FROM memories AS other
        WHERE other.user_id = $1 AND other.pinned = 1 AND other.status = 'active'
    ) < {MAX_PINNED}
"""

# $1 user, $2 memory, $3 now
HIDE: Final = """
    UPDATE memories SET status = 'deleted', deleted_at = $3
    WHERE user_id = $1 AND id = $2 AND status = 'active'
    RETURNING id
"""
