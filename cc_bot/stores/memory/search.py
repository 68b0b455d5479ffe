"""The search for a user's memories that answer a query: candidates from all of them, then the best of those.

One reading of the database, on one state of it: the segments of the index, the few rows that wait, and for
those who have many memories the postings of the query's terms. The scores of all notes are added up at once
(Tally), and only the best are looked at: their text is read, what the filters and the query say is
held against it, and cc_bot.search ranks them. Filters are exact, so where many of the best do not fit, the
next best are read.

A note that contains the query as written is a candidate before all others, whatever its score.
"""

import asyncio
from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from heapq import nlargest
from itertools import islice, starmap
from typing import Final, NamedTuple, Protocol
from weakref import WeakValueDictionary

from cc_bot.domain.clock import Clock
from cc_bot.domain.memory import ALL_MEMORIES, Audience, FoundMemory, Memory, MemoryFilter
from cc_bot.domain.text import without_controls
from cc_bot.search import Candidate, Hit, Query, Statistics, parse_query, rank, term_weight
from cc_bot.storage import Database, Statement, Steps
from cc_bot.stores.columns import ListStatement, list_of, to_text
from cc_bot.stores.memory.index import CHUNK, SEGMENT, Segment, gather, latest, places_of, set_of
from cc_bot.stores.memory.rows import MEMORY
from cc_bot.stores.memory.texts import VERSION, fold_tags, search_text, some_grams, term_keys, unpack_numbers
from cc_bot.stores.memory.upkeep import MemoryUpkeep

# ---- memory notes ----------------------------------------------------------------------------------------
# The notes of one user as a search sees them: in chunks of the index, in its segments, and waiting for it.
#
# All three are asked the same things, which notes have a term and which may contain a text, and all answer
# with sets of places (see index.py). Here the parts stand one behind the other without gaps, and what
# waits stands last, as if it had places already: a note's place is how late it was written, give or take.

NOTE_COLUMNS: Final = """
    id, search_content || search_tags, search_tags,
    CASE WHEN
        (CAST($3 AS TEXT) IS NULL OR category = $3)
        AND audience IN ('anywhere', $4)
        AND (expires_at IS NULL OR expires_at > $5)
        AND (CAST($6 AS TEXT) IS NULL OR audience = $6)
        THEN 1 ELSE 0 END,
    CASE terms_version WHEN $2 THEN 1 ELSE 0 END
"""
"""What a Note is made of, beside its keys. $1 user, $2 version of the rules, $3 category or NULL, $4 audience
beside 'anywhere', $5 now, $6 the only audience or NULL."""


class NoteRow(NamedTuple):
    """NOTE_COLUMNS, and its keys, or its place where the keys stand in a segment."""

    id: int
    text: str
    tags: str
    fits: int
    current: int
    keys: bytes = b""
    place: int = -1


class IndexPart(NamedTuple):
    """A chunk of the index, or a segment with its keys."""

    number: int
    documents: int
    total_length: int
    keys: bytes = b""


# $1 user, then memories
_SELECT_TEXTS: Final = ListStatement(
    "SELECT id, content, tags FROM memories WHERE user_id = $1 AND id IN ({list}) AND status = 'active'",
    fixed=1,
)

_MOST_MADE: Final = 1000
"""So many texts are made anew during one search: a tenth of a second. Of more, the oldest are found by what
other rules made of them, until they are made for good."""

TermsByKey = Mapping[int, str]
"""The terms of a query by their keys."""


class Note(NamedTuple):
    """A note as far as its rank depends on it."""

    id: int
    text: str
    """In which a query may stand as written."""
    tags: str
    fits: bool
    """Whether its category, its audience and its end are as asked for."""
    terms: Mapping[str, int]
    """How often it has each of the query's terms that it has."""
    length: int

    def candidate(self, written: str) -> Candidate:
        """`written` stands in it, if only as it was typed."""
        text = self.text if written in self.text else f"{self.text}\n{written}"
        return Candidate(self.id, text, self.terms, self.length)


