"""Memories: long-term notes that users asked to store."""

import re
import unicodedata
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, field, replace
from datetime import UTC, date, datetime, time, timedelta, tzinfo
from typing import Final, Literal
from zoneinfo import ZoneInfo

from cc_bot.domain.change import Change
from cc_bot.domain.errors import NoSuchTime, WhenNotUnderstood
from cc_bot.domain.message import is_blank
from cc_bot.domain.text import remove_controls
from cc_bot.domain.when.grammar import normalize
from cc_bot.domain.when.resolve import MAX_LENGTH, read_moments
from cc_bot.features.memory.errors import (
    CategoryTooLong,
    DetailsTooLong,
    EmptyMemory,
    EndNotUnderstood,
    EndPassed,
    MemoryTooLong,
    TagTooLong,
    TooManyTags,
)

MAX_CONTENT_CHARACTERS = 4000
MAX_DETAILS_CHARACTERS = 4000  # category, tags and metadata together, plus one per item
MAX_CATEGORY_CHARACTERS = 50
MAX_TAGS = 20
MAX_TAG_CHARACTERS = 50
DEFAULT_CATEGORY = "general"
DEFAULT_CATEGORY_NAMES: Final = ("", "general", "一般")  # as a user or a model may write it
MAX_PINNED = 10  # per user

_PUNCTUATION: Final = re.compile(r"[\s、。!?「」『』“”\"]|[.,](?!\d)")

Audience = Literal["anywhere", "private"]  # private: used only in answers that nobody but the user sees

Order = Literal["newest", "oldest", "updated"]  # updated: the most recently changed first
ListOrder = Literal["pinned", "newest", "oldest", "updated"]  # pinned: the pinned, then the newest

SourceKind = Literal["", "command", "message", "model", "import", "terminal", "proposal"]
"""How a memory was created; empty if unknown. proposal: the user approved what a tainted turn proposed."""


@dataclass(frozen=True, slots=True)
class Source:
    kind: SourceKind = ""
    link: str = ""  # to the message that asked for the memory, or that was saved as the memory
    model: str = ""  # the model that called `remember`
    author: str = ""  # the message's author, unless the memory's user wrote it

    def as_object(self) -> dict[str, str]:
        return {name: value for name, value in asdict(self).items() if value}


@dataclass(frozen=True, slots=True)
class Memory:
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
    supersedes: int | None = None  # id of the former version
    number: int = 0  # shown to users as the id; counts each user's memories from 1; 0 for a former version
    pinned: bool = False

    def is_expired(self, now: datetime) -> bool:
        return self.expires_at is not None and self.expires_at <= now

    @property
    def tainted(self) -> bool:
        """Return whether other people may have written the text."""
        return self.source.kind in ("import", "proposal") or bool(self.source.author)


# A change of one of these fields keeps the former version.
VERSIONED_FIELDS: Final = ("content", "category", "tags", "expires_at")


@dataclass(frozen=True, slots=True)
class MemoryFilter:
    """Selects the memories that meet all conditions; the defaults set none."""

    category: str | None = None
    tags: tuple[str, ...] = ()  # a memory must have all of these
    audience: Audience | None = None
    source_kind: SourceKind | None = None


ALL_MEMORIES: Final = MemoryFilter()


@dataclass(frozen=True, slots=True)
class FoundMemory:
    memory: Memory
    confidence: float  # probability that the query means this memory


ChangeKind = Literal["added", "updated", "deleted"]


