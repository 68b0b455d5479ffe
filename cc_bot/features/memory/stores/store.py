"""Stores memories, with pins and former versions.

A change of VERSIONED_FIELDS keeps the former version as a row, whose id is then the memory's `supersedes`.
"""

import asyncio
import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from datetime import datetime
from functools import partial
from typing import Any, Final, TypedDict, TypeVar, Unpack

from cc_bot.chat.stores.receipts import mark_receipts_stale
from cc_bot.chat.stores.settings import Keep
from cc_bot.concurrency import Report, report_nothing
from cc_bot.db import Database, Row, Statement, Transaction, user_lock
from cc_bot.db.columns import to_text
from cc_bot.domain.clock import Clock, utc_now
from cc_bot.domain.errors import SecretNotStored
from cc_bot.domain.text import remove_controls
from cc_bot.domain.usage import LimitRules
from cc_bot.features.memory.errors import EmptyMemory, MemoryTooLong, TooManyPinned
from cc_bot.features.memory.files import ImportPlan, LeftOutReason, PortableMemory, to_portable
from cc_bot.features.memory.model import (
    ALL_MEMORIES,
    DEFAULT_CATEGORY,
    MAX_PINNED,
    VERSIONED_FIELDS,
    Audience,
    FoundMemory,
    ListOrder,
    Memory,
    MemoryChange,
    MemoryFilter,
    Source,
    check_details,
    clean_category,
    clean_content,
    clean_tags,
    is_same_text,
)
from cc_bot.features.memory.stores.limits import MemoryQuotas, SecretRules, check_limits
from cc_bot.features.memory.stores.rows import (
    FIELD_CLEANERS,
    MAX_ID,
    MEMORY,
    PIN_MEMORY,
    RECORD_ERASURE,
    SELECT_MEMORY,
    SETTABLE_FIELDS,
    DuplicateMemory,
    NewMemory,
    chain_cte,
    dedup_hash,
    fold_tags,
    hide,
    list_texts,
    reindex,
    update_fields,
    valid_id_or_zero,
)
from cc_bot.features.memory.stores.search import FILTER_SQL, EmbeddingJob, MemorySearch, VectorSearch

# ruff: noqa: S608 - built only from constants
# @name in SQL is a macro of cc_bot/db/database.py.

MAX_QUERY_CHARACTERS: Final = 6000  # longer queries are cut
MAX_PROMPT_CANDIDATES: Final = 200  # newest memories from which those of a prompt are chosen
_MAX_INLINE_CHARACTERS: Final = 500  # longer texts are processed in a thread

_ORDERS: Final[Mapping[ListOrder, str]] = {
    "pinned": "pinned DESC, id DESC",
    "newest": "id DESC",
    "oldest": "id",
    "updated": "updated_at DESC, id DESC",
}
# $1 user, $2 and $3 the ids between which to list, $4 to $7 as FILTER_SQL, $8 limit, $9 offset
LIST_MEMORIES: Final[Mapping[ListOrder, str]] = {
    order: f"""
        SELECT {MEMORY.select} FROM memories
        WHERE user_id = $1 AND id > $2 AND id < $3 AND {FILTER_SQL} AND status = 'active'
        ORDER BY {columns} LIMIT $8 OFFSET $9
    """
    for order, columns in _ORDERS.items()
}
_COUNT_MATCHES: Final = f"""
    SELECT count(*) FROM memories
    WHERE user_id = $1 AND id > $2 AND id < $3 AND {FILTER_SQL} AND status = 'active'
"""

_COUNT_BY_CATEGORY: Final = """
    SELECT category, count(*) FROM memories
    WHERE user_id = $1 AND status = 'active'
    GROUP BY category ORDER BY count(*) DESC, category
"""

_SETTABLE_BUT_AUDIENCE: Final = (name for name in SETTABLE_FIELDS if name != "audience")
_RESTORED_FIELDS: Final = (*_SETTABLE_BUT_AUDIENCE, "supersedes", "updated_at")

