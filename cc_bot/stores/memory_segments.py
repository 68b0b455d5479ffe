"""Which of some notes have a key, in one value: read in one go, and looked up without unpacking it.

A segment is for SEGMENT places at most. It is the number of its keys, the length of each note in terms, the
keys in ascending order, where the places of each key end, and the places: a byte each, as often as the note
has the term. Numbers have 32 bits and are little-endian.
"""

from bisect import bisect_left
from collections.abc import Iterable, Mapping, Sequence
from itertools import accumulate
from typing import Final

from cc_bot.stores.memory_keys import KEY_BYTES, packed, unpacked

SEGMENT: Final = 128

_HEAD: Final = 1 + SEGMENT

Occurrences = Mapping[int, Sequence[int]]
"""key -> the places of the notes that have it, each as often as its note has it"""


class Segment:
    """A stored segment."""

    __slots__ = ("_ends", "_keys", "_places", "lengths")

    def __init__(self, stored: bytes) -> None:
        view = memoryview(stored)
        [number] = unpacked(view[:KEY_BYTES])
        end = KEY_BYTES * (_HEAD + 2 * number)
        numbers = unpacked(view[:end])
        self.lengths = numbers[1:_HEAD]
        """Of each place: how many terms its note has, 0 where none stands."""
        self._keys = numbers[_HEAD : _HEAD + number]
        self._ends = numbers[_HEAD + number :]
        self._places = stored[end:]

    def places(self, key: int) -> bytes:
        """Those that have the key; empty when none has."""
        at = bisect_left(self._keys, key)
        if at == len(self._keys) or self._keys[at] != key:
            return b""
        return self._places[self._ends[at - 1] if at else 0 : self._ends[at]]

    def occurrences(self) -> dict[int, bytes]:
        """All that is in it."""
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
    return packed([len(keys), *lengths, *missing, *keys, *ends]) + b"".join(places)


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
