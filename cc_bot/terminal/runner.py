"""The table of commands, from which a typed line is read and run. What comes due is said in between.

Whatever is no command is a question. A slash and letters in full width, as a Japanese keyboard gives them,
are the same as in half width, and Japanese names the same as English ones.
"""

import asyncio
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from difflib import get_close_matches
from typing import Final

import structlog

from cc_bot.domain.errors import (
    CcBotError,
    ModelNotFound,
    ModelRefusedKey,
    ModelRefusedRequest,
    ModelUnreachable,
    StorageError,
)
from cc_bot.domain.locale import Locale
from cc_bot.scheduler import Scheduler
from cc_bot.terminal import conversation, memory, reminders, settings
from cc_bot.terminal.commands import Chat, Command, InvalidCommand, command, fold, japanese_name, split
from cc_bot.terminal.markdown import one_line
from cc_bot.terminal.reminders import Show, say_due
from cc_bot.terminal.settings import moments_for
from cc_bot.terminal.view import Manual
from cc_bot.texts import Texts, explain, texts

# ---- commands --------------------------------------------------------------------------------------------


@command("help")
async def show_help(chat: Chat) -> None:
    words = chat.texts
    manuals = [Manual(each.usage(words), words.terminal.commands[name]) for name, each in COMMANDS.items()]
    names = words.terminal.help_names.format(example=f"/{JAPANESE['memory add']}")
    chat.view.help(manuals, names, words)


@command("exit")
async def leave(_chat: Chat) -> None:
    """Do nothing: the runner ends with it."""


def _all_commands() -> Iterator[Command]:
    for module in (conversation, memory, reminders, settings):
        yield from (each for each in vars(module).values() if isinstance(each, Command))
    yield from (show_help, leave)


_ORDER: Final = [*texts(Locale.EN).terminal.commands]
COMMANDS: Final[Mapping[str, Command]] = {
    each.name: each for each in sorted(_all_commands(), key=lambda each: _ORDER.index(each.name))
}
"""By their names, in the order in which their words stand."""

# ---- Japanese names --------------------------------------------------------------------------------------
# Those of Discord, and in the same manner of what the terminal alone has. Whoever types Japanese may stay in
# it; everything after this knows English names alone.

_WIDE_SPACE: Final = "\u3000"
_NAME: Final = re.compile(r"[/／](?P<root>\S+)(?P<gap>\s*)(?P<word>\S*)(?P<end>\s*)")

JAPANESE: Final[Mapping[str, str]] = {name: japanese_name(name) for name in COMMANDS}
"""Every command's Japanese name, by its English one."""
_WITH_A_WORD: Final = [
    f"{name} {word}"
    for name, each in COMMANDS.items()
    for argument in each.arguments.values()
    for word in argument.words
]
_ROOTS: Final = {japanese.split()[0]: english.split()[0] for english, japanese in JAPANESE.items()}
_WORDS: Final = {
    (english.split()[0], japanese_name(english).partition(" ")[2]): english.partition(" ")[2]
    for english in (*COMMANDS, *_WITH_A_WORD)
}
"""The English for what follows the English root, by the Japanese."""


def in_english(line: str) -> str:
    """Return the line with a command's English name where it begins with the Japanese one, and spaces in half
    width there; else as it is."""
    found = _NAME.match(line)
    if found is None:
        return line
    typed = fold(found["root"])
    root = _ROOTS.get(typed, typed)
    word = _WORDS.get((root, fold(found["word"])), found["word"])
    if (root, word) == (typed, found["word"]):
        return line
    gap, end = (found[each].replace(_WIDE_SPACE, " ") for each in ("gap", "end"))
    return f"/{root}{gap}{word}{end}{line[found.end() :]}"


# ---- parsing ---------------------------------------------------------------------------------------------

_ALIASES: Final = {"quit": "exit"}
_GROUPS: Final = {
    "admin": ("admin tools", "admin tools"),
    "agent": ("agent list", "agent use"),
    "remind": ("remind list", "remind add"),
    "privacy": ("privacy show", "privacy show"),
}
"""What each does without a further word, and the command whose usage is told for a word that none has."""

_log = structlog.get_logger(__name__)


@dataclass(frozen=True, slots=True)
class CommandCall:
    """A command, and what it is to be run with."""

    command: Command
    arguments: Mapping[str, object]


def parse(line: str) -> CommandCall | None:
    """Return what the line asks for; None when it is blank. Raises InvalidCommand."""
    text = line.strip()
    if not text:
        return None
    if text[0] not in "/／":
        return CommandCall(COMMANDS["ask"], {"question": text, "temporary": False})
    english = in_english(text)
    first, rest = split(english[1:]) if english[1:2].strip() else ("", english[1:])
    name, second = first, ""
    if first == "memory" or first in _GROUPS:
        second, rest = split(rest)
        name = f"{first} {second}" if second else _GROUPS.get(first, ("",))[0]
    found = COMMANDS.get(_ALIASES.get(name, name))
    if found is not None:
        return CommandCall(found, found.read(rest))
    if first in _GROUPS:
        raise COMMANDS[_GROUPS[first][1]].usage_mistake(second)
    raise _unknown_name(text, first, second or split(rest)[0])


