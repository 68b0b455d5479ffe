"""A typed line in pieces, and what a command declares that it takes of them.

A command is declared once, by the function that runs it:

    MemoryNumber = Annotated[int, Argument("number", number_of, completions=memories_like)]

    @command("memory delete")
    async def delete(chat: Chat, number: MemoryNumber, now: Switch) -> None: ...

How its line is read, what Tab offers, how `/help` shows it and the sentence about a mistake follow from that
and from its words in texts/terminal.py. Options are known by name, so that `--force` in something to remember
is kept.
"""

import re
import unicodedata
from collections.abc import Awaitable, Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Annotated, Final, get_origin, get_type_hints

from prompt_toolkit.completion import CompleteEvent, Completion, PathCompleter
from prompt_toolkit.document import Document

from cc_bot.domain.locale import Locale
from cc_bot.terminal.context import Chat
from cc_bot.terminal.markdown import one_line
from cc_bot.texts import Texts
from cc_bot.texts.commands import plainly
from cc_bot.texts.terminal import JAPANESE_NAMES

Sentence = Callable[[Texts], str]
Completions = Callable[[Chat, str], Awaitable[Iterable[Completion]]]
"""What is offered for what was typed after the command so far."""


class InvalidCommand(Exception):
    """A line that can't be run as it was given; `explain` is one sentence that names the way out."""

    def __init__(self, explain: Sentence) -> None:
        self.explain = explain


class Unreadable(ValueError):
    """Something else than what is wanted; `given` is the part of it that is quoted."""

    def __init__(self, given: str) -> None:
        self.given = given


# ---- pieces ----------------------------------------------------------------------------------------------

MAX_NUMBER: Final = 2**63 - 1
"""The largest integer that SQLite stores."""

# What is in quotes ends somewhere: where it does not, each opening one would look through all that follows.
_VALUE: Final = r"(?:\"[^\"]{0,1000}\"|「[^」]{0,1000}」|[^\s\"「]\S*)"
_SPACED: Final = r"(?:\"[^\"]*\"|[^\s,、，\"]+(?:\s*[,、，]\s*[^\s,、，]+)*)"
"""Values between commas, which may have blanks beside them."""


def folded(text: str) -> str:
    """Return the text as commands are compared: in half width, and in small letters."""
    return unicodedata.normalize("NFKC", text).casefold()


def japanese_name(name: str) -> str:
    """Return what a command, or a word that it begins with, is called in Japanese, from its English name; no
    slash stands before either."""
    return JAPANESE_NAMES.get(name) or plainly(Locale.JA)(name)[1:]


def split(text: str) -> tuple[str, str]:
    """Return the first word, as commands are spelled, and what follows it as it is."""
    word, *rest = text.split(maxsplit=1) or [""]
    return folded(word), rest[0] if rest else ""


def path_of(text: str) -> str:
    """Return a path from what is in quotes, or has its blanks escaped, as a file dragged into a terminal."""
    if len(text) > 1 and text[0] == text[-1] and text[0] in "'\"":
        return text[1:-1]
    return text.replace("\\ ", " ")


def number_of(text: str) -> int:
    """Return the number that something is shown under: #3. Raises Unreadable."""
    digits = text.strip().lstrip("#＃")
    if digits.isdecimal() and len(digits) <= len(str(MAX_NUMBER)) and 0 < int(digits) <= MAX_NUMBER:
        return int(digits)
    raise Unreadable(text)


# ---- what a command takes --------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Flag:
    """`--now`, wherever it stands; `leading`: before everything else alone."""

    leading: bool = False

    def usage(self, name: str, _words: Texts) -> str:
        return f"[--{name}]"

    def take(self, name: str, text: str) -> tuple[bool, str]:
        """Return whether it is there, and the text without it."""
        found = re.search(rf"(?:^|(?<=\s))--{name}(?:\s+|$)", text)
        if found is None or (self.leading and found.start()):
            return False, text
        return True, (text[: found.start()] + text[found.end() :]).strip()


@dataclass(frozen=True, slots=True)
class Option:
    """`--name value` or `--name=value`, wherever it stands; None when it does not."""

    shown: str = ""
    """What the usage has for its value (`TerminalTexts.arguments`); "": the usage leaves the option out."""
    read: Callable[[str], object] = str
    spaced: bool = False
    """Whether its value may have blanks beside its commas."""

    def usage(self, name: str, words: Texts) -> str:
        return f"[--{name} {words.terminal.arguments[self.shown]}]" if self.shown else ""

    def take(self, name: str, text: str) -> tuple[object, str]:
        """Return its value, and the text without it. Raises Unreadable."""
        if self.spaced:
            found = re.search(rf"(?:^|(?<=\s))--{name}(?:\s+|=)(?P<value>{_SPACED})(?:\s+|$)", text)
        else:
            found = re.search(rf"(?:^|(?<=\s))--{name}(?:\s+|=)(?P<value>{_VALUE})(?:\s+|$)", text)
        if found is None:
            return None, text
        given = found["value"].strip('"「」')
        try:
            value = self.read(given)
        except Unreadable:
            raise Unreadable(f"--{name} {given}") from None
        return value, (text[: found.start()] + text[found.end() :]).strip()


