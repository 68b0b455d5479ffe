"""Commands: how one is declared, what it takes of a typed line, and what it works with.

A command is declared once, by the function that runs it:

    MemoryNumber = Annotated[int, Argument("number", number_of, completions=memories_like)]

    @command("memory delete")
    async def delete(chat: Chat, number: MemoryNumber, now: Switch) -> None: ...

How its line is read, what Tab offers, how `/help` shows it and the sentence about a mistake follow from that
and from its words in texts/terminal.py. Options are known by name, so that `--force` in something to remember
is kept.
"""

import asyncio
import os
import re
import unicodedata
from collections.abc import Awaitable, Callable, Iterable, Mapping
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from pathlib import Path
from typing import Annotated, Final, Protocol, TypeVar, get_origin, get_type_hints
from zoneinfo import ZoneInfo

from prompt_toolkit.completion import CompleteEvent, Completion, PathCompleter
from prompt_toolkit.document import Document

from cc_bot.agents import Agents
from cc_bot.assistant import Assistant, Stop
from cc_bot.domain.errors import StorageError
from cc_bot.domain.locale import Locale
from cc_bot.domain.message import DEFAULT_AGENT, THE_DEFAULT, Agent, Attachment, UserSettings, Visibility
from cc_bot.domain.session import SessionKey
from cc_bot.domain.tool_server import ToolDetails, ToolServerReport
from cc_bot.privacy import Privacy
from cc_bot.reading.reader import DocumentReader
from cc_bot.regular_file import open_regular
from cc_bot.stores import Stores
from cc_bot.terminal.markdown import one_line
from cc_bot.terminal.plain import PlainView
from cc_bot.terminal.rich import RichView
from cc_bot.texts import Texts, texts
from cc_bot.texts.commands import plainly
from cc_bot.texts.terminal import JAPANESE_NAMES

# ---- chat ------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class ChatProfile:
    """The user and the place of a chat, and what holds while they have not chosen otherwise."""

    key: SessionKey
    locale: Locale
    """Until the user chooses one with /settings."""
    timezone: ZoneInfo
    """Likewise."""
    model_label: str
    """What the greeting says is answering."""
    history_file: Path | None = None
    """Where the input line keeps what was typed (made with mode 0600); None: nowhere."""
    visibility: Visibility = "public"
    """`private` when the key is that of a channel others read: what is said here is seen here alone."""
    agent: str | None = None
    """Who answers in this chat, until another one is chosen; None: whom the user chose before."""
    read_unconfined: bool = False
    """Whether documents are read even where the system can't confine the process that reads."""
    offline: bool = False
    """Whether the built-in model answers, for want of a key."""


@dataclass(frozen=True, slots=True)
class Person:
    """The user's choices, with the defaults for the rest."""

    settings: UserSettings
    locale: Locale
    timezone: ZoneInfo
    agent: Agent
    """Who answers."""
    key: SessionKey
    """Of the conversation with that one."""

    @property
    def texts(self) -> Texts:
        return texts(self.locale, names=Locale.EN)

    def day(self, moment: datetime) -> str:
        """Return the day where the user is: 2026-12-01."""
        return moment.astimezone(self.timezone).date().isoformat()

    def until(self, end: datetime) -> str:
        """Return the last day on which something holds: of what ends at midnight, the day before."""
        return self.texts.memory.until.format(date=self.day(end - timedelta(seconds=1)))


def person_of(settings: UserSettings, profile: ChatProfile, agent: Agent = THE_DEFAULT) -> Person:
    return Person(
        settings,
        settings.locale or profile.locale,
        settings.zone(profile.timezone),
        agent,
        replace(profile.key, agent=agent.name),
    )


class ListedServers(Protocol):
    """The servers that the operator's file names, and what an owner may do with them."""

    def reports(self) -> tuple[ToolServerReport, ...]: ...

    def details(self, server: str) -> tuple[ToolDetails, ...]: ...

    async def accept(self, server: str, code: str) -> tuple[str, ...] | None: ...


