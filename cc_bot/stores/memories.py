"""Memories: the notes that users asked to have kept. Every statement names its user, those by id as well."""

import json
from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from typing import Final

from cc_bot.domain.clock import Clock, utc_now
from cc_bot.domain.memory import (
    DEFAULT_CATEGORY,
    MAX_TAGS,
    Audience,
    Memory,
    clean_category,
    clean_content,
)
from cc_bot.domain.message import Visibility
from cc_bot.storage import Database, Row, Statement
from cc_bot.stores.columns import to_text
from cc_bot.stores.matching import fold, fold_tags, search_statement

_MAX_ID: Final = 2**63 - 1

_INSERT: Final = """
    INSERT INTO memories (
        user_id, content, category, tags, metadata, audience, created_at, updated_at,
        search_content, search_tags
    )
    VALUES ($1, $2, $3, $4, $5, $6, $7, $7, $8, $9)
    RETURNING id, user_id, content, category, tags, metadata, created_at, updated_at, audience
"""

_SELECT: Final = """
    SELECT id, user_id, content, category, tags, metadata, created_at, updated_at, audience
    FROM memories
    WHERE user_id = $1 AND id = $2
"""

# $1 user, $2 and $3 the ids between which the page lies, $4 category or NULL, $5 limit
_LIST_OLDER: Final = """
    SELECT id, user_id, content, category, tags, metadata, created_at, updated_at, audience
    FROM memories
    WHERE user_id = $1 AND id > $2 AND id < $3 AND ($4 IS NULL OR category = $4)
    ORDER BY id DESC
    LIMIT $5
"""

_LIST_NEWER: Final = """
    SELECT id, user_id, content, category, tags, metadata, created_at, updated_at, audience
    FROM memories
    WHERE user_id = $1 AND id > $2 AND id < $3 AND ($4 IS NULL OR category = $4)
    ORDER BY id
    LIMIT $5
"""

_COUNT: Final = "SELECT count(*) FROM memories WHERE user_id = $1 AND ($2 IS NULL OR category = $2)"

# What is NULL stays as it is.
_UPDATE: Final = """
    UPDATE memories SET
        content = coalesce($3, content),
        search_content = coalesce($4, search_content),
        category = coalesce($5, category),
        tags = coalesce($6, tags),
        search_tags = coalesce($7, search_tags),
        metadata = coalesce($8, metadata),
        audience = coalesce($9, audience),
        updated_at = $10
    WHERE user_id = $1 AND id = $2
    RETURNING id, user_id, content, category, tags, metadata, created_at, updated_at, audience
"""

_DELETE: Final = "DELETE FROM memories WHERE user_id = $1 AND id = $2 RETURNING id"


