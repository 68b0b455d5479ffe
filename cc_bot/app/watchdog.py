"""Ends the program if its event loop hangs or its shutdown takes too long; the service manager restarts it.

The loop re-arms faulthandler's timer every second. If it is late, faulthandler writes all stacks to stderr,
without values, and exits with code 1, even if other code holds the GIL. The timer stops while the computer
sleeps, but not while the process is frozen (Ctrl-Z, `docker pause`).
"""

import asyncio
import contextlib
import faulthandler
import socket
import time
from typing import Final

LOOP_TIMEOUT_S: Final = 10.0  # for an iteration; Discord wants an acknowledgement within three seconds
SHUTDOWN_TIMEOUT_S: Final = 14.0  # from the stop signal to the end of the process


class ServiceManager:
    """Notifies systemd of the service's state (sd_notify(3))."""

    def __init__(self, address: str) -> None:
        """`address`: NOTIFY_SOCKET, which is a path, an abstract name after `@`, or empty."""
        self._address = f"\0{address[1:]}" if address.startswith("@") else address

    def notify(self, message: str) -> None:
        """Send a message. Never waits or raises."""
        if not self._address:
            return
        with (
            contextlib.suppress(OSError, AttributeError),  # Windows has no such sockets
            socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as sender,
        ):
            sender.setblocking(False)
            sender.sendto(message.encode(), self._address)


class Watchdog:
    def __init__(self, service_manager: ServiceManager) -> None:
        self._service_manager = service_manager
        self._shutdown_deadline_s = float("inf")
        self._is_stopped = False
        self.is_ending_program = False

    def start(self) -> None:
        """Watch the running loop. Call it after slow imports."""
        if not self._is_stopped:
            self._arm(LOOP_TIMEOUT_S)
            self._service_manager.notify("WATCHDOG=1")
            asyncio.get_running_loop().call_later(1.0, self.start)

    def notify_ready(self) -> None:
        self._service_manager.notify("READY=1")

    def limit_shutdown(self, *, restarts: bool = False) -> None:
        """Limit the shutdown's time, from the first call. If the bot restarts in this process, systemd is not
        notified: it would end the process."""
        self._shutdown_deadline_s = min(self._shutdown_deadline_s, time.monotonic() + SHUTDOWN_TIMEOUT_S)
        self._arm(SHUTDOWN_TIMEOUT_S)
        if not restarts:
            self.is_ending_program = True
            self._service_manager.notify("STOPPING=1")

    def stop(self) -> None:
        self._is_stopped = True
        faulthandler.cancel_dump_traceback_later()

    def _arm(self, seconds: float) -> None:
        timeout_s = max(min(seconds, self._shutdown_deadline_s - time.monotonic()), 0.001)
        faulthandler.dump_traceback_later(timeout_s, exit=True, file=2)  # even if sys.stderr is closed
