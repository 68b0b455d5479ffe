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
    Callable,
    Coroutine,
    Iterable,
    Iterator,
    Mapping,
    Sequence,
)
from contextlib import AbstractContextManager, asynccontextmanager, nullcontext
from io import TextIOWrapper
from pathlib import Path
from typing import Final

from prompt_toolkit import PromptSession
from prompt_toolkit.application import run_in_terminal
from prompt_toolkit.completion import CompleteEvent, Completer, Completion
from prompt_toolkit.document import Document
from prompt_toolkit.formatted_text import AnyFormattedText
from prompt_toolkit.history import DummyHistory, FileHistory, History
from prompt_toolkit.key_binding import KeyBindings, KeyPressEvent
from prompt_toolkit.styles import Style
from prompt_toolkit.utils import get_cwidth
from rich.console import Console
from rich.theme import Theme

from cc_bot.agents import Agents
from cc_bot.assistant import Assistant
from cc_bot.domain.errors import OutputLost
from cc_bot.privacy import Privacy
from cc_bot.stores import Stores
from cc_bot.terminal.commands import Chat, ChatProfile, InvalidCommand, ListedServers, fold
from cc_bot.terminal.markdown import one_line, wrap_text
from cc_bot.terminal.plain import PlainView
from cc_bot.terminal.reminders import Show
from cc_bot.terminal.rich import RichView
from cc_bot.terminal.runner import COMMANDS, JAPANESE, Runner, in_english, parse
from cc_bot.texts import Texts

# ---- completion ------------------------------------------------------------------------------------------


class ChatCompleter(Completer):
    """Complete a line that begins with a slash."""

    def __init__(self, chat: Chat) -> None:
        self._chat = chat

    def get_completions(
        self,
        document: Document,  # noqa: ARG002 - the signature is prompt_toolkit's
        complete_event: CompleteEvent,  # noqa: ARG002 - likewise
    ) -> Iterable[Completion]:
        return ()  # the database can only be asked asynchronously

    async def get_completions_async(
        self,
        document: Document,
        complete_event: CompleteEvent,  # noqa: ARG002 - likewise
    ) -> AsyncGenerator[Completion, None]:
        typed = in_english(document.text_before_cursor)
        for name, command in COMMANDS.items():
            if command.completions and typed.startswith(f"/{name} "):
                for completion in await command.completions(self._chat, typed.removeprefix(f"/{name} ")):
                    yield completion
                return
        if typed.startswith(("/", "／")):
            for completion in _commands(document.text_before_cursor, (await self._chat.read_person()).texts):
                yield completion


def _commands(typed: str, words: Texts) -> Iterator[Completion]:
    """Yield those that begin as typed: under their Japanese names for whoever types Japanese, if only the
    slash."""
    begun, japanese = fold(typed), typed.startswith("／") or not typed.isascii()
    for english, command in COMMANDS.items():
        name = JAPANESE[english] if japanese else english
        if f"/{name}".startswith(begun):
            yield Completion(
                f"/{name} " if command.parameters else f"/{name}",
                start_position=-len(typed),
                display=f"/{name}",
                display_meta=words.terminal.commands[english],
            )


# ---- history ---------------------------------------------------------------------------------------------


def open_history(file: Path | None) -> "TypedHistory":
    """Return a history in this file; in memory alone when there is none or it can't be written."""
    if file is None:
        return TypedHistory(os.devnull)
    try:
        os.close(os.open(file, os.O_CREAT | os.O_APPEND | os.O_WRONLY, 0o600))
        file.chmod(0o600)
    except OSError:
        return TypedHistory(os.devnull)
    return TypedHistory(str(file))


