"""Memories: the notes that users asked to store. Every statement is restricted to a user, including those by
id."""

import asyncio
import json
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any, Final, TypedDict, TypeVar, Unpack
from weakref import WeakValueDictionary

from cc_bot.domain.clock import Clock, utc_now
from cc_bot.domain.errors import MemoryEditOutdated
from cc_bot.domain.memory import (
    ALL_MEMORIES,
    DEFAULT_CATEGORY,
    WORDING,
    Audience,
    FoundMemory,
    Memory,
    MemoryChange,
    MemoryFilter,
    MemoryStatistics,
    Order,
    Source,
    check_beside,
    clean_category,
    clean_content,
    clean_metadata,
    clean_source,
    clean_tags,
)
from cc_bot.domain.memory_transfer import PortableMemory
from cc_bot.domain.text import without_controls
from cc_bot.domain.usage import Rules
from cc_bot.storage import Database, Row, Statement, Steps, user
from cc_bot.stores.columns import list_of, to_text
from cc_bot.stores.memory import rows as sql
from cc_bot.stores.memory.meaning import DROP_OUTDATED_VECTOR, Embedding, Meaning
from cc_bot.stores.memory.quotas import MemoryQuotas, ensure_room_left
from cc_bot.stores.memory.rows import (
    GIVEN,
    MAX_ID,
    MEMORY,
    SEARCHED,
    as_stored,
    known_id,
    statistics_of,
    words_of,
)
from cc_bot.stores.memory.search import MemorySearch
from cc_bot.stores.memory.secrets import SecretRules
from cc_bot.stores.memory.terms import delete_terms, insert_terms
from cc_bot.stores.memory.texts import fold_tags, likeness, search_text
from cc_bot.stores.receipts import mark_stale
from cc_bot.stores.settings import Keep

# ---- memory edit -----------------------------------------------------------------------------------------

_SEARCHED_BY: Final = frozenset({"content", "tags"})


class MemoryFields(TypedDict, total=False):
    """Optional fields of a memory. If missing or None, they get the default or stay unchanged; but None for
    `expires_at` removes it."""

    category: str | None
    tags: Sequence[str] | None
    metadata: Mapping[str, str] | None
    audience: Audience | None
    source: Source | None
    expires_at: datetime | Keep | None


@dataclass(frozen=True, slots=True)
class MemoryEdit:
    """A change of a memory, with cleaned fields."""

    fields: Mapping[str, Any]
    only_as: Memory | None = None
    """If given, the memory must still equal this one."""

    def steps(self, user_id: int, memory_id: int, now: datetime, file_rules: Rules) -> Steps[Row | None]:
        """Apply the change and return the changed row; None if the user does not have the memory. Raises
        MemoryFull if it exceeds `file_rules` (of the operator's file)."""
        own = (user_id, memory_id)
        known = yield Statement(sql.SELECT, own)
        if not known:
            return None
        if self.only_as is not None and not _is_as(MEMORY.read(known[0]), self.only_as):
            raise MemoryEditOutdated
        before = MEMORY.by_name(known[0])
        after = before | as_stored(MEMORY.write_some(self.fields))
        former_id = None
        if any(before[name] != after[name] for name in WORDING):
            [(former_id,)] = yield Statement(sql.KEEP_FORMER, own)
        if "content" in self.fields:
            yield Statement(DROP_OUTDATED_VECTOR, (*own, after["content"]))
        if not _SEARCHED_BY.isdisjoint(self.fields):
            made = search_text(after["content"], list_of(after["tags"]))
            yield Statement(sql.REMAKE, (*own, *SEARCHED.write(made).values()))
            yield delete_terms(user_id, [memory_id])
            yield insert_terms(*own, made.term_counts)
        [changed] = yield Statement(sql.UPDATE, (*own, to_text(now), former_id, *sql.CHANGED.of(after)))
        yield mark_stale(user_id, "memory", [memory_id])
        if file_rules:
            yield from ensure_room_left(user_id, file_rules, added=False)
        return changed


# ---- new memory ------------------------------------------------------------------------------------------

NO_RULES: Final[Rules] = {}


