"""What is made of a memory's text when it is written, so that a search needs not make it of every row."""

import hashlib
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Final
from unicodedata import is_normalized

from cc_bot.search import TERMS_VERSION, fold, listed_terms
from cc_bot.stores.memory_keys import packed, term_keys

VERSION: Final = TERMS_VERSION * 100 + 2
"""Of the rules of both: terms, and what else stands here. Rows that carry another one are made anew."""

# What is neither letter nor digit; but C++ is not C, and 3.5, -5 and 10:30 are not 35, 5 and 1030.
_NO_DIFFERENCE: Final = re.compile(r"[^\w+#](?!\d)|(?<!\d)[^\w+#-](?=\d)|_")


@dataclass(frozen=True, slots=True)
class SearchText:
    """What a memory is searched by; each field is a column."""

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
        keys=packed(term_keys(listed_terms(content, tags))),
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
