"""A memory that is about to be kept, and the row that it becomes."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Final

from cc_bot.domain.limits import Rules
from cc_bot.domain.memory import DEFAULT_CATEGORY, Audience, Source, clean_category, clean_content
from cc_bot.storage import Row, Statement, Steps
from cc_bot.stores import memory_statements as sql
from cc_bot.stores.columns import to_text
from cc_bot.stores.memory_index import unfold
from cc_bot.stores.memory_quotas import room_left
from cc_bot.stores.memory_rows import clean_tags, known_id, source_column, to_json
from cc_bot.stores.memory_texts import search_text

NO_RULES: Final[Rules] = {}


@dataclass(frozen=True, slots=True)
class NewMemory:
    """What is to be kept, as a caller gives it."""

    user_id: int
    content: str
    category: str = DEFAULT_CATEGORY
    tags: Sequence[str] = ()
    metadata: Mapping[str, str] = field(default_factory=dict)
    audience: Audience = "anywhere"
    source: Source = Source()
    expires_at: datetime | None = None
    supersedes: int | None = None

    def params(self, now: datetime) -> tuple[Any, ...]:
        """Those of memory_statements.INSERT. Raises EmptyMemory or MemoryTooLong."""
        content, tags = clean_content(self.content), clean_tags(self.tags)
        made = search_text(content, tags)
        return (
            self.user_id,
            None if self.supersedes is None else known_id(self.supersedes),
            to_text(now),
            content,
            clean_category(self.category),
            to_json(tags),
            to_json(dict(self.metadata)),
            self.audience,
            made.search_content,
            made.search_tags,
            source_column(self.source),
            None if self.expires_at is None else to_text(self.expires_at),
            made.likeness,
            made.keys,
            made.terms_version,
        )

    def steps(
        self, statement: str, params: tuple[Any, ...], file_rules: Rules = NO_RULES
    ) -> Steps[Sequence[Row]]:
        """Keeps it by INSERT, INSERT_ALONE or INSERT_UNLESS_KNOWN, and makes history of what it supersedes.

        The row that was written, if one was. Raises TooManyMemories or MemoryFull where these rules, of the
        operator's file, leave no room for it.
        """
        rows = yield Statement(statement, params)
        if rows and self.supersedes is not None:
            former = known_id(self.supersedes)
            yield from unfold(self.user_id, [former])
            yield Statement(sql.SUPERSEDE, (self.user_id, former))
        if rows and file_rules:
            yield from room_left(self.user_id, file_rules)
        return rows


def row_alone(memory_id: int, number: int, params: tuple[Any, ...]) -> Row:
    """The columns of memory_rows.COLUMNS that INSERT_ALONE has stored."""
    user_id, _, now, content, category, tags, metadata, audience, _, _, source, expires_at, *_ = params
    texts = map(_as_stored, (content, category, tags, metadata))
    return (memory_id, user_id, *texts, now, now, audience, _as_stored(source), expires_at, None, number, 0)


def _as_stored(text: str) -> str:
    """Half an emoji, as models sometimes write it, has no UTF-8: a question mark is stored for it."""
    return text.encode("utf-8", "replace").decode()
