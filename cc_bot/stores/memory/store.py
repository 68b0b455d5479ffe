"""Memories: the notes that users asked to have kept. Every statement names its user, those by id as well."""

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
from cc_bot.domain.limits import Rules
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
# A change of a memory that is about to be made, and the statements that make it.

_SEARCHED_BY: Final = frozenset({"content", "tags"})


class MemoryFields(TypedDict, total=False):
    """The fields that may be given of a memory beside its text. What is left out or None is as usual, or
    stays as it is; but no end is None."""

    category: str | None
    tags: Sequence[str] | None
    metadata: Mapping[str, str] | None
    audience: Audience | None
    source: Source | None
    expires_at: datetime | Keep | None


@dataclass(frozen=True, slots=True)
class MemoryEdit:
    """A change of a memory, clean."""

    fields: Mapping[str, Any]
    only_as: Memory | None = None
    """What the memory must still be for the change to be made; None: whatever it is."""

    def steps(self, user_id: int, memory_id: int, now: datetime, file_rules: Rules) -> Steps[Row | None]:
        """Make the change, and return the row as it is then; None when the memory is not there or not the
        user's. Raises MemoryFull where these rules, of the operator's file, leave no room for it."""
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
# A memory that is about to be kept, and the row that it becomes.

NO_RULES: Final[Rules] = {}


@dataclass(frozen=True, slots=True)
class NewMemory:
    """A memory that is to be kept."""

    user_id: int
    made_at: str
    columns: Mapping[str, Any]
    """As they are given, and those that it is searched by."""
    term_counts: str

    @classmethod
    def of(cls, user_id: int, memory: PortableMemory, now: datetime) -> "NewMemory":
        """Clean what is to be kept. It is made now, if it does not say when. Raises EmptyMemory or
        MemoryTooLong."""
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
        """Store it and return it; nothing if it was not stored because the user has one that is alike. Raises
        TooManyMemories or MemoryFull if these rules, of the operator's file, leave no room for it."""
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
    """Hide an active memory. Returns its row, if there was one."""
    rows = yield Statement(sql.HIDE, (user_id, memory_id, now))
    if rows:
        yield delete_terms(user_id, [memory_id])
        yield mark_stale(user_id, "memory", [memory_id])
    return rows


# ---- memories --------------------------------------------------------------------------------------------

MAX_QUERY_CHARACTERS: Final = 6000
"""Of what is searched for, as of a question; what is beyond is not looked at."""

_SHORT_CHARACTERS: Final = 500

Made = TypeVar("Made")


