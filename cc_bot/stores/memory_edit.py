"""A change of a memory that is about to be made, and the statements that make it."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from cc_bot.domain.limits import Rules
from cc_bot.domain.memory import Audience, Source
from cc_bot.storage import Row, Statement, Steps
from cc_bot.stores import memory_statements as sql
from cc_bot.stores.columns import to_text
from cc_bot.stores.memory_index import unfold
from cc_bot.stores.memory_quotas import room_left
from cc_bot.stores.memory_rows import source_column, tags_of, to_json
from cc_bot.stores.memory_texts import SearchText, search_text
from cc_bot.stores.settings import Keep
from cc_bot.stores.vector_statements import DROP_OUTDATED_VECTOR


@dataclass(frozen=True, slots=True)
class MemoryEdit:
    """What is to be changed, clean; None leaves it as it is."""

    content: str | None = None
    category: str | None = None
    tags: Sequence[str] | None = None
    metadata: dict[str, str] | None = None
    audience: Audience | None = None
    expires_at: datetime | Keep | None = Keep.AS_IS
    source: Source | None = None

    def steps(self, user_id: int, memory_id: int, now: datetime, file_rules: Rules) -> Steps[Row | None]:
        """Makes the change; the row as it is then, None when the memory is not there or not the user's.
        Raises MemoryFull where these rules, of the operator's file, leave no room for it."""
        known = yield Statement(sql.SELECT_TEXT, (user_id, memory_id))
        if not known:
            return None
        if self._changes_text:
            yield from unfold(user_id, [memory_id])
        params = self._params(user_id, memory_id, now, known[0])
        yield Statement(sql.KEEP_FORMER, (*params[:3], *params[5:7], *params[10:12]))
        if self.content is not None:
            yield Statement(DROP_OUTDATED_VECTOR, params[:3])
        [changed] = yield Statement(sql.UPDATE, params)
        if file_rules:
            yield from room_left(user_id, file_rules, added=False)
        return changed

    @property
    def _changes_text(self) -> bool:
        """Whether it changes anything that the memory is searched by."""
        return self.content is not None or self.tags is not None

    def _params(self, user_id: int, memory_id: int, now: datetime, known: Row) -> tuple[Any, ...]:
        """Those of UPDATE."""
        made = self._searched_by(known)
        return (
            *(user_id, memory_id, self.content),
            *((made.search_content, made.search_tags) if made else (None, None)),
            self.category,
            None if self.tags is None else to_json(tuple(self.tags)),
            None if self.metadata is None else to_json(self.metadata),
            self.audience,
            to_text(now),
            not isinstance(self.expires_at, Keep),
            to_text(self.expires_at) if isinstance(self.expires_at, datetime) else None,
            *((made.likeness, made.keys, made.terms_version) if made else (None, None, None)),
            None if self.source is None else source_column(self.source),
        )

    def _searched_by(self, known: Row) -> SearchText | None:
        """What is made of text and tags together; None where it stays as it is. The index has the memory
        under what stands in its row, and only `unfold` takes it out of there."""
        if not self._changes_text:
            return None
        content = known[0] if self.content is None else self.content
        return search_text(content, tags_of(known[1]) if self.tags is None else self.tags)
