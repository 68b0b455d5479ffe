"""How memories stand in their table: columns in and out."""

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import fields
from datetime import datetime
from functools import lru_cache
from typing import Any, Final

from cc_bot.domain.memory import (
    MAX_PINNED,
    MAX_TAG_CHARACTERS,
    MAX_TAGS,
    Memory,
    MemoryStatistics,
    Source,
    clean_category,
)
from cc_bot.storage import Row
from cc_bot.stores.columns import next_number

COLUMNS: Final = (
    "id, user_id, content, category, tags, metadata, created_at, updated_at, "
    "audience, source, expires_at, supersedes, number, pinned"
)
"""What `memory_of` reads, in order."""
WIDTH: Final = len(COLUMNS.split(","))

_encode = json.JSONEncoder(ensure_ascii=False).encode

_EMPTY: Final = {dict: "{}", tuple: "[]"}
"""As JSON. Most notes have neither tags nor anything else beside them."""

_SOURCE: Final = tuple(field.name for field in fields(Source))

MAX_ID: Final = 2**63 - 1


def memory_of(row: Iterable[Any]) -> Memory:
    """The memory of a row that begins with COLUMNS."""
    (
        id_,
        user_id,
        content,
        category,
        tags,
        metadata,
        created_at,
        updated_at,
        audience,
        source,
        expires_at,
        supersedes,
        number,
        pinned,
    ) = tuple(row)[:WIDTH]
    return Memory(
        id=id_,
        user_id=user_id,
        content=content,
        category=category,
        tags=tags_of(tags),
        metadata=json.loads(metadata) if metadata != "{}" else {},
        created_at=(created := datetime.fromisoformat(created_at)),
        updated_at=created if updated_at == created_at else datetime.fromisoformat(updated_at),
        audience=audience,
        source=_source(source),
        expires_at=datetime.fromisoformat(expires_at) if expires_at else None,
        supersedes=supersedes,
        number=number or 0,
        pinned=bool(pinned),
    )


def tags_of(column: str) -> tuple[str, ...]:
    return tuple(json.loads(column)) if column != "[]" else ()


def statistics_of(
    counts: Sequence[Row], categories: Sequence[Row], sources: Sequence[Row]
) -> MemoryStatistics:
    """From the rows of STATISTICS, CATEGORIES and SOURCES."""
    [(count, private, expired, oldest, newest)] = counts
    kinds: dict[Any, int] = {}
    for source, number in sources:
        kind = json.loads(source).get("kind", "")
        kinds[kind] = kinds.get(kind, 0) + number
    return MemoryStatistics(
        count=count,
        private=private,
        expired=expired,
        categories=tuple((name, number) for name, number in categories),
        sources=tuple(sorted(kinds.items(), key=lambda item: -item[1])),
        oldest=datetime.fromisoformat(oldest) if oldest else None,
        newest=datetime.fromisoformat(newest) if newest else None,
    )


def clean_tags(tags: Iterable[str]) -> tuple[str, ...]:
    """Each one short line, none empty, none twice."""
    one_line = (" ".join(tag.split())[:MAX_TAG_CHARACTERS].strip() for tag in tags)
    return tuple(dict.fromkeys(tag for tag in one_line if tag))[:MAX_TAGS]


def category_or_none(category: str | None) -> str | None:
    return None if category is None else clean_category(category)


def to_json(value: dict[str, Any] | tuple[str, ...]) -> str:
    return _encode(value) if value else _EMPTY[type(value)]


def source_column(source: Source) -> str:
    """Only what is known of it."""
    return to_json({name: value for name in _SOURCE if (value := getattr(source, name))})


def known_id(number: int) -> int:
    """A number that the database can compare; one that no row has when this one is out of its range."""
    return number if 0 < number <= MAX_ID else 0


@lru_cache(maxsize=64)
def _source(column: str) -> Source:
    known: Mapping[str, Any] = json.loads(column)
    return Source(**{name: value for name, value in known.items() if value})


# ---- memory statements -----------------------------------------------------------------------------------
# SQL on memories: kept, listed, changed. Every statement names its user, those by id as well.

