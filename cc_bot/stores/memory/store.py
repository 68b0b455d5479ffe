"""Memories: the notes that users asked to have kept. Every statement names its user, those by id as well."""

import asyncio
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Final, TypeVar
from weakref import WeakValueDictionary

from cc_bot.domain.clock import Clock, utc_now
from cc_bot.domain.limits import Rules
from cc_bot.domain.memory import (
    DEFAULT_CATEGORY,
    Audience,
    Found,
    Memory,
    MemoryChange,
    MemoryStatistics,
    Order,
    Source,
    check_beside,
    clean_category,
    clean_content,
)
from cc_bot.domain.proposal import Proposal
from cc_bot.storage import Database, Row, Statement, Steps
from cc_bot.stores.columns import to_text
from cc_bot.stores.memory import rows as sql
from cc_bot.stores.memory.index import unfold, unfolded
from cc_bot.stores.memory.meaning import DROP_OUTDATED_VECTOR, Embedding, Meaning
from cc_bot.stores.memory.quotas import MemoryQuotas, room_left
from cc_bot.stores.memory.rows import (
    MAX_ID,
    category_or_none,
    clean_tags,
    known_id,
    memory_of,
    source_column,
    statistics_of,
    tags_of,
    to_json,
)
from cc_bot.stores.memory.search import MemorySearch
from cc_bot.stores.memory.secrets import SecretRules
from cc_bot.stores.memory.texts import SearchText, likeness, search_text
from cc_bot.stores.memory.upkeep import MemoryUpkeep
from cc_bot.stores.proposals import carry_out
from cc_bot.stores.settings import Keep

# ---- memory edit -----------------------------------------------------------------------------------------
# A change of a memory that is about to be made, and the statements that make it.


@dataclass(frozen=True, slots=True)
class MemoryEdit:
    """What is to be changed, clean; None leaves it as it is."""

    content: str | None = None
    category: str | None = None
    tags: Sequence[str] | None = None
    metadata: dict[str, str] | None = None
    audience: Audience | None = None
    expires_at: datetime | Keep | None = Keep.AS_IS
    source: Source | None = None

    def steps(self, user_id: int, memory_id: int, now: datetime, file_rules: Rules) -> Steps[Row | None]:
        """Makes the change; the row as it is then, None when the memory is not there or not the user's.
        Raises MemoryFull where these rules, of the operator's file, leave no room for it."""
        known = yield Statement(sql.SELECT_TEXT, (user_id, memory_id))
        if not known:
            return None
        if self._changes_text:
            yield from unfold(user_id, [memory_id])
        params = self._params(user_id, memory_id, now, known[0])
        yield Statement(sql.KEEP_FORMER, (*params[:3], *params[5:7], *params[10:12]))
        if self.content is not None:
            yield Statement(DROP_OUTDATED_VECTOR, params[:3])
        [changed] = yield Statement(sql.UPDATE, params)
        if file_rules:
            yield from room_left(user_id, file_rules, added=False)
        return changed

    @property
    def _changes_text(self) -> bool:
        """Whether it changes anything that the memory is searched by."""
        return self.content is not None or self.tags is not None

    def _params(self, user_id: int, memory_id: int, now: datetime, known: Row) -> tuple[Any, ...]:
        """Those of UPDATE."""
        made = self._searched_by(known)
        return (
            *(user_id, memory_id, self.content),
            *((made.search_content, made.search_tags) if made else (None, None)),
            self.category,
            None if self.tags is None else to_json(tuple(self.tags)),
            None if self.metadata is None else to_json(self.metadata),
            self.audience,
            to_text(now),
            not isinstance(self.expires_at, Keep),
            to_text(self.expires_at) if isinstance(self.expires_at, datetime) else None,
            *((made.likeness, made.keys, made.terms_version) if made else (None, None, None)),
            None if self.source is None else source_column(self.source),
        )

    def _searched_by(self, known: Row) -> SearchText | None:
        """What is made of text and tags together; None where it stays as it is. The index has the memory
        under what stands in its row, and only `unfold` takes it out of there."""
        if not self._changes_text:
            return None
        content = known[0] if self.content is None else self.content
        return search_text(content, tags_of(known[1]) if self.tags is None else self.tags)


# ---- new memory ------------------------------------------------------------------------------------------
# A memory that is about to be kept, and the row that it becomes.

NO_RULES: Final[Rules] = {}


