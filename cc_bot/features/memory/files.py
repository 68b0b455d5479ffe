"""Memories as a file: lossless JSON, and lists written by other programs."""

import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import MAXYEAR, MINYEAR, UTC, datetime
from typing import Any, Final, get_type_hints

from cc_bot.domain.errors import ImportNotUnderstood, TooManyToImport
from cc_bot.features.memory.model import DEFAULT_CATEGORY, Audience, Memory, Source

MAX_IMPORT_BYTES: Final = 2**20
MAX_IMPORTED: Final = 5000  # memories per file
MARKDOWN_MARK: Final = "<!-- cc-bot memories, for reading: import the JSON -->"
"""Marks an export for reading, which can't be imported."""

_FORMAT: Final = "cc-bot memories"
_VERSION: Final = 1

# Each has only one way to match white space.
_FENCE_OR_RULE = re.compile(r"\A\s*+(?:```.*|~~~.*|[-*_=]{3,}+\s*+)")
_HEADING = re.compile(r"#{1,6}\s")
_BULLET = re.compile(
    r"\A\s*+(?:[-*+•●◦‣–—]\s++|・\s*+|[①-⑳]\s*+|[（(]\d{1,4}[)）]\s*+|\d{1,4}[．）]\s*+"
    r"|\d{1,4}[.)](?:\s++|(?=[\[（【])))"
)
_DATE = (
    r"(\d{4})(?:-|/|\.|年)(\d{1,2})(?:-|/|\.|月)(\d{1,2})日?(?:[T ]\d{1,2}:\d{2}(?::\d{2})?(?:\.\d++)?Z?)?"
)
_DATED = re.compile(
    rf"\A(?:[\[（(【]{_DATE}[\]）)】]\s*+(?:[.:：。,、-]\s*+)?|{_DATE}(?:\s*+[:：]|\.(?=\s)|\s++[-–—])\s*+)"
)
_INDENTED = re.compile(r"\A(?:\t| {2,}+|　)\S")


@dataclass(frozen=True, slots=True)
class PortableMemory:
    content: str
    category: str = DEFAULT_CATEGORY
    tags: tuple[str, ...] = ()
    audience: Audience | None = None  # None if the file does not say
    created_at: datetime | None = None
    updated_at: datetime | None = None
    expires_at: datetime | None = None
    source: Source = Source()
    metadata: Mapping[str, str] = field(default_factory=dict, hash=False)
    pinned: bool = False


@dataclass(frozen=True, slots=True)
class ImportPlan:
    new: tuple[PortableMemory, ...] = ()
    known: int = 0  # already stored, or repeated in the file
    empty: int = 0
    too_long: int = 0
    secret: int = 0

    @property
    def refused(self) -> int:
        return self.empty + self.too_long + self.secret


_FIELDS: Final = get_type_hints(PortableMemory)
_ALWAYS: Final = ("content", "category", "tags")  # written even if they are empty


def portable(memory: Memory) -> PortableMemory:
    return PortableMemory(**{name: getattr(memory, name) for name in _FIELDS})


def to_json(memories: Iterable[PortableMemory], exported_at: datetime) -> str:
    """Return a file that `read_memories` restores unchanged, one memory per line."""
    head = {"format": _FORMAT, "version": _VERSION, "exported_at": _write_moment(exported_at)}
    return f'{json.dumps(head)[:-1]}, "memories": [\n' + ",\n".join(map(_write_memory, memories)) + "\n]}\n"


def split_export(
    memories: Sequence[PortableMemory],
    write: Callable[[Sequence[PortableMemory]], str],
    *,
    max_bytes: int,
    max_memories: int,
) -> Iterator[bytes]:
    """Yield all memories as files within the limits."""
    file = write(memories).encode("utf-8", "replace")
    if len(memories) < 2 or (len(file) <= max_bytes and len(memories) <= max_memories):
        yield file
    else:
        half = len(memories) // 2
        for part in (memories[:half], memories[half:]):
            yield from split_export(part, write, max_bytes=max_bytes, max_memories=max_memories)


def read_memories(text: str) -> list[PortableMemory]:
    """Read our own JSON, a JSON list of texts, or one memory per line, without validating memories.

    Removes leading numbers, bullets and dates; an indented line continues the previous one.
    Raises ImportNotUnderstood or TooManyToImport.
    """
    text = text.removeprefix("\ufeff").strip()
    found = _from_json(text) if text.startswith(("{", "[")) else None
    if found is None:
        found = _from_lines(text)
    if not found:
        raise ImportNotUnderstood
    return found


