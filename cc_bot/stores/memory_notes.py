"""The notes of one user as a search sees them: those in the index, and those that wait to be.

Both are asked the same things, which notes have a term and which contain a text, and both answer with sets of
places (see memory_places). The notes that wait stand behind those of the index, as if they had places
already: a note's place is how late it was written, give or take.
"""

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Final

from cc_bot.search import Candidate
from cc_bot.storage import Row, Steps
from cc_bot.stores.memory_places import CHUNK, gathered, set_of
from cc_bot.stores.memory_rows import tags_of
from cc_bot.stores.memory_texts import search_text
from cc_bot.stores.value_lists import ListStatement

NOTE_COLUMNS: Final = """
    id, terms, search_content || search_tags, search_tags,
    CASE WHEN
        ($3 IS NULL OR category = $3)
        AND audience IN ('anywhere', $4)
        AND (expires_at IS NULL OR expires_at > $5)
        THEN 1 ELSE 0 END,
    terms_version = $2
"""
"""What a Note is made of. $1 user, $2 version of the rules, $3 category or NULL, $4 audience beside
'anywhere', $5 now."""

# $1 user, then memories
_SELECT_TEXTS: Final = ListStatement(
    "SELECT id, content, tags FROM memories WHERE user_id = $1 AND id IN ({list}) AND status = 'active'",
    fixed=1,
)

_MOST_MADE: Final = 1000
"""So many texts are made anew during one search: a tenth of a second. Of more, the oldest are found by what
other rules made of them, until they are made for good."""


class Note:
    """What there is to know of a note in order to rank it."""

    __slots__ = ("_asked", "_words", "fits", "id", "tags", "text")

    def __init__(self, row: Row, words: list[str], asked: frozenset[str]) -> None:
        """`words` are its terms, each as often as the note has it; `asked` are those that the query has."""
        self.id: int = row[0]
        self.text: str = row[2]
        """In which a query may stand as written."""
        self.tags: str = row[3]
        self.fits = bool(row[4])
        """Whether its category, its audience and its end are as asked for."""
        self._words = words
        self._asked = asked

    def candidate(self, written: str) -> Candidate:
        """`written` stands in it, if only as it was typed."""
        text = self.text if written in self.text else f"{self.text}\n{written}"
        count = self._words.count
        return Candidate(self.id, text, {term: count(term) for term in self._asked}, len(self._words))


def note_of(row: Row, asked: frozenset[str]) -> Note:
    """`asked` are the terms of the query."""
    words = row[1].split()
    return Note(row, words, asked.intersection(words))


def up_to_date(user_id: int, rows: Sequence[Row]) -> Steps[Sequence[Row]]:
    """Rows that begin with NOTE_COLUMNS, with what the rules of now make of their texts."""
    outdated = [row[0] for row in rows if not row[5]][-_MOST_MADE:]
    if not outdated:
        return rows
    made = {}
    for statement in _SELECT_TEXTS.of((user_id,), outdated):
        for id_, content, tags in (yield statement):
            made[id_] = search_text(content, tags_of(tags))
    return [
        (row[0], new.terms, new.search_content + new.search_tags, new.search_tags, *row[4:])
        if (new := made.get(row[0]))
        else row
        for row in rows
    ]


class Waiting:
    """The notes that are not in the index; of most users, all that they have."""

    def __init__(self, rows: Sequence[Row], asked: frozenset[str]) -> None:
        self.rows = rows
        self.not_fitting = set_of([at for at, row in enumerate(rows) if not row[4]])
        self._words: list[list[str]] = [row[1].split() for row in rows]
        self._asked = [asked.intersection(words) for words in self._words]
        self._having: defaultdict[str, int] = defaultdict(int)
        for at, terms in enumerate(self._asked):
            for term in terms:
                self._having[term] |= 1 << at

    @property
    def total_length(self) -> int:
        return sum(map(len, self._words))

    def note(self, at: int) -> Note:
        return Note(self.rows[at], self._words[at], self._asked[at])

    def having(self, term: str) -> int:
        return self._having.get(term, 0)

    def containing(self, texts: Collection[str]) -> int:
        found = 0
        for text in texts:
            found |= set_of([at for at, row in enumerate(self.rows) if text in row[2]])
        return found


class Notes:
    """All notes of a user: `chunks` are the rows of memory_chunks, in order; `postings` what the index has
    under the keys that are asked for: key -> chunk -> bytes."""

    def __init__(
        self, waiting: Waiting, chunks: Sequence[Row], postings: Mapping[str, Mapping[int, bytes]]
    ) -> None:
        self._waiting = waiting
        self._chunks: list[int] = [row[0] for row in chunks]
        self._postings = postings
        self._folded = len(chunks) * CHUNK
        self.documents: int = sum(row[1] for row in chunks) + len(waiting.rows)
        self.waiting_terms = waiting.total_length
        self._total_length: int = sum(row[2] for row in chunks) + waiting.total_length

    @property
    def average_length(self) -> float:
        return self._total_length / self.documents if self.documents else 0.0

    @property
    def not_fitting(self) -> int:
        """Those of which that is known without reading them: of those that wait."""
        return self._waiting.not_fitting << self._folded

    def having(self, term: str) -> int:
        return self._indexed(term) | self._waiting.having(term) << self._folded

    def containing(self, texts: Mapping[str, Iterable[str]]) -> int:
        """Those that may contain one of the texts; each comes with its grams. Of those that wait, exact."""
        indexed = 0
        if self._chunks:
            for grams in texts.values():
                places = -1
                for gram in grams:
                    places &= self._indexed(gram)
                indexed |= max(places, 0)
        return indexed | self._waiting.containing(texts.keys()) << self._folded

    def waiting_at(self, place: int) -> Note | None:
        """The note that waits there; None for a place of the index."""
        return self._waiting.note(place - self._folded) if place >= self._folded else None

    def stored_place(self, place: int) -> int:
        """A place of the index as it stands in the database."""
        return self._chunks[place // CHUNK] * CHUNK + place % CHUNK

    def _indexed(self, key: str) -> int:
        stored = self._postings.get(key)
        return gathered(stored, self._chunks) if stored else 0
