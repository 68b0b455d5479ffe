"""The search index of each user: kept small, kept true, and never anyone else's.

Writing a memory leaves the index alone. Once WAITING rows are not in it, they are folded into the newest
segment, in one transaction of some milliseconds; a search reads the segments and the rows that wait. Of more
than SEGMENTS the oldest is joined into the postings of those who have many memories.

The index holds active memories only, each under exactly the keys of its row. Whoever changes a text or a
status, or deletes a row, takes the memory out first, in the same transaction, with `unfold`; the CHECK on
`memories.place` refuses a status for which that was forgotten. So nothing of a text outlives it in the index:
neither its keys, nor the counts that rarity is reckoned from.
"""

from bisect import bisect_right
from collections import defaultdict
from collections.abc import Sequence
from itertools import accumulate
from typing import Final

from cc_bot.storage import Row, Statement, Steps
from cc_bot.stores.memory_keys import KEY_BYTES, grams, unpacked
from cc_bot.stores.memory_places import CHUNK
from cc_bot.stores.memory_postings import add_to_chunk, each, remove_from_chunk
from cc_bot.stores.memory_segments import SEGMENT, Segment, with_notes, without_notes
from cc_bot.stores.memory_texts import VERSION
from cc_bot.stores.value_lists import ListStatement

WAITING: Final = 16
"""So many rows may wait; to read that many takes a search a tenth of a millisecond."""
WAITING_BYTES: Final = 60_000
"""Of their keys. Long notes are folded in sooner."""
SEGMENTS: Final = 8
"""So many are read by a search: a fifth of a millisecond."""
_FULL_BYTES: Final = 100_000
"""A segment of this size takes no more notes; one of usual notes has half as much."""

# $1 user, $2 version, $3 how many
SELECT_WAITING: Final = """
    SELECT id, keys, search_content, search_tags FROM memories
    WHERE user_id = $1 AND place IS NULL AND status = 'active' AND terms_version = $2
    ORDER BY id LIMIT $3
"""

# $1 user, $2 how many at most
COUNT_WAITING: Final = """
    SELECT count(*), coalesce(sum(bytes), 0) FROM (
        SELECT length(keys) AS bytes FROM memories
        WHERE user_id = $1 AND place IS NULL AND status = 'active' LIMIT $2
    ) AS waiting
"""

# $1 user
SELECT_LAST_SEGMENT: Final = """
    SELECT segment, filled, keys FROM memory_segments WHERE user_id = $1 ORDER BY segment DESC LIMIT 1
"""

# $1 user
SELECT_LAST_PLACE: Final = "SELECT max(place) FROM memories WHERE user_id = $1 AND place IS NOT NULL"

# $1 user
SELECT_FIRST_SEGMENT: Final = """
    SELECT segment, documents, total_length, keys,
        (SELECT count(*) FROM memory_segments AS counted WHERE counted.user_id = $1)
    FROM memory_segments WHERE user_id = $1 ORDER BY segment LIMIT 1
"""

# $1 user, then segments
SELECT_SEGMENT_KEYS: Final = ListStatement(
    "SELECT segment, keys FROM memory_segments WHERE user_id = $1 AND segment IN ({list})", fixed=1
)

# $1 user, $2 segment, $3 places, $4 memories and $5 terms that came, $6 the keys of all
PUT_SEGMENT: Final = """
    INSERT INTO memory_segments (user_id, segment, filled, documents, total_length, keys)
    VALUES ($1, $2, $3, $4, $5, $6)
    ON CONFLICT (user_id, segment) DO UPDATE SET
        filled = memory_segments.filled + excluded.filled,
        documents = memory_segments.documents + excluded.documents,
        total_length = memory_segments.total_length + excluded.total_length,
        keys = excluded.keys
"""

# $1 user, $2 segment
DELETE_EMPTY_SEGMENT: Final = """
    DELETE FROM memory_segments WHERE user_id = $1 AND segment = $2 AND documents = 0
"""

# $1 user, $2 segment
DELETE_SEGMENT: Final = "DELETE FROM memory_segments WHERE user_id = $1 AND segment = $2"

# $1 user, $2 memory, $3 place
PUT_PLACE: Final = "UPDATE memories SET place = $3 WHERE user_id = $1 AND id = $2"

# $1 user, then memories
SELECT_PLACED: Final = ListStatement(
    """
    SELECT place, keys, search_content, search_tags, id FROM memories
    WHERE user_id = $1 AND id IN ({list}) AND place IS NOT NULL
    """,
    fixed=1,
)

# $1 user, then memories
CLEAR_PLACE: Final = ListStatement(
    "UPDATE memories SET place = NULL WHERE user_id = $1 AND id IN ({list})", fixed=1
)

