"""Ends the program if its event loop hangs or its shutdown takes too long; the service manager restarts it.

The loop re-arms faulthandler's timer every second. If it is late, faulthandler writes all stacks to stderr,
without values, and exits with code 1, even if other code holds the GIL. A sleeping computer does not count; a
frozen process (Ctrl-Z, `docker pause`) does.
"""

import asyncio
import contextlib
import faulthandler
import socket
import time
from typing import Final

LOOP_TIMEOUT_S: Final = 10.0  # for a turn of the loop; Discord wants an acknowledgement within three seconds
SHUTDOWN_TIMEOUT_S: Final = 14.0  # from the stop signal to the end of the process


class ServiceManager:
    """Tells systemd the service's state (sd_notify(3))."""

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
    def __init__(self, systemd: ServiceManager) -> None:
        self._service_manager = systemd
        self._ends = float("inf")
        self._ended = False
        self.is_stopping = False  # without a restart

    def begin(self) -> None:
        """Watch the running loop. Call it after slow imports."""
        if not self._ended:
            self._arm(LOOP_TIMEOUT_S)
            self._service_manager.notify("WATCHDOG=1")
            asyncio.get_running_loop().call_later(1.0, self.begin)

    def ready(self) -> None:
        self._service_manager.notify("READY=1")

    def leave(self, *, for_good: bool = True) -> None:
        """Limit the shutdown's time, from the first call. Without `for_good`, systemd is not notified: it
        would end the program that restarts in this process."""
        self._ends = min(self._ends, time.monotonic() + SHUTDOWN_TIMEOUT_S)
        self._arm(SHUTDOWN_TIMEOUT_S)
        if for_good:
            self.is_stopping = True
            self._service_manager.notify("STOPPING=1")

    def end(self) -> None:
        self._ended = True
        faulthandler.cancel_dump_traceback_later()

    def _arm(self, seconds: float) -> None:
        left = max(min(seconds, self._ends - time.monotonic()), 0.001)
        faulthandler.dump_traceback_later(left, exit=True, file=2)  # even if sys.stderr is closed
