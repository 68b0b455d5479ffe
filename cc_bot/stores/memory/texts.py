"""The forms of a memory's text that are made when it is written, so that a search needs not make them of
every row."""

import hashlib
import re
import struct
import sys
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import chain, islice, pairwise
from typing import Final
from unicodedata import is_normalized
from zlib import crc32

from cc_bot.search import TERMS_VERSION, fold, listed_terms

# ---- memory keys -----------------------------------------------------------------------------------------
# The numbers that stand in the search index for what a note has, so that no piece of its text stands there.
#
# There are two kinds. A term's is a hash of 32 bits: two terms share one so rarely that a search in a hundred
# thousand notes meets that about once in a thousand queries, and it then counts a note a little too much.
#
# Terms can't tell which notes may contain a query as written: the cut of a word is no word, and punctuation
# has no terms. So the index also holds, of each note, its characters and its pairs of neighbouring ones, as
# they stand. A pair is not kept itself but as one of some hundred numbers, its gram, so that the index stays
# small. A note that contains the query has all of the query's grams; of those that have them nearly all
# contain it, and which do is seen in their text.

KEY_BYTES: Final = 4

_LAST_GRAM: Final = 511
"""Grams go from 0 to this one, which is all ones in binary. A note of thirty characters has about sixty of
them; with three characters to look for, less than one note in a hundred has theirs by chance."""

_ENOUGH: Final = 16


def term_keys(terms: Iterable[str]) -> list[int]:
    """The key of each term, in their order."""
    return list(map(crc32, " ".join(terms).encode("utf-8", "replace").split()))


def pack_numbers(keys: Collection[int]) -> bytes:
    """Keys as they are stored: little-endian."""
    return struct.pack(f"<{len(keys)}I", *keys)


def unpack_numbers(stored: bytes | memoryview) -> Sequence[int]:
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
    """Return as many of the query's grams as it takes; all of them stand in a note that contains the
    query."""
    codes = [ord(character) for character in query[:_ENOUGH]]
    pairs = (left * 37 + right * 101 for left, right in pairwise(codes))
    return {code & _LAST_GRAM for code in islice(chain(pairs, codes), _ENOUGH)}


# ---- memory texts ----------------------------------------------------------------------------------------

VERSION: Final = TERMS_VERSION * 100 + 2
"""Of the rules of both: terms, and what else stands here. Rows that carry another one are made anew."""

# What is neither letter nor digit; but C++ is not C, and 3.5, -5 and 10:30 are not 35, 5 and 1030.
_NO_DIFFERENCE: Final = re.compile(r"[^\w+#](?!\d)|(?<!\d)[^\w+#-](?=\d)|_")


@dataclass(frozen=True, slots=True)
class SearchText:
    """The text that a memory is searched by; each field is a column."""

    search_content: str
    search_tags: str
    likeness: int
    keys: bytes
    """Of its terms, each as often as the text has it."""
    terms_version: int = VERSION


def search_text(content: str, tags: Sequence[str]) -> SearchText:
    return SearchText(
        search_content=searchable(content),
        search_tags=fold_tags(tags),
        likeness=likeness(content),
        keys=pack_numbers(term_keys(listed_terms(content, tags))),
    )


def searchable(content: str) -> str:
    """The text in which a query must stand as written: folded.

    Folding joins what is written in parts (か and ゛, e and ´). One part alone is found too, so a text with
    such parts also stands as it was typed; in all other texts what is contained is so after folding as well.
    """
    if is_normalized("NFKC", content) and is_normalized("NFKC", lowered := content.casefold()):
        return lowered  # as each of its characters is folded by itself
    folded = fold(content)
    return folded if folded == "".join(map(_fold_character, content)) else f"{folded}\n{content}"


_fold_character = lru_cache(maxsize=4096)(fold)


def fold_tags(tags: Iterable[str]) -> str:
    """Tags as they are compared: each between line feeds, so that a whole tag is told from a part of one."""
    folded = [fold(tag) for tag in tags]
    return "\n".join(["", *folded, ""]) if folded else ""


def likeness(content: str) -> int:
    """Near-duplicates have the same one: texts that differ in width, case, white space or punctuation alone.

    A hash (64 bits), so that no second copy of the text stands in the table.
    """
    normalized = _NO_DIFFERENCE.sub("", fold(content)) or content
    digest = hashlib.blake2b(normalized.encode("utf-8", "replace"), digest_size=8).digest()
    return int.from_bytes(digest, "big", signed=True)


# ---- sought ----------------------------------------------------------------------------------------------
# Texts that are looked for in other texts: few or thousands of them, folded, as whole words.

MIN_LENGTH: Final = 12
"""Characters. A shorter text, such as a number or a name, also stands where nothing tells of its memory."""
_FEW: Final = 32
"""So many are found faster by looking for one after the other."""
_START: Final = 4
"""Characters by which one of many is looked up."""
_LETTER: Final = "[0-9a-z\u00c0-\u052f]"
"""Folded; of words between spaces. Japanese has no edge of a word that could be seen."""
_EDGE: Final = f"(?:(?<!{_LETTER})|(?!{_LETTER}))"
_END: Final = f"(?:(?!{_LETTER})|(?<!{_LETTER}))"


class TextMatcher:
    """A set of texts that may stand in others. Those shorter than MIN_LENGTH stand nowhere."""

    def __init__(self, texts: Iterable[str]) -> None:
        self._texts = {folded for text in texts if len(folded := fold(text).strip()) >= MIN_LENGTH}
        self._by_start: dict[str, list[str]] = {}
        for text in self._texts:
            self._by_start.setdefault(text[:_START], []).append(text)

    def within(self, text: str) -> bool:
        """Return whether one of the texts stands in this one as whole words, but for width and case."""
        if not self._texts:
            return False
        folded = fold(text)
        return any(
            re.search(f"{_EDGE}{re.escape(sought)}{_END}", folded) for sought in self._contained(folded)
        )

    def _contained(self, folded: str) -> Iterator[str]:
        if len(self._texts) <= _FEW:
            yield from (sought for sought in self._texts if sought in folded)
            return
        for place in range(len(folded) - MIN_LENGTH + 1):
            for sought in self._by_start.get(folded[place : place + _START], ()):
                if folded.startswith(sought, place):
                    yield sought
