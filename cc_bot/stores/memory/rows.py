"""Rows of memories: their columns, and the steps that write them."""

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, fields
from datetime import datetime
from functools import lru_cache
from typing import Any, Final

from cc_bot.domain.errors import MemoryEditOutdated
from cc_bot.domain.memory import (
    MAX_PINNED,
    WORDING,
    Memory,
    Source,
    clean_category,
    clean_content,
    clean_metadata,
    clean_source,
    clean_tags,
)
from cc_bot.domain.memory_calls import named_ids, with_texts
from cc_bot.domain.memory_transfer import PortableMemory
from cc_bot.domain.message import Message, ToolCall, Visibility
from cc_bot.domain.text import without_controls
from cc_bot.domain.usage import Rules
from cc_bot.storage import Database, Row, Statement, Steps
from cc_bot.stores.columns import (
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
from cc_bot.stores.memory.index import SEARCHED, delete_terms, insert_terms, reindex, search_text
from cc_bot.stores.memory.limits import ensure_room_left
from cc_bot.stores.receipts import mark_stale

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


def _as_stored(columns: dict[str, Any]) -> dict[str, Any]:
    """Replace lone surrogates, which models sometimes write and UTF-8 can't encode."""
    texts = {name: value for name, value in columns.items() if isinstance(value, str)}
    try:
        "".join(texts.values()).encode()
    except UnicodeEncodeError:
        return columns | {name: text.encode("utf-8", "replace").decode() for name, text in texts.items()}
    return columns


# ruff: noqa: S608 - put together from constants alone

# $1 user, $2 memory
SELECT: Final = f"""
    SELECT {MEMORY.select} FROM memories WHERE user_id = $1 AND id = $2 AND status = 'active'
"""

# Includes former versions and hidden memories. $1 user, $2 an array of memories
_SELECT_ANY: Final = f"SELECT {MEMORY.select} FROM memories WHERE user_id = $1 AND id IN @ids($2)"

_WRITTEN: Final = Parameters((*GIVEN, *SEARCHED.names), first=4)

# Returns only the ids: reading the row back would take a tenth of the time. Uses memories_by_likeness. $1
# user, $2 now, $3 1: always, 0: unless there is one of this likeness with audience 'anywhere' or the same;
# then _WRITTEN
_INSERT: Final = f"""
    INSERT INTO memories (user_id, number, created_at, updated_at, {_WRITTEN.names})
    SELECT $1, {next_number("memory")}, $2, $2, {_WRITTEN.marks}
    WHERE CAST($3 AS @number) = 1 OR NOT EXISTS (
        SELECT 1 FROM memories AS known
        WHERE known.user_id = $1 AND known.likeness = {_WRITTEN["likeness"]} AND known.status = 'active'
            AND known.audience IN ('anywhere', {_WRITTEN["audience"]})
    )
    RETURNING id, number
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
        """Clean a memory. Raises EmptyMemory or MemoryTooLong."""
        content = clean_content(memory.content)
        given = {name: getattr(memory, name) for name in GIVEN} | {
            **{name: clean(getattr(memory, name)) for name, clean in CLEAN.items()},
            "content": content,
            "audience": memory.audience or "anywhere",
        }
        made = search_text(content, given["tags"])
        columns = MEMORY.write_some(given) | SEARCHED.write(made)
        return cls(user_id, to_text(memory.created_at or now), columns, made.term_counts)

    def steps(self, file_rules: Rules, *, unless_known: bool = False) -> Steps[list[Memory]]:
        """Store it and return it; with `unless_known`, an empty list if the user has one of this likeness.
        Raises TooManyMemories or MemoryFull."""
        own = (self.user_id, self.made_at, int(not unless_known))
        rows = yield Statement(_INSERT, (*own, *_WRITTEN.of(self.columns)))
        if not rows:
            return []
        memory_id, number = rows[0]
        yield insert_terms(self.user_id, memory_id, self.term_counts)
        yield Statement(_KEEP_NUMBER, own[:1])
        if file_rules:
            yield from ensure_room_left(self.user_id, file_rules)
        put = {"id": memory_id, "user_id": self.user_id, "number": number, "supersedes": None, "pinned": 0}
        made = {"created_at": self.made_at, "updated_at": self.made_at}
        columns = _as_stored({name: self.columns[name] for name in GIVEN}) | put | made
        return [MEMORY.read([columns[name] for name in MEMORY.names])]


_SEARCHED_BY: Final = frozenset({"content", "tags"})


def change(
    own: tuple[int, int],
    given: Mapping[str, Any],
    now: datetime,
    file_rules: Rules,
    *,
    only_as: Memory | None = None,
) -> Steps[Memory | None]:
    """Set cleaned fields and return the memory, if any. Raises MemoryFull, or MemoryEditOutdated if wording
    or audience differ from `only_as`."""
    known = yield Statement(SELECT, own)
    if not known:
        return None
    if only_as is not None and not _is_as(MEMORY.read(known[0]), only_as):
        raise MemoryEditOutdated
    before = MEMORY.by_name(known[0])
    after = before | _as_stored(MEMORY.write_some(given))
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


def _is_as(memory: Memory, other: Memory) -> bool:
    return all(getattr(memory, name) == getattr(other, name) for name in (*WORDING, "audience"))


def hide(user_id: int, memory_id: int, now: str) -> Steps[Sequence[Row]]:
    rows = yield Statement(_HIDE, (user_id, memory_id, now))
    if rows:
        yield delete_terms(user_id, [memory_id])
        yield mark_stale(user_id, "memory", [memory_id])
    return rows


async def read_texts(database: Database, user_id: int, messages: Sequence[Message]) -> tuple[Message, ...]:
    """Insert the user's current memory texts into the tool calls of stored messages."""
    named = [frozenset[int]().union(*map(named_ids, message.tool_calls)) for message in messages]
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