@dataclass(frozen=True, slots=True)
class NewMemory:
    """What is to be kept, as a caller gives it."""

    user_id: int
    content: str
    category: str = DEFAULT_CATEGORY
    tags: Sequence[str] = ()
    metadata: Mapping[str, str] = field(default_factory=dict)
    audience: Audience = "anywhere"
    source: Source = Source()
    expires_at: datetime | None = None
    supersedes: int | None = None

    def params(self, now: datetime) -> tuple[Any, ...]:
        """Those of memory_statements.INSERT. Raises EmptyMemory or MemoryTooLong."""
        content, tags = clean_content(self.content), clean_tags(self.tags)
        made = search_text(content, tags)
        return (
            self.user_id,
            None if self.supersedes is None else known_id(self.supersedes),
            to_text(now),
            content,
            clean_category(self.category),
            to_json(tags),
            to_json(dict(self.metadata)),
            self.audience,
            made.search_content,
            made.search_tags,
            source_column(self.source),
            None if self.expires_at is None else to_text(self.expires_at),
            made.likeness,
            made.keys,
            made.terms_version,
        )

    def steps(
        self, statement: str, params: tuple[Any, ...], file_rules: Rules = NO_RULES
    ) -> Steps[Sequence[Row]]:
        """Keeps it by INSERT, INSERT_ALONE or INSERT_UNLESS_KNOWN, and makes history of what it supersedes.

        The row that was written, if one was. Raises TooManyMemories or MemoryFull where these rules, of the
        operator's file, leave no room for it.
        """
        rows = yield Statement(statement, params)
        if rows and self.supersedes is not None:
            former = known_id(self.supersedes)
            yield from unfold(self.user_id, [former])
            yield Statement(sql.SUPERSEDE, (self.user_id, former))
        if rows and file_rules:
            yield from room_left(self.user_id, file_rules)
        return rows


def row_alone(memory_id: int, number: int, params: tuple[Any, ...]) -> Row:
    """The columns of memory_rows.COLUMNS that INSERT_ALONE has stored."""
    user_id, _, now, content, category, tags, metadata, audience, _, _, source, expires_at, *_ = params
    texts = map(_as_stored, (content, category, tags, metadata))
    return (memory_id, user_id, *texts, now, now, audience, _as_stored(source), expires_at, None, number, 0)


