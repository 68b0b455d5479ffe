"""`cc-bot chat`: lines in, answers out, in front of a person or in a pipe."""

import asyncio
import codecs
import contextlib
import errno
import os
import signal
import sys
import threading
from collections.abc import (
    AsyncGenerator,
    AsyncIterator,
    Awaitable,
    Callable,
    Coroutine,
    Iterable,
    Iterator,
    Mapping,
    Sequence,
)
from contextlib import AbstractContextManager, asynccontextmanager, nullcontext
from io import TextIOWrapper
from itertools import chain, repeat
from pathlib import Path
from queue import SimpleQueue
from typing import Final, get_args

from prompt_toolkit import PromptSession
from prompt_toolkit.application import run_in_terminal
from prompt_toolkit.completion import CompleteEvent, Completer, Completion, PathCompleter
from prompt_toolkit.document import Document
from prompt_toolkit.formatted_text import AnyFormattedText
from prompt_toolkit.history import FileHistory, History
from prompt_toolkit.input import Input
from prompt_toolkit.key_binding import KeyBindings, KeyPressEvent
from prompt_toolkit.output import Output
from prompt_toolkit.styles import Style
from prompt_toolkit.utils import get_cwidth
from rich.console import Console
from rich.theme import Theme

from cc_bot.agents import Agents
from cc_bot.assistant import Assistant
from cc_bot.domain.errors import StorageError
from cc_bot.domain.memory import Memory
from cc_bot.domain.timezones import matching
from cc_bot.privacy import Privacy
from cc_bot.stores import MemoryStore, Stores
from cc_bot.terminal.commands import Ask, CommandName
from cc_bot.terminal.line_breaks import wrapped
from cc_bot.terminal.markdown import one_line
from cc_bot.terminal.names import JAPANESE, folded, in_english
from cc_bot.terminal.parsing import manual, parse
from cc_bot.terminal.person import ChatProfile
from cc_bot.terminal.plain import PlainView
from cc_bot.terminal.reminding import Show
from cc_bot.terminal.rich_view import RichView
from cc_bot.terminal.runner import Runner
from cc_bot.terminal.view import tag_words
from cc_bot.texts import Texts

# ---- completion ------------------------------------------------------------------------------------------
# What the Tab key offers: commands with what they do, and the memories that a number or a word points to.

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


# ---- history ---------------------------------------------------------------------------------------------
# What was typed, for the up arrow of the next chat: in a file that only its user can read.


def open_history(file: Path | None) -> "TypedHistory":
    """A history in this file; in memory alone when there is none or it can't be written."""
    if file is None:
        return TypedHistory(os.devnull)
    try:
        os.close(os.open(file, os.O_CREAT | os.O_APPEND | os.O_WRONLY, 0o600))
        file.chmod(0o600)
    except OSError:
        return TypedHistory(os.devnull)
    return TypedHistory(str(file))


class TypedHistory(FileHistory):
    def forget(self) -> None:
        """Nothing was ever typed: here, and for the next chat."""
        self._loaded_strings = []
        with contextlib.suppress(OSError):
            os.truncate(self.filename, 0)

    def load_history_strings(self) -> Iterable[str]:
        try:
            return list(super().load_history_strings())
        except OSError:
            return []

    def store_string(self, string: str) -> None:
        command = parse(string)
        if isinstance(command, Ask) and command.temporary:
            return  # of a temporary question nothing is kept
        with contextlib.suppress(OSError):  # a full disk is no reason to end the chat
            super().store_string(string)


# ---- input line ------------------------------------------------------------------------------------------
# The line that a person types into.

_STYLE = Style.from_dict(
    {"mark": "ansicyan bold", "attached": "ansigray", "bottom-toolbar": "noreverse ansigray"}
)


class InputLine:
    """Reads lines: Enter sends, Alt+Enter starts a new line, Ctrl-C clears, Ctrl-D on an empty line ends."""

    def __init__(
        self,
        completer: Completer,
        history: History,
        *,
        input: Input | None = None,  # noqa: A002 - as prompt_toolkit names it
        output: Output | None = None,
    ) -> None:
        self._session: PromptSession[str] = PromptSession(
            completer=completer,
            history=history,
            multiline=True,
            complete_while_typing=True,
            key_bindings=_keys(),
            prompt_continuation="  ",
            reserve_space_for_menu=6,
            style=_STYLE,
            include_default_pygments_style=False,
            input=input,
            output=output,
        )

    async def read(self, words: Texts, attached: Sequence[str]) -> str | None:
        """The next line; None when there will be none."""
        columns = self._session.output.get_size().columns
        try:
            return await self._session.prompt_async(
                _prompt(attached), bottom_toolbar=[("", hint(words, columns))]
            )
        except EOFError:
            return None

    async def above(self, show: Callable[[], None]) -> None:
        """Have something printed above the line that is being typed, if any."""
        if self._session.app.is_running:
            await run_in_terminal(show)
        else:
            show()


