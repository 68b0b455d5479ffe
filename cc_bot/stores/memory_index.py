"""The search index of users with many memories: kept small, kept true, and never anyone else's.

A search of some hundred memories reads their rows. For more there is an index: per term, which memories have
it. Writing a memory leaves the index alone. Once WAITING rows are not in it, FOLDED of them are folded in, in
one transaction of some dozen milliseconds; a search reads the index and the rows that wait.

The index holds active memories only, each under exactly the terms of its row. Whoever changes a text or a
status, or deletes a row, takes the memory out first, in the same transaction, with `unfold`; the CHECK on
`memories.place` refuses a status for which that was forgotten. So nothing of a text outlives it in the index:
neither its terms, which are pieces of what someone said, nor the counts that rarity is reckoned from.
"""

from bisect import bisect_right
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from itertools import accumulate
from typing import Any, Final

from cc_bot.storage import Row, Statement, Steps
from cc_bot.stores.memory_grams import grams
from cc_bot.stores.memory_places import CHUNK, with_places, without_places
from cc_bot.stores.memory_texts import VERSION
from cc_bot.stores.value_lists import ListStatement

WAITING: Final = 256
"""So many rows may wait; to read that many takes a search some two milliseconds."""
WAITING_CHARACTERS: Final = 60_000
"""Of their terms: as much as that many notes of usual length have. Long notes are folded in sooner."""
FOLDED: Final = 128
"""So many are folded in at a time, if they are not long. Terms that they share are written once for all."""

# $1 user, $2 how many
SELECT_WAITING: Final = """
    SELECT id, terms, search_content, search_tags FROM memories
    WHERE user_id = $1 AND place IS NULL AND status = 'active' AND terms_version = $2
    ORDER BY id LIMIT $3
"""

# $1 user, $2 how many at most
COUNT_WAITING: Final = """
    SELECT count(*), coalesce(sum(characters), 0) FROM (
        SELECT length(terms) AS characters FROM memories
        WHERE user_id = $1 AND place IS NULL AND status = 'active' LIMIT $2
    ) AS waiting
"""

# $1 user
SELECT_LAST_CHUNK: Final = """
    SELECT chunk, filled FROM memory_chunks WHERE user_id = $1 ORDER BY chunk DESC LIMIT 1
"""

# $1 user, $2 chunk, then terms
SELECT_POSTINGS: Final = ListStatement(
    """
    SELECT term, postings FROM memory_postings
    WHERE user_id = $1 AND chunk = $2 AND term IN ({list})
    """,
    fixed=2,
)

# $1 user, $2 chunk, $3 term, $4 postings
PUT_POSTINGS: Final = """
    INSERT INTO memory_postings (user_id, chunk, term, postings) VALUES ($1, $2, $3, $4)
    ON CONFLICT (user_id, chunk, term) DO UPDATE SET postings = excluded.postings
"""

# $1 user, $2 chunk, then terms
DELETE_POSTINGS: Final = ListStatement(
    "DELETE FROM memory_postings WHERE user_id = $1 AND chunk = $2 AND term IN ({list})", fixed=2
)

# $1 user, $2 memory, $3 place
PUT_PLACE: Final = "UPDATE memories SET place = $3 WHERE user_id = $1 AND id = $2"

# $1 user, then memories
SELECT_PLACED: Final = ListStatement(
    """
    SELECT id, place, terms, search_content, search_tags FROM memories
    WHERE user_id = $1 AND id IN ({list})
    """,
    fixed=1,
)

# $1 user, then memories
CLEAR_PLACE: Final = ListStatement(
    "UPDATE memories SET place = NULL WHERE user_id = $1 AND id IN ({list})", fixed=1
)

# $1 user, $2 chunk, $3 places, $4 memories and $5 terms that came
FILL_CHUNK: Final = """
    INSERT INTO memory_chunks (user_id, chunk, filled, documents, total_length) VALUES ($1, $2, $3, $4, $5)
    ON CONFLICT (user_id, chunk) DO UPDATE SET
        filled = memory_chunks.filled + excluded.filled,
        documents = memory_chunks.documents + excluded.documents,
        total_length = memory_chunks.total_length + excluded.total_length
"""

# $1 user, $2 chunk
DELETE_EMPTY_CHUNK: Final = "DELETE FROM memory_chunks WHERE user_id = $1 AND chunk = $2 AND documents = 0"

_OF_A_USER: Final = (
    "UPDATE memories SET place = NULL WHERE user_id = $1 AND place IS NOT NULL",
    "DELETE FROM memory_postings WHERE user_id = $1",
    "DELETE FROM memory_chunks WHERE user_id = $1",
)

Occurrences = Mapping[str, Sequence[int]]
"""term -> the places within one chunk of the memories that have it"""


