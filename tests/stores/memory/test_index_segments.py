"""What stands in the search index for a note, and segments of it beside the same in dictionaries."""

from collections import Counter

from hypothesis import given
from hypothesis import strategies as st

from cc_bot.stores.memory.index import SEGMENT, Segment, with_notes, without_notes
from cc_bot.stores.memory.texts import grams, pack_numbers, some_grams, term_keys, unpack_numbers

KEYS = st.integers(0, 12) | st.integers(0, 2**32 - 1)
NOTES = st.lists(st.lists(KEYS, max_size=6), max_size=8)


def found(stored: bytes) -> dict[int, Counter[int]]:
    segment = Segment(stored)
    every = segment.occurrences()
    assert {key: segment.places(key) for key in every} == every
    assert all(every.values())
    return {key: Counter(places) for key, places in every.items()}


def expected(notes: dict[int, list[int]]) -> dict[int, Counter[int]]:
    keys = {key for note in notes.values() for key in note}
    return {key: Counter({at: note.count(key) for at, note in notes.items() if key in note}) for key in keys}


def lengths_of(stored: bytes) -> dict[int, int]:
    return {at: length for at, length in enumerate(Segment(stored).lengths) if length}


class TestSegment:
    @given(first=NOTES, second=NOTES, gone=st.sets(st.integers(0, 20)), asked=KEYS)
    def test_says_of_each_key_which_notes_have_it_and_how_often(
        self, first: list[list[int]], second: list[list[int]], gone: set[int], asked: int
    ) -> None:
        stored = with_notes(b"", 0, first, [len(note) for note in first])
        notes = dict(enumerate(first))
        assert found(stored) == expected(notes)
        stored = with_notes(stored, len(first), second, [len(note) for note in second])
        notes.update(enumerate(second, len(first)))
        assert found(stored) == expected(notes)
        left = without_notes(stored, gone)
        kept = {at: note for at, note in notes.items() if at not in gone}
        assert found(left) == expected(kept)
        assert lengths_of(left) == {at: len(note) for at, note in kept.items() if note}
        assert Counter(Segment(left).places(asked)) == expected(kept).get(asked, Counter())

    def test_holds_as_many_notes_as_it_has_places(self) -> None:
        stored = with_notes(b"", 0, [[1, at] for at in range(SEGMENT)], [2] * SEGMENT)
        assert list(Segment(stored).places(1)) == sorted([1, *range(SEGMENT)])
        assert list(Segment(stored).places(SEGMENT - 1)) == [SEGMENT - 1]

    def test_that_all_notes_have_left_has_no_key(self) -> None:
        stored = with_notes(b"", 0, [[5, 6], [6]], [2, 1])
        assert found(without_notes(stored, [0, 1])) == {}


class TestKeys:
    def test_are_the_same_in_every_file(self) -> None:
        assert pack_numbers(term_keys(["猫", "cat"])).hex() == "10b2de85a8435e9e"

    @given(st.lists(KEYS))
    def test_are_read_as_they_were_stored(self, keys: list[int]) -> None:
        assert list(unpack_numbers(pack_numbers(keys))) == keys

    def test_are_there_for_half_a_character_too(self) -> None:
        assert len(term_keys(["\ud83d", "猫"])) == 2


class TestGrams:
    @given(st.text(), st.text(min_size=1), st.text())
    def test_of_a_part_are_all_in_the_whole(self, before: str, part: str, after: str) -> None:
        assert some_grams(part) <= grams(before + part + after)

    def test_tell_most_texts_apart(self) -> None:
        notes = [f"{number}番のメモ: {'春夏秋冬'[number % 4]}の予定" for number in range(1000)]
        wanted = some_grams("77番のメ")
        assert sum(wanted <= grams(note) for note in notes) < 40
