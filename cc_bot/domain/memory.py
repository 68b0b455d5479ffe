"""Memories: long-term notes that users asked to store."""

import re
import unicodedata
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from datetime import UTC, date, datetime, time, timedelta, tzinfo
from typing import Final, Literal
from zoneinfo import ZoneInfo

from cc_bot.domain.errors import (
    BesideTooLong,
    CategoryTooLong,
    EmptyMemory,
    EndNotUnderstood,
    EndPassed,
    MemoryTooLong,
    NoSuchTime,
    TagTooLong,
    TooManyTags,
    WhenNotUnderstood,
)
from cc_bot.domain.message import is_blank
from cc_bot.domain.text import without_controls
from cc_bot.domain.when import MAX_LENGTH, read_moments
from cc_bot.domain.when_words import normalize

MAX_CONTENT_CHARACTERS = 4000
MAX_BESIDE_CHARACTERS = 4000
"""Of category, tags and metadata together; each tag and value counts one extra. Far more than is stored of
them."""
MAX_CATEGORY_CHARACTERS = 50
MAX_TAGS = 20
MAX_TAG_CHARACTERS = 50
DEFAULT_CATEGORY = "general"
MAX_PINNED = 10
"""Per user."""
UNDO_TIME = timedelta(minutes=10)
"""How long a deleted memory is only hidden and can be restored."""

_MARKS: Final = re.compile(r"[\s、。!?「」『』“”\"]|[.,](?!\d)")

Audience = Literal["anywhere", "private"]
"""Where a memory may be recalled: in every answer, or only in those that its user alone sees."""

Order = Literal["newest", "oldest", "updated"]
"""Sort order of a list: by creation, or by last change (latest first)."""

SourceKind = Literal["", "command", "message", "model", "import", "terminal", "proposal"]
"""How a memory was created; empty if it is older than this record. `proposal`: the model had read others'
text and proposed it, and its user approved it."""


@dataclass(frozen=True, slots=True)
class Source:
    """The origin of a memory, shown to its owner on request."""

    kind: SourceKind = ""
    link: str = ""
    """The message from which or in which it was created; empty if none."""
    model: str = ""
    """The model that called `remember`."""
    author: str = ""
    """The author of that message, if it may not be the owner."""


@dataclass(frozen=True, slots=True)
class Memory:
    """A note of one user, valid in every channel until the user deletes it."""

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
    """Not recalled afterwards; its owner still sees it."""
    supersedes: int | None = None
    """The previous version, kept as history."""
    number: int = 0
    """Shown to its user; each user's memories count from 1. 0 for a former version."""
    pinned: bool = False
    """Whether every answer is to use it."""

    def is_expired(self, now: datetime) -> bool:
        return self.expires_at is not None and self.expires_at <= now

    @property
    def tainted(self) -> bool:
        """True if its text may not be its user's own.

        Derived from the source, so there is no column. Memories older than taint count as their user's own;
        messages, summaries and reminders of that age count as tainted.
        """
        return self.source.kind in ("import", "proposal") or bool(self.source.author)


_BESIDE_WORDING: Final = frozenset(
    {
        *("id", "user_id", "number", "supersedes", "created_at", "updated_at"),
        *("audience", "source", "metadata", "pinned"),
    }
)
WORDING: Final = tuple(each.name for each in fields(Memory) if each.name not in _BESIDE_WORDING)
"""Text and filing of a memory: changing one of these fields keeps the former version."""


@dataclass(frozen=True, slots=True)
class MemoryFilter:
    """Selects memories; unset fields match all."""

    category: str | None = None
    tags: tuple[str, ...] = ()
    """A memory must have all of them."""
    audience: Audience | None = None
    origin: SourceKind | None = None


ALL_MEMORIES: Final = MemoryFilter()


@dataclass(frozen=True, slots=True)
class FoundMemory:
    memory: Memory
    confidence: float
    """Probability that the search meant this one, 0 to 1."""


ChangeKind = Literal["added", "updated", "deleted"]


@dataclass(frozen=True, slots=True)
class MemoryChange:
    """A committed change of a memory; receipts are made from it."""

    kind: ChangeKind
    memory: Memory
    """After the change; for a deletion, before it."""
    former: Memory | None = None
    """The memory before an update."""

    @property
    def unchanged(self) -> bool:
        """True for an update that changed no field of WORDING."""
        before, now = self.former, self.memory
        return (
            self.kind == "updated"
            and before is not None
            and all(getattr(before, name) == getattr(now, name) for name in WORDING)
        )

    @property
    def version(self) -> int | None:
        """The id of the former version that the change kept; None if none."""
        former_id = self.former.supersedes if self.former else None
        return None if self.memory.supersedes == former_id else self.memory.supersedes


