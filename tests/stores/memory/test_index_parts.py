"""What an index is made of - sets of places, grams, scores - beside the same in sets and dictionaries."""

from hypothesis import example, given
from hypothesis import strategies as st

from cc_bot.search.folding import fold
from cc_bot.stores.memory.index import (
    CHUNK,
    gather,
    latest,
    places_of,
    set_of,
    with_places,
    without_places,
)
from cc_bot.stores.memory.search import tally
from cc_bot.stores.memory.texts import (
    TextMatcher,
    grams,
    pack_numbers,
    some_grams,
    term_keys,
    unpack_numbers,
)

KEYS = st.integers(0, 12) | st.integers(0, 2**32 - 1)
PLACES = st.sets(st.integers(0, CHUNK - 1), max_size=80)
SMALL = st.sets(st.integers(0, 20))


class TestPlaces:
    @given(PLACES, PLACES, PLACES)
    def test_are_stored_and_taken_away(self, first: set[int], second: set[int], gone: set[int]) -> None:
        postings = with_places(with_places(b"", sorted(first)), sorted(second - first))
        assert set(places_of(gather({0: postings}, [0]))) == first | second
        gone &= first | second
        left = without_places(postings, gone)
        assert set(places_of(gather({0: left}, [0]))) == (first | second) - gone
        assert (left == b"") == (gone == first | second)

    @given(st.dictionaries(st.integers(0, 9), PLACES, max_size=4))
    def test_of_chunks_follow_each_other(self, chunks: dict[int, set[int]]) -> None:
        numbers = sorted(chunks)
        stored = {number: with_places(b"", sorted(chunks[number])) for number in numbers if chunks[number]}
        assert set(places_of(gather(stored, numbers))) == {
            at * CHUNK + place for at, number in enumerate(numbers) for place in chunks[number]
        }

    @given(PLACES, st.integers(0, 90))
    def test_that_are_the_latest_are_the_greatest(self, places: set[int], number: int) -> None:
        greatest = sorted(places)[-number:] if number else []
        assert places_of(latest(set_of(places), number)) == greatest


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


class TestKeys:
    @given(st.lists(KEYS))
    def test_are_the_same_in_every_file(self, keys: list[int]) -> None:
        assert list(unpack_numbers(pack_numbers(keys))) == keys
        assert pack_numbers(term_keys(["猫", "cat"])).hex() == "10b2de85a8435e9e"
        assert len(term_keys(["\ud83d", "猫"])) == 2, "also of half a character"


class TestGrams:
    @given(st.text(), st.text(min_size=1), st.text())
    def test_of_a_part_are_all_in_the_whole(self, before: str, part: str, after: str) -> None:
        assert some_grams(part) <= grams(before + part + after)


TEXT = st.text(alphabet="aAbＢｶガ゛カ 。", max_size=8)


class TestSoughtTexts:
    @given(texts=st.lists(TEXT, max_size=80), said=TEXT)
    @example(texts=[f"{number} の猫" for number in range(50)], said="ここに 49 の猫がいる")
    @example(texts=["", " "], said="")
    @example(texts=["ｶﾌｪ Blue"], said="駅前のカフェ　ＢＬＵＥ です")
    def test_stand_in_a_text_if_one_of_them_does(self, texts: list[str], said: str) -> None:
        one_does = any(fold(text).strip() in fold(said) for text in texts if fold(text).strip())
        assert TextMatcher(texts).within(said) == one_does
