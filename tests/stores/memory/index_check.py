"""What must hold of the search index at any moment: it says of each memory in it just what the row says."""

from collections import Counter, defaultdict
from collections.abc import AsyncIterator

from cc_bot.storage import Database
from cc_bot.stores.memory.index import CHUNK, SEGMENT, Segment, gather, places_of
from cc_bot.stores.memory.texts import grams, unpack_numbers

Counts = dict[tuple[int, int], Counter[int]]
"""(user, key) -> places, each as often as the memory there has the key"""


async def counts_by_key(database: Database) -> Counts:
    """As the index has them; what is joined into postings counts once."""
    found: defaultdict[tuple[int, int], Counter[int]] = defaultdict(Counter)
    for user_id, segment, keys in await database.query("SELECT user_id, segment, keys FROM memory_segments"):
        for key, places in Segment(keys).occurrences().items():
            assert places, "a key without a place is gone"
            found[user_id, key].update(segment * SEGMENT + place for place in places)
    rows = await database.query("SELECT user_id, chunk, key, postings FROM memory_postings")
    for user_id, chunk, key, postings in rows:
        assert postings, "a key without a place is gone"
        found[user_id, key].update(chunk * CHUNK + place for place in places_of(gather({0: postings}, [0])))
    return dict(found)


async def check_index(database: Database) -> int:
    """How many memories are in the index, which is true."""
    segments = await database.query("SELECT user_id, segment FROM memory_segments")
    in_segments = {(user_id, segment) for user_id, segment in segments}
    rows = await database.query(
        "SELECT user_id, place, keys, search_content || search_tags FROM memories WHERE place IS NOT NULL"
    )
    assert len({(user_id, place) for user_id, place, *_ in rows}) == len(rows)
    expected: defaultdict[tuple[int, int], Counter[int]] = defaultdict(Counter)
    parts: defaultdict[tuple[str, int, int], list[int]] = defaultdict(list)
    for user_id, place, stored, text in rows:
        joined = (user_id, place // SEGMENT) not in in_segments
        keys = Counter([*unpack_numbers(stored), *grams(text)])
        for key, count in keys.items():
            expected[user_id, key][place] = 1 if joined else count
        part = ("chunk", place // CHUNK) if joined else ("segment", place // SEGMENT)
        parts[part[0], user_id, part[1]].append(len(unpack_numbers(stored)))
    assert await counts_by_key(database) == expected
    counted = {part async for part in _counted(database)}
    assert counted == {(*part, len(lengths), sum(lengths)) for part, lengths in parts.items()}
    return len(rows)


async def _counted(database: Database) -> AsyncIterator[tuple[str, int, int, int, int]]:
    sql = "SELECT user_id, segment, documents, total_length, filled, keys FROM memory_segments"
    for user_id, segment, documents, total_length, filled, keys in await database.query(sql):
        assert documents <= filled <= SEGMENT
        assert sum(Segment(keys).lengths) == total_length
        yield "segment", user_id, segment, documents, total_length
    sql = "SELECT user_id, chunk, documents, total_length FROM memory_chunks"
    for user_id, chunk, documents, total_length in await database.query(sql):
        yield "chunk", user_id, chunk, documents, total_length
