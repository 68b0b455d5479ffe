"""A program that stands is ended: what starts it starts it anew, and the ledger of turns does the rest.

The event loop bumps a heartbeat. When it has stood for LIMIT_S, a thread writes the stack of the loop's
thread into the log and ends the process with EXIT_STOOD. A thread is not enough: C code may hold the
interpreter's lock for as long as it likes (one match of `re` does), and no other thread runs then. So each
heartbeat also winds up an alarm of the kernel, which nobody's lock holds up: when that goes off, faulthandler
writes the stack, as plain lines, and libc ends the process with the same code. Both tell files, lines and
functions, and never a value. Windows has no such alarm: faulthandler's own thread stands in; its code is 1.

The same two end a stop that takes too long, so that SIGTERM ends the program whatever the loop does, and
whatever a thread does that the interpreter waits for at its end.

The clock is monotonic: a computer that slept does not count. A process that was frozen for longer than the
limit (Ctrl-Z, `docker pause`) does, and is ended when it goes on.

No turn should bring it to that. Things that come in are measured before anything is matched with them:
arguments of tools (tools/registry.py), memories (domain/memory.py), what a model's server sends (llm/openai)
and what a model says in a turn (assistant/rounds.py). Work that takes long all the same is done in a thread;
of Python's own work one at a time, since threads share the interpreter's lock with the loop.
"""

import asyncio
import contextlib
import ctypes
import faulthandler
import os
import signal
import socket
import sys
import threading
import time
from pathlib import PurePath
from types import FrameType
from typing import Final

import structlog

# ---- service manager -------------------------------------------------------------------------------------
# systemd is told of a service of `Type=notify` that it is ready, that it lives, that it stops.
#
# The protocol is that of sd_notify(3): one datagram a message, to the socket that NOTIFY_SOCKET names. Where
# nobody has set that, nothing is told.


class ServiceManager:
    """The program that started this one, if it wants to be told."""

    def __init__(self, address: str) -> None:
        """`address` is NOTIFY_SOCKET: a path, or `@` and a name of Linux' abstract sockets; empty: nobody."""
        self._address = f"\0{address[1:]}" if address.startswith("@") else address

    def tell(self, message: str) -> None:
        """Send a message, such as READY=1. Never waits and never raises: nothing of ours depends on it."""
        if not self._address:
            return
        with (
            contextlib.suppress(OSError, AttributeError),  # Windows has no such sockets
            socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as sender,
        ):
            sender.setblocking(False)
            sender.sendto(message.encode(), self._address)


# ---- watchdog --------------------------------------------------------------------------------------------

_log = structlog.get_logger(__name__)

EXIT_STOOD: Final = 14
"""SIGALRM's number, since that is what the handler that libc calls is handed, and the handler is `_exit`."""
LIMIT_S: Final = 10.0
"""For how long the loop may stand. Discord wants an acknowledgement within three seconds."""
LEAVE_S: Final = 14.0
"""How long a stop may take, from the signal; the alarm goes off before 15."""
_BEAT_S: Final = 1.0
_LOOK_S: Final = 0.25
_LONGEST_STACK: Final = 40
_GRACE_S: Final = 0.8
"""What the thread gets to write its record, before the alarm goes off."""


class Watchdog:
    """Watch the loop that it was begun in, until the process ends or this is."""

    def __init__(
        self, service_manager: ServiceManager, *, limit_s: float = LIMIT_S, leave_s: float = LEAVE_S
    ) -> None:
        self._service_manager = service_manager
        self._limit_s = limit_s
        self._leave_s = leave_s
        self._beaten = time.monotonic()
        self._ends = float("inf")
        """By when the program has to have stopped."""
        self._thread_id = threading.get_ident()
        self._ended = False
        self.leaving = False
        """Whether the program leaves for good."""

    def begin(self) -> None:
        """Begin, in the running loop. Nothing that is slow may be left to do there: imports take seconds."""
        self._thread_id = threading.get_ident()
        _prepare_alarm()
        self._beat(asyncio.get_running_loop())
        threading.Thread(target=self._look, name="watchdog", daemon=True).start()

    def ready(self) -> None:
        """Tell the service manager that the bot answers."""
        self._service_manager.tell("READY=1")

    def leave(self, *, for_good: bool = True) -> None:
        """Bound the time of the stop, which has begun, from the first call on. Safe in a signal handler.
        Where it is not `for_good`, the service manager is not told: it would end what begins anew."""
        self._ends = min(self._ends, time.monotonic() + self._leave_s)
        self._wind_up()
        if for_good:
            self.leaving = True
            self._service_manager.tell("STOPPING=1")

    def end(self) -> None:
        """Watch no more: the program goes on, and has another one."""
        self._ended = True
        _set_alarm(0)

    def _beat(self, loop: asyncio.AbstractEventLoop) -> None:
        if self._ended:
            return
        self._beaten = time.monotonic()
        self._wind_up()
        self._service_manager.tell("WATCHDOG=1")
        loop.call_later(_BEAT_S, self._beat, loop)

    def _wind_up(self) -> None:
        deadline = min(self._beaten + self._limit_s, self._ends)
        _set_alarm(max(deadline - time.monotonic(), 0) + _GRACE_S)

    def _look(self) -> None:
        while True:
            time.sleep(_LOOK_S)
            now = time.monotonic()
            if self._ended:
                return
            if now >= self._ends:
                self._end("stop_took_too_long")
            if now >= self._beaten + self._limit_s:
                self._end("loop_stood")

    def _end(self, event: str) -> None:
        stood_s = round(time.monotonic() - self._beaten, 1)
        frame = sys._current_frames().get(self._thread_id)
        # If the log itself is what everybody waits for, the alarm ends the process.
        _log.critical(event, stood_s=stood_s, stack=_stack(frame))
        os._exit(EXIT_STOOD)


def _stack(frame: FrameType | None) -> list[str]:
    """Return where a thread is, innermost first: file, line and function."""
    lines: list[str] = []
    while frame is not None and len(lines) < _LONGEST_STACK:
        code = frame.f_code
        lines.append(f"{PurePath(code.co_filename).name}:{frame.f_lineno} {code.co_name}")
        frame = frame.f_back
    return lines


if sys.platform == "win32":

    def _prepare_alarm() -> None:
        """Prepare nothing: faulthandler has a thread of its own."""

    def _set_alarm(seconds: float) -> None:
        if seconds:
            faulthandler.dump_traceback_later(seconds, exit=True)
        else:
            faulthandler.cancel_dump_traceback_later()

else:

    def _prepare_alarm() -> None:
        """Have the alarm write where all threads are, then end the process.

        Where libc is not found, SIGALRM does what it does by itself. That ends the process as well, unless it
        is the first of its container.
        """
        with contextlib.suppress(OSError, AttributeError):
            libc = ctypes.CDLL(None)
            libc.signal.argtypes = (ctypes.c_int, ctypes.c_void_p)
            libc.signal.restype = ctypes.c_void_p
            libc.signal(signal.SIGALRM, ctypes.cast(libc._exit, ctypes.c_void_p))
        with contextlib.suppress(OSError, RuntimeError, ValueError, AttributeError):  # stderr may be closed
            faulthandler.register(signal.SIGALRM, file=sys.stderr, all_threads=True, chain=True)

    def _set_alarm(seconds: float) -> None:
        signal.setitimer(signal.ITIMER_REAL, seconds)
