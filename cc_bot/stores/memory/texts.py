"""The forms of a memory's text that are made when it is written, so that a search needs not make them of
every row."""

import hashlib
import json
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Final
from unicodedata import is_normalized
from zlib import crc32

from cc_bot.search import TERMS_VERSION, fold, listed_terms

# ---- memory texts ----------------------------------------------------------------------------------------

VERSION: Final = TERMS_VERSION * 100 + 3
"""Version of the rules for terms and for the texts here. Rows of another one are recomputed at start."""

# What is neither letter nor digit; but C++ is not C, and 3.5, -5 and 10:30 are not 35, 5 and 1030.
_NO_DIFFERENCE: Final = re.compile(r"[^\w+#](?!\d)|(?<!\d)[^\w+#-](?=\d)|_")


@dataclass(frozen=True, slots=True)
class SearchText:
    """What a memory is searched by. Each field but `term_counts` is a column."""

    search_content: str
    search_tags: str
    likeness: int
    term_count: int
    """Number of its terms, repeated ones included."""
    term_counts: str
    """JSON of `[key of a term, occurrences]` for each of its terms, as `memory_terms` has them."""
    terms_version: int = VERSION


def search_text(content: str, tags: Sequence[str]) -> SearchText:
    keys = term_keys(listed_terms(content, tags))
    return SearchText(
        search_content=searchable(content),
        search_tags=fold_tags(tags),
        likeness=likeness(content),
        term_count=len(keys),
        term_counts=json.dumps([*Counter(keys).items()]),
    )


def term_keys(terms: Iterable[str]) -> list[int]:
    """Return the key of each term, in order: a hash of 32 bits, so that no piece of a memory's text is stored
    twice.

    Two terms share a key so rarely that a search in a hundred thousand memories meets it once in a thousand
    queries; it then counts a memory a little too much.
    """
    return list(map(crc32, " ".join(terms).encode("utf-8", "replace").split()))


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
