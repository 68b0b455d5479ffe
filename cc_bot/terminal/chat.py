"""`cc-bot chat`: lines in, answers out, in front of a person or in a pipe."""

import asyncio
import errno
import os
import sys
from collections.abc import AsyncIterator, Callable, Coroutine
from contextlib import AbstractContextManager, asynccontextmanager, nullcontext
from io import TextIOWrapper
from typing import Final

from rich.console import Console
from rich.theme import Theme

from cc_bot.agents import Agents
from cc_bot.assistant import Assistant
from cc_bot.privacy import Privacy
from cc_bot.stores import Stores
from cc_bot.terminal.completion import ChatCompleter
from cc_bot.terminal.history import open_history
from cc_bot.terminal.input_line import InputLine
from cc_bot.terminal.line_breaks import wrapped
from cc_bot.terminal.piped import PipedLines
from cc_bot.terminal.plain import PlainView
from cc_bot.terminal.profile import ChatProfile
from cc_bot.terminal.reminding import Show
from cc_bot.terminal.rich_view import RichView
from cc_bot.terminal.runner import Runner
from cc_bot.terminal.signals import handled, quiet_keyboard
from cc_bot.texts import Texts

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
