"""Files of memories: writes lossless JSON, and reads such JSON and lists that other programs exported."""

import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import MAXYEAR, MINYEAR, UTC, datetime
from typing import Any, Final, Literal, get_type_hints

from cc_bot.features.memory.errors import EmptyImport, ImportNotUnderstood, TooManyToImport
from cc_bot.features.memory.model import DEFAULT_CATEGORY, Audience, Memory, Source

MAX_IMPORT_BYTES: Final = 2**20
MAX_IMPORT_COUNT: Final = 5000  # memories per file
MARKDOWN_MARK: Final = "<!-- cc-bot memories, for reading: import the JSON -->"
"""Marks a Markdown export, which can't be imported."""

_FORMAT_NAME: Final = "cc-bot memories"
_FORMAT_VERSION: Final = 1

# Possessive quantifiers: white space matches in only one way, which prevents catastrophic backtracking.
_FENCE_OR_RULE = re.compile(r"\A\s*+(?:```.*|~~~.*|[-*_=]{3,}+\s*+)")
_HEADING = re.compile(r"#{1,6}\s")
_BULLET = re.compile(
    r"\A\s*+(?:[-*+•●◦‣–—]\s++|・\s*+|[①-⑳]\s*+|[（(]\d{1,4}[)）]\s*+|\d{1,4}[．）]\s*+"
    r"|\d{1,4}[.)](?:\s++|(?=[\[（【])))"
)
_DATE = (
    r"(\d{4})(?:-|/|\.|年)(\d{1,2})(?:-|/|\.|月)(\d{1,2})日?(?:[T ]\d{1,2}:\d{2}(?::\d{2})?(?:\.\d++)?Z?)?"
)
_DATE_BEFORE_TEXT = re.compile(
    rf"\A(?:[\[（(【]{_DATE}[\]）)】]\s*+(?:[.:：。,、-]\s*+)?|{_DATE}(?:\s*+[:：]|\.(?=\s)|\s++[-–—])\s*+)"
)
_INDENTED = re.compile(r"\A(?:\t| {2,}+|　)\S")


@dataclass(frozen=True, slots=True)
class PortableMemory:
    content: str
    category: str = DEFAULT_CATEGORY
    tags: tuple[str, ...] = ()
    audience: Audience | None = None  # None if the file does not name an audience
    created_at: datetime | None = None
    updated_at: datetime | None = None
    expires_at: datetime | None = None
    source: Source = Source()
    metadata: Mapping[str, str] = field(default_factory=dict, hash=False)
    pinned: bool = False


# duplicate: already stored, or repeated in the file
LeftOutReason = Literal["duplicate", "empty", "too_long", "secret"]


@dataclass(frozen=True, slots=True)
class ImportPlan:
    memories: tuple[PortableMemory, ...] = ()
    left_out: tuple[tuple[str, LeftOutReason], ...] = ()  # contents and reasons

    def count(self, reason: LeftOutReason) -> int:
        return sum(each == reason for _, each in self.left_out)

    @property
    def refused_count(self) -> int:
        return len(self.left_out) - self.count("duplicate")


_FIELD_TYPES: Final = get_type_hints(PortableMemory)
_COLUMN_NAMES: Final = {*_FIELD_TYPES, "id", "date", "text", "memory", "日付", "内容", "カテゴリ", "タグ"}
"""Two of them in the first line are the head of a CSV file, which can't be imported."""
_ALWAYS_WRITTEN: Final = ("content", "category", "tags")  # written even if they are empty


def to_portable(memory: Memory) -> PortableMemory:
    return PortableMemory(**{name: getattr(memory, name) for name in _FIELD_TYPES})


def to_json(memories: Iterable[PortableMemory], exported_at: datetime) -> str:
    head = {"format": _FORMAT_NAME, "version": _FORMAT_VERSION, "exported_at": _format_moment(exported_at)}
    return f'{json.dumps(head)[:-1]}, "memories": [\n' + ",\n".join(map(_format_memory, memories)) + "\n]}\n"


def split_export(
    memories: Sequence[PortableMemory],
    write: Callable[[Sequence[PortableMemory]], str],
    *,
    max_bytes: int,
    max_memories: int,
) -> Iterator[bytes]:
    file = write(memories).encode("utf-8", "replace")
    if len(memories) < 2 or (len(file) <= max_bytes and len(memories) <= max_memories):
        yield file
    else:
        half = len(memories) // 2
        for part in (memories[:half], memories[half:]):
            yield from split_export(part, write, max_bytes=max_bytes, max_memories=max_memories)


def parse_memories(text: str) -> list[PortableMemory]:
    """Parse JSON from `to_json`, a JSON list of texts, or one memory per line, without validation.
    Raises ImportNotUnderstood or TooManyToImport."""
    text = text.removeprefix("\ufeff").strip()
    if not text:
        raise EmptyImport
    memories = _parse_json(text) if text.startswith(("{", "[")) else None
    if memories is None:
        memories = _parse_lines(text)
    if not memories:
        raise ImportNotUnderstood
    return memories