class MemoryStore:
    """The memories of every user, and only ever the owner's."""

    def __init__(
        self,
        database: Database,
        *,
        clock: Clock = utc_now,
        embedding: Embedding | None = None,
        secret_rules: SecretRules | None = None,
        quotas: MemoryQuotas | None = None,
    ) -> None:
        """Make the store, which limits nothing without `quotas`."""
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
        self,
        user_id: int,
        content: str,
        *,
        created_at: datetime | None = None,
        **given: Unpack[MemoryFields],
    ) -> Memory:
        """Keep a note. `created_at` is for one that is older than now.

        Raises EmptyMemory, MemoryTooLong, SecretNotStored, TooManyMemories or MemoryFull.
        """
        content = clean_content(content)
        memory = PortableMemory(content, created_at=created_at, **await self._clean(given, content))
        note = await self._make(content, NewMemory.of, user_id, memory, self._clock())
        rules = await self._quotas.get_file_rules()
        [stored] = await self._database.write(lambda: note.steps(rules), [user(user_id)])
        return self.note_written(stored)

    async def remember(self, user_id: int, content: str, **given: Unpack[MemoryFields]) -> MemoryChange:
        """Keep a note unless the user has it already, but for width, case and punctuation: then that one is
        brought up to date.

        One that is only for private answers is not touched on behalf of a public one, and one that has
        expired holds again. Raises as `add` does.
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
            # It was deleted in between: there is nothing like it any more.

    async def find_alike(self, user_id: int, content: str, audience: Audience) -> Memory | None:
        """Return the user's newest memory that `remember` would bring up to date for this text; None for
        none."""
        rows = await self._database.query(
            sql.SELECT_ALIKE, user_id, likeness(without_controls(content)), audience
        )
        return MEMORY.first(rows)

    async def get(self, user_id: int, memory_id: int) -> Memory | None:
        """Return the user's memory of this id; None when it is not there or not theirs."""
        rows = await self._database.query(sql.SELECT, user_id, known_id(memory_id))
        return MEMORY.first(rows)

    async def get_id(self, user_id: int, number: int) -> int | None:
        """Return the id of the user's memory of this number, hidden ones included; None for none."""
        rows = await self._database.query(sql.SELECT_ID, user_id, known_id(number))
        return rows[0][0] if rows else None

    async def get_by_number(self, user_id: int, number: int) -> Memory | None:
        """Return the user's memory of this number; None when it is not there."""
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
        """Find the user's memories that answer the query and carry all of the tags, best first, and tell how
        sure each is. Expired ones are not among them.

        `audience` is who will see the answer in which they are used. Whoever leaves it out gets what everyone
        may see; only an answer that the user alone sees may ask for 'private', which finds all. `only`
        narrows that down; `category` and `tags` are its own.
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
        """Find memories as `find` does, and return them alone."""
        found = await self.find(user_id, query, limit=limit, category=category, tags=tags, audience=audience)
        return [each.memory for each in found]

    async def suggest(self, user_id: int, typed: str, *, limit: int = 25) -> "list[Memory]":
        """List what someone may mean who types this to choose one of their memories: the one with that number
        (`12`, `#12`) first, then those that match its words; the newest where nothing is typed."""
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
        """List a page of the user's memories: those older than `before_id` and newer than `after_id`, in this
        order, without the first `offset`. `category` is that of `only`."""
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
        """List the user's categories with how many memories each has, the largest first."""
        async with self._counting.setdefault(user_id, asyncio.Lock()):
            rows = await self._database.query(sql.CATEGORIES, user_id)
        return [(str(name), int(number)) for name, number in rows[: _limit(limit)]]

    async def list_tags(self, user_id: int, *, limit: int = 100) -> Sequence[tuple[str, int]]:
        """List the user's tags with how many memories carry each, the most used first."""
        async with self._counting.setdefault(user_id, asyncio.Lock()):
            rows = await self._database.query(sql.TAGS, user_id, _limit(limit))
        return [(str(tag), int(number)) for tag, number in rows]

    async def get_statistics(self, user_id: int) -> MemoryStatistics:
        """Count what is kept of a user. It reads all of it, so of each user one count is made at a time: who
        asks for a hundred waits in a line of their own, and not everybody in the database's."""
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
        """Change what is given; None when the memory is not there or not the user's. What WORDING names is
        kept as its history, as it was. With `only_as` it is made only while the memory says what this one
        does, to the same readers.

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
        """Return whether one of the texts holds what no memory may."""
        return await self._make("".join(texts), self._secret_rules.refuse, *texts)

    async def delete(self, user_id: int, memory_id: int) -> bool:
        """Hide a memory, as if it were gone; it is, once UNDO_TIME has passed. Whether this user has it."""
        params = (user_id, known_id(memory_id), to_text(self._clock()))
        rows = await self._database.write(lambda: hide(*params), [user(user_id)])
        return bool(rows)

    async def catch_up(self) -> None:
        """Wait until all that is stored has its vector. Raises a ModelError or StorageError."""
        if self._embedding:
            await self._embedding.catch_up()

    async def _clean(self, given: MemoryFields, content: str = "") -> dict[str, Any]:
        """Return these fields as they are stored. Raises MemoryTooLong or SecretNotStored, for the content
        too."""
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
        """Make something of a text. A letter may unfold into eighteen, and all patterns are held against
        them: with a long text that is no work for the event loop. It is for one thread at a time: more
        would take the interpreter's lock in turn, and the loop would wait for all of them each time it
        goes round."""
        if len(text) <= _SHORT_CHARACTERS:
            return make(*given)
        async with self._apart:
            return await asyncio.to_thread(make, *given)

    def note_written(self, memory: Memory) -> Memory:
        """The same memory, whose text was written just now: what else is made of it comes some time later."""
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
    """Return the parameters of WANTED."""
    tags = [fold_tags([tag]) for tag in clean_tags(only.tags)]
    return _category(only.category), only.audience, only.origin, json.dumps(tags, ensure_ascii=False)


def _limit(number: int) -> int:
    return min(max(number, 0), MAX_ID)  # a negative LIMIT is none at all to SQLite
