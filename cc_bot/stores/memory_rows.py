"""How memories stand in their table: columns in and out."""

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import fields
from datetime import datetime
from functools import lru_cache
from typing import Any, Final

from cc_bot.domain.memory import (
    MAX_TAG_CHARACTERS,
    MAX_TAGS,
    Memory,
    MemoryStatistics,
    Source,
    clean_category,
)
from cc_bot.storage import Row

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
