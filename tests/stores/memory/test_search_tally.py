"""Sets of places and the scores that are added up on them, beside the same by lists and dictionaries."""

from hypothesis import given
from hypothesis import strategies as st

from cc_bot.stores.memory.index import (
    CHUNK,
    CHUNK_BYTES,
    gather,
    latest,
    places_of,
    set_of,
    with_places,
    without_places,
)
from cc_bot.stores.memory.search import tally

PLACES = st.sets(st.integers(0, CHUNK - 1), max_size=80)
SMALL = st.sets(st.integers(0, 20))


def stored(*parts: set[int]) -> bytes:
    """As the index comes to have them: some at a time."""
    postings, known = b"", set[int]()
    for part in parts:
        postings = with_places(postings, sorted(part - known))
        known |= part
    return postings


class TestPlaces:
    @given(PLACES, PLACES, PLACES)
    def test_are_stored_and_taken_away(self, first: set[int], second: set[int], gone: set[int]) -> None:
        postings = stored(first, second)
        assert set(places_of(gather({0: postings}, [0]))) == first | second
        gone &= first | second
        left = without_places(postings, gone)
        assert set(places_of(gather({0: left}, [0]))) == (first | second) - gone
        assert (left == b"") == (gone == first | second)

    def test_never_take_more_room_than_their_bits(self) -> None:
        assert len(stored({7})) == 2
        assert len(stored(set(range(0, CHUNK, 2)))) == CHUNK_BYTES

    @given(st.dictionaries(st.integers(0, 9), PLACES, max_size=4))
    def test_of_chunks_follow_each_other(self, chunks: dict[int, set[int]]) -> None:
        numbers = sorted(chunks)
        bits = gather({number: stored(chunks[number]) for number in numbers if chunks[number]}, numbers)
        assert set(places_of(bits)) == {
            at * CHUNK + place for at, number in enumerate(numbers) for place in chunks[number]
        }

    @given(PLACES, st.integers(0, 90))
    def test_that_are_the_latest_are_the_greatest(self, places: set[int], number: int) -> None:
        expected = sorted(places)[-number:] if number else []
        assert places_of(latest(set_of(places), number)) == expected


class TestTally:
    @given(
        found=st.dictionaries(st.sampled_from("abcdef"), SMALL),
        weights=st.dictionaries(st.sampled_from("abcdef"), st.integers(1, 63)),
        number=st.integers(1, 25),
        among=SMALL,
    )
    def test_finds_the_best_as_a_sum_for_each_would(
        self, found: dict[str, set[int]], weights: dict[str, int], number: int, among: set[int]
    ) -> None:
        weights["heaviest"] = 63  # whole numbers are then what they are
        scores = tally(
            {term: set_of(places) for term, places in found.items()},
            {term: float(weight) for term, weight in weights.items()},
        )
        sums = {
            place: sum(weight for term, weight in weights.items() if place in found.get(term, ()))
            for place in range(21)
        }
        assert places_of(scores.scored) == [place for place in range(21) if sums[place]]
        order = sorted(among, key=lambda place: (sums[place], place), reverse=True)
        assert places_of(scores.best(number, set_of(among))) == sorted(order[:number])

    def test_of_nothing_finds_the_latest(self) -> None:
        assert places_of(tally({}, {}).best(2, 0b1011)) == [1, 3]
