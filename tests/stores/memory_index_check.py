"""What must hold of the search index at any moment: it says of each memory in it just what the row says."""

from collections import defaultdict

from cc_bot.storage import Database
from cc_bot.stores.memory_grams import grams
from cc_bot.stores.memory_places import CHUNK, gathered, places_of


async def places_by_key(database: Database) -> dict[tuple[int, str], set[int]]:
    """(user, key) -> places, as the index has them."""
    found: defaultdict[tuple[int, str], set[int]] = defaultdict(set)
    rows = await database.query("SELECT user_id, chunk, term, postings FROM memory_postings")
    for user_id, chunk, term, postings in rows:
        assert postings, "a key without a place is gone"
        found[user_id, term] |= {chunk * CHUNK + place for place in places_of(gathered({0: postings}, [0]))}
    return dict(found)


async def check_index(database: Database) -> int:
    """How many memories are in the index, which is true."""
    rows = await database.query(
        "SELECT user_id, place, terms, search_content || search_tags FROM memories WHERE place IS NOT NULL"
    )
    expected: defaultdict[tuple[int, str], set[int]] = defaultdict(set)
    chunks: defaultdict[tuple[int, int], list[int]] = defaultdict(list)
    for user_id, place, terms, text in rows:
        for key in {*terms.split(), *grams(text)}:
            expected[user_id, key].add(place)
        chunks[user_id, place // CHUNK].append(len(terms.split()))
    assert await places_by_key(database) == expected
    counted = await database.query(
        "SELECT user_id, chunk, documents, total_length, filled FROM memory_chunks"
    )
    assert {(user, chunk): (notes, length) for user, chunk, notes, length, _ in counted} == {
        key: (len(lengths), sum(lengths)) for key, lengths in chunks.items()
    }
    assert all(notes <= filled <= CHUNK for _, _, notes, _, filled in counted)
    return len(rows)