@dataclass(frozen=True, slots=True)
class Argument:
    """A word in its place; the last one is all that is left."""

    shown: str
    """What the usage has for it (`TerminalTexts.arguments`), unless it is a word itself."""
    read: Callable[[str], object] = str
    optional: bool = False
    """Whether it is None where nothing stands."""
    needed: Sentence | None = None
    """What is said where nothing stands and something has to, or where it can't be read."""
    words: tuple[str, ...] = ()
    """Those that it begins with and that have a Japanese name."""
    completions: Completions | None = None

    def usage(self, _name: str, words: Texts) -> str:
        shown = words.terminal.arguments.get(self.shown, self.shown)
        return f"[{shown}]" if self.optional else shown

    def take(self, text: str) -> object:
        """Return its value. Raises Unreadable, and InvalidCommand with what is needed."""
        if self.optional and not text:
            return None
        try:
            value = self.read(text)
        except Unreadable:
            if self.needed is None:
                raise
            value = None
        if self.needed and not value:
            raise InvalidCommand(self.needed)
        return value


Parameter = Flag | Option | Argument


def one_of(*words: str) -> Argument:
    """Return an argument that is one of these words; the usage shows the last."""

    def read(text: str) -> str:
        word, more = split(text)
        if more or word not in words:
            raise Unreadable(text)
        return word

    return Argument(words[-1], read, optional=True, words=words)


@dataclass(frozen=True, slots=True)
class Command:
    name: str
    """In English, as everything knows it; `memory add` has a group before its name."""
    run: Callable[..., Awaitable[None]]
    """Called with the chat, and with each parameter by its name."""
    parameters: Mapping[str, Parameter]
    at_least: int = 0
    """How many of its parameters have to be there."""

    @property
    def arguments(self) -> Mapping[str, Argument]:
        return {name: each for name, each in self.parameters.items() if isinstance(each, Argument)}

    @property
    def completions(self) -> Completions | None:
        """What is offered after its name."""
        return next((each.completions for each in self.arguments.values() if each.completions), None)

    def usage(self, words: Texts) -> str:
        shown = (each.usage(name, words) for name, each in self.parameters.items())
        return " ".join(filter(None, (f"/{self.name}", *shown)))

    def read(self, typed: str) -> Mapping[str, object]:
        """Return what it is to be run with, from what stands after its name. Raises InvalidCommand."""
        try:
            values = self._values(typed)
        except Unreadable as error:
            raise self.misused(error.given) from None
        if sum(value is not None for value in values.values()) < self.at_least:
            raise self.misused(typed)
        return values

    def misused(self, given: str) -> InvalidCommand:
        """Return how it goes, to be said of what was given instead."""
        shown = one_line(given, 40)
        return InvalidCommand(
            lambda words: words.terminal.misused.format(given=shown, usage=self.usage(words))
        )

    def _values(self, typed: str) -> dict[str, object]:
        values, rest = dict[str, object](), typed
        options = [(name, each) for name, each in self.parameters.items() if not isinstance(each, Argument)]
        # What may have blanks within it is read last: it would take an option for a part of itself.
        for name, option in sorted(options, key=lambda each: isinstance(each[1], Option) and each[1].spaced):
            values[name], rest = option.take(name, rest)
        arguments = [*self.arguments.items()]
        for name, argument in arguments[:-1]:
            word, *others = rest.split(maxsplit=1) or [""]
            values[name], rest = argument.take(word), others[0] if others else ""
        for name, argument in arguments[-1:]:
            values[name], rest = argument.take(rest.strip()), ""
        if rest.strip():
            raise Unreadable(rest)
        return values


def command(name: str, *, at_least: int = 0) -> Callable[[Callable[..., Awaitable[None]]], Command]:
    """Declare the function below as the command of this name. What it takes are its annotated parameters, in
    the order of its usage; it is handed all of them by name."""

    def declare(run: Callable[..., Awaitable[None]]) -> Command:
        hints = get_type_hints(run, include_extras=True)
        taken = {each: hint.__metadata__[0] for each, hint in hints.items() if get_origin(hint) is Annotated}
        return Command(name, run, taken, at_least)

    return declare


# ---- what several take -----------------------------------------------------------------------------------


def numbered(number: int, typed: str, about: str) -> Completion:
    """Return a thing to choose by its number, in place of what was typed."""
    return Completion(str(number), start_position=-len(typed), display=f"#{number}", display_meta=about)


async def _files_like(_chat: Chat, typed: str) -> Iterable[Completion]:
    return PathCompleter(expanduser=True).get_completions(Document(typed), CompleteEvent())


FILE: Final = Argument("file", path_of, optional=True, completions=_files_like)
OptionalFile = Annotated[str | None, FILE]
Switch = Annotated[bool, Flag()]
