"""Memories: the long-term notes that a user asked to have kept."""

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
    WhenPassed,
)
from cc_bot.domain.message import is_blank
from cc_bot.domain.text import without_controls
from cc_bot.domain.when import LONGEST, read_when
from cc_bot.domain.when_words import normalize

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
    """The origin of a memory, as its owner can ask."""

    kind: SourceKind = ""
    link: str = ""
    """The message that it was made from or in; empty where there is none."""
    model: str = ""
    """The model that called `remember`."""
    author: str = ""
    """Who wrote that message, where it may be somebody else."""


@dataclass(frozen=True, slots=True)
class Memory:
    """A note of one user, in every channel, until that user deletes it."""

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

    def is_expired(self, now: datetime) -> bool:
        return self.expires_at is not None and self.expires_at <= now

    @property
    def tainted(self) -> bool:
        """True if its words may be somebody else's than its user's.

        It follows from where the memory came from, so no column says it. Memories from before taint was known
        count as their user's own; messages, summaries and reminders of that time count as tainted.
        """
        return self.source.kind in ("import", "proposal") or bool(self.source.author)


_BESIDE_WORDING: Final = frozenset(
    {
        *("id", "user_id", "number", "supersedes", "created_at", "updated_at"),
        *("audience", "source", "metadata", "pinned"),
    }
)
WORDING: Final = tuple(each.name for each in fields(Memory) if each.name not in _BESIDE_WORDING)
"""What a memory says and how it is filed: a change of these fields leaves the former version behind."""


@dataclass(frozen=True, slots=True)
class MemoryFilter:
    """The memories that somebody wants to look through; None and nothing: all."""

    category: str | None = None
    tags: tuple[str, ...] = ()
    """All of which they carry."""
    audience: Audience | None = None
    """Those of this one alone."""
    origin: SourceKind | None = None


ALL_MEMORIES: Final = MemoryFilter()


@dataclass(frozen=True, slots=True)
class FoundMemory:
    """A memory that a search found."""

    memory: Memory
    confidence: float
    """How sure it is that this is what was meant: 0 to 1."""


ChangeKind = Literal["added", "updated", "deleted"]


@dataclass(frozen=True, slots=True)
class MemoryChange:
    """A change of a memory, told from the committed row: what receipts are made of."""

    kind: ChangeKind
    memory: Memory
    """As it is now; of a deleted one, as it was."""
    former: Memory | None = None
    """What an update replaced."""

    @property
    def unchanged(self) -> bool:
        """True if everything was as it is now."""
        before, now = self.former, self.memory
        return (
            self.kind == "updated"
            and before is not None
            and all(getattr(before, name) == getattr(now, name) for name in WORDING)
        )

    @property
    def version(self) -> int | None:
        """The version that the change left behind, as the memory names it."""
        former_id = self.former.supersedes if self.former else None
        return None if self.memory.supersedes == former_id else self.memory.supersedes


@dataclass(frozen=True, slots=True)
class MemoryStatistics:
    """The memories of one user, in numbers."""

    count: int
    private: int
    expired: int
    oldest: datetime | None
    newest: datetime | None
    categories: tuple[tuple[str, int], ...] = ()
    """Each with its number of memories; the largest first."""
    sources: tuple[tuple[SourceKind, int], ...] = ()


@dataclass(frozen=True, slots=True)
class ErasureCounts:
    """The number of things that an erasure removed."""

    memories: int = 0
    versions: int = 0
    """Former texts of them."""
    summaries: int = 0
    """Summaries made of the messages that were emptied."""
    messages: int = 0
    """Messages that were emptied because their user wanted the conversations erased as well."""


def says_the_same(one: str, other: str) -> bool:
    """Return whether two texts differ in width, case, white space and how their sentences are marked alone. A
    sign that may mean something (`-5`, `1.5`, `≠`) is a difference."""
    return _bare(one) == _bare(other)


def _bare(text: str) -> str:
    return _MARKS.sub("", unicodedata.normalize("NFKC", text).casefold())