def note_of(row: NoteRow, asked: TermsByKey) -> Note:
    numbers = unpack_numbers(row.keys)
    found = asked.keys() & numbers
    every = list(numbers) if found else []
    terms = {asked[key]: every.count(key) for key in found}
    return Note(row.id, row.text, row.tags, bool(row.fits), terms, len(numbers))


def remake_outdated(user_id: int, rows: Sequence[NoteRow]) -> Steps[dict[int, NoteRow]]:
    """Return the rows that were made by rules other than today's, by their ids, with what today's make of
    their texts."""
    outdated = {row.id: row for row in [row for row in rows if not row.current][-_MOST_MADE:]}
    made: dict[int, NoteRow] = {}
    for statement in _SELECT_TEXTS.of((user_id,), list(outdated)):
        for id_, content, tags in (yield statement):
            new = search_text(content, list_of(tags))
            text = new.search_content + new.search_tags
            made[id_] = outdated[id_]._replace(text=text, tags=new.search_tags, keys=new.keys)
    return made


class Chunks:
    """The notes that are joined into postings, by chunks in order; `postings` is what stands under the keys
    that were asked for: key -> chunk -> bytes."""

    def __init__(self, chunks: Sequence[IndexPart], postings: Mapping[int, Mapping[int, bytes]]) -> None:
        self._chunks = [chunk.number for chunk in chunks]
        self._postings = postings
        self.size = len(chunks) * CHUNK

    def having(self, key: int) -> int:
        stored = self._postings.get(key)
        return gather(stored, self._chunks) if stored else 0

    def containing(self, grams: Collection[int]) -> int:
        """Return the places that have all of these."""
        places = -1 if self._chunks else 0
        for gram in grams:
            places &= self.having(gram)
        return max(places, 0)

    def stored_place(self, place: int) -> int:
        """A place as it stands in the database."""
        return self._chunks[place // CHUNK] * CHUNK + place % CHUNK


class Segments:
    """The notes that are folded in, by segments in order."""

    def __init__(self, segments: Sequence[IndexPart], asked: TermsByKey) -> None:
        self._numbers = [segment.number for segment in segments]
        self._segments = [Segment(segment.keys) for segment in segments]
        self._having: defaultdict[int, int] = defaultdict(int)
        self._counts: defaultdict[int, defaultdict[str, int]] = defaultdict(lambda: defaultdict(int))
        self.size = len(segments) * SEGMENT
        for number, segment in zip(self._numbers, self._segments, strict=True):
            self._look_up(number * SEGMENT, segment, asked)

    def having(self, key: int) -> int:
        return self._having.get(key, 0)

    def containing(self, grams: Collection[int]) -> int:
        """Return the places that have all of these."""
        found = 0
        for index, segment in enumerate(self._segments):
            places = [set(segment.places(gram)) for gram in grams]
            found |= set_of(set.intersection(*places) if places else ()) << index * SEGMENT
        return found

    def stored_place(self, place: int) -> int:
        """A place as it stands in the database."""
        return self._numbers[place // SEGMENT] * SEGMENT + place % SEGMENT

    def note(self, row: NoteRow) -> Note:
        number, at = divmod(row.place, SEGMENT)
        length = self._segments[self._numbers.index(number)].lengths[at]
        return Note(row.id, row.text, row.tags, bool(row.fits), self._counts.get(row.place, {}), length)

    def _look_up(self, first: int, segment: Segment, asked: TermsByKey) -> None:
        offset = self._numbers.index(first // SEGMENT) * SEGMENT
        for key, term in asked.items():
            for place in segment.places(key):
                self._having[key] |= 1 << offset + place
                self._counts[first + place][term] += 1


class Waiting:
    """The notes that are not in the index; `made` is what `remake_outdated` gives of them."""

    def __init__(self, rows: Sequence[NoteRow], asked: TermsByKey, made: Mapping[int, NoteRow]) -> None:
        self.notes = [note_of(made.get(row.id, row), asked) for row in rows]
        self.total_length = sum(note.length for note in self.notes)
        self._having: defaultdict[str, int] = defaultdict(int)
        for at, note in enumerate(self.notes):
            for term in note.terms:
                self._having[term] |= 1 << at

    def having(self, term: str) -> int:
        return self._having.get(term, 0)

    def containing(self, text: str) -> int:
        return set_of(at for at, note in enumerate(self.notes) if text in note.text)

    @property
    def not_fitting(self) -> int:
        return set_of(at for at, note in enumerate(self.notes) if not note.fits)


class Notes:
    """The notes of a user: those of chunks, of segments, and those that wait."""

    def __init__(self, chunks: Chunks, segments: Segments, waiting: Waiting) -> None:
        self.chunks = chunks
        self.segments = segments
        self.waiting = waiting
        self.folded = chunks.size + segments.size

    @property
    def not_fitting(self) -> int:
        """The places of which it is known without reading them that they do not fit: some of those that
        wait."""
        return self.waiting.not_fitting << self.folded

    def having(self, key: int, term: str) -> int:
        return (
            self.chunks.having(key)
            | self.segments.having(key) << self.chunks.size
            | self.waiting.having(term) << self.folded
        )

    def containing(self, texts: Iterable[str]) -> int:
        """Return the places that may contain one of the texts. Of those that wait, exact."""
        found = 0
        for text in texts:
            grams = some_grams(text)
            found |= (
                self.chunks.containing(grams)
                | self.segments.containing(grams) << self.chunks.size
                | self.waiting.containing(text) << self.folded
            )
        return found

    def apart(self, places: Iterable[int]) -> tuple[list[int], list[int], list[Note]]:
        """Return these places as they stand in the database, of chunks and of segments, and the notes that
        wait."""
        in_chunks, in_segments, waiting = list[int](), list[int](), list[Note]()
        for place in places:
            if place >= self.folded:
                waiting.append(self.waiting.notes[place - self.folded])
            elif place >= self.chunks.size:
                in_segments.append(self.segments.stored_place(place - self.chunks.size))
            else:
                in_chunks.append(self.chunks.stored_place(place))
        return in_chunks, in_segments, waiting


# ---- memory search statements ----------------------------------------------------------------------------
# SQL of the search among a user's memories.

# ruff: noqa: S608 - put together from constants alone


# Parameters: those of NOTE_COLUMNS
SELECT_WAITING: Final = f"""
    SELECT {NOTE_COLUMNS}, keys FROM memories
    WHERE user_id = $1 AND place IS NULL AND status = 'active'
    ORDER BY id
"""

# $1 user
SELECT_SEGMENTS: Final = """
    SELECT segment, documents, total_length, keys FROM memory_segments WHERE user_id = $1 ORDER BY segment
"""

# $1 user
SELECT_CHUNKS: Final = """
    SELECT chunk, documents, total_length FROM memory_chunks WHERE user_id = $1 ORDER BY chunk
"""

# $1 user, then keys. The chunks come first, so that each key is looked up in each.
SELECT_POSTINGS: Final = ListStatement(
    """
    SELECT key, chunk, postings FROM memory_postings
    WHERE user_id = $1
        AND chunk IN (SELECT c.chunk FROM memory_chunks AS c WHERE c.user_id = $1)
        AND key IN ({list})
    """,
    fixed=1,
)

# Parameters: those of NOTE_COLUMNS, then places
SELECT_OF_SEGMENTS: Final = ListStatement(
    f"SELECT {NOTE_COLUMNS}, NULL, place FROM memories WHERE user_id = $1 AND place IN ({{list}})", fixed=6
)

# Parameters: those of NOTE_COLUMNS, then places
SELECT_OF_CHUNKS: Final = ListStatement(
    f"SELECT {NOTE_COLUMNS}, keys FROM memories WHERE user_id = $1 AND place IN ({{list}})", fixed=6
)

# Parameters: those of NOTE_COLUMNS, then ids
SELECT_NEAR: Final = ListStatement(
    f"SELECT {NOTE_COLUMNS}, keys FROM memories"
    " WHERE user_id = $1 AND id IN ({list}) AND status = 'active'",
    fixed=6,
)

# $1 user, $2 origin. No index has it: it is asked for by whoever looks through their own.
SELECT_OF_ORIGIN: Final = """
    SELECT id FROM memories
    WHERE user_id = $1 AND coalesce(@text_of(source, kind), '') = $2 AND status = 'active'
"""

# $1 user, then ids
SELECT_FOUND: Final = ListStatement(
    f"SELECT {MEMORY.select} FROM memories WHERE user_id = $1 AND id IN ({{list}}) AND status = 'active'",
    fixed=1,
)

# $1 user, $2 limit, $7 origin or NULL, the others as NOTE_COLUMNS has them; then tags
NEWEST: Final = f"""
    SELECT {MEMORY.select} FROM memories
    WHERE user_id = $1 AND status = 'active' AND (CAST($3 AS TEXT) IS NULL OR category = $3)
        AND audience IN ('anywhere', $4) AND (expires_at IS NULL OR expires_at > $5)
        AND (CAST($6 AS TEXT) IS NULL OR audience = $6)
        AND (CAST($7 AS TEXT) IS NULL OR coalesce(@text_of(source, kind), '') = $7)
"""

# ---- memory tally ----------------------------------------------------------------------------------------
# The scores of all notes of a user, added up side by side.
#
# A score is a whole number, and the tally holds its binary digits: the first integer has the last digit of
# every note's score, the next one the digit before, and so on. To add a weight to thousands of notes is then
# a handful of operations on whole integers, however many notes have the term; and the best are found digit by
# digit, without looking at any note.

_GREATEST: Final = 63
"""The weight of the weightiest term as a whole number; fine enough to choose some dozens of candidates by."""


class Tally:
    """The scores of places. Sets of places are integers, see index.py."""

    def __init__(self) -> None:
        self._digits: list[int] = []
        self.scored = 0
        """The places that have scored at all."""

    def add(self, places: int, weight: int) -> None:
        self.scored |= places
        for digit in range(weight.bit_length()):
            if weight >> digit & 1:
                self._carry(places, digit)

    def best(self, number: int, among: int) -> int:
        """The places with the greatest scores among these; of equal ones the greatest place, the latest."""
        chosen, count = 0, 0
        for digit in reversed(self._digits):
            greater = among & digit
            if not greater:
                continue
            more = greater.bit_count()
            if count + more >= number:
                among = greater
            else:
                chosen |= greater
                count += more
                among ^= greater
        return chosen | latest(among, number - count)

    def _carry(self, carried: int, digit: int) -> None:
        while carried:
            if digit >= len(self._digits):
                self._digits += [0] * (digit + 1 - len(self._digits))
            before = self._digits[digit]
            self._digits[digit] = before ^ carried
            carried &= before
            digit += 1


def tally(found: Mapping[str, int], weights: Mapping[str, float]) -> Tally:
    """The sum of the weights of the terms that each place has; `found` says of each term which have it."""
    scores = Tally()
    greatest = max(weights.values(), default=0.0)
    for term, weight in weights.items():
        if weight > 0 and (places := found.get(term, 0)):
            scores.add(places, max(round(weight / greatest * _GREATEST), 1))
    return scores


# ---- memory search ---------------------------------------------------------------------------------------

POOL: Final = 64
"""Candidates that are ranked, at least, where there are as many."""

NEAREST: Final = 32
"""Candidates that no word speaks for: there the nearest are the best, but for filters and for a few words."""

_MOST_TERMS: Final = 128
"""Terms of a query that count; of a longer one, the weightiest."""

_SHORT_CHARACTERS: Final = 500


class Nearness(Protocol):
    """A function that tells how near in meaning to a query a user's notes are; see
    search.ranking.nearness."""

    async def __call__(self, user_id: int, query: str) -> Mapping[int, float]: ...


@dataclass(frozen=True)
class MemoryQuery:
    """A query, and the memories of a user among which it is asked."""

    user_id: int
    query: Query
    typed: str
    limit: int
    category: str | None
    tags: Sequence[str]
    """Folded, between line feeds."""
    audience: Audience
    only: MemoryFilter
    """What is not told above of it: its audience and origin."""
    now: str
    near: Mapping[int, float]
    among: frozenset[int] | None = None
    """The only ids that are wanted; None: all."""

    @property
    def params(self) -> tuple[object, ...]:
        """The parameters of NOTE_COLUMNS."""
        return (self.user_id, VERSION, self.category, self.audience, self.now, self.only.audience)

    @cached_property
    def terms(self) -> Mapping[int, str]:
        """The terms of the query by their keys, the weightiest first."""
        weights = self.query.weights
        terms = sorted(weights, key=weights.__getitem__, reverse=True)
        return dict(zip(term_keys(terms), terms, strict=True))

    @property
    def texts(self) -> frozenset[str]:
        """The texts in any of which a note may contain the query as written."""
        return frozenset((self.query.folded, self.typed))

    def is_written_in(self, note: Note) -> bool:
        return self.query.folded in note.text or self.typed in note.text

    def fits(self, note: Note) -> bool:
        wanted = self.among is None or note.id in self.among
        return wanted and note.fits and all(tag in note.tags for tag in self.tags)


@dataclass(frozen=True, slots=True)
class Answer:
    found: list[FoundMemory]
    waiting: int
    """How many rows had to be read because they are not in the index."""
    waiting_terms: int
    """How many terms they have."""
    outdated: bool
    """Whether some of them were made by rules that no longer hold."""


async def _parse(typed: str) -> Query:
    """Parse a query; a long one, which may be a whole memory, off the event loop (20 ms)."""
    return (
        parse_query(typed) if len(typed) <= _SHORT_CHARACTERS else await asyncio.to_thread(parse_query, typed)
    )


class MemorySearch:
    """The search among one user's memories, and no one else's."""

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
        only: MemoryFilter = ALL_MEMORIES,
    ) -> list[FoundMemory]:
        """Find memories as MemoryStore.find says; the arguments are clean."""
        async with self._lines.setdefault(user_id, asyncio.Lock()):
            # as it would stand in the database
            typed = without_controls(query).encode("utf-8", "replace").decode().strip()
            if limit == 0:
                return []
            asked = MemoryQuery(
                user_id,
                query=await _parse(typed),
                typed=typed,
                limit=limit,
                category=category,
                tags=[fold_tags([tag]) for tag in tags],
                audience=audience,
                only=only,
                now=to_text(self._clock()),
                near=await self._nearness(user_id, typed) if typed and self._nearness else {},
            )
            answer = await self._database.read(lambda: search(asked) if typed else newest(asked))
            if self._upkeep:
                self._upkeep.note_searched(
                    user_id,
                    waiting=answer.waiting,
                    waiting_terms=answer.waiting_terms,
                    outdated=answer.outdated,
                )
            return answer.found


def search(asked: MemoryQuery) -> Steps[Answer]:
    """The memories that answer, best first."""
    if asked.only.origin is not None:
        ids = yield Statement(SELECT_OF_ORIGIN, (asked.user_id, asked.only.origin))
        asked = replace(asked, among=frozenset(id_ for (id_,) in ids))
    rows = list(starmap(NoteRow, (yield Statement(SELECT_WAITING, asked.params))))
    made = yield from remake_outdated(asked.user_id, rows)
    segments = list(starmap(IndexPart, (yield Statement(SELECT_SEGMENTS, (asked.user_id,)))))
    chunks = list(starmap(IndexPart, (yield Statement(SELECT_CHUNKS, (asked.user_id,)))))
    notes = Notes(
        Chunks(chunks, (yield from _postings(asked)) if chunks else {}),
        Segments(segments, asked.terms),
        Waiting(rows, asked.terms, made),
    )
    found = {term: notes.having(key, term) for key, term in islice(asked.terms.items(), _MOST_TERMS)}
    parts = [*chunks, *segments]
    documents = sum(part.documents for part in parts) + len(rows)
    statistics = Statistics(
        documents=documents,
        average_length=(sum(part.total_length for part in parts) + notes.waiting.total_length)
        / max(documents, 1),
        frequency={term: places.bit_count() for term, places in found.items()},
    )
    scores = tally(found, term_weight(asked.query, statistics))
    chosen = yield from _choose(asked, notes, scores, notes.containing(asked.texts))
    hits = _rank(asked, statistics, chosen)[: asked.limit]
    memories = yield from _memories(asked.user_id, hits)
    return Answer(memories, len(rows), notes.waiting.total_length, outdated=bool(made))


def _postings(asked: MemoryQuery) -> Steps[Mapping[int, Mapping[int, bytes]]]:
    stored: defaultdict[int, dict[int, bytes]] = defaultdict(dict)
    keys = [*islice(asked.terms, _MOST_TERMS), *set().union(*map(some_grams, asked.texts))]
    for statement in SELECT_POSTINGS.of((asked.user_id,), keys):
        for key, chunk, postings in (yield statement):
            stored[key][chunk] = postings
    return stored


def _choose(asked: MemoryQuery, notes: Notes, scores: Tally, written: int) -> Steps[list[Note]]:
    """Choose the notes that contain the query as written, those with the best scores, and the nearest in
    meaning."""
    pool = max(POOL, asked.limit)
    left = ~notes.not_fitting
    as_written = yield from _best(asked, notes, scores, written & left, pool, only_written=True)
    left &= ~written
    by_score = yield from _best(asked, notes, scores, scores.scored & left, pool, only_written=False)
    chosen = [*as_written, *by_score]
    return [*chosen, *(yield from _nearest(asked, {note.id for note in chosen}, max(NEAREST, asked.limit)))]


def _best(
    asked: MemoryQuery, notes: Notes, scores: Tally, among: int, number: int, *, only_written: bool
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


def _read(asked: MemoryQuery, notes: Notes, places: Iterable[int]) -> Steps[list[Note]]:
    in_chunks, in_segments, read = notes.apart(places)
    for statement in SELECT_OF_SEGMENTS.of(asked.params, in_segments):
        rows = list(starmap(NoteRow, (yield statement)))
        made = yield from remake_outdated(asked.user_id, rows)
        read += [
            note_of(made[row.id], asked.terms) if row.id in made else notes.segments.note(row) for row in rows
        ]
    return [*read, *(yield from _notes(asked, SELECT_OF_CHUNKS.of(asked.params, in_chunks)))]


def _nearest(asked: MemoryQuery, known: set[int], number: int) -> Steps[list[Note]]:
    ids = nlargest(number, asked.near.keys() - known, key=asked.near.__getitem__)
    nearest = yield from _notes(asked, SELECT_NEAR.of(asked.params, ids))
    return [note for note in nearest if asked.fits(note)]


def _notes(asked: MemoryQuery, statements: Iterable[Statement]) -> Steps[list[Note]]:
    notes: list[Note] = []
    for statement in statements:
        rows = list(starmap(NoteRow, (yield statement)))
        made = yield from remake_outdated(asked.user_id, rows)
        notes += [note_of(made.get(row.id, row), asked.terms) for row in rows]
    return notes


def _rank(asked: MemoryQuery, statistics: Statistics, chosen: Sequence[Note]) -> list[Hit]:
    folded = asked.query.folded
    candidates = [note.candidate(folded if asked.is_written_in(note) else "") for note in chosen]
    near = {note.id: asked.near[note.id] for note in chosen if note.id in asked.near}
    return rank(asked.query, statistics, candidates, similarity=near or None)


def _memories(user_id: int, hits: Sequence[Hit]) -> Steps[list[FoundMemory]]:
    found: dict[int, Memory] = {}
    for statement in SELECT_FOUND.of((user_id,), [hit.id for hit in hits]):
        found.update((memory.id, memory) for memory in map(MEMORY.read, (yield statement)))
    return [FoundMemory(found[hit.id], hit.confidence) for hit in hits if hit.id in found]


def newest(asked: MemoryQuery) -> Steps[Answer]:
    """Return what was written last, for a query that asks for nothing."""
    has_tag = "".join(
        f" AND replace(search_tags, ${8 + at}, '') <> search_tags" for at in range(len(asked.tags))
    )
    rows = yield Statement(
        f"{NEWEST}{has_tag} ORDER BY id DESC LIMIT $2",
        (asked.user_id, asked.limit, *asked.params[2:], asked.only.origin, *asked.tags),
    )
    return Answer(
        [FoundMemory(MEMORY.read(row), confidence=1.0) for row in rows],
        waiting=0,
        waiting_terms=0,
        outdated=False,
    )
