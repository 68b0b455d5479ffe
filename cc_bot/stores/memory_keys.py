"""The numbers that stand in the search index for what a note has, so that no piece of its text stands there.

There are two kinds. A term's is a hash of 32 bits: two terms share one so rarely that a search in a hundred
thousand notes meets that about once in a thousand queries, and it then counts a note a little too much.

Terms can't tell which notes may contain a query as written: the cut of a word is no word, and punctuation has
no terms. So the index also holds, of each note, its characters and its pairs of neighbouring ones, as they
stand. A pair is not kept itself but as one of some hundred numbers, its gram, so that the index stays small.
A note that contains the query has all of the query's grams; of those that have them nearly all contain it,
and which do is seen in their text.
"""

import struct
import sys
from collections.abc import Collection, Iterable, Sequence
from itertools import chain, islice, pairwise
from typing import Final
from zlib import crc32

KEY_BYTES: Final = 4

_LAST_GRAM: Final = 511
"""Grams go from 0 to this one, which is all ones in binary. A note of thirty characters has about sixty of
them; with three characters to look for, less than one note in a hundred has theirs by chance."""

_ENOUGH: Final = 16


def term_keys(terms: Iterable[str]) -> list[int]:
    """The key of each term, in their order."""
    return list(map(crc32, " ".join(terms).encode("utf-8", "replace").split()))


def packed(keys: Collection[int]) -> bytes:
    """Keys as they are stored: little-endian."""
    return struct.pack(f"<{len(keys)}I", *keys)


def unpacked(stored: bytes | memoryview) -> Sequence[int]:
    """The keys that are stored, where they stand if the machine counts as they do."""
    if sys.byteorder == "little":
        return memoryview(stored).cast("I")
    return struct.unpack(f"<{len(stored) // KEY_BYTES}I", stored)


def grams(text: str) -> set[int]:
    """The grams of a note."""
    codes = [ord(character) for character in text]
    found = {left * 37 + right * 101 & _LAST_GRAM for left, right in pairwise(codes)}
    found.update([code & _LAST_GRAM for code in codes])
    return found


def some_grams(query: str) -> set[int]:
    """As many of the query's grams as it takes; all of them stand in a note that contains the query."""
    codes = [ord(character) for character in query[:_ENOUGH]]
    pairs = (left * 37 + right * 101 for left, right in pairwise(codes))
    return {code & _LAST_GRAM for code in islice(chain(pairs, codes), _ENOUGH)}