# $1 user, $2 memory, $3 its former version
_UNDO_UPDATE: Final = f"""
    UPDATE memories SET ({", ".join(_RESTORED_FIELDS)}) = (
        SELECT {", ".join(f"former.{name}" for name in _RESTORED_FIELDS)}
        FROM memories AS former WHERE former.user_id = $1 AND former.id = $3
    )
    WHERE user_id = $1 AND id = $2 AND status = 'active' AND supersedes = $3 AND EXISTS (
        SELECT 1 FROM memories AS former
        WHERE former.user_id = $1 AND former.id = $3 AND former.status = 'superseded' AND former.id > $2
    )
    RETURNING {MEMORY.select}
"""

_EXPORT_BATCH: Final = 500  # memories per query
_IMPORT_BATCH: Final = 25  # memories per transaction

_COUNTED_FIELDS: Final = ("content", "tags", "metadata")  # the limit on bytes counts these


class MemoryFields(TypedDict, total=False):
    """In `add`, a missing field or None is the default. In `update`, a missing field, None or Keep is no
    change, but `expires_at=None` removes the end."""

    category: str | None
    tags: Sequence[str] | None
    metadata: Mapping[str, str] | None
    audience: Audience | None
    source: Source | None
    expires_at: datetime | Keep | None


Result = TypeVar("Result")