def clean_content(content: str) -> str:
    """The content as it is stored: stripped, and without control characters.

    Raises EmptyMemory where nobody would see anything, or MemoryTooLong: more than MAX_CONTENT_CHARACTERS
    characters, or more than twice as many once its letters are unfolded (NFKC). That is how it is searched:
    ㍿ is 株式会社, and ﷺ is eighteen.
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
    """Raise BesideTooLong if there is more beside the content than anybody would look through."""
    length = len(category or "") + sum(len(text) + 1 for text in (*tags, *metadata, *metadata.values()))
    if length > MAX_BESIDE_CHARACTERS:
        raise BesideTooLong(limit=MAX_BESIDE_CHARACTERS, length=length)


def clean_category(category: str | None) -> str:
    """The category as it is stored: one short line, DEFAULT_CATEGORY when there is none."""
    return _line(category or "", MAX_CATEGORY_CHARACTERS) or DEFAULT_CATEGORY


def clean_tags(tags: Iterable[str]) -> tuple[str, ...]:
    """The tags as they are stored: each one short line, none empty, none twice."""
    lines = (_line(tag, MAX_TAG_CHARACTERS) for tag in tags)
    return tuple(dict.fromkeys(line for line in lines if line))[:MAX_TAGS]


def clean_metadata(metadata: Mapping[str, str]) -> Mapping[str, str]:
    """The metadata as they are stored: without control characters."""
    return {without_controls(name): without_controls(value) for name, value in metadata.items()}


def clean_source(source: Source) -> Source:
    """The origin as it is stored: without control characters."""
    link, model, author = map(without_controls, (source.link, source.model, source.author))
    return replace(source, link=link, model=model, author=author)


def _line(text: str, limit: int) -> str:
    return " ".join(without_controls(text).split())[:limit].strip()


def parse_tags(text: str | None) -> tuple[str, ...]:
    """Tags from what a user typed: separated by commas (、 and ，too) or white space, `#` optional."""
    return _tags(text)[:MAX_TAGS]


def _tags(text: str | None) -> tuple[str, ...]:
    words = (word.strip().lstrip("#＃") for word in re.split(r"[\s,、，]+", text or ""))
    return tuple(dict.fromkeys(word for word in words if word))


def read_tags(text: str) -> tuple[str, ...]:
    """Tags as `parse_tags` reads them, from somebody who sees what is wrong. Raises TooManyTags or TagTooLong
    for what would be left out or cut."""
    tags = _tags(without_controls(text))
    if len(tags) > MAX_TAGS:
        raise TooManyTags(limit=MAX_TAGS, found=len(tags))
    longest = max(map(len, tags), default=0)
    if longest > MAX_TAG_CHARACTERS:
        raise TagTooLong(limit=MAX_TAG_CHARACTERS, length=longest)
    return tags


def read_category(text: str) -> str:
    """A category as somebody enters it who sees what is wrong; empty for none. Raises CategoryTooLong for one
    that would be cut."""
    category = " ".join(without_controls(text).split())
    if len(category) > MAX_CATEGORY_CHARACTERS:
        raise CategoryTooLong(limit=MAX_CATEGORY_CHARACTERS, length=len(category))
    return category


# ---- ending ----------------------------------------------------------------------------------------------
# Until when a memory holds, as a person writes it: a day, to its end, or a time of one.
#
# Whatever tells a reminder when to come tells this as well (when.py), and how long from now.

_DAY: Final = re.compile(r"(\d{4})\s?[-/.年]\s?(\d{1,2})\s?[-/.月]\s?(\d{1,2})\s?日?")
_UNTIL: Final = re.compile(r"^(?:until|till|by|for)\s|(?<!\s)\s*+まで(?:に|は|有効)?$")
_WHOLE: Final = (
    (re.compile(r"(今月|来月|再来月)(?:中|いっぱい|の?終わり|の?最後)"), r"\1末"),
    (re.compile(r"(今週|来週|再来週)(?:中|いっぱい|末|の?終わり|の?最後)"), r"\1の日曜"),
    (re.compile(r"(今年|来年|再来年)(?:中|いっぱい|末|の?終わり|の?最後)"), r"\1の12月31日"),
    (re.compile(r"年内|年末"), "12月31日"),
)
"""A week, month or year to its end."""
_TODAY: Final = re.compile(r"(?:今日|本日|きょう)(?:中|いっぱい)?|(?:the end of )?today")


def parse_end(text: str | None, now: datetime, zone: ZoneInfo) -> datetime | None:
    """The moment (UTC) at which what is named ends where the user is: that of the day, or the time itself
    where one is named; None when nothing is written.

    Raises EndNotUnderstood, EndPassed, NoSuchTime or WhenTooFar.
    """
    if text is None or not text.strip():
        return None
    if len(text) > LONGEST:
        raise EndNotUnderstood
    end = _end(_UNTIL.sub("", normalize(text)).strip(), now, zone)
    if end <= now:
        raise EndPassed
    return end


def _end(written: str, now: datetime, zone: ZoneInfo) -> datetime:
    if found := _DAY.fullmatch(written):
        return _end_of(_date(int(found[1]), int(found[2]), int(found[3])), zone)
    if _TODAY.fullmatch(written):
        return _end_of(now.astimezone(zone).date(), zone)
    for pattern, last in _WHOLE:
        if found := pattern.fullmatch(written):
            written = found.expand(last)
    for words in (written, f"{written}後", f"in {written}"):  # 1週間, 3 months
        try:
            return _read(words, now, zone)
        except NoSuchTime:
            raise
        except WhenNotUnderstood:
            continue
        except WhenPassed as error:
            raise EndPassed from error
    raise EndNotUnderstood


def _read(written: str, now: datetime, zone: ZoneInfo) -> datetime:
    """A day that is named on that very day is not over yet."""
    midnight = datetime.combine(now.astimezone(zone).date(), time(), zone)
    meant = read_when(written, midnight, zone)
    if meant.timed:
        return read_when(written, now, zone).moment
    return _end_of(meant.moment.astimezone(zone).date(), zone)


def _date(year: int, month: int, day: int) -> date:
    try:
        return date(year, month, day)
    except ValueError as error:
        raise NoSuchTime from error


def _end_of(day: date, zone: ZoneInfo) -> datetime:
    try:
        return datetime.combine(day + timedelta(days=1), time(), zone).astimezone(UTC)
    except OverflowError as error:
        raise EndNotUnderstood from error


def write_end(expires_at: datetime | None, zone: tzinfo) -> str:
    """The last day on which something holds, as `parse_end` reads it; empty when it has no end."""
    if expires_at is None:
        return ""
    return (expires_at.astimezone(zone) - timedelta(microseconds=1)).date().isoformat()


# ---- receipt ---------------------------------------------------------------------------------------------
# The line that tells a user of a change to their memories: from committed rows, never from a model.

Kind = Literal["added", "updated", "unchanged", "deleted"]
ReceiptState = Literal["holds", "over", "undone"]
"""over: it can't be undone any more, because the memory was changed again or the reminder has come."""


@dataclass(frozen=True, slots=True)
class Receipt:
    """The line that tells what was done to one memory."""

    kind: Kind
    memory_id: int
    text: str
    former_id: int | None = None
    """The version that the memory names as the one before it."""
    private: bool = False
    """Whether its text is for its user alone."""
    number: int = 0
    """What its user calls it by."""
    state: ReceiptState = "holds"

    @property
    def undo(self) -> Literal["added", "updated", "deleted"] | None:
        """The change that can be taken back: one of who may see a memory leaves no version behind."""
        if self.kind == "unchanged" or (self.kind == "updated" and self.former_id is None):
            return None
        return self.kind

    def as_added(self, before: "Receipt") -> "Receipt":
        """The same of a memory that was kept in the same answer: taken back, all of it goes."""
        return replace(self, kind="added", former_id=self.former_id or before.former_id)


def receipt_of(change: MemoryChange) -> Receipt:
    """Return the receipt of a committed change."""
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
    """Add one more change. What happens twice to a memory within an answer is told once."""
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