def _format_memory(memory: PortableMemory) -> str:
    fields = {name: _to_json_value(getattr(memory, name)) for name in _FIELD_TYPES}
    item = {name: value for name, value in fields.items() if value or name in _ALWAYS_WRITTEN}
    return json.dumps(item, ensure_ascii=False)


def _to_json_value(value: object) -> object:
    match value:
        case datetime():
            return _format_moment(value)
        case Source():
            return value.as_object()
        case Mapping():
            return {**value}
        case _:
            return value


def _parse_json(text: str) -> list[PortableMemory] | None:
    """Return None for a list of text lines that begins like JSON, as ChatGPT's do: `[2024-05-01]. …`"""
    try:
        document = json.loads(text)
    except (ValueError, RecursionError) as error:
        if text.startswith("{"):
            raise ImportNotUnderstood from error
        return None
    items = document.get("memories") if isinstance(document, dict) else document
    if not (isinstance(items, list) and any(isinstance(item, str | dict) for item in items)):
        raise ImportNotUnderstood
    _ensure_not_too_many(len(items))
    return [_parse_memory(item) for item in items]


def _ensure_not_too_many(items: int) -> None:
    if items > MAX_IMPORT_COUNT:
        raise TooManyToImport(limit=MAX_IMPORT_COUNT)


def _parse_memory(item: object) -> PortableMemory:
    if isinstance(item, str):
        item = {"content": item}
    written = item if isinstance(item, dict) else {}
    fields = {name: _PARSERS[type_](written.get(name)) for name, type_ in _FIELD_TYPES.items()}
    return PortableMemory(**{"content": "", **{name: value for name, value in fields.items() if value}})


def _parse_text(value: object) -> str:
    """Return a text, without lone surrogates, which JSON allows and the database does not."""
    return value.encode("utf-8", "replace").decode() if isinstance(value, str) else ""


def _parse_texts(value: object) -> tuple[str, ...]:
    items = value if isinstance(value, list) else ()
    return tuple(_parse_text(item) for item in items if isinstance(item, str))


def _parse_text_map(value: object) -> dict[str, str]:
    items = value.items() if isinstance(value, dict) else ()
    return {_parse_text(name): _parse_text(item) for name, item in items if isinstance(item, str)}


def _parse_audience(value: object) -> Audience | None:
    match value:
        case None | "anywhere" | "private":
            return value
        case _:  # an unknown value may mean a restriction
            return "private"


def _parse_source(value: object) -> Source:
    if not isinstance(value, dict):
        return Source()
    link, model, author = (_parse_text(value.get(name)) for name in ("link", "model", "author"))
    match value.get("kind"):
        case ("command" | "message" | "model" | "import" | "terminal") as kind:
            return Source(kind, link, model, author)
        case _:
            return Source("", link, model, author)


def _format_moment(moment: datetime) -> str:
    return moment.astimezone(UTC).isoformat()


def _parse_moment(value: object) -> datetime | None:
    """Return a time in UTC; None if the value is no time, or in datetime's first or last year."""
    try:
        moment = datetime.fromisoformat(_parse_text(value))
        moment = moment.astimezone(UTC) if moment.tzinfo else moment.replace(tzinfo=UTC)
    except (ValueError, OverflowError):
        return None
    return moment if MINYEAR < moment.year < MAXYEAR else None


_PARSERS: Final[Mapping[Any, Callable[[object], Any]]] = {
    str: _parse_text,
    tuple[str, ...]: _parse_texts,
    Mapping[str, str]: _parse_text_map,
    Audience | None: _parse_audience,
    datetime | None: _parse_moment,
    Source: _parse_source,
    bool: lambda value: value is True,
}
"""By field type. A parser turns an invalid value into an empty value."""


def _parse_lines(text: str) -> list[PortableMemory]:
    columns = {cell.strip(' "').casefold() for cell in re.split("[,;\t]", text.partition("\n")[0])}
    if MARKDOWN_MARK in text or len(columns & _COLUMN_NAMES) > 1:
        raise ImportNotUnderstood
    entries: list[list[str]] = []  # lines of each entry
    for line in text.splitlines():
        if not line.strip() or _FENCE_OR_RULE.fullmatch(line) or _HEADING.match(line):
            continue
        bullet = _BULLET.match(line)
        if entries and not bullet and _INDENTED.match(line):  # continues the previous entry
            entries[-1].append(line.strip())
        else:
            entries.append([line[bullet.end() :] if bullet else line])
            _ensure_not_too_many(len(entries))
    return [_parse_entry("\n".join(entry).strip()) for entry in entries]


def _parse_entry(entry: str) -> PortableMemory:
    """Parse a memory. A date before its text becomes `created_at`."""
    found = _DATE_BEFORE_TEXT.match(entry)
    if found is None or found.end() == len(entry):
        return PortableMemory(entry)
    year, month, day = filter(None, found.groups())
    created_at = _parse_moment(f"{year}-{month:0>2}-{day:0>2}")
    text = entry[found.end() :] if created_at else entry
    return PortableMemory(text, created_at=created_at)