# ruff: noqa: S608 - put together from constants alone


_WRITTEN: Final = (
    "content, category, tags, metadata, audience, search_content, search_tags, source, expires_at, likeness, "
    "keys, terms_version"
)

# $1 user, $2 what it supersedes or NULL, $3 now, $4 to $15 the columns of _WRITTEN
_NEW: Final = f"""
    INSERT INTO memories (user_id, number, supersedes, pinned, created_at, updated_at, {_WRITTEN})
    SELECT
        $1,
        {next_number("memory")},
        (SELECT old.id FROM memories AS old WHERE old.user_id = $1 AND old.id = $2 AND old.status = 'active'),
        EXISTS (
            SELECT 1 FROM memories AS old
            WHERE old.user_id = $1 AND old.id = $2 AND old.status = 'active' AND old.pinned = 1
        ),
        $3, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15
"""

INSERT: Final = f"{_NEW} RETURNING {COLUMNS}"

# The same for one that supersedes nothing, as most do: $2 is NULL. Its row is known but for its ids; to read
# it back would take a tenth of the time that storing it does.
INSERT_ALONE: Final = f"""
    INSERT INTO memories (user_id, number, supersedes, created_at, updated_at, {_WRITTEN})
    VALUES ($1, {next_number("memory")}, $2, $3, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15)
    RETURNING id, number
"""

# $13 is the likeness. Serves itself by memories_by_likeness; $16 the audience beside 'anywhere' that counts.
INSERT_UNLESS_KNOWN: Final = f"""
    {_NEW}
    WHERE NOT EXISTS (
        SELECT 1 FROM memories AS known
        WHERE known.user_id = $1 AND known.likeness = $13 AND known.status = 'active'
            AND known.audience IN ('anywhere', $16)
    )
    RETURNING {COLUMNS}
"""

# $1 user, $2 likeness, $3 the audience beside 'anywhere' that counts
SELECT_ALIKE: Final = f"""
    SELECT {COLUMNS} FROM memories
    WHERE user_id = $1 AND likeness = $2 AND status = 'active' AND audience IN ('anywhere', $3)
    ORDER BY id DESC LIMIT 1
"""

# After an INSERT in the same transaction: what the newest memory names goes into its history.
# $1 user, $2 the memory that is superseded
SUPERSEDE: Final = """
    UPDATE memories SET status = 'superseded'
    WHERE user_id = $1 AND id = $2 AND status = 'active' AND EXISTS (
        SELECT 1 FROM memories AS newer
        WHERE newer.user_id = $1 AND newer.supersedes = $2 AND newer.status = 'active'
    )
    RETURNING id
"""

# Before SUPERSEDE in the same transaction. What was superseded has a smaller id; a copy of a former text a
# greater one. $1 user, $2 memory, $3 the one whose place it takes, $4 now
TAKE_PLACE: Final = f"""
    UPDATE memories SET
        supersedes = $3,
        updated_at = $4,
        pinned = max(pinned, (SELECT old.pinned FROM memories AS old WHERE old.user_id = $1 AND old.id = $3))
    WHERE user_id = $1 AND id = $2 AND id > $3 AND status = 'active' AND supersedes IS NULL AND EXISTS (
        SELECT 1 FROM memories AS old WHERE old.user_id = $1 AND old.id = $3 AND old.status = 'active'
    )
    RETURNING {COLUMNS}
"""

SELECT: Final = f"""
    SELECT {COLUMNS} FROM memories WHERE user_id = $1 AND id = $2 AND status = 'active'
"""

# The row of a number: one that is listed, or was until now. By memories_by_number.
SELECT_ID: Final = "SELECT id FROM memories WHERE user_id = $1 AND number = $2"

SELECT_TEXT: Final = """
    SELECT content, tags FROM memories WHERE user_id = $1 AND id = $2 AND status = 'active'
"""