@dataclass(frozen=True, slots=True)
class MemoryStatistics:
    count: int
    private: int
    expired: int
    oldest: datetime | None
    newest: datetime | None
    categories: tuple[tuple[str, int], ...] = ()
    """With their number of memories, largest first."""
    sources: tuple[tuple[SourceKind, int], ...] = ()


@dataclass(frozen=True, slots=True)
class ErasureCounts:
    memories: int = 0
    versions: int = 0
    """Former versions of memories."""
    summaries: int = 0
    """Summaries made from the emptied messages."""
    messages: int = 0
    """Messages emptied because the user asked to erase the conversations too."""


def says_the_same(one: str, other: str) -> bool:
    """Return whether two texts differ only in width, case, white space and sentence punctuation. A sign that
    may carry meaning (`-5`, `1.5`, `≠`) is a difference."""
    return _bare(one) == _bare(other)


def _bare(text: str) -> str:
    return _MARKS.sub("", unicodedata.normalize("NFKC", text).casefold())


def clean_content(content: str) -> str:
    """Return the content as stored: stripped, without control characters.

    Raises EmptyMemory if nothing is visible, or MemoryTooLong beyond MAX_CONTENT_CHARACTERS, or beyond twice
    as many after NFKC, as search uses it (㍿ becomes 株式会社, ﷺ eighteen letters).
    """
    cleaned = without_controls(content).strip()
    if is_blank(cleaned):
        raise EmptyMemory
    if len(cleaned) > MAX_CONTENT_CHARACTERS:
        raise MemoryTooLong(limit=MAX_CONTENT_CHARACTERS, length=len(cleaned))
    unfolded = len(unicodedata.normalize("NFKC", cleaned))
    if unfolded > 2 * MAX_CONTENT_CHARACTERS:
        raise MemoryTooLong(limit=MAX_CONTENT_CHARACTERS, length=unfolded)
    return cleaned


def check_beside(category: str | None, tags: Iterable[str], metadata: Mapping[str, str]) -> None:
    """Raise BesideTooLong if category, tags and metadata are too long."""
    length = len(category or "") + sum(len(text) + 1 for text in (*tags, *metadata, *metadata.values()))
    if length > MAX_BESIDE_CHARACTERS:
        raise BesideTooLong(limit=MAX_BESIDE_CHARACTERS, length=length)


def clean_category(category: str | None) -> str:
    """Return the category as stored: one short line, DEFAULT_CATEGORY if empty."""
    return _line(category or "", MAX_CATEGORY_CHARACTERS) or DEFAULT_CATEGORY


def clean_tags(tags: Iterable[str]) -> tuple[str, ...]:
    """Return the tags as stored: short single lines, without empty ones and duplicates."""
    lines = (_line(tag, MAX_TAG_CHARACTERS) for tag in tags)
    return tuple(dict.fromkeys(line for line in lines if line))[:MAX_TAGS]


def clean_metadata(metadata: Mapping[str, str]) -> Mapping[str, str]:
    return {without_controls(name): without_controls(value) for name, value in metadata.items()}


def clean_source(source: Source) -> Source:
    link, model, author = map(without_controls, (source.link, source.model, source.author))
    return replace(source, link=link, model=model, author=author)


def _line(text: str, limit: int) -> str:
    return " ".join(without_controls(text).split())[:limit].strip()


def parse_tags(text: str | None) -> tuple[str, ...]:
    """Parse tags separated by commas (also 、 and ，) or white space; `#` is optional."""
    return _tags(text)[:MAX_TAGS]


def _tags(text: str | None) -> tuple[str, ...]:
    words = (word.strip().lstrip("#＃") for word in re.split(r"[\s,、，]+", text or ""))
    return tuple(dict.fromkeys(word for word in words if word))


def read_tags(text: str) -> tuple[str, ...]:
    """Parse like `parse_tags`, for forms that show errors. Raises TooManyTags or TagTooLong instead of
    dropping or cutting tags."""
    tags = _tags(without_controls(text))
    if len(tags) > MAX_TAGS:
        raise TooManyTags(limit=MAX_TAGS, found=len(tags))
    longest = max(map(len, tags), default=0)
    if longest > MAX_TAG_CHARACTERS:
        raise TagTooLong(limit=MAX_TAG_CHARACTERS, length=longest)
    return tags


def read_category(text: str) -> str:
    """Clean a category for forms that show errors; empty for none. Raises CategoryTooLong instead of cutting
    it."""
    category = " ".join(without_controls(text).split())
    if len(category) > MAX_CATEGORY_CHARACTERS:
        raise CategoryTooLong(limit=MAX_CATEGORY_CHARACTERS, length=len(category))
    return category


