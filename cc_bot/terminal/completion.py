"""What the Tab key offers: commands with what they do, and the memories that a number or a word points to."""

from collections.abc import AsyncGenerator, Awaitable, Callable, Iterable, Iterator
from typing import Final, get_args

from prompt_toolkit.completion import CompleteEvent, Completer, Completion, PathCompleter
from prompt_toolkit.document import Document

from cc_bot.domain.errors import StorageError
from cc_bot.domain.memory import Memory
from cc_bot.domain.timezones import matching
from cc_bot.stores import MemoryStore
from cc_bot.terminal.commands import CommandName
from cc_bot.terminal.mistakes import manual
from cc_bot.terminal.names import JAPANESE, folded, in_english
from cc_bot.terminal.printable import one_line
from cc_bot.terminal.view import tag_words
from cc_bot.texts import Texts

MEMORIES_OFFERED: Final = 25
_CHOOSE: Final = tuple(f"/memory {name} " for name in ("show", "edit", "pin", "undo", "delete"))
_DECIDE: Final = ("/accept ", "/decline ")
_FILE: Final = ("/attach ", "/memory import ", "/memory export ")
_AGENT: Final = "/agent use "
_LANGUAGE: Final = "/settings language "
_TIMEZONE: Final = "/settings timezone "
_WORD: Final = (_AGENT, _LANGUAGE)


class ChatCompleter(Completer):
    """Completes a line that begins with a slash. `texts` answers in the language of the moment, `agents` with
    the names of those that there are, `proposed` with what waits for a decision."""

    def __init__(
        self,
        memories: MemoryStore,
        user_id: int,
        texts: Callable[[], Awaitable[Texts]],
        agents: Callable[[], Awaitable[Iterable[str]]],
        proposed: Callable[[], Awaitable[Iterable[tuple[int, str]]]],
    ) -> None:
        self._memories = memories
        self._user_id = user_id
        self._texts = texts
        self._agents = agents
        self._proposed = proposed
        self._paths = PathCompleter(expanduser=True)

    def get_completions(
        self,
        document: Document,  # noqa: ARG002 - the signature is prompt_toolkit's
        complete_event: CompleteEvent,  # noqa: ARG002 - likewise
    ) -> Iterable[Completion]:
        return ()  # the database can only be asked asynchronously

    async def get_completions_async(
        self, document: Document, complete_event: CompleteEvent
    ) -> AsyncGenerator[Completion, None]:
        typed = in_english(document.text_before_cursor)
        if command := next(filter(typed.startswith, _CHOOSE), None):
            word = typed.removeprefix(command)
            for memory in await self._matching(word.strip()):
                yield _memory_completion(memory, word)
        elif command := next(filter(typed.startswith, _DECIDE), None):
            for completion in _numbers(await self._proposed(), typed.removeprefix(command)):
                yield completion
        elif command := next(filter(typed.startswith, _FILE), None):
            path = Document(typed.removeprefix(command))
            for completion in self._paths.get_completions(path, complete_event):
                yield completion
        elif typed.startswith(_TIMEZONE):
            word = typed.removeprefix(_TIMEZONE)
            for name in (*(["default"] if "default".startswith(word) else []), *matching(word)):
                yield Completion(name, start_position=-len(word))
        elif command := next(filter(typed.startswith, _WORD), None):
            for completion in _words(await self._known(command), typed.removeprefix(command)):
                yield completion
        elif typed.startswith(("/", "／")):
            for completion in _commands(document.text_before_cursor, await self._texts()):
                yield completion

    async def _known(self, command: str) -> Iterable[str]:
        return await self._agents() if command == _AGENT else ("ja", "en", "default")

    async def _matching(self, word: str) -> list[Memory]:
        """The memories whose number or text the word is part of; the newest when there is no word."""
        try:
            return await self._memories.matching(self._user_id, word, limit=MEMORIES_OFFERED)
        except StorageError:
            return []  # the command itself will say so


def _memory_completion(memory: Memory, typed: str) -> Completion:
    about = " ".join(filter(None, (one_line(memory.content, 60), tag_words(memory))))
    return _numbered(memory.number, typed, about)


def _numbered(number: int, typed: str, about: str) -> Completion:
    return Completion(str(number), start_position=-len(typed), display=f"#{number}", display_meta=about)


def _commands(typed: str, words: Texts) -> Iterator[Completion]:
    """Those that begin as typed: under their Japanese names for whoever types Japanese, if only the slash."""
    names: tuple[CommandName, ...] = get_args(CommandName)
    begun, japanese = folded(typed), typed.startswith("／") or not typed.isascii()
    for command in names:
        name = JAPANESE[command] if japanese else command
        if f"/{name}".startswith(begun):
            shown = manual(command, words)
            takes_more = shown.usage != f"/{command}"
            yield Completion(
                f"/{name} " if takes_more else f"/{name}",
                start_position=-len(typed),
                display=f"/{name}",
                display_meta=shown.summary,
            )


def _numbers(known: Iterable[tuple[int, str]], typed: str) -> Iterator[Completion]:
    for number, about in known:
        if str(number).startswith(typed.strip().lstrip("#＃")):
            yield _numbered(number, typed, about)


def _words(known: Iterable[str], typed: str) -> Iterator[Completion]:
    for word in known:
        if typed.casefold() in word.casefold():
            yield Completion(word, start_position=-len(typed))
