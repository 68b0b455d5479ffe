"""What systemd is told of a service of `Type=notify`: that it is ready, that it lives, that it stops.

The protocol is that of sd_notify(3): one datagram a message, to the socket that NOTIFY_SOCKET names. Where
nobody has set that, nothing is told.
"""

import contextlib
import socket


class ServiceManager:
    """Whoever started the program, if they want to be told."""

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
