"""The watchdog of a server: kills the server's process group when the bot dies, however it does.

The bot starts this file instead of a server's program: it starts the watchdog and becomes that program. The
watchdog is a shell in the same process group. It waits for the end of a pipe of which the bot has the other
side, and then kills its own group, with itself. So it names no process id, which may belong to another
process by now. It is orphaned, as some programs wait for every child that they have.

Run as a file, not as a module of ours: it needs nothing of cc-bot, and its imports would cost time.
"""

import os
import signal
import sys
from typing import Final

_SHELL: Final = "/bin/sh"
_WAITED_FOR: Final = 3
_WARDEN: Final = f"(trap '' HUP INT TERM; read -r _ <&{_WAITED_FOR}; kill -KILL 0) &"
_NOT_RUN: Final = 126
"""The exit code of shells for a program that can't be run."""


def main(waited_for: int, command: list[str]) -> int:
    """Become that program, with a warden that waits for the end of a pipe; return only where that fails."""
    _start_warden(waited_for)
    os.close(waited_for)
    for ignored in (signal.SIGPIPE, signal.SIGXFSZ):  # by Python; a program finds them as they are by default
        signal.signal(ignored, signal.SIG_DFL)
    try:
        os.execv(command[0], command)  # noqa: S606 - as the bot would start it
    except OSError:
        return _NOT_RUN


def _start_warden(waited_for: int) -> None:
    """Start it, with nothing of what the server has open, so that what the server closes is closed."""
    nothing = os.open(os.devnull, os.O_RDWR)
    places = ((nothing, 0), (nothing, 1), (nothing, 2), (waited_for, _WAITED_FOR))
    moves = [(os.POSIX_SPAWN_DUP2, given, place) for given, place in places]
    try:
        os.waitpid(os.posix_spawn(_SHELL, [_SHELL, "-c", _WARDEN], {}, file_actions=moves), 0)
    except FileNotFoundError:  # a system without a shell: its servers are ended by the bot alone
        pass
    finally:
        os.close(nothing)


if __name__ == "__main__":
    sys.exit(main(int(sys.argv[1]), sys.argv[2:]))