def _unknown_name(typed: str, first: str, second: str) -> InvalidCommand:
    """Return what to say of a name that is none: the nearest that is one. What follows `memory` is compared
    with its commands, all else with every pair of words and then with every word."""
    names = {name: english for english in COMMANDS for name in (JAPANESE[english], english)}
    if first == "memory":
        words = {name.split()[1]: each for name, each in names.items() if each.startswith("memory ")}
        if found := _nearest(second, words):
            return _no_such_command(" ".join(typed.split()[:2]), words[found])
        return InvalidCommand(lambda texts: texts.terminal.memory_needs_more)
    pairs = {name: english for name, english in names.items() if " " in name}
    listed = {root: found for root, (found, _) in _GROUPS.items()} | {"memory": "memory list"}
    groups = {name.split()[0]: listed[each.split()[0]] for name, each in pairs.items()}
    words = groups | {name.split()[-1]: each for name, each in reversed(names.items())}
    for attempt, known in ((f"{first} {second}", pairs if second else {}), (first, words)):
        if found := _nearest(attempt, known):
            return _no_such_command(typed.split(maxsplit=1)[0], known[found])
    return _no_such_command(typed.split(maxsplit=1)[0])


def _no_such_command(typed: str, nearest: str = "") -> InvalidCommand:
    given = one_line(typed, 40)
    if not nearest:
        return InvalidCommand(lambda words: words.terminal.unknown.format(given=given))
    return InvalidCommand(
        lambda words: words.terminal.unknown_near.format(given=given, nearest=f"/{nearest}")
    )


def _nearest(attempt: str, names: Iterable[str]) -> str | None:
    """Return the name that begins like the attempt, or else differs from it by a slip."""
    if len(attempt) > 1:
        for name in names:
            if name.startswith(attempt):
                return name
    return next(iter(get_close_matches(attempt, [*names], n=1, cutoff=0.7)), None)


# ---- running ---------------------------------------------------------------------------------------------


class Runner:
    """A chat in which one thing happens at a time."""

    def __init__(self, chat: Chat) -> None:
        self._chat = chat
        self._scheduler = Scheduler(chat.stores.schedules, places=["terminal"], user_id=chat.user_id)
        self._busy = asyncio.Lock()
        self._caught_up = False
        """Whether the user knows of the calls under which an earlier chat was ended."""

    async def run(self, line: str) -> bool:
        """Do what the line asks for. Return False when it asked to leave."""
        if not line.strip():
            return True
        async with self._busy:
            self._chat.person = await self._chat.read_person()
            if not self._caught_up:
                await self._catch_up()
            return await self._run(line)

    async def remind(self, show: Show) -> None:
        """Say what is due, between answers."""
        async with self._busy:
            await say_due(self._chat, self._scheduler, show)

    async def keep_reminding(self, show: Show) -> None:
        """Say whatever comes due, each in its time, until that is stopped."""
        await self._scheduler.wait()
        while not self._scheduler.stopped:
            await self.remind(show)
            await self._scheduler.wait()

    def stop_reminding(self) -> None:
        """Say nothing more. What is claimed just now is said: cancelled, nobody would."""
        self._scheduler.stop()

    async def _catch_up(self) -> None:
        try:
            await conversation.tell_of_unfinished_calls(self._chat)
            self._caught_up = True
        except StorageError as error:  # the command itself will say that the database does not answer
            _log.warning("calls_not_told", error=type(error).__name__)

    async def _run(self, line: str) -> bool:
        chat, words, name = self._chat, self._chat.texts, ""
        try:
            if call := parse(line):
                name = call.command.name
                await call.command.run(chat, **call.arguments)
        except InvalidCommand as mistake:
            chat.complain(mistake.explain(words))
        except CcBotError as error:
            moment = moments_for(chat.person, chat.stores.usage.now())
            chat.complain(for_operator(error, words, moment))
        except OSError:
            raise  # the terminal or the pipe is gone: there is nobody to tell
        except Exception as error:  # noqa: BLE001 - one broken command must not end the chat
            _log.error("command_failed", command=name, error=type(error).__name__)
            chat.complain(explain(CcBotError(), words))
        return name != "exit"


def for_operator(error: CcBotError, words: Texts, moment: Callable[[datetime], str]) -> str:
    """The sentence about an error for the operator, who can change the settings."""
    said = words.terminal
    sentences: dict[type[CcBotError], str] = {
        ModelNotFound: said.model_not_found,
        ModelRefusedKey: said.model_refused_key,
        ModelRefusedRequest: said.model_refused_request,
        ModelUnreachable: said.model_unreachable,
    }
    if sentence := sentences.get(type(error)):
        return sentence.format(**error.params)
    return explain(error, words, moment).replace(words.errors.tell_operator, said.ask_doctor)