_OF_A_USER: Final = (
    "UPDATE memories SET place = NULL WHERE user_id = $1 AND place IS NOT NULL",
    "DELETE FROM memory_segments WHERE user_id = $1",
    "DELETE FROM memory_postings WHERE user_id = $1",
    "DELETE FROM memory_chunks WHERE user_id = $1",
)


def fold_in(user_id: int, *, waiting: int = WAITING, most: int = SEGMENT) -> Steps[int]:
    """Fold in the oldest rows that wait, if at least `waiting` do, or they are long. How many those were."""
    [(number, size)] = yield Statement(COUNT_WAITING, (user_id, waiting))
    if number < waiting and size < WAITING_BYTES:
        return 0
    segment, filled, stored = yield from _last_segment(user_id)
    rows = _some((yield Statement(SELECT_WAITING, (user_id, VERSION, min(most, SEGMENT - filled)))))
    if not rows:
        return 0
    lengths = [_length(row) for row in rows]
    keys = with_notes(stored, filled, [[*unpacked(row[1]), *_grams(row)] for row in rows], lengths)
    for place, row in enumerate(rows, segment * SEGMENT + filled):
        yield Statement(PUT_PLACE, (user_id, row[0], place))
    yield Statement(PUT_SEGMENT, (user_id, segment, len(rows), len(rows), sum(lengths), keys))
    return len(rows)


def join_segments(user_id: int, *, most: int = SEGMENTS) -> Steps[bool]:
    """Join a user's oldest segment into the postings, if there are more than `most`. Whether it was."""
    rows = yield Statement(SELECT_FIRST_SEGMENT, (user_id,))
    if not rows or rows[0][-1] <= most:
        return False
    [(segment, documents, total_length, keys, _)] = rows
    occurrences = Segment(keys).occurrences()
    yield from add_to_chunk(user_id, segment * SEGMENT, occurrences, documents, total_length)
    yield Statement(DELETE_SEGMENT, (user_id, segment))
    return True


def unfold(user_id: int, memory_ids: Sequence[int]) -> Steps[None]:
    """Take memories out of the index, those that are in it; they wait then, as what is new.

    To be run before, and in the transaction of, whatever changes their text, tags or status or deletes them.
    Raises nothing for those that are not there or not the user's.
    """
    placed: list[Row] = []
    for statement in SELECT_PLACED.of((user_id,), memory_ids):
        placed += yield statement
    of_segment = _by(SEGMENT, placed)
    for statement in SELECT_SEGMENT_KEYS.of((user_id,), sorted(of_segment)):
        for segment, keys in (yield statement):
            rows = of_segment.pop(segment)
            left = without_notes(keys, [row[0] % SEGMENT for row in rows])
            gone = (-len(rows), -sum(map(_length, rows)))
            yield Statement(PUT_SEGMENT, (user_id, segment, 0, *gone, left))
            yield Statement(DELETE_EMPTY_SEGMENT, (user_id, segment))
    for chunk, joined in _by(CHUNK, [row for rows in of_segment.values() for row in rows]).items():
        occurrences: defaultdict[int, list[int]] = defaultdict(list)
        for row in joined:
            for key in {*unpacked(row[1]), *_grams(row)}:
                occurrences[key].append(row[0] % CHUNK)
        yield from remove_from_chunk(user_id, chunk, occurrences, len(joined), sum(map(_length, joined)))
    yield from each(CLEAR_PLACE.of((user_id,), [row[-1] for row in placed]))


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


def _last_segment(user_id: int) -> Steps[tuple[int, int, bytes]]:
    """The one that takes the next notes, how many places of it are given, and what is in it."""
    last = yield Statement(SELECT_LAST_SEGMENT, (user_id,))
    if last and last[0][1] < SEGMENT and len(last[0][2]) < _FULL_BYTES:
        segment, filled, keys = last[0]
        return segment, filled, keys
    [(place,)] = yield Statement(SELECT_LAST_PLACE, (user_id,))
    used = [-1 if place is None else place // SEGMENT, *(row[0] for row in last)]
    return max(used) + 1, 0, b""


def _by(size: int, rows: Sequence[Row]) -> dict[int, list[Row]]:
    """Rows that begin with their place, by the part of this size that it lies in."""
    parts: defaultdict[int, list[Row]] = defaultdict(list)
    for row in rows:
        parts[row[0] // size].append(row)
    return parts


def _some(rows: Sequence[Row]) -> Sequence[Row]:
    """As many of the first rows as are folded in without holding up others; at least one."""
    until = list(accumulate(len(row[1]) for row in rows))
    return rows[: max(bisect_right(until, WAITING_BYTES), 1)]


def _grams(row: Row) -> set[int]:
    return grams(row[2] + row[3])


def _length(row: Row) -> int:
    return len(row[1]) // KEY_BYTES