def fold_in(user_id: int, *, waiting: int = WAITING, most: int = FOLDED) -> Steps[int]:
    """Fold in the oldest rows that wait, if at least `waiting` do, or they are long. How many those were."""
    [(number, characters)] = yield Statement(COUNT_WAITING, (user_id, waiting))
    if number < waiting and characters < WAITING_CHARACTERS:
        return 0
    last = yield Statement(SELECT_LAST_CHUNK, (user_id,))
    chunk, filled = last[0] if last else (0, 0)
    if filled == CHUNK:
        chunk, filled = chunk + 1, 0
    rows = _some((yield Statement(SELECT_WAITING, (user_id, VERSION, min(most, CHUNK - filled)))))
    if not rows:
        return 0
    yield from _add(user_id, chunk, _occurrences((filled + at, row[1:]) for at, row in enumerate(rows)))
    for at, row in enumerate(rows):
        yield Statement(PUT_PLACE, (user_id, row[0], chunk * CHUNK + filled + at))
    length = sum(map(_length, rows))
    yield Statement(FILL_CHUNK, (user_id, chunk, len(rows), len(rows), length))
    return len(rows)


def unfold(user_id: int, memory_ids: Sequence[int]) -> Steps[None]:
    """Take memories out of the index, those that are in it; they wait then, as what is new.

    To be run before, and in the transaction of, whatever changes their text, tags or status or deletes them.
    Raises nothing for those that are not there or not the user's.
    """
    chunks: defaultdict[int, list[tuple[int, Row]]] = defaultdict(list)
    placed: list[int] = []
    for statement in SELECT_PLACED.of((user_id,), memory_ids):
        for id_, place, *texts in (yield statement):
            if place is not None:
                chunks[place // CHUNK].append((place % CHUNK, texts))
                placed.append(id_)
    for chunk, notes in chunks.items():
        yield from _remove(user_id, chunk, _occurrences(notes))
        length = sum(_length((None, *texts)) for _, texts in notes)
        yield Statement(FILL_CHUNK, (user_id, chunk, 0, -len(notes), -length))
        yield Statement(DELETE_EMPTY_CHUNK, (user_id, chunk))
    yield from _each(CLEAR_PLACE.of((user_id,), placed))


def unfold_all(user_id: int) -> Sequence[Statement]:
    """What empties a user's index: for the transaction that takes all of their memories away."""
    return [Statement(sql, (user_id,)) for sql in _OF_A_USER]


def unfolded(user_id: int, memory_id: int, statements: Sequence[Statement]) -> Steps[list[Sequence[Row]]]:
    """A whole transaction: takes the memory out of the index and runs these; the rows of each of them."""
    yield from unfold(user_id, [memory_id])
    results = []
    for statement in statements:
        results.append((yield statement))
    return results


def _add(user_id: int, chunk: int, occurrences: Occurrences) -> Steps[None]:
    stored = yield from _postings(user_id, chunk, occurrences)
    for term in sorted(occurrences):  # in the order of the key: neighbours are written together
        postings = with_places(stored.get(term, b""), occurrences[term])
        yield Statement(PUT_POSTINGS, (user_id, chunk, term, postings))


def _remove(user_id: int, chunk: int, occurrences: Occurrences) -> Steps[None]:
    stored = yield from _postings(user_id, chunk, occurrences)
    left = {term: without_places(postings, occurrences[term]) for term, postings in stored.items()}
    for term, postings in left.items():
        if postings:
            yield Statement(PUT_POSTINGS, (user_id, chunk, term, postings))
    yield from _each(
        DELETE_POSTINGS.of((user_id, chunk), [term for term, postings in left.items() if not postings])
    )


def _postings(user_id: int, chunk: int, terms: Iterable[str]) -> Steps[dict[str, bytes]]:
    stored: dict[str, bytes] = {}
    for statement in SELECT_POSTINGS.of((user_id, chunk), sorted(terms)):
        stored.update((yield statement))  # type: ignore[arg-type]  # rows of two columns
    return stored


def _each(statements: Iterable[Statement]) -> Steps[None]:
    for statement in statements:  # noqa: UP028 - they may be of a list, which can't be sent rows
        yield statement


def _occurrences(notes: Iterable[tuple[int, Sequence[Any]]]) -> Occurrences:
    """Of notes with their place in the chunk and their terms, text and tags."""
    occurrences: defaultdict[str, list[int]] = defaultdict(list)
    for place, (terms, search_content, search_tags) in notes:
        for key in {*terms.split(), *grams(search_content + search_tags)}:
            occurrences[key].append(place)
    return occurrences


def _some(rows: Sequence[Row]) -> Sequence[Row]:
    """As many of the first rows as are folded in without holding up others; at least one."""
    until = list(accumulate(len(row[1]) for row in rows))
    return rows[: max(bisect_right(until, WAITING_CHARACTERS // 2), 1)]


def _length(row: Row) -> int:
    return len(row[1].split())