_DAY: Final = re.compile(r"(\d{4})\s?[-/.年]\s?(\d{1,2})\s?[-/.月]\s?(\d{1,2})\s?日?")
"""Unlike `read_moments`, without a limit."""
_UNTIL: Final = re.compile(r"^(?:until|till|by|for)\s|(?<!\s)\s*+まで(?:に|は|有効)?$")
_WHOLE: Final = (
    (re.compile(r"(今月|来月|再来月)(?:中|いっぱい|の?終わり|の?最後)"), r"\1末"),
    (re.compile(r"(今週|来週|再来週)(?:中|いっぱい|末|の?終わり|の?最後)"), r"\1の日曜"),
    (re.compile(r"(今年|来年|再来年)(?:中|いっぱい|末|の?終わり|の?最後)"), r"\1の12月31日"),
    (re.compile(r"年内|年末"), "12月31日"),
)
"""Ends of a week, month or year, and what `read_moments` reads in their place."""
_TODAY: Final = re.compile(r"(?:今日|本日|きょう)(?:中|いっぱい)?|(?:the end of )?today")


def parse_end(text: str | None, now: datetime, zone: ZoneInfo) -> datetime | None:
    """Return the moment (UTC) of expiry: the end of a day in the user's time zone, or a time; None for an
    empty text. Accepts the times that reminders do, and durations from now.

    Raises EndNotUnderstood, EndPassed, NoSuchTime or WhenTooFar.
    """
    if text is None or not text.strip():
        return None
    if len(text) > MAX_LENGTH:
        raise EndNotUnderstood
    written = _UNTIL.sub("", normalize(text)).strip()
    for pattern, last in _WHOLE:
        if found := pattern.fullmatch(written):
            written = found.expand(last)
    for words in (written, f"{written}後", f"in {written}"):  # 1週間, 3 months
        try:
            end = _read(words, now, zone)
        except NoSuchTime:
            raise
        except WhenNotUnderstood:
            continue
        if end <= now:
            raise EndPassed
        return end
    raise EndNotUnderstood


def _read(written: str, now: datetime, zone: ZoneInfo) -> datetime:
    """The time, or the end of the day; one named on that same day has not passed yet."""
    day = now.astimezone(zone).date()
    if found := _DAY.fullmatch(written):
        try:
            day = date(*map(int, found.groups()))
        except ValueError as error:
            raise NoSuchTime from error
    elif not _TODAY.fullmatch(written):
        [meant, *more] = read_moments(written, datetime.combine(day, time(), zone), zone, over=True)
        if more:
            raise WhenNotUnderstood
        if meant.timed:
            return read_moments(written, now, zone, over=True)[0].moment
        day = meant.moment.astimezone(zone).date()
    try:
        return datetime.combine(day + timedelta(days=1), time(), zone).astimezone(UTC)
    except OverflowError as error:
        raise EndNotUnderstood from error


def write_end(expires_at: datetime | None, zone: tzinfo) -> str:
    """Return the last day of validity, in the form that `parse_end` reads; empty if there is no end."""
    if expires_at is None:
        return ""
    return (expires_at.astimezone(zone) - timedelta(microseconds=1)).date().isoformat()


Kind = Literal["added", "updated", "unchanged", "deleted"]
ReceiptState = Literal["holds", "over", "undone"]
"""over: it can't be undone, because the memory was changed again or the reminder has fired."""


@dataclass(frozen=True, slots=True)
class Receipt:
    """The receipt line of a change to one memory."""

    kind: Kind
    memory_id: int
    text: str
    former_id: int | None = None
    """The version that preceded the memory."""
    private: bool = False
    """Whether only its user may see the text."""
    number: int = 0
    """Shown to its user."""
    state: ReceiptState = "holds"

    @property
    def undo(self) -> Literal["added", "updated", "deleted"] | None:
        """The change that can be undone; a change of audience keeps no version."""
        if self.kind == "unchanged" or (self.kind == "updated" and self.former_id is None):
            return None
        return self.kind

    def as_added(self, before: "Receipt") -> "Receipt":
        """Return the receipt as an addition, if the memory was added in the same answer: undo removes all of
        it."""
        return replace(self, kind="added", former_id=self.former_id or before.former_id)


def receipt_of(change: MemoryChange) -> Receipt:
    memory = change.memory
    return Receipt(
        "unchanged" if change.unchanged else change.kind,
        memory.id,
        memory.content,
        change.version,
        private=memory.audience == "private",
        number=memory.number,
    )


def with_receipt(receipts: Sequence[Receipt], change: MemoryChange) -> tuple[Receipt, ...]:
    """Add a change. Several changes of a memory in one answer share a receipt."""
    new = receipt_of(change)
    before = next((each for each in receipts if each.memory_id == new.memory_id), None)
    if before is None:
        return (*receipts, new)
    if new.kind == "unchanged":
        return tuple(receipts)
    others = tuple(each for each in receipts if each is not before)
    if before.kind == "added":
        if new.kind == "deleted":
            return others
        return (*others, new.as_added(before))
    return (*others, new)
