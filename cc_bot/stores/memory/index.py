"""The search index of each user: kept small, kept true, and never anyone else's.

Writing a memory leaves the index alone. Once WAITING rows are not in it, they are folded into the newest
segment, in one transaction of some milliseconds; a search reads the segments and the rows that wait. Of more
than SEGMENTS the oldest is joined into the postings of those who have many memories.

The index holds active memories only, each under exactly the keys of its row. Whoever changes a text or a
status, or deletes a row, takes the memory out first, in the same transaction, with `unfold`; the CHECK on
`memories.place` refuses a status for which that was forgotten. So nothing of a text outlives it in the index:
neither its keys, nor the counts that rarity is reckoned from.
"""

import json
import re
import struct
from bisect import bisect_left, bisect_right
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from itertools import accumulate, chain
from typing import Final, NamedTuple

from cc_bot.storage import Row, Statement, Steps
from cc_bot.stores.columns import Columns, ListStatement
from cc_bot.stores.memory.texts import KEY_BYTES, VERSION, grams, pack_numbers, unpack_numbers

# ruff: noqa: S608 - put together from constants alone

# ---- memory places ---------------------------------------------------------------------------------------
# Sets of places, as bits of an integer and as bytes in the database.
#
# A note that is in the index has a place, a number that counts up from 0 for each user; CHUNK places make a
# chunk. A set of places is an integer whose bit n stands for place n: Python joins, cuts and counts a hundred
# thousand of them in some microseconds, where a loop over them would take milliseconds.
#
# Stored is, per term and chunk, either a list (two bytes a place, as long as there are few) or the bits.

CHUNK: Final = 4096
CHUNK_BYTES: Final = CHUNK // 8

_MOST_LISTED: Final = 32
"""Places in a list. It could be eight times as long before the bits take less room, but a list is read place
by place, and that is what a search of a user with many notes waits for."""

_NOT_EMPTY: Final = re.compile(rb"[^\0]")


def with_places(stored: bytes, places: Sequence[int]) -> bytes:
    """Add these places of the chunk (0 to CHUNK - 1), which are not in it yet, to what is stored."""
    if len(stored) != CHUNK_BYTES:
        if len(stored) // 2 + len(places) <= _MOST_LISTED:
            return stored + struct.pack(f"<{len(places)}H", *places)
        places = [*_listed(stored), *places]
        stored = bytes(CHUNK_BYTES)
    bits = bytearray(stored)
    _set(bits, 0, places)
    return bytes(bits)


def without_places(stored: bytes, places: Iterable[int]) -> bytes:
    """Remove these places from what is stored; empty when none is left."""
    gone = frozenset(places)
    if len(stored) != CHUNK_BYTES:
        left = [place for place in _listed(stored) if place not in gone]
        return struct.pack(f"<{len(left)}H", *left)
    bits = bytearray(stored)
    for place in gone:
        bits[place >> 3] &= ~(1 << (place & 7))
    return bytes(bits) if any(bits) else b""


def gather(stored: Mapping[int, bytes], chunks: Sequence[int]) -> int:
    """The places of all chunks as one set: those of the first chunk stand from bit 0 on, and so forth."""
    if not stored:
        return 0
    bits = bytearray(len(chunks) * CHUNK_BYTES)
    for index, chunk in enumerate(chunks):
        if part := stored.get(chunk):
            if len(part) == CHUNK_BYTES:
                bits[index * CHUNK_BYTES : (index + 1) * CHUNK_BYTES] = part
            else:
                _set(bits, index * CHUNK_BYTES, _listed(part))
    return int.from_bytes(bits, "little")


def set_of(places: Iterable[int]) -> int:
    """Return these few places as a set."""
    bits = 0
    for place in places:
        bits |= 1 << place
    return bits