@dataclass(frozen=True, slots=True)
class MemoryChange:
    kind: ChangeKind
    memory: Memory  # after the change; if deleted, before it
    former: Memory | None = None  # before an update

    @property
    def receipt_kind(self) -> Literal["added", "updated", "unchanged", "deleted"]:
        """Return `unchanged` for an update that changed no versioned field."""
        if self.kind == "updated" and all(
            getattr(self.former, name, None) == getattr(self.memory, name) for name in VERSIONED_FIELDS
        ):
            return "unchanged"
        return self.kind

    @property
    def former_id(self) -> int | None:
        """Return the id of the former version that this change made, if any."""
        earlier_id = self.former.supersedes if self.former else None
        return None if self.memory.supersedes == earlier_id else self.memory.supersedes

    @property
    def receipt(self) -> Change:
        memory, is_private = self.memory, self.memory.audience == "private"
        return Change(
            *("memory", self.receipt_kind, memory.id, memory.content, memory.number),
            former_id=self.former_id,
            private=is_private,
        )


@dataclass(frozen=True, slots=True)
class ErasureCounts:
    memories: int = 0
    versions: int = 0  # former ones
    summaries: int = 0  # deleted, since they covered emptied messages
    messages: int = 0  # emptied, since they contained or used a memory


def is_same_text(one: str, other: str) -> bool:
    """Return whether two texts differ only in width, case, white space and sentence punctuation."""
    first, second = (unicodedata.normalize("NFKC", text).casefold() for text in (one, other))
    return _PUNCTUATION.sub("", first) == _PUNCTUATION.sub("", second)


def clean_content(content: str) -> str:
    """Strip white space and control characters. Raises EmptyMemory or MemoryTooLong."""
    cleaned = remove_controls(content).strip()
    if is_blank(cleaned):
        raise EmptyMemory
    if len(cleaned) > MAX_CONTENT_CHARACTERS:
        raise MemoryTooLong(limit=MAX_CONTENT_CHARACTERS, length=len(cleaned))
    folded_length = len(unicodedata.normalize("NFKC", cleaned))
    if folded_length > 2 * MAX_CONTENT_CHARACTERS:
        raise MemoryTooLong(limit=MAX_CONTENT_CHARACTERS, length=folded_length)
    return cleaned


def check_details(category: str | None, tags: Iterable[str], metadata: Mapping[str, str]) -> None:
    """Raise DetailsTooLong if category, tags and metadata together are too long."""
    length = len(category or "") + sum(len(text) + 1 for text in (*tags, *metadata, *metadata.values()))
    if length > MAX_DETAILS_CHARACTERS:
        raise DetailsTooLong(limit=MAX_DETAILS_CHARACTERS, length=length)


def clean_category(category: str | None) -> str:
    """Return a category as one short line; DEFAULT_CATEGORY for one of its names."""
    cleaned = _clean_line(category or "", MAX_CATEGORY_CHARACTERS)
    return DEFAULT_CATEGORY if cleaned.casefold() in DEFAULT_CATEGORY_NAMES else cleaned


def clean_tags(tags: Iterable[str]) -> tuple[str, ...]:
    """Return at most MAX_TAGS short lines, without duplicates."""
    lines = (_clean_line(tag, MAX_TAG_CHARACTERS) for tag in tags)
    return tuple(dict.fromkeys(line for line in lines if line))[:MAX_TAGS]


def clean_metadata(metadata: Mapping[str, str]) -> Mapping[str, str]:
    return {remove_controls(name): remove_controls(value) for name, value in metadata.items()}


def clean_source(source: Source) -> Source:
    link, model, author = map(remove_controls, (source.link, source.model, source.author))
    return replace(source, link=link, model=model, author=author)


def _clean_line(text: str, limit: int) -> str:
    return " ".join(remove_controls(text).split())[:limit].strip()


def split_tags(text: str | None) -> tuple[str, ...]:
    """Split tags at commas (also 、 and ，) and white space, and remove a leading `#`."""
    words = (word.strip().lstrip("#＃") for word in re.split(r"[\s,、，]+", text or ""))
    return tuple(dict.fromkeys(word for word in words if word))