class MemoryStore:
    """Methods return None for a memory that the user does not have."""

    def __init__(
        self,
        database: Database,
        *,
        clock: Clock = utc_now,
        embedding: EmbeddingJob | None = None,
        secret_rules: SecretRules | None = None,
        quotas: MemoryQuotas | None = None,
        max_prompt_memories: int = 0,
    ) -> None:
        self.max_prompt_memories = max_prompt_memories
        self._database = database
        self._quotas = quotas or MemoryQuotas(database)
        self._clock = clock
        self._embedding = embedding
        self._secret_rules = secret_rules or SecretRules()
        self._thread_lock = asyncio.Lock()
        vectors = VectorSearch(database, embedding.embedder) if embedding else None
        self._search = MemorySearch(database, clock, vectors=vectors)
        self._word_search = MemorySearch(database, clock)

    async def add(self, user_id: int, content: str, **fields: Unpack[MemoryFields]) -> Memory:
        """Store a memory. Raises EmptyMemory, MemoryTooLong, SecretNotStored, TooManyMemories or
        MemoryFull."""
        return await self._insert(await self._prepare(user_id, content, fields))

    async def remember(self, user_id: int, content: str, **fields: Unpack[MemoryFields]) -> MemoryChange:
        """Store a memory, or update the memory with the same text, even an expired one. With audience
        'anywhere', no private memory is updated. Raises the errors of `add`."""
        new, allow_duplicate = await self._prepare(user_id, content, fields), False
        while True:
            with suppress(DuplicateMemory):
                return MemoryChange("added", await self._insert(new, allow_duplicate=allow_duplicate))
            duplicate = await self.find_near_duplicate(user_id, content, new.columns["audience"])
            if duplicate is None:
                continue  # deleted meanwhile
            if not is_same_text(duplicate.content, content):
                allow_duplicate = True
            elif updated := await self._update_duplicate(duplicate, content, fields):
                return MemoryChange("updated", updated, duplicate)

    async def _insert(self, new: NewMemory, *, allow_duplicate: bool = True) -> Memory:
        rules = await self._quotas.read_rules()
        steps = partial(new.insert, rules, allow_duplicate=allow_duplicate)
        return self._schedule_embedding(await self._database.write(steps, [user_lock(new.user_id)]))

    async def _update_duplicate(self, duplicate: Memory, content: str, fields: MemoryFields) -> Memory | None:
        versioned: dict[str, Any] = {k: v for k, v in fields.items() if v and k in VERSIONED_FIELDS}
        if clean_category(fields.get("category")) == DEFAULT_CATEGORY:
            versioned.pop("category", None)
        if duplicate.is_expired(self._clock()):
            versioned.setdefault("expires_at", None)
        return await self.update(duplicate.user_id, duplicate.id, content=content, **versioned)

    async def find_near_duplicate(self, user_id: int, content: str, audience: Audience) -> Memory | None:
        """Return the newest memory with the same dedup hash (in the column `likeness`)."""
        hash_ = dedup_hash(remove_controls(content).strip())
        sql = f"""
            SELECT {MEMORY.select} FROM memories
            WHERE user_id = $1 AND likeness = $2 AND status = 'active' AND audience IN ('anywhere', $3)
            ORDER BY id DESC LIMIT 1
        """
        return MEMORY.read_first(await self._database.query(sql, user_id, hash_, audience))

    async def get(self, user_id: int, memory_id: int) -> Memory | None:
        return MEMORY.read_first(
            await self._database.query(SELECT_MEMORY, user_id, valid_id_or_zero(memory_id))
        )

    async def get_id(self, user_id: int, number: int) -> int | None:
        sql = "SELECT id FROM memories WHERE user_id = $1 AND number = $2"
        rows = await self._database.query(sql, user_id, valid_id_or_zero(number))
        return rows[0][0] if rows else None

    async def get_by_number(self, user_id: int, number: int) -> Memory | None:
        sql = f"""
            SELECT {MEMORY.select} FROM memories WHERE user_id = $1 AND number = $2 AND status = 'active'
        """
        return MEMORY.read_first(await self._database.query(sql, user_id, valid_id_or_zero(number)))

    async def find(
        self,
        user_id: int,
        query: str,
        *,
        limit: int = 5,
        audience: Audience = "anywhere",
        filters: MemoryFilter = ALL_MEMORIES,
    ) -> "list[FoundMemory]":
        """Find unexpired memories that match the query, best first; private memories only with audience
        'private'."""
        query, limit = query[:MAX_QUERY_CHARACTERS], _clamp_limit(limit)
        params = _filter_params(filters)
        return await self._search.find(user_id, query, limit=limit, audience=audience, filter_params=params)

    async def search(
        self,
        user_id: int,
        query: str,
        *,
        limit: int = 5,
        category: str | None = None,
        tags: Sequence[str] = (),
    ) -> "list[Memory]":
        """Find memories that may be used anywhere, as `find` does, but without their confidence."""
        filters = MemoryFilter(category, tuple(tags))
        return [each.memory for each in await self.find(user_id, query, limit=limit, filters=filters)]

    async def suggest(self, user_id: int, typed: str, *, limit: int = 25) -> "list[Memory]":
        """Return the memory with the typed number (`12`, `#12`), then matches; the newest for no text."""
        text, limit = typed[:MAX_QUERY_CHARACTERS].strip(), _clamp_limit(limit)
        if not text:
            return await self.list(user_id, limit=limit)
        digits = re.fullmatch(r"\A[#＃]*+(\d{1,19})", text)
        query, params = digits[1] if digits else text, _filter_params(ALL_MEMORIES)
        matches = await self._word_search.find(
            user_id, query, limit=limit, audience="private", filter_params=params
        )
        memories = [each.memory for each in matches]
        numbered = await self.get_by_number(user_id, int(digits[1])) if digits else None
        if numbered:
            memories = [numbered, *(memory for memory in memories if memory.id != numbered.id)]
        return memories[:limit]

    async def list(
        self,
        user_id: int,
        *,
        category: str | None = None,
        limit: int = 20,
        before_id: int | None = None,
        after_id: int | None = None,
        order: ListOrder = "newest",
        offset: int = 0,
        filters: MemoryFilter = ALL_MEMORIES,
    ) -> "list[Memory]":
        """List memories with ids between `after_id` and `before_id`. `category` overrides `filters`."""
        if category is not None:
            filters = replace(filters, category=category)
        low = 0 if after_id is None else valid_id_or_zero(after_id)
        high = MAX_ID if before_id is None else min(before_id, MAX_ID)
        params = (user_id, low, high, *_filter_params(filters), _clamp_limit(limit), max(offset, 0))
        return [*map(MEMORY.read, await self._database.query(LIST_MEMORIES[order], *params))]

    async def count(self, user_id: int, *, filters: MemoryFilter = ALL_MEMORIES) -> int:
        params = (user_id, 0, MAX_ID, *_filter_params(filters))
        [(count,)] = await self._database.query(_COUNT_MATCHES, *params)
        return int(count)

    async def list_categories(self, user_id: int, *, limit: int = 100) -> Sequence[Row]:
        return (await self._database.query(_COUNT_BY_CATEGORY, user_id))[: _clamp_limit(limit)]

    async def list_tags(self, user_id: int, *, limit: int = 100) -> Sequence[Row]:
        sql = """
            SELECT tag.value, count(*) FROM memories, @each_text(memories.tags) AS tag
            WHERE user_id = $1 AND status = 'active' AND tags <> '[]'
            GROUP BY tag.value ORDER BY count(*) DESC, tag.value LIMIT $2
        """
        return await self._database.query(sql, user_id, _clamp_limit(limit))

    async def update(
        self,
        user_id: int,
        memory_id: int,
        *,
        content: str | None = None,
        expected: Memory | None = None,
        **fields: Unpack[MemoryFields],
    ) -> Memory | None:
        """Change the given fields. Raises EmptyMemory, MemoryTooLong, SecretNotStored, MemoryFull, or
        MemoryEditOutdated if versioned fields or audience differ from `expected`."""
        cleaned = {} if content is None else {"content": clean_content(content)}
        for name, value in (await self._check_fields(fields, cleaned.get("content", ""))).items():
            cleaned[name] = FIELD_CLEANERS[name](value) if name in FIELD_CLEANERS else value
        memory_id, now, rules = valid_id_or_zero(memory_id), self._clock(), await self._quotas.read_rules()
        changed = await self._database.write(
            lambda: update_fields(user_id, memory_id, cleaned, now, rules, expected=expected),
            [user_lock(user_id)],
        )
        return self._schedule_embedding(changed) if changed else None

    async def delete(self, user_id: int, memory_id: int) -> bool:
        """Hide a memory until its erasure after UNDO_TIME. Returns whether the user had it."""
        params = (user_id, valid_id_or_zero(memory_id), to_text(self._clock()))
        return await self._database.write(lambda: hide(*params), [user_lock(user_id)])

    async def pin(self, user_id: int, memory_id: int) -> Memory | None:
        """Pin a memory. Raises TooManyPinned beyond MAX_PINNED."""
        params = (user_id, valid_id_or_zero(memory_id))

        def steps() -> Transaction[Sequence[Row]]:
            pinned = yield Statement(PIN_MEMORY, params)
            if not pinned and (yield Statement(SELECT_MEMORY, params)):
                raise TooManyPinned(limit=MAX_PINNED)
            return pinned

        return MEMORY.read_first(await self._database.write(steps, [user_lock(user_id)]))

    async def unpin(self, user_id: int, memory_id: int) -> Memory | None:
        sql = f"""
            UPDATE memories SET pinned = 0
            WHERE user_id = $1 AND id = $2 AND status = 'active'
            RETURNING {MEMORY.select}
        """
        unpin = Statement(sql, (user_id, valid_id_or_zero(memory_id)))
        [rows] = await self._database.transaction([unpin], [user_lock(user_id)])
        return MEMORY.read_first(rows)

    async def list_for_prompt(self, user_id: int, *, audience: Audience = "anywhere") -> Sequence[Memory]:
        """List up to `max_prompt_memories` memories: the pinned, then the others, each newest first. Leaves
        out tainted memories, which would taint every turn."""
        if not self.max_prompt_memories:
            return []
        # Uses the indexes memories_pinned and memories_by_user.
        sql = f"""
            SELECT {MEMORY.select} FROM memories WHERE user_id = $1 AND pinned = 1 AND status = 'active'
            UNION ALL
            SELECT * FROM (
                SELECT {MEMORY.select} FROM memories
                WHERE user_id = $1 AND pinned = 0 AND status = 'active'
                ORDER BY id DESC LIMIT $2
            ) AS newest
        """
        now, rows = self._clock(), await self._database.query(sql, user_id, MAX_PROMPT_CANDIDATES)
        usable = [
            memory
            for memory in map(MEMORY.read, rows)
            if memory.audience in ("anywhere", audience) and not (memory.tainted or memory.is_expired(now))
        ]
        return sorted(usable, key=lambda memory: (not memory.pinned, -memory.id))[: self.max_prompt_memories]

    async def list_versions(self, user_id: int, memory_id: int) -> Sequence[Memory]:
        sql = f"""
            {chain_cte("id = $2 AND status = 'active'")}
            SELECT {MEMORY.select} FROM memories
            WHERE user_id = $1 AND id <> $2 AND id IN (SELECT id FROM chain)
            ORDER BY id DESC
        """
        return [*map(MEMORY.read, await self._database.query(sql, user_id, valid_id_or_zero(memory_id)))]

    async def restore(self, user_id: int, memory_id: int, version_id: int) -> Memory | None:
        """Set the versioned fields and the source to those of a former version."""
        versions = await self.list_versions(user_id, memory_id)
        version = next((each for each in versions if each.id == version_id), None)
        if version is None:
            return None
        versioned = {name: getattr(version, name) for name in VERSIONED_FIELDS}
        return await self.update(user_id, memory_id, **versioned, source=version.source)

    async def undo_update(self, user_id: int, memory_id: int, former_id: int) -> Memory | None:
        """Undo the update that made the former version `former_id`. Returns None after a later update."""
        params = (user_id, valid_id_or_zero(memory_id), valid_id_or_zero(former_id))

        def steps() -> Transaction[Memory | None]:
            memory = MEMORY.read_first((yield Statement(_UNDO_UPDATE, params)))
            if memory:
                yield from reindex(user_id, memory.id, memory.content, memory.tags)
                yield mark_receipts_stale(user_id, "memory", [memory.id])
            sql = """
                DELETE FROM memories
                WHERE user_id = $1 AND id = $3 AND id > $2 AND status = 'superseded' AND NOT EXISTS (
                    SELECT 1 FROM memories AS newer WHERE newer.user_id = $1 AND newer.supersedes = $3
                )
            """
            yield Statement(sql, params)
            yield Statement("DELETE FROM memory_vectors WHERE user_id = $1 AND memory_id = $2", params[:2])
            yield Statement(RECORD_ERASURE)
            return memory

        memory = await self._database.write(steps, [user_lock(user_id)])
        return self._schedule_embedding(memory) if memory else None

    async def contains_secret(self, *texts: str) -> bool:
        return await self._compute(sum(map(len, texts)), self._secret_rules.contains_secret, *texts)

    def _schedule_embedding(self, memory: Memory) -> Memory:
        if self._embedding:
            self._embedding.schedule(memory.id)
        return memory

    async def export_all(self, user_id: int) -> Sequence[PortableMemory]:
        exported, after_id = list[PortableMemory](), 0
        while page := await self.list(user_id, order="oldest", after_id=after_id, limit=_EXPORT_BATCH):
            exported += map(to_portable, page)
            after_id = page[-1].id
        return exported

    async def admit_import(self, user_id: int) -> None:
        """Count an import before its file is read. Raises TooManyImports."""
        await self._quotas.admit_import(user_id)

    async def plan_import(
        self, user_id: int, memories: Iterable[PortableMemory], *, audience: Audience = "anywhere"
    ) -> ImportPlan:
        """Plan an import. `audience` is for memories without one. Raises TooManyMemories or MemoryFull."""
        # Uses only the index memories_by_likeness.
        sql = "SELECT likeness FROM memories WHERE user_id = $1 AND status = 'active'"
        known_hashes = {row[0] for row in await self._database.query(sql, user_id)}
        new, left_out = list[PortableMemory](), list[tuple[str, LeftOutReason]]()
        for batch in _batches(tuple(memories), _IMPORT_BATCH):
            for each, problem in await asyncio.to_thread(_check_imports, batch, self._secret_rules):
                hash_ = dedup_hash(each.content)
                if problem or hash_ in known_hashes:
                    left_out.append((each.content, problem or "duplicate"))
                else:
                    known_hashes.add(hash_)
                    new.append(replace(each, audience=each.audience or audience))
        plan = ImportPlan(tuple(new), tuple(left_out))
        size = await asyncio.to_thread(_count_bytes, plan.memories)
        await self._quotas.check_addition(user_id, len(plan.memories), size)
        return plan

    async def import_all(
        self, user_id: int, memories: Iterable[PortableMemory], report: Report = report_nothing
    ) -> Sequence[int]:
        """Store the new memories, and return their ids. Raises the errors of `plan_import` beforehand."""
        plan = await self.plan_import(user_id, memories, audience="private")
        rules, ids = await self._quotas.read_rules(), list[int]()
        for batch in _batches(plan.memories, _IMPORT_BATCH):
            ids += await self._import_batch(user_id, batch, rules)
            await report(len(ids), len(plan.memories))
        return ids

    async def _import_batch(
        self, user_id: int, memories: Sequence[PortableMemory], rules: LimitRules
    ) -> Sequence[int]:
        now = self._clock()
        imported = [replace(each, source=replace(each.source, kind="import")) for each in memories]
        ready = await asyncio.to_thread(lambda: [NewMemory.prepare(user_id, each, now) for each in imported])

        def steps() -> Transaction[list[Memory]]:
            stored = list[Memory]()
            for memory, new in zip(memories, ready, strict=True):
                stored.append((yield from new.insert({})))
                if memory.pinned:  # pins no more than MAX_PINNED
                    yield Statement(PIN_MEMORY, (user_id, stored[-1].id))
            yield from check_limits(user_id, rules)
            return stored

        stored = await self._database.write(steps, [user_lock(user_id)])
        for memory in stored:
            self._schedule_embedding(memory)
        return [memory.id for memory in stored]

    async def _prepare(self, user_id: int, content: str, fields: MemoryFields) -> NewMemory:
        content = clean_content(content)
        memory = PortableMemory(content, **await self._check_fields(fields, content))
        return await self._compute(len(content), NewMemory.prepare, user_id, memory, self._clock())

    async def _check_fields(self, fields: MemoryFields, content: str) -> dict[str, Any]:
        """Return the fields that have a value. Raises DetailsTooLong or SecretNotStored."""
        present = {
            name: value
            for name, value in fields.items()
            if not isinstance(value, Keep) and (value is not None or name in MEMORY.nullable)
        }
        check_details(fields.get("category"), fields.get("tags") or (), fields.get("metadata") or {})
        texts = [content, *list_texts(present)]
        await self._compute(sum(map(len, texts)), self._secret_rules.check, *texts)
        return present

    async def _compute(self, characters: int, function: Callable[..., Result], *args: object) -> Result:
        """Call a function that reads so many characters. If they are many, use a thread, a call at a time."""
        if characters <= _MAX_INLINE_CHARACTERS:
            return function(*args)
        async with self._thread_lock:
            return await asyncio.to_thread(function, *args)


