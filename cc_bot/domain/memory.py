"""Memories: the long-term notes that a user asked to have kept."""

import re
import unicodedata
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Final, Literal

from cc_bot.domain.errors import EmptyMemory, MemoryTooLong
from cc_bot.domain.message import is_blank

MAX_CONTENT_CHARACTERS = 4000
MAX_BESIDE_CHARACTERS = 4000
"""Of what is given beside the content: category, tags and metadata together, each tag and value counting one
more. Much more than is kept of them."""
MAX_CATEGORY_CHARACTERS = 50
MAX_TAGS = 20
MAX_TAG_CHARACTERS = 50
DEFAULT_CATEGORY = "general"
MAX_PINNED = 10
"""Memories of one user."""
UNDO_TIME = timedelta(minutes=10)
"""For so long a deleted memory is hidden only, and its user can have it back."""

_MARKS: Final = re.compile(r"[\s、。!?「」『』“”\"]|[.,](?!\d)")

Audience = Literal["anywhere", "private"]
"""Where a memory may be recalled: in every answer, or only in those that its user alone sees."""

Order = Literal["newest", "oldest", "updated"]
"""How a list is sorted: by when memories were made, or by when they were last changed (latest first)."""

SourceKind = Literal["", "command", "message", "model", "import", "terminal", "proposal"]
"""How a memory came about; empty for those that are older than the record of it. `proposal`: a model that had
read others' words wanted it, and its user confirmed it."""


@dataclass(frozen=True, slots=True)
class Source:
    """Where a memory came from, as its owner can ask."""

    kind: SourceKind = ""
    link: str = ""
    """The message that it was made from or in; empty where there is none."""
    model: str = ""
    """The model that called `remember`."""
    author: str = ""
    """Who wrote that message, where it may be somebody else."""


@dataclass(frozen=True, slots=True)
class Memory:
    """One note of one user, in every channel, until that user deletes it."""

    id: int
    user_id: int
    content: str
    category: str
    tags: tuple[str, ...]
    metadata: Mapping[str, str] = field(hash=False)
    created_at: datetime
    updated_at: datetime
    audience: Audience = "anywhere"
    source: Source = Source()
    expires_at: datetime | None = None
    """From then on it is not recalled; its owner still sees it."""
    supersedes: int | None = None
    """The version before this one, which is kept as history."""
    number: int = 0
    """What its user calls it by: each user's memories count from 1. 0 for a former text of a memory."""
    pinned: bool = False
    """Whether its user wants it known in every answer."""

    def expired(self, now: datetime) -> bool:
        return self.expires_at is not None and self.expires_at <= now

    @property
    def tainted(self) -> bool:
        """Whether its words may be somebody else's than its user's."""
        return self.source.kind in ("import", "proposal") or bool(self.source.author)


@dataclass(frozen=True, slots=True)
class Found:
    """A memory that a search found."""

    memory: Memory
    confidence: float
    """How sure it is that this is what was meant: 0 to 1."""


ChangeKind = Literal["added", "updated", "deleted", "restored"]


@dataclass(frozen=True, slots=True)
class MemoryChange:
    """What was done to a memory, told from the committed row: what receipts are made of."""

    kind: ChangeKind
    memory: Memory
    """As it is now; of a deleted one, as it was."""
    former: Memory | None = None
    """What an update replaced, or an added one superseded."""

    @property
    def unchanged(self) -> bool:
        """Whether everything was as it is now."""
        before, now = self.former, self.memory
        return (
            self.kind == "updated"
            and before is not None
            and (before.content, before.category, before.tags, before.expires_at)
            == (now.content, now.category, now.tags, now.expires_at)
        )

    @property
    def version(self) -> int | None:
        """The version that the change left behind, as the memory names it."""
        if self.kind == "updated" and self.former and self.former.supersedes == self.memory.supersedes:
            return None
        return self.memory.supersedes


@dataclass(frozen=True, slots=True)
class MemoryStatistics:
    """What is kept of one user, in numbers."""

    count: int
    private: int
    expired: int
    categories: tuple[tuple[str, int], ...]
    """With how many memories each; the largest first."""
    sources: tuple[tuple[SourceKind, int], ...]
    oldest: datetime | None
    newest: datetime | None


@dataclass(frozen=True, slots=True)
class Erased:
    """What was removed for good, in numbers."""

    memories: int = 0
    versions: int = 0
    """Former texts of them."""
    tool_calls: int = 0
    """Calls in stored answers that held them, and are now redacted."""
    summaries: int = 0
    """Summaries of conversations that may have held them, and are deleted."""
    told_in: int = 0
    """Messages of the user's conversations that still hold what they said."""
    messages: int = 0
    """Messages that were emptied because their user wanted the conversations erased as well."""


def says_the_same(one: str, other: str) -> bool:
    """Whether two texts differ in width, case, white space and how their sentences are marked alone. A sign
    that may mean something (`-5`, `1.5`, `≠`) is a difference."""
    return _bare(one) == _bare(other)


def _bare(text: str) -> str:
    return _MARKS.sub("", unicodedata.normalize("NFKC", text).casefold())


def clean_content(content: str) -> str:
    """The content as it is stored: stripped.

    Raises EmptyMemory where nobody would see anything, or MemoryTooLong: more than MAX_CONTENT_CHARACTERS
    characters, or more than twice as many once its letters are unfolded (NFKC). That is how it is searched:
    ㍿ is 株式会社, and ﷺ is eighteen.
    """
    cleaned = content.strip()
    if is_blank(cleaned):
        raise EmptyMemory
    if len(cleaned) > MAX_CONTENT_CHARACTERS:
        raise MemoryTooLong(limit=MAX_CONTENT_CHARACTERS, length=len(cleaned))
    unfolded = len(unicodedata.normalize("NFKC", cleaned))
    if unfolded > 2 * MAX_CONTENT_CHARACTERS:
        raise MemoryTooLong(limit=MAX_CONTENT_CHARACTERS, length=unfolded)
    return cleaned


def check_beside(category: str | None, tags: Iterable[str], metadata: Mapping[str, str]) -> None:
    """Raises MemoryTooLong if there is more beside the content than anybody would look through."""
    length = len(category or "") + sum(len(text) + 1 for text in (*tags, *metadata, *metadata.values()))
    if length > MAX_BESIDE_CHARACTERS:
        raise MemoryTooLong(limit=MAX_BESIDE_CHARACTERS, length=length)


def clean_category(category: str | None) -> str:
    """The category as it is stored: one short line, DEFAULT_CATEGORY when there is none."""
    return " ".join((category or "").split())[:MAX_CATEGORY_CHARACTERS].strip() or DEFAULT_CATEGORY


def parse_tags(text: str | None) -> tuple[str, ...]:
    """Tags from what a user typed: separated by commas (、 and ，too) or white space, `#` optional."""
    words = (word.strip().lstrip("#＃") for word in re.split(r"[\s,、，]+", text or ""))
    return tuple(dict.fromkeys(word for word in words if word))[:MAX_TAGS]