@dataclass(slots=True, eq=False, repr=False)  # what it holds is nobody's to read in a log
class Chat:
    """The parts that the commands of one chat work with, and what it knows that no database does."""

    assistant: Assistant
    stores: Stores
    profile: ChatProfile
    view: PlainView | RichView
    agents: Agents
    privacy: Privacy
    forget_typed: Callable[[], None]
    """Takes back what the input line keeps of what was typed."""
    servers: ListedServers
    documents: DocumentReader = field(init=False)
    attachments: tuple[Attachment, ...] = field(default=(), init=False)
    """What goes with the next question."""
    seen: set[int] = field(default_factory=set, init=False)
    """The ids of the proposals that were shown: nobody consents to what they have not seen."""
    calls_shown: set[int] = field(default_factory=set, init=False)
    """The numbers of those among them that are calls: once one is decided, nothing else tells what it was."""
    agent: str | None = field(default=None, init=False)
    """Who was chosen in this chat."""
    ask_line: Callable[[str, str], Awaitable[str | None]] | None = field(default=None, init=False)
    """Asks for a line while an answer is on its way, by a label and what stands there already; None through a
    pipe."""
    above_answer: Callable[[], AbstractContextManager[None]] = field(default=nullcontext, init=False)
    """Holds the answer that is being drawn while something else is shown."""
    answering: Stop | None = field(default=None, init=False)
    """Ends the running answer; None: there is none."""

    person: Person = field(init=False)
    """Who it is, as of the line that is being run."""

    def __post_init__(self) -> None:
        self.documents = DocumentReader(unconfined=self.profile.read_unconfined)

    @property
    def texts(self) -> Texts:
        return self.person.texts

    @property
    def user_id(self) -> int:
        return self.profile.key.user_id

    def stop(self) -> None:
        """End the running answer, if there is one; what came of it is kept."""
        if self.answering is not None:
            self.answering.request()

    def say(self, text: str) -> None:
        self.view.say(text)

    def complain(self, text: str) -> None:
        self.view.complain(text)

    async def read_person(self) -> Person:
        """Return the user as the database knows them. When it does not answer, the defaults hold: something
        has to tell the user about it."""
        agents = await self.agents.all()
        name = self.agent or self.profile.agent
        try:
            key = self.profile.key
            name = name or await self.stores.agents.get_choice(key.user_id, key.channel_id)
        except StorageError:
            name = None
        try:
            settings = await self.stores.settings.get(self.user_id)
        except StorageError:
            settings = UserSettings(welcomed=True)
        return person_of(settings, self.profile, agents.get(name or DEFAULT_AGENT, agents[DEFAULT_AGENT]))


# ---- mistakes --------------------------------------------------------------------------------------------

Sentence = Callable[[Texts], str]
Completions = Callable[[Chat, str], Awaitable[Iterable[Completion]]]
"""What is offered for what was typed after the command so far."""


class InvalidCommand(Exception):
    """A line that can't be run as it was given; `explain` is one sentence that names the way out."""

    def __init__(self, explain: Sentence) -> None:
        self.explain = explain


class Unreadable(ValueError):
    """A text that is something else than what is wanted; `given` is the part of it that is quoted."""

    def __init__(self, given: str) -> None:
        self.given = given


# ---- pieces ----------------------------------------------------------------------------------------------

MAX_NUMBER: Final = 2**63 - 1
"""The largest integer that SQLite stores."""

# What is in quotes ends somewhere: where it does not, each opening one would look through all that follows.
_VALUE: Final = r"(?:\"[^\"]{0,1000}\"|「[^」]{0,1000}」|[^\s\"「]\S*)"
_SPACED: Final = r"(?:\"[^\"]*\"|[^\s,、，\"]+(?:\s*[,、，]\s*[^\s,、，]+)*)"
"""Values between commas, which may have blanks beside them."""


