"""The vectors of users with very many, in short: what is near is found among sketches, then compared in full.

A sketch row has all vectors of a user between two memory ids. Rows follow each other without a gap from the
first memory on; a trigger drops the row that a vector is added to or deleted from (so no trace of what was
erased stays in one), and what is in no row is read in full. Rows are made when a search had much to read.
"""

from array import array
from collections.abc import Sequence
from itertools import chain, islice
from typing import Final, NamedTuple

from cc_bot.search.sketches import sketch
from cc_bot.storage import Row, Statement, Steps
from cc_bot.stores.value_lists import ListStatement

SKETCHED: Final = 1024
"""Vectors in a row, at most."""
CROWD: Final = 2048
"""So many vectors that are in no row are too many to read."""

# $1 user, $2 model
_SELECT_SKETCHES: Final = """
    SELECT after_id, last_id, memory_ids, bits FROM memory_sketches
    WHERE user_id = $1 AND model = $2
    ORDER BY after_id
"""

_SELECT_RANGES: Final = """
    SELECT after_id, last_id FROM memory_sketches WHERE user_id = $1 AND model = $2 ORDER BY after_id
"""

# $1 user, $2 model, $3 and $4 the ids between which they lie, the second included, $5 how many
_SELECT_BETWEEN: Final = """
    SELECT memory_id, vector FROM memory_vectors
    WHERE user_id = $1 AND memory_id > $3 AND memory_id <= $4 AND model = $2
    ORDER BY memory_id LIMIT $5
"""

# $1 user, $2 model, then memories
_SELECT_VECTORS_OF: Final = ListStatement(
    """
    SELECT memory_id, vector FROM memory_vectors
    WHERE user_id = $1 AND memory_id IN ({list}) AND model = $2
    """,
    fixed=2,
)

# $1 user, $2 model
_DROP_OTHERS: Final = "DELETE FROM memory_sketches WHERE user_id = $1 AND model <> $2"

# $1 user, $2 after which memory, $3 up to which, $4 model, $5 memories, $6 bits
_PUT_SKETCH: Final = """
    INSERT INTO memory_sketches (user_id, after_id, last_id, model, memory_ids, bits)
    VALUES ($1, $2, $3, $4, $5, $6)
"""

_LAST_ID: Final = 2**63 - 1


class Crowd(NamedTuple):
    """A user's vectors as a search reads them."""

    memory_ids: "list[array[int]]"
    """Of each row of sketches."""
    bits: list[bytes]
    loose: list[Row]
    """Memories and vectors that are in no row."""
    unread: int
    """After which memory there are more of them; 0 if there are none."""

    def memory_at(self, row: int, place: int) -> int:
        return self.memory_ids[row][place]

    def some_memories(self, count: int) -> list[int]:
        """About so many, from all rows alike."""
        step = max(1, sum(map(len, self.memory_ids)) // count)
        return list(islice(chain.from_iterable(self.memory_ids), 0, None, step))


def crowd_of(user_id: int, model: str) -> Steps[Crowd]:
    sketches = yield Statement(_SELECT_SKETCHES, (user_id, model))
    loose: list[Row] = []
    unread = 0
    for after, last in _gaps(sketches):
        rows = yield Statement(_SELECT_BETWEEN, (user_id, model, after, last, CROWD))
        loose += rows
        unread = rows[-1][0] if len(rows) == CROWD and last == _LAST_ID else unread
    return Crowd([array("q", row[2]) for row in sketches], [row[3] for row in sketches], loose, unread)


def more_of(user_id: int, model: str, after: int) -> Statement:
    """The next CROWD vectors after that memory."""
    return Statement(_SELECT_BETWEEN, (user_id, model, after, _LAST_ID, CROWD))


def vectors_of(user_id: int, model: str, memories: Sequence[int]) -> Steps[list[Row]]:
    found: list[Row] = []
    for statement in _SELECT_VECTORS_OF.of((user_id, model), memories):
        found += yield statement
    return found


def make_sketches(user_id: int, model: str) -> Steps[bool]:
    """Make one row of what is in none yet; whether there is more to make.

    What comes last is left until there is enough of it for a row, or every write would undo one.
    """
    yield Statement(_DROP_OTHERS, (user_id, model))
    ranges = yield Statement(_SELECT_RANGES, (user_id, model))
    for after, last in _gaps(ranges):
        rows = yield Statement(_SELECT_BETWEEN, (user_id, model, after, last, SKETCHED))
        if last == _LAST_ID and len(rows) < SKETCHED:
            continue
        end = rows[-1][0] if len(rows) == SKETCHED else last
        whole = [row for row in rows if row[1]]
        ids, bits = array("q", [row[0] for row in whole]), b"".join(sketch(row[1]) for row in whole)
        yield Statement(_PUT_SKETCH, (user_id, after, end, model, ids.tobytes(), bits))
        return True
    return False


def _gaps(ranges: Sequence[Row]) -> list[tuple[int, int]]:
    """What lies between, before and after ranges that are in order."""
    starts = [0, *(row[1] for row in ranges)]
    ends = [*(row[0] for row in ranges), _LAST_ID]
    return [(start, end) for start, end in zip(starts, ends, strict=True) if start < end]
