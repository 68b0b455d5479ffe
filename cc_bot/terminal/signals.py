"""Signals and keys while the program is not waiting for a line."""

import asyncio
import contextlib
import signal
import sys
from collections.abc import Callable, Iterator, Mapping


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