# $1 user, $2 and $3 the ids between which the page lies, $4 category or NULL, $5 limit, $6 offset
LIST: Final = {
    "older": f"""
        SELECT {COLUMNS} FROM memories
        WHERE user_id = $1 AND id > $2 AND id < $3 AND ($4 IS NULL OR category = $4) AND status = 'active'
        ORDER BY id DESC LIMIT $5 OFFSET $6
    """,
    "newer": f"""
        SELECT {COLUMNS} FROM memories
        WHERE user_id = $1 AND id > $2 AND id < $3 AND ($4 IS NULL OR category = $4) AND status = 'active'
        ORDER BY id LIMIT $5 OFFSET $6
    """,
    "updated": f"""
        SELECT {COLUMNS} FROM memories
        WHERE user_id = $1 AND id > $2 AND id < $3 AND ($4 IS NULL OR category = $4) AND status = 'active'
        ORDER BY updated_at DESC, id DESC LIMIT $5 OFFSET $6
    """,
}

COUNT: Final = """
    SELECT count(*) FROM memories
    WHERE user_id = $1 AND ($2 IS NULL OR category = $2) AND status = 'active'
"""

# $1 user, $2 now
STATISTICS: Final = """
    SELECT count(*), count(CASE WHEN audience = 'private' THEN 1 END),
        count(CASE WHEN expires_at <= $2 THEN 1 END),
        min(created_at), max(created_at)
    FROM memories WHERE user_id = $1 AND status = 'active'
"""

CATEGORIES: Final = """
    SELECT category, count(*) FROM memories
    WHERE user_id = $1 AND status = 'active'
    GROUP BY category ORDER BY count(*) DESC, category
"""

SOURCES: Final = """
    SELECT source, count(*) FROM memories
    WHERE user_id = $1 AND status = 'active'
    GROUP BY source
"""

_OF_THE_OTHER: Final = f"{_WRITTEN}, created_at, updated_at"

# A change of what a memory says, or of how it is filed, keeps a copy of what it replaces.
# $1 user, $2 memory, $3 the new text, $4 category, $5 tags, $6 whether the end is set, $7 the end
KEEP_FORMER: Final = f"""
    INSERT INTO memories (user_id, status, supersedes, {_OF_THE_OTHER})
    SELECT user_id, 'superseded', supersedes, {_OF_THE_OTHER}
    FROM memories
    WHERE user_id = $1 AND id = $2 AND status = 'active' AND (
        content <> coalesce($3, content) OR category <> coalesce($4, category) OR tags <> coalesce($5, tags)
        OR ($6 AND coalesce(expires_at, '') <> coalesce($7, ''))
    )
"""

# What is NULL stays as it is. Ids only grow: in the transaction of KEEP_FORMER, the greatest is the copy's.
# $1 user, $2 memory, $3 text, $4 and $5 folded text and tags, $6 category, $7 tags, $8 metadata, $9 audience,
# $10 now, $11 whether the end is set, $12 the end, $13 likeness, $14 keys, $15 their version
UPDATE: Final = f"""
    UPDATE memories SET
        supersedes = CASE
            WHEN content <> coalesce($3, content) OR category <> coalesce($6, category)
                OR tags <> coalesce($7, tags) OR ($11 AND coalesce(expires_at, '') <> coalesce($12, ''))
            THEN (SELECT max(former.id) FROM memories AS former WHERE former.user_id = $1)
            ELSE supersedes END,
        content = coalesce($3, content),
        search_content = coalesce($4, search_content),
        search_tags = coalesce($5, search_tags),
        category = coalesce($6, category),
        tags = coalesce($7, tags),
        metadata = coalesce($8, metadata),
        audience = coalesce($9, audience),
        updated_at = $10,
        expires_at = CASE WHEN $11 THEN $12 ELSE expires_at END,
        likeness = coalesce($13, likeness),
        keys = coalesce($14, keys),
        terms_version = coalesce($15, terms_version),
        source = coalesce($16, source)
    WHERE user_id = $1 AND id = $2 AND status = 'active'
    RETURNING {COLUMNS}
"""

# Whether one more may be pinned. By memories_pinned. $1 user
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