def places_of(bits: int) -> list[int]:
    """The places of a set, the least first."""
    in_bytes = bits.to_bytes((bits.bit_length() + 7) // 8, "little")
    return [
        match.start() * 8 + bit
        for match in _NOT_EMPTY.finditer(in_bytes)
        for bit in range(8)
        if match[0][0] >> bit & 1
    ]


def latest(bits: int, number: int) -> int:
    """The `number` greatest places of a set, or all when it has no more."""
    low, high = 0, bits.bit_length()
    while low < high:
        middle = (low + high) // 2
        if (bits >> middle).bit_count() > number:
            low = middle + 1
        else:
            high = middle
    return bits >> low << low


def _listed(stored: bytes) -> tuple[int, ...]:
    return struct.unpack(f"<{len(stored) // 2}H", stored)


def _set(bits: bytearray, offset: int, places: Iterable[int]) -> None:
    for place in places:
        bits[offset + (place >> 3)] |= 1 << (place & 7)


# ---- memory segments -------------------------------------------------------------------------------------
# The notes that have a key, in one value: read in one go, and looked up without unpacking it.
#
# A segment is for SEGMENT places at most. It is the number of its keys, the length of each note in terms, the
# keys in ascending order, where the places of each key end, and the places: a byte each, as often as the note
# has the term. Numbers have 32 bits and are little-endian.

SEGMENT: Final = 128

_HEAD: Final = 1 + SEGMENT

Occurrences = Mapping[int, Sequence[int]]
"""key -> the places of the notes that have it, each as often as its note has it"""


class Segment:
    """A stored segment."""

    __slots__ = ("_ends", "_keys", "_places", "lengths")

    def __init__(self, stored: bytes) -> None:
        view = memoryview(stored)
        [number] = unpack_numbers(view[:KEY_BYTES])
        end = KEY_BYTES * (_HEAD + 2 * number)
        numbers = unpack_numbers(view[:end])
        self.lengths = numbers[1:_HEAD]
        """Of each place: how many terms its note has, 0 where none stands."""
        self._keys = numbers[_HEAD : _HEAD + number]
        self._ends = numbers[_HEAD + number :]
        self._places = stored[end:]

    def places(self, key: int) -> bytes:
        """Return the places that have the key; empty when none has."""
        at = bisect_left(self._keys, key)
        if at == len(self._keys) or self._keys[at] != key:
            return b""
        return self._places[self._ends[at - 1] if at else 0 : self._ends[at]]

    def occurrences(self) -> dict[int, bytes]:
        """Return the places of each key."""
        starts = (0, *self._ends)
        return {
            key: self._places[start:end]
            for key, start, end in zip(self._keys, starts, self._ends, strict=False)
        }


def segment_of(occurrences: Occurrences, lengths: Sequence[int]) -> bytes:
    """A segment as it is stored. `lengths` are as in Segment, and may end before SEGMENT."""
    keys = sorted(occurrences)
    places = [bytes(occurrences[key]) for key in keys]
    missing = [0] * (SEGMENT - len(lengths))
    ends = accumulate(map(len, places))
    return pack_numbers([len(keys), *lengths, *missing, *keys, *ends]) + b"".join(places)


def with_notes(stored: bytes, first: int, notes: Sequence[Iterable[int]], lengths: Sequence[int]) -> bytes:
    """A segment, or none yet (empty), with these notes from place `first` on; of each its keys and length."""
    before = Segment(stored) if stored else None
    places: dict[int, list[int]] = {}
    for place, keys in enumerate(notes, first):
        for key in keys:
            places.setdefault(key, []).append(place)
    if before is None:
        return segment_of(places, lengths)
    joined: dict[int, Sequence[int]] = dict(before.occurrences())
    joined.update((key, bytes([*joined.get(key, b""), *added])) for key, added in places.items())
    return segment_of(joined, [*before.lengths[:first], *lengths])


def without_notes(stored: bytes, gone: Iterable[int]) -> bytes:
    """A segment without the notes of these places: nothing of their keys is left in it."""
    segment, places = Segment(stored), bytes(gone)
    left = {key: kept for key, had in segment.occurrences().items() if (kept := had.translate(None, places))}
    return segment_of(left, [0 if at in places else length for at, length in enumerate(segment.lengths)])


# ---- memory postings -------------------------------------------------------------------------------------
# The index of those who have many memories: per key, which memories of a chunk have it.
#
# Segments are read whole by each search, so only some of a user's stay. Older ones are joined into chunks of
# 4096 places, where a search reads what it asks for and no more. Places stay as they are.

# $1 user, $2 chunk, then keys
SELECT_POSTINGS: Final = ListStatement(
    """
    SELECT key, postings FROM memory_postings
    WHERE user_id = $1 AND chunk = $2 AND key IN ({list})
    """,
    fixed=2,
)

# $1 user, $2 chunk, $3 key, $4 postings
PUT_POSTINGS: Final = """
    INSERT INTO memory_postings (user_id, chunk, key, postings) VALUES ($1, $2, $3, $4)
    ON CONFLICT (user_id, chunk, key) DO UPDATE SET postings = excluded.postings
"""

# $1 user, $2 chunk, then keys
DELETE_POSTINGS: Final = ListStatement(
    "DELETE FROM memory_postings WHERE user_id = $1 AND chunk = $2 AND key IN ({list})", fixed=2
)

# $1 user, $2 chunk, $3 memories and $4 terms that came
FILL_CHUNK: Final = """
    INSERT INTO memory_chunks (user_id, chunk, documents, total_length) VALUES ($1, $2, $3, $4)
    ON CONFLICT (user_id, chunk) DO UPDATE SET
        documents = memory_chunks.documents + excluded.documents,
        total_length = memory_chunks.total_length + excluded.total_length
"""

# $1 user, $2 chunk
DELETE_EMPTY_CHUNK: Final = "DELETE FROM memory_chunks WHERE user_id = $1 AND chunk = $2 AND documents = 0"


def add_to_chunk(
    user_id: int, place: int, occurrences: Occurrences, documents: int, total_length: int
) -> Steps[None]:
    """Add the notes of a segment that begins at this place."""
    chunk, first = divmod(place, CHUNK)
    stored = yield from _postings(user_id, chunk, occurrences)
    for key in sorted(occurrences):  # in the order of the key: neighbours are written together
        places = [first + at for at in dict.fromkeys(occurrences[key])]
        yield Statement(PUT_POSTINGS, (user_id, chunk, key, with_places(stored.get(key, b""), places)))
    yield Statement(FILL_CHUNK, (user_id, chunk, documents, total_length))


def remove_from_chunk(
    user_id: int, chunk: int, occurrences: Occurrences, documents: int, total_length: int
) -> Steps[None]:
    """Remove notes; their places are those within the chunk."""
    stored = yield from _postings(user_id, chunk, occurrences)
    left = {key: without_places(postings, occurrences[key]) for key, postings in stored.items()}
    for key, postings in left.items():
        if postings:
            yield Statement(PUT_POSTINGS, (user_id, chunk, key, postings))
    empty = [key for key, postings in left.items() if not postings]
    yield from each(DELETE_POSTINGS.of((user_id, chunk), empty))
    yield Statement(FILL_CHUNK, (user_id, chunk, -documents, -total_length))
    yield Statement(DELETE_EMPTY_CHUNK, (user_id, chunk))


def each(statements: Iterable[Statement]) -> Steps[None]:
    for statement in statements:  # noqa: UP028 - they may be of a list, which can't be sent rows
        yield statement


def _postings(user_id: int, chunk: int, keys: Iterable[int]) -> Steps[dict[int, bytes]]:
    stored: dict[int, bytes] = {}
    wanted: Sequence[int] = sorted(keys)
    for statement in SELECT_POSTINGS.of((user_id, chunk), wanted):
        stored.update((yield statement))  # type: ignore[arg-type]  # rows of two columns
    return stored


# ---- memory index ----------------------------------------------------------------------------------------

WAITING: Final = 16
"""So many rows may wait; to read that many takes a search a tenth of a millisecond."""
WAITING_BYTES: Final = 60_000
"""Of their keys. Long notes are folded in sooner."""
SEGMENTS: Final = 8
"""So many are read by a search: a fifth of a millisecond."""
_FULL_BYTES: Final = 100_000
"""A segment of this size takes no more notes; one of usual notes has half as much."""


class _Indexed(NamedTuple):
    """A memory as the index has it, or is to have it."""

    id: int
    place: int
    """NULL as long as it waits."""
    keys: bytes
    search_content: str
    search_tags: str

    @property
    def grams(self) -> set[int]:
        return grams(self.search_content + self.search_tags)

    @property
    def length(self) -> int:
        return len(self.keys) // KEY_BYTES


_INDEXED: Final = Columns(_Indexed)

# $1 user, $2 version, $3 how many
SELECT_WAITING: Final = f"""
    SELECT {_INDEXED.select} FROM memories
    WHERE user_id = $1 AND place IS NULL AND status = 'active' AND terms_version = $2
    ORDER BY id LIMIT $3
"""

# $1 user, $2 how many at most
COUNT_WAITING: Final = """
    SELECT count(*), CAST(coalesce(sum(bytes), 0) AS BIGINT) FROM (
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


class _First(NamedTuple):
    segment: int
    documents: int
    total_length: int
    keys: bytes


_FIRST: Final = Columns(_First)

# $1 user
COUNT_SEGMENTS: Final = "SELECT count(*) FROM memory_segments WHERE user_id = $1"
# $1 user
SELECT_FIRST_SEGMENT: Final = f"""
    SELECT {_FIRST.select} FROM memory_segments WHERE user_id = $1 ORDER BY segment LIMIT 1
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

# By the primary key: the plus keeps the indexes of a user out. $1 user, $2 pairs of memory and place, as JSON
PUT_PLACES: Final = """
    UPDATE memories SET place = given.place
    FROM (SELECT @number_at(value, 0) AS id, @number_at(value, 1) AS place FROM @rows($2) AS each) AS given
    WHERE memories.id = given.id AND +memories.user_id = $1
"""

# $1 user, then memories
SELECT_PLACED: Final = ListStatement(
    f"""
    SELECT {_INDEXED.select} FROM memories
    WHERE user_id = $1 AND id IN ({{list}}) AND place IS NOT NULL
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
    rows = yield Statement(SELECT_WAITING, (user_id, VERSION, min(most, SEGMENT - filled)))
    if not rows:
        return 0
    notes = _some([*map(_INDEXED.read, rows)])
    lengths = [note.length for note in notes]
    keys = with_notes(stored, filled, [[*unpack_numbers(note.keys), *note.grams] for note in notes], lengths)
    placed = [(note.id, place) for place, note in enumerate(notes, segment * SEGMENT + filled)]
    yield Statement(PUT_PLACES, (user_id, json.dumps(placed)))
    yield Statement(PUT_SEGMENT, (user_id, segment, len(notes), len(notes), sum(lengths), keys))
    return len(notes)


def join_segments(user_id: int, *, most: int = SEGMENTS) -> Steps[bool]:
    """Join a user's oldest segment into the postings, if there are more than `most`. Whether it was."""
    [(count,)] = yield Statement(COUNT_SEGMENTS, (user_id,))
    if count <= most:
        return False
    [first] = map(_FIRST.read, (yield Statement(SELECT_FIRST_SEGMENT, (user_id,))))
    occurrences = Segment(first.keys).occurrences()
    place = first.segment * SEGMENT
    yield from add_to_chunk(user_id, place, occurrences, first.documents, first.total_length)
    yield Statement(DELETE_SEGMENT, (user_id, first.segment))
    return True


def unfold(user_id: int, memory_ids: Sequence[int]) -> Steps[None]:
    """Take memories out of the index, those that are in it; they wait then, as what is new.

    To be run before, and in the transaction of, whatever changes their text, tags or status or deletes them.
    Raises nothing for those that are not there or not the user's.
    """
    placed: list[_Indexed] = []
    for statement in SELECT_PLACED.of((user_id,), memory_ids):
        placed += map(_INDEXED.read, (yield statement))
    of_segment = _by(SEGMENT, placed)
    for statement in SELECT_SEGMENT_KEYS.of((user_id,), sorted(of_segment)):
        for segment, keys in (yield statement):
            notes = of_segment.pop(segment)
            left = without_notes(keys, [note.place % SEGMENT for note in notes])
            gone = (-len(notes), -sum(note.length for note in notes))
            yield Statement(PUT_SEGMENT, (user_id, segment, 0, *gone, left))
            yield Statement(DELETE_EMPTY_SEGMENT, (user_id, segment))
    for chunk, joined in _by(CHUNK, [*chain.from_iterable(of_segment.values())]).items():
        occurrences: defaultdict[int, list[int]] = defaultdict(list)
        for note in joined:
            for key in {*unpack_numbers(note.keys), *note.grams}:
                occurrences[key].append(note.place % CHUNK)
        length = sum(note.length for note in joined)
        yield from remove_from_chunk(user_id, chunk, occurrences, len(joined), length)
    yield from each(CLEAR_PLACE.of((user_id,), [note.id for note in placed]))


def unfold_all(user_id: int) -> Sequence[Statement]:
    """The statements that empty a user's index: for the transaction that takes all of their memories away."""
    return [Statement(sql, (user_id,)) for sql in _OF_A_USER]


def unfold_and_run(
    user_id: int, memory_id: int, statements: Sequence[Statement]
) -> Steps[list[Sequence[Row]]]:
    """A whole transaction: takes the memory out of the index and runs these; the rows of each of them."""
    yield from unfold(user_id, [memory_id])
    results = []
    for statement in statements:
        results.append((yield statement))
    return results


def _last_segment(user_id: int) -> Steps[tuple[int, int, bytes]]:
    """The one that takes the next notes, how many places of it are given, and what is in it."""
    last = yield Statement(SELECT_LAST_SEGMENT, (user_id,))
    for segment, filled, keys in last:
        if filled < SEGMENT and len(keys) < _FULL_BYTES:
            return segment, filled, keys
    [(place,)] = yield Statement(SELECT_LAST_PLACE, (user_id,))
    used = [-1 if place is None else place // SEGMENT, *(segment for segment, _, _ in last)]
    return max(used) + 1, 0, b""


def _by(size: int, placed: Sequence[_Indexed]) -> dict[int, list[_Indexed]]:
    """Group what is in the index by the part of this size that it lies in."""
    parts: defaultdict[int, list[_Indexed]] = defaultdict(list)
    for note in placed:
        parts[note.place // size].append(note)
    return parts


def _some(waiting: Sequence[_Indexed]) -> Sequence[_Indexed]:
    """Return as many of the first as are folded in without holding up others; at least one."""
    until = list(accumulate(len(note.keys) for note in waiting))
    return waiting[: max(bisect_right(until, WAITING_BYTES), 1)]
