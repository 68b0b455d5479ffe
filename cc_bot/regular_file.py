"""Opens only regular files: opening a pipe or reading a device could block forever."""

import os
import stat
from io import BufferedReader
from pathlib import Path
from typing import Final

_AT_ONCE: Final = getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_NOCTTY", 0)  # not on Windows


class NotRegular(OSError):
    """A pipe, socket, device or folder."""


def open_regular(path: Path) -> BufferedReader:
    """Raises FileNotFoundError, NotRegular and other OSErrors."""
    # A socket can't be opened at all, and a device may act on it.
    if stat.S_ISREG(path.stat().st_mode):
        file = open(path, "rb", opener=lambda path, flags: os.open(path, flags | _AT_ONCE))  # noqa: SIM115
        if stat.S_ISREG(os.fstat(file.fileno()).st_mode):
            return file
        file.close()
    raise NotRegular(str(path))


def read_regular(path: Path) -> bytes:
    """Raises as `open_regular`."""
    with open_regular(path) as file:
        return file.read()
