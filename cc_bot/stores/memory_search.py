"""Finding a user's memories that answer a query: candidates from all of them, then the best of those.

One reading of the database, on one state of it: the segments of the index, the few rows that wait, and for
those who have many memories the postings of the query's terms. The scores of all notes are added up at once
(memory_tally), and only the best are looked at: their text is read, what the filters and the query say is
held against it, and cc_bot.search ranks them. Filters are exact, so where many of the best do not fit, the
next best are read.

A note that contains the query as written is a candidate before all others, whatever its score.
"""

import asyncio
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from heapq import nlargest
from itertools import islice
from typing import Final, Protocol
from weakref import WeakValueDictionary

from cc_bot.domain.clock import Clock
from cc_bot.domain.memory import Audience, Found
from cc_bot.search import Hit, Query, Statistics, parse_query, rank, term_weight
from cc_bot.storage import Database, Row, Statement, Steps
from cc_bot.stores import memory_search_statements as sql
from cc_bot.stores.columns import to_text
from cc_bot.stores.memory_keys import some_grams, term_keys
from cc_bot.stores.memory_notes import (
    Chunks,
    Note,
    Notes,
    Segments,
    Waiting,
    made_anew,
    note_of,
)
from cc_bot.stores.memory_places import places_of
from cc_bot.stores.memory_rows import memory_of
from cc_bot.stores.memory_tally import Tally, tally
from cc_bot.stores.memory_texts import VERSION, fold_tags
from cc_bot.stores.memory_upkeep import MemoryUpkeep

POOL: Final = 64
"""Candidates that are ranked, at least, where there are as many."""

NEAREST: Final = 32
"""Candidates that no word speaks for: there the nearest are the best, but for filters and for a few words."""

_MOST_TERMS: Final = 128
"""Terms of a query that count; of a longer one, the weightiest."""

_SHORT_CHARACTERS: Final = 500


class Nearness(Protocol):
    """Tells how near in meaning to a query a user's notes are; see search.fusion.nearness."""

    async def __call__(self, user_id: int, query: str) -> Mapping[int, float]: ...


@dataclass(frozen=True)
class Asked:
    """What is searched for, and among which of a user's memories."""

    user_id: int
    query: Query
    typed: str
    limit: int
    category: str | None
    tags: Sequence[str]
    """Folded, between line feeds."""
    audience: Audience
    now: str
    near: Mapping[int, float]

    @property
    def params(self) -> tuple[object, ...]:
        """Those of NOTE_COLUMNS."""
        return (self.user_id, VERSION, self.category, self.audience, self.now)

    @cached_property
    def terms(self) -> Mapping[int, str]:
        """Those of the query by their keys, the weightiest first."""
        weights = self.query.weights
        terms = sorted(weights, key=weights.__getitem__, reverse=True)
        return dict(zip(term_keys(terms), terms, strict=True))

    @property
    def texts(self) -> frozenset[str]:
        """In any of which a note may contain the query as written."""
        return frozenset((self.query.folded, self.typed))

    def is_written_in(self, note: Note) -> bool:
        return self.query.folded in note.text or self.typed in note.text

    def fits(self, note: Note) -> bool:
        return note.fits and all(tag in note.tags for tag in self.tags)


@dataclass(frozen=True, slots=True)
class Answer:
    found: list[Found]
    waiting: int
    """How many rows had to be read because they are not in the index."""
    waiting_terms: int
    """How many terms they have."""
    outdated: bool
    """Whether some of them were made by rules that no longer hold."""


async def _parsed(typed: str) -> Query:
    """The query; of a long one, which may be a whole memory, it is made off the event loop (20 ms)."""
    return (
        parse_query(typed) if len(typed) <= _SHORT_CHARACTERS else await asyncio.to_thread(parse_query, typed)
    )


class MemorySearch:
    """Searches one user's memories, and no one else's."""

    def __init__(
        self,
        database: Database,
        clock: Clock,
        *,
        nearness: Nearness | None = None,
        upkeep: MemoryUpkeep | None = None,
    ) -> None:
        self._database = database
        self._clock = clock
        self._nearness = nearness
        self._upkeep = upkeep
        self._lines = WeakValueDictionary[int, asyncio.Lock]()
        """One search of each user at a time: who asks for a hundred waits for their own, and the line at the
        database, which serves in order, is everybody's."""

    async def find(
        self,
        user_id: int,
        query: str,
        *,
        limit: int,
        category: str | None,
        tags: Sequence[str],
        audience: Audience,
    ) -> list[Found]:
        """As MemoryStore.find says; the arguments are clean."""
        async with self._lines.setdefault(user_id, asyncio.Lock()):
            return await self._find(
                user_id, query, limit=limit, category=category, tags=tags, audience=audience
            )

    async def _find(
        self,
        user_id: int,
        query: str,
        *,
        limit: int,
        category: str | None,
        tags: Sequence[str],
        audience: Audience,
    ) -> list[Found]:
        typed = query.encode("utf-8", "replace").decode().strip()  # as it would stand in the database
        if limit == 0:
            return []
        asked = Asked(
            user_id,
            query=await _parsed(typed),
            typed=typed,
            limit=limit,
            category=category,
            tags=[fold_tags([tag]) for tag in tags],
            audience=audience,
            now=to_text(self._clock()),
            near=await self._nearness(user_id, typed) if typed and self._nearness else {},
        )
        answer = await self._database.read(lambda: search(asked) if typed else newest(asked))
        if self._upkeep:
            self._upkeep.searched(
                user_id,
                waiting=answer.waiting,
                waiting_terms=answer.waiting_terms,
                outdated=answer.outdated,
            )
        return answer.found


