"""What a typed line means: a pure step from text to a command value.

Whatever is no command is a question. A slash and letters in full width, as a Japanese keyboard gives them,
are the same as in half width, and Japanese names the same as English ones. Options are known by name, so that
`--force` in something to remember is kept.
"""

import re
import unicodedata
from collections.abc import Callable, Mapping, Sequence
from difflib import get_close_matches
from typing import Literal

from cc_bot.domain.locale import Locale
from cc_bot.terminal.commands import (
    Accept,
    AddReminder,
    Ask,
    Attach,
    Clear,
    Command,
    CommandName,
    Continue,
    Decline,
    DeleteReminder,
    Detach,
    ErasePrivacy,
    Exit,
    ExportPrivacy,
    Help,
    ListAgents,
    ListReminders,
    Misused,
    Regenerate,
    Settings,
    ShowCanvas,
    ShowPrivacy,
    ShowSummary,
    ShowUsage,
    Unknown,
    UseAgent,
)
from cc_bot.terminal.memory_parsing import MEMORY_READERS
from cc_bot.terminal.names import JAPANESE, english_word, in_english
from cc_bot.terminal.typed import alone, split, take_flag, typed_path

_GROUPS: Mapping[str, tuple[str, CommandName]] = {
    "agent": ("list", "agent use"),
    "remind": ("list", "remind add"),
    "privacy": ("show", "privacy show"),
}
"""What each does without a further word, and which manual is shown for a word that none of them has."""

_TEMPORARY = re.compile(r"--temporary(?:\s+|$)")


def parse(line: str) -> Command | None:
    """What the line asks for; None when it is blank."""
    text = line.strip()
    if not text:
        return None
    if text[0] not in "/／":
        return Ask(text)
    english = in_english(text)
    first, rest = split(english[1:]) if english[1:2].strip() else ("", english[1:])
    if first == "memory":
        second, rest = split(rest)
        return _read(f"memory {second}", rest) or _mistaken_memory(text, second)
    if first in _GROUPS:
        usual, manual = _GROUPS[first]
        second, rest = split(rest)
        return _read(f"{first} {second or usual}", rest) or Misused(manual, "argument", second)
    return _read(first, rest) or _mistaken(text.split()[0], first, split(rest)[0])


def _read(name: str, rest: str) -> Command | None:
    reader = _BY_WORD.get(name)
    return reader(rest) if reader else None


# ---- mistaken names ---------------------------------------------------------------------------------------


def _mistaken_memory(typed: str, second: str) -> Command:
    subcommands = {
        name.split()[1]: english
        for english in _READERS
        if english.startswith("memory ")
        for name in (JAPANESE[english], english)
    }
    if found := _similar(second, list(subcommands)):
        return Unknown(" ".join(typed.split()[:2]), subcommands[found])
    return Misused("memory list", "subcommand")


def _mistaken(given: str, first: str, second: str) -> Command:
    names = [(name, english) for english in _READERS for name in (english, JAPANESE[english])]
    pairs: dict[str, CommandName] = {name: english for name, english in names if " " in name}
    words: dict[str, CommandName] = {
        "memory": "memory list",
        **{name.split()[-1]: english for name, english in reversed(names)},
    }
    for attempt, known in ((f"{first} {second}", pairs), (first, words)):
        if found := _similar(attempt, list(known)):
            return Unknown(given, known[found])
    return Unknown(given, None)


def _similar(attempt: str, names: Sequence[str]) -> str | None:
    """The name that begins like the attempt, or else differs from it by a slip."""
    if len(attempt) > 1:
        for name in names:
            if name.startswith(attempt):
                return name
    return next(iter(get_close_matches(attempt, names, n=1, cutoff=0.7)), None)


# ---- one reader a command ---------------------------------------------------------------------------------


def _ask(rest: str) -> Command:
    if found := _TEMPORARY.match(rest):
        return Ask(rest[found.end() :], temporary=True)
    return Ask(rest)


def _attach(rest: str) -> Command:
    path = typed_path(rest)
    return Attach(path) if path else Misused("attach", "path")


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
        match english_word("settings", name.lstrip("-")).casefold():
            case "language" if language := _LANGUAGES.get(value.casefold()):
                chosen = Settings(language, chosen.timezone)
            case "timezone" if value:
                chosen = Settings(chosen.locale, value)
            case _:
                return Misused("settings", "argument", f"{name} {value}".strip())
    return chosen


def _canvas(rest: str) -> Command:
    word, more = split(rest)
    if more or word not in ("", "show", "clear"):
        return Misused("canvas", "argument", rest)
    return ShowCanvas(clear=word == "clear")


def _summary(rest: str) -> Command:
    word, more = split(rest)
    if more or word not in ("", "delete"):
        return Misused("summary", "argument", rest)
    return ShowSummary(delete=word == "delete")


def _use_agent(rest: str) -> Command:
    name = rest.strip()
    return UseAgent(name) if name else Misused("agent use", "agent")


def _delete_reminder(rest: str) -> Command:
    number = _number(rest)
    return Misused("remind delete", "reminder", rest) if number is None else DeleteReminder(number)


def _accept(rest: str) -> Command:
    number = _number(rest)
    return Misused("accept", "proposal", rest) if number is None and rest.strip() else Accept(number)


def _decline(rest: str) -> Command:
    number = _number(rest)
    return Misused("decline", "proposal", rest) if number is None and rest.strip() else Decline(number)


def _number(rest: str) -> int | None:
    """A number as the program shows them: #3."""
    found = re.fullmatch(r"[#＃]?([0-9]{1,18})", unicodedata.normalize("NFKC", rest).strip())
    return int(found[1]) if found else None


def _export_privacy(rest: str) -> Command:
    return ExportPrivacy(typed_path(rest) or None)


def _erase_privacy(rest: str) -> Command:
    now, more = take_flag("now", rest)
    return Misused("privacy erase", "argument", more) if more.strip() else ErasePrivacy(now)


_READERS: Mapping[CommandName, Callable[[str], Command]] = {
    "ask": _ask,
    "regenerate": alone("regenerate", Regenerate()),
    "continue": alone("continue", Continue()),
    "attach": _attach,
    "detach": alone("detach", Detach()),
    "accept": _accept,
    "decline": _decline,
    **MEMORY_READERS,
    "clear": alone("clear", Clear()),
    "summary": _summary,
    "canvas": _canvas,
    "agent list": alone("agent list", ListAgents()),
    "agent use": _use_agent,
    "remind list": alone("remind list", ListReminders()),
    "remind add": lambda rest: AddReminder(rest.strip()),
    "remind delete": _delete_reminder,
    "usage": alone("usage", ShowUsage()),
    "privacy show": alone("privacy show", ShowPrivacy()),
    "privacy export": _export_privacy,
    "privacy erase": _erase_privacy,
    "settings": _settings,
    "help": alone("help", Help()),
    "exit": alone("exit", Exit()),
}

_BY_WORD: Mapping[str, Callable[[str], Command]] = {
    "quit": _READERS["exit"],
    **{str(name): reader for name, reader in _READERS.items()},
}
