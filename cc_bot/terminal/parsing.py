"""What a typed line means: a pure step from text to a command value.

Whatever is no command is a question. A slash and letters in full width, as a Japanese keyboard gives them,
are the same as in half width, and Japanese names the same as English ones. Options are known by name, so that
`--force` in something to remember is kept.
"""

import re
import unicodedata
from collections.abc import Callable, Mapping, Sequence
from difflib import get_close_matches
from typing import Final, Literal

from cc_bot.domain.locale import Locale
from cc_bot.domain.memory import parse_tags
from cc_bot.terminal.commands import (
    Accept,
    AddMemory,
    Ask,
    Attach,
    Clear,
    Command,
    CommandName,
    Continue,
    CountMemories,
    Decline,
    DeleteAllMemories,
    DeleteMemory,
    DeleteReminder,
    Detach,
    EditMemory,
    ErasePrivacy,
    Exit,
    ExportMemories,
    ExportPrivacy,
    Help,
    ImportMemories,
    ListAgents,
    ListMemories,
    ListReminders,
    Misused,
    PauseMemory,
    PinMemory,
    Regenerate,
    RestoreMemory,
    SearchMemories,
    SetReminder,
    Settings,
    ShowCanvas,
    ShowMemory,
    ShowPrivacy,
    ShowSummary,
    ShowUsage,
    UndoMemory,
    Unknown,
    UseAgent,
)
from cc_bot.terminal.markdown import one_line
from cc_bot.terminal.names import JAPANESE, english_word, folded, in_english
from cc_bot.texts import Texts
from cc_bot.texts.terminal import Manual

# ---- typed -----------------------------------------------------------------------------------------------
# The pieces of a typed line: words, options, paths.

# What is in quotes ends somewhere: where it does not, each opening one would look through all that follows.
_VALUE = r"(?:\"[^\"]{0,1000}\"|「[^」]{0,1000}」|[^\s\"「]\S*)"


def split(text: str) -> tuple[str, str]:
    """The first word, as commands are spelled, and what follows it as it is."""
    word, *rest = text.split(maxsplit=1) or [""]
    return folded(word), rest[0] if rest else ""


def take(name: str, text: str, value: str = _VALUE) -> tuple[str | None, str]:
    """The value of `--name value` anywhere in the text, and the text without it."""
    found = re.search(rf"(?:^|(?<=\s))--{name}(?:\s+|=)(?P<value>{value})(?:\s+|$)", text)
    if found is None:
        return None, text
    return found["value"].strip('"「」'), (text[: found.start()] + text[found.end() :]).strip()


def take_flag(name: str, text: str) -> tuple[bool, str]:
    """Whether `--name` stands anywhere in the text, and the text without it."""
    found = re.search(rf"(?:^|(?<=\s))--{name}(?:\s+|$)", text)
    if found is None:
        return False, text
    return True, (text[: found.start()] + text[found.end() :]).strip()


def typed_path(text: str) -> str:
    """A path in quotes, or with its blanks escaped, as a file dragged into a terminal arrives."""
    path = text.strip()
    if len(path) > 1 and path[0] == path[-1] and path[0] in "'\"":
        return path[1:-1]
    return path.replace("\\ ", " ")


def alone(command: CommandName, value: Command) -> Callable[[str], Command]:
    """For a command that takes no arguments."""
    return lambda rest: Misused(command, "argument", rest) if rest.strip() else value


# ---- memory parsing --------------------------------------------------------------------------------------
# What a typed `/memory` line means.

MAX_NUMBER: Final = 2**63 - 1
"""The largest integer that SQLite stores."""

_TAGS = r"(?:\"[^\"]*\"|[^\s,、，\"]+(?:\s*[,、，]\s*[^\s,、，]+)*)"


def _list(rest: str) -> Command:
    before, rest = take("before", rest)
    category, rest = take("category", rest)
    before_number = None if before is None else _memory_number(before)
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
    number = _memory_number(first)
    if number is None:
        return Misused("memory edit", "id", first)
    category, rest = take("category", others[0] if others else "")
    until, rest = take("until", rest)
    tags, content = take("tags", rest, _TAGS)
    edit = EditMemory(number, content or None, category, None if tags is None else parse_tags(tags), until)
    return Misused("memory edit", "argument", first) if edit == EditMemory(number) else edit


def _restore(rest: str) -> Command:
    first, _, second = rest.strip().partition(" ")
    number, version = _memory_number(first), _memory_number(second) if second.strip() else 1
    if number is None or version is None:
        return Misused("memory restore", "id", rest)
    return RestoreMemory(number, version)


def _pin(rest: str) -> Command:
    off, typed = take_flag("off", rest)
    number = _memory_number(typed)
    return Misused("memory pin", "id", typed) if number is None else PinMemory(number, off)


def _delete(rest: str) -> Command:
    now, typed = take_flag("now", rest)
    number = _memory_number(typed)
    return Misused("memory delete", "id", typed) if number is None else DeleteMemory(number, now)


def _delete_all(rest: str) -> Command:
    count = _memory_number(rest)
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
        number = _memory_number(rest)
        return Misused(name, "id", rest) if number is None else value(number)

    return read


def _memory_number(text: str) -> int | None:
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

# ---- parsing ---------------------------------------------------------------------------------------------

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
    "remind add": lambda rest: SetReminder(rest.strip()),
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

# ---- mistakes --------------------------------------------------------------------------------------------
# What to say about a command that can't be run: one sentence that names the way out.


def explain_unknown(mistake: Unknown, words: Texts) -> str:
    given = one_line(mistake.given, 40)
    if mistake.nearest is None:
        return words.terminal.unknown.format(given=given)
    return words.terminal.unknown_near.format(given=given, nearest=f"/{mistake.nearest}")


def explain_misuse(mistake: Misused, words: Texts) -> str:
    if mistake.problem == "argument":
        usage = manual(mistake.command, words).usage
        return words.terminal.misused.format(given=one_line(mistake.given, 40), usage=usage)
    sentences = {
        "id": words.memory.id_needed,
        "query": words.memory.query_needed,
        "path": words.terminal.path_needed,
        "memory file": words.terminal.memory_file_needed,
        "agent": words.terminal.agent_needed,
        "reminder": words.remind_here.id_needed,
        "proposal": words.terminal.proposal_needed,
        "subcommand": words.terminal.memory_needs_more,
    }
    return sentences[mistake.problem]


def manual(command: CommandName, words: Texts) -> Manual:
    """What the help says about a command."""
    field = "continue_" if command == "continue" else re.sub("[ -]", "_", command)
    found: Manual = getattr(words.terminal.commands, field)
    return found
