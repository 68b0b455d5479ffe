"""Forms of a memory's text that are computed when it is written, so that searches need not."""

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
"""Version of the rules for terms and texts. Rows with another version are recomputed at start."""

# Neither letter nor digit; but C++ is not C, and 3.5, -5 and 10:30 are not 35, 5 and 1030.
_NO_DIFFERENCE: Final = re.compile(r"[^\w+#](?!\d)|(?<!\d)[^\w+#-](?=\d)|_")


@dataclass(frozen=True, slots=True)
class SearchText:
    """Search data of a memory. Each field but `term_counts` is a column."""

    search_content: str
    search_tags: str
    likeness: int
    term_count: int
    """Including repeated terms."""
    term_counts: str
    """JSON list of `[term key, occurrences]`, as in `memory_terms`."""
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
    """Return each term's key, in order: a 32-bit hash, so that memory text is not stored twice.

    In a search of a hundred thousand memories, one query in a thousand meets a collision; it then scores a
    memory slightly too high.
    """
    return list(map(crc32, " ".join(terms).encode("utf-8", "replace").split()))


def searchable(content: str) -> str:
    """Return the folded text in which a verbatim query is searched.

    Folding joins letters written in parts (か and ゛, e and ´). To find a part alone, a text with such parts
    also contains the original; in all other texts, folding preserves containment.
    """
    if is_normalized("NFKC", content) and is_normalized("NFKC", lowered := content.casefold()):
        return lowered  # as each of its characters is folded by itself
    folded = fold(content)
    return folded if folded == "".join(map(_fold_character, content)) else f"{folded}\n{content}"


_fold_character = lru_cache(maxsize=4096)(fold)


def fold_tags(tags: Iterable[str]) -> str:
    """Join tags for comparison, each between line feeds, so that only whole tags match."""
    folded = [fold(tag) for tag in tags]
    return "\n".join(["", *folded, ""]) if folded else ""


def likeness(content: str) -> int:
    """Return the same hash for texts that differ only in width, case, white space or punctuation.

    64 bits; storing a hash avoids a second copy of the text.
    """
    normalized = _NO_DIFFERENCE.sub("", fold(content)) or content
    digest = hashlib.blake2b(normalized.encode("utf-8", "replace"), digest_size=8).digest()
    return int.from_bytes(digest, "big", signed=True)


# ---- sought ----------------------------------------------------------------------------------------------
# Searches for texts within other texts: few or thousands, folded, as whole words.

MIN_LENGTH: Final = 12
"""Characters. A shorter text, such as a number or name, also occurs in unrelated messages."""
_FEW: Final = 32
"""Up to this number, searching one by one is faster."""
_START: Final = 4
"""Characters by which candidates are looked up."""
_LETTER: Final = "[0-9a-z\u00c0-\u052f]"
"""Folded letters of scripts that separate words by spaces. Japanese has no visible word boundary."""
_EDGE: Final = f"(?:(?<!{_LETTER})|(?!{_LETTER}))"
_END: Final = f"(?:(?!{_LETTER})|(?<!{_LETTER}))"


class TextMatcher:
    """A set of texts to find in others. Those shorter than MIN_LENGTH never match."""

    def __init__(self, texts: Iterable[str]) -> None:
        self._texts = {folded for text in texts if len(folded := fold(text).strip()) >= MIN_LENGTH}
        self._by_start: dict[str, list[str]] = {}
        for text in self._texts:
            self._by_start.setdefault(text[:_START], []).append(text)

    def within(self, text: str) -> bool:
        """Return whether this text contains one of the texts as whole words, ignoring width and case."""
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