def fold(text: str) -> str:
    """Return the text as commands are compared: in half width, and in small letters."""
    return unicodedata.normalize("NFKC", text).casefold()


def japanese_name(name: str) -> str:
    """Return what a command, or a word that it begins with, is called in Japanese, from its English name; no
    slash stands before either."""
    return JAPANESE_NAMES.get(name) or plainly(Locale.JA)(name)[1:]


def split(text: str) -> tuple[str, str]:
    """Return the first word, as commands are spelled, and what follows it as it is."""
    word, *rest = text.split(maxsplit=1) or [""]
    return fold(word), rest[0] if rest else ""


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
    """The word `--now`, wherever it stands; `leading`: before everything else alone."""

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
    """The words `--name value` or `--name=value`, wherever they stand; None when they do not."""

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
    """A command, and how its line is read."""

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
        """The completions after its name."""
        return next((each.completions for each in self.arguments.values() if each.completions), None)

    def usage(self, words: Texts) -> str:
        shown = (each.usage(name, words) for name, each in self.parameters.items())
        return " ".join(filter(None, (f"/{self.name}", *shown)))

    def read(self, typed: str) -> Mapping[str, object]:
        """Return what it is to be run with, from what stands after its name. Raises InvalidCommand."""
        try:
            values = self._values(typed)
        except Unreadable as error:
            raise self.usage_mistake(error.given) from None
        if sum(value is not None for value in values.values()) < self.at_least:
            raise self.usage_mistake(typed)
        return values

    def usage_mistake(self, given: str) -> InvalidCommand:
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


def completion_of(number: int, typed: str, about: str) -> Completion:
    """Return a thing to choose by its number, in place of what was typed."""
    return Completion(str(number), start_position=-len(typed), display=f"#{number}", display_meta=about)


async def _files_like(_chat: Chat, typed: str) -> Iterable[Completion]:
    return PathCompleter(expanduser=True).get_completions(Document(typed), CompleteEvent())


FILE: Final = Argument("file", path_of, optional=True, completions=_files_like)
OptionalFile = Annotated[str | None, FILE]
Switch = Annotated[bool, Flag()]

# ---- files -----------------------------------------------------------------------------------------------

T = TypeVar("T")


async def read_file(chat: Chat, path: str, most_bytes: int) -> bytes | None:
    """Return its first bytes; None when it can't be read, which is said."""
    words = chat.texts.terminal
    try:
        return await asyncio.to_thread(_read, path, most_bytes)
    except (FileNotFoundError, NotADirectoryError, ValueError):  # ValueError: a name that no file can have
        chat.complain(words.file_not_found.format(path=one_line(path)))
    except OSError:
        chat.complain(words.file_not_read.format(path=one_line(path)))
    return None


def _read(path: str, most_bytes: int) -> bytes:
    with open_regular(Path(path).expanduser()) as opened:
        return opened.read(most_bytes)


async def write_or_complain(chat: Chat, path: str, writing: Awaitable[T]) -> T | None:
    """Return what the writing of files under this path gives; None when it can't be done, which is said."""
    words = chat.texts.terminal
    try:
        return await writing
    except FileExistsError:
        chat.complain(words.file_exists.format(path=one_line(path)))
    except (OSError, ValueError):
        chat.complain(words.file_not_written.format(path=one_line(path)))
    return None


def write_new(path: str, data: bytes, number: int | None = None) -> Path:
    """Write a file for its owner's eyes alone, one of several that are numbered, and return it. Blocks.

    Raises FileExistsError, other OSErrors, and ValueError for a name that no file can have."""
    file = Path(path).expanduser()
    file = file if number is None else file.with_stem(f"{file.stem}-{number}")
    descriptor = os.open(file, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    with os.fdopen(descriptor, "wb") as opened:
        opened.write(data)
    return file
