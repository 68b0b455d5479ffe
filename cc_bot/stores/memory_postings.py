"""The index of those who have many memories: per key, which memories of a chunk have it.

Segments are read whole by each search, so only some of a user's stay. Older ones are joined into chunks of
4096 places, where a search reads what it asks for and no more. Places stay as they are.
"""

from collections.abc import Iterable, Sequence
from typing import Final

from cc_bot.storage import Statement, Steps
from cc_bot.stores.memory_places import CHUNK, with_places, without_places
from cc_bot.stores.memory_segments import Occurrences
from cc_bot.stores.value_lists import ListStatement

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