class MemoryStore:
    """The memories of every user, and only ever the owner's."""

    def __init__(self, database: Database, *, clock: Clock = utc_now) -> None:
        self._database = database
        self._clock = clock

    async def add(
        self,
        user_id: int,
        content: str,
        *,
        category: str = DEFAULT_CATEGORY,
        tags: Sequence[str] = (),
        metadata: Mapping[str, str] | None = None,
        audience: Audience = "anywhere",
    ) -> Memory:
        """Keep a note. Raises EmptyMemory or MemoryTooLong."""
        content, tags = clean_content(content), _clean_tags(tags)
        params = (
            user_id,
            content,
            clean_category(category),
            _json(tags),
            _json(dict(metadata or {})),
            audience,
            to_text(self._clock()),
            fold(content),
            fold_tags(tags),
        )
        [rows] = await self._database.transaction([Statement(_INSERT, params)])
        return _memory(rows[0])

    async def get(self, user_id: int, memory_id: int) -> Memory | None:
        """The user's memory of this id; None when it is not there or not theirs."""
        rows = await self._database.query(_SELECT, user_id, _id(memory_id))
        return _memory(rows[0]) if rows else None

    async def search(
        self,
        user_id: int,
        query: str,
        *,
        limit: int = 5,
        category: str | None = None,
        tags: Sequence[str] = (),
        visibility: Visibility = "private",
    ) -> "list[Memory]":
        """The user's memories that match, best first (see matching.py), and that carry all of the tags.

        `visibility` is that of the answer in which they will be used: memories made in private are left out
        of a public one.
        """
        statement = search_statement(
            user_id,
            query,
            category=_category(category),
            tags=_clean_tags(tags),
            audience="private" if visibility == "private" else "anywhere",
            limit=_limit(limit),
        )
        return [_memory(row) for row in await self._database.query(statement.sql, *statement.params)]

    async def matching(self, user_id: int, typed: str, *, limit: int = 25) -> "list[Memory]":
        """What someone may mean who types this to choose a memory: the one with that number (`12`, `#12`)
        first, then those that match the text; the newest where nothing is typed yet."""
        text = typed.strip()
        if not text:
            return await self.list(user_id, limit=limit)
        number = text.lstrip("#＃")
        if not number.isdecimal():
            return await self.search(user_id, text, limit=limit)
        found = await self.search(user_id, number, limit=limit)
        numbered = await self.get(user_id, int(number))
        if numbered is None:
            return found
        return [numbered, *(memory for memory in found if memory.id != numbered.id)][:limit]

    async def list(
        self,
        user_id: int,
        *,
        category: str | None = None,
        limit: int = 20,
        before_id: int | None = None,
        after_id: int | None = None,
    ) -> "list[Memory]":
        """A page of the user's memories, newest first.

        `before_id` gives those older than that one, nearest first. `after_id` gives those newer than that
        one: the `limit` nearest to it, newest first all the same.
        """
        low = 0 if after_id is None else _id(after_id)
        high = _MAX_ID if before_id is None else min(before_id, _MAX_ID)
        newer = after_id is not None and before_id is None
        rows = await self._database.query(
            _LIST_NEWER if newer else _LIST_OLDER, user_id, low, high, _category(category), _limit(limit)
        )
        return [_memory(row) for row in (reversed(rows) if newer else rows)]

    async def count(self, user_id: int, *, category: str | None = None) -> int:
        [(number,)] = await self._database.query(_COUNT, user_id, _category(category))
        return int(number)

    async def update(
        self,
        user_id: int,
        memory_id: int,
        *,
        content: str | None = None,
        category: str | None = None,
        tags: Sequence[str] | None = None,
        metadata: Mapping[str, str] | None = None,
        audience: Audience | None = None,
    ) -> Memory | None:
        """Change what is given; None when the memory is not there or not the user's.

        Raises EmptyMemory or MemoryTooLong.
        """
        content = None if content is None else clean_content(content)
        tags = None if tags is None else _clean_tags(tags)
        params = (
            user_id,
            _id(memory_id),
            content,
            None if content is None else fold(content),
            _category(category),
            None if tags is None else _json(tags),
            None if tags is None else fold_tags(tags),
            None if metadata is None else _json(dict(metadata)),
            audience,
            to_text(self._clock()),
        )
        [rows] = await self._database.transaction([Statement(_UPDATE, params)])
        return _memory(rows[0]) if rows else None

    async def delete(self, user_id: int, memory_id: int) -> bool:
        """Whether there was such a memory of this user. Its id is not given again."""
        [rows] = await self._database.transaction([Statement(_DELETE, (user_id, _id(memory_id)))])
        return bool(rows)


def _memory(row: Row) -> Memory:
    id_, user_id, content, category, tags, metadata, created_at, updated_at, audience = row
    return Memory(
        id=id_,
        user_id=user_id,
        content=content,
        category=category,
        tags=tuple(json.loads(tags)),
        metadata=json.loads(metadata),
        created_at=datetime.fromisoformat(created_at),
        updated_at=datetime.fromisoformat(updated_at),
        audience=audience,
    )


def _clean_tags(tags: Iterable[str]) -> tuple[str, ...]:
    """Each on one line, none empty, none twice."""
    one_line = (" ".join(tag.split()) for tag in tags)
    return tuple(dict.fromkeys(tag for tag in one_line if tag))[:MAX_TAGS]


def _category(category: str | None) -> str | None:
    return None if category is None else clean_category(category)


def _json(value: object) -> str:
    return json.dumps(value, ensure_ascii=False)


def _id(number: int) -> int:
    """A number that the database can compare; one that no row has when this one is out of its range."""
    return number if 0 < number <= _MAX_ID else 0


def _limit(number: int) -> int:
    return min(max(number, 0), _MAX_ID)  # a negative LIMIT is none at all to SQLite
