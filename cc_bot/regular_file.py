"""A file that stands where the operator's are looked for, opened without waiting for anybody.

A pipe has nothing until somebody writes into it, and to open one waits for that; a device may never come to
an end. Where one stands in a file's place, the program would hang instead of saying so.
"""

import os
import stat
from pathlib import Path
from typing import BinaryIO, Final

_AT_ONCE: Final = getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_NOCTTY", 0)  # not on Windows


class NotRegular(OSError):
    """A pipe, a socket, a device or a folder."""


def open_regular(path: Path) -> BinaryIO:
    """Open the file, to be read. Raises OSError: FileNotFoundError where there is none, NotRegular for what
    is no file of bytes."""
    need_regular(path)  # a socket can't be opened at all, and a device may act on it
    file = open(path, "rb", opener=_open_at_once)  # noqa: SIM115 - whoever asked for it closes it
    if stat.S_ISREG(os.fstat(file.fileno()).st_mode):
        return file
    file.close()
    raise NotRegular(str(path))


def need_regular(path: Path) -> None:
    """See that a file of bytes stands there. Raises OSError as `open_regular` does."""
    if not stat.S_ISREG(path.stat().st_mode):
        raise NotRegular(str(path))


def read_regular(path: Path) -> bytes:
    """Return all that is in it. Raises OSError as `open_regular` does."""
    with open_regular(path) as file:
        return file.read()


def _open_at_once(path: str, flags: int) -> int:
    return os.open(path, flags | _AT_ONCE)