def parse_tags(text: str) -> tuple[str, ...]:
    """Split tags as `split_tags` does. Raises TooManyTags or TagTooLong."""
    tags = split_tags(remove_controls(text))
    if len(tags) > MAX_TAGS:
        raise TooManyTags(limit=MAX_TAGS, found=len(tags))
    longest = max(map(len, tags), default=0)
    if longest > MAX_TAG_CHARACTERS:
        raise TagTooLong(limit=MAX_TAG_CHARACTERS, length=longest)
    return tags


def parse_category(text: str) -> str:
    """Return a category, which may be empty, as one line. Raises CategoryTooLong."""
    category = " ".join(remove_controls(text).split())
    if len(category) > MAX_CATEGORY_CHARACTERS:
        raise CategoryTooLong(limit=MAX_CATEGORY_CHARACTERS, length=len(category))
    return category


# Dates are read here, too, as `read_moments` refuses those in the far future.
_DATE: Final = re.compile(r"(\d{4})\s?[-/.年]\s?(\d{1,2})\s?[-/.月]\s?(\d{1,2})\s?日?")
_END_WORDS: Final = re.compile(r"^(?:until|till|by|for)\s|(?<!\s)\s*+まで(?:に|は|有効)?$")
_PERIOD_ENDS: Final = (
    (re.compile(r"(今月|来月|再来月)(?:中|いっぱい|の?終わり|の?最後)"), r"\1末"),
    (re.compile(r"(今週|来週|再来週)(?:中|いっぱい|末|の?終わり|の?最後)"), r"\1の日曜"),
    (re.compile(r"(今年|来年|再来年)(?:中|いっぱい|末|の?終わり|の?最後)"), r"\1の12月31日"),
    (re.compile(r"年内|年末"), "12月31日"),
)
"""How users write the end of a week, month or year, and how `read_moments` reads that day."""
_TODAY: Final = re.compile(r"(?:今日|本日|きょう)(?:中|いっぱい)?|(?:the end of )?today")


def parse_expiry(text: str | None, now: datetime, zone: ZoneInfo) -> datetime | None:
    """Return when a memory expires, in UTC; None for an empty text. A date means the end of that day.

    Raises EndNotUnderstood, EndPassed, NoSuchTime or WhenTooFar.
    """
    if text is None or not text.strip():
        return None
    if len(text) > MAX_LENGTH:
        raise EndNotUnderstood
    written = _END_WORDS.sub("", normalize(text)).strip()
    for pattern, end_day in _PERIOD_ENDS:
        if found := pattern.fullmatch(written):
            written = found.expand(end_day)
    for candidate in (written, f"{written}後", f"in {written}"):  # the last two for 1週間 and 3 months
        try:
            end = _resolve_end(candidate, now, zone)
        except NoSuchTime as error:
            raise NoSuchTime(when=text) from error
        except WhenNotUnderstood:
            continue
        if end <= now:
            raise EndPassed
        return end
    raise EndNotUnderstood


def _resolve_end(written: str, now: datetime, zone: ZoneInfo) -> datetime:
    day = now.astimezone(zone).date()
    if found := _DATE.fullmatch(written):
        try:
            day = date(*map(int, found.groups()))
        except ValueError as error:
            raise NoSuchTime from error
    elif not _TODAY.fullmatch(written):
        midnight = datetime.combine(day, time(), zone)
        [found_moment, *others] = read_moments(written, midnight, zone, allow_past=True)
        if others:
            raise WhenNotUnderstood
        if found_moment.has_time:
            return read_moments(written, now, zone, allow_past=True)[0].moment
        day = found_moment.moment.astimezone(zone).date()
    try:
        return datetime.combine(day + timedelta(days=1), time(), zone).astimezone(UTC)
    except OverflowError as error:
        raise EndNotUnderstood from error


def format_expiry(expires_at: datetime | None, zone: tzinfo) -> str:
    """Return the last day of validity in a form that `parse_expiry` reads; empty if there is no end."""
    return (expires_at.astimezone(zone) - timedelta(microseconds=1)).date().isoformat() if expires_at else ""