def search(asked: Asked) -> Steps[Answer]:
    """The memories that answer, best first."""
    rows = yield Statement(sql.SELECT_WAITING, asked.params)
    made = yield from made_anew(asked.user_id, rows)
    segments = yield Statement(sql.SELECT_SEGMENTS, (asked.user_id,))
    chunks = yield Statement(sql.SELECT_CHUNKS, (asked.user_id,))
    notes = Notes(
        Chunks(chunks, (yield from _postings(asked)) if chunks else {}),
        Segments(segments, asked.terms),
        Waiting(rows, asked.terms, made),
    )
    found = {term: notes.having(key, term) for key, term in islice(asked.terms.items(), _MOST_TERMS)}
    parts = [*chunks, *segments]
    documents = sum(part[1] for part in parts) + len(rows)
    statistics = Statistics(
        documents=documents,
        average_length=(sum(part[2] for part in parts) + notes.waiting.total_length) / max(documents, 1),
        frequency={term: places.bit_count() for term, places in found.items()},
    )
    scores = tally(found, term_weight(asked.query, statistics))
    chosen = yield from _choose(asked, notes, scores, notes.containing(asked.texts))
    hits = _ranked(asked, statistics, chosen)[: asked.limit]
    memories = yield from _memories(asked.user_id, hits)
    return Answer(memories, len(rows), notes.waiting.total_length, outdated=bool(made))


def _postings(asked: Asked) -> Steps[Mapping[int, Mapping[int, bytes]]]:
    stored: defaultdict[int, dict[int, bytes]] = defaultdict(dict)
    keys = [*islice(asked.terms, _MOST_TERMS), *set().union(*map(some_grams, asked.texts))]
    for statement in sql.SELECT_POSTINGS.of((asked.user_id,), keys):
        for key, chunk, postings in (yield statement):
            stored[key][chunk] = postings
    return stored


def _choose(asked: Asked, notes: Notes, scores: Tally, written: int) -> Steps[list[Note]]:
    """Those that contain the query as written, those with the best scores, and the nearest in meaning."""
    pool = max(POOL, asked.limit)
    left = ~notes.not_fitting
    as_written = yield from _best(asked, notes, scores, written & left, pool, only_written=True)
    left &= ~written
    by_score = yield from _best(asked, notes, scores, scores.scored & left, pool, only_written=False)
    chosen = [*as_written, *by_score]
    return [*chosen, *(yield from _nearest(asked, {note.id for note in chosen}, max(NEAREST, asked.limit)))]


def _best(
    asked: Asked, notes: Notes, scores: Tally, among: int, number: int, *, only_written: bool
) -> Steps[list[Note]]:
    """The best `number` of these places whose notes fit; read in growing parts until there are so many."""
    best: list[Note] = []
    enough, part = number, number
    while among and enough > 0:
        places = scores.best(part, among)
        among &= ~places
        read = yield from _read(asked, notes, places_of(places))
        fitting = [note for note in read if asked.fits(note)]
        best += fitting
        enough -= sum(map(asked.is_written_in, fitting)) if only_written else len(fitting)
        part *= 2
    return best


def _read(asked: Asked, notes: Notes, places: Iterable[int]) -> Steps[list[Note]]:
    in_chunks, in_segments, read = notes.apart(places)
    for statement in sql.SELECT_OF_SEGMENTS.of(asked.params, in_segments):
        rows = yield statement
        made = yield from made_anew(asked.user_id, rows)
        read += [
            note_of(*made[row[0]], asked.terms) if row[0] in made else notes.segments.note(row, row[-1])
            for row in rows
        ]
    return [*read, *(yield from _notes(asked, sql.SELECT_OF_CHUNKS.of(asked.params, in_chunks)))]


def _nearest(asked: Asked, known: set[int], number: int) -> Steps[list[Note]]:
    ids = nlargest(number, asked.near.keys() - known, key=asked.near.__getitem__)
    nearest = yield from _notes(asked, sql.SELECT_NEAR.of(asked.params, ids))
    return [note for note in nearest if asked.fits(note)]


def _notes(asked: Asked, statements: Iterable[Statement]) -> Steps[list[Note]]:
    """Of rows that end with their keys."""
    notes: list[Note] = []
    for statement in statements:
        rows = yield statement
        made = yield from made_anew(asked.user_id, rows)
        notes += [note_of(*made.get(row[0], (row, row[-1])), asked.terms) for row in rows]
    return notes


def _ranked(asked: Asked, statistics: Statistics, chosen: Sequence[Note]) -> list[Hit]:
    folded = asked.query.folded
    candidates = [note.candidate(folded if asked.is_written_in(note) else "") for note in chosen]
    near = {note.id: asked.near[note.id] for note in chosen if note.id in asked.near}
    return rank(asked.query, statistics, candidates, similarity=near or None)


def _memories(user_id: int, hits: Sequence[Hit]) -> Steps[list[Found]]:
    rows: dict[int, Row] = {}
    for statement in sql.SELECT_FOUND.of((user_id,), [hit.id for hit in hits]):
        rows.update((row[0], row) for row in (yield statement))
    return [Found(memory_of(rows[hit.id]), hit.confidence) for hit in hits if hit.id in rows]


def newest(asked: Asked) -> Steps[Answer]:
    """What was written last, for a query that asks for nothing."""
    has_tag = "".join(
        f" AND replace(search_tags, ${6 + at}, '') <> search_tags" for at in range(len(asked.tags))
    )
    rows = yield Statement(
        f"{sql.NEWEST}{has_tag} ORDER BY id DESC LIMIT $2",
        (asked.user_id, asked.limit, asked.category, asked.audience, asked.now, *asked.tags),
    )
    return Answer(
        [Found(memory_of(row), confidence=1.0) for row in rows], waiting=0, waiting_terms=0, outdated=False
    )