class TypedHistory(FileHistory):
    """A history whose trouble ends no chat."""

    def forget(self) -> None:
        """Take back all that was ever typed: here, and for the next chat."""
        self._loaded_strings = []
        with contextlib.suppress(OSError):
            os.truncate(self.filename, 0)

    def load_history_strings(self) -> Iterable[str]:
        try:
            return list(super().load_history_strings())
        except OSError:
            return []

    def store_string(self, string: str) -> None:
        with contextlib.suppress(InvalidCommand):
            call = parse(string)
            if call and call.arguments.get("temporary"):
                return  # of a temporary question nothing is kept
        with contextlib.suppress(OSError):  # a full disk is no reason to end the chat
            super().store_string(string)


# ---- input line ------------------------------------------------------------------------------------------

_STYLE = Style.from_dict(
    {"mark": "ansicyan bold", "attached": "ansigray", "bottom-toolbar": "noreverse ansigray"}
)


class InputLine:
    """The line that a person types into: Enter sends, Alt+Enter starts a new line, Ctrl-C clears, Ctrl-D on
    an empty line ends."""

    def __init__(self, completer: Completer, history: History) -> None:
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
        )

    async def read(self, words: Texts, attached: Sequence[str]) -> str | None:
        """Return the next line; None when there will be none."""
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


async def _ask_line(label: str, default: str) -> str | None:
    """Return a line of a form, of which no history is kept; None for Ctrl-C and Ctrl-D."""
    try:
        return await PromptSession[str](history=DummyHistory()).prompt_async(label, default=default)
    except (EOFError, KeyboardInterrupt):
        return None


def hint(words: Texts, columns: int) -> str:
    """Return the keys worth knowing, as many of them as fit."""
    told, shown = words.terminal, ""
    for part in (f"Enter {told.send}", f"Alt+Enter {told.new_line}", "/help", f"Ctrl-D {told.leave}"):
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
# An event loop can wait for a pipe but not for a file, and a thread of the loop's own pool that waits for a
# pipe keeps the program from ending. So a daemon thread reads, straight from the descriptor: one that sleeps
# inside Python's buffered stdin would be caught holding its lock when the interpreter goes.

_CHUNK = 65536


class PipedLines:
    """The lines of a file descriptor as UTF-8; bytes that are none become U+FFFD."""

    def __init__(self, descriptor: int) -> None:
        self._lines = read_lines(descriptor)

    async def read(self) -> str | None:
        """Return the next line without its end; None after the last. No more is read than that takes."""
        wanted: asyncio.Future[str | None] = asyncio.get_running_loop().create_future()
        threading.Thread(target=self._hand_out, args=(wanted,), daemon=True).start()
        return await wanted

    def _hand_out(self, wanted: "asyncio.Future[str | None]") -> None:
        line = next(self._lines, None)
        with contextlib.suppress(RuntimeError):  # the loop is closed: the program is ending
            wanted.get_loop().call_soon_threadsafe(_give, wanted, line)


def _give(wanted: asyncio.Future[str | None], line: str | None) -> None:
    if not wanted.done():
        wanted.set_result(line)


def read_lines(descriptor: int) -> Iterator[str]:
    """Yield every line until the end, the last one also without a line end."""
    decode = codecs.getincrementaldecoder("utf-8-sig")(errors="replace").decode
    rest = ""
    while chunk := os.read(descriptor, _CHUNK):
        *lines, rest = (rest + decode(chunk)).split("\n")
        yield from (line.removesuffix("\r") for line in lines)
    rest += decode(b"", final=True)
    if rest:
        yield rest


# ---- signals ---------------------------------------------------------------------------------------------


@contextlib.contextmanager
def handle_signals(handlers: Mapping[str, Callable[[], None]]) -> Iterator[None]:
    """Call these in the event loop when a signal of that name comes; names that a system lacks are left out.

    By `signal.signal`, since Windows' loops know no `add_signal_handler` and since what asyncio set before
    has to be put back as it was.
    """
    loop = asyncio.get_running_loop()

    def pass_on(number: int, _frame: object) -> None:
        loop.call_soon_threadsafe(handlers[signal.Signals(number).name])

    with contextlib.ExitStack() as before:
        for name in handlers:
            if number := getattr(signal, name, None):
                before.callback(signal.signal, number, signal.signal(number, pass_on))
        yield


