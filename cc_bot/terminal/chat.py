import asyncio
import contextlib
import errno
import io
import os
import sys
import threading
import unicodedata
from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Callable, Iterable, Iterator
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Final

import structlog
from prompt_toolkit import PromptSession
from prompt_toolkit.application import run_in_terminal
from prompt_toolkit.completion import CompleteEvent, Completer, Completion
from prompt_toolkit.document import Document
from prompt_toolkit.formatted_text import HTML
from prompt_toolkit.history import DummyHistory, FileHistory, History
from prompt_toolkit.input.typeahead import clear_typeahead
from prompt_toolkit.key_binding import KeyBindings, KeyPressEvent
from prompt_toolkit.styles import Style

from cc_bot.chat.assistant import Assistant
from cc_bot.chat.parts import Parts
from cc_bot.chat.reply import Reply
from cc_bot.concurrency import cancel_tasks, handle_signals
from cc_bot.domain.errors import OutputLost, StorageError
from cc_bot.features import modules
from cc_bot.features.memory.secrets import looks_secret
from cc_bot.terminal.commands import Chat, ChatProfile, list_completions, report_unfinished_calls, run_line
from cc_bot.terminal.view import PlainView, RichView
from cc_bot.texts import Texts
from cc_bot.texts.cli import TerminalTexts

if sys.platform != "win32":
    import termios

_log = structlog.get_logger(__name__)


class ChatCompleter(Completer):
    def __init__(self, chat: Chat) -> None:
        self._chat = chat

    def get_completions(self, document: Document, complete_event: CompleteEvent) -> Iterable[Completion]:  # noqa: ARG002
        return ()  # database calls are async

    async def get_completions_async(
        self,
        document: Document,
        complete_event: CompleteEvent,  # noqa: ARG002 - the signature is prompt_toolkit's
    ) -> AsyncGenerator[Completion, None]:
        with contextlib.suppress(StorageError):  # the command reports it
            for each in await list_completions(self._chat, document.text_before_cursor):
                yield each


class TypedHistory(FileHistory):
    """Typed lines, in a file that only its owner can read, or in memory if that fails."""

    def __init__(self, file: Path | None) -> None:
        try:
            os.close(os.open(file or os.devnull, os.O_CREAT | os.O_APPEND | os.O_WRONLY, 0o600))
            if file:
                file.chmod(0o600)
        except OSError:
            file = None
        super().__init__(str(file or os.devnull))

    def store_string(self, string: str) -> None:
        with contextlib.suppress(OSError):  # such as a full disk
            if not looks_secret(string):
                super().store_string(string)


_STYLE: Final = Style.from_dict({"mark": "ansicyan bold", "bottom-toolbar": "noreverse ansigray"})


class InputLine:
    """Reads input: Enter sends, Alt+Enter starts a new line, Ctrl-C clears, Ctrl-D on an empty line ends."""

    def __init__(self, completer: Completer, history: History) -> None:
        self._session: PromptSession[str] = PromptSession(
            [("class:mark", "> ")],
            completer=completer,
            history=history,
            key_bindings=_key_bindings(),
            prompt_continuation="  ",
            reserve_space_for_menu=6,
            style=_STYLE,
            include_default_pygments_style=False,
        )

    async def read(self, texts: Texts) -> str | None:
        words = texts[TerminalTexts]
        keys = HTML("<ansicyan>Enter</ansicyan> {}  <ansicyan>/help  Ctrl-D</ansicyan> {}")
        try:
            return await self._session.prompt_async(bottom_toolbar=keys.format(words.send, words.leave))
        except EOFError:
            return None


def _key_bindings() -> KeyBindings:
    keys = KeyBindings()

    @keys.add("escape", "enter")
    def new_line(event: KeyPressEvent) -> None:
        event.current_buffer.insert_text("\n")

    @keys.add("c-c")
    @keys.add("<sigint>")
    def clear(event: KeyPressEvent) -> None:
        event.current_buffer.reset()

    return keys


YES_ANSWERS: Final = frozenset({"y", "yes", "はい"})


async def _ask_line(question: str) -> str | None:
    """Return the answer; None for Ctrl-C and Ctrl-D. Drops earlier keystrokes."""
    session = PromptSession[str](history=DummyHistory())
    clear_typeahead(session.input)
    if sys.platform != "win32":
        termios.tcflush(sys.stdin, termios.TCIFLUSH)
    try:
        return await session.prompt_async(f"{question} ")
    except (EOFError, KeyboardInterrupt):
        return None


@contextlib.contextmanager
def _silence_keyboard() -> Iterator[None]:
    """Turn echo off, and keep keystrokes for the next line."""
    if sys.platform == "win32":
        yield
        return
    before = termios.tcgetattr(sys.stdin)
    silent = [*before]
    silent[3] = (before[3] & ~termios.ECHO) | termios.NOFLSH
    termios.tcsetattr(sys.stdin, termios.TCSANOW, silent)
    try:
        yield
    finally:
        with contextlib.suppress(termios.error):  # the terminal may be gone
            termios.tcsetattr(sys.stdin, termios.TCSANOW, before)


