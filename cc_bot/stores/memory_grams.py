"""Which notes may contain a query as written, whatever characters it is of.

Terms can't tell: the cut of a word is no word, and punctuation has no terms. So the index also holds, of each
note, its characters and its pairs of neighbouring ones, as they stand. A pair is not kept itself but as one
of some hundred numbers, so that the index stays small. A note that contains the query has all of the query's
numbers; of those that have them nearly all contain it, and which do is seen in their text.
"""

from itertools import chain, islice, pairwise
from typing import Final

_LAST: Final = 511
"""Numbers go from 0 to this one, which is all ones in binary. A note of thirty characters has about sixty of
them; with three characters to look for, less than one note in a hundred has theirs by chance."""

_KEYS: Final = tuple(f"\x01{number}" for number in range(_LAST + 1))
"""How a number stands in the index, beside the terms: those have no control characters."""

_ENOUGH: Final = 16


def grams(text: str) -> set[str]:
    """The keys of a note."""
    codes = [ord(character) for character in text]
    keys = {_KEYS[left * 37 + right * 101 & _LAST] for left, right in pairwise(codes)}
    keys.update([_KEYS[code & _LAST] for code in codes])
    return keys


def some_grams(query: str) -> set[str]:
    """As many of the query's keys as it takes; all of them stand in a note that contains the query."""
    codes = [ord(character) for character in query[:_ENOUGH]]
    pairs = (left * 37 + right * 101 for left, right in pairwise(codes))
    return {_KEYS[code & _LAST] for code in islice(chain(pairs, codes), _ENOUGH)}