def hint(words: Texts, columns: int) -> str:
    """The keys worth knowing, as many of them as fit."""
    terminal = words.terminal
    shown = ""
    for part in (
        f"Enter {terminal.send}",
        f"Alt+Enter {terminal.new_line}",
        "/help",
        f"Ctrl-D {terminal.leave}",
    ):
        longer = f"{shown}  {part}".strip()
        if get_cwidth(longer) < columns:
            shown = longer
    return shown


def _prompt(attached: Sequence[str]) -> AnyFormattedText:
    files = [("class:attached", f"📎 {', '.join(one_line(name, 30) for name in attached)}\n")]
    return [*(files if attached else []), ("class:mark", "> ")]


def _keys() -> KeyBindings:
    keys = KeyBindings()

    @keys.add("enter")
    def send(event: KeyPressEvent) -> None:
        event.current_buffer.validate_and_handle()

    @keys.add("escape", "enter")
    def new_line(event: KeyPressEvent) -> None:
        event.current_buffer.insert_text("\n")

    @keys.add("c-c")
    @keys.add("<sigint>")
    def clear(event: KeyPressEvent) -> None:
        event.current_buffer.reset()

    return keys


# ---- piped -----------------------------------------------------------------------------------------------
# Lines from a pipe or a file, read beside the event loop.
#
# An event loop can wait for a pipe but not for a file, and a thread of the loop's own pool that waits for a
# pipe keeps the program from ending. So a daemon thread reads, straight from the descriptor: one that sleeps
# inside Python's buffered stdin would be caught holding its lock when the interpreter goes.

_CHUNK = 65536


class PipedLines:
    """The lines of a file descriptor as UTF-8; bytes that are none become U+FFFD."""

    def __init__(self, descriptor: int) -> None:
        self._descriptor = descriptor
        self._wanted: SimpleQueue[asyncio.Future[str | None]] = SimpleQueue()
        self._thread = threading.Thread(target=self._pump, daemon=True)

    async def read(self) -> str | None:
        """The next line without its end; None after the last."""
        if self._thread.ident is None:
            self._thread.start()
        wanted = asyncio.get_running_loop().create_future()
        self._wanted.put(wanted)
        line: str | None = await wanted
        return line

    def _pump(self) -> None:
        """Hand out a line for each one that is wanted, and no more: the rest stays in the pipe."""
        for line in chain(read_lines(self._descriptor), repeat(None)):
            wanted = self._wanted.get()
            try:
                wanted.get_loop().call_soon_threadsafe(_give, wanted, line)
            except RuntimeError:  # the loop is closed: the program is ending
                return


def _give(wanted: asyncio.Future[str | None], line: str | None) -> None:
    if not wanted.done():
        wanted.set_result(line)


def read_lines(descriptor: int) -> Iterator[str]:
    """Every line until the end, the last one also without a line end."""
    decode = codecs.getincrementaldecoder("utf-8-sig")(errors="replace").decode
    rest = ""
    while chunk := os.read(descriptor, _CHUNK):
        *lines, rest = (rest + decode(chunk)).split("\n")
        yield from (line.removesuffix("\r") for line in lines)
    rest += decode(b"", final=True)
    if rest:
        yield rest


# ---- signals ---------------------------------------------------------------------------------------------
# Signals and keys while the program is not waiting for a line.


@contextlib.contextmanager
def handled(handlers: Mapping[str, Callable[[], None]]) -> Iterator[None]:
    """Call these in the event loop when a signal of that name comes; names that a system lacks are left out.

    By `signal.signal`, since Windows' loops know no `add_signal_handler` and since what asyncio set before
    has to be put back as it was.
    """
    loop = asyncio.get_running_loop()
    before = {}
    for name, handler in handlers.items():
        if number := getattr(signal, name, None):
            before[number] = signal.getsignal(number)
            signal.signal(number, _into(loop, handler))
    try:
        yield
    finally:
        for number, previous in before.items():
            signal.signal(number, previous)


def _into(loop: asyncio.AbstractEventLoop, handler: Callable[[], None]) -> Callable[[int, object], None]:
    def on_signal(_number: int, _frame: object) -> None:
        loop.call_soon_threadsafe(handler)

    return on_signal


@contextlib.contextmanager
def quiet_keyboard() -> Iterator[None]:
    """What is typed meanwhile is not echoed into what is being drawn and waits for the next line, also when
    Ctrl-C comes after it."""
    if sys.platform == "win32" or not sys.stdin.isatty():
        yield
        return
    import termios  # noqa: PLC0415 - not on Windows

    descriptor = sys.stdin.fileno()
    before = termios.tcgetattr(descriptor)
    silent = [*before]
    silent[3] = (before[3] & ~termios.ECHO) | termios.NOFLSH
    termios.tcsetattr(descriptor, termios.TCSANOW, silent)
    try:
        yield
    finally:
        with contextlib.suppress(termios.error):  # the terminal may be gone
            termios.tcsetattr(descriptor, termios.TCSANOW, before)


# ---- chat ------------------------------------------------------------------------------------------------

