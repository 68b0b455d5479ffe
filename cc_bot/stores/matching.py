"""What it means that a memory matches a query.

A memory that contains the query as written comes first, then those with every word of it, then those with
any; within each, newest first. Text is compared folded (NFKC, then case): ｶﾌｪ finds カフェ, and STRASSE finds
straße. Tags are searched with the content, since a tag is a word that its user chose to find the note by;
the category is not, since most notes have the same one. A query without a word matches everything.

The folded text is stored beside the original when a memory is written, so that a search is a scan of one
user's rows within the database. `instr` takes `%` and `_` for the characters they are.
"""

import unicodedata
from collections.abc import Iterable
from typing import Any, Final

from cc_bot.storage import Statement

_MOST_WORDS: Final = 32

# $1 user, $2 query, $3 category or NULL, $4 an audience beside 'anywhere', $5 limit, $6 query as typed, then
# words and tags
_SEARCH: Final = """
    SELECT id, user_id, content, category, tags, metadata, created_at, updated_at, audience
    FROM memories
    WHERE user_id = $1 AND ($3 IS NULL OR category = $3) AND audience IN ('anywhere', $4)
        AND {matches}
    ORDER BY CASE WHEN {whole} THEN 0 WHEN {every} THEN 1 ELSE 2 END, id DESC
    LIMIT $5
"""


# Folding joins what is written in parts (か and ゛, e and ´): one part alone is found only as it was typed.
_AS_TYPED: Final = "instr(content, $6) > 0"


def fold(text: str) -> str:
    """Text as it is compared: what looks or reads alike becomes alike."""
    return unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", text).casefold())


def fold_tags(tags: Iterable[str]) -> str:
    """Tags as they are compared: each between line feeds, so that a whole tag is told from a part of one."""
    folded = [fold(tag) for tag in tags]
    return "\n".join(["", *folded, ""]) if folded else ""


def search_statement(
    user_id: int, query: str, *, category: str | None, tags: Iterable[str], audience: str, limit: int
) -> Statement:
    """One user's matching memories, best first, no more than `limit`; those that carry all of the tags."""
    typed = query.strip()
    whole = fold(typed)
    words = list(dict.fromkeys(whole.split()))[:_MOST_WORDS]
    params: list[Any] = [user_id, whole, category, audience, limit, typed, *words]
    has_word = [_contains(7 + index) for index in range(len(words))]
    has_tag = []
    for tag in tags:
        params.append(fold_tags([tag]))
        has_tag.append(f"instr(search_tags, ${len(params)}) > 0")
    sql = _SEARCH.format(
        matches=_all([_any([_AS_TYPED, *has_word] if words else []), *has_tag]),
        whole=_any([_contains(2), _AS_TYPED]),
        every=_all(has_word),
    )
    return Statement(sql, tuple(params))


def _contains(parameter: int) -> str:
    return f"instr(search_content || search_tags, ${parameter}) > 0"


def _all(conditions: list[str]) -> str:
    return f"({' AND '.join(conditions)})" if conditions else "(1 = 1)"


def _any(conditions: list[str]) -> str:
    return f"({' OR '.join(conditions)})" if conditions else "(1 = 1)"