def _as_stored(text: str) -> str:
    """Half an emoji, as models sometimes write it, has no UTF-8: a question mark is stored for it."""
    return text.encode("utf-8", "replace").decode()


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
        upkeep: MemoryUpkeep | None = None,
        quotas: MemoryQuotas | None = None,
    ) -> None:
        """Without `quotas` nothing is limited."""
        self._database = database
        self._quotas = quotas or MemoryQuotas(database)
        self._clock = clock
        self._embedding = embedding
        self._secret_rules = secret_rules or SecretRules()
        self._upkeep = upkeep
        self._apart = asyncio.Lock()
        self._counting = WeakValueDictionary[int, asyncio.Lock]()
        meaning = Meaning(database, embedding.embedder, crowded=embedding.crowded) if embedding else None
        nearness = meaning.nearness if meaning else None
        self._search = MemorySearch(database, clock, nearness=nearness, upkeep=upkeep)
        self._by_words = MemorySearch(database, clock, upkeep=upkeep)

    async def add(
        self,
        user_id: int,
        content: str,
        *,
        category: str = DEFAULT_CATEGORY,
        tags: Sequence[str] = (),
        metadata: Mapping[str, str] | None = None,
        audience: Audience = "anywhere",
        source: Source = Source(),
        expires_at: datetime | None = None,
        supersedes: int | None = None,
        created_at: datetime | None = None,
        proposal: Proposal | None = None,
    ) -> Memory:
        """Keep a note. The memory that it supersedes, if it is this user's, becomes its history. `created_at`
        is for one that is older than now.

        Raises EmptyMemory, MemoryTooLong, SecretNotStored, TooManyMemories or MemoryFull.
        """
        note = NewMemory(
            user_id,
            clean_content(content),
            category,
            tags,
            metadata or {},
            audience,
            source,
            expires_at,
            supersedes,
        )
        check_beside(category, tags, note.metadata)
        await self._check(note.content, category, *tags, *note.metadata.values())
        params = await self._made_of(note.content, note.params, created_at or self._clock())
        rules = await self._quotas.now()
        if supersedes is None:
            [(id_, number)] = await self._database.write(
                lambda: carry_out(proposal, lambda: note.steps(sql.INSERT_ALONE, params, rules))
            )
            return self.written(memory_of(row_alone(id_, number, params)))
        [row] = await self._database.write(
            lambda: carry_out(proposal, lambda: note.steps(sql.INSERT, params, rules))
        )
        return self.written(memory_of(row))

    async def remember(
        self,
        user_id: int,
        content: str,
        *,
        category: str = DEFAULT_CATEGORY,
        tags: Sequence[str] = (),
        audience: Audience = "anywhere",
        source: Source = Source(),
        expires_at: datetime | None = None,
        supersedes: int | None = None,
    ) -> MemoryChange:
        """Keep a note unless the user has it already, but for width, case and punctuation: then that one is
        brought up to date.

        One that is only for private answers is not touched on behalf of a public one, and one that has
        expired holds again. Raises as `add` does.
        """
        content = clean_content(content)
        check_beside(category, tags, {})
        await self._check(content, category, *tags)
        note = NewMemory(user_id, content, category, tags, {}, audience, source, expires_at, supersedes)
        former = None if supersedes is None else await self.get(user_id, supersedes)
        params = (*await self._made_of(content, note.params, self._clock()), audience)
        alike_to, rules = await self._made_of(content, likeness, content), await self._quotas.now()
        while True:
            rows = await self._database.write(lambda: note.steps(sql.INSERT_UNLESS_KNOWN, params, rules))
            if rows:
                return MemoryChange("added", self.written(memory_of(rows[0])), former)
            known = await self._database.query(sql.SELECT_ALIKE, user_id, alike_to, audience)
            for row in known:
                alike = memory_of(row)
                updated = await self.update(
                    user_id,
                    alike.id,
                    content=content,
                    category=None if category == DEFAULT_CATEGORY else category,
                    tags=tags or None,
                    expires_at=expires_at if expires_at or alike.expired(self._clock()) else Keep.AS_IS,
                )
                if updated is not None:
                    return MemoryChange("updated", updated, alike)
            # It was deleted in between: there is nothing like it any more.

    async def alike(self, user_id: int, content: str, audience: Audience) -> Memory | None:
        """The user's newest memory that `remember` would bring up to date for this text; None for none."""
        rows = await self._database.query(sql.SELECT_ALIKE, user_id, likeness(content), audience)
        return memory_of(rows[0]) if rows else None

    async def get(self, user_id: int, memory_id: int) -> Memory | None:
        """The user's memory of this id; None when it is not there or not theirs."""
        rows = await self._database.query(sql.SELECT, user_id, known_id(memory_id))
        return memory_of(rows[0]) if rows else None

    async def id_of(self, user_id: int, number: int) -> int | None:
        """The id of the user's memory of this number, hidden ones included; None for none."""
        rows = await self._database.query(sql.SELECT_ID, user_id, known_id(number))
        return rows[0][0] if rows else None

    async def numbered(self, user_id: int, number: int) -> Memory | None:
        """The user's memory of this number; None when it is not there."""
        memory_id = await self.id_of(user_id, number)
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
    ) -> "list[Found]":
        """The user's memories that answer the query and carry all of the tags, best first, and how sure each
        is. Expired ones are not among them.

        `audience` is who will see the answer in which they are used. Whoever leaves it out gets what everyone
        may see; only an answer that the user alone sees may ask for 'private', which finds all.
        """
        return await self._search.find(
            user_id,
            query[:MAX_QUERY_CHARACTERS],
            limit=_limit(limit),
            category=category_or_none(category),
            tags=clean_tags(tags),
            audience=audience,
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
        """What `find` finds, the memories alone."""
        found = await self.find(user_id, query, limit=limit, category=category, tags=tags, audience=audience)
        return [each.memory for each in found]

    async def matching(self, user_id: int, typed: str, *, limit: int = 25) -> "list[Memory]":
        """What someone may mean who types this to choose one of their memories: the one with that number
        (`12`, `#12`) first, then those that match its words; the newest where nothing is typed."""
        text = typed[:MAX_QUERY_CHARACTERS].strip()
        if not text:
            return await self.list(user_id, limit=limit)
        digits = re.fullmatch(r"\A[#＃]*+(\d{1,19})", text)
        words = digits[1] if digits else text
        alike = await self._by_words.find(
            user_id, words, limit=_limit(limit), category=None, tags=(), audience="private"
        )
        found = [each.memory for each in alike]
        numbered = await self.numbered(user_id, int(digits[1])) if digits else None
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
    ) -> "list[Memory]":
        """A page of the user's memories, newest first unless another order is asked for; `offset` of them are
        left out.

        `before_id` gives those older than that one, nearest first. `after_id` gives those newer than that
        one: the `limit` nearest to it, newest first all the same.
        """
        low = 0 if after_id is None else known_id(after_id)
        high = MAX_ID if before_id is None else min(before_id, MAX_ID)
        nearest = after_id is not None and before_id is None and order == "newest"
        statement = "updated" if order == "updated" else "newer" if nearest or order == "oldest" else "older"
        rows = await self._database.query(
            sql.LIST[statement], user_id, low, high, category_or_none(category), _limit(limit), max(offset, 0)
        )
        return [memory_of(row) for row in (reversed(rows) if nearest else rows)]

    async def count(self, user_id: int, *, category: str | None = None) -> int:
        [(number,)] = await self._database.query(sql.COUNT, user_id, category_or_none(category))
        return int(number)

    async def statistics(self, user_id: int) -> MemoryStatistics:
        """What is kept of a user, in numbers. It reads all of it, so of each user one is made at a time: who
        asks for a hundred waits in a line of their own, and not everybody in the database's."""
        counts = Statement(sql.STATISTICS, (user_id, to_text(self._clock())))
        parts = [Statement(sql.CATEGORIES, (user_id,)), Statement(sql.SOURCES, (user_id,))]
        async with self._counting.setdefault(user_id, asyncio.Lock()):
            return statistics_of(*await self._database.transaction([counts, *parts]))

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
        expires_at: datetime | Keep | None = Keep.AS_IS,
        source: Source | None = None,
        proposal: Proposal | None = None,
    ) -> Memory | None:
        """Change what is given; None when the memory is not there or not the user's. The text, category, tags
        and end that it had are kept as its history. With a `proposal` it is carried out by that.

        Raises EmptyMemory, MemoryTooLong, SecretNotStored or MemoryFull, and ProposalGone or
        ProposalOutdated.
        """
        content = None if content is None else clean_content(content)
        check_beside(category, tags or (), metadata or {})
        await self._check(content, category, *(tags or ()), *(metadata or {}).values())
        edit = MemoryEdit(
            content=content,
            category=category_or_none(category),
            tags=None if tags is None else clean_tags(tags),
            metadata=None if metadata is None else dict(metadata),
            audience=audience,
            expires_at=expires_at,
            source=source,
        )
        now, rules = self._clock(), await self._quotas.now()
        row = await self._database.write(
            lambda: carry_out(proposal, lambda: edit.steps(user_id, known_id(memory_id), now, rules))
        )
        return self.written(memory_of(row)) if row else None

    async def refuses(self, *texts: str) -> bool:
        """Whether one of the texts holds what no memory may."""
        return await self._made_of("".join(texts), self._secret_rules.refuse, *texts)

    async def supersede(self, user_id: int, memory_id: int, former_id: int) -> Memory | None:
        """Let one of the user's memories take the place of an older one, which becomes its history. None
        unless both are there, and the first has no history of its own."""
        params = (user_id, known_id(memory_id), known_id(former_id), to_text(self._clock()))
        batch = [Statement(sql.TAKE_PLACE, params), Statement(sql.SUPERSEDE, (user_id, params[2]))]
        [rows, _] = await self._database.write(lambda: unfolded(user_id, params[2], batch))
        return self.written(memory_of(rows[0])) if rows else None

    async def delete(self, user_id: int, memory_id: int, *, proposal: Proposal | None = None) -> bool:
        """Hide a memory, as if it were gone; it is, once UNDO_TIME has passed. Whether this user has it. With
        a `proposal` it is carried out by that; raises ProposalGone or ProposalOutdated."""
        params = (user_id, known_id(memory_id), to_text(self._clock()))
        hide = [Statement(sql.HIDE, params)]
        [rows] = await self._database.write(lambda: carry_out(proposal, lambda: unfolded(*params[:2], hide)))
        return bool(rows)

    async def embedded(self) -> None:
        """Wait until all that is stored has its vector. Raises a ModelError or StorageError."""
        if self._embedding:
            await self._embedding.catch_up()

    async def _check(self, *texts: str | None) -> None:
        await self._made_of("".join(filter(None, texts)), self._secret_rules.check, *texts)

    async def _made_of(self, text: str, make: Callable[..., Made], *given: object) -> Made:
        """What is made of a text. A letter may unfold into eighteen, and all patterns are held against them:
        with a long text that is no work for the event loop. It is for one thread at a time: more would take
        the interpreter's lock in turn, and the loop would wait for all of them each time it goes round."""
        if len(text) <= _SHORT_CHARACTERS:
            return make(*given)
        async with self._apart:
            return await asyncio.to_thread(make, *given)

    def written(self, memory: Memory) -> Memory:
        """The same memory, whose text was written just now: what else is made of it comes some time later."""
        if self._upkeep:
            self._upkeep.written(memory.user_id, memory.id)
        if self._embedding:
            self._embedding.noted(memory.user_id, memory.id)
        return memory


def _limit(number: int) -> int:
    return min(max(number, 0), MAX_ID)  # a negative LIMIT is none at all to SQLite