def _filter_params(filters: MemoryFilter) -> tuple[str | None, ...]:
    """Return the parameters of FILTER_SQL."""
    tags = json.dumps([fold_tags([tag]) for tag in clean_tags(filters.tags)], ensure_ascii=False)
    category = None if filters.category is None else clean_category(filters.category)
    return category, filters.audience, filters.source_kind, tags


def _clamp_limit(limit: int) -> int:
    return min(max(limit, 0), MAX_ID)  # SQLite treats a negative LIMIT as no limit


def _check_imports(
    memories: Iterable[PortableMemory], rules: SecretRules
) -> list[tuple[PortableMemory, LeftOutReason | None]]:
    """Return each memory with clean content and, if it can't be stored, the problem."""
    checked = list[tuple[PortableMemory, LeftOutReason | None]]()
    for memory in memories:
        fields = {name: getattr(memory, name) for name in SETTABLE_FIELDS}
        try:
            fields["content"] = content = clean_content(memory.content)
            check_details(memory.category, memory.tags, memory.metadata)
            rules.check(*list_texts(fields))
        except EmptyMemory:
            checked.append((memory, "empty"))
        except MemoryTooLong:
            checked.append((memory, "too_long"))
        except SecretNotStored:
            checked.append((memory, "secret"))
        else:
            checked.append((replace(memory, content=content), None))
    return checked


def _count_bytes(memories: Iterable[PortableMemory]) -> int:
    """Return the sum that the column `bytes` would have for these memories."""
    fields = ({name: getattr(each, name) for name in _COUNTED_FIELDS} for each in memories)
    texts = (text for each in fields for text in MEMORY.write_some(each).values())
    return sum(len(text.encode("utf-8", "replace")) for text in texts)


def _batches(items: Sequence[PortableMemory], size: int) -> Iterator[Sequence[PortableMemory]]:
    for start in range(0, len(items), size):
        yield items[start : start + size]