_GONE: Final = {errno.EPIPE, errno.EIO}
_THEME: Final = Theme({"markdown.code": "bold cyan"})
"""Without rich's black behind code, which is a bar of ink on a light terminal."""

Read = Callable[[], Coroutine[None, None, str | None]]


async def run_chat(
    assistant: Assistant,
    stores: Stores,
    profile: ChatProfile,
    *,
    agents: Agents | None = None,
    privacy: Privacy | None = None,
) -> bool:
    """Chat on this process's standard streams until the user leaves or the input ends. `agents`: who can
    answer; None: the default one alone. `privacy`: None: nothing is deleted for its age.

    Whether all that came through a pipe was done: whoever wrote it reads no complaints.

    Returns also when a signal asks the program to end, which cuts the running answer and keeps what came
    of it, and when whoever read the output has gone away.
    """
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, TextIOWrapper):
            stream.reconfigure(encoding="utf-8", errors="replace")
    try:
        if sys.stdin is None:  # closed by whoever started the program: there is nothing to read
            return True
        if not sys.stdin.isatty() or not sys.stdout.isatty():
            return await _in_a_pipe(assistant, stores, profile, agents, privacy)
        await _with_a_person(assistant, stores, profile, agents, privacy)
    except OSError as error:
        if error.errno not in _GONE:
            raise
        # At exit Python would try to write what is left, and complain.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    return True


async def _with_a_person(
    assistant: Assistant,
    stores: Stores,
    profile: ChatProfile,
    agents: Agents | None,
    privacy: Privacy | None,
) -> None:
    console = Console(highlight=False, markup=False, emoji=False, theme=_THEME)
    typed = open_history(profile.history_file)
    runner = Runner(
        assistant,
        stores,
        profile,
        RichView(console),
        agents=agents,
        privacy=privacy,
        forget_typed=typed.forget,
    )
    ending = _Ending(assistant)

    async def words() -> Texts:
        return (await runner.person()).texts

    line = InputLine(
        ChatCompleter(stores.memories, profile.key.user_id, words, runner.agents.names, runner.proposed),
        typed,
    )

    async def read() -> str | None:
        return await line.read(await words(), runner.attached)

    console.print(wrapped((await words()).terminal.greeting.format(model=profile.model_label), style="dim"))
    console.print()
    with handled({"SIGINT": runner.stop, "SIGTERM": ending.begin, "SIGHUP": ending.begin}):
        async with _reminded(runner, line.above):
            await _converse(read, runner, ending, quiet_keyboard)
    console.print(wrapped((await words()).terminal.goodbye, style="dim"))


async def _in_a_pipe(
    assistant: Assistant,
    stores: Stores,
    profile: ChatProfile,
    agents: Agents | None,
    privacy: Privacy | None,
) -> bool:
    view = PlainView(sys.stdout, sys.stderr)
    runner = Runner(
        assistant,
        stores,
        profile,
        view,
        agents=agents,
        privacy=privacy,
        forget_typed=lambda: open_history(profile.history_file).forget(),
    )
    ending = _Ending(assistant)
    lines = PipedLines(sys.stdin.fileno())
    with handled({"SIGINT": ending.begin, "SIGTERM": ending.begin, "SIGHUP": ending.begin}):
        async with _reminded(runner, _at_once):
            await _converse(lines.read, runner, ending, nullcontext)
    return ending.begun or not view.complained


async def _at_once(show: Callable[[], None]) -> None:
    show()


@asynccontextmanager
async def _reminded(runner: Runner, show: Show) -> AsyncIterator[None]:
    """Say what is due first of all, and then whatever comes due."""
    await runner.remind(show)
    reminding = asyncio.create_task(runner.keep_reminding(show))
    try:
        yield
    finally:
        runner.stop_reminding()
        await asyncio.gather(reminding, return_exceptions=True)  # whoever read the output may be gone


async def _converse(
    read: Read, runner: Runner, ending: "_Ending", running: Callable[[], AbstractContextManager[None]]
) -> None:
    """Run line after line, each inside `running`, until there is none or the program is to end."""
    while (line := await ending.unless_begun(read)) is not None:
        with running():
            if not await runner.run(line):
                return


class _Ending:
    """The program has been asked to end: the running answer is cut, and no more lines are read."""

    def __init__(self, assistant: Assistant) -> None:
        self._assistant = assistant
        self._begun = asyncio.Event()
        self._draining: asyncio.Task[None] | None = None

    def begin(self) -> None:
        if self._draining is None:
            self._begun.set()
            self._draining = asyncio.create_task(self._assistant.drain(0))

    @property
    def begun(self) -> bool:
        return self._begun.is_set()

    async def unless_begun(self, read: Read) -> str | None:
        """What `read` gives; None when the end comes first."""
        if self.begun:
            return None
        reading = asyncio.create_task(read())
        begun = asyncio.create_task(self._begun.wait())
        try:
            await asyncio.wait((reading, begun), return_when=asyncio.FIRST_COMPLETED)
            return reading.result() if reading.done() else None
        finally:
            reading.cancel()
            begun.cancel()
            await asyncio.gather(reading, begun, return_exceptions=True)