def _write_memory(memory: PortableMemory) -> str:
    item = {name: _to_json_value(getattr(memory, name)) for name in _FIELDS}
    written = {name: value for name, value in item.items() if value or name in _ALWAYS}
    return json.dumps(written, ensure_ascii=False)


def _to_json_value(value: object) -> object:
    match value:
        case datetime():
            return _write_moment(value)
        case Source():
            return value.as_object()
        case Mapping():
            return {**value}
        case _:
            return value


def _from_json(text: str) -> list[PortableMemory] | None:
    """Return None for text that only looks like JSON (a ChatGPT list begins with a date in brackets)."""
    try:
        document = json.loads(text)
    except (ValueError, RecursionError) as error:
        if text.startswith("{"):
            raise ImportNotUnderstood from error
        return None
    items = document.get("memories") if isinstance(document, dict) else document
    if not isinstance(items, list):
        raise ImportNotUnderstood
    _ensure_not_too_many(len(items))
    return [_read_memory(item) for item in items]


def _ensure_not_too_many(items: int) -> None:
    if items > MAX_IMPORTED:
        raise TooManyToImport(limit=MAX_IMPORTED)


def _read_memory(item: object) -> PortableMemory:
    fields = {"content": item} if isinstance(item, str) else item if isinstance(item, dict) else {}
    read = {name: _READERS[kind](fields.get(name)) for name, kind in _FIELDS.items()}
    return PortableMemory(**{"content": "", **{name: value for name, value in read.items() if value}})


def _read_text(value: object) -> str:
    """Replace lone surrogates, which JSON allows and the database does not."""
    return value.encode("utf-8", "replace").decode() if isinstance(value, str) else ""


def _read_texts(value: object) -> tuple[str, ...]:
    return (
        tuple(_read_text(each) for each in value if isinstance(each, str)) if isinstance(value, list) else ()
    )


def _read_text_map(value: object) -> dict[str, str]:
    named = value.items() if isinstance(value, dict) else ()
    return {_read_text(name): _read_text(each) for name, each in named if isinstance(each, str)}


def _read_audience(value: object) -> Audience | None:
    """Return `private` for an unknown value, which was meant as a restriction."""
    match value:
        case None | "anywhere" | "private":
            return value
        case _:
            return "private"


def _read_source(value: object) -> Source:
    if not isinstance(value, dict):
        return Source()
    link, model, author = (_read_text(value.get(name)) for name in ("link", "model", "author"))
    match value.get("kind"):
        case ("command" | "message" | "model" | "import" | "terminal") as kind:
            return Source(kind, link, model, author)
        case _:
            return Source("", link, model, author)


def _write_moment(moment: datetime) -> str:
    return moment.astimezone(UTC).isoformat()


def _read_moment(value: object) -> datetime | None:
    """Return a time in UTC, or None near the ends of the calendar, which other zones can't express."""
    try:
        moment = datetime.fromisoformat(_read_text(value))
        moment = moment.astimezone(UTC) if moment.tzinfo else moment.replace(tzinfo=UTC)
    except (ValueError, OverflowError):
        return None
    return moment if MINYEAR < moment.year < MAXYEAR else None


_READERS: Final[Mapping[Any, Callable[[object], Any]]] = {
    str: _read_text,
    tuple[str, ...]: _read_texts,
    Mapping[str, str]: _read_text_map,
    Audience | None: _read_audience,
    datetime | None: _read_moment,
    Source: _read_source,
    bool: lambda value: value is True,
}
"""By field type. An invalid value is read as an empty one."""


def _from_lines(text: str) -> list[PortableMemory]:
    if MARKDOWN_MARK in text:
        raise ImportNotUnderstood
    entries: list[list[str]] = []  # lines of each entry
    for line in text.splitlines():
        if not line.strip() or _FENCE_OR_RULE.fullmatch(line) or _HEADING.match(line):
            continue
        bullet = _BULLET.match(line)
        if entries and not bullet and _INDENTED.match(line):
            entries[-1].append(line.strip())
        else:
            entries.append([line[bullet.end() :] if bullet else line])
            _ensure_not_too_many(len(entries))
    return [_split_date("\n".join(entry).strip()) for entry in entries]


def _split_date(entry: str) -> PortableMemory:
    """Parse an entry; a date set off before the text is the creation date."""
    found = _DATED.match(entry)
    if found is None or found.end() == len(entry):
        return PortableMemory(entry)
    year, month, day = (number for number in found.groups() if number is not None)
    written = _read_moment(f"{year}-{month:0>2}-{day:0>2}")
    return PortableMemory(entry[found.end() :], created_at=written) if written else PortableMemory(entry)