async def _read_piped(file: io.FileIO) -> str | None:
    """Return a line; None at the end. A daemon thread and an unbuffered file let the program exit."""
    loop = asyncio.get_running_loop()
    line: asyncio.Future[bytes] = loop.create_future()

    def set_line(content: bytes) -> None:
        if not line.done():
            line.set_result(content)

    def read() -> None:
        try:
            content = file.readline()
        except OSError:  # such as a folder as standard input
            content = b""
        with contextlib.suppress(RuntimeError):  # the loop is closed: the program is ending
            loop.call_soon_threadsafe(set_line, content)

    threading.Thread(target=read, daemon=True).start()
    content = await line
    return content.decode("utf-8-sig", "replace") if content else None


ReadLine = Callable[[], Awaitable[str | None]]


@dataclass(eq=False)
class _Shutdown:
    assistant: Assistant
    requested: asyncio.Event = field(default_factory=asyncio.Event)
    _drain: asyncio.Task[None] | None = None  # stops the current answer

    def request(self) -> None:
        self.requested.set()
        self._drain = self._drain or asyncio.create_task(self.assistant.turns.drain(0))

    async def lines(self, read: ReadLine) -> AsyncIterator[str]:
        while (line := await self.read_line(read)) is not None:
            yield line

    async def read_line(self, read: ReadLine) -> str | None:
        """Return the next line; None at the end of the input, and on shutdown."""
        reading, requested = asyncio.ensure_future(read()), asyncio.create_task(self.requested.wait())
        try:
            await asyncio.wait((reading, requested), return_when=asyncio.FIRST_COMPLETED)
            return None if self.requested.is_set() else reading.result()
        finally:
            await cancel_tasks(reading, requested)


LineContext = Callable[[], AbstractContextManager[None]]  # entered while a line runs


@dataclass(eq=False)
class Conversation:
    """Runs one line at a time. Features hold `busy` while they print."""

    chat: Chat
    busy: asyncio.Lock = field(default_factory=asyncio.Lock)

    async def run(self, line: str) -> bool:
        """Run a line. Returns False if it ends the chat."""
        async with self.busy:
            return await run_line(self.chat, line)

    async def converse(self, lines: AsyncIterator[str], line_context: LineContext) -> None:
        with contextlib.suppress(StorageError):  # the first question reports it
            await report_unfinished_calls(self.chat)
        async with contextlib.AsyncExitStack() as stack:
            for module in modules("terminal"):
                if hasattr(module, "run_during_chat"):
                    await stack.enter_async_context(module.run_during_chat(self))
            async for line in lines:
                with line_context():
                    if not await self.run(line):
                        return

    async def say(self, text: str) -> None:
        await run_in_terminal(partial(self.chat.view.say, text))


async def run_chat(parts: Parts, profile: ChatProfile) -> bool:
    """Chat on standard input and output until the end. Returns False if a piped line failed."""
    shutdown = _Shutdown(parts.assistant)
    try:
        if sys.stdin.isatty() and sys.stdout.isatty():
            view = RichView()
            await _chat_with_person(Chat(parts, profile, view), shutdown, view)
            return True
        piped = PlainView(sys.stdout, sys.stderr)
        file = io.FileIO(sys.stdin.fileno(), closefd=False)
        lines = shutdown.lines(partial(_read_piped, file))
        with handle_signals(dict.fromkeys(("SIGINT", "SIGTERM", "SIGHUP"), shutdown.request)):
            chat = Chat(parts, profile, piped)
            await Conversation(chat).converse(lines, nullcontext)
        return shutdown.requested.is_set() or not piped.failed
    except OSError as error:
        if error.errno not in (errno.EPIPE, errno.EIO, errno.ENOSPC):  # not a closed pipe or terminal
            raise
        # Otherwise Python would flush at exit and report an error.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        if error.errno == errno.ENOSPC:
            raise OutputLost(reason=os.strerror(errno.ENOSPC)) from None
        return True


async def _chat_with_person(chat: Chat, shutdown: _Shutdown, view: RichView) -> None:
    await chat.load_settings()
    words = chat.texts[TerminalTexts]
    line = InputLine(ChatCompleter(chat), TypedHistory(chat.profile.history_file))

    async def confirm(question: str) -> bool:
        typed = await shutdown.read_line(partial(_ask_line, question)) or ""
        return unicodedata.normalize("NFKC", typed).strip().casefold() in YES_ANSWERS

    chat.confirm = confirm
    start = [words.name.format(model=chat.profile.model_label)]
    with contextlib.suppress(StorageError):  # the first question reports it
        counting = (module for module in modules("terminal") if hasattr(module, "count_stored"))
        start += [count for module in counting if (count := await module.count_stored(chat))]
    notes = (words.no_key.format(path=chat.profile.dotenv),) if chat.profile.offline else ()
    view.say(" · ".join(start), style="bold")
    view.show_reply(Reply(title=words.try_this, notes=notes), words.examples)
    lines = shutdown.lines(lambda: line.read(chat.texts))
    with handle_signals({"SIGINT": chat.stop, "SIGTERM": shutdown.request, "SIGHUP": shutdown.request}):
        await Conversation(chat).converse(lines, _silence_keyboard)
    view.say(chat.texts[TerminalTexts].goodbye, style="dim")
