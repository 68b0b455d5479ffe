"""The notes of one user as a search sees them: in chunks of the index, in its segments, and waiting for it.

All three are asked the same things, which notes have a term and which may contain a text, and all answer with
sets of places (see memory_places). Here the parts stand one behind the other without gaps, and what waits
stands last, as if it had places already: a note's place is how late it was written, give or take.
"""

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Final, NamedTuple

from cc_bot.search import Candidate
from cc_bot.storage import Row, Steps
from cc_bot.stores.memory_keys import some_grams, unpacked
from cc_bot.stores.memory_places import CHUNK, gathered, set_of
from cc_bot.stores.memory_rows import tags_of
from cc_bot.stores.memory_segments import SEGMENT, Segment
from cc_bot.stores.memory_texts import search_text
from cc_bot.stores.value_lists import ListStatement

NOTE_COLUMNS: Final = """
    id, search_content || search_tags, search_tags,
    CASE WHEN
        ($3 IS NULL OR category = $3)
        AND audience IN ('anywhere', $4)
        AND (expires_at IS NULL OR expires_at > $5)
        THEN 1 ELSE 0 END,
    terms_version = $2
"""
"""What a Note is made of, beside its keys. $1 user, $2 version of the rules, $3 category or NULL, $4 audience
beside 'anywhere', $5 now."""
WIDTH: Final = 5

# $1 user, then memories
_SELECT_TEXTS: Final = ListStatement(
    "SELECT id, content, tags FROM memories WHERE user_id = $1 AND id IN ({list}) AND status = 'active'",
    fixed=1,
)

_MOST_MADE: Final = 1000
"""So many texts are made anew during one search: a tenth of a second. Of more, the oldest are found by what
other rules made of them, until they are made for good."""

Asked = Mapping[int, str]
"""The terms of a query by their keys."""


class Note(NamedTuple):
    """What there is to know of a note in order to rank it."""

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


def note_of(row: Row, keys: bytes, asked: Asked) -> Note:
    """`keys` are the note's."""
    numbers = unpacked(keys)
    found = asked.keys() & numbers
    every = list(numbers) if found else []
    id_, text, tags, fits, *_ = row
    return Note(id_, text, tags, bool(fits), {asked[key]: every.count(key) for key in found}, len(numbers))


def made_anew(user_id: int, rows: Sequence[Row]) -> Steps[dict[int, tuple[Row, bytes]]]:
    """Of rows that begin with NOTE_COLUMNS, those of other rules than the ones of now: by their ids, with
    their keys, and what the rules of now make of their texts."""
    outdated = {row[0]: row for row in [row for row in rows if not row[4]][-_MOST_MADE:]}
    made: dict[int, tuple[Row, bytes]] = {}
    for statement in _SELECT_TEXTS.of((user_id,), list(outdated)):
        for id_, content, tags in (yield statement):
            new = search_text(content, tags_of(tags))
            text = new.search_content + new.search_tags
            made[id_] = ((id_, text, new.search_tags, *outdated[id_][3:WIDTH]), new.keys)
    return made


class Chunks:
    """What is joined into postings. `rows` are chunks, in order, with their memories and terms; `postings` is
    what stands under the keys that were asked for: key -> chunk -> bytes."""

    def __init__(self, rows: Sequence[Row], postings: Mapping[int, Mapping[int, bytes]]) -> None:
        self._chunks: list[int] = [row[0] for row in rows]
        self._postings = postings
        self.size = len(rows) * CHUNK

    def having(self, key: int) -> int:
        stored = self._postings.get(key)
        return gathered(stored, self._chunks) if stored else 0

    def containing(self, grams: Collection[int]) -> int:
        """Those that have all of these."""
        places = -1 if self._chunks else 0
        for gram in grams:
            places &= self.having(gram)
        return max(places, 0)

    def stored_place(self, place: int) -> int:
        """A place as it stands in the database."""
        return self._chunks[place // CHUNK] * CHUNK + place % CHUNK


class Segments:
    """What is folded in. `rows` are segments, in order, with their memories, terms and keys."""

    def __init__(self, rows: Sequence[Row], asked: Asked) -> None:
        self._numbers: list[int] = [row[0] for row in rows]
        self._segments = [Segment(row[-1]) for row in rows]
        self._having: defaultdict[int, int] = defaultdict(int)
        self._counts: defaultdict[int, defaultdict[str, int]] = defaultdict(lambda: defaultdict(int))
        self.size = len(rows) * SEGMENT
        for number, segment in zip(self._numbers, self._segments, strict=True):
            self._look_up(number * SEGMENT, segment, asked)

    def having(self, key: int) -> int:
        return self._having.get(key, 0)

    def containing(self, grams: Collection[int]) -> int:
        """Those that have all of these."""
        found = 0
        for index, segment in enumerate(self._segments):
            places = [set(segment.places(gram)) for gram in grams]
            found |= set_of(set.intersection(*places) if places else ()) << index * SEGMENT
        return found

    def stored_place(self, place: int) -> int:
        """A place as it stands in the database."""
        return self._numbers[place // SEGMENT] * SEGMENT + place % SEGMENT

    def note(self, row: Row, stored_place: int) -> Note:
        number, at = divmod(stored_place, SEGMENT)
        length = self._segments[self._numbers.index(number)].lengths[at]
        id_, text, tags, fits, *_ = row
        return Note(id_, text, tags, bool(fits), self._counts.get(stored_place, {}), length)

    def _look_up(self, first: int, segment: Segment, asked: Asked) -> None:
        offset = self._numbers.index(first // SEGMENT) * SEGMENT
        for key, term in asked.items():
            for place in segment.places(key):
                self._having[key] |= 1 << offset + place
                self._counts[first + place][term] += 1


class Waiting:
    """The notes that are not in the index; `rows` begin with NOTE_COLUMNS and end with their keys,
    `made` is what `made_anew` gives of them."""

    def __init__(self, rows: Sequence[Row], asked: Asked, made: Mapping[int, tuple[Row, bytes]]) -> None:
        self.notes = [note_of(*made.get(row[0], (row, row[-1])), asked) for row in rows]
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
    """All notes of a user: those of chunks, of segments, and those that wait."""

    def __init__(self, chunks: Chunks, segments: Segments, waiting: Waiting) -> None:
        self.chunks = chunks
        self.segments = segments
        self.waiting = waiting
        self.folded = chunks.size + segments.size

    @property
    def not_fitting(self) -> int:
        """Those of which that is known without reading them: of those that wait."""
        return self.waiting.not_fitting << self.folded

    def having(self, key: int, term: str) -> int:
        return (
            self.chunks.having(key)
            | self.segments.having(key) << self.chunks.size
            | self.waiting.having(term) << self.folded
        )

    def containing(self, texts: Iterable[str]) -> int:
        """Those that may contain one of the texts. Of those that wait, exact."""
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
        """These places as they stand in the database, of chunks and of segments, and the notes that wait."""
        in_chunks, in_segments, waiting = list[int](), list[int](), list[Note]()
        for place in places:
            if place >= self.folded:
                waiting.append(self.waiting.notes[place - self.folded])
            elif place >= self.chunks.size:
                in_segments.append(self.segments.stored_place(place - self.chunks.size))
            else:
                in_chunks.append(self.chunks.stored_place(place))
        return in_chunks, in_segments, waiting
