"""What a typed `/memory` line means."""

from collections.abc import Callable, Mapping
from typing import Final

from cc_bot.domain.memory import parse_tags
from cc_bot.terminal.commands import Command, CommandName, Misused
from cc_bot.terminal.memory_commands import (
    AddMemory,
    CountMemories,
    DeleteAllMemories,
    DeleteMemory,
    EditMemory,
    ExportMemories,
    ImportMemories,
    ListMemories,
    PauseMemory,
    PinMemory,
    RestoreMemory,
    SearchMemories,
    ShowMemory,
    UndoMemory,
)
from cc_bot.terminal.typed import alone, take, take_flag, typed_path

MAX_NUMBER: Final = 2**63 - 1
"""The largest integer that SQLite stores."""

_TAGS = r"(?:\"[^\"]*\"|[^\s,、，\"]+(?:\s*[,、，]\s*[^\s,、，]+)*)"


def _list(rest: str) -> Command:
    before, rest = take("before", rest)
    category, rest = take("category", rest)
    before_number = None if before is None else _number(before)
    if before is not None and before_number is None:
        return Misused("memory list", "argument", f"--before {before}")
    return ListMemories(category or rest or None, before_number)


def _search(rest: str) -> Command:
    category, query = take("category", rest)
    return SearchMemories(query, category) if query else Misused("memory search", "query")


def _add(rest: str) -> Command:
    category, rest = take("category", rest)
    until, rest = take("until", rest)
    private, rest = take_flag("private", rest)
    tags, content = take("tags", rest, _TAGS)
    return AddMemory(content, category, parse_tags(tags), until, private)


def _edit(rest: str) -> Command:
    first, *others = rest.split(maxsplit=1) or [""]
    number = _number(first)
    if number is None:
        return Misused("memory edit", "id", first)
    category, rest = take("category", others[0] if others else "")
    until, rest = take("until", rest)
    tags, content = take("tags", rest, _TAGS)
    edit = EditMemory(number, content or None, category, None if tags is None else parse_tags(tags), until)
    return Misused("memory edit", "argument", first) if edit == EditMemory(number) else edit


def _restore(rest: str) -> Command:
    first, _, second = rest.strip().partition(" ")
    number, version = _number(first), _number(second) if second.strip() else 1
    if number is None or version is None:
        return Misused("memory restore", "id", rest)
    return RestoreMemory(number, version)


def _pin(rest: str) -> Command:
    off, typed = take_flag("off", rest)
    number = _number(typed)
    return Misused("memory pin", "id", typed) if number is None else PinMemory(number, off)


def _delete(rest: str) -> Command:
    now, typed = take_flag("now", rest)
    number = _number(typed)
    return Misused("memory delete", "id", typed) if number is None else DeleteMemory(number, now)


def _delete_all(rest: str) -> Command:
    count = _number(rest)
    if rest.strip() and count is None:
        return Misused("memory delete-all", "argument", rest)
    return DeleteAllMemories(count)


def _export(rest: str) -> Command:
    return ExportMemories(typed_path(rest) or None)


def _import(rest: str) -> Command:
    now, rest = take_flag("now", rest)
    path = typed_path(rest)
    return ImportMemories(path, now) if path else Misused("memory import", "memory file")


def _numbered(name: CommandName, value: Callable[[int], Command]) -> Callable[[str], Command]:
    """For a command that takes the number of a memory."""

    def read(rest: str) -> Command:
        number = _number(rest)
        return Misused(name, "id", rest) if number is None else value(number)

    return read


def _number(text: str) -> int | None:
    digits = text.strip().lstrip("#＃")
    if not digits.isdecimal() or len(digits) > len(str(MAX_NUMBER)):
        return None
    number = int(digits)
    return number if 0 < number <= MAX_NUMBER else None


MEMORY_READERS: Final[Mapping[CommandName, Callable[[str], Command]]] = {
    "memory list": _list,
    "memory search": _search,
    "memory add": _add,
    "memory show": _numbered("memory show", ShowMemory),
    "memory edit": _edit,
    "memory pin": _pin,
    "memory undo": _numbered("memory undo", UndoMemory),
    "memory restore": _restore,
    "memory delete": _delete,
    "memory delete-all": _delete_all,
    "memory export": _export,
    "memory import": _import,
    "memory pause": alone("memory pause", PauseMemory(paused=True)),
    "memory resume": alone("memory resume", PauseMemory(paused=False)),
    "memory stats": alone("memory stats", CountMemories()),
}