@dataclass(frozen=True, slots=True)
class NewMemory:
    user_id: int
    made_at: str
    columns: Mapping[str, Any]
    """Given columns and search columns."""
    term_counts: str

    @classmethod
    def of(cls, user_id: int, memory: PortableMemory, now: datetime) -> "NewMemory":
        """Clean a memory. `created_at` defaults to now. Raises EmptyMemory or MemoryTooLong."""
        content, tags = clean_content(memory.content), clean_tags(memory.tags)
        fields = {name: getattr(memory, name) for name in GIVEN} | {
            "content": content,
            "category": clean_category(memory.category),
            "tags": tags,
            "metadata": clean_metadata(memory.metadata),
            "source": clean_source(memory.source),
            "audience": memory.audience or "anywhere",
        }
        made = search_text(content, tags)
        columns = MEMORY.write_some(fields) | SEARCHED.write(made)
        return cls(user_id, to_text(memory.created_at or now), columns, made.term_counts)

    def steps(self, file_rules: Rules = NO_RULES, *, unless_known: bool = False) -> Steps[list[Memory]]:
        """Store it and return it; with `unless_known`, an empty list if the user has an equivalent one.
        Raises TooManyMemories or MemoryFull if it exceeds `file_rules` (of the operator's file)."""
        own = (self.user_id, self.made_at, int(not unless_known))
        rows = yield Statement(sql.INSERT, (*own, *sql.WRITTEN.of(self.columns)))
        if not rows:
            return []
        memory_id, number = rows[0]
        yield insert_terms(self.user_id, memory_id, self.term_counts)
        yield Statement(sql.KEEP_NUMBER, own[:1])
        if file_rules:
            yield from ensure_room_left(self.user_id, file_rules)
        put = {"id": memory_id, "user_id": self.user_id, "number": number, "supersedes": None, "pinned": 0}
        made = {"created_at": self.made_at, "updated_at": self.made_at}
        columns = as_stored({name: self.columns[name] for name in GIVEN}) | put | made
        return [MEMORY.read([columns[name] for name in MEMORY.names])]


def hide(user_id: int, memory_id: int, now: str) -> Steps[Sequence[Row]]:
    """Hide an active memory. Returns its row, if found."""
    rows = yield Statement(sql.HIDE, (user_id, memory_id, now))
    if rows:
        yield delete_terms(user_id, [memory_id])
        yield mark_stale(user_id, "memory", [memory_id])
    return rows


# ---- memories --------------------------------------------------------------------------------------------

MAX_QUERY_CHARACTERS: Final = 6000
"""Longer queries are cut."""

_SHORT_CHARACTERS: Final = 500

Made = TypeVar("Made")


