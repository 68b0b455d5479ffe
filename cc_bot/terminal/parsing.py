"""What a typed line means: a pure step from text to a command value.

Whatever is no command is a question. A slash and letters in full width, as a Japanese keyboard gives them,
are the same as in half width. Options are known by name, so that `--force` in something to remember is kept.
"""

import re
import unicodedata
from collections.abc import Callable, Mapping, Sequence
from difflib import get_close_matches
from typing import Final, Literal

from cc_bot.domain.locale import Locale
from cc_bot.domain.memory import parse_tags
from cc_bot.terminal.commands import (
    AddMemory,
    Ask,
    Attach,
    Clear,
    Command,
    CommandName,
    Continue,
    DeleteMemory,
    Detach,
    Exit,
    Help,
    ListMemories,
    Misused,
    Regenerate,
    SearchMemories,
    Settings,
    ShowSummary,
    Unknown,
)

MAX_MEMORY_ID: Final = 2**63 - 1
"""The largest integer that SQLite stores."""

_VALUE = r"(?:\"[^\"]*\"|「[^」]*」|[^\s\"「]\S*)"
_TAGS = r"(?:\"[^\"]*\"|[^\s,、，\"]+(?:\s*[,、，]\s*[^\s,、，]+)*)"
_TEMPORARY = re.compile(r"--temporary(?:\s+|$)")


def parse(line: str) -> Command | None:
    """What the line asks for; None when it is blank."""
    text = line.strip()
    if not text:
        return None
    if text[0] not in "/／":
        return Ask(text)
    first, rest = _split(text[1:]) if text[1:2].strip() else ("", text[1:])
    if first == "memory":
        second, rest = _split(rest)
        return _read(f"memory {second}", rest) or _mistaken_memory(second)
    return _read(first, rest) or _mistaken(text.split()[0], first, _split(rest)[0])


def _read(name: str, rest: str) -> Command | None:
    reader = _BY_WORD.get(name)
    return reader(rest) if reader else None


def _split(text: str) -> tuple[str, str]:
    """The first word, as commands are spelled, and what follows it as it is."""
    word, *rest = text.split(maxsplit=1) or [""]
    return unicodedata.normalize("NFKC", word).casefold(), rest[0] if rest else ""


# ---- mistaken names ---------------------------------------------------------------------------------------


def _mistaken_memory(second: str) -> Command:
    subcommands = {name.split()[1]: name for name in _READERS if name.startswith("memory ")}
    if found := _similar(second, list(subcommands)):
        return Unknown(f"/memory {second}", subcommands[found])
    return Misused("memory list", "subcommand")


def _mistaken(given: str, first: str, second: str) -> Command:
    pairs: dict[str, CommandName] = {name: name for name in _READERS if " " in name}
    words: dict[str, CommandName] = {"memory": "memory list", **{name.split()[-1]: name for name in _READERS}}
    for attempt, names in ((f"{first} {second}", pairs), (first, words)):
        if found := _similar(attempt, list(names)):
            return Unknown(given, names[found])
    return Unknown(given, None)


def _similar(attempt: str, names: Sequence[str]) -> str | None:
    """The name that begins like the attempt, or else differs from it by a slip."""
    if len(attempt) > 1:
        for name in names:
            if name.startswith(attempt):
                return name
    return next(iter(get_close_matches(attempt, names, n=1, cutoff=0.7)), None)


# ---- one reader a command ---------------------------------------------------------------------------------


def _take(name: str, text: str, value: str = _VALUE) -> tuple[str | None, str]:
    """The value of `--name value` anywhere in the text, and the text without it."""
    found = re.search(rf"(?:^|(?<=\s))--{name}(?:\s+|=)(?P<value>{value})(?:\s+|$)", text)
    if found is None:
        return None, text
    return found["value"].strip('"「」'), (text[: found.start()] + text[found.end() :]).strip()


def _ask(rest: str) -> Command:
    if found := _TEMPORARY.match(rest):
        return Ask(rest[found.end() :], temporary=True)
    return Ask(rest)


def _attach(rest: str) -> Command:
    path = rest.strip()
    if len(path) > 1 and path[0] == path[-1] and path[0] in "'\"":
        path = path[1:-1]
    else:
        path = path.replace("\\ ", " ")  # as a file dragged into a terminal arrives
    return Attach(path) if path else Misused("attach", "path")


def _list_memories(rest: str) -> Command:
    before, rest = _take("before", rest)
    category, rest = _take("category", rest)
    before_id = None if before is None else _memory_id(before)
    if before is not None and before_id is None:
        return Misused("memory list", "argument", f"--before {before}")
    return ListMemories(category or rest or None, before_id)


def _search_memories(rest: str) -> Command:
    category, query = _take("category", rest)
    return SearchMemories(query, category) if query else Misused("memory search", "query")


def _add_memory(rest: str) -> Command:
    category, rest = _take("category", rest)
    tags, content = _take("tags", rest, _TAGS)
    return AddMemory(content, category, parse_tags(tags))


def _delete_memory(rest: str) -> Command:
    memory_id = _memory_id(rest)
    return Misused("memory delete", "id", rest) if memory_id is None else DeleteMemory(memory_id)


def _memory_id(text: str) -> int | None:
    digits = text.strip().lstrip("#＃")
    if not digits.isdecimal() or len(digits) > len(str(MAX_MEMORY_ID)):
        return None
    memory_id = int(digits)
    return memory_id if 0 < memory_id <= MAX_MEMORY_ID else None


_LANGUAGES: Mapping[str, Locale | Literal["default"]] = {
    "ja": Locale.JA,
    "japanese": Locale.JA,
    "日本語": Locale.JA,
    "en": Locale.EN,
    "english": Locale.EN,
    "英語": Locale.EN,
    "default": "default",
}


def _settings(rest: str) -> Command:
    words = rest.split()
    chosen = Settings()
    while words:
        name, *words = words
        value = words.pop(0) if words else ""
        match name.lstrip("-").casefold():
            case "language" if language := _LANGUAGES.get(value.casefold()):
                chosen = Settings(language, chosen.timezone)
            case "timezone" if value:
                chosen = Settings(chosen.locale, value)
            case _:
                return Misused("settings", "argument", f"{name} {value}".strip())
    return chosen


def _summary(rest: str) -> Command:
    word, more = _split(rest)
    if more or word not in ("", "delete"):
        return Misused("summary", "argument", rest)
    return ShowSummary(delete=word == "delete")


def _alone(command: CommandName, value: Command) -> Callable[[str], Command]:
    """For a command that takes no arguments."""
    return lambda rest: Misused(command, "argument", rest) if rest.strip() else value


_READERS: Mapping[CommandName, Callable[[str], Command]] = {
    "ask": _ask,
    "regenerate": _alone("regenerate", Regenerate()),
    "continue": _alone("continue", Continue()),
    "attach": _attach,
    "detach": _alone("detach", Detach()),
    "memory list": _list_memories,
    "memory search": _search_memories,
    "memory add": _add_memory,
    "memory delete": _delete_memory,
    "clear": _alone("clear", Clear()),
    "summary": _summary,
    "settings": _settings,
    "help": _alone("help", Help()),
    "exit": _alone("exit", Exit()),
}

_BY_WORD: Mapping[str, Callable[[str], Command]] = {
    "quit": _READERS["exit"],
    **{str(name): reader for name, reader in _READERS.items()},
}