@contextlib.contextmanager
def silence_keyboard() -> Iterator[None]:
    """Keep what is typed meanwhile out of what is being drawn, and for the next line, also when Ctrl-C comes
    after it."""
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
    agents: Agents,
    privacy: Privacy,
    *,
    servers: ListedServers,
) -> bool:
    """Chat on this process's standard streams until the user leaves or the input ends.

    Return whether all that came through a pipe was done: whoever wrote it reads no complaints. Return also
    when a signal asks the program to end, which cuts the running answer and keeps what came of it, and when
    whoever read the output has gone away.
    """
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, TextIOWrapper):
            stream.reconfigure(encoding="utf-8", errors="replace")

    def make_chat(view: PlainView | RichView, forget_typed: Callable[[], None]) -> Chat:
        return Chat(assistant, stores, profile, view, agents, privacy, forget_typed, servers)

    try:
        if sys.stdin is None:  # closed by whoever started the program: there is nothing to read
            return True
        if not sys.stdin.isatty() or not sys.stdout.isatty():
            view = PlainView(sys.stdout, sys.stderr)
            chat = make_chat(view, lambda: open_history(profile.history_file).forget())
            ended = await _chat_through_pipe(chat)
            return ended or not view.complained
        console = Console(highlight=False, markup=False, emoji=False, theme=_THEME)
        typed = open_history(profile.history_file)
        await _chat_with_person(make_chat(RichView(console), typed.forget), console, typed)
    except OSError as error:
        if error.errno not in (*_GONE, errno.ENOSPC):
            raise
        # At exit Python would try to write what is left, and complain.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        if error.errno == errno.ENOSPC:
            raise OutputLost(reason=os.strerror(errno.ENOSPC)) from None
    return True


async def _chat_with_person(chat: Chat, console: Console, typed: History) -> None:
    runner, ending = Runner(chat), _Ending(chat.assistant)
    line = InputLine(ChatCompleter(chat), typed)

    async def read() -> str | None:
        names = [attachment.name for attachment in chat.attachments]
        return await line.read((await chat.read_person()).texts, names)

    chat.ask_line = _ask_line
    words = (await chat.read_person()).texts.terminal
    console.print(wrap_text(words.greeting.format(model=chat.profile.model_label), style="dim"))
    console.print()
    with handle_signals({"SIGINT": chat.stop, "SIGTERM": ending.begin, "SIGHUP": ending.begin}):
        async with _keep_reminding(runner, line.above):
            await _converse(read, runner, ending, silence_keyboard)
    console.print(wrap_text((await chat.read_person()).texts.terminal.goodbye, style="dim"))


async def _chat_through_pipe(chat: Chat) -> bool:
    """Return whether a signal asked the program to end."""
    runner, ending = Runner(chat), _Ending(chat.assistant)
    lines = PipedLines(sys.stdin.fileno())
    with handle_signals({"SIGINT": ending.begin, "SIGTERM": ending.begin, "SIGHUP": ending.begin}):
        async with _keep_reminding(runner, _show_at_once):
            await _converse(lines.read, runner, ending, nullcontext)
    return ending.begun


async def _show_at_once(show: Callable[[], None]) -> None:
    show()


@asynccontextmanager
async def _keep_reminding(runner: Runner, show: Show) -> AsyncIterator[None]:
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
    while (line := await ending.read_unless_begun(read)) is not None:
        with running():
            if not await runner.run(line):
                return


class _Ending:
    """The end that a signal asks for: the running answer is cut, and no more lines are read."""

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

    async def read_unless_begun(self, read: Read) -> str | None:
        """Return what `read` gives; None when the end comes first."""
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