class MemoryStore:
    """Memories, accessible only to their owners."""

    def __init__(
        self,
        database: Database,
        *,
        clock: Clock = utc_now,
        embedding: Embedding | None = None,
        secret_rules: SecretRules | None = None,
        quotas: MemoryQuotas | None = None,
    ) -> None:
        """Without `quotas`, nothing is limited."""
        self._database = database
        self._quotas = quotas or MemoryQuotas(database)
        self._clock = clock
        self._embedding = embedding
        self._secret_rules = secret_rules or SecretRules()
        self._apart = asyncio.Lock()
        self._counting = WeakValueDictionary[int, asyncio.Lock]()
        meaning = Meaning(database, embedding.embedder) if embedding else None
        nearness = meaning.get_nearness if meaning else None
        self._search = MemorySearch(database, clock, nearness=nearness)
        self._by_words = MemorySearch(database, clock)

    async def add(
        self, user_id: int, content: str, *, created_at: datetime | None = None, **given: Unpack[MemoryFields]
    ) -> Memory:
        """Store a memory. `created_at` defaults to now.

        Raises EmptyMemory, MemoryTooLong, SecretNotStored, TooManyMemories or MemoryFull.
        """
        content = clean_content(content)
        memory = PortableMemory(content, created_at=created_at, **await self._clean(given, content))
        note = await self._make(content, NewMemory.of, user_id, memory, self._clock())
        rules = await self._quotas.get_file_rules()
        [stored] = await self._database.write(lambda: note.steps(rules), [user(user_id)])
        return self.note_written(stored)

    async def remember(self, user_id: int, content: str, **given: Unpack[MemoryFields]) -> MemoryChange:
        """Store a memory, or update the one that differs only in width, case and punctuation.

        A public call never updates a private memory; an expired one becomes valid again. Raises as `add`
        does.
        """
        content = clean_content(content)
        clean = await self._clean(given, content)
        memory = PortableMemory(content, **clean)
        note = await self._make(content, NewMemory.of, user_id, memory, self._clock())
        rules = await self._quotas.get_file_rules()
        alike_to, audience = note.columns["likeness"], note.columns["audience"]
        said_anew = {name: value for name, value in clean.items() if value and name in WORDING}
        if memory.category == DEFAULT_CATEGORY:
            said_anew.pop("category", None)
        while True:
            stored = await self._database.write(lambda: note.steps(rules, unless_known=True), [user(user_id)])
            if stored:
                return MemoryChange("added", self.note_written(stored[0]))
            known = await self._database.query(sql.SELECT_ALIKE, user_id, alike_to, audience)
            for alike in map(MEMORY.read, known):
                endless = {"expires_at": None} if alike.is_expired(self._clock()) else {}
                updated = await self.update(user_id, alike.id, content=content, **endless | said_anew)
                if updated is not None:
                    return MemoryChange("updated", updated, alike)
            # It was deleted in between, so try to insert again.

    async def find_alike(self, user_id: int, content: str, audience: Audience) -> Memory | None:
        """Return the user's newest memory that `remember` would update for this text; None if none."""
        rows = await self._database.query(
            sql.SELECT_ALIKE, user_id, likeness(without_controls(content)), audience
        )
        return MEMORY.first(rows)

    async def get(self, user_id: int, memory_id: int) -> Memory | None:
        """Return the memory with this id; None if the user does not have it."""
        rows = await self._database.query(sql.SELECT, user_id, known_id(memory_id))
        return MEMORY.first(rows)

    async def get_id(self, user_id: int, number: int) -> int | None:
        """Return the id of the user's memory with this number, including hidden ones; None if none."""
        rows = await self._database.query(sql.SELECT_ID, user_id, known_id(number))
        return rows[0][0] if rows else None

    async def get_by_number(self, user_id: int, number: int) -> Memory | None:
        """Return the memory with this number; None if the user does not have it."""
        memory_id = await self.get_id(user_id, number)
        return None if memory_id is None else await self.get(user_id, memory_id)

    async def find(
        self,
        user_id: int,
        query: str,
        *,
        limit: int = 5,
        category: str | None = None,
        tags: Sequence[str] = (),
        audience: Audience = "anywhere",
        only: MemoryFilter = ALL_MEMORIES,
    ) -> "list[FoundMemory]":
        """Find the user's unexpired memories that match the query and have all tags, best first, with
        confidences.

        `audience` is who will see the answer that uses them: the default is everyone; 'private' is for
        answers that only the user sees, and finds all. `only` filters further; `category` and `tags` add to
        it.
        """
        return await self._search.find(
            user_id,
            query[:MAX_QUERY_CHARACTERS],
            limit=_limit(limit),
            audience=audience,
            wanted=_filter(replace(only, category=category or only.category, tags=(*tags, *only.tags))),
        )

    async def search(
        self,
        user_id: int,
        query: str,
        *,
        limit: int = 5,
        category: str | None = None,
        tags: Sequence[str] = (),
        audience: Audience = "anywhere",
    ) -> "list[Memory]":
        """Like `find`, without confidences."""
        found = await self.find(user_id, query, limit=limit, category=category, tags=tags, audience=audience)
        return [each.memory for each in found]

    async def suggest(self, user_id: int, typed: str, *, limit: int = 25) -> "list[Memory]":
        """Return completions for a typed text: the memory with that number (`12`, `#12`) first, then matches
        of its words; the newest memories if it is empty."""
        text = typed[:MAX_QUERY_CHARACTERS].strip()
        if not text:
            return await self.list(user_id, limit=limit)
        digits = re.fullmatch(r"\A[#＃]*+(\d{1,19})", text)
        words = digits[1] if digits else text
        alike = await self._by_words.find(
            user_id, words, limit=_limit(limit), audience="private", wanted=_filter(ALL_MEMORIES)
        )
        found = [each.memory for each in alike]
        numbered = await self.get_by_number(user_id, int(digits[1])) if digits else None
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
        order: Order = "newest",
        offset: int = 0,
        only: MemoryFilter = ALL_MEMORIES,
    ) -> "list[Memory]":
        """List a page of the user's memories with ids between `after_id` and `before_id`, in this order,
        skipping `offset`. `category` overrides that of `only`."""
        low = 0 if after_id is None else known_id(after_id)
        high = MAX_ID if before_id is None else min(before_id, MAX_ID)
        wanted = replace(only, category=category or only.category)
        rows = await self._database.query(
            sql.LIST[order], user_id, low, high, *_filter(wanted), _limit(limit), max(offset, 0)
        )
        return [MEMORY.read(row) for row in rows]

    async def count(
        self, user_id: int, *, category: str | None = None, only: MemoryFilter = ALL_MEMORIES
    ) -> int:
        wanted = replace(only, category=category or only.category)
        [(number,)] = await self._database.query(sql.COUNT, user_id, 0, MAX_ID, *_filter(wanted))
        return int(number)

    async def list_categories(self, user_id: int, *, limit: int = 100) -> Sequence[tuple[str, int]]:
        """List the user's categories with their number of memories, largest first."""
        async with self._counting.setdefault(user_id, asyncio.Lock()):
            rows = await self._database.query(sql.CATEGORIES, user_id)
        return [(str(name), int(number)) for name, number in rows[: _limit(limit)]]

    async def list_tags(self, user_id: int, *, limit: int = 100) -> Sequence[tuple[str, int]]:
        """List the user's tags with their number of memories, most used first."""
        async with self._counting.setdefault(user_id, asyncio.Lock()):
            rows = await self._database.query(sql.TAGS, user_id, _limit(limit))
        return [(str(tag), int(number)) for tag, number in rows]

    async def get_statistics(self, user_id: int) -> MemoryStatistics:
        """Count the user's memories. It reads all of them, so only one count per user runs at a time: many
        requests of one user must not block the database for others."""
        now = to_text(self._clock())

        def steps() -> Steps[MemoryStatistics]:
            counts = yield Statement(sql.STATISTICS, (user_id, now))
            categories = yield Statement(sql.CATEGORIES, (user_id,))
            sources = yield Statement(sql.SOURCES, (user_id,))
            return statistics_of(counts, categories, sources)

        async with self._counting.setdefault(user_id, asyncio.Lock()):
            return await self._database.read(steps)

    async def update(
        self,
        user_id: int,
        memory_id: int,
        *,
        content: str | None = None,
        only_as: Memory | None = None,
        **given: Unpack[MemoryFields],
    ) -> Memory | None:
        """Change the given fields; None if the user does not have the memory. A change of WORDING keeps the
        former version. With `only_as`, it applies only if the memory still has this wording and audience.

        Raises EmptyMemory, MemoryTooLong, SecretNotStored, MemoryFull or MemoryEditOutdated.
        """
        if content is None:
            edit = MemoryEdit(await self._clean(given), only_as)
        else:
            content = clean_content(content)
            edit = MemoryEdit({"content": content, **await self._clean(given, content)}, only_as)
        now, rules = self._clock(), await self._quotas.get_file_rules()
        row = await self._database.write(
            lambda: edit.steps(user_id, known_id(memory_id), now, rules), [user(user_id)]
        )
        return self.note_written(MEMORY.read(row)) if row else None

    async def refuses(self, *texts: str) -> bool:
        """Return whether a text contains a secret that may not be stored."""
        return await self._make("".join(texts), self._secret_rules.refuse, *texts)

    async def delete(self, user_id: int, memory_id: int) -> bool:
        """Hide a memory; it is erased after UNDO_TIME. Returns whether the user had it."""
        params = (user_id, known_id(memory_id), to_text(self._clock()))
        rows = await self._database.write(lambda: hide(*params), [user(user_id)])
        return bool(rows)

    async def catch_up(self) -> None:
        """Wait until all stored memories have vectors. Raises a ModelError or StorageError."""
        if self._embedding:
            await self._embedding.catch_up()

    async def _clean(self, given: MemoryFields, content: str = "") -> dict[str, Any]:
        """Raises MemoryTooLong or SecretNotStored, which includes the content."""
        said = {
            name: value
            for name, value in given.items()
            if not isinstance(value, Keep) and (value is not None or name in MEMORY.nullable)
        }
        check_beside(given.get("category"), given.get("tags") or (), given.get("metadata") or {})
        words = [content, *words_of(said)]
        await self._make("".join(words), self._secret_rules.check, *words)
        return {name: _CLEAN.get(name, _as_it_is)(value) for name, value in said.items()}

    async def _make(self, text: str, make: Callable[..., Made], *given: object) -> Made:
        """Call `make(*given)`, in a thread if the text is long: normalization (one letter may become 18) and
        pattern matching would block the event loop. One thread at a time, because several would compete with
        the loop for the interpreter's lock."""
        if len(text) <= _SHORT_CHARACTERS:
            return make(*given)
        async with self._apart:
            return await asyncio.to_thread(make, *given)

    def note_written(self, memory: Memory) -> Memory:
        """Schedule the embedding of a memory just written, and return the memory."""
        if self._embedding:
            self._embedding.note_written(memory.id)
        return memory


def _is_as(memory: Memory, other: Memory) -> bool:
    return all(getattr(memory, name) == getattr(other, name) for name in (*WORDING, "audience"))


def _as_it_is(value: Any) -> Any:
    return value


_CLEAN: Final[Mapping[str, Callable[[Any], Any]]] = {
    "category": clean_category,
    "tags": clean_tags,
    "metadata": clean_metadata,
    "source": clean_source,
}


def _category(asked: str | None) -> str | None:
    return None if asked is None else clean_category(asked)


def _filter(only: MemoryFilter) -> tuple[str | None, ...]:
    tags = [fold_tags([tag]) for tag in clean_tags(only.tags)]
    return _category(only.category), only.audience, only.origin, json.dumps(tags, ensure_ascii=False)


def _limit(number: int) -> int:
    return min(max(number, 0), MAX_ID)  # to SQLite a negative LIMIT means unlimited
